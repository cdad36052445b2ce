"""The Bayes point: the centre of all perceptrons that have learned the examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_integer, check_number
from .base import Perceptron
from .examples import Examples, Unit
from .orders import random_orders
from .progress import Progress
from .rosenblatt import learn_mistakes
from .shared import documented, not_separated


@documented
class BayesPoint(Perceptron):
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
    {fit_intercept}
    max_iter : int, default=1000
        Most sweeps of each perceptron.
    {verbose}
    {random_state}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Rosenblatt : One such perceptron.
    AdaTron : The hyperplane of largest stability, near the centre too.

    Notes
    -----
    Perceptrons do not cover the version space evenly. If no hyperplane separates the classes, the
    best of the perceptrons and their mean is kept, with a warning: that with the fewest errors.

    References
    ----------
    Herbrich, Graepel and Campbell (2001), *Bayes point machines*, Journal of Machine Learning
    Research 1.

    Biehl, *The shallow and the deep*, section 3.4.

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
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.n_estimators = n_estimators
        self.c = c
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self, "n_estimators", low=1)
        check_number(self, "c", low=0.0)

    def _learn(self, examples: Examples, rng: np.random.RandomState) -> Unit:
        orders, silent = random_orders(len(examples.signs), rng), Progress(0, examples.name)
        progress = Progress(self.verbose, examples.name, "perceptron")
        count, best, complaint = int(self.n_estimators), examples.best(), ""
        nothing = np.zeros(len(examples.signs))
        mean = Unit(examples.weights(nothing), 0.0, nothing, 0, 0)
        for k in range(1, count + 1):
            unit, separated = learn_mistakes(
                examples, orders, float(self.c), int(self.max_iter), silent
            )
            progress.tell(k, f"{unit.n_updates} updates in {unit.n_iter} sweeps", last=k == count)
            mean = added(mean, unit, count)
            if not separated:
                complaint = not_separated(self, examples)
                examples.offer(best, unit.weights * examples.inputs.size, unit.strengths)
        if not complaint:
            return mean
        examples.offer(best, mean.weights * examples.inputs.size, mean.strengths)
        return examples.unit(best, mean.n_updates, mean.n_iter, complaint)


def added(mean: Unit, unit: Unit, count: int) -> Unit:
    """Add one of ``count`` units, at unit length, to their mean."""
    length = float(np.linalg.norm(unit.weights))
    share = 1.0 / (count * length) if length > 0.0 else 0.0
    return Unit(
        mean.weights + share * unit.weights,
        mean.threshold + share * unit.threshold,
        mean.strengths + share * unit.strengths,
        mean.n_updates + unit.n_updates,
        max(mean.n_iter, unit.n_iter),
    )
