"""A command that is stopped in the middle, and what becomes of its work."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from given_command import PROTOLEARN, started
from given_pets import pets, write
from given_profile import long_test
from protolearn.cli.failure import Failure
from protolearn.cli.unfinished import Unfinished

FIT = ("fit", "pets.csv", "--target", "state", "--model", "linear,fixed", "--fits", "60")
FIT += ("--folds", "3", "--out", "out")
GOING_ON = "Continuing an interrupted run."
PATIENCE = 120.0
"""Seconds after which something is wrong."""


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "pets.csv", pets(60))
    return tmp_path


@pytest.fixture(scope="module")
def undisturbed(command, tmp_path_factory):
    """Give the predictions of a run that nobody stops."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write(folder / "pets.csv", pets(60))
    done = command(*FIT, cwd=folder)
    assert done.code == 0, done.err
    return (folder / "out" / "predictions.csv").read_text("utf-8")


def test_parts_that_are_damaged_are_done_again(tmp_path):
    known_by = {"rows": np.arange(3), "seed": 1}
    for number in range(3):
        Unfinished(tmp_path, known_by).add(f"fold-{number}", {"scores": [number / 3]})
    again = Unfinished(tmp_path, known_by)
    assert again.resumed
    assert [again.get(part) for part in again] == [{"scores": [n / 3]} for n in range(3)]
    assert again.load_model("all") is None
    with pytest.raises(Failure, match="the same command is already running on"):
        Unfinished(tmp_path, known_by)
    again.close()
    again.path.write_bytes(again.path.read_bytes().replace(b"fold-1", b"fold-7"))
    with pytest.warns(RuntimeWarning, match="parts.jsonl' is damaged; its fits are repeated"):
        assert len(Unfinished(tmp_path, known_by)) == 0
    other = Unfinished(tmp_path, {**known_by, "seed": 2})
    assert not other.resumed
    again.remove()
    assert [path.name for path in tmp_path.iterdir()] == [other.folder.name]


def test_a_damaged_search_starts_again(command, folder, undisturbed):
    """A run is stopped when the model is there and a fold is judged; then its files are damaged."""
    code = f"""
import sys
from protolearn.cli import app, fit_files, unfinished
def stopped(*args):
    raise KeyboardInterrupt
unfinished.Unfinished.save_model = stopped
sys.argv = ["protolearn", *{FIT!r}]
app()
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=folder)
    (path,) = (folder / "out").glob(".unfinished-*/all.search.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) > 3
    path.write_bytes(b"".join([lines[0], lines[1][:-9], *lines[2:]]))
    (folder / "out" / "mine.search.jsonl").write_text("mine")
    done = command(*FIT, cwd=folder)
    assert done.code == 0, done.err
    assert done.err.count("all.search.jsonl' is damaged; its fits are repeated.") == 1
    assert (folder / "out" / "predictions.csv").read_text("utf-8") == undisturbed
    assert (folder / "out" / "mine.search.jsonl").read_text() == "mine"


def wait_until(there):
    end = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < end
        time.sleep(0.01)


def judging(folder):
    """Tell whether the model is there and the first fold is being judged."""
    return any((folder / "out").glob(".unfinished-*/fold-1.search.jsonl"))


def check_left(folder):
    """Check that nothing is there but the folder of unfinished work, and that this is whole."""
    (left,) = (folder / "out").iterdir()
    assert left.name.startswith(".unfinished-")
    for path in left.glob("[!.]*.jsonl"):
        for line in path.read_text("utf-8").splitlines(keepends=True)[:-1]:
            json.loads(line)
    return left


def check_goes_on(command, folder, undisturbed):
    done = command(*FIT, cwd=folder)
    assert done.code == 0, done.err
    assert GOING_ON in done.err
    assert (folder / "out" / "predictions.csv").read_text("utf-8") == undisturbed
    assert not any((folder / "out").glob(".*"))


@long_test
def test_killed(command, folder, undisturbed):
    process = started(*FIT, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: judging(folder))
    process.kill()
    assert process.wait() == -signal.SIGKILL
    check_left(folder)
    check_goes_on(command, folder, undisturbed)


def in_terminal(folder):
    """Start the command in a terminal of its own; give its number and the terminal."""
    number, terminal = pty.fork()
    if not number:
        os.chdir(folder)
        os.environ["TERM"] = "xterm"
        os.execv(PROTOLEARN, [PROTOLEARN, *FIT])
    return number, terminal


def shown(terminal, until):
    """Read what a terminal shows, up to a text or to the end."""
    text = ""
    while until is None or until not in text:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # its program has ended
            piece = b""
        if not piece:
            break
        text += piece.decode("utf-8", "replace")
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text)


@long_test
def test_control_c_in_a_terminal(command, folder, undisturbed):
    number, terminal = in_terminal(folder)
    bar = shown(terminal, "judging, fold 1 of 3")
    assert "learning from all rows" in bar
    assert "fits, best " in bar
    os.write(terminal, b"\x03")
    last = shown(terminal, None)
    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 1
    os.close(terminal)
    assert "protolearn fit: stopped. Run the same command again to go on" in last
    assert "Traceback" not in last
    check_left(folder)
    other = command(*FIT, "--seed", "1", "--fits", "2", cwd=folder)  # has nothing to do with it
    assert other.code == 0, other.err
    assert GOING_ON not in other.err
    check_goes_on(command, folder, undisturbed)


def test_terminated_while_comparing(command, folder):
    settings = ("compare", "pets.csv", "--target", "state", "--models", "glvq,gmlvq,lgmlvq")
    settings += ("--repeats", "20", "--out", "out")
    process = started(*settings, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: (folder / "out" / "comparison.jsonl").exists())
    process.terminate()
    _, err = process.communicate()
    assert process.returncode == 1
    assert (
        "Run the same command again to continue; finished fits are in 'out/comparison.jsonl'."
        in err
    )
    assert "Traceback" not in err
    assert [path.name for path in (folder / "out").iterdir()] == ["comparison.jsonl"]
    for line in (folder / "out" / "comparison.jsonl").read_text("utf-8").splitlines()[:-1]:
        json.loads(line)
