"""Cross-validation of methods of the paper: every fold is a task."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from protolearn.selection import Comparison

from ..folds import FEW_ROWS, stratified
from ..work import Work
from .data import DRAWN, QUICK, SETS, given
from .methods import MODELS

FOLDS, QUICK_FOLDS = 10, 3


def n_folds(work: Work) -> int:
    """Return the number of folds."""
    return QUICK_FOLDS if work.quick else FOLDS


def sets(work: Work) -> tuple[str, ...]:
    """Return the names of the sets."""
    return QUICK if work.quick else SETS


def measured(work: Work, methods: Sequence[str], noisy: bool) -> dict[tuple[str, str, int], Any]:
    """Return what :func:`measure` found, by set, method and number of the fold."""
    kind, folds = ("noisy" if noisy else "clean"), n_folds(work)
    places = [(s, m, f) for s in sets(work) for m in methods for f in range(folds)]
    work.need(*(name for name in sets(work) if name not in DRAWN))
    tasks = {
        f"{kind}/{name}/{method}/{fold}": (name, method, noisy, fold, folds, work.seed)
        for name, method, fold in places
    }
    what = f"{len(methods)} method{'s' * (len(methods) > 1)}, {kind} labels"
    found = work.map(what, measure, tasks)
    return dict(zip(places, found.values(), strict=True))


def measure(
    name: str, method: str, noisy: bool, fold: int, folds: int, seed: int
) -> dict[str, float | int | None]:
    """Fit one method to all folds but one.

    Returns
    -------
    found : dict
        ``accuracy`` on the fold, ``seconds`` of the fit, ``models``: number of those in the
        ensemble if it is one of prototypes.
    """
    X, y = given(name, noisy, seed)
    train, test = stratified(X, y, folds, seed)[fold]
    model = MODELS[method](X.shape[1], len(np.unique(y)), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=FEW_ROWS)
        start = perf_counter()
        model.fit(X[train], y[train])
        seconds = perf_counter() - start
        accuracy = float(model.score(X[test], y[test]))
    models = len(model.prototypes_) if hasattr(model, "prototypes_") else None
    return {"accuracy": accuracy, "seconds": seconds, "models": models}


def compared(work: Work, methods: Sequence[str], noisy: bool) -> Comparison:
    """Return the accuracies of all folds."""
    found, names, folds = measured(work, methods, noisy), sets(work), n_folds(work)
    sizes = np.array([_sizes(name, noisy, folds, work.seed) for name in names])

    def values(key: str) -> NDArray[np.float64]:
        return np.array(
            [[[found[s, m, f][key] for f in range(folds)] for m in methods] for s in names]
        )

    return Comparison(
        datasets=names,
        models=tuple(methods),
        scores=values("accuracy"),
        fit_times=values("seconds"),
        train_sizes=sizes[:, 0],
        test_sizes=sizes[:, 1],
    )


def _sizes(name: str, noisy: bool, folds: int, seed: int) -> list[list[int]]:
    splits = stratified(*given(name, noisy, seed), folds, seed)
    return [[len(split[part]) for split in splits] for part in (0, 1)]
