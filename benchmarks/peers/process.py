"""One measurement in a new process of the right interpreter, on one thread and one core."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-peers"

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
    "PYTHONWARNINGS": "ignore",
}


class Unavailable(Exception):
    """A measurement cannot be made here; the message tells why."""


class Library:
    """A library that is measured.

    Parameters
    ----------
    name : str
        Name of the library.
    module : str
        The module of this package that calls it.
    python : Path
        The interpreter that has it.
    environment : str
        Further variables of its processes.
    """

    def __init__(self, name: str, module: str, python: Path, **environment: str):
        self.name = name
        self.module = f"{__package__}.{module}"
        self.python = python
        self.environment = environment

    def measure(self, task: str, **arguments: Any) -> dict[str, Any]:
        """Run a task in a new process and give its numbers."""
        done = subprocess.run(
            [*pin(), str(self.python), "-m", self.module, task, json.dumps(arguments)],
            cwd=ROOT,
            env=os.environ | ONE_THREAD | self.environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
            raise Unavailable(f"{self.name} failed: {reason}")
        numbers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return numbers


def peer(name: str) -> Library:
    """Give a peer, which lives in an environment of its own."""
    home = ENVIRONMENTS / name
    if not (home / ".ready").exists():
        raise Unavailable(f"no {name} in {home.relative_to(ROOT)}: make bench puts it there")
    return Library(name, f"child_{name}", home / "bin" / "python")


def ours(cache: Path, module: str = "child_ours") -> Library:
    """Give protolearn, with a folder for its compiled functions."""
    return Library("protolearn", module, Path(sys.executable), NUMBA_CACHE_DIR=str(cache))


def pin() -> list[str]:
    """Give the words that bind a command to one core, where there are such."""
    if not shutil.which("taskset") or not hasattr(os, "sched_getaffinity"):
        return []
    return ["taskset", "--cpu-list", str(max(os.sched_getaffinity(0)))]
