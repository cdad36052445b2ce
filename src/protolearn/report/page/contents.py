"""What a page is made from: a model, rows, how good it is, and how it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR
from functools import cached_property
from typing import Any

import numpy as np

from ..._arrays import Floats, Indices
from ..._names import class_name, count, decimals_text, shorten_name
from ...analysis import CertifiedAccuracy, certified_accuracy, certified_radius, is_linear_rule
from ...selection import Evaluation
from ...tables import (
    NO_FEATURE_NAMES,
    NumberColumn,
    column_places,
    flatten_steps,
    ignore_warnings,
)
from ..subject import Subject
from .evidence import Evidence
from .live_model import LiveModel

MOST_MEASURED_ROWS = 5_000  # rows for which margins and the like are computed
MOST_POINTS, MOST_PICTURES = 1_500, 500  # rows that are drawn, and those with a picture each
MOST_PIXELS = 200_000  # numbers of all these pictures together
LARGEST_PICTURE = 4_096  # points of a picture; larger ones are thinned out


@dataclass(frozen=True, eq=False)
class Relevances:
    """How much each column counts."""

    names: list[str]  # the columns, or what the model sees in their place
    # (n_groups, n_columns): shares of one; several groups if there are local metrics.
    values: Floats
    low: Floats  # ends of the intervals, like the values; NaN where there are none
    high: Floats
    groups: list[str]  # names of the local metrics
    meaning: str  # what the numbers and the intervals are
    reason: str = ""  # why there are no numbers, if so

    @classmethod
    def none(cls, reason: str) -> Relevances:
        """Return no numbers, and the reason."""
        empty = np.empty((0, 0))
        return cls([], empty, empty, empty, [], "", reason)

    @property
    def order(self) -> Indices:
        """The columns, those that count most first."""
        return np.argsort(-self.values.mean(axis=0), kind="stable")

    @property
    def n_half(self) -> int:
        """How many columns have half of the importance together."""
        shares = np.cumsum(self.values.mean(axis=0)[self.order])
        return int(np.searchsorted(shares, 0.5 * shares[-1] * (1.0 - 1e-9))) + 1


@dataclass(frozen=True, eq=False)
class Certified:
    """Which answers stay the same under errors of measurement, or why that cannot be told."""

    sentence: str
    found: CertifiedAccuracy | None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, tolerance: float | dict[str, float]) -> Certified:
        """Return it for rows; ``tolerance`` is in standard deviations, or in units by column."""
        encoder, radius = flatten_steps(model)[0][1], tolerance
        if not isinstance(tolerance, dict):
            columns = zip(encoder.columns_, column_places(encoder.columns_), strict=True)
            radius = {
                str(one.name): tolerance * float(encoder.units_.scale_[place.start])
                for one, place in columns
                if isinstance(one, NumberColumn) and one.is_ordered
            }
            how = f"every number is off by up to {tolerance:g} standard deviations"
        else:
            how = ", ".join(f"{name} by up to {far:g}" for name, far in tolerance.items())
            how = f"columns are off ({how})"
        try:
            found = certified_accuracy(model, X, y, radius=radius, norm=np.inf)
        except (TypeError, ValueError) as error:
            reason = str(error).rstrip(".")
            return cls(f"If {how}, it is not known how many answers stay correct: {reason}.", None)
        share = decimals_text(100.0 * float(found.certified.mean()), 1, ROUND_FLOOR)
        rows = count(len(y), "row")
        sentence = (
            f"If {how}, the answers for {share}% of the rows are proved to stay correct ({rows}, "
            "to which the model was fitted)."
        )
        return cls(sentence, found)

    @property
    def shares(self) -> dict[str, str]:
        """The share of each class, rounded down."""
        by_class = {} if self.found is None else self.found.by_class()
        return {
            str(label): f"{decimals_text(100.0 * share, 1, ROUND_FLOOR)}%"
            for label, share in by_class.items()
        }


@dataclass(frozen=True, eq=False)
class Story:
    """What a page tells."""

    title: str  # the heading of the page
    about: str  # a line below it: which rows, which columns
    sentences: Sequence[str]  # what was learned, in three sentences
    subject: Subject  # the model and the rows
    evidence: Evidence  # how good it is
    relevances: Relevances  # how much each column counts, or why nobody knows
    made: Sequence[tuple[str, Any]]  # how the model was made: names, and what can be written
    page: Sequence[tuple[str, Any]]  # the same of the page, if that was made by itself
    begun: float  # when the work began, by ``perf_counter``
    use: str  # how to load the model again, in code
    # What each row is called: its number in a file, or its name in a frame.
    row_names: Sequence[Any]
    # Probability below which predictions are flagged for a second look.
    threshold: float | None = None
    image_shape: tuple[int, ...] | None = None  # of features that form a picture
    tried: Sequence[Any] = ()  # candidates among which the model was chosen, if it was
    seed: int = 0  # draws the rows that are shown
    certified: Certified | None = None  # answers that stay the same while rows move, if asked
    warnings: Sequence[str] = ()  # reasons to doubt the result, the most important first
    metric: str = "accuracy"  # what the model was chosen by, as the command calls it
    subgroups: Mapping[str, Evaluation] = field(default_factory=dict)  # by a column, if asked for

    @cached_property
    def black_and_white(self) -> tuple[float, float]:
        """The values that are black and white in pictures of rows."""
        low, high = np.percentile(self.subject.plain, [0.5, 99.5])
        return float(low), float(high)

    @property
    def columns_that_count(self) -> list[int] | None:
        """The columns, those that count most first; None if that is not known by column."""
        by_column = self.relevances.names == self.subject.names
        return self.relevances.order.tolist() if by_column else None

    @property
    def most_points(self) -> int:
        """Rows that are drawn; of pictures fewer, since each comes with its picture."""
        if self.image_shape is None:
            return MOST_POINTS
        size = min(int(np.prod(self.image_shape)), 3 * LARGEST_PICTURE)
        return min(MOST_PICTURES, MOST_PIXELS // size)

    @cached_property
    def measured_rows(self) -> Indices:
        """The rows for which margins and the like are computed."""
        return sample_rows(len(self.subject.y), MOST_MEASURED_ROWS, self.seed)

    @cached_property
    def measured_subject(self) -> Subject:
        """The model with these rows."""
        return self.subject.take(self.measured_rows)

    @cached_property
    def certified_radii(self) -> Floats | str:
        """The certified radius of each of these rows, or why there is none."""
        some = self.measured_subject
        return value_or_reason(certified_radius, some.last, some.inner)

    @cached_property
    def live(self) -> LiveModel:
        """The model with which the page itself computes."""
        return LiveModel.of(self.subject)

    def rows_on_map(self, besides: Indices) -> Indices:
        """Return rows drawn at random for the map, and some besides, in order.

        Where the page edits the model, a share of the rows is kept from its reader.
        """
        free = np.arange(len(self.subject.y))
        if self.live.can_be_edited and not self.live.is_kept.all():
            free = np.flatnonzero(~self.live.is_kept)
        rows = free[sample_rows(len(free), self.most_points, self.seed)]
        return np.union1d(rows, besides).astype(np.intp)


def sample_rows(n_rows: int, most: int, seed: int) -> Indices:
    """Return at most so many out of a number of rows, drawn at random, in order."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(seed).permutation(n_rows)[:most])


