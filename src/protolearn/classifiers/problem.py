"""What a learner has to know of the data before it begins."""

from __future__ import annotations

from dataclasses import dataclass

HIGH_CONTRAST = 1.0
"""What the contrast is taken for where it is not measured."""


@dataclass(frozen=True)
class Problem:
    """How much there is to learn from, and how it begins.

    Attributes
    ----------
    n_classes, n_prototypes, n_features : int
        How many there are.
    scale : float
        Unit of distance.
    contrast : float
        How much further than the nearest own prototype the nearest rival is in the beginning, or
        nearer, as a share of the mean distance to the former.
    work : float
        Multiplications for all distances of the data.
    stream : bool
        Whether there will be more rows.
    elsewhere : bool
        Whether rows stay where they are, and only sums over them come here.
    """

    n_classes: int = 2
    scale: float = 1.0
    contrast: float = HIGH_CONTRAST
    n_prototypes: int = 0
    n_features: int = 0
    work: float = 0.0
    stream: bool = False
    elsewhere: bool = False
