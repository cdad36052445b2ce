"""The cost of a codebook: ``sum_i s_i [phi(m(D_i / scale)) + alpha a(D_i / scale)]``.

A distance makes the rows ``D_i``, a margin turns a row into one number m, a loss prices it, an
attraction a keeps the own class near. Value, gradients and weight of a block are additive, so the
same ``partial`` serves whole data, mini-batches and data in many places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._parameters import Codebook, Gradients
from .blocks import Block
from .distances import Distance
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
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)

CACHE_BYTES = 1 << 21
"""How much of the samples and their distances one chunk may hold."""

AXES = types.Tuple([ADDRESS, ADDRESS, ADDRESS, vector, vector, f8])
"""Margin, attraction and loss as addresses; parameters of the margin, of the loss; alpha."""

PRICE = f8(vector, flags, AXES, vector_out, vector_out)
"""``price(d, same, axes, g, work) -> cost of one row``; fills g with its derivative by d."""

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
    """

    distance: Distance
    margin: Margin
    loss: Loss
    n_classes: int
    attraction: float = 0.0
    scale: float = 1.0

    @cached_property
    def axes(self) -> tuple[Any, ...]:
        """What ``price`` needs to know, for native loops."""
        return (
            self.margin.margin.address,
            self.margin.attraction.address,
            self.loss.phi.address,
            self.margin.theta(),
            self.loss.theta(),
            float(self.attraction),
        )

    @property
    def unit(self) -> float:
        """The length, in the units of the data, at which a distance is about one scale."""
        return math.sqrt(self.scale) if self.distance.squared else self.scale

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "axes"}

    def partial(self, codebook: Codebook, block: Block) -> Partial:
        """Give the summed cost of a block, its gradients and its summed weight."""
        add = self._add_rows if self.margin.winners is None else self._add_winners
        same = codebook.same_class(self.n_classes)
        gradients = codebook.zero_gradients()
        width = 8 * (block.X.shape[1] + len(same[0]))
        value = 0.0
        for chunk in block.chunks(max(CACHE_BYTES // width, 32)):
            value += add(codebook, chunk, same, gradients)
        return Partial(value, gradients, float(block.weight.sum()))

    def _add_winners(
        self, codebook: Codebook, chunk: Block, same: NDArray[np.bool_], out: Gradients
    ) -> float:
        """Add a chunk when only two prototypes a row have a gradient."""
        D = self.distance.pairwise(chunk.X, codebook, chunk.prepared)
        index, value = np.empty((len(D), 2), dtype=np.intp), np.empty((len(D), 2))
        total: float = price_winners(
            D,
            chunk.y,
            chunk.weight,
            same,
            self.axes,
            price.address,
            1.0 / self.scale,
            index,
            value,
        )
        self.distance.pull_winners(chunk.X, codebook, index, value, out)
        return total

    def _add_rows(
        self, codebook: Codebook, chunk: Block, same: NDArray[np.bool_], out: Gradients
    ) -> float:
        """Add a chunk when every prototype of a row has a gradient."""
        D = self.distance.pairwise(chunk.X, codebook, chunk.prepared)
        total: float = price_rows(
            D, chunk.y, chunk.weight, same, self.axes, price.address, 1.0 / self.scale
        )
        self.distance.pull_rows(chunk.X, codebook, D, out)
        return total


@native(PRICE)
def price(d, same, axes, g, work):
    """Give the cost of one row of distances and its derivative."""
    measure, attract, phi = margin_at(axes[0]), margin_at(axes[1]), loss_at(axes[2])
    g[:] = 0.0
    value, slope = phi(measure(d, same, axes[3], g), axes[4])
    for k in range(g.size):
        g[k] *= slope
    alpha = axes[5]
    if alpha > 0.0:
        work[:] = 0.0
        value += alpha * attract(d, same, axes[3], work)
        for k in range(g.size):
            g[k] += alpha * work[k]
    return value


@native(
    f8(
        matrix,
        indices,
        vector,
        flags_matrix,
        AXES,
        ADDRESS,
        f8,
        indices_matrix_out,
        matrix_out,
    )
)
def price_winners(D, y, weight, same, axes, price, per_scale, index, value):
    """Sum the cost; give the two winners of each row and dL/dD there."""
    cost = price_at(price)
    d, g, work, pair = np.empty(2), np.empty(2), np.empty(2), np.array([True, False])
    total = 0.0
    for i in range(D.shape[0]):
        own = rival = -1
        mine = same[y[i]]
        for k in range(D.shape[1]):
            if mine[k]:
                if own < 0 or D[i, k] < D[i, own]:
                    own = k
            elif rival < 0 or D[i, k] < D[i, rival]:
                rival = k
        d[0], d[1] = D[i, own] * per_scale, D[i, rival] * per_scale
        total += weight[i] * cost(d, pair, axes, g, work)
        index[i, 0], index[i, 1] = own, rival
        value[i, 0], value[i, 1] = weight[i] * per_scale * g[0], weight[i] * per_scale * g[1]
    return total


@native(f8(matrix_out, indices, vector, flags_matrix, AXES, ADDRESS, f8))
def price_rows(D, y, weight, same, axes, price, per_scale):
    """Sum the cost and replace D by dL/dD."""
    cost = price_at(price)
    g, work = np.empty(D.shape[1]), np.empty(D.shape[1])
    total = 0.0
    for i in range(D.shape[0]):
        for k in range(g.size):
            D[i, k] *= per_scale
        total += weight[i] * cost(D[i], same[y[i]], axes, g, work)
        for k in range(g.size):
            D[i, k] = weight[i] * per_scale * g[k]
    return total
