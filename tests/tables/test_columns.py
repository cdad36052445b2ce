"""Columns of all kinds, of pandas and polars, there and back."""

import datetime
import decimal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.tables import TableEncoder, split_target

DAYS = [datetime.date(2020, 1, 31), datetime.date(1912, 4, 15), datetime.date(2030, 12, 1)]
TIMES = [
    datetime.datetime(2020, 1, 31, 5, 6, 7, 890000),
    datetime.datetime(1969, 7, 20, 20, 17),
    None,
]


def pandas_frame():
    return pd.DataFrame(
        {
            "float": [1.5, -2.25, 1e6],
            "single": np.array([1.5, -2.25, 7.0], dtype=np.float32),
            "int": [3, 1, 2],
            "small": np.array([3, 1, 250], dtype=np.uint8),
            "nullable": pd.array([3, 1, 7], dtype="Int64"),
            "constant": [4, 4, 4],
            "bool": [True, False, True],
            "text": ["a", "b", "a"],
            "three": ["x", "missing", "y"],
            "gap": ["x", None, "y"],
            "category": pd.Categorical(["lo", "hi", "lo"], categories=["lo", "mid", "hi"]),
            "codes": pd.Categorical([3, 1, 3], categories=[3, 1], ordered=True),
            "day": pd.to_datetime(DAYS).astype("datetime64[s]"),
            "time": pd.to_datetime(TIMES[:2] + TIMES[:1]).astype("datetime64[us]"),
            "zone": pd.to_datetime(DAYS).tz_localize("Europe/Amsterdam"),
        }
    )


def polars_frame():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(
        {
            "float": [1.5, -2.25, 1e6],
            "int": [3, 1, 2],
            "bool": [True, False, True],
            "text": ["a", "b", "a"],
            "gap": ["x", None, "y"],
            "cat": pl.Series(["a", "c", "a"], dtype=pl.Categorical),
            "enum": pl.Series(["lo", "hi", "lo"], dtype=pl.Enum(["lo", "mid", "hi"])),
            "day": DAYS,
            "time": TIMES[:2] + TIMES[:1],
        },
    ).with_columns(
        pl.col("int").cast(pl.UInt8).alias("small"),
        pl.col("time").cast(pl.Datetime("ms")).alias("milli"),
        pl.col("time").dt.replace_time_zone("Europe/Amsterdam").alias("zone"),
    )


def test_pandas_there_and_back():
    frame = pandas_frame()
    encoder = TableEncoder().fit(frame)
    Z = encoder.transform(frame)
    assert np.isfinite(Z).all()
    back = encoder.inverse_transform(Z)
    pd.testing.assert_frame_equal(back, frame, rtol=1e-12)
    assert [column.kind for column in encoder.columns_].count("date") == 3


def test_polars_there_and_back():
    frame = polars_frame()
    encoder = TableEncoder().fit(frame)
    back = encoder.inverse_transform(encoder.transform(frame))
    assert back.schema == frame.schema
    assert back.drop("float").equals(frame.drop("float"))
    np.testing.assert_allclose(back["float"], frame["float"], rtol=1e-12)
    assert encoder.feature_names_in_.tolist() == frame.columns
    out = encoder.set_output(transform="polars").transform(frame)
    assert out.columns == encoder.get_feature_names_out().tolist()


def test_both_libraries_give_the_same_numbers():
    frame = polars_frame()
    pandas = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    pandas["enum"] = pd.Categorical(pandas["enum"], categories=["lo", "mid", "hi"])
    ours, theirs = TableEncoder().fit(frame), TableEncoder().fit(pandas)
    np.testing.assert_allclose(ours.transform(frame), theirs.transform(pandas), atol=1e-12)
    np.testing.assert_allclose(ours.transform(pandas), theirs.transform(frame), atol=1e-12)


# Numbers whose squares vanish have an error of their own.
FLOATS = st.floats(-1e6, 1e6).map(lambda number: number if abs(number) > 1e-100 else 0.0)
NUMBERS = st.one_of(st.none(), FLOATS, st.integers(-9, 9))
KINDS = [
    NUMBERS,
    st.one_of(st.none(), st.sampled_from(["a", "b", "", "missing", "nan"])),
    st.one_of(st.none(), st.booleans()),
    st.one_of(
        st.none(), st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))
    ),
]


