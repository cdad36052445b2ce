"""The sections on how the model came about: its path, the candidates, its settings."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

from ..._arrays import Floats
from ..._names import shorten_name
from ...linear import PrototypePath, SoftMarginSVM, is_joint, regularization_path
from ...store import digest
from ..hyperplane import HyperplaneRows, hyperplane_at, line_in, view_of
from ..subject import Subject
from .chart import (
    ABOVE,
    INK,
    MUTED,
    Chart,
    axis,
    class_colour,
    curve,
    every,
    numbers,
    row_marks,
    stars,
)
from .contents import Section, Story, sample_rows
from .html import Markup, paragraph, table, tag

LIBRARIES = "protolearn", "scikit-learn", "numpy", "scipy"
MOST_TRIED = 20
LONGEST = 2_000  # characters of the settings of a model
MOST_PATH_ROWS = 400  # rows that are drawn, and of which the path of C is that
MOST_STEPS, MOST_PATHS = 60, 4
PAD = 0.08
# Slope, as a share of the other numbers of a line, at which it is along an axis, or far away.
ALONG = 1e-12


def path_section(story: Story) -> Section | None:
    """Return the paths of a model that has some; None if it has none."""
    subject = story.subject
    rows = sample_rows(len(subject.y), MOST_PATH_ROWS, story.seed)
    some = subject.take(rows)
    found, remark = paths_of(some)
    if not found:
        return None
    section = Section("path", "How it got there", "Path")
    which = f" {len(rows):,} of {len(subject.y):,} rows are drawn." * (len(rows) < len(subject.y))
    section.parts.append(paragraph(remark + which))
    for number, path in enumerate(found[:MOST_PATHS]):
        chart, slider = path_chart(some, path, number)
        section.parts.append(tag("div", chart.figure, slider, class_="path"))
        section.placed.append(chart)
    if len(subject.classes) > MOST_PATHS:
        text = f"The first {MOST_PATHS} of {len(subject.classes)} classes, each against all others."
        section.parts.append(paragraph(text, "note"))
    return section


def paths_of(subject: Subject) -> tuple[list[PrototypePath], str]:
    """Return the paths of a model, and what they are."""
    path = getattr(subject.last, "path_", None)
    if path is not None:
        remark = "The prototypes and the hyperplane after every round of boosting."
        return path if isinstance(path, list) else [path], remark
    if not isinstance(subject.last, SoftMarginSVM) or subject.last.class_weight is not None:
        return [], ""  # weights are no part of a path
    model, y = subject.last, subject.y
    if is_joint(model) or not hasattr(model, "coef_"):
        return [], ""  # a path is that of one class against the rest, among the rows
    labels = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    found = []
    for label in labels[:MOST_PATHS]:
        two = y if len(model.classes_) == 2 else np.where(y == label, 1, 0)
        if len(np.unique(two)) < 2:
            continue
        path = regularization_path(subject.inner, two, norm=model.norm)
        assert isinstance(path, PrototypePath)  # two classes
        if len(model.classes_) > 2:  # one class against the rest, as boosting has it
            classes = np.empty(2, dtype=object)
            classes[1] = label
            path = replace(path, classes=classes)
        found.append(path)
    remark = (
        "The prototypes and the hyperplane for every weight C of the errors, from the means of the "
        f"classes to the largest margin, fitted again to {len(y):,} rows of this page. The model "
        f"has C = {model.C:g}."
    )
    return found, remark


def place_of_model(subject: Subject, path: PrototypePath, places: Sequence[int]) -> int:
    """Return the step that is the model itself, or the next one to it: of rounds the last."""
    if path.parameter != "C":
        return len(places) - 1
    return int(np.abs(np.log(path.values[list(places)] / subject.last.C)).argmin())


def path_chart(subject: Subject, path: PrototypePath, number: int) -> tuple[Chart, Markup]:
    """Return the chart of a path, and the slider that moves along it."""
    last = hyperplane_at(path, len(path) - 1)
    what = HyperplaneRows(last, subject.inner, last.codes(subject.y), subject.inner_names, path)
    view, names = view_of(what), last.names()
    points, places = view.places(what.X), every(len(path), MOST_STEPS)
    centers = view.places(path.prototypes[places].reshape(-1, len(last.coef))).reshape(-1, 2, 2)
    box = box_of(np.vstack([points, *centers]))
    steps = [
        {
            "line": segment(line_in(view, hyperplane_at(path, i)), box),
            "prototypes": [numbers(centers[k, :, 0]), numbers(centers[k, :, 1])],
            "told": f"{step_text(path, i)}: {right_at(path, i, what):.1%} of these rows are right",
        }
        for k, i in enumerate(places)
    ]
    start = place_of_model(subject, path, places)
    traces, trails, colours = [], [], []
    for side, label in enumerate(last.classes_):
        code = 0 if label is None else int(subject.codes_of(np.array([label]))[0])
        colours.append(MUTED if label is None else class_colour(code))  # the rest is no class
        unseen = {"hoverinfo": "skip", "meta": {} if label is None else {"class": code}}
        own = points[what.codes == side]
        traces.append(row_marks(own, names[side], colours[-1], code, 6.0, 0.6, **unseen))
        way: dict[str, Any] = {"width": 3, "hoverinfo": "skip", "showlegend": False}
        trails.append(curve(centers[:, side, 0], centers[:, side, 1], colours[-1], **way))
    x, y = steps[start]["line"]
    traces += [*trails, curve(x, y, INK, width=2, name="hyperplane", hoverinfo="skip")]
    traces.append(stars(centers[start], colours, names))
    layout = {
        "xaxis": axis(view.axis_names[0], range=list(box[0]), zeroline=False),
        "yaxis": axis(view.axis_names[1], range=list(box[1]), zeroline=False),
        "showlegend": True,
        "legend": ABOVE,
    }
    name = f"path-{number}"
    title = f"{names[0]} and {names[1]}, {step_text(path, 0)} to {step_text(path, -1)}"
    alt = f"{title}: rows, two prototypes and the hyperplane between them, which the slider moves."
    extra = {"steps": steps, "moving": [len(traces) - 2, len(traces) - 1]}
    chart = Chart(name, title, alt, traces, layout, height=440, extra=extra)
    return chart, slider(name, path, steps, start)


def step_text(path: PrototypePath, number: int) -> str:
    """Return the short name of a step of a path."""
    value = path.values[number]
    return f"round {value:g}" if path.parameter == "round" else f"{path.parameter} = {value:.3g}"


def slider(name: str, path: PrototypePath, steps: list[dict[str, Any]], start: int) -> Markup:
    """Return the slider of a path."""
    label = "Round" if path.parameter == "round" else path.parameter
    step, ends = f"{name}-step", {"min": 0, "max": len(steps) - 1, "value": start}
    return tag(
        "div",
        tag("label", f"{label} ", for_=step),
        tag("input", type="range", id=step, **ends, data_path=name),
        tag("output", steps[start]["told"], id=f"{name}-told", for_=step),
        class_="slider",
    )


def box_of(places: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ends of both axes."""
    low, high = places.min(axis=0), places.max(axis=0)
    pad = PAD * (high - low) + 1e-12
    ends = np.stack([low - pad, high + pad], axis=1).tolist()
    return (ends[0][0], ends[0][1]), (ends[1][0], ends[1][1])


