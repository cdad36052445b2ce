"""ARFF files, beside what SciPy reads and by hand."""

import gzip

import numpy as np
import pytest
from scipy.io import arff

from protolearn.tables import TableFileError, read_table

HEAD = "@relation r\n@attribute x numeric\n@attribute c {a,b}\n@data\n"


@pytest.fixture
def read(tmp_path):
    """Give a function that reads a text."""

    def function(content, **options):
        path = tmp_path / "table.arff"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return function


AS_SCIPY = {
    "plain": HEAD + "1,a\n-2.5e3,b\n",
    "missing": HEAD + "?,a\n2,?\n",
    "comments and capitals": (
        "% by me\n\n@RELATION iris\n% more\n@ATTRIBUTE x REAL\n@ATTRIBUTE n INTEGER\n"
        "@ATTRIBUTE 'class name' {Iris-setosa,b}\n@DATA\n% c\n1.5,2,Iris-setosa\n\n2,3,b\n"
    ),
    "quotes": "@relation r\n@attribute c {'a b','x, y'}\n@data\n'a b'\n'x, y'\n",
    "blanks": "@relation r\n@attribute  x   numeric\n@attribute c { a, b}\n@data\n 1 , a\n2,  b\n",
    "codes": "@relation r\n@attribute c {0,1,NA}\n@data\n0\n1\nNA\n",
    "CRLF": (HEAD + "1,a\n2,b\n").replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", AS_SCIPY)
def test_like_scipy(read, tmp_path, name):
    table = read(AS_SCIPY[name])
    expected, meta = arff.loadarff(str(tmp_path / "table.arff"))
    assert table.frame.dtype.names == tuple(meta.names())
    for one in meta.names():
        if expected[one].dtype.kind == "f":
            np.testing.assert_array_equal(table.frame[one], expected[one])
        else:
            texts = [value.decode() for value in expected[one]]
            assert table.frame[one].tolist() == [None if t == "?" else t for t in texts]
    assert table.origin.startswith("table.arff: ARFF, ")


def test_what_scipy_does_not_read(read):
    frame = read(
        '@relation r\n@attribute c { "it\'s" , b }\n@attribute x numeric\n@data\n'
        "\"it's\",1\n b , '2' \n"
    ).frame
    assert frame.tolist() == [("it's", 1.0), ("b", 2.0)]


def test_texts_and_dates(read):
    frame = read(
        "@relation r\n@attribute 'a text' string\n@attribute d date 'yyyy-MM-dd'\n"
        '@attribute "e f" date "yyyy-MM-dd HH:mm:ss"\n@data\n'
        "'hello, \\'world\\'',2020-01-31,'2020-01-31 12:00:00'\nplain,?,?\n'50%',2020-02-29,?\n"
    ).frame
    assert frame["a text"].tolist() == ["hello, 'world'", "plain", "50%"]
    days = np.array(["2020-01-31", "NaT", "2020-02-29"], "datetime64[us]")
    np.testing.assert_array_equal(frame["d"], days)
    times = np.array(["2020-01-31T12:00", "NaT", "NaT"], "datetime64[us]")
    np.testing.assert_array_equal(frame["e f"], times)


def test_sparse_rows(read):
    frame = read(
        "@relation r\n@attribute x numeric\n@attribute y numeric\n@attribute c {'a b','c, d'}\n"
        "@data\n{0 1.5, 2 'c, d'}\n{1 3}\n{}\n{ 0 ?, 1 2 }\n1,2,'a b'\n"
    ).frame
    np.testing.assert_array_equal(frame["x"], [1.5, 0, 0, np.nan, 1])
    np.testing.assert_array_equal(frame["y"], [0, 3, 0, 2, 2])
    assert frame["c"].tolist() == ["c, d", "a b", "a b", "a b", "a b"]


def test_names(read):
    frame = read(
        "@relation r\n@attribute 'it\\'s' numeric\n@attribute '<script>' numeric\n"
        "@attribute 'x,y' numeric\n@attribute c{a,b}\n@data\n1,2,3,a\n"
    ).frame
    assert frame.dtype.names == ("it's", "<script>", "x,y", "c")


def test_packed_encoded_and_long(read):
    content = HEAD + "1,a\n2,b\n"
    for given in (
        gzip.compress(content.encode()),
        content.encode("utf-8-sig"),
        content.encode("utf-16"),
    ):
        assert read(given).frame.tolist() == [(1.0, "a"), (2.0, "b")]
    assert read("% " + "x" * 70_000 + "\n" + content).frame["x"].tolist() == [1, 2]
    frame = read(HEAD + "1.25,a\n?,b\n" * 200_000).frame  # large enough for the compiled way
    assert len(frame) == 400_000
    assert np.nansum(frame["x"]) == 250_000
    assert set(frame["c"][1::2]) == {"b"}
    assert read(content, kinds={"x": "category"}).frame["x"].tolist() == ["1", "2"]
    assert read(content, columns=["c"]).frame["c"].tolist() == ["a", "b"]


MISTAKES = {
    "a category that is not told": (
        HEAD + "1,a\n2,z\n3,y\n",
        "Column 'c' has 'z' in row 2 (line 6), which is not among its categories a, "
        "b; correct it, or add it to the header",
    ),
    "a quote that is not closed": (HEAD + "1,'a\n2,b\n", "row 1 (line 5)"),
    "a text among numbers": (
        HEAD + "1,a\nfoo,b\n",
        "Column 'x' is to hold numbers, but row 2 (line 6) has 'foo'",
    ),
    "infinity": (
        HEAD + "inf,a\n1,b\n",
        "Column 'x' has inf in row 1 (line 5), which is not a finite number",
    ),
    "a short row": (HEAD + "1,a\n2\n", "has 1 cell in row 2 (line 6), expected 2"),
    "a column that is not there": (
        HEAD + "{0 1}\n{5 1}\n",
        "has in line 6 the entry '5 1' in a sparse row; expected the number of a "
        "column from 0 to 1 and its value",
    ),
    "an entry without a place": (HEAD + "{x}\n", "has in line 5 the entry 'x'"),
    "no data": (
        "@relation r\n@attribute x numeric\n",
        "is an ARFF file without @data; expected rows after it",
    ),
    "no rows": (HEAD, "has names of columns, but no rows"),
    "no columns": ("@relation r\n@data\n1\n", "has no @attribute; expected one for each column"),
    "a type that is not known": (
        "@relation r\n@attribute x foo\n@data\n1\n",
        "(line 2) has the type 'foo' for column 'x'; expected numeric, string, date "
        "or categories as {a, b}",
    ),
    "no type": ("@relation r\n@attribute x\n@data\n1\n", "has the type '' for column 'x'"),
    "tables in tables": (
        "@relation r\n@attribute x relational\n@attribute y numeric\n@end x\n@data\n1\n",
        "has the type 'relational'",
    ),
    "categories that do not end": (
        "@relation r\n@attribute c {a,b\n@data\na\n",
        "has the type '{a,b'",
    ),
    "no name": (
        "@relation r\n@attribute\n@data\na\n",
        "(line 2) has '@attribute'; expected @attribute, a name and a type",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(read, name):
    content, expected = MISTAKES[name]
    with pytest.raises(TableFileError) as caught:
        read(content)
    assert expected in str(caught.value)
    assert str(caught.value).endswith(".")
