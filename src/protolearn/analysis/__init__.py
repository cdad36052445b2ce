"""What a fitted model knows about its predictions."""

from .bounds import GeneralizationBound, generalization_bound
from .certificates import certified_radius, sample_margin
from .confidence import Measure as Measure
from .confidence import confidence_of as confidence_of
from .confidence import has_margin as has_margin
from .confidence import is_linear as is_linear
from .confidence import split_held_out as split_held_out
from .counterfactual_rows import counterfactual
from .feature_units import FEATUREWISE as FEATUREWISE
from .feature_units import Units as Units
from .feature_units import apply_step as apply_step
from .feature_units import no_way_back as no_way_back
from .feature_units import undo_step as undo_step
from .hypothesis_margins import MarginHistory, hypothesis_margin
from .hypothesis_margins import factors as factors
from .hypothesis_margins import joint_factor as joint_factor
from .hypothesis_margins import known_labels as known_labels
from .hypothesis_margins import last_step as last_step
from .hypothesis_margins import margin_of_prediction as margin_of_prediction
from .printable_rows import FINER as FINER
from .printable_rows import Printable as Printable
from .printable_rows import Write as Write
from .printable_rows import find_printable as find_printable
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

__all__ = [
    "AccuracyRejectCurve",
    "Counterfactuals",
    "GeneralizationBound",
    "MarginHistory",
    "RejectClassifier",
    "RelevanceProfile",
    "accuracy_reject_curve",
    "certified_radius",
    "counterfactual",
    "generalization_bound",
    "hypothesis_margin",
    "relevance_profile",
    "sample_margin",
]
