"""Relevance with its uncertainty: the same model, fitted again and again on resampled rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, Indices, as_floats, as_indices
from .._threads import one_blas_thread
from .._validation import check_sample_weight, integer_in, number_in
from ..classifiers import LINES, TrainedClassifier, named_distance
from ..distances import LinearMetric
from ..prototypes import is_automatic
from .result_tables import RelevanceProfile

FOLDS = 5  # parts of a stratified split; a fit sees all but one of them
FEWEST = 2  # different rows that every class keeps, where it has them

WITH_RELEVANCES = (
    "GRLVQ, GMLVQ, LGMLVQ, MRSLVQ, another classifier with distance='relevance', 'matrix' or "
    "'local_matrix', or a Pipeline that ends in one of these"
)


def relevance_profile(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 50,
    method: str = "bootstrap",
    level: float = 0.95,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> RelevanceProfile:
    """Return how much each feature counts, and how much that depends on the rows.

    Clones of the model are fitted: one on all rows, and one on each resample. The model itself is
    left alone, and whether it is fitted makes no difference. All fits have the same seed.

    Parameters
    ----------
    model : classifier with a learned linear metric, or Pipeline that ends in one
        :class:`GRLVQ`, :class:`GMLVQ`, :class:`LGMLVQ`, :class:`MRSLVQ`, or another classifier
        with such a distance. All steps of a pipeline are fitted again; a feature that a step left
        out of a fit has relevance zero there.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Labels.
    n_resamples : int, default=50
        Number of refits. The ends of a 95 % interval are rough with 50, good with 500.
    method : {"bootstrap", "folds"}, default="bootstrap"
        Rows drawn from each class with replacement: about what other samples of the same size
        would give. Or the training parts of repeated stratified 5-fold splits: their rows are
        mostly the same, so the interval is narrower and tells only how stable the fit is. Take
        these for models that hold out rows (early stopping, automatic number of prototypes), since
        a bootstrap sample has rows twice.
    level : float, default=0.95
        Share of the refits inside the interval.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, for the last step of a pipeline. A row is drawn with its weight; rows of weight
        zero are left out.
    n_jobs : int, default=None
        Number of threads. The result does not depend on it; linear algebra keeps to one thread.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples, and of the fits where the model has ``random_state=None``.
    verbose : int, default=0
        1 prints about twenty lines on the way, 2 one for every refit. What the classifier itself
        would print is turned off.

    Returns
    -------
    profile : RelevanceProfile
        Print it for a table.

    Notes
    -----
    Local metrics of single prototypes are put in the order of those of the fit on all rows: within
    each class the pairing with the smallest sum of distances, by the metric of that fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ, relevance_profile
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> profile = relevance_profile(GRLVQ(random_state=0), X, y, n_resamples=10, random_state=0)
    >>> profile.feature_names[profile.mean.argmax()]
    'petal width (cm)'
    """
    learned_metric(model)
    integer_in(n_resamples, "n_resamples={value!r}", 2)
    number_in(level, "level={value!r}", 0.0, 1.0, above=True, below=True)
    if not (isinstance(method, str) and method in METHODS):
        raise ValueError(f"method={method!r} must be one of {', '.join(map(repr, METHODS))}.")
    if not isinstance(verbose, (bool, np.bool_)):
        integer_in(verbose, "verbose={value!r}", 0)
    data = LabelledRows.of(X, column_or_1d(y), sample_weight)
    if data.weight is not None:
        data = data.take(np.flatnonzero(data.weight))
    rng = check_random_state(random_state)
    model = quiet_clone(model, rng)
    with one_blas_thread():  # also in the threads of the refits, which cannot set it themselves
        whole, names = refit(model, data)
        resamples = METHODS[method](data.y, whole.n_prototypes_, n_resamples, rng)
        every = 1 if verbose > 1 else max(n_resamples // LINES, 1)
        shown = {1, n_resamples, *range(every, n_resamples, every)} if verbose else ()
        begun = dict.fromkeys(shown, perf_counter())
        fits = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(refit_resample)(i, n_resamples, model, data.take(rows), whole, begun.get(i))
            for i, rows in enumerate(resamples, start=1)
        )
    names, (relevances, *samples) = align_features([(names, whole.relevances_), *fits])
    low, high = np.quantile(samples, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return RelevanceProfile(
        feature_names=tuple(names),
        relevances=relevances,
        mean=np.mean(samples, axis=0),
        low=low,
        high=high,
        samples=np.stack(samples),
        level=float(level),
        method=method,
        group_names=group_names(whole),
    )


class LabelledRows(NamedTuple):
    """The rows, labels and weights that a fit is given."""

    X: Any
    y: NDArray[Any]
    weight: Floats | None

    @classmethod
    def of(cls, X: Any, y: NDArray[Any], sample_weight: Any) -> LabelledRows:
        """Return rows, labels and weights of one length."""
        X, y = indexable(np.asarray(X) if isinstance(X, (list, tuple)) else X, y)
        return cls(X, y, check_sample_weight(sample_weight, len(y)))

    def take(self, rows: Indices) -> LabelledRows:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        frame = getattr(self.X, "iloc", None)
        return LabelledRows(self.X[rows] if frame is None else frame[rows], self.y[rows], weight)


def learned_metric(model: Any) -> LinearMetric:
    """Return the metric that a model learns, or raise if it learns none."""
    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(last, TrainedClassifier):
        raise TypeError(f"{type(last).__name__} learns no relevances; give {WITH_RELEVANCES}.")
    distance = named_distance(last)
    if not (isinstance(distance, LinearMetric) and distance.adaptive):
        raise ValueError(
            f"{type(last).__name__} with {distance!r} learns no relevances; give {WITH_RELEVANCES}."
        )
    if distance.localized == "prototype" and is_automatic(last.prototypes_per_class):
        raise ValueError(
            "prototypes_per_class='auto' may find other numbers of prototypes in other rows, and "
            "then the metrics of single prototypes cannot be compared; give the n_prototypes_ of "
            "a fitted model, or localized='class'."
        )
    return distance


def quiet_clone(model: Any, rng: np.random.RandomState) -> Any:
    """Return a clone that prints nothing and has a seed wherever it has none."""
    model = clone(model)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    unset = [
        key
        for key, value in sorted(model.get_params().items())
        if value is None and key.rpartition("__")[2] == "random_state"
    ]
    model.set_params(**dict.fromkeys(unset, seed))
    (model[-1] if isinstance(model, Pipeline) else model).set_params(verbose=0, callback=None)
    return model


def refit(model: Any, data: LabelledRows) -> tuple[TrainedClassifier, list[str]]:
    """Return a fitted clone of the classifier, and the names of its features."""
    model, X, before = clone(model), data.X, None
    if isinstance(model, Pipeline):
        model, before = model[-1], model[:-1] if len(model) > 1 else None
    if before is not None:
        X = before.fit_transform(X, data.y)
    model.fit(X, data.y, sample_weight=data.weight)
    return model, feature_names(model, before)


def refit_resample(
    number: int, total: int, model: Any, data: LabelledRows, whole: Any, begun: float | None
) -> tuple[list[str], Floats]:
    """Return the features and relevances of a fit to a resample; print the time since ``begun``."""
    try:
        fitted, names = refit(model, data)
    except ValueError as error:
        raise ValueError(f"Resample {number} of {total}: {error}") from error
    if begun is not None:
        elapsed = f"{perf_counter() - begun:.1f} s"
        print(f"[relevance_profile] refit {number:>5} of {total}  {elapsed}", flush=True)
    relevances = fitted.relevances_
    if learned_metric(fitted).localized == "prototype":
        relevances = relevances[match_prototypes(whole, fitted)]
    return names, relevances


def feature_names(model: Any, before: Pipeline | None = None) -> list[str]:
    """Return the names of the features that a fitted classifier sees, after the steps before it."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and before is not None:
        with suppress(AttributeError):  # a step that does not tell
            names = before.get_feature_names_out()
    if names is None or len(names) != model.n_features_in_:
        names = [f"x{j}" for j in range(model.n_features_in_)]
    return [str(name) for name in names]


