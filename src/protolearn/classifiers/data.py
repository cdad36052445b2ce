"""What a fit learns from: all rows at hand, or data that come in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._arrays import Floats, Indices, MappedRows, check_observed_columns, class_means, some_rows
from .._fingerprint import digest
from ..blocks import Block, Blocks, MemoryBlocks
from ..blocks.moments import rows_with_moments
from ..distances import Distance
from ..distances.base import start_source
from ..prototypes import (
    FEWEST_ROWS,
    Facts,
    initial_prototypes,
    is_automatic,
    prototype_counts,
)
from . import given
from .early_stopping import hold_out
from .given import check_classes, training_rows

GROWN_ON = 10_000
"""Rows of each class on which the number of prototypes is found, where data come in parts."""


class TrainingData(ABC):
    """Rows to learn from.

    Attributes
    ----------
    classes : array
        The labels, sorted.
    form : Distance
        The distance in the form that suits the rows.
    taught : Blocks
        The rows to learn from.
    held : Blocks or None
        The rows that early stopping looks at.
    rows : array (n_classes,)
        Rows of each class to learn from.
    elsewhere : bool
        Whether rows stay where they are, and only sums come here.
    """

    classes: NDArray[Any]
    form: Distance
    taught: Blocks
    held: Blocks | None = None
    rows: Indices
    elsewhere: bool = False

    @abstractmethod
    def prototypes(self, init: Any, counts: Indices, rng: np.random.RandomState) -> Floats:
        """Give the prototypes to begin with."""

    @abstractmethod
    def metric_rows(self) -> Block:
        """Give the rows that tell where the metric begins."""

    @abstractmethod
    def sample(self, rng: np.random.RandomState) -> Block:
        """Give rows in memory that tell how many prototypes are needed."""

    @abstractmethod
    def mark(self) -> str:
        """Give a short text that other data would not have."""


class WholeData(TrainingData):
    """Rows that are one array, in memory or in a memory map."""

    def __init__(
        self,
        model: Any,
        distance: Distance,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.RandomState,
    ):
        block, self.classes = training_rows(model, distance, X, y, sample_weight)
        self.rows = np.bincount(block.y, minlength=len(self.classes))
        check_classes(self.classes, self.rows)
        if not issparse(block.X):
            check_observed_columns(block.X)
        self.form = distance.suited_to(block.X)
        self._all = self._taught = block
        if model.early_stopping:
            self._taught, held = held_out(model, block, self.classes, rng)
            self.rows = np.bincount(self._taught.y, minlength=len(self.classes))
            self.held = MemoryBlocks(held)
        self.taught = MemoryBlocks(self._taught)

    def prototypes(self, init: Any, counts: Indices, rng: np.random.RandomState) -> Floats:
        """Give the prototypes to begin with."""
        fallback = None
        if self._taught is not self._all and not issparse(self._all.X):
            # what only held-out rows observe
            fallback = class_means(self._all.X, np.zeros(len(self._all), np.uint8), None, 1)[0]
        return initial_prototypes(init, self._taught, counts, rng, fallback)

    def metric_rows(self) -> Block:
        """Give all rows, or few that tell the same where all would fill the memory."""
        block = self._taught
        if not isinstance(block.X, MappedRows):
            return block
        facts = Facts.of(block, len(self.classes))
        weight = np.bincount(block.y, block.weight, minlength=len(self.classes))
        found = few_rows(self.form, self.taught, facts, weight)
        return self._few(given.IN_MEMORY, np.random.RandomState(0)) if found is None else found

    def sample(self, rng: np.random.RandomState) -> Block:
        """Give all rows, or some of them where they are on disk."""
        if not isinstance(self._taught.X, MappedRows):
            return self._taught
        return self._few(
            min(given.IN_MEMORY, GROWN_ON * len(self.classes) * self._all.X.shape[1]), rng
        )

    def mark(self) -> str:
        """Give a short text that other data would not have."""
        block = self._all
        X = [digest(block.X[rows]) for rows in some_rows(block.X)]
        return digest(X, self.classes, block.y, *([] if block.weight is None else [block.weight]))

    def _few(self, n_numbers: int, rng: np.random.RandomState) -> Block:
        """Give rows in memory, drawn at random if there are more numbers; some of each class."""
        block = self._taught
        share = n_numbers / block.X.size
        if share >= 1.0:
            return block.rows(slice(0, len(block)))
        drawn = [
            rng.permutation(np.flatnonzero(block.y == code))[: max(int(share * n), FEWEST_ROWS)]
            for code, n in enumerate(self.rows)
        ]
        return block.rows(np.sort(np.concatenate(drawn)))


def few_rows(form: Distance, blocks: Blocks, facts: Facts, weight: Any) -> Block | None:
    """Give few rows from which a metric starts as from all; None if there are none.

    ``weight`` is the weight of each class.
    """
    source = start_source(form)
    if source == "ranges":
        return Block(np.vstack([facts.low, facts.high]), np.array([0, 1]))
    if source == "means":
        return Block(facts.means, np.arange(len(facts.means)), np.asarray(weight, np.float64))
    if source == "covariances":
        return rows_with_moments(blocks, facts.means, facts.low, facts.high)
    return None


def held_out(
    model: Any, block: Block, classes: NDArray[Any], rng: np.random.RandomState
) -> tuple[Block, Block]:
    """Split off the rows that early stopping looks at."""
    per_class = model.prototypes_per_class
    kept = prototype_counts(1 if is_automatic(per_class) else per_class, classes)
    taught, held = hold_out(block, float(model.validation_fraction), kept, rng)
    check_held(model, len(held), len(block))
    return taught, held


def check_held(model: Any, n_held: int, n_rows: int) -> None:
    """Raise if there is no row to look at."""
    if not n_held:
        raise ValueError(
            f"validation_fraction={model.validation_fraction!r} of {n_rows} rows leaves "
            "none to validate on; give more rows, a larger fraction, or early_stopping=False."
        )
