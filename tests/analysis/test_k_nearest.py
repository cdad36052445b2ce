"""The k-nearest rule over prototypes, and its hypothesis margin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

import reference
from protolearn import (
    PrototypeClassifier,
    RejectClassifier,
    certified_radius,
    counterfactual,
    generalization_bound,
    hypothesis_margin,
    load,
    sample_margin,
    save,
    to_onnx,
)
from protolearn.losses import Hinge
from protolearn.margins import KNearest


def fitted(X, y, k, **settings):
    shared = {
        "margin": KNearest(k),
        "loss": Hinge(4.0),
        "prototypes_per_class": 4,
        "solver": "sgd",
        "random_state": 0,
    }
    return PrototypeClassifier(**shared | settings).fit(X, y)


@pytest.mark.parametrize("k", [1, 3, 5, 7])
def test_of_two_classes_it_is_the_rule_of_scikit_learn(iris, k):
    X, y = iris[0], iris[1] > 0
    model = fitted(X, y, k)
    other = KNeighborsClassifier(k).fit(model.prototypes_, model.prototype_labels_)
    assert_array_equal(model.predict(X), other.predict(X))
    assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
    assert_array_equal(model.decision_function(X) > 0.0, model.predict(X))


@given(st.integers(2, 4), st.integers(1, 8), st.integers(0, 9999))
def test_a_majority_of_the_k_nearest_wins(n_classes, k, seed):
    rng = np.random.RandomState(seed)
    c = np.repeat(np.arange(n_classes), 4)
    rule = fitted(rng.randn(60, 2), np.arange(60) % n_classes, k, max_iter=1).rule_
    X = rng.randn(30, 2)
    D, codes = rule.distances(X), rule.codes(X)
    for d, code in zip(D, codes, strict=True):
        winner = reference.majority(d, c, k)
        assert winner is None or winner == code


@pytest.mark.parametrize("k", [1, 3, 4])
def test_prototypes_that_move_by_less_change_nothing_and_by_more_can(iris, k, rng):
    X, y = iris
    model = fitted(X, y, k)
    W, labels = model.prototypes_.copy(), model.prototype_labels_
    margin = hypothesis_margin(model, X, model.predict(X))
    assert (margin >= 0.0).all()
    assert_array_equal(hypothesis_margin(model, X, y) > 0.0, model.predict(X) == y)
    for x, theta in zip(X[::5], margin[::5], strict=True):
        before = model.predict([x])[0]
        ways = x - W
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        worst = np.where(labels[:, None] == before, -ways, ways)
        for share, changes in ((0.999, False), (1.001, True)):
            model.prototypes_ = W + share * theta * worst
            assert (model.predict([x])[0] != before) == changes
            model.prototypes_ = W
        step = rng.standard_normal(W.shape)
        model.prototypes_ = W + 0.999 * theta * step / np.linalg.norm(step, axis=1, keepdims=True)
        assert model.predict([x])[0] == before
        model.prototypes_ = W


def test_the_margin_of_training_is_a_lower_bound(iris):
    """It does not tell the classes of rivals apart; of two classes it is the margin itself."""
    X, y = iris
    for labels in (y, y > 0):
        model = fitted(X, labels, 5)
        same = model.prototype_labels_ == labels[:, None]
        pooled = KNearest(5)(model.distances(X), same)[0]
        exact = hypothesis_margin(model, X, labels)
        assert (pooled <= exact + 1e-12).all()
    assert_allclose(pooled, exact, atol=1e-12)


def test_training_lowers_its_own_cost(iris):
    X, y = iris
    first = fitted(X, y, 3, max_iter=1)
    last = fitted(X, y, 3, max_iter=30)
    assert last.loss_curve_[-1] < first.loss_curve_[0]
    assert last.score(X, y) > 0.94
    assert_array_equal(fitted(X, y, 3, margin="k_nearest").prototypes_, fitted(X, y, 3).prototypes_)


def test_what_needs_the_nearest_prototype_refuses(iris, tmp_path):
    X, y = iris
    model = fitted(X, y, 3)
    for ask in (certified_radius, sample_margin, counterfactual):
        with pytest.raises(ValueError, match="decides by several nearest prototypes"):
            ask(model, X)
    with pytest.raises(ValueError, match="decides by several"):
        generalization_bound(model, X, y)
    with pytest.raises(ValueError, match="no ONNX form"):
        to_onnx(model)
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))
    careful = RejectClassifier(model, threshold=0.1, reject_label=-1).fit(X, y)
    unsure = hypothesis_margin(careful.model_, X, careful.model_.predict(X)) < 0.1
    assert_array_equal(careful.predict(X) == -1, unsure)
    assert 0 < unsure.sum() < len(y)
    assert "the 3 nearest decide" in repr(model.rule_)


def test_a_soft_decision_counts_all(iris):
    X, y = iris
    assert fitted(X, y, 3, decision="soft").rule_.decision.neighbors == 1


def test_a_class_with_too_few_prototypes_is_refused(iris):
    model = PrototypeClassifier(margin=KNearest(5), prototypes_per_class={0: 2, 1: 4, 2: 4})
    with pytest.raises(ValueError, match="decides by 3 prototypes of a class"):
        model.fit(*iris)
