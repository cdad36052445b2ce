"""Classifiers that decide by distance to prototypes."""

from .._validation import ScaleWarning
from .composable import PrototypeClassifier
from .feature_space import FeatureSpaceDistance as FeatureSpaceDistance
from .feature_space import GivenProducts as GivenProducts
from .fit_log import LINES as LINES
from .heuristic_lvq import LVQ1, LVQ3, LVQ21, OLVQ1
from .kernel_lvq import KernelGLVQ
from .kernel_support import CoordinateDistance as CoordinateDistance
from .lvq import GLVQ, LOGM, MCE, RSLVQ, SNPC, MarginLVQ
from .metric import named_distance as named_distance
from .metric_lvq import GMLVQ, GRLVQ, LGMLVQ, MRSLVQ
from .nearest_prototype import NearestPrototypeClassifier
from .problem import FirstDistances as FirstDistances
from .robust_lvq import RobustLVQ
from .settings import CostSettings as CostSettings
from .settings import Settings as Settings
from .shape_search import LEVELS as LEVELS
from .shape_search import sparse_row as sparse_row
from .small_lvq import SmallGMLVQ
from .small_lvq import rule_checksum as rule_checksum
from .training import TrainedClassifier

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
    "RobustLVQ",
    "ScaleWarning",
    "SmallGMLVQ",
    "TrainedClassifier",
]
