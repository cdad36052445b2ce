"""``make bench``: print the tables and write them as JSON.

``core``, ``fused``, ``margins``, ``boosting``, ``peers``, ``rvm``, ``perceptrons``, ``hopfield``,
``onnx``, ``exports``, ``metrics``, ``beyond_memory`` or ``ensembles`` picks a part; without a word
all but the last three, which take a quarter of an hour each. The names of data sets after
``metrics`` pick some of its lines, which are printed only.
``choices``, ``paper``, ``published`` or ``speed`` after ``ensembles`` pick some of its tables.
``python -m benchmarks.automatic``, ``benchmarks.defaults`` and ``benchmarks.reading`` stand alone.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from . import (  # noqa: E402
    beyond_memory,
    boosting,
    core,
    ensembles,
    exports,
    fused,
    hopfield,
    margins,
    onnx,
    perceptrons,
    rvm,
)
from .measure import Table  # noqa: E402
from .peers import metrics  # noqa: E402
from .peers import rows as peers  # noqa: E402

RESULTS = Path(__file__).parent / "results"
PARTS = {
    "core": core.tables,
    "fused": fused.tables,
    "margins": margins.tables,
    "boosting": boosting.tables,
    "peers": peers.tables,
    "rvm": rvm.tables,
    "perceptrons": perceptrons.tables,
    "hopfield": hopfield.tables,
    "onnx": onnx.tables,
    "exports": exports.tables,
    "metrics": metrics.tables,
    "beyond_memory": beyond_memory.tables,
}
PICKS: dict[str, tuple[str, ...]] = {
    "metrics": tuple(metrics.SETS),
    "beyond_memory": (),
    "ensembles": tuple(ensembles.PARTS),
}
"""Parts that take long, and what words after them pick."""

BY_DEFAULT = tuple(name for name in PARTS if name not in PICKS)
NAMES = (*BY_DEFAULT, *PICKS)


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="PART", help=f"of: {', '.join(NAMES)}")
    words = parser.parse_args().words or BY_DEFAULT
    parts = [word for word in words if word in NAMES]
    picked = [word for word in words if word not in NAMES]
    known = [word for part in parts for word in PICKS.get(part, ())]
    if unknown := set(picked) - set(known):
        there = ", ".join((*NAMES, *known))
        parser.error(f"no part or set {', '.join(sorted(unknown))}; there are: {there}")
    print("one thread; ratios within this run")
    for name in parts:
        run(name, [word for word in picked if word in PICKS.get(name, ())])


def run(name: str, picked: list[str]) -> None:
    """Run a part, or what was picked of it."""
    if name == "ensembles":
        for word in picked or ensembles.PARTS:
            write(f"ensembles_{word}", show(ensembles.PARTS[word]()))
    elif picked:
        show(metrics.tables(picked))
    else:
        write(name, show(PARTS[name]()))


def show(tables: Iterator[Table]) -> list[dict[str, Any]]:
    """Print each line as it comes; give them all."""
    records = []
    for table in tables:
        print(f"\n{table.heading}", flush=True)
        for line in table.lines:
            print(line.line(), flush=True)
            records.append(line.record())
    return records


def write(name: str, records: list[dict[str, Any]]) -> None:
    """Write the lines of a part, with where they were measured."""
    machine = {"machine": platform.machine(), "python": platform.python_version()}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({**machine, "rows": records}, indent=2) + "\n")
    print(f"\nwritten to {path}")


if __name__ == "__main__":
    main()