@given(st.lists(st.tuples(*KINDS), min_size=1, max_size=8))
@pytest.mark.filterwarnings("ignore:No row has a value")
def test_any_rows_there_and_back(rows):
    X = np.empty((len(rows), 4), dtype=object)
    X[:] = rows
    encoder = TableEncoder().fit(X)
    back = encoder.inverse_transform(encoder.transform(X))
    for j, column in enumerate(encoder.columns_):
        for before, after in zip(X[:, j], back[:, j], strict=True):
            if before is None and j in (0, 3) and column.kind != "empty":
                before = {"number": column.median, "date": np.nan}[column.kind]
            if j == 0 and column.kind != "empty":
                assert after == pytest.approx(before, abs=1e-6)
            elif before is None:
                assert after is None or after != after
            elif j == 3 and before == before:
                assert abs(after - before) <= datetime.timedelta(microseconds=500)
            elif before == before:
                assert after == before


def test_dates_are_days():
    frame = pd.DataFrame({"day": pd.to_datetime(DAYS)})
    column = TableEncoder().fit(frame).columns_[0]
    expected = [(day - datetime.date(1970, 1, 1)).days for day in DAYS]
    assert column.mean == pytest.approx(np.mean(expected))
    assert column.sd == pytest.approx(np.std(expected))
    assert column.whole_days
    objects = TableEncoder().fit(pd.DataFrame({"day": pd.Series(DAYS, dtype=object)})).columns_[0]
    assert (objects.mean, objects.sd) == (column.mean, column.sd)


def test_missing_values_of_each_kind():
    frame = pd.DataFrame(
        {
            "n": [1.0, None, 3.0, 8.0],
            "t": ["a", None, "a", "b"],
            "b": [True, None, True, False],
            "d": [pd.Timestamp("2020-01-01"), pd.NaT, pd.Timestamp("2020-01-03"), pd.NaT],
        }
    )
    encoder = TableEncoder().fit(frame)
    assert encoder.columns_[1].categories == ("a", "b", None)
    assert encoder.columns_[2].categories == (False, True, None)
    back = encoder.inverse_transform(encoder.transform(frame))
    assert back["n"].tolist() == pytest.approx([1.0, 3.0, 3.0, 8.0])
    assert back["t"].isna().tolist() == back["b"].isna().tolist() == [False, True, False, False]
    assert (
        back["d"].tolist()
        == pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-02"]).tolist()
    )
    encoder = TableEncoder(missing="most_frequent").fit(frame)
    back = encoder.inverse_transform(encoder.transform(frame))
    assert back["t"].tolist() == ["a", "a", "a", "b"]
    assert back["b"].tolist() == [True, True, True, False]
    assert "1 missing, taken as a" in encoder.describe()


def test_missing_only_later_is_the_most_frequent():
    encoder = TableEncoder().fit(pd.DataFrame({"t": ["a", "b", "b", "c"]}))
    Z = encoder.transform(pd.DataFrame({"t": [None, "b"]}))
    np.testing.assert_array_equal(Z[0], Z[1])


def test_no_value_at_all():
    frame = pd.DataFrame({"n": [1.0, 2.0], "none": [np.nan, np.nan], "text": [None, None]})
    with pytest.warns(UserWarning, match="'none', 'text'.*left out of account"):
        encoder = TableEncoder().fit(frame)
    Z = encoder.transform(frame.assign(none=[5.0, 6.0], text=["a", "b"]))
    np.testing.assert_array_equal(Z[:, 1:], 0.0)
    assert encoder.inverse_transform(Z).iloc[:, 1:].isna().all(axis=None)


def test_unknown_categories():
    frame = pd.DataFrame({"two": ["a", "b", "a"], "three": ["x", "y", "z"]})
    new = pd.DataFrame({"two": ["c", "a"], "three": ["w", "x"]})
    encoder = TableEncoder().fit(frame)
    with pytest.warns(UserWarning, match=r"'c' in column 'two' \(1 row\); 'w' in column 'three'"):
        Z = encoder.transform(new)
    known = encoder.transform(frame)
    for places in (slice(0, 1), slice(1, 4)):
        away = np.linalg.norm(known[:, places] - Z[0, places], axis=1)
        np.testing.assert_allclose(away, away[0])
    assert encoder.inverse_transform(Z).isna().iloc[0].all()
    quiet = TableEncoder(unknown="ignore").fit(frame)
    np.testing.assert_array_equal(quiet.transform(new), Z)
    with pytest.raises(ValueError, match="'w' in column 'three'"):
        TableEncoder(unknown="error").fit(frame).transform(new)