def group_names(model: Any) -> tuple[str, ...]:
    """Return the name of each local metric, or nothing."""
    localized = model.rule_.distance.localized
    if localized is None:
        return ()
    if localized == "class":
        return tuple(str(label) for label in model.classes_)
    names = []
    for label, count in model.n_prototypes_.items():
        names += [f"{label}, {j + 1}" if count > 1 else str(label) for j in range(count)]
    return tuple(names)


def match_prototypes(whole: TrainedClassifier, other: TrainedClassifier) -> Indices:
    """Return for each prototype of a fit the one of another fit that corresponds to it."""
    rule = whole.rule_
    D = rule.distance.pairwise(as_floats(other.prototypes_), rule.codebook)
    rivals = other.prototype_labels_[:, None] != rule.labels
    far = (1.0 + D.max()) * len(D)  # dearer than any pairing within the classes
    partner, place = linear_sum_assignment(np.where(rivals, far, D))
    return as_indices(partner[np.argsort(place)])


def align_features(fits: list[tuple[list[str], Floats]]) -> tuple[list[str], list[Floats]]:
    """Return all features, and relevances of them; a feature that a fit has not seen has none."""
    first = fits[0][0]
    if all(names == first for names, _ in fits):
        return first, [relevances for _, relevances in fits]
    every = list(dict.fromkeys(name for names, _ in fits for name in names))
    place, aligned = {name: j for j, name in enumerate(every)}, []
    for names, relevances in fits:
        aligned.append(np.zeros((*relevances.shape[:-1], len(every))))
        for j, name in enumerate(names):
            aligned[-1][..., place[name]] += relevances[..., j]
    return every, aligned


