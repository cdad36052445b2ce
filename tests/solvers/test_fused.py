"""The fused loops take the steps of SGD, on dense and on sparse rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from given_profile import in_all
from protolearn.blocks import Block, MemoryBlocks
from protolearn.codebook import Codebook
from protolearn.distances import Minkowski, SquaredEuclidean
from protolearn.losses import Exponential, Logistic, Sigmoid
from protolearn.margins import Difference, Hypothesis, LogOdds, Relative
from protolearn.objective import Objective
from protolearn.solvers import SGD
from protolearn_papers.fused import DenseDescent, SparseDescent

AXES = {
    "glvq": (Relative(), Sigmoid(15.0)),
    "mce": (Difference(), Sigmoid(2.0)),
    "logm": (Difference(), Logistic(1.0)),
    "snpc": (LogOdds(2.0), Sigmoid()),
    "margin": (Hypothesis(), Exponential(1.0)),
}


def problem(seed, n=60, n_features=7, per_class=2, n_classes=3):
    rng = np.random.RandomState(seed)
    X = rng.poisson(0.4, (n, n_features)) * rng.rand(n, n_features)
    y = rng.randint(n_classes, size=n)
    labels = np.repeat(np.arange(n_classes), per_class)
    start = rng.rand(len(labels), n_features)
    return X, y, start, labels


def by_sgd(objective, X, y, start, labels, rate, epochs):
    """Let the solver go through the rows in their order."""
    n = len(labels)
    codebook = Codebook(
        start, labels, np.zeros((1, 0)), np.zeros(n, dtype=np.intp), np.zeros(X.shape[1])
    )
    blocks = MemoryBlocks(Block(X, y, np.ones(len(y))))
    solver = SGD(learning_rate=rate, shuffle=False)
    found = solver.minimize(
        objective, codebook, blocks, np.random.RandomState(0), max_iter=epochs, tol=0.0
    )
    return found.codebook.prototypes


@pytest.mark.parametrize("descent", [DenseDescent, SparseDescent])
@pytest.mark.parametrize("attraction", in_all(0.05, thorough=[0.0]))
@pytest.mark.parametrize("name", in_all("glvq", "snpc", thorough=["mce", "logm", "margin"]))
def test_steps_are_those_of_sgd(name, attraction, descent):
    margin, loss = AXES[name]
    X, y, start, labels = problem(seed=3)
    objective = Objective(SquaredEuclidean(), margin, loss, 3, attraction, scale=0.7)
    rows = X if descent is DenseDescent else csr_array(X)
    order = np.tile(np.arange(len(y)), 4)
    before = start.copy()
    found = descent(rows, y, order).run(objective, start, labels, rate=0.2)
    wanted = by_sgd(objective, X, y, start, labels, 0.2, epochs=4)
    np.testing.assert_array_equal(start, before)
    assert np.abs(wanted - start).max() > 0.1
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_prototypes_of_sparse_rows_may_land_on_a_row():
    """A step of the whole way leaves nothing of the prototype."""
    X, y, start, labels = problem(seed=5)
    objective = Objective(SquaredEuclidean(), *AXES["glvq"], 3, 0.0, scale=0.1)
    order = np.tile(np.arange(len(y)), 3)
    found = SparseDescent(csr_array(X), y, order).run(objective, start, labels, rate=5.0)
    wanted = DenseDescent(X, y, order).run(objective, start, labels, rate=5.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


def test_equal_prototypes_stay_equal_to_rounding():
    """All distances are summed in the same order."""
    X, y, start, labels = problem(seed=1, per_class=3)
    start[:] = start[0]
    objective = Objective(SquaredEuclidean(), *AXES["snpc"], 3)
    found = DenseDescent(X, y, np.arange(len(y))).run(objective, start, labels, rate=0.1)
    for k in range(0, len(labels), 3):
        np.testing.assert_allclose(found[k : k + 3], found[[k, k, k]], rtol=1e-12)


@pytest.mark.parametrize("descent", [DenseDescent, SparseDescent])
def test_what_a_loop_would_not_notice_is_refused(descent):
    X, y, start, labels = problem(seed=1)
    rows, order = (X if descent is DenseDescent else csr_array(X)), np.arange(len(y))
    objective = Objective(SquaredEuclidean(), *AXES["glvq"], 3)

    def run(objective=objective, order=order, start=start, labels=labels):
        return descent(rows, y, order).run(objective, start, labels, rate=0.1)

    with pytest.raises(ValueError, match="not Minkowski; take SGD"):
        run(objective=Objective(Minkowski(), *AXES["glvq"], 3))
    with pytest.raises(ValueError, match="from 0 to 60 of 60 rows"):
        run(order=np.append(order, 60))
    with pytest.raises(ValueError, match="6 prototypes and 5 labels"):
        run(labels=labels[:5])
    with pytest.raises(ValueError, match="each class needs a prototype"):
        run(labels=np.where(labels == 2, 1, labels))
