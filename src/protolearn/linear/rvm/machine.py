"""The relevance vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._arrays import Floats, Indices, rows_at_a_time
from ..._dask import row_by_row
from ..._threads import one_blas_thread
from ..._validation import check_integer, check_positive, check_verbose
from ...kernels import FeatureKernel, check_gram, check_kernel, gram_rounding, kernel_of
from ...one_versus_rest import Problem
from ..base import LinearPrototypeClassifier
from ..canonical import Canonical, Expansion, Frame
from ..shared import documented
from .basis import Basis, CenteredGram, gram_matrix, linear_basis
from .marginal_likelihood import SparseModel, maximize
from .messages import report, warn_of_problems
from .probabilities import logistic, one_versus_rest


@documented
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
        The product of two rows. "linear" is of the centred samples, and gives two prototypes and
        a shift. A function takes two arrays of rows and gives the matrix of their products. With
        "precomputed" ``fit`` takes the Gram matrix of the training rows and the other methods
        the products of the given rows (one a line) with all training rows.
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
    {attributes}
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
    gamma_ : float
        The factor that was used; not there for kernels without one.
    kernel_ : FeatureKernel or None
        The kernel with its settings; None if it is precomputed. Not there for a linear kernel.
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
        kernel: str | Callable[[Any, Any], Any] = "linear",
        *,
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
        X : array-like of shape (n_samples, n_features)
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
        check_is_fitted(self, "classes_")
        if hasattr(self, "coef_"):
            return super().decision_function(X)
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        size = rows_at_a_time(X.shape[1] + len(self.support_))
        parts = [self._log_odds(X[i : i + size]) for i in range(0, len(X), size)]
        scores = np.concatenate(parts)
        return scores[:, 0] if scores.shape[1] == 1 else scores

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
        return one_versus_rest(scores) if scores.ndim == 2 else logistic(scores / self.unit_)

    def __sklearn_tags__(self) -> Any:
        """Return whether X is a matrix of products, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is("precomputed")
        return tags

    def _is(self, kernel: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == kernel

    def _check_parameters(self) -> None:
        check_kernel(self)
        check_integer(self, "max_iter", low=1)
        check_verbose(self)
        check_positive(self, "tol")

    def _given(self, X: Any, y: Any, sample_weight: Any) -> tuple[Floats, Indices, Floats | None]:
        """Check the data; then forget an earlier fit, maybe with another kernel."""
        given = super()._given(X, y, sample_weight)
        for name in FITTED:
            self.__dict__.pop(name, None)
        return given

    def _expand(self, frame: Frame, problem: Problem) -> Expansion:
        """Find the weights of the samples in a frame."""
        model = self._maximize(linear_basis(frame.rows), problem)
        gamma = np.zeros(len(problem.signs))
        gamma[model.chosen] = model.weights
        return Expansion(gamma, model.bias, np.sort(model.chosen), model)

    def _tell(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        """Store what canonical form has no place for."""
        self.unit_ = forms[0].factor
        if len(forms) > 1:
            factors = np.array([form.factor for form in forms])
            self.coef_ = self.coef_ / factors[:, None]
            self.intercept_ = self.intercept_ / factors
        self._tell_models([expansion.details for expansion in expansions])

    def _tell_models(self, models: list[SparseModel]) -> None:
        """Store precisions and evidence."""
        support = relevant(models)
        self.alpha_ = np.full((len(models), len(support)), np.inf)
        for row, model in zip(self.alpha_, models, strict=True):
            row[np.searchsorted(support, model.chosen)] = model.precision
        self.gain_ = np.array([model.gain for model in models])
        curves = [model.log_evidence for model in models]
        self.log_evidence_ = curves[0] if len(curves) == 1 else curves
        self.n_iter_ = max(len(curve) for curve in curves)

    def _maximize(self, basis: Basis, problem: Problem) -> SparseModel:
        """Choose the functions of one problem of two classes."""
        signs, weight, _ = problem
        weight = np.ones(len(signs)) if weight is None else weight
        with one_blas_thread():
            return maximize(
                basis,
                signs,
                weight,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                report=report if self.verbose else None,
            )

    def _fit_kernel(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Find the weights for a kernel other than the linear one."""
        self._check_parameters()
        rounding = gram_rounding(X)
        X, codes, weight = self._given(X, y, sample_weight)
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
        self.support_, self.unit_ = rows[relevant(models)], 1.0
        self._tell_models(models)
        with np.errstate(over="ignore"):
            self.alpha_ = self.alpha_ * basis.unit * basis.unit
        if self.kernel_ is not None:
            self.relevance_vectors_ = X[self.support_]

    def _log_odds(self, X: Floats) -> Floats:
        """Return the log-odds of some rows by their products with the relevance vectors."""
        dual = self.dual_coef_[:, self.support_]
        if self.kernel_ is None:
            products = X[:, self.support_]
        elif len(self.support_):
            products = self.kernel_.between(X, self.relevance_vectors_)
        else:
            products = np.zeros((len(X), 0))
        return products @ dual.T + self.intercept_


FITTED = (
    "coef_",
    "prototypes_",
    "rest_prototypes_",
    "shift_",
    "relevance_vectors_",
    "gamma_",
    "kernel_",
)
"""What not every kernel has."""


def relevant(models: list[SparseModel]) -> Indices:
    """Return the samples that are in any of the models, in order."""
    return np.unique(np.concatenate([model.chosen for model in models]))
