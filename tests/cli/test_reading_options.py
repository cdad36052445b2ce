"""Options that say how a table is read, and what ``predict`` writes beside its answers."""

import csv
import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import protolearn
from given_pets import FIT, pets, write
from protolearn.cli.learning_table import why_useless
from protolearn.tables import read_table, split_target, table_pipeline


def answers(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def named(command, tmp_path_factory):
    """Give a folder with a table without a header, and a model of it that knows the names."""
    folder = tmp_path_factory.mktemp("named")
    rows = [
        {**row, "number": f"p{i:03d}", "noise": "999" if i % 9 == 0 else row["noise"]}
        for i, row in enumerate(pets())
    ]
    write(folder / "pets.csv", rows)
    text = (folder / "pets.csv").read_text("utf-8").split("\n", 1)[1]
    (folder / "bare.csv").write_text(text, "utf-8")
    names = "who,weight,colour,born,noise,state"
    options = ["--names", names, "--target", "last", "--id", "who", "--missing", "noise=999"]
    done = command("fit", "bare.csv", *options, *FIT[2:], "--out", "results", cwd=folder)
    assert done.code == 0, done.err
    return folder, done, names


def test_names_target_id_and_missing(named):
    folder, done, _ = named
    assert "no header" not in done.out
    notes = protolearn.io.describe(folder / "results" / "model.protolearn").notes
    assert notes["columns"] == ["weight", "colour", "born", "noise"]
    assert notes["target"] == "state"
    assert notes["id"] == ["who"]
    model = protolearn.load(folder / "results" / "model.protolearn")
    noise = model[0].columns_[3]
    assert noise.n_missing == 10
    assert noise.high < 10


def test_predict_writes_rows_ids_and_columns(command, named):
    folder, _, names = named
    done = command("predict", "results/model.protolearn", "bare.csv", "--names", names, cwd=folder)
    assert done.code == 0, done.err
    rows = answers(done.out)
    assert list(rows[0])[:3] == ["row", "who", "label"]
    assert [row["who"] for row in rows] == [f"p{i:03d}" for i in range(90)]
    assert "90 of 90 rows are among the training rows" in done.err
    options = ["--names", names, "--keep"]
    done = command("predict", "results/model.protolearn", "bare.csv", *options, cwd=folder)
    kept = answers(done.out)
    assert list(kept[0])[-5:] == ["weight", "colour", "born", "noise", "state"]
    given = pd.read_csv(folder / "pets.csv", na_values=["999"])
    assert [row["colour"] for row in kept] == given["colour"].fillna("").tolist()
    assert [row["born"] for row in kept] == given["born"].fillna("").tolist()
    weight = [float(row["weight"] or "nan") for row in kept]
    np.testing.assert_array_equal(weight, given["weight <b>kg</b>"])


def test_labels_that_are_truth_values_stay_words(command, tmp_path):
    rows = [{**row, "state": "yes" if "mild" in row["state"] else "no"} for row in pets()]
    write(tmp_path / "pets.csv", rows)
    done = command("fit", "pets.csv", "--target", "state", *FIT[2:], "--out", "out", cwd=tmp_path)
    assert done.code == 0, done.err
    done = command("predict", "out/model.protolearn", "pets.csv", "--keep", cwd=tmp_path)
    assert [row["state"] for row in answers(done.out)] == [row["state"] for row in rows]
    command_line = "report", "out/model.protolearn", "pets.csv", "-o", "again.html"
    done = command(*command_line, cwd=tmp_path)
    assert done.code == 0, done.err


def test_a_table_without_the_names_of_rows(command, named):
    folder, _, _ = named
    new = [{**row, "weight": row["weight <b>kg</b>"], "noise": "0.25"} for row in pets(9, seed=5)]
    write(folder / "new.csv", new, names=["weight", "colour", "born", "noise"])
    done = command("predict", "results/model.protolearn", "new.csv", cwd=folder)
    assert done.code == 0, done.err
    assert list(answers(done.out)[0])[:2] == ["row", "label"]
    assert "training rows" not in done.err
    asked = command("predict", "results/model.protolearn", "new.csv", "--id", "who", cwd=folder)
    assert asked.code == 2
    assert "has no column 'who'" in asked.sentence


def test_strict_and_memory(command, named):
    folder, _, _ = named
    done = command("fit", "bare.csv", "--target", "last", "--strict", cwd=folder)
    assert done.code == 2
    assert "something would have to be assumed: no header" in done.sentence
    done = command("fit", "pets.csv", "--target", "state", "--memory", "1kB", cwd=folder)
    assert done.code == 2
    assert "of memory as a table, more than the 1 kB that are allowed" in done.sentence
    done = command("fit", "pets.csv", "--target", "state", "--memory", "much", cwd=folder)
    assert done.code == 2
    assert "--memory='much' is not a size" in done.sentence


FORMATS = {
    "upper.csv": lambda frame, path: frame.to_csv(path, index=False),
    "lower.csv": lambda frame, path: path.write_text(
        frame.to_csv(index=False).replace("True", "true").replace("False", "false")
    ),
    "commas.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    "table.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "table.csv.zst": lambda frame, path: path.write_bytes(
        pa.compress(frame.to_csv(index=False).encode(), codec="zstd", asbytes=True)
    ),
    "table.parquet": lambda frame, path: frame.to_parquet(path),
    "table.feather": lambda frame, path: frame.to_feather(path),
    "table.jsonl": lambda frame, path: frame.to_json(
        path, orient="records", lines=True, date_format="iso"
    ),
    "table.xlsx": lambda frame, path: frame.to_excel(path, index=False),
}


@pytest.fixture(scope="module")
def mixed():
    """Give a table with all kinds of columns, and missing values in each."""
    rng, n = np.random.RandomState(0), 60
    tame = rng.rand(n) < 0.5
    frame = pd.DataFrame(
        {
            "size": (rng.normal(size=n) + tame).round(3),
            "legs": pd.array(rng.randint(2, 5, n), dtype="Int64"),
            "tame": pd.array(tame, dtype="boolean"),
            "colour": pd.Series(rng.choice(["red", "blue", "grün"], n), dtype=object),
            "seen": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.randint(900, size=n), "D"),
            "kind": np.where(tame ^ (rng.rand(n) < 0.1), "dog", "cat"),
        }
    )
    for name in frame.columns[:-1]:
        frame.loc[rng.choice(n, 4), name] = None
    return frame


