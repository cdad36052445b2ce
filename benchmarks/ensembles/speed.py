"""Speed against the same algorithm with a Python loop over scikit-learn's machines, on segment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from protolearn import PrototypeSVM, datasets
from protolearn.ensemble.hyperplane_solver import solve

from ..measure import Line, Table, best_of
from ..peers.row import ALONE, COMPARISONS, Alone, Comparison
from . import one_by_one
from .data import tell
from .one_by_one import Trial

FASTER = 50.0
"""How many times faster than the loop ours should be."""

SHIFTS, COST = 10, 100.0

PATIENCE = 120.0
"""Seconds after which the loop ends, after two shifts at least; the others are extrapolated."""

REPEATS = 3


def tables() -> Iterator[Table]:
    """Give whole fits and one solution of all problems beside loops, then the defaults."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = datasets.load("segment")
    yield Table(COMPARISONS, whole(X, y))
    yield Table(COMPARISONS, exemplar_problems(X, y))
    yield Table(ALONE, defaults(X, y))


def whole(X: Any, y: Any) -> Iterator[Line]:
    """Fit the published algorithm, with sigmoids and with plain votes."""
    fits = {
        calibration: PrototypeSVM(
            n_shifts=SHIFTS, C=COST, pruning=None, calibration=calibration, random_state=0
        )
        for calibration in ("platt", None)
    }
    seconds = best_of(*(partial(model.fit, X, y) for model in fits.values()), repeats=REPEATS)
    trials, told = looped(X, y, fits["platt"])
    loop, sigmoids = (total(trials, name) for name in ("seconds", "sigmoid_seconds"))
    for name, ours, theirs, which in (
        ("sigmoids", seconds[0], loop + sigmoids, "accuracy"),
        ("plain votes", seconds[1], loop, "plain"),
    ):
        calibration = "platt" if which == "accuracy" else None
        yield Comparison(
            f"segment, {SHIFTS} shifts, {name}",
            f"a loop over SVC{told}; accuracies on held-out rows",
            ours,
            theirs,
            float(fits[calibration].validation_scores_.max()),
            max(getattr(trial, which) for trial in trials),
            FASTER,
        )


def looped(X: Any, y: Any, model: PrototypeSVM) -> tuple[list[Trial], str]:
    """Run the loop with the same held-out rows; tell if it was ended early."""
    rows, codes = StandardScaler().fit_transform(X), np.unique(y, return_inverse=True)[1]
    held = np.zeros(len(X), bool)
    held[model.validation_indices_] = True
    parts = rows[~held], codes[~held], rows[held], codes[held]
    trials: list[Trial] = []
    start = perf_counter()
    for trial in one_by_one.ensembles(*parts, SVC(kernel="linear", C=COST), SHIFTS):
        trials.append(trial)
        taken = perf_counter() - start
        tell(f"the loop: {len(trials) - 1} shifts, {taken:.0f} s")
        if taken > PATIENCE and len(trials) > 2:
            break
    done = len(trials) - 1
    return trials, "" if done == SHIFTS else f", extrapolated from {done} shifts"


def total(trials: list[Trial], name: str) -> float:
    """Give the seconds of all shifts, those not made as long as the mean of the others."""
    first, *others = (getattr(trial, name) for trial in trials)
    return float(first + SHIFTS * np.mean(others))


def exemplar_problems(X: Any, y: Any) -> Iterator[Line]:
    """Solve the problems of all exemplars of three quarters of the rows at once, and one by one."""
    rows, codes = StandardScaler().fit_transform(X), np.unique(y, return_inverse=True)[1]
    chosen = np.random.RandomState(0).permutation(len(X))[: 3 * len(X) // 4]
    rows, codes = rows[chosen], codes[chosen]
    models = one_by_one.exemplar_models(rows, codes)
    problems = models.members.problems(models.exemplar)
    found = solve(rows, problems, COST)
    machines = {
        "SVC": SVC(kernel="linear", C=COST),
        "LinearSVC": LinearSVC(loss="hinge", C=COST, tol=1e-4, random_state=0),
    }
    for name, machine in machines.items():
        loop = partial(one_by_one.trained, models, rows, machine)
        ours, theirs = best_of(partial(solve, rows, problems, COST), loop, repeats=REPEATS)
        separated, _ = loop()
        yield Comparison(
            f"{len(models)} exemplar problems",
            f"a loop over {name}; accuracies on their rows",
            ours,
            theirs,
            on_members(found.weights, found.offsets, rows[problems.origin], rows, problems),
            on_members(separated.weights, separated.intercepts, 0.0 * rows, rows, problems),
            None,
        )


def on_members(weights: Any, offsets: Any, origins: Any, rows: Any, problems: Any) -> float:
    """Give the share of the rows of all problems on their side of the hyperplane."""
    problem = np.repeat(np.arange(len(offsets)), np.diff(problems.start))
    relative = rows[problems.rows] - origins[problem]
    values = np.einsum("ij,ij->i", weights[problem], relative) + offsets[problem]
    return float((problems.signs * values > 0.0).mean())


def defaults(X: Any, y: Any) -> Iterator[Line]:
    """Time a fit with the defaults; it should take seconds."""
    model = PrototypeSVM(random_state=0)
    (seconds,) = best_of(partial(model.fit, X, y), repeats=REPEATS)
    name = f"segment, defaults, {len(model.prototypes_)} models"
    yield Alone(name, seconds, "s", "ten seconds", 10.0, 1.0)
