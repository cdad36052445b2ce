"""Tests of differences: formulas written out, printed tables, and how often they are wrong."""

import math
import re

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from protolearn.selection import Comparison, WinTieLoss, compare
from protolearn.selection.significance import (
    corrected_t_test,
    holm,
    nemenyi_difference,
    row_test,
)

# Jin, Liu and Hou (2008), table 1: MCE, SNPC, LOGM, GLVQ on twelve data sets.
JIN = [
    [76.13, 75.60, 76.80, 75.37],
    [73.77, 72.63, 74.41, 72.26],
    [82.37, 83.22, 81.18, 83.04],
    [95.60, 95.73, 96.20, 95.53],
    [87.75, 87.47, 88.38, 89.12],
    [75.94, 75.75, 76.39, 75.75],
    [86.74, 85.77, 86.81, 84.69],
    [80.38, 77.02, 81.95, 78.25],
    [97.35, 97.44, 97.22, 97.21],
    [97.22, 97.83, 97.27, 96.44],
    [94.62, 94.37, 94.32, 93.77],
    [74.24, 73.80, 74.84, 74.19],
]
# Demsar (2006), table 6: C4.5 and three ways to tune it on fourteen data sets. Its ranks do not
# share the two 0.975, which differed before they were printed.
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],
    [0.957, 0.978, 0.946, 0.970],
]


def comparison(scores, n_train=90, n_test=10, **settings):
    """Make a comparison of given scores: a table of means, or one with folds."""
    scores = np.array(scores, dtype=float)
    scores = scores[..., None] if scores.ndim == 2 else scores
    n_datasets, n_models, n_splits = scores.shape
    return Comparison(
        datasets=tuple(f"set {i}" for i in range(n_datasets)),
        models=tuple("abcdefgh"[:n_models]),
        scores=scores,
        fit_times=np.ones_like(scores),
        train_sizes=np.full((n_datasets, n_splits), n_train),
        test_sizes=np.full((n_datasets, n_splits), n_test),
        **settings,
    )


def test_corrected_t_test_is_its_formula(rng):
    scores = rng.rand(3, 2, 15)
    found = comparison(scores, n_train=80, n_test=20).t_test("a", "b")
    for i in range(3):
        difference = [scores[i, 0, j] - scores[i, 1, j] for j in range(15)]
        mean = sum(difference) / 15
        variance = sum((d - mean) ** 2 for d in difference) / 14
        t = mean / math.sqrt((1 / 15 + 20 / 80) * variance)
        assert found.statistic[i] == pytest.approx(t, rel=1e-12)
        # The distribution of t with an even number of degrees in closed form.
        angle = math.atan(abs(t) / math.sqrt(14))
        series, term = 0.0, 1.0
        for k in range(7):
            series += term
            term *= (2 * k + 1) / (2 * k + 2) * math.cos(angle) ** 2
        assert found.pvalue[i] == pytest.approx(1 - math.sin(angle) * series, rel=1e-9)


def test_t_test_without_a_spread():
    same, better = np.full(10, 0.7), np.full(10, 0.8)
    found = comparison([[same, same], [better, same], [same, better]]).t_test("a", "b")
    np.testing.assert_array_equal(found.statistic, [0.0, np.inf, -np.inf])
    np.testing.assert_array_equal(found.pvalue, [1.0, 0.0, 0.0])


def test_rates_of_false_alarms(rng):
    """On labels that are pure noise all models are equal; a plain t-test does not see that."""
    scores = np.array([noise_scores(rng) for _ in range(400)])
    pvalue = comparison(scores).t_test("a", "b").pvalue
    plain = stats.ttest_rel(scores[:, 0], scores[:, 1], axis=1).pvalue
    alarms, plain_alarms = (pvalue < 0.05).mean(), (plain < 0.05).mean()
    # Three standard errors of a rate of 0.05 in 400 trials are 0.033.
    assert 0.017 < alarms < 0.083
    assert plain_alarms > 0.3


