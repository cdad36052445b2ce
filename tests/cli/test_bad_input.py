"""Whatever is wrong with the input: one clear sentence, the right code, nothing written."""

import gzip
import pickle
import shutil

import pytest

from given_pets import MILD, pets, write

ROWS = pets(30)


def changed(**columns):
    """Give the rows with other values, by functions of the number of the row."""
    return [{**row, **{k: f(i) for k, f in columns.items()}} for i, row in enumerate(ROWS)]


TABLES = {
    "one class": (
        lambda path: write(path, changed(state=lambda i: "mild")),
        "the target 'state' is 'mild' in every row; expected two classes or more",
    ),
    "empty file": (lambda path: path.write_bytes(b""), "'bad.csv' is empty; expected"),
    "header alone": (
        lambda path: path.write_text("weight,state\n"),
        "'bad.csv' has names of columns, but no rows",
    ),
    "binary junk": (
        lambda path: path.write_bytes(bytes(range(256)) * 50),
        "'bad.csv' is binary data, not a table",
    ),
    "packed junk": (
        lambda path: path.write_bytes(gzip.compress(bytes(range(10, 250)) * 99)[:-20]),
        "gzip file",
    ),
    "no label": (
        lambda path: write(path, changed(state=lambda i: "")),
        "no row has a value of 'state'",
    ),
    "a row too short": (
        lambda path: path.write_text("a,b,state\n1,2,x\n1,y\n" + "2,3,y\n" * 9),
        "has 2 cells in row 2",
    ),
    "numbers as target": (
        lambda path: write(path, changed(state=lambda i: f"{i / 7:.3f}")),
        "is numeric: it holds 30 different numbers",
    ),
    "nothing to learn from": (
        lambda path: write(path, ROWS, names=["state"]),
        "there is no column other than 'state'",
    ),
}


def check(done, name, *parts):
    assert done.code == 2, done
    assert done.sentence.startswith(f"protolearn {name}: ")
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.sentence


@pytest.mark.parametrize("what", TABLES)
@pytest.mark.parametrize("name", ["fit", "compare"])
def test_bad_tables(command, tmp_path, name, what):
    make, message = TABLES[what]
    make(tmp_path / "bad.csv")
    before = sorted(tmp_path.iterdir())
    done = command(name, "bad.csv", "--target", "state", cwd=tmp_path)
    check(done, name, message)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.csv", "--target", "state"], "there is no file 'nowhere.csv'"),
        (["nothing", "--target", "state"], "'nothing' is neither a file nor a built-in set"),
        ([".", "--target", "state"], "'.' is a folder"),
        (["pets.csv", "--target", "stat"], "has no column 'stat'. Did you mean 'state'?"),
        (["pets.csv"], "name the column to predict with --target: number, weight"),
        (["pets.csv", "--target", "state", "--drop", "x"], "the table has no column 'x'"),
        (
            ["pets.csv", "--target", "state", "--model", "glqv"],
            "there is no model 'glqv'. Did you mean 'glvq'",
        ),
        (["pets.csv", "--target", "state", "--out", "pets.csv"], "is a file; expected a folder"),
        (["pets.csv", "--target", "born"], "'born'"),
        (["pets.csv", "--target", "state", "--image", "2-2"], "'2-2' is not a shape; expected"),
        (
            ["pets.csv", "--target", "state", "--image", "2x3"],
            "--image 2x3 has 6 points, and the table has 4 columns to learn from",
        ),
        (
            ["pets.csv", "--target", "state", "--image", "2x2"],
            "--image needs numbers, but column 'colour' has none",
        ),
    ],
)
def test_bad_usage_of_fit(command, tmp_path, args, message):
    write(tmp_path / "pets.csv", ROWS)
    done = command("fit", *args, cwd=tmp_path)
    check(done, "fit", message)
    assert [path.name for path in tmp_path.iterdir() if path.name != "protolearn-pets"] == [
        "pets.csv"
    ]


@pytest.mark.parametrize(
    "option", [["--time", "0"], ["--folds", "1"], ["--nothing"], ["--seed", "x"]]
)
def test_bad_options(command, tmp_path, option):
    done = command("fit", "iris", *option, cwd=tmp_path)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert option[0] in done.err


@pytest.mark.parametrize("name", ["predict", "explain"])
def test_columns_that_a_model_needs(command, fitted, tmp_path, name):
    model = fitted[0] / "results" / "model.protolearn"
    write(tmp_path / "short.csv", ROWS, names=["number", "noise", "born"])
    check(command(name, model, "short.csv", cwd=tmp_path), name, "'short.csv' has no column")
    write(tmp_path / "text.csv", changed(noise=lambda i: "low" if i >= 3 else i))
    message = "Column 'noise' is to hold numbers, but row 4 (line 5) has 'low'"
    check(command(name, model, "text.csv", cwd=tmp_path), name, message)


@pytest.mark.parametrize("name", ["predict", "explain"])
def test_files_that_are_no_models(command, fitted, tmp_path, name):
    write(tmp_path / "pets.csv", ROWS)
    whole = (fitted[0] / "results" / "model.protolearn").read_bytes()
    for file, content, message in (
        ("pets.csv", None, "'pets.csv' is not a model of protolearn: it looks like text"),
        ("empty", b"", "it is empty"),
        ("pickled", pickle.dumps({"a": MILD}), "it looks like a pickle"),
        ("cut", whole[:-1000], "'cut' is damaged"),
        ("altered", whole[:5000] + b"x" + whole[5001:], "'altered' is damaged"),
        ("nowhere", None, "no file 'nowhere'"),
    ):
        if content is not None:
            (tmp_path / file).write_bytes(content)
        check(command(name, file, "pets.csv", cwd=tmp_path), name, message)


def test_answers_are_not_written_over_a_folder(command, fitted, tmp_path):
    model = fitted[0] / "results" / "model.protolearn"
    done = command("predict", model, fitted[0] / "pets.csv", "-o", ".", cwd=tmp_path)
    check(done, "predict", "'.' is a folder; expected the name of a file")


def test_bad_rows_leave_an_earlier_file_of_answers_alone(command, fitted, tmp_path):
    model = fitted[0] / "results" / "model.protolearn"
    (tmp_path / "answers.csv").write_text("mine")
    write(tmp_path / "text.csv", changed(noise=lambda i: "low" if i == 3 else i))
    done = command("predict", model, "text.csv", "-o", "answers.csv", cwd=tmp_path)
    assert done.code == 2
    assert (tmp_path / "answers.csv").read_text() == "mine"


def test_no_permission(command, fitted, tmp_path):
    if shutil.os.geteuid() == 0:
        pytest.skip("nothing is forbidden to root")
    (tmp_path / "closed").mkdir(mode=0o500)
    done = command("fit", "iris", "--out", "closed/in", cwd=tmp_path)
    check(done, "fit", "cannot be written: Permission denied")
