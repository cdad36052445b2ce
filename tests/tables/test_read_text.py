"""Tables in texts: what is read is what a careful person would read."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.reading import text_table
from protolearn.reading.cell_values import MISSING, MISSING_NUMBER, kind_of_cell
from protolearn.tables import TableFileError, read_table

NAN = float("nan")


@pytest.fixture
def read(tmp_path):
    """Give a function that reads a text."""

    def function(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return function


def columns_of(table):
    return {name: table.frame[name].tolist() for name in table.frame.dtype.names}


def same(found, expected):
    """Compare columns; NaN is equal to NaN, and to nothing else."""
    assert list(found) == list(expected)
    for name in expected:
        assert len(found[name]) == len(expected[name])
        for one, other in zip(found[name], expected[name], strict=True):
            assert one == other or (one != one and other != other), (name, one, other)


# Each of these is what pandas reads with its defaults, or with the options that are named.
AS_PANDAS = {
    "plain": ("a,b,c\n1,2.5,x\n3,-4e2,y\n", {}),
    "no end of line": ("a,b\n1,2\n3,4", {}),
    "CRLF": ("a,b\r\n1,y\r\n3,x\r\n", {}),
    "CR": ("a,b\r1,2\r3,4\r", {}),
    "tabs": ("a\tb\n1\tx, y\n3\tz, w\n", {"sep": "\t"}),
    "semicolons": ("a;b\n1;x\n3;y\n", {"sep": ";"}),
    "decimal commas": ("a;b;c\n1,5;2,25;x\n-3,5;4,125;y\n", {"sep": ";", "decimal": ","}),
    "decimal commas and integers": ("a;b\n1,5;2\n3,5;4\n", {"sep": ";", "decimal": ","}),
    "tabs and decimal commas": ("a\tb\n1,5\t2\n3,5\t4\n", {"sep": "\t", "decimal": ","}),
    "one number with comma a row": ("a;b\nx;2,5\ny;4,5\n", {"sep": ";", "decimal": ","}),
    "bars": ("a|b\n1|2\n3|4\n", {"sep": "|"}),
    "blanks": ("a b c\n1 2 3\n4 5 6\n", {"sep": " "}),
    "blanks in columns": ("  a   b   c\n  1   2   3\n 14   5   6\n", {"sep": r"\s+"}),
    "blanks and quotes": ('a b c\n"x y" 2 3\n"z w" 5 6\n', {"sep": " "}),
    "blanks around cells": ("a , b\n 1 , 2\n 3 , 4\n", {"sep": r"\s*,\s*", "engine": "python"}),
    "quoted numbers": ('"a","b"\n"1","2"\n"3","4"\n', {}),
    "newlines in cells": ('a,b\n"x\ny",2\n"z\r\nw",4\n', {}),
    "quotes in cells": ('a,b\n"say ""hi""",2\n"5"" pipe",4\n', {}),
    "delimiters in quotes": ('a,b\n"x, y",2\n"z, w",4\n', {}),
    "blank before a quote": ('a, b\n1, "x, y"\n2, "z, w"\n', {"skipinitialspace": True}),
    "missing": ("a,b,c\n1,NA,x\n2,,\n3,NaN,y\n4,5,null\n5,#N/A,<NA>\n6,n/a,N/A\n", {}),
    "empty lines": ("\n\na,b\n1,2\n\n3,4\n\n", {}),
    "empty row": ("a,b\n1,2\n,\n3,4\n", {}),
    "empty row of tabs": ("a\tb\n1\t2\n\t\n3\t4\n", {"sep": "\t"}),
    "single column": ("x\n1\n2\n3\n", {}),
    "single column of texts": ("name\nbob\nal\n", {}),
    "single column with empty lines": ("x\n1\n\n3\n", {}),
    "names with quotes and tags": (
        '"say ""hi""",<script>alert(1)</script>,it\'s\n1,2,3\n4,5,6\n',
        {},
    ),
    "comments": ("# made by me\n# at night\na,b\n1,2\n3,4\n", {"comment": "#"}),
    "numbers for names": ("0,1,2\n5.1,3.5,1.4\n4.9,3.1,1.2\n", {}),
    "years for names": ("country,2019,2020\nA,1,2\nB,3,4\n", {}),
    "years above dates": (
        "day,2019,2020\n2020-01-01,1,2\n2020-01-02,3,4\n",
        {"parse_dates": ["day"]},
    ),
    "dates of two forms stay texts": ("d,v\n31.12.2020,1\n2021/2/1,2\n", {}),
    "delimiter at the end of the header": ("a,b,\n1,2\n3,4\n", {"usecols": [0, 1]}),
    "delimiter at the end of all": ("a,b,\n1,2,\n3,4,\n", {"usecols": [0, 1]}),
    "delimiter at the end of rows": ("a,b\n1,2,\n3,4,\n", {"index_col": False}),
}


