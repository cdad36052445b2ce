"""Any linear classifier as two prototypes and a shift, and their paths along a parameter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from .._arrays import Floats
from .canonical import Canonical, CenteredFrame, canonical, middle_of
from .linear_prototypes import LinearPrototypes, check_samples, spreads
from .support_vector_machines import SoftMarginSVM, as_expansion, check_norm, slack_weights
from .svm_solver import reduce_features, soft_margin

SAME = 1e-6
"""Relative difference up to which given coefficients count as an expansion of the normal."""

DEFAULT_C = np.geomspace(1e-4, 1e4, 50)
"""Weights of the slacks for samples of unit size."""


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
    X = check_samples(X)
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
    gamma, outer = linear.gamma, check_averageable(outer)
    weights = np.stack([np.maximum(-gamma, 0.0), np.maximum(gamma, 0.0)])
    return replace(linear, prototypes=np.asarray(weights @ outer), steps=steps)


@dataclass(frozen=True, eq=False, repr=False)
class PrototypePath:
    """Two prototypes and their hyperplane along a parameter, all in canonical form.

    Attributes
    ----------
    parameter : {"C", "round"}
        What changes along the path.
    values : array of shape (n_steps,)
        Its values.
    prototypes : array of shape (n_steps, 2, n_features)
        Prototypes in the order of the classes.
    coef : array of shape (n_steps, n_features)
        Normals of the hyperplanes, which are the differences of the prototypes.
    intercept : array of shape (n_steps,)
        Offsets of the hyperplanes.
    shift : array of shape (n_steps,)
        Shifts in favour of the second class.
    classes : array of shape (2,)
        The labels; one versus rest the first is None.
    """

    parameter: str
    values: Floats
    prototypes: Floats
    coef: Floats
    intercept: Floats
    shift: Floats
    classes: NDArray[Any]

    @classmethod
    def of(cls, parameter: str, values: Any, forms: list[Canonical], classes: Any) -> PrototypePath:
        """Return the hyperplanes of all steps as a path."""
        return cls(
            parameter=parameter,
            values=np.asarray(values, dtype=np.float64),
            prototypes=np.stack([form.prototypes for form in forms]),
            coef=np.stack([form.coef for form in forms]),
            intercept=np.array([form.intercept for form in forms]),
            shift=np.array([form.shift for form in forms]),
            classes=np.asarray(classes),
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        first, last = self.values[0], self.values[-1]
        steps = f"{len(self)} step{'s' * (len(self) > 1)}"
        return f"<PrototypePath: {steps}, {self.parameter} {first:g} to {last:g}>"


def regularization_path(
    X: Any, y: Any, C: Any = None, *, norm: int = 1, sample_weight: Any = None
) -> PrototypePath:
    """Return the prototypes of the soft-margin support vector machine at many values of C.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels, of two classes.
    C : array-like of shape (n_steps,), default=None
        Weights of the slacks, in any order; None: 50 values from where the prototypes are nearly
        those of ``C -> 0`` to a nearly hard margin.
    norm : {1, 2}, default=1
        Slacks, or their squares, as in :class:`SoftMarginSVM`.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors of C by sample.

    Returns
    -------
    path : PrototypePath
        Prototypes, normal, offset and shift at each C, as :class:`SoftMarginSVM` gives them. The
        machines are solved from small to large C, each from the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import regularization_path
    >>> from protolearn.datasets import make_graf_toy
    >>> X, y = make_graf_toy(random_state=0)
    >>> regularization_path(X, y, C=np.geomspace(1e-3, 1e3, 7))
    <PrototypePath: 7 steps, C 0.001 to 1000>
    """
    check_norm(norm)
    model = SoftMarginSVM(norm=norm)
    X, codes, weight, _ = model._check_weighted_data(X, y, sample_weight)
    if len(model.classes_) != 2:
        raise ValueError(
            f"y has {len(model.classes_)} classes, and a path is that of two prototypes; for one "
            "class against the rest give y == label."
        )
    frame, signs = CenteredFrame.of(X, weight), model._problems(codes, weight)[0].signs
    values = DEFAULT_C / frame.scale**2 if C is None else check_values(C)
    rows = reduce_features(frame.rows)
    forms: dict[float, Canonical] = {}
    machine = None
    for value in np.unique(values):
        machine = soft_margin(norm, rows, signs, slack_weights(value, frame, weight), machine)
        forms[value] = canonical(as_expansion(machine, signs), frame)
    return PrototypePath.of("C", values, [forms[value] for value in values], model.classes_)


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


def check_averageable(X: Any) -> Any:
    """Return checked rows that go into a pipeline; raise if they cannot be averaged."""
    try:
        return check_samples(X)
    except ValueError as error:
        raise ValueError(
            f"Prototypes of a pipeline are averages of X, but X cannot be averaged: {error} Give "
            "the last step and the rows as it sees them: generalized_prototypes(model[-1], "
            "model[:-1].transform(X), y)."
        ) from error


def _check_labels(model: Any, y: Any) -> None:
    """Raise if y has labels that the model does not know."""
    unknown = sorted(set(column_or_1d(y).tolist()) - set(model.classes_.tolist()), key=str)
    if unknown:
        raise ValueError(
            f"y contains {unknown[0]!r}, which the model has not seen; its classes are "
            f"{model.classes_.tolist()!r}."
        )


def check_values(C: Any) -> Floats:
    """Return the values of C; raise if they are not numbers in a row."""
    try:
        values = np.atleast_1d(np.asarray(C, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not len(values):
        raise ValueError(f"C has shape {values.shape}, expected one or more numbers in a row.")
    if not (np.isfinite(values) & (values > 0.0)).all():
        raise ValueError(f"C={C!r} must be finite numbers greater than 0.")
    return values
