"""Intervals of measures: by hand, and how often they cover the truth."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.metrics import average_precision_score

from given_profile import THOROUGH, in_all
from protolearn.analysis import by_class
from protolearn.selection.evaluation import evaluate_predictions, on_folds
from protolearn.selection.held_out import Answers
from protolearn.selection.intervals import (
    SPREADS,
    bounded_mean_interval,
    corrected_variance,
    design_effect,
    exponential_variance,
    fold_interval,
    half_correlation,
    mean_f,
    mean_recall,
    measure_interval,
    noise_of_folds,
    precision_influence,
    share_interval,
)
from protolearn.selection.metrics import auc, average_precision, measure, row_losses

SCORES = np.array([0.9, 0.8, 0.85, 0.95, 0.7])
N_DRAWS = 2000 if THOROUGH else 100
# Of intervals that cover 93 % of the draws, one in a thousand covers fewer than this.
LEAST = stats.binom.ppf(0.001, N_DRAWS, 0.93) / N_DRAWS


def test_corrected_resampled_t_by_hand():
    variance = (1 / 5 + 20 / 80) * ((SCORES - 0.84) ** 2).sum() / 4
    assert corrected_variance(SCORES, [80] * 5, [20] * 5) == pytest.approx(variance, rel=1e-14)
    low, high = fold_interval(SCORES, [80] * 5, [20] * 5, 0.9)
    assert (low, high) == pytest.approx(stats.t.interval(0.9, 4, 0.84, np.sqrt(variance)))


def test_it_is_wider_than_a_plain_t_interval_and_tends_to_it():
    plain = stats.ttest_1samp(SCORES, 0.0).confidence_interval(0.95)
    low, high = fold_interval(SCORES, [80] * 5, [20] * 5, 0.95)
    assert low < plain.low < plain.high < high
    assert fold_interval(SCORES, [1e12] * 5, [1] * 5, 0.95) == pytest.approx(tuple(plain))


def test_end_of_the_interval_is_where_the_test_decides():
    from protolearn.selection.significance import corrected_t_test

    low, _ = fold_interval(SCORES, [80] * 5, [20] * 5, 0.95)
    assert corrected_t_test(SCORES - low, 80, 20).pvalue == pytest.approx(0.05)


@pytest.mark.parametrize(("right", "n"), [(0, 7), (3, 7), (45, 50), (50, 50)])
def test_shares_have_the_exact_interval(right, n):
    ends = stats.binomtest(right, n).proportion_ci(0.9, method="exact")
    assert share_interval(right, n, 0.9) == pytest.approx((ends.low, ends.high))


@pytest.mark.parametrize("gradient", [mean_recall, mean_f, half_correlation])
def test_derivatives_are_those_of_differences(gradient, rng):
    cells = rng.dirichlet(np.ones(16)).reshape(4, 4)
    step = rng.randn(4, 4)
    step -= step.mean()
    above, below = (gradient(cells + sign * 1e-6 * step)[0] for sign in (1, -1))
    assert (gradient(cells)[1] * step).sum() == pytest.approx((above - below) / 2e-6, rel=1e-6)


def some_answers(rng, n_classes=3, n=60):
    y = rng.randint(n_classes, size=n)
    said = np.where(rng.rand(n) < 0.7, y, rng.randint(n_classes, size=n))
    p = rng.dirichlet(np.ones(n_classes), size=n) + np.eye(n_classes)[y]
    return Answers(y, said, np.arange(n_classes), None, p / p.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_influence_is_that_of_a_row_more(name, n_classes, rng):
    """The measure of rows with one of them twice, against the first-order change."""
    answers = some_answers(rng, n_classes, 400)
    value, influence = measure(answers)[name].value, SPREADS[name]([answers]).influence
    scale = 2.0 if name == "mcc" else 1.0
    for row in range(5):
        rows = np.append(np.arange(400), row)
        more = Answers(
            answers.y_true[rows], answers.y_pred[rows], answers.classes, None,
            answers.probabilities[rows],
        )  # fmt: skip
        change = measure(more)[name].value - value
        assert change == pytest.approx(scale * influence[row], abs=2e-4)


def test_variance_of_the_area_is_delongs_or_more(rng):
    y = np.repeat([0, 1], [150, 50])
    s = rng.randn(200) * (1 + y) + y
    answers = Answers(y, (s > 0).astype(int), np.arange(2), np.stack([-s, s], axis=1) / 2, None)
    wins = (s[y == 1][:, None] > s[y == 0]).astype(float)
    delong = wins.mean(axis=1).var(ddof=1) / 50 + wins.mean(axis=0).var(ddof=1) / 150
    spread = SPREADS["auc"]([answers])
    assert spread.influence @ spread.influence == pytest.approx(delong, rel=1e-12)
    floor = exponential_variance(spread.centre, 50, 150)
    assert spread.variance == pytest.approx(max(delong, floor))


def test_exponential_variance_is_that_of_exponential_scores():
    rng, m, n, rate = np.random.RandomState(0), 20, 30, 3.0
    positive, negative = rng.exponential(rate, (4000, m)), rng.exponential(1.0, (4000, n))
    areas = (positive[:, :, None] > negative[:, None]).mean(axis=(1, 2))
    expected = exponential_variance(rate / (1 + rate), m, n)
    assert areas.var() == pytest.approx(expected, rel=0.08)


def test_copies_of_all_rows_tell_nothing_new(rng):
    one = some_answers(rng)
    five = Answers(*(np.repeat(part, 5, axis=0) for part in one[:2]), one.classes, None,
                   np.repeat(one.probabilities, 5, axis=0))  # fmt: skip
    groups = np.repeat(np.arange(60), 5)
    for name in SPREADS:
        value = measure(one)[name].value
        alone = measure_interval(name, value, [one], None, 0.95)
        copies = measure_interval(name, value, [five], groups, 0.95)
        naive = measure_interval(name, value, [five], None, 0.95)
        assert copies == pytest.approx(alone, abs=0.015)
        assert naive.high - naive.low < 0.6 * (alone.high - alone.low)
    draws = {"n_resamples": 400, "rng": rng}
    value = measure(one)["log_loss"].value
    alone = measure_interval("log_loss", value, [one], None, 0.95, **draws)
    copies = measure_interval("log_loss", value, [five], groups, 0.95, **draws)
    assert copies == pytest.approx(alone, rel=0.15)


def test_design_effect_has_ends(rng):
    spread = SPREADS["accuracy"]([some_answers(rng)])
    assert design_effect(spread, None) == 1.0
    assert design_effect(spread, np.arange(60)) == pytest.approx(1.0)
    assert 1.0 <= design_effect(spread, np.arange(60) // 3) <= 3.0
    perfect = some_answers(rng)._replace(y_pred=None)
    perfect = SPREADS["accuracy"]([perfect._replace(y_pred=perfect.y_true)])
    assert design_effect(perfect, np.arange(60) // 3) == pytest.approx(3.0)


def test_errors():
    with pytest.raises(ValueError, match="scores of 1 fold"):
        fold_interval([0.5], [8], [2], 0.95)
    for bad in (0.0, 1.0, 95, "wide"):
        with pytest.raises(ValueError, match="confidence="):
            fold_interval(SCORES, [8] * 5, [2] * 5, bad)
        with pytest.raises(ValueError, match="confidence="):
            share_interval(3, 5, bad)


SIZES = [(80, 0.5), (300, 0.05), (300, 0.5), (3000, 0.05), (3000, 0.5)]


@pytest.mark.parametrize(("n", "share"), SIZES)
@pytest.mark.parametrize("right", in_all(0.6, 0.999, thorough=(0.8, 0.9, 0.95, 0.99)))
def test_measures_of_counts_cover_the_truth(n, share, right):
    """Both classes have the same recall."""
    rng, y = np.random.RandomState(0), (np.arange(n) < n * share).astype(int)
    cells = np.array([[right, 1 - right], [1 - right, right]]) * [[1 - share], [share]]
    gradients = {"balanced_accuracy": mean_recall, "macro_f": mean_f, "mcc": half_correlation}
    held = dict.fromkeys(["accuracy", *gradients], 0)
    for _ in range(N_DRAWS):
        answers = Answers(y, np.where(rng.rand(n) < right, y, 1 - y), np.arange(2), None, None)
        found = {name: gradient(shares_of(answers))[0] for name, gradient in gradients.items()}
        found["accuracy"] = np.mean(answers.y_true == answers.y_pred)
        found["mcc"] = 2.0 * found["mcc"] - 1.0
        for name, value in found.items():
            low, high = measure_interval(name, value, [answers], None, 0.95)
            truth = gradients[name](cells)[0] if name in gradients else right
            held[name] += low <= (2.0 * truth - 1.0 if name == "mcc" else truth) <= high
    assert {name: n / N_DRAWS for name, n in held.items() if n < LEAST * N_DRAWS} == {}


def shares_of(answers):
    return np.histogram2d(answers.y_true, answers.y_pred, bins=2)[0] / len(answers.y_true)


@pytest.mark.parametrize(("n", "share"), SIZES)
@pytest.mark.parametrize(
    "area", in_all(0.6, 0.9999, thorough=(0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999))
)
@pytest.mark.parametrize("shape", ["normal", "wide", "contaminated"])
def test_area_covers_the_truth(n, share, area, shape):
    """Normal scores of equal or different spread, or positives some of which look negative."""
    rng, n_positive = np.random.RandomState(1), int(n * share)
    y = np.repeat([1, 0], [n_positive, n - n_positive])
    spread = 2.0 if shape == "wide" else 1.0
    shift = stats.norm.ppf(area) * np.sqrt(1 + spread**2)
    held = 0
    for _ in range(N_DRAWS):
        s = rng.randn(n)
        if shape == "contaminated":
            s += 50.0 * (y * (rng.rand(n) >= 2 * (1 - area)))
        else:
            s = np.where(y == 1, shift + spread * s, s)
        answers = Answers(y, y, np.arange(2), np.stack([-s, s], axis=1) / 2, None)
        low, high = measure_interval("auc", auc(answers).value, [answers], None, 0.95)
        held += low <= area <= high
    assert held / N_DRAWS >= LEAST


def test_log_loss_covers_the_truth():
    rng, shift, n, trials = np.random.RandomState(0), 1.5, 150, 200
    truth = np.logaddexp(0.0, -shift * (rng.randn(10**6) + shift / 2)).mean()
    held = 0
    for _ in range(trials):
        y = rng.randint(2, size=n)
        p = expit(shift * (rng.randn(n) + shift * y - shift / 2))
        answers = Answers(y, (p > 0.5).astype(int), np.arange(2), None, np.stack([1 - p, p], 1))
        value = row_losses(answers).mean()
        low, high = measure_interval("log_loss", value, [answers], None, 0.95, 200, rng)
        held += low <= truth <= high
    assert abs(held / trials - 0.95) < 3 * np.sqrt(0.95 * 0.05 / trials)


def test_several_classes_cover_their_mean_area():
    """Three classes in the corners of a triangle; the truth comes from many rows."""
    rng, corners = np.random.RandomState(0), 2.5 * np.eye(3)

    def draw(n):
        y = rng.randint(3, size=n)
        s = corners[y] + rng.randn(n, 3)
        return Answers(y, s.argmax(axis=1), np.arange(3), None, expit(s) / 10)

    truth, n_draws = auc(draw(300_000)).value, 200
    held = 0
    for _ in range(n_draws):
        answers = draw(90)
        low, high = measure_interval("auc", auc(answers).value, [answers], None, 0.95)
        held += low <= truth <= high
    assert held / n_draws >= stats.binom.ppf(0.001, n_draws, 0.93) / n_draws


def test_brier_score_has_an_interval(rng):
    answers = some_answers(rng, 2)
    value = float(np.square(answers.probabilities[:, 1] - answers.y_true).mean())
    low, high = measure_interval("brier", value, [answers], None, 0.95, 200, rng)
    assert low < value < high < 1.0


def test_groups_of_predictions_widen_the_intervals(rng):
    y, said, _, _, p = some_answers(rng, 2)
    rows = np.repeat(np.arange(60), 4)
    given = {"probabilities": p[rows], "random_state": 0}
    alone = evaluate_predictions(y[rows], said[rows], **given)
    grouped = evaluate_predictions(y[rows], said[rows], groups=rows, **given)
    for name, estimate in grouped.table.items():
        assert estimate.high - estimate.low > 1.5 * (alone.table[name].high - alone.table[name].low)


def test_one_prediction_for_many_classes_has_no_correlation():
    y = np.repeat(np.arange(20), 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate_predictions(y, np.full(140, 3), classes=np.arange(20))
    assert found.mcc.value == 0.0
    assert found.mcc.low <= 0.0 <= found.mcc.high


def test_intervals_with_a_rare_class_that_is_hardly_found():
    """Fifteen rows of a class in 300, of which one in ten is found; 100 draws."""
    names, draw = ["balanced_accuracy", "average_precision", "log_loss"], draw_right_probabilities
    truth = measured(*draw(np.random.RandomState(1), 200_000, 0.05), 10)
    rng, hits, n_used = np.random.RandomState(0), np.zeros(3), 0
    while n_used < 100:
        y, p = draw(rng, 300, 0.05)
        if y.sum() >= 10:
            n_used += 1
            found = measured(y, p, 200)
            for k, name in enumerate(names):
                one = getattr(found, name)
                hits[k] += one.low <= getattr(truth, name).value <= one.high
    assert (hits >= stats.binom.ppf(0.001, 100, 0.93)).all()


def test_average_precision_over_small_folds():
    """Scores without a meaning: the mean over folds of 16 rows is too large."""
    rng, hits, means, values = np.random.RandomState(0), 0, [], []
    for _ in range(100):
        y, scores = np.arange(16) % 2, rng.normal(size=(5, 16))
        folds = [Answers(y, (s > 0).astype(int), np.arange(2), by_class(s), None) for s in scores]
        means.append(np.mean([average_precision(fold).value for fold in folds]))
        found = on_folds(folds, [64] * 5, [16] * 5, 0.95, np.arange(80), n_resamples=10)
        values.append(found.average_precision.value)
        hits += found.average_precision.low <= 0.5 <= found.average_precision.high
    assert np.mean(means) > 0.55
    assert np.mean(values) < 0.53
    assert hits >= stats.binom.ppf(0.001, 100, 0.93)


def test_intervals_of_a_choice_are_wider_with_few_rows():
    rng = np.random.RandomState(0)
    for n_rows, noise in (80, 1.25), (100, 1.25), (1000, 0.125):
        y = np.arange(n_rows) % 2
        said = np.where(rng.uniform(size=n_rows) < 0.95, y, 1 - y)
        folds = [Answers(y[k::5], said[k::5], np.arange(2), None, None) for k in range(5)]
        assert noise_of_folds(folds) < noise
        assert noise_of_folds(folds, chosen=True) == pytest.approx(noise)
        sizes = [n_rows - len(one.y_true) for one in folds], [len(one.y_true) for one in folds]
        plain, chosen = (
            on_folds(folds, *sizes, 0.95, np.arange(n_rows), chosen=chosen).accuracy
            for chosen in (False, True)
        )
        fewer = n_rows / (1.0 + noise)
        ends = share_interval(plain.value * fewer, fewer, 0.95)
        assert (chosen.low, chosen.high) == pytest.approx(ends)
        assert chosen.low < plain.low < plain.high < chosen.high


def draw_right_probabilities(rng, n_rows, share):
    y = (rng.uniform(size=n_rows) < share).astype(int)
    x = rng.normal(size=n_rows) + 1.5 * y
    odds = share / (1.0 - share) * np.exp(1.5 * x - 0.5 * 1.5**2)
    return y, odds / (1.0 + odds)


def measured(y, p, n_resamples):
    shares = np.stack([1.0 - p, p], axis=1)
    given = {
        "probabilities": shares,
        "classes": [0, 1],
        "n_resamples": n_resamples,
        "random_state": 0,
    }
    return evaluate_predictions(y, (p > 0.5).astype(int), **given)


def test_influence_of_rows_on_the_average_precision():
    """The change by a weight of one row more, by a finite difference of scikit-learn's measure."""
    rng = np.random.RandomState(0)
    y, scores = rng.uniform(size=40) < 0.3, rng.normal(size=40).round(1)
    at_rows, added = precision_influence(y, scores)
    assert at_rows.mean() == pytest.approx(average_precision_score(y, scores))
    found = added.copy()
    found[y] += at_rows - at_rows.mean()
    for i in range(40):
        weight = np.ones(40)
        weight[i] += 1e-6
        more = average_precision_score(y, scores, sample_weight=weight)
        slope = (more - at_rows.mean()) / 1e-6 * y.sum()
        assert found[i] == pytest.approx(slope, abs=1e-3)


def test_interval_of_costs_is_that_of_a_share():
    values = np.r_[np.zeros(37), np.full(3, 20.0)]
    found = bounded_mean_interval(values, (0.0, 20.0), None, 0.95)
    assert 0.0 < found.low < 1.5 < found.high < 20.0
    exact = share_interval(3, 40, 0.95)
    np.testing.assert_allclose(np.array(found) / 20.0, exact, rtol=0.1)
    assert bounded_mean_interval(np.zeros(40), (0.0, 20.0), None, 0.95).high > 1.0
    grouped = bounded_mean_interval(
        np.tile(values, 3), (0.0, 20.0), np.tile(np.arange(40), 3), 0.95
    )
    np.testing.assert_allclose(grouped, found, rtol=0.15)