@pytest.mark.filterwarnings("ignore:Length of header:pandas.errors.ParserWarning")
@pytest.mark.parametrize("name", AS_PANDAS)
def test_like_pandas(read, name):
    text, options = AS_PANDAS[name]
    expected = pd.read_csv(io.StringIO(text, newline=""), **options)
    same(
        columns_of(read(text)),
        {
            name: [float(v) for v in expected[name]]
            if pd.api.types.is_numeric_dtype(expected[name])
            else [None if pd.isna(v) else v for v in expected[name]]
            for name in expected
        },
    )


BY_HAND = {
    "no header": (
        "1,2,x\n3,4,y\n5,6,x\n",
        {"x0": [1, 3, 5], "x1": [2, 4, 6], "x2": ["x", "y", "x"]},
    ),
    "no header, numbers": ("1,2\n3,4\n", {"x0": [1, 3], "x1": [2, 4]}),
    "no header, counting on": ("1,2,3\n4,5,6\n", {"x0": [1, 4], "x1": [2, 5], "x2": [3, 6]}),
    "no header, words recur": (
        "x,y\nx,y\nz,w\nx,w\n",
        {"x0": ["x", "x", "z", "x"], "x1": ["y", "y", "w", "w"]},
    ),
    "years below too": ("2019,2020\n2001,2002\n", {"x0": [2019, 2001], "x1": [2020, 2002]}),
    "one number": ("5\n", {"x0": [5]}),
    "a name for rows of R": (
        "a,b\nr1,1.5,2\nr2,3,4\n",
        {"index": ["r1", "r2"], "a": [1.5, 3], "b": [2, 4]},
    ),
    "a name for rows of R, blanks": (
        '"a" "b"\n"r1" 1.5 2\n"r2" 3 4\n',
        {"index": ["r1", "r2"], "a": [1.5, 3], "b": [2, 4]},
    ),
    "the index of pandas": (
        ",a,b\n0,1.5,2\n1,3,4\n",
        {"index": [0, 1], "a": [1.5, 3], "b": [2, 4]},
    ),
    "the index of pandas, no names": (
        ",0,1\n0,5.1,3.5\n1,4.9,3.1\n",
        {"index": [0, 1], "0": [5.1, 4.9], "1": [3.5, 3.1]},
    ),
    "an empty name": ("a,,c\n1,2,3\n4,5,6\n", {"a": [1, 4], "x1": [2, 5], "c": [3, 6]}),
    "an empty name that is taken": (
        "x1,,c\n1,2,3\n4,5,6\n",
        {"x1": [1, 4], "x1 (2)": [2, 5], "c": [3, 6]},
    ),
    "names in a comment": ("# a, b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "names in a comment of savetxt": ("# a b\n1 2\n3 4\n", {"a": [1, 3], "b": [2, 4]}),
    "names in a comment above tabs": (
        "#chrom\tend\nc1\tx\nc2\ty\n",
        {"chrom": ["c1", "c2"], "end": ["x", "y"]},
    ),
    "a comment above names": (
        "# by me, for you\nname,town\nbob,rome\nal,oslo\n",
        {"name": ["bob", "al"], "town": ["rome", "oslo"]},
    ),
    "a hint for Excel": ("sep=;\na;b\n1;2\n3;4\n", {"a": [1, 3], "b": [2, 4]}),
    "missing in their column only": (
        "a,b\n-,-\n.,x\nNone,None\n4,y\n",
        {"a": [NAN, NAN, NAN, 4], "b": ["-", "x", "None", "y"]},
    ),
    "nothing in a column": ("a,b\n1,\n2,?\n", {"a": [1, 2], "b": [NAN, NAN]}),
    "truth values": ("a,b\ntrue,1\nFalse,2\n", {"a": [True, False], "b": [1, 2]}),
    "yes and no": ("a,b\nyes,1\nNo,2\n-,3\n", {"a": [True, False, None], "b": [1, 2, 3]}),
    "times of a day": ("t,v\n12:00,1\n13:30,2\n", {"t": [12, 13.5], "v": [1, 2]}),
    "numbers of programs": (
        "a,b,c\n1_000,0x10,1\n2_000,0xff,2\n",
        {"a": ["1_000", "2_000"], "b": ["0x10", "0xff"], "c": [1, 2]},
    ),
    "thousands and percents": (
        'a,b,c\n"1,234",10%,1\n"5,678",20%,2\n',
        {"a": [1234, 5678], "b": [10, 20], "c": [1, 2]},
    ),
    "names of two words": ("room\nRoom 1\nRoom 2\n", {"room": ["Room 1", "Room 2"]}),
    "sentences": (
        "text\nhello big world\nfoo bar baz\n",
        {"text": ["hello big world", "foo bar baz"]},
    ),
    "an empty text in quotes": ('a,b\n1,""\n2,x\n', {"a": [1, 2], "b": [None, "x"]}),
    "infinity of texts": ("a,b\n1,inf\n2,x\n3,y\n", {"a": [1, 2, 3], "b": ["inf", "x", "y"]}),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(read, name):
    text, expected = BY_HAND[name]
    same(columns_of(read(text)), expected)


def test_what_is_told(read):
    table = read("x;y\n1,5;a\n2,5;b\n")
    assert table.origin == "table.csv: semicolon-separated text with a header, 2 rows, 2 columns"
    assert table.notes == ("column 'x' has decimal commas, as in 1,5",)
    assert repr(table) == f"<ReadTable {table.origin}>"
    assert read("1,2\n3,4\n").notes == ("no header; the columns are called x0 to x1",)
    assert read(",b\n1,2.5\n3,4\n").notes == ("column 1 has no name and is called 'index'",)
    assert "each row ends with a delimiter" in read("a,b,\n1,2,\n3,4,\n").notes[0]
    assert read("# x\na,b\n1,2\n").notes == ("1 line before the table skipped",)
    assert "too long for doubles" in read("a\n12345678901234567891\n1\n").notes[0]
    assert not read("a\n1e300\n2\n").notes
    assert read("zip,x\n10115,0\n01067,0.5\n").notes == (
        "column 'zip' has numbers such as 01067; if they are codes, read it as categories",
    )
    assert not read("zip\n10115\n01067\n", kinds={"zip": "category"}).notes
    assert "but also 'x' in row 2 (line 3)" in read("d\n2020-01-01\nx\n").notes[0]
    assert read("a,b,c\n1,2,3\n4,5,6\n", columns=["c", "a"]).origin.endswith("2 of 3 columns")
    many = read("a" + "," * 99 + "\n" + ",".join("1" * 100) + "\n" + ",".join("2" * 100) + "\n")
    assert many.notes[-1] == "96 more columns have no name"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2020-01-31", "NA", "2021-12-31"], ["2020-01-31", "NaT", "2021-12-31"]),
        (
            ["2020-01-31 12:30", "0001-01-01T00:00:00.5"],
            ["2020-01-31T12:30", "0001-01-01T00:00:00.5"],
        ),
        (
            ["2020-01-31T12:30:00Z", "2020-01-31T12:30:00+02:00"],
            ["2020-01-31T12:30", "2020-01-31T10:30"],
        ),
        (["2020-01-31T12:30:00.123456789", "-"], ["2020-01-31T12:30:00.123456", "NaT"]),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ""])
