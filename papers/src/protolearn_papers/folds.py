"""Folds that several experiments draw alike."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.model_selection import StratifiedKFold

FEW_ROWS = "The least populated class"
"""How scikit-learn says that a class has fewer rows than there are folds."""


def stratified(X: Any, y: Any, folds: int, seed: int) -> list[Any]:
    """Return training and test rows of each fold; small classes are in some of them only."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=FEW_ROWS)
        return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y))
