"""Several perceptrons in place of one: a committee takes their vote, the Bayes point their mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices
from .._validation import all_or_nothing, check_integer, check_number
from ..one_versus_rest import OneVersusRestClassifier
from ..separability import is_separable
from .examples import Examples, Inputs, Unit
from .hidden_units import Committee, least_action, middle_distances, random_weights
from .perceptron import (
    KEPT,
    LinearUnit,
    check_watching,
    keep_history,
    not_separated,
    threshold_kind,
)
from .presentation import random_orders
from .rosenblatt import learn_mistakes, orders_of
from .training_record import Training


class CommitteeMachine(OneVersusRestClassifier):
    """The majority of an odd number of perceptrons, trained as a whole.

    Examples are presented one after the other. If the majority is wrong, only one of the units
    that vote wrong learns the example, ``w += y x / N``: the one with the smallest field
    ``|w.x - theta|``, which has the least to change. A sweep without a mistake ends training. If
    there is none, training ends after ``max_iter`` sweeps with a warning and the best weights seen:
    those with the fewest errors, then with the largest least score of an example.

    A committee can learn what no hyperplane separates. More than two classes are told apart by one
    committee a class.

    Parameters
    ----------
    n_units : int, default=3
        Number of hidden units K; odd, so that there is always a majority.
    order : {"random", "cyclic"} or array-like of int, default="random"
        Present the examples in a new random order each time, always in the order of the rows, or
        in the given order; in a fixed order the weights may come back to where they were, again
        and again.
    fit_intercept : {"clamped", True, False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or none. True is the
        default.
    max_iter : int, default=1000
        Most sweeps through the examples.
    keep : {"best", "last"}, default="best"
        Whether ``hidden_coef_`` are the weights with the fewest errors, then the largest least
        score of an example, of all sweeps, or the last ones.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last weights of the fit before.
    callback : callable, default=None
        Called with a ``TrainingState`` after every sweep; a true value ends training.
    history : {False, True, "sweep", "step"}, default=False
        Whether to keep the states after each sweep (True: the same), or each step, as
        ``history_``; the callback is called as often.
    verbose : int, default=0
        Whether to print lines while training.
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    hidden_coef_ : array of shape (1, n_units, n_features), or (n_classes, n_units, n_features)
        The weights ``w`` of the hidden units of each committee.
    hidden_intercept_ : array of shape (1, n_units), or (n_classes, n_units)
        Minus their thresholds.
    best_hidden_coef_, best_hidden_intercept_, last_hidden_coef_, last_hidden_intercept_ : arrays
        The same of the best weights, and of the last.
    n_updates_, n_iter_ : int
        Changes of the weights, and sweeps; with several classes the sum, and the largest number.
    history_ : list of dict
        For each unit, arrays with one line a state, the first before training: "coef",
        "intercept" of all hidden units, "potentials" (scores times labels), "stability" (the
        least), "errors", "example", "n_iter".
    n_features_in_, feature_names_in_ : int, array of shape (n_features,)
        Number of features, and their names if X had names of type str.

    See Also
    --------
    Rosenblatt : A single perceptron.
    ParityMachine : A product of units that can learn everything.

    Notes
    -----
    The score is the median over the hidden units of the signed distance to their hyperplanes,
    ``(w.x - theta) / |w|``. Its sign is the vote of the majority. It is continuous, and does not
    change by more than ``x`` moves: a row whose score is s can be moved by any distance below
    ``|s|`` without changing what the committee says.

    Nothing guarantees that the rule finds weights without mistakes, even if there are such. The
    start is random; another ``random_state`` or more units may help.

    References
    ----------
    Nilsson (1965), *Learning machines*, McGraw-Hill.

    Mitchison and Durbin (1989), *Bounds on the learning capacity of some multi-layer networks*,
    Biological Cybernetics 60.

    Biehl (lecture notes), section 4.2.

    Examples
    --------
    No hyperplane separates the corners of a square by the exclusive or:

    >>> from protolearn import CommitteeMachine
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = CommitteeMachine(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 1, 1, 0]
    >>> model.votes(X).shape
    (4, 3)
    """

    hidden_coef_: Floats
    hidden_intercept_: Floats
    last_hidden_intercept_: Floats
    n_updates_: int
    n_iter_: int
    _takes_sparse = True

    def __init__(
        self,
        *,
        n_units: int = 3,
        order: str = "random",
        fit_intercept: Any = "clamped",
        max_iter: int = 1000,
        keep: str = "best",
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_units = n_units
        self.order = order
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.keep = keep
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
        self.verbose = verbose
        self.random_state = random_state

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
        self : CommitteeMachine
        """
        with all_or_nothing(self):
            self._check_parameters()
            X, codes, _ = self._check_data(X, y, None)
            inputs = Inputs.of(X, threshold_kind(self))
            rng = check_random_state(self.random_state)
            problems = self._problems(codes, None)
            examples = [Examples(inputs, each.signs, each.name) for each in problems]
            trainings = [Training.of(self, each.name) for each in problems]
            committees = [
                self._learn(each, k, rng, training)
                for k, (each, training) in enumerate(zip(examples, trainings, strict=True))
            ]
            self._store(committees, inputs)
            keep_history(self, trainings)
            if any(each.stopped for each in trainings):
                return self
            for problem, committee in zip(problems, committees, strict=True):
                if not committee.converged:
                    warnings.warn(
                        f"CommitteeMachine still makes mistakes with {problem.name} after "
                        f"{self.max_iter} sweeps; it keeps the best weights seen. Raise n_units or "
                        "max_iter, or try another random_state.",
                        ConvergenceWarning,
                        stacklevel=2,
                    )
        return self

    def _store(self, committees: list[Committee], inputs: Inputs) -> None:
        """Store weights and thresholds, the best and the last."""
        for keep in KEPT:
            weights = [each.last if keep == "last" else each.weights for each in committees]
            none = np.zeros(int(self.n_units))
            coef, intercept = map(
                np.stack, zip(*(inputs.hyperplanes(each, none) for each in weights), strict=True)
            )
            setattr(self, f"{keep}_hidden_coef_", coef)
            setattr(self, f"{keep}_hidden_intercept_", intercept)
            if keep == self.keep:
                self.hidden_coef_, self.hidden_intercept_ = coef.copy(), intercept.copy()
        self.n_updates_ = sum(each.n_updates for each in committees)
        self.n_iter_ = max(each.n_iter for each in committees)

    def votes(self, X: Any) -> Indices:
        """Return the states of the hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        votes : array of shape (n_samples, n_units), or (n_samples, n_classes, n_units)
            +1, or -1 if the field of a unit is not positive. The majority is the class.
        """
        check_is_fitted(self, "classes_")
        X = self._validate(X, reset=False)
        votes = np.where(self._fields(X) > 0.0, 1, -1)
        return votes[:, 0] if votes.shape[1] == 1 else votes

    def _scores(self, X: Floats) -> Floats:
        return middle_distances(self._fields(X), self.hidden_coef_)

    def _fields(self, X: Floats) -> Floats:
        """Return ``w.x - theta`` of all units, an array (n, n_problems, K)."""
        fields = X @ self.hidden_coef_.reshape(-1, X.shape[1]).T
        return fields.reshape(X.shape[0], *self.hidden_coef_.shape[:2]) + self.hidden_intercept_

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""
        if check_integer(self, "n_units", low=1) % 2 == 0:
            raise ValueError(
                f"n_units={self.n_units!r} of CommitteeMachine must be odd, or a vote may be "
                f"a draw: take {self.n_units + 1}."
            )
        given = self.fit_intercept
        if not isinstance(given, bool) and not (isinstance(given, str) and given == "clamped"):
            raise ValueError(
                f"fit_intercept={given!r} of CommitteeMachine must be 'clamped' or True (each "
                "threshold is the weight of one more input that is always -1) or False (no "
                "thresholds)."
            )
        check_watching(self)

    def _learn(
        self, examples: Examples, k: int, rng: np.random.RandomState, training: Training
    ) -> Committee:
        """Return a committee for examples of two classes, number k of all."""
        orders, shape = (
            orders_of(self, len(examples.signs), rng),
            (self.n_units, self.n_features_in_),
        )
        start = random_weights(examples.inputs, int(self.n_units), rng)
        last = getattr(self, "last_hidden_coef_", np.empty((0, 0, 0)))
        if self.warm_start and last.shape[1:] == shape and k < len(last):
            start[:, : shape[1]] = last[k]
            if examples.inputs.clamped:
                start[:, shape[1]] = -self.last_hidden_intercept_[k]
        return least_action(examples, start, orders, training)


class BayesPoint(LinearUnit):
    """The centre of mass of the version space, estimated by many perceptrons.

    All weights that separate the classes form the version space. Its centre agrees best with a
    rule of which no more is known than that it is in there somewhere, and generalises better than
    most other points. It is estimated by the mean of perceptrons of unit length which have learned
    the examples in random orders.

    Parameters
    ----------
    n_estimators : int, default=100
        How many perceptrons are averaged.
    c : float, default=0.0
        The potential that every example has to exceed in each of them.
    fit_intercept : {"clamped", "free", True, False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none. True is the default.
    max_iter : int, default=1000
        Most sweeps of each perceptron.
    callback : callable, default=None
        Called with a ``TrainingState`` of the mean so far after every perceptron; a true value ends
        training.
    history : bool, default=False
        Whether to keep these states as ``history_``.
    verbose : int, default=0
        Whether to print lines while training.
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.

    See Also
    --------
    Rosenblatt : One such perceptron.
    AdaTron : The hyperplane of largest stability, near the centre too.

    Notes
    -----
    Perceptrons do not cover the version space evenly. If no hyperplane separates the classes, the
    best weights of the first perceptron are kept, with a warning: those with the fewest errors.

    References
    ----------
    Herbrich, Graepel and Campbell (2001), *Bayes point machines*, Journal of Machine Learning
    Research 1.

    Biehl (lecture notes), section 3.4.

    Examples
    --------
    >>> from protolearn import BayesPoint, Rosenblatt
    >>> from protolearn.datasets import make_teacher_student
    >>> X, y = make_teacher_student(1000, 20, random_state=0)
    >>> new, rule = X[60:], y[60:]
    >>> perceptron = Rosenblatt(fit_intercept=False).fit(X[:60], y[:60])
    >>> center = BayesPoint(fit_intercept=False, random_state=0).fit(X[:60], y[:60])
    >>> center.score(new, rule) > perceptron.score(new, rule)
    True
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        c: float = 0.0,
        fit_intercept: Any = "clamped",
        max_iter: int = 1000,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.c = c
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.callback = callback
        self.history = history
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self, "n_estimators", low=1)
        check_number(self, "c", low=0.0)

    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        orders, count, c = random_orders(len(examples.signs), rng), int(self.n_estimators), self.c
        best, complaint, nothing = examples.best(), "", np.zeros(len(examples.signs))
        training.unit, mean = "perceptron", Unit(examples.weights(nothing), 0.0, nothing, 0, 0)
        training.see(examples, mean.weights, nothing, 0)
        for k in range(1, count + 1):
            silent = Training(examples.name, training.max_iter)
            unit, separated = learn_mistakes(examples, orders, float(c), silent)
            mean = add_to_mean(mean, unit, count)
            training.see(examples, mean.weights, mean.strengths, k)
            text = f"{unit.n_updates} updates in {unit.n_iter} sweeps"
            training.report(k, text, last=k == count)
            if not separated:
                complaint = complaint or not_separated(self, examples)
                examples.offer(best, unit.weights * examples.inputs.size, unit.strengths)
                if k == 1 and not self._is_separable(examples):
                    complaint = no_version_space(examples)
                    break
            if training.stopped:
                break
        if not complaint:
            return mean
        if k > 1:
            examples.offer(best, mean.weights * examples.inputs.size, mean.strengths)
        return examples.unit(best, mean.strengths, mean.n_updates, mean.n_iter, complaint)

    def _is_separable(self, examples: Examples) -> bool:
        """Whether a hyperplane separates the examples: perceptrons alone would never know."""
        inputs = examples.inputs
        rows = inputs.rows[:, : inputs.size - inputs.clamped]
        return is_separable(rows, examples.signs, fit_intercept=inputs.clamped or examples.free)


def no_version_space(examples: Examples) -> str:
    """Return a text that says that there is nothing to take the centre of, and what to do."""
    return (
        f"No hyperplane separates {examples.name}, so there is no version space for BayesPoint to "
        "find the centre of; it keeps the best weights of one perceptron. Use Pocket, or AdaTron "
        "with a finite gamma."
    )


def add_to_mean(mean: Unit, unit: Unit, count: int) -> Unit:
    """Return the mean of units with one more of ``count``, at unit length."""
    length = float(np.linalg.norm(unit.weights))
    share = 1.0 / (count * length) if length > 0.0 else 0.0
    return Unit(
        mean.weights + share * unit.weights,
        mean.threshold + share * unit.threshold,
        mean.strengths + share * unit.strengths,
        mean.n_updates + unit.n_updates,
        max(mean.n_iter, unit.n_iter),
    )
