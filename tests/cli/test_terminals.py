"""Whatever the terminal and the names are: no traceback, no control sequence, no half file."""

import csv
import json
import os
import subprocess
import sys

import pytest

from given_command import PROTOLEARN
from given_pets import FIT, pets, write
from protolearn.cli.command_output import spreadsheet_lines
from protolearn.cli.failure import escape_controls

EVIL = "\x1b[31mred\x9b2J\u202e"
FORMULA = "=1+1"


def shell(line, cwd, **env):
    """Run a line of a shell in which $P is the command; give the code and the error stream."""
    env = {**os.environ, "P": PROTOLEARN, **env}
    run = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(run, capture_output=True, cwd=cwd, env=env, timeout=300)
    return done.returncode, done.stderr.decode("ascii", "backslashreplace")


PREDICT = "$P predict results/model.protolearn pets.csv"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (f"{PREDICT} | head -0", "the output was closed"),
        ("$P explain results/model.protolearn pets.csv | head -0", "the output was closed"),
        (f"{PREDICT} >&-", "standard output is closed"),
        (f"{PREDICT} > /dev/full", "No space left on device"),
    ],
)
def test_output_that_cannot_be_written(fitted, line, sentence):
    code, err = shell(line, fitted[0])
    assert code == 1
    (only,) = err.splitlines()
    assert sentence in only


def test_a_closed_error_stream(fitted):
    assert shell(f"{PREDICT} 2>&-", fitted[0])[0] == 0


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_terminals_without_unicode(fitted, encoding):
    for line in ("$P explain results/model.protolearn pets.csv", "$P --help"):
        assert shell(line, fitted[0], PYTHONIOENCODING=encoding) == (0, "")


def test_a_terminal_of_no_width(command, fitted):
    explain = ("explain", "results/model.protolearn", "pets.csv")
    done = command(*explain, cwd=fitted[0], env={"COLUMNS": "0"})
    assert done.out == command(*explain, cwd=fitted[0], env={"COLUMNS": "80"}).out


