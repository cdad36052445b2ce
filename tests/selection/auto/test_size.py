"""How large models are, by hand."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    FisherPrototypes,
    KernelGLVQ,
    PrototypeSVM,
    SoftMarginSVM,
)
from protolearn.selection.auto.size import n_numbers, n_prototypes

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
