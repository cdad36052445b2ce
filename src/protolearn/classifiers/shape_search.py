"""How large a small model is: the bytes of its tables, and the choice by held-out accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Floats, Indices, column_ranges
from ..distances import LinearMetric
from .quantized_training import Mixture, Shape, Singles, first_mixture, train_mixture

LEVELS = 64
"""Steps of halving in which weights are tabulated."""

SHARES = 0.12, 0.25, 0.5
"""Shares of the bytes that the map may take."""

DENSITIES = 1.0, 0.3, 0.1
MANY_FEATURES = 48
"""Features above which the map may be sparse."""

LARGEST_RANK = 64
NOISES = 0.7, 0.3, 0.1
"""Deviations of the noise in training, in units of those of the features; the most first."""

MOST_LOSS = 0.005
"""Accuracy on held-out rows that more noise may cost, up to one standard error."""

SELECTION_ROWS = 12_000
"""Rows that the choice of a shape looks at, at most."""

PARTS, HELD_ROWS = 6, 1000
"""Parts of these rows, which are held out in turn until at least so many rows have been."""

FEWER = 1, 4, 16
"""Divisors of the bytes for which shapes are tried: of few rows, less may be more accurate."""

SIMILAR_RANGES = 4.0
"""How much larger the largest range may be than the smallest for one unit of all features."""

FAR = 5.0
"""Standard deviations beyond which numbers are cut off."""


class Grid(NamedTuple):
    """Where whole inputs lie: ``q = (x - center) * scale``, rounded."""

    center: Floats
    scale: Floats
    top: int

    @classmethod
    def choices(cls, X: Floats, bits: int) -> list[Grid]:
        """Return one unit for all features and, unless their ranges are similar, one for each."""
        top, (low, high) = 2 ** (bits - 1) - 1, column_ranges(X)
        mean, far = X.mean(axis=0), FAR * X.std(axis=0)
        low, high = np.maximum(low, mean - far), np.minimum(high, mean + far)
        width = high - low
        varying = width > 0.0
        if not varying.any():
            width, varying = np.ones_like(width), ~varying
        ends = np.full_like(low, low[varying].min()), np.full_like(high, high[varying].max())
        every = [ends]
        if width[varying].max() > SIMILAR_RANGES * width[varying].min():
            every.append((low, np.where(varying, high, low + 1.0)))
        return [cls((low + high) / 2.0, 2.0 * top / (high - low), top) for low, high in every]

    def rows(self, X: Floats) -> Singles:
        """Return rows on the grid, as numbers up to one."""
        q = np.rint((X - self.center) * self.scale)
        return np.asarray(np.clip(q, -self.top, self.top) / self.top, dtype=np.float32)

    @property
    def is_common(self) -> bool:
        """Whether all features have one unit."""
        return bool((self.scale == self.scale[0]).all())


class TableBudget(NamedTuple):
    """How many bytes the tables of a model take in C."""

    n_features: int
    labels: Any
    bits: int
    is_common: bool

    @property
    def fixed(self) -> int:
        """The bytes of labels, of the table of weights and of the units of inputs."""
        texts = [len(str(label).encode()) + 5 for label in self.labels.tolist()]
        inputs = 0 if self.is_common else 8 * self.n_features
        return sum(texts) + 2 * LEVELS + inputs

    def of_map(self, rank: int, density: float) -> int:
        """Return the bytes of a map: dense, or an entry and a distance to the next one for each."""
        size, width = rank * self.n_features, self.bits // 8
        return size * width if density == 1.0 else 2 * rank + int(density * size) * (width + 1)

    def of_prototype(self, rank: int, label_scores: int) -> int:
        """Return the bytes of a prototype: places, and a cost and maybe a class for each score."""
        each = 1 if label_scores == len(self.labels) else 1 + (1 if len(self.labels) < 256 else 2)
        return rank * (self.bits // 8) + label_scores * each

    def total(self, whole: dict[str, Any]) -> int:
        """Return the bytes of all tables of a model."""
        m, n_scores = whole["classes"].shape
        A, width = whole["map"], self.bits // 8
        in_map = min(A.size * width, sparse_size(A, width))
        return self.fixed + in_map + m * self.of_prototype(len(A), n_scores)


def sparse_size(A: Any, width: int) -> int:
    """Return the bytes of a map of which only entries other than zero are kept."""
    return 2 * len(A) + (width + 1) * sum(len(gaps) for gaps, _ in map(sparse_row, A))


def sparse_row(row: Any) -> tuple[list[int], list[int]]:
    """Return the entries of a row other than zero, and by how much each is further to the right.

    No gap is larger than 255: there is an entry of zero then.
    """
    gaps: list[int] = []
    values: list[int] = []
    before = 0
    for j in np.flatnonzero(row).tolist():
        while j - before > 255:
            gaps.append(255)
            values.append(0)
            before += 255
        gaps.append(j - before)
        values.append(int(row[j]))
        before = j
    return gaps, values


def starting_axes(rows: Singles, grid: Grid, rule: Any) -> list[Singles]:
    """Return the axes from which a map may start: principal ones, and those of a fitted model."""
    covariance = np.cov(rows.T.astype(np.float64)).reshape(rows.shape[1], -1)
    sizes, vectors = np.linalg.eigh(covariance)
    principal = vectors.T[::-1][:LARGEST_RANK].astype(np.float32)
    if rule is None or not isinstance(rule.distance, LinearMetric):
        return [principal]
    d, half = rows.shape[1], grid.top / grid.scale
    maps = np.concatenate([rule.distance.omega(row, d) * half for row in rule.codebook.metric])
    _, sizes, axes = np.linalg.svd(maps, full_matrices=False)
    kept = sizes > 1e-3 * sizes[0]
    known = (sizes[kept, None] * axes[kept]).astype(np.float32)
    rest = float(sizes[kept][-1]) * principal  # where the model has fewer rows
    return [principal, np.concatenate([known, rest])[:LARGEST_RANK].astype(np.float32)]


class ShapeSearch:
    """The choice of a shape by the accuracy on held-out rows, one property after another."""

    def __init__(self, model: Any, grid: Grid, classes: Any, X: Floats, codes: Indices, seed: int):
        self.model, self.grid, self.seed, self.n_rows = model, grid, seed, len(X)
        self.rows, self.codes = grid.rows(X), codes
        self.budget = TableBudget(X.shape[1], classes, int(model.bits), grid.is_common)
        self.axes = starting_axes(self.rows, grid, model.init)
        order = np.random.RandomState(seed).permutation(len(X))[:SELECTION_ROWS]
        parts = np.array_split(order, min(PARTS, len(order)))
        n_folds = min(-(-HELD_ROWS // len(parts[0])), len(parts))
        self.folds = [(part, np.setdiff1d(order, part)) for part in parts[:n_folds]]
        self.n_held = sum(len(part) for part in parts[:n_folds])
        self.scores: dict[Any, float] = {}

    def first_score(self, n_epochs: int) -> float:
        """Return the accuracy of a shape of middle size on held-out rows; -1: there is no room."""
        shapes = list(self.shapes(1))
        return self.score(shapes[len(shapes) // 2], 0, n_epochs) if shapes else -1.0

    def shapes(self, label_scores: int) -> Iterator[Shape]:
        """Yield ranks and densities for which there is room."""
        d, model = self.budget.n_features, self.model
        densities = DENSITIES if d > MANY_FEATURES else (1.0,)
        found = set()
        for density in densities if model.density is None else (model.density,):
            row = self.budget.of_map(1, density)
            for room, share in product(self._rooms, SHARES):
                rank = int(np.clip(share * room / row, 1, min(d, LARGEST_RANK)))
                rank = rank if model.rank is None else min(model.rank, d)
                found.add(self.shape_of(rank, density, label_scores, NOISES[1], room))
        yield from sorted(shape for shape in found if shape is not None)

    @property
    def _free(self) -> int:
        """The bytes for the map and the prototypes: no more than the rows can make use of."""
        rank, n_classes = min(self.budget.n_features, LARGEST_RANK), len(self.budget.labels)
        each = self.budget.of_prototype(rank, n_classes)
        useful = self.budget.of_map(rank, 1.0) + self._most_prototypes * each
        return min(int(self.model.max_bytes) - self.budget.fixed, useful)

    @property
    def _rooms(self) -> list[int]:
        """The bytes for which shapes are tried: where rows are few, less than there are too."""
        return [self._free // parts for parts in (FEWER if len(self.folds) > 1 else FEWER[:1])]

    @property
    def _most_prototypes(self) -> int:
        return max(self.n_rows // 4, len(self.budget.labels))

    def shape_of(
        self, rank: int, density: float, scores: int, noise: float, room: int
    ) -> Shape | None:
        """Return a shape with as many prototypes as there is room for; None: not one a class."""
        n_classes = len(self.budget.labels)
        each = self.budget.of_prototype(rank, scores)
        n_prototypes = (room - self.budget.of_map(rank, density)) // each
        if self.model.prototypes_per_class is not None:
            wanted = self.model.prototypes_per_class * n_classes
            n_prototypes = wanted if wanted <= n_prototypes else 0
        if n_prototypes < n_classes:
            return None
        return Shape(rank, density, min(n_prototypes, self._most_prototypes), scores, noise)

    def _room_of(self, shape: Shape) -> int:
        """Return the least of the sizes that are tried which a shape fits into."""
        each = self.budget.of_prototype(shape.rank, shape.label_scores)
        size = self.budget.of_map(shape.rank, shape.density) + shape.n_prototypes * each
        return min(room for room in self._rooms if room >= min(size, self._free))

    def history(self) -> list[dict[str, Any]]:
        """Return what was tried, with its accuracy on held-out rows."""
        return [
            {**shape._asdict(), "from_model": start > 0, "accuracy": accuracy}
            for (shape, start), accuracy in self.scores.items()
        ]

    def choose(self, n_epochs: int) -> tuple[Shape, int]:
        """Return the best shape, and the place of the axes to start from."""
        given, n_classes = self.model.label_scores, len(self.budget.labels)
        first = min(given or 2, n_classes)
        shapes = list(self.shapes(first)) or list(self.shapes(1) if given is None else [])
        if not shapes:
            raise ValueError(
                f"max_bytes={self.model.max_bytes} of {type(self.model).__name__} has no room for "
                f"one prototype a class: {self.budget.fixed} bytes are labels and units alone. "
                "Give more, or a smaller rank or fewer prototypes_per_class."
            )
        best, start = shapes[0], 0
        best, start = self._best([(shape, 0) for shape in shapes], n_epochs)
        others = {1, 2, 4, n_classes} if given is None else set()
        room = self._room_of(best)
        more = [self.shape_of(best.rank, best.density, L, best.noise, room) for L in sorted(others)]
        fits = [shape for shape in more if shape is not None and shape.label_scores <= n_classes]
        best, start = self._best([(best, start), *((shape, start) for shape in fits)], n_epochs)
        tried = [(best, place) for place in range(len(self.axes))]
        best, start = self._best(tried, n_epochs)
        noisy = [(best._replace(noise=noise), start) for noise in NOISES]
        self._best(noisy, n_epochs)
        # More noise is the safer choice where many held-out rows cannot tell.
        most = max(self.scores.get(each, 0.0) for each in noisy)
        least = most - min(np.sqrt(most * (1.0 - most) / self.n_held), MOST_LOSS)
        best, start = next(each for each in noisy if self.scores.get(each, 0.0) >= least)
        return best, start

    def _best(self, tried: list[tuple[Shape, int]], n_epochs: int) -> tuple[Shape, int]:
        """Return the first that is right most often on held-out rows; one alone is not tried."""
        if len(set(tried)) == 1:
            return tried[0]
        return max(tried, key=lambda each: self.score(each[0], each[1], n_epochs))

    def score(self, shape: Shape, start: int, n_epochs: int) -> float:
        """Return the accuracy of a shape on held-out rows."""
        if (shape, start) not in self.scores:
            right = 0
            for held, seen in self.folds:
                rows, codes, n = self.rows[seen], self.codes[seen], max(n_epochs // 2, 1)
                found = predict_codes(self.mixture(shape, start, rows, codes, n), self.rows[held])
                right += int((found == self.codes[held]).sum())
            self.scores[shape, start] = right / self.n_held
        return self.scores[shape, start]

    def mixture(
        self, shape: Shape, start: int, rows: Singles, codes: Indices, n_epochs: int
    ) -> Mixture:
        """Return a mixture of a shape that is trained with some rows."""
        n_classes = len(self.budget.labels)
        first = first_mixture(rows, codes, self.axes[start], shape, n_classes, self.seed)
        return train_mixture(first, rows, codes, shape, self.budget.bits, n_epochs, self.seed)


def predict_codes(mixture: Mixture, rows: Singles) -> Indices:
    """Return the class of each row."""
    parts = [mixture.scores(rows[i : i + 1000]) for i in range(0, len(rows), 1000)]
    return np.concatenate([part.argmax(axis=1) for part in parts])
