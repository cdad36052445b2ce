"""What all perceptrons have in common: fit, stabilities, and warnings about training."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices, check_magnitude
from .._validation import (
    all_or_nothing,
    check_choice,
    check_class_weight,
    check_flag,
    check_history,
    check_integer,
    check_verbose,
    known_classes,
)
from ..one_versus_rest import LinearClassifier, OneVersusRestClassifier
from .examples import Examples, Inputs, Start, Unit
from .training_record import Training, power_cost

KEPT = ("best", "last")
"""Which weights a model has after training."""

FAR = 10.0
"""Distance of the rows from the origin, in units of their spread, that a clamped threshold can
hardly bridge."""

ENOUGH = 1000
"""Rows from which that distance is taken, one in so many of all."""

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
        X, y = self._validate(X, y, reset=False)
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

    def _embed(self, units: list[Unit], n: int, places: Indices, keep: str) -> None:
        """Store the embedding strengths of those of n examples that count."""
        self.embedding_strengths_ = np.zeros((len(units), n))
        self.embedding_strengths_[:, places] = [unit.state(keep).strengths for unit in units]
        self.support_ = np.flatnonzero(self.embedding_strengths_.any(axis=0))
        self.n_updates_ = sum(unit.n_updates for unit in units)
        self.n_iter_ = max(unit.n_iter for unit in units)

    def _warn(self, units: list[Unit], reason: str = "", level: int = 5) -> None:
        """Warn once if units are not what was looked for, or if a reason left them with errors."""
        complaints = [unit.complaint for unit in units if unit.complaint]
        if complaints:
            others = len(complaints) - 1
            more = f" So it is for {others} more class{'es' * (others > 1)}." if others else ""
            warnings.warn(complaints[0] + more + reason, ConvergenceWarning, stacklevel=level)
        elif reason and self.stability_ <= 0.0:
            text = f"{type(self).__name__} has errors among the training rows.{reason}"
            warnings.warn(text, ConvergenceWarning, stacklevel=level)


class LinearUnit(StabilityMixin, LinearClassifier):
    """A linear unit that learns from examples; more than two classes by one versus rest.

    A subclass defines :meth:`_learn`; one that takes weights of the examples, ``fit`` too.
    """

    _attributes = """
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    coef_, intercept_ : arrays of shape (n_units, n_features) and (n_units,)
        The weights ``w = sum u_i y_i x_i / N`` and minus the thresholds, of one unit or, for more
        than two classes, one a class. A clamped input counts in the number N of inputs.
    best_coef_, best_intercept_, last_coef_, last_intercept_ : arrays
        The same of the best weights, and of the last.
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
    """
    fit_intercept: Any
    keep, warm_start = "best", False  # of units that have no such parameters
    callback: Callable[[Any], object] | None
    best_coef_: Floats
    best_intercept_: Floats
    last_coef_: Floats
    last_intercept_: Floats
    history_: list[dict[str, Any]]
    _last_strengths: Floats
    _takes_sparse = True

    @abstractmethod
    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        """Return a unit for examples of two classes."""

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""
        threshold_kind(self)
        check_watching(self)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples. Sparse ones are made dense.
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
            before = dict(vars(self)) if self.warm_start and hasattr(self, "coef_") else None
            rows, codes, weight, frame = self._check_weighted_data(X, y, sample_weight)
            if before is not None:
                check_same_classes(self, before)
            self._train(rows, codes, weight, frame, before)
        return self

    def _train(
        self,
        rows: Floats,
        codes: Indices,
        weight: Floats | None,
        frame: tuple[int, Indices],
        before: dict[str, Any] | None,
        max_iter: int | None = None,
    ) -> None:
        """Let units learn checked rows, which are those of a frame that have a weight."""
        kind, (n, places) = threshold_kind(self), frame
        inputs = Inputs.of(rows, kind, self._center(rows, weight))
        rng = check_random_state(getattr(self, "random_state", None))
        units, trainings = list[Unit](), list[Training]()
        for k, each in enumerate(self._problems(codes, weight)):
            start = None if before is None else first_state(before, k, inputs, frame)
            examples = Examples(inputs, each.signs, each.name, each.weight, start)
            trainings.append(Training.of(self, each.name, max_iter))
            units.append(self._learn(examples, rng, trainings[-1]))
        keep = self.keep if max_iter is None else "last"
        self._store(units, inputs, keep)
        self._embed(units, n, places, keep)
        self._last_strengths = np.zeros((len(units), n))
        self._last_strengths[:, places] = [unit.state("last").strengths for unit in units]
        self.stability_ = float(self._stabilities(rows, codes).min())
        keep_history(self, trainings)
        if max_iter is None and not any(each.stopped for each in trainings):
            self._warn(units, far_from_origin(rows) if inputs.clamped else "")

    def _center(self, rows: Floats, weight: Floats | None) -> Floats | None:
        """Return the point that rows are relative to if the threshold is free; None: any."""
        return None

    def _store(self, units: list[Unit], inputs: Inputs, keep: str) -> None:
        """Store weights and thresholds, the best and the last; keep one of them."""
        for kind in KEPT:
            states = [unit.state(kind) for unit in units]
            weights = np.stack([state.weights for state in states])
            coef, intercept = inputs.hyperplanes(weights, [state.threshold for state in states])
            setattr(self, f"{kind}_coef_", coef)
            setattr(self, f"{kind}_intercept_", intercept)
            if kind == keep:
                self.coef_, self.intercept_ = coef.copy(), intercept.copy()
                self._lengths = np.linalg.norm(weights, axis=1)

    def cost(self, X: Any, y: Any, *, k: float = 1.0, c: float = 0.0) -> Floats:
        """Return the cost ``H^[k] = sum (c - E)^k`` over the examples with ``E < c``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        k : float, default=1.0
            The power: 1 is the cost of the perceptron, 2 with ``c=1`` that of a squared hinge.
        c : float, default=0.0
            The potential from which on an example costs nothing.

        Returns
        -------
        cost : array of shape (n_units,)
            The cost of each unit.
        """
        check_is_fitted(self, "classes_")
        X, y = self._validate(X, y, reset=False)
        problems, scores = self._problems(self._codes(y), None), self._scores(X)
        return np.array(
            [power_cost(each.signs * scores[:, k_], k, c) for k_, each in enumerate(problems)]
        )


class OnlineUnit(LinearUnit):
    """A linear unit that can go on learning with other examples."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Present examples once, beginning with the present weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed at the first call.

        Returns
        -------
        self : object
            The classifier. Its weights are the last ones, whatever ``keep`` is, and its
            embedding strengths are those of these examples in this sweep.
        """
        with all_or_nothing(self):
            self._check_parameters()
            if threshold_kind(self) == "free":
                raise ValueError(
                    f"partial_fit of {type(self).__name__} needs fit_intercept='clamped' or False: "
                    "a free threshold is chosen for all examples."
                )
            first, known = not hasattr(self, "classes_"), known_classes(self, classes)
            X, y = self._validate(X, y, reset=first)
            self.classes_ = known
            X = X.toarray() if issparse(X) else X
            check_magnitude(X)
            codes = self._codes(y)
            before = dict(vars(self)) if hasattr(self, "coef_") else None
            weight, frame = self._weights_of_part(codes), (len(X), np.arange(len(X)))
            if before is not None:  # strengths of other examples
                before["embedding_strengths_"] = before["_last_strengths"] = np.empty((0, 0))
            self._train(X, codes, weight, frame, before, max_iter=1)
        return self

    def _weights_of_part(self, codes: Indices) -> Floats | None:
        """Return the weight of each example by its class; classes need not all be there."""
        given = getattr(self, "class_weight", None)
        if given is None:
            return None
        if isinstance(given, str):
            raise ValueError(
                f"class_weight={given!r} of {type(self).__name__} needs all rows; give partial_fit "
                "a dict of weights by label."
            )
        return check_class_weight(given, self.classes_, self.classes_)[codes]


def first_state(
    before: dict[str, Any], k: int, inputs: Inputs, frame: tuple[int, Indices]
) -> Start:
    """Return where unit k goes on: with the last weights, and the strengths of as many examples."""
    weights, d = np.zeros(inputs.rows.shape[1]), inputs.size - inputs.clamped
    weights[:d] = before.get("last_coef_", before["coef_"])[k]
    if inputs.clamped:
        weights[d] = -before.get("last_intercept_", before["intercept_"])[k]
    best = before["embedding_strengths_"]
    last = before.get("_last_strengths", best)
    n, places = frame
    if last.shape[1:] != (n,):
        return Start(weights, np.zeros(len(places)), np.zeros(len(places)))
    return Start(weights, last[k, places].copy(), best[k, places].copy())


def keep_history(model: Any, trainings: list[Training]) -> None:
    """Store the history if there is one, and forget that of an earlier fit."""
    vars(model).pop("history_", None)
    if model.history is not False:
        model.history_ = [each.history() for each in trainings]


def check_same_classes(model: Any, before: dict[str, Any]) -> None:
    """Raise if a warm start is impossible."""
    same = model.n_features_in_ == before["n_features_in_"]
    if not same or not np.array_equal(model.classes_, before["classes_"]):
        raise ValueError(
            f"warm_start=True of {type(model).__name__} needs the classes "
            f"{before['classes_'].tolist()} and {before['n_features_in_']} features of the "
            "previous fit. Set warm_start=False to start again."
        )


def check_watching(model: Any) -> None:
    """Raise if a parameter by which training is watched, continued or ended is wrong."""
    if model.callback is not None and not callable(model.callback):
        raise ValueError(
            f"callback={model.callback!r} of {type(model).__name__} must be a function of the "
            "state, or None."
        )
    check_history(model)
    check_verbose(model)
    if hasattr(model, "max_iter"):
        check_integer(model, "max_iter", low=1)
    if hasattr(model, "keep"):
        check_choice(model, "keep", KEPT)
    if hasattr(model, "warm_start"):
        check_flag(model, "warm_start")


def far_from_origin(rows: Floats) -> str:
    """Return a sentence if a clamped threshold is small beside the rows; nothing otherwise."""
    rows = rows[:: -(-len(rows) // ENOUGH)]
    mean = rows.mean(axis=0)
    spread = float(np.sqrt(np.mean((rows - mean) ** 2)))
    away = float(np.sqrt(np.mean(mean**2)))
    if away <= FAR * max(spread, np.finfo(float).tiny) or away <= 1.0:
        return ""
    return (
        f" The rows are {away / spread if spread else np.inf:.0f} times their spread away from the "
        "origin, and a threshold that is the weight of a clamped input of -1 follows them slowly: "
        "subtract the mean (StandardScaler), or set fit_intercept='free'."
    )


def threshold_kind(model: Any) -> Any:
    """Return "clamped", "free" or False; True is the default of the class."""
    given = model.fit_intercept
    if isinstance(given, (bool, np.bool_)):
        return type(model)().fit_intercept if given else False
    if not (isinstance(given, str) and given in ("clamped", "free")):
        raise ValueError(
            f"fit_intercept={given!r} of {type(model).__name__} must be 'clamped' (the weight of "
            "one more input that is always -1), 'free' (not a weight), True (the default of the "
            "class), or False (none)."
        )
    return given


def not_separated(model: Any, examples: Examples) -> str:
    """Return a text that says that no solution was found, and what to do."""
    return (
        f"{type(model).__name__} has not separated {examples.name} after {model.max_iter} sweeps; "
        f"it keeps the best weights seen. If {separability_call(model)} is true raise max_iter, "
        "else use Pocket, or AdaTron with a finite gamma."
    )


def separability_call(model: Any) -> str:
    """Return the call that decides whether a hyperplane separates the classes for a model."""
    return f"is_separable(X, y{', fit_intercept=False' if threshold_kind(model) is False else ''})"


def nothing_separates(model: Any, name: str) -> str:
    """Return a text that says that there is no hyperplane to be found, and what to do."""
    bound = "C" if hasattr(model, "C") else "gamma"
    advice = f"Set a finite {bound}" if hasattr(model, bound) else "Use AdaTron with a finite gamma"
    return (
        f"{type(model).__name__} found that nothing separates {name} with a stability above "
        f"{VANISHED:g} of the longest example; it keeps the best weights seen. {advice} to allow "
        "errors."
    )
