"""Classifiers that decide by distance to prototypes."""

from .base import NearestPrototypeClassifier
from .composable import PrototypeClassifier
from .lvq import GLVQ, LOGM, MCE, RSLVQ, SNPC, MarginLVQ

__all__ = [
    "GLVQ",
    "LOGM",
    "MCE",
    "RSLVQ",
    "SNPC",
    "MarginLVQ",
    "NearestPrototypeClassifier",
    "PrototypeClassifier",
]
