"""The codebook that training begins with, and the unit of its distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._arrays import Floats, Indices, as_floats, as_indices, column_ranges, differ, middle
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..distances import Distance, LowerBounded

SMALLEST_SCALE = 1e-305
"""The inverse of a smaller number overflows."""

ROUNDED = 1e-10
"""Share of the distance to a rival that is nothing but rounding."""


def first_codebook(
    distance: Distance,
    prototypes: Floats,
    labels: Indices,
    rows: Callable[[], Block],
    stream: bool = False,
) -> Codebook:
    """Put prototypes and the initial metric together; ``stream``: more rows will follow.

    ``rows`` gives the rows that tell where the metric begins, if that has to be told.
    """
    distance.check_rows(prototypes)
    group = as_indices(distance.groups(labels))
    metric = np.zeros((int(group.max()) + 1, 0))
    if type(distance).initial is not Distance.initial:
        block = rows()
        metric = as_floats(distance.start(block.X, block.codes, block.weights, labels, stream))
    return settled(Codebook(prototypes, labels, metric, group, middle(prototypes)), distance)


def settled(codebook: Codebook, distance: Distance) -> Codebook:
    """Return the codebook with prototypes that the distance takes, and their metric."""
    if isinstance(distance, LowerBounded):
        raised = np.maximum(codebook.prototypes, distance.lowest(codebook))
        codebook = replace(codebook, prototypes=raised, center=middle(raised))
    return replace(codebook, metric=distance.refresh(codebook)) if distance.moving else codebook


def rearranged(
    codebook: Codebook, distance: Distance, parents: Indices, prototypes: Floats, labels: Indices
) -> tuple[Codebook, Indices]:
    """Give a codebook of other prototypes, each with the metric of its parent in the old one.

    Where prototypes share a row of the metric, that of the foremost old row is taken; the second
    result tells which.
    """
    group = as_indices(distance.groups(labels))
    heirs = np.full(int(group.max()) + 1, len(codebook.metric), dtype=np.intp)
    np.minimum.at(heirs, group, codebook.group[parents])
    heirs[heirs == len(codebook.metric)] = 0  # rows that no prototype uses
    metric = as_floats(codebook.metric[heirs])
    found = Codebook(prototypes, labels, metric, group, middle(prototypes))
    return settled(found, distance), heirs


def nearest_of_all(distance: Distance, codebook: Codebook, block: Block) -> Indices:
    """Give the nearest prototype of each sample."""
    parts = [
        distance.nearest(chunk.X, codebook)[0] for chunk in block.chunks(distance.effort(codebook))
    ]
    return np.concatenate(parts)


def mistakes(distance: Distance, codebook: Codebook, block: Block) -> Floats:
    """Give 1 for each sample whose nearest prototype is of another class, else 0."""
    nearest = nearest_of_all(distance, codebook, block)
    return (codebook.labels[nearest] != block.y).astype(np.float64)


class FirstDistances(NamedTuple):
    """What the distances to the initial prototypes tell.

    Attributes
    ----------
    unit : float or None
        Mean distance to the nearest own prototype; None if all distances vanish.
    contrast : float
        Mean difference between the distances to the nearest rival and to the nearest own
        prototype, as a multiple of the mean distance to the latter.
    """

    unit: float | None
    contrast: float


def first_distances(distance: Distance, codebook: Codebook, blocks: Blocks) -> FirstDistances:
    """Measure all rows by the initial prototypes."""
    *sums, weight = blocks.reduce(own_and_rival, distance, codebook).tolist()
    own, rival, gap = (value / weight for value in sums)
    if not np.isfinite(own + rival):
        raise ValueError(
            "The distances to the initial prototypes overflow; rescale X, or give other ones by "
            "init."
        )
    # Where all rows lie on their prototypes the next class is the unit.
    if own > SMALLEST_SCALE:
        return FirstDistances(own, gap / own)
    apart = rival > SMALLEST_SCALE and _differ(blocks, codebook)
    return FirstDistances(rival if apart else None, np.inf)


def own_and_rival(distance: Distance, codebook: Codebook, block: Block) -> Floats:
    """Sum the distances to the nearest own prototype and rival, their gaps, and the weights.

    A row that lies on its prototype but for rounding, by its own distances, is no distance away.
    """
    own = rival = gap = 0.0
    same = codebook.same_class(int(max(codebook.labels.max(), block.y.max())) + 1)
    two_classes = len(np.unique(codebook.labels)) > 1
    with np.errstate(over="ignore", invalid="ignore"):  # whoever asks checks the sums
        for chunk in block.chunks(distance.effort(codebook)):
            D, mine = distance.pairwise(chunk.X, codebook, chunk.prepared), same[chunk.y]
            near = np.where(mine, D, np.inf).min(axis=1)
            if two_classes:
                far = np.where(mine, np.inf, D).min(axis=1)
                near[near <= ROUNDED * far] = 0.0
                rival += float(far @ chunk.weights)
                gap += float(np.abs(far - near) @ chunk.weights)
            own += float(near @ chunk.weights)
    return np.array([own, rival, gap, block.total_weight])


def _differ(blocks: Blocks, codebook: Codebook) -> bool:
    """Tell whether rows and prototypes are more than one point and its rounding."""
    prototypes = Ends(codebook.prototypes.min(axis=0), codebook.prototypes.max(axis=0))
    ends = blocks.reduce(Ends.of) + prototypes
    return bool(differ(ends.low, ends.high).any())


@dataclass(frozen=True)
class Ends:
    """Least and greatest values of each column."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, block: Block) -> Ends:
        """Give the ends of a block."""
        return cls(*column_ranges(block.X))

    def __add__(self, other: Ends) -> Ends:
        return Ends(np.fmin(self.low, other.low), np.fmax(self.high, other.high))
