"""Data in parts: what one pass tells about them, and how they are read as blocks to learn from.

Rows are checked first, then encoded and weighted. A survey holds counts, ranges, means and a
sample of them.

Surveys add up. The sample has a known size: every row draws a number, and of each class those with
the smallest numbers stay, wherever they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._arrays import (
    Floats,
    Indices,
    check_observed_rows,
    checked_sparse,
    class_means,
    column_ranges,
    has_missing,
)
from .._validation import finite_weights
from ..distances import Distance
from ..store import digest
from .block import Block, encode
from .parts import Part, column_names

MOST_NUMBERS = 1 << 23
"""Numbers that a sample of all classes may have."""

SURVEYS_AT_ONCE = 4
"""Surveys, which have rows in them, that are added up in one place."""

MARKS = 1 << 96
"""Marks of parts are added up below this number."""


@dataclass(frozen=True)
class Split:
    """Which rows are held out: a share, drawn anew for each part and always the same."""

    share: float = 0.0  # of the rows that is held out; 0: none
    seed: int = 0  # of the draw
    held: bool = False  # whether those are wanted, or the others

    def mask(self, index: int, n_rows: int) -> NDArray[np.bool_] | None:
        """Return which rows of a part are wanted; None: all."""
        if self.share == 0.0:
            return None
        drawn = np.random.default_rng([self.seed, index]).random(n_rows) < self.share
        return drawn if self.held else ~drawn


@dataclass(frozen=True)
class Checks:
    """What rows have to be like."""

    distance: Distance  # that will measure them
    n_features: int
    names: tuple[str, ...] | None  # of the columns
    takes_sparse: bool
    owner: str  # who will learn from them, for messages

    def rows(self, part: Part) -> tuple[Any, NDArray[Any], Floats | None]:
        """Return rows, labels and weights as arrays; an error names the part."""
        try:
            y = labels_of(part.y)
            weight = finite_weights(part.weight, len(y))
            X = self._matrix(part.X, len(y), weight)
        except (ValueError, TypeError) as error:
            raise ValueError(f"In {part.name}: {error}") from error
        return X, y, weight

    def _matrix(self, X: Any, n_rows: int, weight: Floats | None) -> Any:
        names = column_names(X)
        if self.names is not None and names is not None and names != self.names:
            raise ValueError(f"its columns are {list(names)!r}, expected {list(self.names)!r}.")
        missing = self.distance.missing_form is not None
        X = check_array(
            X,
            dtype=np.float64,
            order="C",
            accept_sparse="csr" if self.takes_sparse else False,
            ensure_all_finite="allow-nan" if missing else True,
            ensure_min_samples=0,
            estimator=self.owner,
            input_name="X",
        )
        if X.shape != (n_rows, self.n_features):
            raise ValueError(
                f"X has shape {X.shape}, expected {(n_rows, self.n_features)}: a row for each "
                "label, and a column for each feature of the other parts."
            )
        if issparse(X):
            X = checked_sparse(X)
        elif missing and n_rows:
            check_observed_rows(X, weight)
        if n_rows:
            self.distance.check_rows(X)
        return X


@dataclass(frozen=True)
class Reader:
    """Makes a block of a part."""

    checks: Checks
    split: Split
    classes: NDArray[Any]  # the labels, sorted
    factors: Floats | None  # of the weights of each class; None: all weights are one

    def __call__(self, part: Part) -> Block:
        """Return the wanted rows of positive weight."""
        X, y, weight = self.checks.rows(part)
        try:
            codes = encode(y, self.classes)
        except ValueError as error:
            raise ValueError(f"In {part.name}: {error}") from error
        if self.factors is not None:
            weight = self.factors[codes] if weight is None else self.factors[codes] * weight
        block, wanted = Block(X, codes, weight), self.split.mask(part.index, len(y))
        if weight is not None and not weight.all():
            positive = weight > 0.0
            wanted = positive if wanted is None else wanted & positive
        return block if wanted is None else block.rows(np.flatnonzero(wanted))


@dataclass(frozen=True)
class SampleSize:
    """How many rows of each class are sampled."""

    per_class: Any  # prototypes of each class: int, or mapping from label to int
    per_prototype: int  # rows for each of them
    at_least: int  # rows for each class in any case; zero where nobody asks for rows

    def rows(self, label: Any, n_classes: int, width: int) -> int:
        """Return the rows of a class, fewer where there are many classes or wide rows."""
        if not self.at_least:
            return 0
        per_class = self.per_class
        k = per_class.get(label, 1) if isinstance(per_class, Mapping) else per_class
        room = MOST_NUMBERS // (n_classes * max(width, 1))
        return max(int(k), min(max(self.per_prototype * int(k), self.at_least), room))


@dataclass(frozen=True)
class Survey:
    """Facts about rows of positive weight."""

    labels: NDArray[Any]  # (C,): those that occur, also in rows that do not count, sorted
    rows: Indices  # (C,): rows of each label
    weight: Floats  # (C,): their summed weight
    sums: Floats  # (C, d): weighted sums of what is observed
    observed: Floats  # (C, d): the weight of the rows in which it is
    low: Floats  # (d,): least observed values
    high: Floats  # (d,): greatest observed values
    missing: bool  # whether a value is missing
    sparse: bool
    weighted: bool  # whether weights were given
    n_held: int  # rows that are held out
    mark: int  # a number that other rows would not have; zero if nobody asks for it
    n_numbers: int  # in all
    wanted: SampleSize
    sample: Sample  # some rows of each label

    def __add__(self, other: Survey) -> Survey:
        self._check_kinds(other)
        labels = np.unique(np.concatenate([self.labels, other.labels]))
        both = [(one, np.searchsorted(labels, one.labels)) for one in (self, other)]

        def total_of(name: str) -> Any:
            shape = (len(labels), *getattr(self, name).shape[1:])
            total = np.zeros(shape, dtype=getattr(self, name).dtype)
            for one, places in both:
                total[places] += getattr(one, name)
            return total

        rows, weight, sums, observed = map(total_of, ("rows", "weight", "sums", "observed"))
        return Survey(
            labels,
            rows,
            weight,
            sums,
            observed,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.missing or other.missing,
            self.sparse,
            self.weighted or other.weighted,
            self.n_held + other.n_held,
            (self.mark + other.mark) % MARKS,
            self.n_numbers + other.n_numbers,
            self.wanted,
            Sample.join([(one.sample, places) for one, places in both]).thin(labels, self.wanted),
        )

    def _check_kinds(self, other: Survey) -> None:
        """Raise if parts do not go together."""
        if (self.labels.dtype.kind == "U") != (other.labels.dtype.kind == "U"):
            raise ValueError(
                "Some labels are texts, and others are not; "
                "make all of them texts or all of them numbers."
            )
        if self.sparse != other.sparse:
            raise ValueError("Some parts of X are sparse and others are not; make all of them so.")

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    @property
    def means(self) -> Floats:
        """The mean of each class over what is observed; NaN where nothing is."""
        with np.errstate(invalid="ignore"):
            return self.sums / self.observed


@dataclass(frozen=True)
class Sample:
    """Some rows of each label."""

    keys: Floats  # (m,): the number that each row has drawn
    block: Block  # the rows, with the places of their labels as codes

    @classmethod
    def join(cls, parts: list[tuple[Sample, Indices]]) -> Sample:
        """Return samples as one; with each come the new codes of its labels."""
        X = [one.block.X for one, _ in parts]
        return cls(
            np.concatenate([one.keys for one, _ in parts]),
            Block(
                csr_array(vstack(X, format="csr")) if issparse(X[0]) else np.concatenate(X),
                np.concatenate([places[one.block.y] for one, places in parts]),
                np.concatenate([one.block.weights for one, _ in parts]),
            ),
        )

    def thin(self, labels: NDArray[Any], wanted: SampleSize) -> Sample:
        """Return as many rows of each label as are wanted, those with the smallest numbers."""
        width = self.block.size // max(len(self.block), 1)
        kept = []
        for code, label in enumerate(labels.tolist()):
            here = np.flatnonzero(self.block.y == code)
            order = np.argsort(self.keys[here], kind="stable")
            kept.append(here[order[: wanted.rows(label, len(labels), width)]])
        rows = np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.intp)
        return Sample(self.keys[rows], self.block.rows(rows))


@dataclass(frozen=True)
class Surveyor:
    """Makes the survey of a part."""

    checks: Checks
    split: Split
    wanted: SampleSize
    seed: int  # of the sample
    marked: bool  # whether to know the rows again

    def __call__(self, part: Part) -> Survey | None:
        """Return the survey of a part; None if it has no row."""
        X, y, weight = self.checks.rows(part)
        if not len(y):
            return None
        labels, codes = np.unique(y, return_inverse=True)
        counts = np.ones(len(y), dtype=bool) if weight is None else weight > 0.0
        wanted = self.split.mask(part.index, len(y))
        taught = counts if wanted is None else counts & wanted
        keys = np.random.default_rng([self.seed, part.index]).random(len(y))
        block = Block(X, codes, weight)
        if not taught.all():
            rows = np.flatnonzero(taught)
            block, keys = block.rows(rows), keys[rows]
        n_held = int(counts.sum() - taught.sum())
        parts = (X, y) if weight is None else (X, y, weight)
        mark = int(digest([part.index], *parts), 16) if self.marked else 0
        return self._survey(labels, block, keys, n_held, mark % MARKS)

    def _survey(
        self, labels: NDArray[Any], block: Block, keys: Floats, n_held: int, mark: int
    ) -> Survey:
        C, codes = len(labels), block.y
        totals = np.bincount(codes, block.weight, minlength=C).astype(np.float64)
        sparse = issparse(block.X)
        missing = not sparse and has_missing(block.X)
        means = class_means(block.X, codes, block.weight, C)
        observed = np.tile(totals[:, None], (1, means.shape[1]))
        if missing:
            known = (~np.isnan(block.X)).astype(np.float64)
            observed *= np.nan_to_num(class_means(known, codes, block.weight, C))
        low = high = np.full(means.shape[1], np.nan)
        if len(block):
            low, high = column_ranges(block.X)
        return Survey(
            labels,
            np.bincount(codes, minlength=C),
            totals,
            np.nan_to_num(means) * observed,
            observed,
            low,
            high,
            missing,
            sparse,
            block.weight is not None,
            n_held,
            mark,
            block.size,
            self.wanted,
            Sample(keys, block).thin(labels, self.wanted),
        )


def labels_of(y: Any) -> NDArray[Any]:
    """Return labels as an array; raise if one is missing, or if they are measurements."""
    labels: NDArray[Any] = column_or_1d(y)
    if labels.dtype.kind in "Of" and any(map(_is_missing, labels)):
        raise ValueError("y has a missing label; leave out rows without one.")
    if labels.dtype.kind == "O" and len({type(label) for label in labels}) == 1:
        labels = np.array(labels.tolist())
    if len(labels):
        with warnings.catch_warnings():  # few rows may well be all of different classes
            warnings.simplefilter("ignore", UserWarning)
            check_classification_targets(labels)
    return labels


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
