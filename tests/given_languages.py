"""Runs exported models in other languages, and gives their answers as arrays."""

import json
import os
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

MAIN = r"""
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if MODEL_TEXTS
static char texts[MODEL_COLUMNS][400];
#endif
static char line[400];
int main(void) {
  static model_answer a;
  static model_value row[MODEL_COLUMNS];
  int j, code;
  for (;;) {
    for (j = 0; j < MODEL_COLUMNS; j++) {
      if (fgets(line, sizeof line, stdin) == NULL) return 0;
      line[strcspn(line, "\n")] = 0;
#if MODEL_TEXTS
      strcpy(texts[j], line + 1);
      if (line[0] == 't') row[j].text = texts[j];
      else if (line[0] == '-') row[j].text = NULL;
      else row[j].number = strtod(line + 1, NULL);
#else
      row[j] = (model_value)strtod(line + 1, NULL);
#endif
    }
    code = model_predict(row, &a);
    if (code != model_classify(row)) return 3;
    printf("%d %d %d %.17g %.17g", code, a.nearest_prototype, a.rejected, (double)a.margin,
           (double)a.certified_radius);
    for (j = 0; j < MODEL_CLASSES; j++) printf(" %.17g", (double)a.probabilities[j]);
    for (j = 0; j < MODEL_COLUMNS; j++) printf(" %.17g", (double)a.contributions[j]);
    printf("\n");
  }
}
"""

STRICT = "-std=c99", "-pedantic", "-O2", "-Wall", "-Wextra", "-Werror"

NODE = """
import { readFileSync, writeFileSync } from "node:fs";
import { predict, label } from "./model.mjs";
const rows = JSON.parse(readFileSync("rows.json"));
const answers = rows.map(predict);
answers.forEach((answer, i) => { if (answer.label !== label(rows[i])) throw new Error("label"); });
writeFileSync("answers.json", JSON.stringify(answers));
"""


def need(tool):
    """Skip a test where a tool is missing."""
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")


def rows_of(frame):
    """Give a table as lists of numbers, texts, truth values and None."""
    return json.loads(frame.to_json(orient="values", date_format="iso", double_precision=15))


def exact_rows(frame):
    """Give a table as ``rows_of`` does, with all digits of its numbers."""
    columns = []
    for name in frame:
        values = frame[name]
        if str(values.dtype).startswith("datetime"):
            texts = values.dt.strftime("%Y-%m-%d").astype(object)
            columns.append([None if pd.isna(v) else v for v in texts])
        else:
            columns.append([None if pd.isna(v) else v for v in values.astype(object)])
    plain = [[getattr(v, "item", lambda v=v: v)() for v in column] for column in columns]
    return [list(row) for row in zip(*plain, strict=True)]


def run_node(folder, frame):
    """Run ``model.mjs`` in a folder by node."""
    need("node")
    (folder / "rows.json").write_text(json.dumps(exact_rows(frame)))
    (folder / "run.mjs").write_text(NODE)
    subprocess.run(["node", "run.mjs"], cwd=folder, check=True)
    answers = json.loads((folder / "answers.json").read_text())
    found = {
        "label": "label",
        "probabilities": "probabilities",
        "nearest": "nearestPrototype",
        "contributions": "contributions",
        "margin": "margin",
        "radius": "certifiedRadius",
        "rejected": "rejected",
    }
    return {key: as_array([a[name] for a in answers]) for key, name in found.items()}


def as_array(values):
    """Give an array, or None where there is no value."""
    return None if values[0] is None else np.array(values)


