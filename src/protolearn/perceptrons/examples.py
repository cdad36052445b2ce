"""Examples of two classes as a perceptron sees them, and what it makes of them.

The input of a unit is a row ``x`` of N numbers, its potential for example i is
``E_i = y_i (w.x_i - theta)``, and an example is learned if ``E_i > 0``. A clamped threshold is the
weight of one more input, which is always -1; a free one is no weight, and is chosen for ``w``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from .._arrays import Floats, Indices
from ..native import indices, matrix, native, types

SINGLES = types.Array(types.float32, 2, "C")

LANES = 8
"""Numbers that a row is made a multiple of, with zeros: the loops then have no remainder."""

HARD, TOGETHER = 64, 4
"""Examples, and four for each error, in which to look for errors first, and how many at a time."""

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

    def hyperplanes(self, weights: Floats, thresholds: Any) -> tuple[Floats, Floats]:
        """Return ``coef_`` and ``intercept_`` of the weights of units, one a line."""
        d = self.size - self.clamped
        coef = weights[:, :d].copy()
        if self.clamped:
            return coef, -weights[:, d]
        if self.center is None:
            return coef, np.zeros(len(coef))
        return coef, -coef @ self.center - thresholds

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
    start: Start | None = None  # where training begins; None: weights of zero

    @property
    def free(self) -> bool:
        """Whether the threshold is free."""
        return self.inputs.center is not None

    @cached_property
    def mirrored_rows(self) -> Floats:
        """``y_i x_i``, so that all examples are meant to be positive."""
        rows = self.inputs.rows
        return np.multiply(self.signs[:, None], rows, out=aligned_zeros(*rows.shape))

    def first_sums(self) -> Floats:
        """Return the sums ``N w`` that training begins with."""
        sums = aligned_zeros(self.inputs.rows.shape[1])
        if self.start is not None:
            sums += self.inputs.size * self.start.weights
        return sums

    def first_strengths(self) -> Floats:
        """Return the strengths that training begins with."""
        return np.zeros(len(self.signs)) if self.start is None else self.start.strengths.copy()

    def weights(self, u: Floats) -> Floats:
        """Return the weights of embedding strengths."""
        return self.sums(u) / self.inputs.size

    def sums(self, u: Floats) -> Floats:
        """Return ``N w`` of embedding strengths."""
        if self.start is None:
            return (u * self.signs) @ self.inputs.rows
        change = (u - self.start.strengths) * self.signs
        return self.inputs.size * self.start.weights + change @ self.inputs.rows

    def best(self) -> Best:
        """Return a place for the best strengths, those of an earlier fit in it."""
        best = Best(self.signs, self.free)
        if self.start is not None:
            for u in (self.start.strengths, self.start.best):
                self.offer(best, self.sums(u), u)
        return best

    def offer(self, best: Best, sums: Floats, u: Floats) -> bool:
        """Keep strengths if they are the best, and return whether; ``sums`` are ``N w``."""
        fields = self.signs * (self.mirrored_rows @ sums)  # rows that were read a moment ago
        return best.offer(fields, float(np.linalg.norm(sums)), u)

    def hard_rows(self, best: Best) -> Any:
        """Return mirrored examples of low potentials, of length one, in single precision.

        There errors are found soon. The first line is room for weights; zeros fill up the last.
        """
        errors, n = int(best.errors), len(self.signs)
        if errors == n:  # nothing was learned
            return np.zeros((1, self.inputs.rows.shape[1]), np.float32)
        groups = np.minimum(errors * np.array([1, 2, 4]), n - 1)
        chosen = np.argpartition(best.potentials, groups)[: 4 * errors + HARD]
        lines = 1 - -len(chosen) // TOGETHER * TOGETHER
        hard = np.zeros((lines, self.inputs.rows.shape[1]), np.float32)
        copy_units(self.mirrored_rows, chosen, hard)
        return hard

    def unit(
        self, best: Best, last: Floats, n_updates: int, n_iter: int, complaint: str = ""
    ) -> Unit:
        """Return the unit of the best strengths, and of the last."""
        u, threshold = best.strengths, best.threshold / self.inputs.size
        weights = self.weights(u) if best.sums is None else best.sums / self.inputs.size
        unit = Unit(weights, threshold, u, n_updates, n_iter, complaint)
        return unit._replace(last=self.unit_state(last))

    def unit_state(self, u: Floats) -> UnitState:
        """Return weights, threshold and strengths."""
        w = self.weights(u)
        theta = best_threshold(self.inputs.rows @ w, self.signs) if self.free else 0.0
        return UnitState(w, theta, u.copy())

    def classes(self) -> tuple[Indices, Indices]:
        """Return the places of the examples of -1 and of +1."""
        return np.flatnonzero(self.signs < 0.0), np.flatnonzero(self.signs > 0.0)


@native(types.void(matrix, indices, SINGLES))
def copy_units(rows, chosen, units):
    """Copy chosen rows after the first line, divided by their lengths; zeros stay as they are."""
    for line, i in enumerate(chosen):
        square = 0.0
        for k in range(rows.shape[1]):
            square += rows[i, k] * rows[i, k]
        factor = 1.0 / math.sqrt(square) if square > 0.0 else 1.0
        for k in range(rows.shape[1]):
            units[line + 1, k] = np.float32(factor * rows[i, k])


def aligned_zeros(*shape: int) -> Floats:
    """Return zeros of which each row begins with a line of the cache: loops take less time."""
    size = int(np.prod(shape))
    numbers = np.zeros(size + LANES)
    start = -(numbers.ctypes.data // numbers.itemsize) % LANES
    return numbers[start : start + size].reshape(shape)


class Start(NamedTuple):
    """Where training begins."""

    weights: Floats  # of the inputs, followed by zeros
    strengths: Floats
    best: Floats  # the best strengths of an earlier fit


class UnitState(NamedTuple):
    """Weights at some time."""

    weights: Floats
    threshold: float
    strengths: Floats


class Unit(NamedTuple):
    """A unit that has learned; its weights are the best ones."""

    weights: Floats  # of the inputs, followed by zeros
    threshold: float  # a free one, of the centred inputs; zero otherwise
    strengths: Floats  # the embedding strengths u, w = sum u_i y_i x_i / N
    n_updates: int  # how many times the weights were changed
    n_iter: int  # how many sweeps were made
    complaint: str = ""  # why it is not what was looked for; nothing if it is
    details: Any = None  # what else a method has to store
    last: UnitState | None = None  # at the end of training; None: the same

    def state(self, keep: str) -> UnitState:
        """Return the best weights, or the last."""
        best = UnitState(self.weights, self.threshold, self.strengths)
        return best if keep == "best" or self.last is None else self.last


class Best:
    """The best embedding strengths seen: fewest errors (or their weight), then largest stability.

    A free threshold is the best one for each.
    """

    def __init__(self, signs: Floats, free: bool, weight: Floats | None = None):
        self.signs, self.free = signs, free
        self.weight = weight  # what an error counts; None: one
        self.errors: Any = len(signs) if weight is None else weight.sum()  # of no weights at all
        self.stability = -np.inf
        self.strengths, self.threshold = np.zeros(len(signs)), 0.0
        self.potentials = np.zeros(len(signs))  # in some unit
        self.sums: Floats | None = None  # N w, if it is not that of the strengths

    def offer(self, fields: Floats, length: float, u: Floats) -> bool:
        """Keep strengths if they are better, and return whether; ``fields`` are ``w.x_i``."""
        theta = best_threshold(fields, self.signs) if self.free else 0.0
        potentials = self.signs * (fields - theta)
        stability = float(potentials.min()) / length if length > 0.0 else 0.0
        wrong = potentials <= 0.0
        errors = int(np.count_nonzero(wrong)) if self.weight is None else self.weight[wrong].sum()
        better = (errors, -stability) < (self.errors, -self.stability)
        if better:
            self.errors, self.stability, self.threshold = errors, stability, theta
            self.strengths, self.sums, self.potentials = u.copy(), None, potentials
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
