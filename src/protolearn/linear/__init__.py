"""Linear classifiers as generalised prototypes (Graf et al., 2009)."""

from ..separability import NotSeparableError
from .base import LinearPrototypeClassifier as LinearPrototypeClassifier
from .boosting import BoostedPrototypes
from .fisher import FisherPrototypes
from .generalized import generalized_prototypes
from .generalized import hyperplane_of as hyperplane_of
from .linear_prototypes import LinearPrototypes
from .mean_of_class import MeanOfClass
from .path import PrototypePath
from .rvm import RVM
from .svm import HardMarginSVM, SoftMarginSVM, regularization_path

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
    "generalized_prototypes",
    "regularization_path",
]
