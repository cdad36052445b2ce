"""Files that are no tables, or tables with a mistake: one sentence that helps."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.reading import data_file as opening
from protolearn.reading import text_table
from protolearn.tables import TableFileError, read_table

JUNK = bytes(range(256)) * 4


def sentence(path, **options):
    """Give the sentence that a file gets, and check that it is one."""
    with pytest.raises(TableFileError) as caught:
        read_table(path, **options)
    text = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert text.endswith((".", "?"))
    assert "\n" not in text
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return text


@pytest.fixture
def told(tmp_path):
    """Give a function that tells what is wrong with the content of a file."""

    def function(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return sentence(path, **options)

    return function


def zipped(**parts):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return stream.getvalue()


def packed_folder():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as file:
        part = tarfile.TarInfo("table.csv")
        part.size = 8
        file.addfile(part, io.BytesIO(b"a,b\n1,2\n"))
    return stream.getvalue()


def saved(function, *args, **options):
    stream = io.BytesIO()
    function(stream, *args, **options)
    return stream.getvalue()


FOREIGN = [
    ("a picture", b"\x89PNG\r\n\x1a\n" + JUNK),
    ("a picture", b"\xff\xd8\xff\xe0" + JUNK),
    ("a picture", b"GIF89a" + JUNK),
    ("a picture", b"BM" + JUNK),
    ("a picture", b"II*\0" + JUNK),
    ("a document", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + JUNK),
    ("a zip archive", zipped(**{"table.csv": "a,b\n1,2\n"})),
    ("a saved model", zipped(**{"schema.json": "{}"})),
    ("a file of NumPy arrays", saved(np.savez, a=np.ones(3))),
    ("a file of NumPy arrays", saved(np.save, np.ones(3))),
    ("a pickle", pickle.dumps(pd.DataFrame({"a": [1]}))),
    ("a packed file", bz2.compress(b"a,b\n1,2\n")),
    ("a packed file", lzma.compress(b"a,b\n1,2\n")),
    ("an archive", packed_folder()),
    ("an SQLite database", b"SQLite format 3\0" + JUNK),
    ("an HDF5", b"\x89HDF\r\n\x1a\n" + JUNK),
    ("a file of a statistics program", b"<stata_dta><header>" + JUNK),
    ("a file of a statistics program", b"$FL2@(#)" + JUNK),
    ("a file of a statistics program", gzip.compress(b"RDX3\nX\n" + JUNK)),
    ("a file of a statistics program", b"MATLAB 5.0 MAT-file" + JUNK),
    ("a program", b"\x7fELF" + JUNK),
    ("binary data", np.random.RandomState(0).bytes(5000)),
    ("a page of the web", b"<!DOCTYPE html>\n<html><body>\n<p>a, b</p></body></html>\n"),
    ("an XML file", b'<?xml version="1.0"?>\n<svg>\n<rect/></svg>\n'),
    ("a JSON file", b'[\n  {\n    "a": 1,\n    "b": 2\n  }\n]\n'),
]


@pytest.mark.parametrize(("what", "content"), FOREIGN)
def test_other_kinds_of_files(told, what, content):
    text = told(content, "table.csv")
    assert what in text
    assert "expected CSV, Excel, Parquet, Feather, JSON Lines or ARFF" in text


def test_texts_that_begin_as_other_files_do(tmp_path):
    """A mark of two or three letters alone does not make a file another one."""
    path = tmp_path / "table.csv"
    for name in ("BMI", "MZ", "ORC", "PK", "BZh"):
        path.write_text(f"{name},b\n1,2\n3,4\n")
        assert read_table(path).frame.dtype.names == (name, "b")


GZIPPED = gzip.compress(("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(50_000))).encode())

CONTENT = {
    # empty
    "nothing": (b"", "is empty; expected a header and rows"),
    "blanks": (b"\n \n\n", "is empty"),
    "a mark of the encoding": (b"\xef\xbb\xbf", "has no rows; expected a header and rows"),
    "comments": (b"# hello\n# you\n", "has no rows"),
    "a header": (b"a,b,c\n", "has names of columns, but no rows; expected one at least"),
    "nothing packed": (gzip.compress(b""), "is empty"),
    # damaged
    "a cut gzip": (GZIPPED[: len(GZIPPED) // 2], "ends too early; copy or load it again"),
    "the begin of a gzip": (GZIPPED[:2], "ends too early"),
    "a damaged gzip": (GZIPPED[:1000] + b"\0\0\0\0" + GZIPPED[1004:], "is a damaged gzip file"),
    "a gzip with a wrong sum": (
        GZIPPED[:-8] + b"\1\2\3\4" + GZIPPED[-4:],
        "damaged gzip file (zlib",
    ),
    "junk behind a gzip": (GZIPPED + b"junk", "damaged gzip file"),
    # names
    "too many names": (
        b"a,b,c,d\n1,2\n3,4\n",
        "has 4 cells in its first row, 'a', 'b', 'c', ..., and 2 in the rows below",
    ),
    "too few names": (
        b"a,b\n1,2,3,4\n5,6,7,8\n",
        "has 2 cells in its first row, 'a', 'b', and 4 in the rows below",
    ),
    # rows
    "a short row": (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "has 2 cells in row 2 (line 3), expected 3"),
    "a long row": (
        b"a,b,c\n1,2,3\n\n4,5,6,7\n6,7,8\n",
        "has 4 cells in row 2 (line 4), expected 3",
    ),
    "a row of one": (b"a,b\n1,2\n3\n", "has 1 cell in row 2"),
    "a row of one, blanks": (
        b"a b c\n1 2 3\n4 5 6\n" + b"1 2 3\n" * 300 + b"7 8\n",
        "has 2 cells in row 303 (line 304)",
    ),
    "a comment among rows": (
        b"a,b\n1,2\n# oops\n3,4\n",
        "row 2 (line 3), expected 2 as in other rows; comments stand before the header only",
    ),
    "a quote that is not closed": (
        b'a,b\n1,x\n2,"y\n' + b"3,z\n" * 1000,
        "has a quotation mark in line 3 that is never closed",
    ),
    "a text after a quote": (b'a,b\n1,"x"y\n2,y\n', "has a quotation mark in line 2"),
    # cells
    "infinity": (
        b"a,b\n1,2\n2,-inf\n",
        "Column 'b' has -inf in row 2 (line 3), which is not a finite number; correct it",
    ),
    "a number beyond doubles": (b"a,b\n1,1e999\n2,3\n", "has inf in row 1"),
    "commas that may be either": (
        b"a;b\n1,500;2\n3,500;4\n",
        "Column 'a' has '1,500' in row 1 (line 2), which may have a decimal comma or "
        "a separator of thousands; write it",
    ),
    "some with time zones": (
        b"d\n2020-01-01T00:00:00Z\n2020-01-01T00:00:00\n",
        "Column 'd' has '2020-01-01T00:00:00Z' with a time zone in row 1 (line 2) and "
        "'2020-01-01T00:00:00' without one in row 2",
    ),
}


@pytest.mark.parametrize("name", CONTENT)
def test_bad_content(told, name):
    content, expected = CONTENT[name]
    text = told(content)
    assert expected in text
    assert len(text) < 400


@pytest.mark.parametrize(
    "name",
    [
        "a short row",
        "a quote that is not closed",
        "a row of one",
        "infinity",
    ],
)
def test_bad_content_of_large_files(told, name, monkeypatch):
    content, expected = CONTENT[name]
    monkeypatch.setattr(text_table, "CHUNK", 64)
    assert expected in told(content)


def test_a_cell_that_is_too_long(told, monkeypatch):
    monkeypatch.setattr(text_table, "LONGEST", 10_000)
    found = told(b'a,b\n1,2\n3,"' + b"x,y\n" * 5_000)
    assert "has a cell of more than 10000 characters" in found
    found = told(b"a,b\n" + b"1,2\n" * 500 + b'3,"' + b"x,y\n" * 5_000)
    assert "a cell of more than 10000 characters in line 502; look there for a quotation" in found


TEXTS_AMONG_NUMBERS = {
    "behind lines in a cell": (b'a,b\n"x\ny",2\n"z\nw",3\nv,abc\n', "row 3 (line 6) has 'abc'"),
    "behind comments": (b"# one\n# two\na,b\n1,2\n3,4\n5,x\n", "row 3 (line 6) has 'x'"),
    "a long one": (b"a,b\n1,1\n2,2\n3," + b"x" * 500 + b"\n", "x...'"),
    "plain": (
        b"a,b\n1,2\n2,abc\n3,4\n4,5\n",
        "Column 'b' is to hold numbers, but row 2 (line 3) has 'abc'; correct it, leave the cell "
        "empty if it is missing, or read the column as categories (--categorical b",
    ),
}


@pytest.mark.parametrize("size", [16, 1 << 22])
@pytest.mark.parametrize("name", TEXTS_AMONG_NUMBERS)
def test_texts_among_numbers(told, name, size, monkeypatch):
    monkeypatch.setattr(text_table, "CHUNK", size)
    content, expected = TEXTS_AMONG_NUMBERS[name]
    assert expected in told(content, kinds={"b": "number"})


def test_bad_kinds(told):
    text = b"a,b,c\nx,2,2020-01-01\n3,4,\n"
    assert "Column 'a' is to hold numbers, but row 1 (line 2) has 'x'" in told(
        text, kinds={"a": "number"}
    )
    found = told(text, kinds={"b": "date", "a": "category"})
    assert (
        "Column 'b' is to hold dates, but row 1 (line 2) has '2'; write it as 2024-12-31" in found
    )
    assert "is to hold numbers, but row 1 (line 2) has '2020-01-01'" in told(
        text, kinds={"c": "number", "a": "category"}
    )
    assert "row 2 (line 3) has '3'" in told(b"a\n \n3\n", kinds={"a": "date"})


def test_there_is_no_file(tmp_path):
    (tmp_path / "iris.csv").write_text("a,b\n1,2\n")
    assert sentence(tmp_path / "nothing.csv").endswith(
        "nothing.csv'; check the name and the folder."
    )
    assert sentence(tmp_path / "iirs.csv").endswith("iirs.csv'; there is 'iris.csv'.")
    assert "its folder is not there either" in sentence(tmp_path / "nowhere" / "iris.csv")
    assert "is a folder; expected a file" in sentence(tmp_path)
    assert "load it first" in sentence("https://example.com/iris.csv")
    assert "no file" in sentence("a\0b.csv")
    assert "cannot be opened" in sentence("x" * 5000)
    assert read_table(str(tmp_path / "iris.csv")).frame["a"] == [1]
    for wrong in (None, 3, pd.DataFrame({"a": [1]}), io.StringIO("a,b\n1,2\n")):
        with pytest.raises(TypeError, match=f"path is {type(wrong).__name__}; expected the name"):
            read_table(wrong)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_and_devices(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "cannot be read twice; save it as a file" in sentence(tmp_path / "pipe")


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")

    def refused(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(opening, "open", refused, raising=False)
    assert "You have no permission to read" in sentence(path)

    def broken(*args):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(opening, "open", broken, raising=False)
    assert "cannot be read: Input/output error." in sentence(path)


PIECES = [
    '"',
    "'",
    ",",
    ";",
    "\t",
    "|",
    " ",
    "\n",
    "\r",
    "\r\n",
    "#",
    "%",
    "1",
    "2.5",
    "-3",
    "1e5",
    "1,5",
    "1,234",
    "a",
    "é",
    "NA",
    "?",
    "nan",
    "inf",
    "2020-01-01",
    "2020-01-01T10:00Z",
    "@relation r\n",
    "@attribute x numeric\n",
    "@attribute c {a,b}\n",
    "@data\n",
    "{",
    "}",
    "\\",
    "1_0",
    "sep=;",
    "\x1c",
    "٣",
]


@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from(PIECES), max_size=40).map(lambda parts: "".join(parts).encode())
    | st.builds(
        lambda rows, delimiter: "\n".join(map(delimiter.join, rows)).encode(),
        st.lists(st.lists(st.sampled_from(PIECES), min_size=2, max_size=3), min_size=1, max_size=6),
        st.sampled_from(",;\t| "),
    )
)
def test_any_file_is_read_or_gets_a_sentence(tmp_path_factory, content):
    """Nothing else may happen, and all ways of reading agree."""
    path = tmp_path_factory.mktemp("any") / "table.csv"
    path.write_bytes(content)
    assert len({outcome(path, size) for size in (16, 1 << 22)}) == 1


def outcome(path, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_table, "CHUNK", size)
        try:
            table = read_table(path)
        except TableFileError as error:
            return str(error)
        assert len(table.frame) > 0
        return repr((table.origin, table.notes, table.frame.tolist()))


@pytest.mark.parametrize("inside", [b"x" * 1000, b"xxx,yyyy\n" * 100])
def test_a_packed_file_with_an_endless_cell(told, inside):
    """It is refused while it is unpacked, before it fills the memory."""
    content = b'a,b\n1,2\n3,"' + inside * 30_000 + b'"\n'
    found = told(gzip.compress(content, 1), memory="100MB")
    assert "has a cell of more than 16777216 characters" in found


def test_memory_is_limited_while_a_text_is_read(told):
    content = b"a,b\n" + b"".join(b"%d,w%d\n" % (i, i) for i in range(100_000))
    found = told(gzip.compress(content), memory="1MB")
    assert "takes at least 1" in found
    assert "MB of memory as a table, more than the 1 MB that are allowed; read fewer" in found


def test_lines_that_are_no_json(told):
    assert "has a line that is no JSON object" in told(b'{"a": 1}\n{"a": 2\n')
    assert "has a line that is no JSON object" in told(b'{"a": 1}\n[1, 2]\n')
