"""How many prototypes there are, and where they begin.

Class means, k-means in each class, k-means++, random rows, or an array.

All work is done on a copy of some rows of one class at a time: missing values replaced by the mean
of the class, moved to that mean (sparse rows stay where they are), and divided by a power of two,
so that data of any size pass through k-means unharmed.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.random import sample_without_replacement

from .._arrays import (
    Floats,
    Indices,
    as_floats,
    as_indices,
    check_observed_columns,
    class_means,
    column_ranges,
    do_once,
    middle,
)
from .._threads import one_openmp_thread
from ..blocks import Block
from ..codebook import Codebook
from ..distances import Distance, LowerBounded

ROWS_PER_PROTOTYPE = 256
"""Rows of a class that the start looks at for each prototype; a larger class is sampled."""

FEWEST_ROWS = 1000
"""Rows that it looks at in any case."""

KMEANS_ITERATIONS = 30
"""Enough for a start."""

NOISE = 1e-3
"""Size of the step that separates equal starts, relative to the spread of the class."""

Rng = np.random.RandomState
Start = Callable[[Any, Floats, Floats, int, Rng], Any]
"""Gives points, or the indices of rows."""


def around_mean(Z: Any, mean: Floats, weight: Floats, k: int, rng: Rng) -> Floats:
    """Take the mean k times; equal ones are separated afterwards."""
    return np.tile(mean, (k, 1))


def by_kmeans(Z: Any, mean: Floats, weight: Floats, k: int, rng: Rng) -> Floats:
    """Take the centres of k clusters."""
    centers: Floats = do_once(cluster_centers, Z, weight, k, rng=rng)
    return centers


def cluster_centers(Z: Any, weight: Floats, k: int, rng: Rng) -> Floats:
    """Return the centres of k clusters."""
    with warnings.catch_warnings(), one_openmp_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as for fewer distinct rows than k
        model = KMeans(k, n_init=1, max_iter=KMEANS_ITERATIONS, random_state=rng).fit(
            Z, sample_weight=weight
        )
    centers: Floats = model.cluster_centers_
    return centers


def by_kmeans_plusplus(Z: Any, mean: Floats, weight: Floats, k: int, rng: Rng) -> Indices:
    """Take k rows that lie far from each other."""
    return as_indices(kmeans_plusplus(Z, k, sample_weight=weight, random_state=rng)[1])


def by_rows(Z: Any, mean: Floats, weight: Floats, k: int, rng: Rng) -> Indices:
    """Take k rows at random."""
    return as_indices(rng.choice(Z.shape[0], k, replace=False, p=weight / weight.sum()))


STARTS: dict[str, Start] = {
    "means": around_mean,
    "kmeans": by_kmeans,
    "kmeans++": by_kmeans_plusplus,
    "random": by_rows,
}

FROM_THE_MEAN = (around_mean, by_kmeans)
"""Starts whose only prototype is the mean."""


@dataclass(frozen=True)
class Facts:
    """What is known about all rows.

    Attributes
    ----------
    low, high : array (d,)
        Least and greatest observed values.
    means : array (n_classes, d)
        The mean of each class, without gaps.
    """

    low: Floats
    high: Floats
    means: Floats

    @classmethod
    def of(
        cls,
        block: Block,
        n_classes: int,
        fallback: Floats | None = None,
        ranges: tuple[Floats, Floats] | None = None,
    ) -> Facts:
        """Return the facts of a block, whose ranges may be known."""
        means = class_means(block.X, block.y, block.weight, n_classes)
        if np.isnan(means).any():
            nobody = np.zeros(len(block), dtype=np.uint8)
            overall = class_means(block.X, nobody, block.weight, 1)[0]
            means = completed_means(means, overall, fallback)
        return cls(*(ranges or column_ranges(block.X)), means)


def is_automatic(per_class: Any) -> bool:
    """Whether the number of prototypes is to be found."""
    return isinstance(per_class, str) and per_class == "auto"


def prototype_counts(
    per_class: Any, classes: NDArray[Any], n_rows: Indices | None = None
) -> Indices:
    """Return the number of prototypes of each class, in the order of ``classes``.

    Parameters
    ----------
    per_class : int or mapping from label to int
        What the user asked for; a label that a mapping leaves out has one prototype.
    classes : array
        The labels.
    n_rows : array, default=None
        Rows of each class; a class must have as many as prototypes.
    """
    known = classes.tolist()
    if isinstance(per_class, Mapping):
        unknown = [label for label in per_class if label not in known]
        if unknown:
            raise ValueError(
                f"prototypes_per_class names {unknown!r}, which y does not contain; its labels "
                f"are {known!r}."
            )
        wanted = [per_class.get(label, 1) for label in known]
    else:
        wanted = [per_class] * len(known)
    for count in wanted:
        if not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(
                f"prototypes_per_class={per_class!r} must be a positive integer, a dict that gives "
                "one for each label, or 'auto'."
            )
    counts = np.array(wanted, dtype=np.intp)
    if n_rows is not None and (counts > n_rows).any():
        code = int((counts > n_rows).argmax())
        label, rows = known[code], n_rows[code]
        raise ValueError(
            f"Class {label!r} has {rows} rows, fewer than its {counts[code]} prototypes; lower "
            "prototypes_per_class, for this class alone by a dict such as "
            f"{{{label!r}: {rows}}}."
        )
    return counts


def initial_prototypes(
    init: Any,
    block: Block,
    counts: Indices,
    rng: Rng,
    fallback: Floats | None = None,
    facts: Facts | None = None,
    ranges: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Return the prototypes to start from, class by class in the order of the codes.

    Parameters
    ----------
    init : str or array (K, d)
        A key of ``STARTS``, or the prototypes themselves.
    block : Block
        Samples of all classes that have a count, with positive weights.
    counts : array (n_classes,)
        Number of prototypes of each class.
    rng : RandomState
        Source of randomness.
    fallback : array (d,), default=None
        Values of features of which the block observes nothing.
    facts : Facts, default=None
        What is known about all rows, where the block is a sample of them.
    ranges : pair of arrays (d,), default=None
        Least and greatest values of the columns of the block, if they are known.
    """
    if not isinstance(init, str):
        return given_prototypes(init, int(counts.sum()), block.X.shape[1])
    if init not in STARTS:
        check_init(init, block.X.shape[1])
    if facts is None:
        facts = Facts.of(block, len(counts), fallback, ranges)
    spread = np.nan_to_num(0.25 * (facts.high - facts.low))
    W = np.empty((int(counts.sum()), block.X.shape[1]))
    ends = np.cumsum(counts)
    for code in np.flatnonzero(counts).tolist():
        k, mean = int(counts[code]), facts.means[code]
        place = slice(ends[code] - k, ends[code])
        if k == 1 and STARTS[init] in FROM_THE_MEAN:
            W[place] = mean
        else:
            W[place] = _start_class(STARTS[init], block, code, mean, k, spread, rng)
    equal = facts.low == facts.high  # a mean of equal numbers may differ from them
    return np.where(equal, facts.low, W)


