"""What ``fit`` says about results that are bad, too good, or odd."""

import csv
import json

import numpy as np
import pytest

from protolearn.cli.failure import Failure
from protolearn.cli.fit_procedure import OuterFold, costs_of
from protolearn.cli.fit_warnings import (
    KINDS,
    Costs,
    baseline_warnings,
    code_warnings,
    duplicate_warnings,
    family_warnings,
    prediction_warnings,
    separation,
    structure_warnings,
)
from protolearn.cli.learning_table import (
    check_classes,
    class_labels,
    cut_into_classes,
    merge_rare_classes,
    subgroups_of,
)
from protolearn.folds import row_groups
from protolearn.selection import Answers, Estimate, on_test_set

FIT = "--target", "label", "--model", "mean-of-class,glvq", "--fits", "10", "--folds", "3"


@pytest.fixture(scope="module")
def odd(command, tmp_path_factory):
    """Give what is told about a table with every kind of oddness."""
    folder, rng = tmp_path_factory.mktemp("odd"), np.random.RandomState(0)
    y, x = rng.uniform(size=120) < 0.3, rng.normal(size=(120, 2)).round(3)
    with (folder / "odd.csv").open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "x", "age", "same", "copy", "patient", "sex", "label"])
        for i, ill in enumerate(y.tolist()):
            age = 999 if i % 10 == 0 else 40 + i % 17
            sex = "fm"[i % 2] if i > 4 else "u"
            word = "ill" if ill else "well"
            writer.writerow([1000 + i * 7, x[i, 0], age, 5, 3 * ill, i // 4, sex, word])
    given = "--by", "sex", "--out", "results"
    done = command("fit", "odd.csv", *FIT, *given, cwd=folder)
    assert done.code == 0, done.err
    return folder, done, json.loads((folder / "results" / "metrics.json").read_text())


def test_warnings(odd):
    folder, done, metrics = odd
    found = {(one["kind"], one["column"]) for one in metrics["warnings"]}
    expected = {("leak", "copy"), ("identifier", "id"), ("constant", "same"), ("codes", "age")}
    assert expected | {("structure", "patient")} <= found
    kinds = [KINDS.index(one["kind"]) for one in metrics["warnings"]]
    assert kinds == sorted(kinds)
    page = (folder / "results" / "report.html").read_text()
    flat = " ".join(done.out.split())
    for one in metrics["warnings"]:
        assert " ".join(one["text"].split()) in flat
    assert page.index("alone nearly decides") < page.index("The model predicts")


def test_measures_by_class_and_subgroup(odd):
    _, _, metrics = odd
    counts = np.array(metrics["confusion"]["counts"])
    for i, label in enumerate(metrics["confusion"]["labels"]):
        share = counts[i, i] / counts[i].sum()
        assert metrics["recall"][label]["value"] == pytest.approx(share)
        assert metrics["precision"][label]["value"] == pytest.approx(
            counts[i, i] / counts[:, i].sum()
        )
        assert metrics["lift"][label] > 1.0
    groups = metrics["by"]["groups"]
    assert sum(one["rows"] for one in groups.values()) == 120
    assert groups["u"]["too_small"]
    assert not groups["f"]["too_small"]


def test_a_guess_is_no_success(command, tmp_path):
    rng = np.random.RandomState(3)
    lines = [f"{x:.3f},{'yes' if t < 0.27 else 'no'}" for x, t in rng.uniform(size=(200, 2))]
    (tmp_path / "coin.csv").write_text("x,label\n" + "\n".join(lines) + "\n")
    done = command("fit", "coin.csv", *FIT, "--out", "results", cwd=tmp_path)
    assert done.code == 0, done.err
    metrics = json.loads((tmp_path / "results" / "metrics.json").read_text())
    assert metrics["warnings"][0]["kind"] == "baseline"


def test_numbers_are_cut_and_rare_classes_merged(command, tmp_path):
    rng = np.random.RandomState(0)
    lines = [f"{x:.3f},{x + 0.1 * e:.3f}" for x, e in rng.normal(size=(90, 2))]
    (tmp_path / "number.csv").write_text("x,label\n" + "\n".join(lines) + "\n")
    done = command("fit", "number.csv", *FIT, "--bins", "3", "--out", "results", cwd=tmp_path)
    assert done.code == 0, done.err
    metrics = json.loads((tmp_path / "results" / "metrics.json").read_text())
    assert list(metrics["classes"].values()) == [30, 30, 30]
    kinds = ["a"] * 40 + ["b"] * 40 + ["c", "d"]
    lines = [f"{rng.normal():.3f},{kind}" for kind in kinds]
    (tmp_path / "rare.csv").write_text("x,label\n" + "\n".join(lines) + "\n")
    for more, classes in ((), 4), (("--merge-rare",), 3):
        done = command("fit", "rare.csv", *FIT, *more, "--out", "r", "--force", cwd=tmp_path)
        assert done.code == 0, done.err
        metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
        assert len(metrics["classes"]) == classes


def test_rows_of_a_group_stay_together(command, odd):
    folder = odd[0]
    done = command("fit", "odd.csv", *FIT, "--group", "patient", "--out", "grouped", cwd=folder)
    assert done.code == 0, done.err
    with (folder / "grouped" / "predictions.csv").open() as file:
        folds = {}
        for line in csv.DictReader(file):
            folds.setdefault((int(line["row"]) - 1) // 4, set()).add(line["fold"])
    assert all(len(one) == 1 for one in folds.values())
    metrics = json.loads((folder / "grouped" / "metrics.json").read_text())
    assert "patient" not in metrics["columns"]


def test_edges_of_classes():
    texts = np.array(["1", "10", "19.5", "20", "31"], dtype=object)
    names = ["below 10", "10 to 20", "10 to 20", "20 and above", "20 and above"]
    assert cut_into_classes("t", texts, "10,20").tolist() == names
    for bins in ("many", "1", "20,10"):
        with pytest.raises(Failure, match="--bins"):
            cut_into_classes("t", texts, bins)
    with pytest.raises(Failure, match="holds 'red'"):
        class_labels("t", np.array(["1", "red"], dtype=object), "2")


def test_rare_classes_of_numbers():
    y, notes = merge_rare_classes(np.array([1, 1, 1, 2, 3]), 3)
    assert y.tolist() == ["1", "1", "1", "other", "other"]
    assert "2 (1), 3 (1)" in notes[0]


def test_codes_and_leaks():
    rng = np.random.RandomState(0)
    glucose = np.append(rng.uniform(70, 200, 50), [0, 0, 0])
    assert [one.kind for one in code_warnings("glucose", glucose)] == ["codes"]
    assert [one.kind for one in code_warnings("skin", np.append(np.arange(7.0, 50), [0, 0]))]
    assert not list(code_warnings("counts", rng.poisson(2.0, 100).astype(float)))
    assert not list(code_warnings("visits", np.r_[np.arange(1.0, 40.0), 0, 0]))  # zero comes next
    assert not list(code_warnings("share", np.append(rng.uniform(0.2, 0.9, 50), [0, 0])))
    y = np.repeat(["a", "b", "c"], 20)
    middle = np.repeat([0.0, 1.0, 2.0], 20)
    assert separation(middle.astype(int), middle, y) == 1.0
    noise = rng.normal(size=60)
    assert separation(np.argsort(np.argsort(noise)), noise, y) < 0.8


def test_rare_classes_decide_what_is_optimised(command, tmp_path):
    rng = np.random.RandomState(0)
    y = rng.uniform(size=300) < 0.12
    x = rng.normal(size=(300, 2)) + 1.3 * y[:, None]
    lines = [f"{a:.3f},{b:.3f},{'ill' if t else 'well'}" for (a, b), t in zip(x, y, strict=True)]
    (tmp_path / "rare.csv").write_text("a,b,label\n" + "\n".join(lines) + "\n")
    fit = "--target", "label", "--model", "glvq,soft-margin-svm", "--fits", "120", "--folds", "3"
    found = {}
    for more in ((), ("--metric", "accuracy")):
        done = command("fit", "rare.csv", *fit, *more, "--out", "r", "--force", cwd=tmp_path)
        assert done.code == 0, done.err
        found[more] = json.loads((tmp_path / "r" / "metrics.json").read_text())
        assert ("--metric accuracy" in " ".join(done.out.split())) == (not more)
    balanced, accurate = found.values()
    assert [balanced["metric"], accurate["metric"]] == ["balanced-accuracy", "accuracy"]
    assert "class_weight='balanced'" in balanced["model"]
    assert balanced["recall"]["ill"]["value"] > accurate["recall"]["ill"]["value"] + 0.2


def small_table(folder, n_rows=300):
    """Write a table with a rare class, days in random order, and return its days by row."""
    rng = np.random.RandomState(0)
    y, day = rng.uniform(size=n_rows) < 0.12, rng.permutation(n_rows)
    x = rng.normal(size=(n_rows, 2)) + 1.3 * y[:, None]
    with (folder / "rare.csv").open("w") as file:
        file.write("a,b,day,label\n")
        for (a, b), number, ill in zip(x, day, y.tolist(), strict=True):
            date = np.datetime64("2024-01-01") + int(number)
            file.write(f"{a:.3f},{b:.3f},{date},{'a>b' if ill else 'well'}\n")
    return day


LIGHT = "--target", "label", "--model", "mean-of-class,soft-margin-svm", "--fits", "40"


def test_costs_and_a_positive_class(command, tmp_path):
    small_table(tmp_path)
    found = {}
    for name, more in {
        "cost": ("--cost", "'a>b'>well=30", "--drop", "day"),
        "accuracy": ("--metric", "accuracy", "--drop", "day"),
        "average": ("--metric", "average-precision", "--drop", "day"),
        "positive": ("--metric", "f1", "--positive", "a>b", "--drop", "day"),
    }.items():
        done = command("fit", "rare.csv", *LIGHT, *more, "--out", name, cwd=tmp_path)
        assert done.code == 0, done.err
        found[name] = json.loads((tmp_path / name / "metrics.json").read_text())
        found[name]["told"] = " ".join(done.out.split())
    cost = found["cost"]
    with (tmp_path / "cost" / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    price = {("a>b", "well"): 30.0, ("well", "a>b"): 1.0}
    costs = [price.get((row["true"], row["label"]), 0.0) for row in rows]
    assert cost["measures"]["mean cost"]["value"] == pytest.approx(np.mean(costs))
    assert cost["measures"]["mean cost"]["low"] < np.mean(costs)
    assert cost["recall"]["a>b"]["value"] > found["accuracy"]["recall"]["a>b"]["value"] + 0.2
    n_ill = cost["classes"]["a>b"]
    guess = min(30.0 * n_ill, 300.0 - n_ill) / 300.0  # always well, or always ill
    assert f"would cost {guess:.3g}" in cost["told"]
    assert cost["threshold"]["label"] == "a>b"
    assert cost["threshold"]["probability"] < 0.25
    lowest = min(float(r["probability_a>b"]) for r in rows if r["label"] == "a>b")
    assert lowest < 0.5  # probabilities stay what they are
    assert "It predicts 'a>b' from a probability of" in cost["told"]
    assert found["accuracy"]["threshold"] is None
    assert found["average"]["positive"] == "a>b"  # the rarer class
    assert found["positive"]["metric"] == "f1"
    done = command("predict", "cost/model.protolearn", "rare.csv", "-o", "said.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "a>b" in (tmp_path / "said.csv").read_text()


def test_wrong_aims(command, tmp_path):
    small_table(tmp_path)
    for more, told in (
        (("--cost", "ill>well=3"), "'ill', which is not a class"),
        (("--cost", "well>well"), "is not understood"),
        (("--cost", "'a>b'>well=-3"), "is not understood"),
        (("--metric", "cost"), "needs the costs of errors"),
        (("--metric", "auc", "--cost", "well>'a>b'=3"), "does not work with --metric auc"),
        (("--positive", "ill"), "is not a class"),
        (("--time-column", "when"), "no column 'when'"),
        (("--time-column", "label"), "is the target"),
        (("--time-column", "day", "--group", "a"), "use one of them"),
    ):
        done = command("fit", "rare.csv", *LIGHT, *more, cwd=tmp_path)
        assert done.code == 2, more
        assert told in " ".join(done.err.split())


def test_later_rows_judge_the_model(command, tmp_path):
    day = small_table(tmp_path)
    given = *LIGHT, "--time-column", "day", "--out", "r"
    done = command("fit", "rare.csv", *given, cwd=tmp_path)
    assert done.code == 0, done.err
    folds = {}
    with (tmp_path / "r" / "predictions.csv").open() as file:
        for line in csv.DictReader(file):
            folds.setdefault(int(line["fold"]), []).append(day[int(line["row"]) - 1])
    assert sorted(folds) == [1, 2, 3, 4, 5]
    for number in range(1, 5):
        assert max(folds[number]) < min(folds[number + 1])
    assert min(folds[1]) > 10
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["columns"] == ["a", "b"]
    assert "never held out" in " ".join(done.out.split())


def test_what_predictions_and_folds_show():
    n_rows, rng = 200, np.random.RandomState(0)
    y = np.repeat(["no", "yes"], [150, 50])
    shares = np.tile([0.98, 0.02], (n_rows, 1))
    answers = Answers(y, np.full(n_rows, "no"), np.array(["no", "yes"]), np.log(shares), shares)
    fold = OuterFold(1, np.arange(n_rows), answers, "GLVQ()", 200)
    evaluation = on_test_set(answers, 0.95, 100, 0)
    found = {one.kind for one in prediction_warnings(evaluation, [fold])}
    assert found == {"never_predicted", "calibration"}
    assert [one.kind for one in family_warnings([fold] * 3, "SoftMarginSVM()")] == ["family"]
    assert not list(family_warnings([fold] * 3, "GLVQ(beta=5)"))
    X = rng.normal(size=(n_rows, 3))
    X[150:] = X[:50]
    assert [one.kind for one in duplicate_warnings(None, row_groups(X))] == ["duplicates"]
    days = np.arange(n_rows).astype("datetime64[D]")
    found = list(structure_warnings("day", days, np.arange(n_rows), n_rows, y))
    assert "--time-column day" in found[0].text


def test_warnings_are_few_and_sure():
    y = np.array(["a", "b", "c", "d", "e", "f", "g", "h"] * 5)
    said, shares = np.full(40, "a"), np.full((40, 8), 1 / 8)
    answers = Answers(y, said, np.unique(y), np.log(shares), shares)
    evaluation = on_test_set(answers, 0.95, 100, 0)
    folds = [OuterFold(1, np.arange(40), answers, "GLVQ()", 40)]
    texts = [one.text for one in prediction_warnings(evaluation, folds)]
    assert texts == [
        "7 classes are never predicted, and all of their rows missed: 'b', 'c', 'd', 'e', 'f' and "
        "2 more."
    ]
    split = [folds[0]._replace(chosen=one) for one in ("A()", "A()", "B()", "C()", "D()")]
    assert [one.kind for one in family_warnings(split, "D()")] == ["family"]  # two beat one
    assert not list(family_warnings(split[1:], "D()"))
    # Accuracy that does not reach the share of the largest class is no success, however balanced.
    y, said = np.repeat(["no", "yes"], [150, 50]), np.repeat(["no", "yes", "yes"], [105, 45, 50])
    found = on_test_set(Answers(y, said, np.unique(y), None, None), 0.95, 100, 0)
    assert [one.kind for one in baseline_warnings(found, ("no", 0.8), "accuracy")] == ["baseline"]
    assert not list(baseline_warnings(found, ("no", 0.8), "balanced-accuracy"))
    for high, n_warnings in ((0.7, 0), (0.9, 1)):
        costs = Costs(Estimate(0.5, 0.4, high), "yes", 0.75)
        assert len([*baseline_warnings(found, ("no", 0.8), "cost", costs)]) == n_warnings


def test_numbers_as_classes_are_named():
    ages = np.arange(20, 60)
    (note,) = check_classes("age", ages, np.full(40, 9))
    assert "--bins 3" in note
    assert not check_classes("letter", np.array([*"abcdefghijklmnopqrstuvwxyz"]), np.full(26, 9))


def test_subgroups_of_numbers_are_ranges():
    values = np.append(np.arange(40.0), np.nan)
    names, counts = np.unique(subgroups_of(values), return_counts=True)
    assert sorted(counts.tolist()) == [1, 10, 10, 10, 10]
    assert {"missing", "below 9.75", "29.25 and above"} <= set(names.tolist())
    assert set(subgroups_of(np.array([1.0, 2.0, np.nan])).tolist()) == {"1", "2", "missing"}
    days = np.arange("2020-01-01", "2022-01-01", dtype="datetime64[D]")
    assert set(subgroups_of(days).tolist()) == {"2020", "2021"}


def test_how_costs_are_read():
    labels = {"a": "a", "b, c": "b, c", "it's": "it's", "3": 3}
    found = costs_of("a>'b, c'=2, \"it's\">a=0.5,3>a=1e2", labels)
    assert found == {("a", "b, c"): 2.0, ("it's", "a"): 0.5, (3, "a"): 100.0}
    for text in ("", "a>3", "a>3=x", "a>3=1 3>a=2", "a=3"):
        with pytest.raises(Failure, match="--cost"):
            costs_of(text, labels)
