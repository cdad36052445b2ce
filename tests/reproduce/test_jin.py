"""The experiments of Jin et al. (2008)."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import wilcoxon
from sklearn.metrics import mutual_info_score
from sklearn.preprocessing import StandardScaler

from given_profile import long_test
from protolearn import GLVQ, SNPC
from protolearn.datasets import load, names
from protolearn.solvers import SGD
from protolearn_papers import Work
from protolearn_papers.jin import fig2, fold, large
from protolearn_papers.jin.cells import Cell
from protolearn_papers.jin.fold import seed_of
from protolearn_papers.jin.large import Parts
from protolearn_papers.jin.methods import METHODS, Method
from protolearn_papers.jin.protocol import Fits, Protocol, Setting, chosen, distances
from protolearn_papers.jin.published import CHOSEN, LARGE, P_VALUES, SMALL
from protolearn_papers.jin.published import METHODS as NAMES
from protolearn_papers.jin.ranks import ranks_table
from protolearn_papers.jin.table1 import SMALL_PROTOCOL, fallen, remarks, run, typical
from protolearn_papers.jin.words import Weighting, information_gain

needs_data = pytest.mark.skipif(
    "usps" not in names(), reason="usps is not in the folder PROTOLEARN_DATA"
)
TINY = Protocol((1, 2), 5, 1 / 3, alphas=(0.0, 0.05), taus=(0.5,))


def iris():
    X, labels = load("iris")
    return StandardScaler().fit_transform(X), np.unique(labels, return_inverse=True)[1]


def test_p_values_of_the_paper_come_out_of_its_table():
    """Wilcoxon's exact test on the printed accuracies gives the printed numbers."""
    columns = {
        name: [*(row[i][0] for row in SMALL.values()), *(row[i] for row in LARGE.values())]
        for i, name in enumerate(NAMES)
    }
    for other, printed in P_VALUES.items():
        differences = np.subtract(columns["LOGM"], columns[other])
        assert wilcoxon(differences, method="exact").pvalue == pytest.approx(printed, abs=5e-5)


def test_grid_is_that_of_the_paper():
    settings = list(SMALL_PROTOCOL.settings())
    assert len(settings) == len(set(settings)) == 125
    assert all(len(one) == 4 for one in CHOSEN.values())


@pytest.mark.parametrize(
    ("name", "model"),
    [("GLVQ", GLVQ(beta=15.0)), ("SNPC", SNPC(xi=2.0))],
)
def test_a_fit_is_that_of_the_classifier(name, model):
    """The same start, the same order of rows, the same unit: the same prototypes."""
    X, y = iris()
    setting = Setting(alpha=0.01, prototypes=2, tau=1.5)
    method, fits = METHODS[name], Fits(X, y, epochs=1, seed=3)
    start, scale, _ = fits.start(2)
    order = np.random.RandomState(3).permutation(len(y))
    model.set_params(
        prototypes_per_class=2,
        init=start,
        scale=scale,
        attraction=setting.alpha * method.attraction,
        solver=SGD(learning_rate=0.1 * setting.tau, shuffle=False),
        max_iter=1,
    ).fit(X[order], y[order])
    found = fits.prototypes(method, setting)
    assert np.abs(found - start).max() > 0.1
    np.testing.assert_allclose(found, model.prototypes_, rtol=1e-9)


def test_scale_is_the_mean_squared_distance_to_the_nearest_first_prototype():
    X, y = iris()
    W, scale, unit = Fits(X, y, epochs=1, seed=0).start(3)
    wanted = np.mean([np.min([np.sum((x - w) ** 2) for w in W]) for x in X])
    assert (scale, unit) == (pytest.approx(wanted), 1.0)


def test_second_reading_multiplies_rates_by_the_mean_distance():
    """The rate of the paper times the slope of a loss that is in units of the squared distance."""
    X, y = iris()
    fits = Fits(X, y, epochs=2, seed=0, by_distance=True)
    W, scale, unit = fits.start(3)
    mean_distance = np.mean([np.min([np.linalg.norm(x - w) for w in W]) for x in X])
    assert unit == pytest.approx(mean_distance / scale)
    squared = Fits(X, y, epochs=2, seed=0)
    found = fits.prototypes(METHODS["MCE"], Setting(0.0, 3, 1.0))
    wanted = squared.prototypes(METHODS["MCE"], Setting(0.0, 3, unit))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_each_third_of_the_training_rows_chooses_in_turn(monkeypatch):
    asked = []
    monkeypatch.setattr(fold, "METHODS", {"MCE": METHODS["MCE"]})
    monkeypatch.setattr(
        Fits, "accuracy", lambda self, method, setting, X, y: asked.append(len(y)) or 0.5
    )
    X, y = iris()
    fold.judged(X[:120], y[:120], X[120:], y[120:], replace(TINY, all_choose=True), seed=0)
    assert asked == [40] * 3 * len(list(TINY.settings())) + [30]


