"""What some distances have beyond the contract of a distance.

A class names its mixins before ``Distance``, as in ``class City(Geometry, Distance)``. Whoever uses
a distance asks for them with ``isinstance``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices, row_lengths
from ..codebook import Codebook, Gradients


class BlockForm:
    """Distances of whole blocks by matrix products, much faster than row by row.

    A class with this mixin mostly has faster forms of ``nearest``, ``pull_winners`` and
    ``pull_rows`` as well.
    """

    def prepare(self, X: Any, codebook: Codebook) -> Floats | None:
        """Return what every evaluation of a block needs, one entry a row; None if nothing."""
        return None

    @abstractmethod
    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, Any]:
        """Return all distances, and whatever ``pull_winners`` and ``pull_rows`` can use again."""

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Any:
        """Return the distances of all rows to all prototypes, an array (n, K)."""
        return self.forward(X, codebook, prepared)[0]


class Geometry:
    """What is known of the boundaries between prototypes, and of how fast a distance changes.

    ``directions`` makes exact margins possible, ``steepness`` certificates, and ``rounding`` makes
    both true of distances as they are computed. A class overrides what it can prove.
    """

    squared: ClassVar[bool | None]
    has_flat_boundaries: bool = False
    """Whether ``directions`` are known and ``pull_directions`` passes their derivatives back."""

    def directions(self, codebook: Codebook) -> Floats | None:
        """Return where prototypes lie, if the boundaries between their cells are flat.

        An array U (K, d) such that ``D_v - D_j`` is linear in the sample, with the derivative
        ``2 (u_j - u_v)``; None if there is none.
        """
        return None

    def pull_directions(self, codebook: Codebook, by_direction: Floats, out: Gradients) -> None:
        """Add to the gradients, given the derivatives by ``directions``, an array (K, d).

        By default the directions are the prototypes, but for what all of them share.
        """
        out.prototypes[...] += by_direction

    def steepness(self, codebook: Codebook) -> Floats | None:
        """Return how fast the distance, unsquared, can change as a sample moves by a unit.

        One number a prototype, for a metric that depends on ``x - w`` alone; None if there is no
        such bound.
        """
        return None

    def rounding(self, X: Any, codebook: Codebook, D: Floats, moved: Floats) -> Floats:
        """Return how far computed distances can be from exact ones, in units of roundoff.

        An array (n, K) for the rows X, with distances D, and all rows within ``moved`` of them. By
        default ``4 (d + 16)`` times the distance: d terms of one sign, out of differences.
        """
        steepness, length = self.steepness(codebook), np.sqrt(D) if self.squared else D
        length = 2.0 * length if steepness is None else length + moved[:, None] * steepness
        return 4.0 * (X.shape[1] + 16) * (np.square(length) if self.squared else length)


def rounding_of_products(
    X: Any, codebook: Codebook, moved: Floats, lengths: Any = row_lengths, stretch: float = 1.0
) -> Floats:
    """Return how far ``|A (x - w)|^2``, by products or differences, can be from exact.

    By ``4 n s (s + 2 c)`` units of roundoff, derived in ``docs/margins.md``: s is the length of
    ``|A| |x - m|`` and that of ``|A| |w - m|``, m the centre, c the length of ``|A| |m|``, and n
    the operations in a row, ``2 d + 10``. Sparse rows are not centred: s is longer by c.
    ``lengths`` returns the length of ``|A| v`` for each row, ``stretch`` its bound at length one.
    """
    far, offset = lengths(np.abs(codebook.center)[None]), codebook.prototypes - codebook.center
    near = lengths(abs(X)) + far if issparse(X) else lengths(np.abs(X - codebook.center))
    size = (near + stretch * moved)[:, None] + lengths(np.abs(offset))
    return (8.0 * X.shape[1] + 40.0) * size * (size + 2.0 * far)


class FeatureTerms:
    """A distance that is a sum over features."""

    @abstractmethod
    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return what each feature adds to the distance of each row to its named prototype."""


class Penalized:
    """A penalty on ``theta`` that is added to the mean cost."""

    @property
    @abstractmethod
    def penalized(self) -> bool:
        """Whether the settings ask for the penalty."""

    @abstractmethod
    def penalty(self, codebook: Codebook) -> tuple[float, Floats]:
        """Return the penalty and its derivative by ``theta``."""

    @abstractmethod
    def shrink(self, codebook: Codebook, step: float) -> None:
        """Take a proximal step down the penalty, in place: for solvers that see no mean cost."""


class LowerBounded:
    """A distance that is defined for prototypes above a bound only."""

    @abstractmethod
    def lowest(self, codebook: Codebook) -> float:
        """Return the smallest number that a prototype may have."""
