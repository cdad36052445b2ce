"""How the model came about: its path, the candidates, its settings."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Floats
from ..._names import shorten_name
from ...linear import PrototypePath, SoftMarginSVM, is_joint, regularization_path
from ...store import digest
from ..hyperplane import HyperplaneRows, hyperplane_at, path_in_plane
from ..subject import Subject
from .chart import every, points_text
from .contents import Story, sample_rows

LIBRARIES = "protolearn", "scikit-learn", "numpy", "scipy"
MOST_TRIED = 20
LONGEST = 2_000  # characters of the settings of a model
MOST_PATH_ROWS = 400  # rows that are drawn, and of which the path of C is that
MOST_STEPS, MOST_PATHS = 60, 4
PAD = 0.08
PATH_SIZE = 640.0, 420.0  # of a picture of a path
# Slope, as a share of the other numbers of a line, at which it is along an axis, or far away.
ALONG = 1e-12


class PathPicture(NamedTuple):
    """How the prototypes and the hyperplane of two classes move along a path."""

    name: str  # by which the page knows it
    title: str
    alt: str
    sides: list[tuple[str, str, int | None, list[tuple[float, float]]]]  # name, look, class, rows
    trails: list[tuple[str, int | None, str]]  # look, class and points of the way of a prototype
    steps: list[dict[str, Any]]  # line, prototypes and text of each step
    start: int  # the step that is the model
    label: str  # what the slider is called
    axis_names: tuple[str, str]


def path_pictures(story: Story) -> tuple[list[PathPicture], str]:
    """Return the paths of a model that has some, and what they are."""
    subject = story.subject
    rows = sample_rows(len(subject.y), MOST_PATH_ROWS, story.seed)
    some = subject.take(rows)
    found, remark = paths_of(some)
    which = f" {len(rows):,} of {len(subject.y):,} rows are drawn." * (len(rows) < len(subject.y))
    if len(found) < len(subject.classes) > 2:
        which += (
            f" The first {len(found)} of {len(subject.classes)} classes, each against all others."
        )
    pictures = [path_picture(some, path, number) for number, path in enumerate(found[:MOST_PATHS])]
    return pictures, remark + which


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


def path_picture(subject: Subject, path: PrototypePath, number: int) -> PathPicture:
    """Return the picture of a path."""
    last = hyperplane_at(path, len(path) - 1)
    what = HyperplaneRows(last, subject.inner, last.codes(subject.y), subject.inner_names, path)
    found, places = path_in_plane(what), every(len(path), MOST_STEPS)
    points, centers, names = found.points, found.prototypes[places], found.classes
    box = box_of(np.vstack([points, *centers]))

    def places_of(values: Any) -> list[tuple[float, float]]:
        (left, right), (low, high) = box
        share = (np.reshape(values, (-1, 2)) - [left, low]) / [right - left, high - low]
        return (np.abs([0.0, 1.0] - share) * PATH_SIZE).round(1).tolist()

    steps = [
        {
            "line": places_of(np.transpose(segment(found.lines[i], box))),
            "prototypes": places_of(centers[k]),
            "told": f"{step_text(path, i)}: correct for {right_at(path, i, what):.1%} of the rows",
        }
        for k, i in enumerate(places)
    ]
    sides, trails = [], []
    for side, label in enumerate(last.classes_):
        code = None if label is None else int(subject.codes_of(np.array([label]))[0])
        look = "muted" if code is None else "class"  # the rest is no class
        sides.append((names[side], look, code, places_of(points[what.codes == side])))
        trails.append((look, code, points_text(np.array(places_of(centers[:, side])))))
    title = f"{names[0]} and {names[1]}, {step_text(path, 0)} to {step_text(path, -1)}"
    return PathPicture(
        f"path-{number}",
        title,
        f"{title}: rows, two prototypes and the hyperplane between them, which the slider moves.",
        sides,
        trails,
        steps,
        place_of_model(subject, path, places),
        "Round" if path.parameter == "round" else path.parameter,
        found.axis_names,
    )


def step_text(path: PrototypePath, number: int) -> str:
    """Return the short name of a step of a path."""
    value = path.values[number]
    return f"round {value:g}" if path.parameter == "round" else f"{path.parameter} = {value:.3g}"


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
    return [list(pair) for pair in zip(min(inside), max(inside), strict=True)]


def right_at(path: PrototypePath, i: int, what: HyperplaneRows) -> float:
    """Return the share of rows on the right side of a hyperplane."""
    side = np.asarray(what.X @ path.coef[i] + path.intercept[i]) > 0.0
    return float((side == (what.codes == 1)).mean())


def candidate_rows(story: Story) -> list[tuple[str, bool, str, int, str, str]]:
    """Return the candidates as lines of a table, if the model was chosen among some."""
    rows = []
    for one in list(story.tried)[:MOST_TRIED] if len(story.tried) > 1 else []:
        score = "failed" if np.isnan(one.score) else f"{one.score:.3f} ± {one.standard_error:.3f}"
        size = "-" if np.isnan(one.n_numbers) else f"{one.n_numbers:,.0f}"
        rows.append((one.model, one.chosen, score, one.n_fits, size, f"{one.fit_time:.2g} s"))
    return rows


def provenance_tables(story: Story) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return how the model and the page were made, as captions and lines of tables."""
    time = ("time", f"{perf_counter() - story.begun:.1f} seconds")
    if not story.page:
        return [("The model and this page", [*story.made, time])]
    return [("The model", list(story.made)), ("This page", [*story.page, time])]


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
