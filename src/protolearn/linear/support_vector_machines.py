"""Support vector machines: the prototypes are averages of the samples that are hardest to tell."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.spatial.distance import cdist
from sklearn.base import clone, is_classifier

from .._arrays import Floats, Indices
from .._validation import all_or_nothing, check_choice, check_positive
from ..kernels import FeatureKernel, check_gram, check_kernel, gram_rounding, kernel_of
from ..one_versus_rest import BinaryProblem, OneVersusRestClassifier
from .canonical import Canonical, CenteredFrame, Expansion
from .crammer_singer import crammer_singer, hard_crammer_singer
from .kernel_prototypes import KernelPrototypeClassifier
from .svm_solver import Machine, hard_margin, reduce_features, soft_margin

MUCH_WORK = 10**9
"""Multiplications for all products of rows from which on wide rows are taken as they are."""

TRIMMED = "coef_", "intercept_"
"""Attributes of a linear classifier, of which the components that were added are left out."""


class SupportVectorMachine(KernelPrototypeClassifier):
    """A linear classifier whose scores are 1 and -1 on the margin."""

    support_vectors_: Floats
    n_iter_: int

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        self.n_iter_ = max(expansion.details.n_iter for expansion in expansions)
        self._rescale([form.factor for form in forms])

    def _store_samples(self, rows: Any, chosen: Indices) -> None:
        self.support_vectors_ = rows[chosen]

    def _writes(self, rows: Any) -> bool:
        n, d = rows.shape
        return d <= n or n * n * d < MUCH_WORK


class HardMarginSVM(SupportVectorMachine):
    """The hyperplane with the largest margin between separable classes.

    Its prototypes are the nearest points of the convex hulls of the two classes, and it halves the
    way between them: ``shift_`` is zero.

    Parameters
    ----------
    multi_class : {"ovr", "crammer_singer", "nearest"}, default="ovr"
        How more than two classes are told apart: each is separated from the rest, and the largest
        score wins ("ovr"); all at once, the score of the own class being at least one above the
        others with the least sum of squared normals ("crammer_singer"); or by the nearest of the
        prototypes that the classes have against the rest (Graf et al., 2009, section 9).
    kernel : {"linear", "rbf", "polynomial", "poly", "precomputed"} or callable, default="linear"
        The product of two rows. "linear" gives prototypes among the rows. A function takes two
        arrays of rows and gives the matrix of their products. With "precomputed" ``fit`` takes the
        Gram matrix of the training rows and the other methods the products of the given rows (one
        a line) with all training rows.
    gamma : "scale" or float, default="scale"
        Factor in ``exp(-gamma |x - z|^2)`` and ``(gamma x.z + coef0)^degree``. "scale" is
        ``1 / (n_features * X.var())``, by the weights of the rows.
    degree : int, default=3
        Degree of the polynomial.
    coef0 : float, default=1.0
        Constant in the polynomial, at least 0.

    Attributes
    ----------
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; one versus rest only.
    support_vectors_ : array of shape (n_support, n_features)
        These samples; not there for a precomputed kernel, and for a linear one of support vector
        machines only.
    score_scale_ : array of shape (1,), or (n_classes,)
        Scores are this times ``sum_i dual_coef_i k(x_i, x)``, plus ``intercept_``. Not there for a
        linear kernel.
    exemplars_ : array of shape (n_classes, n_features)
        The training row that is nearest to each prototype in the feature space. Not there for a
        linear or a precomputed kernel.
    exemplar_indices_ : array of shape (n_classes,)
        Their indices; not there for a linear kernel.
    preimages_ : array of shape (n_classes, n_features)
        The points whose images are nearest to the prototypes; there for the rbf kernel only.
    margin_ : array of shape (1,), or (n_classes,)
        Distance of the nearest samples from each hyperplane; where classes are told apart jointly,
        a distance that the samples of each class keep from those to the others.
    n_iter_ : int
        Newton steps; passes through the samples where classes are told apart jointly.

    Raises
    ------
    NotSeparableError
        If no hyperplane separates the classes; its ``rows`` are the samples in the way.

    See Also
    --------
    SoftMarginSVM : For classes that overlap.

    Examples
    --------
    >>> from protolearn import HardMarginSVM
    >>> from protolearn.datasets import make_graf_toy
    >>> X, y = make_graf_toy(random_state=0)
    >>> model = HardMarginSVM().fit(X, y)
    >>> len(model.support_), model.score(X, y)
    (3, 1.0)
    """

    def __init__(
        self,
        *,
        multi_class: str = "ovr",
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
    ):
        self.multi_class = multi_class
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; a Gram matrix of shape (n_samples, n_samples) if the kernel is
            precomputed.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : HardMarginSVM
        """
        return self._fit(X, y)

    def _check_parameters(self) -> None:
        check_choice(self, "multi_class", ("ovr", "crammer_singer", "nearest"))

    def _expand_jointly(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None
    ) -> Expansion | None:
        if self.multi_class != "crammer_singer":
            return None
        machine = hard_crammer_singer(reduce_features(frame.rows), codes, len(self.classes_))
        return Expansion(machine.alpha.T, machine.offsets, details=machine)

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        machine = hard_margin(reduce_features(frame.rows), problem.signs, problem.name)
        return as_expansion(machine, problem.signs)

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        super()._store_details(expansions, forms)
        if forms:
            self.margin_ = 0.5 * np.linalg.norm([form.coef for form in forms], axis=1)
        else:
            self.margin_ = 1.0 / cdist(self.coef_, self.coef_).max(axis=1)


