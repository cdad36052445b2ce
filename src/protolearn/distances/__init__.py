"""The distance axis: how far a sample is from a prototype."""

from .base import Distance
from .constraints import Free, UnitNorm
from .sqeuclidean import SquaredEuclidean

DISTANCES: dict[str, type[Distance]] = {"sqeuclidean": SquaredEuclidean}

__all__ = ["DISTANCES", "Distance", "Free", "SquaredEuclidean", "UnitNorm"]
