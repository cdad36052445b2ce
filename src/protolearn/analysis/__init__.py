"""What a fitted model knows about its predictions."""

from .bounds import GeneralizationBound, generalization_bound
from .certificates import certified_radius
from .counterfactuals import Counterfactuals, counterfactual
from .counterfactuals.result import first_rows as first_rows
from .counterfactuals.units import FEATUREWISE as FEATUREWISE
from .counterfactuals.units import Units as Units
from .counterfactuals.units import apply_step as apply_step
from .counterfactuals.units import no_way_back as no_way_back
from .counterfactuals.units import undo_step as undo_step
from .exact_margin import sample_margin
from .frames import import_pandas as import_pandas
from .margin_history import MarginHistory
from .margins import factors as factors
from .margins import hypothesis_margin
from .margins import known_labels as known_labels
from .margins import last_step as last_step
from .margins import margin_of_prediction as margin_of_prediction
from .profile import RelevanceProfile
from .reject import AccuracyRejectCurve, RejectClassifier, accuracy_reject_curve
from .reject.confidence import Measure as Measure
from .reject.confidence import confidence_of as confidence_of
from .reject.confidence import has_margin as has_margin
from .reject.confidence import is_linear as is_linear
from .reject.held_out import split_held_out as split_held_out
from .reject.label import common_dtype as common_dtype
from .reject.thresholds import cheapest_threshold as cheapest_threshold
from .relevance import LabelledRows as LabelledRows
from .relevance import feature_names as feature_names
from .relevance import group_names as group_names
from .relevance import learned_metric as learned_metric
from .relevance import relevance_profile

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
