"""Pictures of models, by matplotlib; it is imported when the first one is drawn."""

from .confusion import ConfusionDisplay
from .convergence import ConvergenceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .distance_distribution import DistanceDistributionDisplay
from .distance_path import DistancePathDisplay
from .margin_history import MarginHistoryDisplay
from .margins import MarginDisplay
from .projection import ProjectionDisplay
from .prototype_path import PrototypePathDisplay
from .reject import RejectDisplay
from .relevance import RelevanceDisplay
from .roc import RocDisplay

__all__ = [
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "DistanceDistributionDisplay",
    "DistancePathDisplay",
    "MarginDisplay",
    "MarginHistoryDisplay",
    "ProjectionDisplay",
    "PrototypePathDisplay",
    "RejectDisplay",
    "RelevanceDisplay",
    "RocDisplay",
]
