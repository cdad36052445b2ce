"""The Hopfield network: patterns as the fixed points of a recurrent network.

The couplings are N times the weights. Those of Hebb's rule and of the perceptron are integers, and
so are the fields of states -1 and +1: double arithmetic is exact for them in any order. A field
that is 0 is 0 here, also after thousands of changes, and every flip lowers the energy (Biehl,
section 1.3.1). Those of the pseudo-inverse are not, and a field that is as good as 0 counts as 0.
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
from ..native import f8, i8, indices, matrix, matrix_out, native, types
from .presentation import random_orders, row_order

RECALL_UPDATES = ("sequential", "random", "parallel")
RULES = ("hebb", "pseudo_inverse", "perceptron")

SWEEPS = 10_000
"""Most times that the perceptron rule presents all patterns."""

ROUNDING = 1e-9
"""Field, in units of the largest coupling and the number of units, that is as good as 0."""


class Hopfield(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Store patterns of -1 and +1, and recall them from corrupted ones.

    N units are coupled by weights ``w_ij`` without self-coupling, by default the Hebbian ones
    ``w_ij = (1/N) sum xi_i xi_j``, summed over the patterns xi. Beginning with a given state, each
    unit takes the sign of its field ``sum_j w_ij s_j``; a field of 0 leaves it. One unit at a time,
    the energy never rises and the state settles: in a pattern, if few are stored and the state
    resembled one of them. Of random patterns about ``0.14 N`` can be stored by Hebb's rule, and
    fewer if they are alike.

    Parameters
    ----------
    rule : {"hebb", "pseudo_inverse", "perceptron"}, default="hebb"
        How the weights are made. "pseudo_inverse" is the projection onto the patterns,
        ``w_ij = (1/N) sum xi_i^m (Q^-1)_mn xi_j^n`` with their overlaps Q: any N - 1 or fewer
        linearly independent patterns are fixed points. "perceptron" adds the Hebbian term of a
        pattern to the couplings of each unit whose field does not exceed one, until none is left,
        on both sides so that the weights stay symmetric.
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

    Personnaz, Guyon and Dreyfus (1986), *Collective computational properties of neural networks:
    new learning mechanisms*, Physical Review A 34.

    Biehl (lecture notes), section 1.3.1.

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

    rule = "hebb"  # of older files

    def __init__(
        self,
        *,
        rule: str = "hebb",
        updates: str = "sequential",
        max_iter: int = 100,
        random_state: Any = None,
    ):
        self.rule = rule
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
            self._couplings = self._learn()
        return self

    def _learn(self) -> Floats:
        """Return N times the weights."""
        patterns = self.patterns_
        if self.rule == "pseudo_inverse":
            projection = np.linalg.pinv(patterns) @ patterns
            couplings = 0.5 * self.n_features_in_ * (projection + projection.T)
        elif self.rule == "perceptron":
            couplings = np.zeros((patterns.shape[1], patterns.shape[1]))
            left = learn_patterns(patterns, SWEEPS, couplings)
            if left:
                warnings.warn(
                    f"The perceptron rule of Hopfield has not stored the patterns after {SWEEPS} "
                    f"sweeps: {left} of their units do not hold. Store fewer patterns.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
        else:
            couplings = patterns.T @ patterns
        np.fill_diagonal(couplings, 0.0)
        return couplings

    @property
    def weights_(self) -> Floats:
        """Return the couplings of the units."""
        check_is_fitted(self, "patterns_")
        weights: Floats = self._couplings / self.n_features_in_
        weights.flags.writeable = False  # a change would be lost
        return weights

    def recall(self, X: Any, *, callback: Callable[[Floats], object] | None = None) -> Floats:
        """Update states until they are fixed points; ``transform`` is the same.

        Parameters
        ----------
        X : array-like of shape (n_states, n_features)
            The first states, of -1 and +1.
        callback : callable, default=None
            Called with a copy of the states before the first sweep and after each; a true value
            ends the recall.

        Returns
        -------
        states : ndarray of shape (n_states, n_features)
            The last states, as doubles -1 and +1.
        """
        check_is_fitted(self, "patterns_")
        self._check_parameters()
        states = self._states(X, copy=True)
        thin = self.patterns_ if self.rule == "hebb" else None
        fields_of = partial(local_fields, thin, self._couplings)
        least, n_cycling = self._least_field(), 0
        see = callback or (lambda states: False)
        if see(states.copy()):
            return states
        if self.updates == "parallel":
            n_cycling, n_moving = update_in_parallel(fields_of, states, self.max_iter, least, see)
        else:
            fields, orders = fields_of(states), self._orders()
            n_moving = update_sequentially(
                self._couplings, states, fields, orders, self.max_iter, least, see
            )
        self._warn(n_cycling, n_moving, len(states))
        return states

    transform = recall

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
        check_is_fitted(self, "patterns_")
        states = self._states(X)
        energy = np.einsum("ki,ki->k", states, states @ self._couplings)
        return energy / (-2.0 * self.n_features_in_)

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
        check_is_fitted(self, "patterns_")
        return self._states(X) @ self.patterns_.T / self.n_features_in_

    def _least_field(self) -> float:
        """Return the field above which a unit takes its sign: none for whole numbers."""
        if self.rule != "pseudo_inverse":
            return 0.0
        return ROUNDING * self.n_features_in_ * float(np.abs(self._couplings).max(initial=0.0))

    def _orders(self) -> Iterator[Indices]:
        """Return the order of the units in each sweep."""
        if self.updates == "sequential":
            return row_order(self.n_features_in_)
        return random_orders(self.n_features_in_, check_random_state(self.random_state))

    def _check_parameters(self) -> None:
        check_choice(self, "rule", RULES)
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
        still = f"still move after max_iter={self.max_iter} sweeps; increase max_iter"
        cycle = "ended in a cycle of two under parallel updates; updates='sequential' or 'random' "
        for count, text in ((n_cycling, cycle + "has none"), (n_moving, still)):
            if count:
                warnings.warn(
                    f"{count} of {n_states} states {text}.", ConvergenceWarning, stacklevel=3
                )


def local_fields(patterns: Floats | None, couplings: Floats, states: Floats) -> Floats:
    """Return N times the field of every unit in every state; by Hebb's rule from the patterns."""
    if patterns is None or 2 * len(patterns) > patterns.shape[1]:
        return states @ couplings
    n_patterns = len(patterns)
    fields = states @ patterns.T @ patterns  # the couplings as a product of thin matrices
    fields -= n_patterns * states  # a unit is not coupled to itself
    return fields


