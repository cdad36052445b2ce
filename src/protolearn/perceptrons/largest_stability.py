"""The perceptron of largest stability: AdaTron, with or without errors, and MinOver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._arrays import Floats
from .._validation import check_choice, check_flag, check_number, check_positive
from .embedding_steps import LeastPotentialLearner
from .examples import Best, Examples, Inputs, Unit, hebbian
from .optimum import Optimum, negative_optimum, not_optimal, train
from .perceptron import (
    VANISHED,
    LinearUnit,
    nothing_separates,
    separability_call,
    threshold_kind,
)
from .presentation import LearningRule, row_order
from .products import linear_products
from .rosenblatt import follow_rule, learn_what_is_missing
from .training_record import Training

ASCENTS = ("largest", "sequential", "parallel")


class AdaTron(LinearUnit):
    """The perceptron of largest stability, by steps in the embedding strengths.

    The strengths ``u`` maximise ``sum u - u^T C u / 2`` with ``C_ij = y_i y_j x_i.x_j / N`` and
    ``0 <= u <= gamma``. A step changes one of them,
    ``u_i <- min(gamma, max(0, u_i + (eta / C_ii) (1 - [C u]_i)))``, the one that gains most; with
    a free threshold two, so that ``sum u y = 0``. Examples that are easy keep strength zero; the
    others support the hyperplane.

    Parameters
    ----------
    gamma : float, default=inf
        Largest embedding strength. If it is finite errors are allowed: the weights minimise
        ``|w|^2 / 2 + (gamma / N) sum max(0, 1 - E)``. None is the same as infinity.
    updates : {"largest", "sequential", "parallel"}, default="largest"
        Change the strength that gains most, or follow the notes to the letter: one strength after
        the other in the order of the rows, or all at once, by ``u_i <- u_i + eta (1 - E_i)``,
        cut off at 0 and ``gamma``. The last two have no free threshold.
    eta : float, default=1.5
        Length of a step, more than 0 and less than 2. At 1 the step ends where it gains most.
        In literal updates it is the rate itself, which has to be less than 2 divided by the
        largest ``C_ii``, or in parallel by the largest eigenvalue of C.
    fit_intercept : {"clamped", "free", True, False}, default="free"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none. True is the default.
    class_weight : dict, "balanced" or None, default=None
        Factors of ``gamma`` by class.
    negative_stability : bool, default=False
        Whether to look for the largest stability also if it is negative, because no hyperplane
        separates the classes and ``gamma`` is infinite.
    tol : float, default=1e-6
        Training ends when the conditions of the optimum are violated by no more, in units of
        the potential 1 that supporting examples have; less than 1.
    max_iter : int, default=10000
        Most sweeps; a sweep is as many steps as there are examples.
    keep : {"best", "last"}, default="best"
        Whether ``coef_`` are the optimum and, if it is not reached, the weights with the fewest
        errors, then the largest stability, or in any case the last ones.
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

    See Also
    --------
    KernelAdaTron : The same in the feature space of a kernel.
    MinOver : The same hyperplane by Hebbian steps.
    HardMarginSVM : The same hyperplane by an exact method.
    SoftMarginSVM : The same with errors, by an exact method.

    Notes
    -----
    With a free threshold this is the support vector machine with ``C = gamma / N``. With a clamped
    threshold its square is added to ``|w|^2``, and with False there is none.

    For data that no hyperplane separates the strengths grow without end if ``gamma`` is infinite.
    Training ends when they show that no hyperplane can have a stability above a millionth of the
    longest example, with a warning and the best weights seen. A large finite ``gamma`` on such
    data takes many steps.

    The largest negative stability is a problem with many local optima. It is looked for by linear
    programs from several directions, each of which ends in such an optimum. Its embedding
    strengths are negative.

    References
    ----------
    Anlauf and Biehl (1989), *The AdaTron: an adaptive perceptron algorithm*, Europhysics
    Letters 10.

    Biehl (lecture notes), sections 3.6 and 4.1.

    Examples
    --------
    >>> from protolearn import AdaTron
    >>> model = AdaTron().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> round(model.stability_, 4), model.support_
    (1.5, array([1, 2]))
    """

    def __init__(
        self,
        *,
        gamma: float | None = np.inf,
        updates: str = "largest",
        eta: float = 1.5,
        fit_intercept: Any = "free",
        class_weight: Any = None,
        negative_stability: bool = False,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        keep: str = "best",
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
    ):
        self.gamma = gamma
        self.updates = updates
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.negative_stability = negative_stability
        self.tol = tol
        self.max_iter = max_iter
        self.keep = keep
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag(self, "negative_stability")
        literal = check_choice(self, "updates", ASCENTS) != "largest"
        check_ascent(self, "gamma", most=np.inf if literal else 2.0)
        if literal and threshold_kind(self) == "free":
            raise ValueError(
                f"updates={self.updates!r} of AdaTron changes strengths without regard to each "
                "other, which a free threshold does not allow. Set fit_intercept='clamped' or "
                "False."
            )

    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        gamma = np.inf if is_endless(self.gamma) else float(self.gamma or 0.0)
        if self.updates != "largest":
            unit = self._learn_literally(examples, gamma, training)
        else:
            unit = self._learn_largest(examples, gamma, training)
        if unit.complaint and gamma == np.inf and self.negative_stability:
            found = negative_optimum(examples, unit.weights)
            if found is not None:
                return unit._replace(complaint="", last=None, **found._asdict())
        return unit

    def _is_hard(self) -> bool:
        """Whether strengths have no bound."""
        return is_endless(self.gamma)

    def _learn_largest(self, examples: Examples, gamma: float, training: Training) -> Unit:
        start = examples.first_strengths()
        examples = replace(examples, start=None)
        products = linear_products(examples.inputs)
        bounds = weighted_bounds(self, gamma, examples.weight, len(start))
        trained = train(self, products, examples.signs, bounds, training, start, examples)
        last = trained.state("last")
        return trained._replace(
            weights=examples.weights(trained.strengths),
            last=last._replace(weights=examples.weights(last.strengths)),
        )

    def _learn_literally(self, examples: Examples, gamma: float, training: Training) -> Unit:
        rule = LearningRule.of(
            learn_what_is_missing, (float(self.eta),), replace(examples, weight=None)
        )
        high = weighted_bounds(self, gamma, examples.weight, len(examples.signs))
        rule = rule._replace(low=0.0, high=high)
        violation = np.inf

        def at_optimum(w: Floats, u: Floats) -> bool:
            nonlocal violation
            slope = 1.0 - examples.mirrored_rows @ w
            wrong = np.where(slope > 0.0, u < rule.high, u > 0.0)
            violation = float(np.abs(slope[wrong]).max(initial=0.0))
            return violation <= float(self.tol)

        turns = None if self.updates == "parallel" else row_order(len(examples.signs))
        unit, _, _ = follow_rule(
            examples, lambda n_iter: rule, turns, training, None, done=at_optimum
        )
        if violation <= float(self.tol):
            return unit._replace(**unit.state("last")._asdict())
        if gamma < np.inf:  # the last strengths are what there is of the optimum
            unit = unit._replace(**unit.state("last")._asdict())
        found = Optimum(unit.strengths, 0.0, unit.n_updates, violation, np.inf)
        return unit._replace(
            complaint=not_optimal(self, found, examples.name, endless=self._is_hard())
        )


class MinOver(LinearUnit):
    """The perceptron of largest stability, by Hebbian steps.

    Each update learns the example with the least potential, ``w += y x / N``; with a free
    threshold the one of each class. The stability comes ever closer to the largest, slowly: the
    gap is about inverse to the number of updates. It is known how close it is, for no weights
    have a stability above ``N |w| / sum u``.

    Parameters
    ----------
    fit_intercept : {"clamped", "free", True, False}, default="free"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none. True is the default.
    tol : float, default=1e-4
        Training ends when the stability is short of the largest by no more than this part of it.
        The cosine between the weights and the best ones is then at least ``1 - tol``.
    max_iter : int, default=1000000
        Most updates.
    keep : {"best", "last"}, default="best"
        Whether ``coef_`` are the weights with the fewest errors, then the largest stability, of
        all sweeps, or the last ones.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last weights of the fit before.
    callback : callable, default=None
        Called with a ``TrainingState`` after every sweep; a true value ends training.
    history : {False, True, "sweep", "step"}, default=False
        Whether to keep the states after each sweep (True: the same), or each step, as
        ``history_``; the callback is called as often.
    verbose : int, default=0
        Whether to print lines while training.

    Attributes
    ----------
    gap_ : float
        The part of the largest stability by which ``stability_`` is short at most, 1 or more if
        there are errors; of more than two classes the largest such part.

    See Also
    --------
    AdaTron : The same hyperplane, sooner.

    References
    ----------
    Krauth and Mezard (1987), *Learning algorithms with optimal stability in neural networks*,
    Journal of Physics A 20.

    Biehl (lecture notes), section 3.5.

    Examples
    --------
    >>> from protolearn import MinOver
    >>> model = MinOver().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> round(model.stability_, 3), model.gap_ < 1e-4
    (1.5, True)
    """

    gap_: float

    def __init__(
        self,
        *,
        fit_intercept: Any = "free",
        tol: float = 1e-4,
        max_iter: int = 1_000_000,
        keep: str = "best",
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
    ):
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.keep = keep
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(self, "tol")

    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        start, size = examples.start, examples.inputs.size
        if start is not None:  # the strengths of as many examples
            own = replace(examples, start=None)
            examples = replace(own, start=start._replace(weights=own.weights(start.strengths)))
        learned, best = LeastPotentialLearner(examples), examples.best()
        training.unit, n = "update", len(learned.u)
        longest = float(np.sqrt(examples.inputs.squares.max() * size))
        most, updates, closed, vanished = training.max_iter, 0, False, False
        u = hebbian(examples.signs, examples.free)  # inseparable examples may lead to worse
        examples.offer(best, (u * examples.signs) @ examples.inputs.rows, u)
        training.see(examples, examples.weights(learned.u), learned.u, 0)
        chunk = n * max(1, 1000 // n)  # after so many updates the weights are compared
        part = 1 if training.by_step else n if training.watched else chunk
        while updates < most and not closed and not vanished and not training.stopped:
            made, closed, changed = learned.learn(min(part, most - updates), float(self.tol))
            updates += made
            if closed:
                best = Best(examples.signs, examples.free)  # these and no others
            if closed or updates % chunk == 0 or updates == most:
                best.offer(learned.fields, learned.length, learned.u)
            gap = 1.0 - best.stability / learned.largest if learned.largest > 0.0 else np.inf
            vanished = learned.largest <= VANISHED * longest
            if made:
                w = examples.weights(learned.u)
                training.see(examples, w, learned.u, 1 + (updates - 1) // n, changed)
            training.report(updates, f"gap {gap:.1e}", last=closed)
        complaint = "" if closed else self._complaint(examples.name, gap, vanished)
        unit = examples.unit(best, learned.u, updates, -(-updates // n), complaint)
        return unit._replace(details=gap)

    def _store(self, units: list[Unit], inputs: Inputs, keep: str) -> None:
        super()._store(units, inputs, keep)
        self.gap_ = max(unit.details for unit in units)

    def _complaint(self, name: str, gap: float, vanished: bool) -> str:
        """Return why the stability is not the largest, and what to do."""
        if vanished:
            return nothing_separates(self, name)
        return (
            f"MinOver is not sure of the largest stability for {name} after {self.max_iter} "
            f"updates: the gap is {gap:.1e}, tol={self.tol:g}. Raise max_iter or tol, or use "
            f"AdaTron; {separability_call(self)} checks whether a hyperplane separates the classes."
        )


def check_ascent(model: Any, bound: str, most: float = 2.0) -> None:
    """Raise if a parameter of the ascent is wrong; ``bound`` names the largest strength."""
    if not is_endless(getattr(model, bound)):
        check_positive(model, bound)
    check_number(model, "eta", low=0.0, high=most, above=True, below=True)
    check_number(model, "tol", low=0.0, high=1.0, above=True, below=True)


def weighted_bounds(model: Any, gamma: float, weight: Floats | None, n: int) -> Floats:
    """Return the largest strength of each of n examples; weights are factors of a finite one."""
    if weight is None:
        return np.full(n, gamma)
    if gamma == np.inf:
        name, bound = type(model).__name__, "C" if hasattr(model, "C") else "gamma"
        raise ValueError(
            f"class_weight of {name} gives factors of {bound}, which is infinite. Set a finite "
            f"{bound}."
        )
    return gamma * weight


def is_endless(gamma: Any) -> bool:
    """Whether strengths have no bound."""
    return gamma is None or (isinstance(gamma, (float, np.floating)) and gamma == np.inf)
