"""Linear classifiers in closed form: the means of the classes, and Fisher's discriminant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse.linalg import lsmr

from .._arrays import Floats, Indices
from .._validation import check_choice, check_number
from ..one_versus_rest import BinaryProblem
from .canonical import CenteredFrame, Expansion
from .centered_rows import CenteredRows, weighted_rows
from .kernel_prototypes import KernelPrototypeClassifier

ROUNDING = 1e-14
"""Relative error of sums that may be rounding."""

NULL = 1e-20
"""Part of the scatter along a direction within the classes that is rounding."""

NULL_BY_PRODUCTS = 1e-10
"""The same where samples are known by their products."""

EXACT = 1e-15
"""Relative error of systems that are solved by products."""

NOTHING_BETWEEN = 1e-10
"""Part of the scatter between the classes that is rounding."""

TINY_RIDGE = 1e-10
"""What takes its place: other directions count only where these do not decide."""

LARGEST = 1e60
"""A ridge beyond the fourth power of this, in units of the scatter, makes no difference."""


class MeanOfClass(KernelPrototypeClassifier):
    """The classical prototype classifier: the nearest class mean.

    All other linear classifiers here are variations of it: the hyperplane between two classes
    halves the way between their prototypes (``shift_`` is zero).

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

    Attributes
    ----------
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

    Examples
    --------
    >>> from protolearn import MeanOfClass
    >>> model = MeanOfClass().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> model.prototypes_.ravel()
    array([0.5, 4.5])
    >>> model.predict([[2.0], [3.0]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Average the classes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; a Gram matrix of shape (n_samples, n_samples) if the kernel is
            precomputed.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the means.

        Returns
        -------
        self : MeanOfClass
        """
        return self._fit(X, y, sample_weight)

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        return class_means(frame, problem.signs)

    def _expand_jointly(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None
    ) -> Expansion:
        """Return minus half of the squared distances to the means, but for what all share."""
        gamma = np.where(codes == np.arange(len(self.classes_))[:, None], frame.share, 0.0)
        gamma = frame.scale**2 * gamma / gamma.sum(axis=1, keepdims=True)
        means = gamma @ frame.rows / frame.scale
        return Expansion(
            gamma - frame.scale**2 * frame.share, -0.5 * np.einsum("ij,ij->i", means, means)
        )


class FisherPrototypes(KernelPrototypeClassifier):
    """Fisher's linear discriminant, seen as prototypes and shifts.

    The direction along which the means of two classes are far apart compared with the scatter
    within the classes; the hyperplane halves the way between the means along it. For more than two
    classes it is linear discriminant analysis: the nearest class mean, measured by the inverse of
    the covariance within the classes.

    Parameters
    ----------
    ridge : float, default=0.0
        What is added to the diagonal of the dual within-class scatter, in units of the fourth
        power of the features times the square of the number of samples. 0.0 is the limit of a
        vanishing ridge: linear discriminant analysis, also with fewer samples than features. A
        large one tends to the direction ``X^T X (mean+ - mean-)`` of the centred samples.
    priors : "auto", "empirical", None or array-like of shape (n_classes,), default="auto"
        Probabilities of the classes before a row is seen: their shares of the training data, the
        same for all (None), or given. "auto" are the shares for more than two classes, and equal
        ones for two.
    multi_class : {"joint", "nearest"}, default="joint"
        How more than two classes are told apart: by one solution for all, or by the nearest of the
        prototypes that each class has against the rest (Graf et al., 2009, section 9), which leaves
        the priors out.
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

    Notes
    -----
    ``gamma = (N + ridge I)^-1 (m+ - m-)``, N the dual within-class scatter and m+, m- the mean
    products of all samples with each class (Graf et al., 2009, section 4.2), through a thin
    singular value decomposition ``X = U s V^T`` of the centred samples: ``O(n d min(n, d))``. The
    total scatter of the rows of U is the identity, so that N differs from ``U s^4 U^T`` by the
    scatter between the classes alone, a matrix of rank one; hence gamma is proportional to
    ``U s^2 (s^4 + ridge)^-1 delta``, delta the difference of the class means of the rows of U.

    For more than two classes, S the scatter within the classes with the same ridge over the number
    of samples, the score of class c is ``m_c.S^-1 x - m_c.S^-1 m_c / 2 + log prior_c``, but for
    what all classes share. The softmax of the scores are the probabilities of linear discriminant
    analysis. If S is singular, and ridge is zero, the directions without scatter decide first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from protolearn import FisherPrototypes
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(FisherPrototypes().fit(X, y).score(X, y), 2)
    0.97
    """

    def __init__(
        self,
        *,
        ridge: float = 0.0,
        priors: Any = "auto",
        multi_class: str = "joint",
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
    ):
        self.ridge = ridge
        self.priors = priors
        self.multi_class = multi_class
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the discriminant.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; a Gram matrix of shape (n_samples, n_samples) if the kernel is
            precomputed.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the means and scatters; a weight of two is the same as the sample twice.

        Returns
        -------
        self : FisherPrototypes
        """
        return self._fit(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check_number(self, "ridge", low=0.0)
        check_choice(self, "multi_class", ("joint", "nearest"))
        if isinstance(self.priors, str):
            check_choice(self, "priors", ("auto", "empirical"))

    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        """Return the hyperplane, solved for in coordinates of the span of the samples."""
        signs, sparse = problem.signs, isinstance(frame.rows, CenteredRows)
        given = len(self.classes_) == 2 and not is_auto(self.priors) and self.priors is not None
        if given or sparse:
            priors = self.priors if given else None
            codes = (signs > 0.0).astype(np.intp)
            whole = self._discriminant(frame, codes, problem.weight, priors)
            return Expansion(np.diff(whole.gamma, axis=0)[0], float(np.diff(whole.intercept)[0]))
        root = weight_roots(problem.weight, len(signs))
        check_shares([float(root[side] @ root[side]) for side in (signs > 0, signs < 0)])
        U, s = singular_vectors(root[:, None] * frame.rows)
        means = [root[side] @ U[side] / np.sum(root[side] ** 2) for side in (signs > 0, signs < 0)]
        delta = means[0] - means[1]
        level = root @ np.abs(U) / np.sum(root**2)
        delta[np.abs(delta) <= ROUNDING * level * s.max(initial=0.0) / s] = 0.0
        ridge = float(self.ridge) ** 0.25 / frame.scale  # its fourth power is the ridge here
        unit = max(1.0, ridge)  # of no account for the result, but the powers stay in range
        solved = s**2 * delta / ((s / unit) ** 4 + (ridge / unit) ** 4)
        return Expansion(root * (U @ solved), -0.5 * float((means[0] + means[1]) @ (s**2 * solved)))

    def _expand_jointly(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None
    ) -> Expansion | None:
        if self.multi_class == "nearest":
            return None
        return self._discriminant(frame, codes, weight, self.priors)

    def _discriminant(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None, priors: Any
    ) -> Expansion:
        """Return the scores of linear discriminant analysis.

        The class means M of the rows of U, of the weights D, make up all scatter between the
        classes; with the ridge, ``A = 1 + ridge s^-4``, the matrix ``A - M^T D M`` is to be
        inverted. ``P sigma Q^T`` is the singular value decomposition of ``D^1/2 M A^-1/2``.
        """
        root = weight_roots(weight, len(codes))
        total = np.bincount(codes, root**2).astype(np.float64)
        check_shares(total.tolist())
        if isinstance(frame.rows, CenteredRows):
            ridge = min(float(self.ridge) ** 0.25 / frame.scale, LARGEST) ** 4
            return discriminant_by_products(frame.rows, codes, root, ridge, priors)
        U, s = singular_vectors(root[:, None] * frame.rows)
        own = codes == np.arange(len(total))[:, None]
        means = (own * root) @ U / total[:, None]
        level = root @ np.abs(U) / total.sum()
        means[np.abs(means) <= ROUNDING * level * s.max(initial=0.0) / s] = 0.0
        ridge = np.minimum(float(self.ridge) ** 0.25 / frame.scale / s, LARGEST) ** 4
        half = np.sqrt(1.0 + ridge)
        P, sigma, Q = np.linalg.svd(np.sqrt(total)[:, None] * means / half, full_matrices=False)
        kept = sigma > NULL * sigma.max(initial=0.0)  # fewer than there are classes
        P, sigma, Q = P[:, kept], sigma[kept], Q[kept]
        within = (U - root[:, None] * means[codes]) / half @ Q.T
        parts = np.vstack([within, (np.sqrt(ridge) / half * Q).T])  # of I - sigma^2
        solved = invert_scatter(parts, Q / s**4 @ Q.T, NULL) @ Q / half
        normals = total.sum() * (P / np.sqrt(total)[:, None] * sigma) @ solved
        offset = log_priors(priors, total) - 0.5 * np.einsum("ij,ij->i", normals, means)
        return Expansion(root * (normals / s**2 @ U.T), offset)


def discriminant_by_products(
    rows: CenteredRows, codes: Indices, root: Floats, ridge: float, priors: Any
) -> Expansion:
    """Return the scores of linear discriminant analysis of rows that are not written down.

    With ``Z = U s V^T``, the samples times the roots of their weights, and the columns of E, which
    average them, ``U s^2 (s^4 + ridge)^-1 U^T E`` and its product with ``Z Z^T`` take the place of
    all that :meth:`FisherPrototypes._discriminant` makes of U and s.
    """
    total = np.bincount(codes, root**2).astype(np.float64)
    average = np.where(codes[:, None] == np.arange(len(total)), root[:, None], 0.0) / total
    average -= np.outer(root, root @ average) / (root @ root)  # of which centred rows know nothing
    solved = np.column_stack([solve_twice(rows, root, column, ridge) for column in average.T])
    fitted = root[:, None] * (rows @ ((root * solved.T) @ rows).T)
    between = average.T @ fitted  # products of the class means
    half = np.sqrt(total)
    values, P = np.linalg.eigh(half[:, None] * (0.5 * (between + between.T)) * half)
    kept = values > NOTHING_BETWEEN * values.max(initial=0.0)
    sigma, P = np.sqrt(values[kept]), P[:, kept]
    axes = half[:, None] * P / sigma
    along = fitted @ axes
    within = along - root[:, None] * (between @ axes)[codes]
    rest, vectors = np.linalg.eigh(np.eye(len(sigma)) - along.T @ along)  # zero without a ridge
    if ridge > 0.0:
        within = np.vstack([within, np.sqrt(np.maximum(rest, 0.0))[:, None] * vectors.T])
    slope = solved @ axes
    inverse = invert_scatter(within, slope.T @ slope, NULL_BY_PRODUCTS)
    mixed = total.sum() * (P / half[:, None] * sigma) @ inverse @ axes.T
    offset = log_priors(priors, total) - 0.5 * np.einsum("ij,ji->i", mixed, between)
    return Expansion(root * (mixed @ solved.T), offset)


def solve_twice(rows: CenteredRows, root: Floats, column: Floats, ridge: float) -> Floats:
    """Return ``U s^2 (s^4 + ridge)^-1 U^T`` times a column, by products with the rows alone."""
    Z = weighted_rows(rows, root)
    steps = {"atol": EXACT, "btol": EXACT, "conlim": 0.0, "maxiter": 10 * min(rows.shape) + 100}
    if ridge > 0.0:
        return np.asarray(lsmr(Z @ Z.H, column, damp=np.sqrt(ridge), **steps)[0])
    return np.asarray(lsmr(Z.H, lsmr(Z, column, **steps)[0], **steps)[0])


def is_auto(priors: Any) -> bool:
    """Whether priors are those that suit the number of classes."""
    return isinstance(priors, str) and priors == "auto"


def log_priors(priors: Any, total: Floats) -> Floats:
    """Return the logarithms of the priors of classes with some total weights; raise if wrong."""
    if priors is None:
        return np.zeros(len(total))
    if isinstance(priors, str):
        return np.log(total / total.sum())
    found = np.asarray(priors, dtype=np.float64)
    if found.shape != total.shape or not (np.isfinite(found) & (found > 0.0)).all():
        raise ValueError(f"priors={priors!r} must be {len(total)} numbers greater than 0.")
    return np.log(found / found.sum())


def weight_roots(weight: Floats | None, n: int) -> Floats:
    """Return the square roots of the weights of n samples."""
    return np.ones(n) if weight is None else np.sqrt(weight)


def check_shares(total: list[float]) -> None:
    """Raise if the weight of a class is rounding beside that of another."""
    if min(total) < ROUNDING * max(total):
        raise ValueError("Change sample_weight: FisherPrototypes loses a class in rounding.")


def invert_scatter(parts: Floats, slope: Floats, null_below: float) -> Floats:
    """Return the inverse of ``parts^T parts``.

    Directions without any scatter have as much as a tiny ridge gives them; ``slope`` is what grows
    with the ridge.
    """
    _, size, vectors = np.linalg.svd(parts, full_matrices=False)
    some = size**2 > null_below
    inverse = vectors[some].T / size[some] ** 2 @ vectors[some]
    null = vectors[~some]
    if len(null):
        inside = null @ slope @ null.T
        inverse += null.T @ np.linalg.inv(TINY_RIDGE / np.trace(inside) * inside) @ null
    return np.asarray(inverse)


def class_means(frame: CenteredFrame, signs: Floats) -> Expansion:
    """Return the hyperplane that halves the way between the means of the classes."""
    positive = np.where(signs > 0.0, frame.share, 0.0)
    negative = frame.share - positive
    gamma = positive / positive.sum() - negative / negative.sum()
    normal = gamma @ frame.rows
    return Expansion(gamma, middle_offset(gamma, frame.rows @ normal))


def middle_offset(gamma: Floats, products: Floats) -> float:
    """Return the offset that halves the way between the prototypes, from ``w.x_i``."""
    return -float(np.abs(gamma) @ products) / float(np.abs(gamma).sum())


def singular_vectors(rows: Floats) -> tuple[Floats, Floats]:
    """Return the left singular vectors and values, without those that are rounding."""
    U, s, _ = np.linalg.svd(rows, full_matrices=False)
    kept = s > max(rows.shape) * np.finfo(float).eps * s.max(initial=0.0)
    return U[:, kept], s[kept]
