"""Interpretable classification by prototypes and margins.

>>> from protolearn import GLVQ, datasets
>>> X, y = datasets.load("iris")
>>> model = GLVQ(random_state=0).fit(X, y)
>>> model.predict(X[:2]).tolist()
['setosa', 'setosa']
"""

from . import command_start, datasets  # noqa: F401
from .analysis import (
    RejectClassifier,
    certified_radius,
    counterfactual,
    generalization_bound,
    hypothesis_margin,
    relevance_profile,
    sample_margin,
)
from .classifiers import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    MRSLVQ,
    OLVQ1,
    RSLVQ,
    SNPC,
    KernelGLVQ,
    MarginLVQ,
    PrototypeClassifier,
    ScaleWarning,
)
from .ensemble import ExemplarSVM, PrototypeSVM
from .io import load, save, to_onnx
from .linear import (
    RVM,
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    LinearPrototypes,
    MeanOfClass,
    NotSeparableError,
    SoftMarginSVM,
    SoftPreprocessing,
    generalized_prototypes,
    regularization_path,
)
from .perceptrons import (
    Adaline,
    AdaTron,
    BayesPoint,
    CommitteeMachine,
    Hopfield,
    KernelAdaTron,
    MinOver,
    ParityMachine,
    Perceptron,
    Pocket,
    Rosenblatt,
    cover_count,
    generalization_error,
    is_separable,
    theoretical_error,
)
from .selection import AutoPrototypeClassifier, compare

__version__ = "0.1.0.dev0"

__all__ = [
    "GLVQ",
    "GMLVQ",
    "GRLVQ",
    "LGMLVQ",
    "LOGM",
    "LVQ1",
    "LVQ3",
    "LVQ21",
    "MCE",
    "MRSLVQ",
    "OLVQ1",
    "RSLVQ",
    "RVM",
    "SNPC",
    "AdaTron",
    "Adaline",
    "AutoPrototypeClassifier",
    "BayesPoint",
    "BoostedPrototypes",
    "CommitteeMachine",
    "ExemplarSVM",
    "FisherPrototypes",
    "HardMarginSVM",
    "Hopfield",
    "KernelAdaTron",
    "KernelGLVQ",
    "LinearPrototypes",
    "MarginLVQ",
    "MeanOfClass",
    "MinOver",
    "NotSeparableError",
    "ParityMachine",
    "Perceptron",
    "Pocket",
    "PrototypeClassifier",
    "PrototypeSVM",
    "RejectClassifier",
    "Rosenblatt",
    "ScaleWarning",
    "SoftMarginSVM",
    "SoftPreprocessing",
    "certified_radius",
    "compare",
    "counterfactual",
    "cover_count",
    "datasets",
    "generalization_bound",
    "generalization_error",
    "generalized_prototypes",
    "hypothesis_margin",
    "is_separable",
    "load",
    "regularization_path",
    "relevance_profile",
    "sample_margin",
    "save",
    "theoretical_error",
    "to_onnx",
]
