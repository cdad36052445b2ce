"""The distance axis: how far a sample is from a prototype."""

from .constraints import Free, Orthonormal, UnitNorm
from .distance import Distance, starts_from
from .distance import start_source as start_source
from .divergences import CauchySchwarz, KullbackLeibler, Renyi
from .fixed_metrics import Mahalanobis, Minkowski
from .kernel import Kernel
from .kernel import inverse_variance as inverse_variance
from .level_places import are_places as are_places
from .linear_metric import LinearMetric
from .linear_metric import by_map as by_map
from .matrix import SIDE_BY_SIDE as SIDE_BY_SIDE
from .matrix import LocalMatrix, Matrix
from .matrix import matrix_forms as matrix_forms
from .mixins import BlockForm, FeatureTerms, Geometry, LowerBounded, Penalized
from .relevance import MixedDistance, Relevance
from .row_forms import (
    PartialMatrix,
    PartialRelevance,
    PartialSquaredEuclidean,
    SparseMahalanobis,
    SparseMatrix,
    SparseRelevance,
    SparseSquaredEuclidean,
)
from .sqeuclidean import SquaredEuclidean
from .tangent import Tangent
from .tangent_space import tangents_of as tangents_of

for _form in (SquaredEuclidean, PartialSquaredEuclidean):
    _form.sparse_form = SparseSquaredEuclidean
    _form.missing_form = PartialSquaredEuclidean
for _form in (Relevance, PartialRelevance):
    _form.sparse_form = SparseRelevance
    _form.missing_form = PartialRelevance
for _matrix in (Matrix, PartialMatrix):
    _matrix.sparse_form = SparseMatrix
    _matrix.missing_form = PartialMatrix
Mahalanobis.sparse_form = SparseMahalanobis
Mahalanobis.missing_form = None

DISTANCES: dict[str, type[Distance]] = {
    "sqeuclidean": SquaredEuclidean,
    "relevance": Relevance,
    "matrix": Matrix,
    "local_matrix": LocalMatrix,
    "minkowski": Minkowski,
    "mixed": MixedDistance,
    "mahalanobis": Mahalanobis,
    "kernel": Kernel,
    "kl": KullbackLeibler,
    "cauchy_schwarz": CauchySchwarz,
    "renyi": Renyi,
    "tangent": Tangent,
}

__all__ = [
    "DISTANCES",
    "BlockForm",
    "CauchySchwarz",
    "Distance",
    "FeatureTerms",
    "Free",
    "Geometry",
    "Kernel",
    "KullbackLeibler",
    "LinearMetric",
    "LocalMatrix",
    "LowerBounded",
    "Mahalanobis",
    "Matrix",
    "Minkowski",
    "MixedDistance",
    "Orthonormal",
    "PartialMatrix",
    "PartialRelevance",
    "PartialSquaredEuclidean",
    "Penalized",
    "Relevance",
    "Renyi",
    "SparseMahalanobis",
    "SparseMatrix",
    "SparseRelevance",
    "SparseSquaredEuclidean",
    "SquaredEuclidean",
    "Tangent",
    "UnitNorm",
    "starts_from",
]
