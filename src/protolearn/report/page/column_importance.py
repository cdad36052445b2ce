"""Which columns count, how sure that is, and which way they push."""

from __future__ import annotations

import warnings
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..._arrays import Floats, Indices
from ..._names import shorten_name
from ...analysis import (
    EffectCurve,
    Effects,
    column_effects,
    effect_curves,
    group_names,
    learned_metric,
    linear_leads,
    relevance_profile,
)
from ...classifiers import NearestPrototypeClassifier
from ...rule import LinearRule, as_rule
from ...tables import NO_FEATURE_NAMES, CategoryColumn, ignore_warnings
from ..subject import LONGEST, Subject
from .chart import Axis, Chart, Layer, grey_image, shares
from .contents import Relevances, Story, sample_rows

MOST_BARS, MOST_GROUPS = 20, 6
FEWEST_REFITS = 10
LEVEL = 0.95
MOST_CURVES, CURVE_ROWS = 12, 100  # columns with effect curves, and rows over which they are means
MOST_LINES = 6  # classes in a chart of effects
BARS_HEIGHT = 0.16  # of the tallest bar, as a share of the chart
INSTEAD = " instead of "  # between the categories of a step
NUMBER_STEP = "+1 sd"
NORMAL = 1.96  # half the width of a 95% interval, in standard errors


class Direction(NamedTuple):
    """What a step in a column does to the prediction."""

    column: str
    step: str  # "higher values", or such as "red instead of blue", or 'with "good"'
    toward: str  # the class that the step favours most, and the one that it favours least
    against: str
    size: float  # by how much it changes the score of the class
    is_number: bool  # whether it is a step of a number, not of categories
    is_sure: bool  # whether the effect has the same sign for most rows

    def reason_for(self, label: str) -> str:
        """Return what speaks for one of the two classes, such as "high alcohol"."""
        if self.is_number:
            return f"{'high' if label == self.toward else 'low'} {self.column}"
        if label == self.toward:
            return f"{self.column}: {self.step}"
        if INSTEAD not in self.step:
            return f"{self.column}: {self.step.replace('with', 'without', 1)}"
        return f"{self.column}: {INSTEAD.join(reversed(self.step.split(INSTEAD, 1)))}"


class ImportantColumn(NamedTuple):
    """A column, how much it counts, and which way it pushes."""

    name: str
    importance: float  # share of one
    low: float  # ends of the interval; NaN if there is none
    high: float
    directions: list[Direction]
    values: Any  # the values of each class, if they are shown


def important_columns(
    found: Relevances, group: int, directions: dict[str, list[Direction]], by_class: dict[str, Any]
) -> list[ImportantColumn]:
    """Return the columns that count most in a metric, the first counts most."""
    order = np.argsort(-found.values[group], kind="stable")[:MOST_BARS].tolist()
    return [
        ImportantColumn(
            found.names[j],
            float(found.values[group, j]),
            float(found.low[group, j]),
            float(found.high[group, j]),
            directions.get(found.names[j], []),
            by_class.get(found.names[j]),
        )
        for j in order
    ]


def effects_of(subject: Subject, rows: Indices) -> Effects | None:
    """Return what a step in each column does to the scores, by some rows; None if unknown."""
    some = subject.take(rows)
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            return column_effects(some.model, some.X)
    except (TypeError, ValueError):
        return None


def directions_of(subject: Subject, found: Effects | None) -> dict[str, list[Direction]]:
    """Return which way each column pushes, by its name; categories have several steps."""
    if found is None:
        return {}
    labels = [shorten_name(str(label), LONGEST) for label in found.classes]
    directions: dict[str, list[Direction]] = {}
    for steps in zip(*found.effects, strict=True):
        effects = np.array([one.effect for one in steps])
        top, bottom = int(effects.argmax()), int(effects.argmin())
        one, size = steps[top], float(np.abs(effects).max())
        toward, against = labels[top], labels[bottom]
        if len(labels) == 1:  # the second of two classes
            pair = labels[0], subject.classes[0]
            toward, against = pair if effects[0] > 0.0 else pair[::-1]
        if size:
            name, is_number = shorten_name(str(one.column), LONGEST), one.step == NUMBER_STEP
            step = "higher values" if is_number else shorten_step(one.step)
            is_sure = found.exact or (one.low >= 0.0) == (one.high > 0.0)
            directions.setdefault(name, []).append(
                Direction(name, step, toward, against, size, is_number, is_sure)
            )
    return {
        name: sorted(several, key=lambda one: -one.size) for name, several in directions.items()
    }


