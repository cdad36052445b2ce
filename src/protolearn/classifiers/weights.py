"""Weights of samples and classes, put together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from .._parameters import Floats, Indices


def weigh(
    X: Floats, codes: Indices, weight: Floats, class_weight: Any, classes: Any
) -> tuple[Floats, Indices, Floats]:
    """Apply class weights, leave out rows of weight zero, and give weights of mean one."""
    weight = weight / weight.max()
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        by_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        if not (np.isfinite(by_class).all() and (by_class >= 0).all()):
            raise ValueError(
                f"class_weight={class_weight!r} must give finite, non-negative weights."
            )
        weight = weight * by_class[codes]
    if not weight.all():
        kept = weight > 0
        X, codes, weight = X[kept], codes[kept], weight[kept]
    total = np.bincount(codes, weight, minlength=len(classes))
    if not total.all():
        raise ValueError(
            f"Class {classes.tolist()[total.argmin()]!r} has no row of positive weight; every "
            "class needs one."
        )
    if isinstance(class_weight, str):  # balanced, by the weight of each class
        weight = weight / total[codes]
    return X, codes, weight / weight.mean()