def check_init(init: Any, n_features: int) -> None:
    """Raise if there is no such start, or if given prototypes have other features."""
    if isinstance(init, str):
        if init not in STARTS:
            raise ValueError(
                f"init={init!r} must be one of {', '.join(map(repr, STARTS))} or an array of shape "
                "(number of prototypes, number of features)."
            )
        return
    if hasattr(init, "codebook"):  # a rule
        init = init.codebook.prototypes
    given_prototypes(init, np.shape(init)[0] if np.ndim(init) else 0, n_features)


def given_prototypes(init: Any, n_prototypes: int, n_features: int) -> Floats:
    """Check prototypes that the user gives."""
    try:
        W = np.array(init, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(
            f"init={init!r} must be one of {', '.join(map(repr, STARTS))} or an array of numbers "
            f"of shape ({n_prototypes}, {n_features})."
        ) from None
    if W.shape != (n_prototypes, n_features):
        raise ValueError(
            f"init has shape {W.shape}, expected ({n_prototypes}, {n_features}): one row for each "
            "prototype, grouped by class in the order of classes_."
        )
    if not np.isfinite(W).all():
        raise ValueError("init contains NaN or infinity; give finite prototypes.")
    return W


def completed_means(means: Floats, overall: Floats, fallback: Floats | None = None) -> Floats:
    """Return what a class never observes the mean of all, or the fallback."""
    if fallback is not None:
        overall = np.where(np.isnan(overall), fallback, overall)
    check_observed_columns(overall[None])
    return np.where(np.isnan(means), overall, means)


def _start_class(
    start: Start, block: Block, code: int, mean: Floats, k: int, spread: Floats, rng: Rng
) -> Floats:
    """Return the prototypes of one class."""
    rows = np.flatnonzero(block.y == code)
    wanted = max(ROWS_PER_PROTOTYPE * k, FEWEST_ROWS)
    if len(rows) > wanted:
        rows = rows[sample_without_replacement(len(rows), wanted, random_state=rng)]
    X = block.X[rows]
    if issparse(X):
        Z, center = X, np.zeros_like(mean)
    else:  # completed, and moved to the mean
        Z, center = X - mean, mean
        Z[np.isnan(Z)] = 0.0
    size = float(np.abs(Z.data if issparse(Z) else Z).max(initial=0.0))
    unit = 2.0 ** np.floor(np.log2(size)) if size > 0.0 else 1.0
    weight = np.ones(len(rows)) if block.weight is None else block.weight[rows]
    found = start(Z / unit, (mean - center) / unit, weight, k, rng)
    if found.dtype == np.intp:  # the rows as they are, but for what they miss
        chosen = X[found].toarray() if issparse(X) else X[found]
        W = np.where(np.isnan(chosen), mean, chosen)
    else:
        W = center + unit * found
    return W + _separate(W, spread, rng)


def _separate(W: Floats, spread: Floats, rng: Rng) -> Floats:
    """Return a small step for each prototype that equals an earlier one: they would stay equal."""
    step = np.zeros_like(W)
    seen = {row.tobytes(): k for k, row in reversed(list(enumerate(W)))}
    again = np.setdiff1d(np.arange(len(W)), list(seen.values()))
    step[again] = NOISE * spread * rng.standard_normal((len(again), W.shape[1]))
    return step


def first_codebook(
    distance: Distance,
    prototypes: Floats,
    labels: Indices,
    rows: Callable[[], Block],
    stream: bool = False,
) -> Codebook:
    """Return prototypes with the initial metric; ``stream``: more rows will follow.

    ``rows`` returns the rows that tell where the metric begins, if that has to be told.
    """
    distance.check_rows(prototypes)
    group = np.ascontiguousarray(distance.groups(labels), dtype=np.intp)
    metric = np.zeros((int(group.max()) + 1, 0))
    if type(distance).initial is not Distance.initial:
        block = rows()
        metric = as_floats(distance.start(block.X, block.codes, block.weights, labels, stream))
    return settle(Codebook(prototypes, labels, metric, group, middle(prototypes)), distance)


def settle(codebook: Codebook, distance: Distance) -> Codebook:
    """Return the codebook with prototypes that the distance takes, and the metric they have."""
    if isinstance(distance, LowerBounded):
        raised = np.maximum(codebook.prototypes, distance.lowest(codebook))
        codebook = replace(codebook, prototypes=raised, center=middle(raised))
    return replace(codebook, metric=distance.refresh(codebook)) if distance.moving else codebook
