"""Distances as formulas of a graph.

Each is the sum of two parts: what a row has to each prototype, and what it has in common to all
of them. The first alone decides which prototype is nearest. Kernels are computed in double
precision, as everywhere in the library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from ..._arrays import Floats, Indices
from ...classifiers import FeatureSpaceDistance, GivenProducts
from ...codebook import Codebook
from ...distances import (
    CauchySchwarz,
    Distance,
    Kernel,
    KullbackLeibler,
    LinearMetric,
    Matrix,
    Minkowski,
    MixedDistance,
    Relevance,
    Renyi,
    SquaredEuclidean,
    Tangent,
    by_map,
    tangents_of,
)
from ...kernels import FeatureKernel
from .onnx_tensor import Graph, Tensor

SMALLEST = float(np.finfo(np.float32).tiny)


class DistanceParts(NamedTuple):
    """A distance in two parts.

    Attributes
    ----------
    relative : Tensor of shape (n, K)
        One number for each prototype.
    common : Tensor of shape (n, 1), or None
        What is to be added to all of them; None: nothing.
    """

    relative: Tensor
    common: Tensor | None = None

    def whole(self) -> Tensor:
        """Return the distances."""
        if self.common is None:
            return self.relative
        return (self.relative + self.common).positive()


@singledispatch
def onnx_distance(distance: Distance, X: Tensor, codebook: Codebook) -> DistanceParts:
    """Return the distances of the rows of a tensor to all prototypes.

    Register a function for a distance of your own, with ``@onnx_distance.register``.

    Parameters
    ----------
    distance : Distance
        With its settings.
    X : Tensor of shape (n, d)
        The rows.
    codebook : Codebook
        The prototypes, their labels and the parameters of the metric.

    Returns
    -------
    parts : Parts
        The distances; ``Parts(D)`` if they come whole.
    """
    raise TypeError(
        f"{type(distance).__name__} has no form in ONNX; write one, decorated with "
        "@protolearn.io.onnx.onnx_distance.register."
    )


def distance_parts(distance: Distance, X: Tensor, codebook: Codebook) -> DistanceParts:
    """Return the distances, unless the formula at hand is that of a parent with another one."""
    form = onnx_distance.dispatch(type(distance))
    written_for = next(
        (kind for kind in type(distance).__mro__ if onnx_distance.registry.get(kind) is form), None
    )
    if getattr(written_for, "pair", None) is not getattr(type(distance), "pair", None):
        form = onnx_distance.dispatch(object)
    parts: DistanceParts = form(distance, X, codebook)
    return parts


@onnx_distance.register
def _sqeuclidean(distance: SquaredEuclidean, X: Tensor, codebook: Codebook) -> DistanceParts:
    Z, V = center_rows(X, codebook)
    return partial_parts(Z, V)


@onnx_distance.register
def _relevance(distance: Relevance, X: Tensor, codebook: Codebook) -> DistanceParts:
    Z, V = center_rows(X, codebook)
    return by_maps(codebook, lambda members, row: partial_parts(Z * row, V[members] * row))


@onnx_distance.register(Matrix)
@onnx_distance.register(MixedDistance)
def _matrix(distance: LinearMetric, X: Tensor, codebook: Codebook) -> DistanceParts:
    Z, V = center_rows(X, codebook)
    d = V.shape[1]

    def parts(members: Indices, row: Floats) -> DistanceParts:
        omega = distance.omega(row, d)
        Q = V[members] @ omega.T
        # One product with the prototypes decides, however large Omega.
        relative = Z @ (-2.0 * Q @ omega).T + np.square(Q).sum(axis=1)
        turned = Z.graph.constant(omega.T, Z.dtype)
        common = (Z @ turned).square().sum(1)
        if distance.missing_form is None:
            return DistanceParts(relative, common)

        def over_observed(graph: Graph) -> Tensor:
            rows, known, share = observed_part(Z.within(graph))
            columns = [((rows - known * v) @ turned).square().sum(1) for v in V[members]]
            return columns[0].beside(*columns[1:]) * share

        return parts_if_missing(Z, relative, common, over_observed)

    return by_maps(codebook, parts)


@onnx_distance.register
def _minkowski(distance: Minkowski, X: Tensor, codebook: Codebook) -> DistanceParts:
    columns = [power_mean((X - w).apply("Abs"), float(distance.p)) for w in codebook.prototypes]
    return DistanceParts(columns[0].beside(*columns[1:]))


@onnx_distance.register
def _kernel(distance: Kernel, X: Tensor, codebook: Codebook) -> DistanceParts:
    if distance.kernel == "polynomial":
        _, gamma, degree, coef0 = codebook.metric[0].tolist()
        W, X = codebook.prototypes, X.cast(np.float64)
        own = (gamma * np.square(W).sum(axis=1) + coef0) ** degree
        relative = ((X @ (gamma * W).T + coef0) ** degree) * -2.0 + own
        return DistanceParts(relative, (X.square().sum(1) * gamma + coef0) ** degree)
    Z, V = center_rows(X, codebook)
    plain = mapped_parts(Z, V)
    if distance.kernel == "linear":
        return plain
    half = (plain.whole() * (0.5 * codebook.metric[0, 1])).apply("Tanh")
    return DistanceParts(half * 4.0 / (half + 1.0))  # 2 (1 - exp(-t)), as exact for small t


@onnx_distance.register
def _kullback_leibler(distance: KullbackLeibler, X: Tensor, codebook: Codebook) -> DistanceParts:
    X, W = X.cast(np.float64), codebook.prototypes
    middle = np.maximum(codebook.center, distance.lowest(codebook))
    relative = X @ -np.log(W / middle).T + W.sum(axis=1)
    own = X * (X.maximum(SMALLEST) / middle).apply("Log") - X
    return DistanceParts(relative, own.sum(1))


@onnx_distance.register
def _cauchy_schwarz(distance: CauchySchwarz, X: Tensor, codebook: Codebook) -> DistanceParts:
    X, W = X.cast(np.float64), codebook.prototypes
    norms = np.log(np.linalg.norm(W, axis=1))
    relative = -(X @ W.T).apply("Log") + norms
    return DistanceParts(relative, X.square().sum(1).apply("Log") * 0.5)


@onnx_distance.register
def _renyi(distance: Renyi, X: Tensor, codebook: Codebook) -> DistanceParts:
    X, order = X.cast(np.float64), float(distance.alpha)
    q = codebook.prototypes / codebook.prototypes.sum(axis=1, keepdims=True)
    total = ((X / X.sum(1)) ** order) @ (q ** (1.0 - order)).T
    return DistanceParts((total.apply("Log") / (order - 1.0)).positive())


@onnx_distance.register
def _tangent(distance: Tangent, X: Tensor, codebook: Codebook) -> DistanceParts:
    Z, V = center_rows(X, codebook)
    T = tangents_of(codebook)
    K, t, d = T.shape
    plain = mapped_parts(Z, V)
    at_prototype = np.einsum("ktd,kd->tk", T, V).ravel()
    along = Z @ T.transpose(1, 0, 2).reshape(t * K, d).T - at_prototype
    costless = along.square().reshape(-1, t, K).sum(1, keepdims=False)
    return DistanceParts(plain.relative - costless, plain.common)


@onnx_distance.register
def _given_products(distance: GivenProducts, X: Tensor, codebook: Codebook) -> DistanceParts:
    return DistanceParts(relative_distances(X.take(distance.columns, axis=1), codebook))


@onnx_distance.register
def _feature_space(distance: FeatureSpaceDistance, X: Tensor, codebook: Codebook) -> DistanceParts:
    found = products(distance.kernel, X, distance.__getstate__()["rows"])
    return DistanceParts(relative_distances(found, codebook), diagonal(distance.kernel, X))


def relative_distances(found: Tensor, codebook: Codebook) -> Tensor:
    """Return ``|w|^2 - 2 phi(x).w`` for combinations w of samples."""
    found = found.cast(np.float64)
    return found @ (-2.0 * codebook.prototypes.T) + codebook.metric[:, 0]


def center_rows(X: Tensor, codebook: Codebook) -> tuple[Tensor, Floats]:
    """Return rows and prototypes relative to a point among the data, where few digits are lost."""
    center = codebook.center.astype(X.dtype)  # the same for both, rounded or not
    return X - center, codebook.prototypes - center


def mapped_parts(P: Tensor, Q: Floats) -> DistanceParts:
    """Return ``|p - q|^2 = (|q|^2 - 2 p.q) + |p|^2``."""
    return DistanceParts(P @ (-2.0 * Q).T + np.square(Q).sum(axis=1), P.square().sum(1))


def by_maps(codebook: Codebook, parts: Callable[[Indices, Floats], DistanceParts]) -> DistanceParts:
    """Return the distances under several maps, in the order of the prototypes."""
    if len(codebook.metric) == 1:
        return parts(np.arange(len(codebook.labels)), codebook.metric[0])
    order, columns = [], []
    for g, members in by_map(codebook):
        order.append(members)
        columns.append(parts(members, codebook.metric[g]).whole())
    places = np.argsort(np.concatenate(order), kind="stable")
    return DistanceParts(columns[0].beside(*columns[1:]).take(places, axis=1))


def power_mean(differences: Tensor, p: float) -> Tensor:
    """Return ``(sum |e|^p)^(1/p)`` of each row; in units of its largest entry, for large powers."""
    if p == 1.0:
        return differences.sum(1)
    if p == 2.0:
        return differences.square().sum(1).apply("Sqrt")
    largest = differences.max(1)
    if p == np.inf:
        return largest
    shares = differences / largest.maximum(SMALLEST)
    return largest * (shares**p).sum(1) ** (1.0 / p)


def partial_parts(P: Tensor, Q: Floats) -> DistanceParts:
    """Return the same over the observed features, times features / observed, if any is missing."""
    twice = P.graph.constant((-2.0 * Q).T, P.dtype)
    relative, common = P @ twice + np.square(Q).sum(axis=1), P.square().sum(1)

    def over_observed(graph: Graph) -> Tensor:
        rows, known, share = observed_part(P.within(graph))
        products = rows @ twice + known @ (twice.within(graph).square() * 0.25)
        return (products + rows.square().sum(1)) * share

    return parts_if_missing(P, relative, common, over_observed)


def parts_if_missing(
    P: Tensor, relative: Tensor, common: Tensor, over_observed: Callable[[Graph], Tensor]
) -> DistanceParts:
    """Return the parts of a distance, or where an entry of P is missing that of what is observed.

    A missing entry shows in the products of its row.
    """
    missing = relative.sum([0, 1], keepdims=False).apply("IsNaN", dtype=bool)

    def nothing(graph: Graph) -> Tensor:
        return observed_part(P.within(graph))[1].sum(1) * 0.0

    return DistanceParts(
        P.graph.choose(missing, over_observed, relative),
        P.graph.choose(missing, nothing, common),
    )


def observed_part(P: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return rows with zeros where entries are missing; where they are not; features / observed."""
    absent = P.apply("IsNaN", dtype=bool)
    known = (~absent).cast(P.dtype)
    features = (known * 0.0 + 1.0).sum(1)
    return P.replace_where(absent, 0.0), known, features / known.sum(1)


