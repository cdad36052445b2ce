"""The relevance vector machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Floats, Indices
from .._dask import row_by_row
from .._threads import one_blas_thread
from .._validation import all_or_nothing, check_integer, check_positive, check_verbose
from ..kernels import (
    FeatureKernel,
    check_gram,
    check_kernel,
    gram_rounding,
    kernel_of,
    support_products,
)
from ..one_versus_rest import BinaryProblem
from .canonical import Canonical, CenteredFrame, Expansion, LinearPrototypeClassifier
from .logistic_model import Basis, CenteredGram, class_probabilities, gram_matrix, linear_basis
from .marginal_likelihood import SparseModel, maximize

NOT_ALWAYS = (
    *("coef_", "prototypes_", "rest_prototypes_", "shift_"),
    *("relevance_vectors_", "gamma_", "kernel_"),
)
"""Attributes that not every kernel has."""


class RVM(LinearPrototypeClassifier):
    """The relevance vector machine: a sparse Bayesian logistic classifier.

    The log-odds are ``sum_i w_i k(x_i, x) + b``. Every weight has a Gaussian prior of its own
    precision, and the precisions that make the labels most probable are infinite for most samples:
    few samples, the relevance vectors, are left. They are typical for their class rather than near
    the border, and usually far fewer than the support vectors of an SVM.

    More than two classes are told apart one versus rest.

    Parameters
    ----------
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
    max_iter : int, default=1000
        Most rounds. A round computes Laplace's approximation, re-estimates or deletes the
        functions in the model, and may add one; some tens are usual.
    tol : float, default=1e-6
        The end: no change of one function gains more in the log marginal likelihood.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the classes.
    verbose : int, default=0
        Whether each round prints a line.

    Attributes
    ----------
    rest_prototypes_ : array of shape (n_classes, n_features)
        The prototypes of all other samples; one versus rest only.
    alpha_ : array of shape (1, n_support), or (n_classes, n_support) for more than two classes
        Precisions of the priors of the weights, in log-odds; infinite where a relevance vector
        is not one of that class. With a linear kernel they belong to centred samples of unit
        mean square length.
    log_evidence_ : array of shape (n_rounds,), or a list of one for each of more than two classes
        Logarithm of the marginal likelihood in each round. It may fall a little: see the notes.
    gain_ : array of shape (1,), or (n_classes,) for more than two classes
        What the best change of one function would still gain in the log marginal likelihood.
    n_iter_ : int
        Rounds; of several classes the most.
    relevance_vectors_ : array of shape (n_support, n_features)
        The relevance vectors. Not there for a linear or a precomputed kernel.
    unit_ : float
        For two classes, ``decision_function`` over this is the log-odds.

    Notes
    -----
    Probabilities are logistic functions of the log-odds at the most probable weights. For two
    classes and a linear kernel ``decision_function`` is in canonical scale, a positive multiple of
    the log-odds. Canonical scores of several classes cannot be compared as probabilities are, so
    with more than two classes the rows of ``coef_`` and ``intercept_`` are in units of log-odds;
    ``prototypes_``, ``rest_prototypes_``, ``shift_`` and ``dual_coef_`` stay canonical.

    Kernels other than "linear" have no prototypes among the rows: ``coef_``, ``prototypes_`` and
    ``shift_`` are not there, ``dual_coef_`` holds the weights, zero off the support, and
    ``decision_function`` the log-odds.

    Functions are added, re-estimated and deleted one at a time, each change being the one that
    gains most with the curvature of the likelihood held fixed (Tipping and Faul, 2003). Where the
    curvature changes much with the weights, precisions would swing for ever; those that turn back
    move in shorter steps. The result is where every precision is best for the curvature at the
    most probable weights, which is nearly, not exactly, a maximum of Laplace's approximation.
    The bias always stays. Its prior is broad, with a standard deviation of ten for the mean
    log-odds of the samples. With fewer features than samples a linear kernel takes ``O(n d^2)``
    time a round and never a matrix of n x n; all others need the Gram matrix.

    References
    ----------
    Tipping (2001), *Sparse Bayesian learning and the relevance vector machine*, Journal of Machine
    Learning Research 1.

    Tipping and Faul (2003), *Fast marginal likelihood maximisation for sparse Bayesian models*,
    AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from protolearn import RVM
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RVM(kernel="rbf").fit(X, y)
    >>> round(model.score(X, y), 2), len(model.support_)
    (0.98, 5)
    """

    alpha_: Floats
    log_evidence_: Any
    gain_: Floats
    n_iter_: int
    relevance_vectors_: Floats
    gamma_: float
    kernel_: FeatureKernel | None
    unit_: float

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
        class_weight: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the relevance vectors and their weights.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; a Gram matrix of shape (n_samples, n_samples) if the kernel is
            precomputed.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the log-likelihoods; a weight of two gives the same probabilities as the
            sample twice.

        Returns
        -------
        self : RVM
        """
        with all_or_nothing(self):
            if self._is("linear"):
                self._fit(X, y, sample_weight)
            else:
                self._fit_kernel(X, y, sample_weight)
            warn_of_problems(self)
        return self

    @row_by_row
    def decision_function(self, X: Any) -> Floats:
        """Return the score of each class; for two classes that of the second.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; their products with all training rows if the kernel is precomputed. A Dask
            array or frame is answered lazily, by a Dask array.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            The log-odds; for two classes and a linear kernel a positive multiple of them,
            ``coef_.x + intercept_``.
        """
        return super().decision_function(X)

    @row_by_row
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; their products with all training rows if the kernel is precomputed. A Dask
            array or frame is answered lazily, by a Dask array.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Logistic functions of the log-odds; for more than two classes divided by their sum.
        """
        scores = self.decision_function(X)
        return class_probabilities(scores if scores.ndim == 2 else scores / self.unit_)

    def _check_parameters(self) -> None:
        check_kernel(self)
        check_integer(self, "max_iter", low=1)
        check_verbose(self)
        check_positive(self, "tol")

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Floats, Indices, Floats | None]:
        """Return the checked data, and forget an earlier fit, maybe with another kernel."""
        given = super()._check_data(X, y, sample_weight)
        for name in NOT_ALWAYS:
            self.__dict__.pop(name, None)
        return given

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        """Return the hyperplane of the relevance vectors in a frame."""
        model = self._maximize(linear_basis(frame.rows), problem)
        gamma = np.zeros(len(problem.signs))
        gamma[model.chosen] = model.weights
        return Expansion(gamma, model.bias, np.sort(model.chosen), model)

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        """Store what canonical form has no place for."""
        self.unit_ = forms[0].factor
        if len(forms) > 1:
            self._rescale([form.factor for form in forms])
        self._store_models([expansion.details for expansion in expansions])

    def _store_models(self, models: list[SparseModel]) -> None:
        """Store precisions and evidence."""
        support = relevant_samples(models)
        self.alpha_ = np.full((len(models), len(support)), np.inf)
        for row, model in zip(self.alpha_, models, strict=True):
            row[np.searchsorted(support, model.chosen)] = model.precision
        self.gain_ = np.array([model.gain for model in models])
        curves = [model.log_evidence for model in models]
        self.log_evidence_ = curves[0] if len(curves) == 1 else curves
        self.n_iter_ = max(len(curve) for curve in curves)

    def _maximize(self, basis: Basis, problem: BinaryProblem) -> SparseModel:
        """Return the sparse model of one problem of two classes."""
        signs, weight, _ = problem
        weight = np.ones(len(signs)) if weight is None else weight
        tol, max_iter, report = float(self.tol), int(self.max_iter), bool(self.verbose)
        with one_blas_thread():
            return maximize(basis, signs, weight, tol=tol, max_iter=max_iter, report=report)

    def _fit_kernel(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Find the weights for a kernel other than the linear one."""
        self._check_parameters()
        rounding = gram_rounding(X)
        X, codes, weight = self._check_data(X, y, sample_weight)
        X = X.toarray() if issparse(X) else X
        if self._is("precomputed"):
            check_gram(X, rounding)
        rows = np.arange(len(X)) if weight is None else np.flatnonzero(weight > 0.0)
        weight = None if weight is None else weight[rows]
        self.kernel_ = kernel_of(self, X[rows], weight)
        if self.kernel_ is not None and "gamma" in self.kernel_.settings:
            self.gamma_ = self.kernel_.settings["gamma"]
        basis = CenteredGram(gram_matrix(self.kernel_, X, rows), weight)
        models = [self._maximize(basis, each) for each in self._problems(codes[rows], weight)]
        self.dual_coef_ = np.zeros((len(models), len(X)))
        for row, model in zip(self.dual_coef_, models, strict=True):
            row[rows[model.chosen]] = model.weights / basis.unit
        means = [model.weights @ basis.means[model.chosen] for model in models]
        self.intercept_ = np.array([model.bias for model in models]) - means
        self.support_, self.unit_ = rows[relevant_samples(models)], 1.0
        self._store_models(models)
        with np.errstate(over="ignore"):
            self.alpha_ = self.alpha_ * basis.unit * basis.unit
        if self.kernel_ is not None:
            self.relevance_vectors_ = X[self.support_]

    def _scores(self, X: Floats) -> Floats:
        if hasattr(self, "coef_"):
            return super()._scores(X)
        vectors = getattr(self, "relevance_vectors_", None)
        dual = self.dual_coef_[:, self.support_]
        return support_products(self.kernel_, X, self.support_, vectors, dual) + self.intercept_


def relevant_samples(models: list[SparseModel]) -> Indices:
    """Return the samples that are in any of the models, in order."""
    return np.unique(np.concatenate([model.chosen for model in models]))


def warn_of_problems(model: Any) -> None:
    """Warn the caller of ``fit`` of problems that are not solved or have no solution."""
    several = len(model.gain_) > 1
    for k, gain in enumerate(model.gain_):
        which = f" for class {model.classes_.tolist()[k]!r} against the rest" if several else ""
        if gain > model.tol:
            warnings.warn(
                f"RVM has not converged{which} in max_iter={model.max_iter} rounds: one more "
                f"change would gain {gain:.1e} in the log marginal likelihood, more than "
                f"tol={model.tol}. Increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not np.isfinite(model.alpha_[k]).any():
            warnings.warn(
                f"RVM finds no sample relevant{which}: the labels are as probable without "
                "any, and all rows get the same probability. Take another kernel or gamma, or "
                "more samples.",
                UserWarning,
                stacklevel=3,
            )