def test_a_pipe_is_no_model(command, fitted, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for args in (["predict", "pipe", fitted[0] / "pets.csv"], ["export", "pipe"]):
        done = command(*args, cwd=tmp_path)
        assert done.code == 2
        assert "'pipe' is a pipe or a device; save the model to a file first" in done.sentence


def test_control_c_while_modules_are_imported(tmp_path):
    """The moment is that of the import of numpy, which comes first."""
    (tmp_path / "numpy.py").write_text("import os; os.kill(os.getpid(), 2)")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    code, err = shell("$P datasets", tmp_path, PYTHONPATH=path)
    assert (code, err) == (1, "protolearn: stopped before it began.\n")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_drafts_are_removed_after_signals(tmp_path, name):
    code = f"""
import os, signal
from protolearn._files import replacing, replacing_files
from protolearn.cli.failure import report_errors
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
with report_errors("fit"), replacing("a.txt") as draft, replacing_files(".") as drafts:
    (drafts / "b.txt").touch()
    os.kill(os.getpid(), signal.{name})
    import time; time.sleep(60)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path)
    assert b"protolearn fit: stopped." in done.stderr
    assert done.returncode == 1
    assert not list(tmp_path.iterdir())


def test_nohup_is_respected(tmp_path):
    code = """
import os, signal
from protolearn.cli.failure import report_errors
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with report_errors("fit"):
    os.kill(os.getpid(), signal.SIGHUP)
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == 0


@pytest.fixture(scope="module")
def strange(command, tmp_path_factory):
    """Give a folder with a table of strange labels and names, and what fit has printed."""
    folder = tmp_path_factory.mktemp("strange")
    labels = dict(zip(sorted({row["state"] for row in pets()}), (FORMULA, EVIL), strict=True))
    rows = [{**row, "state": labels[row["state"]]} for row in pets()]
    rows = [{EVIL if key == "noise" else key: value for key, value in row.items()} for row in rows]
    name = os.fsdecode(b"caf\xe9.csv")
    write(folder / name, rows)
    done = command("fit", name, *FIT, "--raw", "--out", "raw", cwd=folder)
    assert done.code == 0, done.err
    done = command("fit", name, *FIT, cwd=folder)
    assert done.code == 0, done.err
    return folder, name, os.fsdecode(b"protolearn-caf\xe9"), done


def is_plain(text):
    return escape_controls(text) == text


def test_control_characters_are_escaped_in_what_is_printed(command, strange):
    folder, name, out, done = strange
    assert is_plain(done.out + done.err)
    assert "\\x1b[31mred\\x9b2J\\u202e" in done.out
    model = f"{out}/model.protolearn"
    for args in (
        ["explain", model, name],
        ["compare", name, "--target", "state", "--models", "knn", "--folds", "2"],
        ["explain", model, name, "--to", EVIL + "?"],
        ["fit", name, "--target", EVIL + "?"],
        ["predict", f"{EVIL}.protolearn", name],
    ):
        done = command(*args, cwd=folder)
        assert is_plain(done.out + done.err)
        assert "Traceback" not in done.err


def test_names_that_are_not_utf_8(command, strange):
    folder, name, out, done = strange
    assert "caf\\udce9.csv" in done.out
    metrics = json.loads((folder / out / "metrics.json").read_text("utf-8"))
    assert metrics["data"].startswith(name)
    assert EVIL in metrics["classes"]
    assert (folder / out / "report.html").read_text("utf-8")
    model, answers = f"{out}/model.protolearn", os.fsdecode(b"r\xe9sultat.csv")
    done = command("predict", model, name, "-o", answers, cwd=folder)
    assert done.code == 0, done.err
    assert "r\\udce9sultat.csv" in done.err
    done = command(
        "compare", name, "--target", "state", "--models", "knn", "--out", out, cwd=folder
    )
    assert done.code == 0, done.err
    done = command("fit", name, "--target", os.fsdecode(b"\xe9tat"), cwd=folder)
    assert done.code == 2
    assert "\\udce9tat" in done.sentence


def test_labels_like_formulas(command, strange):
    folder, name, out, _ = strange

    def labels(path, column):
        with path.open(newline="", encoding="utf-8") as file:
            return {row[column] for row in csv.DictReader(file)}

    assert labels(folder / out / "predictions.csv", "true") == {f"'{FORMULA}", EVIL}
    assert labels(folder / "raw" / "predictions.csv", "true") == {FORMULA, EVIL}
    predict = ("predict", "raw/model.protolearn", name, "-o")
    assert command(*predict, "plain.csv", cwd=folder).code == 0
    assert command(*predict, "raw.csv", "--raw", cwd=folder).code == 0
    assert f"'{FORMULA}" in labels(folder / "plain.csv", "label")
    assert FORMULA in labels(folder / "raw.csv", "label")


def test_numbers_are_no_formulas():
    numbers = ["-1", "+2.5", "-1e-05", "-.5", "-inf", -3, 1.5, "", None]
    texts = ["=A1", "+A1", "-A1", "@A1", "\tA", "\rA", "-1+2", "-1\n"]
    assert list(spreadsheet_lines([numbers], raw=False)) == [numbers]
    assert list(spreadsheet_lines([texts], raw=False)) == [[f"'{text}" for text in texts]]
    assert list(spreadsheet_lines([texts], raw=True)) == [texts]
    assert list(spreadsheet_lines([[EVIL]], raw=True, terminal=True)) == [[escape_controls(EVIL)]]


@pytest.mark.parametrize(
    "args",
    [
        [f"--{EVIL}"],
        [EVIL],
        ["fit", "iris", f"--{EVIL}"],
        ["fit", "iris", EVIL],
        ["fit", "iris", "--folds", EVIL],
        ["fit", "iris", "--engine", EVIL],
        ["compare", f"-{EVIL}"],
    ],
)
def test_usage_errors_repeat_arguments_without_control_characters(command, tmp_path, args):
    done = command(*args, cwd=tmp_path)
    assert done.code == 2
    assert is_plain(done.out + done.err)
    assert "--help" in done.err


NOT_UTF_8 = b"gewicht_\xe9\x81", b"gr\xf6\xdfe"
"""Names of columns in Latin-1, with a byte that no character of Windows has."""


@pytest.fixture(scope="module")
def latin(command, tmp_path_factory):
    """Give a folder with a table whose names and labels are not UTF-8, and a model of it."""
    folder = tmp_path_factory.mktemp("latin")
    rows = [b",".join([*NOT_UTF_8, b"\xe9tat"])]
    rows += [b"%d,%d,%s" % (i % 7, i % 5, b"r\xe9" if i % 7 > 3 else b"bon") for i in range(60)]
    (folder / "latin.csv").write_bytes(b"\n".join(rows))
    fit = ("fit", "latin.csv", "--target", "état", "--model", "glvq", "--fits", "3", "--folds", "2")
    done = command(*fit, "--out", "out", cwd=folder)
    assert done.code == 0, done.err
    return folder, done


def test_names_of_columns_that_are_not_utf_8(command, latin):
    folder, done = latin
    names = [name.decode("latin-1") for name in NOT_UTF_8]
    assert is_plain(done.out + done.err)
    metrics = json.loads((folder / "out" / "metrics.json").read_text("utf-8"))
    assert metrics["columns"] == names
    assert sorted(metrics["classes"]) == ["bon", "ré"]
    assert names[1] in (folder / "out" / "report.html").read_text("utf-8")
    done = command("predict", "out/model.protolearn", "latin.csv", cwd=folder)
    assert done.code == 0, done.err
    assert {line.split(",")[1] for line in done.out.splitlines()[1:]} == {"bon", "ré"}
    done = command("explain", "out/model.protolearn", "latin.csv", cwd=folder)
    assert done.code == 0, done.err
    assert is_plain(done.out)
    assert "gewicht_é\\x81" in done.out


def test_names_of_graphs_that_are_not_utf_8(command, latin):
    onnx = pytest.importorskip("onnx", reason="ONNX is optional: pip install 'protolearn[onnx]'")
    folder, _ = latin
    copy, graph = os.fsdecode(b"mod\xe8le.protolearn"), os.fsdecode(b"mod\xe8le.onnx")
    (folder / copy).write_bytes((folder / "out" / "model.protolearn").read_bytes())
    for args in ([copy], ["out/model.protolearn", "-o", graph, "--force"]):
        done = command("export", *args, cwd=folder)
        assert done.code == 0, done.err
        assert is_plain(done.err)
        told = {each.key: each.value for each in onnx.load(folder / graph).metadata_props}
        assert json.loads(told["feature_names"]) == [one.decode("latin-1") for one in NOT_UTF_8]