def products(kernel: FeatureKernel, X: Tensor, rows: Floats) -> Tensor:
    """Return the products of the rows of a tensor with some samples."""
    X, Y = kernel_rows(kernel, X), rows if kernel.center is None else rows - kernel.center
    if kernel.kind == "linear":
        return X @ Y.T
    if kernel.kind == "polynomial":
        return power(kernel, X @ Y.T)
    D = X @ (-2.0 * Y).T + np.square(Y).sum(axis=1) + X.square().sum(1)
    return (D.positive() * -kernel.settings["gamma"]).apply("Exp")


def diagonal(kernel: FeatureKernel, X: Tensor) -> Tensor:
    """Return the product of each row with itself, an array (n, 1)."""
    squares = kernel_rows(kernel, X).square().sum(1)
    if kernel.kind == "linear":
        return squares
    return power(kernel, squares) if kernel.kind == "polynomial" else squares * 0.0 + 1.0


def kernel_rows(kernel: FeatureKernel, X: Tensor) -> Tensor:
    """Return the rows relative to the centre of the kernel."""
    if callable(kernel.kind):
        raise TypeError(
            "A kernel that is a Python function has no form in ONNX; fit the model with a named "
            "kernel, or with kernel='precomputed', whose products are then the input of the graph."
        )
    X = X.cast(np.float64)
    return X if kernel.center is None else X - kernel.center


def power(kernel: FeatureKernel, inner: Tensor) -> Tensor:
    """Return ``(gamma x.y + coef0)^degree``."""
    settings = kernel.settings
    return (inner * settings["gamma"] + settings["coef0"]) ** float(settings["degree"])
