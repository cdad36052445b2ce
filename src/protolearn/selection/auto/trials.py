"""One fit of a search: its score, how large the model is, and how much its leads are worth."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.pipeline import Pipeline

from ..._arrays import Floats, Indices, remember_work
from ..._threads import at_most_threads, one_blas_thread, one_openmp_thread
from ...analysis import by_class
from ...classifiers import KernelGLVQ
from ...ensemble import ExemplarSVM, PrototypeSVM
from ...numba_internals import compile_seconds
from ...perceptrons import CommitteeMachine, ParityMachine
from .candidates import Candidate
from .score_calibration import steepness
from .search_data import LeftOut

MOST_KEPT = 1 << 26
"""Numbers of prepared rows that are kept for further fits."""


class Prepared(NamedTuple):
    """The steps before a model, fitted, and what they make of the rows of a fit."""

    steps: list[tuple[str, Any]]
    train: Floats
    test: Floats


class SearchedData:
    """What the candidates are to learn, and how their answers are scored.

    Parameters
    ----------
    X, y : arrays
        All rows that have a part in the search, and their labels.
    scorer : callable or None
        ``scorer(model, X, y)``; None: accuracy.
    seed : int
        Seed of the models.
    """

    def __init__(self, X: Floats, y: NDArray[Any], scorer: Any, seed: int):
        self.X, self.y, self.scorer, self.seed = X, y, scorer, seed
        self._prepared: dict[tuple[Any, ...], Prepared] = {}
        self._n_numbers = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}, "_n_numbers": 0}

    def prepare(self, candidate: Candidate, part: LeftOut) -> Prepared:
        """Return the rows of a fit as its model sees them; what others need too is kept."""
        key = part.folds, len(part.train), candidate.scaled, candidate.n_features
        if key not in self._prepared:
            steps, train = candidate.steps(), self.X[part.train]
            test = self.X[np.concatenate(part.tests)]
            for _, step in steps:
                train = step.fit_transform(train, self.y[part.train])
                test = step.transform(test)
            found = Prepared(steps, train, test)
            size = train.size + test.size
            if self._n_numbers + size > MOST_KEPT:
                return found
            self._prepared[key], self._n_numbers = found, self._n_numbers + size
        return self._prepared[key]


class Trial(NamedTuple):
    """What came of a fit: NaN, and the reason, if nothing did.

    The seconds are those of a later fit: without the compilation that a first one may need.
    ``decisions`` are the scores of the classes for the held-out rows, if they may be needed.
    ``oddness`` is how far prototypes are from the middle of their class: 1 as an average row.
    """

    scores: tuple[float, ...] = ()
    seconds: float = np.nan
    n_numbers: float = np.nan
    n_prototypes: float = np.nan
    failure: str = ""
    decisions: Floats | None = None
    oddness: float = 1.0


@contextmanager
def quiet_fits() -> Iterator[None]:
    """Let many small fits run: warnings are those of candidates, and threads would only wait."""
    with one_blas_thread(), remember_work(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the chosen model are shown
        yield


def trial(candidate: Candidate, task: SearchedData, part: LeftOut, keep: bool = True) -> Trial:
    """Return what comes of a candidate that is fitted to some rows and scored on others."""
    start = perf_counter()
    # A first fit of a process that compiles for seconds does not say what others take.
    with compile_seconds() as compiling, one_openmp_thread(), at_most_threads(1):
        found = outcome(candidate, task, part, keep)
    return found._replace(seconds=perf_counter() - start - sum(compiling))


def outcome(candidate: Candidate, task: SearchedData, part: LeftOut, keep: bool) -> Trial:
    """Return what comes of a fit, or why nothing does."""
    y = task.y
    try:
        model = candidate.model_for(y[part.train], task.seed)
        prepared = task.prepare(candidate, part)
        model.fit(prepared.train, y[part.train])
        decisions = model.decision_function(prepared.test)
        decisions = by_class(np.asarray(decisions, dtype=np.float64))
        ends = np.cumsum([len(test) for test in part.tests])[:-1]
        parts = list(zip(part.tests, np.split(decisions, ends), strict=True))
        if task.scorer is None:
            answers = [model.classes_[one.argmax(axis=1)] == y[test] for test, one in parts]
            scores = tuple(float(right.mean()) for right in answers)
        else:
            steps = [*prepared.steps, ("model", model)]
            known = [(one, y[test], 0.5 * len(test) / len(y)) for test, one in parts]
            wholes = [CalibratedPipeline(steps).remember(*one) for one in known]
            told = zip(wholes, part.tests, strict=True)
            scores = tuple(float(task.scorer(whole, task.X[t], y[t])) for whole, t in told)
    except Exception as error:
        return Trial(failure=f"{type(error).__name__}: {error}{absent_class(y, part.tests)}")
    if not np.isfinite(scores).all():
        return Trial(failure=f"the scores are {scores}{absent_class(y, part.tests)}")
    size = n_numbers(model), n_prototypes(model)
    odd = oddness(model, prepared.train, y[part.train])
    return Trial(scores, np.nan, *size, "", decisions if keep else None, odd)


class CalibratedPipeline(Pipeline):
    """A fitted pipeline as a scorer sees it: its probabilities are calibrated on held-out rows.

    So those of the model that is delivered are. The factor of the scores is learned at odd places
    for rows at even places, and the other way round: no row has a part in its own probability.
    """

    def remember(self, decisions: Floats, y: NDArray[Any], doubt: float) -> CalibratedPipeline:
        """Keep the scores of the held-out rows, their labels, and how much to doubt each half."""
        self._held_out = decisions, y, doubt
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class."""
        scores, (decisions, y, doubt) = by_class(self.decision_function(X)), self._held_out
        factor = np.empty((len(scores), 1))
        for turn in range(2):
            others = np.arange(1 - turn, len(y), 2)
            others = others[np.isin(y[others], self.classes_)]
            codes = np.searchsorted(self.classes_, y[others])
            factor[turn::2] = steepness(decisions[others], codes, doubt)
        return np.asarray(softmax(factor * scores, axis=1))


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
    metric = model.rule_.codebook.metric.size if hasattr(model, "rule_") else 0
    return int(model.prototypes_.size + metric)


def oddness(model: Any, X: Floats, y: NDArray[Any]) -> float:
    """Return how far prototypes are from the mean of their class, in units of its rows; 1 or more.

    The root mean square over features, each in standard deviations of the class.
    A model without prototypes in the space of its features has 1.
    """
    labels = getattr(model, "prototype_labels_", None)
    if labels is None or not hasattr(model, "prototypes_") or hasattr(model, "coef_"):
        return 1.0
    squares = []
    for label in model.classes_:
        rows, own = X[y == label], model.prototypes_[labels == label]
        spread = np.nanstd(rows, axis=0)
        varied = spread > 0.0
        away = (own - np.nanmean(rows, axis=0))[:, varied] / spread[varied]
        squares.append(np.square(away).ravel())
    found = np.concatenate(squares)
    return float(np.sqrt(max(found.mean(), 1.0))) if found.size else 1.0


def n_prototypes(model: Any) -> int:
    """Return how many prototypes decide; of a linear classifier one for each class."""
    if isinstance(model, KernelGLVQ):
        return len(model.dual_coef_)
    return len(model.prototypes_) if hasattr(model, "prototypes_") else len(model.classes_)
