"""Learning in parts: streams give what whole data give, keep their state, and say what is wrong."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits
from sklearn.utils import validation

import custom_axes
import reference
from given_profile import in_all
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    MRSLVQ,
    OLVQ1,
    RSLVQ,
    SNPC,
    MarginLVQ,
    PrototypeClassifier,
)
from protolearn.classifiers import rows as rows_module
from protolearn.classifiers import training
from protolearn.solvers import LBFGS, LEAST_IN_STREAMS, SGD, SOLVERS, Adam, Momentum

COSTS = [GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ, PrototypeClassifier]
METRICS = [GRLVQ, GMLVQ, LGMLVQ, MRSLVQ]
RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]
STREAMS = ["sgd", "adam", "momentum"]
EACH = [(cls, STREAMS[i % 3]) for i, cls in enumerate(COSTS)] + [(cls, None) for cls in RULES]
ALL = [*EACH, *((cls, kind) for cls in COSTS for kind in STREAMS if (cls, kind) not in EACH)]
# Always: every class, and every solver with one of them.
CASES = in_all(*(case for case in ALL if case in EACH or case[0] is GLVQ), thorough=ALL)
CASES = list(dict.fromkeys(CASES))
SEQUENTIAL = [(cls, kind) for cls, kind in CASES if kind in ("sgd", None)]
WITH_METRICS = CASES + [(cls, kind) for cls in METRICS for kind in STREAMS]
BATCH = 5
every_case = pytest.mark.parametrize(("cls", "kind"), CASES)
every_class = pytest.mark.parametrize(("cls", "kind"), EACH)
every_sequential = pytest.mark.parametrize(("cls", "kind"), SEQUENTIAL)


def build(cls, kind, *, rate=None, schedule="constant", decay=0.01, shuffle=False, **kwargs):
    settings = {"learning_rate": rate or (0.01 if kind == "momentum" else 0.05)}
    if cls is not OLVQ1:
        settings |= {"schedule": schedule, "decay": decay}
    if kind is None:
        settings |= {"window": 0.2} if cls in (LVQ21, LVQ3) else {}
        return cls(shuffle=shuffle, **settings, **kwargs)
    settings |= {"batch_size": BATCH} if kind != "sgd" else {}
    kwargs = {"attraction": 0.0} | kwargs
    return cls(solver=SOLVERS[kind](shuffle=shuffle, **settings), **kwargs)


def blobs(seed=0, n=60, n_classes=3, d=4, spread=1.0):
    rng = np.random.RandomState(seed)
    y = np.arange(n) % n_classes
    centers = 1.5 * rng.standard_normal((n_classes, d))
    return centers[y] + spread * rng.standard_normal((n, d)), y


def feed(model, X, y, size, classes=None, weight=None):
    classes = np.unique(y) if classes is None else classes
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        part = None if weight is None else weight[rows]
        model.partial_fit(X[rows], y[rows], classes=classes, sample_weight=part)
    return model


def same_state(a, b):
    np.testing.assert_array_equal(a.prototypes_, b.prototypes_)
    np.testing.assert_array_equal(a.prototype_labels_, b.prototype_labels_)
    np.testing.assert_array_equal(a.loss_curve_, b.loss_curve_)
    assert a.scale_ == b.scale_
    assert a.n_iter_ == b.n_iter_


# Parts and the whole ------------------------------------------------------------------------------


def given(cls, kind, X, n=6):
    """Give settings that leave nothing to the data: prototypes and, for a cost, the scale."""
    fixed = {"init": X[:n] + 0.1, "prototypes_per_class": 2}
    return fixed if kind is None else fixed | {"scale": 2.0}


@pytest.mark.parametrize(("cls", "kind"), WITH_METRICS)
@pytest.mark.parametrize(("schedule", "decay"), [("constant", 0.0), ("inverse_time", 0.05)])
def test_parts_are_one_pass_over_the_whole(cls, kind, schedule, decay):
    X, y = blobs()
    fixed = given(cls, kind, X) | {"schedule": schedule, "decay": decay}
    whole = build(cls, kind, max_iter=1, **fixed).fit(X, y)
    parts = build(cls, kind, **fixed)
    cuts = [3, 4, 21, 50] if kind in ("sgd", None) else [BATCH, 5 * BATCH, 8 * BATCH]
    for rows in np.split(np.arange(len(X)), cuts):
        parts.partial_fit(X[rows], y[rows], classes=range(3))
    np.testing.assert_allclose(parts.prototypes_, whole.prototypes_, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        parts.rule_.codebook.metric, whole.rule_.codebook.metric, rtol=1e-12, atol=1e-13
    )
    assert np.abs(whole.prototypes_ - fixed["init"]).max() > 1e-3
    assert parts.n_iter_ == len(parts.loss_curve_) == len(cuts) + 1


@every_sequential
@pytest.mark.parametrize("size", [1, 7])
def test_parts_of_any_size_for_sequential_learning(cls, kind, size):
    X, y = blobs(1, n=18)
    fixed = given(cls, kind, X) | {"schedule": "inverse_time"}
    whole = build(cls, kind, max_iter=1, **fixed).fit(X, y)
    parts = feed(build(cls, kind, **fixed), X, y, size)
    np.testing.assert_array_equal(parts.prototypes_, whole.prototypes_)


@pytest.mark.parametrize(
    ("cls", "kind"), [(cls, kind) for cls, kind in CASES if cls in (PrototypeClassifier, *RULES)]
)
@pytest.mark.parametrize("distance", [custom_axes.City(), custom_axes.Relevances()])
def test_parts_with_other_distances(cls, kind, distance):
    X, y = blobs(2)
    X[20:40], X[40:] = X[:20], X[:20]  # so that rules find the same scale in the first part
    y[20:40], y[40:] = y[:20], y[:20]
    fixed = given(cls, kind, X) | {"distance": distance}
    whole, parts = build(cls, kind, max_iter=1, **fixed), build(cls, kind, **fixed)
    for model in (whole, parts):
        model.set_params(**{"metric_rate" if kind is None else "solver__metric_rate": 0.3})
    whole.fit(X, y)
    feed(parts, X, y, 20)
    np.testing.assert_allclose(parts.prototypes_, whole.prototypes_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        parts.rule_.codebook.metric, whole.rule_.codebook.metric, rtol=1e-10, atol=1e-12
    )


@every_case
def test_a_pass_after_two_epochs_is_the_third(cls, kind):
    X, y = blobs(3)
    fixed = given(cls, kind, X) | {"schedule": "inverse_time"}
    three = build(cls, kind, max_iter=3, **fixed).fit(X, y)
    two = build(cls, kind, max_iter=2, **fixed).fit(X, y)
    before = two.prototypes_.copy()
    two.partial_fit(X, y)
    np.testing.assert_allclose(two.prototypes_, three.prototypes_, rtol=1e-10, atol=1e-12)
    assert np.abs(two.prototypes_ - before).max() > 1e-4
    np.testing.assert_allclose(two.loss_curve_, three.loss_curve_, rtol=1e-10)
    assert two.n_iter_ == 3
    assert two.scale_ == three.scale_


@every_class
def test_fit_starts_anew(cls, kind):
    X, y = blobs(4)
    streamed = feed(build(cls, kind, max_iter=2, random_state=0), X + 5.0, y, 20)
    fresh = build(cls, kind, max_iter=2, random_state=0).fit(X[:, :3], y > 0)
    same_state(streamed.fit(X[:, :3], y > 0), fresh)
    assert streamed.classes_.tolist() == [False, True]
    same_state(streamed.partial_fit(X[:, :3], y > 0), fresh.partial_fit(X[:, :3], y > 0))


def test_lvq1_steps_after_fit():
    X, y = blobs(5)
    model = build(LVQ1, None, rate=0.1, random_state=0, max_iter=2).fit(X, y)
    wanted = reference.lvq1(X[:20], y[:20], model.prototypes_, np.arange(3), 0.1)
    np.testing.assert_allclose(model.partial_fit(X[:20], y[:20]).prototypes_, wanted, rtol=1e-10)


def test_glvq_steps_after_lbfgs():
    X, y = blobs(5)
    model = GLVQ(beta=2.0, scale=1.0, solver="lbfgs", tol=1e-2, random_state=0).fit(X, y)
    wanted = model.prototypes_
    model.set_params(solver=SGD(learning_rate=0.05, schedule="constant", shuffle=False))
    for x, label in zip(X[:20], y[:20], strict=True):
        wanted = reference.glvq_step(x, label, wanted, np.arange(3), 0.05, 2.0)
    model.partial_fit(X[:20], y[:20])
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-9)
    assert model.solver_ == "sgd"


def test_the_inverse_time_rate_counts_all_samples():
    X, y = blobs(6)
    model = build(LVQ1, None, rate=0.2, schedule="inverse_time", decay=0.1, init=X[:3])
    feed(model, X, y, 7)
    eta = [reference.inverse_rate(t, 0.2, 0.1) for t in range(len(X))]
    wanted = reference.lvq1(X, y, X[:3], np.arange(3), eta)
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10)


def test_the_inverse_time_rate_stays_at_its_least_in_parts_and_in_one():
    X, y = blobs(6)
    settings = {"rate": 0.2, "schedule": "inverse_time", "decay": 0.1, "init": X[:3]}
    eta = [max(reference.inverse_rate(t, 0.2, 0.1), 0.3 * 0.2) for t in range(len(X))]
    wanted = reference.lvq1(X, y, X[:3], np.arange(3), eta)
    model = build(LVQ1, None, least_rate=0.3, max_iter=1, **settings)
    np.testing.assert_allclose(feed(model, X, y, 7).prototypes_, wanted, rtol=1e-10)
    np.testing.assert_allclose(model.fit(X, y).prototypes_, wanted, rtol=1e-10)


# Classes ------------------------------------------------------------------------------------------


@every_class
def test_a_cold_start_learns(cls, kind, iris):
    X, y = iris
    order = np.random.RandomState(0).permutation(150)
    model = build(cls, kind, shuffle=True, random_state=0)
    for _ in range(4):
        assert feed(model, X[order], y[order], 30) is model
    assert model.score(X, y) > 0.85
    assert model.n_iter_ == len(model.loss_curve_) == 20
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(model.loss_curve_).all()


@every_class
def test_the_first_call_needs_classes(cls, kind):
    X, y = blobs()
    model = build(cls, kind)
    with pytest.raises(ValueError, match="classes must be given at the first call"):
        model.partial_fit(X, y)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "prototypes_")
    model.partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)


def test_classes_are_a_list_or_an_array():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"classes=\{0, 1, 2\} must be a list or an array"):
        GLVQ().partial_fit(X, y, classes={0, 1, 2})


def test_a_stream_whose_first_rows_hide_a_feature_says_what_to_do():
    X, y = blobs()
    hidden = X.copy()
    hidden[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"Feature 1 of X has no observed.*begin with more rows"):
        GLVQ().partial_fit(hidden, y, classes=[0, 1, 2])


@every_class
def test_an_unknown_label(cls, kind):
    X, y = blobs()
    model = build(cls, kind)
    with pytest.raises(ValueError, match=r"y contains 2, which is not among the classes \[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X, y, classes=[0, 1, 2])
    for label in (-1, 3):
        with pytest.raises(ValueError, match=rf"y contains {label}"):
            model.partial_fit(X[:2], [0, label])
    with pytest.raises(ValueError, match="y contains 'a'"):
        model.partial_fit(X[:2], ["a", "b"])


@every_class
def test_classes_stay_the_same(cls, kind):
    X, y = blobs()
    model = build(cls, kind).partial_fit(X, y, classes=[2, 0, 1, 1])
    for other in ([0, 1], [0, 1, 2, 3], [0, 1, 3], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="differ from"):
            model.partial_fit(X, y, classes=other)
    model.partial_fit(X, y, classes=np.array([1, 2, 0]))
    assert model.classes_.tolist() == [0, 1, 2]


def test_one_class_is_none():
    X, _ = blobs()
    for classes in ([0], [0, 0], []):
        with pytest.raises(ValueError, match="at least two"):
            GLVQ().partial_fit(X, np.zeros(len(X)), classes=classes)


@every_class
def test_a_class_without_rows_has_no_prototype(cls, kind):
    X, y = blobs(7, n=40, n_classes=4)
    seen = (y == 0) | (y == 3)
    model = build(cls, kind, random_state=0, prototypes_per_class=2)
    model.partial_fit(X[seen], y[seen], classes=range(4))
    assert model.n_prototypes_ == {0: 2, 1: 0, 2: 0, 3: 2}
    assert model.prototype_labels_.tolist() == [0, 0, 3, 3]
    assert set(model.predict(X)) <= {0, 3}
    p = model.predict_proba(X)
    assert (p[:, 1:3] == 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    scores = model.decision_function(X)
    assert (scores[:, 1:3] == -np.inf).all()
    assert np.isfinite(scores[:, [0, 3]]).all()
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(X)).all()
    model.partial_fit(X[y == 2], y[y == 2])
    assert model.n_prototypes_ == {0: 2, 1: 0, 2: 2, 3: 2}
    model.partial_fit(X[y == 1][:1], [1])
    assert model.n_prototypes_ == {0: 2, 1: 1, 2: 2, 3: 2}
    assert model.prototype_labels_.tolist() == [0, 0, 1, 2, 2, 3, 3]
    assert (model.predict(model.prototypes_) == model.prototype_labels_).all()
    assert np.isfinite(model.decision_function(X)).all()


@every_case
def test_the_first_row_of_a_class_is_its_prototype(cls, kind):
    X, y = blobs(8)
    model = build(cls, kind).partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    row = X[y == 2][:1]
    model.partial_fit(row, [2])
    np.testing.assert_allclose(model.prototypes_[2:], row, atol=1e-6)
    assert model.predict(row) == [2]


@every_class
@pytest.mark.parametrize("label", [0, 1])
def test_a_start_with_one_class(cls, kind, label):
    X, y = blobs(9, n_classes=2, spread=0.4)
    model = build(cls, kind, random_state=0)
    model.partial_fit(X[y == label], y[y == label], classes=[0, 1])
    assert model.n_prototypes_ == {label: 1, 1 - label: 0}
    np.testing.assert_allclose(model.prototypes_, [X[y == label].mean(axis=0)])
    assert (model.predict(X) == label).all()
    assert (model.predict_proba(X)[:, label] == 1.0).all()
    assert (model.decision_function(X) == (np.inf if label else -np.inf)).all()
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.n_prototypes_ == {0: 1, 1: 1}
    assert model.score(X, y) > 0.85


@every_case
def test_the_place_of_a_late_class_makes_no_difference(cls, kind):
    X, y = blobs(10, spread=0.7)

    def stream(names):
        names = np.array(names)
        model = build(cls, kind, **({} if kind is None else {"scale": 2.0}))
        model.partial_fit(X[y < 2], names[y[y < 2]], classes=names)
        model.partial_fit(X[y < 2], names[y[y < 2]])
        model.partial_fit(X, names[y])
        return model.prototypes_[np.searchsorted(model.classes_, names)]

    np.testing.assert_allclose(stream([0, 2, 1]), stream([0, 1, 2]), rtol=1e-9, atol=1e-10)


@every_case
def test_a_late_class_far_away_leaves_what_was_learned(cls, kind):
    X, y = blobs(10, n=40, n_classes=2)
    far = np.full((1, 4), 1e3)

    def stream(init):
        settings = {"init": init, "schedule": "inverse_time"}
        model = build(cls, kind, **settings, **({} if kind is None else {"scale": 2.0}))
        model.partial_fit(X, 2 * y, classes=[0, 1, 2]).partial_fit(X, 2 * y)
        model.partial_fit(far, [1]).partial_fit(X, 2 * y)
        return model.prototypes_

    means = [X[y == c].mean(axis=0) for c in range(2)]
    at_once = stream(np.vstack([means[0], far, means[1]]))
    np.testing.assert_allclose(stream("means"), at_once, rtol=1e-9, atol=1e-10)


def test_rates_of_olvq1_are_kept_and_those_of_new_prototypes_begin():
    X, y = blobs(11)
    names = np.array([0, 2, 1])  # the class in the middle is late
    first, late = y < 2, X[y == 2][:1]
    model = build(OLVQ1, None, rate=0.4)
    model.partial_fit(X[first], names[y[first]], classes=[0, 1, 2])
    start = np.array([X[y == c].mean(axis=0) for c in range(2)])
    codes = np.array([0, 2])
    W, eta = reference.olvq1(X[first], names[y[first]], start, codes, 0.4, return_rates=True)
    np.testing.assert_allclose(model.prototypes_, W, rtol=1e-10)
    model.partial_fit(late, [1]).partial_fit(X, names[y])
    W, eta = np.insert(W, 1, late, axis=0), np.insert(eta, 1, 0.4)
    rows, labels = np.vstack([late, X]), np.append([1], names[y])
    W = reference.olvq1(rows, labels, W, np.arange(3), 0.4, rates=eta)
    np.testing.assert_allclose(model.prototypes_, W, rtol=1e-10, atol=1e-12)


@every_class
@pytest.mark.parametrize("start", ["given", "kmeans"])
def test_a_class_of_the_last_rows_is_predicted(cls, kind, start):
    rng = np.random.RandomState(0)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])
    y = np.append(np.arange(240) % 2, np.arange(60) % 3)
    X = centers[y] + 0.5 * rng.standard_normal((len(y), 2))
    init = centers + 0.5 if start == "given" else start
    model = build(cls, kind, shuffle=True, init=init, random_state=0)
    feed(model, X[:240], y[:240], 40, classes=range(3))
    assert model.n_prototypes_[2] == (1 if start == "given" else 0)
    model.partial_fit(X[240:], y[240:])
    assert model.n_prototypes_ == {0: 1, 1: 1, 2: 1}
    assert (model.predict(X[y == 2]) == 2).mean() > 0.9
    assert model.score(X, y) > 0.9


class ClassRelevances(custom_axes.Relevances):
    """One row of relevances a class."""

    def groups(self, labels):
        return np.asarray(labels, dtype=np.intp)


@pytest.mark.parametrize(
    ("cls", "kind"), [(PrototypeClassifier, kind) for kind in STREAMS] + [(LVQ1, None)]
)
@pytest.mark.parametrize(
    "distance", [custom_axes.Relevances(), custom_axes.LocalRelevances(), ClassRelevances()]
)
def test_a_learned_metric_and_late_classes(cls, kind, distance):
    X, y = blobs(12, n=80, n_classes=4)
    model = build(cls, kind, distance=distance, random_state=0, prototypes_per_class=2)
    for new in ([0, 3], [2, 3], [1]):
        rows = np.isin(y, new)
        model.partial_fit(X[rows], y[rows], classes=range(4))
        labels = np.searchsorted(model.classes_, model.prototype_labels_)
        assert len(model.rule_.codebook.metric) == distance.groups(labels).max() + 1
        np.testing.assert_allclose(np.linalg.norm(model.rule_.codebook.metric, axis=1), 1.0)
        assert np.isfinite(model.predict_proba(X)).all()
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.6


@every_class
def test_prototypes_come_as_the_rows_do(cls, kind):
    X, y = blobs(13, n_classes=2)
    model = build(cls, kind, prototypes_per_class={0: 3, 1: 2}, random_state=0)
    model.partial_fit(X[:3], y[:3], classes=[0, 1])  # labels 0, 1, 0
    assert model.n_prototypes_ == {0: 2, 1: 1}
    model.partial_fit(X[3:5], y[3:5])  # labels 1, 0
    assert model.n_prototypes_ == {0: 3, 1: 2}
    model.partial_fit(X, y)
    assert model.n_prototypes_ == {0: 3, 1: 2}
    assert model.prototype_labels_.tolist() == [0, 0, 0, 1, 1]
    assert len(np.unique(model.prototypes_, axis=0)) == 5


@every_class
def test_equal_rows_make_different_prototypes(cls, kind):
    X, y = blobs(13, n_classes=2)
    model = build(cls, kind, prototypes_per_class=2, random_state=0)
    for row in (0, 0, 1, 1):
        model.partial_fit(X[[row]], y[[row]], classes=[0, 1])
    for _ in range(3):
        model.partial_fit(X, y)
    assert model.n_prototypes_ == {0: 2, 1: 2}
    assert len(np.unique(model.prototypes_.round(9), axis=0)) == 4


@every_class
def test_single_rows(cls, kind):
    X, y = blobs(14, n=24, spread=0.4)
    model = feed(build(cls, kind, random_state=0), X, y, 1)
    assert model.n_iter_ == len(model.loss_curve_) == 24
    assert model.score(X, y) > 0.9


@every_class
@pytest.mark.parametrize("size", [1, 4])
def test_streams_in_any_unit(cls, kind, size):
    X, y = blobs(15, n=6)
    plain = feed(build(cls, kind, random_state=0), X, y, size)
    for factor in (2.0**20, 2.0**-20):
        scaled = feed(build(cls, kind, random_state=0), factor * X, y, size)
        np.testing.assert_allclose(scaled.prototypes_ / factor, plain.prototypes_, rtol=1e-9)
        np.testing.assert_allclose(scaled.scale_ / factor**2, plain.scale_, rtol=1e-9)


@every_class
def test_any_labels(cls, kind):
    X, y = blobs(16)
    names = np.array(["ant", "bee", "sea lion"])
    plain = feed(build(cls, kind, random_state=0), X, y, 10)
    named = build(cls, kind, random_state=0)
    for start in range(0, 60, 10):
        part = slice(start, start + 10)
        named.partial_fit(X[part], names[y[part]].tolist(), classes=names[::-1].tolist())
    np.testing.assert_array_equal(named.prototypes_, plain.prototypes_)
    assert named.classes_.tolist() == names.tolist()
    assert set(named.n_prototypes_) == set(names)
    assert (named.predict(X) == names[plain.predict(X)]).all()


# State --------------------------------------------------------------------------------------------


@every_class
def test_pickling_between_calls_changes_nothing(cls, kind):
    X, y = blobs(17)
    settings = {"shuffle": True, "prototypes_per_class": 2, "random_state": 3}
    kept = build(cls, kind, schedule="inverse_time", **settings)
    pickled = build(cls, kind, schedule="inverse_time", **settings)
    for start in range(0, 60, 12):
        part = slice(start, start + 12)
        kept.partial_fit(X[part], y[part], classes=range(3))
        pickled = pickle.loads(pickle.dumps(pickled))
        pickled.partial_fit(X[part], y[part], classes=range(3))
    same_state(kept, pickled)


@every_class
def test_seeds(cls, kind):
    X, y = blobs(18)
    settings = {"shuffle": True, "init": X[:3] + 0.3}
    a, b, c = (
        feed(build(cls, kind, random_state=s, **settings), X, y, 20).prototypes_ for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_the_random_state_goes_on():
    X, y = blobs(19)
    model = build(LVQ1, None, rate=0.3, shuffle=True, random_state=0, init=X[:3] + 0.3)
    model.partial_fit(X, y, classes=range(3))
    model.prototypes_ = X[:3] + 0.3
    second = model.partial_fit(X, y).prototypes_
    again = build(LVQ1, None, rate=0.3, shuffle=True, random_state=0, init=X[:3] + 0.3)
    assert not np.array_equal(again.partial_fit(X, y, classes=range(3)).prototypes_, second)


def test_a_generator_as_random_state():
    X, y = blobs(19)
    settings = {"shuffle": True, "prototypes_per_class": 2}
    a = feed(build(GLVQ, "sgd", random_state=np.random.RandomState(5), **settings), X, y, 20)
    b = feed(build(GLVQ, "sgd", random_state=5, **settings), X, y, 20)
    same_state(a, b)


@every_class
def test_no_seed(cls, kind):
    X, y = blobs(19)
    model = feed(build(cls, kind, shuffle=True, prototypes_per_class=2), X, y, 20)
    same_state(pickle.loads(pickle.dumps(model)), model)


@every_class
def test_scale_is_that_of_the_first_call(cls, kind):
    X, y = blobs(20)
    model = build(cls, kind).partial_fit(X[:30], y[:30], classes=range(3))
    means = np.array([X[:30][y[:30] == c].mean(axis=0) for c in range(3)])
    scale = np.mean(np.sum((X[:30] - means[y[:30]]) ** 2, axis=1))
    np.testing.assert_allclose(model.scale_, scale, rtol=1e-12)
    first = model.scale_
    model.partial_fit(100.0 * X[30:], y[30:])
    assert model.scale_ == first
    fitted = build(cls, kind, max_iter=1).fit(X, y)
    first = fitted.scale_
    assert fitted.partial_fit(X[:3], y[:3]).scale_ == first


@pytest.mark.parametrize("kind", STREAMS)
def test_a_given_scale_is_kept(kind):
    X, y = blobs(20)
    assert feed(build(GLVQ, kind, scale=0.7), X, y, 20).scale_ == 0.7


@every_class
def test_a_failed_call_changes_nothing(cls, kind):
    X, y = blobs(21)
    settings = {"shuffle": True, "random_state": 0, "schedule": "inverse_time"}
    model, twin = build(cls, kind, **settings), build(cls, kind, **settings)
    bad_calls = [
        (X[:10], np.append(y[:9], 9), {}),
        (np.where(X[:10] > 0.5, np.inf, X[:10]), y[:10], {}),
        (1e200 * X[:10], y[:10], {}),
        (X[:10], y[:10], {"sample_weight": -np.ones(10)}),
        (X[:10], y[:10], {"sample_weight": np.ones(9)}),
        (X[:10], y[:9], {}),
        (X[:10], y[:10], {"classes": [0, 1]}),
    ]
    for rows in (slice(0, 40), slice(40, 60), slice(0, 60)):
        for part, labels, others in bad_calls:
            with pytest.raises(ValueError, match=r"\w"):
                model.partial_fit(part, labels, **({"classes": range(3)} | others))
        assert hasattr(model, "prototypes_") == hasattr(twin, "prototypes_")
        for each in (model, twin):
            each.partial_fit(X[rows], y[rows], classes=range(3))
        same_state(model, twin)
        bad_calls.append((X[:10, :3], y[:10], {}))
    assert model.n_features_in_ == 4


def test_a_call_that_leaves_the_numbers_changes_nothing():
    X, y = blobs(21)
    settings = {"margin": "difference", "loss": "logistic", "shuffle": True, "random_state": 0}
    model = build(PrototypeClassifier, "momentum", **settings)
    model.partial_fit(X, y, classes=range(3))
    twin = pickle.loads(pickle.dumps(model))
    model.set_params(solver__learning_rate=1e200)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="rescale X"):
        model.partial_fit(X, y)
    model.set_params(solver__learning_rate=0.01)
    same_state(model, twin)
    same_state(model.partial_fit(X, y), twin.partial_fit(X, y))


@every_class
def test_the_input_is_left_alone(cls, kind):
    X, y = blobs(22)
    init = X[:3] + 0.1
    for array in (X, y, init):
        array.flags.writeable = False
    weight = np.ones(len(X))
    weight.flags.writeable = False
    model = build(cls, kind, init=init)
    feed(model, X, y, 20, weight=weight)
    assert not np.shares_memory(model.prototypes_, init)
    held = model.prototypes_
    copy = held.copy()
    model.partial_fit(X, y)
    np.testing.assert_array_equal(held, copy)


@every_class
def test_a_clone_knows_nothing(cls, kind):
    X, y = blobs(22)
    model = feed(build(cls, kind, random_state=0), X, y, 20)
    with pytest.raises(ValueError, match="classes must be given"):
        clone(model).partial_fit(X, y)
    same_state(feed(clone(model), X, y, 20), model)


# Weights ------------------------------------------------------------------------------------------


@every_sequential
def test_weight_scales_the_step(cls, kind):
    X, y = blobs(23)
    fixed = given(cls, kind, X)
    double = build(cls, kind, rate=0.05, **fixed)
    feed(double, X, y, 20, weight=np.full(len(X), 2.0))
    if cls is OLVQ1:  # the weight is a factor of the step, not of the rate
        wanted = reference.olvq1(
            X, y, fixed["init"], np.repeat(range(3), 2), 0.05, weights=np.full(len(X), 2.0)
        )
    else:
        wanted = feed(build(cls, kind, rate=0.1, **fixed), X, y, 20).prototypes_
    np.testing.assert_allclose(double.prototypes_, wanted, rtol=1e-10, atol=1e-12)


def test_weights_of_momentum_scale_the_step():
    X, y = blobs(23)
    fixed = given(LOGM, "momentum", X)
    a = feed(build(LOGM, "momentum", rate=0.01, **fixed), X, y, 20, weight=np.full(len(X), 2.0))
    b = feed(build(LOGM, "momentum", rate=0.02, **fixed), X, y, 20)
    np.testing.assert_allclose(a.prototypes_, b.prototypes_, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["adam", "momentum"])
def test_weights_of_a_batch(kind):
    X, y = blobs(24, n=20)
    weight = np.random.RandomState(0).uniform(0.1, 3.0, 20)
    settings = {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-6} if kind == "adam" else {}
    settings |= {"learning_rate": 0.05, "batch_size": 5, "schedule": "constant", "shuffle": False}
    W = X[:3] + 0.1
    model = LOGM(solver=SOLVERS[kind](**settings), scale=2.0, beta=0.8, init=W)
    model.set_params(attraction=0.0)
    feed(model, X, y, 10, weight=weight)

    def gradient_of(rows):
        def cost(z):
            V = np.sqrt(2.0) * z.reshape(W.shape)
            objective = {"margin": "difference", "loss": "logistic", "beta": 0.8, "scale": 2.0}
            return reference.cost(X[rows], y[rows], weight[rows], V, np.arange(3), **objective)

        total = weight[rows].sum() / 5
        return lambda z: total * reference.numeric_gradient(cost, z)

    gradients = [gradient_of(slice(s, s + 5)) for s in range(0, 20, 5)]
    flat = W.ravel() / np.sqrt(2.0)
    if kind == "adam":
        reached = reference.adam_steps(flat, gradients, [0.05 / 2.0] * 4, 0.8, 0.9, 1e-6)
    else:
        reached = reference.momentum_steps(flat, gradients, [0.05] * 4, model.solver.momentum)
    wanted = np.sqrt(2.0) * reached.reshape(W.shape)
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-6, atol=1e-7)


@every_class
def test_weight_zero_is_no_row(cls, kind):
    X, y = blobs(25)
    weight = np.where(np.arange(60) % 4 == 1, 0.0, 1.0)
    kept = weight > 0
    settings = {"schedule": "inverse_time", "random_state": 0, "shuffle": True}
    a, b = build(cls, kind, **settings), build(cls, kind, **settings)
    for rows in (slice(0, 20), slice(20, 60)):
        a.partial_fit(X[rows], y[rows], classes=range(3), sample_weight=weight[rows])
        b.partial_fit(X[rows][kept[rows]], y[rows][kept[rows]], classes=range(3))
    same_state(a, b)


@every_class
def test_a_class_of_weight_zero_has_not_come(cls, kind):
    X, y = blobs(25)
    weight = np.where(y == 2, 0.0, 1.0)
    model = build(cls, kind).partial_fit(X, y, classes=range(3), sample_weight=weight)
    assert model.n_prototypes_ == {0: 1, 1: 1, 2: 0}
    model.partial_fit(X, y)
    assert model.n_prototypes_ == {0: 1, 1: 1, 2: 1}


@every_class
def test_class_weight_is_a_sample_weight(cls, kind):
    X, y = blobs(26)
    by_class = {0: 0.5, 1: 2.0, 2: 1.5}
    a = feed(build(cls, kind, class_weight=by_class), X, y, 20)
    b = feed(build(cls, kind), X, y, 20, weight=np.vectorize(by_class.get)(y))
    np.testing.assert_allclose(a.prototypes_, b.prototypes_, rtol=1e-12)


@every_class
def test_rows_of_a_class_of_no_weight(cls, kind):
    X, y = blobs(26)
    model = build(cls, kind, class_weight={0: 1.0, 1: 1.0, 2: 0.0})
    model.partial_fit(X, y, classes=range(3))
    before = model.prototypes_.copy()
    with pytest.raises(ValueError, match="weight"):
        model.partial_fit(X[y == 2], y[y == 2])
    np.testing.assert_array_equal(model.prototypes_, before)


# Solvers and settings -----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", COSTS)
@pytest.mark.parametrize("solver", ["lbfgs", LBFGS()])
def test_lbfgs_needs_all_the_data(cls, solver):
    X, y = blobs()
    settings = {"loss": "sigmoid"} if cls is PrototypeClassifier else {}
    settings |= {"loss": "exponential"} if cls is MarginLVQ else {}
    with pytest.raises(ValueError, match=r"lbfgs"):
        cls(solver=solver, **settings).partial_fit(X, y, classes=range(3))


@pytest.mark.parametrize("solver", [SGD(), Adam(), Momentum(), SGD(schedule="linear")])
def test_a_linear_schedule_has_an_end(solver):
    X, y = blobs()
    with pytest.raises(ValueError, match=r"schedule='linear'.*inverse_time"):
        GLVQ(solver=solver).partial_fit(X, y, classes=range(3))


@pytest.mark.parametrize("cls", [LVQ1, LVQ21, LVQ3])
def test_a_rule_with_a_linear_schedule_has_an_end(cls):
    X, y = blobs()
    with pytest.raises(ValueError, match=r"schedule='linear'.*inverse_time"):
        cls(schedule="linear").partial_fit(X, y, classes=range(3))
    auto = feed(cls(random_state=0), X, y, 20)
    stays = {"schedule": "inverse_time", "least_rate": LEAST_IN_STREAMS}
    same_state(feed(cls(random_state=0, **stays), X, y, 20), auto)


@pytest.mark.parametrize("cls", COSTS)
def test_auto_is_sgd_at_the_inverse_time_rate(cls):
    X, y = blobs()
    auto = feed(cls(random_state=0), X, y, 20)
    assert auto.solver_ == "sgd"
    same_state(feed(cls(random_state=0, solver=SGD.for_stream()), X, y, 20), auto)
    same_state(feed(cls(random_state=0, solver="sgd"), X, y, 20), auto)


@pytest.mark.parametrize("kind", STREAMS)
def test_a_short_name_is_fit_for_streams(kind):
    X, y = blobs()
    model = feed(GLVQ(solver=kind, random_state=0), X, y, 20)
    assert model.solver_ == kind
    fitted = SOLVERS[kind].for_stream()
    assert (fitted.schedule, fitted.least_rate) == ("inverse_time", LEAST_IN_STREAMS)
    same_state(feed(GLVQ(solver=fitted, random_state=0), X, y, 20), model)


@every_class
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("class_weight", "balanced", "class_weight='balanced' needs all the data"),
        ("early_stopping", True, "early_stopping=False"),
        ("prototypes_per_class", "auto", "prototypes_per_class='auto' needs all the data"),
        ("prototypes_per_class", 0, "prototypes_per_class=0"),
        ("init", "nowhere", "init='nowhere'"),
        ("init", np.zeros((2, 4)), r"expected \(3, 4\)"),
        ("callback", 3, "callback=3"),
    ],
)
def test_settings_that_a_stream_cannot_have(cls, kind, name, value, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        build(cls, kind, **{name: value}).partial_fit(X, y, classes=range(3))


@pytest.mark.parametrize(
    ("cls", "kind"), [(PrototypeClassifier, kind) for kind in STREAMS] + [(LVQ1, None)]
)
@pytest.mark.parametrize(
    ("before", "after"),
    [(custom_axes.Relevances(), "sqeuclidean"), ("sqeuclidean", custom_axes.City())],
)
def test_a_stream_keeps_its_distance(cls, kind, before, after):
    X, y = blobs()
    model = build(cls, kind, distance=before).partial_fit(X, y, classes=range(3))
    with pytest.raises(ValueError, match="distance"):
        model.set_params(distance=after).partial_fit(X, y)


@every_class
def test_callback_and_verbose(cls, kind, capsys):
    X, y = blobs()
    seen = []
    model = feed(build(cls, kind, callback=seen.append, verbose=1), X, y, 20)
    assert [s.iteration for s in seen] == [1, 2, 3]
    assert [s.loss for s in seen] == model.loss_curve_
    np.testing.assert_array_equal(seen[-1].codebook.prototypes, model.prototypes_)
    assert len(capsys.readouterr().out.splitlines()) == 3


@every_class
def test_max_iter_is_one_pass(cls, kind):
    X, y = blobs()
    a, b = (feed(build(cls, kind, max_iter=m), X, y, 20) for m in (1, 50))
    same_state(a, b)


@every_class
def test_the_number_of_features(cls, kind):
    X, y = blobs()
    model = build(cls, kind).partial_fit(X, y, classes=range(3))
    with pytest.raises(ValueError, match="X has 3 features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match="X has 5 features"):
        model.partial_fit(np.hstack([X, X[:, :1]]), y)


def test_feature_names():
    X, y = blobs()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = build(GLVQ, "adam").partial_fit(frame, pd.Series(y), classes=range(3))
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[list("bacd")], y)


@pytest.mark.parametrize(
    ("cls", "kind"),
    [(cls, kind) for cls in (GLVQ, LOGM, RSLVQ) for kind in STREAMS] + [(LVQ1, None)],
)
def test_the_loss_curve_is_the_mean_cost_met(cls, kind):
    X, y = blobs(27)
    model = build(cls, kind, rate=1e-12, init=X[:3] + 0.2, random_state=0)
    weight = np.random.RandomState(0).uniform(0.5, 2.0, len(X))
    feed(model, X, y, 20, weight=weight)
    D = reference.squared_euclidean(X, X[:3] + 0.2)
    objective = {
        GLVQ: {"margin": "relative", "loss": "sigmoid", "beta": 15.0},
        LOGM: {"margin": "difference", "loss": "logistic", "beta": getattr(model, "beta", None)},
        RSLVQ: {"margin": "log_odds", "loss": "logistic", "xi": getattr(model, "xi", None)},
    }
    for number, start in enumerate(range(0, 60, 20)):
        rows = slice(start, start + 20)
        if cls is LVQ1:
            wanted = np.average(D[rows].argmin(axis=1) != y[rows], weights=weight[rows])
        else:
            data = X[rows], y[rows], weight[rows], X[:3] + 0.2, np.arange(3)
            wanted = reference.cost(*data, scale=model.scale_, **objective[cls])
        np.testing.assert_allclose(model.loss_curve_[number], wanted, rtol=1e-8)


# Data of other kinds ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["adam", "momentum"])
@pytest.mark.parametrize("cls", [GLVQ, LOGM, RSLVQ])
def test_sparse_rows(cls, kind):
    X, y = blobs(28)
    X[np.abs(X) < 0.8] = 0.0
    dense = feed(build(cls, kind, random_state=0, prototypes_per_class=2), X, y, 20)
    sparse = build(cls, kind, random_state=0, prototypes_per_class=2)
    for start in range(0, 60, 20):
        rows = slice(start, start + 20)
        sparse.partial_fit(csr_matrix(X[rows]), y[rows], classes=range(3))
    np.testing.assert_allclose(sparse.prototypes_, dense.prototypes_, rtol=1e-8, atol=1e-9)


def test_sparse_rows_and_sequential_solvers():
    X, y = blobs(28)
    with pytest.raises(ValueError, match="sparse"):
        GLVQ(solver="sgd").partial_fit(csr_matrix(X), y, classes=range(3))
    for model in (GLVQ(), LVQ1()):
        model.partial_fit(csr_matrix(X), y, classes=range(3))
        model.partial_fit(csr_matrix(X[:1]), y[:1])


@every_class
def test_missing_values(cls, kind):
    X, y = blobs(29)
    holes = np.random.RandomState(0).uniform(size=X.shape) < 0.2
    holes[np.arange(60), np.arange(60) % 4] = False
    X[holes] = np.nan
    fixed = {"init": np.nan_to_num(X[:3])} | ({} if kind is None else {"scale": 2.0})
    whole = build(cls, kind, max_iter=1, **fixed).fit(X, y)
    for size in (BATCH, 20):
        parts = feed(build(cls, kind, **fixed), X, y, size)
        np.testing.assert_allclose(parts.prototypes_, whole.prototypes_, rtol=1e-9, atol=1e-11)
    assert np.isfinite(parts.predict_proba(X)).all()


@every_class
def test_the_first_row_of_a_class_may_have_a_hole(cls, kind):
    X, y = blobs(30)
    model = build(cls, kind).partial_fit(X[y < 2], y[y < 2], classes=range(3))
    row = X[y == 2][:1].copy()
    row[0, 1] = np.nan
    model.partial_fit(row, [2])
    assert model.n_prototypes_ == {0: 1, 1: 1, 2: 1}
    assert np.isfinite(model.prototypes_).all()
    observed = [0, 2, 3]
    np.testing.assert_allclose(model.prototypes_[2, observed], row[0, observed], atol=1e-6)


@every_class
def test_holes_in_single_rows_of_known_classes(cls, kind):
    X, y = blobs(30)
    model = build(cls, kind).partial_fit(X, y, classes=range(3))
    for i in range(10):
        row = X[[i]].copy()
        row[0, i % 4] = np.nan
        model.partial_fit(row, y[[i]])
    assert np.isfinite(model.prototypes_).all()
    with pytest.raises(ValueError, match="only missing values"):
        model.partial_fit(np.full((1, 4), np.nan), [0])


@pytest.mark.parametrize(("cls", "kind"), [*((GLVQ, kind) for kind in STREAMS), (LVQ1, None)])
def test_a_constant_rate_follows_a_drift(cls, kind):
    rng = np.random.RandomState(0)
    y = np.arange(20) % 2
    centers = np.array([[0.0, 0.0], [4.0, 0.0]])
    settings = {"attraction": 0.1} if kind else {}
    model = build(cls, kind, random_state=0, **settings)
    for t in range(60):
        X = centers[y] + t * np.array([0.06, 0.1]) + 0.5 * rng.standard_normal((20, 2))
        if t == 0:
            model.partial_fit(X, y, classes=[0, 1])
            start = pickle.loads(pickle.dumps(model))
        else:
            model.partial_fit(X, y)
    assert model.score(X, y) > 0.9
    assert start.score(X, y) < 0.7


def rows_around(centers, n, seed):
    y = np.arange(n) % len(centers)
    return centers[y] + 0.5 * np.random.RandomState(seed).standard_normal((n, 2)), y


LONG = {
    "rule": (LVQ1(decay=0.1), LVQ1(schedule="inverse_time", decay=0.1)),
    "sgd": (
        GLVQ(attraction=0.1),
        GLVQ(attraction=0.1, solver=SGD(schedule="inverse_time", decay=0.1)),
    ),
    "adam": (
        GLVQ(attraction=0.1, solver="adam"),
        GLVQ(attraction=0.1, solver=Adam(schedule="inverse_time", decay=0.1)),
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_after_a_long_stream_only_a_rate_that_stays_follows(name):
    centers = np.array([[0.0, 0.0], [4.0, 0.0]])
    X, y = rows_around(centers, 300_000, 0)
    moved = centers + np.array([1.5, 4.0])
    later, labels = rows_around(moved, 100_000, 1)
    follows, stays = (clone(model).set_params(random_state=0) for model in LONG[name])
    before, after = {}, {}
    for model in (follows, stays):
        model.partial_fit(X[:100], y[:100], classes=[0, 1]).partial_fit(X[100:], y[100:])
        before[model] = model.prototypes_
        after[model] = feed(model, later, labels, 10_000).prototypes_
    assert np.linalg.norm(after[follows] - moved, axis=1).max() < 0.5
    assert np.linalg.norm(after[stays] - before[stays], axis=1).max() < 1.0
    assert follows.score(later, labels) > stays.score(later, labels)


@pytest.mark.parametrize("kind", [None, *STREAMS])
def test_a_long_stream_left_to_us_keeps_a_tenth_of_the_rate(kind):
    X, y = rows_around(np.array([[0.0, 0.0], [4.0, 0.0]]), 150_000, 0)

    def learned(**rate):
        model = LVQ1(**rate) if kind is None else GLVQ(solver=SOLVERS[kind](**rate))
        return feed(model.set_params(random_state=0), X, y, 50_000)

    ours = LVQ1() if kind is None else GLVQ(solver=kind)
    feed(ours.set_params(random_state=0), X, y, 50_000)
    same_state(ours, learned(schedule="inverse_time", least_rate=0.1))
    assert not np.array_equal(ours.prototypes_, learned(schedule="inverse_time").prototypes_)


def test_the_rate_of_a_rule_that_stays_can_be_chosen():
    X, y = rows_around(np.array([[0.0, 0.0], [4.0, 0.0]]), 200, 0)
    fixed = {"decay": 1.0, "shuffle": False, "init": X[:2], "learning_rate": 0.2}
    chosen = LVQ1(least_rate=0.5, **fixed).partial_fit(X, y, classes=[0, 1])
    named = LVQ1(schedule="inverse_time", least_rate=0.5, **fixed)
    ours = LVQ1(**fixed).partial_fit(X, y, classes=[0, 1])
    same_state(chosen, named.partial_fit(X, y, classes=[0, 1]))
    assert not np.array_equal(chosen.prototypes_, ours.prototypes_)


@pytest.mark.parametrize("value", [-0.1, 1.5, np.nan, "low", True])
@pytest.mark.parametrize("kind", [None, *STREAMS])
def test_a_least_rate_is_a_share(kind, value):
    X, y = blobs()
    kinds = {"least_rate": value, "schedule": "inverse_time"}
    model = LVQ1(**kinds) if kind is None else GLVQ(solver=SOLVERS[kind](**kinds))
    with pytest.raises(ValueError, match=r"least_rate=.* must be a finite number in \[0, 1\]"):
        model.partial_fit(X, y, classes=range(3))


@pytest.mark.parametrize("kind", STREAMS)
def test_digits_in_parts(kind):
    X, y = load_digits(return_X_y=True)
    model = RSLVQ(solver=kind, prototypes_per_class=2, random_state=0)
    for _ in range(2):
        feed(model, X[:1200], y[:1200], 100)
    assert model.score(X[1200:], y[1200:]) > 0.88


@pytest.mark.parametrize("cls", [LVQ1, OLVQ1, GLVQ, RSLVQ, GMLVQ])
def test_a_row_is_not_checked_more_than_once(cls, iris, monkeypatch):
    """A call with one row learns in less time than the general checks take, so these are left out.

    An array that scikit-learn would return as it is, labels that ``classes`` names, and a
    generator of which one row needs no number.
    """
    X, y = iris
    whole = cls(random_state=0).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    whole.partial_fit(X[::-1], y[::-1])
    row, rows = (pickle.loads(pickle.dumps(whole)) for _ in range(2))
    rows.partial_fit(X[70:71].tolist(), y[70:71].tolist())  # by the general checks
    for owner, name in (
        (validation, "validate_data"),
        (rows_module, "check_classification_targets"),
        (training, "deepcopy"),
        (BaseEstimator, "__repr__"),
    ):
        monkeypatch.setattr(owner, name, None)
    row.partial_fit(X[70:71], y[70:71])
    np.testing.assert_array_equal(row.prototypes_, rows.prototypes_)
    np.testing.assert_array_equal(row.rule_.codebook.metric, rows.rule_.codebook.metric)


BAD_ROWS = {
    "NaN": (np.array([[np.inf, 0.0, 0.0, 0.0]]), np.array([0]), "infinity"),
    "features": (np.zeros((1, 3)), np.array([0]), "3 features"),
    "label": (np.zeros((1, 4)), np.array([7]), "not among the classes"),
    "a number": (np.zeros((1, 4)), np.array([0.5]), "not among the classes"),
    "labels": (np.zeros((1, 4)), np.array([0, 1]), "inconsistent numbers"),
    "no row": (np.zeros((0, 4)), np.empty(0, dtype=int), "minimum of 1"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_bad_row_of_a_stream_is_refused(name, iris):
    X, y = iris
    model = GLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    before = model.prototypes_.copy()
    rows, labels, message = BAD_ROWS[name]
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows, labels)
    np.testing.assert_array_equal(model.prototypes_, before)


def test_a_stream_of_named_columns_still_looks_at_names(iris):
    X, y = iris
    model = GLVQ(random_state=0).partial_fit(pd.DataFrame(X, columns=list("abcd")), y, [0, 1, 2])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.partial_fit(X[:1], y[:1])
