"""What all perceptrons have in common: fit, stabilities, warnings and lines about training."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices, validate_data
from .._validation import all_or_nothing, check_integer, check_verbose
from ..one_versus_rest import LinearClassifier, OneVersusRestClassifier
from .examples import Examples, Inputs, Unit

VANISHED = 1e-6
"""Stability, in units of the longest example, below which no hyperplane is looked for."""


class StabilityMixin(OneVersusRestClassifier):
    """Embedding strengths and stabilities of a classifier of one unit, or one a class."""

    embedding_strengths_: Floats
    support_: Indices
    stability_: float
    n_updates_: int
    n_iter_: int

    _lengths: Floats
    """``|w|`` of each unit; with the threshold where this is clamped."""

    def stabilities(self, X: Any, y: Any) -> Floats:
        """Return the stability of each example, ``E / |w|``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        stabilities : array of shape (n_samples,)
            The distance to the hyperplane, negative on its wrong side; with a clamped threshold
            among the lengthened rows. Of more than two classes the least stable unit counts.
        """
        check_is_fitted(self, "classes_")
        X, y = validate_data(self, X, y, reset=False, dtype=np.float64, order="C")
        return self._stabilities(X, self._codes(y))

    def _stabilities(self, X: Floats, codes: Indices) -> Floats:
        """Return the stability of checked rows."""
        signs = np.column_stack([problem.signs for problem in self._problems(codes, None)])
        lengths = np.where(self._lengths > 0.0, self._lengths, 1.0)
        return (signs * self._scores(X) / lengths).min(axis=1)

    def _codes(self, y: NDArray[Any]) -> Indices:
        """Return the places of labels among the classes."""
        codes = np.searchsorted(self.classes_, y)
        known = self.classes_[np.minimum(codes, len(self.classes_) - 1)] == y
        if not known.all():
            raise ValueError(
                f"y has the label {y[~known].tolist()[0]!r}, but {type(self).__name__} was fitted "
                f"with {self.classes_.tolist()}."
            )
        return codes

    def _embed(self, units: list[Unit], n: int, places: Indices) -> None:
        """Store the embedding strengths of those of n examples that count."""
        self.embedding_strengths_ = np.zeros((len(units), n))
        self.embedding_strengths_[:, places] = [unit.strengths for unit in units]
        self.support_ = np.flatnonzero(self.embedding_strengths_.any(axis=0))
        self.n_updates_ = sum(unit.n_updates for unit in units)
        self.n_iter_ = max(unit.n_iter for unit in units)

    def _warn(self, units: list[Unit]) -> None:
        """Warn once if units are not what was looked for."""
        complaints = [unit.complaint for unit in units if unit.complaint]
        if complaints:
            others = len(complaints) - 1
            more = f" So it is for {others} more class{'es' * (others > 1)}." if others else ""
            warnings.warn(complaints[0] + more, ConvergenceWarning, stacklevel=4)


class Perceptron(StabilityMixin, LinearClassifier):
    """A linear unit that learns from examples; more than two classes by one versus rest.

    A subclass defines :meth:`_learn`; one that takes weights of the examples, ``fit`` too.
    """

    fit_intercept: Any

    @abstractmethod
    def _learn(self, examples: Examples, rng: np.random.RandomState) -> Unit:
        """Return a unit for examples of two classes."""

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""
        check_threshold(self)
        check_integer(self, "max_iter", low=1)
        check_verbose(self)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the examples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Let one unit learn, or one a class."""
        with all_or_nothing(self):
            self._check_parameters()
            rows, codes, weight, (n, places) = self._check_weighted_data(X, y, sample_weight)
            inputs = Inputs.of(rows, self.fit_intercept, self._center(rows, weight))
            rng = check_random_state(getattr(self, "random_state", None))
            units = [
                self._learn(Examples(inputs, each.signs, each.name, each.weight), rng)
                for each in self._problems(codes, weight)
            ]
            self._store(units, inputs)
            self._embed(units, n, places)
            self.stability_ = float(self._stabilities(rows, codes).min())
            self._warn(units)
        return self

    def _center(self, rows: Floats, weight: Floats | None) -> Floats | None:
        """Return the point that rows are relative to if the threshold is free; None: any."""
        return None

    def _store(self, units: list[Unit], inputs: Inputs) -> None:
        """Store weights and thresholds."""
        weights = np.stack([unit.weights for unit in units])
        d = self.n_features_in_
        self.coef_ = weights[:, :d].copy()
        self._lengths = np.linalg.norm(weights, axis=1)
        if inputs.clamped:
            self.intercept_ = -weights[:, d]
        elif inputs.center is None:
            self.intercept_ = np.zeros(len(units))
        else:
            self.intercept_ = -self.coef_ @ inputs.center - [unit.threshold for unit in units]


class TrainingLog:
    """Print a line for the 1st, 2nd, ..., 10th, 20th, ..., 100th, 200th sweep and so on.

    ``name`` is what is learned, ``unit`` what is counted.
    """

    def __init__(self, verbose: int, name: str, unit: str = "sweep"):
        self.verbose, self.name, self.unit = verbose, name, unit
        self._next = 1

    def report(self, count: int, text: str, *, last: bool = False) -> None:
        """Print how far training has come, if enough has happened since the line before."""
        if self.verbose and (last or count >= self._next):
            print(f"{self.name}, {self.unit} {count}: {text}")
            step = 10 ** (len(str(count)) - 1)
            self._next = (count // step + 1) * step


def check_threshold(model: Any) -> None:
    """Raise if ``fit_intercept`` is not one of the three kinds of threshold."""
    given = model.fit_intercept
    none = isinstance(given, (bool, np.bool_)) and not given
    if not none and not (isinstance(given, str) and given in ("clamped", "free")):
        raise ValueError(
            f"fit_intercept={given!r} of {type(model).__name__} must be 'clamped' (the weight of "
            "one more input that is always -1), 'free' (not a weight), or False (none)."
        )


def not_separated(model: Any, examples: Examples) -> str:
    """Return a text that says that no solution was found, and what to do."""
    return (
        f"{type(model).__name__} has not separated {examples.name} after {model.max_iter} sweeps; "
        f"it keeps the best weights seen. If {separability_call(model)} is true raise max_iter, "
        "else use Pocket, or AdaTron with a finite gamma."
    )


def separability_call(model: Any) -> str:
    """Return the call that decides whether a hyperplane separates the classes for a model."""
    return f"is_separable(X, y{', fit_intercept=False' if model.fit_intercept is False else ''})"


def nothing_separates(model: Any, name: str) -> str:
    """Return a text that says that there is no hyperplane to be found, and what to do."""
    advice = "Set a finite gamma" if hasattr(model, "gamma") else "Use AdaTron with a finite gamma"
    return (
        f"{type(model).__name__} found that nothing separates {name} with a stability above "
        f"{VANISHED:g} of the longest example; it keeps the best weights seen. {advice} to allow "
        "errors."
    )
