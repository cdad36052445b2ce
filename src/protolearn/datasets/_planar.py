"""Plane data with unusual class regions: isolated, striated, spirals (Shen and Danyluk, 5.1)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ._drawing import Labelled, Seed, check_count, check_number, check_seed, in_random_order

# Clusters have unit variance. A cell holds a disc of EMPTY standard deviations whose centre is
# up to one away from the middle, so the discs are disjoint and inside the square.
EMPTY, CELL = 3.0, 8.0


def make_isolated(
    n_clustered: int = 500,
    n_background: int = 300,
    *,
    n_clusters: int = 5,
    random_state: Seed = None,
) -> Labelled:
    """Draw Gaussian clusters of one class, isolated in a background of the other.

    The background is uniform on a square outside three standard deviations of each cluster
    (Shen and Danyluk, 5.1). The paper prints the class sizes 500 and 300, but not which is
    which, nor the number of clusters and their places; those here are ours: one cluster of
    unit variance in each of ``n_clusters`` random cells of a square grid.

    Parameters
    ----------
    n_clustered : int, default=500
        Number of points in clusters, shared equally by them.
    n_background : int, default=300
        Number of points in the background.
    n_clusters : int, default=5
        Number of clusters.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_clustered + n_background, 2)
        Points in random order.
    y : ndarray of int of shape (n_clustered + n_background,)
        1 for the clusters, 0 for the background.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_isolated
    >>> X, y = make_isolated(random_state=0)
    >>> X.shape, np.bincount(y)
    ((800, 2), array([300, 500]))
    """
    n_clusters = check_count("n_clusters", n_clusters)
    n_clustered = check_count("n_clustered", n_clustered, minimum=n_clusters)
    n_background = check_count("n_background", n_background)
    rng = check_seed(random_state)
    cells_a_side = math.isqrt(n_clusters - 1) + 1
    cells = rng.permutation(cells_a_side**2)[:n_clusters]
    middles = CELL * (np.column_stack(np.divmod(cells, cells_a_side)) + 0.5)
    centres = middles + rng.uniform(-1.0, 1.0, size=middles.shape)
    noise = rng.standard_normal((n_clustered, 2))
    clustered = centres[np.arange(n_clustered) % n_clusters] + noise
    background = _draw_outside(centres, CELL * cells_a_side, n_background, rng)
    y = np.repeat([1, 0], [n_clustered, n_background])
    return in_random_order(np.vstack([clustered, background]), y, rng)


def _draw_outside(
    centres: NDArray[np.float64], side: float, n: int, rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Draw n points uniformly on the square outside the discs around the centres."""
    points = np.empty((0, 2))
    while len(points) < n:
        drawn = rng.uniform(0.0, side, size=(n, 2))
        distance = np.linalg.norm(drawn[:, None] - centres, axis=2).min(axis=1)
        points = np.vstack([points, drawn[distance >= EMPTY]])
    return points[:n]


def make_striated(
    n_per_class: int = 400,
    *,
    n_stripes: int = 8,
    length: float = 4.0,
    width: float = 0.15,
    random_state: Seed = None,
) -> Labelled:
    """Draw parallel Gaussian stripes that alternate between two classes.

    A stripe is normally distributed, with a greater standard deviation in one direction (Shen
    and Danyluk, 5.1). The paper prints the class sizes, 400 and 400, and no more: the number
    of stripes, their shape and their direction, 45 degrees, are ours. The slant keeps the
    classes hard for trees, as they are in the paper.

    Parameters
    ----------
    n_per_class : int, default=400
        Number of points of each class, shared equally by its stripes.
    n_stripes : int, default=8
        Number of stripes of both classes together, at least 2.
    length : float, default=4.0
        Standard deviation along a stripe; the distance between neighbours is 1.
    width : float, default=0.15
        Standard deviation across a stripe.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 2)
        Points in random order.
    y : ndarray of int of shape (2 * n_per_class,)
        Classes 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_striated
    >>> X, y = make_striated(random_state=0)
    >>> X.shape, np.bincount(y)
    ((800, 2), array([400, 400]))
    """
    n_per_class = check_count("n_per_class", n_per_class)
    n_stripes = check_count("n_stripes", n_stripes, minimum=2)
    length = check_number("length", length, above=True)
    width = check_number("width", width, above=True)
    rng = check_seed(random_state)
    y = np.repeat([0, 1], n_per_class)
    stripes = [np.resize(np.arange(label, n_stripes, 2), n_per_class) for label in (0, 1)]
    across = np.concatenate(stripes) - (n_stripes - 1) / 2
    noise = rng.standard_normal((2 * n_per_class, 2)) * (length, width)
    along, across = noise[:, 0], across + noise[:, 1]
    X = np.column_stack([along - across, along + across]) / math.sqrt(2.0)
    return in_random_order(X, y, rng)


def make_spirals(
    density: int = 1,
    radius: float = 6.5,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
) -> Labelled:
    """Make the two-spirals benchmark of the CMU collection, 194 points by default.

    Point i of the first spiral, ``i = 0 .. 96 density``, has the angle ``i pi / (16 density)``
    and the radius ``radius (104 density - i) / (104 density)``; the second spiral is its mirror
    image in the origin. Without noise nothing is random.

    Parameters
    ----------
    density : int, default=1
        Points on 1/32 of a turn; each spiral has ``96 * density + 1`` on its three turns.
    radius : float, default=6.5
        Radius of the outermost point.
    noise : float, default=0.0
        Standard deviation of Gaussian noise on both coordinates; the benchmark has none.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers; used only if there is noise.

    Returns
    -------
    X : ndarray of shape (192 * density + 2, 2)
        Points in the order of the benchmark: the spirals in turn, from the outside inwards.
    y : ndarray of int of shape (192 * density + 2,)
        1 for the first spiral, 0 for the second.

    Notes
    -----
    Wieland's original program exchanges sine and cosine: the same points with the two columns
    swapped.

    Examples
    --------
    >>> from protolearn.datasets import make_spirals
    >>> X, y = make_spirals()
    >>> X.shape, y[:4]
    ((194, 2), array([1, 0, 1, 0]))
    """
    density = check_count("density", density)
    radius = check_number("radius", radius, above=True)
    noise = check_number("noise", noise, 0.0)
    step = np.arange(96 * density + 1)
    angle = step * np.pi / (16 * density)
    distance = radius * (104 * density - step) / (104 * density)
    first = distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.stack([first, -first], axis=1).reshape(-1, 2)
    if noise:
        X += noise * check_seed(random_state).standard_normal(X.shape)
    return X, np.tile([1, 0], len(step))
