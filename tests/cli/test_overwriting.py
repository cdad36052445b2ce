"""No command overwrites what it reads, or a file that it is not told to overwrite."""

import json
import os
import shutil
import subprocess
import sys
import threading

import pytest

from given_pets import FIT, pets, write
from protolearn.cli import fit_files
from protolearn.cli.failure import Failure
from protolearn.cli.output_checks import check_results


@pytest.fixture
def folder(fitted, tmp_path):
    """Give a folder with a table and a model."""
    shutil.copy(fitted[0] / "pets.csv", tmp_path / "pets.csv")
    shutil.copy(fitted[0] / "results" / "model.protolearn", tmp_path / "m.protolearn")
    return tmp_path


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def check_refused(done, folder, before, part):
    assert done.code == 2, done
    assert part in done.sentence
    assert state(folder) == before


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "args",
    [
        ["predict", "m.protolearn", "pets.csv", "-o", "pets.csv"],
        ["predict", "m.protolearn", "pets.csv", "-o", "m.protolearn"],
        ["predict", "m.protolearn", "pets.csv", "-o", "symbolic"],
        ["predict", "m.protolearn", "pets.csv", "-o", "hard"],
        ["predict", "m.protolearn", "symbolic", "-o", "hard"],
        ["export", "m.protolearn", "-o", "m.protolearn"],
        ["fit", "predictions.csv", *FIT, "--out", "."],
        ["fit", "symbolic", *FIT, "--out", "."],
        ["compare", "comparison.csv", "--target", "state", "--out", "."],
    ],
)
def test_what_is_read_is_not_written(command, folder, args, force):
    os.symlink("pets.csv", folder / "symbolic")
    for name in ("hard", "predictions.csv", "comparison.csv"):
        os.link(folder / "pets.csv", folder / name)
    before = state(folder)
    check_refused(
        command(*args, *force, cwd=folder), folder, before, "is the input of this command"
    )


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["predict", "m.protolearn", "pets.csv", "-o", "mine"], "mine"),
        (["export", "m.protolearn"], "m.onnx"),
        (["compare", "pets.csv", "--target", "state", "--out", "."], "comparison.png"),
        (["demo", "--out", "."], "wdbc.csv"),
        (["demo", "--out", "."], "answers.csv"),
    ],
)
def test_files_that_are_there_are_not_overwritten(command, folder, args, name):
    (folder / name).write_text("mine")
    before = state(folder)
    check_refused(command(*args, cwd=folder), folder, before, f"'{name}' exists")


def test_force_overwrites(command, folder):
    (folder / "mine").write_text("mine")
    predict = ("predict", "m.protolearn", "pets.csv", "-o", "mine", "--force")
    assert command(*predict, cwd=folder).code == 0
    assert (folder / "mine").read_text("utf-8").startswith("row,label,")


@pytest.mark.parametrize("name", ["model.protolearn", "predictions.csv", "report.html"])
def test_a_folder_of_others_is_not_taken_for_results(command, folder, name):
    (folder / "out").mkdir()
    (folder / "out" / name).write_text("mine")
    (folder / "out" / "metrics.json").write_text('{"model": "of another program"}')
    before = state(folder / "out")
    done = command("fit", "pets.csv", *FIT, "--out", "out", cwd=folder)
    check_refused(done, folder / "out", before, "but no results of this command")
    done = command("reproduce", "crammer-fig4", "--quick", "--out", "out", cwd=folder)
    check_refused(done, folder / "out", before, "but no results of this command")


def test_results_of_a_fit_may_be_replaced(fitted):
    check_results(fitted[0] / "results", fit_files.FILES, str(fitted[0] / "pets.csv"), False)
    with pytest.raises(Failure, match="is the input of this command"):
        check_results(fitted[0] / "results", ["model.protolearn"], str(fitted[0] / "results"), True)


def test_results_of_a_killed_process_are_completed(command, fitted, folder):
    """The process was killed when it had moved the old files away and two of the new ones in."""
    out, new = folder / "out", fitted[0] / "results"
    (out / ".old-0123").mkdir(parents=True)
    (out / ".new-0123").mkdir()
    for name in fit_files.FILES:
        (out / ".old-0123" / name).write_text("old")
        where = out if name in ("metrics.json", "predictions.csv") else out / ".new-0123"
        (where / name).write_bytes((new / name).read_bytes())
    done = command("explain", "out/model.protolearn", "pets.csv", cwd=folder)
    assert done.code == 0, done.err
    assert state(out) == state(new)


def test_an_error_in_the_last_file_leaves_all_old_results(command, folder, monkeypatch):
    fit = ("fit", "pets.csv", *FIT, "--out", "out")
    assert command(*fit, cwd=folder).code == 0
    (folder / "out" / "notes.txt").write_text("mine")
    before = state(folder / "out")
    code = f"""
import sys
from protolearn.cli import app, fit_files
def full(*args):
    raise OSError(28, "No space left on device")
fit_files.write_page = full
sys.argv = ["protolearn", *{fit!r}, "--seed", "1"]
app()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 1
    assert done.stderr.endswith("protolearn fit: failed: [Errno 28] No space left on device\n")
    assert state(folder / "out") == before
    left = [path.name for path in (folder / "out").iterdir() if path.name.startswith(".")]
    assert all(name.startswith(".unfinished-") for name in left)
    assert command(*fit, "--seed", "1", cwd=folder).code == 0
    after = state(folder / "out")
    assert after.keys() == before.keys()
    assert after["notes.txt"] == b"mine"
    assert json.loads(after["metrics.json"])["seed"] == 1


def test_pipes_are_written_to(command, folder):
    pipe, got = folder / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text("utf-8")))
    reader.start()
    predict = ("predict", "m.protolearn", "pets.csv", "-o")
    assert command(*predict, "pipe", cwd=folder).code == 0
    reader.join()
    done = command(*predict, "/dev/stdout", cwd=folder)
    assert done.code == 0, done.err
    assert got == [done.out]
    assert len(done.out.splitlines()) == 91


def test_a_table_that_looks_like_a_set(command, tmp_path):
    """The folder of a built-in set's name holds results, no input."""
    (tmp_path / "iris").mkdir()
    (tmp_path / "iris" / "report.html").write_text("mine")
    done = command("fit", "iris", "--out", "iris", cwd=tmp_path)
    assert "but no results of this command" in done.sentence


def test_parquet_files_of_a_folder_are_read(command, folder):
    (folder / "sales").mkdir()
    write(folder / "sales" / "part.parquet", pets(3))
    done = command("predict", "m.protolearn", "sales", "-o", "sales/part.parquet", cwd=folder)
    assert "is the input of this command" in done.sentence
