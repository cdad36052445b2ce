"""The map: rows, prototypes and decision regions in the plane of the model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Floats, Indices
from ..._names import shorten_name
from ..projection_display import Plane, PlaneMap, plane_map
from ..style import COLOURS
from .chart import class_mark, palette_image
from .contents import Story
from .prototype_cards import image_of
from .suspect_rows import Case, speaker

WIDTH, HEIGHT = 640.0, 440.0  # of the map
# Points along a side for the regions, and numbers of the rows at all of them.
FINEST, COARSEST, NUMBERS = 400, 150, 30_000_000
MOST_COLUMNS = 12  # of a row that is shown when it is pointed at
LONGEST = 60  # characters of a text there
OPACITY, EDGE = 38, 90  # of regions, and of the lines between them, out of 255
STAR, MOST_MOVED = 14.0, 40  # width of a star, and the most stars that are moved apart


class Star(NamedTuple):
    """A prototype on the map, or the mean of a class."""

    x: float
    y: float
    code: int
    name: str


class DecisionMap(NamedTuple):
    """What is drawn on the map."""

    regions: str  # the address of a picture
    # For each class its code, its mark, and x, y and place of each of its rows among those drawn.
    rows: list[tuple[int, int, list[tuple[float, float, int]]]]
    rings: list[tuple[float, float, int]]  # rows that were predicted wrongly, and their classes
    stars: list[Star]
    star_name: str
    axis_names: tuple[str, str]
    n_drawn: int
    trust: float  # the share of the rows that lie in the region of their prediction
    plane: Plane
    corners: Floats  # (2, 2): the places at the lower left and at the upper right


def decision_map(story: Story, rows: Indices) -> DecisionMap | None:
    """Return the map of some rows; None if the model sees one number."""
    subject, some = story.subject, story.subject.take(rows)
    width = some.inner.shape[1]
    if width < 2:
        return None
    resolution = int(np.clip(np.sqrt(NUMBERS / width), COARSEST, FINEST))
    found = plane_map(subject.last, some.inner, subject.inner_names, resolution, some.codes)
    places = place_on_map(found, found.points)
    centers = move_apart(place_on_map(found, found.prototypes))
    wrong = np.flatnonzero(np.isin(rows, story.evidence.rows[story.evidence.wrong]))
    is_prototype = found.star_name == "prototype"
    classes, n_drawn = subject.classes, len(rows)
    codes = found.prototype_codes.tolist()
    stars = [
        Star(x, y, code, f"{f'prototype {k}' if is_prototype else 'mean'} of {classes[code]}")
        for k, ((x, y), code) in enumerate(zip(centers.tolist(), codes, strict=True), start=1)
    ]
    return DecisionMap(
        regions=picture_of(found.grid[2], len(classes)),
        rows=marks_by_class(places, some.codes),
        rings=[(*places[i].tolist(), int(some.codes[i])) for i in wrong],
        stars=stars,
        star_name="prototype" if is_prototype else "class mean",
        axis_names=axis_texts(found, some.inner, subject.inner_names),
        n_drawn=n_drawn,
        trust=float((found.regions_at_points == some.predicted_codes).mean()),
        plane=found.view,
        corners=corners_of(found),
    )


def axis_texts(found: PlaneMap, inner: Floats, names: Sequence[str]) -> tuple[str, str]:
    """Return what the axes are, by the features that move a row most along them."""
    texts = []
    for direction in np.abs(found.view.seeing) * inner.std(axis=0):
        first, second = np.argsort(-direction, kind="stable")[:2].tolist()
        name, other = (shorten_name(str(names[j]), LONGEST) for j in (first, second))
        alone = direction[second] <= 1e-9 * direction[first]
        texts.append(name if alone else f"a mixture of columns, mostly {name} and {other}")
    return texts[0], texts[1]


def place_on_map(found: PlaneMap, points: Floats) -> Floats:
    """Return where points of the plane are on the map."""
    low, high = corners_of(found)
    share = (points - low) / (high - low)
    return np.round(np.abs([0.0, 1.0] - share) * [WIDTH, HEIGHT], 1)


def move_apart(centers: Floats) -> Floats:
    """Return the places of stars, of which those that would hide each other stand side by side."""
    moved = centers.copy()
    for i, k in combinations(range(len(moved)) if len(moved) <= MOST_MOVED else (), 2):
        way = moved[k] - moved[i]
        length = float(np.linalg.norm(way))
        if length < STAR:
            way = way / length if length else np.array([1.0, 0.0])
            moved[[i, k]] += 0.5 * (STAR - length) * np.stack([-way, way])
    return np.round(moved, 1)


def corners_of(found: PlaneMap) -> Floats:
    """Return the places at the lower left and at the upper right of a map."""
    return np.array([[axis[k] for axis in found.grid[:2]] for k in (0, -1)])


def marks_by_class(places: Floats, codes: Indices) -> list[Any]:
    """Return the marks of rows, class by class."""
    found = []
    for code in np.unique(codes).tolist():
        mine = np.flatnonzero(codes == code)
        rows = [(x, y, int(i)) for (x, y), i in zip(places[mine].tolist(), mine, strict=True)]
        found.append((code, class_mark(code), rows))
    return found


def picture_of(regions: Indices, n_classes: int) -> str:
    """Return a picture of the regions, with lines between them; light enough for any background."""
    codes = np.where(regions < 0, n_classes, regions)
    edge = np.zeros(codes.shape, dtype=bool)
    edge[1:] |= codes[1:] != codes[:-1]
    edge[:, 1:] |= codes[:, 1:] != codes[:, :-1]
    last = min(n_classes, 254)
    codes = np.where(edge, last + 1, np.minimum(codes, last))
    shades = [bytes.fromhex(COLOURS[code % len(COLOURS)][1:]) for code in range(last)]
    colours = [(red, green, blue, OPACITY) for red, green, blue in shades]
    return palette_image(codes[::-1], [*colours, (0, 0, 0, 0), (128, 128, 128, EDGE)])


def row_details(story: Story, rows: Indices, cases: Sequence[Case]) -> dict[str, Any]:
    """Return the rows of the map as the page shows them when they are chosen."""
    subject, some = story.subject, story.subject.take(rows)
    texts = some.texts()
    order = (story.columns_that_count or list(range(len(texts))))[:MOST_COLUMNS]
    evidence, places = story.evidence, rows.tolist()
    tested, sure = evidence.rows.tolist(), {}
    said = dict(zip(tested, evidence.answers.y_pred.tolist(), strict=True))
    if evidence.probability is not None:
        sure = dict(zip(tested, evidence.probability.tolist(), strict=True))
    return {
        "columns": [subject.names[j] for j in order],
        "left": len(texts) - len(order),
        "cells": [[shorten_name(text, LONGEST) for text in texts[j]] for j in order],
        "names": [shorten_name(str(story.row_names[i]), LONGEST) for i in places],
        "true": some.codes.tolist(),
        "says": some.predicted_codes.tolist(),
        "who": speaker(evidence),
        "said": [None if i not in said else shorten_name(str(said[i]), LONGEST) for i in places],
        "pictures": [image_of(story, row) for row in some.plain] if story.image_shape else None,
        "sure": [round(sure[i], 3) if i in sure else None for i in places],
        "cases": {str(places.index(one.suspect.row)): k for k, one in enumerate(cases)},
    }
