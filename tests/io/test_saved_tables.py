"""Pipelines that were fitted to frames and structured arrays, and the types of their columns."""

import copy
import datetime
import pickle
import sys
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import protolearn
from protolearn import GLVQ, GMLVQ, AutoPrototypeClassifier, RejectClassifier
from protolearn.io import ModelFileError
from protolearn.tables import TableEncoder, prototypes_table, table_pipeline
from protolearn.tables.columns import NumberColumn
from protolearn.tables.dtypes import WrittenType, from_words, in_words

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 40
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


def columns():
    """Give columns of each kind, with holes."""
    rng = np.random.RandomState(0)
    day = np.datetime64("2024-03-01") + rng.randint(0, 90, N)
    return {
        "age": np.where(rng.rand(N) < 0.2, np.nan, rng.randint(1, 80, N)),
        "rooms": rng.randint(0, 5, N),
        "port": rng.choice(np.array(["S", "C", "Q", None], dtype=object), N),
        "alone": rng.rand(N) < 0.5,
        "booked": day,
    }


LABELS = np.where(np.arange(N) % 3 == 0, "lived", "died")


def pandas_frame():
    """Give a frame of pandas with types of its own."""
    frame = pd.DataFrame(columns())
    frame["class"] = pd.Categorical(
        np.resize(["low", "high"], N), ["low", "mid", "high"], ordered=True
    )
    frame["deck"] = pd.Series(np.resize(["A", "B", None], N), dtype="string")
    frame["fare"] = pd.array(np.resize([1, 7, None], N), dtype="Int64")
    frame["left"] = pd.Series(frame["booked"]).dt.tz_localize("UTC").dt.tz_convert(BERLIN)
    frame["nothing"] = np.nan
    return frame


def polars_frame():
    """Give a frame of polars with types of its own."""
    given = columns()
    frame = pl.DataFrame(
        {
            **given,
            "age": [None if np.isnan(age) else age for age in given["age"]],
            "port": given["port"].tolist(),
        }
    )
    return frame.with_columns(
        pl.col("port").cast(pl.Categorical).alias("harbour"),
        pl.col("port").cast(pl.Enum(["Q", "S", "C"])).alias("place"),
        pl.col("booked").cast(pl.Datetime("us", "Europe/Berlin")).alias("left"),
        pl.col("rooms").cast(pl.UInt8).alias("beds"),
    )


def structured_array():
    """Give a structured array."""
    given = columns()
    fields = [("age", "f4"), ("rooms", "i2"), ("port", "O"), ("alone", "?"), ("booked", "M8[D]")]
    found = np.empty(N, dtype=[*fields, ("code", "S2")])
    for name, column in given.items():
        found[name] = column
    found["code"] = np.resize([b"aa", b"b"], N)
    return found


TABLES = {"pandas": pandas_frame, "polars": polars_frame, "structured": structured_array}


def as_text(table):
    """Write a table with its types."""
    return repr(table.dtypes if hasattr(table, "dtypes") else table.dtype) + repr(table)


@pytest.mark.filterwarnings("ignore:No row has a value")
@pytest.mark.parametrize("library", TABLES)
def test_tables(library, come_back):
    table = TABLES[library]()
    model = table_pipeline(GLVQ(max_iter=3, random_state=0), table).fit(table, LABELS)
    loaded = come_back(model, table)
    encoder, again = model[0], loaded[0]
    assert again.columns_ == encoder.columns_
    for column, other in zip(encoder.columns_, again.columns_, strict=True):
        assert str(column) == str(other)
        assert column.dtype == other.dtype
        assert type(column.dtype) is type(other.dtype)
    assert as_text(prototypes_table(loaded)) == as_text(prototypes_table(model))
    rows = encoder.transform(table)
    assert as_text(again.inverse_transform(rows)) == as_text(encoder.inverse_transform(rows))


@pytest.mark.filterwarnings("ignore:No row has a value")
@pytest.mark.parametrize("library", TABLES)
def test_pickles_of_columns_need_no_library_of_frames(library):
    encoder = TableEncoder().fit(TABLES[library]())
    written = pickle.dumps(encoder.columns_)
    assert b"pandas." not in written
    assert b"polars." not in written
    for other in (pickle.loads(written), copy.deepcopy(encoder.columns_)):
        assert other == encoder.columns_
    assert str(clone(encoder)) == str(encoder)


