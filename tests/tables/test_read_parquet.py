"""Parquet files, beside what pyarrow wrote."""

import datetime
import decimal
import gzip

import numpy as np
import pandas as pd
import pytest

from protolearn.reading.arrow_files import unpacked_size
from protolearn.tables import TableFileError, read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

TIME = datetime.datetime(2020, 1, 31, 12, 30, 0, 123456)


@pytest.fixture
def read(tmp_path):
    """Give a function that writes columns and reads them."""

    def function(given, packed=False, **options):
        path = tmp_path / "table.parquet"
        pq.write_table(given if isinstance(given, pa.Table) else pa.table(given), path)
        if packed:
            path.write_bytes(gzip.compress(path.read_bytes()))
        return read_table(path, **options)

    return function


NUMBERS = {
    "integers": (pa.array([1, None, -3], pa.int8()), [1, np.nan, -3]),
    "long integers": (pa.array([2**63, None, 1], pa.uint64()), [2.0**63, np.nan, 1]),
    "floats": (pa.array([1.5, None, float("nan")], pa.float32()), [1.5, np.nan, np.nan]),
    "decimals": (
        pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")]),
        [1.25, np.nan, -3.5],
    ),
    "a dictionary": (pa.array([1.5, None, 2.5]).dictionary_encode(), [1.5, np.nan, 2.5]),
    "nothing": (pa.nulls(3), [np.nan] * 3),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(read, name):
    column, expected = NUMBERS[name]
    found = read({"x": column}).frame["x"]
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


CATEGORIES = {
    "texts": (pa.array(["a", None, "NA", "", " b "]), ["a", None, None, None, "b"]),
    "large texts": (pa.array(["a", None], pa.large_string()), ["a", None]),
    "a dictionary": (pa.array(["a", None, "b", "a"]).dictionary_encode(), ["a", None, "b", "a"]),
    "truth values": (pa.array([True, None, False]), [True, None, False]),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories(read, name):
    column, expected = CATEGORIES[name]
    assert read({"x": column}).frame["x"].tolist() == expected


DATES = {
    "times": pa.array([TIME, None]),
    "times in a zone": pa.array([TIME, None], pa.timestamp("us", tz="Europe/Berlin")),
    "nanoseconds": pa.array([TIME, None], pa.timestamp("ns")),
    "milliseconds in a zone": pa.array(
        [TIME.replace(microsecond=123000), None], pa.timestamp("ms", tz="UTC")
    ),
    "days": pa.array([TIME.date(), None]),
    "days in milliseconds": pa.array([TIME.date(), None], pa.date64()),
}


@pytest.mark.parametrize("name", DATES)
def test_dates(read, name):
    column = DATES[name]
    expected = column.to_pandas()
    if getattr(expected.dtype, "tz", None) is not None:
        expected = expected.dt.tz_convert("UTC").dt.tz_localize(None)
    found = read({"x": column}).frame["x"]
    assert found.dtype == "datetime64[us]"
    np.testing.assert_array_equal(found, pd.to_datetime(expected).to_numpy("datetime64[us]"))


NESTED = {
    "list": pa.array([[1, 2]]),
    "struct": pa.array([{"a": 1}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "binary": pa.array([b"x"]),
    "duration": pa.array([datetime.timedelta(1)]),
}


@pytest.mark.parametrize("name", NESTED)
def test_what_is_no_number_and_no_category(read, name):
    columns = {"x": [1.5], "y": NESTED[name]}
    with pytest.raises(TableFileError, match=f"Column 'y' holds {name}.*; expected numbers, texts"):
        read(columns)
    assert read(columns, columns=["x"]).frame.tolist() == [(1.5,)]


def test_kinds(read):
    columns = {"n": [1, None], "f": [1.0, 2.5], "d": [TIME.date(), None], "s": ["1,5", "x"]}
    found = read(columns, kinds=dict.fromkeys("nfd", "category")).frame
    assert found["n"].tolist() == ["1", None]
    assert found["f"].tolist() == ["1", "2.5"]
    assert found["d"].tolist() == ["2020-01-31", None]
    found = read({"s": ["1", "", None, "-", "2.5"]}, kinds={"s": "number"}).frame["s"]
    np.testing.assert_array_equal(found, [1, np.nan, np.nan, np.nan, 2.5])
    found = read({"s": ["2020-01-31T00:00Z", "NA"]}, kinds={"s": "date"}).frame["s"]
    np.testing.assert_array_equal(found, np.array(["2020-01-31", "NaT"], "datetime64[us]"))
    assert np.isnat(read({"s": pa.nulls(2), "x": [1, 2]}, kinds={"s": "date"}).frame["s"]).all()
    with pytest.raises(TableFileError, match="Column 's' is to hold numbers, but row 2 has 'x'"):
        read({"s": ["1", "x"]}, kinds={"s": "number"})
    with pytest.raises(TableFileError, match="Column 's' is to hold dates, but row 1 has '1'"):
        read({"s": ["1", "x"]}, kinds={"s": "date"})
    with pytest.raises(TableFileError, match="Column 'n' is to hold dates, but holds int64"):
        read(columns, kinds={"n": "date"})


def test_packed_and_many_rows(read):
    rng = np.random.RandomState(0)
    x, word = rng.normal(size=150_000), rng.choice(["a", "b"], 150_000)
    for packed in (False, True):
        table = read({"x": x, "a.b": word}, packed=packed)
        np.testing.assert_array_equal(table.frame["x"], x)
        assert table.frame["a.b"].tolist() == word.tolist()
        kind = "gzipped Parquet" if packed else "Parquet"
        assert table.origin == f"table.parquet: {kind}, 150000 rows, 2 columns"
    assert read({"x": x, "a.b": word}, columns=["a.b"]).origin.endswith("1 of 2 columns")


def test_ten_thousand_columns(read):
    frame = read({f"c{j}": np.arange(2.0) for j in range(10_000)}).frame
    assert len(frame.dtype.names) == 10_000
    assert frame["c9999"].tolist() == [0, 1]


def test_mistakes(read, tmp_path):
    with pytest.raises(TableFileError, match="Column 'x' has inf in row 3, which is not a finite"):
        read({"x": [1.0, None, np.inf]})
    with pytest.raises(TableFileError, match="has names of columns, but no rows"):
        read({"x": pa.array([], pa.float64())})
    with pytest.raises(TableFileError, match="has no columns; expected one at least"):
        read(pa.table({}))
    twice = read(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    assert twice.frame.tolist() == [(1.0, 2.0)]
    assert twice.frame.dtype.names == ("a", "a (2)")
    with pytest.raises(TableFileError, match="has no name for column 2; expected one for each"):
        read(pa.Table.from_arrays([pa.array([1])] * 2, names=["a", ""]))
    with pytest.raises(TableFileError, match="'t' has a time too far from 1970"):
        read({"t": pa.array([2**62], pa.timestamp("ms"))})
    with pytest.raises(TableFileError, match="no column 'y'"):
        read({"x": [1]}, columns=["y"])
    read({"x": np.arange(100_000)})
    path = tmp_path / "table.parquet"
    good = path.read_bytes()
    for bad in (good[:4], good[: len(good) // 2], good[:2000] + b"\xff" * 3000 + good[5000:]):
        path.write_bytes(bad)
        with pytest.raises(TableFileError, match=r"is a damaged Parquet file \(.*\); copy or load"):
            read_table(path)
    path.write_bytes(gzip.compress(good)[:500])
    with pytest.raises(TableFileError, match="is a gzip file that ends too early"):
        read_table(path)


def test_memory_is_limited_before_a_table_is_read(read):
    """A file of a few kilobytes may hold a table of gigabytes."""
    rows = pa.table({"x": np.zeros(3_000_000), "y": np.zeros(3_000_000)})
    with pytest.raises(
        TableFileError, match="takes at least 48 MB of memory as a table, more than"
    ):
        read(rows, memory="40MB")
    assert len(read(rows.slice(0, 10), memory="40MB").frame) == 10
    texts = pa.table({"x": ["z" * 100_000 + str(i) for i in range(300)]})
    with pytest.raises(TableFileError, match="takes at least 30 MB of memory"):
        read(texts, memory=20_000_000)
    same = pa.table({"x": ["z" * 100_000] * 3000})  # one text that 3,000 rows share
    assert len(read(same, memory="20 MB").frame) == 3000
    for wrong in ("much", "-1", "0", 0):
        with pytest.raises(ValueError, match="is not a size; expected bytes as an integer"):
            read(texts, memory=wrong)


@pytest.mark.parametrize("packed", ["zstd", "lz4", "uncompressed"])
def test_memory_is_limited_before_a_batch_of_feather_is_unpacked(tmp_path, packed):
    path = tmp_path / "table.feather"
    words = pa.array(["a", None, "b"] * 1_000_000).dictionary_encode()
    table = pa.table({"x": np.zeros(3_000_000), "word": words})
    feather.write_feather(table, path, compression=packed, chunksize=10**7)
    with pytest.raises(TableFileError, match=r"takes at least 36\.4 MB of memory"):
        read_table(path, memory="20MB")
    assert len(read_table(path, memory="200MB").frame) == 3_000_000
    with path.open("rb") as stream:
        stream.seek(8)
        messages = [*pa.ipc.MessageReader.open_stream(stream)]
        assert max(map(unpacked_size, messages)) == pytest.approx(table.nbytes, rel=1e-4)
