"""From a table to a model: what is understood, what is written, and whether it is true."""

import csv
import json
import re
from html import escape

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix

import protolearn
from given_pets import FIT, MILD, SEVERE, pets, write
from given_profile import long_test
from protolearn.cli.learning_table import learning_table
from protolearn.tables import read_table

FILES = ["metrics.json", "model.protolearn", "predictions.csv", "report.html"]


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_what_was_understood_is_told(fitted):
    _, done = fitted
    assert "pets.csv: comma-separated text with a header, 90 rows, 6 columns" in done.out
    assert "column 'number' left out: it numbers the rows" in done.out
    assert re.search(rf"target 'state': 2 classes: {MILD} \(\d+\), {SEVERE} \(\d+\)", done.out)
    assert re.search(r"colour +\d categories: .*white", done.out)
    assert re.search(r"born +dates from 2015-\d\d-\d\d to 201\d", done.out)
    assert re.search(r"weight <b>kg</b> +numbers from [\d.]+ to [\d.]+ +[1-9]", done.out)


def test_the_last_line_says_what_to_open(fitted):
    folder, done = fitted
    assert done.out.splitlines()[-1] == "Open results/report.html to see everything."
    assert not done.err
    assert sorted(path.name for path in (folder / "results").iterdir()) == FILES


def test_every_row_was_left_out_once(fitted):
    folder, _ = fitted
    rows = read(folder / "results" / "predictions.csv")
    assert [int(row["row"]) for row in rows] == list(range(1, 91))
    assert [row["true"] for row in rows] == [row["state"] for row in pets()]
    shares = np.array(
        [[float(row[f"probability_{label}"]) for label in (MILD, SEVERE)] for row in rows]
    )
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)
    said = np.array([MILD, SEVERE])[shares.argmax(axis=1)]
    assert said.tolist() == [row["label"] for row in rows]
    right = [row["label"] == row["true"] for row in rows]
    assert [row["right"] for row in rows] == ["true" if one else "false" for one in right]


def test_measures_follow_from_the_predictions(fitted):
    folder, done = fitted
    found = json.loads((folder / "results" / "metrics.json").read_text("utf-8"))
    rows = read(folder / "results" / "predictions.csv")
    by_fold = [[row for row in rows if row["fold"] == str(k)] for k in (1, 2, 3)]

    def mean(score):
        parts = [([r["true"] for r in part], [r["label"] for r in part]) for part in by_fold]
        return np.mean([score(*part) for part in parts])

    measures = found["measures"]
    assert measures["accuracy"]["value"] == pytest.approx(mean(accuracy_score))
    assert measures["balanced accuracy"]["value"] == pytest.approx(mean(balanced_accuracy_score))
    true, said = ([row[name] for row in rows] for name in ("true", "label"))
    labels = found["confusion"]["labels"]
    assert found["confusion"]["counts"] == confusion_matrix(true, said, labels=labels).tolist()
    own = [[float(row[f"probability_{row['true']}"]) for row in part] for part in by_fold]
    loss = [-np.log(part).mean() for part in own]
    assert measures["log loss"]["value"] == pytest.approx(np.mean(loss), rel=1e-4)
    assert f"{measures['accuracy']['value']:.1%}" in done.out
    counts = np.diag(found["confusion"]["counts"]) / np.sum(found["confusion"]["counts"], axis=1)
    assert [found["recalls"][one]["value"] for one in labels] == pytest.approx(counts.tolist())
    assert found["rows"] == found["rows_with_a_label"] == 90
    assert found["columns"] == ["weight <b>kg</b>", "colour", "born", "noise"]
    flagged = [max(float(row[f"probability_{one}"]) for one in labels) for row in rows]
    threshold = found["reject"]["threshold"]
    assert found["reject"]["rate"] == pytest.approx(
        0.0 if threshold is None else np.mean(np.array(flagged) < threshold), abs=0.02
    )


def test_the_model_can_be_loaded_and_is_good(fitted, model):
    loaded = protolearn.load(model)
    table = read_table(fitted[0] / "pets.csv")
    assert loaded.score(table.frame, table.frame["state"].astype(str)) > 0.85
    assert loaded[-1].checkpoint is None
    about = protolearn.io.describe(model)
    assert about.notes["target"] == "state"


