"""What a fit learns from: all rows at hand, or data that come in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from .._columns import check_observed_columns, class_means
from .._dask import is_dask
from .._fingerprint import digest
from .._magnitude import check_ranges
from .._mapped import MappedRows
from .._parameters import Floats, Indices
from .._validation import check_class_weight
from ..blocks import Block, Blocks, MemoryBlocks, Parts
from ..blocks.files import FileParts, is_dataset, is_path
from ..blocks.moments import rows_with_moments
from ..blocks.parts import MadeParts
from ..blocks.reading import Checks, Reader, Split
from ..blocks.survey import Survey, Surveyor, Wanted
from ..distances import Distance
from ..prototypes import (
    FEWEST_ROWS,
    ROWS_PER_PROTOTYPE,
    Facts,
    completed_means,
    initial_prototypes,
    is_automatic,
    prototype_counts,
)
from .given import check_classes, training_rows
from .validation import hold_out

IN_MEMORY = 1 << 24
"""Numbers of a memory map that may be read at once."""

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
        """Give all rows, or few with the same moments where all would fill the memory."""
        block = self._taught
        if not isinstance(block.X, MappedRows):
            return block
        if block.X.size > IN_MEMORY and self.form.by_moments:
            facts = Facts.of(block, len(self.classes))
            found = rows_with_moments(self.taught, facts.means, facts.low, facts.high)
            if found is not None:
                return found
        return self._few(IN_MEMORY, np.random.RandomState(0))

    def sample(self, rng: np.random.RandomState) -> Block:
        """Give all rows, or some of them where they are on disk."""
        if not isinstance(self._taught.X, MappedRows):
            return self._taught
        return self._few(min(IN_MEMORY, GROWN_ON * len(self.classes) * self._all.X.shape[1]), rng)

    def mark(self) -> str:
        """Give a short text that other data would not have."""
        facts = Facts.of(self._all, len(self.classes))
        return digest(self.classes, self.rows, facts.low, facts.high, facts.means)

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


class PartedData(TrainingData):
    """Data in files, made by a function, or on a cluster: surveyed once, then summed over."""

    def __init__(
        self,
        model: Any,
        distance: Distance,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.RandomState,
    ):
        parts = parts_of(X, y, sample_weight)
        set_features(model, parts)
        name = type(model).__name__
        checks = Checks(distance, parts.n_features, parts.names, model._takes_sparse(), name)
        seeds = rng.randint(np.iinfo(np.int32).max, size=2)
        share = float(model.validation_fraction) if model.early_stopping else 0.0
        split = Split(share, int(seeds[0]))
        surveyor = Surveyor(checks, split, wanted_rows(model), int(seeds[1]))
        survey: Survey | None = parts.map_reduce(surveyor)
        if survey is None:
            raise ValueError("X has no row of positive weight: there is nothing to learn from.")
        self._survey, self.classes, self.elsewhere = survey, survey.labels, not parts.in_order
        self._factors = class_factors(survey, model.class_weight)
        self.rows = survey.rows if self._factors is None else survey.rows * (self._factors > 0)
        check_classes(self.classes, self.rows)
        check_observed_columns(survey.low[None])
        if distance.squared:
            check_ranges(survey.low, survey.high)
        self.form = distance.suited_to(row_like(survey))
        read = Reader(checks, split, self.classes, self._factors)
        self.taught = parts.blocks(read, survey.n_samples, survey.n_numbers)
        if share:
            check_held(model, survey.n_held, survey.n_samples + survey.n_held)
            width = survey.n_numbers // survey.n_samples
            read = replace(read, split=replace(split, held=True))
            self.held = parts.blocks(read, survey.n_held, width * survey.n_held)

    def prototypes(self, init: Any, counts: Indices, rng: np.random.RandomState) -> Floats:
        """Give the prototypes to begin with: means of all rows, clusters of a sample."""
        return initial_prototypes(init, self.sample(rng), counts, rng, facts=self._facts())

    def metric_rows(self) -> Block:
        """Give few rows with the moments of all, or a sample where these do not tell."""
        facts = self._facts()
        if self.form.by_moments and self._survey.missing:  # these ask for the ranges alone
            return Block(np.vstack([facts.low, facts.high]), np.array([0, 1]))
        if self.form.by_moments:
            found = rows_with_moments(self.taught, facts.means, facts.low, facts.high)
            if found is not None:
                return found
        return self.sample(np.random.RandomState(0))

    def sample(self, rng: np.random.RandomState) -> Block:
        """Give the sample of the survey."""
        block = self._survey.sample.block
        if self._factors is not None:
            return Block(block.X, block.y, block.weights * self._factors[block.y])
        return block if self._survey.weighted else Block(block.X, block.y)

    def mark(self) -> str:
        """Give a short text that other data would not have."""
        s = self._survey
        return digest(s.labels, s.rows, s.weight, s.low, s.high, s.sums)

    def _facts(self) -> Facts:
        survey = self._survey
        means = survey.means
        if np.isnan(means).any():
            with np.errstate(invalid="ignore"):
                overall = survey.sums.sum(axis=0) / survey.observed.sum(axis=0)
            means = completed_means(means, overall)
        return Facts(survey.low, survey.high, means)


def in_parts(X: Any) -> bool:
    """Tell whether data come in parts."""
    return is_dask(X) or callable(X) or is_path(X) or is_dataset(X)


def parts_of(X: Any, y: Any, sample_weight: Any) -> Parts:
    """Give the parts that the user names."""
    if is_dask(X):
        from ..blocks.on_dask import DaskParts

        return DaskParts(X, y, sample_weight)
    if is_path(X) or is_dataset(X):
        return FileParts(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "X is a function, which makes blocks (X, y) or (X, y, sample_weight); leave out y and "
            "sample_weight."
        )
    return MadeParts(X)


def set_features(model: Any, parts: Parts) -> None:
    """Tell the model how many features there are, and what they are called."""
    model.n_features_in_ = parts.n_features
    model.__dict__.pop("feature_names_in_", None)
    if parts.names is not None:
        model.feature_names_in_ = np.asarray(parts.names, dtype=object)


def wanted_rows(model: Any) -> Wanted:
    """Give how many rows of each class a start looks at."""
    per_class = model.prototypes_per_class
    if is_automatic(per_class):
        return Wanted(1, ROWS_PER_PROTOTYPE, GROWN_ON)
    if not hasattr(per_class, "get"):
        prototype_counts(per_class, np.zeros(1, dtype=np.intp))
    return Wanted(per_class, ROWS_PER_PROTOTYPE, FEWEST_ROWS)


def class_factors(survey: Survey, class_weight: Any) -> Floats | None:
    """Give what the weights of each class are multiplied with, so that their mean is one."""
    if class_weight is None and not survey.weighted:
        return None
    factors = np.ones(len(survey.labels))
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = 1.0 / survey.weight
    elif class_weight is not None:
        factors = check_class_weight(class_weight, survey.labels, survey.labels)
    rows = survey.rows @ (factors > 0.0)
    mean = float(factors @ survey.weight) / rows if rows else 0.0
    if not np.isfinite(mean) or mean <= 0.0:
        raise ValueError(
            f"The weights of the rows sum to {factors @ survey.weight}; give weights of ordinary "
            "size."
        )
    return factors / mean


def row_like(survey: Survey) -> Any:
    """Give a row of the kind that data are: sparse, incomplete or neither."""
    d = len(survey.low)
    if survey.sparse:
        return csr_array((1, d))
    return np.full((1, d), np.nan if survey.missing else 0.0)


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
