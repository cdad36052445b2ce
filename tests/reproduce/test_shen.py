"""Tables of Shen and Danyluk: published numbers, noise, folds, and who wins."""

import os
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from scipy import stats
from sklearn.svm import SVC

from protolearn.datasets import load
from protolearn.selection import Comparison, WinTieLoss
from protolearn_papers import Work
from protolearn_papers.folds import stratified
from protolearn_papers.shen import accuracy, data, folds, methods, paper, sizes

ROWS = {
    "isolated": (800, 2),
    "striated": (800, 2),
    "spirals": (194, 2),
    "iris": (150, 3),
    "glass": (214, 6),
    "vehicle": (846, 4),
    "segment": (2310, 7),
}
"""Rows and classes of table 1."""


@pytest.fixture(scope="module")
def table2():
    return accuracy.table2(Work(quick=True))


def given_comparison(seed, n_sets=5, n_folds=10):
    rng = np.random.RandomState(seed)
    level = rng.uniform(0.4, 0.9, (n_sets, len(paper.METHODS), 1))
    scores = level + 0.05 * rng.standard_normal((n_sets, len(paper.METHODS), n_folds))
    train, test = np.full((n_sets, n_folds), 180), np.full((n_sets, n_folds), 20)
    names = tuple(data.SETS[:n_sets])
    return Comparison(names, paper.METHODS, scores, np.ones_like(scores), train, test)


@pytest.mark.parametrize(("table", "kind"), [(paper.TABLE2, "clean"), (paper.TABLE4, "noisy")])
def test_marks_add_up_to_table_3(table, kind):
    marks = accuracy.counted(accuracy.published_signs(data.SETS, table))
    printed = WinTieLoss(*np.add(marks, paper.TWEETS[kind]).tolist())
    assert printed == paper.TABLE3[kind]
    assert sum(paper.TABLE3["clean"]) == 6 * 8
    assert sum(paper.TABLE3["noisy"]) == 6 * 7


def test_published_numbers_are_complete():
    for table in (paper.TABLE2, paper.TABLE4):
        assert tuple(table) == data.SETS
        for row in table.values():
            assert tuple(row) == paper.METHODS
            assert all(0.0 <= cell.mean <= 100.0 for cell in row.values())
            assert row[paper.PSVM].mark == ""
            for cell in row.values():  # a mark says which of both is better
                sign = {paper.WIN: 1, paper.LOSS: -1}.get(cell.mark, 0)
                assert sign * (row[paper.PSVM].mean - cell.mean) >= 0
    assert tuple(paper.TABLE5) == data.SETS


def test_noise_makes_it_harder_in_the_paper():
    sets = [name for name in data.SETS if name != "spirals"]
    assert all(paper.TABLE4[s]["PSVM"].mean < paper.TABLE2[s]["PSVM"].mean for s in sets)


def test_the_paper_counts_all_training_rows_as_exemplars():
    for name, row in paper.TABLE5.items():
        assert abs(row.exemplars - 0.9 * ROWS[name][0]) < 1.0
        assert max(row.clean, row.noisy) < row.exemplars


@pytest.mark.parametrize("name", data.SETS)
def test_sets_and_noise(name):
    folder = Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent")
    if name in ("glass", "vehicle", "segment") and not folder.is_dir():
        pytest.skip("set PROTOLEARN_DATA to the folder of benchmark data")
    X, y = data.given(name, False, 3)
    noisy_X, noisy = data.given(name, True, 3)
    assert (len(y), len(np.unique(y))) == ROWS[name]
    np.testing.assert_array_equal(X, noisy_X)
    assert int((y != noisy).sum()) == round(0.1 * len(y))
    assert set(noisy.tolist()) == set(y.tolist())


def test_noise_is_in_test_rows_too():
    _, y = data.given("iris", False, 0)
    X, noisy = data.given("iris", True, 0)
    test = np.concatenate([rows for _, rows in stratified(X, noisy, 10, 0)])
    assert sorted(test.tolist()) == list(range(150))
    assert (y[test] != noisy[test]).mean() == pytest.approx(0.1)


def test_the_same_seed_gives_the_same_numbers():
    arguments = ("spirals", paper.PSVM, True, 1, 5)
    first, second = folds.measure(*arguments, 7), folds.measure(*arguments, 7)
    assert (first["accuracy"], first["models"]) == (second["accuracy"], second["models"])
    other = [folds.measure(*arguments, seed) for seed in (8, 9)]
    assert any(one["models"] != first["models"] for one in other)


def test_accuracy_of_a_fold_against_a_fit_by_hand():
    found = folds.measure("iris", "linear SVM", False, 2, 5, 0)
    X, y = load("iris")
    train, test = stratified(X, y, 5, 0)[2]
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    model = SVC(kernel="linear").fit((X[train] - mean) / spread, y[train])
    assert found["accuracy"] == model.score((X[test] - mean) / spread, y[test])
    assert found["models"] is None


