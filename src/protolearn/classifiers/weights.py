"""The weights of samples and classes put together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .._validation import check_class_weight
from ..blocks import Block


def weigh(block: Block, class_weight: Any, classes: NDArray[Any], *, to_mean_one: bool) -> Block:
    """Apply class weights and leave out rows of weight zero; None stays None if all are one."""
    if block.weight is not None and to_mean_one:
        block = with_weight(block, block.weight / block.weight.max())  # products cannot overflow
    balanced = isinstance(class_weight, str) and class_weight == "balanced"
    if class_weight is not None and not balanced:
        by_class = check_class_weight(class_weight, classes, classes[block.y])
        block = with_weight(block, block.weights * by_class[block.y])
    if block.weight is not None and not block.weight.all():
        block = block.some(np.flatnonzero(block.weight > 0))
        if not len(block):
            raise ValueError("X has no row of positive weight: there is nothing to learn from.")
    if balanced:  # by the weight of each class
        total = np.bincount(block.y, block.weight, minlength=len(classes))
        block = with_weight(block, block.weights / total[block.y])
    if block.weight is not None and to_mean_one:
        block = with_weight(block, block.weight / block.weight.mean())
    return block


def with_weight(block: Block, weight: Floats | None) -> Block:
    """Give the same rows with other weights."""
    return Block(block.X, block.y, weight)


def check_every_class(classes: NDArray[Any], rows: Indices) -> None:
    """Raise if a class has no row."""
    if not rows.all():
        raise ValueError(
            f"Class {classes.tolist()[rows.argmin()]!r} has no row of positive weight; every "
            "class needs one."
        )
