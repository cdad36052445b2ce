"""Any linear classifier as prototypes and shifts, and their paths along a parameter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from .._arrays import Floats, Indices
from .canonical import (
    Canonical,
    CenteredFrame,
    Expansion,
    JointForm,
    canonical,
    joint,
    middle_of,
)
from .crammer_singer import crammer_singer
from .linear_prototypes import LinearPrototypes, check_samples, spreads
from .support_vector_machines import SoftMarginSVM, as_expansion, slack_weights
from .svm_solver import reduce_features, soft_margin

SAME = 1e-6
"""Relative difference up to which given coefficients count as an expansion of the normal."""

DEFAULT_C = np.geomspace(1e-4, 1e4, 50)
"""Weights of the slacks for samples of unit size."""


def generalized_prototypes(model: Any, X: Any, y: Any) -> LinearPrototypes:
    """Show a fitted linear classifier as a prototype for each class, and shifts.

    Parameters
    ----------
    model : classifier, or Pipeline that ends in one
        A fitted linear classifier with ``coef_`` and ``intercept_``: ours, or for example
        scikit-learn's ``LinearSVC``, ``LogisticRegression``, ``LinearDiscriminantAnalysis``,
        ``RidgeClassifier``, ``Perceptron``, and for two classes ``SVC(kernel="linear")``. Of more
        than two classes that with the largest ``coef_.x + intercept_`` must win.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The samples that it was trained with.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    linear : LinearPrototypes
        The same decision in canonical form: two prototypes and a shift, or one prototype and one
        shift for each of more classes. For a pipeline the expansion is made in the space of the
        last step, and the prototypes are the averages of X with the same weights.

    Notes
    -----
    Where the model knows the coefficients of the samples (``dual_coef_``), these are used.
    Otherwise the normal is expanded in the centred samples with the least sum of squared
    coefficients. Its prototypes average samples of both classes; those of ``dual_coef_`` of a
    support vector machine of two classes lie in the hulls of the classes.

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
    coef, intercept = scores_of(last)
    _check_labels(last, y)
    if coef.shape[-1] != X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features, and the model was fitted with {coef.shape[-1]}."
        )
    gamma = known_expansion(last, X, coef)
    if gamma is None:
        linear = LinearPrototypes.from_hyperplane(X, coef, intercept, last.classes_)
    else:
        linear = LinearPrototypes.from_expansion(X, gamma, intercept, last.classes_)
    if steps is None:
        return linear
    gamma, outer = linear.gamma, check_averageable(outer)
    if gamma.ndim == 1:
        gamma = np.stack([np.maximum(-gamma, 0.0), np.maximum(gamma, 0.0)])
    return replace(linear, prototypes=np.asarray(gamma @ outer), steps=steps)


@dataclass(frozen=True, eq=False, repr=False)
class PrototypePath:
    """Prototypes and their hyperplane along a parameter, all in canonical form.

    Attributes
    ----------
    parameter : {"C", "round"}
        What changes along the path.
    values : array of shape (n_steps,)
        Its values.
    prototypes : array of shape (n_steps, n_classes, n_features)
        Prototypes in the order of the classes.
    coef : array of shape (n_steps, n_features), or (n_steps, n_classes, n_features)
        Normals of the hyperplanes, which are the differences of the prototypes; of more than two
        classes the normals of the scores.
    intercept : array of shape (n_steps,), or (n_steps, n_classes)
        Offsets of the hyperplanes, or of the scores.
    shift : array of shape (n_steps,), or (n_steps, n_classes)
        Shifts in favour of the second class, or of each.
    classes : array of shape (n_classes,)
        The labels; one versus rest the first of two is None.
    """

    parameter: str
    values: Floats
    prototypes: Floats
    coef: Floats
    intercept: Floats
    shift: Floats
    classes: NDArray[Any]

    @classmethod
    def of(cls, parameter: str, values: Any, forms: list[Any], classes: Any) -> PrototypePath:
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
    X: Any,
    y: Any,
    C: Any = None,
    *,
    norm: int = 1,
    sample_weight: Any = None,
    multi_class: str = "ovr",
) -> PrototypePath | list[PrototypePath]:
    """Return the prototypes of the soft-margin support vector machine at many values of C.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels.
    C : array-like of shape (n_steps,), default=None
        Weights of the slacks, in any order; None: 50 values from where the prototypes are nearly
        those of ``C -> 0`` to a nearly hard margin.
    norm : {1, 2}, default=1
        Slacks, or their squares, as in :class:`SoftMarginSVM`.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors of C by sample.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        How more than two classes are told apart, as in :class:`SoftMarginSVM`: each against the
        rest, or all at once.

    Returns
    -------
    path : PrototypePath, or list of them
        Prototypes, normal, offset and shift at each C, as :class:`SoftMarginSVM` gives them, but
        that normal and offset are in canonical scale. The machines are solved from small to large
        C, each from the last one. With more than two classes and "ovr" it is a list: one path for
        each class against the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import regularization_path
    >>> from protolearn.datasets import make_graf_toy
    >>> X, y = make_graf_toy(random_state=0)
    >>> regularization_path(X, y, C=np.geomspace(1e-3, 1e3, 7))
    <PrototypePath: 7 steps, C 0.001 to 1000>
    """
    model = SoftMarginSVM(norm=norm, multi_class=multi_class)
    model._check_parameters()
    X, codes, weight, _ = model._check_weighted_data(X, y, sample_weight)
    frame = CenteredFrame.of(X, weight)
    values = DEFAULT_C / frame.scale**2 if C is None else check_values(C)
    costs = {value: slack_weights(value, frame, weight) for value in np.unique(values)}
    rows, classes = reduce_features(frame.rows), model.classes_
    if len(classes) > 2 and multi_class == "crammer_singer":
        forms = joint_forms(rows, codes, costs, len(classes), frame)
        return PrototypePath.of("C", values, [forms[value] for value in values], classes)
    paths = []
    problems = model._problems(codes, weight)
    for problem, two in zip(problems, compared_classes(classes), strict=True):
        found: dict[float, Canonical] = {}
        machine = None
        for value, cost in costs.items():
            machine = soft_margin(norm, rows, problem.signs, cost, machine)
            found[value] = canonical(as_expansion(machine, problem.signs), frame)
        paths.append(PrototypePath.of("C", values, [found[value] for value in values], two))
    return paths[0] if len(paths) == 1 else paths


