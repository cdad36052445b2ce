"""Pictures of confusion matrices."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from sklearn.exceptions import NotFittedError

from protolearn import GLVQ
from protolearn.report.performance_displays import ConfusionDisplay, format_share
from protolearn.selection.confusion import confusion_percent


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def luminance(colour):
    """Give the relative luminance of a colour, as contrast is defined for the web."""
    c = np.asarray(to_rgb(colour))
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_cells_of_a_model(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    display = ConfusionDisplay.from_estimator(model, X, y)
    expected = confusion_percent(y, model.predict(X)).percent
    np.testing.assert_array_equal(display.image_.get_array(), expected)
    shown = {(t.get_position()[1], t.get_position()[0]): t.get_text() for t in display.texts_}
    assert set(shown) == {(i, j) for (i, j), share in np.ndenumerate(expected) if share > 0}
    for (i, j), text in shown.items():
        assert text == format_share(expected[i, j])
    ax = display.ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("assigned class", "true class")
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "2"]


def test_numbers_are_readable_in_every_shade():
    # One true class whose rows are spread over many others with all shares.
    y_true = np.repeat(np.arange(20), 100)
    y_pred = np.concatenate([np.where(np.arange(100) < 5 * c, c, (c + 1) % 20) for c in range(20)])
    display = ConfusionDisplay.from_predictions(y_true, y_pred)
    assert len(display.texts_) > 30
    for text in display.texts_:
        j, i = text.get_position()
        cell = display.image_.cmap(display.image_.norm(display.confusion.percent[i, j]))
        pair = sorted([luminance(cell[:3]), luminance(text.get_color())])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 3.0  # contrast for large text or better


def test_class_without_rows_is_hatched():
    labels = ["healthy", "adenoma", "cancer"]
    display = ConfusionDisplay.from_predictions(["healthy"], ["adenoma"], labels=labels)
    assert display.image_.get_array().mask.tolist() == [[False] * 3, [True] * 3, [True] * 3]
    assert display.ax_.patch.get_hatch() == "////"
    assert [t.get_text() for t in display.texts_] == ["100"]
    assert {t.get_rotation() for t in display.ax_.get_xticklabels()} == {45.0}


def test_many_classes_have_no_numbers_and_fewer_names():
    y = np.arange(70)
    display = ConfusionDisplay.from_predictions(y, y)
    assert display.texts_ == []
    assert len(display.ax_.get_yticklabels()) == 24
    assert max(display.figure_.get_size_inches()) < 14


def test_given_axes():
    _, ax = plt.subplots()
    assert ConfusionDisplay.from_predictions([0, 1], [0, 0], ax=ax).ax_ is ax


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (100.0, "100"),
        (99.97, "99.9"),
        (99.6, "99.6"),
        (99.4, "99"),
        (50.4, "50"),
        (9.96, "10"),
        (9.94, "9.9"),
        (0.1, "0.1"),
        (0.04, "<0.1"),
    ],
)
def test_only_all_is_hundred(share, text):
    assert format_share(share) == text


def test_errors(iris):
    with pytest.raises(NotFittedError):
        ConfusionDisplay.from_estimator(GLVQ(), *iris)
    with pytest.raises(ValueError, match=r"lack \[2\]"):
        ConfusionDisplay.from_predictions([0, 2], [0, 0], labels=[0, 1])
