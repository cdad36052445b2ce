"""Each action of the endurance test runs once, so that none rots between two long runs."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc, as Linux has it")
def test_each_action_once():
    """A process of its own is forked: the one of the tests has threads."""
    command = [sys.executable, "-m", "soak", "--seed", "1", "--seconds", "0"]
    run = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
