"""Pictures of models by matplotlib, and the report, a page by plotly; imported when needed."""

from .confusion import ConfusionDisplay
from .convergence import ConvergenceDisplay
from .critical_difference import CriticalDifferenceDisplay
from .distance_distribution import DistanceDistributionDisplay
from .distance_path import DistancePathDisplay
from .margin_history import MarginHistoryDisplay
from .margins import MarginDisplay
from .page import write
from .projection import ProjectionDisplay
from .prototype_path import PrototypePathDisplay
from .prototypes import PrototypeDisplay
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
    "PrototypeDisplay",
    "PrototypePathDisplay",
    "RejectDisplay",
    "RelevanceDisplay",
    "RocDisplay",
    "write",
]
