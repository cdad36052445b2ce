"""An epoch of Adam for matrix metrics as one native call.

A step of a mini-batch of 64 rows is some microseconds of arithmetic, far less than Python takes to
ask for it. The loop calls the functions that the ordinary step calls, by address, in its order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Floats, as_floats
from ..blocks import Blocks, MemoryBlocks
from ..codebook import Codebook
from ..distances import SIDE_BY_SIDE, LocalMatrix, Matrix, matrix_forms
from ..native import (
    ADDRESS,
    CONSTRAIN,
    SCHEDULE,
    f8,
    flags_matrix,
    i8,
    indices,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
)
from ..objective import AXES, Objective, price, price_rows, price_winners


@native(types.void(matrix_out, matrix, matrix_out, matrix_out, f8, f8, f8, f8, f8, types.boolean))
def adapted_step(rows, gradient, mean, square, rate, new, new_square, correction, least, together):
    """Take a step of Adam in one pass; ``together``: with the mean square of each row."""
    for r in range(rows.shape[0]):
        row, g, m, v = rows[r], gradient[r], mean[r], square[r]
        common = 0.0
        if together:
            for f in range(g.size):
                common += g[f] * g[f]
            common /= g.size
        for f in range(g.size):
            m[f] += new * (g[f] - m[f])
            v[f] += new_square * ((common if together else g[f] * g[f]) - v[f])
            row[f] -= rate * m[f] / (math.sqrt(v[f] * correction) + least)


measure_at, pull_at, pull_prototypes_at = (pointer(one.signature) for one in matrix_forms)
winners_at, rows_at = pointer(price_winners.signature), pointer(price_rows.signature)
constrain_at, schedule_at = pointer(CONSTRAIN), pointer(SCHEDULE)
step_at = pointer(adapted_step.signature)
FORMS = *matrix_forms, adapted_step, price, price_winners, price_rows


class Called(NamedTuple):
    """What the loop calls, by address."""

    measure: int
    pull: int
    pull_prototypes: int
    step: int
    cost: int
    winners: int
    rows: int
    constrain: int
    schedule: int


class Numbers(NamedTuple):
    """What the loop knows beside the data: sizes, units, and shares of Adam."""

    size: int  # rows of a batch
    winners: bool  # whether the nearest prototypes decide, not all
    unit: float  # of the prototypes in the flat vector
    penalty: float  # weight of ``-log det`` of each map
    new: float  # share of a gradient in its running mean
    new_square: float
    least: float  # what is added to the root of the mean square
    share: float  # of the rate, for prototypes
    metric_share: float


class FlatRows(NamedTuple):
    """Rows of the flat vector and their running means."""

    rows: Floats
    mean: Floats
    square: Floats


CALLED = types.NamedUniTuple(ADDRESS, 9, Called)
NUMBERS = types.NamedTuple([i8, types.boolean, *[f8] * 7], Numbers)
FLAT_ROWS = types.NamedUniTuple(matrix_out, 3, FlatRows)


def suits_one_call(cost: Any, codebook: Codebook, blocks: Blocks) -> bool:
    """Whether an epoch can be one call: dense rows in memory, and a few maps."""
    if not isinstance(cost, Objective) or type(cost.distance) not in (Matrix, LocalMatrix):
        return False
    return (
        isinstance(blocks, MemoryBlocks)
        and blocks.is_array
        and cost.margin.winners != "pair"
        and len(codebook.metric) <= SIDE_BY_SIDE
    )


def learn_at_once(
    solver: Any,
    cost: Objective,
    codebook: Codebook,
    blocks: Blocks,
    memory: Any,
    rng: Any,
    n_steps: int,
) -> float:
    """Learn from every row once, in place, as ``solver`` would; return the mean cost on the way."""
    distance, coordinates = cost.distance, cost.coordinates(codebook)
    schedule, theta = solver.rate(n_steps, cost)
    flat = coordinates.flatten(codebook)
    coordinates.constrain(flat)
    parts = solver.parts(flat, codebook, memory)
    called = Called(*(one.address for one in (*FORMS, distance.constraint.constrain, schedule)))
    numbers = Numbers(
        solver.rows_of_batch(blocks),
        bool(cost.margin.winners),
        coordinates.unit,
        distance.regularization / len(codebook.metric),
        1.0 - solver.beta1,
        1.0 - solver.beta2,
        solver.epsilon,
        *(part.share for part in parts),
    )
    tables = [FlatRows(part.rows, part.moments["mean"], part.moments["square"]) for part in parts]
    same, total, weight = codebook.same_class(cost.n_classes), 0.0, 0.0
    for part in blocks.batches(blocks.n_samples, rng if solver.shuffle else None):
        given = as_floats(part.X - codebook.center), part.codes, part.weights, same
        place = codebook.group, memory.steps, memory.updates
        total += learn_epoch(*given, cost.axes, theta, called, numbers, *tables, *place)
        weight += part.total_weight
        memory.steps += len(part)
        memory.updates += -(-len(part) // numbers.size)
    reached = coordinates.codebook(flat)
    codebook.prototypes[...], codebook.metric[...] = reached.prototypes, reached.metric
    return float(total / weight)


@native(
    f8(
        *(matrix, indices, vector, flags_matrix, AXES, vector, CALLED, NUMBERS),
        *(FLAT_ROWS, FLAT_ROWS, indices, i8, i8),
    ),
    makes_arrays=True,
)
def learn_epoch(X, y, weight, same, axes, theta, called, s, moved, maps, group, steps, updates):
    """Take a step after each batch of rows relative to the centre; return the summed cost."""
    K, d = moved.rows.shape
    G, width = maps.rows.shape[0], maps.rows.shape[1] // d
    measure, pull = measure_at(called.measure), pull_at(called.pull)
    pull_prototypes, step = pull_prototypes_at(called.pull_prototypes), step_at(called.step)
    cost_of_winners, cost_of_rows = winners_at(called.winners), rows_at(called.rows)
    constrain, schedule = constrain_at(called.constrain), schedule_at(called.schedule)
    n_entries = 2 if s.winners else K
    entries, room = np.zeros(n_entries, np.intp), np.empty((3, n_entries))
    index, slope = np.empty((s.size, n_entries), np.intp), np.empty((s.size, n_entries))
    for k in range(n_entries):
        index[:, k] = k
    W, Q, S, by_w = np.empty((K, d)), np.empty((K, width)), np.empty((K, width)), np.empty((K, d))
    total = 0.0
    for start in range(0, len(X), s.size):
        n = min(s.size, len(X) - start)
        x, codes, own = X[start : start + n], y[start : start + n], weight[start : start + n]
        for k in range(K):
            for j in range(d):
                W[k, j] = s.unit * moved.rows[k, j]
        every = maps.rows.reshape(G * width, d)
        P, mapped = np.dot(x, every.T), np.dot(W, every.T)
        for k in range(K):
            Q[k] = mapped[k, group[k] * width : (group[k] + 1) * width]
        D, R = np.empty((n, K)), np.zeros((n, G * width))
        measure(P, Q, group, D)
        S[:], by_w[:] = 0.0, 0.0
        given, near, pulls = (D, codes, own, same, axes, called.cost), index[:n], slope[:n]
        if s.winners:
            total += cost_of_winners(*given, room, near, pulls)
            pull(P, Q, group, near, pulls, R, S)
        else:
            total += cost_of_rows(*given, entries, room)
            pull(P, Q, group, near, D, R, S)
        by_map = 2.0 * np.dot(R.T, x).reshape(G, width * d)
        pull_prototypes(S, W, maps.rows, group, by_w, by_map, True)
        unit = axes.inverse_scale / n
        for k in range(K):
            for j in range(d):
                by_w[k, j] *= unit * s.unit
        for g in range(G):
            row, slopes = maps.rows[g], by_map[g]
            for j in range(row.size):
                slopes[j] *= unit
            if s.penalty > 0.0:
                if width == d:
                    inverse = np.linalg.inv(row.reshape(d, d))
                else:  # Omega^T = Q R
                    Q_map, R_map = np.linalg.qr(row.reshape(width, d).T)
                    across = np.ascontiguousarray(np.linalg.inv(R_map).T)
                    inverse = np.dot(np.ascontiguousarray(Q_map), across)
                for i in range(width):
                    for j in range(d):
                        slopes[i * d + j] -= s.penalty * inverse[j, i]
            along = 0.0
            for j in range(row.size):
                along += row[j] * slopes[j]
            for j in range(row.size):  # the part along the sphere
                slopes[j] -= along * row[j]
        rate = schedule(steps, theta)
        steps += n
        updates += 1
        rate /= 1.0 - (1.0 - s.new) ** updates
        rest = s.new, s.new_square, 1.0 / (1.0 - (1.0 - s.new_square) ** updates), s.least, True
        step(moved.rows, by_w, moved.mean, moved.square, s.share * rate, *rest)
        step(maps.rows, by_map, maps.mean, maps.square, s.metric_share * rate, *rest)
        for g in range(G):
            constrain(maps.rows[g], d)
    return total
