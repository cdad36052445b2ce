"""Pictures of models, by matplotlib; it is imported when the first one is drawn."""

from .margin_history import MarginHistoryDisplay
from .margins import MarginDisplay
from .projection import ProjectionDisplay
from .reject import RejectDisplay
from .relevance import RelevanceDisplay

__all__ = [
    "MarginDisplay",
    "MarginHistoryDisplay",
    "ProjectionDisplay",
    "RejectDisplay",
    "RelevanceDisplay",
]