def noise_scores(rng, n_rows=100, n_repeats=3):
    """Give the accuracy of nearest means on two sets of features, in repeated ten folds."""
    X, y = rng.randn(2, n_rows, 2), rng.randint(2, size=n_rows)
    scores = []
    for order in (rng.permutation(n_rows) for _ in range(n_repeats)):
        for fold in range(10):
            test, train = order[fold::10], np.delete(order, slice(fold, None, 10))
            for rows in X:
                means = [rows[train[y[train] == label]].mean(axis=0) for label in range(2)]
                away = ((rows[test] - np.array(means)[:, None]) ** 2).sum(axis=2)
                scores.append((away.argmin(axis=0) == y[test]).mean())
    return np.reshape(scores, (10 * n_repeats, 2)).T


def test_wins_by_the_t_test():
    rng = np.random.RandomState(1)
    noise = 0.01 * rng.randn(4, 10)
    b = np.full((4, 10), 0.5)
    a = b + noise + np.array([0.2, 0.3, 0.0, -0.2])[:, None]
    a[2] = b[2]
    found = comparison(np.stack([a, b], axis=1))
    assert found.wins("a", "b") == WinTieLoss(win=2, tie=1, loss=1)
    assert found.wins("b", "a") == WinTieLoss(win=1, tie=1, loss=2)
    assert found.wins("a", "b", alpha=1e-20) == WinTieLoss(win=0, tie=4, loss=0)


@pytest.mark.parametrize(("other", "printed"), [("a", 0.1099), ("b", 0.1099), ("d", 0.0640)])
def test_wilcoxon_as_printed(other, printed):
    assert comparison(JIN).wilcoxon("c", other).pvalue == pytest.approx(printed, abs=5e-5)


def test_wilcoxon_drops_equal_means():
    rows = [[0.9, 0.8], [0.8, 0.6], [0.7, 0.7], [0.9, 0.6]]
    found = comparison(rows).wilcoxon("a", "b")
    assert found.statistic == 0.0
    assert found.pvalue == pytest.approx(2 / 2**3)  # three differences, all of one sign
    assert comparison(rows).wilcoxon("a", "a") == (0.0, 1.0)


def test_differences_that_differ_by_rounding_share_their_rank():
    rows = [[0.3, 0.2], [0.1, 0.2], [0.9, 0.5]]
    assert 0.3 - 0.2 != 0.2 - 0.1
    assert comparison(rows).wilcoxon("a", "b").statistic == 1.5


def test_ranks_of_a_printed_table():
    found = comparison(DEMSAR)
    np.testing.assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.critical_difference() == pytest.approx(1.25, abs=5e-3)


def test_means_that_differ_by_rounding_share_their_rank():
    a = np.array([0.1, 0.2, 0.3])
    assert a.sum() != a[::-1].sum()
    found = comparison([[a, a[::-1]]] * 2)
    assert np.ptp(found.means, axis=1).max() > 0
    np.testing.assert_array_equal(found.ranks, [1.5, 1.5])
    assert found.wilcoxon("a", "b") == (0.0, 1.0)
    assert str(found).count("*") == 1 + 4


def test_friedman_is_scipy(rng):
    means = rng.rand(9, 4)
    expected = stats.friedmanchisquare(*means.T)
    assert comparison(means).friedman() == pytest.approx(tuple(expected))
    assert comparison(np.ones((9, 4))).friedman() == (0.0, 1.0)


def test_nemenyi_as_printed():
    """Demsar (2006), table 5(a): critical values of two to ten models."""
    printed = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in enumerate(printed, start=2):
        found = nemenyi_difference(k, 7, 0.05) / math.sqrt(k * (k + 1) / (6 * 7))
        assert found == pytest.approx(q, abs=1.01e-3)  # two of the printed ones are cut off
    printed = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    for k, q in enumerate(printed, start=2):
        found = nemenyi_difference(k, 7, 0.10) / math.sqrt(k * (k + 1) / (6 * 7))
        assert found == pytest.approx(q, abs=1.01e-3)


