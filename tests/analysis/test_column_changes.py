"""Smallest changes of the answer in a table, against other ways to find them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from protolearn import GLVQ, GMLVQ, LGMLVQ, RSLVQ, MeanOfClass, counterfactual, datasets
from protolearn.analysis.flat_changes import search_options
from protolearn.tables import prototypes_table, table_pipeline

COLOURS, FLAGS = ["blue", "green", "red"], [False, True]


def make_table(n=90, seed=0):
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170.0, 10.0, n),
            "colour": rng.choice(COLOURS, n),
            "income": rng.normal(3000.0, 900.0, n),
            "flag": rng.rand(n) < 0.5,
        }
    )
    score = (frame["height"] - 170) / 10 + (frame["income"] - 3000) / 900
    score += 1.5 * (frame["colour"] == "red") + frame["flag"] + 0.3 * rng.randn(n)
    return frame, np.array(["low", "mid", "top"])[np.digitize(score, [0.3, 1.6])]


def make_grid(n=60, seed=0, classes=3):
    """Give integers and categories of few values, so that all rows can be tried."""
    rng = np.random.RandomState(seed)
    frame = pd.DataFrame(
        {
            "age": rng.randint(20, 27, n),
            "colour": rng.choice(COLOURS, n),
            "rooms": rng.randint(1, 5, n),
            "flag": rng.rand(n) < 0.5,
        }
    )
    score = frame["age"] / 3 + frame["rooms"] + (frame["colour"] == "red") + frame["flag"]
    score += 0.5 * rng.randn(n)
    codes = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return frame, np.array(["low", "mid", "top"])[codes]


def every_row(frame):
    """Give all rows of the observed ranges."""
    ages, rooms = (range(frame[name].min(), frame[name].max() + 1) for name in ("age", "rooms"))
    return pd.DataFrame(list(product(ages, COLOURS, rooms, FLAGS)), columns=list(frame))


def costs(model, grid, row):
    """Give the size of the change to each row of a grid, and how many columns change."""
    size, changed = np.zeros(len(grid)), np.zeros(len(grid), dtype=int)
    for column in model[0].columns_:
        new, old = grid[column.name], row[column.name]
        unit = abs(new - old) / column.sd if hasattr(column, "sd") else 1.0 * (new != old)
        size += unit
        changed += new != old
    return size, changed


LASTS = {
    "one": GLVQ(random_state=0),
    "two": GLVQ(prototypes_per_class=2, random_state=0),
    "matrix": GMLVQ(random_state=0),
    "logistic": LogisticRegression(),
    "means": MeanOfClass(),
}

QUESTIONS = {
    "free": ({}, lambda grid, row: True),
    "fixed": ({"fixed": ["age"]}, lambda grid, row: grid["age"] == row["age"]),
    "up": ({"increase_only": "age"}, lambda grid, row: grid["age"] >= row["age"]),
    "down": ({"decrease_only": ["rooms"]}, lambda grid, row: grid["rooms"] <= row["rooms"]),
    "bounds": (
        {"bounds": {"age": (21, 23), "colour": ["red", "blue"]}},
        lambda grid, row: grid["age"].between(21, 23) & grid["colour"].isin(["red", "blue"]),
    ),
    "rule": (
        {"constraints": "10 * rooms <= 2 * age - 8"},
        lambda grid, row: 10 * grid["rooms"] <= 2 * grid["age"] - 8,
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("last", LASTS)
@pytest.mark.parametrize("classes", [2, 3])
def test_is_the_best_of_all_rows(last, question, classes):
    """All rows of a small grid are tried: the cheapest, and that of the fewest columns."""
    frame, y = make_grid(classes=classes)
    model = table_pipeline(clone(LASTS[last])).fit(frame, y)
    grid, (options, is_allowed) = every_row(frame), QUESTIONS[question]
    label, rows = model.predict(grid), frame[:6]
    found = counterfactual(model, rows, **options)
    few = counterfactual(model, rows, fewest=True, **options)
    at_most = counterfactual(model, rows, max_changes=1, **options)
    assert found.exact
    assert few.exact
    for i, own in enumerate(model.predict(rows)):
        row = rows.iloc[i]
        size, changed = costs(model, grid, row)
        there = (label != own) & is_allowed(grid, row)
        assert found.feasible[i] == few.feasible[i] == there.any()
        alone = there & (changed <= 1)
        assert at_most.feasible[i] == alone.any()
        if alone.any():
            assert at_most.distance[i] == pytest.approx(size[alone].min())
        if there.any():
            assert found.distance[i] == pytest.approx(size[there].min())
            assert len(few.changes[i]) == changed[there].min()
            fewest = there & (changed == changed[there].min())
            assert few.distance[i] == pytest.approx(size[fewest].min())
    for one in (found, few, at_most):
        assert one.label.tolist() == model.predict(one.points).tolist()
        assert (one.label[one.feasible] != one.original_label[one.feasible]).all()
        assert one.points.dtypes.tolist() == rows.dtypes.tolist()


@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_stays_on_a_grid_of_odd_numbers(unit):
    """Where all ages are odd, and all sums of money end in 25, a proposal is such a number too."""
    frame, y = make_grid(n=200)
    frame["age"], frame["rooms"] = (2 * frame["age"] + 1) * unit, 50 * frame["rooms"] + 25
    model, rows = table_pipeline(GLVQ(random_state=0)).fit(frame, y), frame[:6]
    values = [np.unique(frame[name]) for name in frame]
    grid = pd.DataFrame(list(product(*values)), columns=list(frame))
    label = model.predict(grid)
    bounded = counterfactual(model, rows, bounds={"age": (44 * unit, None)})
    for found, lowest in ((counterfactual(model, rows), -np.inf), (bounded, 44 * unit)):
        for i, own in enumerate(model.predict(rows)):
            size, _ = costs(model, grid, rows.iloc[i])
            there = (label != own) & (grid["age"].to_numpy() >= lowest)
            assert found.distance[i] == pytest.approx(size[there].min())
            assert all(found.points[name].iloc[i] in set(frame[name]) for name in frame)
    curved = table_pipeline(RSLVQ(random_state=0)).fit(frame, y)
    found = counterfactual(curved, rows, data=frame)
    assert found.feasible.all()
    assert all(found.points[name].isin(set(frame[name])).all() for name in frame)


def test_reaches_the_class_that_is_named():
    frame, y = make_grid()
    model, grid = table_pipeline(GLVQ(random_state=0)).fit(frame, y), every_row(frame)
    found, label = counterfactual(model, frame[:10], target="top"), model.predict(grid)
    for i in range(10):
        size, _ = costs(model, grid, frame.iloc[i])
        expected = 0.0 if found.original_label[i] == "top" else size[label == "top"].min()
        assert found.distance[i] == pytest.approx(expected)


def random_program(rng):
    """Give columns with options of all kinds, and conditions that may or may not be met."""
    C, m = rng.randint(1, 7), rng.randint(1, 4)
    sizes = rng.randint(1, 4, C)
    n, start = sizes.sum(), np.r_[0, sizes.cumsum()]
    more = rng.choice([0.0, 1.0, 5.0, 300.0], n)
    cost = rng.exponential(1.0, n)
    price = rng.exponential(rng.choice([0.01, 0.3]), n) * (more > 0.0)
    effects = rng.uniform(-1.0, 0.4, (n, m))
    steps = effects * price[:, None] * rng.uniform(0.5, 1.0, (n, 1))
    parts = effects * cost[:, None], cost, steps, price, more
    needs = rng.uniform(-0.2, 0.9) * (cost + more * price).sum() / 3.0 * rng.uniform(0.3, 1.0, m)
    return start, parts, rng.rand(C) < 0.1, needs, rng.rand(rng.randint(0, 3), C) < 0.6


@given(seed=st.integers(0, 2**32 - 1))
def test_options_against_mixed_integer_programs(seed):
    rng = np.random.RandomState(seed)
    start, parts, must, needs, before = random_program(rng)
    before = before[before.any(axis=1)]
    effects, cost, steps, price, more = parts
    C, n, most = len(must), len(cost), rng.randint(1, len(must) + 1)
    chosen, times = np.full(C, -1), np.zeros(C)
    limits = must, needs, before, float(most), np.inf, 1e6
    found = search_options(start, parts, *limits, chosen, times)
    assume(not np.isnan(found))
    groups = np.array(
        [(start[j] <= np.arange(n)) & (np.arange(n) < start[j + 1]) for j in range(C)]
    )
    nothing = np.zeros((C, n))
    conditions = [
        LinearConstraint(np.hstack([effects.T, steps.T]), -np.inf, -needs),
        LinearConstraint(np.hstack([groups, nothing]), must.astype(float), 1.0),
        LinearConstraint(np.hstack([-np.diag(more), np.eye(n)]), -np.inf, 0.0),
        LinearConstraint(np.r_[np.ones(n), np.zeros(n)], 0.0, most),
    ]
    for one in before:
        line = np.r_[groups[one].sum(axis=0), np.zeros(n)]
        conditions.append(LinearConstraint(line, 0.0, one.sum() - 1.0))
    program = milp(
        np.r_[cost, price],
        integrality=np.ones(2 * n),
        bounds=Bounds(0.0, np.r_[np.ones(n), more]),
        constraints=conditions,
        options={"mip_rel_gap": 0.0},
    )
    assert np.isfinite(found) == (program.status == 0)
    if program.status == 0:
        assert found == pytest.approx(program.fun, rel=1e-5, abs=1e-6)  # HiGHS rounds by 1e-6
        taken, k = chosen[chosen >= 0], times[chosen >= 0]
        assert cost[taken].sum() + price[taken] @ k == pytest.approx(found)
        assert (needs + effects[taken].sum(axis=0) + k @ steps[taken] <= 1e-9).all()
        assert len(taken) <= most
        assert (chosen[must] >= 0).all()
        assert not (before <= (chosen >= 0)).all(axis=1).any()


def test_options_of_nothing_and_of_nonsense():
    """Nothing is read or written beyond the arrays, whatever a damaged file holds."""
    none, empty = np.zeros((0, 1)), np.zeros(0)
    parts, must = (none, empty, none, empty, empty), np.zeros(0, dtype=bool)
    for need, cost in ((1.0, np.inf), (0.0, 0.0)):
        limits = must, np.array([need]), np.zeros((0, 0), dtype=bool), 1.0, np.inf, 10.0
        out = np.zeros(0, dtype=np.intp), empty.copy()
        assert search_options(np.zeros(1, dtype=np.intp), parts, *limits, *out) == cost
    for wrong in (np.nan, np.inf, -1.0):
        for place in range(5):
            parts = [-np.ones((2, 1)), np.ones(2), -np.ones((2, 1)), np.ones(2), np.ones(2)]
            parts[place][1] = wrong
            limits = np.zeros(2, dtype=bool), np.array([1.5]), np.zeros((0, 2), dtype=bool), 2.0
            out = np.zeros(2, dtype=np.intp), np.zeros(2)
            search_options(np.arange(3), tuple(parts), *limits, np.inf, 1000.0, *out)


def test_several_proposals_leave_out_a_column():
    frame, y = make_grid()
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    found = counterfactual(model, frame[:8], n=3)
    assert len(found.others) == 2
    assert (found.others[0].feasible).any()
    for i in range(8):
        sets = [
            {c.column for c in one.changes[i]} for one in (found, *found.others) if one.feasible[i]
        ]
        assert all(not a <= b for k, b in enumerate(sets) for a in sets[:k])
        sizes = [one.distance[i] for one in (found, *found.others)]
        np.testing.assert_allclose(sizes, sorted(sizes), rtol=1e-9)
    for one in (found, *found.others):
        there = one.feasible
        assert (model.predict(one.points)[there] != one.original_label[there]).all()
    assert set(found.to_frame()["proposal"]) <= {0, 1, 2}


@pytest.mark.parametrize(
    "last",
    [
        LGMLVQ(random_state=0, max_iter=20),
        RSLVQ(prototypes_per_class=3, random_state=0),
        RandomForestClassifier(n_estimators=10, random_state=0),
    ],
    ids=["local", "soft", "forest"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_search_finds_something_wherever_a_training_row_would_do(last):
    frame, y = make_table()
    model = table_pipeline(last).fit(frame, y)
    found = counterfactual(model, frame[:20], data=frame)
    assert found.feasible.all()
    assert not found.optimal.any()
    assert (model.predict(found.points) == found.label).all()
    assert (found.label != found.original_label).all()
    plain = table_pipeline(GLVQ()).fit(frame, y)[0]
    for i in range(20):
        rows = frame[model.predict(frame) != found.original_label[i]]
        units = {"height": plain.columns_[0].sd, "income": plain.columns_[2].sd}
        copying = sum(abs(rows[name] - frame[name][i]) / sd for name, sd in units.items())
        copying += sum(1.0 * (rows[name] != frame[name][i]) for name in ("colour", "flag"))
        # The numbers of training rows are brought to the grid, at most a step away.
        assert found.distance[i] <= copying.min() + 0.01
    for name in units:
        assert found.points[name].between(frame[name].min(), frame[name].max()).all()


def test_a_search_begins_at_rows_that_would_do():
    """Here the nearest rows with the label differ in the fixed column, which alone matters."""
    X = np.c_[np.r_[np.zeros(20), np.ones(41)], np.r_[np.arange(60.0), 500.0]]
    y = np.where((X[:, 0] == 1.0) | (X[:, 1] > 400.0), "yes", "no")
    X[-1, 0] = 0.0
    model = RandomForestClassifier(random_state=0, bootstrap=False, max_features=None).fit(X, y)
    (there,) = np.flatnonzero((X[:, 0] == 0.0) & (model.predict(X) == "yes"))
    found = counterfactual(model, X[:3], fixed=[0], data=X)
    assert found.feasible.all()
    assert (model.predict(found.points) == "yes").all()
    assert (found.points[:, 1] <= X[there, 1]).all()
    bound = counterfactual(model, X[:3], constraints="x1 >= 300", data=X)
    assert bound.feasible.all()
    assert (bound.points[:, 1] >= 300.0).all()


def test_models_of_arrays_with_training_rows():
    X, y = datasets.load("iris")
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    found = counterfactual(model, X[::10], data=X)
    assert found.exact
    assert found.feasible.all()
    assert isinstance(found.points, np.ndarray)
    assert (model.predict(found.points) == found.label).all()
    np.testing.assert_allclose(found.points, np.round(found.points, 1))  # the grid of iris
    assert ((X.min(axis=0) <= found.points) & (found.points <= X.max(axis=0))).all()
    as_table = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    same = counterfactual(as_table, X[::10])
    np.testing.assert_allclose(found.distance, same.distance)
    names = [f"feature {j}" for j in range(4)]
    model.fit(pd.DataFrame(X, columns=names), y)
    frame = pd.DataFrame(X, columns=names)
    framed = counterfactual(model, frame[::10], data=frame)
    np.testing.assert_allclose(framed.points, found.points)
    assert framed.points.columns.tolist() == names
    with pytest.raises(ValueError, match="training rows as data="):
        counterfactual(model, X[:1], fewest=True)


def test_rules_between_columns_are_read():
    frame, y = make_table()
    model = table_pipeline(GLVQ(random_state=0)).fit(frame.rename(columns={"income": "my $"}), y)
    rows = frame.rename(columns={"income": "my $"})
    found = counterfactual(
        model, rows, constraints=["`my $` >= 20 * height - 600", "height <= 190"]
    )
    points = found.points[found.feasible]
    assert found.feasible.any()
    assert (points["my $"] >= 20 * points["height"] - 600 - 1e-6).all()
    assert (points["height"] <= 190).all()
    for rule in ("height", "height <= colour", "hight <= 3", "height * height <= 3", "1 <= 2 <= 3"):
        with pytest.raises(ValueError, match="constraints has"):
            counterfactual(model, rows, constraints=rule)


def test_labels_are_those_of_the_pipeline():
    for last, n_rows in ((GLVQ(random_state=0), 90), (LGMLVQ(random_state=0), 6)):
        frame, y = make_table()
        model = table_pipeline(last).fit(frame, y)
        frame = frame[:n_rows]
        found = counterfactual(model, frame)
        assert found.feasible.all()
        assert found.label.tolist() == model.predict(found.points).tolist()
        assert (found.label != found.original_label).all()
        assert found.points.columns.tolist() == frame.columns.tolist()
        assert set(found.points["colour"]) <= set(COLOURS)
        assert found.points["flag"].dtype == bool
        assert found.exact == (not isinstance(last, LGMLVQ))
        to_top = counterfactual(model, frame, target=["top"] * len(frame))
        assert (to_top.label == "top").all()
        has = np.flatnonzero(found.original_label == "top")
        assert len(has)
        assert (to_top.distance[has] == 0.0).all()
        assert to_top.sentences()[has[0]] == "is top as it is"


def test_columns_that_stay_and_ranges():
    frame, y = make_table()
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    free = counterfactual(model, frame)
    found = counterfactual(model, frame, fixed=["colour", "height"])
    assert found.points["colour"].equals(frame["colour"])
    assert found.points["height"].equals(frame["height"])
    assert (found.distance >= free.distance - 1e-12).all()
    bounds = {"height": (160, 175.0), "income": (None, 2900), "colour": ["red", "green"]}
    found = counterfactual(model, frame, bounds=bounds)
    points = found.points[found.feasible]
    assert points["height"].between(160, 175).all()
    assert (points["income"] <= 2900).all()
    assert set(points["colour"]) <= {"red", "green"}
    assert (found.label[found.feasible] != found.original_label[found.feasible]).all()
    found = counterfactual(model, frame, target="top", bounds="training")
    ranges = frame[["height", "income"]].agg(["min", "max"])
    for name in ranges:
        assert found.points[name].between(*ranges[name]).all()


def test_other_steps_and_searches():
    frame, y = make_table()
    inner = make_pipeline(MinMaxScaler(), GLVQ(random_state=0))
    search = GridSearchCV(inner, {"glvq__prototypes_per_class": [1]}, cv=2)
    plain = counterfactual(table_pipeline(inner).fit(frame, y), frame)
    found = counterfactual(table_pipeline(search).fit(frame, y), frame)
    np.testing.assert_allclose(found.distance, plain.distance)
    assert plain.exact
    nested = make_pipeline(MinMaxScaler(), make_pipeline(MinMaxScaler(), GLVQ(random_state=0)))
    found = counterfactual(table_pipeline(nested).fit(frame, y), frame)
    np.testing.assert_allclose(found.distance, plain.distance)
    mixed = table_pipeline(make_pipeline(PCA(), GLVQ(random_state=0))).fit(frame, y)
    found = counterfactual(mixed, frame, data=frame)
    assert found.feasible.all()
    assert not found.exact


def test_dates_and_missing_values_and_polars():
    pl = pytest.importorskip("polars")
    frame, y = make_table()
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(frame)) * 4, "D")
    y = np.where(np.arange(len(y)) < 45, y, "top")
    frame.loc[[0, 1, 2, 50], "height"] = np.nan
    frame.loc[[1, 3, 5, 51], "colour"] = None
    lists = {c: [None if pd.isna(v) else v for v in frame[c].tolist()] for c in frame}
    other = pl.DataFrame(lists).with_columns(pl.col("day").cast(pl.Date))
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    found = counterfactual(model, frame, fixed="height")
    same = counterfactual(model, other, fixed="height")
    assert found.feasible.all()
    assert found.exact
    assert found.points["height"].isna().tolist() == frame["height"].isna().tolist()
    assert isinstance(same.points, pl.DataFrame)
    np.testing.assert_allclose(found.distance, same.distance, rtol=1e-6)
    assert model.predict(same.points).tolist() == same.label.tolist()
    moves = counterfactual(model, frame, bounds={"day": ("2020-02-01", None)}, target="top")
    assert (moves.points["day"] >= pd.Timestamp("2020-02-01")).all()
    assert any("missing (taken as" in text for text in counterfactual(model, frame).sentences())
    still = [{change.column for change in changes} for changes in found.changes]
    kept = np.array(["colour" not in names for names in still])
    assert found.points["colour"][kept].equals(frame["colour"][kept])
    late = counterfactual(model, frame, fixed=["height", "income", "colour", "flag"])
    assert late.feasible.any()
    assert late.label.tolist() == model.predict(late.points).tolist()


def test_a_date_is_beyond_the_boundary_in_whole_microseconds():
    rng = np.random.RandomState(0)
    days = pd.to_timedelta(rng.randint(0, 400, 200), "D")
    frame = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + days, "x": rng.randn(200)})
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, frame["day"] > "2020-08-01")
    for fixed in (None, "x"):
        found = counterfactual(model, frame, fixed=fixed)
        assert found.exact
        assert found.feasible.all()
        assert (model.predict(found.points) != found.original_label).all()
        days = found.points["day"]
        assert (days == days.astype("datetime64[us]")).all()


def test_unknown_categories_start_between_the_known_ones():
    frame, y = make_table()
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    odd = frame[:2].assign(colour="purple")
    with pytest.warns(UserWarning, match="'purple' in column 'colour'"):
        found = counterfactual(model, odd, fixed="colour")
    assert found.points["colour"].tolist() == ["purple"] * 2
    with pytest.warns(UserWarning, match="'purple'"):
        found = counterfactual(model, odd, bounds={"colour": ["red"]})
    assert found.points["colour"].tolist() == ["red"] * 2
    assert any("colour were red instead of purple" in text for text in found.sentences())


def test_sentences():
    frame = pd.DataFrame(
        {"radius": [10.0, 12.0, 18.0, 20.0], "colour": ["red", "red", "blue", "blue"]}
    )
    model = table_pipeline(MeanOfClass()).fit(frame, ["benign", "benign", "malignant", "malignant"])
    row = pd.DataFrame({"radius": [25.0], "colour": ["blue"]}, index=["me"])
    found = counterfactual(model, row)
    (text,) = found.sentences()
    assert text == "would be benign instead of malignant if radius were 13 instead of 25"
    both = counterfactual(model, row, bounds={"radius": (14, None)}).sentences()[0]
    assert both.endswith(" instead of 25 and colour were red instead of blue")
    assert str(found) == f"row 0: {text}"
    assert repr(found) == "<TableCounterfactuals: 1 of 1 rows, nearest>"
    assert found.points.index.tolist() == ["me"]
    none = counterfactual(model, row, fixed=["radius"])
    assert none.sentences() == ["is malignant, and no allowed change gives the answer sought"]
    assert np.isinf(none.distance).all()
    assert none.points.equals(row)
    many = counterfactual(model, pd.concat([row] * 12))
    assert str(many).endswith("... and 2 rows more")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "best"}, "'best'"),
        ({"target": ["top"]}, "target has shape"),
        ({"fixed": "color"}, "Did you mean 'colour'"),
        ({"bounds": {"hight": (0, 1)}}, "Did you mean 'height'"),
        ({"bounds": {"height": (2, 1)}}, "low is above high"),
        ({"bounds": {"height": (np.nan, 1)}}, "low is above high"),
        ({"bounds": {"height": "tall"}}, "expected a pair"),
        ({"bounds": {"colour": ["purple"]}}, "some of its categories"),
        ({"bounds": (0, 1)}, "must be 'training', or a dict"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value.split()[-1].strip("'"),
)
def test_wrong_questions(options, message):
    frame, y = make_table(30)
    model = table_pipeline(MeanOfClass()).fit(frame, y)
    with pytest.raises(ValueError, match=message):
        counterfactual(model, frame, **options)
    assert len(prototypes_table(model)) == 3