def test_distances_of_sparse_rows_are_those_of_dense_ones():
    rng = np.random.RandomState(0)
    X, W = rng.rand(5, 3) * (rng.rand(5, 3) > 0.5), rng.rand(4, 3)
    wanted = ((X[:, None] - W) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances(X, W), wanted, atol=1e-12)
    np.testing.assert_allclose(distances(csr_array(X), W), wanted, atol=1e-12)


def test_of_equal_settings_the_first_is_chosen():
    first, second = Setting(0.0, 1, 0.1), Setting(0.0, 2, 0.1)
    assert chosen([(first, 0.9), (second, 0.9)]) == (first, 0.9)
    assert chosen([(first, 0.8), (second, 0.9)]) == (second, 0.9)


def test_choice_does_not_see_the_test_rows(monkeypatch):
    """With other test rows the same settings are chosen."""
    some = {name: METHODS[name] for name in ("SNPC", "GLVQ")}
    monkeypatch.setattr(fold, "METHODS", some)
    X, y = iris()
    rng = np.random.RandomState(0)
    train = rng.permutation(len(y))[:100]
    one = fold.judged(X[train], y[train], X[:5], y[:5], TINY, seed=1)
    other = fold.judged(X[train], y[train], 100.0 + X[5:9], 2 - y[5:9], TINY, seed=1)
    for name in some:
        for key in ("validation", "alpha", "prototypes", "tau"):
            assert one[name][key] == other[name][key]


def test_information_gain_is_the_mutual_information_in_bits():
    rng = np.random.RandomState(1)
    counts = rng.poisson(0.5, (60, 8))
    counts[:, 0] = 0
    y = rng.randint(3, size=60)
    wanted = [mutual_info_score(y, column > 0) / np.log(2) for column in counts.T]
    np.testing.assert_allclose(information_gain(csr_array(counts), y), wanted, atol=1e-12)


def test_words_and_their_rarity_come_from_the_training_texts():
    X = csr_array(np.array([[3, 0, 1, 0], [2, 0, 0, 0], [0, 1, 1, 0], [0, 5, 0, 0]]))
    weighting = Weighting(X, np.array([0, 0, 1, 1]), words=2)
    assert sorted(weighting.words) == [0, 1]
    found = weighting(csr_array(np.array([[1, 1, 9, 9], [0, 0, 1, 0]]))).toarray()
    np.testing.assert_allclose(found, [[np.sqrt(0.5)] * 2, [0.0, 0.0]])


def test_seeds_differ_by_set_repetition_and_fold_and_stay():
    seeds = {
        seed_of(0, name, r, f) for name in ("pima", "iris") for r in range(3) for f in range(3)
    }
    assert len(seeds) == 18
    assert seed_of(0, "pima", 1) == seed_of(0, "pima", 1)


def test_a_cell_that_is_short_is_told():
    setting = Setting(0.0, 1, 0.5)
    short = Cell.of_repetitions("iris", "MCE", [0.90, 0.92], (95.6, 0.95), setting, 0.5)
    reached = Cell.of_test("usps", "MCE", 0.9413, 94.62, setting, 1.0)
    assert not short.met
    assert reached.met
    assert short.texts() == ("91.00 (1.41)*", "95.60 (0.95)")
    assert (
        remarks({"distance": [], "squared distance": [short, reached]}, quick=False)[2]
        == "iris, MCE: 91.00, 3.65 points short."
    )


@long_test
def test_reduced_table_reaches_the_papers_numbers():
    """On the easy sets even a small grid does."""
    found = run(Work(quick=True))
    accuracies = {(one["data"], one["method"]): one for one in found.tables[0].records}
    assert len(accuracies) == 12
    assert all(one["met"] for one in accuracies.values())


