"""The AdaTron: the perceptron of largest stability, with or without errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats
from .._validation import check_number, check_positive
from .base import Perceptron
from .examples import Best, Examples, Unit, hebbian
from .optimum import Goal, Optimum, optimum
from .products import LinearProducts, Products
from .progress import Progress
from .shared import VANISHED, documented, nothing_separates

NONE = np.empty(0)


@documented
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
    {eta}
    {free_intercept}
    {optimum}
    {verbose}

    Attributes
    ----------
    {attributes}

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


def train(model: Any, products: Products, signs: Floats, name: str) -> Unit:
    """Find the embedding strengths of a model with ``gamma``, ``eta``, ``tol`` and ``max_iter``.

    The unit has no weights yet: in the space of a kernel there are none to give.
    """
    free = model.fit_intercept == "free"
    gamma = np.inf if is_endless(model.gamma) else float(model.gamma)
    goal = Goal(float(model.eta), gamma, free, float(model.tol), int(model.max_iter))
    best, n = Best(signs, free), len(signs)

    def seen(u: Floats, E: Floats) -> None:
        best.offer(signs * E, float(np.sqrt(np.maximum(u @ E, 0.0))), u)

    found = optimum(products, signs, goal, Progress(model.verbose, name), seen)
    n_iter = max(-(-found.steps // n), 1)
    if found.violation <= goal.tol:
        return Unit(NONE, found.threshold, found.strengths, found.steps, n_iter)
    complaint = not_optimal(model, found, name)
    if gamma < np.inf:
        return Unit(NONE, found.threshold, found.strengths, found.steps, n_iter, complaint)
    u = hebbian(signs, free)  # what inseparable examples have led to may be worse
    seen(u, signs * products.sums(np.arange(n), signs * u))
    return Unit(NONE, best.threshold, best.strengths, found.steps, n_iter, complaint)


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
