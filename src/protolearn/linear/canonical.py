"""The canonical form of a linear classifier: two prototypes and a shift (Graf et al., 2009).

``w = sum_i gamma_i x_i`` with ``sum gamma_i = 0`` and ``sum |gamma_i| = 2``. The samples with
positive coefficients average to the prototype of one class, those with negative ones to that of the
other, ``w = p+ - p-``, and ``w.x + b > 0`` says the same as ``|x - p-|^2 - |x - p+|^2 + S > 0``.

The scores of several classes have a joint form: ``w_c = a (sum_i gamma_ci x_i - o)`` with an origin
``o`` and a factor ``a`` that all classes share, ``gamma_ci >= 0``, ``sum_i gamma_ci = 1`` and
``min_c gamma_ci = 0``. So each prototype ``p_c = sum_i gamma_ci x_i`` is an average of samples, and
the class with the least ``|x - p_c|^2 - S_c`` wins. For two classes it is the canonical form.

All classifiers that are fitted in these forms are a :class:`LinearPrototypeClassifier`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices
from .._validation import all_or_nothing
from ..one_versus_rest import BinaryProblem, LinearClassifier
from .centered_rows import CenteredRows, row_squares

BALANCED = 1e-7
"""How much of all coefficients their sum may be, to count as zero."""


NOTHING = 1e-14
"""Relative difference of squares that is rounding."""


FAR = 100.0
"""Distance of the centre from the origin, in units of the samples, at which these are centred."""


class CenteredFrame(NamedTuple):
    """The samples in coordinates in which all is computed: centred, and of unit size."""

    rows: Any  # (x - center) / scale, an array or CenteredRows
    center: Floats  # the weighted mean of the samples
    scale: float  # the root mean square of their distances from it
    share: Floats  # the weights of the samples, which sum to one

    @classmethod
    def of(cls, X: Any, weight: Floats | None = None, written: bool = True) -> CenteredFrame:
        """Return the frame of some samples.

        Those that are sparse are never written down; others not, if you ask so and rounding allows.
        """
        n = X.shape[0]
        share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
        center = middle_of(X, share)
        rows = X - center if written and not issparse(X) else CenteredRows(X, center)
        scale = float(np.sqrt(share @ row_squares(rows))) or 1.0
        if not (written or issparse(X)) and center @ center > (FAR * scale) ** 2:
            return cls.of(X, weight)  # products about the origin would lose digits
        return cls((1.0 / scale) * rows, center, scale, share)


class Expansion(NamedTuple):
    """A hyperplane by its samples: ``f(z) = sum_i gamma_i z_i.z + intercept`` in a frame.

    The scores of all classes at once have one row of gamma and one intercept for each class.
    """

    gamma: Floats
    intercept: Any
    support: Indices | None = None  # the samples chosen; None: those with a coefficient
    details: Any = None  # what else the method has to store


class Canonical(NamedTuple):
    """A hyperplane in canonical form, in the coordinates of the samples."""

    gamma: Floats  # coefficients, which sum to zero, and their absolute values to two
    prototypes: Floats  # p- and p+
    shift: float  # S = 2 b + |p+|^2 - |p-|^2
    coef: Floats  # w = p+ - p-
    intercept: float  # b
    factor: float  # what f of the expansion was multiplied with


class JointForm(NamedTuple):
    """The scores of several classes in joint form, in the coordinates of the samples."""

    gamma: Floats  # (K, n): weights of the samples in each prototype, which sum to one
    prototypes: Floats  # (K, d)
    shift: Floats  # (K,): subtracted from the squared distances; they sum to zero
    coef: Floats  # (K, d)
    intercept: Floats  # (K,)
    factor: float  # a: the scores are ``a / 2 (S_c - |x - p_c|^2)``, but for what all share


def canonical(expansion: Expansion, frame: CenteredFrame) -> Canonical:
    """Return a hyperplane in canonical form.

    Without any coefficient there is no hyperplane: both prototypes are the mean of the samples.
    """
    gamma, scale = balance_coefficients(expansion.gamma, frame.share), frame.scale
    positive = np.maximum(gamma, 0.0)
    negative = np.maximum(-gamma, 0.0)
    total = float(positive.sum())
    factor = 1.0 / total if total > 0.0 else 1.0
    if total > 0.0:
        positive, negative = positive / positive.sum(), negative / negative.sum()
    inner = np.stack([np.asarray(part @ frame.rows).ravel() for part in (negative, positive)])
    normal, offset = inner[1] - inner[0], factor * expansion.intercept
    shift = scale**2 * float(2.0 * offset + inner[1] @ inner[1] - inner[0] @ inner[0])
    coef = scale * normal
    return Canonical(
        gamma=positive - negative,
        prototypes=frame.center + scale * inner,
        shift=shift,
        coef=coef,
        intercept=float(scale**2 * offset - coef @ frame.center),
        factor=scale**2 * factor,
    )


def joint(expansion: Expansion, frame: CenteredFrame) -> JointForm:
    """Return the scores of several classes in joint form.

    Without any coefficient all prototypes are the mean of the samples.
    """
    scale, intercept = frame.scale, np.asarray(expansion.intercept)
    gamma = np.stack([balance_coefficients(row, frame.share) for row in expansion.gamma])
    weights = gamma - gamma.min(axis=0)
    weights[weights <= NOTHING * np.abs(gamma).max(axis=0)] = 0.0
    total = weights.sum(axis=1, keepdims=True)  # the same for all classes but for rounding
    factor = float(total.mean())
    weights = weights / total if factor > 0.0 else np.broadcast_to(frame.share, gamma.shape)
    inner = np.asarray(weights @ frame.rows)
    square = np.einsum("ij,ij->i", inner, inner)
    level = 2.0 * intercept / (factor or 1.0) + square
    level = np.where(np.abs(level) <= NOTHING * square, 0.0, level)
    coef = np.asarray(gamma @ frame.rows) / scale
    return JointForm(
        gamma=weights,
        prototypes=frame.center + scale * inner,
        shift=scale**2 * (level - level.mean()),
        coef=coef,
        intercept=intercept - coef @ frame.center,
        factor=factor / scale**2,
    )


def nearest_of(forms: list[Canonical], frame: CenteredFrame) -> JointForm:
    """Return the rule that the nearest of the prototypes of each class against the rest wins."""
    prototypes = np.stack([form.prototypes[1] for form in forms])
    coef = prototypes - frame.center
    return JointForm(
        gamma=np.stack([np.maximum(form.gamma, 0.0) for form in forms]),
        prototypes=prototypes,
        shift=np.zeros(len(forms)),
        coef=coef,
        intercept=-0.5 * np.einsum("ij,ij->i", coef, coef) - coef @ frame.center,
        factor=1.0,
    )


def middle_of(X: Any, share: Floats | None = None) -> Floats:
    """Return the weighted mean of samples, exactly the common value where a feature is constant."""
    mean = np.asarray(X.mean(axis=0)).ravel() if share is None else np.asarray(share @ X)
    if issparse(X):
        return mean
    return np.clip(mean, X.min(axis=0), X.max(axis=0))


def balance_coefficients(gamma: Floats, share: Floats) -> Floats:
    """Return coefficients that sum to zero, and the same combination of centred samples."""
    total = gamma.sum()
    if abs(total) <= BALANCED * np.abs(gamma).sum():
        return gamma  # the rest is rounding: coefficients that are zero stay so
    return gamma - total * share


class LinearPrototypeClassifier(LinearClassifier):
    """A linear classifier in canonical form; more than two classes jointly or one versus rest.

    A subclass defines :meth:`_expand`, :meth:`_expand_jointly` if it has a joint solution, and
    ``fit`` with or without weights.
    """

    _attributes = """
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    prototypes_ : array of shape (n_classes, n_features)
        The prototype of each class, an average of samples.
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.
    gamma_ : float
        The factor that was used; not there for kernels without one.
    kernel_ : FeatureKernel or None
        The kernel with its settings; None if it is precomputed. Not there for a linear kernel.
    """
    _trains_sparse = True
    kernel: Any
    prototypes_: Floats
    shift_: Floats
    dual_coef_: Floats
    support_: Indices
    _factors: Floats  # during fit: what scores by the coefficients of samples are multiplied with

    def project(self, X: Any) -> Floats:
        """Return where rows lie along the axes of the decision, as signed distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        place : array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_axes)
            For two classes the signed distance from the hyperplane, positive on the side of the
            second class; one versus rest that from the hyperplane of each class. For classes that
            are told apart jointly, coordinates in the space through all prototypes, whose origin
            is their mean and whose axes are their principal axes.
        """
        scores = self.decision_function(X)
        if is_joint(self):
            X = self._validate(X, reset=False)
            return place_among(self.prototypes_, X)
        length = np.linalg.norm(self.coef_, axis=1)
        if not length.all():
            raise ValueError("Both prototypes are the same point: there is no axis through them.")
        return scores / (length if scores.ndim == 2 else length[0])

    def __sklearn_tags__(self) -> Any:
        """Return whether X is a matrix of products, for scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is("precomputed")
        return tags

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        """Whether X may be a sparse matrix: of rows, not of products or for a function."""
        return isinstance(self.kernel, str) and self.kernel != "precomputed"

    def _is(self, kernel: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == kernel

    @abstractmethod
    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        """Return the hyperplane between two classes of the rows of a frame."""

    def _expand_jointly(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None
    ) -> Expansion | None:
        """Return the scores of all classes by one solution; None: by one versus rest."""
        return None

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplanes and store them in canonical form."""
        with all_or_nothing(self):
            self._check_parameters()
            rows, codes, weight, (n, places) = self._check_weighted_data(X, y, sample_weight)
            self._solve_rows(rows, codes, weight, n, places)
        return self

    def _solve_rows(
        self, rows: Any, codes: Indices, weight: Floats | None, n: int, places: Indices
    ) -> None:
        """Store the solution for some rows of those of n samples."""
        frame = CenteredFrame.of(rows, weight, self._writes(rows))
        chosen = self._solve(frame, codes, weight, n, places)
        self._store_samples(rows, chosen)
        del self._factors

    def _writes(self, rows: Any) -> bool:
        """Whether centred rows are written down, if they are not sparse."""
        return True

    def _solve(
        self,
        frame: CenteredFrame,
        codes: Indices,
        weight: Floats | None,
        n: int,
        places: Indices,
    ) -> Indices:
        """Store the solution in a frame of those of n samples; return which of them it chose."""
        forms: list[Canonical] = []
        several = len(self.classes_) > 2
        whole = self._expand_jointly(frame, codes, weight) if several else None
        if whole is not None:
            expansions = [whole]
            self._store(joint(whole, frame))
        else:
            expansions = self._by_problems(frame, codes, weight)
            forms = [canonical(expansion, frame) for expansion in expansions]
            self._store_forms(forms, frame)
        self.dual_coef_, gamma = np.zeros((len(self.dual_coef_), n)), self.dual_coef_
        self.dual_coef_[:, places] = gamma
        chosen = np.unique(np.concatenate([samples_of(each) for each in expansions]))
        self.support_ = places[chosen]
        self._store_details(expansions, forms)
        return chosen

    def _by_problems(
        self, frame: CenteredFrame, codes: Indices, weight: Floats | None
    ) -> list[Expansion]:
        """Return the hyperplane between two classes, or between each class and the rest."""
        return [self._expand(frame, each) for each in self._problems(codes, weight)]

    def _store_forms(self, forms: list[Canonical], frame: CenteredFrame) -> None:
        """Store hyperplanes; those of several classes with their rests, or the nearest rule."""
        several = len(forms) > 1
        if several and getattr(self, "multi_class", None) == "nearest":
            self._store(nearest_of(forms, frame))
            return
        first, second = (np.stack([form.prototypes[side] for form in forms]) for side in (0, 1))
        self._store(
            JointForm(
                gamma=np.stack([form.gamma for form in forms]),
                prototypes=second if several else forms[0].prototypes,
                shift=np.array([form.shift for form in forms]),
                coef=np.stack([form.coef for form in forms]),
                intercept=np.array([form.intercept for form in forms]),
                factor=1.0,
            )
        )
        if several:
            self.rest_prototypes_ = first

    def _store(self, form: JointForm) -> None:
        """Store the hyperplanes and their prototypes."""
        self.__dict__.pop("rest_prototypes_", None)  # of an earlier fit
        self.coef_, self.intercept_ = form.coef, form.intercept
        self.shift_, self.prototypes_ = form.shift, form.prototypes
        self.dual_coef_ = form.gamma
        self._factors = np.full(len(form.coef), form.factor)

    def _rescale(self, factors: Any) -> None:
        """Divide canonical scores by factors; prototypes, shifts and coefficients stay."""
        if not is_joint(self):
            factors = np.asarray(factors)
            self.coef_ = self.coef_ / factors[:, None]
            self.intercept_ = self.intercept_ / factors
            self._factors = self._factors / factors

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        """Store what a method has beyond its hyperplanes; there are no forms of a joint one."""

    def _store_samples(self, rows: Any, chosen: Indices) -> None:
        """Store the chosen samples, if they are few and worth it."""


def is_joint(model: LinearPrototypeClassifier) -> bool:
    """Whether one prototype for each of more than two classes decides, none of them for a rest."""
    return len(model.classes_) > 2 and not hasattr(model, "rest_prototypes_")


def samples_of(expansion: Expansion) -> Indices:
    """Return the samples that were chosen, or that have a coefficient."""
    if expansion.support is not None:
        return expansion.support
    return np.flatnonzero(np.atleast_2d(expansion.gamma).any(axis=0))


def place_among(prototypes: Floats, rows: Any) -> Floats:
    """Return the coordinates of rows in the space through prototypes, along its principal axes."""
    center = prototypes.mean(axis=0)
    axes = np.linalg.svd(prototypes - center, full_matrices=False)[2][: len(prototypes) - 1]
    side = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    axes = side[:, None] * axes  # a singular vector has no sign of its own
    return np.asarray(rows @ axes.T) - center @ axes.T
