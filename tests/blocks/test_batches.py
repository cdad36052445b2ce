"""Batches in random order: every row once, whatever the number of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from protolearn import GLVQ
from protolearn.blocks import Block, MemoryBlocks
from protolearn.blocks import memory as blocks_of_rows


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    monkeypatch.setattr(blocks_of_rows, "WINDOW", 48)
    monkeypatch.setattr(blocks_of_rows, "RUN_NUMBERS", 16)


def seen(n, d, size, seed, kind=np.asarray):
    """Give the first number of each row, which is its place, in the order of the batches."""
    X = np.tile(np.arange(1.0, n + 1)[:, None], (1, d))
    blocks = MemoryBlocks(Block(kind(X), np.arange(n) % 7, np.arange(n) + 0.5))
    rng = None if seed is None else np.random.RandomState(seed)
    order = []
    for batch in blocks.batches(size, rng):
        rows = batch.X.toarray() if sparse.issparse(batch.X) else batch.X
        place = rows[:, 0].astype(int) - 1
        assert 0 < len(batch) <= size
        assert (batch.y == place % 7).all()
        assert (batch.weights == place + 0.5).all()
        order.extend(place)
    return np.array(order)


@given(
    n=st.integers(1, 400),
    d=st.sampled_from([1, 3, 5, 8, 40]),
    size=st.integers(1, 60),
    seed=st.sampled_from([None, 0, 1]),
)
def test_every_row_comes_once(n, d, size, seed):
    order = seen(n, d, size, seed)
    assert (np.sort(order) == np.arange(n)).all()
    if seed is None:
        assert (order == np.arange(n)).all()


def test_sparse_rows_come_once():
    assert (np.sort(seen(300, 3, 7, 0, sparse.csr_array)) == np.arange(300)).all()


def test_a_seed_gives_an_order_and_another_gives_another():
    first, again, other = seen(300, 3, 7, 0), seen(300, 3, 7, 0), seen(300, 3, 7, 1)
    assert (first == again).all()
    assert (first != other).mean() > 0.9


def test_windows_hold_rows_from_all_over():
    """Rows of the first window come from everywhere, and neighbours do not stay together."""
    order = seen(4000, 3, 16, 0)[:40]
    assert order.min() < 1000
    assert order.max() > 3000
    assert (np.abs(np.diff(order)) == 1).mean() < 0.2


def test_sorted_classes_are_learned():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 1000)
    X = rng.standard_normal((3000, 4)) + 3.0 * np.eye(4)[y]
    assert GLVQ(solver="sgd", max_iter=3, random_state=0).fit(X, y).score(X, y) > 0.95
