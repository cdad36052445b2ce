"""Honest evaluation, comparison and the automatic choice of models."""

from .auto import AutoPrototypeClassifier, Leaderboard, SearchProgress, Standing
from .auto.candidates import FAMILIES as FAMILIES
from .auto.candidates import MODELS as MODELS
from .auto.candidates import MOST_PAIRS as MOST_PAIRS
from .auto.candidates import plain_name as plain_name
from .bias_variance_parts import BiasVariance, SquaredParts, bias_variance
from .bias_variance_parts import squared_parts as squared_parts
from .comparison import compare
from .comparison_fits import AS_THEY_END as AS_THEY_END
from .comparison_fits import SplitFailedWarning as SplitFailedWarning
from .comparison_fits import with_seeds as with_seeds
from .comparison_result import Comparison
from .confusion import ConfusionMatrix, confusion_percent
from .evaluation import evaluate, evaluate_predictions
from .evaluation import on_folds as on_folds
from .evaluation import on_test_set as on_test_set
from .evaluation_table import Estimate, Evaluation
from .held_out import Answers as Answers
from .held_out import LeaveOneOutFromEachClass
from .held_out import answers_of as answers_of
from .held_out import as_indices as as_indices
from .held_out import fold_sizes as fold_sizes
from .held_out import folds_of as folds_of
from .held_out import labelled_rows as labelled_rows
from .held_out import over_folds as over_folds
from .held_out import places_among as places_among
from .intervals import Interval
from .intervals import bounded_mean_interval as bounded_mean_interval
from .intervals import corrected_variance as corrected_variance
from .intervals import share_interval as share_interval
from .metrics import measure as measure
from .nested import NestedResult, nested_cross_validate
from .roc_curves import AveragedRoc, RocCurve, roc, roc_over_folds
from .roc_curves import curve_of as curve_of
from .roc_curves import precision_steps as precision_steps
from .scorers import CostScorer, PositiveScorer
from .significance import PairedTest, RowTest, WinTieLoss
from .significance import corrected_t_test as corrected_t_test
from .significance import holm as holm

__all__ = [
    "AutoPrototypeClassifier",
    "AveragedRoc",
    "BiasVariance",
    "Comparison",
    "ConfusionMatrix",
    "CostScorer",
    "Estimate",
    "Evaluation",
    "Interval",
    "Leaderboard",
    "LeaveOneOutFromEachClass",
    "NestedResult",
    "PairedTest",
    "PositiveScorer",
    "RocCurve",
    "RowTest",
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
