"""Which class is taken for which, in percent of the true class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats
from ..analysis import import_pandas

WIDEST = 12
"""Letters of a label that the printed table shows."""


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix:
    """Which class is taken for which.

    Attributes
    ----------
    percent : array of shape (n_classes, n_classes)
        Of the rows of the class of the row, how many are assigned to the class of the column; rows
        sum to 100. NaN in a row whose class has no rows.
    counts : array of shape (n_classes, n_classes)
        The same as numbers of rows.
    labels : array of shape (n_classes,)
        The classes.
    """

    percent: Floats
    counts: NDArray[np.int64]
    labels: NDArray[Any]

    def __repr__(self) -> str:
        return f"<ConfusionMatrix: {len(self.labels)} classes, {self.counts.sum()} rows>"

    def __str__(self) -> str:
        names = [
            name if len(name) <= WIDEST else f"{name[: WIDEST - 3]}..."
            for name in map(str, self.labels.tolist())
        ]
        width = max(len("true"), *map(len, names))
        cell = max(5, *map(len, names))
        head = " ".join([f"{'true':<{width}}", *(f"{name:>{cell}}" for name in names), "   rows"])
        lines = ["Percent of the true class, assigned to", head]
        for name, row, counts in zip(names, self.percent, self.counts, strict=True):
            cells = (f"{'-' if np.isnan(share) else f'{share:.1f}':>{cell}}" for share in row)
            lines.append(" ".join([f"{name:<{width}}", *cells, f"{counts.sum():7d}"]))
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the percents as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            True classes are the index, assigned ones the columns.
        """
        pd = import_pandas()
        return pd.DataFrame(
            self.percent,
            index=pd.Index(self.labels, name="true"),
            columns=pd.Index(self.labels, name="assigned"),
        )


def confusion_percent(y_true: Any, y_pred: Any, *, labels: Any = None) -> ConfusionMatrix:
    """Count which class is taken for which, in percent of the true class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    labels : array-like, default=None
        The classes, in the order of the table; None: all that occur, sorted. All labels that occur
        must be among them.

    Returns
    -------
    confusion : ConfusionMatrix
        Print it for a table.

    Examples
    --------
    >>> from protolearn.selection import confusion_percent
    >>> print(confusion_percent(["a", "a", "b", "b"], ["a", "b", "b", "b"]))
    Percent of the true class, assigned to
    true     a     b    rows
    a     50.0  50.0       2
    b      0.0 100.0       2
    """
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y_true, y_pred)
    if not len(y_true):
        raise ValueError("y_true has no rows: there is nothing to count.")
    found = unique_labels(y_true, y_pred)
    labels = found if labels is None else np.asarray(labels)
    if len(np.unique(labels)) < len(labels):
        raise ValueError(f"labels={labels.tolist()!r} must be different.")
    left_out = [label for label in found.tolist() if label not in set(labels.tolist())]
    if left_out:
        raise ValueError(
            f"labels={labels.tolist()!r} lack {left_out!r}, which y_true or y_pred contain; their "
            "rows would not be counted."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A single label was found")
        counts = confusion_matrix(y_true, y_pred, labels=labels)
    rows = counts.sum(axis=1, keepdims=True)
    percent = np.divide(100.0 * counts, rows, out=np.full(counts.shape, np.nan), where=rows > 0)
    return ConfusionMatrix(percent, counts, labels)
