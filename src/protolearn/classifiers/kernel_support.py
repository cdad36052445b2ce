"""Prototypes of a feature space on few samples: choose the samples, then train in their span.

In coordinates of the span a sample keeps one number more, the length of what is outside. It is the
same for all prototypes, and makes their distances those of the whole space.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._arrays import Floats, Indices, as_indices
from ..blocks import Block, MemoryBlocks, encode
from ..codebook import Codebook, Gradients
from ..distances import SquaredEuclidean
from ..native import GRADIENT, native
from ..objective import mean_cost
from .composable import PrototypeClassifier
from .feature_space import FAR_PIVOT, TRIED
from .problem import FirstDistances
from .rows import weigh
from .settings import CostSettings

FIRST_ROWS = 5
"""Rows a prototype that are tried first, if their number is not given."""

LOST = 0.02
"""Share of what training gains over margins of zero that may be lost, if it is not."""

CHANGED = 0.1
"""Share of the samples whose class may change without a warning, or with a number not given."""

EXPLAINED = 1e-12
"""Share of the squared lengths below which a rest is rounding."""

WITHIN = 1e-8
"""Share of the largest squared length that a sample has to have outside of the span of others."""

ALONE = 10**6
"""Numbers of all samples for which one more sample is chosen at a time."""


class CoordinateDistance(SquaredEuclidean):
    """``|x - w|^2`` of coordinates in a feature space, not of rows as a user has them."""


class SpanDistance(CoordinateDistance):
    """``|x - w|^2`` for prototypes in the span of some samples: their last number stays 0."""

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivative by the prototype, 0 for the last number."""
        for j in range(x.size - 1):
            gw[j] = 2.0 * (w[j] - x[j])

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add to the gradients, 0 for the last number."""
        super().pull_winners(X, codebook, index, value, out, kept)
        out.prototypes[:, -1] = 0.0

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, 0 for the last number."""
        super().pull_rows(X, codebook, G, out, kept)
        out.prototypes[:, -1] = 0.0


class FeatureSpaceTrainer(PrototypeClassifier):
    """Any loss and margin, on rows in coordinates of a feature space or of a span in it."""

    _has_features = False
    _follows_contrast = False  # the same slope in the whole space and in the span of few rows


FeatureSpaceTrainer.__name__ = "KernelGLVQ"  # what messages call it


class FeatureSpaceModel(NamedTuple):
    """A model in coordinates of the feature space, and the samples L in these coordinates.

    Its prototypes combine the pivots, whose rows in L are a lower triangle.
    """

    model: FeatureSpaceTrainer
    L: Floats
    pivots: Indices


def prune(
    whole: FeatureSpaceModel, y: NDArray[Any], weight: Floats | None, max_support: int | str
) -> FeatureSpaceModel:
    """Return a model with prototypes that combine few samples, all of them the same ones.

    With ``max_support="auto"`` their number is doubled until the mean cost is nearly that of the
    whole space and most samples keep their class; half of those that span it would save little.
    """
    model, L, pivots = whole
    block = Block(L, encode(y, model.classes_), weight)
    block = weigh(block, model.class_weight, model.classes_, to_mean_one=True)
    automatic = isinstance(max_support, str)
    bound = _enough(model, block) if automatic else np.inf
    samples, rows = towards(model.prototypes_, L), FIRST_ROWS if automatic else int(max_support)
    support, basis = list[int](), np.empty((0, L.shape[1]))
    while rows * len(model.prototypes_) < (len(pivots) / 2 if automatic else len(pivots)):
        wanted = rows * len(model.prototypes_)
        more = list(islice(samples, wanted - len(support)))
        support += [sample for sample, _ in more]
        basis = more[-1][1] if more else basis
        found = None  # it may be as large as L
        found = _in_span(whole, as_indices(support), basis, y, weight)
        ended = len(support) < wanted
        changed = np.mean(whole.model.predict(L) != found.model.predict(found.L))
        enough = changed <= CHANGED or not automatic
        if ended or (enough and _cost(found.model, replace(block, X=found.L)) <= bound):
            _warn_of_changes(changed, rows, automatic)
            return found
        rows *= 2
    return whole


