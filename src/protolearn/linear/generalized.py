"""Any linear classifier as two prototypes and a shift."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from .._arrays import Floats
from .canonical import middle_of
from .expansion import spreads
from .linear_prototypes import LinearPrototypes, samples

SAME = 1e-6
"""Relative difference up to which given coefficients count as an expansion of the normal."""


def generalized_prototypes(model: Any, X: Any, y: Any) -> LinearPrototypes:
    """Show a fitted linear classifier as two prototypes and a shift.

    Parameters
    ----------
    model : classifier, or Pipeline that ends in one
        A fitted linear classifier of two classes, with ``coef_`` and ``intercept_``: ours, or for
        example scikit-learn's ``LinearSVC``, ``SVC(kernel="linear")``, ``LogisticRegression``,
        ``LinearDiscriminantAnalysis``, ``RidgeClassifier``, ``Perceptron``.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The samples that it was trained with.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    linear : LinearPrototypes
        The same decision in canonical form. For a pipeline the expansion is made in the space of
        the last step, and the prototypes are the averages of X with the same weights.

    Notes
    -----
    Where the model knows the coefficients of the samples (``dual_coef_``), these are used.
    Otherwise the normal is expanded in the centred samples with the least sum of squared
    coefficients. Its prototypes average samples of both classes; those of ``dual_coef_`` of a
    support vector machine lie in the hulls of the classes.

    With fewer samples than features there are directions that no combination of centred samples
    makes, and an error says so if the normal has a part in them: always for ``LinearSVC``, which
    regularises its offset, and for solvers that stop early (``LogisticRegression``: set a smaller
    ``tol``).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from protolearn import generalized_prototypes
    >>> from protolearn.datasets import make_graf_toy
    >>> X, y = make_graf_toy(random_state=0)
    >>> model = LogisticRegression().fit(X, y)
    >>> generalized_prototypes(model, X, y)
    <LinearPrototypes: -1 and 1, 2 features, shift 2.31>
    """
    check_is_fitted(model)
    piped = isinstance(model, Pipeline)
    last, steps = (model[-1], model[:-1] if len(model) > 1 else None) if piped else (model, None)
    outer = X
    if steps is not None:
        X = steps.transform(X)
    X = samples(X)
    check_consistent_length(X, y)
    coef, intercept = hyperplane_of(last)
    _check_labels(last, y)
    if len(coef) != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, and the model was fitted with {len(coef)}.")
    gamma = known_expansion(last, X, coef)
    if gamma is None:
        linear = LinearPrototypes.from_hyperplane(X, coef, intercept, last.classes_)
    else:
        linear = LinearPrototypes.from_expansion(X, gamma, intercept, last.classes_)
    if steps is None:
        return linear
    return replace(linear, prototypes=averages(linear.gamma, numeric(outer)), steps=steps)


def hyperplane_of(model: Any) -> tuple[Floats, float]:
    """Return normal and offset of a linear classifier of two classes, or raise."""
    name = type(model).__name__
    if not is_classifier(model) or not hasattr(model, "coef_"):
        reason = "it has no coef_" if is_classifier(model) else "it is not a classifier"
        raise TypeError(
            f"{name} is not a fitted linear classifier: {reason}. Only linear classifiers are two "
            "prototypes and a shift."
        )
    if len(model.classes_) != 2:
        raise ValueError(
            f"{name} tells {len(model.classes_)} classes apart, expected 2: fit it with two "
            "classes, or with one against the rest, y == label."
        )
    coef = model.coef_.toarray() if issparse(model.coef_) else np.asarray(model.coef_)
    intercept = np.ravel(getattr(model, "intercept_", 0.0))
    return coef.astype(np.float64).ravel(), float(intercept[0])


def known_expansion(model: Any, X: Any, coef: Floats) -> Floats | None:
    """Return the coefficients of the samples that a model knows, if they make up its normal."""
    dual = getattr(model, "dual_coef_", None)
    if dual is None:
        return None
    dual = (dual.toarray() if issparse(dual) else np.asarray(dual)).astype(np.float64).ravel()
    gamma = np.zeros(X.shape[0])
    support = getattr(model, "support_", None)
    if len(dual) == X.shape[0]:
        gamma[:] = dual
    elif support is not None and len(support) == len(dual) and support.max() < X.shape[0]:
        gamma[support] = dual
    else:
        return None
    if abs(gamma.sum()) > SAME * np.abs(gamma).sum():
        return None
    size = spreads(X, middle_of(X))
    left = size * (np.asarray(gamma @ X).ravel() - coef)
    return gamma if np.linalg.norm(left) <= SAME * np.linalg.norm(size * coef) else None


def numeric(X: Any) -> Any:
    """Check that the rows that go into a pipeline can be averaged."""
    try:
        return samples(X)
    except ValueError as error:
        raise ValueError(
            f"Prototypes of a pipeline are averages of X, but X cannot be averaged: {error} Give "
            "the last step and the rows as it sees them: generalized_prototypes(model[-1], "
            "model[:-1].transform(X), y)."
        ) from error


def averages(gamma: Floats, X: Any) -> Floats:
    """Return the two prototypes that coefficients make of samples."""
    weights = np.stack([np.maximum(-gamma, 0.0), np.maximum(gamma, 0.0)])
    return np.asarray(weights @ X)


def _check_labels(model: Any, y: Any) -> None:
    """Raise if y has labels that the model does not know."""
    unknown = sorted(set(column_or_1d(y).tolist()) - set(model.classes_.tolist()), key=str)
    if unknown:
        raise ValueError(
            f"y contains {unknown[0]!r}, which the model has not seen; its classes are "
            f"{model.classes_.tolist()!r}."
        )
