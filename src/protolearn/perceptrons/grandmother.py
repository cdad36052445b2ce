"""The grandmother unit: it knows one example, and tells it from all others.

The rows, centred and in units of their size, are put on the unit sphere by
``s = (2 x, |x|^2 - 1) / (|x|^2 + 1)``. There a perceptron with ``w = -s_p`` and the threshold
``delta - 1`` cuts off a cap around example p; no other example is in it if ``delta`` is less than
every ``1 - s_p.s_q = 2 |x_q - x_p|^2 / ((1 + |x_q|^2) (1 + |x_p|^2))``. Among the rows the cap is
a ball: with ``a = delta (1 + |x_p|^2) / 2`` its centre is ``x_p / (1 - a)``, and its squared radius
``a (1 + |x_p|^2 - a) / (1 - a)^2``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from .._arrays import Floats

LARGEST_CAP = 0.5
"""Most that ``a`` may be. From 1 on the cap would hold the pole, and not be a ball."""


class Frame(NamedTuple):
    """The middle of the rows, and the largest distance from it."""

    center: Floats
    size: float

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """Return the frame of rows that are not all equal."""
        center = rows.mean(axis=0)
        return cls(center, float(lengths(rows - center).max()))


@dataclass(frozen=True)
class Grandmother:
    """A unit that is negative for one example alone.

    Attributes
    ----------
    example : array (d,)
        The example.
    shift : array (d,)
        From it to the centre of the ball; differences of nearby rows keep all their digits.
    radius : float
        The radius of the ball.
    """

    example: Floats
    shift: Floats
    radius: float

    @classmethod
    def isolate(cls, rows: Floats, p: int, frame: Frame) -> Self:
        """Separate row p, and rows that are equal to it, from all others."""
        apart = lengths(rows - rows[p])
        others = apart > 0.0
        sizes = lengths(rows[others] - frame.center) / frame.size
        caps = (apart[others] / frame.size) ** 2 / (1.0 + sizes**2)
        a = min(0.5 * float(caps.min(initial=np.inf)), LARGEST_CAP)
        place = rows[p] - frame.center
        square = float(lengths(place[None])[0] / frame.size) ** 2
        radius = frame.size * np.sqrt(a * (1.0 + square - a)) / (1.0 - a)
        return cls(rows[p].copy(), a / (1.0 - a) * place, float(radius))

    def decision_function(self, X: Floats) -> Floats:
        """Return the distance to the border of the ball, negative inside."""
        return lengths((X - self.example) - self.shift) - self.radius


def lengths(rows: Floats) -> Floats:
    """Return the lengths of rows, zero for zeros alone: squares of tiny numbers would vanish."""
    largest = np.abs(rows).max(axis=1)
    unit = np.where(largest > 0.0, largest, 1.0)
    scaled = rows / unit[:, None]
    return largest * np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