def update_sequentially(
    couplings: Floats,
    states: Floats,
    fields: Floats,
    orders: Iterator[Indices],
    max_iter: int,
    least: float,
    see: Callable[[Floats], object],
) -> int:
    """Sweep until the states are fixed points, in place, and return how many are not.

    ``see`` gets a copy of the states after each sweep, and ends the recall if it returns true.

    Each sweep has one order for all states: what becomes of one does not depend on the others.
    """
    moving = np.ones(len(states), dtype=bool)
    for _ in range(max_iter):
        sweep(couplings, next(orders), moving, states, fields, least)
        if see(states.copy()):
            return 0
        if not moving.any():
            break
    return int(np.count_nonzero(moving))


def update_in_parallel(
    fields_of: Callable[[Floats], Floats],
    states: Floats,
    max_iter: int,
    least: float,
    see: Callable[[Floats], object],
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
        against = present * fields_of(present) < -least
        moves = against.any(axis=1)
        cycles = moves & (against == flipped).all(axis=1)
        n_cycling += int(np.count_nonzero(cycles))
        going = moves & ~cycles
        rows, flipped = rows[going], against[going]
        if not rows.size:
            break
        if step < max_iter:
            states[rows] = np.where(flipped, -present[going], present[going])
            if see(states.copy()):
                return n_cycling, 0
    return n_cycling, rows.size


@numba.njit(error_model="numpy", fastmath={"contract", "nsz"})
def add(step, row, field):
    """Add a multiple of a row of the couplings to the fields."""
    for j in range(field.size):
        field[j] += step * row[j]


@numba.njit(error_model="numpy")
def unstable(state, field, least):
    """Whether the field of some unit is against its state."""
    against = False
    for i in range(state.size):
        against |= state[i] * field[i] < -least
    return against


@native(i8(matrix, i8, matrix_out))
def learn_patterns(patterns, sweeps, couplings):
    """Learn patterns with units whose field does not exceed one; return how many such are left.

    A unit that learns changes its couplings on both sides.
    """
    n = patterns.shape[1]
    low = 0
    for _ in range(sweeps):
        low = 0
        for m in range(patterns.shape[0]):
            pattern = patterns[m]
            for i in range(n):
                field = 0.0
                for j in range(n):
                    field += couplings[i, j] * pattern[j]
                if pattern[i] * field <= n:
                    low += 1
                    for j in range(n):
                        if j != i:
                            couplings[i, j] += pattern[i] * pattern[j]
                            couplings[j, i] += pattern[i] * pattern[j]
        if low == 0:
            break
    return low


@native(types.void(matrix, indices, types.Array(types.boolean, 1, "C"), matrix_out, matrix_out, f8))
def sweep(couplings, order, moving, states, fields, least):
    """Visit all units of the states that move, and mark those that still do.

    A unit takes the sign of its field. Only a flip changes the fields, all of them.
    """
    for k in range(states.shape[0]):
        if not moving[k]:
            continue
        state, field = states[k], fields[k]
        for i in order:
            if state[i] * field[i] < -least:
                state[i] = -state[i]
                add(2.0 * state[i], couplings[i], field)
        moving[k] = unstable(state, field, least)
