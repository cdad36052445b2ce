"""The cost of a codebook: ``sum_i s_i [phi(m(D_i / scale)) + alpha a(D_i / scale)]``.

A distance makes the rows ``D_i``, a margin turns a row into one number m, a loss prices it, an
attraction a keeps the own class near. Value, gradients and weight of a block are additive, so the
same ``partial`` serves whole data, mini-batches and data in many places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats, Indices, as_floats
from .blocks import Block
from .codebook import Codebook, Coordinates, Gradients
from .distances import BlockForm, Distance, LowerBounded
from .losses import Loss
from .margins import Margin
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

AXES = types.Tuple([ADDRESS, ADDRESS, ADDRESS, vector, vector, f8, f8, flags])
"""Margin, attraction, loss; parameters of the margin, of the loss; alpha; 1 / scale; own, rival."""

PRICE = f8(vector, flags, AXES, indices_out, vector_out, vector_out, vector_out)
"""``price(row, same, axes, entries, d, g, work) -> cost`` of one row of distances.

Fills ``entries`` with the prototypes that count, ``d`` with their distances in units of the scale
and ``g`` with the derivative by these; the size of the three, 2 or K, tells which is wanted.
"""

margin_at = pointer(MARGIN)
loss_at = pointer(LOSS)
price_at = pointer(PRICE)


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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give what it holds, to be put down."""
        sums = np.array([self.value, self.weight])
        return {"sums": sums, **self.gradients._asdict()}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Partial:
        """Put together again what ``arrays`` gave."""
        value, weight = arrays["sums"].tolist()
        return cls(value, Gradients(arrays["prototypes"], arrays["metric"]), weight)

    def over(self, weight: float) -> Partial:
        """Give the share of one unit of weight."""
        gradients = Gradients(*(gradient / weight for gradient in self.gradients))
        return Partial(self.value / weight, gradients, self.weight / weight)

    def penalized(self, penalty: float, by_metric: Floats) -> Partial:
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

    @cached_property
    def axes(self) -> tuple[Any, ...]:
        """What ``price`` needs to know, for native loops."""
        return (
            self.margin.margin.address,
            self.margin.attraction.address if self.attraction else self.margin.margin.address,
            self.loss.phi.address,
            as_floats(self.margin.theta()),
            as_floats(self.loss.theta()),
            float(self.attraction),
            1.0 / self.scale,
            np.array([True, False]),
        )

    def unit(self, codebook: Codebook) -> float:
        """Give the length, in the units of the data, at which a distance is about one scale."""
        return self.distance.length(self.scale, codebook)

    def coordinates(self, codebook: Codebook, metric_unit: float = 1.0) -> Coordinates:
        """Give the way from codebooks to flat vectors and back."""
        constraint = self.distance.constraint if self.distance.adaptive else None
        bounded = isinstance(self.distance, LowerBounded)
        lowest = self.distance.lowest(codebook) if bounded else -np.inf
        return Coordinates(codebook, self.unit(codebook), constraint, lowest, metric_unit)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "axes"}

    def partial(self, codebook: Codebook, block: Block) -> Partial:
        """Return the summed cost of a block, its gradients and its summed weight."""
        distance, axes, two_winners = self.distance, self.axes, self.margin.winners is not None
        same = codebook.same_class(self.n_classes)
        gradients = codebook.zero_gradients()
        entries, room = scratch(2 if two_winners else len(codebook.labels))
        total = 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # whoever solves checks the cost
            for chunk in block.chunks(distance.effort(codebook)):
                if isinstance(distance, BlockForm):
                    D, kept = distance.forward(chunk.X, codebook, chunk.prepared)
                else:
                    D, kept = distance.pairwise(chunk.X, codebook), None
                rows = D, chunk.codes, chunk.weights, same, axes, price.address
                if two_winners:
                    index, value = np.empty((len(D), 2), dtype=np.intp), np.empty((len(D), 2))
                    total += price_winners(*rows, room, index, value)
                    distance.pull_winners(chunk.X, codebook, index, value, gradients, kept)
                else:
                    total += price_rows(*rows, entries, room)
                    distance.pull_rows(chunk.X, codebook, D, gradients, kept)
            for gradient in gradients:
                gradient /= self.scale
        return Partial(total, gradients, block.total_weight)

    def costs(self, codebook: Codebook, block: Block) -> Floats:
        """Give the cost of each row of a block."""
        same = codebook.same_class(self.n_classes)
        winners = self.margin.winners or len(codebook.labels)
        parts = []
        for chunk in block.chunks(self.distance.effort(codebook)):
            D = self.distance.pairwise(chunk.X, codebook, chunk.prepared)
            value = np.empty(len(chunk))
            price_each(D, chunk.codes, same, self.axes, price.address, *scratch(winners), value)
            parts.append(value)
        return np.concatenate(parts)


@numba.njit
def find_winners(row, same, entries):
    """Put the nearest own prototype and the nearest rival into ``entries``."""
    own = rival = -1
    for k in range(row.size):
        if same[k]:
            if own < 0 or row[k] < row[own]:
                own = k
        elif rival < 0 or row[k] < row[rival]:
            rival = k
    entries[0], entries[1] = own, rival


@native(PRICE)
def price(row, same, axes, entries, d, g, work):
    """Give the cost of one row of distances, and its derivative by those that count."""
    measure, attract, phi = margin_at(axes[0]), margin_at(axes[1]), loss_at(axes[2])
    if d.size == 2:
        find_winners(row, same, entries)
        same = axes[7]
    else:
        for k in range(d.size):
            entries[k] = k
    for j in range(d.size):
        d[j] = row[entries[j]] * axes[6]
        g[j] = 0.0
    value, slope = phi(measure(d, same, axes[3], g), axes[4])
    for j in range(d.size):
        g[j] *= slope
    alpha = axes[5]
    if alpha > 0.0:
        work[:] = 0.0
        value += alpha * attract(d, same, axes[3], work)
        for j in range(d.size):
            g[j] += alpha * work[j]
    return value


def scratch(n_entries: int) -> tuple[Indices, Floats]:
    """Give room for the prototypes that count, and for d, g and work of ``price``.

    Loops that make no arrays themselves are loaded from disk several times faster.
    """
    return np.empty(n_entries, dtype=np.intp), np.empty((3, n_entries))


@native(
    f8(
        matrix,
        indices,
        vector,
        flags_matrix,
        AXES,
        ADDRESS,
        matrix_out,
        indices_matrix_out,
        matrix_out,
    )
)
def price_winners(D, y, weight, same, axes, pricing, room, index, value):
    """Sum the cost; give the two winners of each row, and its slope there in units of scale."""
    cost = price_at(pricing)
    d, g, work = room[0], room[1], room[2]
    total = 0.0
    for i in range(D.shape[0]):
        total += weight[i] * cost(D[i], same[y[i]], axes, index[i], d, g, work)
        value[i, 0], value[i, 1] = weight[i] * g[0], weight[i] * g[1]
    return total


@native(f8(matrix_out, indices, vector, flags_matrix, AXES, ADDRESS, indices_out, matrix_out))
def price_rows(D, y, weight, same, axes, pricing, entries, room):
    """Sum the cost, and replace D by its slope in units of scale."""
    cost = price_at(pricing)
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
    """Give the cost of each row."""
    cost = price_at(pricing)
    d, g, work = room[0], room[1], room[2]
    for i in range(D.shape[0]):
        value[i] = cost(D[i], same[y[i]], axes, entries, d, g, work)