def test_dates(read, cells, expected, delimiter):
    end = f"{delimiter}1\n" if delimiter else "\n"
    text = f"d{delimiter}{'v' if delimiter else ''}\n" + "".join(cell + end for cell in cells)
    found = read(text).frame["d"]
    assert found.dtype == "datetime64[us]"
    np.testing.assert_array_equal(found, np.array(expected, dtype="datetime64[us]"))


def test_kinds_and_columns(read):
    text = "code,day,x\n01,2020-01-01,1\n02,2020-01-02,NA\n"
    found = read(text, kinds={"code": "category", "day": "category", "x": "category"})
    same(
        columns_of(found),
        {"code": ["01", "02"], "day": ["2020-01-01", "2020-01-02"], "x": ["1", None]},
    )
    assert read(text, columns="x").frame.dtype.names == ("x",)
    assert read(text, columns=["x", "code", "x"]).frame.dtype.names == ("code", "x")
    assert read(text, kinds={"day": "date"}).frame["day"].dtype == "datetime64[us]"
    # What is wrong in columns that are not read does not matter.
    assert read("a,b\n1,2\n2,inf\n", columns=["a"]).frame["a"].tolist() == [1, 2]
    assert read("a,b\n1,2\nx,3\n4,4\n", kinds={"a": "category"}).frame["a"].tolist() == [
        "1",
        "x",
        "4",
    ]
    with pytest.raises(ValueError, match="kinds has 'float' for 'a'; expected one of"):
        read("a\n1\n", kinds={"a": "float"})
    with pytest.raises(ValueError, match="columns is empty"):
        read("a\n1\n", columns=[])
    with pytest.raises(TableFileError, match=r"no column 'ag'\. Did you mean 'age'"):
        read("age,b\n1,2\n", columns=["ag"])
    with pytest.raises(TableFileError, match=r"no column 'z'\. It has 'age', 'b'"):
        read("age,b\n1,2\n", kinds={"z": "number"})


