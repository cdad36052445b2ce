"""The cost of a codebook: ``sum_i s_i [phi(m(D_i / scale)) + alpha a(D_i / scale)]``.

A distance makes the rows ``D_i``, a margin turns a row into one number m, a loss prices it, an
attraction a keeps the own class near. Value, gradients and weight of a block are additive, so the
same ``partial`` serves whole data, mini-batches and data in many places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats, Indices, as_floats
from .blocks import Block, Blocks, Chunk
from .codebook import Codebook, Coordinates, Gradients
from .distances import BlockForm, Distance, Geometry, LowerBounded, PartialSquaredEuclidean
from .losses import Loss
from .margins import Margin, class_minima
from .native import (
    ADDRESS,
    LOSS,
    MARGIN,
    f8,
    flags,
    flags_matrix,
    indices,
    indices_matrix_out,
    indices_out,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from .pairs import THREE, Pairs, find_pairs, pull_directions


class Axes(NamedTuple):
    """What a native loop knows of an objective: functions by address, and their parameters.

    The arrays have to be of exactly the types of ``AXES``: all but one are read-only. A rule that
    has no loss keeps the learning rates of prototypes in that one.
    """

    margin: int
    attraction: int
    loss: int
    margin_theta: Floats
    loss_theta: Floats
    alpha: float
    inverse_scale: float
    own_and_rival: NDArray[np.bool_]


OWN_AND_RIVAL = np.array([True, False])
OWN_AND_RIVAL.flags.writeable = False
"""Whose the two distances are that margins of two winners see."""

AXES = types.NamedTuple([ADDRESS, ADDRESS, ADDRESS, vector, vector_out, f8, f8, flags], Axes)

PULL = f8(vector, flags, AXES, indices_out, vector_out, vector_out, vector_out)
"""``pull(row, same, axes, entries, d, g, work) -> cost`` of one row of distances.

