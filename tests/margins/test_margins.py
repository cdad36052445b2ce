"""Margins against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import custom_axes
import reference
from protolearn import PrototypeClassifier
from protolearn.checks import check_margin
from protolearn.distances import SquaredEuclidean
from protolearn.margins import (
    MARGINS,
    Hypothesis,
    KNearest,
    LogOdds,
    MetricHypothesis,
    PrunedLogOdds,
    Radius,
    exp_all,
)


def make(name, xi):
    return LogOdds(xi) if name == "log_odds" else MARGINS[name]()


@st.composite
def rows(draw):
    K = draw(st.integers(2, 8))
    d = draw(st.lists(st.floats(1e-3, 1e3), min_size=K, max_size=K))
    own = draw(st.integers(1, K - 1))
    same = draw(st.permutations([True] * own + [False] * (K - own)))
    return np.array(d), np.array(same)


@pytest.mark.parametrize("name", MARGINS)
def test_checks(name):
    check_margin(make(name, 2.0))


@pytest.mark.parametrize(
    "margin",
    [
        *(MetricHypothesis(), custom_axes.LogRatio(), custom_axes.MeanDifference()),
        *(custom_axes.TameRadius(), Radius(1), Radius(np.inf)),
    ],
)
def test_checks_on_other_margins(margin):
    check_margin(margin)


@pytest.mark.parametrize("name", sorted(set(MARGINS) - {"radius"}))
@given(row=rows(), xi=st.floats(0.01, 10.0))
def test_value_is_the_formula(name, row, xi):
    d, same = row
    value, _ = make(name, xi)([d], [same])
    np.testing.assert_allclose(value[0], reference.MARGINS[name](d, same, xi), rtol=1e-9, atol=1e-9)


@given(row=rows())
def test_whole_row_and_winners_agree(row):
    """The functions find the winners in a whole row; called as an object a margin does it first."""
    d, same = row
    own, rival = reference.winners(d, same)
    for name in ("difference", "relative", "hypothesis"):
        margin = make(name, 1.0)
        g = np.zeros(len(d))
        value = margin.margin(d, same, np.empty(0), g)
        short, g_short = margin([[d[own], d[rival]]], [[True, False]])
        assert value == short[0]
        assert g[[own, rival]].tolist() == g_short[0].tolist()
        assert np.count_nonzero(g) <= 2
        np.testing.assert_array_equal(margin([d], [same])[1][0], g)


@given(row=rows(), xi=st.floats(0.01, 10.0))
def test_attraction_is_the_formula(row, xi):
    d, same = row
    for margin, formula in (
        (Hypothesis(), lambda: reference.nearest_own(d, same)),
        (LogOdds(xi), lambda: reference.soft_own(d, same, xi)),
    ):
        g = np.zeros(len(d))
        value = margin.attraction(d, same, margin.theta(), g)
        np.testing.assert_allclose(value, formula(), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(g.sum(), 1.0)
        assert not g[~same].any()


def test_exponentials_are_those_of_numpy():
    """Numbers outside of its range do no harm: the margin adds weights of 1e-304 or of one."""
    x = -np.r_[0.0, 1e-300, np.logspace(-18.0, np.log10(700.0), 10_000)]
    found = x.copy()
    exp_all(found)
    np.testing.assert_allclose(found, np.exp(x), rtol=2e-13)
    outside = np.array([np.nan, -np.inf, -1e4, 0.0, 1e-20, np.inf])
    exp_all(outside)
    np.testing.assert_allclose(outside, np.exp([-700.0, -700.0, -700.0, 0.0, 0.0, 0.0]), rtol=2e-13)


@given(row=rows(), k=st.integers(1, 9))
def test_the_margin_of_k_is_the_formula(row, k):
    d, same = row
    value, G = KNearest(k)([d], [same])
    np.testing.assert_allclose(value[0], reference.k_nearest(d, same, k), rtol=1e-9, atol=1e-9)
    assert np.count_nonzero(G) <= 2
    if k <= 2:
        np.testing.assert_array_equal(value, Hypothesis()([d], [same])[0])
    plain, _ = KNearest(k).suited_to(custom_axes.City())([np.sqrt(d)], [same])
    np.testing.assert_allclose(plain, value, rtol=1e-9, atol=1e-9)


@given(row=rows(), xi=st.floats(0.01, 10.0), n=st.integers(1, 8), window=st.floats(0.1, 1e3))
def test_pruned_and_windowed_log_odds_are_the_formula(row, xi, n, window):
    d, same = row
    value, G = PrunedLogOdds(xi, n, window)([d], [same])
    expected = reference.pruned_log_odds(d, same, xi, n, window)
    np.testing.assert_allclose(value[0], expected, rtol=1e-9, atol=1e-9)
    assert np.count_nonzero(G[0][same]) <= n
    assert np.count_nonzero(G[0][~same]) <= n
    if abs(value[0]) == window:
        assert not G.any() or np.isclose(abs(expected), window)
    everything = PrunedLogOdds(xi, len(d))([d], [same]), LogOdds(xi)([d], [same])
    for pruned, whole in zip(*everything, strict=True):
        np.testing.assert_allclose(pruned, whole, rtol=1e-9, atol=1e-9)
    g = np.zeros(len(d))
    pull = PrunedLogOdds(xi, n).attraction(d, same, PrunedLogOdds(xi, n).theta(), g)
    near = np.sort(d[same])[:n]
    np.testing.assert_allclose(pull, reference.soft_own(near, near > 0.0, xi), atol=1e-9)
    np.testing.assert_allclose(g.sum(), 1.0)


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (PrunedLogOdds(nearest=0), "nearest=0"),
        (PrunedLogOdds(window=0.0), "window=0.0"),
        (PrunedLogOdds(xi=-1.0), "xi=-1.0"),
    ],
)
def test_wrong_settings_of_pruned_log_odds(margin, message):
    with pytest.raises(ValueError, match=message):
        margin.theta()


@pytest.mark.parametrize("margin", [PrunedLogOdds(2.0, 2), PrunedLogOdds(0.5, 1, 3.0), KNearest(5)])
def test_checks_on_margins_of_the_nearest(margin):
    check_margin(margin)


def test_a_row_moves_the_nearest_within_the_window_only(iris):
    X, y = iris
    settings = {"prototypes_per_class": 4, "loss": "logistic", "decision": "soft", "scale": 1.0}
    start = PrototypeClassifier(margin=LogOdds(), random_state=0, **settings).fit(X, y)
    W, c = start.prototypes_, start.prototype_labels_
    for x, label in zip(X[::10], y[::10], strict=True):
        one_row = np.vstack([x, W]), np.append(label, c)
        model = PrototypeClassifier(
            margin=PrunedLogOdds(1.0, 2, 5.0), init=W, solver="sgd", max_iter=1, **settings
        ).fit(*one_row, sample_weight=np.eye(len(W) + 1)[0] + 1e-30)
        moved = np.linalg.norm(model.prototypes_ - W, axis=1) > 1e-9
        d = reference.squared_euclidean([x], W)[0]
        nearest = [np.argsort(np.where(side, d, np.inf))[:2] for side in (c == label, c != label)]
        inside = abs(reference.pruned_log_odds(d, c == label, 1.0, 2, np.inf)) < 5.0
        expected = np.isin(np.arange(len(W)), np.ravel(nearest)) & inside
        assert not (moved & ~expected).any()
        assert moved.any() == inside


@pytest.mark.parametrize("k", [0, 2.5, "3"])
def test_a_wrong_number_of_prototypes(k):
    with pytest.raises(ValueError, match="k="):
        KNearest(k).theta()


def test_hypothesis_takes_the_root_of_squares_only():
    assert isinstance(Hypothesis().suited_to(SquaredEuclidean()), Hypothesis)
    assert isinstance(Hypothesis().suited_to(custom_axes.City()), MetricHypothesis)
    with pytest.raises(ValueError, match="LogCosh is neither"):
        Hypothesis().suited_to(custom_axes.LogCosh())


def test_log_odds_of_far_samples():
    value, G = LogOdds(1.0)([[1e6, 2e6, 3e6]], [[True, False, False]])
    assert value[0] == 1e6
    np.testing.assert_allclose(G[0], [-1.0, 1.0, 0.0], atol=1e-12)
