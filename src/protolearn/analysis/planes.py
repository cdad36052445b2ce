"""Linear classifiers as cells: their classes lie apart by planes, as those of prototypes do.

The class with the largest score ``w_c.x + b_c`` wins. Minus twice the scores differ by linear
functions of the sample, with the derivative ``2 (w_j - w_v)``: what :class:`Cells` asks for, with
normals in the place of prototypes.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.sparse.linalg import norm as sparse_norm
from scipy.spatial.distance import cdist
from sklearn.base import ClassifierMixin
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices, as_floats
from ..classifiers import NearestPrototypeClassifier
from ..classifiers.decision import Decision
from ..codebook import Codebook
from ..distances import Distance, Geometry
from ..linear import LinearPrototypes
from .margins import last_of, not_one_of_these

NEEDED = "coef_", "intercept_", "classes_"

NEAR = 1e-5
"""Lead of the best score, in units of the numbers it comes from, that single precision may miss."""


class ClassScore(Geometry, Distance):
    """Minus twice the score of a class, raised by as much as makes it positive.

    The normals are in the place of prototypes, and the offsets in that of parameters.
    """

    def groups(self, labels: Indices) -> Indices:
        """Give each class an offset of its own."""
        return np.arange(len(labels))

    def scores(self, X: Any, codebook: Codebook) -> Floats:
        """Give the score of each class, an array (n, K)."""
        return np.asarray(X @ codebook.prototypes.T) + codebook.metric[:, 0]

    def size(self, X: Any, codebook: Codebook) -> Floats:
        """Give the size of the numbers that make up the scores: rounding is a share of it."""
        lengths = (sparse_norm if issparse(X) else np.linalg.norm)(X, axis=1)
        longest = np.linalg.norm(codebook.prototypes, axis=1).max()
        size = lengths * longest + np.abs(codebook.metric).max()
        return np.where(size > 0.0, size, 1.0)  # the origin, without offsets

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Floats:
        """Give numbers that are the smaller the larger the score, never far below the largest."""
        return 2.0 * (2.0 * self.size(X, codebook)[:, None] - self.scores(X, codebook))

    def nearest(self, X: Any, codebook: Codebook) -> tuple[Indices, Floats]:
        """Give the class with the largest score, the first of several."""
        scores = self.scores(X, codebook)
        return scores.argmax(axis=1), scores.max(axis=1)

    def directions(self, codebook: Codebook) -> Floats:
        """Give the normals."""
        return codebook.prototypes


ClassScore.sparse_form = ClassScore


class LinearCells(NearestPrototypeClassifier):
    """A fitted linear classifier, with the fitted side of a nearest-prototype one.

    ``_model`` is the classifier itself. A subclass has its name, which is then in all messages.
    """

    _model: Any
    _distance: ClassScore

    @classmethod
    def of(cls, model: Any, normals: Floats, offsets: Floats) -> LinearCells:
        """Make it, with the largest number of the normals between a half and one."""
        self = type(type(model).__name__, (cls,), {})()
        order = np.argsort(model.classes_)
        exponent = -np.frexp(np.abs(normals).max())[1]  # powers of two are exact
        self.prototypes_ = np.ldexp(normals[order], exponent)
        self._metric = np.ldexp(offsets[order], exponent)[:, None]
        self.classes_ = self.prototype_labels_ = np.asarray(model.classes_)[order]
        self.n_features_in_, self.scale_ = normals.shape[1], 1.0
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        self._distance, self._decision = ClassScore(), Decision(False, 1.0, 1.0)
        self._model = model
        return self

    def radius(self, X: Any, codebook: Codebook, distance: Any) -> tuple[Floats, Floats]:
        """Give the distance to the nearest plane, for ``_by_parts``."""
        scores, offsets = distance.scores(X, codebook), codebook.metric[:, 0]
        own = scores.argmax(axis=1)
        apart = cdist(codebook.prototypes, codebook.prototypes)[own]
        # The lead over a class with the same normal never changes.
        parallel = np.where(offsets[own, None] > offsets, np.inf, 0.0)
        lead = scores.max(axis=1, keepdims=True) - scores
        length = np.divide(lead, apart, out=parallel, where=apart > 0.0)
        np.put_along_axis(length, own[:, None], np.inf, axis=1)
        return length.min(axis=1), scores

    def _codes(self, X: Any) -> Indices:
        """Give the class codes that the classifier itself predicts: its rounding is its own."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return np.searchsorted(self.classes_, self._model.predict(X))

    def _rows(self, X: Any, unless: bool = False) -> Any:
        """Check rows, and that the classifier decides about them by its scores."""
        rows, told = super()._rows(X, unless), np.asarray(self._model.predict(X))
        if told.shape != (rows.shape[0],):
            raise TypeError(
                f"{type(self).__name__} predicts several labels for a row, but how far a row is "
                "from another class can be told of one label only."
            )
        astray = np.flatnonzero(self.classes_[super()._codes(rows)] != told)
        if len(astray) and self._by_parts(rows[astray], leads_surely).any():
            raise TypeError(
                f"{type(self).__name__} does not predict the class with the largest score "
                "X @ coef_.T + intercept_: its coefficients do not tell where its classes are."
            )
        return rows


def leads_surely(X: Any, codebook: Codebook, distance: Any) -> tuple[NDArray[np.bool_], Floats]:
    """Tell where the best score exceeds the second by more than rounding."""
    scores = distance.scores(X, codebook)
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    return best - second > NEAR * distance.size(X, codebook), scores


def last_with_cells(model: Any) -> NearestPrototypeClassifier:
    """Give the fitted model at the end of a pipeline; a linear classifier by its cells."""
    last = last_of(model)
    if isinstance(last, NearestPrototypeClassifier):
        check_is_fitted(last)
        return last
    if isinstance(last, ClassifierMixin):
        check_is_fitted(last)
    if isinstance(last, LinearPrototypes):
        raise TypeError(
            "LinearPrototypes is not a classifier of its own; give the classifier that it shows."
        )
    missing = [name for name in NEEDED if not hasattr(last, name)]
    if missing:
        kernel = getattr(last, "kernel", None)
        reason = f"it has no {missing[0]}" + (f" with kernel={kernel!r}" if kernel else "")
        kinds = "is neither a nearest-prototype classifier nor a linear one"
        raise not_one_of_these(last, f"{kinds}: {reason}", "that is")
    return LinearCells.of(last, *planes(last))


def planes(model: Any) -> tuple[Floats, Floats]:
    """Give the normal and the offset of the score of each class."""
    name, n_classes = type(model).__name__, len(model.classes_)
    if isinstance(model, (SVC, NuSVC)) and n_classes > 2:
        raise TypeError(
            f"{name} separates each pair of its {n_classes} classes, and lets the pairs vote: no "
            "class has a score that is linear. Give a classifier with one versus rest, such as "
            "LinearSVC, or two classes."
        )
    coef = model.coef_.toarray() if issparse(model.coef_) else model.coef_
    normals = as_floats(np.atleast_2d(coef))
    if normals.ndim > 2 or (len(normals) != n_classes and (len(normals), n_classes) != (1, 2)):
        raise TypeError(
            f"coef_ of {name} has shape {np.shape(coef)} for {n_classes} classes; expected one row "
            "for each class, or one row for two classes."
        )
    offsets = np.broadcast_to(np.ravel(as_floats(model.intercept_)), len(normals))
    if len(normals) == 1:  # the score of the first of two classes is zero
        normals, offsets = np.pad(normals, ((1, 0), (0, 0))), np.pad(offsets, (1, 0))
    return normals, offsets
