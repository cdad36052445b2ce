"""Examples of two classes as a perceptron sees them, and what it makes of them.

The input of a unit is a row ``x`` of N numbers, its potential for example i is
``E_i = y_i (w.x_i - theta)``, and an example is learned if ``E_i > 0``. A clamped threshold is the
weight of one more input, which is always -1; a free one is no weight, and is chosen for ``w``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from .._arrays import Floats, Indices

LANES = 8
"""Numbers that a row is made a multiple of, with zeros: the loops then have no remainder."""

ROUNDING = 1e-15
"""Part of the largest field by which those of equal rows may differ."""


@dataclass(frozen=True)
class Inputs:
    """The rows of a data set as inputs of units."""

    rows: Floats  # (n, at least N): the inputs, followed by zeros
    size: int  # N, the number of inputs, a clamped one included
    center: Floats | None  # what was subtracted from the rows: a free threshold makes up for it
    clamped: bool  # whether the last input is always -1

    @classmethod
    def of(cls, X: Floats, fit_intercept: Any, center: Floats | None = None) -> Self:
        """Return the inputs; with a free threshold relative to ``center``.

        By default its coordinates are some of the rows, lower medians: whole numbers stay whole,
        and equal rows cancel.
        """
        n, d = X.shape
        clamped = fit_intercept == "clamped"
        size = d + clamped
        rows = np.zeros((n, -(-size // LANES) * LANES))
        rows[:, :d] = X
        if clamped:
            rows[:, d] = -1.0
        if fit_intercept != "free":
            return cls(rows, size, None, clamped)
        if center is None:
            center = np.quantile(X, 0.5, axis=0, method="lower")
        rows[:, :d] -= center
        return cls(rows, size, center, clamped)

    @cached_property
    def squares(self) -> Floats:
        """``C_ii = |x_i|^2 / N``."""
        return np.einsum("ij,ij->i", self.rows, self.rows) / self.size


@dataclass(frozen=True)
class Examples:
    """Inputs with the classes that they belong to."""

    inputs: Inputs
    signs: Floats  # +1 and -1
    name: str  # what is to be separated, in words
    weight: Floats | None = None

    @property
    def free(self) -> bool:
        """Whether the threshold is free."""
        return self.inputs.center is not None

    @cached_property
    def mirrored_rows(self) -> Floats:
        """``y_i x_i``, so that all examples are meant to be positive."""
        rows = self.inputs.rows
        return np.multiply(self.signs[:, None], rows, out=aligned_zeros(*rows.shape))

    def no_weights(self) -> Floats:
        """Return weights that are zero, to learn with."""
        return aligned_zeros(self.inputs.rows.shape[1])

    def weights(self, u: Floats) -> Floats:
        """Return the weights of embedding strengths."""
        return (u * self.signs) @ self.inputs.rows / self.inputs.size

    def best(self) -> Best:
        """Return a place for the best strengths."""
        return Best(self.signs, self.free)

    def offer(self, best: Best, sums: Floats, u: Floats) -> bool:
        """Keep strengths if they are the best, and return whether; ``sums`` are ``N w``."""
        return best.offer(self.inputs.rows @ sums, float(np.linalg.norm(sums)), u)

    def unit(self, best: Best, n_updates: int, n_iter: int, complaint: str = "") -> Unit:
        """Return the unit of the best strengths."""
        u, threshold = best.strengths, best.threshold / self.inputs.size
        return Unit(self.weights(u), threshold, u, n_updates, n_iter, complaint)

    def classes(self) -> tuple[Indices, Indices]:
        """Return the places of the examples of -1 and of +1."""
        return np.flatnonzero(self.signs < 0.0), np.flatnonzero(self.signs > 0.0)


def aligned_zeros(*shape: int) -> Floats:
    """Return zeros of which each row begins with a line of the cache: loops take less time."""
    size = int(np.prod(shape))
    numbers = np.zeros(size + LANES)
    start = -(numbers.ctypes.data // numbers.itemsize) % LANES
    return numbers[start : start + size].reshape(shape)


class Unit(NamedTuple):
    """A unit that has learned."""

    weights: Floats  # of the inputs, followed by zeros
    threshold: float  # a free one, of the centred inputs; zero otherwise
    strengths: Floats  # the embedding strengths u, w = sum u_i y_i x_i / N
    n_updates: int  # how many times the weights were changed
    n_iter: int  # how many sweeps were made
    complaint: str = ""  # why it is not what was looked for; nothing if it is
    details: Any = None  # what else a method has to store


class Best:
    """The best embedding strengths seen: fewest errors, then largest stability.

    A free threshold is the best one for each.
    """

    def __init__(self, signs: Floats, free: bool):
        self.signs, self.free = signs, free
        self.errors, self.stability = len(signs), -np.inf  # of no weights at all
        self.strengths, self.threshold = np.zeros(len(signs)), 0.0

    def offer(self, fields: Floats, length: float, u: Floats) -> bool:
        """Keep strengths if they are better, and return whether; ``fields`` are ``w.x_i``."""
        theta = best_threshold(fields, self.signs) if self.free else 0.0
        potentials = self.signs * (fields - theta)
        stability = float(potentials.min()) / length if length > 0.0 else 0.0
        errors = int(np.count_nonzero(potentials <= 0.0))
        better = (errors, -stability) < (self.errors, -self.stability)
        if better:
            self.errors, self.stability, self.threshold = errors, stability, theta
            self.strengths = u.copy()
        return better


def hebbian(signs: Floats, free: bool) -> Floats:
    """Return the strengths of Hebb's rule: all alike, with a free threshold within each class."""
    if not free:
        return np.ones(len(signs))
    positive = signs > 0.0
    return np.where(positive, np.count_nonzero(~positive), np.count_nonzero(positive)).astype(float)


def best_threshold(fields: Floats, signs: Floats) -> float:
    """Return the threshold with the fewest errors, in the middle of the widest gap with so few.

    Fields above it are meant to be positive; one that is equal to it is an error.
    """
    order = np.argsort(fields, kind="stable")
    ordered, positive = fields[order], signs[order] > 0.0
    below = np.concatenate([[0], np.cumsum(positive)])  # positive ones under each cut
    above = np.concatenate([np.cumsum(~positive[::-1])[::-1], [0]])
    errors = below + above
    gaps, largest = np.diff(ordered), float(np.abs(ordered[[0, -1]]).max())
    errors[1:-1][gaps <= ROUNDING * largest] = len(fields) + 1  # no cut between equal fields
    best = np.flatnonzero(errors == errors.min())
    width = np.concatenate([[0.0], gaps, [0.0]])  # beyond all examples: if no other is as good
    cut = best[width[best].argmax()]
    reach = largest or 1.0
    edges = np.concatenate([[ordered[0] - reach], ordered, [ordered[-1] + reach]])
    return float(0.5 * (edges[cut] + edges[cut + 1]))
