"""Pictures of models, by matplotlib; it is imported when the first one is drawn."""

from .projection import ProjectionDisplay

__all__ = ["ProjectionDisplay"]
