"""What is printed of counterfactuals and radii is true when it is read back."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from given_changes import read_assignments
from protolearn import GLVQ, GMLVQ, LGMLVQ, SoftMarginSVM, counterfactual
from protolearn._names import decimals_text, digits_text, exact_text, radius_text
from protolearn.tables import table_pipeline
from protolearn.tables.pipeline import quote_text

LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}

MODELS = {
    "glvq": GLVQ(random_state=0),
    "several": GLVQ(prototypes_per_class=3, random_state=0),
    "gmlvq": GMLVQ(random_state=0),
    "logistic": LogisticRegression(),
    "scaled": make_pipeline(MinMaxScaler(), GLVQ(random_state=0)),
}


def read_back(found, frame):
    """Give the rows with the values that are printed."""
    values, places = frame.to_numpy(float).copy(), {name: j for j, name in enumerate(frame)}
    for i, changes in enumerate(found.changes):
        for change in changes:
            values[i, places[change.column]] = float(change.new)
    return pd.DataFrame(values, frame.index, frame.columns)


@pytest.mark.parametrize("table", LOADERS)
@pytest.mark.parametrize("name", MODELS)
def test_printed_rows_have_the_promised_class(table, name):
    frame, y = LOADERS[table](return_X_y=True, as_frame=True)
    model = table_pipeline(MODELS[name]).fit(frame, y)
    some = frame[:: 1 if name in ("glvq", "logistic", "scaled") and len(frame.T) < 30 else 40]
    found = counterfactual(model, some)
    rows = read_back(found, some)
    assert found.feasible.all()
    assert model.predict(rows).tolist() == found.label.tolist()
    assert (found.label != found.original_label).all()
    pd.testing.assert_frame_equal(rows, found.points)
    assert ((rows >= frame.min()) & (rows <= frame.max())).all(axis=None)


def test_integers_stay_integers():
    frame, y = load_wine(return_X_y=True, as_frame=True)
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    changes = [c for row in counterfactual(model, frame).changes for c in row]
    assert [c.name for c in model[0].columns_ if c.is_integer] == ["magnesium", "proline"]
    assert all(c.new.isdecimal() for c in changes if c.column in ("magnesium", "proline"))
    assert not all(c.new.isdecimal() for c in changes)
    narrow = pd.DataFrame({"n": [0, 0, 1, 1], "x": [0.0, 1.0, 0.0, 1.0]})
    model = table_pipeline(GLVQ(init="means")).fit(narrow, [0, 0, 1, 1])
    # The only integer of the range is the one that is there.
    assert not counterfactual(model, narrow[:1], fixed="x", bounds={"n": (0.0, 0.75)}).feasible[0]


@pytest.mark.parametrize("last", [LGMLVQ(random_state=0, max_iter=20), SoftMarginSVM()], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_units_and_offsets(last, unit, offset):
    X, y = load_iris(return_X_y=True, as_frame=True)
    frame, y = (X[:12] + offset) * unit, np.arange(12) % 2
    frame.iloc[y == 1] += 0.3 * unit
    model = table_pipeline(last).fit(frame, y)
    found = counterfactual(model, frame, data=frame)
    assert found.feasible.all()
    rows = read_back(found, frame)
    assert model.predict(rows).tolist() == found.label.tolist()
    pd.testing.assert_frame_equal(rows, found.points, check_exact=True)


def test_numbers_without_a_table():
    for load in LOADERS.values():
        frame, y = load(return_X_y=True, as_frame=True)
        frame, y = frame.iloc[::9, -4:], y[::9]  # the sentence tells of five columns
        model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(frame, y)
        ends = frame.mean() - 2.01 * frame.std(), frame.mean() + 2.01 * frame.std()
        for bounds in (None, tuple(end.to_numpy() for end in ends)):
            found = counterfactual(model, frame, bounds=bounds)
            assert found.feasible.any()
            rows = frame.copy()
            for i in np.flatnonzero(found.feasible):
                head, _, changes = found.describe(i).partition(": ")
                assert head == f"{found.original_label[i]} -> {found.label[i]}"
                for text in changes.split(", "):
                    name, value = text.split(" -> ")
                    rows.loc[rows.index[i], name.rpartition(" ")[0]] = float(value)
            rows = rows[found.feasible]
            assert model.predict(rows).tolist() == found.label[found.feasible].tolist()
            assert bounds is None or ((ends[0] <= rows) & (rows <= ends[1])).all(axis=None)


def test_dates_are_those_of_the_text():
    rng = np.random.RandomState(0)
    for zone in (None, "Europe/Berlin"):
        for minutes in (0, rng.randint(0, 1440, 120)):
            days = pd.to_timedelta(rng.randint(0, 400, 120), "D") + pd.to_timedelta(minutes, "m")
            frame = pd.DataFrame({"day": pd.Timestamp("2020-01-01", tz=zone) + days})
            late = frame["day"] > pd.Timestamp("2020-08-01", tz=zone)
            model = table_pipeline(GLVQ(random_state=0)).fit(frame, late)
            found = counterfactual(model, frame)
            printed = [changes[0].new for changes in found.changes]
            rows = frame.assign(day=pd.to_datetime(printed).tz_localize(zone))
            assert model.predict(rows).tolist() == found.label.tolist()
            assert {len(text) for text in printed} == {16 if zone or np.ndim(minutes) else 10}
            assert (rows["day"] == found.points["day"]).all()


@given(st.floats(0.0, allow_infinity=False))
def test_radii_are_rounded_down(radius):
    text = radius_text(radius)
    assert Fraction(9, 10) * Fraction(radius) <= Fraction(text) <= Fraction(radius)
    assert float(text) <= radius
    assert len(text.replace(".", "").split("e")[0].strip("0")) <= 2
    assert radius_text(math.inf) == "infinity"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 17))
def test_texts_of_numbers(value, digits):
    assert float(exact_text(value)) == value
    assert float(digits_text(value, digits + 1)) == float(f"{value:.{digits}e}")
    if abs(value) < 1e15:
        assert float(decimals_text(value, digits)) == float(f"{value:.{digits}f}")


PIECES = ["a", "to", " ", ",", '"', "\\", ":", ".", "\n", "\x1b", "é", "9"]
HARD = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@given(st.dictionaries(HARD, HARD, min_size=1))
def test_names_and_values_are_read_back(values):
    text = ", ".join(f"{quote_text(n)} to {quote_text(value)}" for n, value in values.items())
    assert read_assignments(text) == values
    assert text.isprintable()
    assert quote_text("sepal length (cm): 5") == "sepal length (cm): 5"
