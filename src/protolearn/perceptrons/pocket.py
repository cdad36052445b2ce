"""The pocket algorithm: a perceptron that never rests, and the best weights it came by."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parameters import Indices
from .base import Perceptron
from .examples import Examples, Inputs, Unit
from .orders import Draws
from .presentation import FEWEST, LONGEST, MISTAKES, PRICE, RUN, SORTING, draw
from .progress import Progress
from .shared import documented

FEW = 32
"""Up to so many examples errors are counted whenever the rule says so."""


@documented
class Pocket(Perceptron):
    """The pocket algorithm with ratchet.

    Examples are drawn at random, and a perceptron learns from its mistakes. If its present run of
    correct answers is longer than that of the weights in the pocket, the errors over all examples
    are counted, and weights with fewer errors (or as many, and a larger stability) go into the
    pocket. So the pocket never gets worse. The more examples are drawn, the more likely it holds
    the fewest errors that a hyperplane can have; training ends after ``max_iter`` sweeps, or when
    there are none.

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
    """

    errors_curve_: list[Indices]

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
        inputs, n = examples.inputs, len(examples.signs)
        w, u, state = np.zeros(inputs.rows.shape[1]), np.zeros(n), np.zeros(6, dtype=np.intp)
        best, curve, draws = examples.best(), [], Draws(rng)
        progress = Progress(self.verbose, examples.name)
        price = SORTING if examples.free else PRICE
        state[FEWEST], earned = best.errors, 1 + price * FEW**2 // n
        for n_iter in range(1, int(self.max_iter) + 1):
            order, partners = drawn(examples, draws)
            position = 0
            while position < n and best.errors > 0:
                position, hopeful = draw(
                    *(inputs.rows, examples.signs, order, partners, position),
                    *(0.0, earned, w, u, state),
                )
                if hopeful and examples.offer(best, w, u):
                    state[LONGEST], state[FEWEST] = state[RUN], best.errors
            curve.append(best.errors)
            progress.tell(n_iter, f"{best.errors} errors", last=best.errors == 0)
            if best.errors == 0:
                break
        unit = examples.unit(best, int(state[MISTAKES]), n_iter)
        return unit._replace(details=np.array(curve))

    def _store(self, units: list[Unit], inputs: Inputs) -> None:
        super()._store(units, inputs)
        self.errors_curve_ = [unit.details for unit in units]


def drawn(examples: Examples, draws: Draws) -> tuple[Indices, Indices]:
    """Draw as many examples as there are; with a free threshold one of the other class to each."""
    n = len(examples.signs)
    order = draws(n, n)
    if not examples.free:
        return order, np.full(n, -1, dtype=np.intp)
    negative, positive = (each[draws(len(each), n)] for each in examples.classes())
    return order, np.where(examples.signs[order] > 0.0, negative, positive)
