"""Shifting the boundaries of models (algorithm 3 of Shen and Danyluk)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._arrays import Floats, Indices, as_indices, rows_at_a_time
from ..native import (
    i8,
    indices,
    indices_out,
    matrix,
    native,
    types,
    vector,
    vector_out,
)
from .blocks import by_blocks
from .machines import Machines


@native(i8(matrix, indices, indices))
def count_foreign(scores, label, codes):
    """Count the rows of other classes that models fire on."""
    count = 0
    for i in range(len(scores)):
        for j in range(codes.size):
            count += scores[i, j] > 0.0 and codes[j] != label[i]
    return count


@native(
    types.void(
        *(matrix, matrix, vector, indices, indices, indices),
        *(vector_out, indices_out, indices_out, indices_out),
    )
)
def find_nearest(scores, products, squares, exemplar, label, codes, least, nearest, model, row):
    """Find the nearest of the models that fire on a row and are of its class.

    ``least`` is the distance to its exemplar, squared and less the square of the row; ``products``
    are those of exemplars and rows. Write also the pairs of models and rows of other classes.
    """
    place = 0
    for i in range(len(scores)):
        for j in range(codes.size):
            if scores[i, j] > 0.0:
                if codes[j] != label[i]:
                    model[place], row[place] = i, j
                    place += 1
                    continue
                distance = squares[exemplar[i]] - 2.0 * products[i, j]
                if exemplar[i] == j:
                    distance = -np.inf  # to itself, whatever the rounding
                if distance < least[j]:
                    least[j], nearest[j] = distance, i


class Seen(NamedTuple):
    """What some models fire on.

    Attributes
    ----------
    least, nearest : arrays (n,)
        The nearest model of each row among those of its class, and how near it is.
    model, row : arrays
        Pairs of models and the rows of other classes that they fire on, model by model.
    """

    least: Floats
    nearest: Indices
    model: Indices
    row: Indices


def look(machines: Machines, X: Floats, squares: Floats, codes: Indices, models: slice) -> Seen:
    """See what some models fire on."""
    exemplar, label = machines.exemplar[models], machines.label[models]
    scores = machines.weights[models] @ X.T + machines.intercepts[models, None]
    model, row = np.empty((2, count_foreign(scores, label, codes)), np.intp)
    seen = Seen(np.full(len(X), np.inf), np.full(len(X), -1, np.intp), model, row)
    find_nearest(scores, X[exemplar] @ X.T, squares, exemplar, label, codes, *seen)
    return Seen(seen.least, models.start + seen.nearest, models.start + model, row)


def shift(
    machines: Machines, X: Floats, codes: Indices, probability: float, rng: np.random.RandomState
) -> Machines:
    """Let rows of the training part join the sets of models.

    A row joins the positives of that model of its class that fires on it and has the nearest
    exemplar. Of the rows of other classes that a model fires on, its hard negatives, each joins its
    negatives with the given probability.
    """
    codes, squares = as_indices(codes), np.einsum("ij,ij->i", X, X)
    least, nearest = np.full(len(X), np.inf), np.full(len(X), -1, np.intp)
    hard: list[tuple[Indices, Indices]] = []
    for start in range(0, len(machines), size := rows_at_a_time(len(X))):
        seen: dict[int, Seen] = {}

        def see(block: slice, start: int = start, seen: dict[int, Seen] = seen) -> None:
            models = slice(start + block.start, start + block.stop)
            seen[models.start] = look(machines, X, squares, codes, models)

        by_blocks(min(size, len(machines) - start), len(X), see)
        for each in (seen[first] for first in sorted(seen)):
            closer = each.least < least
            least[closer], nearest[closer] = each.least[closer], each.nearest[closer]
            drawn = rng.random_sample(len(each.row)) < probability
            hard.append((each.model[drawn], each.row[drawn]))
    captured = np.flatnonzero(nearest >= 0)
    members = machines.members.joined(nearest[captured], captured, 1.0)
    model, row = (np.concatenate(part) for part in zip(*hard, strict=True))
    members = members.joined(model, row, -1.0)
    before, after = (each.sizes(len(machines)) for each in (machines.members, members))
    return replace(machines, members=members, changed=(after > before) | ~machines.solved)