def _in_span(
    whole: FeatureSpaceModel,
    support: Indices,
    basis: Floats,
    y: NDArray[Any],
    weight: Floats | None,
) -> FeatureSpaceModel:
    """Return a model trained in the span of some samples, from the projected prototypes."""
    model, L, _ = whole
    rows = np.empty((len(L), len(basis) + 1))
    within = np.matmul(L, basis.T, out=rows[:, :-1])
    outside = np.einsum("ij,ij->i", L, L) - np.einsum("ij,ij->i", within, within)
    rows[:, -1] = np.sqrt(np.maximum(outside, 0.0))
    by_class = np.argsort(model.prototype_labels_, kind="stable")
    start = model.prototypes_[by_class] @ basis.T
    settings = model.get_params(deep=False) | {
        "distance": SpanDistance(),
        "init": np.column_stack([start, np.zeros(len(start))]),
        "prototypes_per_class": model.n_prototypes_,
        "scale": model.scale_,
        "calibrate": model.calibrate and "train",
        "callback": None,
        "history": False,
        "verbose": 0,
    }
    return FeatureSpaceModel(FeatureSpaceTrainer(**settings).fit(rows, y, weight), rows, support)


def _warn_of_changes(changed: float, rows: int, automatic: bool) -> None:
    """Warn if the prototypes of few samples decide otherwise than those of all."""
    if changed > CHANGED:
        more = "more or None" if automatic else "more, 'auto' or None"
        warnings.warn(
            f"With {rows} training rows a prototype, {100.0 * changed:.0f} % of the training rows "
            f"change their class; set max_support to {more}.",
            UserWarning,
            stacklevel=4,
        )


def _enough(model: FeatureSpaceTrainer, block: Block) -> float:
    """Return the mean cost that few samples have to reach."""
    cost, loss = _cost(model, block), CostSettings.of(model).loss
    undecided = float(loss(np.zeros(1))[0][0])
    return cost + LOST * max(undecided - cost, 0.0)


def _cost(model: FeatureSpaceTrainer, block: Block) -> float:
    """Return the mean cost of the margins alone."""
    rule, settings = model.rule_, replace(CostSettings.of(model), attraction=0.0)
    first = FirstDistances(rule.scale)
    objective = settings.objective(rule.distance, len(rule.classes), 0, first)
    return mean_cost(objective, rule.codebook, MemoryBlocks(block))


def expansion(points: Floats, L: Floats, pivots: Indices) -> Floats:
    """Return the coefficients of samples that make the points, an array (K, m).

    The rows of the m samples are a lower triangle; points in their span are 0 in later columns.
    """
    m = len(pivots)
    triangle = L[pivots, :m]
    coefficients: Floats = solve_triangular(triangle, points[:, :m].T, lower=True, trans="T").T
    return coefficients


def towards(points: Floats, L: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield samples, each the one that brings their span nearest to all points, and its basis.

    Orthogonal least squares: a sample counts by the direction that it adds to the span, which has
    length one and is orthogonal to all before. It ends when the points are in the span. If there
    are many numbers, the best of a few samples are taken before all are compared again.
    """
    squares = np.einsum("ij,ij->i", L, L)
    product, outside = L @ points.T, squares.copy()  # with what is not in the span yet
    basis = np.empty((L.shape[1], L.shape[1]))
    rounding, least = EXPLAINED * float(np.sum(points**2)), WITHIN * squares.max()
    size, k = min(TRIED, 1 + L.size // ALONE), 0
    while k < len(basis):
        gain = _gains(product, outside, least)
        tried = np.argsort(-gain, kind="stable")[:size]
        first, rest = k, _without(L[tried], basis[:k])
        some, beyond, gain = product[tried], outside[tried], gain[tried]
        enough = max(FAR_PIVOT * gain[0], 0.0)
        while k < len(basis) and gain.max() >= enough and (not k or gain.max() > rounding):
            best = int(gain.argmax())
            direction = _without(rest[best : best + 1], basis[first:k])[0]
            basis[k] = direction / np.linalg.norm(direction)
            k += 1
            yield int(tried[best]), basis[:k]
            along = rest @ basis[k - 1]
            some = some - np.outer(along, points @ basis[k - 1])
            beyond = beyond - along**2
            beyond[best] = 0.0
            gain = _gains(some, beyond, least)
        if k == first:
            return
        along = L @ basis[first:k].T
        product -= along @ (basis[first:k] @ points.T)
        outside -= np.einsum("ik,ik->i", along, along)


def _gains(product: Floats, outside: Floats, least: float) -> Floats:
    """Return how much nearer to the points each sample brings the span; -1 if it is within."""
    gain = np.einsum("ik,ik->i", product, product)
    return np.divide(gain, outside, out=np.full_like(gain, -1.0), where=outside > least)


def _without(rows: Floats, basis: Floats) -> Floats:
    """Return rows less their projections; twice is enough for orthogonality to rounding."""
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
    return rows


def nearest(points: Floats, L: Floats) -> Indices:
    """Return the nearest sample of each point."""
    D = np.einsum("ij,ij->i", L, L)[:, None] - 2.0 * L @ points.T
    found: Indices = D.argmin(axis=0)
    return found
