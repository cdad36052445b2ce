"""Predictions that are not made because they would be too unsure."""

from .classifier import RejectClassifier
from .thresholds import AccuracyRejectCurve, accuracy_reject_curve

__all__ = ["AccuracyRejectCurve", "RejectClassifier", "accuracy_reject_curve"]
