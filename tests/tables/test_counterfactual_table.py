"""Smallest changes of the answer in a table, against other ways to find them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from protolearn import GLVQ, GMLVQ, LGMLVQ, MeanOfClass, counterfactual, datasets
from protolearn.tables import counterfactual_table, prototypes_table, table_pipeline

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


def starts_of(model, row):
    """Give the row with all combinations of its categories, as the last step sees it."""
    rows = pd.concat([row] * 6).assign(
        colour=[c for c, _ in product(COLOURS, FLAGS)], flag=[f for _, f in product(COLOURS, FLAGS)]
    )
    return model[:-1].transform(rows), model[:-1].transform(row)[0]


NUMBERS = [0, 4]
"""Where the numbers are in the space of the model; the others are entries of categories."""


def brute_force(model, row, wanted):
    """Solve one quadratic program for each combination of categories and each prototype."""
    last, best = model[-1], np.inf
    W, labels = last.prototypes_, last.prototype_labels_
    metric = last.omega_.T @ last.omega_ if isinstance(last, GMLVQ) else np.eye(W.shape[1])
    starts, origin = starts_of(model, row)
    for start in starts:
        jump = np.square(start - origin).sum()
        for k in np.flatnonzero(np.isin(labels, wanted)):
            others = np.flatnonzero(labels != labels[k])
            # d_k <= d_o in the numbers alone: a.z <= b for z = start + way
            a = 2.0 * (W[others] - W[k]) @ metric
            norms = np.einsum("ij,jk,ik->i", W, metric, W)
            b = norms[others] - norms[k] - a @ start
            found = minimize(
                lambda way: way @ way,
                np.zeros(2),
                jac=lambda way: 2.0 * way,
                constraints=LinearConstraint(a[:, NUMBERS], -np.inf, b),
                method="SLSQP",
                options={"ftol": 1e-14},
            )
            if (a[:, NUMBERS] @ found.x <= b + 1e-7).all():
                best = min(best, jump + found.x @ found.x)
    return np.sqrt(best)


@pytest.mark.parametrize(
    "last",
    [
        GLVQ(random_state=0),
        GLVQ(prototypes_per_class=2, random_state=0),
        GMLVQ(random_state=0),
    ],
    ids=["GLVQ", "two prototypes", "GMLVQ"],
)
@pytest.mark.parametrize("target", [None, "top"])
def test_nearest_of_all_combinations(last, target):
    frame, y = make_table()
    model = table_pipeline(last, category_distance=0.3).fit(frame, y)
    rows = frame[:8]
    found = counterfactual_table(model, rows, target=target)
    assert found.exact
    assert found.feasible.all()
    for i, label in enumerate(model.predict(rows)):
        wanted = [c for c in model.classes_ if c != label] if target is None else [target]
        expected = 0.0 if label == target else brute_force(model, rows[i : i + 1], wanted)
        assert found.distance[i] == pytest.approx(expected, abs=1e-5)
    assert any(change.column in ("colour", "flag") for row in found.changes for change in row)


@pytest.mark.parametrize("last", [LogisticRegression(), MeanOfClass()], ids=["logistic", "means"])
def test_linear_models_against_the_formula(last):
    frame, y = make_table()
    model = table_pipeline(last, category_distance=0.3).fit(frame, y == "top")
    found = counterfactual_table(model, frame)
    w, b = np.ravel(last.coef_), float(np.ravel(last.intercept_)[0])
    for i in range(len(frame)):
        starts, origin = starts_of(model, frame[i : i + 1])
        score = starts @ w + b
        sign = 1.0 if origin @ w + b > 0 else -1.0
        way = np.maximum(sign * score, 0.0) / np.linalg.norm(w[NUMBERS])
        expected = np.sqrt((np.square(starts - origin).sum(axis=1) + way**2).min())
        assert found.distance[i] == pytest.approx(expected, rel=1e-9)
    assert found.exact
    assert found.feasible.all()


def test_labels_are_those_of_the_pipeline():
    for last, n_rows in ((GLVQ(random_state=0), 90), (LGMLVQ(random_state=0), 6)):
        frame, y = make_table()
        model = table_pipeline(last).fit(frame, y)
        frame = frame[:n_rows]
        found = counterfactual_table(model, frame)
        assert found.feasible.all()
        assert found.label.tolist() == model.predict(found.points).tolist()
        assert (found.label != found.original_label).all()
        assert found.points.columns.tolist() == frame.columns.tolist()
        assert set(found.points["colour"]) <= set(COLOURS)
        assert found.points["flag"].dtype == bool
        steps = model[:-1].transform(found.points) - model[:-1].transform(frame)
        np.testing.assert_allclose(found.distance, np.linalg.norm(steps, axis=1))
        assert found.exact == (not isinstance(last, LGMLVQ))
        to_top = counterfactual_table(model, frame, target=["top"] * len(frame))
        assert (to_top.label == "top").all()
        has = np.flatnonzero(found.original_label == "top")
        assert len(has)
        assert (to_top.distance[has] == 0.0).all()
        assert to_top.sentences()[has[0]] == "is top as it is"


def test_columns_that_stay_and_ranges():
    frame, y = make_table()
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    free = counterfactual_table(model, frame)
    found = counterfactual_table(model, frame, fixed=["colour", "height"])
    assert found.points["colour"].equals(frame["colour"])
    assert found.points["height"].equals(frame["height"])
    assert (found.distance >= free.distance - 1e-12).all()
    only = counterfactual_table(model, frame, fixed=["height", "income"])
    for i in range(10):
        starts, origin = starts_of(model, frame[i : i + 1])
        other = model[-1].predict(starts) != only.original_label[i]
        assert only.feasible[i] == other.any()
        if other.any():
            nearest = np.linalg.norm(starts[other] - origin, axis=1).min()
            assert only.distance[i] == pytest.approx(nearest)
    bounds = {"height": (160, 175.0), "income": (None, 2900), "colour": ["red", "green"]}
    found = counterfactual_table(model, frame, bounds=bounds)
    points = found.points[found.feasible]
    assert points["height"].between(160, 175).all()
    assert (points["income"] <= 2900).all()
    assert set(points["colour"]) <= {"red", "green"}
    assert (found.label[found.feasible] != found.original_label[found.feasible]).all()
    distance, on_grid = found.distance[found.feasible], within(model, frame[found.feasible], bounds)
    assert (distance <= on_grid + 1e-9).all()
    assert (distance >= on_grid - 0.1).all()
    found = counterfactual_table(model, frame, target="top", bounds="training")
    ranges = frame[["height", "income"]].agg(["min", "max"])
    for name in ranges:
        assert found.points[name].between(*ranges[name]).all()


def within(model, rows, bounds):
    """Search the allowed points on a grid, whose steps are 0.07 standard deviations."""
    heights, incomes = np.linspace(160.0, 175.0, 25), np.linspace(0.0, 2900.0, 50)
    grid = pd.DataFrame(
        list(product(heights, bounds["colour"], incomes, FLAGS)), columns=list(rows.columns)
    )
    Z, label = model[:-1].transform(grid), model.predict(grid)
    own = model.predict(rows)
    return np.array(
        [
            np.linalg.norm(Z[label != own[i]] - z, axis=1).min()
            for i, z in enumerate(model[:-1].transform(rows))
        ]
    )


def test_too_many_combinations():
    frame, y = make_table()
    frame["third"], frame["fourth"] = frame["colour"].sample(frac=1, random_state=1).tolist(), "a"
    frame.loc[::2, "fourth"] = "b"
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    full = counterfactual_table(model, frame)
    assert full.exact
    few = counterfactual_table(model, frame, max_combinations=1)
    same = np.isclose(few.distance, full.distance, rtol=1e-9)
    assert (few.distance >= full.distance - 1e-9).all()
    assert few.exact <= same.all()  # it claims no more than is true
    near = full.distance < np.sqrt(3.0)  # three jumps are farther than that
    assert same[near].all()
    assert counterfactual_table(model, frame[near], max_combinations=1).exact
    numbers = ["height", "income"]
    apart = counterfactual_table(model, frame, fixed=numbers, max_combinations=1)
    assert not apart.exact
    with pytest.raises(ValueError, match="max_combinations=0"):
        counterfactual_table(model, frame, max_combinations=0)


def test_numbers_alone_are_as_without_a_table():
    X, y = datasets.load("iris")
    frame = pd.DataFrame(X, columns=datasets.feature_names("iris"))
    theirs = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    found, expected = counterfactual_table(model, frame), counterfactual(theirs, X)
    np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-6)
    np.testing.assert_allclose(found.points, expected.points, rtol=1e-5)
    array = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    points = counterfactual_table(array, X).points
    assert isinstance(points, np.ndarray)
    np.testing.assert_allclose(points, expected.points, rtol=1e-5)


def test_other_steps_and_searches():
    frame, y = make_table()
    inner = make_pipeline(MinMaxScaler(), GLVQ(random_state=0))
    search = GridSearchCV(inner, {"glvq__prototypes_per_class": [1]}, cv=2)
    plain = counterfactual_table(table_pipeline(inner).fit(frame, y), frame)
    found = counterfactual_table(table_pipeline(search).fit(frame, y), frame)
    np.testing.assert_allclose(found.distance, plain.distance)
    assert plain.exact
    model = table_pipeline(inner).fit(frame, y)
    steps = model[:-1].transform(plain.points) - model[:-1].transform(frame)
    scaled = steps / model[-1][0].data_range_
    np.testing.assert_allclose(plain.distance, np.linalg.norm(scaled, axis=1))
    nested = make_pipeline(MinMaxScaler(), make_pipeline(MinMaxScaler(), GLVQ(random_state=0)))
    found = counterfactual_table(table_pipeline(nested).fit(frame, y), frame)
    np.testing.assert_allclose(found.distance, plain.distance)
    mixed = table_pipeline(make_pipeline(PCA(), GLVQ(random_state=0))).fit(frame, y)
    with pytest.raises(ValueError, match=r"'pca'.*Use scalers"):
        counterfactual_table(mixed, frame)
    numbers = frame[["height", "income"]]
    mixed.fit(numbers, y)
    assert counterfactual_table(mixed, numbers).feasible.all()


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
    found = counterfactual_table(model, frame, fixed="height")
    same = counterfactual_table(model, other, fixed="height")
    assert found.feasible.all()
    assert found.exact
    assert found.points["height"].isna().tolist() == frame["height"].isna().tolist()
    assert isinstance(same.points, pl.DataFrame)
    np.testing.assert_allclose(found.distance, same.distance, rtol=1e-6)
    assert model.predict(same.points).tolist() == same.label.tolist()
    moves = counterfactual_table(model, frame, bounds={"day": ("2020-02-01", None)}, target="top")
    assert (moves.points["day"] >= pd.Timestamp("2020-02-01")).all()
    assert any(
        "missing (taken as" in text for text in counterfactual_table(model, frame).sentences()
    )
    still = [{change.column for change in changes} for changes in found.changes]
    kept = np.array(["colour" not in names for names in still])
    assert found.points["colour"][kept].equals(frame["colour"][kept])
    late = counterfactual_table(model, frame, fixed=["height", "income", "colour", "flag"])
    assert late.feasible.any()
    assert late.label.tolist() == model.predict(late.points).tolist()


def test_a_date_is_beyond_the_boundary_in_whole_microseconds():
    rng = np.random.RandomState(0)
    days = pd.to_timedelta(rng.randint(0, 400, 200), "D")
    frame = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + days, "x": rng.randn(200)})
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, frame["day"] > "2020-08-01")
    for fixed in (None, "x"):
        found = counterfactual_table(model, frame, fixed=fixed)
        assert found.exact
        assert found.feasible.all()
        assert (model.predict(found.points) != found.original_label).all()
        assert found.points["day"].dtype == "datetime64[us]"


def test_unknown_categories_start_between_the_known_ones():
    frame, y = make_table()
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    odd = frame[:2].assign(colour="purple")
    with pytest.warns(UserWarning, match="'purple' in column 'colour'"):
        found = counterfactual_table(model, odd, fixed="colour")
    assert found.points["colour"].tolist() == ["purple"] * 2
    with pytest.warns(UserWarning, match="'purple'"):
        found = counterfactual_table(model, odd, bounds={"colour": ["red"]})
    assert found.points["colour"].tolist() == ["red"] * 2
    assert any("colour were red instead of purple" in text for text in found.sentences())


def test_sentences():
    frame = pd.DataFrame(
        {"radius": [10.0, 12.0, 18.0, 20.0], "colour": ["red", "red", "blue", "blue"]}
    )
    model = table_pipeline(MeanOfClass()).fit(frame, ["benign", "benign", "malignant", "malignant"])
    row = pd.DataFrame({"radius": [25.0], "colour": ["blue"]}, index=["me"])
    found = counterfactual_table(model, row)
    (text,) = found.sentences()
    assert text.startswith("would be benign instead of malignant if radius were 1")
    assert text.endswith(" instead of 25 and colour were red instead of blue")
    assert str(found) == f"row 0: {text}"
    assert repr(found) == "<TableCounterfactuals: 1 of 1 rows, nearest>"
    assert found.points.index.tolist() == ["me"]
    none = counterfactual_table(model, row, fixed=["radius"])
    assert none.sentences() == ["is malignant, and no allowed change gives the answer sought"]
    assert np.isinf(none.distance).all()
    assert none.points.equals(row)
    many = counterfactual_table(model, pd.concat([row] * 12))
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
        counterfactual_table(model, frame, **options)
    assert len(prototypes_table(model)) == 3
