"""The confusion matrix in percent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, recall_score

from protolearn.selection.confusion import confusion_percent

LABELS = st.lists(st.tuples(*[st.sampled_from("abcd")] * 2), min_size=1, max_size=40)


@given(LABELS)
def test_rows_sum_to_hundred(pairs):
    y_true, y_pred = map(np.array, zip(*pairs, strict=True))
    found = confusion_percent(y_true, y_pred, labels=list("abcd"))
    np.testing.assert_array_equal(found.counts, confusion_matrix(y_true, y_pred, labels=[*"abcd"]))
    here = np.isin(list("abcd"), y_true)
    np.testing.assert_allclose(found.percent[here].sum(axis=1), 100.0)
    assert np.isnan(found.percent[~here]).all()
    recall = recall_score(y_true, y_pred, labels=[*"abcd"], average=None, zero_division=np.nan)
    np.testing.assert_allclose(np.diag(found.percent), 100.0 * recall)


def test_text_and_frame():
    found = confusion_percent([1, 1, 1, 2], [1, 2, 2, 2], labels=[1, 2, 30])
    assert str(found).splitlines() == [
        "Percent of the true class, assigned to",
        "true     1     2    30    rows",
        "1     33.3  66.7   0.0       3",
        "2      0.0 100.0   0.0       1",
        "30       -     -     -       0",
    ]
    assert repr(found) == "<ConfusionMatrix: 3 classes, 4 rows>"
    frame = found.to_frame()
    assert frame.loc[1, 2] == pytest.approx(200 / 3)
    assert (frame.index.name, frame.columns.name) == ("true", "assigned")
    widths = {len(line) for line in str(confusion_percent(["a" * 40], ["b"])).splitlines()[1:]}
    assert len(widths) == 1


def test_order_of_labels():
    found = confusion_percent(["x", "y"], ["y", "y"], labels=["y", "x"])
    assert found.counts.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("y_true", "y_pred", "labels", "message"),
    [
        ([0, 1], [0, 2], [0, 1], r"labels=\[0, 1\] lack \[2\]"),
        ([], [], None, "no rows"),
        ([0, 1], [0], None, "inconsistent numbers of samples"),
    ],
)
def test_errors(y_true, y_pred, labels, message):
    with pytest.raises(ValueError, match=message):
        confusion_percent(y_true, y_pred, labels=labels)
