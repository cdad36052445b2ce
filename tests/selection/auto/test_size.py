"""How large models are, by hand."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    RSLVQ,
    RVM,
    AutoPrototypeClassifier,
    CommitteeMachine,
    ExemplarSVM,
    FisherPrototypes,
    KernelAdaTron,
    KernelGLVQ,
    ParityMachine,
    PrototypeSVM,
    SoftMarginSVM,
    datasets,
)
from protolearn.selection.auto.trials import n_numbers, n_prototypes, oddness

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("model", "prototypes", "numbers"),
    [
        (GLVQ(prototypes_per_class=2), 6, 6 * 4),
        (GRLVQ(), 3, 3 * 4 + 4),
        (GMLVQ(rank=2), 3, 3 * 4 + 2 * 4),
        (LGMLVQ(), 3, 3 * 4 + 3 * 16),
        (FisherPrototypes(), 3, 3 * 5),
        (KernelGLVQ(max_support=2), 3, 3 * 6 + 6 * 4),
    ],
)
def test_size(model, prototypes, numbers):
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(X, Y)
    assert (n_prototypes(model), n_numbers(model)) == (prototypes, numbers)


def test_size_of_two_classes_and_of_an_ensemble():
    two = Y > 0
    assert n_numbers(SoftMarginSVM().fit(X, two)) == 5
    model = PrototypeSVM(random_state=0).fit(X, Y)
    assert n_prototypes(model) == len(model.prototypes_)
    assert n_numbers(model) == np.size(model.hyperplanes_) + len(model.prototypes_)


def test_size_of_machines_with_several_units():
    committee = CommitteeMachine(n_units=5, random_state=0).fit(X[:100], Y[:100])
    assert (n_prototypes(committee), n_numbers(committee)) == (2, 5 * (4 + 1))
    parity = ParityMachine(random_state=0).fit(X, Y)
    assert n_numbers(parity) == sum(map(len, parity.units_)) * (4 + 1)
    exemplars = ExemplarSVM().fit(X[::5], Y[::5])
    assert (n_prototypes(exemplars), n_numbers(exemplars)) == (30, 30 * (4 + 1))


@pytest.mark.parametrize("model", [RVM(kernel="rbf"), KernelAdaTron(C=10.0)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_size_of_planes_behind_a_kernel(model, n_classes):
    """A number for each row that is referred to, one for the threshold, and those rows."""
    model.fit(X[: 50 * n_classes : 3], Y[: 50 * n_classes : 3])
    n_planes = 1 if n_classes == 2 else 3
    n_rows = len(model.support_)
    assert n_numbers(model) == n_planes * (n_rows + 1) + 4 * n_rows
    assert n_prototypes(model) == n_classes


def test_typical_prototypes_are_easier_to_look_at(rng):
    """By the distance to the mean of the class, in its standard deviations; 1 at least."""
    X = np.concatenate([rng.randn(50, 3) * [1.0, 10.0, 0.0], rng.randn(50, 3) + 5.0])
    y = np.repeat([0, 1], 50)
    middle = GLVQ(init="means", max_iter=1).fit(X, y)
    middle.prototypes_ = np.array([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    assert oddness(middle, X, y) == 1.0
    far = middle.prototypes_.copy()
    far[0] += [3.0 * X[:50, 0].std(), -4.0 * X[:50, 1].std(), 9.0]  # the last feature is constant
    middle.prototypes_ = far
    assert oddness(middle, X, y) == pytest.approx(np.sqrt((9.0 + 16.0) / 5.0))
    assert oddness(SoftMarginSVM().fit(X, y), X, y) == 1.0


def test_the_readable_choice_takes_typical_prototypes():
    X, y = datasets.load("wine")
    auto = AutoPrototypeClassifier(families=["fixed"], max_fits=150, random_state=0).fit(X, y)
    rows, model = auto.best_estimator_[:-1].transform(X), auto.best_estimator_[-1]
    assert oddness(model, rows, y) < 1.2
    others = make_pipeline(StandardScaler(), RSLVQ(solver="inside")).fit(X, y)
    assert oddness(others[-1], rows, y) > 1.5  # as few, as accurate, at the ends of the ranges
