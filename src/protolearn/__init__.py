"""Interpretable classification by prototypes and margins.

>>> from protolearn import GLVQ, datasets
>>> X, y = datasets.load("iris")
>>> model = GLVQ(random_state=0).fit(X, y)
>>> model.predict(X[:2]).tolist()
['setosa', 'setosa']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import command_start, datasets  # noqa: F401
from .analysis import (
    RejectClassifier,
    certified_accuracy,
    certified_radius,
    check_monotone,
    counterfactual,
    explain,
    generalization_bound,
    hypothesis_margin,
    predict_set,
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
    RobustLVQ,
    ScaleWarning,
    SmallGMLVQ,
)
from .distances import MixedDistance
from .ensemble import ExemplarSVM, PrototypeSVM
from .io import apply_edits, compress, export, load, save, to_onnx
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
    sample_version_space,
    theoretical_error,
)
from .selection import AutoPrototypeClassifier, compare

if TYPE_CHECKING:
    from .checks import check_invariance
    from .report import EffectDisplay

__version__ = "1.0.0rc1"

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
    "EffectDisplay",
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
    "MixedDistance",
    "NotSeparableError",
    "ParityMachine",
    "Perceptron",
    "Pocket",
    "PrototypeClassifier",
    "PrototypeSVM",
    "RejectClassifier",
    "RobustLVQ",
    "Rosenblatt",
    "ScaleWarning",
    "SmallGMLVQ",
    "SoftMarginSVM",
    "SoftPreprocessing",
    "apply_edits",
    "certified_accuracy",
    "certified_radius",
    "check_invariance",
    "check_monotone",
    "compare",
    "compress",
    "counterfactual",
    "cover_count",
    "datasets",
    "explain",
    "export",
    "generalization_bound",
    "generalization_error",
    "generalized_prototypes",
    "hypothesis_margin",
    "is_separable",
    "load",
    "predict_set",
    "regularization_path",
    "relevance_profile",
    "sample_margin",
    "sample_version_space",
    "save",
    "theoretical_error",
    "to_onnx",
]

_IMPORTED_WHEN_USED = {"EffectDisplay": ".report", "check_invariance": ".checks"}


def __getattr__(name: str) -> Any:
    """Return a public object of the modules above those that are imported here."""
    if name not in _IMPORTED_WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_IMPORTED_WHEN_USED[name], __name__), name)
