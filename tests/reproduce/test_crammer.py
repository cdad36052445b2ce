"""Figure 4 and section 4 of Crammer et al. in small."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import protolearn_papers
from protolearn import GLVQ, OLVQ1, generalization_bound, hypothesis_margin
from protolearn_papers.crammer import fig4, kernels, prototypes

needs_data = pytest.mark.skipif(
    not Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent").is_dir(),
    reason="set PROTOLEARN_DATA to the folder of benchmark data",
)


def test_hinge_loss_is_that_of_a_loop(rng):
    X, W = rng.randn(40, 2), rng.randn(6, 2)
    y, labels = rng.randint(3, size=40), np.repeat([0, 1, 2], 2)
    expected = 0.0
    for x, label in zip(X, y, strict=True):
        d = np.sqrt(((W - x) ** 2).sum(axis=1))
        theta = 0.5 * (d[labels != label].min() - d[labels == label].min())
        expected += max(0.0, 1.0 - theta)
    assert fig4.hinge_loss(W, labels, X, y) == pytest.approx(expected, rel=1e-12)


def test_hinge_loss_is_that_of_the_margins_of_a_model():
    X, y = fig4.three_classes(3)
    model = GLVQ(prototypes_per_class=2, max_iter=5, random_state=0).fit(X, y)
    theta = hypothesis_margin(model, X, y)
    loss = fig4.hinge_loss(model.prototypes_, model.prototype_labels_, X, y)
    assert loss == pytest.approx(np.maximum(0.0, 1.0 - theta).sum(), rel=1e-9)


def test_three_classes():
    X, y = fig4.three_classes(0)
    assert X.shape == (1000, 2)
    assert np.bincount(y).tolist() == [334, 333, 333]
    np.testing.assert_array_equal(X, fig4.three_classes(0)[0])
    assert (fig4.three_classes(1)[0] != X).any()


def test_first_prototypes_are_points_that_neighbours_get_right(rng):
    X, y = fig4.three_classes(0)
    model = KNeighborsClassifier(fig4.NEIGHBOURS).fit(X, y)
    labels = np.repeat([0, 1, 2], 10)
    chosen = fig4.first_prototypes(fig4.LVQ_PAK, X, y, rng)
    np.testing.assert_array_equal(model.predict(chosen), labels)
    some = fig4.first_prototypes(fig4.ANY, X, y, rng)
    nearest = ((X[:, None] - some) ** 2).sum(axis=2).argmin(axis=0)
    np.testing.assert_array_equal(y[nearest], labels)


@pytest.mark.parametrize("form", [fig4.LVQ_PAK, fig4.KOHONEN])
def test_followed_iterations_are_olvq1(form):
    """The loss after a round is that of the rule, applied to one sample after the other."""
    X, y = fig4.three_classes(2)
    rng = np.random.RandomState(2)
    W = fig4.first_prototypes(form, X, y, rng)
    labels, rate = np.repeat([0, 1, 2], 10), np.full(30, fig4.RATE)
    for i in rng.permutation(len(X)):
        k = ((X[i] - W) ** 2).sum(axis=1).argmin()
        sign = 1.0 if labels[k] == y[i] else -1.0
        before = rate[k]
        rate[k] = min(fig4.RATE, rate[k] / (1.0 + sign * rate[k]))
        W[k] += sign * (before if form == fig4.LVQ_PAK else rate[k]) * (X[i] - W[k])
    found = fig4.follow(form, 2, 1)
    assert len(found["losses"]) == 101
    assert found["losses"][-1] == pytest.approx(fig4.hinge_loss(W, labels, X, y), rel=1e-9)
    assert found["losses"][-1] < found["losses"][0]
    assert found["direct"] < found["losses"][-1]


def test_summary_of_a_curve():
    losses = [9.0, 7.0, 8.0, 6.0, 5.0, 4.0, 3.0, 1.0, 2.0, 2.5]
    found = fig4.summary({"losses": losses, "direct": 0.5, "error": 0.1})
    assert (found["start"], found["end"], found["lowest"]) == (9.0, 2.5, 1.0)
    assert found["lowest_at"] == 70.0
    assert found["falling_steps"] == found["falling_stretches"] == pytest.approx(6 / 9)


def test_rising_loss_is_not_called_falling():
    curve = {"losses": list(np.linspace(1.0, 2.0, 21)), "direct": 1.0, "error": 0.0}
    assert [one.verdict for one in fig4.claims_of("any", [curve])] == ["no", "no"]


def test_figure_4_runs(tmp_path):
    found = protolearn_papers.run("crammer-fig4", tmp_path, quick=True, seed=1)
    assert found.tables[0].title.startswith("Hinge loss")
    assert (tmp_path / "fig4.png").stat().st_size > 10_000


def example(errors, nearest, rows=500):
    return {
        "numbers": [1, 3, 9],
        "rows": rows,
        "GLVQ": np.array(errors),
        prototypes.NEAREST: np.array(nearest),
    }


def test_optimum_between_the_ends(rng):
    noise = 0.01 * rng.randn(3, 10)
    found = prototypes.optimum(
        "made", "GLVQ", example(np.array([[0.4], [0.1], [0.3]]) + noise, np.full(10, 0.35))
    )
    assert found["best"] == 3
    assert found["inside"]
    assert found["p_against_all"] < 0.001
    assert found["p_against_one"] < 0.001
    said = prototypes.told([found, {**found, "rule": "OLVQ1", "error": 0.9}])
    assert "not on made" in said[0]
    assert "more accurate than 1-NN on made (significantly: made)" in said[1]


def test_no_optimum_if_the_first_is_best():
    errors = np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    found = prototypes.optimum("made", "GLVQ", example(errors, [0.05, 0.05]))
    assert found["best"] == 1
    assert not found["inside"]
    assert prototypes.better(found["error"], found["error_all"], found["p_against_all"]) == "no"


def test_standard_error_counts_overlapping_folds():
    errors = np.array([0.1, 0.2, 0.3, 0.2, 0.1])
    expected = np.sqrt((1 / 5 + 1 / 4) * errors.var(ddof=1))
    assert prototypes.standard_error(errors, 500) == pytest.approx(expected)


def test_bound_is_the_sum_of_its_terms():
    few, many = (prototypes.bound("wdbc", k, 0) for k in (1, 8))
    assert few["bound"] == pytest.approx(few["margin_error"] + few["added"])
    assert many["added"] > few["added"]
    X, y = prototypes.fetch("wdbc")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    radius = np.linalg.norm(Z, axis=1).max() * (1.0 + 1e-12)
    model = OLVQ1(random_state=0).fit(Z, y)
    expected = generalization_bound(model, Z, y, radius=radius, theta=prototypes.THETA * radius)
    assert few["bound"] == pytest.approx(expected.raw_bound, rel=1e-3)


def test_class_means_are_the_nearest_of_few(rng):
    X = np.vstack([rng.randn(20, 3), rng.randn(30, 3) + 2.0]) * [1.0, 10.0, 0.1]
    y = np.repeat([4, 7], [20, 30])
    model = prototypes.fitted(prototypes.MEANS, 0, 0, X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    d = [((Z - Z[y == label].mean(axis=0)) ** 2).sum(axis=1) for label in (4, 7)]
    np.testing.assert_array_equal(model.predict(X), np.where(d[0] <= d[1], 4, 7))
    everything = prototypes.fitted(prototypes.NEAREST, 0, 0, X, y)
    assert everything.score(X, y) == 1.0


def test_prototypes_run(tmp_path):
    found = protolearn_papers.run("crammer-prototypes", tmp_path, quick=True)
    optimum = found.tables[0]
    assert [row[:2] for row in optimum.rows] == [["wdbc", "OLVQ1"], ["wdbc", "GLVQ"]]
    assert (tmp_path / "prototypes.png").stat().st_size > 10_000
    again = np.mean(prototypes.fold_errors("wdbc", "GLVQ", 1, 1, 0))
    assert optimum.records[1]["error_one"] == again


@needs_data
def test_few_prototypes_beat_all_points_on_pima():
    """The prediction of section 4, on two repetitions of the folds."""
    one, three, many = (
        np.mean(prototypes.fold_errors("pima", kind, k, 2, 0))
        for kind, k in (("1-NN", 0), ("OLVQ1", 3), ("OLVQ1", 50))
    )
    assert three < one - 0.02
    assert three < many - 0.02


def kernel_record(name, one, kernel, chosen, p=0.5):
    return {
        "set": name,
        "rule": "GLVQ",
        "standard_one": one,
        "kernel_one": kernel,
        "p_one": p,
        "standard_chosen": chosen,
        "chosen": 3.0,
        "p_chosen": p,
        "standard_most": one,
        "kernel_most": one,
        "p_most": 1.0,
    }


def test_statements_about_kernels():
    records = [
        kernel_record("a", 0.4, 0.1, 0.1, 0.001),
        kernel_record("b", 0.3, 0.2, 0.3, 0.001),
        kernel_record("c", 0.2, 0.1, 0.15),
        kernel_record("d", 0.2, 0.3, 0.2),
    ]
    helps, same, most = kernels.claims_of("GLVQ", records)
    assert helps.share == 0.75
    assert "3 of 4 sets (significantly: a, b), by 10.0 points" in helps.ours
    assert same.share == pytest.approx(2 / 3)
    assert "on b; +5.0 points of error in the mean, at most +10.0 on b" in same.ours
    assert most.share == 1.0
    assert kernels.claims_of("GLVQ", [records[3]])[1].ours.endswith("no set to compare")


def test_the_number_is_chosen_without_the_test_rows(monkeypatch):
    """Labels of the test fold may be anything: the choice stays."""
    (errors, numbers) = np.array(kernels.chosen_errors("circles", "GLVQ", (1, 5), 1, 0)).T
    assert numbers.tolist() == [5.0] * 5
    for error, five in zip(
        errors, kernels.fold_errors("circles", "standard", "GLVQ", 5, 1, 0), strict=True
    ):
        assert error == five
    X, y = kernels.load("circles", 0)
    _, test = next(kernels.folds(1, 0).split(X, y))
    shuffled = y.copy()
    shuffled[test] = y[test][::-1]
    splits = list(kernels.folds(1, 0).split(X, y))
    monkeypatch.setattr(kernels, "load", lambda name, seed: (X, shuffled))
    monkeypatch.setattr(
        kernels, "folds", lambda *_: type("Fixed", (), {"split": lambda *_: splits[:1]})
    )
    ((other, number),) = kernels.chosen_errors("circles", "GLVQ", (1, 5), 1, 0)
    assert number == 5.0
    assert other != errors[0]


@needs_data
def test_kernels_run(tmp_path):
    found = protolearn_papers.run("crammer-kernel", tmp_path, quick=True)
    statements, comparison, errors = found.tables
    assert len(statements.rows) == 6
    assert [row[0] for row in comparison.rows[:2]] == ["circles, MarginLVQ", "circles, GLVQ"]
    assert comparison.records[1]["kernel_one"] < 0.15 < comparison.records[1]["standard_one"]
    assert len(errors.records) == 16
    assert (tmp_path / "kernels.png").stat().st_size > 10_000