@pytest.mark.filterwarnings("ignore:No row has a value")
@pytest.mark.parametrize(
    "model",
    [
        GMLVQ(max_iter=2, random_state=0),
        RejectClassifier(GLVQ(max_iter=2), cost=0.3),
        AutoPrototypeClassifier(max_fits=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_at_the_end(model, come_back):
    table = pandas_frame()
    come_back(table_pipeline(model).fit(table, LABELS), table)


def test_an_array_of_numbers_and_texts(come_back):
    table = np.array([[1.0, "a"], [2.0, "b"], [3.0, None], [4.5, "a"]], dtype=object)
    come_back(table_pipeline(GLVQ(max_iter=2)).fit(table, [0, 0, 1, 1]), table)


def test_a_search_over_tables(come_back):
    table = pandas_frame()[["rooms", "port", "booked", "class"]]
    pipeline = table_pipeline(GLVQ(max_iter=2, random_state=0), table)
    name = f"{pipeline.steps[-1][0]}__beta"
    come_back(GridSearchCV(pipeline, {name: [1.0, 2.0]}, cv=2).fit(table, LABELS), table)


def test_intervals_as_categories_are_told(tmp_path):
    table = pd.DataFrame({"a": np.arange(N), "b": pd.cut(np.arange(N) % 7, 3)})
    model = table_pipeline(GLVQ(max_iter=2)).fit(table, LABELS)
    place = r"cannot write, Pipeline\.steps\[0\]\[1\]\.columns_\[1\]\.dtype"
    with pytest.raises(ModelFileError, match=place):
        protolearn.save(model, tmp_path / "model")
    assert (
        pickle.loads(pickle.dumps(model)).predict(table).tolist() == model.predict(table).tolist()
    )


def category(values, *, ordered=False):
    """Give a type of categories."""
    return pd.CategoricalDtype(values, ordered=ordered)


def hours(n):
    """Give a time zone by its distance from UTC."""
    return datetime.timezone(datetime.timedelta(hours=n))


DTYPES = [
    *map(np.dtype, ["f8", ">i4", "u2", "?", "M8[D]", "M8[ns]", "U3", "S4", "O"]),
    *[pd.DatetimeTZDtype(unit, zone) for unit in ("ns", "s") for zone in (BERLIN, "UTC", hours(2))],
    pd.DatetimeTZDtype("ns", "Europe/Berlin"),
    pd.DatetimeTZDtype("ns", hours(-3.5)),
    pd.Int64Dtype(),
    pd.Float32Dtype(),
    pd.BooleanDtype(),
    pd.StringDtype("python"),
    pd.StringDtype("pyarrow"),
    pd.Series(["a"]).dtype,
    pd.SparseDtype(int, 0),
    category(["b", "a"], ordered=True),
    category(["b", "a"]),
    category([2, 1]),
    category([0.5]),
    category([True, False]),
    category([1, "a"]),
    category([]),
    category(pd.Index(["a"], dtype="string")),
    category(pd.Index([1], dtype="Int8")),
    pd.ArrowDtype(pa.int64()),
    pd.ArrowDtype(pa.string()),
    pd.ArrowDtype(pa.timestamp("us", "Europe/Berlin")),
    pd.ArrowDtype(pa.date32()),
    pd.ArrowDtype(pa.decimal128(5, 2)),
    pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
    pl.Int64(),
    pl.String(),
    pl.Boolean(),
    pl.Date(),
    pl.Datetime("ms"),
    pl.Datetime("us", "Europe/Berlin"),
    pl.Categorical(),
    pl.Enum(["b", "a"]),
    pl.Decimal(5, 2),
    pl.Null(),
    pl.Object(),
]
if hasattr(np.dtypes, "StringDType"):
    DTYPES.append(np.dtypes.StringDType())
    DTYPES.append(pd.StringDtype("python", na_value=np.nan))
if hasattr(pl, "Categories"):
    DTYPES.append(pl.Categorical(pl.Categories("own", "space")))


@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
def test_types_come_back_from_words(dtype):
    words = in_words(dtype)
    assert isinstance(words, dict)
    found = from_words(words)
    assert found == dtype
    assert type(found) is type(dtype)
    assert repr(found) == repr(dtype)


def test_categories_keep_their_order():
    found = from_words(in_words(category(["b", "c", "a"])))
    assert found.categories.tolist() == ["b", "c", "a"]


@pytest.mark.parametrize(
    "dtype",
    [
        category(pd.to_datetime(["2020-01-01"])),
        category([(1, 2)]),
        pd.CategoricalDtype(),
        pd.ArrowDtype(pa.list_(pa.int64())),
        pl.List(pl.Int64),
        object(),
    ],
    ids=lambda dtype: type(dtype).__name__,
)
def test_other_types_stay_themselves(dtype):
    assert in_words(dtype) is dtype


ABROAD = [
    (pd.DatetimeTZDtype("ns", BERLIN), "pandas", "2024-07-01T02:00"),
    (pd.DatetimeTZDtype("ns", hours(2)), "pandas", "2024-07-01T02:00"),
    (pd.ArrowDtype(pa.timestamp("us", "Europe/Berlin")), "pandas", "2024-07-01T02:00"),
    (pd.ArrowDtype(pa.decimal128(5, 2)), "pandas", "2024-07-01T00:00"),
    (pd.SparseDtype(int, 0), "pandas", "2024-07-01T00:00"),
    (category(["a, b"]), "pandas", "2024-07-01T00:00"),
    (pl.Datetime("us", "Europe/Berlin"), "polars", "2024-07-01T02:00"),
    (pl.Datetime("us", "+02:00"), "polars", "2024-07-01T02:00"),
    (pl.Int64(), "polars", "2024-07-01T00:00"),
]


@pytest.mark.parametrize(("dtype", "library", "clock"), ABROAD, ids=repr)
def test_without_the_library_the_words_are_kept(dtype, library, clock, monkeypatch):
    day = float(np.datetime64("2024-07-01").astype(int))
    column = NumberColumn("left", "date", day, day, 1.0, day, day, dtype=dtype)
    written = pickle.dumps(column)
    monkeypatch.setitem(sys.modules, library, None)
    here = pickle.loads(written)
    assert isinstance(here.dtype, WrittenType)
    assert here.text(day) == clock
    again = pickle.dumps(here)
    assert pickle.loads(again).dtype == here.dtype
    monkeypatch.undo()
    assert pickle.loads(again).dtype == dtype


def test_a_zone_that_is_not_known_here():
    assert WrittenType("pandas", "datetime64[ns, Atlantis/City]").time_zone is None


def test_old_pickles_of_columns_hold_the_type_itself():
    column = NumberColumn("a", "number", 0.0, 0.0, 1.0, 0.0, 0.0, dtype=np.dtype("f8"))
    old = NumberColumn.__new__(NumberColumn)
    old.__setstate__({**vars(column)})
    assert old == column
