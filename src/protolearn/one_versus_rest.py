"""Classifiers of two classes, and of more than two one versus rest."""

from __future__ import annotations

from abc import abstractmethod
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._arrays import Floats, Indices, check_magnitude, checked_sparse, validate_data
from ._dask import AccuracyMixin, row_by_row
from ._names import SharedAttributes
from ._validation import check_class_weight, check_sample_weight, check_weight_range


class BinaryProblem(NamedTuple):
    """Two classes to be told apart."""

    signs: Floats  # +1 and -1
    weight: Floats | None
    name: str  # what is to be separated, in words


class OneVersusRestClassifier(SharedAttributes, AccuracyMixin, BaseEstimator):
    """A classifier with a score for each class, or one score for two classes."""

    classes_: NDArray[Any]
    raised_scores_: Floats | None = None
    """What is added to the scores of the classes, if a threshold was chosen; None: nothing."""

    _takes_sparse = False
    """Whether rows may come as a sparse matrix."""

    _trains_sparse = False
    """Whether they stay sparse for training."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a model; one of an earlier version has the defaults of parameters since then."""
        defaults = {name: each.default for name, each in signature(type(self)).parameters.items()}
        super().__setstate__(defaults | state)

    def __sklearn_tags__(self) -> Any:
        """Return whether rows may be sparse, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def _check_weighted_data(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, Indices, Floats | None, tuple[int, Indices]]:
        """Return checked rows, class codes and weights of the rows of positive weight.

        And how many rows there were, and the places of these among them.
        """
        X, codes, weight = self._check_data(X, y, sample_weight)
        if weight is None:
            return X, codes, None, (len(codes), np.arange(len(codes)))
        places = np.flatnonzero(weight > 0.0)
        return X[places], codes[places], weight[places], (len(codes), places)

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Floats, Indices, Floats | None]:
        """Return the checked rows, their class codes and their weights."""
        X, y = self._validate(X, y, ensure_min_samples=2)
        self.__dict__.pop("raised_scores_", None)
        if issparse(X):
            X = checked_sparse(X) if self._trains_sparse else X.toarray()
        check_classification_targets(y)
        check_magnitude(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but there "
                f"is only one class: {self.classes_.tolist()[0]!r}."
            )
        return X, codes, self._weights(codes, check_sample_weight(sample_weight, len(codes)))

    def _validate(self, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Return rows as doubles, and labels if they are given."""
        accept = "csr" if self._takes_sparse else False
        return validate_data(
            self, X, y, dtype=np.float64, order="C", accept_sparse=accept, **options
        )

    def _weights(self, codes: Indices, weight: Floats | None) -> Floats | None:
        """Return the product of the weights of samples and of classes."""
        class_weight, name = getattr(self, "class_weight", None), type(self).__name__
        if weight is not None:
            check_weight_range(weight, f"{name} takes sample_weight")
        if class_weight is not None:
            by_class = self._class_weights(class_weight, codes, weight)
            weight = by_class[codes] if weight is None else weight * by_class[codes]
            check_weight_range(weight, f"{name} takes sample_weight times class_weight")
        if weight is not None:
            total = np.bincount(codes, weight)
            if not total.all():
                raise ValueError(
                    f"Class {self.classes_.tolist()[total.argmin()]!r} has no row of positive "
                    "weight; every class needs one."
                )
        return weight

    def _class_weights(self, class_weight: Any, codes: Indices, weight: Floats | None) -> Floats:
        """Return the factor of each class; "balanced" by the weights of its samples."""
        if isinstance(class_weight, str) and class_weight == "balanced":
            total = np.bincount(codes, weight)
            return np.divide(
                total.sum(), len(total) * total, out=np.zeros(len(total)), where=total > 0
            )
        return check_class_weight(class_weight, self.classes_, self.classes_[codes])

    def _problems(self, codes: Indices, weight: Floats | None) -> list[BinaryProblem]:
        """Return the problems of two classes: one, or one a class."""
        if len(self.classes_) == 2:
            return [BinaryProblem(np.where(codes == 1, 1.0, -1.0), weight, "the two classes")]
        return [
            BinaryProblem(
                np.where(codes == code, 1.0, -1.0), weight, f"class {label!r} from the rest"
            )
            for code, label in enumerate(self.classes_.tolist())
        ]

    @abstractmethod
    def _scores(self, X: Floats) -> Floats:
        """Return the scores of checked rows, an array (n, n_classes), or (n, 1) for two classes."""

    @row_by_row
    def decision_function(self, X: Any) -> Floats:
        """Return the score of each class; for two classes that of the second.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            The class with the largest score is predicted; the second of two if its score is
            positive.
        """
        check_is_fitted(self, "classes_")
        scores = self._scores(self._validate(X, reset=False))
        if self.raised_scores_ is not None:
            more = self.raised_scores_
            scores = scores + (np.diff(more) if scores.shape[1] == 1 else more)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @row_by_row
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. A Dask array or frame is answered lazily, by a Dask array.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes_``.
        """
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
        return self.classes_[codes]


class LinearClassifier(OneVersusRestClassifier):
    """A classifier whose scores are linear functions of the row."""

    coef_: Floats
    intercept_: Floats

    def _scores(self, X: Floats) -> Floats:
        return np.asarray(X @ self.coef_.T + self.intercept_)