What one sample does to which prototypes: fills ``entries`` with the prototypes that count, ``d``
with their distances in units of the scale and ``g`` with how strongly each is pulled, the
derivative of the cost; the size of the three, 2 or K, tells how many.
"""

margin_at = pointer(MARGIN)
loss_at = pointer(LOSS)
pull_at = pointer(PULL)


FEWER = 16
"""How many times fewer chunks margins of pairs take: rows together share products of prototypes."""

ROUNDED = 1e-10
"""Share of the distance to a rival that is nothing but rounding."""


@dataclass(frozen=True)
class Partial:
    """What a block contributes; contributions add up."""

    value: float
    gradients: Gradients
    weight: float

    def __add__(self, other: Partial) -> Partial:
        gradients = Gradients(
            *(a + b for a, b in zip(self.gradients, other.gradients, strict=True))
        )
        return Partial(self.value + other.value, gradients, self.weight + other.weight)

    def over(self, weight: float) -> Partial:
        """Return the share of one unit of weight."""
        gradients = Gradients(self.gradients.prototypes / weight, self.gradients.metric / weight)
        return Partial(self.value / weight, gradients, self.weight / weight)

    def add_penalty(self, penalty: float, by_metric: Floats) -> Partial:
        """Add what the metric costs by itself."""
        gradients = Gradients(self.gradients.prototypes, self.gradients.metric + by_metric)
        return Partial(self.value + penalty, gradients, self.weight)


@dataclass(frozen=True)
class Objective:
    """Distance, margin and loss together.

    Attributes
    ----------
    distance, margin, loss : Distance, Margin, Loss
        The three axes.
    n_classes : int
        Number of classes.
    attraction : float
        Weight alpha of the attraction.
    scale : float
        Unit of the distances.
    slope_factor : float
        How many times its slope was made steeper; steps along the gradient are as much shorter.
    """

    distance: Distance
    margin: Margin
    loss: Loss
    n_classes: int
    attraction: float = 0.0
    scale: float = 1.0
    slope_factor: float = 1.0

    def steepened(self, times: float) -> Objective:
        """Return the objective with ``times`` the slope; itself if it has none to be set.

        That is a sharpness of the margin's own, or else the slope of the loss.
        """
        margin = self.margin.steepened(times)
        loss = self.loss if margin is not self.margin else self.loss.steepened(times)
        if margin is self.margin and loss is self.loss:
            return self
        return replace(self, margin=margin, loss=loss, slope_factor=times * self.slope_factor)

    @cached_property
    def axes(self) -> Axes:
        """What ``price`` needs to know, for native loops."""
        margin, loss = self.margin, self.loss
        attraction = margin.attraction if self.attraction else margin.margin
        functions = margin.margin.address, attraction.address, loss.phi.address
        thetas = np.array(margin.theta(), np.float64), np.array(loss.theta(), np.float64)
        thetas[0].flags.writeable = False
        return Axes(*functions, *thetas, float(self.attraction), 1.0 / self.scale, OWN_AND_RIVAL)

    def coordinates(self, codebook: Codebook, metric_unit: float = 1.0) -> Coordinates:
        """Return the way from codebooks to flat vectors and back.

        Its unit is the length, in the units of the data, at which a distance is about one scale.
        """
        distance = self.distance
        unit, bounded = distance.length(self.scale, codebook), isinstance(distance, LowerBounded)
        lowest = distance.lowest(codebook) if bounded else -np.inf
        constraint = distance.constraint if distance.adaptive else None
        return Coordinates(codebook, unit, constraint, lowest, metric_unit)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "axes"}

    def partial(self, codebook: Codebook, block: Block) -> Partial:
        """Return the summed cost of a block, its gradients and its summed weight."""
        distance, axes = self.distance, self.axes
        if self.margin.winners == "pair":
            return self._partial_of_pairs(codebook, block)
        n_entries = 2 if self.margin.winners else len(codebook.labels)
        value = weight = 0.0
        room = np.empty(n_entries, dtype=np.intp), np.empty((3, n_entries))
        same = codebook.same_class(self.n_classes)
        gradients = Gradients(np.zeros_like(codebook.prototypes), np.zeros_like(codebook.metric))
        with np.errstate(over="ignore", invalid="ignore"):  # whoever solves checks the cost
            for chunk in block.chunks(distance.effort(codebook)):
                D, kept = measure(distance, chunk, codebook)
                weight += float(chunk.weights.sum())
                given = D, chunk.codes, chunk.weights, same, axes, price.address
                if self.margin.winners is None:  # every prototype of a row has a gradient
                    value += price_rows(*given, *room)
                    distance.pull_rows(chunk.X, codebook, D, gradients, kept)
                else:
                    index, slope = np.empty((len(D), 2), dtype=np.intp), np.empty((len(D), 2))
                    value += price_winners(*given, room[1], index, slope)
                    distance.pull_winners(chunk.X, codebook, index, slope, gradients, kept)
        gradients.prototypes[...] /= self.scale
        gradients.metric[...] /= self.scale
        return Partial(value, gradients, weight)

    def _partial_of_pairs(self, codebook: Codebook, block: Block) -> Partial:
        """Return what a block contributes to the cost of a margin of pairs."""
        distance, weight, U = self.distance, 0.0, self._directions(codebook)
        products = U.astype(block.X.dtype) if block.X.dtype == np.float32 else U
        gradients, value = codebook.zero_gradients(), 0.0
        geometry = distance if isinstance(distance, Geometry) else Geometry()
        apart = type(geometry).pull_directions is not Geometry.pull_directions
        by_direction = np.zeros_like(U) if apart else gradients.prototypes
        with np.errstate(over="ignore", invalid="ignore"):  # whoever solves checks the cost
            for chunk in block.chunks(distance.effort(codebook) / FEWER):
                D, kept = measure(distance, chunk, codebook)
                weight += float(chunk.weights.sum())
                slope, by_length, cost = np.empty((len(D), 3)), np.empty(len(D)), np.empty(len(D))
                pairs = self._price_pairs(D, chunk, codebook, products, slope, by_length, cost)
                value += float(cost.sum())
                slope /= self.scale
                by_length /= np.sqrt(self.scale)
                distance.pull_winners(chunk.X, codebook, pairs.places, slope, gradients, kept)
                pull_directions(U, pairs, by_length, self.margin.norm, by_direction)
        if apart:
            geometry.pull_directions(codebook, by_direction, gradients)
        return Partial(value, gradients, weight)

    def _directions(self, codebook: Codebook) -> Floats:
        """Return where prototypes lie; raise if the boundaries between them are not flat.

        Rows with missing values are trained on as if their boundaries were those of whole rows.
        """
        distance = self.distance
        if isinstance(distance, PartialSquaredEuclidean):
            return as_floats(distance.directions_when_complete(codebook))
        U = distance.directions(codebook) if isinstance(distance, Geometry) else None
        if U is None:
            raise ValueError(
                f"{self.margin!r} is about the planes between prototypes, and those of "
                f"{distance!r} are not known to be flat. Impute missing values, or take another "
                "margin."
            )
        return as_floats(U)

    def _price_pairs(
        self, D: Any, chunk: Chunk, codebook: Codebook, U: Floats, *out: Floats
    ) -> Pairs:
        """Write slopes by distances and by lengths, and weighted costs; return the pairs."""
        units = np.array([1.0 / self.scale, 1.0 / np.sqrt(self.scale)])
        D = np.ascontiguousarray(D)
        pairs = find_pairs(self.margin, D, chunk.codes, U, codebook.labels, units)
        three = as_floats(np.take_along_axis(D, pairs.places, axis=1))
        given = three, chunk.weights, pairs.apart, self.axes, units[1]
        price_pairs(*given, THREE, np.empty((2, 3)), *out)
        return pairs

    def slopes(
        self, D: Floats, codes: Any, weights: Floats, codebook: Codebook, same: NDArray[np.bool_]
    ) -> Floats:
        """Return the derivatives of the weighted cost by all distances, in units of the scale."""
        if self.margin.winners == "pair":
            U, slope = self._directions(codebook), np.empty((len(D), 3))
            chunk = Chunk(None, codes, weights, None)
            out = slope, np.empty(len(D)), np.empty(len(D))
            pairs, G = self._price_pairs(D, chunk, codebook, U, *out), np.zeros_like(D)
            np.add.at(G, (np.arange(len(D))[:, None], pairs.places), slope)
            return G
        n_entries = 2 if self.margin.winners else D.shape[1]
        room = np.empty((3, n_entries))
        index, slope = np.empty((len(D), 2), dtype=np.intp), np.empty((len(D), 2))
        given = D, codes, weights, same, self.axes, price.address
        if self.margin.winners is None:
            price_rows(*given, np.empty(n_entries, dtype=np.intp), room)
            return D
        price_winners(*given, room, index, slope)
        D[...] = 0.0
        np.put_along_axis(D, index, slope, axis=1)
        return D

    def costs(self, codebook: Codebook, block: Block) -> Floats:
        """Return the cost of each row of a block."""
        same, of_pairs = codebook.same_class(self.n_classes), self.margin.winners == "pair"
        winners = 2 if self.margin.winners else len(codebook.labels)
        U = self._directions(codebook) if of_pairs else None
        parts = []
        effort = self.distance.effort(codebook)
        for chunk in block.chunks(effort if U is None else effort / FEWER):
            D = self.distance.pairwise(chunk.X, codebook, chunk.prepared)
            value = np.empty(len(chunk.codes))
            if U is not None:
                plain = chunk._replace(weights=np.ones(len(D)))
                unused = np.empty((len(D), 3)), np.empty(len(D))
                self._price_pairs(D, plain, codebook, U, *unused, value)
                parts.append(value)
                continue
            room = np.empty(winners, dtype=np.intp), np.empty((3, winners))
            price_each(D, chunk.codes, same, self.axes, price.address, *room, value)
            parts.append(value)
        return np.concatenate(parts)


@dataclass(frozen=True)
class ErrorCount:
    """The cost of rules that follow no gradient: one for each row that is classified wrongly."""

    distance: Distance
    n_classes: int
    scale: float = 1.0
    slope_factor: ClassVar[float] = 1.0

    def costs(self, codebook: Codebook, block: Block) -> Floats:
        """Return 1 for each row whose nearest prototype is of another class, else 0."""
        nearest = nearest_prototypes(self.distance, codebook, block)
        return (codebook.labels[nearest] != block.y).astype(np.float64)


Cost = Objective | ErrorCount


def nearest_prototypes(distance: Distance, codebook: Codebook, block: Block) -> Indices:
    """Return the nearest prototype of each row of a block."""
    chunks = block.chunks(distance.effort(codebook))
    return np.concatenate([distance.nearest(chunk.X, codebook)[0] for chunk in chunks])


def sum_costs(cost: Cost, codebook: Codebook, block: Block) -> Floats:
    """Return the summed costs of the rows of a block, and their weight."""
    return np.array([cost.costs(codebook, block) @ block.weights, block.total_weight])


def mean_cost(cost: Cost, codebook: Codebook, blocks: Blocks) -> float:
    """Return the weighted mean cost of all rows."""
    total, weight = blocks.reduce(sum_costs, cost, codebook)
    return float(total / weight)


def measure(distance: Distance, chunk: Chunk, codebook: Codebook) -> tuple[Any, Any]:
    """Return the distances of a chunk, and what the gradient can use again."""
    if isinstance(distance, BlockForm):
        return distance.forward(chunk.X, codebook, chunk.prepared)
    return distance.pairwise(chunk.X, codebook), None


def own_and_rival(distance: Distance, codebook: Codebook, block: Block) -> Floats:
    """Return sums over rows of the distances to the nearest own prototype and rival.

    Also of the gaps between them, of the squares of the first, and of the weights. A row that lies
    on its prototype but for rounding, by its own distances, is no distance away.
    """
    own = rival = gap = squares = weight = 0.0
    same = codebook.same_class(int(max(codebook.labels.max(), block.y.max())) + 1)
    two_classes = codebook.labels.min() < codebook.labels.max()
    with np.errstate(over="ignore", invalid="ignore"):  # whoever asks checks the sums
        for chunk in block.chunks(distance.effort(codebook)):
            D, mine = measure(distance, chunk, codebook)[0], same[chunk.codes]
            near = np.where(mine, D, np.inf).min(axis=1)
            if two_classes:
                far = np.where(mine, np.inf, D).min(axis=1)
                near[near <= ROUNDED * far] = 0.0
                rival += float(far @ chunk.weights)
                gap += float(np.abs(far - near) @ chunk.weights)
            own += float(near @ chunk.weights)
            squares += float(np.square(near) @ chunk.weights)
            weight += float(chunk.weights.sum())
    return np.array([own, rival, gap, squares, weight])


@dataclass(frozen=True)
class ScoredRows:
    """Distances of some rows to the classes, with class codes and weights; they are appended."""

    nearest: Floats  # (n, C)
    codes: Indices
    weights: Floats

    def __add__(self, other: ScoredRows) -> ScoredRows:
        return ScoredRows(
            np.concatenate([self.nearest, other.nearest]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.weights, other.weights]),
        )


def score_some_rows(
    distance: Distance, codebook: Codebook, n_classes: int, share: float, block: Block
) -> ScoredRows:
    """Return the distances of a share of the rows, drawn at random, to all classes."""
    if share < 1.0:
        n_rows = max(int(share * len(block)), 1)
        drawn = np.random.RandomState(0).randint(len(block), size=n_rows)
        block = block.rows(np.sort(drawn))
    parts = []
    for chunk in block.chunks(distance.effort(codebook)):
        D = measure(distance, chunk, codebook)[0]
        nearest = class_minima(D, codebook.labels, n_classes)
        parts.append(ScoredRows(nearest, chunk.codes, chunk.weights))
    return sum(parts[1:], start=parts[0])


@native(PULL)
def price(row, same, axes, entries, d, g, work):
    """Return the cost of one row of distances, and its derivative by those that count."""
    measure, attract, phi = margin_at(axes.margin), margin_at(axes.attraction), loss_at(axes.loss)
    if d.size == 2:  # the nearest own prototype and the nearest rival
        own = rival = -1
        for k in range(row.size):
            if same[k]:
                if own < 0 or row[k] < row[own]:
                    own = k
            elif rival < 0 or row[k] < row[rival]:
                rival = k
        entries[0], entries[1] = own, rival
        same = axes.own_and_rival
        d[0], d[1] = row[own] * axes.inverse_scale, row[rival] * axes.inverse_scale
    else:
        for k in range(d.size):
            entries[k] = k
            d[k] = row[k] * axes.inverse_scale
    g[:] = 0.0
    value, slope = phi(measure(d, same, axes.margin_theta, g), axes.loss_theta)
    for j in range(d.size):
        g[j] *= slope
    alpha = axes.alpha
    if alpha > 0.0:
        work[:] = 0.0
        value += alpha * attract(d, same, axes.margin_theta, work)
        for j in range(d.size):
            g[j] += alpha * work[j]
    return value


@native(
    types.void(
        *(matrix, vector, vector, AXES, f8, flags),
        *(matrix_out, matrix_out, vector_out, vector_out),
    )
)
def price_pairs(D, weight, apart, axes, unit, three, room, slope, by_length, cost):
    """Write the weighted cost of each row, and its derivatives by distances and by the length."""
    measure, attract, phi = margin_at(axes.margin), margin_at(axes.attraction), loss_at(axes.loss)
    d, g = room[0], room[1]
    for i in range(D.shape[0]):
        d[0] = axes.inverse_scale * D[i, 0]
        d[1] = axes.inverse_scale * D[i, 1]
        d[2] = unit * apart[i]
        g[:] = 0.0
        value, steep = phi(measure(d, three, axes.margin_theta, g), axes.loss_theta)
        steep *= weight[i]
        slope[i, 0], slope[i, 1], slope[i, 2] = steep * g[0], steep * g[1], 0.0
        by_length[i], cost[i] = steep * g[2], weight[i] * value
        if axes.alpha > 0.0:
            d[0], g[0] = axes.inverse_scale * D[i, 2], 0.0
            alpha = axes.alpha * weight[i]
            cost[i] += alpha * attract(d[:1], three[:1], axes.margin_theta, g[:1])
            slope[i, 2] = alpha * g[0]


COSTED = indices, vector, flags_matrix, AXES, ADDRESS
"""Class codes, weights, whose each prototype is, the axes, and what prices a row."""


@native(f8(matrix, *COSTED, matrix_out, indices_matrix_out, matrix_out))
def price_winners(D, y, weight, same, axes, pricing, room, index, value):
    """Return the summed cost; write the winners of each row, and its slope in units of scale."""
    cost = pull_at(pricing)
    d, g, work = room[0], room[1], room[2]
    total = 0.0
    for i in range(D.shape[0]):
        total += weight[i] * cost(D[i], same[y[i]], axes, index[i], d, g, work)
        value[i, 0], value[i, 1] = weight[i] * g[0], weight[i] * g[1]
    return total


@native(f8(matrix_out, *COSTED, indices_out, matrix_out))
def price_rows(D, y, weight, same, axes, pricing, entries, room):
    """Sum the cost, and replace D by its slope in units of scale."""
    cost = pull_at(pricing)
    d, g, work = room[0], room[1], room[2]
    total = 0.0
    for i in range(D.shape[0]):
        total += weight[i] * cost(D[i], same[y[i]], axes, entries, d, g, work)
        for j in range(D.shape[1]):
            D[i, entries[j]] = weight[i] * g[j]
    return total


@native(
    types.void(matrix, indices, flags_matrix, AXES, ADDRESS, indices_out, matrix_out, vector_out)
)
def price_each(D, y, same, axes, pricing, entries, room, value):
    """Write the cost of each row."""
    cost = pull_at(pricing)
    d, g, work = room[0], room[1], room[2]
    for i in range(D.shape[0]):
        value[i] = cost(D[i], same[y[i]], axes, entries, d, g, work)
