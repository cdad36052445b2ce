"""Measures of all resamples at once equal those of scikit-learn, one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm
from sklearn.metrics import (
    f1_score,
    log_loss,
    matthews_corrcoef,
    recall_score,
    roc_auc_score,
)

from protolearn.selection.held_out import Answers
from protolearn.selection.intervals import percentile_interval
from protolearn.selection.metrics import (
    cells_of,
    draw_counts,
    from_counts,
    mean_area,
    ranking_of,
    rankings,
    resample_measures,
    row_losses,
)


def answers_and_weight(seed, n_classes, n=25):
    rng = np.random.RandomState(seed)
    y = rng.randint(n_classes, size=n)
    said = np.where(rng.rand(n) < 0.6, y, rng.randint(n_classes, size=n))
    p = rng.dirichlet(np.ones(n_classes), size=n).round(1) + 1e-3  # with ties
    p /= p.sum(axis=1, keepdims=True)
    return Answers(y, said, np.arange(n_classes), None, p), draw_counts(n, 6, rng)


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_equal_to_scikit_learn(seed, n_classes):
    answers, weights = answers_and_weight(seed, n_classes)
    y, said, _, _, p = answers
    counted, n_lacking = from_counts(weights, cells_of(answers))
    ranks = [ranking_of(*one) for one in rankings(answers) if one[0].any()]
    areas, losses = mean_area(weights, ranks), row_losses(answers)
    lacking = 0
    for i, weight in enumerate(weights):
        rows = np.repeat(np.arange(len(y)), weight.astype(int))
        here = np.unique(y[rows])
        lacking += len(here) < len(np.unique(y))
        average = {"labels": here, "average": "macro", "zero_division": 0.0}
        expected = {
            "balanced_accuracy": recall_score(y[rows], said[rows], **average),
            "macro_f": f1_score(y[rows], said[rows], **average),
        }
        for name, value in expected.items():
            assert counted[name][i] == pytest.approx(value)
        assert weight @ losses / len(y) == pytest.approx(
            log_loss(y[rows], p[rows], labels=np.arange(n_classes))
        )
        if len(here) < 2:
            assert np.isnan(counted["mcc"][i])
            assert np.isnan(areas[i])
            continue
        assert counted["mcc"][i] == pytest.approx(matthews_corrcoef(y[rows], said[rows]), abs=1e-12)
        columns = [1] if n_classes == 2 else here
        scores = p[:, 1] - p[:, 0] if n_classes == 2 else None
        values = [
            roc_auc_score(y[rows] == c, p[rows, c] if scores is None else scores[rows])
            for c in columns
        ]
        assert areas[i] == pytest.approx(np.mean(values))
    assert n_lacking == lacking


def test_resamples_are_drawn_with_replacement():
    counts = draw_counts(50, 4000, np.random.RandomState(0))
    assert (counts.sum(axis=1) == 50).all()
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=0.08)
    assert counts.var() == pytest.approx(1 - 1 / 50, rel=0.02)  # of a binomial


def test_chunks_do_not_matter(monkeypatch):
    answers, _ = answers_and_weight(0, 3)
    whole, n_lacking = resample_measures(answers, 100, np.random.RandomState(1))
    monkeypatch.setattr("protolearn.selection.metrics.rows_at_a_time", lambda _: 7)
    parts, n_lacking_parts = resample_measures(answers, 100, np.random.RandomState(1))
    assert n_lacking == n_lacking_parts
    for name, samples in whole.items():
        assert samples.shape == (100,)
        np.testing.assert_allclose(samples, parts[name])


def test_spread_of_the_area_is_that_of_theory():
    """Hanley and McNeil's closed form of the variance, which supposes exponential scores."""
    rng, m, rate = np.random.RandomState(0), 400, 3.0
    y = np.repeat([0, 1], m)
    s = rng.exponential(np.where(y == 1, rate, 1.0))
    answers = Answers(y, (s > 1).astype(int), np.arange(2), np.stack([-s, s], axis=1) / 2, None)
    samples = resample_measures(answers, 500, rng)[0]["auc"]
    a = rate / (1 + rate)
    q1, q2 = a / (2 - a), 2 * a**2 / (1 + a)
    variance = (a * (1 - a) + (m - 1) * (q1 - a**2) + (m - 1) * (q2 - a**2)) / m**2
    assert samples.std() == pytest.approx(np.sqrt(variance), rel=0.12)


def test_intervals_hold_what_they_promise():
    """Two Gaussians, where the true values of all measures are known."""
    rng, shift, n, trials = np.random.RandomState(0), 1.5, 150, 300
    right = norm.cdf(shift / 2)
    far = shift * (rng.randn(10**6) + shift / 2)
    truth = {
        "balanced_accuracy": right,
        "macro_f": right,
        "mcc": 2 * right - 1,
        "auc": norm.cdf(shift / np.sqrt(2)),
        "log_loss": np.logaddexp(0.0, -far).mean(),
    }
    held = dict.fromkeys(truth, 0)
    for _ in range(trials):
        y = rng.randint(2, size=n)
        s = rng.randn(n) + shift * y - shift / 2
        p = expit(shift * np.stack([-s, s], axis=1))
        answers = Answers(y, (s > 0).astype(int), np.arange(2), None, p)
        for name, samples in resample_measures(answers, 200, rng)[0].items():
            low, high = percentile_interval(samples, 0.95)
            held[name] += low <= truth[name] <= high
    # 95 of 100, and three standard errors of the trials.
    slack = 3 * np.sqrt(0.95 * 0.05 / trials)
    assert {name: count for name, count in held.items() if abs(count / trials - 0.95) > slack} == {}
