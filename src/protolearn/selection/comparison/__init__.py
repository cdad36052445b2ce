"""Comparing classifiers on several data sets, on the same folds."""

from .compare import compare
from .result import Comparison
from .significance import PairedTest, WinTieLoss

__all__ = ["Comparison", "PairedTest", "WinTieLoss", "compare"]
