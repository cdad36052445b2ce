"""The nearest point of a cell within a box, against non-negative least squares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reference
from protolearn.analysis.cells import Cells
from protolearn.analysis.projection import nearest_half_spaces

SEEDS = st.integers(0, 2**32 - 1)


def shortest(X, W, labels, leave, enter=None, box=None, inset=0.0):
    """Return the ways, their lengths and the rivals."""
    D = cdist(X, W, "sqeuclidean")
    return Cells(W, None, labels).shortest_ways(D, leave, enter, box, inset)


def random_box(rng, n, d, coarse):
    """Give bounds around zero, some infinite, some that fix a feature."""
    low, high = -np.abs(rng.randn(n, d)), np.abs(rng.randn(n, d))
    size = rng.choice([0.5, 1.0, 4.0])
    low, high = (np.round(size * side) if coarse else size * side for side in (low, high))
    low[rng.rand(n, d) < 0.2], high[rng.rand(n, d) < 0.2] = -np.inf, np.inf
    fixed = rng.rand(n, d) < 0.15
    low[fixed] = high[fixed] = 0.0
    return low, high


@given(
    seed=SEEDS,
    d=st.integers(1, 6),
    K=st.integers(2, 20),
    coarse=st.booleans(),
    boxed=st.booleans(),
    any_class=st.booleans(),
)
def test_is_the_shortest_way(seed, d, K, coarse, boxed, any_class):
    rng = np.random.RandomState(seed)
    draw = (lambda *shape: rng.randint(-2, 3, shape).astype(float)) if coarse else rng.randn
    W, X, labels = draw(K, d), 1.5 * draw(2, d), np.append([0, 1], rng.randint(0, 3, K - 2))
    leave = labels[cdist(X, W).argmin(axis=1)]
    enter = np.full(2, -1) if any_class else (leave == 0).astype(np.intp)
    box = random_box(rng, 2, d, coarse) if boxed else None
    ways, length, rival = shortest(X, W, labels, leave, enter, box)
    for i, x in enumerate(X):
        left = labels == leave[i] if any_class else labels != enter[i]
        sides = None if box is None else (box[0][i], box[1][i])
        expected = [
            reference.way_to_cell(x, v, W, np.flatnonzero(left), box=sides)
            for v in np.flatnonzero(~left)
        ]
        lengths = [np.linalg.norm(y) for y in expected if y is not None and met(y, sides)]
        np.testing.assert_allclose(length[i], min(lengths, default=np.inf), atol=1e-7)
        if np.isfinite(length[i]):
            np.testing.assert_allclose(np.linalg.norm(ways[i]), length[i])
            assert met(ways[i], sides)
            D = cdist([x + ways[i]], W, "sqeuclidean")[0]
            assert not left[rival[i]]
            assert (D[rival[i]] <= D[left] + 1e-9).all()
        else:
            assert rival[i] == -1


def met(y, sides):
    """Tell whether a way stays within the box."""
    return sides is None or ((sides[0] <= y + 1e-9) & (y - 1e-9 <= sides[1])).all()


def test_condition_that_no_longer_presses_is_released():
    # The plane to the first prototype is the farthest; at the corner of the two others, nearer
    # to the origin, it is passed by far.
    own = [[-4.0, 0.0], [-0.6, 0.6 * 3**0.5], [-0.6, -0.6 * 3**0.5]]
    X, W, labels = np.array([[-3.0, 0.0]]), np.array([*own, [0.0, 0.0]]), np.array([0, 0, 0, 1])
    ways, length, _ = shortest(X, W, labels, np.array([0]))
    np.testing.assert_allclose(ways, [[1.8, 0.0]], atol=1e-12)
    np.testing.assert_allclose(length, [1.8])
    # Another rival behind a farther plane is a little nearer all the same.
    W, labels = np.vstack([W, [[-5.5, 0.0]]]), np.append(labels, 2)
    ways, length, rival = shortest(X, W, labels, np.array([0]))
    np.testing.assert_allclose(ways, [[-1.75, 0.0]], atol=1e-12)
    assert rival[0] == 4


def test_inset_goes_beyond_the_boundary():
    X, W, labels = np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([0, 1])
    ways, length, rival = shortest(X, W, labels, np.array([0]), inset=0.1)
    # The largest distance is 4; a tenth of it is gained at 2 * 2 a unit.
    np.testing.assert_allclose(ways, [[1.1, 0.0]])
    np.testing.assert_allclose(length, [1.1])
    assert rival[0] == 1


def test_corner_of_a_box():
    X, W, labels = np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([0, 1])
    for side, expected in [(3.0, [1.0, 1.0]), (0.5, [0.5, 1.5]), (0.0, [0.0, 2.0])]:
        box = np.full((1, 2), -9.0), np.array([[side, 9.0]])
        np.testing.assert_allclose(shortest(X, W, labels, np.array([0]), box=box)[0], [expected])
    box = np.full((1, 2), -9.0), np.array([[0.5, 1.4]])
    assert shortest(X, W, labels, np.array([0]), box=box)[1] == np.inf


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_ends_among_many_ties(d):
    rng = np.random.RandomState(d)
    W = rng.randint(0, 4, size=(400, d)).astype(float)
    labels = np.repeat([0, 1], 200)
    X = rng.randint(-2, 6, size=(100, d)) + rng.choice([0.0, 0.5], size=(100, 1))
    leave = labels[cdist(X, W).argmin(axis=1)]
    for box in (None, random_box(rng, 100, d, coarse=True)):
        assert not np.isnan(shortest(X, W, labels, leave, box=box)[1]).any()


@given(seed=SEEDS, power=st.integers(3, 13), d=st.integers(1, 5))
def test_ends_among_nearly_parallel_planes(seed, power, d):
    rng = np.random.RandomState(seed)
    line = np.outer(rng.randint(-3, 4, 30), rng.randn(d))
    W, labels = line + 10.0**-power * rng.randn(30, d), np.arange(30) % 3
    X = 2.0 * rng.randn(5, d)
    leave = labels[cdist(X, W).argmin(axis=1)]
    ways, length, rival = shortest(X, W, labels, leave)
    assert np.isfinite(length).all()
    D = cdist(X + ways, W, "sqeuclidean")
    own = np.where(labels == leave[:, None], D, np.inf).min(axis=1)
    assert (D[np.arange(5), rival] <= own + 1e-6).all()


@given(seed=SEEDS, d=st.integers(1, 6))
def test_half_spaces(seed, d):
    rng = np.random.RandomState(seed)
    G = rng.randn(4, d)
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    c, (low, high), ways = np.abs(rng.randn(4)), random_box(rng, 4, d, False), np.empty((4, d))
    nearest_half_spaces(G, c, low, high, ways)
    reach = G * np.where(G > 0.0, high, low)
    for i in range(4):
        if reach[i].sum() < c[i]:
            np.testing.assert_array_equal(ways[i], 0.0)
            continue
        above, below = np.isfinite(high[i]), np.isfinite(low[i])
        A = np.vstack([-G[i], np.eye(d)[above], -np.eye(d)[below]])
        b = np.concatenate([[-c[i]], high[i, above], -low[i, below]])
        np.testing.assert_allclose(ways[i], reference.projection(A, b), atol=1e-7)
