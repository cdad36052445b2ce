"""Cross-validation of methods of the paper: every fold is a task."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from protolearn import datasets
from protolearn.selection import Comparison

from ..folds import FEW_ROWS, stratified
from ..work import Work
from .data import DRAWN, QUICK, SETS, TWEETS, given
from .methods import MODELS
from .paper import TWITTER

FOLDS, QUICK_FOLDS = 10, 3
DRAWS, SLOW_DRAWS, QUICK_DRAWS = 20, 1, 2
"""Draws of each synthetic set; of the spirals, which are always the same, draws of the folds."""

SLOW = "boosted C4.5", "boosted linear SVM", "multilayer perceptron"
"""Methods that take most of the time: they see the first draw alone."""

SHUFFLED, IN_ORDER, BY_CLASS = "stratified and shuffled", "in the order of the file", "by class"
"""How rows come to their folds: the last two cut the rows, as they are or class after class."""

Place = tuple[str, str, int, int]
"""A set, a method, the number of a draw and of a fold."""


def n_folds(work: Work) -> int:
    """Return the number of folds."""
    return QUICK_FOLDS if work.quick else FOLDS


def n_draws(work: Work, name: str, method: str = "") -> int:
    """Return how many times a set is drawn for a method."""
    if name not in DRAWN:
        return 1
    return SLOW_DRAWS if method in SLOW else QUICK_DRAWS if work.quick else DRAWS


def sets(work: Work, noisy: bool) -> tuple[str, ...]:
    """Return the names of the sets; the tweets if there are any, and without noise as printed."""
    if work.quick:
        return QUICK
    return (*SETS, TWITTER) if not noisy and TWEETS in datasets.names() else SETS


def measured(
    work: Work,
    methods: Sequence[str],
    noisy: bool,
    names: Sequence[str] | None = None,
    draws: int = DRAWS,
) -> dict[Place, Any]:
    """Return what :func:`measure` found, by set, method, draw and number of the fold.

    Of a set there are so many draws at most.
    """
    kind, folds = ("noisy" if noisy else "clean"), n_folds(work)
    names = sets(work, noisy) if names is None else names
    work.need(*(TWEETS if name == TWITTER else name for name in names if name not in DRAWN))
    places = [
        (name, method, draw, fold)
        for name in names
        for method in methods
        for draw in range(min(n_draws(work, name, method), draws))
        for fold in range(folds)
    ]
    tasks = {
        f"{kind}/{name}/{method}/{draw}/{fold}": (
            *(name, method, noisy, fold, folds, work.seed + draw),
        )
        for name, method, draw, fold in places
    }
    what = f"{len(methods)} method{'s' * (len(methods) > 1)}, {kind} labels"
    found = work.map(what, measure, tasks)
    return dict(zip(places, found.values(), strict=True))


def measure(
    name: str,
    method: str,
    noisy: bool,
    fold: int,
    folds: int,
    seed: int,
    order: str = SHUFFLED,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, float | int | None]:
    """Fit one method to all folds but one.

    Returns
    -------
    found : dict
        ``accuracy`` on the fold, ``seconds`` of the fit, ``models``: number of those in the
        ensemble if it has some.
    """
    X, y = (
        given(name, noisy, seed) if settings is None else DRAWN[name](random_state=seed, **settings)
    )
    # Rows that are sorted by class are so before labels are made wrong.
    labels = y if order == SHUFFLED else given(name, False, seed)[1]
    train, test = split(X, labels, folds, seed, order)[fold]
    model = MODELS[method](X.shape[1], len(np.unique(y)), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=FEW_ROWS)
        start = perf_counter()
        model.fit(X[train], y[train])
        seconds = perf_counter() - start
        accuracy = float(model.score(X[test], y[test]))
    models = getattr(model, "n_models_", None)
    models = len(model.prototypes_) if hasattr(model, "prototypes_") else models
    return {"accuracy": accuracy, "seconds": seconds, "models": models}


def split(X: Any, y: Any, folds: int, seed: int, order: str = SHUFFLED) -> list[Any]:
    """Return training and test rows of each fold."""
    if order == SHUFFLED:
        return stratified(X, y, folds, seed)
    rows = np.arange(len(y)) if order == IN_ORDER else np.argsort(y, kind="stable")
    return [(rows[train], rows[test]) for train, test in KFold(folds).split(rows)]


def compared(
    work: Work,
    methods: Sequence[str],
    noisy: bool,
    names: Sequence[str] | None = None,
    draws: int = DRAWS,
) -> dict[str, list[Comparison]]:
    """Return the accuracies of all folds: by set, of each draw of it."""
    found = measured(work, methods, noisy, names, draws)
    return {
        name: [
            _comparison(work, found, name, draw, _drawn(work, name, draw, methods), noisy)
            for draw in range(min(n_draws(work, name), draws))
        ]
        for name in dict.fromkeys(place[0] for place in found)
    }


def _drawn(work: Work, name: str, draw: int, methods: Sequence[str]) -> list[str]:
    """Return the methods that are measured on a draw."""
    return [method for method in methods if draw < n_draws(work, name, method)]


def _comparison(
    work: Work,
    found: Mapping[Place, Any],
    name: str,
    draw: int,
    methods: Sequence[str],
    noisy: bool,
) -> Comparison:
    folds, seed = n_folds(work), work.seed + draw
    splits = stratified(*given(name, noisy, seed), folds, seed)

    def values(key: str) -> NDArray[np.float64]:
        return np.array([[[found[name, m, draw, f][key] for f in range(folds)] for m in methods]])

    return Comparison(
        datasets=(name,),
        models=tuple(methods),
        scores=values("accuracy"),
        fit_times=values("seconds"),
        train_sizes=np.array([[len(train) for train, _ in splits]]),
        test_sizes=np.array([[len(test) for _, test in splits]]),
    )
