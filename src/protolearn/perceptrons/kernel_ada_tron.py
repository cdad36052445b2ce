"""The AdaTron in the feature space of a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from .._arrays import Floats
from .._validation import all_or_nothing
from ..kernels import (
    FeatureKernel,
    check_gram,
    check_kernel,
    gram_rounding,
    kernel_of,
    support_products,
)
from .largest_stability import check_ascent, is_endless, weighted_bounds
from .optimum import train
from .perceptron import StabilityMixin, check_watching, keep_history, threshold_kind
from .products import lengths, products_of
from .training_record import Training


class KernelAdaTron(StabilityMixin):
    """The classifier of largest stability in the feature space of a kernel.

    The embedding strengths ``u`` maximise ``sum u - sum_ij u_i u_j y_i y_j K(x_i, x_j) / 2`` with
    ``0 <= u <= C``, by the steps of :class:`AdaTron`. The decision is the sign of
    ``sum_j u_j y_j K(x_j, x) - theta``.

    Parameters
    ----------
    kernel : {"rbf", "polynomial", "poly", "linear", "precomputed"} or callable, default="rbf"
        The product of two rows in the feature space; it has to be positive semi-definite. A
        function takes two arrays of rows and gives the matrix of their products. With
        "precomputed" ``fit`` takes the Gram matrix of the training rows and the other methods
        the products of the given rows (one a line) with all training rows.
    C : float, default=inf
        Largest embedding strength, as in ``sklearn.svm.SVC``. If it is finite errors are allowed.
        None is the same as infinity.
    gamma : float, default="deprecated"
        The former name of ``C``. It will be removed in 1.1.
    kernel_gamma : "scale" or float, default="scale"
        Factor in ``exp(-kernel_gamma |x - z|^2)`` and ``(kernel_gamma x.z + coef0)^degree``.
        "scale" is ``1 / (n_features * X.var())``.
    degree : int, default=3
        Degree of the polynomial.
    coef0 : float, default=1.0
        Constant in the polynomial, at least 0.
    eta : float, default=1.5
        Length of a step, more than 0 and less than 2. At 1 the step ends where it gains most.
    fit_intercept : {"clamped", "free", True, False}, default="free"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none. True is the default.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``C`` by class.
    tol : float, default=1e-6
        Training ends when the conditions of the optimum are violated by no more, in units of
        the potential 1 that supporting examples have; less than 1.
    max_iter : int, default=10000
        Most sweeps; a sweep is as many steps as there are examples.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last weights of the fit before.
    callback : callable, default=None
        Called with a ``TrainingState`` whenever all examples were looked at; a true value ends
        training.
    history : {False, True, "sweep", "step"}, default=False
        Whether to keep the states after each sweep (True: the same), or each step, as
        ``history_``; the callback is called as often.
    verbose : int, default=0
        Whether to print lines while training.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    dual_coef_ : array of shape (1, n_support), or (n_classes, n_support)
        ``u_j y_j`` of the examples that support the decision.
    intercept_ : array of shape (1,), or (n_classes,)
        Minus the thresholds.
    embedding_strengths_, support_ : array of shape (n_units, n_samples), array of int
        The embedding strengths ``u``, and the examples with another one than zero.
    stability_ : float
        The least stability of the examples, negative if there are errors.
    n_updates_, n_iter_ : int
        Changes of the weights, and sweeps; with several classes the sum, and the largest number.
    history_ : list of dict
        For each unit the attributes of ``TrainingState`` as arrays, a line a state, the first
        before training.
    n_features_in_, feature_names_in_ : int, array of shape (n_features,)
        Number of features, and their names if X had names of type str.
    support_vectors_ : array of shape (n_support, n_features)
        The rows that support the decision; not there if the kernel is precomputed.
    kernel_gamma_ : float
        The factor that was used; not there for kernels without one.
    kernel_ : FeatureKernel or None
        The kernel with its settings; None if it is precomputed.
    offset_ : array of shape (1,), or (n_classes,) for more than two classes
        What ``decision_function`` adds to the products of ``kernel_``. It differs from
        ``intercept_`` if the kernel is linear and the threshold free: then products are those of
        rows less the mean of the training rows.

    See Also
    --------
    AdaTron : The same for the rows themselves.

    Notes
    -----
    The Gram matrix is kept if it takes no more than 256 megabytes (about 5,800 examples); products
    that are not kept are computed again when they are needed. With a free threshold the
    solution is that of ``sklearn.svm.SVC`` with the same C. A clamped threshold adds one to the
    kernel.

    References
    ----------
    Friess, Cristianini and Campbell (1998), *The kernel-AdaTron algorithm*, ICML.

    Biehl (lecture notes), section 4.3.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from protolearn import KernelAdaTron
    >>> X, y = make_circles(100, noise=0.05, factor=0.5, random_state=0)
    >>> model = KernelAdaTron(C=10.0).fit(X, y)
    >>> model.score(X, y), len(model.support_) < 50
    (1.0, True)
    """

    dual_coef_: Floats
    intercept_: Floats
    support_vectors_: Floats
    kernel_gamma_: float
    kernel_: FeatureKernel | None
    offset_: Floats

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        C: float | None = np.inf,
        gamma: Any = "deprecated",
        kernel_gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        eta: float = 1.5,
        fit_intercept: Any = "free",
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.coef0 = coef0
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Find the embedding strengths.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples, of which sparse ones are made dense; the products of all with each other
            if the kernel is precomputed.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : KernelAdaTron
        """
        with all_or_nothing(self):
            self._check_parameters()
            bound, earlier = self._largest_strength(), getattr(self, "embedding_strengths_", None)
            rounding = gram_rounding(X)
            X, codes, weight = self._check_data(X, y, None)
            if self._is_precomputed():
                check_gram(X, rounding)
            self.kernel_, center = self._kernel_for(X)
            clamped = float(threshold_kind(self) == "clamped")
            products = products_of(self.kernel_, X, clamped)
            problems = self._problems(codes, None)
            gamma = weighted_bounds(self, bound, weight, len(X))
            starts = np.zeros((len(problems), len(X)))
            if self.warm_start and earlier is not None and earlier.shape == starts.shape:
                starts = earlier
            trainings = [Training.of(self, each.name) for each in problems]
            trained = [
                train(self, products, each.signs, gamma, training, start)
                for each, training, start in zip(problems, trainings, starts, strict=True)
            ]
            signed = np.stack(
                [each.signs * unit.strengths for each, unit in zip(problems, trained, strict=True)]
            )
            self._lengths = lengths(products, signed)
            self.offset_ = clamped * signed.sum(axis=1) - [unit.threshold for unit in trained]
            self.intercept_ = self.offset_ - signed @ (X - center) @ center
            self._embed(trained, len(X), np.arange(len(X)), "best")
            self._keep(X, signed)
            self.stability_ = float(self._stabilities(X, codes).min())
            keep_history(self, trainings)
            if not any(each.stopped for each in trainings):
                self._warn(trained, level=3)
        return self

    def _largest_strength(self) -> float:
        """Return ``C``, or what is given by its former name, with a warning."""
        given, name = self.C, "C"
        if not (isinstance(self.gamma, str) and self.gamma == "deprecated"):
            warnings.warn(
                "gamma of KernelAdaTron is deprecated and will be removed in 1.1; "
                f"use C={self.gamma!r} instead. The width of the kernel is kernel_gamma.",
                FutureWarning,
                stacklevel=3,
            )
            given, name = self.gamma, "gamma"
        check_ascent(self, name)
        return np.inf if is_endless(given) else float(given or 0.0)

    def _kernel_for(self, X: Floats) -> tuple[FeatureKernel | None, Floats]:
        """Return the kernel, and what it subtracts from the rows for a threshold to make up for."""
        kernel = kernel_of(self, X, None, "kernel_gamma")
        if kernel is None or kernel.kind != "linear" or threshold_kind(self) != "free":
            return kernel, np.zeros(X.shape[1])
        center = X.mean(axis=0)
        return replace(kernel, center=center), center

    def _keep(self, X: Floats, signed: Floats) -> None:
        """Keep what decisions need, and forget an earlier fit with another kernel."""
        self.dual_coef_ = signed[:, self.support_]
        for name in ("support_vectors_", "kernel_gamma_"):
            self.__dict__.pop(name, None)
        if self.kernel_ is not None:
            self.support_vectors_ = X[self.support_]
            if "gamma" in self.kernel_.settings:
                self.kernel_gamma_ = self.kernel_.settings["gamma"]

    def _scores(self, X: Floats) -> Floats:
        vectors = getattr(self, "support_vectors_", None)
        products = support_products(self.kernel_, X, self.support_, vectors, self.dual_coef_)
        return products + self.offset_

    def _is_hard(self) -> bool:
        """Whether strengths have no bound."""
        given = self.C if isinstance(self.gamma, str) else self.gamma
        return is_endless(given)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return not self._is_precomputed()

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_parameters(self) -> None:
        check_kernel(self, "kernel_gamma")
        threshold_kind(self)
        check_watching(self)

    def __sklearn_tags__(self) -> Any:
        """Return whether X is a matrix of products, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags
