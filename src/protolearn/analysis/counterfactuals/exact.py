"""Counterfactuals where boundaries are flat: the nearest ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats, Indices
from ..cells import Cells
from .question import Attempt, Question


def exact(question: Question, cells: Cells) -> Attempt:
    """Give the exact method, for models with flat boundaries."""
    ranges, rows = question.ranges, question.rows
    if not ranges.bounded:
        cells = cells.within_their_span()

    def attempt(places: Indices, inset: float) -> tuple[Floats, NDArray[np.bool_]]:
        changed, box = rows[places], None
        if ranges.bounded:
            here = changed[:, ranges.movable]
            box = ranges.low[ranges.movable] - here, ranges.high[ranges.movable] - here
        leave, enter = question.leave[places], question.enter[places]
        found = cells.shortest_ways(question.D[places], leave, enter, box, inset)
        changed[:, ranges.movable] += found.ways
        return changed, found.rival >= 0

    return attempt
