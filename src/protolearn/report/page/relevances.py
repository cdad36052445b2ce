"""Which columns count, and how sure that is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..._arrays import Floats, Indices
from ...analysis import group_names, learned_metric, relevance_profile
from ...classifiers import NearestPrototypeClassifier
from ...rule import LinearRule, as_rule
from ...tables import NO_FEATURE_NAMES, ignore_warnings, linear_shares
from ..subject import Subject

FEWEST_REFITS = 10
LEVEL = 0.95
NORMAL = 1.96
"""Half the width of a 95% interval, in standard errors."""


@dataclass(frozen=True, eq=False)
class Relevances:
    """How much each column counts.

    Parameters
    ----------
    names : list of str
        The columns, or what the model sees in their place.
    values : array of shape (n_groups, n_columns)
        Shares of one; several groups if there are local metrics.
    low, high : arrays like ``values``
        Ends of the intervals; NaN where there are none.
    groups : list of str
        Names of the local metrics.
    meaning : str
        What the numbers and the intervals are.
    reason : str
        Why there are no numbers, if so.
    """

    names: list[str]
    values: Floats
    low: Floats
    high: Floats
    groups: list[str]
    meaning: str
    reason: str = ""

    @classmethod
    def none(cls, reason: str) -> Relevances:
        """Return no numbers, and the reason."""
        empty = np.empty((0, 0))
        return cls([], empty, empty, empty, [], "", reason)

    @property
    def order(self) -> Indices:
        """The columns, those that count most first."""
        return np.argsort(-self.values.mean(axis=0), kind="stable")


def relevances_of(
    subject: Subject,
    rows: Indices,
    n_refits: int,
    seconds: float | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
) -> Relevances:
    """Return how much each column counts: by the metric if one is learned, else by the decisions.

    At most ``n_refits`` fits to some of the rows are made for the intervals, and no more than there
    are ``seconds`` for.
    """
    some = subject.take(rows)
    found = among(some, n_refits, seconds, n_jobs, seed)
    if len(rows) == len(subject.y) or not found.meaning:
        return found
    which = f" By {len(rows):,} of {len(subject.y):,} rows, drawn at random."
    return replace(found, meaning=found.meaning + which)


def among(
    subject: Subject, n_refits: int, seconds: float | None, n_jobs: int | None, seed: int
) -> Relevances:
    """Return how much each column counts, by all rows of a subject."""
    try:
        learned_metric(subject.last)
    except (TypeError, ValueError):
        return by_decisions(subject)
    try:
        return by_metric(subject, affordable(subject, n_refits, seconds), n_jobs, seed)
    except ValueError as error:
        return without_intervals(subject, f"it cannot be fitted again: {error}")


def affordable(subject: Subject, n_refits: int, seconds: float | None) -> int:
    """Return the number of fits that there is time for, by the time that one takes."""
    if seconds is None or not n_refits:
        return n_refits
    begun = perf_counter()
    clone(subject.last).set_params(verbose=0).fit(subject.inner, subject.y)
    return min(n_refits, int(seconds / (perf_counter() - begun)) - 1)


def by_metric(subject: Subject, n_refits: int, n_jobs: int | None, seed: int) -> Relevances:
    """Return the relevances of the metric, with those of fits to other rows."""
    if n_refits < FEWEST_REFITS:
        return without_intervals(subject, "they need more fits to other rows than were made")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # which the fit itself has told
        profile = relevance_profile(
            subject.last,
            subject.inner,
            subject.y,
            n_resamples=n_refits,
            level=LEVEL,
            n_jobs=n_jobs,
            random_state=seed,
        )
    names, values = named(subject, own(subject))
    _, samples = named(subject, np.stack([np.atleast_2d(one) for one in profile.samples]))
    tail = 50.0 * (1.0 - LEVEL)
    low, high = np.percentile(samples, [tail, 100.0 - tail], axis=0)
    meaning = (
        "The bars are the shares of the columns in the metric that the model has learned. The "
        f"lines hold {LEVEL:.0%} of the shares in {n_refits} fits to rows drawn again: other data "
        "of the same kind would give bars about there."
    )
    return Relevances(names, values, low, high, list(group_names(subject.last)), meaning)


def without_intervals(subject: Subject, why: str) -> Relevances:
    """Return the relevances of the metric alone."""
    names, values = named(subject, own(subject))
    nothing = np.full_like(values, np.nan)
    meaning = (
        "The bars are the shares of the columns in the metric that the model has learned. There "
        f"are no intervals, since {why}."
    )
    return Relevances(names, values, nothing, nothing, list(group_names(subject.last)), meaning)


def own(subject: Subject) -> Floats:
    """Return the relevances of the model, an array (n_groups, d)."""
    return np.atleast_2d(subject.last.relevances_)


def by_decisions(subject: Subject) -> Relevances:
    """Return how much each column has to do with the decisions about the rows, on average."""
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            spoken = speaking(subject)
    except (TypeError, ValueError) as error:
        return Relevances.none(str(error).partition("; give ")[0].rstrip("."))
    names, spoken = named(subject, spoken)
    total = np.abs(spoken).sum(axis=1, keepdims=True)
    part = np.divide(np.abs(spoken), total, out=np.zeros_like(spoken), where=total > 0.0)
    mean, spread = part.mean(axis=0), part.std(axis=0) / np.sqrt(max(len(part) - 1, 1))
    low, high = np.maximum(mean - NORMAL * spread, 0.0), np.minimum(mean + NORMAL * spread, 1.0)
    meaning = (
        "The bars are the mean shares of the columns in the decisions: by how much each brings a "
        "row nearer to one class than to another. The lines are the 95% intervals of these means; "
        "they know of other rows, not of other fits."
    )
    return Relevances(names, mean[None], low[None], high[None], [], meaning)


def speaking(subject: Subject) -> Floats:
    """Return by how much each feature speaks for the answer about each row."""
    model, rows = subject.last, subject.inner
    if isinstance(model, NearestPrototypeClassifier):
        return np.asarray(model.contributions(rows))
    rule = as_rule(model)
    if not isinstance(rule, LinearRule):
        raise TypeError(f"{type(model).__name__} does not decide by a sum over columns")
    return linear_shares(rule, rows, np.asarray(rows.mean(axis=0))[None])


def named(subject: Subject, numbers: Any) -> tuple[list[str], Floats]:
    """Return names and numbers by column, if the model sees columns one by one."""
    if subject.one_by_one:
        return subject.names, subject.by_column(numbers)
    return subject.inner_names, numbers