ENCODINGS = {
    "utf-8": "",
    "utf-8-sig": "",
    "utf-16": "",
    "utf-16-le": "",
    "utf-16-be": "",
    "utf-32": "",
    "cp1252": "cp1252",
    "latin-1": "cp1252",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("packed", [False, True])
def test_encodings(read, encoding, packed):
    content = "größe;ort\r\n1,5;Zürich\r\n2,5;Évian\r\n".encode(encoding)
    table = read(gzip.compress(content) if packed else content)
    same(columns_of(table), {"größe": [1.5, 2.5], "ort": ["Zürich", "Évian"]})
    told = f"read as {ENCODINGS[encoding]}" if ENCODINGS[encoding] else ""
    assert any(told in note for note in table.notes if "UTF-8" in note) == bool(told)
    assert ("gzipped" in table.origin) == packed


def test_another_encoding_late_in_a_file(read):
    text = "a,b\n" + "x,1\n" * 30_000
    assert read((text + "ä,2\n").encode("latin-1")).frame["a"][-1] == "ä"
    with pytest.raises(TableFileError, match="starts as text in utf-8, but does not go on"):
        read(b"\xef\xbb\xbf" + text.encode() + b"\xe4,2\n")


def test_characters_that_cp1252_does_not_have(read):
    assert read(b"a,b\n\x81\xe4,2\n\xe9,4\n").frame["a"].tolist() == ["\x81ä", "é"]


def test_names_of_files_tell_of_tabs(read):
    text = "a, b\tc\n1, 2\tx\n3, 4\ty\n"
    assert read(text, "table.tsv").frame.dtype.names == ("a, b", "c")
    assert read(gzip.compress(text.encode()), "table.tsv.gz").frame.dtype.names == ("a, b", "c")


@pytest.mark.parametrize("words", [False, True])
def test_ten_thousand_columns(read, words):
    names = [f"c{j}" for j in range(10_000)]
    rows = [[f"w{(i + j) % 3}" if words else i + j / 8 for j in range(10_000)] for i in range(3)]
    table = read("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")
    assert table.frame.dtype.names == tuple(names)
    assert [list(row) for row in table.frame.tolist()] == rows


def test_long_lines_and_cells(read):
    long = "x" * 3_000_000
    same(columns_of(read(f"a,b\n1,{long}\n2,y\n")), {"a": [1, 2], "b": [long, "y"]})
    same(columns_of(read(f'a,b\n1,"{long}\n"\n2,y\n')), {"a": [1, 2], "b": [long, "y"]})


def test_mistakes_behind_the_first_block(read, monkeypatch):
    """What the first rows let expect does not hold for all."""
    monkeypatch.setattr(text_table, "CHUNK", 20_000)
    monkeypatch.setattr(text_table, "SAMPLE", 10_000)
    many = "".join(f"{i},{i}\n" for i in range(4_000))
    assert read("a,b\n" + many + "x,1\n" + many, kinds={"a": "category"}).frame["a"][4_000] == "x"
    few = read("a,b\n" + many + "x,1\n")
    told = "column 'a' holds numbers; 1 cell such as 'x' in row 4001 (line 4002) counts as missing"
    assert few.assumptions == few.notes == (told,)
    assert np.isnan(few.frame["a"][-1])
    with pytest.raises(TableFileError, match=r"to hold numbers, but row 4001 \(line 4002\) has"):
        read("a,b\n" + many + "x,1\n" * 400, kinds={"a": "number"})
    late = read("a,b\n" + many + "x,1\n" * 400)
    assert late.frame["a"][4000] == "x"
    assert "read as words: it has numbers, but also 'x' in row 4001" in late.notes[0]
    texts = "".join(f"w{i % 3},{i}\n" for i in range(4_000))
    found = read("a,b\n" + "1,1\n" * 3_900 + texts).frame
    assert found["a"][0] == "1"
    assert found["a"][-1] == "w0"
    late = read("a,b\n" + many + '"4\n0",1\n', kinds={"a": "category"})
    assert late.frame["a"][-1] == "4\n0"
    assert read("a;b\n" + "1;1\n" * 4_000 + "1,5;2\n").frame["a"][-1] == 1.5


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_small_and_large_files_are_read_alike(read, delimiter, monkeypatch):
    rng = np.random.RandomState(0)
    cells = [["x", "whole", "word", "day", "hole"]]
    for _ in range(3000):
        number = repr(float(rng.normal() * 10.0 ** rng.randint(-30, 30)))
        hole = "NA" if rng.rand() < 0.1 else str(rng.rand())
        cells.append([number, str(rng.randint(99)), rng.choice(["é", "b"]), "2020-01-01", hole])
    text = "\r\n".join(delimiter.join(row) for row in cells)
    small = read(text)
    monkeypatch.setattr(text_table, "CHUNK", 5000)
    large = read(text)
    monkeypatch.setattr(text_table, "SAMPLE", 3000)
    same(columns_of(large), columns_of(small))
    same(columns_of(read(text)), columns_of(small))
    assert small.frame["x"].tolist() == [float(row[0]) for row in cells[1:]]
    expected = pd.read_csv(io.StringIO(text), sep=delimiter)
    # Not all versions of pandas give the nearest doubles.
    np.testing.assert_allclose(small.frame["hole"], expected["hole"], rtol=1e-12)
    exact = [NAN if row[4] == "NA" else float(row[4]) for row in cells[1:]]
    np.testing.assert_array_equal(small.frame["hole"], exact)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_decimal_commas_and_quotes_in_large_files(read, delimiter, quoting, monkeypatch):
    rng = np.random.RandomState(0)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting)
    writer.writerow(["x", "whole", "word", "hole"])
    rows = []
    for i in range(3000):
        word = ["a", "b, c", 'say "hi"', "two\nlines", f"x{delimiter}y"][
            i % 5 if i > 2500 else i % 2
        ]
        hole = ["-", "NA", ""][i % 3] if i % 7 == 0 else repr(float(rng.rand())).replace(".", ",")
        rows.append([repr(float(rng.normal())).replace(".", ","), str(i), word, hole])
    writer.writerows(rows)
    small = read(stream.getvalue())
    monkeypatch.setattr(text_table, "CHUNK", 5000)
    large = read(stream.getvalue())
    same(columns_of(large), columns_of(small))
    note = f"columns 'x' and 'hole' have decimal commas, as in {rows[0][0]}"
    assert large.notes == small.notes == (note,)
    assert large.frame["x"].tolist() == [float(row[0].replace(",", ".")) for row in rows]
    assert large.frame["word"].tolist() == [row[2] for row in rows]


