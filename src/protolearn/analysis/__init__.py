"""What a fitted model knows about its predictions."""

from .bounds import GeneralizationBound, generalization_bound
from .certificates import certified_radius
from .counterfactuals import Counterfactuals, counterfactual
from .margin_history import MarginHistory
from .margins import hypothesis_margin
from .profile import RelevanceProfile
from .reject import AccuracyRejectCurve, RejectClassifier, accuracy_reject_curve
from .relevance import relevance_profile
from .sample_margin import sample_margin

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
