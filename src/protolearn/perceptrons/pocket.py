"""The pocket algorithm: a perceptron that never rests, and the best weights it came by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .base import Perceptron
from .conflicts import fewest_errors
from .examples import Best, Examples, Inputs, Unit
from .optimum import Goal, optimum
from .orders import Draws
from .presentation import AHEAD, FEWEST, LONGEST, MISTAKES, PRICE, RUN, SORTING, draw
from .products import LinearProducts
from .progress import Progress
from .shared import documented

FEW = 32
"""Up to so many examples errors are counted whenever the rule says so, and in the end the fewest
possible ones are looked for."""


@documented
class Pocket(Perceptron):
    """The pocket algorithm with ratchet.

    Examples are drawn at random, and a perceptron learns from its mistakes. If its present run of
    correct answers is longer than that of the weights in the pocket, the errors over all examples
    are counted, and weights with fewer errors (or as many, and a larger stability) go into the
    pocket. So the pocket never gets worse. The more examples are drawn, the more likely it holds
    the fewest errors that a hyperplane can have; training ends after ``max_iter`` sweeps, or when
    there are none. Of up to 32 examples the fewest errors are then found exactly, unless there are
    too many of them.

    Parameters
    ----------
    {fit_intercept}
    max_iter : int, default=1000
        Most sweeps; in each as many examples are drawn as there are.
    {verbose}
    {random_state}

    Attributes
    ----------
    {attributes}
    errors_curve_ : list of arrays
        Number of errors of the weights in the pocket after each sweep, for each unit.
    optimal_ : array of bool of shape (n_units,)
        Whether it is certain that no hyperplane has fewer errors.

    See Also
    --------
    Rosenblatt : The perceptron algorithm alone.
    AdaTron : Few errors and a wide margin, with a finite ``gamma``.

    Notes
    -----
    With a free threshold examples are drawn and learned in pairs of one of each class, and the
    errors are counted with the best threshold.

    Counting errors takes longer than learning. With more than 32 examples it is put off until
    enough others were presented, so that only long runs lead to a count.

    A perceptron may never come by the weights with the fewest errors, if only few weights are as
    good. So a search ends the training where there are few examples. Some of them are in conflict:
    no hyperplane has all of these right. One of each conflict is left out, in all ways that could
    lead to fewer errors than those in the pocket, until no conflict is left or a thousand were
    found. The others get the hyperplane of largest stability.

    References
    ----------
    Gallant (1990), *Perceptron-based learning algorithms*, IEEE Transactions on Neural Networks 1.

    Biehl, *The shallow and the deep*, section 4.1.

    Examples
    --------
    >>> from protolearn import Pocket
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = Pocket(random_state=0).fit(X, y)
    >>> int(model.errors_curve_[0][-1])
    1
    >>> model.optimal_
    array([ True])
    """

    errors_curve_: list[Indices]
    optimal_: NDArray[np.bool_]

    def __init__(
        self,
        *,
        fit_intercept: Any = "clamped",
        max_iter: int = 1000,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, examples: Examples, rng: np.random.RandomState) -> Unit:
        progress = Progress(self.verbose, examples.name)
        best, curve, mistakes = fill(examples, rng, int(self.max_iter), progress)
        optimal = best.errors == 0
        if not optimal and len(examples.signs) <= FEW:
            optimal = improve(best, examples)
            curve[-1] = best.errors
        details = Story(np.array(curve), optimal)
        return examples.unit(best, mistakes, len(curve))._replace(details=details)

    def _store(self, units: list[Unit], inputs: Inputs) -> None:
        super()._store(units, inputs)
        self.errors_curve_ = [unit.details.curve for unit in units]
        self.optimal_ = np.array([unit.details.optimal for unit in units])


class Story(NamedTuple):
    """The errors in the pocket after each sweep, and whether there can be no fewer."""

    curve: Indices
    optimal: bool


def fill(
    examples: Examples, rng: np.random.RandomState, max_iter: int, progress: Progress
) -> tuple[Best, list[int], int]:
    """Draw examples, learn from mistakes, and keep the best weights.

    Give what is in the pocket, its errors after each sweep, and the number of mistakes.
    """
    n = len(examples.signs)
    w, u, state = examples.no_weights(), np.zeros(n), np.zeros(6, dtype=np.intp)
    best, curve, draws, ahead = examples.best(), list[int](), Draws(rng), np.empty(AHEAD)
    price = SORTING if examples.free else PRICE
    state[FEWEST], earned = best.errors, 1 + price * FEW**2 // n
    while len(curve) < max_iter and best.errors > 0:
        order, partners = drawn(examples, draws)
        position = 0
        while position < n and best.errors > 0:
            position, hopeful = draw(
                *(examples.mirrored, order, partners, position, 0.0, earned, w, u, state, ahead)
            )
            if hopeful and examples.offer(best, w, u):
                state[LONGEST], state[FEWEST] = state[RUN], best.errors
        curve.append(best.errors)
        progress.tell(len(curve), f"{best.errors} errors", last=best.errors == 0)
    return best, curve, int(state[MISTAKES])


def improve(best: Best, examples: Examples) -> bool:
    """Look for fewer errors than the pocket has; tell whether it has the fewest then."""
    inputs, threshold = examples.inputs, examples.free or examples.inputs.clamped
    rows = inputs.rows[:, : inputs.size - inputs.clamped]
    right, certain = fewest_errors(rows, examples.signs, threshold, best.errors)
    if right is None:
        return certain
    u = np.zeros(len(right))
    u[right] = widest(replace(inputs, rows=inputs.rows[right]), examples.signs[right])
    examples.offer(best, (u * examples.signs) @ inputs.rows, u)
    return certain and best.errors == np.count_nonzero(~right)


def widest(inputs: Inputs, signs: Floats) -> Floats:
    """Return the strengths of the hyperplane of largest stability, as the AdaTron does."""
    free = inputs.center is not None
    goal = Goal(eta=1.5, gamma=np.inf, pairs=free, tol=1e-6, max_iter=10_000)
    found = optimum(LinearProducts(inputs), signs, goal, Progress(0, ""), lambda u, E: None)
    return found.strengths


def drawn(examples: Examples, draws: Draws) -> tuple[Indices, Indices]:
    """Draw as many examples as there are; with a free threshold one of the other class to each."""
    n = len(examples.signs)
    order = draws(n, n)
    if not examples.free:
        return order, np.full(n, -1, dtype=np.intp)
    negative, positive = (each[draws(len(each), n)] for each in examples.classes())
    return order, np.where(examples.signs[order] > 0.0, negative, positive)
