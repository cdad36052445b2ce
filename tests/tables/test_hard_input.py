"""Tables that are hard to read, or wrong."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest

from protolearn import GLVQ, counterfactual
from protolearn.tables import TableEncoder, prototypes_table, table_pipeline
from protolearn.tables.values import from_clock, to_clock, zone_of


def there_and_back(table, **parameters):
    encoder = TableEncoder(**parameters).fit(table)
    return encoder.inverse_transform(encoder.transform(table))


@pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint8])
def test_integers_at_the_end_of_their_type_do_not_turn_around(dtype):
    ends = np.iinfo(dtype)
    rows = np.array([[ends.max], [ends.min]], dtype=dtype)
    back = there_and_back(rows)
    assert back[:, 0].astype(float).tolist() == rows[:, 0].astype(float).tolist()


def test_an_integer_without_end_is_too_large():
    with pytest.raises(ValueError, match="'big' contains infinity in 1 of 2 rows"):
        TableEncoder().fit(pd.DataFrame({"big": [10**400, 1]}, dtype=object))


def test_numbers_whose_variance_vanishes_are_told():
    with pytest.raises(ValueError, match=r"'tiny' differ by 2.0e-300 at most"):
        TableEncoder().fit(pd.DataFrame({"tiny": [1e-300, 3e-300]}))


def test_missing_values_of_pandas_may_be_in_an_array():
    frame = pd.DataFrame(
        {
            "yes": pd.array([True, None, False, True], dtype="boolean"),
            "n": pd.array([1, 2, None, 4], dtype="Int64"),
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-04"]),
        }
    )
    rows = frame.to_numpy(dtype=object)
    assert any(value is pd.NA for value in rows.ravel())
    np.testing.assert_array_equal(
        TableEncoder().fit_transform(rows), TableEncoder().fit_transform(frame)
    )


@pytest.mark.parametrize("given", [3, None, [["x"], "y"], [], "xy", [None], ["x", "x"]])
def test_categories_that_are_none_are_named(given):
    frame = pd.DataFrame({"a": ["x", "y", None]})
    with pytest.raises(ValueError, match="categories of column 'a' are"):
        TableEncoder(categories={"a": given}).fit(frame)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_any_missing_value_may_stand_in_a_list_of_categories(missing):
    frame = pd.DataFrame({"a": ["x", "y", None]})
    encoder = TableEncoder(categories={"a": ["x", missing, "y"]}).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a=x", "a=y", "a=missing"]


def test_a_category_that_the_type_of_the_column_does_not_have_comes_back_as_text():
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "x"], categories=["x"])})
    encoder = TableEncoder(categories={"a": ["x", "y", None]}).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = encoder.inverse_transform(np.sqrt(0.5) * np.eye(3))
    assert back["a"].isna().tolist() == [False, False, True]
    assert back["a"].tolist()[:2] == ["x", "y"]


def test_truth_values_with_missing_ones_keep_their_type():
    frame = pd.DataFrame({"yes": pd.array([True, None, False, True], dtype="boolean")})
    pd.testing.assert_frame_equal(there_and_back(frame), frame)
    plain = TableEncoder(categories={"yes": [False, True, None]}).fit(frame.dropna().astype(bool))
    values = plain.inverse_transform(np.sqrt(0.5) * np.eye(3))["yes"].tolist()
    assert values == [False, True, None]  # a plain type has no place for the last


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("turned", [False, True])
def test_no_column_of_prototypes_is_lost_to_another_of_its_name(library, turned):
    columns = {
        "label": [1.0, 2.0, 3.0, 4.0],
        "prototype_label": [4.0, 3.0, 2.0, 9.0],
        "a": list("bcdb"),
        "a=b": [11.0, 12.0, 13.0, 15.0],
    }
    names = list(columns)[::-1] if turned else list(columns)
    frame = pytest.importorskip(library).DataFrame({name: columns[name] for name in names})
    model = table_pipeline(GLVQ(init="means")).fit(frame, ["u", "u", "w", "w"])
    table, shared = prototypes_table(model), prototypes_table(model, shares=True)
    labels = ["prototype_label (2)"] if library == "polars" else []
    assert list(table.columns) == labels + names
    assert set(shared.columns) == {*labels, *names, "a=b (2)", "a=c", "a=d"} - {"a"}
    assert min(table["a=b"]) > 5.0
    assert max(shared["a=b (2)"]) < 5.0


ZONE = "America/New_York"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates_are_told_and_bounded_by_the_clocks_of_their_time_zone(library):
    frames = pytest.importorskip(library)
    stamps = pd.date_range("2020-03-01", periods=8, tz=ZONE)  # clocks change on the 8th
    frame = pd.DataFrame({"when": stamps})
    if library == "polars":
        utc = stamps.tz_convert("UTC").tz_localize(None).to_pydatetime().tolist()
        when = frames.Series(utc).dt.replace_time_zone("UTC").dt.convert_time_zone(ZONE)
        frame = frames.DataFrame({"when": when})
    model = table_pipeline(GLVQ(init="means")).fit(frame, [0, 0, 0, 0, 1, 1, 1, 1])
    assert "mean 2020-03-04T12:00" in model[0].describe()
    found = counterfactual(model, frame[:1], bounds={"when": ("2020-03-05", None)})
    assert "2020-03-05T00:00 instead of 2020-03-01T00:00" in found.describe(0)
    aware = datetime.datetime(2020, 3, 5, 5, tzinfo=datetime.UTC)
    same = counterfactual(model, frame[:1], bounds={"when": (aware, None)})
    assert same.distance.tolist() == found.distance.tolist()


@pytest.mark.parametrize("hour", range(0, 24 * 3, 5))
def test_clocks_there_and_back(hour):
    zone = zone_of(pd.DatetimeTZDtype(tz=ZONE))
    day = pd.Timestamp("2020-03-07", tz="UTC").timestamp() / 86400 + hour / 24
    told = pd.Timestamp(day * 86400, unit="s", tz="UTC").tz_convert(ZONE).tz_localize(None)
    assert to_clock(day, zone) == pytest.approx(told.timestamp() / 86400, abs=1e-9)
    assert from_clock(to_clock(day, zone), zone) == pytest.approx(day, abs=1e-9)
    assert to_clock(1e7, zone) == 1e7  # in the year 29349, which has no clocks
