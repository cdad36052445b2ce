"""Prototypes in the user's units."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, FisherPrototypes, KernelGLVQ, SoftMarginSVM
from protolearn.report import PrototypeDisplay
from protolearn.report.prototype_display import ColumnStrip
from protolearn.report.style import colour
from protolearn.tables import prototypes_table, table_pipeline

LEVELS = [5, 25, 50, 75, 95]


pytestmark = pytest.mark.filterwarnings("ignore:.*before it converged")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def flowers():
    data = load_iris()
    return pd.DataFrame(data.data, columns=["sl", "sw", "pl", "pw"]), data.target_names[data.target]


@pytest.fixture(scope="module")
def fitted(flowers):
    return make_pipeline(StandardScaler(), GLVQ(random_state=0, max_iter=20)).fit(*flowers)


@pytest.fixture(scope="module")
def pets():
    rng = np.random.RandomState(0)
    ill = rng.randint(2, size=80)
    frame = pd.DataFrame(
        {
            "colour": np.array(["brown", "white", "red"])[(ill + (rng.uniform(size=80) < 0.3)) % 3],
            "weight": rng.normal(12.0 - 4.0 * ill, 1.5),
            "neutered": rng.uniform(size=80) < 0.5,
            "born": pd.Timestamp("2015-01-01") + pd.to_timedelta(300 * ill + 7, unit="D"),
            "price": 7.0,
        }
    )
    frame.loc[::9, "weight"] = np.nan
    return frame, np.where(ill, "ill", "well")


def glvq(**settings):
    return GLVQ(random_state=0, max_iter=5, **settings)


def names(ax):
    return [text.get_text().split("\n")[0] for text in ax.get_yticklabels()]


def scales(ax):
    return [text.get_text().partition("\n")[2] for text in ax.get_yticklabels()]


def prototypes(display):
    return np.stack([one.values for one in display.strips], axis=1)


def quantiles(display):
    return np.stack([one.quantiles for one in display.strips])


def legends(ax):
    return [text.get_text() for part in ax.findobj(Legend) for text in part.get_texts()]


def stars(ax):
    """Give places and colours of stars: those of a prototype are drawn together."""
    points = [part for part in ax.collections if isinstance(part, PathCollection)]
    found = [part for part in points if len(part.get_offsets()) and part.get_sizes()[0] > 50]
    return [(part.get_offsets(), to_hex(part.get_facecolor()[0])) for part in found]


def lines(ax):
    """Give the ends of horizontal lines: of each class the thin ones, then the thick ones."""
    found = [part for part in ax.collections if isinstance(part, LineCollection)]
    every = [np.array(part.get_segments()) for part in found]
    return [part for part in every if (part[:, 0, 1] == part[:, 1, 1]).all()]


def test_spread_and_prototypes_in_units(flowers, fitted):
    X, y = flowers
    display = PrototypeDisplay.from_estimator(fitted, X, y)
    units = fitted[0].inverse_transform(fitted[-1].prototypes_)
    np.testing.assert_allclose(prototypes(display), units)
    expected = [[np.percentile(X[c][y == k], LEVELS) for k in np.unique(y)] for c in X]
    np.testing.assert_allclose(quantiles(display), expected)
    assert display.prototype_names == ["setosa", "versicolor", "virginica"]
    ax, z = display.ax_, ((units - X.mean().to_numpy()) / X.std(ddof=0).to_numpy())
    order = np.argsort(-np.ptp(z, axis=0))
    assert names(ax) == list(X.columns[order])
    low, high = ax.get_ylim()
    assert low > high  # the first row is on top
    for k, (places, shade) in enumerate(stars(ax)):
        np.testing.assert_allclose(places[:, 0], z[k, order])
        assert shade == colour(k).lower()
        np.testing.assert_allclose(np.rint(places[:, 1]), np.arange(4))
    scaled = (np.array(expected)[order] - X.mean().to_numpy()[order, None, None]) / X.std(
        ddof=0
    ).to_numpy()[order, None, None]
    drawn = lines(ax)
    for k in range(3):
        np.testing.assert_allclose(drawn[2 * k][:, :, 0], scaled[:, k, [0, 4]])
        np.testing.assert_allclose(drawn[2 * k + 1][:, :, 0], scaled[:, k, [1, 3]])
        np.testing.assert_allclose(ax.lines[k].get_xdata(), scaled[:, k, 2])
        np.testing.assert_allclose(ax.lines[k].get_ydata(), stars(ax)[k][0][:, 1])


def test_scales_and_legend(flowers, fitted):
    ax = PrototypeDisplay.from_estimator(fitted, *flowers).ax_
    assert {"3.76 ± 1.76", "5.84 ± 0.83"} <= set(scales(ax))
    assert sorted(legends(ax)) == [
        "median",
        "middle 50 %",
        "middle 90 %",
        "prototype",
        "setosa",
        "versicolor",
        "virginica",
    ]
    assert ax.get_xlabel() == "standard deviations from the mean of the column"


def test_few_of_many_columns(flowers, fitted):
    ax = PrototypeDisplay.from_estimator(fitted, *flowers, max_features=2).ax_
    assert len(names(ax)) == 2
    assert ax.get_xlabel().endswith("\n2 of 4 columns")


def test_categories_are_left_to_the_table(pets):
    frame, y = pets
    model = table_pipeline(glvq()).fit(frame, y)
    display = PrototypeDisplay.from_estimator(model, frame, y)
    assert [one.name for one in display.strips] == ["weight", "born", "price"]
    assert set(names(display.ax_)) == {"weight", "born", "price"}
    np.testing.assert_allclose(prototypes(display)[:, 0], prototypes_table(model)["weight"])
    assert "always 7" in scales(display.ax_)
    filled = frame["weight"].fillna(frame["weight"].median())
    np.testing.assert_allclose(
        quantiles(display)[0], [np.percentile(filled[y == k], LEVELS) for k in ("ill", "well")]
    )
    words = frame[["colour", "neutered"]]
    with pytest.raises(ValueError, match="no column of numbers to draw; see prototypes_table"):
        PrototypeDisplay.from_estimator(table_pipeline(glvq()).fit(words, y), words, y)


@pytest.mark.parametrize("model", [FisherPrototypes(), SoftMarginSVM()])
def test_linear_models(flowers, model):
    X, y = flowers[0].to_numpy(), flowers[1]
    pipe = make_pipeline(StandardScaler(), model).fit(X, y)
    display = PrototypeDisplay.from_estimator(pipe, X, y, feature_names=list("abcd"))
    np.testing.assert_allclose(prototypes(display), pipe[0].inverse_transform(pipe[-1].prototypes_))
    assert set(names(display.ax_)) == set("abcd")


def test_many_classes_and_prototypes():
    X, y = make_blobs(200, n_features=3, centers=10, random_state=0)
    model = glvq(prototypes_per_class=2).fit(X, y)
    display = PrototypeDisplay.from_estimator(model, X, y)
    ax = display.ax_
    assert len(stars(ax)) == 20
    assert legends(ax) == [*"0123456789", "prototype", "median", "middle 50 %", "middle 90 %"]
    y_of = [places[0, 1] for places, _ in stars(ax)]
    assert np.all(np.diff(y_of[::2]) > 0.0)  # classes have places of their own
    assert max(y_of) < 0.5
    assert min(y_of) > -0.5
    parts = [part for part in ax.collections if isinstance(part, LineCollection)]
    styles = [part.get_linestyle()[0] for part in parts]
    assert styles[0] != styles[16]  # the ninth class has the colour of the first


def test_height_of_many_classes():
    rng = np.random.RandomState(0)
    heights = []
    for n_classes, n_columns in (2, 20), (10, 20), (60, 20), (60, 2):
        display = PrototypeDisplay(
            prototype_codes=np.arange(n_classes),
            prototype_names=[str(k) for k in range(n_classes)],
            classes=[str(k) for k in range(n_classes)],
            strips=[
                ColumnStrip(f"column {j}", 1.0, "", rng.normal(size=n_classes))
                for j in range(n_columns)
            ],
        ).plot()
        display.figure_.draw_without_rendering()
        legend = display.ax_.get_legend().get_window_extent()
        assert display.ax_.bbox.y1 < legend.y0 + 5.0  # above the chart, within the figure
        assert legend.y1 <= display.figure_.bbox.y1
        heights.append(display.figure_.get_figheight())
    assert heights[0] < heights[1]
    assert max(heights) < 15.0


def test_class_without_rows_and_missing_values(iris):
    X, y = iris[0].copy(), iris[1]
    X[::7, 1] = np.nan
    model = glvq().fit(X, y)
    display = PrototypeDisplay.from_estimator(model, X[y != 1], y[y != 1])
    assert np.isnan(quantiles(display)[:, 1]).all()
    known = np.where(np.isnan(X), np.nanmedian(X[y != 1], axis=0), X)
    np.testing.assert_allclose(
        quantiles(display)[:, 2], np.percentile(known[y == 2], LEVELS, axis=0).T
    )
    assert len(stars(display.ax_)) == 3
    display.figure_.draw_without_rendering()


def test_constant_and_empty_columns(iris):
    X, y = iris
    frame = pd.DataFrame({"a": X[:, 2], "same": 3.0, "none": np.nan})
    with pytest.warns(UserWarning, match="none"):
        model = table_pipeline(glvq()).fit(frame, y)
    ax = PrototypeDisplay.from_estimator(model, frame, y).ax_
    assert names(ax) == ["a", "same"]
    assert "always 3" in scales(ax)
    ax = PrototypeDisplay.from_estimator(
        glvq().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1]), np.ones((6, 2)), [0, 0, 0, 1, 1, 1]
    ).ax_
    assert np.diff(ax.get_xlim()) > 0.0


def test_far_prototypes_leave_the_classes_to_see():
    column = ColumnStrip("length $", 1000.0, "", np.array([0.0, 1000.0]))
    given = {"prototype_codes": np.array([0, 1]), "prototype_names": ["a", "b"]}
    given["classes"] = ["a", "b"]
    spread = column._replace(quantiles=np.array([[-2.0, -1.0, 0.0, 1.0, 2.0]] * 2))
    display = PrototypeDisplay(strips=[spread], **given).plot()
    assert display.ax_.get_xlim()[1] < 10.0
    assert "further out" in legends(display.ax_)
    display = PrototypeDisplay(strips=[column], **given).plot()
    assert display.ax_.get_xlim()[1] > 1000.0
    assert sorted(legends(display.ax_)) == ["a", "b", "prototype"]


def test_given_axes(flowers, fitted):
    figure, (ax, _) = plt.subplots(1, 2, layout="constrained")
    display = PrototypeDisplay.from_estimator(fitted, *flowers, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.plot(ax=plt.subplots()[1]) is display


def test_pictures():
    X, y = load_digits(n_class=5, return_X_y=True)
    model = make_pipeline(StandardScaler(), glvq()).fit(X[:200], y[:200])
    display = PrototypeDisplay.from_estimator(model, X[:200], y[:200], image_shape=(8, 8))
    units = model[0].inverse_transform(model[-1].prototypes_)
    assert [ax.get_title() for ax in display.ax_] == list("01234")
    limits = {ax.images[0].get_clim() for ax in display.ax_}
    assert limits == {(units.min(), units.max())}
    for ax, row in zip(display.ax_, units, strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), row.reshape(8, 8))
    again = display.plot(ax=plt.subplots(1, 5)[1])
    assert len(again.ax_) == 5
    with pytest.raises(ValueError, match="ax has 1 axes; this picture has 5"):
        display.plot(ax=plt.subplots()[1])


def test_pictures_in_colour():
    rng = np.random.RandomState(0)
    X, y = rng.uniform(0.0, 255.0, size=(40, 18)), np.repeat([0, 1], 20)
    model = glvq().fit(X, y)
    display = PrototypeDisplay.from_estimator(model, X, y, image_shape=[2, 3, 3])
    expected = np.clip((model.prototypes_ - X.min()) / np.ptp(X), 0.0, 1.0)
    for ax, row in zip(display.ax_, expected, strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), row.reshape(2, 3, 3))
    assert len(display.figure_.axes) == 2  # no bar of greys


@pytest.mark.parametrize(
    ("shape", "match"),
    [
        ((2, 3), r"image_shape=\(2, 3\) is a picture of 6 numbers; the prototypes have 4"),
        ((4,), r"image_shape=\(4,\) must be \(rows, columns\) or \(rows, columns, 3\)"),
        (4, "image_shape=4 must be"),
        ((2, 2, 1), "must be"),
        ((2.0, 2), "must be"),
        ((-2, -2), "must be"),
        ("22", "must be"),
    ],
)
def test_wrong_shapes(flowers, fitted, shape, match):
    with pytest.raises(ValueError, match=match):
        PrototypeDisplay.from_estimator(fitted, *flowers, image_shape=shape)


def test_errors(flowers, fitted, pets):
    with pytest.raises(TypeError, match="KNeighborsClassifier has no prototypes to show; give"):
        PrototypeDisplay.from_estimator(KNeighborsClassifier().fit(*flowers), *flowers)
    rows = flowers[0].to_numpy()
    by_kernel = KernelGLVQ(kernel="precomputed", max_iter=2).fit(rows @ rows.T, flowers[1])
    with pytest.raises(TypeError, match="KernelGLVQ has no prototypes to show"):
        PrototypeDisplay.from_estimator(by_kernel, rows @ rows.T, flowers[1])
    with pytest.raises(NotFittedError):
        PrototypeDisplay.from_estimator(GLVQ(), *flowers)
    with pytest.raises(ValueError, match="max_features=0 must be an integer of at least 1"):
        PrototypeDisplay.from_estimator(fitted, *flowers, max_features=0)
    frame, y = pets
    with pytest.raises(ValueError, match="needs numbers, and column 'colour' is of categories"):
        PrototypeDisplay.from_estimator(
            table_pipeline(glvq()).fit(frame, y), frame, y, image_shape=(1, 5)
        )
