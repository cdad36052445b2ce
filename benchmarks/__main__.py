"""``make bench``: print the table and write it as JSON."""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported

import json  # noqa: E402
import platform  # noqa: E402
from pathlib import Path  # noqa: E402

from . import core  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "core.json"


def main() -> None:
    """Run, print, write."""
    print("one thread; ratios within this run\n")
    print(f"{'what':<42}{'seconds':>10}{'ratio':>8}{'at most':>9}   against")
    table = []
    for row in core.rows():
        mark = "" if row.met else "   MISSED"
        print(
            f"{row.name:<42}{row.seconds:>10.4f}{row.ratio:>8.2f}{row.target:>9.2f}   "
            f"{row.against}{mark}",
            flush=True,
        )
        table.append({**vars(row), "ratio": row.ratio, "met": row.met})
    RESULTS.parent.mkdir(exist_ok=True)
    machine = {"machine": platform.machine(), "python": platform.python_version()}
    RESULTS.write_text(json.dumps({**machine, "rows": table}, indent=2) + "\n")
    print(f"\nwritten to {RESULTS}")


if __name__ == "__main__":
    main()