letters = st.sampled_from("abcdefghijklmnopqrstuvwxyzäß€😀")
inside = st.text(
    st.sampled_from(",;|\t\n'\" .#%1äZ") | st.characters(exclude_categories=["C", "Zl", "Zp"]),
    max_size=6,
)
words = st.builds(lambda a, b: (a + b).strip(), letters, inside).filter(
    lambda cell: cell not in MISSING | MISSING_NUMBER and kind_of_cell(cell) == "text"
)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)
days = st.datetimes().map(lambda time: time.isoformat())
names = st.lists(st.text(letters, min_size=1), min_size=2, max_size=5, unique=True).map(
    lambda found: [f"n{name}" for name in found]
)


@st.composite
def tables(draw):
    """Give names, kinds and values of a table with one column of numbers at least."""
    named = draw(names)
    n_rows = draw(st.integers(2, 7))
    kinds = [
        "number",
        *draw(
            st.lists(
                st.sampled_from(["number", "word", "day"]),
                min_size=len(named) - 1,
                max_size=len(named) - 1,
            )
        ),
    ]
    drawn = {"number": numbers, "word": words, "day": days}
    columns = {}
    for name, kind in zip(named, kinds, strict=True):
        first = draw(drawn[kind])
        rest = st.lists(st.none() | drawn[kind], min_size=n_rows - 1, max_size=n_rows - 1)
        columns[name] = [first, *draw(rest)]
    return columns, dict(zip(named, kinds, strict=True))


def expected_of(values, kind):
    if kind == "number":
        return [NAN if value is None else value for value in values]
    if kind == "day":
        return np.array(["NaT" if v is None else v for v in values], "datetime64[us]").tolist()
    return values


@given(
    tables(),
    st.sampled_from(",;\t|"),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.booleans(),
)
def test_what_was_written_is_read(
    tmp_path_factory, table, delimiter, quoting, end, encoding, packed
):
    columns, kinds = table
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    content = stream.getvalue().encode(encoding)
    path = tmp_path_factory.mktemp("written") / "table.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    expected = {name: expected_of(values, kinds[name]) for name, values in columns.items()}
    for size in (50, text_table.CHUNK):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_table, "CHUNK", size)
            same(columns_of(read_table(path)), expected)
