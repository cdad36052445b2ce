"""Hopfield: a recall against one product of the weights with the states for each sweep."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from protolearn.datasets import make_random_patterns
from protolearn.perceptrons.hopfield import Hopfield

from .measure import HEADING, Row, Table, best_of

CASES = ((2000, 0.1, 1), (2000, 0.1, 50), (2000, 0.2, 1), (4000, 0.1, 1), (4000, 0.1, 50))
"""Units, patterns a unit (below and above the capacity) and states."""

CORRUPTED = 0.15


def tables() -> Iterator[Table]:
    """Give the table."""
    yield Table(HEADING, rows())


def rows() -> Iterator[Row]:
    """Time the recall of one state and of many."""
    for n_units, load, n_states in CASES:
        n_patterns = round(load * n_units)
        patterns, _ = make_random_patterns(n_patterns, n_units, random_state=0)
        inverted = np.random.RandomState(0).rand(n_states, n_units) < CORRUPTED
        states = np.where(inverted, -patterns[:n_states], patterns[:n_states])
        for updates in ("sequential", "parallel"):
            yield row(Hopfield(updates=updates, max_iter=500).fit(patterns), states)


def row(model: Hopfield, states: np.ndarray) -> Row:
    """Time a recall and as many products as a state has sweeps in the mean."""
    n_sweeps = round(np.mean([sweeps(model, s[None]) for s in states]))
    weights = model.weights_

    def recalled() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # cycles of parallel updates
            model.recall(states)

    def products() -> None:
        for _ in range(n_sweeps):
            states @ weights

    seconds, product = best_of(recalled, products)
    load = len(model.patterns_) / model.n_features_in_
    name = f"{model.updates}, N={model.n_features_in_}, {load:g} N, {len(states)} state(s)"
    return Row(name, seconds, f"S @ W, {n_sweeps} sweeps", product, 1.0)


def sweeps(model: Hopfield, states: np.ndarray) -> int:
    """Count the sweeps of a recall: the least ``max_iter`` with which no state moves any more."""
    trial = copy(model)
    low, high = 1, model.max_iter
    while low < high:
        trial.max_iter = (low + high) // 2
        low, high = (trial.max_iter + 1, high) if moves(trial, states) else (low, trial.max_iter)
    return low


def moves(model: Hopfield, states: np.ndarray) -> bool:
    """Tell whether a recall runs out of sweeps."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.recall(states)
    return any("still move" in str(warning.message) for warning in caught)
