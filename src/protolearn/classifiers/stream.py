"""Prototypes for classes that appear while data stream in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import column_or_1d

from .._arrays import Indices
from ..blocks import Block
from ..codebook import Codebook
from ..distances import Distance
from ..prototypes import first_codebook, initial_prototypes, rearrange
from ..solvers import Memory


def add_prototypes(
    old: tuple[Codebook, Memory] | None,
    distance: Distance,
    init: Any,
    block: Block,
    counts: Indices,
    rng: np.random.RandomState,
) -> tuple[Codebook, Memory]:
    """Return a codebook with the prototypes that classes lack, as far as the block has rows.

    Given prototypes are there from the beginning, for all classes.
    """
    if old is None and not isinstance(init, str):
        prototypes = initial_prototypes(init, block, counts, rng)
        labels = np.repeat(np.arange(len(counts)), counts)
        return first_codebook(distance, prototypes, labels, lambda: block, stream=True), Memory()
    labels = np.empty(0, dtype=np.intp) if old is None else old[0].labels
    lacking = np.maximum(counts - np.bincount(labels, minlength=len(counts)), 0)
    added = np.minimum(lacking, _places(block, lacking, None if old is None else old[0]))
    if old is not None and not added.any():
        return old[0].copy(), old[1].copy()
    fallback = None if old is None else old[0].prototypes.mean(axis=0)
    new = initial_prototypes(init, block, added, rng, fallback)
    new_labels = np.repeat(np.arange(len(counts)), added)
    start = first_codebook(distance, new, new_labels, lambda: block, stream=True)
    return (start, Memory()) if old is None else _merged(*old, start, distance)


def _places(block: Block, lacking: Indices, old: Codebook | None) -> Indices:
    """Count the rows of each class at which a new prototype could begin.

    Equal rows, and rows on a prototype of the class, are no place: equal prototypes stay equal.
    """
    places = np.bincount(block.y, minlength=len(lacking))
    if issparse(block.X):
        return places
    for code in np.flatnonzero((lacking > 0) & (places > 0)):
        rows = np.unique(block.X[block.y == code], axis=0)
        there = rows[:0] if old is None else old.prototypes[old.labels == code]
        taken = (rows[:, None] == there).all(axis=2).any(axis=1)
        places[code] = len(rows) - int(taken.sum())
    return places


def _merged(
    old: Codebook, memory: Memory, new: Codebook, distance: Distance
) -> tuple[Codebook, Memory]:
    """Return two codebooks together, sorted by class; new prototypes have nothing to remember."""
    both = Codebook(
        np.vstack([old.prototypes, new.prototypes]),
        np.concatenate([old.labels, new.labels]),
        np.vstack([old.metric, new.metric]),
        np.concatenate([old.group, len(old.metric) + new.group]),
        old.center,
    )
    order = np.argsort(both.labels, kind="stable")
    merged, heirs = rearrange(both, distance, order, both.prototypes[order], both.labels[order])
    remembered = memory.rearrange(
        np.where(order < len(old.labels), order, -1), np.where(heirs < len(old.metric), heirs, -1)
    )
    return merged, remembered


def known_classes(model: Any, classes: Any) -> NDArray[Any]:
    """Return the classes of a stream; raise if a later call names others."""
    known: NDArray[Any] | None = getattr(model, "classes_", None)
    if classes is None and known is None:
        raise ValueError(
            "classes must be given at the first call of partial_fit: all labels that will "
            "come, for example np.unique(y)."
        )
    if classes is None:
        return known  # type: ignore[return-value]
    if np.ndim(classes) != 1:
        raise ValueError(
            f"classes={classes!r} must be a list or an array of labels, for example np.unique(y)."
        )
    given = np.unique(column_or_1d(classes))
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes={given.tolist()!r} differ from {known.tolist()!r} of the first call."
        )
    if len(given) < 2:
        raise ValueError(f"classes={given.tolist()!r} must name at least two labels.")
    return given


def check_same_distance(before: Distance, now: Distance) -> None:
    """Raise if a stream would go on with another distance."""
    if type(before) is not type(now) or repr(before) != repr(now):
        raise ValueError(
            f"The stream began with the distance {before!r} and cannot go on with {now!r}; begin "
            "a new one with fit or a clone."
        )