def test_holm_rejects_step_by_step(rng):
    for _ in range(20):
        pvalues = rng.rand(6) ** 3
        corrected = holm(pvalues)
        for alpha in rng.rand(20):
            rejected = set()
            for step, i in enumerate(sorted(range(6), key=pvalues.__getitem__)):
                if pvalues[i] > alpha / (6 - step):
                    break
                rejected.add(i)
            assert rejected == set(np.flatnonzero(corrected <= alpha))


def test_pairwise(rng):
    found = comparison(rng.rand(8, 3, 5))
    single = [found.wilcoxon(*pair).pvalue for pair in ("ab", "ac", "bc")]
    table = found.pairwise()
    np.testing.assert_array_equal(table[np.triu_indices(3, 1)], holm(np.array(single)))
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diag(table), 1.0)
    one = comparison(rng.rand(1, 3, 5))
    single = [one.t_test(*pair).pvalue[0] for pair in ("ab", "ac", "bc")]
    np.testing.assert_array_equal(one.pairwise()[np.triu_indices(3, 1)], holm(np.array(single)))


def test_one_data_set_has_no_test_over_data_sets(rng):
    found = comparison(rng.rand(1, 3, 5))
    for test in (
        lambda: found.wilcoxon("a", "b"),
        found.friedman,
        found.critical_difference,
    ):
        with pytest.raises(ValueError, match=r"there is only 'set 0'.* Use (t_test|pairwise)"):
            test()
    assert "mean rank" not in str(found)


def test_errors_say_what_to_do(rng):
    found = comparison(rng.rand(4, 2, 1))
    with pytest.raises(ValueError, match="no model 'z'; there are 'a', 'b'"):
        found.t_test("a", "z")
    with pytest.raises(ValueError, match="'set 0' has a single split"):
        found.t_test("a", "b")
    with pytest.raises(ValueError, match="three models at least"):
        found.friedman()
    with pytest.raises(ValueError, match=r"alpha=1\.5 must be a finite number in \(0, 1\)"):
        found.critical_difference(1.5)
    failed = found.scores.copy()
    failed[2, 1, 0] = np.nan
    for test in (
        lambda: comparison(failed).ranks,
        lambda: comparison(failed).wilcoxon("a", "b"),
    ):
        with pytest.raises(ValueError, match="'b' has no mean score on data set 'set 2'"):
            test()
    assert "mean rank" not in str(comparison(failed))


def test_table():
    scores = [[[0.90, 0.92], [0.80, 0.84]], [[0.5, 0.5], [0.5, 0.5]]]
    lines = str(comparison(scores)).splitlines()
    assert lines[0].startswith("accuracy in percent")
    assert lines[1].split() == ["a", "b"]
    assert re.split(r"  +", lines[2]) == ["set 0", "91.00 +- 1.41*", "82.00 +- 2.83"]
    assert re.split(r"  +", lines[3]) == ["set 1", "50.00 +- 0.00*", "50.00 +- 0.00*"]
    assert re.split(r"  +", lines[4].strip()) == ["mean rank", "1.25", "1.75"]
    text = str(comparison(-10 * np.array(scores), scoring="neg_log_loss"))
    assert text.startswith("neg_log_loss, mean")
    assert "-8.2 +- 0.2828*" in text
    assert "+-" not in str(comparison(JIN)).split("best")[1]


def test_splits_of_different_number():
    scores = np.array([[[0.5, 0.7, np.nan]], [[0.1, 0.2, 0.6]]])
    sizes = np.array([[10, 10, 0], [10, 10, 10]])
    found = Comparison(("x", "y"), ("a",), scores, scores, 9 * sizes, sizes)
    np.testing.assert_array_equal(found.n_splits, [2, 3])
    np.testing.assert_allclose(found.means, [[0.6], [0.3]])
    np.testing.assert_allclose(found.standard_deviations, [[np.sqrt(0.02)], [np.sqrt(0.07)]])
    frame = found.to_frame()
    assert frame["dataset"].tolist() == list("xxyyy")
    np.testing.assert_allclose(frame["score"], [0.5, 0.7, 0.1, 0.2, 0.6])
    assert repr(found) == "<Comparison of 1 models on 2 data sets, accuracy>"


