"""Nested cross-validation: the search is part of what is validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, Indices
from ..analysis import import_pandas
from ..folds import group_keyword, row_groups
from .held_out import fold_sizes, folds_of, labelled_rows
from .intervals import Interval, fold_interval

SHARES = (
    *("accuracy", "average_precision", "balanced_accuracy", "f1", "jaccard"),
    *("precision", "recall", "roc_auc", "top_k_accuracy"),
)
"""Measures between 0 and 1, by how their names begin."""


@dataclass(frozen=True, eq=False, repr=False)
class NestedResult:
    """Scores of a search on rows that it has not seen.

    Attributes
    ----------
    scores : array of shape (n_folds,)
        Of each outer fold.
    inner_scores : array of shape (n_folds,)
        What the search itself reported in each outer fold, ``best_score_``; NaN where it has none.
    best_params : tuple of dict
        What the search chose in each outer fold.
    estimators : tuple
        The fitted searches.
    n_train, n_test : arrays of shape (n_folds,)
        Rows that each fold was trained and tested on.
    measure : str or None
        Name of the measure of the outer scores; None if it has none, being a function.
    comparable : bool
        Whether inner and outer scores are by the same measure.
    """

    scores: Floats
    inner_scores: Floats
    best_params: tuple[dict[str, Any], ...]
    estimators: tuple[Any, ...]
    n_train: Indices
    n_test: Indices
    measure: str | None
    comparable: bool

    @property
    def mean(self) -> float:
        """Mean of the outer scores: the honest estimate."""
        return float(self.scores.mean())

    @property
    def optimism(self) -> float:
        """By how much the search promises more than it keeps: mean inner minus mean outer score.

        NaN if the two are by different measures, or if the search reports no score.
        """
        return float(self.inner_scores.mean()) - self.mean if self.comparable else np.nan

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the interval of the mean by the corrected resampled t of Nadeau and Bengio.

        Parameters
        ----------
        confidence : float, default=0.95
            Between zero and one.

        Returns
        -------
        interval : Interval
            A named tuple ``(low, high)``, cut where scikit-learn's measures end.
        """
        interval = fold_interval(self.scores, self.n_train, self.n_test, confidence)
        return interval.within(*ends_of(self.measure))

    def __repr__(self) -> str:
        return f"<NestedResult: {len(self.scores)} outer folds, mean {self.mean:.4f}>"

    def __str__(self) -> str:
        low, high = self.interval()
        lines = [
            f"Nested estimate of {self.measure or 'the score'} {self.mean:.4f}, 95 % interval "
            f"{low:.4f} to {high:.4f} ({len(self.scores)} outer folds)"
        ]
        if np.isfinite(self.optimism):
            lines.append(
                f"The search itself says {self.inner_scores.mean():.4f}: "
                f"an optimism of {self.optimism:+.4f}"
            )
        for number, (score, params) in enumerate(
            zip(self.scores, self.best_params, strict=True), start=1
        ):
            chosen = ", ".join(f"{name}={value!r}" for name, value in params.items())
            lines.append(f"fold {number:2d}  {score:.4f}  {chosen}")
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the folds as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            A line for each outer fold: ``score``, ``inner_score``, ``n_train``, ``n_test``, and a
            column ``param_NAME`` for each parameter chosen.
        """
        pd = import_pandas()
        chosen = [{f"param_{key}": value for key, value in p.items()} for p in self.best_params]
        frame = pd.DataFrame(
            chosen, dtype=object, index=pd.RangeIndex(len(self.scores), name="fold")
        )
        numbers: dict[str, Any] = {"score": self.scores, "inner_score": self.inner_scores}
        numbers |= {"n_train": self.n_train, "n_test": self.n_test}
        for place, (name, values) in enumerate(numbers.items()):
            frame.insert(place, name, values)
        return frame


def nested_cross_validate(
    search: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    scoring: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> NestedResult:
    """Score a search for parameters on rows that it has not seen.

    The best score of a search is that of a winner, chosen by the same rows, and too good. Here the
    whole search runs again in each outer fold, and its winner is scored on the rows left out.

    Parameters
    ----------
    search : estimator
        One that has ``best_params_`` after ``fit``, and best also ``best_score_``: GridSearchCV,
        RandomizedSearchCV, AutoPrototypeClassifier, or a Pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    cv : int, splitter or iterable, default=5
        The outer folds; an integer is a number of shuffled folds, stratified for classifiers,
        which keep equal rows in one fold. Your own splitter decides by itself.
    scoring : str or callable, default=None
        Measure of the outer scores; None: the one of the search.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay in one outer fold; see :func:`evaluate`. AutoPrototypeClassifier is
        given them for its own folds too; other searches split by their own ``cv``.
    n_jobs : int, default=None
        Outer folds at the same time; None is one, -1 all cores.
    verbose : int, default=0
        How much :func:`~sklearn.model_selection.cross_validate` tells.
    random_state : int, RandomState instance, default=None
        Shuffles the folds of an integer ``cv``.

    Returns
    -------
    result : NestedResult
        Print it for a summary.

    References
    ----------
    Nadeau and Bengio (2003), *Inference for the generalization error*, Machine Learning 52.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from protolearn import GLVQ
    >>> from protolearn.selection import nested_cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(GLVQ(random_state=0), {"prototypes_per_class": [1, 2]}, cv=3)
    >>> result = nested_cross_validate(search, X, y, random_state=0)
    >>> result.mean > 0.9
    True
    """
    data = labelled_rows(X, y)
    # By name, since ``score`` of a search need not be the measure that it chooses by.
    measure = measure_of(search) if scoring is None else scoring
    groups = None if groups is None else column_or_1d(groups)
    folds = folds_of(cv, search, data, row_groups(data.X, groups), groups, random_state)
    if len(folds) < 2:
        raise ValueError(f"cv={cv!r} gives one split, expected two or more.")
    keyword = None if groups is None else group_keyword(search)
    found = cross_validate(
        search,
        data.X,
        data.y,
        cv=folds,
        params=None if keyword is None else {keyword: groups},
        scoring=measure,
        n_jobs=n_jobs,
        verbose=verbose,
        return_estimator=True,
        error_score="raise",
    )
    if "test_score" not in found:
        raise ValueError(f"scoring={scoring!r} has several measures; give one.")
    n_train, n_test = fold_sizes(folds)
    winners = [winner_of(fitted) for fitted in found["estimator"]]
    return NestedResult(
        scores=found["test_score"],
        inner_scores=np.array([float(getattr(w, "best_score_", np.nan)) for w in winners]),
        best_params=tuple(dict(winner.best_params_) for winner in winners),
        estimators=tuple(found["estimator"]),
        n_train=n_train,
        n_test=n_test,
        measure=measure if isinstance(measure, str) else None,
        comparable=scoring is None or bool(scoring == measure_of(search)),
    )


def winner_of(fitted: Any) -> Any:
    """Return the fitted search, the last step of a pipeline."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if not hasattr(last, "best_params_"):
        raise ValueError(
            f"{type(last).__name__} has no best_params_ after fit: it is not a search. Use one "
            "such as GridSearchCV, or use cross_validate for a single model."
        )
    return last


def measure_of(search: Any) -> Any:
    """Return the measure that the search itself uses."""
    last = search[-1] if isinstance(search, Pipeline) else search
    own = getattr(last, "scoring", None)
    if own is None:
        return "accuracy" if is_classifier(last) else "r2"
    if isinstance(own, (list, tuple, set, Mapping)):  # the winner is chosen by one of them
        best = getattr(last, "refit", None)
        return own.get(best) if isinstance(own, Mapping) else best
    return own


def ends_of(measure: str | None) -> tuple[float, float]:
    """Return the least and the most that a measure of scikit-learn can be."""
    name = measure or ""
    if name.startswith(SHARES):
        return 0.0, 1.0
    if name.startswith("neg_"):
        return -np.inf, 0.0
    return -np.inf, 1.0 if name in ("matthews_corrcoef", "r2") else np.inf
