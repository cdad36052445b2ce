"""What one pass over data in parts tells about them: counts, ranges, means and a sample.

Surveys add up. The sample has a known size: every row draws a number, and of each class those with
the smallest numbers stay, wherever they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from .._arrays import Floats, Indices, class_means, column_ranges, has_missing
from ..store import digest
from .block import Block
from .parts import Part
from .reading import Checks, Split

MOST_NUMBERS = 1 << 23
"""Numbers that a sample of all classes may have."""

MARKS = 1 << 96
"""Marks of parts are added up below this number."""


@dataclass(frozen=True)
class Wanted:
    """How many rows of each class are sampled.

    Attributes
    ----------
    per_class : int or mapping from label to int
        Prototypes of each class.
    per_prototype, at_least : int
        Rows for each of them, and for each class in any case; zero where nobody asks for rows.
    """

    per_class: Any
    per_prototype: int
    at_least: int

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
    """Facts about rows of positive weight.

    Attributes
    ----------
    labels : array (C,)
        The labels that occur, also in rows that do not count, sorted.
    rows : array (C,)
        Rows of each label.
    weight : array (C,)
        Their summed weight.
    sums, observed : array (C, d)
        Weighted sums of what is observed, and the weight of the rows in which it is.
    low, high : array (d,)
        Least and greatest observed values.
    missing, sparse : bool
        Whether a value is missing, and whether rows are sparse.
    weighted : bool
        Whether weights were given.
    n_held : int
        Rows that are held out.
    mark : int
        A number that other rows would not have; zero if nobody asks for it.
    n_numbers : int
        Numbers in all.
    wanted : Wanted
        How many rows are sampled.
    sample : Sample
        Some rows of each label.
    """

    labels: NDArray[Any]
    rows: Indices
    weight: Floats
    sums: Floats
    observed: Floats
    low: Floats
    high: Floats
    missing: bool
    sparse: bool
    weighted: bool
    n_held: int
    mark: int
    n_numbers: int
    wanted: Wanted
    sample: Sample

    def __add__(self, other: Survey) -> Survey:
        self._check_kinds(other)
        labels = np.unique(np.concatenate([self.labels, other.labels]))
        both = [(one, np.searchsorted(labels, one.labels)) for one in (self, other)]

        def summed(name: str) -> Any:
            shape = (len(labels), *getattr(self, name).shape[1:])
            total = np.zeros(shape, dtype=getattr(self, name).dtype)
            for one, places in both:
                total[places] += getattr(one, name)
            return total

        return Survey(
            labels,
            summed("rows"),
            summed("weight"),
            summed("sums"),
            summed("observed"),
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.missing or other.missing,
            self.sparse,
            self.weighted or other.weighted,
            self.n_held + other.n_held,
            (self.mark + other.mark) % MARKS,
            self.n_numbers + other.n_numbers,
            self.wanted,
            Sample.joined([(one.sample, places) for one, places in both]).cut(labels, self.wanted),
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
    """Some rows of each label.

    Attributes
    ----------
    keys : array (m,)
        The number that each row has drawn.
    block : Block
        The rows, with the places of their labels as codes.
    """

    keys: Floats
    block: Block

    @classmethod
    def joined(cls, parts: list[tuple[Sample, Indices]]) -> Sample:
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

    def cut(self, labels: NDArray[Any], wanted: Wanted) -> Sample:
        """Keep as many rows of each label as are wanted, those with the smallest numbers."""
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
    """Makes the survey of a part.

    Attributes
    ----------
    checks : Checks
        What rows have to be like.
    split : Split
        Which rows are surveyed.
    wanted : Wanted
        How many of them are sampled.
    seed : int
        Of the sample.
    marked : bool
        Whether to know the rows again.
    """

    checks: Checks
    split: Split
    wanted: Wanted
    seed: int
    marked: bool

    def __call__(self, part: Part) -> Survey | None:
        """Return the survey of a part; None if it has no row."""
        X, y, weight = self.checks.rows(part)
        if not len(y):
            return None
        labels, codes = np.unique(y, return_inverse=True)
        counts = np.ones(len(y), dtype=bool) if weight is None else weight > 0.0
        wanted = self.split.wanted(part.index, len(y))
        taught = counts if wanted is None else counts & wanted
        keys = np.random.default_rng([self.seed, part.index]).random(len(y))
        block = Block(X, codes, weight)
        if not taught.all():
            rows = np.flatnonzero(taught)
            block, keys = block.rows(rows), keys[rows]
        n_held = int(counts.sum() - taught.sum())
        mark = int(digest([part.index], X, y, *given(weight)), 16) if self.marked else 0
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
            Sample(keys, block).cut(labels, self.wanted),
        )


def given(weight: Floats | None) -> list[Floats]:
    """Return the weights, if there are any."""
    return [] if weight is None else [weight]
