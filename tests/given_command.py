"""The command as a process of its own.

Importing takes longer than most of what the tests ask for, so one server imports everything and
forks a process for each command: what runs there is what runs in a terminal.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PROTOLEARN = str(Path(sys.executable).parent / "protolearn")

SERVER = """
import json, os, sys
import protolearn.cli
import protolearn_papers
from protolearn.cli import (
    compare_command, demo_command, explain_command, fit_command, predict_and_export,
    reproduce_command
)
import skops.io
from protolearn.io.trust import known_types
known_types()

def child(job):
    os.chdir(job["cwd"])
    os.environ.update(job["env"])
    for number, name in enumerate((os.devnull, job["out"], job["err"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["protolearn", *job["args"]]
    protolearn.cli.app()

for line in sys.stdin:
    number = os.fork()
    if not number:
        code = 70  # none of the command's own
        try:
            child(json.loads(line))
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        for stream in sys.stdout, sys.stderr:
            stream.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    print(code, flush=True)
"""


class Done(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def sentence(self):
        """The one line on the error stream."""
        (line,) = self.err.splitlines()
        return line


class Command:
    """Run commands, each in a process of its own."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, *args, cwd, env=None):
        out, err = (str(Path(self._folder.name) / name) for name in ("out", "err"))
        job = {"args": [str(arg) for arg in args], "cwd": str(cwd), "out": out, "err": err}
        job["env"] = {"COLUMNS": "200", **(env or {})}
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        return Done(code, Path(out).read_text("utf-8"), Path(err).read_text("utf-8"))

    def close(self):
        """End the server."""
        self._server.communicate()
        self._folder.cleanup()


def started(*args, cwd, **options):
    """Start the installed command, as a shell does."""
    env = {**os.environ, "COLUMNS": "200"}
    return subprocess.Popen([PROTOLEARN, *map(str, args)], cwd=cwd, env=env, text=True, **options)
