"""The distance axis: how far a sample is from a prototype."""

from .base import Distance
from .constraints import Free, Orthonormal, UnitNorm
from .divergences import CauchySchwarz, KullbackLeibler
from .kernel import Kernel
from .linear import LinearMetric
from .mahalanobis import Mahalanobis, SparseMahalanobis
from .matrix import LocalMatrix, Matrix, SparseMatrix
from .minkowski import Minkowski
from .relevance import Relevance
from .relevance_forms import PartialRelevance, SparseRelevance
from .renyi import Renyi
from .sqeuclidean import SquaredEuclidean
from .sqeuclidean_missing import PartialSquaredEuclidean
from .sqeuclidean_sparse import SparseSquaredEuclidean
from .tangent import Tangent

for _form in (SquaredEuclidean, PartialSquaredEuclidean):
    _form.sparse_form = SparseSquaredEuclidean
    _form.missing_form = PartialSquaredEuclidean
for _form in (Relevance, PartialRelevance):
    _form.sparse_form = SparseRelevance
    _form.missing_form = PartialRelevance
Matrix.sparse_form = SparseMatrix
Mahalanobis.sparse_form = SparseMahalanobis

DISTANCES: dict[str, type[Distance]] = {
    "sqeuclidean": SquaredEuclidean,
    "relevance": Relevance,
    "matrix": Matrix,
    "local_matrix": LocalMatrix,
    "minkowski": Minkowski,
    "mahalanobis": Mahalanobis,
    "kernel": Kernel,
    "kl": KullbackLeibler,
    "cauchy_schwarz": CauchySchwarz,
    "renyi": Renyi,
    "tangent": Tangent,
}

__all__ = [
    "DISTANCES",
    "CauchySchwarz",
    "Distance",
    "Free",
    "Kernel",
    "KullbackLeibler",
    "LinearMetric",
    "LocalMatrix",
    "Mahalanobis",
    "Matrix",
    "Minkowski",
    "Orthonormal",
    "PartialRelevance",
    "PartialSquaredEuclidean",
    "Relevance",
    "Renyi",
    "SparseMahalanobis",
    "SparseMatrix",
    "SparseRelevance",
    "SparseSquaredEuclidean",
    "SquaredEuclidean",
    "Tangent",
    "UnitNorm",
]
