"""What every linear classifier of two prototypes has in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._magnitude import check_magnitude
from .._parameters import Floats, Indices
from .._validation import check_class_weight, check_sample_weight
from .canonical import Canonical, Expansion, Frame, canonical


class Problem(NamedTuple):
    """Two classes to be told apart.

    Attributes
    ----------
    signs : array (n,)
        +1 and -1.
    weight : array (n,) or None
        Weights of the samples.
    name : str
        What is to be separated, in words.
    """

    signs: Floats
    weight: Floats | None
    name: str


class LinearPrototypeClassifier(ClassifierMixin, BaseEstimator):
    """A linear classifier in canonical form; more than two classes by one versus rest.

    A subclass gives :meth:`_expand`, and ``fit`` with or without weights.
    """

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats
    prototypes_: Floats
    shift_: Floats
    dual_coef_: Floats
    support_: Indices

    @abstractmethod
    def _expand(self, frame: Frame, problem: Problem) -> Expansion:
        """Find the hyperplane between two classes of the rows of a frame."""

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplanes and store them in canonical form."""
        self._check_parameters()
        rows, codes, weight, (n, places) = self._counting(X, y, sample_weight)
        frame = Frame.of(rows, weight)
        expansions = [self._expand(frame, each) for each in self._problems(codes, weight)]
        forms = [canonical(expansion, frame) for expansion in expansions]
        self._store(forms)
        self.dual_coef_ = np.zeros((len(forms), n))
        self.dual_coef_[:, places] = [form.gamma for form in forms]
        self.support_ = places[_support(expansions)]
        self._tell(expansions, forms)
        return self

    def _counting(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Floats, Indices, Floats | None, tuple[int, Indices]]:
        """Check the data; give rows, class codes and weights of those that count.

        And how many rows there were, and the places of those that count among them.
        """
        X, codes, weight = self._given(X, y, sample_weight)
        if weight is None:
            return X, codes, None, (len(X), np.arange(len(X)))
        places = np.flatnonzero(weight > 0.0)
        return X[places], codes[places], weight[places], (len(X), places)

    def _given(self, X: Any, y: Any, sample_weight: Any) -> tuple[Floats, Indices, Floats | None]:
        """Check the data; give the rows, their class codes and their weights."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=2)
        check_classification_targets(y)
        check_magnitude(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but there "
                f"is only one class: {self.classes_.tolist()[0]!r}."
            )
        return X, codes, self._weights(codes, check_sample_weight(sample_weight, len(X)))

    def _weights(self, codes: Indices, weight: Floats | None) -> Floats | None:
        """Put the weights of samples and of classes together."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is not None:
            by_class = self._class_weights(class_weight, codes, weight)
            weight = by_class[codes] if weight is None else weight * by_class[codes]
        if weight is not None:
            total = np.bincount(codes, weight)
            if not total.all():
                raise ValueError(
                    f"Class {self.classes_.tolist()[total.argmin()]!r} has no row of positive "
                    "weight; every class needs one."
                )
        return weight

    def _class_weights(self, class_weight: Any, codes: Indices, weight: Floats | None) -> Floats:
        """Give the factor of each class; "balanced" by the weights of its samples."""
        if isinstance(class_weight, str) and class_weight == "balanced":
            total = np.bincount(codes, weight)
            return np.divide(
                total.sum(), len(total) * total, out=np.zeros(len(total)), where=total > 0
            )
        return check_class_weight(class_weight, self.classes_, self.classes_[codes])

    def _problems(self, codes: Indices, weight: Floats | None) -> list[Problem]:
        """Give the problems of two classes: one, or one a class."""
        if len(self.classes_) == 2:
            return [Problem(np.where(codes == 1, 1.0, -1.0), weight, "the two classes")]
        return [
            Problem(np.where(codes == code, 1.0, -1.0), weight, f"class {label!r} from the rest")
            for code, label in enumerate(self.classes_.tolist())
        ]

    def _store(self, forms: list[Canonical]) -> None:
        """Store the hyperplanes and their prototypes."""
        self.coef_ = np.stack([form.coef for form in forms])
        self.intercept_ = np.array([form.intercept for form in forms])
        self.shift_ = np.array([form.shift for form in forms])
        if len(forms) == 1:
            self.prototypes_ = forms[0].prototypes
            self.__dict__.pop("rest_prototypes_", None)  # of an earlier fit with more classes
        else:
            self.prototypes_ = np.stack([form.prototypes[1] for form in forms])
            self.rest_prototypes_ = np.stack([form.prototypes[0] for form in forms])

    def _tell(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        """Store what a method has to tell beyond its hyperplanes."""

    def decision_function(self, X: Any) -> Floats:
        """Give the score of each class; for two classes that of the second.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            ``w.x + b``, half of ``|x - p-|^2 - |x - p+|^2 + S``.
        """
        check_is_fitted(self, "classes_")
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes_``.
        """
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
        return self.classes_[codes]


def _support(expansions: list[Expansion]) -> Indices:
    """Give the samples that any of the methods has chosen, in order."""
    chosen = [
        np.flatnonzero(expansion.gamma) if expansion.support is None else expansion.support
        for expansion in expansions
    ]
    return np.unique(np.concatenate(chosen))
