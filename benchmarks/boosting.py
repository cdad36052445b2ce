"""Boosted prototypes: a round against one product of the samples with a vector."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_classification

from protolearn.linear.ada_boost import START, Aggregate, Ball, boost
from protolearn.linear.canonical import CenteredFrame

from .measure import HEADING, Row, Table, best_of

SHAPES = ((400, 6), (1000, 50), (5000, 10), (10000, 100))


def tables() -> Iterator[Table]:
    """Give the table."""
    yield Table(HEADING, rows())


def rows() -> Iterator[Row]:
    """Time rounds with hard and with soft margins."""
    for n, d in SHAPES:
        X, y = make_classification(n, d, flip_y=0.1, random_state=0)
        signs = np.where(y == 1, 1.0, -1.0)
        for name, C in (("hard", np.inf), ("soft", 1.0)):
            yield row(name, Ball.of(CenteredFrame.of(X), signs, C))


def row(name: str, ball: Ball) -> Row:
    """Time as many rounds as products."""
    n, d = ball.rows.shape
    times = max(10_000_000 // (n * d), 10)
    w = np.ones(d)

    def boosted() -> None:
        boost(ball.rows, ball.split, ball.slack, 1.0, 0.0, times, *START, *Aggregate.empty(n))

    def products() -> None:
        for _ in range(times):
            ball.rows @ w

    seconds, product = best_of(boosted, products, repeats=15)
    against = f"Z @ w, {times} times"
    return Row(f"{times} rounds, {name}, {n} x {d}", seconds, against, product, 3.0)
