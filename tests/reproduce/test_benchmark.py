"""The benchmark: which models, the same folds, ranks, failures, and the front."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.base import ClassifierMixin

import protolearn
from protolearn_papers import Work, benchmark
from protolearn_papers.benchmark import data, fits, models
from protolearn_papers.benchmark.pictures import pareto_front
from protolearn_papers.benchmark.results import Standing
from protolearn_papers.benchmark.tables import mean_accuracy, typical_time

WRAPPERS = {"AutoPrototypeClassifier", "RejectClassifier"}


@pytest.fixture(scope="module")
def found():
    return benchmark.run(Work(quick=True))


def standing(name, rank, ratio, **more):
    settings = {"accuracy": {}, "milliseconds": {}, "failed": {}, "unfinished": (), **more}
    return Standing(name=name, rank=rank, ratio=ratio, **settings)


def test_every_classifier_of_ours_is_there():
    public = (getattr(protolearn, name) for name in protolearn.__all__)
    classifiers = {
        one.__name__
        for one in public
        if isinstance(one, type) and issubclass(one, ClassifierMixin) and hasattr(one, "fit")
    }
    assert set(models.OURS) == classifiers - WRAPPERS
    assert len(models.THEIRS) == 11
    assert not set(models.OURS) & set(models.THEIRS)


@pytest.mark.parametrize("name", models.MODELS)
def test_models_have_their_defaults(name):
    scaler, model = (step for _, step in models.model(name).steps)
    assert type(scaler).__name__ == "StandardScaler"
    fresh = type(model)()
    assert {k: repr(v) for k, v in model.get_params().items()} == {
        k: repr(v) for k, v in fresh.get_params().items()
    }


def test_ranks_by_an_independent_calculation(found):
    summary, accuracies = found.tables
    whole = [record["model"] for record in summary.records if not record["failed_sets"]]
    by_set = {
        (record["model"], record["dataset"]): record["accuracy"] for record in accuracies.records
    }
    scores = np.array([[by_set[name, s] for name in whole] for s in data.QUICK])
    ranks = stats.rankdata(-np.round(scores, 12), axis=1).mean(axis=0)
    shown = {record["model"]: record["rank"] for record in summary.records}
    np.testing.assert_allclose([shown[name] for name in whole], ranks)
    assert list(ranks) == sorted(ranks)


def test_a_model_that_fails_is_shown(found):
    summary, accuracies = found.tables
    row = next(row for row in accuracies.rows if row[0] == "HardMarginSVM")
    assert row[1 + data.QUICK.index("iris")] == "failed"
    assert float(row[1 + data.QUICK.index("wine")].rstrip("*")) > 90
    last = summary.records[-1]
    assert (last["model"], last["rank"], last["failed_sets"]) == ("HardMarginSVM", None, 1)
    assert any("HardMarginSVM failed on iris" in remark for remark in found.remarks)


def test_tables_are_well_formed(found):
    for table in found.tables:
        assert all(len(row) == len(table.head) for row in table.rows)
        assert len({tuple(record) for record in table.records}) == 1
        assert [row[0] for row in table.rows][-1] == "HardMarginSVM"
    assert len(found.tables[0].rows) == len(models.QUICK)
    assert len(found.tables[1].records) == len(models.QUICK) * len(data.QUICK)
    for column in range(1, 1 + len(data.QUICK)):
        shown = [row[column] for row in found.tables[1].rows if row[column] != "failed"]
        best = max(float(cell.rstrip("*")) for cell in shown)
        assert all(float(cell[:-1]) == best for cell in shown if cell.endswith("*"))
        assert any(cell.endswith("*") for cell in shown)
    yardstick = next(r for r in found.tables[0].records if r["model"] == models.YARDSTICK)
    assert yardstick["ratio"] == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_numbers():
    first, second = (fits.measure("wine", "PrototypeSVM", 3, 4) for _ in range(2))
    assert first["accuracy"] == second["accuracy"]
    assert len(first["accuracy"]) == len(first["seconds"]) == 3
    assert first["failed"] is None


def test_accuracy_by_hand():
    X, y = data.given("wine", 0)
    expected = []
    for train, test in data.splits("wine", 3, 0):
        mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
        centres = {c: ((X[train] - mean) / spread)[y[train] == c].mean(axis=0) for c in set(y)}
        rows = (X[test] - mean) / spread
        nearest = [min(centres, key=lambda c: np.sum((row - centres[c]) ** 2)) for row in rows]
        expected.append(np.mean(np.array(nearest) == y[test]))
    found = fits.measure("wine", "nearest centroid", 3, 0)
    np.testing.assert_allclose(found["accuracy"], expected)


def test_an_error_is_put_down(monkeypatch):
    class Broken(models.KNeighborsClassifier):
        def fit(self, X, y):
            raise RuntimeError("too\nbad")

    monkeypatch.setitem(models.MODELS, "broken", Broken)
    found = fits.measure("iris", "broken", 3, 0)
    assert found["failed"] == "RuntimeError: too bad"
    assert found["accuracy"] == []


def test_fits_that_do_not_converge_are_counted():
    assert fits.measure("iris", "multilayer perceptron", 3, 0)["unfinished"] == 3
    assert fits.measure("iris", "LDA", 3, 0)["unfinished"] == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_front_by_brute_force(seed):
    rng = np.random.RandomState(seed)
    some = [standing(str(k), *rng.randint(1, 9, 2).astype(float)) for k in range(12)]
    some.append(standing("failed", None, 0.001))
    front = pareto_front(some)
    ranked = [one for one in some if one.rank is not None]
    for one in ranked:
        better = [
            other
            for other in ranked
            if other.rank <= one.rank
            and other.ratio <= one.ratio
            and (other.rank, other.ratio) != (one.rank, one.ratio)
        ]
        twin = [(two.rank, two.ratio) for two in front]
        assert ((one.rank, one.ratio) in twin) == (not better)
    assert [one.ratio for one in front] == sorted(one.ratio for one in front)


def test_means_of_a_standing():
    one = standing(
        "x", 1.0, 1.0, accuracy={"a": 0.5, "b": 0.7}, milliseconds={"a": 1.0, "b": 100.0}
    )
    assert mean_accuracy(one) == pytest.approx(0.6)
    assert typical_time(one) == pytest.approx(10.0)
    assert mean_accuracy(standing("y", None, None)) is None
    assert typical_time(standing("y", None, None)) is None


def test_figures_can_be_drawn(found):
    figures = pytest.importorskip("matplotlib.figure")
    for figure in found.figures:
        canvas = figures.Figure(figsize=figure.size, layout="constrained")
        figure.draw(canvas)
        canvas.draw_without_rendering()
        ax = canvas.axes[0]
        text = " ".join(one.get_text() for one in (*ax.texts, *ax.get_yticklabels()))
        assert all(name in text for name in models.QUICK if name != "HardMarginSVM")


@pytest.mark.skipif(
    not Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent").is_dir(),
    reason="set PROTOLEARN_DATA to the folder of benchmark data",
)
def test_rows_of_a_large_set():
    X, y = data.given("segment", 0)
    assert X.shape == (700, 19)
    assert np.unique(y, return_counts=True)[1].tolist() == [100] * 7
    assert len(data.given("vehicle", 0)[1]) == 846