def test_method_takes_the_attraction_of_its_own_equation():
    assert METHODS["SNPC"].objective(3, 0.01, 2.0).attraction == pytest.approx(0.02)
    assert Method(METHODS["MCE"].margin, METHODS["MCE"].loss).objective(
        3, 0.01, 2.0
    ).attraction == pytest.approx(0.01)


def test_folds_in_which_a_setting_broke_down_are_told():
    judged = [
        {"accuracy": 0.35, "validation": 0.9, "alpha": 0.0},
        {"accuracy": 0.45, "validation": 0.9, "alpha": 0.01},
        {"accuracy": 0.80, "validation": 0.9, "alpha": 0.0},
    ]
    cell = Cell.of_repetitions(
        "iris", "MCE", [0.5, 0.6], (95.6, 0.9), Setting(0.0, 1, 0.5), 0.5, fallen=fallen(judged)
    )
    (told,) = [
        text
        for text in remarks({"squared distance": [cell]}, quick=False)
        if text.startswith("iris")
    ]
    assert "In 2 folds" in told
    assert "in 1 of them it had no attraction" in told


def test_setting_that_was_chosen_most_often():
    often, once = {"alpha": 0.01, "prototypes": 2, "tau": 1.0}, {"alpha": 0.0, "prototypes": 5}
    assert typical([often, {**once, "tau": 2.0}, often]) == (Setting(0.01, 2, 1.0), 2 / 3)


def test_signed_ranks_are_taken_over_the_sets():
    """The printed accuracies give the printed p-values, ours are tested with and without pima."""
    rng = np.random.RandomState(0)
    setting = Setting(0.0, 1, 0.5)
    cells = [
        Cell.of_repetitions(name, method, [rng.rand(), rng.rand()], row[i], setting, 1.0)
        for name, row in SMALL.items()
        for i, method in enumerate(NAMES)
    ] + [
        Cell.of_test(name, method, rng.rand(), row[i], setting, 1.0)
        for name, row in LARGE.items()
        for i, method in enumerate(NAMES)
    ]
    for one in ranks_table(cells).records:
        assert one["p_from_printed_table"] == pytest.approx(one["p_printed"], abs=5e-5)
        pairs = [
            (a.accuracy, b.accuracy)
            for a in cells
            for b in cells
            if (a.method, b.method) == ("LOGM", one["method"]) and a.data == b.data != "pima"
        ]
        assert len(pairs) == 11
        wanted = wilcoxon(*zip(*pairs, strict=True), method="exact").pvalue
        assert one["p_without_pima"] == pytest.approx(wanted)
        assert one["p"] != one["p_without_pima"]


@pytest.fixture
def tiny_usps(monkeypatch):
    """Let iris stand for a large set; give its parts, in which a test can change the test rows."""
    X, y = iris()
    order = np.random.RandomState(0).permutation(len(y))
    X, y = X[order], y[order]
    parts = Parts(X[:100], y[:100], X[100:].copy(), y[100:].copy())
    monkeypatch.setattr(large, "read", lambda name: parts)
    large.selection_fits.cache_clear()
    yield parts
    large.selection_fits.cache_clear()


def test_large_sets_choose_within_the_training_part(tiny_usps):
    tried = [
        one for n in TINY.prototypes for one in large.searched("usps", "GLVQ", n, TINY, seed=1)
    ]
    assert [tuple(one[:3]) for one in tried] == list(TINY.settings())
    found = large.judged("usps", "GLVQ", tried, TINY, seed=1)
    best = max(score for *_, score in tried)
    assert found["validation"] == best
    assert found["accuracy"] > 0.85
    tiny_usps.X_test[:] = -5.0
    assert large.judged("usps", "GLVQ", tried, TINY, seed=1)["accuracy"] < 0.6
    again = [
        one for n in TINY.prototypes for one in large.searched("usps", "GLVQ", n, TINY, seed=1)
    ]
    assert again == tried


@long_test
@needs_data
def test_margins_of_four_algorithms_are_followed():
    found = fig2.run(Work(quick=True))
    assert [one["method"] for one in found.tables[0].records] == [*NAMES, fig2.FLATTER]
    assert len(found.tables[1].records) == 15
    for one in found.tables[0].records:
        assert one["last_difference"] > one["first_difference"] > 0.0
        assert one["training_error"] < 0.05
