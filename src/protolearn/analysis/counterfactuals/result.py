"""Counterfactuals: what the rows would have to be for another answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from ..frames import import_pandas

MOST_ROWS = 10
MOST_FEATURES = 5
"""How much the text tells: rows, and changes of a row."""


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals:
    """Rows, changed as little as possible so that they get another class.

    Attributes
    ----------
    points : array of shape (n_samples, n_features)
        The changed rows, in the units of X; rows without a counterfactual as they were.
    distance : array of shape (n_samples,)
        Length of the change as the model measures rows, in a pipeline in the space of its last
        step; infinite where there is no counterfactual.
    label : array of shape (n_samples,)
        What the model says about ``points``.
    feasible : array of bool of shape (n_samples,)
        Whether there is a counterfactual.
    exact : bool
        Whether they are the nearest ones. If not they were found by a search: there may be nearer
        ones, and some where none was found.
    original : array of shape (n_samples, n_features)
        The rows that were given.
    original_label : array of shape (n_samples,)
        What the model says about them.
    sizes : array of shape (n_samples, n_features)
        How large the change of each feature is, in units of the model where it has units for each
        feature (after a scaler), otherwise in those of X.
    feature_names : tuple of str
        Names of the features.
    index : pandas Index or None
        Names of the rows, if X had them.
    """

    points: Floats
    distance: Floats
    label: NDArray[Any]
    feasible: NDArray[np.bool_]
    exact: bool
    original: Floats
    original_label: NDArray[Any]
    sizes: Floats
    feature_names: tuple[str, ...]
    index: Any = None

    @property
    def changes(self) -> Floats:
        """What was added to each feature."""
        return self.points - self.original

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        kind = "nearest" if self.exact else "found by search"
        return f"<Counterfactuals: {self.feasible.sum()} of {len(self)} rows, {kind}>"

    def __str__(self) -> str:
        return first_rows(self)

    def describe(self, row: int) -> str:
        """Return in words what would change the answer about a row, the largest change first.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            Both classes, and the old and new values of the features that change.
        """
        if not self.feasible[row]:
            found = "no allowed change gives" if self.exact else "no change was found that gives"
            return f"{self.original_label[row]}; {found} the answer sought"
        order = np.argsort(-self.sizes[row], kind="stable")
        moved = [j for j in order if self.points[row, j] != self.original[row, j]]
        parts = [
            f"{self.feature_names[j]} {change(self.original[row, j], self.points[row, j])}"
            for j in moved[:MOST_FEATURES]
        ]
        more = len(moved) - len(parts)
        rest = f", and {more} smaller change{'s' * (more > 1)}" if more else ""
        what = ", ".join(parts) + rest if parts else "as it is"
        return f"{self.original_label[row]} -> {self.label[row]}: {what}"

    def to_frame(self) -> Any:
        """Return the changed rows as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            The features of ``points``, then the columns ``label``, ``distance``, ``feasible``.
        """
        pd = import_pandas()
        frame = pd.DataFrame(self.points, index=self.index, columns=list(self.feature_names))
        return frame.assign(label=self.label, distance=self.distance, feasible=self.feasible)


def first_rows(result: Any) -> str:
    """Return what ``result.describe`` says about the first rows, and how many there are more."""
    shown = [f"row {i}: {result.describe(i)}" for i in range(min(len(result), MOST_ROWS))]
    if len(result) > len(shown):
        shown.append(f"... and {len(result) - len(shown)} rows more")
    return "\n".join(shown)


def change(old: float, new: float) -> str:
    """Return two numbers with as many digits as tell them apart, at least four."""
    for digits in range(4, 18):
        texts = f"{old:.{digits}g}", f"{new:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return " -> ".join(texts)
