"""What a classifier minimises, and what the initial prototypes tell of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Floats, column_ranges, differ
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..objective import Cost
from ..rule import Decision
from ..solvers import Solver

FREE, FREE_UNBOUNDED = 0.1, 0.3
"""Share of the learned numbers that follow the labels of single rows, and the same where margins
can grow without end: found by cross-validation on half of the benchmark sets (docs/defaults.md)."""


@dataclass(frozen=True)
class FirstDistances:
    """What the distances to the initial prototypes tell.

    Attributes
    ----------
    unit : float or None
        Mean distance to the nearest own prototype; None if all distances vanish.
    contrast : float
        Mean difference between the distances to the nearest rival and to the nearest own
        prototype, as a multiple of the mean distance to the latter.
    n_decisive : float
        How many rows the unit rests on: ``(sum D)^2 / sum D^2`` of the distances to the nearest
        own prototype, the number of rows if all distances are equal and one if one row has all.
    missing : float
        Share of the values that are missing.
    """

    unit: float | None
    contrast: float = 1.0
    n_decisive: float = np.inf
    missing: float = 0.0


@dataclass(frozen=True)
class Problem:
    """What is minimised, by which solver, and how the model will decide.

    Attributes
    ----------
    cost : Objective or ErrorCount
        What is minimised.
    solver : Solver
        What minimises it.
    decision : Decision
        How the fitted model decides.
    first : FirstDistances
        What the start tells of the data.
    guards_start : bool
        Whether the start is kept where the solver reaches more training errors.
    advice : str
        What to do if no better prototypes are found.
    class_scores : str
        Which margins of the classes probabilities come from: those that are learned.
    free : float
        Share of the learned numbers that follow the labels of single rows.
    """

    cost: Cost
    solver: Solver
    decision: Decision
    first: FirstDistances
    guards_start: bool
    advice: str
    class_scores: str = "difference"
    free: float = FREE


@dataclass(frozen=True)
class Extent:
    """Least and greatest values of each column."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, block: Block) -> Extent:
        """Return the extent of a block."""
        return cls(*column_ranges(block.X))

    def __add__(self, other: Extent) -> Extent:
        return Extent(np.fmin(self.low, other.low), np.fmax(self.high, other.high))


def missing_share(blocks: Blocks) -> float:
    """Return the share of the values that are missing."""
    missing, values = blocks.reduce(count_missing)
    return float(missing / values)


def count_missing(block: Block) -> Floats:
    """Return the weighted numbers of the missing values of a block, and of all its values."""
    counts = [chunk.weights @ np.isnan(chunk.X).sum(axis=1) for chunk in block.chunks(0.0)]
    return np.array([sum(counts), block.total_weight * block.X.shape[1]])


def have_extent(blocks: Blocks, codebook: Codebook) -> bool:
    """Whether rows and prototypes are more than one point and its rounding."""
    prototypes = Extent(codebook.prototypes.min(axis=0), codebook.prototypes.max(axis=0))
    extent = blocks.reduce(Extent.of) + prototypes
    return bool(differ(extent.low, extent.high).any())
