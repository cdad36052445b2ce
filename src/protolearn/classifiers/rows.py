"""What a fit learns from: rows and labels, checked and encoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import (
    Floats,
    Indices,
    MappedRows,
    are_labels,
    check_observed_columns,
    check_observed_rows,
    check_ranges,
    checked_sparse,
    class_means,
    column_ranges,
    has_missing,
    some_rows,
    validate_data,
)
from .._validation import check_class_weight, check_sample_weight, check_weight_range
from ..blocks import Block, Blocks, MemoryBlocks, encode, rows_with_moments
from ..distances import Distance, start_source
from ..prototypes import FEWEST_ROWS, Facts, initial_prototypes, prototype_counts
from ..store import digest
from .held_out_rows import hold_out
from .settings import Settings

GROWN_ON = 10_000
"""Rows of each class on which the number of prototypes is found, where data come in parts."""

VARIED_ON, VARIED_ROWS = 1 << 15, 100
"""Numbers, about, that tell how much columns vary, and rows at least."""

SINGLE, FAR = (1e-12, 1e12), 100.0
"""Ranges of columns whose squares single precision holds, and how many of them the origin is away
at most."""

IN_MEMORY = 1 << 24
"""Numbers of a memory map that are read at once."""


class TrainingRows(ABC):
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
    counts : array (n_classes,)
        Rows of each class to learn from.
    elsewhere : bool
        Whether rows stay where they are, and only sums come here.
    ranges : pair of arrays (d,)
        Least and greatest observed values of the columns.
    varied : array or CSR matrix, or None
        Every few rows, to see how much the columns vary; None if that takes a look at all rows.
    """

    classes: NDArray[Any]
    form: Distance
    taught: Blocks
    held: Blocks | None = None
    counts: Indices
    elsewhere: bool = False
    ranges: tuple[Floats, Floats]
    varied: Any = None

    @abstractmethod
    def prototypes(self, init: Any, counts: Indices, rng: np.random.RandomState) -> Floats:
        """Return the prototypes to begin with."""

    @abstractmethod
    def metric_rows(self) -> Block:
        """Return the rows that tell where the metric begins."""

    @abstractmethod
    def sample(self, rng: np.random.RandomState) -> Block:
        """Return rows in memory that tell how many prototypes are needed."""

    @abstractmethod
    def mark(self) -> str:
        """Return a short text that other data would not have."""


