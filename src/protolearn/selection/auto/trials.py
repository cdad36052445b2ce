"""One fit of a search: its score, how large the model is, and how much its leads are worth."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from ..._arrays import Floats, Indices
from ..._threads import one_blas_thread
from ...classifiers import GRLVQ, KernelGLVQ
from ...ensemble import ExemplarSVM, PrototypeSVM
from ...numba_internals import compile_seconds
from ...perceptrons import CommitteeMachine, ParityMachine
from ..held_out import by_class
from .candidates import Candidate

STEEPEST = 1e6
"""Largest worth of a lead, in units of the mean one."""


class SearchedData(NamedTuple):
    """What the candidates are to learn, and how their answers are scored."""

    X: Floats
    y: NDArray[Any]
    scorer: Callable[[Any, Any, Any], float]
    seed: int


class Trial(NamedTuple):
    """What came of a fit: NaN, and the reason, if nothing did.

    The seconds are those of a later fit: without the compilation that a first one may need.
    ``decisions`` are the scores of the classes for the rows of a single fold that was left out.
    """

    scores: tuple[float, ...] = ()
    seconds: float = np.nan
    n_numbers: float = np.nan
    n_prototypes: float = np.nan
    steepness: float = np.nan
    failure: str = ""
    decisions: Floats | None = None


def trial(candidate: Candidate, task: SearchedData, train: Indices, *tests: Indices) -> Trial:
    """Return what comes of a candidate that is fitted to some rows and scored on others."""
    start = perf_counter()
    # A first fit of a process that compiles for seconds does not say what others take.
    with one_blas_thread(), warnings.catch_warnings(), compile_seconds() as compiling:
        warnings.simplefilter("ignore")  # of a candidate; those of the chosen model are shown
        found = outcome(candidate, task, train, tests)
    return found._replace(seconds=perf_counter() - start - sum(compiling))


def outcome(
    candidate: Candidate, task: SearchedData, train: Indices, tests: tuple[Indices, ...]
) -> Trial:
    """Return what comes of a fit, or why nothing does."""
    X, y, scorer, seed = task
    held_out = np.concatenate(tests)
    try:
        model = candidate.pipeline(y[train], seed).fit(X[train], y[train])
        scores = tuple(float(scorer(model, X[test], y[test])) for test in tests)
        decisions = by_class(np.asarray(model.decision_function(X[held_out]), dtype=np.float64))
    except Exception as error:
        return Trial(failure=f"{type(error).__name__}: {error}{absent_class(y, tests)}")
    if not np.isfinite(scores).all():
        return Trial(failure=f"the scores are {scores}{absent_class(y, tests)}")
    codes = np.searchsorted(model.classes_, y[held_out])
    # All fits of a split together doubt one row, which as many of them hold out as any other.
    factor = steepness(decisions, codes, len(held_out) / len(y))
    size = n_numbers(model[-1]), n_prototypes(model[-1])
    kept = decisions if len(tests) == 1 else None
    return Trial(scores, np.nan, *size, factor, "", kept)


def absent_class(y: NDArray[Any], tests: tuple[Indices, ...]) -> str:
    """Return a remark that names a class without held-out rows: some scores need all classes."""
    absent = [label for test in tests for label in np.setdiff1d(y, y[test]).tolist()]
    return f" (no row of class {absent[0]!r} was held out here)" if absent else ""


def n_numbers(model: Any) -> int:
    """Return how many numbers decide: prototypes, metric, coefficients."""
    if isinstance(model, KernelGLVQ):  # a prototype is a combination of rows
        return model.dual_coef_.size + len(model.support_) * model.n_features_in_
    if isinstance(model, (ExemplarSVM, PrototypeSVM)):
        return model.hyperplanes_.size + model.offsets_.size
    if isinstance(model, CommitteeMachine):
        return model.hidden_coef_.size + model.hidden_intercept_.size
    if isinstance(model, ParityMachine):  # a unit is a plane, or a ball around a row
        return int(model.n_units_.sum()) * (model.n_features_in_ + 1)
    if hasattr(model, "coef_"):
        return int(np.size(model.coef_) + np.size(model.intercept_))
    if hasattr(model, "intercept_"):  # planes in the feature space of a kernel
        n_support = len(model.support_)
        return model.intercept_.size * (n_support + 1) + n_support * model.n_features_in_
    metric = "relevances_" if isinstance(model, GRLVQ) else "omega_"
    return model.prototypes_.size + np.size(getattr(model, metric, ()))


def n_prototypes(model: Any) -> int:
    """Return how many prototypes decide; of a linear classifier one for each class."""
    if isinstance(model, KernelGLVQ):
        return len(model.dual_coef_)
    return len(model.prototypes_) if hasattr(model, "prototypes_") else len(model.classes_)


def steepness(scores: Floats, codes: Indices, doubt: float = 1.0) -> float:
    """Return the factor of the scores with the best log-likelihood of the true classes.

    One row more has the scores of a middling sure one and its second class, and the weight
    ``doubt``: so the factor has an end where all rows come out right.
    """
    if not len(scores):
        return 1.0
    order = np.sort(scores, axis=1)
    leads = order[:, -1] - order[:, -2]
    unit = leads.mean()
    if not unit > 0.0:
        return 1.0
    middling = np.argsort(leads)[len(leads) // 2]
    second = np.argsort(scores[middling])[-2]
    scores = np.vstack([scores, scores[middling]]) / unit
    rows, codes = np.arange(len(scores)), np.append(codes, second)
    weight = np.append(np.ones(len(leads)), doubt)

    def cost(log_factor: float) -> float:
        return -float(weight @ log_softmax(np.exp(log_factor) * scores, axis=1)[rows, codes])

    found = minimize_scalar(cost, bounds=(-np.log(STEEPEST), np.log(STEEPEST)), method="bounded")
    return float(np.exp(found.x) / unit)


def probabilities(scores: Floats, factor: float) -> Floats:
    """Return the probability of each class."""
    return np.asarray(softmax(factor * by_class(scores), axis=1))
