"""Support vector machines: the prototypes are averages of the samples that are hardest to tell."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._arrays import Floats
from ..._validation import check_positive
from ...one_versus_rest import Problem
from ...separability import NotSeparableError, samples_in_the_way
from ..base import LinearPrototypeClassifier
from ..canonical import Canonical, Expansion, Frame
from ..shared import documented
from .solver import Machine, soft_margin_1, soft_margin_2

CAPS = (1e4, 1e8, 1e12, np.inf)
"""Limits of the multipliers that are tried for a hard margin, for samples of unit size."""

SLACK_WEIGHTS = (1e-280, 1e280)

UNSOLVED = 1e-6
"""Violation of the margin that is worth a warning."""


@documented
class HardMarginSVM(LinearPrototypeClassifier):
    """The hyperplane with the largest margin between separable classes.

    Its prototypes are the nearest points of the convex hulls of the two classes, and it halves the
    way between them: ``shift_`` is zero.

    Attributes
    ----------
    {attributes}
    margin_ : array of shape (1,), or (n_classes,)
        Distance of the nearest samples from each hyperplane.
    n_iter_ : int
        Newton steps.

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

    def fit(self, X: Any, y: Any) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : HardMarginSVM
        """
        return self._fit(X, y)

    def _expand(self, frame: Frame, problem: Problem) -> Expansion:
        machine = hard_margin(spanned(frame.rows), problem.signs, problem.name)
        return expanded(machine, problem.signs)

    def _tell(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        self.n_iter_ = max(expansion.details.n_iter for expansion in expansions)
        self.margin_ = 0.5 * np.linalg.norm([form.coef for form in forms], axis=1)


@documented
class SoftMarginSVM(LinearPrototypeClassifier):
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

    Attributes
    ----------
    {attributes}
    n_iter_ : int
        Newton steps.

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

    Examples
    --------
    >>> from protolearn import SoftMarginSVM
    >>> from protolearn.datasets import make_neurons
    >>> X, y = make_neurons(random_state=0)
    >>> round(SoftMarginSVM(C=0.1).fit(X, y).score(X, y), 2)
    0.92
    """

    def __init__(self, norm: int = 1, C: float = 1.0, class_weight: Any = None):
        self.norm = norm
        self.C = C
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplane.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
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

    def _expand(self, frame: Frame, problem: Problem) -> Expansion:
        C = slack_weights(self.C, frame, problem.weight)
        machine = soft_margin(self.norm, spanned(frame.rows), problem.signs, C)
        return expanded(machine, problem.signs)

    def _tell(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        self.n_iter_ = max(expansion.details.n_iter for expansion in expansions)


def check_norm(norm: Any) -> None:
    """Raise if the norm of the slacks is neither 1 nor 2."""
    if not isinstance(norm, numbers.Integral) or isinstance(norm, bool) or norm not in (1, 2):
        raise ValueError(f"norm={norm!r} must be 1 (slacks) or 2 (squared slacks).")


def spanned(rows: Floats) -> Floats:
    """Return rows with the same products, and no more features than there are rows."""
    n, d = rows.shape
    return rows if d <= n else np.ascontiguousarray(np.transpose(np.linalg.qr(rows.T, mode="r")))


def slack_weights(C: float, frame: Frame, weight: Floats | None) -> Floats:
    """Return the C of each sample for rows of unit size, within what doubles can represent."""
    weight = np.ones(len(frame.rows)) if weight is None else weight
    return np.clip(C * frame.scale**2 * weight, *SLACK_WEIGHTS)


def soft_margin(
    norm: int, rows: Floats, signs: Floats, C: Floats, start: Machine | None = None
) -> Machine:
    """Solve a machine with slacks, and warn if that is not possible."""
    machine = (soft_margin_1 if norm == 1 else soft_margin_2)(rows, signs, C, start)
    warn_unsolved(machine, "take a smaller C")
    return machine


def warn_unsolved(machine: Machine, advice: str) -> None:
    """Warn if rounding has spoilt a solution."""
    if machine.error > UNSOLVED:
        warnings.warn(
            f"The margin is violated by {machine.error:.1e} of its width: it is so narrow, C is so "
            "large, or the features differ in scale so much, that rounding spoils the solution. "
            f"Scale the features, or {advice}.",
            ConvergenceWarning,
            stacklevel=3,
        )


def hard_margin(rows: Floats, signs: Floats, name: str) -> Machine:
    """Solve the machine without slacks; raise if there is none, naming the problem."""
    start, checked = None, False
    for cap in CAPS:
        start = machine = soft_margin_1(rows, signs, np.full(len(rows), cap), start)
        nearest = np.min(signs * (rows @ machine.normal + machine.offset))
        if nearest > 1.0 - UNSOLVED:
            return machine
        if not checked:
            in_the_way = samples_in_the_way(rows, signs)
            if len(in_the_way):
                raise NotSeparableError(in_the_way, name)
            checked = True
    if nearest <= 0.0:
        raise ValueError(
            f"A hyperplane separates {name}, but the margin is so narrow, or the features "
            "differ in scale so much, that rounding hides it. Scale the features, or use "
            "SoftMarginSVM."
        )
    warn_unsolved(machine, "use SoftMarginSVM")
    return machine


def expanded(machine: Machine, signs: Floats) -> Expansion:
    """Return the hyperplane of a machine by its samples."""
    return Expansion(machine.alpha * signs, machine.offset, details=machine)