class WholeRows(TrainingRows):
    """Rows that are one array, in memory or in a memory map."""

    def __init__(
        self,
        model: Any,
        settings: Settings,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.RandomState,
    ):
        block, self.classes, self.form = read_block(model, settings, X, y, sample_weight)
        self.counts = np.bincount(block.y, minlength=len(self.classes))
        check_classes(self.classes, self.counts)
        self.ranges = low, _ = column_ranges(block.X)
        if settings.distance.squared:
            check_ranges(*self.ranges)
        if np.isnan(low).any():
            check_observed_columns(low[None])
        self._all = self._taught = block
        if settings.early_stopping:
            self._taught, held = split_off(settings, block, self.classes, rng)
            self.counts = np.bincount(self._taught.y, minlength=len(self.classes))
            self.held = MemoryBlocks(held)
        self.taught = MemoryBlocks(self._taught)
        X, numbers, n_rows = self._taught.X, self.taught.size, self.taught.n_samples
        some = slice(None, None, max(min(numbers // VARIED_ON, n_rows // VARIED_ROWS), 1))
        self.varied = X.some(some) if isinstance(X, MappedRows) else X[some]

    def prototypes(self, init: Any, counts: Indices, rng: np.random.RandomState) -> Floats:
        """Return the prototypes to begin with."""
        if self._taught is self._all:
            return initial_prototypes(init, self._all, counts, rng, ranges=self.ranges)
        fallback = None
        if not issparse(self._all.X):  # what only held-out rows observe
            fallback = class_means(self._all.X, np.zeros(len(self._all), np.uint8), None, 1)[0]
        return initial_prototypes(init, self._taught, counts, rng, fallback)

    def metric_rows(self) -> Block:
        """Return all rows, or few that tell the same where all would fill the memory."""
        block = self._taught
        if not isinstance(block.X, MappedRows):
            return block
        facts = Facts.of(block, len(self.classes))
        weight = np.bincount(block.y, block.weight, minlength=len(self.classes))
        found = few_rows(self.form, self.taught, facts, weight)
        return self._few(IN_MEMORY, np.random.RandomState(0)) if found is None else found

    def sample(self, rng: np.random.RandomState) -> Block:
        """Return all rows, or some of them where they are on disk."""
        if not isinstance(self._taught.X, MappedRows):
            return self._taught
        return self._few(min(IN_MEMORY, GROWN_ON * len(self.classes) * self._all.X.shape[1]), rng)

    def mark(self) -> str:
        """Return a short text that other data would not have."""
        block = self._all
        X = [digest(block.X[rows]) for rows in some_rows(block.X)]
        return digest(X, self.classes, block.y, *([] if block.weight is None else [block.weight]))

    def _few(self, n_numbers: int, rng: np.random.RandomState) -> Block:
        """Return rows in memory, drawn at random if there are more numbers; some of each class."""
        block = self._taught
        share = n_numbers / block.X.size
        if share >= 1.0:
            return block.rows(slice(0, len(block)))
        drawn = [
            rng.permutation(np.flatnonzero(block.y == code))[: max(int(share * n), FEWEST_ROWS)]
            for code, n in enumerate(self.counts)
        ]
        return block.rows(np.sort(np.concatenate(drawn)))


def read_block(
    model: Any, settings: Settings, X: Any, y: Any, sample_weight: Any, classes: Any = None
) -> tuple[Block, NDArray[Any], Distance]:
    """Return rows as a block, the classes, and the form of the distance that suits the rows.

    Rows of weight zero are left out. ``classes`` are those of a stream.
    """
    if issparse(X) and not settings.takes_sparse:
        raise ValueError(
            f"{settings.name} learns from one sample at a time here and does not take sparse "
            "matrices; give X.toarray(), or take a cost function with solver='auto'."
        )
    distance, streaming = settings.distance, classes is not None
    mapped = isinstance(X, np.memmap) and X.size > IN_MEMORY and not streaming
    X, y = validate_data(
        model,
        X,
        y,
        reset=classes is None or not hasattr(model, "_memory"),
        dtype="numeric" if mapped else settings.dtypes(X),
        order=None if mapped else "C",
        accept_sparse="csr",
        ensure_all_finite=True if distance.missing_form is None else "allow-nan",
    )
    if mapped:
        X = MappedRows(X)
        check_mapped_rows(distance, X)
    else:
        X = checked_sparse(X) if issparse(X) else X
        X = X if X.dtype == np.float64 or suits_single(X) else X.astype(np.float64)
        distance.check_rows(X)
    if not streaming:  # in a stream, encode names labels that are none
        if not are_labels(y, len(X)):
            check_classification_targets(y)
        classes = np.unique(y)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, len(y))
    block = Block(X, encode(y, classes), weight)
    may_miss = distance.missing_form is not None and not issparse(X)
    if may_miss and has_missing(X):
        check_observed_rows(X, weight)
    if weight is not None or settings.class_weight is not None:
        block = weigh(block, settings.class_weight, classes, to_mean_one=not streaming)
    return block, classes, distance.suited_to(block.X)


def suits_single(X: Any) -> bool:
    """Whether squared distances keep their digits in single precision; not with missing values."""
    if has_missing(X):
        return False
    low, high = column_ranges(X)
    widest, farthest = float((high - low).max()), float(np.abs([low, high]).max())
    return SINGLE[0] < widest and farthest < min(SINGLE[1], FAR * widest)


def weigh(block: Block, class_weight: Any, classes: NDArray[Any], *, to_mean_one: bool) -> Block:
    """Return the rows with the weights of their classes, without those of weight zero."""
    if block.weight is not None and to_mean_one:
        block = with_weight(block, block.weight / block.weight.max())  # products cannot overflow
    balanced = isinstance(class_weight, str) and class_weight == "balanced"
    if class_weight is not None and not balanced:
        by_class = check_class_weight(class_weight, classes, classes[block.y])
        block = with_weight(block, block.weights * by_class[block.y])
    if block.weight is not None and not block.weight.all():
        kept = np.flatnonzero(block.weight > 0)
        block = replace(block.some(kept), places=kept)
        if not len(block):
            raise ValueError("X has no row of positive weight: there is nothing to learn from.")
    if block.weight is not None and not to_mean_one:
        check_weight_range(block.weight, "partial_fit takes sample_weight times class_weight")
    if balanced:  # by the weight of each class
        total = np.bincount(block.y, block.weight, minlength=len(classes))
        block = with_weight(block, block.weights / total[block.y])
    if block.weight is not None and to_mean_one:
        block = with_weight(block, block.weight / block.weight.mean())
    return block


def with_weight(block: Block, weight: Floats | None) -> Block:
    """Return the same rows with other weights."""
    return replace(block, weight=weight)


def check_mapped_rows(distance: Distance, X: MappedRows) -> None:
    """Raise if rows of a memory map are not such as the distance takes, and say which."""
    for rows in some_rows(X):
        try:
            distance.check_rows(X[rows])
        except ValueError as error:
            raise ValueError(f"Rows {rows.start} to {rows.stop - 1} of X: {error}") from error


def check_classes(classes: NDArray[Any], counts: Indices) -> None:
    """Raise if there are fewer than two classes, or a class has no row."""
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}; a classifier needs rows of at "
            "least two classes."
        )
    if not counts.all():
        raise ValueError(
            f"Class {classes.tolist()[counts.argmin()]!r} has no row of positive weight; every "
            "class needs one."
        )


def few_rows(form: Distance, blocks: Blocks, facts: Facts, weight: Any) -> Block | None:
    """Return few rows from which a metric starts as from all; None if there are none.

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


def split_off(
    settings: Settings, block: Block, classes: NDArray[Any], rng: np.random.RandomState
) -> tuple[Block, Block]:
    """Return the rows to learn from, and those that early stopping looks at."""
    kept = prototype_counts(settings.prototypes_per_class, classes)
    taught, held = hold_out(block, settings.validation_fraction, kept, rng)
    check_held(settings, len(held), len(block))
    return taught, held


def check_held(settings: Settings, n_held: int, n_rows: int) -> None:
    """Raise if there is no row to look at."""
    if not n_held:
        raise ValueError(
            f"validation_fraction={settings.validation_fraction!r} of {n_rows} rows leaves "
            "none to validate on; give more rows, a larger fraction, or early_stopping=False."
        )


def check_same_distance(before: Distance, now: Distance) -> None:
    """Raise if a stream would go on with another distance."""
    settings = (repr(distance.get_params(deep=False)) for distance in (before, now))
    if type(before) is not type(now) or len(set(settings)) > 1:
        raise ValueError(
            f"The stream started with the distance {before!r} and cannot continue with {now!r}; "
            "start a new one with fit or a clone."
        )