@pytest.mark.parametrize("name", FORMATS)
def test_all_formats_give_the_same_table_and_the_same_answers(mixed, tmp_path, name):
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
        pytest.importorskip("python_calamine")
    tables = {}
    for one in dict.fromkeys(["table.parquet", name]):
        FORMATS[one](mixed, tmp_path / one)
        tables[one] = read_table(tmp_path / one)
    first, other = tables["table.parquet"].frame, tables[name].frame
    assert first.dtype == other.dtype
    for column in first.dtype.names:
        np.testing.assert_array_equal(first[column], other[column])
    X, y = split_target(first, "kind")
    model = table_pipeline(protolearn.GLVQ(random_state=0), X).fit(X, y)
    np.testing.assert_array_equal(model.predict(first), model.predict(other))
    texts = read_table(tmp_path / name, kinds=dict.fromkeys(["legs", "tame"], "category")).frame
    assert set(texts["tame"]) == {"true", "false", None}
    assert set(texts["legs"]) == {"2", "3", "4", None}


def test_standard_input(named):
    folder, _, _ = named
    rows = [{**row, "weight": row["weight <b>kg</b>"]} for row in pets(9, seed=5)]
    path = write(folder / "stream.csv", rows, names=["weight", "colour", "born", "noise"])
    program = "from protolearn.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", program, "predict", "results/model.protolearn", "-"],
        input=path.read_bytes(),
        cwd=folder,
        capture_output=True,
        check=True,
    )
    assert len(answers(done.stdout.decode())) == 9


def test_text_is_learned_from_and_keys_are_not(command, tmp_path):
    rng = np.random.RandomState(0)
    words = {"good": ["friendly", "quick", "helpful"], "bad": ["slow", "broken", "rude"]}
    lines = ["key,review,mood"]
    for i in range(80):
        mood = ["good", "bad"][i % 2]
        one, other = rng.choice(words[mood], 2)
        lines.append(f"k{i}x,the service was {one} and {other} {rng.randint(10**6)},{mood}")
    (tmp_path / "reviews.csv").write_text("\n".join(lines) + "\n")
    options = "--target", "mood", "--fits", "20", "--folds", "2", "--model", "linear"
    done = command("fit", "reviews.csv", *options, "--out", "results", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "column 'key' left out: 80 distinct texts" in done.out
    assert "column 'review' left out" not in done.out
    assert protolearn.load(tmp_path / "results" / "model.protolearn")[0].columns_[0].kind == "text"
    explain = command(
        "explain", "results/model.protolearn", "reviews.csv", "--row", "1", cwd=tmp_path
    )
    assert explain.code == 0, explain.err
    (line,) = [one for one in explain.out.splitlines() if one.startswith("Words of review")]
    good = line.partition("speak for good: ")[2].partition(";")[0]
    assert {one.strip(" .") for one in good.split(",")} <= {*words["good"]}
    done = command("predict", "results/model.protolearn", "reviews.csv", cwd=tmp_path)
    moods = [row["label"] for row in answers(done.out)]
    assert moods == ["good", "bad"] * 40


def test_columns_of_many_categories_are_left_out_only_if_most_are_rare():
    rows = np.arange(400)
    often = np.array([f"t{i % 20}" if i % 4 else f"rare {i}" for i in rows], dtype=object)
    keys = np.array([f"k{i // 2}" for i in rows], dtype=object)
    assert len(set(often)) > 100
    assert why_useless("town", often, rows) == ""
    assert why_useless("key", keys, rows) == "200 distinct texts, such as names or keys"
