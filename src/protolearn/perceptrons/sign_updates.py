"""Sign updates of a fully connected network (Biehl, 2023, section 1.3.1).

The couplings are N times the weights, so they are integers, and so are the fields of states -1 and
+1: double arithmetic is exact for them in any order. A field that is 0 is 0 here, also after
thousands of changes, and every flip lowers the energy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numba
import numpy as np

from .._arrays import Floats, Indices
from ..native import indices, matrix, matrix_out, native, types

flags_out = types.Array(types.boolean, 1, "C")


def local_fields(patterns: Floats, couplings: Floats, states: Floats) -> Floats:
    """Return N times the field of every unit in every state."""
    n_patterns, n_units = patterns.shape
    if 2 * n_patterns > n_units:
        return states @ couplings
    fields = states @ patterns.T @ patterns  # the couplings as a product of thin matrices
    fields -= n_patterns * states  # a unit is not coupled to itself
    return fields


@numba.njit(error_model="numpy", fastmath={"contract", "nsz"})
def add(step, row, field):
    """Add a multiple of a row of the couplings to the fields."""
    for j in range(field.size):
        field[j] += step * row[j]


@numba.njit(error_model="numpy")
def unstable(state, field):
    """Whether the field of some unit is against its state."""
    against = False
    for i in range(state.size):
        against |= state[i] * field[i] < 0.0
    return against


@native(types.void(matrix, indices, flags_out, matrix_out, matrix_out))
def sweep(couplings, order, moving, states, fields):
    """Visit all units of the states that move, and say which still do.

    A unit takes the sign of its field. Only a flip changes the fields, all of them.
    """
    for k in range(states.shape[0]):
        if not moving[k]:
            continue
        state, field = states[k], fields[k]
        for i in order:
            if state[i] * field[i] < 0.0:
                state[i] = -state[i]
                add(2.0 * state[i], couplings[i], field)
        moving[k] = unstable(state, field)


def update_sequentially(
    couplings: Floats, states: Floats, fields: Floats, orders: Iterator[Indices], max_iter: int
) -> int:
    """Sweep until the states are fixed points, in place; give how many are not.

    Each sweep has one order for all states: what becomes of one does not depend on the others.
    """
    moving = np.ones(len(states), dtype=bool)
    for _ in range(max_iter):
        sweep(couplings, next(orders), moving, states, fields)
        if not moving.any():
            break
    return int(np.count_nonzero(moving))


def update_in_parallel(
    fields_of: Callable[[Floats], Floats], states: Floats, max_iter: int
) -> tuple[int, int]:
    """Update all units at once, in place; give how many states cycle, and how many still move.

    Symmetric couplings allow fixed points and cycles of two (Goles and Olivos, 1981). In such a
    cycle the same units flip again and again.
    """
    rows = np.arange(len(states))
    flipped = np.zeros(states.shape, dtype=bool)
    n_cycling = 0
    for step in range(max_iter + 1):  # the last only looks
        present = states[rows]
        against = present * fields_of(present) < 0.0
        moves = against.any(axis=1)
        cycles = moves & (against == flipped).all(axis=1)
        n_cycling += int(np.count_nonzero(cycles))
        going = moves & ~cycles
        rows, flipped = rows[going], against[going]
        if not rows.size:
            break
        if step < max_iter:
            states[rows] = np.where(flipped, -present[going], present[going])
    return n_cycling, rows.size
