"""The Hopfield network: patterns as the fixed points of a recurrent network.

The couplings are N times the weights, so they are integers, and so are the fields of states -1 and
+1: double arithmetic is exact for them in any order. A field that is 0 is 0 here, also after
thousands of changes, and every flip lowers the energy (Biehl, 2023, section 1.3.1).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

import numba
import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices, validate_data
from .._validation import all_or_nothing, check_choice, check_integer
from ..native import indices, matrix, matrix_out, native, types
from .presentation import random_orders, row_order

RECALL_UPDATES = ("sequential", "random", "parallel")


class Hopfield(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Store patterns of -1 and +1, and recall them from corrupted ones.

    N units are coupled by the Hebbian weights ``w_ij = (1/N) sum xi_i xi_j``, summed over the
    patterns xi, without self-coupling. Beginning with a given state, each unit takes the sign of
    its field ``sum_j w_ij s_j``; a field of 0 leaves it. One unit at a time, the energy never rises
    and the state settles: in a pattern, if few are stored and the state resembled one of them. Of
    random patterns about ``0.14 N`` can be stored.

    Parameters
    ----------
    updates : {"sequential", "random", "parallel"}, default="sequential"
        One unit after the other, as they are numbered or in a new random order each sweep; or all
        units at once. Parallel updates have the same fixed points, but may also end in a cycle of
        two states; then one of the two is given, with a warning.
    max_iter : int, default=100
        Sweeps over all units after which a recall stops, with a warning if a state still moves.
    random_state : int, RandomState or None, default=None
        Seed of the orders of ``updates="random"``, which are the same for all states of a recall.
        With an int every recall is the same.

    Attributes
    ----------
    patterns_ : ndarray of shape (n_patterns, n_features)
        The stored patterns.
    weights_ : ndarray of shape (n_features, n_features)
        The weights; made anew on each access, and read-only.
    n_features_in_ : int
        Number N of units.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the patterns had names that are all strings.

    References
    ----------
    Hopfield (1982), *Neural networks and physical systems with emergent collective computational
    abilities*, PNAS 79.

    Biehl (2023), *The shallow and the deep*, section 1.3.1.

    Examples
    --------
    >>> from protolearn import Hopfield
    >>> model = Hopfield().fit([[1, 1, 1, 1, -1, -1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1]])
    >>> noisy = [[-1, 1, 1, 1, -1, -1, -1, -1]]
    >>> model.overlap(noisy)
    array([[ 0.75, -0.25]])
    >>> model.recall(noisy)
    array([[ 1.,  1.,  1.,  1., -1., -1., -1., -1.]])
    >>> model.energy(noisy), model.energy(model.recall(noisy))
    (array([-1.5]), array([-3.]))
    """

    def __init__(
        self, *, updates: str = "sequential", max_iter: int = 100, random_state: Any = None
    ):
        self.updates = updates
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store patterns, in place of those stored before.

        Parameters
        ----------
        X : array-like of shape (n_patterns, n_features)
            The patterns, of -1 and +1.
        y : None
            Not used.

        Returns
        -------
        self : Hopfield
        """
        with all_or_nothing(self):
            self._check_parameters()
            self.patterns_ = self._states(X, reset=True, copy=True)
            self._couplings = self.patterns_.T @ self.patterns_  # N times the weights: integers
            np.fill_diagonal(self._couplings, 0.0)
        return self

    @property
    def weights_(self) -> Floats:
        """Return the couplings of the units."""
        check_is_fitted(self, "patterns_")
        weights: Floats = self._couplings / self.n_features_in_
        weights.flags.writeable = False  # a change would be lost
        return weights

    def recall(self, X: Any) -> Floats:
        """Update states until they are fixed points.

        Parameters
        ----------
        X : array-like of shape (n_states, n_features)
            The first states, of -1 and +1.

        Returns
        -------
        states : ndarray of shape (n_states, n_features)
            The last states, as doubles -1 and +1.
        """
        return self._recall(X)

    def transform(self, X: Any) -> Floats:
        """Update states until they are fixed points: the same as ``recall``.

        Parameters
        ----------
        X : array-like of shape (n_states, n_features)
            The first states, of -1 and +1.

        Returns
        -------
        states : ndarray of shape (n_states, n_features)
            The last states, as doubles -1 and +1.
        """
        return self._recall(X)

    def energy(self, X: Any) -> Floats:
        """Return the energy ``-1/2 sum_ij w_ij s_i s_j`` of states.

        Parameters
        ----------
        X : array-like of shape (n_states, n_features)
            States of -1 and +1.

        Returns
        -------
        energy : ndarray of shape (n_states,)
        """
        products = self._products(X)
        squares = np.einsum("kp,kp->k", products, products)
        energy: Floats = (self.patterns_.size - squares) / (2.0 * self.n_features_in_)
        return energy

    def overlap(self, X: Any) -> Floats:
        """Return the overlap ``(1/N) sum_i xi_i s_i`` of states with the stored patterns.

        It is 1 where they agree in all units, -1 where they agree in none.

        Parameters
        ----------
        X : array-like of shape (n_states, n_features)
            States of -1 and +1.

        Returns
        -------
        overlap : ndarray of shape (n_states, n_patterns)
        """
        overlap: Floats = self._products(X) / self.n_features_in_
        return overlap

    def _recall(self, X: Any) -> Floats:
        """Update states, and warn of those that are not at rest."""
        check_is_fitted(self, "patterns_")
        self._check_parameters()
        states = self._states(X, copy=True)
        fields_of = partial(local_fields, self.patterns_, self._couplings)
        n_cycling = 0
        if self.updates == "parallel":
            n_cycling, n_moving = update_in_parallel(fields_of, states, self.max_iter)
        else:
            fields, orders = fields_of(states), self._orders()
            n_moving = update_sequentially(self._couplings, states, fields, orders, self.max_iter)
        self._warn(n_cycling, n_moving, len(states))
        return states

    def _products(self, X: Any) -> Floats:
        """Return the scalar products of states with the patterns: integers, without rounding."""
        check_is_fitted(self, "patterns_")
        products: Floats = self._states(X) @ self.patterns_.T
        return products

    def _orders(self) -> Iterator[Indices]:
        """Return the order of the units in each sweep."""
        if self.updates == "sequential":
            return row_order(self.n_features_in_)
        return random_orders(self.n_features_in_, check_random_state(self.random_state))

    def _check_parameters(self) -> None:
        check_choice(self, "updates", RECALL_UPDATES)
        check_integer(self, "max_iter", low=1)
        check_random_state(self.random_state)

    def _states(self, X: Any, *, reset: bool = False, copy: bool = False) -> Floats:
        """Return states as doubles; refuse all but -1 and +1."""
        X = validate_data(self, X, reset=reset, dtype=np.float64, order="C", copy=copy)
        others = X[np.abs(X) != 1.0]
        if others.size:
            raise ValueError(
                f"Hopfield takes patterns and states of -1 and +1, and X has {others[0]:g}. Of "
                "zeros and ones, or truth values, make np.where(X, 1, -1); of other numbers "
                "np.where(X > threshold, 1, -1)."
            )
        return X

    def _warn(self, n_cycling: int, n_moving: int, n_states: int) -> None:
        """Warn of the number of states that have not come to rest."""
        if n_cycling:
            warnings.warn(
                f"{n_cycling} of {n_states} states ended in a cycle of two under parallel updates; "
                "updates='sequential' or 'random' has none.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if n_moving:
            warnings.warn(
                f"{n_moving} of {n_states} states still move after max_iter={self.max_iter} "
                "sweeps; increase max_iter.",
                ConvergenceWarning,
                stacklevel=4,
            )


def local_fields(patterns: Floats, couplings: Floats, states: Floats) -> Floats:
    """Return N times the field of every unit in every state."""
    n_patterns, n_units = patterns.shape
    if 2 * n_patterns > n_units:
        return states @ couplings
    fields = states @ patterns.T @ patterns  # the couplings as a product of thin matrices
    fields -= n_patterns * states  # a unit is not coupled to itself
    return fields


def update_sequentially(
    couplings: Floats, states: Floats, fields: Floats, orders: Iterator[Indices], max_iter: int
) -> int:
    """Sweep until the states are fixed points, in place, and return how many are not.

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
    """Update all units at once, in place; return how many states cycle, and how many still move.

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


@native(types.void(matrix, indices, types.Array(types.boolean, 1, "C"), matrix_out, matrix_out))
def sweep(couplings, order, moving, states, fields):
    """Visit all units of the states that move, and mark those that still do.

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
