"""The path of a soft margin against separate machines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from protolearn import MeanOfClass, SoftMarginSVM, regularization_path
from protolearn.datasets import make_graf_toy, make_neurons
from protolearn.linear.svm_solver import soft_margin_1, soft_margin_2
from protolearn.report import PrototypePathDisplay


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
        model = SoftMarginSVM(norm=norm, C=C).fit(X, y, weight)
        size = np.abs(model.shift_).max() + 1.0
        assert_allclose(path.prototypes[step], model.prototypes_, atol=1e-9)
        scale = np.linalg.norm(path.coef[step]) / np.linalg.norm(model.coef_)
        assert_allclose(path.coef[step], scale * model.coef_[0], atol=1e-9)
        assert_allclose(path.intercept[step], scale * model.intercept_[0], atol=1e-9 * size)
        assert_allclose(path.shift[step], model.shift_[0], atol=1e-9 * size)


def test_several_classes_have_a_path_each_against_the_rest(iris):
    X, y = iris
    paths = regularization_path(X, y, [0.1, 3.0])
    assert len(paths) == 3
    for code, path in enumerate(paths):
        two = regularization_path(X, y == code, [0.1, 3.0])
        assert path.classes.tolist() == [None, code]
        assert_allclose(path.prototypes, two.prototypes)
        assert_allclose(path.shift, two.shift)
        model = SoftMarginSVM(C=3.0, multi_class="ovr").fit(X, y)
        assert_allclose(path.prototypes[-1][1], model.prototypes_[code], atol=1e-8)


def test_all_classes_at_once(iris):
    X, y = iris
    values = [3.0, 0.1, 1.0]
    path = regularization_path(X, y, values, multi_class="crammer_singer")
    assert path.prototypes.shape == path.coef.shape == (3, 3, 4)
    assert path.classes.tolist() == [0, 1, 2]
    for step, C in enumerate(values):
        model = SoftMarginSVM(C=C, multi_class="crammer_singer").fit(X, y)
        scores = X @ path.coef[step].T + path.intercept[step]
        away = ((X[:, None] - path.prototypes[step]) ** 2).sum(axis=2) - path.shift[step]
        assert (scores.argmax(axis=1) == away.argmin(axis=1)).all()
        assert np.mean(scores.argmax(axis=1) == model.predict(X)) > 0.98
        assert_allclose(path.prototypes[step], model.prototypes_, atol=0.05)
    with pytest.raises(ValueError, match="path has 3 classes"):
        PrototypePathDisplay.from_path(path, X, y)


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
