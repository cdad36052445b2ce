"""Learning from a folder of Parquet files, of which only some rows are ever held."""

import json
import re

import numpy as np
import pytest

from given_pets import FIT, pets, write
from protolearn.cli.failure import Failure
from protolearn.cli.training_rows import open_table
from protolearn.tables import read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def table(n_rows, seed=0):
    rng = np.random.RandomState(seed)
    y = np.where(rng.uniform(size=n_rows) < 0.1, "rare", "usual").astype(object)
    y[::50] = None
    return pa.table(
        {
            "number": np.arange(n_rows) + 1,
            "x": rng.normal(size=n_rows) + (y == "rare"),
            "colour": np.array(["red", "blue"])[rng.randint(2, size=n_rows)],
            "y": pa.array(y.tolist()),
        }
    )


@pytest.fixture
def places(tmp_path):
    """Give a file, and a folder that holds the same rows in parts."""
    whole = table(3000)
    pq.write_table(whole, tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for k, (first, last) in enumerate([(0, 700), (700, 700), (700, 1900), (1900, 3000)]):
        path = tmp_path / "parts" / f"{k}.parquet"
        pq.write_table(whole[first:last], path, row_group_size=400)
    return str(tmp_path / "whole.parquet"), str(tmp_path / "parts")


@pytest.mark.parametrize("rows", [0, 300, 2950, 5000])
def test_a_folder_is_learned_from_as_the_file_of_its_rows(places, rows):
    (one, a, n), (_, b, m) = (open_table(p, "y", rows=rows, seed=3) for p in places)
    assert n == m == 2940
    np.testing.assert_array_equal(a.y, b.y)
    np.testing.assert_array_equal(a.rows, b.rows)
    assert a.X.dtype == b.X.dtype
    assert a.X.tolist() == b.X.tolist()
    assert a.notes == b.notes
    assert "column 'number' left out: it numbers the rows" in b.notes[1]
    assert ("sampled" in b.notes[-1]) == (rows == 300)
    assert len(one.frame) == 3000


def test_drawn_rows_are_those_of_the_file_and_of_the_seed(places):
    file, folder = places
    whole = read_table(file).frame
    opened = open_table(folder, "y", rows=400, seed=1)
    found = opened.table
    assert len(opened.read.frame) == len(found.y)  # no other is held
    assert 400 <= len(found.y) <= 412  # of the rare ones 50
    assert whole["y"][found.rows - 1].tolist() == found.y.tolist()
    assert whole["x"][found.rows - 1].tolist() == found.X["x"].tolist()
    again, other = (open_table(folder, "y", rows=400, seed=s).table for s in (1, 2))
    assert again.rows.tolist() == found.rows.tolist() != other.rows.tolist()
    few = open_table(folder, "y", rows=100, seed=1).table
    assert (few.y == "rare").sum() == 50


def test_the_target_may_be_the_name_of_folders(tmp_path):
    whole = table(600).drop(["y"])
    for label in (0, 1, 10):
        path = tmp_path / "h" / f"label={label}" / "0.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(whole[label * 10 : label * 10 + 200], path)
    found = open_table(str(tmp_path / "h"), "label", rows=300).table
    assert found.y.dtype == np.int64
    assert np.unique(found.y, return_counts=True)[1].tolist() == [100, 100, 100]
    assert "label" not in found.X.dtype.names


def test_targets_that_are_no_classes(places, tmp_path):
    for target, message in (
        ("x", "is numeric: it holds .* different numbers"),
        ("z", "no column 'z'"),
        (None, "say with --target which column"),
    ):
        with pytest.raises(Failure, match=message):
            open_table(places[1], target, rows=100)
    with pytest.raises(Failure, match="no column 'w'"):
        open_table(places[1], "y", rows=100, drop=["w"])
    (tmp_path / "one").mkdir()
    pq.write_table(pa.table({"a": [1.0] * 9, "y": ["u"] * 9}), tmp_path / "one" / "0")
    with pytest.raises(Failure, match="is 'u' in every row"):
        open_table(str(tmp_path / "one"), "y", rows=5)


def test_fit_and_predict(command, tmp_path):
    whole = read_table(write(tmp_path / "pets.csv", pets(400))).frame
    (tmp_path / "herd").mkdir()
    columns = {name: whole[name].tolist() for name in whole.dtype.names}
    for k in range(4):
        part = pa.table(columns)[100 * k : 100 * (k + 1)]
        pq.write_table(part, tmp_path / "herd" / f"{k}.parquet")
    done = command("fit", "herd", *FIT, "--rows", "150", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "herd: a folder of 4 Parquet files, 400 rows, 6 columns" in done.out
    assert re.search(r"15\d rows of 400 sampled for fitting", done.out)
    found = json.loads((tmp_path / "protolearn-herd" / "metrics.json").read_text("utf-8"))
    assert found["rows_with_a_label"] == 400
    model = "protolearn-herd/model.protolearn"
    answers = command("predict", model, "herd", cwd=tmp_path)
    assert answers.code == 0, answers.err
    assert len(answers.out.splitlines()) == 401
    assert command("explain", model, "herd", "--row", "400", cwd=tmp_path).code == 0
    (tmp_path / "herd" / "note.txt").write_text("x")
    wrong = command("fit", "herd", *FIT, cwd=tmp_path)
    assert wrong.code == 2
    assert "'note.txt' in it is none" in wrong.sentence
