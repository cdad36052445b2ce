"""Pictures of models, by matplotlib; it is imported when the first one is drawn."""

from .convergence import ConvergenceDisplay
from .distance_distribution import DistanceDistributionDisplay
from .distance_path import DistancePathDisplay
from .margin_history import MarginHistoryDisplay
from .margins import MarginDisplay
from .projection import ProjectionDisplay
from .prototype_path import PrototypePathDisplay
from .reject import RejectDisplay
from .relevance import RelevanceDisplay

__all__ = [
    "ConvergenceDisplay",
    "DistanceDistributionDisplay",
    "DistancePathDisplay",
    "MarginDisplay",
    "MarginHistoryDisplay",
    "ProjectionDisplay",
    "PrototypePathDisplay",
    "RejectDisplay",
    "RelevanceDisplay",
]
