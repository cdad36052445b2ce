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
from .canonical import (
    Canonical,
    CenteredFrame,
    Expansion,
    JointForm,
    canonical,
    joint,
    middle_of,
    place_among,
)

EXACT = 1e-6
"""Share of a direction that is left unexplained by rounding alone."""

OUTSIDE = 1e-2
"""Share of a direction that may lie outside the span of the samples."""

CONSTANT = 1e-7
"""Spread of a feature, relative to its level, that may be rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class LinearPrototypes:
    """A linear classifier in canonical form: a prototype for each class, and shifts.

    Make one with :func:`generalized_prototypes`, or with the class methods. With K > 2 classes the
    class with the least ``|x - p_c|^2 - S_c`` wins.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The labels.
    gamma : array of shape (n_samples,), or (n_classes, n_samples) for K > 2
        Coefficients of the samples; they sum to zero, and their absolute values to two. For K > 2
        the weights of the samples in each prototype, which sum to one.
    prototypes : array of shape (n_classes, n_features)
        The prototype of each class, in the units of X: averages of samples with the weights
        ``-gamma`` where gamma is negative, and ``gamma`` where it is positive.
    shift : float, or array of shape (n_classes,) for K > 2
        ``S = 2 b + |p+|^2 - |p-|^2``, in favour of the second class; for K > 2 ``S_c`` in favour of
        each class, which sum to zero.
    coef : array of shape (n_inner_features,), or (n_classes, n_inner_features) for K > 2
        Normal of the hyperplane, ``w = p+ - p-``; for K > 2 the prototypes, seen from one origin,
        so that ``w_c - w_k = p_c - p_k``.
    intercept : float, or array of shape (n_classes,) for K > 2
        Offset b of the hyperplane, or of each score.
    inner_prototypes : array of shape (n_classes, n_inner_features)
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
    shift: Any
    coef: Floats
    intercept: Any
    inner_prototypes: Floats
    steps: Any = None

    @classmethod
    def from_expansion(
        cls, X: Any, gamma: Any, intercept: Any = 0.0, classes: Any = None
    ) -> LinearPrototypes:
        """Return the canonical form of ``f(x) = sum_i gamma_i (x_i - c).x + intercept``.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples; c is their mean, which makes no difference if ``sum gamma = 0``.
        gamma : array-like of shape (n_samples,), or (n_classes, n_samples)
            Coefficients of any scale; a row for each of more than two classes.
        intercept : float, or array-like of shape (n_classes,), default=0.0
            Offset of the hyperplane, or of the score of each class.
        classes : sequence of labels, default=None
            The second of two is that of positive f; None: 0, 1 and so on.

        Returns
        -------
        linear : LinearPrototypes
        """
        X, gamma = check_samples(X), one_or_many(gamma)
        if gamma.shape[-1] != X.shape[0]:
            raise ValueError(
                f"gamma has {gamma.shape[-1]} coefficients for {X.shape[0]} rows of X."
            )
        if not np.isfinite(gamma).all() or not np.ptp(gamma, axis=-1).any():
            raise ValueError("gamma must be finite, and not the same number everywhere.")
        intercept, frame = offsets_in(intercept, "intercept", gamma), CenteredFrame.of(X)
        normal = np.asarray(gamma @ frame.rows)
        inner = (intercept / frame.scale + normal @ frame.center) / frame.scale
        expansion = Expansion(gamma, inner)
        if gamma.ndim == 1:
            return cls._of(canonical(expansion, frame), classes)
        return cls._of(joint(expansion, frame), classes)

    @classmethod
    def from_hyperplane(
        cls, X: Any, coef: Any, intercept: Any = 0.0, classes: Any = None
    ) -> LinearPrototypes:
        """Return the canonical form of ``f(x) = coef.x + intercept``.

        Of all expansions of the normal in the centred samples it takes the one with the least sum
        of squares.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The samples.
        coef : array-like of shape (n_features,), or (n_classes, n_features)
            Normal of the hyperplane, of any length, or the normals of the scores of more than two
            classes; they must lie in the span of the centred samples. Up to a hundredth may not:
            that part says the same of all samples, and is added to the offset.
        intercept : float, or array-like of shape (n_classes,), default=0.0
            Offset of the hyperplane, or of the score of each class.
        classes : sequence of labels, default=None
            The second of two is that of positive f; None: 0, 1 and so on.

        Returns
        -------
        linear : LinearPrototypes
        """
        X, coef = check_samples(X), one_or_many(coef)
        if coef.shape[-1] != X.shape[1]:
            raise ValueError(f"coef has {coef.shape[-1]} entries for {X.shape[1]} features of X.")
        if coef.ndim == 2:
            coef = coef - coef.mean(axis=0)  # what all classes share decides nothing
        if not np.isfinite(coef).all() or not coef.any():
            raise ValueError("coef must be finite, and not zero everywhere.")
        intercept = offsets_in(intercept, "intercept", coef)
        found = [least_expansion(X, row) for row in np.atleast_2d(coef)]
        level = np.array([np.asarray(X.mean(axis=0)).ravel() @ left for _, left in found])
        gamma = np.stack([row for row, _ in found])
        if coef.ndim == 1:
            return cls.from_expansion(X, gamma[0], intercept + float(level[0]), classes)
        return cls.from_expansion(X, gamma, intercept + level, classes)

    @classmethod
    def from_prototypes(
        cls, prototypes: Any, shift: Any = 0.0, classes: Any = None
    ) -> LinearPrototypes:
        """Return the form of ``|x - p-|^2 - |x - p+|^2 + shift``; the samples are the prototypes.

        Parameters
        ----------
        prototypes : array-like of shape (n_classes, n_features)
            ``p-`` and ``p+``, or one for each of more than two classes.
        shift : float, or array-like of shape (n_classes,), default=0.0
            In favour of the second class; of more than two, in favour of each.
        classes : sequence of labels, default=None
            Labels of the prototypes; None: 0, 1 and so on.

        Returns
        -------
        linear : LinearPrototypes
        """
        P = check_array(prototypes, dtype=np.float64, input_name="prototypes")
        if len(P) < 2:
            raise ValueError("prototypes has 1 row, expected one for each of two classes or more.")
        shift = offsets_in(shift, "shift", P if len(P) > 2 else P[0])
        if len(P) > 2:
            shift = np.broadcast_to(shift, len(P)) - np.mean(shift)
            offset = 0.5 * (shift - np.einsum("ij,ij->i", P, P))
            return cls._of(JointForm(np.eye(len(P)), P, shift, P, offset, 1.0), classes)
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
    def _of(cls, form: Canonical | JointForm, classes: Any) -> LinearPrototypes:
        n_classes = len(form.prototypes)
        classes = np.arange(n_classes) if classes is None else np.asarray(classes)
        if classes.shape != (n_classes,) or len(np.unique(classes)) < n_classes:
            number = "two" if n_classes == 2 else n_classes
            raise ValueError(f"classes={classes.tolist()!r} must be {number} different labels.")
        unit = form.factor if isinstance(form, JointForm) else 1.0
        return cls(
            classes=classes,
            gamma=form.gamma,
            prototypes=form.prototypes,
            shift=form.shift,
            coef=form.coef / unit,
            intercept=form.intercept / unit,
            inner_prototypes=form.prototypes,
        )

    @property
    def hyperplane(self) -> tuple[Floats, Any]:
        """Normal and offset: ``w.x + b``; for more than two classes those of each score."""
        return self.coef, self.intercept

    @property
    def projected_prototypes(self) -> Floats:
        """Signed distances of the two prototypes from the hyperplane; or their coordinates."""
        return self._place(self.inner_prototypes)

    def decision_function(self, X: Any) -> Floats:
        """Return ``w.x + b``, half of ``|x - p-|^2 - |x - p+|^2 + S``.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : array of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Positive for the second class; of more, the largest wins.
        """
        return np.asarray(self._rows(X) @ self.coef.T + self.intercept)

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
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
        return self.classes[codes]

    def project(self, X: Any) -> Floats:
        """Project rows on the axis through the prototypes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        place : array of shape (n_samples,), or (n_samples, n_axes) for more than two classes
            Place on the axis: the signed distance from the hyperplane, positive on the side of the
            second class. For more than two classes, coordinates in the space through all
            prototypes: the origin is their mean, the axes are their principal axes.
        """
        return self._place(self._rows(X))

    def _rows(self, X: Any) -> Any:
        """Return checked rows in the space of the hyperplane."""
        X = check_samples(X if self.steps is None else self.steps.transform(X))
        if X.shape[1] != self.coef.shape[-1]:
            raise ValueError(f"X has {X.shape[1]} features, expected {self.coef.shape[-1]}.")
        return X

    def _place(self, rows: Any) -> Floats:
        """Return the places of rows along the axes through the prototypes."""
        if self.coef.ndim == 2:
            return place_among(self.inner_prototypes, rows)
        length = float(np.linalg.norm(self.coef))
        if length == 0.0:
            raise ValueError("Both prototypes are the same point: there is no axis through them.")
        return np.asarray(rows @ self.coef + self.intercept) / length

    def __repr__(self) -> str:
        labels, d = self.classes.tolist(), self.prototypes.shape[1]
        if len(labels) > 2:
            return f"<LinearPrototypes: {len(labels)} classes, {d} features>"
        first, second = labels
        return f"<LinearPrototypes: {first!r} and {second!r}, {d} features, shift {self.shift:.3g}>"


def one_or_many(numbers: Any) -> Floats:
    """Return an array of one axis, or of two if it has more rows than one."""
    array = np.asarray(numbers, dtype=np.float64)
    return array if array.ndim == 2 and len(array) > 1 else array.ravel()


def offsets_in(values: Any, name: str, normals: Floats) -> Any:
    """Return the offset of a normal as a number, or those of several; raise if not finite."""
    if normals.ndim == 1 or np.ndim(values) == 0:
        value = np.ravel(values)[0].item() if np.size(values) == 1 else values
        return number_in(value, f"{name}={{value!r}}", -np.inf)
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (len(normals),) or not np.isfinite(found).all():
        raise ValueError(f"{name}={values!r} must be {len(normals)} finite numbers, or one.")
    return found


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
