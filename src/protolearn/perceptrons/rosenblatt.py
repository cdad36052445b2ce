"""Learning from examples one by one: any modulation function, and Rosenblatt's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, NamedTuple, Self

import numpy as np

from .._arrays import Floats, Indices, as_indices
from .._validation import all_or_nothing, check_choice, check_number, check_positive
from ..native import MODULATION, Native, native
from .examples import Best, Examples, Unit, UnitState
from .perceptron import OnlineUnit, not_separated, threshold_kind
from .presentation import (
    MISTAKES,
    ORDERS,
    RARER,
    LearningRule,
    comparison_point,
    draw,
    random_orders,
    row_order,
    sweep,
)
from .training_record import Training

UPDATES = ("sequential", "parallel")

FIRST_LOOK = 4
"""Sweeps before the examples are chosen in which errors are looked for first."""


@native(MODULATION)
def learn_if_low(E, theta):
    """Return 1 for an example with a potential of no more than ``theta[0]``."""
    return 0.0 if theta[0] < E else 1.0


@native(MODULATION)
def learn_always(E, theta):
    """Return the same for every example."""
    return theta[0]


@native(MODULATION)
def learn_what_is_missing(E, theta):
    """Return what a potential lacks to be one, times a rate."""
    return theta[0] * (1.0 - E)


@native(MODULATION)
def descend_power(E, theta):
    """Return the slope of ``(c - E)^k`` times a rate; ``theta`` is rate, k and c."""
    lacking = theta[2] - E
    return theta[0] * theta[1] * lacking ** (theta[1] - 1.0) if lacking > 0.0 else 0.0


MODULATIONS: dict[str, tuple[Native, tuple[float, ...]]] = {
    "rosenblatt": (learn_if_low, (0.0,)),
    "hebb": (learn_always, (1.0,)),
    "adaline": (learn_what_is_missing, (1.0,)),
    "cost": (descend_power, (1.0, 2.0, 1.0)),
}
"""Modulation functions with a name, and what their parameters are by default."""


class Perceptron(OnlineUnit):
    """A perceptron that learns by a modulation function of your own.

    Examples are presented one after the other. The one presented changes its embedding strength by
    ``f(E)``, where ``E`` is its local potential, and the weights by ``f(E) y x / N``: equations
    (3.12) and (3.14) of the notes. Nothing else happens: no step is scaled, and training ends
    after ``max_iter`` sweeps, or when a sweep changes nothing.

    Parameters
    ----------
    f : str or function, default="rosenblatt"
        The modulation function, a ``@native(MODULATION)`` function or a plain one that numba can
        compile, ``f(E, theta)``. By name: "rosenblatt" (1 if ``E <= c``, theta is c), "hebb" (a
        constant), "adaline" (``eta (1 - E)``, theta is eta), "cost" (the descent of
        ``H^[k] = sum (c - E)^k`` over ``E < c``: ``eta k (c - E)^(k-1)``, theta is eta, k, c).
    theta : array-like of float, default=None
        Parameters of ``f``. None: 0 for "rosenblatt", 1 for "hebb" and "adaline", (1, 2, 1) for
        "cost", none for other functions.
    updates : {"sequential", "parallel"}, default="sequential"
        Whether examples change the weights one after the other, or all at once.
    order : {"cyclic", "random"} or array-like of int, default="cyclic"
        Present the examples in the order of the rows, in a new random order each time, or in the
        given order, in which rows may be missing or repeated.
    fit_intercept : {"clamped", True, False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or none. True is the
        default.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps by class; not with a free threshold.
    tol : float, default=None
        Training also ends when a sweep changes the weights by no more than this part of their
        length; then there is a warning if it does not come to that.
    max_iter : int, default=1000
        Most sweeps through the examples.
    keep : {"best", "last"}, default="last"
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
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.

    See Also
    --------
    Rosenblatt : The perceptron algorithm.
    Adaline : Least squares, with steps that suit the data.

    References
    ----------
    Biehl (lecture notes), section 3.3.2.

    Examples
    --------
    >>> from protolearn import Perceptron
    >>> from protolearn.native import MODULATION, native
    >>> @native(MODULATION)
    ... def relax(E, theta):
    ...     return theta[0] * (1.0 - E) if E < 1.0 else 0.0
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> model = Perceptron(relax, theta=[0.1], history="step", max_iter=50).fit(X, y)
    >>> model.score(X, y), model.history_[0]["coef"].shape
    (1.0, (201, 1))
    """

    def __init__(
        self,
        f: Any = "rosenblatt",
        *,
        theta: Any = None,
        updates: str = "sequential",
        order: Any = "cyclic",
        fit_intercept: Any = "clamped",
        class_weight: Any = None,
        tol: float | None = None,
        max_iter: int = 1000,
        keep: str = "last",
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.f = f
        self.theta = theta
        self.updates = updates
        self.order = order
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.keep = keep
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None) -> Self:
        """Learn the examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The examples. Sparse ones are made dense.
        y : array-like of shape (n_samples,)
            Their labels.
        coef_init : array-like of shape (n_units, n_features), default=None
            The weights to begin with; None: zero, or those of the fit before with ``warm_start``.
        intercept_init : array-like of shape (n_units,), default=None
            Minus the thresholds to begin with.

        Returns
        -------
        self : Perceptron
        """
        if coef_init is None and intercept_init is None:
            return self._fit(X, y)
        with all_or_nothing(self):
            self._check_parameters()
            rows, codes, weight, frame = self._check_weighted_data(X, y, None)
            k = len(self._problems(codes, None))
            shapes = (k, rows.shape[1]), (k,)
            given = [
                np.zeros(shape) if each is None else np.asarray(each, float).reshape(shape)
                for each, shape in zip((coef_init, intercept_init), shapes, strict=True)
            ]
            before = {"coef_": given[0], "intercept_": given[1]}
            self._train(
                rows, codes, weight, frame, {**before, "embedding_strengths_": np.empty((0, 0))}
            )
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "updates", UPDATES)
        if self.tol is not None:
            check_positive(self, "tol")
        if threshold_kind(self) == "free":
            raise ValueError(
                "fit_intercept='free' of Perceptron is not possible: a modulation function sees "
                "the potential of one example. Take 'clamped' or False."
            )
        modulation_of(self.f, self.theta)

    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        rule = LearningRule.of(*modulation_of(self.f, self.theta), examples)
        orders = orders_of(self, len(examples.signs), rng)
        tol = None if self.tol is None else float(self.tol)
        turns = None if self.updates == "parallel" else orders
        unit, change, length = follow_rule(examples, lambda n_iter: rule, turns, training, tol)
        if tol is None or change <= tol * length:
            return unit
        return unit._replace(
            complaint=f"Perceptron still changes its weights for {examples.name} after "
            f"{training.max_iter} sweeps: the last one changed weights of length {length:.1e} by "
            f"{change:.1e}, tol={tol:g}. Raise max_iter or tol, or take smaller steps."
        )


def modulation_of(f: Any, theta: Any) -> tuple[Native, Any]:
    """Return a native modulation function and its parameters."""
    if isinstance(f, str) and f in MODULATIONS:
        function, usual = MODULATIONS[f]
        given = usual if theta is None else np.atleast_1d(np.asarray(theta, dtype=np.float64))
        if len(given) != len(usual):
            raise ValueError(
                f"theta={theta!r} of Perceptron has {len(given)} numbers, and f={f!r} takes "
                f"{len(usual)}."
            )
        return function, given
    if isinstance(f, str) or not (isinstance(f, Native) or callable(f)):
        raise ValueError(
            f"f={f!r} of Perceptron must be a function f(E, theta) or one of "
            f"{', '.join(map(repr, MODULATIONS))}."
        )
    function = f if isinstance(f, Native) else native(MODULATION)(f)
    return function, () if theta is None else np.atleast_1d(np.asarray(theta, dtype=np.float64))


def orders_of(model: Any, n: int, rng: np.random.RandomState) -> Iterator[Indices]:
    """Return the orders in which a model presents n examples."""
    if isinstance(model.order, str):
        cyclic = check_choice(model, "order", ORDERS, "an array of int") == "cyclic"
        return row_order(n) if cyclic else random_orders(n, rng)
    given = np.asarray(model.order)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not given.size:
        raise ValueError(
            f"order={model.order!r} of {type(model).__name__} must be 'cyclic', 'random' or a "
            "sequence of row numbers."
        )
    if given.min() < 0 or given.max() >= n:
        wrong = given[(given < 0) | (given >= n)][0]
        raise ValueError(
            f"order of {type(model).__name__} names row {wrong}; there are rows 0 to {n - 1}."
        )
    return repeat(as_indices(given))


def follow_rule(
    examples: Examples,
    rule_at: Callable[[int], LearningRule],
    orders: Iterator[Indices] | None,
    training: Training,
    tol: float | None,
    *,
    dust: float = 0.0,
    threshold: float | None = None,
    done: Callable[[Floats, Floats], bool] | None = None,
) -> tuple[Unit, float, float]:
    """Return a unit that learns by a rule, one for each sweep; what the last changed; the length.

    Without orders all examples are learned at once. A sweep that changes nothing ends it, or one
    that changes the weights by no more than ``tol`` times their length or ``dust``, or after which
    weights and strengths are ``done``. The ``threshold`` is given if it is free and not chosen for
    the weights.
    """
    w, u = examples.first_sums() / examples.inputs.size, examples.first_strengths()
    best, updates, change, n_iter = Best(examples.signs, False, examples.weight), 0, np.inf, 0
    length, theta = 0.0, threshold or 0.0
    training.see(examples, w, u, 0, None, threshold)
    while n_iter < training.max_iter and not training.stopped:
        before, rule, made, n_iter = w.copy(), rule_at(n_iter + 1), 0, n_iter + 1
        for part in (None,) if orders is None else training.parts(next(orders)):
            if part is None:
                made = int(rule.together(examples, w, u) > 0)
            else:
                made += rule.in_turn(examples, part, w, u)
            training.see(examples, w, u, n_iter, part, threshold)
            if training.stopped:
                break
        updates += made
        change, length = float(np.linalg.norm(w - before)), float(np.linalg.norm(w))
        best.offer(examples.inputs.rows @ w - theta, length, u)
        settled = made == 0 or (tol is not None and change <= max(tol * length, dust))
        settled = settled or (done is not None and done(w, u))
        training.report(n_iter, f"weights of length {length:.6g}", last=settled)
        if settled:
            change = 0.0 if made == 0 else change
            break
    unit = examples.unit(best, u, updates, n_iter)._replace(threshold=theta)
    return unit._replace(last=UnitState(w, theta, u)), change, length


class Rosenblatt(OnlineUnit):
    """The perceptron algorithm.

    Examples are presented one after the other. One with a potential ``E <= c`` is learned:
    ``w += y x / N``. The weights begin at zero, and a sweep without a mistake ends training. If a
    hyperplane separates the classes, this happens after a finite number of updates, at most
    ``N (2 c + Gamma) / kappa^2`` with the largest possible stability ``kappa`` and
    ``Gamma = max |x|^2 / N``. If none does, training ends after ``max_iter`` sweeps with a
    warning and the best weights seen.

    Parameters
    ----------
    c : float, default=0.0
        The potential that every example has to exceed.
    order : {"cyclic", "random"} or array-like of int, default="cyclic"
        Present the examples in the order of the rows, in a new random order each time, or in the
        given order, in which rows may be missing or repeated.
    fit_intercept : {"clamped", "free", True, False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none. True is the default.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps by class; not with a free threshold.
    max_iter : int, default=1000
        Most sweeps through the examples.
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
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.

    See Also
    --------
    Pocket : For classes that no hyperplane separates.
    AdaTron : The hyperplane of largest stability.
    is_separable : Tell whether a hyperplane separates the classes.

    Notes
    -----
    With a free threshold the examples are learned in pairs: each together with the one of the
    other class that was the worst when all were looked at last, twice a sweep, if their potentials
    do not add up to more than ``2 c``. The threshold is in the middle of the gap. Weights are
    compared with the best ones now and then within sweeps, not after every update.

    References
    ----------
    Rosenblatt (1958), *The perceptron*, Psychological Review 65.

    Biehl (lecture notes), section 3.3.

    Examples
    --------
    >>> from protolearn import Rosenblatt
    >>> from protolearn.datasets import make_teacher_student
    >>> X, y = make_teacher_student(100, 10, random_state=0)
    >>> model = Rosenblatt(fit_intercept=False).fit(X, y)
    >>> model.score(X, y), model.stability_ > 0
    (1.0, True)
    """

    def __init__(
        self,
        *,
        c: float = 0.0,
        order: Any = "cyclic",
        fit_intercept: Any = "clamped",
        class_weight: Any = None,
        max_iter: int = 1000,
        keep: str = "best",
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.c = c
        self.order = order
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.keep = keep
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "c", low=0.0)
        if self.class_weight is not None and threshold_kind(self) == "free":
            raise ValueError(
                "class_weight of Rosenblatt is not possible with fit_intercept='free', which "
                "learns one example of each class alike. Take 'clamped' or False."
            )

    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        orders = orders_of(self, len(examples.signs), rng)
        cyclic = not (isinstance(self.order, str) and self.order == "random")
        c = float(self.c)
        if examples.weight is None:
            unit, converged = learn_mistakes(examples, orders, c, training, cyclic=cyclic)
        else:
            rule = LearningRule.of(learn_if_low, (c,), examples)
            unit, change, _ = follow_rule(examples, lambda n_iter: rule, orders, training, None)
            converged = change == 0.0
            unit = unit if not converged else unit._replace(**unit.state("last")._asdict())
        return unit if converged else unit._replace(complaint=not_separated(self, examples))


def learn_mistakes(
    examples: Examples,
    orders: Iterator[Indices],
    c: float,
    training: Training,
    *,
    cyclic: bool = False,
) -> tuple[Unit, bool]:
    """Return the unit that learns examples in orders, and whether one passed without a mistake.

    The errors of the weights are counted after each sweep, and now and then within one: rows that
    are sorted by class give the weights at the end of every sweep the same bias. ``cyclic`` orders
    are all the same, and several sweeps can be made in one go.
    """
    w, u = examples.first_sums(), examples.first_strengths()
    best, n_iter, updates, mistakes, aged = examples.best(), 0, 0, 1, FIRST_LOOK
    hard, known, size = examples.hard_rows(best), best.errors, examples.inputs.size
    training.see(examples, w / size, u, 0)
    while n_iter < training.max_iter and mistakes and not training.stopped:
        order = next(orders)
        n = len(order)
        cut = comparison_point(n_iter + 1, n)
        at_once = cyclic and cut == n and not training.watched and not examples.free
        times = min(RARER - (n_iter + 1) % RARER, training.max_iter - n_iter) if at_once else 1
        if n_iter >= aged and best.errors < known:
            aged, known = 4 * n_iter, best.errors
            hard = examples.hard_rows(best)
        presented = Presented(examples, training, c, n_iter + 1, hard, best.errors)
        mistakes = 0
        for part in (order[:cut], order[cut:]) if cut < n else (order,):
            done, made, last, few = presented.learn(part, times, w, u)
            updates, mistakes = updates + made, mistakes + last
            if few:
                examples.offer(best, w, u)
        n_iter += done
        if training.watched and not training.by_step:
            training.see(examples, w / size, u, n_iter)
        training.report(n_iter, f"{mistakes} mistakes", last=mistakes == 0)
    if mistakes == 0:
        best = Best(examples.signs, examples.free)  # these weights and no others
        examples.offer(best, w, u)
    return examples.unit(best, u, updates, n_iter), mistakes == 0


class Presented(NamedTuple):
    """Examples that are presented, and how errors are counted."""

    examples: Examples
    training: Training
    c: float
    n_iter: int  # the number of the sweep
    hard: Any  # examples whose errors are counted first
    most: int  # errors

    def learn(self, order: Indices, times: int, w: Floats, u: Floats) -> tuple[int, ...]:
        """Learn the examples with ``E <= c``.

        Return how many times all were presented, the number of mistakes, that of the last time,
        and whether the weights may have no more than ``most`` errors.
        """
        examples, size = self.examples, self.examples.inputs.size
        rows, most = examples.mirrored_rows, -1 if self.training.by_step else self.most
        if examples.free:
            partners = worst_partners(examples, order, w)
        made = position = 0
        for part in self.training.parts(order):
            if examples.free:
                others = partners[position : (position := position + len(part))]
                state = np.zeros(6, dtype=np.intp)  # no credit: errors are not counted
                draw(rows, part, others, False, 0, 2 * size * self.c, 0, w, u, state, self.hard)
                done, total, last, few = 1, state[MISTAKES], state[MISTAKES], 1
            else:
                done, total, last, few = sweep(
                    rows, part, times, size * self.c, w, u, self.hard, most
                )
            made += int(total)
            if self.training.by_step:
                self.training.see(examples, w / size, u, self.n_iter, part)
                few, last = 1, made
            if self.training.stopped:
                break
        return int(done), made, int(last), few


def worst_partners(examples: Examples, order: Indices, w: Floats) -> Indices:
    """Return for each example the worst of the other class as it is now."""
    potentials = examples.mirrored_rows @ w
    worst = [each[potentials[each].argmin()] for each in examples.classes()]
    return np.where(examples.signs[order] > 0.0, *worst)
