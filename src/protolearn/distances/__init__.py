"""The distance axis: how far a sample is from a prototype."""

from .base import Distance
from .constraints import Free, UnitNorm
from .sqeuclidean import SquaredEuclidean
from .sqeuclidean_missing import PartialSquaredEuclidean
from .sqeuclidean_sparse import SparseSquaredEuclidean

for _form in (SquaredEuclidean, PartialSquaredEuclidean):
    _form.sparse_form = SparseSquaredEuclidean
    _form.missing_form = PartialSquaredEuclidean

DISTANCES: dict[str, type[Distance]] = {"sqeuclidean": SquaredEuclidean}

__all__ = [
    "DISTANCES",
    "Distance",
    "Free",
    "PartialSquaredEuclidean",
    "SparseSquaredEuclidean",
    "SquaredEuclidean",
    "UnitNorm",
]
