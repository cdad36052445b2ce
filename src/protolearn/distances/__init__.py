"""The distance axis: how far a sample is from a prototype."""

from .base import Distance
from .constraints import Free, UnitNorm
from .linear import LinearMetric
from .matrix import LocalMatrix, Matrix, SparseMatrix
from .relevance import Relevance
from .relevance_forms import PartialRelevance, SparseRelevance
from .sqeuclidean import SquaredEuclidean
from .sqeuclidean_missing import PartialSquaredEuclidean
from .sqeuclidean_sparse import SparseSquaredEuclidean

for _form in (SquaredEuclidean, PartialSquaredEuclidean):
    _form.sparse_form = SparseSquaredEuclidean
    _form.missing_form = PartialSquaredEuclidean
for _form in (Relevance, PartialRelevance):
    _form.sparse_form = SparseRelevance
    _form.missing_form = PartialRelevance
Matrix.sparse_form = SparseMatrix

DISTANCES: dict[str, type[Distance]] = {
    "sqeuclidean": SquaredEuclidean,
    "relevance": Relevance,
    "matrix": Matrix,
    "local_matrix": LocalMatrix,
}

__all__ = [
    "DISTANCES",
    "Distance",
    "Free",
    "LinearMetric",
    "LocalMatrix",
    "Matrix",
    "PartialRelevance",
    "PartialSquaredEuclidean",
    "Relevance",
    "SparseMatrix",
    "SparseRelevance",
    "SparseSquaredEuclidean",
    "SquaredEuclidean",
    "UnitNorm",
]
