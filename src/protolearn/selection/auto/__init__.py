"""The automatic choice of a model."""

from .auto_classifier import AutoPrototypeClassifier
from .candidates import model_names
from .leaderboard import Leaderboard, Standing
from .search_progress import SearchProgress

__all__ = ["AutoPrototypeClassifier", "Leaderboard", "SearchProgress", "Standing", "model_names"]