def bootstrap(
    y: NDArray[Any], needed: Mapping[Any, int], n_resamples: int, rng: np.random.RandomState
) -> Iterator[Indices]:
    """Return rows drawn with replacement from each class, as many as it has.

    At least as many of them differ as the class needs, so that every prototype can have its own.
    """
    members = {label: np.flatnonzero(y == label) for label in needed}
    for _ in range(n_resamples):
        drawn = [_draw(members[label], max(count, FEWEST), rng) for label, count in needed.items()]
        yield np.sort(np.concatenate(drawn))


def folds(
    y: NDArray[Any], needed: Mapping[Any, int], n_resamples: int, rng: np.random.RandomState
) -> Iterator[Indices]:
    """Return the training rows of stratified splits, which are repeated until there are enough."""
    for label, count in needed.items():
        size = int((y == label).sum())
        if size < FOLDS or size - -(-size // FOLDS) < count:
            raise ValueError(
                f"Class {label!r} has {size} rows, too few for {FOLDS} folds and "
                f"{count} prototypes; give method='bootstrap'."
            )
    splits = RepeatedStratifiedKFold(
        n_splits=FOLDS, n_repeats=-(-n_resamples // FOLDS), random_state=rng
    )
    for train, _ in islice(splits.split(np.zeros(len(y)), y), n_resamples):
        yield train


METHODS = {"bootstrap": bootstrap, "folds": folds}


def _draw(rows: Indices, different: int, rng: np.random.RandomState) -> Indices:
    """Return rows drawn with replacement; if too few differ, these first and then the rest."""
    drawn = rng.choice(rows, size=len(rows))
    different = min(different, len(rows))
    if len(np.unique(drawn)) < different:
        drawn[:different] = rng.choice(rows, size=different, replace=False)
    return drawn
