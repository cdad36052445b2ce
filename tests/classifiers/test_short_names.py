"""Settings of parts that are short names, and other words that a classifier does not take."""

import numpy as np
import pytest

from protolearn import GLVQ, LVQ1, KernelGLVQ, MarginLVQ, PrototypeClassifier
from protolearn.distances import Minkowski


@pytest.mark.parametrize(
    ("model", "setting", "advice"),
    [
        (PrototypeClassifier(), {"loss__beta": 2.0}, "give an object, for example loss="),
        (GLVQ(), {"solver__learning_rate": 0.1}, "for example solver=protolearn.solvers"),
        (LVQ1(distance="minkowski"), {"distance__p": 2.0}, "distance=protolearn.distances.Minko"),
        (KernelGLVQ(), {"solver__learning_rate": 0.1}, "solver='auto' is a short name"),
        (MarginLVQ(), {"loss__beta": 2.0}, "set beta itself"),
    ],
    ids=lambda case: str(case),
)
def test_a_name_has_no_settings(model, setting, advice):
    with pytest.raises(ValueError, match=advice):
        model.set_params(**setting)


def test_an_object_has():
    assert LVQ1(distance=Minkowski()).set_params(distance__p=3.0).distance.p == 3.0


def test_words_and_numbers_that_are_not_taken(iris):
    X, y = iris
    with pytest.raises(ValueError, match="must be 'data', or"):
        GLVQ(scale="raw").fit(X, y)
    model = GLVQ(random_state=0).fit(X, y)
    for k in (0, 1.5, "a", True, 4):
        with pytest.raises(ValueError, match="k="):
            model.nearest_prototypes(X, k=k)
    assert model.nearest_prototypes(X, k=np.int64(3))[1].shape == (150, 3)


def test_rules_tell_of_errors_and_costs_of_costs():
    assert "Share of errors met" in (LVQ1.__doc__ or "")
    assert "L-BFGS" not in (LVQ1.__doc__ or "")
    assert "Mean cost of a sample" in (GLVQ.__doc__ or "")
    assert "partial_fit" not in (KernelGLVQ.__doc__ or "")
