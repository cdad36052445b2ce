"""Classifiers that decide by distance to prototypes."""

from .base import NearestPrototypeClassifier
from .composable import PrototypeClassifier
from .heuristic_lvq import LVQ1, LVQ3, LVQ21, OLVQ1
from .lvq import GLVQ, LOGM, MCE, RSLVQ, SNPC, MarginLVQ
from .trained import TrainedClassifier

__all__ = [
    "GLVQ",
    "LOGM",
    "LVQ1",
    "LVQ3",
    "LVQ21",
    "MCE",
    "OLVQ1",
    "RSLVQ",
    "SNPC",
    "MarginLVQ",
    "NearestPrototypeClassifier",
    "PrototypeClassifier",
    "TrainedClassifier",
]
