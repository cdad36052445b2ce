"""The path of a soft margin against separate machines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from protolearn import MeanOfClass, SoftMarginSVM, regularization_path
from protolearn.datasets import make_graf_toy, make_neurons
from protolearn.linear.svm_solver import soft_margin_1, soft_margin_2


def overlapping(n=90, offset=2.0):
    rng = np.random.RandomState(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return rng.standard_normal((n, 4)) + y[:, None] + offset, y


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_same_as_separate_machines(norm, weighted):
    X, y = overlapping()
    weight = np.random.RandomState(1).randint(0, 3, len(X)) if weighted else None
    values = [10.0, 1e-3, 0.3, 10.0, 1e-6, 1e4]  # any order, and one of them twice
    path = regularization_path(X, y, values, norm=norm, sample_weight=weight)
    assert path.values.tolist() == values
    assert path.classes.tolist() == [0, 1]
    assert len(path) == 6
    for step, C in enumerate(values):
        model = SoftMarginSVM(norm, C=C).fit(X, y, weight)
        size = np.abs(model.shift_).max() + 1.0
        assert_allclose(path.prototypes[step], model.prototypes_, atol=1e-9)
        assert_allclose(path.coef[step], model.coef_[0], atol=1e-9)
        assert_allclose(path.intercept[step], model.intercept_[0], atol=1e-9 * size)
        assert_allclose(path.shift[step], model.shift_[0], atol=1e-9 * size)


def test_default_values_span_all_there_is():
    X, y = make_graf_toy(random_state=0)
    for scale in (1e-20, 1.0, 1e20):
        path = regularization_path(scale * X, y)
        assert len(path) == 50
        ends = SoftMarginSVM(C=1e8 / scale**2).fit(scale * X, y), MeanOfClass().fit(scale * X, y)
        assert_allclose(path.prototypes[-1], ends[0].prototypes_, atol=1e-3 * scale)
        assert_allclose(path.prototypes[0], ends[1].prototypes_, atol=1e-2 * scale)


@pytest.mark.parametrize("solver", [soft_margin_1, soft_margin_2], ids=["norm 1", "norm 2"])
@pytest.mark.parametrize("name", ["toy", "neurons", "overlap"])
def test_a_warm_start_is_worth_it(name, solver):
    make = {"toy": make_graf_toy, "neurons": make_neurons}.get(name)
    X, y = overlapping() if make is None else make(random_state=0)
    rows = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).sum())
    signs = np.where(y == y.max(), 1.0, -1.0)
    machine, warm, cold = None, 0, 0
    for C in np.geomspace(1e-4, 1e4, 50):
        caps = np.full(len(rows), C)
        machine = solver(rows, signs, caps, machine)
        warm += machine.n_iter
        cold += solver(rows, signs, caps).n_iter
    assert warm < 0.75 * cold


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"C": [1.0, 0.0]}, "greater than 0"),
        ({"C": [1.0, np.nan]}, "finite"),
        ({"C": []}, "one or more numbers"),
        ({"C": [[1.0]]}, "in a row"),
        ({"norm": 3}, "norm=3"),
        ({"y": [0, 1, 2, 0]}, "3 classes"),
        ({"sample_weight": [1.0]}, "one weight a row"),
    ],
)
def test_bad_input(arguments, message):
    data = {"X": [[0.0], [1.0], [2.0], [3.0]], "y": [0, 0, 1, 1], **arguments}
    with pytest.raises(ValueError, match=message):
        regularization_path(**data)


def test_one_number():
    path = regularization_path([[0.0], [1.0]], ["a", "b"], C=2.0)
    assert path.classes.tolist() == ["a", "b"]
    assert repr(path) == "<PrototypePath: 1 step, C 2 to 2>"
