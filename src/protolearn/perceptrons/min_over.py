"""MinOver: always learn the example with the least potential."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_positive
from .base import Perceptron
from .examples import Examples, Inputs, Unit, hebbian
from .least_potential import Learned
from .progress import Progress
from .shared import VANISHED, documented, nothing_separates, question


@documented
class MinOver(Perceptron):
    """The perceptron of largest stability, by Hebbian steps.

    Each update learns the example with the least potential, ``w += y x / N``; with a free
    threshold the one of each class. The stability comes ever closer to the largest, slowly: the
    gap is about inverse to the number of updates. It is known how close it is, for no weights
    have a stability above ``N |w| / sum u``.

    Parameters
    ----------
    {free_intercept}
    tol : float, default=1e-4
        Training ends when the stability is short of the largest by no more than this part of it.
        The cosine between the weights and the best ones is then at least ``1 - tol``.
    max_iter : int, default=1000000
        Most updates.
    {verbose}

    Attributes
    ----------
    {attributes}
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
        learned, best = Learned(examples), examples.best()
        progress = Progress(self.verbose, examples.name, "update")
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
            progress.tell(updates, f"gap {gap:.1e}", last=closed)
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
            f"AdaTron; {question(self)} tells whether a hyperplane separates the classes at all."
        )
