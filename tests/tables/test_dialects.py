"""A table that is written in many dialects is the same table when it is read."""

import datetime
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from protolearn.tables import read_table

TYPES = {"x": pa.float64(), "word": pa.string(), "good": pa.bool_(), "day": pa.timestamp("us")}
FIRST = [
    (1234.5, "pear", True, datetime.datetime(2021, 3, 31)),
    (-98765.25, "apple; red", False, datetime.datetime(1999, 12, 1)),
]
"""Rows from which all that the dialects leave open can be told."""

ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-(10**9), 10**9).map(lambda n: n / 1000),
        st.none()
        | st.sampled_from(["pear", "apple; red", "größe", "a, b", "3 plums", "x|y", "it's"]),
        st.none() | st.booleans(),
        st.none() | st.dates(datetime.date(1970, 1, 1), datetime.date(2068, 12, 31)),
    ),
    max_size=8,
).map(lambda rows: [*FIRST, *rows])


def grouped(value, thousands, decimal):
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return text.replace(",", "_").replace(".", decimal).replace("_", thousands)


def text(rows, delimiter, number, truths, day, hole, quote='"', end="\n"):
    """Write rows with functions and words for each kind of cell."""
    lines = [[f"{quote}{name}{quote}" for name in TYPES]]
    for x, word, good, date in rows:
        lines.append(
            [
                hole if x is None else number(x),
                hole if word is None else f"{quote}{word.replace(quote, 2 * quote)}{quote}",
                hole if good is None else truths[good],
                hole if date is None else date.strftime(day),
            ]
        )
    return end.join(map(delimiter.join, lines)) + end


def table_of(rows):
    rows = [(*row[:3], row[3] and datetime.datetime(*row[3].timetuple()[:3])) for row in rows]
    columns = zip(*rows, strict=True)
    return pa.table(
        {
            name: pa.array(values, kind)
            for (name, kind), values in zip(TYPES.items(), columns, strict=True)
        }
    )


def written(write, rows):
    stream = io.BytesIO()
    write(table_of(rows), stream)
    return stream.getvalue()


WORDS, YES = {True: "true", False: "False"}, {True: "Yes", False: "no"}

DIALECTS = {
    "plain.csv": lambda rows: text(rows, ",", repr, WORDS, "%Y-%m-%d", "").encode(),
    "german.csv": lambda rows: text(
        rows, ";", lambda x: grouped(x, ".", ","), YES, "%d.%m.%Y", "", end="\r\n"
    ).encode("cp1252"),
    "american.csv": lambda rows: text(
        rows, ",", lambda x: f'"${grouped(x, ",", ".")}"', YES, "%m/%d/%Y", "NA"
    ).encode(),
    "british.tsv": lambda rows: text(
        rows, "\t", lambda x: f"£{grouped(x, ',', '.')}", WORDS, "%d/%m/%Y", "n/a"
    ).encode("utf-16"),
    "swiss.csv": lambda rows: text(
        rows, ";", lambda x: f"{grouped(x, chr(39), '.')} kg", YES, "%d.%m.%Y", "?"
    ).encode("utf-8-sig"),
    "french.csv": lambda rows: text(
        rows, ";", lambda x: f"{grouped(x, chr(160), ',')} €", WORDS, "%d/%m/%Y", ""
    ).encode(),
    "quoted.csv": lambda rows: text(
        rows, ",", lambda x: f"'{x!r}'", {True: "'yes'", False: "'no'"}, "'%Y-%m-%d'", "?", "'"
    ).encode(),
    "bars.txt.gz": lambda rows: gzip.compress(
        text(rows, "|", lambda x: f"{x:e}", WORDS, "%Y/%m/%d", "null").encode()
    ),
    "percent.csv.zst": lambda rows: pa.compress(
        text(rows, ",", lambda x: f"{x!r}%", WORDS, "%Y-%m-%d", "<NA>").encode(),
        codec="zstd",
        asbytes=True,
    ),
    "table.parquet": lambda rows: written(parquet.write_table, rows),
    "table.feather": lambda rows: written(feather.write_feather, rows),
    "lines.jsonl": lambda rows: (
        table_of(rows)
        .to_pandas()
        .to_json(orient="records", lines=True, date_format="iso", double_precision=15)
        .encode()
    ),
}


@pytest.mark.parametrize("name", DIALECTS)
@given(rows=ROWS)
def test_the_same_table_is_read(tmp_path_factory, name, rows):
    path = tmp_path_factory.mktemp("dialect") / name
    path.write_bytes(DIALECTS[name](rows))
    frame = read_table(path).frame
    assert frame.dtype.names == tuple(TYPES)
    columns = list(zip(*rows, strict=True))
    expected = [np.nan if x is None else x for x in columns[0]]
    if name == "bars.txt.gz":
        expected = [float(f"{x:e}") for x in expected]
    np.testing.assert_array_equal(frame["x"], expected)
    assert frame["word"].tolist() == list(columns[1])
    assert frame["good"].tolist() == list(columns[2])
    days = pd.to_datetime(pd.Series(columns[3])).to_numpy("datetime64[us]")
    np.testing.assert_array_equal(frame["day"], days)


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    rows = [*FIRST, (None, "a", None, FIRST[0][3]), (2.5, None, True, None)]
    table_of(rows).to_pandas().to_excel(tmp_path / "table.xlsx", index=False)
    frame = read_table(tmp_path / "table.xlsx").frame
    np.testing.assert_array_equal(frame["x"], [1234.5, -98765.25, np.nan, 2.5])
    assert frame["word"].tolist() == [row[1] for row in rows]
    assert frame["good"].tolist() == [row[2] for row in rows]
    assert np.isnat(frame["day"]).tolist() == [False, False, False, True]
