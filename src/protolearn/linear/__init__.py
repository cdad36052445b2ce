"""Linear classifiers as generalised prototypes (Graf et al., 2009)."""

from ..separability import NotSeparableError
from .boosting import BoostedPrototypes
from .canonical import LinearPrototypeClassifier as LinearPrototypeClassifier
from .canonical import is_joint as is_joint
from .discriminants import FisherPrototypes, MeanOfClass
from .generalized import PrototypePath, generalized_prototypes, regularization_path
from .generalized import hyperplane_of as hyperplane_of
from .linear_prototypes import LinearPrototypes
from .rvm import RVM
from .support_vector_machines import HardMarginSVM, SoftMarginSVM, SoftPreprocessing

__all__ = [
    "RVM",
    "BoostedPrototypes",
    "FisherPrototypes",
    "HardMarginSVM",
    "LinearPrototypes",
    "MeanOfClass",
    "NotSeparableError",
    "PrototypePath",
    "SoftMarginSVM",
    "SoftPreprocessing",
    "generalized_prototypes",
    "regularization_path",
]