def test_columns_by_name():
    frame = pd.DataFrame({"n": [1.0, 2.0, 4.0], "t": ["a", "b", "a"]})
    encoder = TableEncoder().fit(frame)
    Z = encoder.transform(frame)
    np.testing.assert_array_equal(encoder.transform(frame[["t", "n"]]), Z)
    np.testing.assert_array_equal(encoder.transform(frame.assign(label="x")[::-1]), Z[::-1])
    np.testing.assert_array_equal(encoder.transform(frame[:1]), Z[:1])
    with pytest.raises(ValueError, match=r"no column 't'.*Did you mean 'tt'"):
        encoder.transform(frame.rename(columns={"t": "tt"}))
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(encoder.transform(frame.to_numpy()), Z)
    encoder = TableEncoder().fit(frame.to_numpy())
    np.testing.assert_array_equal(encoder.transform(frame.to_numpy()), Z)
    with pytest.raises(ValueError, match="expecting 2 features"):
        encoder.transform(np.ones((2, 3)))


def test_hostile_names():
    frame = pd.DataFrame([[1.0, "a", 2.0]], columns=["a b", 'it\'s "x"', "={}%"])
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a b", 'it\'s "x"=a', "={}%"]
    assert encoder.inverse_transform(encoder.transform(frame)).columns.tolist() == list(frame)
    clash = pd.DataFrame({"a": ["b=c", "d", "e"], "a=b": ["c", "x", "y"]})
    names = TableEncoder().fit(clash).get_feature_names_out()
    assert len(set(names)) == 6
    with pytest.raises(ValueError, match="several columns with the name 'a'"):
        TableEncoder().fit(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]))
    numbers = pd.DataFrame([[1.0, "a"], [2.0, "b"]], columns=[10, 7])
    encoder = TableEncoder().fit(numbers)
    assert not hasattr(encoder, "feature_names_in_")
    np.testing.assert_array_equal(encoder.transform(numbers[[7, 10]]), encoder.transform(numbers))
    assert encoder.inverse_transform(encoder.transform(numbers)).columns.tolist() == [10, 7]
    tuples = pd.DataFrame(
        [[1.0, "a"], [2.0, "b"]], columns=pd.MultiIndex.from_tuples([(0, 1), (0, 2)])
    )
    encoder = TableEncoder().fit(tuples)
    assert encoder.transform(tuples).shape == (2, 2)


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        ([1.0, np.inf], ValueError, "'wrong' contains infinity in 1 of 2 rows"),
        ([1e200, -1e300], ValueError, "'wrong' are too large"),
        ([[1], [2]], TypeError, "'wrong' holds list"),
        ([1 + 2j, 3.0], ValueError, "Complex data not supported: column 'wrong'"),
        (pd.to_timedelta([1, 2], "D"), TypeError, "'wrong' holds timedelta64"),
        ([f"id {i}" for i in range(2)], ValueError, "max_categories=2: column 'wrong' has 3"),
        ([datetime.date(2020, 1, 1), "x"], TypeError, "'wrong' holds date"),
    ],
    ids=["infinite", "huge", "lists", "complex", "timedelta", "identifier", "mixture"],
)
def test_columns_that_cannot_be(column, error, message):
    frame = pd.DataFrame({"fine": [1.0, 2.0], "wrong": column})
    encoder = TableEncoder()
    if "max_categories" in message:
        frame = pd.concat([frame, frame.assign(wrong="another")])
        encoder.set_params(max_categories=2)
    with pytest.raises(error, match=message):
        encoder.fit(frame)