def segment(line: Floats, box: Any) -> list[list[Any]]:
    """Return a line ``u x + v y + c = 0`` cut to a box; nothing if it does not pass through it."""
    (u, v, c), (across, up) = line.tolist(), box
    ends = []
    if abs(v) > ALONG * (abs(u) + abs(c)):
        ends += [(x, -(u * x + c) / v) for x in across]
    if abs(u) > ALONG * (abs(v) + abs(c)):
        ends += [(-(v * y + c) / u, y) for y in up]
    slack = 1e-9 * max(across[1] - across[0], up[1] - up[0])
    inside = [
        (x, y)
        for x, y in ends
        if across[0] - slack <= x <= across[1] + slack and up[0] - slack <= y <= up[1] + slack
    ]
    if not inside or min(inside) == max(inside):
        return [[], []]
    return [numbers(pair) for pair in zip(min(inside), max(inside), strict=True)]


def right_at(path: PrototypePath, i: int, what: HyperplaneRows) -> float:
    """Return the share of rows on the right side of a hyperplane."""
    side = np.asarray(what.X @ path.coef[i] + path.intercept[i]) > 0.0
    return float((side == (what.codes == 1)).mean())


def candidates_section(story: Story) -> Section | None:
    """Return the candidates, if the model was chosen among some."""
    if len(story.tried) < 2:
        return None
    rows = []
    for one in list(story.tried)[:MOST_TRIED]:
        name = tag("strong", one.model, ", chosen") if one.chosen else one.model
        score = "failed" if np.isnan(one.score) else f"{one.score:.3f} ± {one.standard_error:.3f}"
        size = "-" if np.isnan(one.n_numbers) else f"{one.n_numbers:,.0f}"
        rows.append((name, score, one.n_fits, size, f"{one.fit_time:.2g} s"))
    heads = "model", "score", "fits", "numbers in it", "time of a fit"
    rest = len(story.tried) - len(rows)
    text = (
        "The score is the mean over the folds of the search, with its standard error; it helped to "
        "choose, so that the measures above are the honest ones."
        + f" {rest} more were tried."
        * (rest > 0)
    )
    listed = table(heads, rows, "Candidates, those with most fits first")
    return Section("tried", "Models compared", "Models", [listed, paragraph(text, "note")])


def provenance_section(story: Story) -> Section:
    """Return how the model was made."""
    section = Section("made", "How this model was made", "Method")
    time = ("time", f"{perf_counter() - story.begun:.1f} seconds")
    tables = [("The model", story.made), ("This page", [*story.page, time])]
    if not story.page:
        tables = [("The model and this page", [*story.made, time])]
    section.parts += [table((), rows, caption, "made") for caption, rows in tables]
    section.parts += [tag("h3", "Load it again"), tag("pre", tag("code", story.use), tabindex="0")]
    return section


def versions_and_date() -> list[tuple[str, str]]:
    """Return the versions of what is installed, and the day."""
    return [
        ("versions", ", ".join(f"{name} {text}" for name, text in library_versions().items())),
        ("written", date.today().isoformat()),
    ]


def library_versions() -> dict[str, str]:
    """Return the versions of what a result depends on."""
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}


def data_fingerprint(X: Any, y: Any) -> str:
    """Return a text that other rows or labels would not have."""
    return digest(X, y)


def model_settings(model: Any) -> str:
    """Return a model as text, with its settings that are not the defaults."""
    return shorten_name(" ".join(repr(model).split()), LONGEST)


def loading_code(path: str | os.PathLike[str], rows: str) -> str:
    """Return the lines that load a model."""
    return (
        "from protolearn import load\n"
        f"model = load({os.fspath(path)!r})\n"
        f"model.predict({rows})  # rows with the same columns"
    )
