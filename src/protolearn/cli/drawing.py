"""Which rows are drawn where there are too many."""

from __future__ import annotations

import numpy as np
from sklearn.utils.random import sample_without_replacement

from .._arrays import Indices
from .._names import count

FEWEST_DRAWN = 50
"""Rows that are drawn of each class, if it has so many."""


def draw(sizes: Indices, most: int, seed: int) -> list[Indices]:
    """Draw rows class by class; give their places among those of the class, ascending.

    Parameters
    ----------
    sizes : array (n_classes,)
        Rows of each class.
    most : int
        Rows to draw in all, a few more where classes are small.
    seed : int
        Of the draw.
    """
    rng, total = np.random.RandomState(seed), int(sizes.sum())
    drawn = []
    for size in sizes.tolist():
        wanted = min(size, max(round(most * size / total), FEWEST_DRAWN))
        # Takes memory for those that are drawn only.
        drawn.append(np.sort(sample_without_replacement(size, wanted, random_state=rng)))
    return drawn


def draw_note(n_drawn: int, n_rows: int) -> str:
    """Return a text that says how many rows were drawn."""
    return (
        f"{count(n_drawn, 'row')} of {n_rows:,} drawn to learn from and to judge by "
        "(--rows N for more, --rows 0 for all)"
    )