def value_or_reason(ask: Callable[..., Floats], *about: Any) -> Floats | str:
    """Return what a function says about a model, or the reason why it cannot."""
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            return ask(*about)
    except (TypeError, ValueError) as error:
        return str(error).partition("; give ")[0].rstrip(".")  # no advice for callers of functions


def describe_data(subject: Subject) -> str:
    """Return a text that says what the page is about."""
    counts = np.bincount(subject.codes, minlength=len(subject.classes))
    names = [shorten_name(name, 40) for name in subject.classes]
    parts = [f"{name} ({n:,})" for name, n in zip(names, counts, strict=True)]
    more = f" and {len(parts) - 8} more" if len(parts) > 8 else ""
    return (
        f"{count(len(subject.y), 'row')}, {count(len(subject.columns), 'column')}, {len(parts)} "
        f"class{'es' * (len(parts) > 1)}: {', '.join(parts[:8])}{more}"
    )


def sentences(subject: Subject, evidence: Evidence) -> list[str]:
    """Return what was learned, in three sentences."""
    accuracy, true = evidence.evaluation.accuracy, evidence.answers.y_true
    labels, counts = np.unique(true, return_counts=True)
    most = int(counts.argmax())
    found, columns = subject.prototypes, count(int(subject.is_used.sum()), "column")
    by = (
        ""
        if found is None or is_linear_rule(subject.last)
        else f" with {count(len(found[0]), 'prototype')}"
    )
    pairs = evidence.evaluation.confusion
    errors = pairs.counts - np.diag(np.diag(pairs.counts))
    i, j = np.unravel_index(int(errors.argmax()), errors.shape)
    names = [shorten_name(str(label), 80) for label in pairs.labels]
    third = (
        f"Its most frequent error is to predict {names[j]} for rows of class {names[i]}: "
        f"{errors[i, j]:,} of {pairs.counts[i].sum():,} rows."
    )
    rows = "On held-out rows it" if evidence.left_out else "It"
    return [
        f"The model is a {class_name(subject.last)}{by}. It predicts one of "
        f"{len(subject.classes)} classes from {columns}.",
        f"{rows} is correct {accuracy.value:.1%} of the time ({evidence.evaluation.confidence:.0%} "
        f"interval {accuracy.low:.1%} to {accuracy.high:.1%}); always predicting "
        f"{shorten_name(str(labels[most]), 80)!r} would be correct "
        f"{counts[most] / len(true):.1%} of the time.",
        third if errors.any() else f"It made no error on {len(true):,} rows.",
    ]


def default_title(subject: Subject, y: Any) -> str:
    """Return a heading that says what is predicted."""
    name = getattr(y, "name", None)
    names = [shorten_name(one, 40) for one in subject.classes]
    if isinstance(name, str) and name:
        return f"Predicting {shorten_name(name, 80)}"
    if len(names) > 4:
        return f"Predicting one of {len(names)} classes"
    return f"Predicting {', '.join(names[:-1])} or {names[-1]}"
