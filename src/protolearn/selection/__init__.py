"""Honest evaluation, comparison and the automatic choice of models."""

from .auto import AutoPrototypeClassifier, Leaderboard, SearchProgress, Standing
from .comparison import Comparison, PairedTest, WinTieLoss, compare
from .confusion import ConfusionMatrix, confusion_percent
from .error_parts import BiasVariance, SquaredParts, bias_variance
from .evaluation import Estimate, Evaluation, evaluate, evaluate_predictions
from .intervals import Interval
from .nested import NestedResult, nested_cross_validate
from .roc_curves import roc, roc_over_folds
from .roc_result import AveragedRoc, RocCurve
from .splitters import LeaveOneOutFromEachClass

__all__ = [
    "AutoPrototypeClassifier",
    "AveragedRoc",
    "BiasVariance",
    "Comparison",
    "ConfusionMatrix",
    "Estimate",
    "Evaluation",
    "Interval",
    "Leaderboard",
    "LeaveOneOutFromEachClass",
    "NestedResult",
    "PairedTest",
    "RocCurve",
    "SearchProgress",
    "SquaredParts",
    "Standing",
    "WinTieLoss",
    "bias_variance",
    "compare",
    "confusion_percent",
    "evaluate",
    "evaluate_predictions",
    "nested_cross_validate",
    "roc",
    "roc_over_folds",
]
