"""The loops: distances, margin, loss, steps, compiled into one another.

What differs between dense and sparse rows are three functions: how distances are found, and how
prototypes move.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np

from protolearn._arrays import Floats, Indices, as_floats, as_indices
from protolearn.distances import SquaredEuclidean
from protolearn.native import FAST, Native
from protolearn.objective import Objective
from protolearn.solvers import linear

INLINED = {**FAST, "forceinline": True}
"""Options of the parts of a loop. A call would count references of all its arrays."""


class RowFunctions(NamedTuple):
    """Functions of ``(rows, i, state, ...)``: the data, the number of a row, the prototypes.

    ``fill(rows, i, state, out)`` gives the squared distances, ``move_two(rows, i, state, k, p, l,
    q)`` moves the prototypes k and l by the shares p and q of their way to the row,
    ``move_all(rows, i, state, shares)`` moves all.
    """

    fill: Any
    move_two: Any
    move_all: Any


def descend(
    functions: RowFunctions,
    rows: tuple[Any, ...],
    y: Indices,
    order: Indices,
    state: tuple[Any, ...],
    labels: Indices,
    objective: Objective,
    rate: Floats,
    begun: int = 0,
) -> None:
    """Take a step for each row in order; the state is changed.

    ``rate`` holds the first learning rate and the number of steps after which it is zero, ``begun``
    is the number of steps taken before.
    """
    margin, loss = objective.margin, objective.loss
    if margin.winners == "pair":
        raise ValueError(
            f"{margin!r} is about pairs of prototypes, for which there is no loop here."
        )
    loop = soft_loop if margin.winners is None else winners_loop
    learn = loop(functions, margin.margin, margin.attraction, loss.phi)
    learn(
        rows,
        y,
        order,
        state,
        as_indices(labels),
        as_floats(margin.theta()),
        as_floats(loss.theta()),
        float(objective.attraction),
        1.0 / objective.scale,
        rate,
        begun,
    )


class Descent:
    """Passes over the same rows at a rate that falls to zero at the end.

    Parameters
    ----------
    rows : tuple of arrays
        The rows, as the functions take them.
    y : ndarray of shape (n_rows,)
        Classes as numbers.
    order : ndarray of shape (n_steps,)
        The row of each step, over all passes.
    """

    def __init__(self, rows: tuple[Any, ...], y: Indices, order: Indices):
        self.rows, self.y, self.order = rows, as_indices(y), as_indices(order)
        self._classes = np.unique(self.y)
        if len(order) and not 0 <= self.order.min() <= self.order.max() < len(y):
            raise ValueError(
                f"order names rows from {self.order.min()} to {self.order.max()} of {len(y)} rows."
            )

    def started(self, objective: Objective, start: Floats, labels: Indices) -> Floats:
        """Return prototypes to work on; raise if the loop, which checks nothing, would fail."""
        if type(objective.distance) is not SquaredEuclidean:
            kind = type(objective.distance).__name__
            raise ValueError(f"Fused descent is for SquaredEuclidean, not {kind}; take SGD.")
        if len(start) != len(labels):
            raise ValueError(
                f"There are {len(start)} prototypes and {len(labels)} labels for them."
            )
        classes = set(labels.tolist())
        if len(classes) < 2 or not classes.issuperset(self._classes.tolist()):
            raise ValueError(
                f"The prototypes are of the classes {sorted(classes)}, the rows of "
                f"{self._classes.tolist()}; each class needs a prototype and a rival."
            )
        return np.array(start, dtype=np.float64, order="C")


@cache
def winners_loop(
    functions: RowFunctions, margin: Native, attraction: Native, loss: Native
) -> Callable[..., None]:
    """Compile the loop for a margin of the two winners."""
    fill, move_two, _ = functions
    measure, attract, phi, rate_at = map(inlined, (margin, attraction, loss, linear))

    @numba.njit(**FAST, nogil=True)
    def learn(rows, y, order, state, labels, of_margin, of_loss, alpha, per_unit, of_rate, begun):
        row, own_first = np.empty(labels.size), np.array([True, False])
        d, g, pull = np.empty(2), np.empty(2), np.empty(2)
        for t in range(order.size):
            i = order[t]
            fill(rows, i, state, row)
            own = rival = 0
            near_own = near_rival = np.inf
            for k in range(labels.size):
                as_own = row[k] if labels[k] == y[i] else np.inf
                as_rival = np.inf if labels[k] == y[i] else row[k]
                own = k if as_own < near_own else own
                near_own = min(near_own, as_own)
                rival = k if as_rival < near_rival else rival
                near_rival = min(near_rival, as_rival)
            d[0], d[1] = per_unit * near_own, per_unit * near_rival
            g[:] = 0.0
            pull[:] = 0.0
            slope = phi(measure(d, own_first, of_margin, g), of_loss)[1]
            if alpha > 0.0:
                attract(d, own_first, of_margin, pull)
            rate = rate_at(begun + t, of_rate)
            own_share = share(rate * (slope * g[0] + alpha * pull[0]))
            rival_share = share(rate * (slope * g[1] + alpha * pull[1]))
            move_two(rows, i, state, own, own_share, rival, rival_share)

    return learn


@cache
def soft_loop(
    functions: RowFunctions, margin: Native, attraction: Native, loss: Native
) -> Callable[..., None]:
    """Compile the loop for a margin of all prototypes."""
    fill, _, move_all = functions
    measure, attract, phi, rate_at = map(inlined, (margin, attraction, loss, linear))

    @numba.njit(**FAST, nogil=True)
    def learn(rows, y, order, state, labels, of_margin, of_loss, alpha, per_unit, of_rate, begun):
        K = labels.size
        row, g, pull, own = np.empty(K), np.empty(K), np.zeros(K), np.empty(K, dtype=np.bool_)
        for t in range(order.size):
            i = order[t]
            fill(rows, i, state, row)
            for k in range(K):
                row[k] *= per_unit
                own[k] = labels[k] == y[i]
                g[k] = 0.0
            slope = phi(measure(row, own, of_margin, g), of_loss)[1]
            if alpha > 0.0:
                pull[:] = 0.0
                attract(row, own, of_margin, pull)
            rate = rate_at(begun + t, of_rate)
            for k in range(K):
                g[k] = share(rate * (slope * g[k] + alpha * pull[k]))
            move_all(rows, i, state, g)

    return learn


@numba.njit(**INLINED)
def share(pull):
    """Return the share of the way to the sample that a prototype goes; all of it at most."""
    return 2.0 * min(max(pull, -0.5), 0.5)


@cache
def inlined(function: Native) -> Any:
    """Return a function that a loop takes into itself; compiled as written, like the original."""
    return numba.njit(error_model="numpy", forceinline=True)(function.py)