@pytest.mark.parametrize("method", paper.METHODS)
def test_every_method_learns_iris(method):
    assert folds.measure("iris", method, False, 0, 5, 0)["accuracy"] > 0.85


def test_weights_of_boosting_leave_the_cost_as_it_is():
    X, y = load("wine")
    plain = SVC(kernel="linear").fit(X[:, :3], y)
    weighted = methods.WeightedSVC(kernel="linear").fit(X[:, :3], y, np.full(len(y), 1 / len(y)))
    np.testing.assert_allclose(weighted.dual_coef_, plain.dual_coef_)


def test_boosting_of_a_model_that_guesses():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = np.array([0, 1, 1, 0] * 5)  # no line is better than guessing by much
    boosted = methods.boosted_linear_svm(2, 2, 0).fit(X, y)
    assert set(boosted.predict(X).tolist()) <= {0, 1}


@pytest.mark.parametrize("seed", range(3))
def test_wins_by_an_independent_t_test(seed):
    comparison = given_comparison(seed)
    signs = accuracy.signs(comparison)
    for i in range(len(comparison.datasets)):
        for j, method in enumerate(paper.OTHERS):
            other = comparison.scores[i, paper.METHODS.index(method)]
            difference = comparison.scores[i, 0] - other
            variance = (1 / 10 + 20 / 180) * difference.var(ddof=1)
            limit = stats.t.ppf(0.975, 9)
            t = difference.mean() / np.sqrt(variance)
            assert signs[i, j] == (0 if abs(t) < limit else np.sign(t))
    assert {-1, 0, 1} == set(signs.ravel().tolist())
    assert accuracy.counted(signs) == tuple(
        np.sum([comparison.wins(paper.PSVM, method) for method in paper.OTHERS], axis=0)
    )


def test_tables_are_well_formed(table2):
    accuracies, wins = table2.tables
    assert [row[0] for row in accuracies.rows] == list(data.QUICK)
    assert all(len(row) == len(accuracies.head) == 8 for row in accuracies.rows)
    assert len(accuracies.records) == len(data.QUICK) * 7
    assert len({tuple(record) for record in accuracies.records}) == 1
    for row in wins.rows[:-1]:
        for cell in row[1:]:
            assert sum(map(int, cell.split(" - "))) == len(data.QUICK)
    totals = np.array([[*map(int, row[1].split(" - "))] for row in wins.rows])
    np.testing.assert_array_equal(totals[:-1].sum(axis=0), totals[-1])
    assert any("tweets" in remark for remark in table2.remarks)


def test_cells_show_the_numbers_of_the_records(table2):
    accuracies = table2.tables[0]
    for record in accuracies.records:
        row = next(row for row in accuracies.rows if row[0] == record["dataset"])
        ours, theirs = row[1 + paper.METHODS.index(record["method"])].split(" / ")
        assert float(ours.rstrip("o*")) == pytest.approx(record["accuracy"], abs=0.051)
        assert float(theirs.rstrip("o*")) == pytest.approx(record["paper_accuracy"], abs=0.051)
        mark = {1: "o", 0: "", -1: "*"}
        assert ours.lstrip("0123456789.") == mark[record["psvm_wins"]]
        assert theirs.lstrip("0123456789.") == mark[record["paper_psvm_wins"]]


def test_sizes_of_ensembles():
    found = sizes.table5(Work(quick=True))
    (table,) = found.tables
    for record in table.records:
        rows = ROWS[record["dataset"]][0]
        assert record["exemplars"] == pytest.approx(rows * 2 / 3 * 3 / 4, abs=0.1)
        assert 2 <= record["clean"] <= record["exemplars"]
        assert 2 <= record["noisy"] <= record["exemplars"]
    assert "on 2 of 2 sets, although" in found.remarks[0]


def test_figures_can_be_drawn(table2):
    figures = pytest.importorskip("matplotlib.figure")
    for figure in [*table2.figures, *sizes.table5(Work(quick=True)).figures]:
        canvas = figures.Figure(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        canvas.draw_without_rendering()
        (ax,) = canvas.axes
        assert [label.get_text() for label in ax.get_xticklabels()] == list(data.QUICK)


def test_finished_folds_are_not_fitted_again(monkeypatch):
    work = Work(quick=True)
    first = folds.compared(work, ["linear SVM"], noisy=False)
    monkeypatch.setattr(folds, "measure", pytest.fail)
    second = folds.compared(work, ["linear SVM"], noisy=False)
    np.testing.assert_array_equal(first.scores, second.scores)
    fitted = [key for key in work.store if key[0].startswith("clean/")]
    assert len(fitted) == len(data.QUICK) * folds.QUICK_FOLDS


def test_a_missing_set_is_told_before_any_work(monkeypatch):
    def fetch_openml(**settings):
        raise URLError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    monkeypatch.delenv("PROTOLEARN_DATA", raising=False)
    data.given.cache_clear()
    work = Work()
    with pytest.raises(FileNotFoundError, match=r"'glass'.*PROTOLEARN_DATA"):
        accuracy.table2(work)
    assert not any(key[0].startswith("clean/") for key in work.store)