def test_the_page_needs_no_network_and_runs_nothing_of_the_table(fitted):
    page = (fitted[0] / "results" / "report.html").read_text("utf-8")
    text = re.sub(r"<script(?: [^>]*)?>.*?</script>", "", page, flags=re.DOTALL)
    assert page.count("<script") - page.count("</script>") <= text.count("<script")
    assert "http" not in text
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "weight &lt;b&gt;kg&lt;/b&gt;" in text
    assert len(page) < 6_000_000


def test_the_page_tells_what_the_command_tells(fitted):
    folder, _ = fitted
    page = (folder / "results" / "report.html").read_text("utf-8")
    metrics = json.loads((folder / "results" / "metrics.json").read_text("utf-8"))
    accuracy = metrics["measures"]["accuracy"]
    assert f"<strong>{accuracy['value']:.1%}</strong>" in page
    assert f"{accuracy['low']:.1%} to {accuracy['high']:.1%}" in page
    assert "fitted without it, and chosen by the other folds: 3 folds" in page
    assert escape(metrics["model"]) in page
    assert metrics["search"]["stopped"] in page
    assert "Models compared" in page
    rows = {
        line.split(",")[0]
        for line in (folder / "results" / "predictions.csv").read_text("utf-8").splitlines()[1:]
    }
    assert set(re.findall(r"<h3>Row (\d+)</h3>", page)) <= rows


def test_the_same_seed_gives_the_same_results(command, fitted):
    folder, _ = fitted
    for out, seed in ("again", "0"), ("other", "1"):
        done = command("fit", "pets.csv", *FIT, "--seed", seed, "--out", out, cwd=folder)
        assert done.code == 0, done.err
    first, again, other = (
        (folder / name / "predictions.csv").read_text("utf-8")
        for name in ("results", "again", "other")
    )
    assert first == again
    assert first != other


def test_copies_are_not_judged_by_what_is_known_by_heart(command, tmp_path):
    rng = np.random.RandomState(1)
    X, y = rng.normal(size=(60, 3)), rng.permutation(["p", "q"] * 30)
    rows = [dict(zip("abcy", [*X[i], y[i]], strict=True)) for i in np.tile(np.arange(60), 5)]
    rows += [{"a": 9.0, "b": 9.0, "c": 9.0, "y": "r"}] * 4  # a class of one row and its copies
    write(tmp_path / "coin.csv", rows)
    fit = "--target", "y", "--model", "kernel-glvq", "--fits", "4", "--folds", "3", "--out", "out"
    done = command("fit", "coin.csv", *fit, cwd=tmp_path)
    assert done.code == 0, done.err
    note = "243 rows are copies of others; copies stay in the same fold."
    assert note in done.out
    assert "The intervals cover sampling of rows" in done.out
    found = json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8"))
    assert note in found["notes"]
    accuracy = found["measures"]["accuracy"]
    assert 0.25 < accuracy["value"] < 0.75  # known by heart it would be about 0.99
    said = read(tmp_path / "out" / "predictions.csv")
    assert {row["true"] for row in said} == {"p", "q"}  # none of r would be left to learn from
    assert note in (tmp_path / "out" / "report.html").read_text("utf-8")


@long_test
def test_labels_without_meaning_are_judged_as_chance(command, tmp_path):
    rng = np.random.RandomState(0)
    rows = [
        {"a": x, "b": z, "y": label}
        for x, z, label in zip(
            rng.normal(size=150),
            rng.normal(size=150),
            rng.permutation(["p", "q"] * 75),
            strict=True,
        )
    ]
    write(tmp_path / "coin.csv", rows)
    settings = ("--target", "y", "--model", "linear,fixed", "--fits", "24", "--folds", "5")
    done = command("fit", "coin.csv", *settings, "--out", "out", cwd=tmp_path)
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert abs(found["measures"]["accuracy"]["value"] - 0.5) < 3 * 0.5 / np.sqrt(150)


