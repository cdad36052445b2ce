"""The hypothesis margin of a linear classifier, as a formula of a graph."""

from __future__ import annotations

from typing import Any

from .tensor import Tensor


def reach(
    lead: Tensor, shrinking: list[Tensor], growing: list[Tensor], weight: list[Any]
) -> Tensor:
    """Return how far prototypes may move before a lead is lost, which is not negative.

    As in ``analysis.margins``: it solves ``lead = 2 theta sum a d + sum_come a (theta -
    d)^2`` for theta, the second sum over those among the shrinking distances that theta exceeds.
    """
    pace = total([(s + g) * a for s, g, a in zip(shrinking, growing, weight, strict=True)])
    come = []
    for s, a in zip(shrinking, weight, strict=True):
        past = [
            (s - other).positive().squared() * b for other, b in zip(shrinking, weight, strict=True)
        ]
        lost = s * pace * 2.0 + total(past)
        come.append((lost * 0.0).replaced(lost < lead, a))
    alpha = total(come)
    beta = total(
        [g * a + (-c + a) * s for s, g, a, c in zip(shrinking, growing, weight, come, strict=True)]
    )
    gamma = (
        lead - total([c * s.squared() for s, c in zip(shrinking, come, strict=True)])
    ).positive()
    denominator = beta + (beta.squared() + alpha * gamma).root()
    return (gamma * 0.0).replaced(denominator > 0.0, gamma / denominator)


def total(tensors: list[Tensor]) -> Tensor:
    """Add up some tensors."""
    result = tensors[0]
    for each in tensors[1:]:
        result = result + each
    return result
