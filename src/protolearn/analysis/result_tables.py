"""Results with one entry for each row or feature: as text, and as data frames of pandas."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .._names import digits_text, exact_text

MOST_LINES = 30  # features that a printed profile shows
MOST_ROWS, MOST_FEATURES = 10, 5  # rows that printed counterfactuals show, and changes of a row


FINER = 0, 1, 2, 3, 4, 6, 8, 10, 12, None
"""Further digits with which numbers are written until what is written is right; None: all."""

Write = Callable[[int, float, float, int | None], tuple[str, float]]
"""Takes the place of a feature, its old and its new value, and a number of further digits; returns
the new value as text, rounded away from the old one, and the number that the text means."""


class Printable(NamedTuple):
    """Changed rows as they are printed."""

    texts: NDArray[Any]  # (n, d): the numbers that change, "" where none does
    points: Floats  # (n, d): the rows with the numbers that the texts mean
    is_right: NDArray[np.bool_]  # (n,): whether the model says of them what was promised


def find_printable(
    rows: Floats,
    points: Floats,
    write: Write,
    is_right: Callable[[Floats, Indices], NDArray[np.bool_]],
    ranges: Any = None,
) -> Printable:
    """Return changed rows with few digits, of which the model says the same as of all digits.

    Numbers are rounded away from the row, so that they go beyond the boundary rather than fall
    short of it. What they mean, when read back, is asked of the model: ``is_right`` takes all rows
    and the places of those that wait for an answer. Rows that it refuses get more digits, and so
    does a number that rounding would bring out of its range.
    """
    texts, printed = np.full(points.shape, "", dtype=object), points.copy()
    waiting = np.arange(len(rows))
    for level in range(len(FINER)):
        for i in waiting:
            for j in np.flatnonzero(points[i] != rows[i]).tolist():
                for finer in FINER[level:]:
                    found = write(j, float(rows[i, j]), float(points[i, j]), finer)
                    if ranges is None or ranges.low[j] <= found[1] <= ranges.high[j]:
                        break
                texts[i, j], printed[i, j] = found
        waiting = waiting[~is_right(printed, waiting)]
        if not len(waiting):
            break
    return Printable(texts, printed, ~np.isin(np.arange(len(rows)), waiting))


def write_digits(place: int, old: float, new: float, finer: int | None) -> tuple[str, float]:
    """Write a number with four significant digits or more, rounded away from the old one."""
    if finer is None:
        return exact_text(new), new
    text = digits_text(new, 4 + finer, ROUND_CEILING if new > old else ROUND_FLOOR)
    return text, float(text)


def digits_beside(value: float, other: str) -> str:
    """Write a number with as many significant digits as tell it from another, at least four."""
    texts = [digits_text(value, 4 + finer) for finer in FINER if finer is not None]
    return next((text for text in texts if text != other), exact_text(value))


@dataclass(frozen=True, eq=False, repr=False)
class RelevanceProfile:
    """How much each feature counts, and how sure that is.

    All relevances are shares of one. With local metrics the arrays have one row for each group,
    a class or a prototype, and ``samples`` has the shape (n_resamples, n_groups, n_features).

    Attributes
    ----------
    feature_names : tuple of str
        The features, as the classifier sees them.
    relevances : array of shape (n_features,)
        Of the model fitted on all rows.
    mean : array of shape (n_features,)
        Mean over the refits.
    low, high : arrays of shape (n_features,)
        Ends of the percentile interval.
    samples : array of shape (n_resamples, n_features)
        Of every refit.
    level : float
        Share of the refits inside the interval.
    method : str
        How the rows were resampled.
    group_names : tuple of str
        With local metrics whose row is which; empty with one metric for all.
    """

    feature_names: tuple[str, ...]
    relevances: Floats
    mean: Floats
    low: Floats
    high: Floats
    samples: Floats
    level: float
    method: str
    group_names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        local = f", {len(self.group_names)} groups" if self.group_names else ""
        return (
            f"<RelevanceProfile: {len(self.feature_names)} features{local}, "
            f"{len(self.samples)} refits ({self.method})>"
        )

    def __str__(self) -> str:
        title = (
            f"Relevance in percent: {len(self.samples)} refits ({self.method}), "
            f"{100 * self.level:g} % interval"
        )
        if not self.group_names:
            return "\n".join([title, *self._table(...)])
        lines = [title]
        for g, name in enumerate(self.group_names):
            lines += ["", f"{name}:", *self._table(g)]
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the profile as a pandas data frame, one line a feature (and group).

        Returns
        -------
        frame : DataFrame
            Columns ``relevance``, ``mean``, ``low`` and ``high``; the features are the index, with
            local metrics below the groups.
        """
        pd = import_pandas()
        index = pd.Index(self.feature_names, name="feature")
        if self.group_names:
            index = pd.MultiIndex.from_product(
                [self.group_names, self.feature_names], names=["group", "feature"]
            )
        columns = {"relevance": self.relevances, "mean": self.mean}
        columns |= {"low": self.low, "high": self.high}
        return pd.DataFrame({name: part.ravel() for name, part in columns.items()}, index=index)

    def _table(self, group: Any) -> list[str]:
        """Return the lines of one group, the largest mean first."""
        mean = self.mean[group]
        shown = np.argsort(-mean, kind="stable")[:MOST_LINES]
        width = max(len("feature"), *(len(self.feature_names[j]) for j in shown))
        lines = [f"{'feature':<{width}}  {'mean':>5}  {'low':>5}  {'high':>5}  {'all rows':>8}"]
        percent = [100.0 * part[group] for part in (self.mean, self.low, self.high)]
        whole = 100.0 * self.relevances[group]
        for j in shown:
            middle = "  ".join(f"{part[j]:5.1f}" for part in percent)
            lines.append(f"{self.feature_names[j]:<{width}}  {middle}  {whole[j]:8.1f}")
        if len(mean) > len(shown):
            lines.append(f"... and {len(mean) - len(shown)} features more")
        return lines


