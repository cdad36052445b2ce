"""Classifiers that decide by distance to prototypes."""

from .base import NearestPrototypeClassifier
from .composable import PrototypeClassifier
from .heuristic_lvq import LVQ1, LVQ3, LVQ21, OLVQ1
from .kernel_lvq import KernelGLVQ
from .lvq import GLVQ, LOGM, MCE, RSLVQ, SNPC, MarginLVQ
from .metric_lvq import GMLVQ, GRLVQ, LGMLVQ, MRSLVQ
from .trained import TrainedClassifier

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
    "SNPC",
    "KernelGLVQ",
    "MarginLVQ",
    "NearestPrototypeClassifier",
    "PrototypeClassifier",
    "TrainedClassifier",
]
