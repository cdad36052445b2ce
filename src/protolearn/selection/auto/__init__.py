"""The automatic choice of a model."""

from .classifier import AutoPrototypeClassifier
from .leaderboard import Leaderboard, Standing
from .named import model_names
from .progress import SearchProgress

__all__ = ["AutoPrototypeClassifier", "Leaderboard", "SearchProgress", "Standing", "model_names"]
