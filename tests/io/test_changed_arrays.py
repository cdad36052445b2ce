"""Files in which a value was changed give an error or an answer, never a crash or a hang."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import protolearn
from given_profile import THOROUGH, in_all

WORKER = Path(__file__).parent / "changed_arrays.py"
ROOM = 1 << 26  # bytes that the interpreter and the compiler may take meanwhile
QUICK = "LGMLVQ", "ExemplarSVM", "table"
OTHERS = "scaled", "encoded", "stream"
ESTIMATORS = [
    name
    for name in protolearn.__all__
    if isinstance(getattr(protolearn, name), type) and hasattr(getattr(protolearn, name), "fit")
]


@pytest.mark.parametrize(
    "name", in_all(*QUICK, thorough=[*sorted(set(ESTIMATORS) - set(QUICK)), *OTHERS])
)
def test_no_change_of_a_value_crashes(name, tmp_path):
    run = [sys.executable, WORKER, name, "1" if THOROUGH else "7"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=1800)
    lines = done.stdout.splitlines()
    crash = signal.Signals(-done.returncode).name if done.returncode < 0 else done.stderr[-2000:]
    assert not done.returncode, f"{crash} after {lines[-1:]}"
    found = json.loads(lines[-1])
    assert found["refused"]
    assert not found["other"], [line for line in lines if line.startswith("<class")]
    assert found["grown"] < 2 * found["size"] + ROOM
