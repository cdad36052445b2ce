"""The canonical form of a linear classifier as an object of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, lsmr
from sklearn.utils import check_array

from .._arrays import Floats
from .._validation import number_in
from .canonical import Canonical, CenteredFrame, Expansion, canonical, middle_of

EXACT = 1e-6
"""Share of a direction that is left unexplained by rounding alone."""

OUTSIDE = 1e-2
"""Share of a direction that may lie outside the span of the samples."""

CONSTANT = 1e-7
"""Spread of a feature, relative to its level, that may be rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class LinearPrototypes:
    """A linear classifier of two classes in canonical form.

    Make one with :func:`generalized_prototypes`, or with the class methods.

    Attributes
    ----------
    classes : array of shape (2,)
        The labels.
    gamma : array of shape (n_samples,)
        Coefficients of the samples; they sum to zero, and their absolute values to two.
    prototypes : array of shape (2, n_features)
        The prototype of each class, in the units of X: averages of samples with the weights
        ``-gamma`` where gamma is negative, and ``gamma`` where it is positive.
    shift : float
        ``S = 2 b + |p+|^2 - |p-|^2``, in favour of the second class.
    coef : array of shape (n_inner_features,)
        Normal of the hyperplane, ``w = p+ - p-``.
    intercept : float
        Offset b of the hyperplane.
    inner_prototypes : array of shape (2, n_inner_features)
        The prototypes where the hyperplane is: for a pipeline in the space of its last step,
        otherwise the same as ``prototypes``.
    steps : transformer or None
        The pipeline without its last step, through which rows reach that space.

    Examples
    --------
    >>> from protolearn.linear import LinearPrototypes
    >>> line = LinearPrototypes.from_prototypes([[0.0, 0.0], [2.0, 0.0]], shift=-2.0)
    >>> line.hyperplane
    (array([2., 0.]), -3.0)
    >>> line.predict([[1.2, 5.0], [1.6, 5.0]])
    array([0, 1])
    >>> line.project([[1.6, 5.0]]).round(2)
    array([0.1])
    """

    classes: NDArray[Any]
    gamma: Floats
    prototypes: Floats
    shift: float
    coef: Floats
    intercept: float
    inner_prototypes: Floats
    steps: Any = None

    @classmethod
    def from_expansion(
        cls, X: Any, gamma: Any, intercept: float = 0.0, classes: Any = (0, 1)
    ) -> LinearPrototypes:
        """Return the canonical form of ``f(x) = sum_i gamma_i (x_i - c).x + intercept``.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; c is their mean, which makes no difference if ``sum gamma = 0``.
        gamma : array-like of shape (n_samples,)
            Coefficients of any scale.
        intercept : float, default=0.0
            Offset of the hyperplane.
        classes : sequence of two labels, default=(0, 1)
            The second is that of positive f.

        Returns
        -------
        linear : LinearPrototypes
        """
        X, gamma = check_samples(X), np.asarray(gamma, dtype=np.float64).ravel()
        if len(gamma) != X.shape[0]:
            raise ValueError(f"gamma has {len(gamma)} coefficients for {X.shape[0]} rows of X.")
        if not np.isfinite(gamma).all() or not np.ptp(gamma):
            raise ValueError("gamma must be finite, and not the same number everywhere.")
        intercept, frame = number_in(intercept, "intercept={value!r}", -np.inf), CenteredFrame.of(X)
        if issparse(X):
            gamma = gamma - gamma.mean()
        normal = np.asarray(gamma @ frame.rows).ravel()
        inner = (intercept / frame.scale + float(normal @ frame.center)) / frame.scale
        return cls._of(canonical(Expansion(gamma, inner), frame), classes)

    @classmethod
    def from_hyperplane(
        cls, X: Any, coef: Any, intercept: float = 0.0, classes: Any = (0, 1)
    ) -> LinearPrototypes:
        """Return the canonical form of ``f(x) = coef.x + intercept``.

        Of all expansions of the normal in the centred samples it takes the one with the least sum
        of squares.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples.
        coef : array-like of shape (n_features,)
            Normal of the hyperplane, of any length; it must lie in the span of the centred samples.
            Up to a hundredth of it may not: that part says the same of all samples, and is added to
            the offset.
        intercept : float, default=0.0
            Offset of the hyperplane.
        classes : sequence of two labels, default=(0, 1)
            The second is that of positive f.

        Returns
        -------
        linear : LinearPrototypes
        """
        X, coef = check_samples(X), np.asarray(coef, dtype=np.float64).ravel()
        if len(coef) != X.shape[1]:
            raise ValueError(f"coef has {len(coef)} entries for {X.shape[1]} features of X.")
        if not np.isfinite(coef).all() or not coef.any():
            raise ValueError("coef must be finite, and not zero everywhere.")
        intercept = number_in(intercept, "intercept={value!r}", -np.inf)
        gamma, left = least_expansion(X, coef)
        level = float(np.asarray(X.mean(axis=0)).ravel() @ left)
        return cls.from_expansion(X, gamma, intercept + level, classes)

    @classmethod
    def from_prototypes(
        cls, prototypes: Any, shift: float = 0.0, classes: Any = (0, 1)
    ) -> LinearPrototypes:
        """Return the form of ``|x - p-|^2 - |x - p+|^2 + shift``; the samples are the prototypes.

        Parameters
        ----------
        prototypes : array-like of shape (2, n_features)
            ``p-`` and ``p+``.
        shift : float, default=0.0
            In favour of the second class.
        classes : sequence of two labels, default=(0, 1)
            Labels of the prototypes.

        Returns
        -------
        linear : LinearPrototypes
        """
        P = check_array(prototypes, dtype=np.float64, input_name="prototypes")
        if len(P) != 2:
            raise ValueError(f"prototypes has {len(P)} rows, expected one for each of two classes.")
        shift = number_in(shift, "shift={value!r}", -np.inf)
        middle = 0.5 * float((P[0] - P[1]) @ (P[0] + P[1]))
        form = Canonical(
            gamma=np.array([-1.0, 1.0]),
            prototypes=P,
            shift=shift,
            coef=P[1] - P[0],
            intercept=middle + 0.5 * shift,
            factor=1.0,
        )
        return cls._of(form, classes)

    @classmethod
    def _of(cls, form: Canonical, classes: Any) -> LinearPrototypes:
        classes = np.asarray(classes)
        if classes.shape != (2,) or classes[0] == classes[1]:
            raise ValueError(f"classes={classes.tolist()!r} must be two different labels.")
        return cls(
            classes=classes,
            gamma=form.gamma,
            prototypes=form.prototypes,
            shift=form.shift,
            coef=form.coef,
            intercept=form.intercept,
            inner_prototypes=form.prototypes,
        )

    @property
    def hyperplane(self) -> tuple[Floats, float]:
        """Normal and offset: ``w.x + b``."""
        return self.coef, self.intercept

    @property
    def projected_prototypes(self) -> Floats:
        """Signed distances of the two prototypes from the hyperplane."""
        return (self.inner_prototypes @ self.coef + self.intercept) / self._length()

    def decision_function(self, X: Any) -> Floats:
        """Return ``w.x + b``, half of ``|x - p-|^2 - |x - p+|^2 + S``.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : array of shape (n_samples,)
            Positive for the second class.
        """
        X = check_samples(X if self.steps is None else self.steps.transform(X))
        if X.shape[1] != len(self.coef):
            raise ValueError(f"X has {X.shape[1]} features, expected {len(self.coef)}.")
        return X @ self.coef + self.intercept

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes``.
        """
        return self.classes[(self.decision_function(X) > 0.0).astype(np.intp)]

    def project(self, X: Any) -> Floats:
        """Project rows on the axis through the prototypes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        distance : array of shape (n_samples,)
            Place on the axis: the signed distance from the hyperplane, positive on the side of the
            second class.
        """
        return self.decision_function(X) / self._length()

    def _length(self) -> float:
        length = float(np.linalg.norm(self.coef))
        if length == 0.0:
            raise ValueError("Both prototypes are the same point: there is no axis through them.")
        return length

    def __repr__(self) -> str:
        first, second = self.classes.tolist()
        d = self.prototypes.shape[1]
        return f"<LinearPrototypes: {first!r} and {second!r}, {d} features, shift {self.shift:.3g}>"


def check_samples(X: Any) -> Any:
    """Return checked rows, dense or sparse."""
    return check_array(X, dtype=np.float64, accept_sparse="csr", input_name="X")


def least_expansion(X: Any, direction: Floats) -> tuple[Floats, Floats]:
    """Return the least gamma with ``sum_i gamma_i (x_i - c) = direction``, and what is left over.

    Gamma sums to zero. What is left lies outside the span of the centred samples: it is the same
    for all of them, and belongs to the offset. Raises if it is more than a small part.
    """
    center = middle_of(X)
    size = spreads(X, center)  # one equation a feature: their units make no difference
    gamma, left, outside = solve_expansion(X, center, direction, size)
    if outside > EXACT:  # if not all can be solved, those of the data themselves count
        gamma, left, outside = solve_expansion(X, center, direction, np.ones_like(size))
    if outside > OUTSIDE:
        raise ValueError(
            f"{100.0 * min(outside, 1.0):.3g} % of the normal of the hyperplane lies outside the "
            "span of the centred samples, so that no combination of them makes it. Is X what the "
            "model was trained with, and are its features of similar scale? Some models also learn "
            "a direction that the samples do not span, for example with a regularised offset, or "
            "stopped early (try a smaller tol), and fewer samples than features."
        )
    return gamma - gamma.mean(), left


def solve_expansion(
    X: Any, center: Floats, direction: Floats, size: Floats
) -> tuple[Floats, Floats, float]:
    """Return gamma in units of ``size``, what is left of the direction, and its share."""
    wanted = direction / size
    if issparse(X):
        gamma = _by_products(X.multiply(1.0 / size).tocsr(), center / size, wanted)
        left = direction - X.T @ gamma + gamma.sum() * center
    else:
        rows = X - center
        cond = max(X.shape) * np.finfo(float).eps
        gamma = lstsq((rows / size).T, wanted, cond=cond, check_finite=False)[0]
        left = direction - gamma @ rows
    share = np.linalg.norm(left * size) / np.linalg.norm(direction * size)
    return gamma, left, float(share)


def spreads(X: Any, center: Floats) -> Floats:
    """Return the standard deviations of the features, and the levels of those that are constant."""
    if issparse(X):
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel() - center**2
    else:
        square = np.mean((X - center) ** 2, axis=0)
    spread, level = np.sqrt(np.maximum(square, 0.0)), np.abs(center)
    constant = spread <= CONSTANT * level
    return np.where(constant, np.where(level > 0.0, level, 1.0), spread)


def _by_products(X: Any, center: Floats, direction: Floats) -> Floats:
    """Return gamma by products with the sparse samples, which are never centred."""
    operator = LinearOperator(
        X.shape[::-1],
        matvec=lambda gamma: X.T @ gamma.ravel() - gamma.sum() * center,
        rmatvec=lambda v: X @ v.ravel() - center @ v.ravel(),
        dtype=np.float64,
    )
    steps = 10 * min(X.shape) + 100
    gamma: Floats = lsmr(operator, direction, atol=1e-14, btol=1e-14, maxiter=steps)[0]
    return gamma