def test_columns_that_have_changed():
    encoder = TableEncoder().fit(pd.DataFrame({"n": [1.0, 2.0], "d": pd.to_datetime(DAYS[:2])}))
    good = pd.DataFrame({"n": [1.0], "d": pd.to_datetime(DAYS[:1])})
    with pytest.raises(ValueError, match=r"'n' held numbers.*now holds categories, such as 'two'"):
        encoder.transform(good.assign(n="two"))
    with pytest.raises(ValueError, match=r"'d' held dates.*now holds numbers, such as 3.5"):
        encoder.transform(good.assign(d=3.5))
    with pytest.raises(ValueError, match="'n' contains infinity"):
        encoder.transform(good.assign(n=-np.inf))
    with pytest.raises(ValueError, match="named as categorical"):
        TableEncoder(categorical=["d"]).fit(good)
    with pytest.raises(ValueError, match=r"shape \(0, 2\)"):
        encoder.transform(good[:0])
    np.testing.assert_array_equal(encoder.transform(good.assign(n=True)), encoder.transform(good))


def test_columns_of_polars_that_cannot_be():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="'wrong' holds List"):
        TableEncoder().fit(pl.DataFrame({"wrong": [[1], [2]]}))
    with pytest.raises(TypeError, match=r"collect\(\)"):
        TableEncoder().fit(pl.DataFrame({"n": [1, 2]}).lazy())
    with pytest.warns(UserWarning, match="'none'"):
        TableEncoder().fit(pl.DataFrame({"n": [1, 2], "none": [None, None]}))


def test_values_that_a_type_cannot_hold():
    frame = pd.DataFrame({"n": np.array([1, 2, 3], dtype=np.uint8)})
    encoder = TableEncoder().fit(frame)
    sd = encoder.columns_[0].sd
    back = encoder.inverse_transform([[-5.0 / sd], [0.0]])["n"]
    assert back.tolist() == pytest.approx([-3.0, 2.0])
    back = encoder.inverse_transform([[0.25 / sd], [0.0]])["n"]
    assert back.tolist() == pytest.approx([2.25, 2.0])
    pl = pytest.importorskip("polars")
    encoder = TableEncoder().fit(pl.DataFrame({"n": pl.Series([1, 2, 3], dtype=pl.UInt8)}))
    assert encoder.inverse_transform([[-5.0 / sd]])["n"].to_list() == pytest.approx([-3.0])


def test_one_row():
    frame = pandas_frame()[:1]
    encoder = TableEncoder().fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame)[:, 0], 0.0)
    back = encoder.inverse_transform(encoder.transform(frame))
    pd.testing.assert_frame_equal(back, frame)


WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, *others):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
from protolearn.tables import TableEncoder, split_target
print(TableEncoder().fit_transform([[1.0, "a"], [3.0, "b"]]).tolist())
"""


def test_frames_are_not_needed_to_import():
    told = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert told.stdout.strip() == "[[-1.0, 0.0], [1.0, 1.0]]", told.stderr


ARROW = {
    "x": pa.array([1.5, None, 3.0, 4.5]),
    "count": pa.array([1, 2, None, 4], pa.int16()),
    "price": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25"), decimal.Decimal(3)]),
    "word": pa.array(["a", "b", None, "a"]),
    "level": pa.array(["low", None, "high", "low"]).dictionary_encode(),
    "good": pa.array([True, None, False, True]),
    "day": pa.array([datetime.date(2020, 1, 31), None] * 2),
    "at": pa.array([datetime.datetime(2020, 7, 1, 12)] * 4, pa.timestamp("ms", "Europe/Berlin")),
}


def test_tables_of_arrow_are_like_frames_of_pandas():
    table = pa.table(ARROW)
    encoder = TableEncoder().fit(table)
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    same = TableEncoder().fit(frame)
    np.testing.assert_array_equal(encoder.transform(table), same.transform(frame))
    assert encoder.describe() == same.describe()
    assert encoder.library_ == "pyarrow"
    back = encoder.inverse_transform(encoder.transform(table))
    assert back.schema.names == table.schema.names
    for name in ("word", "level", "good"):
        found = [value for value in back[name].to_pylist() if value is not None]
        assert found == [value for value in table[name].to_pylist() if value is not None]
    assert back.schema.field("at").type == table.schema.field("at").type
    assert back["at"].to_pylist() == table["at"].to_pylist()
    X, y = split_target(table.select(["x", "word", "good"]).slice(0, 2), "word")
    assert X.column_names == ["x", "good"]
    assert y.tolist() == ["a", "b"]
