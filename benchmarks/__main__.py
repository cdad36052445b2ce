"""``make bench``: print the tables and write them as JSON; ``core`` or ``peers`` picks a part."""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402

from . import core  # noqa: E402
from .measure import Table  # noqa: E402
from .peers import rows as peers  # noqa: E402

RESULTS = Path(__file__).parent / "results"
PARTS: dict[str, Callable[[], Iterator[Table]]] = {"core": core.tables, "peers": peers.tables}


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(PARTS)}")
    names = parser.parse_args().parts or list(PARTS)
    if unknown := set(names) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    print("one thread; ratios within this run")
    for name in names:
        run(name, PARTS[name]())


def run(name: str, tables: Iterator[Table]) -> None:
    """Print each line as it comes, then write them all."""
    records = []
    for table in tables:
        print(f"\n{table.heading}", flush=True)
        for line in table.lines:
            print(line.line(), flush=True)
            records.append(line.record())
    machine = {"machine": platform.machine(), "python": platform.python_version()}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({**machine, "rows": records}, indent=2) + "\n")
    print(f"\nwritten to {path}")


if __name__ == "__main__":
    main()