def effect_charts(story: Story) -> list[Chart]:
    """Return charts of how the prediction changes with the columns that matter most."""
    subject = story.subject
    columns = story.columns_that_count or range(len(subject.names))
    some = subject.take(sample_rows(len(subject.y), CURVE_ROWS, story.seed))
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            curves = effect_curves(some.model, some.X, list(columns)[:MOST_CURVES])
    except (TypeError, ValueError):
        return []
    if not curves:
        return []
    two = len(subject.classes) == 2
    parts = [part for one in curves for part in ((one.low, one.high) if two else (one.mean,))]
    ends = [float(end([end(part[:, int(two) :]) for part in parts])) for end in (np.min, np.max)]
    pad = max(0.04 * (ends[1] - ends[0]), 1e-9)
    low, high = ends[0] - BARS_HEIGHT * (ends[1] - ends[0]) - pad, ends[1] + pad
    up = Axis("score", low, high)
    if curves[0].has_probabilities:
        up = shares("probability", max(low, -BARS_HEIGHT), min(high, 1.005))
    return [effect_chart(subject, one, up) for one in curves]


def effect_chart(subject: Subject, one: EffectCurve, up: Axis) -> Chart:
    """Return the chart of one column: lines of the classes, and below them where the rows are."""
    column, part = subject.parts(subject.plain)[one.column]
    name, is_number = subject.names[one.column], not isinstance(column, CategoryColumn)
    places, is_discrete = part[:, 0], isinstance(column, CategoryColumn) or column.is_integer
    if isinstance(column, CategoryColumn):
        places = column.nearest(part).astype(np.float64)
    gap = (one.values[1] - one.values[0]) * (0.6 if is_discrete else 0.5)
    ticks = () if is_number else tuple(shorten_name(text, 10) for text in one.texts)
    ends = float(one.values[0] - gap), float(one.values[-1] + gap)
    kind = "date" if getattr(column, "kind", "") == "date" else "number"
    across = Axis(name if is_number else "", *ends, kind, ticks)  # texts need the room
    edges = np.append(one.values - 0.5, one.values[-1] + 0.5) if is_discrete else one.values
    layers = [distribution(places, edges, up)]
    largest = np.argsort(-np.ptp(one.mean, axis=0), kind="stable")[:MOST_LINES]
    codes = [1] if len(subject.classes) == 2 else sorted(largest.tolist())
    told = []
    for code in codes:
        mean, label = one.mean[:, code], subject.classes[code]
        look: dict[str, Any] = {"look": "class", "code": code}
        sides = one.high[:, code], one.low[:, code]
        texts = [("{:.1%}" if up.kind == "share" else "{:.3g}").format(x) for x in mean.tolist()]
        tips = [f"{label}: {text} at {at}" for text, at in zip(texts, one.texts, strict=True)]
        if len(codes) == 1:
            kind = "band" if is_number else "intervals"
            layers.append(Layer(kind, one.values, sides[0], sides[1], **look))
        if is_number:
            layers.append(Layer("line", one.values, mean, name=label, **look))
        else:
            layers.append(Layer("dots", one.values, mean, name=label, tips=tips, **look))
        told.append(f"{tips[0]}, {texts[-1]} at {one.texts[-1]}")
    alt = f"{up.title} by {name}. {'; '.join(told)}."
    return Chart(f"effect-{one.column}", name, alt, across, up, layers)


def distribution(values: Any, edges: Floats, up: Axis) -> Layer:
    """Return low bars that say where the rows are."""
    counts, low = np.histogram(values, edges)[0], up.low
    height = BARS_HEIGHT * (up.high - low) * counts / max(int(counts.max()), 1)
    tips = [f"{n / len(values):.1%} of the rows" for n in counts]
    middle, width = 0.5 * (edges[1:] + edges[:-1]), 0.9 * float(edges[1] - edges[0])
    return Layer("bars", middle, low + height, low, "muted", width=width, tips=tips)


def shorten_step(step: str) -> str:
    """Return a step of a column without the middle of long categories."""
    return INSTEAD.join(shorten_name(part, 40) for part in step.split(INSTEAD, 1))


def importance_images(found: Relevances, shape: tuple[int, ...]) -> list[tuple[str, str]]:
    """Return names and pictures of the relevances of points, where the points are."""
    return [
        (grey_image(values.reshape(shape), 0.0, float(values.max())), name)
        for values, name in zip(found.values[:MOST_GROUPS], found.groups or [""], strict=False)
    ]


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
    found = relevances_of_rows(some, n_refits, seconds, n_jobs, seed)
    if len(rows) == len(subject.y) or not found.meaning:
        return found
    which = f" Based on {len(rows):,} of {len(subject.y):,} rows, drawn at random."
    return replace(found, meaning=found.meaning + which)


