"""Pictures of models, by matplotlib; it is imported when the first one is drawn."""

from .projection import ProjectionDisplay
from .relevance import RelevanceDisplay

__all__ = ["ProjectionDisplay", "RelevanceDisplay"]