class SoftMarginSVM(SupportVectorMachine):
    """The support vector machine for classes that overlap.

    Parameters
    ----------
    norm : {1, 2}, default=1
        Samples within the margin cost their slack, or its square.
    C : float, default=1.0
        Weight of the costs. ``C -> inf`` is the hard margin. For ``C -> 0`` and classes of equal
        size the prototypes tend to the class means. It is absolute: data that are s times as large
        need ``C / s^2``.
    class_weight : dict, "balanced" or None, default=None
        Factors of C by class.
    multi_class : {"auto", "ovr", "crammer_singer", "nearest"}, default="auto"
        How more than two classes are told apart. "ovr" compares the scores of the machines of each
        class against the rest. "crammer_singer" solves for all classes at once, with a slack for
        each sample, the largest over the other classes; it takes ``norm=1`` only. "nearest" takes
        the nearest of the prototypes that the classes have against the rest (Graf et al., 2009,
        section 9). "auto" is "crammer_singer" for ``norm=1`` and a linear kernel, else "ovr".
    kernel : {"linear", "rbf", "polynomial", "poly", "precomputed"} or callable, default="linear"
        The product of two rows. "linear" gives prototypes among the rows. A function takes two
        arrays of rows and gives the matrix of their products. With "precomputed" ``fit`` takes the
        Gram matrix of the training rows and the other methods the products of the given rows (one
        a line) with all training rows.
    gamma : "scale" or float, default="scale"
        Factor in ``exp(-gamma |x - z|^2)`` and ``(gamma x.z + coef0)^degree``. "scale" is
        ``1 / (n_features * X.var())``, by the weights of the rows.
    degree : int, default=3
        Degree of the polynomial.
    coef0 : float, default=1.0
        Constant in the polynomial, at least 0.
    tol : float, default=1e-6
        Part of the cost that the solution may be above the least where classes are told apart
        jointly. 1e-3 is a good deal faster and hardly less accurate. Machines of two classes are
        exact.

    Attributes
    ----------
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; one versus rest only.
    support_vectors_ : array of shape (n_support, n_features)
        These samples; not there for a precomputed kernel, and for a linear one of support vector
        machines only.
    score_scale_ : array of shape (1,), or (n_classes,)
        Scores are this times ``sum_i dual_coef_i k(x_i, x)``, plus ``intercept_``. Not there for a
        linear kernel.
    exemplars_ : array of shape (n_classes, n_features)
        The training row that is nearest to each prototype in the feature space. Not there for a
        linear or a precomputed kernel.
    exemplar_indices_ : array of shape (n_classes,)
        Their indices; not there for a linear kernel.
    preimages_ : array of shape (n_classes, n_features)
        The points whose images are nearest to the prototypes; there for the rbf kernel only.
    n_iter_ : int
        Newton steps; passes through the samples where classes are told apart jointly.

    See Also
    --------
    regularization_path : All at many values of C.
    HardMarginSVM : For classes that do not overlap.

    Notes
    -----
    ``|w|^2 / 2 + C sum xi`` as in LIBSVM, or ``|w|^2 / 2 + C/2 sum xi^2``, which is a hard margin
    with ``1/C`` added to the diagonal of the Gram matrix. LIBLINEAR's C is half of the latter, and
    LIBLINEAR regularises the offset, which is free here.

    The solution is exact up to rounding, by Newton's method on the smoothed problem, whatever C is.
    LIBSVM, which works with products in single precision, comes as near to it as that allows.

    Sparse rows, and rows of many more features than there are rows, are solved by coordinate
    descent in the dual: the cost is within 1e-10, and for wide rows that are not sparse within
    1e-5, of the least, as a part of it.

    "crammer_singer" minimises ``sum_c |w_c|^2 / 2 + C sum_i xi_i`` with ``w_y.x_i + b_y - w_c.x_i -
    b_c >= 1 - xi_i`` for all classes c other than the own one, by coordinate descent in the dual;
    its cost is within ``tol`` of the least, as a part of it, or within 5e-4 where that takes long.
    A machine of one small class against a large rest may be constant, which is the exact solution
    then; the joint form has no such classes.

    References
    ----------
    Crammer and Singer (2001), *On the algorithmic implementation of multiclass kernel-based vector
    machines*, Journal of Machine Learning Research 2.

    Keerthi, Sundararajan, Chang, Hsieh and Lin (2008), *A sequential dual method for large scale
    multi-class linear SVMs*, KDD.

    Examples
    --------
    >>> from protolearn import SoftMarginSVM
    >>> from protolearn.datasets import make_neurons
    >>> X, y = make_neurons(random_state=0)
    >>> round(SoftMarginSVM(C=0.1).fit(X, y).score(X, y), 2)
    0.92
    """

    def __init__(
        self,
        *,
        norm: int = 1,
        C: float = 1.0,
        class_weight: Any = None,
        multi_class: str = "auto",
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tol: float = 1e-6,
    ):
        self.norm = norm
        self.C = C
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; a Gram matrix of shape (n_samples, n_samples) if the kernel is
            precomputed.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C by sample.

        Returns
        -------
        self : SoftMarginSVM
        """
        return self._fit(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check_norm(self.norm)
        check_positive(self, "C")
        check_positive(self, "tol")
        check_choice(self, "multi_class", ("auto", "ovr", "crammer_singer", "nearest"))
        if self.norm == 2 and self.multi_class == "crammer_singer":
            raise ValueError("norm=2 and multi_class='crammer_singer' exclude each other.")

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        C = slack_weights(self.C, frame, problem.weight)
        machine = soft_margin(self.norm, reduce_features(frame.rows), problem.signs, C)
        return as_expansion(machine, problem.signs)

    def _expand_jointly(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None
    ) -> Expansion | None:
        auto = self.multi_class == "auto" and self.norm == 1 and self._is("linear")
        if not auto and self.multi_class != "crammer_singer":
            return None
        C = slack_weights(self.C, frame, weight)
        rows, tolerance = reduce_features(frame.rows), float(self.tol)
        machine = crammer_singer(rows, codes, C, len(self.classes_), tolerance=tolerance)
        return Expansion(machine.alpha.T, machine.offsets, details=machine)


class SoftPreprocessing(OneVersusRestClassifier):
    """Add ``1/C`` to the diagonal of the Gram matrix that a classifier learns from.

    Every training row gets a component of its own, ``x_i -> (x_i, e_i / sqrt(C))``, so that any
    classes become separable. A classifier of separable classes then learns classes that overlap.
    New rows have zeros there: the components that were added are ignored.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier that depends on its rows by their products alone and has a
        ``decision_function``. One with the parameter ``kernel="precomputed"`` gets the Gram matrix,
        any other rows with these products. None: :class:`HardMarginSVM`, which becomes
        ``SoftMarginSVM(norm=2)``.
    C : float, default=1.0
        Inverse of what is added. ``C -> inf`` changes nothing. For ``C -> 0`` the normal of the
        hyperplane tends to the difference of the class means.
    kernel : {"linear", "rbf", "polynomial", "poly", "precomputed"} or callable, default="linear"
        The product of two rows. A function takes two arrays of rows and gives the matrix of their
        products. With "precomputed" ``fit`` takes the Gram matrix of the training rows and the
        other methods the products of the given rows (one a line) with all training rows.
    gamma : "scale" or float, default="scale"
        Factor in ``exp(-gamma |x - z|^2)`` and ``(gamma x.z + coef0)^degree``. "scale" is
        ``1 / (n_features * X.var())``.
    degree : int, default=3
        Degree of the polynomial.
    coef0 : float, default=1.0
        Constant in the polynomial, at least 0.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    estimator_ : classifier
        The fitted classifier.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        Normals of the hyperplanes, without the components that were added. Only if the kernel is
        linear, and the classifier has rows and such normals.
    intercept_ : array of shape (1,), or (n_classes,)
        Offsets of the hyperplanes. Only there too.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.

    See Also
    --------
    SoftMarginSVM : The same for the support vector machine, without a Gram matrix.

    Notes
    -----
    Equations (25) and (26) of Graf et al. For a linear kernel the rows are ``(x_i, e_i/sqrt(C))``
    themselves; for others those of the Cholesky factor L of ``K + I/C``, and a new row with the
    products k is ``L^-1 k``. Memory grows with the square of the number of rows.

    References
    ----------
    Graf, Bousquet, Rätsch and Schölkopf (2009), *Prototype classification: insights from machine
    learning*, section 6.1.

    Examples
    --------
    >>> from protolearn import HardMarginSVM, SoftPreprocessing
    >>> from protolearn.datasets import make_neurons
    >>> X, y = make_neurons(random_state=0)
    >>> model = SoftPreprocessing(HardMarginSVM(), C=0.1).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.92
    """

    estimator_: Any
    coef_: Floats
    intercept_: Floats

    def __init__(
        self,
        estimator: Any = None,
        *,
        C: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
    ):
        self.estimator = estimator
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier to the rows with components of their own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; a Gram matrix of shape (n_samples, n_samples) if the kernel is precomputed.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : SoftPreprocessing
        """
        with all_or_nothing(self):
            check_positive(self, "C")
            check_kernel(self)
            estimator, rounding = self._classifier(), gram_rounding(X)
            rows, codes, _ = self._check_data(X, y, None)
            self._kernel: FeatureKernel | None = kernel_of(self, rows, None)
            if self._kernel is None:
                check_gram(rows, rounding)
            self._rows = rows
            self._factor: Floats | None = None
            self.estimator_ = estimator.fit(self._with_own_components(rows), self.classes_[codes])
            self._trim(rows.shape[1])
        return self

    def _classifier(self) -> Any:
        estimator = HardMarginSVM() if self.estimator is None else clone(self.estimator)
        if not is_classifier(estimator) or not hasattr(estimator, "decision_function"):
            raise ValueError(
                f"estimator={self.estimator!r} of SoftPreprocessing must be a classifier with a "
                "decision_function, such as HardMarginSVM()."
            )
        return estimator

    @property
    def _gives_gram(self) -> bool:
        """Whether the classifier takes products, not rows."""
        kernel = getattr(self.estimator, "kernel", None)
        return isinstance(kernel, str) and kernel == "precomputed"

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _with_own_components(self, rows: Floats) -> Floats:
        """Return what the classifier learns from: equation (25), or (26)."""
        if self._is_linear and not self._gives_gram:
            return np.hstack([rows, np.eye(len(rows)) / np.sqrt(self.C)])
        products = self._products(rows)
        products[np.diag_indices(len(rows))] += 1.0 / self.C
        if self._gives_gram:
            return products
        try:
            factor = cholesky(products, lower=True)
        except LinAlgError as error:
            raise ValueError(
                f"The Gram matrix with 1/C = {1.0 / self.C:g} on its diagonal is not positive: "
                "lower C, or take a kernel that is positive semidefinite."
            ) from error
        self._factor = factor
        return np.asarray(factor)

    def _products(self, X: Floats) -> Floats:
        """Return the products of rows with all training rows."""
        return X.copy() if self._kernel is None else self._kernel.between(X, self._rows)

    def _trim(self, n_features: int) -> None:
        """Store the hyperplanes of the features alone, if there are such."""
        for name in TRIMMED:
            self.__dict__.pop(name, None)  # of an earlier fit
        if self._is_linear and not self._gives_gram and hasattr(self.estimator_, "coef_"):
            self.coef_ = np.ascontiguousarray(self.estimator_.coef_[:, :n_features])
            self.intercept_ = np.array(self.estimator_.intercept_, ndmin=1)

    def _scores(self, X: Floats) -> Floats:
        """Return the scores of rows that have nothing in the components of training rows."""
        if self._is_linear and not self._gives_gram:
            given = np.hstack([X, np.zeros((len(X), len(self._rows)))])
        else:
            given = self._products(X)
        if self._factor is not None:
            given = solve_triangular(self._factor, given.T, lower=True).T
        scores = np.asarray(self.estimator_.decision_function(given))
        return scores[:, None] if scores.ndim == 1 else scores

    def __sklearn_tags__(self) -> Any:
        """Return whether X is a matrix of products, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def check_norm(norm: Any) -> None:
    """Raise if the norm of the slacks is neither 1 nor 2."""
    if not isinstance(norm, numbers.Integral) or isinstance(norm, bool) or norm not in (1, 2):
        raise ValueError(f"norm={norm!r} must be 1 (slacks) or 2 (squared slacks).")


def slack_weights(C: float, frame: CenteredFrame, weight: Floats | None) -> Floats:
    """Return the C of each sample for rows of unit size, within what doubles can represent."""
    weight = np.ones(len(frame.rows)) if weight is None else weight
    return np.clip(C * frame.scale**2 * weight, 1e-280, 1e280)


def as_expansion(machine: Machine, signs: Floats) -> Expansion:
    """Return the hyperplane of a machine by its samples."""
    return Expansion(machine.alpha * signs, machine.offset, details=machine)
