"""What a notebook shows of an estimator."""

import re

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_classifiers import CLASSIFIERS, UNFINISHED, apart, name_of
from protolearn import GLVQ, PrototypeClassifier, RejectClassifier
from protolearn.losses import Sigmoid

pytestmark = pytest.mark.filterwarnings(UNFINISHED)


def shown(model):
    """Give the page without styles, which say "fitted" too."""
    bundle = model._repr_mimebundle_()
    assert repr(model) == bundle["text/plain"]
    return re.sub(r"<(style|script).*?</\1>", "", bundle["text/html"], flags=re.DOTALL)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_every_classifier(model):
    before = shown(clone(model))
    assert name_of(model) in before
    assert "Not fitted" in before
    after = shown(clone(model).fit(*apart()))
    assert name_of(model) in after
    assert "Not fitted" not in after
    assert "Fitted" in after


def test_parameters_are_there():
    page = shown(GLVQ(beta=7.25, prototypes_per_class={"ash": 2, "birch": 1}))
    assert "beta" in page
    assert "7.25" in page
    assert "ash" in page


def test_parts_inside():
    inner = PrototypeClassifier(loss=Sigmoid(beta=3.5))
    page = shown(RejectClassifier(make_pipeline(StandardScaler(), inner), threshold=0.1))
    for name in ("RejectClassifier", "StandardScaler", "PrototypeClassifier", "3.5"):
        assert name in page


def test_no_link_into_the_documentation_of_others():
    """scikit-learn links its own estimators; ours have no address there."""
    assert "scikit-learn.org" not in shown(GLVQ())
