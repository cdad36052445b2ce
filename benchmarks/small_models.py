"""Accuracy of compressed models against their bytes, beside what ProtoNN's authors print.

``PROTOLEARN_DATA=FOLDER python -m benchmarks.small_models [SET ...]`` compresses a GMLVQ of each
set to 1 to 128 kB, and counts the test rows that the whole numbers classify correctly, as C does.
All is chosen on training rows. Without names of sets it writes the table and the picture of the
documentation; with names it prints lines only. Lines that an earlier run has written are not
computed again.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported

import json  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from pathlib import Path  # noqa: E402
from time import process_time  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from protolearn import GMLVQ, compress, datasets  # noqa: E402
from protolearn.io import SmallFixedPointModel, document_of  # noqa: E402
from protolearn.io.exports.c_code import c_header  # noqa: E402

HOME = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "small_models_results.jsonl"
PAGE, PICTURE = (
    HOME / "docs" / "small_models_table.md",
    HOME / "docs" / "images" / "small_models.png",
)

KILOBYTES = 1, 2, 4, 8, 16, 32, 64, 128
ORDER = 64, 16, 4, 1, 32, 8, 2, 128

TRAINING_ROWS = {"letter": 16_000, "pendigits": 7494, "optdigits": 3823, "satimage": 4435}
"""Rows of the usual training part, where a file has both parts one after the other."""

SETS = "usps", "letter", "mnist", "pendigits", "optdigits", "satimage", "segment", "wdbc"
TWO_CLASSES = "usps2", "mnist2"
"""The digits below 5 against the others, up to 16 kB."""
PROTONN = {"letter": 97.10, "mnist": 95.88, "usps": 94.92}
"""Table 2 of the paper: test accuracy of models of 64 kB."""

LARGE = 10_000
"""Rows that the GMLVQ sees, at most."""


def read(name: str) -> tuple[Any, ...]:
    """Return training rows and labels, and those of the test part."""
    if name in TWO_CLASSES:
        X, y, X_test, y_test = read(name.removesuffix("2"))
        return X, y.astype(int) >= 5, X_test, y_test.astype(int) >= 5
    if name in ("usps", "mnist"):
        with np.load(Path(os.environ["PROTOLEARN_DATA"]) / f"{name}.npz") as file:
            X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
        return X.astype(np.float64), y, X_test.astype(np.float64), y_test
    X, y = datasets.load(name)
    if name in TRAINING_ROWS:
        n = TRAINING_ROWS[name]
        return X[:n], y[:n], X[n:], y[n:]
    order = np.random.RandomState(0).permutation(len(X))
    test, train = order[: len(X) // 3], order[len(X) // 3 :]
    return X[train], y[train], X[test], y[test]


def measure(name: str, kilobytes: int, model: Any, parts: tuple[Any, ...]) -> dict[str, Any]:
    """Return the accuracy and the size of a compressed model."""
    X, y, X_test, y_test = parts
    start = process_time()
    small = compress(model, X, y, max_bytes=1024 * kilobytes)
    document = document_of(small)
    fixed = SmallFixedPointModel(document)
    offset, scale = (np.array([c[k] for c in document["columns"]]) for k in ("offset", "scale"))
    right = 0
    for i in range(0, len(X_test), 500):
        q = fixed.quantized_rows((X_test[i : i + 500] - offset) * scale)
        right += int((small.classes_[fixed.codes(q)] == y_test[i : i + 500]).sum())
    return {
        "set": name,
        "kilobytes": kilobytes,
        "accuracy": 100.0 * right / len(X_test),
        "bytes": c_header(document, "model", "int8")[1],
        "seconds": round(process_time() - start, 1),
        **small.shape_,
    }


def compute(names: list[str], known: list[dict[str, Any]]) -> None:
    """Compute the lines that are not known yet, one size of all sets after another."""
    parts: dict[str, Any] = {}
    models: dict[str, Any] = {}
    done = {(line["set"], line["kilobytes"]) for line in known}
    for kilobytes in ORDER:
        for name in (name for name in names if (name, kilobytes) not in done):
            if name in TWO_CLASSES and kilobytes > 16:
                continue
            if name not in parts:
                parts[name] = X, y, *_ = read(name)
                some = slice(None, None, len(X) // LARGE + 1)
                options = {"rank": min(32, X.shape[1]), "max_iter": 5, "random_state": 0}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    models[name] = GMLVQ(**options).fit(X[some], y[some])
            line = measure(name, kilobytes, models[name], parts[name])
            print(json.dumps(line), flush=True)
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")


def known_lines() -> list[dict[str, Any]]:
    """Return what earlier runs have written."""
    texts = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return sorted((json.loads(text) for text in texts), key=lambda line: line["kilobytes"])


def write_page(lines: dict[str, list[dict[str, Any]]]) -> None:
    """Write the table: a row for each set, a column for each size."""
    sizes = " | ".join(f"{k} kB" for k in KILOBYTES)
    rows = [f"| test accuracy, % | {sizes} | ProtoNN, 64 kB |", "|---|" + "---:|" * 9]
    for name, every in lines.items():
        found = {line["kilobytes"]: line["accuracy"] for line in every}
        cells = [f"{found[k]:.2f}" if k in found else "" for k in KILOBYTES]
        peer = f"{PROTONN[name]:.2f}" if name in PROTONN else ""
        rows.append(f"| {name} | {' | '.join(cells)} | {peer} |")
    PAGE.write_text("\n".join(rows) + "\n")


def draw(lines: dict[str, list[dict[str, Any]]]) -> None:
    """Draw the errors against the bytes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    for j, (name, every) in enumerate(lines.items()):
        sizes = [line["kilobytes"] for line in every]  # what is allowed; few rows need less
        errors = [100.0 - line["accuracy"] for line in every]
        axes.plot(sizes, errors, "o-", color=f"C{j}", label=name, markersize=4)
        if name in PROTONN:
            axes.plot(64, 100.0 - PROTONN[name], "x", color=f"C{j}", markersize=9)
    axes.plot([], [], "kx", markersize=9, label="ProtoNN, as printed")
    axes.set(
        xscale="log", yscale="log", xlabel="largest size of the tables, kB", ylabel="test errors, %"
    )
    axes.set_xticks(KILOBYTES, [str(k) for k in KILOBYTES])
    axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    axes.legend(fontsize=8, ncols=2)
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    """Compute what is missing, and write the page unless sets are named."""
    compute(sys.argv[1:] or [*SETS, *TWO_CLASSES], known_lines())
    if len(sys.argv) == 1:
        every = known_lines()
        lines = {
            name: [line for line in every if line["set"] == name] for name in (*SETS, *TWO_CLASSES)
        }
        write_page(lines)
        draw({name: lines[name] for name in SETS})


if __name__ == "__main__":
    main()
