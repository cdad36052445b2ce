"""Exported models: the C and the JavaScript form against ``predict``, one row and 10,000.

Processor time: ``clock`` in C, ``process.cpuUsage`` in node, ``process_time`` here, in turn.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, LGMLVQ, SoftMarginSVM, export

from .measure import HEADING, Row, Table

N_ROWS = 10_000
N_FEATURES = 20
TURNS = 3
"""Times that each is measured, in turn with the others; the best counts."""

MOST = {"C, label": 3.0, "C, all": 10.0, "JavaScript, label": 25.0, "JavaScript, all": 80.0}
"""Times that ``predict`` of 10,000 rows takes; of one row all take less than it."""

MAIN = """
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static float rows[N][MODEL_COLUMNS];
int main(void) {
  static model_answer answer;
  int i, total = 0;
  clock_t start;
  FILE *file = fopen("rows.bin", "rb");
  if (file == NULL || fread(rows, sizeof rows, 1, file) != 1) return 1;
  start = clock();
  for (i = 0; i < N; i++) total += model_classify(rows[i]);
  printf("%.9f ", (double)(clock() - start) / CLOCKS_PER_SEC);
  start = clock();
  for (i = 0; i < N; i++) total += model_predict(rows[i], &answer);
  printf("%.9f\\n%d\\n", (double)(clock() - start) / CLOCKS_PER_SEC, total);
  return 0;
}
"""

NODE = """
import { readFileSync } from "node:fs";
import { label, predict } from "./model.mjs";
const rows = JSON.parse(readFileSync("rows.json"));
const times = [label, predict].map((ask) => {
  rows.forEach(ask);
  const start = process.cpuUsage();
  rows.forEach(ask);
  return process.cpuUsage(start).user / 1e6;
});
console.log(times.join(" "));
"""


def tables() -> Iterator[Table]:
    """Give the table."""
    yield Table(HEADING, rows())


def rows() -> Iterator[Row]:
    """Time several models."""
    X, y = make_classification(N_ROWS, N_FEATURES, n_informative=10, n_classes=5, random_state=0)
    for model in (
        GLVQ(prototypes_per_class=2, max_iter=5, random_state=0),
        GMLVQ(prototypes_per_class=2, max_iter=5, random_state=0),
        LGMLVQ(prototypes_per_class=2, max_iter=5, random_state=0),
        SoftMarginSVM(),
    ):
        pipeline = make_pipeline(StandardScaler(), model).fit(X[:1000], y[:1000])
        yield from compared(type(model).__name__, pipeline, X)


def compared(name: str, model: Any, X: np.ndarray) -> Iterator[Row]:
    """Compare a model with its forms in C and JavaScript."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        programs = prepared(folder, model, X)
        times: dict[str, float] = {}
        one = many = np.inf
        for _ in range(TURNS):
            many = min(many, seconds_of(model, X, 1))
            one = min(one, seconds_of(model, X[:1], 200))
            for language, command in programs.items():
                run = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, check=True
                )
                for what, value in zip(("label", "all"), run.stdout.split(), strict=False):
                    key = f"{language}, {what}"
                    times[key] = min(times.get(key, np.inf), float(value))
        for key, seconds in times.items():
            yield Row(f"{name}, {key}, {N_ROWS} rows", seconds, "predict", many, MOST[key])
            yield Row(f"{name}, {key}, 1 row", seconds / N_ROWS, "predict", one, 1.0)


def prepared(folder: Path, model: Any, X: np.ndarray) -> dict[str, list[str]]:
    """Write the programs of the languages that are installed; give how to start them."""
    programs = {}
    if shutil.which("gcc"):
        export(model, folder / "model.h", to="c")
        (folder / "main.c").write_text(MAIN)
        (folder / "rows.bin").write_bytes(np.float32(X).tobytes())
        build = ["gcc", "-std=c99", "-O2", f"-DN={N_ROWS}", "main.c", "-o", "main", "-lm"]
        subprocess.run(build, cwd=folder, check=True)
        programs["C"] = ["./main"]
    if shutil.which("node"):
        export(model, folder / "model.mjs", to="js")
        (folder / "rows.json").write_text(json.dumps(X.tolist()))
        (folder / "run.mjs").write_text(NODE)
        programs["JavaScript"] = ["node", "run.mjs"]
    return programs


def seconds_of(model: Any, X: np.ndarray, repeats: int) -> float:
    """Give the processor time of one call of ``predict``."""
    model.predict(X)
    start = process_time()
    for _ in range(repeats):
        model.predict(X)
    return (process_time() - start) / repeats
