"""Comparing models on a table: the scores, what is told, what is left in the folder."""

import csv

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_store import results
from protolearn.cli import compare_command
from protolearn.cli.compare_command import (
    DEFAULT_MODELS,
    affordable_models,
    possible_folds,
    run_compare,
)
from protolearn.cli.failure import Failure
from protolearn.cli.model_names import official_name
from protolearn.tables import TableFileError


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Give lines that are not broken."""
    monkeypatch.setenv("COLUMNS", "200")


def compare(*models, data="iris", target=None, folds=3, repeats=1, seed=0, out=None, **columns):
    """Compare with few folds."""
    run_compare(data, target, models, folds, repeats, seed, out, **columns)


def rows_of(out):
    """Read the file of scores."""
    with (out / "comparison.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def given(folder, **columns):
    """Write columns into a file."""
    path = folder / "[x].csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return str(path)


def test_scores_are_those_of_scikit_learn(tmp_path):
    X, y = load_iris(return_X_y=True)
    X, y = np.delete(X, 142, axis=0), np.delete(y, 142)  # a copy
    data = given(
        tmp_path, a=X[:, 0], b=X[:, 1], c=X[:, 2], d=X[:, 3], label=np.array(list("xyz"))[y]
    )
    compare("lda,knn", folds=4, repeats=2, seed=3, data=data, target="label", out=tmp_path)
    rows = rows_of(tmp_path)
    splits = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    for name, model in ("lda", LinearDiscriminantAnalysis()), ("knn", KNeighborsClassifier()):
        expected = cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=splits)
        part = [row for row in rows if row["model"] == name]
        np.testing.assert_allclose([float(row["accuracy"]) for row in part], expected, rtol=1e-12)
        places = [(row["repeat"], row["fold"]) for row in part]
        assert places == [(r, f) for r in "12" for f in "1234"]
        assert all(float(row["fit_seconds"]) > 0 for row in part)


def test_what_is_told(capsys, tmp_path):
    compare("Mean_Of_Class", "svc", "svc", folds=10, out=tmp_path)
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert "150 rows, 4 columns, 3 classes of 'target'; 10 folds" in lines[0]
    assert "largest class: 33.3%" in lines[0]
    assert "1 row is a copy of another; copies stay in the same fold." in shown.err.splitlines()
    scores = {
        name: np.array([float(r["accuracy"]) for r in rows_of(tmp_path) if r["model"] == name])
        for name in ("svc", "mean-of-class")
    }
    best, worse = (line.split() for line in lines if line.startswith(("svc ", "mean-of-class ")))
    mean, spread = (100 * f(scores["svc"]) for f in (np.mean, lambda s: np.std(s, ddof=1)))
    assert best[:4] == ["svc", f"{mean:.1f}", f"{spread:.1f}", "best"]
    # Nadeau and Bengio: the variance of the mean has 1/n + test/train in place of 1/n.
    difference = scores["svc"] - scores["mean-of-class"]
    t = difference.mean() / np.sqrt((1 / 10 + 15 / 135) * difference.var(ddof=1))
    assert worse[3] == f"{-100 * difference.mean():.1f}"
    assert worse[8] == f"{2 * stats.t.sf(t, 9):.3f}"
    assert lines[-2] == "All others are significantly worse than svc (p < 0.05)."
    assert lines[-1].startswith(f"Open {tmp_path / 'comparison.png'}")
    assert "built-in" in shown.err


def test_a_model_that_fails(capsys, tmp_path):
    compare("hard-margin-svm", "knn", out=tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["model", "knn", "hard-margin-svm"]
    failed = next(line for line in lines if "NotSeparableError" in line)
    assert failed.startswith("hard-margin-svm failed in 3 of 3 folds: ")
    assert failed.endswith("from the rest.")
    assert [row["accuracy"] == "" for row in rows_of(tmp_path)] == [True] * 3 + [False] * 3


def test_all_fail(capsys):
    with pytest.raises(Failure, match="no model could be fitted") as caught:
        compare("hard-margin-svm")
    assert caught.value.code == 1
    assert "hard-margin-svm failed" in capsys.readouterr().out


def test_warnings_are_told_once(capsys):
    compare("rosenblatt")
    told = [line for line in capsys.readouterr().err.splitlines() if "has not separated" in line]
    assert 1 <= len(told) <= 3
    assert len(set(told)) == len(told)


def test_interrupted_and_continued(monkeypatch, capsys, tmp_path):
    calls = []
    fit = KNeighborsClassifier.fit

    def stopped(self, X, y):
        calls.append(len(y))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fit(self, X, y)

    monkeypatch.setattr(KNeighborsClassifier, "fit", stopped)
    with pytest.raises(Failure, match=r"stopped\. Run the same command again") as caught:
        compare("knn", folds=5, out=tmp_path)
    assert caught.value.code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["comparison.jsonl"]
    compare("knn", folds=5, out=tmp_path)
    assert len(calls) == 3 + 3  # two of five were finished
    assert len(rows_of(tmp_path)) == 5
    calls[:] = [0, 0]
    with pytest.raises(Failure, match="Add --out FOLDER"):
        compare("knn")


def test_other_settings_in_the_same_folder(tmp_path):
    compare("knn", out=tmp_path)
    with pytest.raises(ValueError, match="belongs to another comparison: random_state was 0"):
        compare("knn", seed=1, out=tmp_path, force=True)
    compare("lda", out=tmp_path, force=True)  # another model is no contradiction
    folds = [key for key in results(tmp_path / "comparison.jsonl") if len(key) == 3]
    assert list(dict.fromkeys(model for _, model, _ in folds)) == ["knn", "lda"]


def test_picture(monkeypatch, capsys, tmp_path):
    compare("knn", "lda", out=tmp_path)
    assert (tmp_path / "comparison.png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setattr(compare_command, "find_spec", lambda name: None)
    compare("knn", "lda", out=tmp_path / "plain")
    assert {path.suffix for path in (tmp_path / "plain").iterdir()} == {".csv", ".jsonl"}
    assert "comparison.csv for the scores" in capsys.readouterr().out.splitlines()[-1]


def test_a_table_of_all_kinds(capsys, tmp_path):
    rng = np.random.RandomState(0)
    label = np.array(["[red]no", "yes"], dtype=object)[rng.randint(2, size=60)]
    colour = np.where(label == "yes", "[b]blue", "red").astype(object)
    colour[:5] = None
    size = rng.randn(60)
    size[-5:] = np.nan
    day = np.datetime64("2020-01-01", "us") + rng.randint(10, size=60) * np.timedelta64(1, "D")
    data = given(tmp_path, size=size, colour=colour, day=day, label=label)
    compare("soft-margin-svm", "random-forest", data=data, target="label")
    shown = capsys.readouterr().out
    assert "60 rows, 3 columns, 2 classes of 'label'" in shown
    accuracy = [
        float(line.split()[1]) for line in shown.splitlines() if line.startswith(("soft", "random"))
    ]
    assert len(accuracy) == 2
    assert min(accuracy) > 90.0


def test_numbers_that_are_categories(tmp_path):
    code = np.tile([1.0, 2.0, 3.0], 40)
    data = given(tmp_path, code=code, label=np.where(code == 2.0, "in", "out"))
    compare("mean-of-class", data=data, target="label", out=tmp_path / "numbers")
    compare(
        "mean-of-class", data=data, target="label", out=tmp_path / "codes", categorical=["code"]
    )
    # Of three places on a line no hyperplane cuts out the middle; of three categories one does.
    numbers, codes = (
        np.mean([float(row["accuracy"]) for row in rows_of(tmp_path / name)])
        for name in ("numbers", "codes")
    )
    assert numbers < 0.9
    assert codes == 1.0
    for name in data, "iris":
        with pytest.raises((Failure, TableFileError), match="no column 'cod'"):
            compare("mean-of-class", data=name, categorical=["cod"])


def test_wrong_names():
    with pytest.raises(Failure, match="no model 'glqv'"):  # before the data are read
        compare("knn,glqv", data="no such file.csv")
    with pytest.raises(Failure, match=r"no file 'nosuch\.csv'"):
        compare("knn", data="nosuch.csv")


def test_usual_models():
    assert [official_name(name) for name in DEFAULT_MODELS] == list(DEFAULT_MODELS)
    assert affordable_models([], 5000) == (list(DEFAULT_MODELS), [])
    names, notes = affordable_models([], 5001)
    assert set(DEFAULT_MODELS) - set(names) == {"kernel-glvq", "prototype-svm", "svc"}
    assert notes[0].startswith("kernel-glvq, prototype-svm, svc left out: ")
    assert affordable_models(["svc"], 10**6) == (["svc"], [])


def test_no_more_folds_than_the_smallest_class_has_rows(capsys, tmp_path):
    assert possible_folds(3, ["a"] * 3 + ["b"] * 9) == (3, [])
    data = given(tmp_path, x=np.arange(13.0)[::-1], label=["a"] * 9 + ["b"] * 4)
    compare("mean-of-class", data=data, target="label", folds=10)
    shown = capsys.readouterr()
    assert "4 folds instead of 10: class 'b' has 4 rows" in shown.err
    assert "; 4 folds." in shown.out


def test_rows_are_drawn(capsys):
    compare("lda", rows=90)
    shown = capsys.readouterr()
    assert shown.out.startswith("150 rows")  # at least 50 of each class
    assert "sampled for" in shown.err