def relevances_of_rows(
    subject: Subject, n_refits: int, seconds: float | None, n_jobs: int | None, seed: int
) -> Relevances:
    """Return how much each column counts, by all rows of a subject."""
    try:
        learned_metric(subject.last)
    except (TypeError, ValueError):
        return by_decisions(subject)
    return by_metric(subject, n_refits, seconds, n_jobs, seed)


def affordable(subject: Subject, n_refits: int, seconds: float | None) -> int:
    """Return the number of fits that there is time for, by the time that one takes."""
    if seconds is None or not n_refits:
        return n_refits
    begun = perf_counter()
    clone(subject.last).set_params(verbose=0).fit(subject.inner, subject.y)
    return min(n_refits, int(seconds / (perf_counter() - begun)) - 1)


def by_metric(
    subject: Subject, n_refits: int, seconds: float | None, n_jobs: int | None, seed: int
) -> Relevances:
    """Return the relevances of the metric, with those of fits to other rows if there are enough."""
    names, values = names_and_numbers(subject, np.atleast_2d(subject.last.relevances_))
    ends, told = np.full((2, *values.shape), np.nan), "There are no intervals: "
    try:
        n_refits = affordable(subject, n_refits, seconds)
        if n_refits < FEWEST_REFITS:
            told += f"they need at least {FEWEST_REFITS} refits."
        else:
            ends = refit_intervals(subject, n_refits, n_jobs, seed)
            told = f"The lines span {LEVEL:.0%} of the values in {n_refits} models fitted to rows "
            told += "drawn again."
    except ValueError as error:
        told += f"it cannot be fitted again: {error}."
    meaning = f"Importance is the share of a column in the learned metric. {told}"
    return Relevances(names, values, ends[0], ends[1], list(group_names(subject.last)), meaning)


def refit_intervals(subject: Subject, n_refits: int, n_jobs: int | None, seed: int) -> Floats:
    """Return the ends of the intervals of relevances, by fits to rows drawn again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # which the fit itself has told
        found = relevance_profile(
            subject.last,
            subject.inner,
            subject.y,
            n_resamples=n_refits,
            level=LEVEL,
            n_jobs=n_jobs,
            random_state=seed,
        )
    samples = np.stack([np.atleast_2d(one) for one in found.samples])
    tail = 50.0 * (1.0 - LEVEL)
    return np.percentile(names_and_numbers(subject, samples)[1], [tail, 100.0 - tail], axis=0)


def by_decisions(subject: Subject) -> Relevances:
    """Return how much each column has to do with the decisions about the rows, on average."""
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            spoken = feature_contributions(subject)
    except (TypeError, ValueError) as error:
        return Relevances.none(str(error).partition("; give ")[0].rstrip("."))
    names, spoken = names_and_numbers(subject, spoken)
    total = np.abs(spoken).sum(axis=1, keepdims=True)
    part = np.divide(np.abs(spoken), total, out=np.zeros_like(spoken), where=total > 0.0)
    mean, spread = part.mean(axis=0), part.std(axis=0) / np.sqrt(max(len(part) - 1, 1))
    low, high = np.maximum(mean - NORMAL * spread, 0.0), np.minimum(mean + NORMAL * spread, 1.0)
    meaning = (
        "Importance is the mean share of a column in the decisions: how much it moves a row toward "
        "one class and away from another. The lines are 95% intervals of these means; they cover "
        "sampling of rows, not refitting the model."
    )
    return Relevances(names, mean[None], low[None], high[None], [], meaning)


def feature_contributions(subject: Subject) -> Floats:
    """Return by how much each feature speaks for the answer about each row."""
    model, rows = subject.last, subject.inner
    if isinstance(model, NearestPrototypeClassifier):
        return np.asarray(model.contributions(rows))
    rule = as_rule(model)
    if not isinstance(rule, LinearRule):
        raise TypeError(f"{type(model).__name__} does not decide by a sum over columns")
    read = rule.read_rows(model, rows).astype(np.float64, copy=False)
    return linear_leads(rule, read, np.asarray(rows.mean(axis=0))[None])


def names_and_numbers(subject: Subject, numbers: Any) -> tuple[list[str], Floats]:
    """Return names and numbers by column, if the model sees columns one by one."""
    if subject.one_by_one:
        return subject.names, subject.by_column(numbers)
    return subject.inner_names, numbers
