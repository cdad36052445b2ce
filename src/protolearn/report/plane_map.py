"""A model as a map: samples, prototypes and decision regions in a plane."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices
from ..classifiers import NearestPrototypeClassifier
from ..tables import NO_FEATURE_NAMES, ignore_warnings, labelled_prototypes
from .plane import Plane, plane

MARGIN = 0.08

AT_A_TIME = 2_000_000
"""Numbers of rows that a model is asked about at once."""

FLATTEST, STEEPEST = 0.4, 2.0
"""Height of a picture as a share of its width, from and to which axes are drawn alike."""

UNSEEN_STRETCH = 1.3
"""Stretch up to which an axis is left as it is."""


class PlaneMap(NamedTuple):
    """What is drawn of a model in a plane.

    Attributes
    ----------
    points : array of shape (n_samples, 2)
        The samples.
    prototypes : array of shape (n_prototypes, 2)
        The prototypes; none if they do not lie among the samples.
    prototype_codes : array of shape (n_prototypes,)
        Their classes.
    grid : tuple of arrays
        Coordinates along both axes, and the class code at each crossing.
    axis_names : tuple of two str
        What the axes are.
    stretch : float
        How large the second axis is drawn, compared with the first.
    regions_at_points : array of shape (n_samples,)
        The class of the region in which each sample is drawn.
    """

    points: Floats
    prototypes: Floats
    prototype_codes: Indices
    grid: tuple[Floats, Floats, Indices]
    axis_names: tuple[str, str]
    stretch: float
    regions_at_points: Indices


def plane_map(model: Any, X: Any, names: list[str], resolution: int) -> PlaneMap:
    """Draw up the map of a model; ``names`` are those of its features."""
    X = X if issparse(X) else np.asarray(X, dtype=np.float64)
    with ignore_warnings(NO_FEATURE_NAMES):
        view = plane(model, X, names)
    centers, labels = prototypes_in_plane(model, X.shape[1])
    points, prototypes = view.seen(X), view.seen(centers)
    both = np.vstack([points, prototypes])
    low, high = both.min(axis=0), both.max(axis=0)
    pad = MARGIN * (high - low) + 1e-12
    across, up = (np.linspace(a, b, resolution) for a, b in zip(low - pad, high + pad, strict=True))
    nodes = np.stack([z.ravel() for z in np.meshgrid(across, up)], axis=1)
    return PlaneMap(
        points,
        prototypes,
        np.searchsorted(model.classes_, labels),
        (across, up, regions_at(model, view, nodes).reshape(resolution, resolution)),
        view.axis_names,
        stretch_of(across, up) if view.flat else 1.0,
        regions_at(model, view, points),
    )


def regions_at(model: Any, view: Plane, places: Floats) -> Indices:
    """Return the class code at places of the plane, so many at a time as memory has room for."""
    size = max(AT_A_TIME // len(view.origin), 1)
    parts = [places[i : i + size] for i in range(0, len(places), size)]
    return np.concatenate([codes_at(model, view.rows(part)) for part in parts])


def prototypes_in_plane(model: Any, width: int) -> tuple[Floats, Any]:
    """Return the prototypes that lie among the samples, and their labels."""
    if hasattr(model, "prototypes_"):
        centers, labels = labelled_prototypes(model)
        if centers.shape[1] == width:
            return centers, labels
    return np.empty((0, width)), model.classes_[:0]


def codes_at(model: Any, rows: Floats) -> Indices:
    """Return the class code at each row, -1 where the distance of the model has no meaning."""
    distance = getattr(getattr(model, "rule_", None), "distance", None)
    codes, there = np.full(len(rows), -1), np.isfinite(rows).all(axis=1)
    if getattr(distance, "positive_only", False):
        there &= (rows >= 0.0).all(axis=1)
    if there.any():
        inside = np.ascontiguousarray(rows[there])
        codes[there] = codes_of_rows(model, inside)
    return codes


def codes_of_rows(model: Any, rows: Floats) -> Indices:
    """Return the classes of rows; of prototypes without the labels, which may be long texts."""
    if isinstance(model, NearestPrototypeClassifier):
        return model.rule_.codes(rows)
    with ignore_warnings(NO_FEATURE_NAMES):
        return np.searchsorted(model.classes_, model.predict(rows))


def stretch_of(across: Floats, up: Floats) -> float:
    """Return how large the second axis has to be drawn for a picture that one can look at."""
    ratio = np.ptp(up) / np.ptp(across)
    stretch = float(f"{np.clip(ratio, FLATTEST, STEEPEST) / ratio:.2g}")
    return stretch if max(stretch, 1.0 / stretch) > UNSEEN_STRETCH else 1.0
