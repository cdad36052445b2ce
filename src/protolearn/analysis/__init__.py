"""What a fitted model knows about its predictions."""

from .margins import hypothesis_margin
from .profile import RelevanceProfile
from .relevance import relevance_profile

__all__ = ["RelevanceProfile", "hypothesis_margin", "relevance_profile"]