class DescribedRows:
    """Counterfactuals of any kind of rows: their text, given ``describe`` for each of them."""

    distance: Floats
    feasible: NDArray[np.bool_]
    exact: bool
    inexact = "found by search"

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        kind = "nearest" if self.exact else self.inexact
        return f"<{type(self).__name__}: {self.feasible.sum()} of {len(self)} rows, {kind}>"

    def __str__(self) -> str:
        return first_rows(self)

    def _no_answer(self) -> str:
        """Return the words for a row without a counterfactual."""
        found = "no allowed change gives" if self.exact else "no change was found that gives"
        return f"{found} the answer sought"


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactuals(DescribedRows):
    """Rows, changed as little as possible so that they get another class.

    Attributes
    ----------
    points : array of shape (n_samples, n_features), or frame
        The changed rows, in the units of X; rows without a counterfactual as they were. A frame
        like X if X is one: a column keeps its type if that holds all of its numbers.
    values : array of shape (n_samples, n_features)
        The numbers of ``points``.
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
    model : classifier or None
        What gave the labels; it checks the numbers that are printed.
    ranges : object
        The ends of the ranges of all features, ``low`` and ``high``.
    """

    points: Any
    values: Floats
    distance: Floats
    label: NDArray[Any]
    feasible: NDArray[np.bool_]
    exact: bool
    original: Floats
    original_label: NDArray[Any]
    sizes: Floats
    feature_names: tuple[str, ...]
    index: Any = None
    model: Any = None
    ranges: Any = None

    @property
    def changes(self) -> Floats:
        """What was added to each feature."""
        return self.values - self.original

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
            return f"{self.original_label[row]}; {self._no_answer()}"
        order = np.argsort(-self.sizes[row], kind="stable")
        moved = [j for j in order if self.values[row, j] != self.original[row, j]]
        printable = self.printable([row], write_digits)
        if not printable.is_right[0]:
            return f"{self.original_label[row]}; no change was found that gives the answer sought"
        texts = printable.texts[0]
        old = self.original[row]
        parts = [
            f"{self.feature_names[j]} {digits_beside(old[j], texts[j])} -> {texts[j]}"
            for j in moved[:MOST_FEATURES]
        ]
        more = len(moved) - len(parts)
        rest = f", and {more} smaller change{'s' * (more > 1)}" if more else ""
        what = ", ".join(parts) + rest if parts else "as it is"
        return f"{self.original_label[row]} -> {self.label[row]}: {what}"

    def printable(self, rows: Any, write: Write) -> Printable:
        """Return the changed values of some rows as they are printed, see ``find_printable``.

        Parameters
        ----------
        rows : array-like of int
            Which rows.
        write : callable
            Writes a number.

        Returns
        -------
        printable : Printable
            The texts of the numbers that change, and the rows that they mean.
        """
        label = self.label[rows]

        def is_right(points: Floats, places: Indices) -> NDArray[np.bool_]:
            if self.model is None:
                return (points[places] == self.values[rows][places]).all(axis=1)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                return np.asarray(self.model.predict(points[places]) == label[places])

        return find_printable(self.original[rows], self.values[rows], write, is_right, self.ranges)

    def to_frame(self) -> Any:
        """Return the changed rows as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            The features of ``points``, then the columns ``label``, ``distance``, ``feasible``.
        """
        pd = import_pandas()
        frame = pd.DataFrame(self.values, index=self.index, columns=list(self.feature_names))
        return frame.assign(label=self.label, distance=self.distance, feasible=self.feasible)


def first_rows(result: Any) -> str:
    """Return what ``result.describe`` says about the first rows, and how many there are more."""
    shown = [f"row {i}: {result.describe(i)}" for i in range(min(len(result), MOST_ROWS))]
    if len(result) > len(shown):
        shown.append(f"... and {len(result) - len(shown)} rows more")
    return "\n".join(shown)


def import_pandas() -> Any:
    """Import pandas."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas.") from error
    return pd
