"""Rosenblatt's perceptron: learn what is not learned yet, until nothing is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from .._validation import check_choice, check_number
from .examples import Examples, Unit
from .perceptron import Perceptron, TrainingLog, not_separated
from .presentation import (
    AHEAD,
    MISTAKES,
    ORDERS,
    RARER,
    comparison_point,
    draw,
    has_at_most,
    random_orders,
    row_order,
    sweep,
    sweeps_before_comparison,
)


class Rosenblatt(Perceptron):
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
    order : {"cyclic", "random"}, default="cyclic"
        Present the examples always in the order of the rows, or in a new random order each time.
    fit_intercept : {"clamped", "free", False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none.
    max_iter : int, default=1000
        Most sweeps through the examples.
    verbose : int, default=0
        Whether to print lines while training.
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in sorted order.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        The weights ``w = sum u_i y_i x_i / N``; a clamped input counts in the number N of inputs.
    intercept_ : array of shape (1,), or (n_classes,)
        Minus the thresholds.
    embedding_strengths_ : array of shape (1, n_samples), or (n_classes, n_samples)
        The embedding strengths ``u`` of the examples.
    support_ : array of int
        Examples with an embedding strength other than zero.
    stability_ : float
        The least stability of the examples, negative if there are errors.
    n_updates_ : int
        How many times weights were changed, in all.
    n_iter_ : int
        Number of sweeps; with several classes, the largest.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had names of type str.

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

    Biehl, *The shallow and the deep*, section 3.3.

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
        order: str = "cyclic",
        fit_intercept: Any = "clamped",
        max_iter: int = 1000,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.c = c
        self.order = order
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "c", low=0.0)
        check_choice(self, "order", ORDERS)

    def _learn(self, examples: Examples, rng: np.random.RandomState) -> Unit:
        n = len(examples.signs)
        cyclic = self.order == "cyclic"
        orders = row_order(n) if cyclic else random_orders(n, rng)
        progress = TrainingLog(self.verbose, examples.name)
        unit, converged = learn_mistakes(
            examples, orders, float(self.c), int(self.max_iter), progress, cyclic=cyclic
        )
        return unit if converged else unit._replace(complaint=not_separated(self, examples))


def learn_mistakes(
    examples: Examples,
    orders: Iterator[Indices],
    c: float,
    max_iter: int,
    progress: TrainingLog,
    *,
    cyclic: bool = False,
) -> tuple[Unit, bool]:
    """Return the unit that learns examples in orders, and whether one passed without a mistake.

    ``cyclic`` orders are all the same, and several sweeps can be made in one go.
    """
    w, u = examples.no_weights(), np.zeros(len(examples.signs))
    best, n_iter, updates, mistakes = examples.best(), 0, 0, 1
    present, rarer = (present_pairs, 1) if examples.free else (present_all, RARER)
    while n_iter < max_iter and mistakes:
        order = next(orders)
        cut, before = comparison_point(n_iter + 1, len(order), rarer), 0
        if cut < len(order):
            _, before, _ = present(examples, order[:cut], 1, c, w, u)
            if examples.free or has_at_most(examples.mirrored_rows, w, best.errors):
                examples.offer(best, w, u)
            order, times = order[cut:], 1
        else:
            times = min(sweeps_before_comparison(n_iter + 1), max_iter - n_iter) if cyclic else 1
        done, made, mistakes = present(examples, order, times, c, w, u)
        n_iter, updates, mistakes = n_iter + done, updates + made + before, mistakes + before
        progress.report(n_iter, f"{mistakes} mistakes", last=mistakes == 0)
    if mistakes == 0:
        best = examples.best()  # these weights and no others
    examples.offer(best, w, u)
    return examples.unit(best, updates, n_iter), mistakes == 0


Presented = tuple[int, int, int]
"""Number of sweeps, of mistakes, and of mistakes in the last sweep."""


def present_all(
    examples: Examples, order: Indices, times: int, c: float, w: Floats, u: Floats
) -> Presented:
    """Present each example; learn those with ``E <= c``."""
    return sweep(examples.mirrored_rows, order, times, examples.inputs.size * c, w, u)


def present_pairs(
    examples: Examples, order: Indices, times: int, c: float, w: Floats, u: Floats
) -> Presented:
    """Present each example once, with the worst of the other class as it is now."""
    potentials = examples.mirrored_rows @ w
    worst = [each[potentials[each].argmin()] for each in examples.classes()]
    partners = np.where(examples.signs[order] > 0.0, *worst)
    state = np.zeros(6, dtype=np.intp)  # no credit: errors are not counted
    enough = 2.0 * examples.inputs.size * c
    draw(examples.mirrored_rows, order, partners, 0, enough, 0, w, u, state, np.empty(AHEAD))
    return 1, int(state[MISTAKES]), int(state[MISTAKES])