def test_a_target_of_whole_numbers_and_rows_without_one(command, tmp_path):
    rows = [
        dict(row, state="" if i % 30 == 0 else int(row["state"] == SEVERE))
        for i, row in enumerate(pets())
    ]
    write(tmp_path / "pets.tsv", rows, delimiter="\t")
    done = command("fit", "pets.tsv", *FIT, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "tab-separated" in done.out
    assert "3 rows without a value of 'state' left out" in done.out
    loaded = protolearn.load(tmp_path / "protolearn-pets" / "model.protolearn")
    assert loaded.classes_.tolist() == [0, 1]
    numbers = [int(row["row"]) for row in read(tmp_path / "protolearn-pets" / "predictions.csv")]
    assert numbers == [i for i in range(1, 91) if i % 30 != 1]


def test_columns_by_hand(command, tmp_path):
    rows = [dict(row, code=i % 3) for i, row in enumerate(pets())]
    write(tmp_path / "pets.csv", rows)
    done = command(
        "fit", "pets.csv", *FIT, "--drop", "noise", "--keep", "number", "--categorical", "code",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert re.search(r"number +numbers from 1 to 90", done.out)
    assert re.search(r"code +3 categories: ", done.out)
    assert "noise" not in done.out


@pytest.mark.parametrize(
    ("name", "numbers", "left_out"),
    [
        ("patient_id", lambda i: 842302 + 17 * i, True),
        ("ID", lambda i: 100 - i, True),
        ("patient_id", lambda i: 842302 + i // 2, False),  # several visits
        ("id", lambda i: i + 0.5, False),
        ("lipid", lambda i: 100 - i, False),
        ("any", lambda i: i, True),  # counts the rows
        ("any", lambda i: "", True),  # no value
    ],
)
def test_columns_of_keys_are_left_out(tmp_path, name, numbers, left_out):
    rows = [{name: numbers(i), "other": i % 7, "y": i % 2} for i in range(20)]
    path = write(tmp_path / "keys.csv", rows)
    table = learning_table(read_table(path), "y")
    assert (name not in table.X.dtype.names) == left_out
    assert any(note.startswith(f"column {name!r} left out") for note in table.notes) == left_out
    assert name in learning_table(read_table(path), "y", keep=[name]).X.dtype.names


def test_a_built_in_set_by_name(command, tmp_path):
    (tmp_path / "iris").mkdir()
    done = command(
        "fit", "iris", "--model", "mean-of-class", "--fits", "2", "--folds", "2", cwd=tmp_path
    )
    assert done.code == 0, done.err
    assert "3 classes: setosa (50), versicolor (50), virginica (50)" in done.out
    assert done.out.splitlines()[-1] == "Open protolearn-iris/report.html to see everything."


def test_columns_that_are_points_of_a_picture(command, tmp_path):
    options = "--model", "mean-of-class", "--fits", "2", "--folds", "2", "--rows", "200"
    done = command("fit", "digits", *options, "--image", "8x8", cwd=tmp_path)
    assert done.code == 0, done.err
    page = (tmp_path / "protolearn-digits" / "report.html").read_text("utf-8")
    assert 'alt="7, as a picture"' in page


def test_a_large_table_is_drawn_from(command, tmp_path):
    write(tmp_path / "pets.csv", pets(400))
    done = command("fit", "pets.csv", *FIT, "--rows", "150", cwd=tmp_path)
    assert done.code == 0, done.err
    assert re.search(r"15\d rows of 400 sampled for fitting", done.out)
    found = json.loads((tmp_path / "protolearn-pets" / "metrics.json").read_text("utf-8"))
    assert found["rows_with_a_label"] == 400
    assert 149 <= found["rows"] <= 151


def test_when_time_is_short_fewer_folds_are_judged(command, tmp_path):
    write(tmp_path / "pets.csv", pets(60))
    done = command("fit", "pets.csv", "--target", "state", "--time", "1", cwd=tmp_path)
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "protolearn-pets" / "metrics.json").read_text("utf-8"))
    n_done = len(found["outer_folds"])
    assert 1 <= n_done <= found["outer_folds_planned"] == 5
    told = " ".join(done.out.split())
    assert (f"There was time for {n_done} of 5 folds" in told) == (n_done < 5)
