"""The rounds of boosting between two classes, and what they leave behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._arrays import Floats, Indices, as_floats
from ...one_versus_rest import Problem
from ..canonical import Canonical, Expansion, Frame, canonical
from ..mean_of_class import class_means, middle_offset
from .ada_boost import START, VANISHED, Aggregate, Progress, boost

HOPELESS = 1e-3
"""Margin, as a part of the radius of the data, that is not worth looking for."""

WORK = 1e8
"""Multiplications between two looks at the keyboard."""

Report = Callable[[Progress, float, bool], None]
"""Takes how far it has come, the unit of the margins, and whether that was all."""


class Settings(NamedTuple):
    """The parameters of boosting; ``C`` in the units of the frame."""

    C: float
    epsilon: float
    max_iter: int
    tol: float


class Ball(NamedTuple):
    """The samples as boosting takes them: in the unit ball, class by class.

    Attributes
    ----------
    rows : array (n, d)
        The samples, those of the positive class first.
    order : array (n,)
        Which samples they are.
    split : int
        How many are positive.
    slack : float
        Square of the coordinate that each sample has for itself.
    radius : float
        The unit of the ball, in the units of the frame.
    """

    rows: Floats
    order: Indices
    split: int
    slack: float
    radius: float

    @classmethod
    def of(cls, frame: Frame, signs: Floats, C: float) -> Ball:
        """Return the samples, lengthened by ``1 / sqrt(C)``, within the unit ball."""
        order = np.argsort(-signs, kind="stable")
        largest = float(np.einsum("ij,ij->i", frame.rows, frame.rows).max())
        slack = 1.0 / (1.0 + C * largest) if largest > 0.0 else float(np.isfinite(C))
        factor = np.sqrt((1.0 - slack) / largest) if largest > 0.0 else 1.0
        return cls(
            rows=as_floats(factor * frame.rows[order]),
            order=order,
            split=int(np.sum(signs > 0.0)),
            slack=slack,
            radius=float(np.sqrt(largest + 1.0 / C)),
        )


class Step(NamedTuple):
    """The aggregate after some round; its margin and the bound in the units of the samples."""

    round: int
    form: Canonical
    margin: float
    bound: float


class Boosted(NamedTuple):
    """All that boosting between some classes has to tell."""

    name: str
    steps: list[Step]
    n_iter: int
    gap: float
    converged: bool
    hopeless: bool


class Rounds:
    """Boosting between two classes of the rows of a frame."""

    def __init__(self, frame: Frame, problem: Problem, settings: Settings):
        self.frame, self.settings = frame, settings
        self.signs, self.name = problem.signs, problem.name
        self.ball = Ball.of(frame, self.signs, settings.C)
        self.aggregate = Aggregate.empty(len(self.signs))
        self.progress = START

    def run(self, report: Report) -> Expansion:
        """Make the rounds; give the aggregate with the largest margin."""
        steps: list[Step] = []
        while not self.ended():
            self.advance(next_step(self.progress.rounds), report)
            if self.progress.best > 0:
                steps.append(self.step(self.progress.rounds, self.aggregate.gamma))
        best = max(self.progress.best, 1)
        gamma = self.aggregate.best
        if self.progress.best == 0:  # the means of the classes coincide
            gamma = class_means(self.frame, self.signs).gamma[self.ball.order]
        steps = [step for step in steps if step.round < best]
        steps.append(self.step(best, gamma))
        return self.hyperplane(gamma)[0]._replace(details=self.told(steps))

    def advance(self, last: int, report: Report) -> None:
        """Make rounds up to some round, a few at a time, so that they can be interrupted."""
        _, epsilon, max_iter, tol = self.settings
        rows, _, split, slack, radius = self.ball
        last = min(last, max_iter)
        piece = max(int(WORK / (rows.size + 1000)), 1)
        while self.progress.rounds < last and not self.ended():
            end = min(self.progress.rounds + piece, last)
            made = boost(rows, split, slack, epsilon, tol, end, *self.progress, *self.aggregate)
            self.progress = Progress(*made)
            report(self.progress, radius * self.frame.scale, self.ended())

    def ended(self) -> bool:
        """Whether no further round is needed, or allowed, or of any use."""
        full = self.progress.rounds >= self.settings.max_iter
        return full or self.progress.closed == 1 or self.hopeless()

    def gap(self) -> float:
        """Return the part of the bound that the largest margin is short of."""
        upper, lower = self.progress.upper, self.progress.lower
        return (upper - lower) / upper if 0.0 < upper < np.inf else np.inf

    def hopeless(self) -> bool:
        """Whether the hulls of the classes meet, as far as it matters."""
        upper, lower = self.progress.upper, self.progress.lower
        if upper <= 0.5 * VANISHED:
            return True
        hard = self.ball.slack == 0.0
        return hard and lower <= 0.0 and upper <= min(self.settings.tol, HOPELESS)

    def told(self, steps: list[Step]) -> Boosted:
        """Return how it went."""
        _, _, margin, bound = steps[-1]
        hopeless, closed = self.hopeless(), self.progress.closed == 1
        return Boosted(
            name=self.name,
            steps=steps,
            n_iter=max(self.progress.rounds, 1),
            gap=max(1.0 - margin / bound, 0.0) if bound > 0.0 else np.inf,
            converged=not hopeless and (closed or self.gap() <= self.settings.tol),
            hopeless=hopeless,
        )

    def step(self, round: int, gamma: Floats) -> Step:
        """Return the aggregate of a round in canonical form, without its many coefficients."""
        expansion, margin = self.hyperplane(gamma)
        form = canonical(expansion, self.frame)._replace(gamma=np.empty(0))
        scale = self.frame.scale
        return Step(round, form, scale * margin, scale * self.ball.radius * self.progress.upper)

    def hyperplane(self, gamma: Floats) -> tuple[Expansion, float]:
        """Return the hyperplane halfway between the prototypes, and its margin in the frame."""
        unsorted = np.empty_like(gamma)
        unsorted[self.ball.order] = gamma
        products = self.frame.rows @ (unsorted @ self.frame.rows) + unsorted / self.settings.C
        offset = middle_offset(unsorted, products)
        size = np.sqrt(max(float(unsorted @ products), 0.0))
        nearest = float(np.min(self.signs * (products + offset)))
        return Expansion(unsorted, offset), nearest / size if size > 0.0 else 0.0


def next_step(round: int) -> int:
    """Return the round after this one that a path shows: all first ones, then one in every 25th."""
    return round + max(round // 25, 1)