def test_share_of_test_rows_widens_the_test():
    difference = np.array([0.1, 0.2, 0.3])
    narrow, wide = (corrected_t_test(difference, 10, n_test) for n_test in (0, 10))
    assert narrow == pytest.approx(tuple(stats.ttest_1samp(difference, 0.0)))
    assert wide.statistic == pytest.approx(narrow.statistic / 2.0)  # 1/3 + 1 is four times 1/3


def test_false_alarms_of_the_test_over_rows():
    """5,000 pairs of equally good models, right about each row with the same chance."""
    rng, alarms, covered = np.random.RandomState(0), 0, 0
    codes = np.arange(200)
    for _ in range(5000):
        hard = rng.uniform(0.6, 1.0, 200)
        right = (rng.uniform(size=(2, 200)) < hard).astype(float)
        found = row_test(*right, codes, 0.95)
        alarms += found.pvalue < 0.05
        covered += found.low <= 0.0 <= found.high
    assert 0.04 <= alarms / 5000 <= 0.06
    assert covered / 5000 >= 0.94


def test_false_alarms_where_nothing_can_be_learned():
    """Nearest class means of two sets of columns, ten folds, labels without a meaning."""
    n_draws, alarms, plain = 400, 0, 0
    rng, y, codes = np.random.RandomState(0), np.arange(60) % 2, np.arange(60)
    for _ in range(n_draws):
        columns, fold = rng.normal(size=(2, 60, 3)), rng.permutation(np.arange(60) // 6)
        right = np.zeros((2, 60))
        for test in (fold == k for k in range(10)):
            for one, X in zip(right, columns, strict=True):
                low, high = (X[~test & (y == label)].mean(axis=0) for label in (0, 1))
                one[test] = ((X[test] - 0.5 * (low + high)) @ (high - low) > 0.0) == y[test]
        alarms += row_test(*right, codes, 0.95, y).pvalue < 0.05
        plain += row_test(*right, codes, 0.95).pvalue < 0.05
    assert alarms <= stats.binom.ppf(0.999, n_draws, 0.06) < plain


def test_rows_are_counted_as_mcnemar_does():
    first = np.r_[np.ones(9), np.zeros(2), np.ones(30)]
    second = np.r_[np.zeros(9), np.ones(2), np.ones(30)]
    found = row_test(first, second, np.arange(41), 0.95)
    exact = stats.binomtest(2, 11).pvalue
    assert found.pvalue == pytest.approx(exact - stats.binom.pmf(2, 11, 0.5))
    assert found.difference == pytest.approx(7 / 41)
    # Bonett and Price (2012), but for Student's quantile.
    p12, p21 = 10 / 43, 3 / 43
    half = stats.t.ppf(0.975, 40) * np.sqrt((p12 + p21 - (p12 - p21) ** 2) / 43)
    assert found.high - found.difference == pytest.approx(half, rel=0.05)
    twice = row_test(np.tile(first, 2), np.tile(second, 2), np.tile(np.arange(41), 2), 0.95)
    assert twice.difference == pytest.approx(found.difference)
    assert twice.high - twice.low == pytest.approx(found.high - found.low, rel=0.1)
    assert np.isnan(row_test(first * np.nan, second, np.arange(41), 0.95).pvalue)


def test_rows_of_a_comparison():
    models = {"dummy": DummyClassifier(strategy="most_frequent"), "bayes": GaussianNB()}
    found = compare(models, ["iris", "wine"], cv=3, random_state=0)
    for right, mean in zip(found.right, found.means, strict=True):
        np.testing.assert_allclose(right.mean(axis=1), mean, atol=0.01)
    test = found.row_test("bayes", "dummy")
    assert (test.low > 0.4).all()
    assert (test.pvalue < 1e-6).all()
