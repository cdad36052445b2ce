"""What a fitted model knows about its predictions."""

from .bounds import GeneralizationBound, generalization_bound
from .certificates import certified_radius, sample_margin
from .confidence import Measure as Measure
from .confidence import by_class as by_class
from .confidence import class_leads as class_leads
from .confidence import class_scores as class_scores
from .confidence import confidence_of as confidence_of
from .confidence import has_margin as has_margin
from .confidence import is_linear as is_linear
from .confidence import predict_set
from .confidence import split_held_out as split_held_out
from .contributions import linear_leads as linear_leads
from .contributions import mean_row as mean_row
from .counterfactual_rows import counterfactual
from .effects import Effect, Effects, Monotone, check_monotone, column_effects
from .effects import EffectCurve as EffectCurve
from .effects import effect_curves as effect_curves
from .effects import is_linear_rule as is_linear_rule
from .explanation import Exemplars, Explanation, explain, find_exemplars
from .explanation import change_sentence as change_sentence
from .feature_units import Units as Units
from .hypothesis_margins import MarginHistory, hypothesis_margin
from .hypothesis_margins import factors as factors
from .hypothesis_margins import joint_factor as joint_factor
from .hypothesis_margins import known_labels as known_labels
from .hypothesis_margins import last_step as last_step
from .hypothesis_margins import margin_of_prediction as margin_of_prediction
from .model_view import ModelView as ModelView
from .model_view import after_table as after_table
from .reject_classifier import RejectClassifier
from .reject_thresholds import AccuracyRejectCurve, accuracy_reject_curve
from .reject_thresholds import cheapest_threshold as cheapest_threshold
from .reject_thresholds import common_dtype as common_dtype
from .relevance_refits import LabelledRows as LabelledRows
from .relevance_refits import feature_names as feature_names
from .relevance_refits import group_names as group_names
from .relevance_refits import learned_metric as learned_metric
from .relevance_refits import relevance_profile
from .result_tables import Counterfactuals, RelevanceProfile
from .result_tables import DescribedRows as DescribedRows
from .result_tables import first_rows as first_rows
from .result_tables import import_pandas as import_pandas
from .robustness import CertifiedAccuracy, certified_accuracy
from .table_counterfactuals import Change, TableCounterfactuals

__all__ = [
    "AccuracyRejectCurve",
    "CertifiedAccuracy",
    "Change",
    "Counterfactuals",
    "Effect",
    "Effects",
    "Exemplars",
    "Explanation",
    "GeneralizationBound",
    "MarginHistory",
    "Monotone",
    "RejectClassifier",
    "RelevanceProfile",
    "TableCounterfactuals",
    "accuracy_reject_curve",
    "certified_accuracy",
    "certified_radius",
    "check_monotone",
    "column_effects",
    "counterfactual",
    "explain",
    "find_exemplars",
    "generalization_bound",
    "hypothesis_margin",
    "predict_set",
    "relevance_profile",
    "sample_margin",
]
