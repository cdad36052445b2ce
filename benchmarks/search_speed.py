"""How many candidates the automatic choice fits a second.

``python -m benchmarks.search_speed`` prints, for four tables, the fits of the default search, the
processor time of all of it, and the fits a second of that time, on one thread with a warm cache.
``--fits 120`` stops the searches earlier. ``german`` is a table of KEEL (``make .keel/.ready``).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported

from protolearn import AutoPrototypeClassifier, datasets  # noqa: E402

from .automatic import KEEL, numbers, read  # noqa: E402

GERMAN = KEEL / "balanced" / "raw" / "german.dat"


def line(name: str, max_fits: int | None) -> str:
    """Return the line of a table."""
    if name == "german":
        table, y = read(name, ("balanced", GERMAN))
        X = numbers().fit_transform(table)
    else:
        X, y = datasets.load(name)
    search = AutoPrototypeClassifier(max_fits=max_fits, random_state=0)
    start = time.process_time()
    search.fit(X, y)
    seconds = time.process_time() - start
    n_fits = search.n_fits_
    return (
        f"| {name} | {len(y)} x {X.shape[1]} | {len(search.leaderboard_)} | {n_fits} | "
        f"{seconds:.1f} | {n_fits / seconds:.0f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=None)
    max_fits = parser.parse_args().fits
    warnings.simplefilter("ignore")
    AutoPrototypeClassifier(max_fits=300, random_state=0).fit(*datasets.load("wine"))
    print("| table | size | models | fits | processor seconds | fits a second |")
    print("|---|---|---|---|---|---|")
    for name in ("wdbc", "diabetes", "vehicle", *(["german"] if GERMAN.exists() else [])):
        print(line(name, max_fits), flush=True)


if __name__ == "__main__":
    main()
