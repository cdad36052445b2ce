"""The objective against plain NumPy and finite differences."""

import pickle

import numpy as np
import pytest

import custom_axes
import reference
from protolearn import _arrays
from protolearn.blocks import Block, MemoryBlocks
from protolearn.codebook import Codebook, Coordinates
from protolearn.distances import SquaredEuclidean
from protolearn.losses import LOSSES, Identity
from protolearn.margins import MARGINS, LogOdds
from protolearn.objective import Objective

LABELS = np.array([0, 0, 1, 1, 1, 2])


def make_data(seed=0, n=40, d=3):
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((n, d)), rng.randint(3, size=n)
    weight, W = rng.uniform(0.1, 2.0, n), rng.standard_normal((len(LABELS), d))
    return X, y, weight, W


def make_objective(margin, loss, beta=1.5, xi=0.7, **kwargs):
    return Objective(
        SquaredEuclidean(),
        LogOdds(xi) if margin == "log_odds" else MARGINS[margin](),
        Identity() if loss == "identity" else LOSSES[loss](beta),
        3,
        **kwargs,
    )


def make_codebook(W, distance=None):
    distance = distance or SquaredEuclidean()
    group = distance.groups(LABELS)
    theta = distance.initial(W, LABELS, np.ones(len(W)), group.max() + 1)
    return Codebook(W, LABELS, theta, group, W.mean(axis=0))


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("alpha", "scale"), [(0.0, 1.0), (0.3, 4.0)])
def test_value_and_gradient(margin, loss, alpha, scale):
    X, y, weight, W = make_data()
    objective = make_objective(margin, loss, attraction=alpha, scale=scale)
    got = objective.partial(make_codebook(W), Block(X, y, weight))

    def cost(V):
        settings = {"beta": 1.5, "xi": 0.7, "alpha": alpha, "scale": scale}
        return reference.cost(X, y, weight, V, LABELS, margin=margin, loss=loss, **settings)

    np.testing.assert_allclose(got.value / got.weight, cost(W), rtol=1e-10)
    numeric = reference.numeric_gradient(cost, W)
    # The error of a central difference is relative to the largest values that enter it.
    atol = 1e-6 * max(1.0, np.abs(numeric).max() * 1e-3)
    np.testing.assert_allclose(got.gradients.prototypes / got.weight, numeric, atol=atol)


@pytest.mark.parametrize("margin", MARGINS)
def test_blocks_and_chunks_add_up(margin, monkeypatch):
    X, y, weight, W = make_data(n=500)
    objective, codebook = make_objective(margin, "sigmoid", attraction=0.1), make_codebook(W)
    whole = objective.partial(codebook, Block(X, y, weight))
    monkeypatch.setattr(_arrays, "CHUNK_BYTES", 1)
    prepared = objective.distance.prepare(X, codebook)
    chunked = objective.partial(codebook, Block(X, y, weight, prepared))
    parts = [
        objective.partial(codebook, Block(X[rows], y[rows], weight[rows]))
        for rows in (slice(0, 1), slice(1, 200), slice(200, 500))
    ]
    for other in (chunked, parts[0] + parts[1] + parts[2]):
        np.testing.assert_allclose(other.value, whole.value, rtol=1e-12)
        np.testing.assert_allclose(other.weight, whole.weight, rtol=1e-12)
        np.testing.assert_allclose(
            other.gradients.prototypes, whole.gradients.prototypes, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize(
    "distance",
    [custom_axes.LogCosh(), custom_axes.Relevances(), custom_axes.LocalRelevances()],
    ids=lambda d: type(d).__name__,
)
@pytest.mark.parametrize("margin", [MARGINS["relative"](), LogOdds(0.7)])
def test_gradient_of_the_flat_vector(distance, margin):
    X, y, weight, W = make_data()
    objective = Objective(distance, margin, LOSSES["sigmoid"](2.0), 3, 0.2, 1.7)
    codebook = make_codebook(W, distance)
    constraint = distance.constraint if distance.adaptive else None
    coordinates = Coordinates(codebook, distance.length(objective.scale, codebook), constraint)
    blocks = MemoryBlocks(Block(X, y, weight)).prepare_for(distance, codebook)
    flat = coordinates.flatten(codebook)
    flat = flat + 0.1 * np.random.RandomState(1).standard_normal(flat.size)

    def value(v):
        return blocks.reduce(objective.partial, coordinates.codebook(v)).value

    total = blocks.reduce(objective.partial, coordinates.codebook(flat))
    numeric = reference.numeric_gradient(value, flat)
    np.testing.assert_allclose(coordinates.gradient(flat, total.gradients), numeric, atol=1e-4)


def test_flat_vector_and_back():
    _, _, _, W = make_data()
    codebook = make_codebook(W, custom_axes.LocalRelevances())
    coordinates = Coordinates(codebook, 3.0, custom_axes.LocalRelevances.constraint)
    back = coordinates.codebook(coordinates.flatten(codebook))
    np.testing.assert_allclose(back.prototypes, W, rtol=1e-14)
    np.testing.assert_allclose(back.metric, codebook.metric, rtol=1e-14)


def test_both_winners_on_the_sample():
    X, y = np.zeros((2, 3)), np.array([0, 1])
    for margin in MARGINS:
        objective = make_objective(margin, "sigmoid")
        got = objective.partial(make_codebook(np.zeros((6, 3))), Block(X, y, np.ones(2)))
        assert np.isfinite(got.value)
        assert np.isfinite(got.gradients.prototypes).all()


def test_objective_pickles_after_use():
    X, y, weight, W = make_data()
    objective, codebook = make_objective("relative", "sigmoid"), make_codebook(W)
    before = objective.partial(codebook, Block(X, y, weight)).value
    again = pickle.loads(pickle.dumps(objective))
    assert again.partial(codebook, Block(X, y, weight)).value == before
