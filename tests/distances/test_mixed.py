"""The distance of mixed columns: its formula, its start, what training keeps, tables end to end."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference
from protolearn import PrototypeClassifier, certified_radius, counterfactual, explain, load, save
from protolearn.checks import check_distance
from protolearn.codebook import Codebook
from protolearn.distances import DISTANCES, MixedDistance
from protolearn.distances.level_places import are_places, each_place, find_blocks
from protolearn.losses import Sigmoid
from protolearn.margins import LogOdds
from protolearn.solvers import LBFGS, SGD, Adam
from protolearn.tables import table_pipeline

WIDTHS = [1, 3, 1, 2, 4]
SLICES = [slice(0, 1), slice(1, 4), slice(4, 5), slice(5, 7), slice(7, 11)]
LABELS = np.array([0, 0, 1, 2])


def mixed_rows(seed=0, n=40, unit=0.7):
    """Return rows of two numbers and three categories, and classes that depend on both."""
    rng = np.random.RandomState(seed)
    levels = [rng.randint(width, size=n) for width in WIDTHS]
    X = np.hstack(
        [
            rng.standard_normal((n, 1)) if width == 1 else unit * np.eye(width)[level]
            for width, level in zip(WIDTHS, levels, strict=True)
        ]
    )
    return X, (levels[1] == 2) + (levels[4] + X[:, 0] > 1.5).astype(int)


def random_codebook(metric, seed=0):
    """Return shares as prototypes, beside random places."""
    rng = np.random.RandomState(seed)
    X, y = mixed_rows(seed)
    W = np.array([X[rng.randint(len(X), size=5)].mean(axis=0) for _ in LABELS])
    group = metric.groups(LABELS)
    theta = metric.initial(X, y, np.ones(len(X)), int(group.max()) + 1)
    first = 3 + len(WIDTHS)
    theta[:, first:] = rng.standard_normal(theta[:, first:].shape)
    return X, Codebook(W, LABELS, metric.constraint.apply(theta), group, W.mean(axis=0))


def levels_apart(E):
    """Return the dissimilarities of the columns of E, one by one."""
    return np.array([[np.sum((a - c) ** 2) for c in E.T] for a in E.T])


def plain_distances(X, book, g):
    """Return the distances under one metric by the formula of numbers and dissimilarities."""
    numbers, categories = [], []
    for place, E in zip(SLICES, each_place(book.metric[g]), strict=True):
        if E.shape[1] == 1:
            numbers.append((place.start, E[0, 0] ** 2))
        else:
            categories.append((place, levels_apart(E)))
    return reference.mixed(X, book.prototypes, numbers, categories)


@pytest.mark.parametrize("localized", [None, "class", "prototype"])
@pytest.mark.parametrize("rank", [None, 1, 9])
def test_checks(rank, localized):
    metric = MixedDistance(rank=rank, localized=localized)
    check_distance(metric)
    check_distance(metric, mixed_rows()[0])
    check_distance(MixedDistance(WIDTHS, rank, localized), mixed_rows()[0])


@given(seed=st.integers(0, 99), rank=st.sampled_from([None, 1, 2, 9]), local=st.booleans())
def test_distances_are_the_formula(seed, rank, local):
    metric = MixedDistance(rank=rank, localized="class" if local else None)
    X, book = random_codebook(metric, seed)
    D = metric.pairwise(X, book)
    for k, g in enumerate(book.group):
        np.testing.assert_allclose(D[:, k], plain_distances(X, book, g)[:, k], atol=1e-12)
    single = metric.pairwise(X.astype(np.float32), book)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, D, atol=1e-5)
    terms = metric.terms(X[:4], book, np.arange(4))
    np.testing.assert_allclose(terms.sum(axis=1), D[:4].diagonal(), atol=1e-12)


def test_numbers_far_from_zero_keep_their_digits():
    metric = MixedDistance(WIDTHS)
    X, book = random_codebook(metric)
    far = np.zeros(11)
    far[[0, 4]] = 1e8, -1e6
    moved = replace(book, prototypes=book.prototypes + far, center=book.center + far)
    np.testing.assert_allclose(
        metric.pairwise(X + far, moved), metric.pairwise(X, book), rtol=1e-6, atol=1e-7
    )


def test_dissimilarities(rng):
    metric = MixedDistance()
    _, book = random_codebook(metric)
    matrices = metric.dissimilarities(book)
    assert [len(delta) for delta in matrices] == [3, 2, 4]
    places = [E for E in each_place(book.metric[0]) if E.shape[1] > 1]
    for delta, E in zip(matrices, places, strict=True):
        np.testing.assert_allclose(delta, levels_apart(E), atol=1e-15)
        assert (delta == delta.T).all()
        assert (delta.diagonal() == 0.0).all()
        u = rng.standard_normal((50, len(delta)))
        u -= u.mean(axis=1, keepdims=True)
        assert (np.einsum("ia,ab,ib->i", u, delta, u) <= 1e-12).all()  # negative on such


# Blocks ------------------------------------------------------------------------------------------


def test_blocks_are_found():
    X, _ = mixed_rows()
    assert find_blocks(X).tolist() == WIDTHS
    assert find_blocks(np.insert(X, 3, 0.0, axis=1)).tolist() == [1, 4, 1, 2, 4]  # unseen level
    assert find_blocks(np.ones((5, 2))).tolist() == [1, 1]
    assert find_blocks(np.zeros((5, 2))).tolist() == [1, 1]
    unknown = np.vstack([X, np.r_[0.0, np.full(3, 0.7 / 3), 0.0, 0.35, 0.35, np.full(4, 0.175)]])
    assert find_blocks(unknown).tolist() == WIDTHS
    assert find_blocks(np.random.RandomState(0).uniform(size=(20, 3))).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blocks": [1, 0]}, r"blocks=\[1, 0\] must be a list of positive integers"),
        ({"blocks": 3}, "blocks=3 must be a list"),
        ({"blocks": [1.5]}, "must be a list of positive integers"),
        ({"blocks": [2, 3]}, r"blocks=\[2, 3\] have 5 columns, and X has 11"),
        ({"blocks": [4, 7]}, "negative numbers; give categories as one-hot columns"),
        ({"rank": 0}, "rank=0"),
        ({"localized": "row"}, "localized='row'"),
    ],
)
def test_bad_settings(settings, message):
    X, y = mixed_rows()
    with pytest.raises(ValueError, match=message):
        PrototypeClassifier(distance=MixedDistance(**settings)).fit(X, y)


def test_rows_that_it_does_not_take():
    X, y = mixed_rows()
    with pytest.raises(ValueError, match="does not take sparse matrices"):
        PrototypeClassifier(distance="mixed").fit(sparse.csr_array(X), y)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"NaN|missing values"):
        PrototypeClassifier(distance="mixed").fit(X, y)


# The start ---------------------------------------------------------------------------------------


def start(X, y, **settings):
    theta = MixedDistance(**settings).initial(X, y, np.ones(len(X)), 1)
    return list(each_place(theta[0]))


def test_all_columns_start_with_the_same_variance():
    X, y = mixed_rows(n=200)
    places = start(X, y, rank=9)
    variances = [
        np.var(X[:, place] @ E.T, axis=0).sum() for place, E in zip(SLICES, places, strict=True)
    ]
    np.testing.assert_allclose(variances, variances[0], rtol=1e-6)
    for E in places:
        if E.shape[1] > 1:
            np.testing.assert_allclose(E.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(sum(np.sum(E**2) for E in places), 1.0)


def test_levels_with_the_same_class_frequencies_start_together():
    levels = np.tile([0, 1, 2, 2], 25)
    y = np.tile([0, 0, 1, 1], 25)
    (E,) = start(np.eye(3)[levels], y, rank=1)
    delta = levels_apart(E)
    assert delta[0, 1] < 1e-3 * delta[0, 2]
    (whole,) = start(np.eye(3)[levels], y, rank=2)  # with the half of equal distances
    assert 0.0 < levels_apart(whole)[0, 1] < 0.5 * levels_apart(whole)[0, 2]


def test_a_category_that_tells_nothing_starts_with_equal_distances():
    levels, y = np.tile([0, 1, 2], 20), np.repeat([0, 1], 30)
    delta = levels_apart(start(np.eye(3)[levels], y, rank=2)[0])
    np.testing.assert_allclose(delta[~np.eye(3, dtype=bool)], delta[0, 1], rtol=1e-9)


def test_a_constant_column_has_no_relevance():
    X, y = mixed_rows()
    X[:, 4] = 3.0
    model = PrototypeClassifier(distance="mixed", random_state=0).fit(X, y)
    assert model.relevances_[4] == 0.0
    np.testing.assert_allclose(model.relevances_.sum(), 1.0)
    places = start(np.ones((40, 3)), y)  # nothing varies
    assert all(np.isfinite(E).all() for E in places)


# Training ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [Adam(), SGD(), LBFGS(), "auto"], ids=str)
@pytest.mark.parametrize("localized", [None, "class"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_shares_keep_their_sum(solver, localized):
    X, y = mixed_rows(n=150)
    distance = MixedDistance(localized=localized)
    model = PrototypeClassifier(
        distance=distance, solver=solver, prototypes_per_class=2, max_iter=20, random_state=0
    ).fit(X, y)
    for place, width in zip(SLICES, WIDTHS, strict=True):
        if width > 1:
            np.testing.assert_allclose(model.prototypes_[:, place].sum(axis=1), 0.7, rtol=1e-6)
    assert are_places(model.rule_.codebook.metric, 11)
    assert model.score(X, y) > 0.8


def test_soft_decisions_learn_it_too():
    X, y = mixed_rows(n=150)
    model = PrototypeClassifier(
        distance="mixed", margin=LogOdds(), loss="logistic", decision="soft", random_state=0
    )
    assert model.fit(X, y).score(X, y) > 0.8


def test_interactions_of_levels_are_learned():
    """Levels that look alike in class frequencies alone can be told apart by training."""
    levels = np.array([[a, b] for a in range(4) for b in range(4)] * 8)
    y = (levels[:, 0] % 2 == levels[:, 1] % 2).astype(int)
    X = np.hstack([np.eye(4)[levels[:, 0]], np.eye(4)[levels[:, 1]]])
    model = PrototypeClassifier(
        distance=MixedDistance(rank=3), prototypes_per_class=4, max_iter=100, random_state=0
    ).fit(X, y)
    assert model.score(X, y) == 1.0


def test_streams_need_the_blocks():
    X, y = mixed_rows(n=300)
    with pytest.raises(ValueError, match="partial_fit needs the blocks"):
        PrototypeClassifier(distance="mixed").partial_fit(X, y, classes=[0, 1, 2])
    model = PrototypeClassifier(distance=MixedDistance(WIDTHS), loss=Sigmoid(15), random_state=0)
    for _ in range(10):
        for part in np.array_split(np.arange(300), 6):
            model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert model.score(X, y) > 0.8


# Tables ------------------------------------------------------------------------------------------


def bought(n=300, seed=0):
    """Return a table of a number and two categories, one with holes, and labels."""
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(
        {
            "age": rng.randint(18, 80, n).astype(float),
            "colour": rng.choice(["red", "blue", "green", "grey"], n),
            "city": np.where(rng.uniform(size=n) < 0.2, None, rng.choice(["Ulm", "Bonn"], n)),
        }
    )
    warm = frame.colour.isin(["red", "green"])
    return frame, np.where(warm & (frame.age > 30) | frame.city.isna(), "yes", "no")


@pytest.fixture(scope="module")
def model():
    frame, y = bought()
    last = PrototypeClassifier(
        distance="mixed", loss=Sigmoid(15.0), prototypes_per_class=2, random_state=0
    )
    return table_pipeline(last, frame).fit(frame, y), frame, y


def test_levels_that_decide_alike_come_to_lie_together(model):
    pipeline, frame, y = model
    assert pipeline.score(frame, y) > 0.9
    rule = pipeline["model"].rule_
    colours = rule.distance.dissimilarities(rule.codebook)[0]  # blue, green, grey, red
    assert max(colours[0, 2], colours[1, 3]) < min(colours[0, 1], colours[0, 3], colours[2, 3])


def test_contributions_are_exact(model):
    pipeline, frame, _ = model
    rows = pipeline["table"].transform(frame)
    last = pipeline["model"]
    D = last.distances(rows)
    own = last.prototype_labels_ == last.predict(rows)[:, None]
    lead = np.where(own, np.inf, D).min(axis=1) - np.where(own, D, np.inf).min(axis=1)
    winners = (np.where(kept, D, np.inf).argmin(axis=1) for kept in (~own, own))
    steps = (rows - last.prototypes_[winner] for winner in winners)
    rival, nearest = (step * (step @ last.metric_) for step in steps)
    whole = np.abs(rival - nearest).sum(axis=1)  # shares have absolute values that sum to one
    np.testing.assert_allclose(last.contributions(rows).sum(axis=1) * whole, lead, atol=1e-12)
    told = str(explain(pipeline, frame.iloc[[0]], data=frame))
    assert "colour" in told


def test_counterfactuals_change_the_answer(model):
    pipeline, frame, _ = model
    some = frame.iloc[:6]
    found = counterfactual(pipeline, some, data=frame)
    assert found.feasible.all()
    assert (pipeline.predict(found.points) != pipeline.predict(some)).all()


def test_certificates_hold(model):
    pipeline, frame, _ = model
    rng = np.random.RandomState(0)
    last, rows = pipeline["model"], pipeline["table"].transform(frame)
    radius, labels = certified_radius(last, rows), last.predict(rows)
    assert (radius > 0.0).mean() > 0.9
    for _ in range(50):
        step = rng.standard_normal(rows.shape)
        step *= 0.999 * (radius / np.linalg.norm(step, axis=1))[:, None]
        assert (last.predict(rows + step) == labels).all()


def test_a_saved_model_comes_back_and_damage_is_found(model, tmp_path):
    pipeline, frame, _ = model
    save(pipeline, tmp_path / "model.protolearn")
    loaded = load(tmp_path / "model.protolearn")
    assert (loaded.predict(frame) == pipeline.predict(frame)).all()
    metric = pipeline["model"].rule_.codebook.metric
    assert are_places(metric, 8)
    for place, value in ((0, 0.0), (0, 1e9), (1, np.nan), (2, 1.0), (3, -1.0), (4, 40.0)):
        damaged = metric.copy()
        damaged[0, place] = value
        assert not are_places(damaged, 8)


def test_the_short_name():
    assert DISTANCES["mixed"] is MixedDistance
