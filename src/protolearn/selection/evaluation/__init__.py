"""Measures of a classifier, with intervals."""

from .evaluate import evaluate, evaluate_predictions
from .result import Estimate, Evaluation

__all__ = ["Estimate", "Evaluation", "evaluate", "evaluate_predictions"]
