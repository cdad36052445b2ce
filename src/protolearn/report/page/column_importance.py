"""The section on which columns count, and how sure that is."""

from __future__ import annotations

import warnings
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..._arrays import Floats, Indices
from ..._names import shorten_name
from ...analysis import group_names, learned_metric, linear_leads, relevance_profile
from ...classifiers import NearestPrototypeClassifier
from ...rule import LinearRule, as_rule
from ...tables import NO_FEATURE_NAMES, ignore_warnings
from ..subject import Subject
from .chart import ACCENT, INK, Chart, Trace, axis, grey_image, lines, numbers, safe, shares
from .contents import Relevances, Section, Story
from .html import Markup, paragraph, tag

MOST_BARS, MOST_GROUPS = 20, 6
BAR_HEIGHT = 24
FEWEST_REFITS = 10
LEVEL = 0.95
NORMAL = 1.96  # half the width of a 95% interval, in standard errors


def columns_section(story: Story) -> Section:
    """Return how much each column counts."""
    section = Section("columns", "Which columns count", "Columns")
    found = story.relevances
    if found.reason:
        section.parts.append(paragraph(f"There is no measure of it: {found.reason}."))
        return section
    section.parts.append(paragraph(leading_columns(found)))
    if story.image_shape is not None and len(found.names) == np.prod(story.image_shape):
        section.parts.append(importance_images(found, story.image_shape))
    groups = found.groups[:MOST_GROUPS] or [""]
    section.parts += [bars(found, g, name) for g, name in enumerate(groups)]
    left = len(found.groups) - len(groups)
    more = f" The first {len(groups)} of {len(found.groups)} local metrics." if left > 0 else ""
    section.parts.append(paragraph(found.meaning + more, "note"))
    return section


def leading_columns(found: Relevances) -> str:
    """Return a text that says which columns count most."""
    order, mean = found.order, found.values.mean(axis=0)
    if not mean.sum():
        return "No column counts: all rows get the same answer."
    if len(mean) == 1:
        return f"There is one column, {found.names[0]}."
    half = int(np.searchsorted(np.cumsum(mean[order]), 0.5 * mean.sum() * (1.0 - 1e-9))) + 1
    first = ", ".join(found.names[j] for j in order[: min(half, 5)])
    if half == 1:
        return f"One column of {len(mean)} counts for half of it or more: {first}."
    more = f" and {half - 5} more" if half > 5 else ""
    return f"{half} of {len(mean)} columns count for half of it: {first}{more}."


def bars(found: Relevances, g: int, group: str) -> Chart:
    """Return the bars of a metric."""
    order = np.argsort(-found.values[g], kind="stable")
    shown = [int(j) for j in order[:MOST_BARS]]
    values, low, high = (part[g, shown] for part in (found.values, found.low, found.high))
    sure = np.isfinite(low).all()
    names = [found.names[j] for j in shown]
    texts = [
        lines(name, f"{value:.1%}" + (f", interval {a:.1%} to {b:.1%}" if sure else ""))
        for name, value, a, b in zip(names, values, low, high, strict=True)
    ]
    trace: Trace = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(values),
        "y": list(range(len(shown))),
        "hovertext": texts,
        "hoverinfo": "text",
        "marker": {"color": ACCENT, "opacity": 0.6},
    }
    traces = [trace]
    if sure:
        traces.append(intervals(low, high))
    places = {
        "tickvals": list(range(len(shown))),
        "ticktext": [safe(shorten_name(name)) for name in names],
        "autorange": "reversed",
        "automargin": True,
        "ticksuffix": "  ",
    }
    rest = len(found.names) - len(shown)
    title = "How much each column counts" + (f": {group}" if group else "")
    listed = "; ".join(f"{name} {value:.1%}" for name, value in zip(names, values, strict=True))
    return Chart(
        f"columns-{g}",
        title,
        f"{title}. Bars, the largest first: {listed}.",
        traces,
        {"xaxis": shares("share", rangemode="tozero"), "yaxis": axis("", **places), "bargap": 0.35},
        height=90 + BAR_HEIGHT * len(shown),
        note=f"The {len(shown)} largest; {rest} more are smaller." if rest > 0 else "",
    )


def intervals(low: Any, high: Any) -> Trace:
    """Return the intervals of bars, whose ends need not lie around them."""
    x: list[Any] = []
    y: list[Any] = []
    unseen = {"hoverinfo": "skip"}
    for place, (a, b) in enumerate(zip(numbers(low), numbers(high), strict=True)):
        x += [a, b, None]
        y += [place, place, None]
    line = {"color": INK, "width": 1.6}
    look = {"line": line, "marker": {"symbol": "line-ns", "size": 7, "line": line}}
    return {"type": "scatter", "mode": "lines+markers", "x": x, "y": y} | look | unseen


def importance_images(found: Relevances, shape: tuple[int, ...]) -> Markup:
    """Return relevances of points of a picture where the points are."""
    frames = []
    for values, name in zip(found.values[:MOST_GROUPS], found.groups or [""], strict=False):
        image = grey_image(values.reshape(shape), 0.0, float(values.max()))
        of = f", {name}" if name else ""
        alt = f"How much each point of a picture counts{of}: bright points count most."
        caption = tag("figcaption", name or "bright counts")
        frames.append(tag("figure", tag("img", src=image, alt=alt, class_="pixels"), caption))
    return tag("div", frames, class_="pictures")


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
    which = f" By {len(rows):,} of {len(subject.y):,} rows, drawn at random."
    return replace(found, meaning=found.meaning + which)


def relevances_of_rows(
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
    names, values = names_and_numbers(subject, np.atleast_2d(subject.last.relevances_))
    _, samples = names_and_numbers(
        subject, np.stack([np.atleast_2d(one) for one in profile.samples])
    )
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
    names, values = names_and_numbers(subject, np.atleast_2d(subject.last.relevances_))
    nothing = np.full_like(values, np.nan)
    meaning = (
        "The bars are the shares of the columns in the metric that the model has learned. There "
        f"are no intervals, since {why}."
    )
    return Relevances(names, values, nothing, nothing, list(group_names(subject.last)), meaning)


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
        "The bars are the mean shares of the columns in the decisions: by how much each brings a "
        "row nearer to one class than to another. The lines are the 95% intervals of these means; "
        "they know of other rows, not of other fits."
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