def run_c(folder, frame, document, compiler, flags=()):
    """Run ``model.h`` in a folder by a compiler."""
    need(compiler)
    (folder / "main.c").write_text(MAIN)
    command = [compiler, *STRICT, *flags, "main.c", "-o", "main", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kinds = [column["kind"] for column in document["columns"]]
    texts = [
        any(isinstance(value, str) for value in column.get("categories", []))
        for column in document["columns"]
    ]
    every = list(zip(kinds, texts, strict=True))
    lines = [
        c_line(v, *how) for row in exact_rows(frame) for v, how in zip(row, every, strict=True)
    ]
    done = subprocess.run(
        ["./main"], cwd=folder, input="\n".join(lines) + "\n", capture_output=True, text=True
    )
    assert done.returncode == 0, done
    numbers = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    C = len(document["classes"])
    codes = numbers[:, 0].astype(int)
    has = document["certificate"], document["margin"], document["probabilities"]
    return {
        "label": np.array(document["classes"])[codes],
        "nearest": numbers[:, 1] if document["prototypes"] else None,
        "rejected": numbers[:, 2] == 1.0,
        "margin": numbers[:, 3] if has[1] else None,
        "radius": numbers[:, 4] if has[0] else None,
        "probabilities": numbers[:, 5 : 5 + C] if has[2] else None,
        "contributions": numbers[:, 5 + C :],
    }


def c_line(value, kind, is_text):
    """Write a value as the program reads it."""
    if is_text:
        return "-" if value is None else f"t{value}"
    if value is None:
        return "nnan"
    if kind == "date":
        value = (pd.Timestamp(value) - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")
    return f"n{float(value)!r}"


def from_sql(answers, document):
    """Give the columns that a query has added."""
    own = document["columns"]
    probabilities = [name for name in answers if name.startswith("probability_")]
    contributions = [name for name in answers if name.startswith("contribution_")]
    assert len(contributions) == len(own)

    def column(name):
        return answers[name].to_numpy(dtype=float) if name in answers else None

    return {
        "label": answers["predicted_label"].to_numpy(),
        "probabilities": answers[probabilities].to_numpy(dtype=float) if probabilities else None,
        "nearest": column("nearest_prototype"),
        "contributions": answers[contributions].to_numpy(dtype=float),
        "margin": column("hypothesis_margin"),
        "radius": column("certified_radius"),
        "rejected": answers["rejected"].to_numpy() == True,  # noqa: E712
    }


def run_sqlite(query, frame, document, table):
    """Run a query by SQLite."""
    if sqlite3.sqlite_version_info < (3, 35):
        pytest.skip("SQLite is older than 3.35")
    with sqlite3.connect(":memory:") as connection:
        plain = frame.copy()
        for name in plain:
            if str(plain[name].dtype).startswith("datetime"):
                plain[name] = plain[name].dt.strftime("%Y-%m-%d")
            if str(plain[name].dtype) == "category":
                plain[name] = plain[name].astype(float)
        plain.to_sql(table, connection, index=False)
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return from_sql(pd.DataFrame(cursor.fetchall(), columns=names), document)


def run_duckdb(query, frame, document, table):
    """Run a query by DuckDB."""
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is optional: pip install duckdb")
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        plain = frame.copy()
        for name in plain:
            if str(plain[name].dtype) == "category":
                plain[name] = plain[name].astype(float)
        connection.register("frame", plain)
        quoted = '"' + table.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE {quoted} AS SELECT * FROM frame")
        return from_sql(connection.execute(query).df(), document)


def run_postgres(query, frame, document, table):
    """Run a query by a PostgreSQL server: that of PROTOLEARN_POSTGRES, as psql names it."""
    server = os.environ.get("PROTOLEARN_POSTGRES")
    if server is None or shutil.which("psql") is None:
        pytest.skip("PROTOLEARN_POSTGRES names no PostgreSQL server, or psql is not installed")
    kinds = {"f": "DOUBLE PRECISION", "M": "TIMESTAMP", "b": "BOOLEAN"}
    columns, quoted = [], '"' + table.replace('"', '""') + '"'
    plain = frame.copy()
    for name in frame:
        if str(plain[name].dtype) == "category":
            plain[name] = plain[name].astype(float)
        kind = kinds.get(getattr(plain[name].dtype, "kind", "O"), "TEXT")
        columns.append('"' + name.replace('"', '""') + f'" {kind}')
    lines = plain.to_csv(index=False, header=False, na_rep="\\N")
    script = (
        f"CREATE TEMP TABLE {quoted} ({', '.join(columns)});\n"
        f"COPY {quoted} FROM STDIN WITH (FORMAT csv, NULL '\\N');\n{lines}\\.\n{query}"
    )
    done = subprocess.run(
        ["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", server],
        input=script,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    import io

    texts = {"predicted_label": str} if isinstance(document["classes"][0], str) else None
    file = io.StringIO(done.stdout)
    answers = pd.read_csv(file, keep_default_na=False, na_values=[], dtype=texts)
    answers["rejected"] = answers["rejected"].eq("t")
    return from_sql(answers, document)
