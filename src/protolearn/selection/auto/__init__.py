"""The automatic choice of a model."""

from .classifier import AutoPrototypeClassifier
from .leaderboard import Leaderboard, Standing

__all__ = ["AutoPrototypeClassifier", "Leaderboard", "Standing"]
