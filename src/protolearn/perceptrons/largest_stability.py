"""The perceptron of largest stability: AdaTron, with or without errors, and MinOver."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats
from .._validation import check_number, check_positive
from .embedding_steps import LeastPotentialLearner
from .examples import Best, Examples, Inputs, Unit, hebbian
from .optimum import Goal, Optimum, optimum
from .perceptron import VANISHED, Perceptron, TrainingLog, nothing_separates, separability_call
from .products import LinearProducts, Products


class AdaTron(Perceptron):
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
    eta : float, default=1.5
        Length of a step, more than 0 and less than 2. At 1 the step ends where it gains most.
    fit_intercept : {"clamped", "free", False}, default="free"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none.
    tol : float, default=1e-6
        Training ends when the conditions of the optimum are violated by no more, in units of
        the potential 1 that supporting examples have; less than 1.
    max_iter : int, default=10000
        Most sweeps; a sweep is as many steps as there are examples.
    verbose : int, default=0
        Whether to print lines while training.

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

    References
    ----------
    Anlauf and Biehl (1989), *The AdaTron: an adaptive perceptron algorithm*, Europhysics
    Letters 10.

    Biehl, *The shallow and the deep*, sections 3.6 and 4.1.

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
        eta: float = 1.5,
        fit_intercept: Any = "free",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        verbose: int = 0,
    ):
        self.gamma = gamma
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_ascent(self)

    def _learn(self, examples: Examples, rng: np.random.RandomState) -> Unit:
        products = LinearProducts(examples.inputs)
        trained = train(self, products, examples.signs, examples.name)
        return trained._replace(weights=examples.weights(trained.strengths))


class MinOver(Perceptron):
    """The perceptron of largest stability, by Hebbian steps.

    Each update learns the example with the least potential, ``w += y x / N``; with a free
    threshold the one of each class. The stability comes ever closer to the largest, slowly: the
    gap is about inverse to the number of updates. It is known how close it is, for no weights
    have a stability above ``N |w| / sum u``.

    Parameters
    ----------
    fit_intercept : {"clamped", "free", False}, default="free"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none.
    tol : float, default=1e-4
        Training ends when the stability is short of the largest by no more than this part of it.
        The cosine between the weights and the best ones is then at least ``1 - tol``.
    max_iter : int, default=1000000
        Most updates.
    verbose : int, default=0
        Whether to print lines while training.

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

    Biehl, *The shallow and the deep*, section 3.5.

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
        verbose: int = 0,
    ):
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(self, "tol")

    def _learn(self, examples: Examples, rng: np.random.RandomState) -> Unit:
        learned, best = LeastPotentialLearner(examples), examples.best()
        progress = TrainingLog(self.verbose, examples.name, "update")
        longest = float(np.sqrt(examples.inputs.squares.max() * examples.inputs.size))
        most, updates, closed, vanished = int(self.max_iter), 0, False, False
        u = hebbian(examples.signs, examples.free)  # inseparable examples may lead to worse
        examples.offer(best, (u * examples.signs) @ examples.inputs.rows, u)
        while updates < most and not closed and not vanished:
            part = min(max(len(learned.u), most // 100), most - updates)
            made, closed = learned.learn(part, float(self.tol))
            updates += made
            if closed:
                best = examples.best()  # these and no others
            best.offer(learned.fields, learned.length, learned.u)
            gap = 1.0 - best.stability / learned.largest if learned.largest > 0.0 else np.inf
            vanished = learned.largest <= VANISHED * longest
            progress.report(updates, f"gap {gap:.1e}", last=closed)
        complaint = "" if closed else self._complaint(examples.name, gap, vanished)
        unit = examples.unit(best, updates, -(-updates // len(learned.u)), complaint)
        return unit._replace(details=gap)

    def _store(self, units: list[Unit], inputs: Inputs) -> None:
        super()._store(units, inputs)
        self.gap_ = max(unit.details for unit in units)

    def _complaint(self, name: str, gap: float, vanished: bool) -> str:
        """Return why the stability is not the largest, and what to do."""
        if vanished:
            return nothing_separates(self, name)
        return (
            f"MinOver is not sure of the largest stability for {name} after {self.max_iter} "
            f"updates: the gap is {gap:.1e}, tol={self.tol:g}. Raise max_iter or tol, or use "
            f"AdaTron; {separability_call(self)} tells whether a hyperplane separates the classes "
            "at all."
        )


def train(model: Any, products: Products, signs: Floats, name: str) -> Unit:
    """Return the unit of largest stability for ``gamma``, ``eta``, ``tol`` and ``max_iter``.

    It has no weights yet: in the space of a kernel there are none.
    """
    free = model.fit_intercept == "free"
    gamma = np.inf if is_endless(model.gamma) else float(model.gamma)
    goal = Goal(float(model.eta), gamma, free, float(model.tol), int(model.max_iter))
    best, n = Best(signs, free), len(signs)

    def offer(u: Floats, E: Floats) -> None:
        best.offer(signs * E, float(np.sqrt(np.maximum(u @ E, 0.0))), u)

    found = optimum(products, signs, goal, TrainingLog(model.verbose, name), offer)
    n_iter = max(-(-found.steps // n), 1)
    unit = Unit(np.empty(0), found.threshold, found.strengths, found.steps, n_iter)
    if found.violation <= goal.tol:
        return unit
    unit = unit._replace(complaint=not_optimal(model, found, name))
    if gamma < np.inf:
        return unit
    u = hebbian(signs, free)  # what inseparable examples have led to may be worse
    offer(u, signs * products.sums(np.arange(n), signs * u))
    return unit._replace(threshold=best.threshold, strengths=best.strengths)


def not_optimal(model: Any, found: Optimum, name: str) -> str:
    """Return why the optimum was not reached, and what to do."""
    endless = is_endless(model.gamma)
    if endless and found.bound < VANISHED:
        return nothing_separates(model, name)
    allow = "set a finite gamma if nothing separates them" if endless else "lower gamma"
    return (
        f"{type(model).__name__} has not found the optimum for {name} after {model.max_iter} "
        f"sweeps: its conditions are violated by {found.violation:.1e}, tol={model.tol:g}. Raise "
        f"max_iter or tol, scale the features, or {allow}."
    )


def check_ascent(model: Any) -> None:
    """Raise if a parameter of the ascent is wrong."""
    if not is_endless(model.gamma):
        check_positive(model, "gamma")
    check_number(model, "eta", low=0.0, high=2.0, above=True, below=True)
    check_number(model, "tol", low=0.0, high=1.0, above=True, below=True)


def is_endless(gamma: Any) -> bool:
    """Whether strengths have no bound."""
    return gamma is None or (isinstance(gamma, (float, np.floating)) and gamma == np.inf)
