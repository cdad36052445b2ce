"""Support vector machines: the prototypes are averages of the samples that are hardest to tell."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .._arrays import Floats, Indices
from .._validation import check_choice, check_positive
from ..one_versus_rest import BinaryProblem
from .canonical import Canonical, CenteredFrame, Expansion
from .crammer_singer import crammer_singer
from .kernel_prototypes import KernelPrototypeClassifier
from .svm_solver import Machine, hard_margin, reduce_features, soft_margin


class SupportVectorMachine(KernelPrototypeClassifier):
    """A linear classifier whose scores are 1 and -1 on the margin."""

    support_vectors_: Floats
    n_iter_: int

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        self.n_iter_ = max(expansion.details.n_iter for expansion in expansions)
        self._rescale([form.factor for form in forms])

    def _store_samples(self, rows: Floats, chosen: Indices) -> None:
        self.support_vectors_ = rows[chosen]


class HardMarginSVM(SupportVectorMachine):
    """The hyperplane with the largest margin between separable classes.

    Its prototypes are the nearest points of the convex hulls of the two classes, and it halves the
    way between them: ``shift_`` is zero.

    Parameters
    ----------
    multi_class : {"ovr", "nearest"}, default="ovr"
        How more than two classes are told apart: each is separated from the rest, and the largest
        score wins ("ovr"), or the nearest of the prototypes that the classes have against the rest
        (Graf et al., 2009, section 9).
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
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    prototypes_ : array of shape (n_classes, n_features)
        The prototype of each class, an average of samples.
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; one versus rest only.
    shift_ : array of shape (1,), or (n_classes,)
        What is added to ``|x - p-|^2 - |x - p+|^2`` in favour of the second class, or of each
        class against its rest. If zero, the hyperplane is midway between the prototypes. Where
        classes are told apart jointly, what is subtracted from ``|x - p_c|^2``.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        Normals of the scores: differences of the prototypes, or multiples of them where scores
        have another scale (1 and -1 on the margin of a support vector machine). Where classes are
        told apart jointly, multiples of the prototypes as seen from an origin that all share.
    intercept_ : array of shape (1,), or (n_classes,)
        Offsets of the scores.
    dual_coef_ : array of shape (1, n_samples), or (n_classes, n_samples)
        Coefficients of the samples in ``p+ - p-``, which sum to zero, and in absolute value to two.
        The positive ones are the weights of samples in one prototype, the negative in the other.
        Where classes are told apart jointly, the weights of the samples in each prototype, which
        sum to one.
    support_ : array of int
        Indices of the samples with a non-zero coefficient before centring.
    support_vectors_ : array of shape (n_support, n_features)
        These samples; not there for a precomputed kernel, and for a linear one of support vector
        machines only.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.
    gamma_ : float
        The factor that was used; not there for kernels without one.
    kernel_ : FeatureKernel or None
        The kernel with its settings; None if it is precomputed. Not there for a linear kernel.
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
        Distance of the nearest samples from each hyperplane.
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
        X : array-like of shape (n_samples, n_features)
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
        check_choice(self, "multi_class", ("ovr", "nearest"))

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        machine = hard_margin(reduce_features(frame.rows), problem.signs, problem.name)
        return as_expansion(machine, problem.signs)

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        super()._store_details(expansions, forms)
        self.margin_ = 0.5 * np.linalg.norm([form.coef for form in forms], axis=1)


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
    multi_class : {"ovr", "crammer_singer", "nearest"}, default="ovr"
        How more than two classes are told apart. "ovr" compares the scores of the machines of each
        class against the rest. "crammer_singer" solves for all classes at once, with a slack for
        each sample, the largest over the other classes; it takes ``norm=1`` only. "nearest" takes
        the nearest of the prototypes that the classes have against the rest (Graf et al., 2009,
        section 9).
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
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    prototypes_ : array of shape (n_classes, n_features)
        The prototype of each class, an average of samples.
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; one versus rest only.
    shift_ : array of shape (1,), or (n_classes,)
        What is added to ``|x - p-|^2 - |x - p+|^2`` in favour of the second class, or of each
        class against its rest. If zero, the hyperplane is midway between the prototypes. Where
        classes are told apart jointly, what is subtracted from ``|x - p_c|^2``.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        Normals of the scores: differences of the prototypes, or multiples of them where scores
        have another scale (1 and -1 on the margin of a support vector machine). Where classes are
        told apart jointly, multiples of the prototypes as seen from an origin that all share.
    intercept_ : array of shape (1,), or (n_classes,)
        Offsets of the scores.
    dual_coef_ : array of shape (1, n_samples), or (n_classes, n_samples)
        Coefficients of the samples in ``p+ - p-``, which sum to zero, and in absolute value to two.
        The positive ones are the weights of samples in one prototype, the negative in the other.
        Where classes are told apart jointly, the weights of the samples in each prototype, which
        sum to one.
    support_ : array of int
        Indices of the samples with a non-zero coefficient before centring.
    support_vectors_ : array of shape (n_support, n_features)
        These samples; not there for a precomputed kernel, and for a linear one of support vector
        machines only.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.
    gamma_ : float
        The factor that was used; not there for kernels without one.
    kernel_ : FeatureKernel or None
        The kernel with its settings; None if it is precomputed. Not there for a linear kernel.
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

    "crammer_singer" minimises ``sum_c |w_c|^2 / 2 + C sum_i xi_i`` with ``w_y.x_i + b_y - w_c.x_i -
    b_c >= 1 - xi_i`` for all classes c other than the own one, by a coordinate method on the dual;
    its cost is within a millionth of the least, or within a ten-thousandth where that takes many
    passes through the samples.

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
        multi_class: str = "ovr",
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
    ):
        self.norm = norm
        self.C = C
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        check_choice(self, "multi_class", ("ovr", "crammer_singer", "nearest"))
        if self.norm == 2 and self.multi_class == "crammer_singer":
            raise ValueError("norm=2 and multi_class='crammer_singer' exclude each other.")

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        C = slack_weights(self.C, frame, problem.weight)
        machine = soft_margin(self.norm, reduce_features(frame.rows), problem.signs, C)
        return as_expansion(machine, problem.signs)

    def _expand_jointly(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None
    ) -> Expansion | None:
        if self.multi_class != "crammer_singer":
            return None
        C = slack_weights(self.C, frame, weight)
        machine = crammer_singer(reduce_features(frame.rows), codes, C, len(self.classes_))
        return Expansion(machine.alpha.T, machine.offsets, details=machine)


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