def joint_forms(
    rows: Any, codes: Indices, costs: dict[float, Floats], n_classes: int, frame: CenteredFrame
) -> dict[float, JointForm]:
    """Return the machines of all classes at once, in canonical scale."""
    machine, forms = None, {}
    for value, cost in costs.items():
        machine = crammer_singer(rows, codes, cost, n_classes, machine)
        form = joint(Expansion(machine.alpha.T, machine.offsets), frame)
        unit = form.factor
        forms[value] = form._replace(
            coef=form.coef / unit, intercept=form.intercept / unit, factor=1.0
        )
    return forms


def compared_classes(classes: NDArray[Any]) -> list[Any]:
    """Return the classes of each problem; the first of one versus rest is None."""
    if len(classes) == 2:
        return [classes]
    return [np.array([None, label], dtype=object) for label in classes]


def hyperplane_of(model: Any) -> tuple[Floats, float]:
    """Return normal and offset of a linear classifier of two classes, or raise."""
    coef, intercept = scores_of(model)
    if coef.ndim == 2:
        raise ValueError(
            f"{type(model).__name__} tells {len(coef)} classes apart, expected 2: fit it with two "
            "classes, or with one against the rest, y == label."
        )
    return coef, intercept


def scores_of(model: Any) -> tuple[Floats, Any]:
    """Return normal and offset of a linear classifier, or of the score of each class, or raise."""
    name = type(model).__name__
    if not is_classifier(model) or not hasattr(model, "coef_"):
        reason = "it has no coef_" if is_classifier(model) else "it is not a classifier"
        raise TypeError(
            f"{name} is not a fitted linear classifier: {reason}. Only linear classifiers are two "
            "prototypes and a shift."
        )
    coef = model.coef_.toarray() if issparse(model.coef_) else np.asarray(model.coef_)
    coef, n_classes = np.atleast_2d(coef).astype(np.float64), len(model.classes_)
    intercept = np.ravel(getattr(model, "intercept_", 0.0)).astype(np.float64)
    if n_classes == 2:
        return coef.ravel(), float(intercept[0])
    if isinstance(model, (SVC, NuSVC)) or len(coef) != n_classes:
        raise TypeError(
            f"{name} separates the pairs of its {n_classes} classes: no class has a score that is "
            "linear. Give a classifier with one score for each class, such as LinearSVC."
        )
    return coef, np.broadcast_to(intercept, n_classes)


def known_expansion(model: Any, X: Any, coef: Floats) -> Floats | None:
    """Return the coefficients of the samples that a model knows, if they make up its normals."""
    dual = getattr(model, "dual_coef_", None)
    if dual is None:
        return None
    dual = np.asarray(dual.toarray() if issparse(dual) else dual, dtype=np.float64)
    rows, n_samples = np.atleast_2d(coef), X.shape[0]
    dual = dual.reshape(len(rows), -1) if dual.size % len(rows) == 0 else dual
    gamma = np.zeros((len(rows), n_samples))
    support = getattr(model, "support_", None)
    if dual.shape == gamma.shape:
        gamma[:] = dual
    elif support is not None and dual.shape == (len(rows), len(support)):
        if support.max() >= n_samples:
            return None
        gamma[:, support] = dual
    else:
        return None
    if coef.ndim == 1:
        found = make_up(gamma, X, rows)
        return None if found is None else found[0]
    # Each score by itself; or all of them but for what they share.
    found = make_up(gamma, X, rows)
    common = gamma - gamma.mean(axis=0), rows - rows.mean(axis=0)
    return found if found is not None else make_up(common[0], X, common[1])


def make_up(gamma: Floats, X: Any, normals: Floats) -> Floats | None:
    """Return coefficients in the scale of the normals that they make up; None if they do not."""
    if (np.abs(gamma.sum(axis=1)) > SAME * np.abs(gamma).sum(axis=1)).any():
        return None
    size = spreads(X, middle_of(X))
    made, wanted = size * np.asarray(gamma @ X), size * normals
    square = np.einsum("ij,ij->i", made, made)
    factor = np.ones(len(gamma))
    np.divide(np.einsum("ij,ij->i", made, wanted), square, out=factor, where=square > 0.0)
    left = np.linalg.norm(factor[:, None] * made - wanted, axis=1)
    fits = left <= SAME * np.linalg.norm(wanted, axis=1)
    return factor[:, None] * gamma if fits.all() and (factor > 0.0).all() else None


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
