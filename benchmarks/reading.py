"""Reading a table: the time of ``read_table`` against pyarrow's, and its memory against the result.

``python -m benchmarks.reading`` stands alone. Each reading is a process of its own, so that the
largest memory is its own too; both readers take turns. The first turn is not counted. Times are
those of the processor, since a shared machine makes others meaningless.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .measure import HEADING, Row, Table, mark

N_ROWS = 1_000_000
REPEATS = 4
CASES = {
    "commas": {},
    "commas, all in quotes": {"quoting": 1},
    "semicolons and decimal commas": {"sep": ";", "decimal": ","},
    "commas, gzipped": {"compression": "gzip"},
}
"""How pandas writes the file."""

AT_MOST = 1.3
"""Times that pyarrow takes, which leaves numbers with units and dates of other forms as texts."""

MEMORY = 1.5
"""Memory that reading may take at most, in sizes of the result."""

READ = """
import json, sys, time
from pyarrow import csv
from protolearn.tables import read_table
def largest():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
path, kind, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
if kind == "pyarrow":
    cells = csv.ParseOptions(delimiter=options.get("sep", ","))
    numbers = csv.ConvertOptions(decimal_point=options.get("decimal", "."))
    read = lambda: csv.read_csv(path, parse_options=cells, convert_options=numbers)
else:
    read = lambda: read_table(path).frame
before, start = largest(), time.process_time()
found = read()
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "memory": largest() - before, "size": found.nbytes}))
"""


@dataclass(frozen=True)
class Memory:
    """How much more memory a process takes while it reads."""

    name: str
    memory: int
    size: int
    target: float = MEMORY

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.memory <= self.target * self.size

    def line(self) -> str:
        """Give the line as it is printed."""
        ratio, megabytes = self.memory / self.size, self.memory / 2**20
        return (
            f"{self.name:<42}{megabytes:>7.0f} MB{ratio:>8.2f}{self.target:>9.2f}   "
            f"{self.size / 2**20:.0f} MB of the result{mark(self.met)}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return {**asdict(self), "ratio": self.memory / self.size, "met": self.met}


def tables() -> Iterator[Table]:
    """Give the table."""
    yield Table(HEADING, rows())


def rows() -> Iterator[Row | Memory]:
    """Write the files one after the other, and read each by both."""
    frame = table()
    with tempfile.TemporaryDirectory() as folder:
        for name, options in CASES.items():
            path = Path(folder) / ("table.csv.gz" if "compression" in options else "table.csv")
            frame.to_csv(path, index=False, **options)
            read = {
                key: options[key] for key in ("sep", "decimal", "compression") if key in options
            }
            found, reference = measured(path, read)
            yield Row(name, found["seconds"], "pyarrow.csv", reference["seconds"], AT_MOST)
            yield Memory(f"{name}, memory", found["memory"], found["size"])


def table() -> Any:
    """Make eight columns of numbers, two of categories, one of days and one of labels."""
    import pandas as pd

    rng = np.random.RandomState(0)
    columns: dict[str, Any] = {}
    for j in range(8):  # with all digits, and with few
        values = rng.normal(size=N_ROWS)
        columns[f"x{j}"] = values.round(4) if j % 2 else values
    columns["town"] = rng.choice(["Berlin", "Rome", "Paris", "Oslo"], N_ROWS)
    columns["kind"] = rng.choice([f"k{i}" for i in range(30)], N_ROWS)
    columns["day"] = (np.datetime64("2000-01-01") + rng.randint(0, 8000, N_ROWS)).astype(str)
    columns["label"] = rng.choice(["yes", "no"], N_ROWS)
    return pd.DataFrame(columns)


def measured(path: Path, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Read a file in processes of their own, in turn; give the quickest of each reader."""
    given = {"protolearn": {}, "pyarrow": options}
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in given}
    for _ in range(1 + REPEATS):
        for kind, how in given.items():
            command = [sys.executable, "-c", READ, str(path), kind, json.dumps(how)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found[kind].append(json.loads(done.stdout))
    return [min(many[1:], key=lambda one: float(one["seconds"])) for many in found.values()]


def main() -> None:
    """Print the table."""
    for one in tables():
        print(one.heading, flush=True)
        for line in one.lines:
            print(line.line(), flush=True)


if __name__ == "__main__":
    main()
