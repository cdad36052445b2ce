"""What some distances have beyond the contract of a distance.

A class names its mixins before ``Distance``, as in ``class City(Geometry, Distance)``. Whoever uses
a distance asks for them with ``isinstance``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from .._arrays import Floats, Indices
from ..codebook import Codebook


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

    ``directions`` makes exact margins possible, ``steepness`` certificates. A class overrides
    what it can prove.
    """

    def directions(self, codebook: Codebook) -> Floats | None:
        """Return where prototypes lie, if the boundaries between their cells are flat.

        An array U (K, d) such that ``D_v - D_j`` is linear in the sample, with the derivative
        ``2 (u_j - u_v)``; None if there is none.
        """
        return None

    def steepness(self, codebook: Codebook) -> Floats | None:
        """Return how fast the distance, unsquared, can change as a sample moves by a unit.

        One number a prototype, for a metric that depends on ``x - w`` alone; None if there is no
        such bound.
        """
        return None


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
