"""What an explanation promises, of every public classifier: behind a table, saved, and alone."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from given_classifiers import CLASSIFIERS, KINDS, UNFINISHED, apart, name_of
from given_profile import THOROUGH
from protolearn import explain, load, save
from protolearn.tables import table_pipeline

N_ROWS = 60


def make_table():
    """Give rows of two classes that a hyperplane separates, with one value for all in a column."""
    rng = np.random.RandomState(0)
    codes = np.arange(N_ROWS) % 2
    holes = np.where(rng.rand(N_ROWS) < 0.2, np.nan, rng.randint(0, 5, N_ROWS))
    frame = pd.DataFrame(
        {
            "size": (8.0 * codes + rng.uniform(-1.0, 1.0, N_ROWS)).round(2),
            "number": rng.randint(0, 9, N_ROWS),
            "equal": 7,
            "colour": rng.choice(["red", "green", "blue"], N_ROWS),
            "holes": holes,
        },
        index=[f"row {i}" for i in range(N_ROWS)],
    )
    return frame, np.array(["ash", "birch"])[codes]


def check(found, model, rows, data):
    """Check what is promised of all models."""
    assert (found.label == model.predict(rows)).all()
    assert (found.rival != found.label).all()
    np.testing.assert_allclose(found.contributions.sum(axis=1), found.score_difference, atol=1e-9)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found.probability, model.predict_proba(rows))
    assert all(len(one.rows) == 3 for part in found.exemplars for one in part)
    changed = found.counterfactual
    assert changed.feasible.dtype == bool
    assert changed.feasible.all()
    assert (changed.label != found.label).all()
    assert (model.predict(changed.points) == changed.label).all()
    assert changed.points.index.equals(rows.index)
    pd.testing.assert_series_equal(changed.points.dtypes, rows.dtypes)
    for name in data:
        values = changed.points[name].dropna()
        if data[name].dtype.kind in "if":
            assert values.between(data[name].min(), data[name].max()).all()
        else:
            assert set(values) <= set(data[name])
    if found.certified_radius is not None:
        assert (found.certified_radius >= 0.0).all()
    assert len(found.to_frame()) == len(rows) * len(found.columns)
    assert found._repr_html_().count("<table>") == min(len(rows), 3)
    assert repr(found).count("The smallest change") == min(len(rows), 3)
    assert len(found.plot().patches) == len(found.columns)
    plt.close("all")


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
@pytest.mark.filterwarnings(UNFINISHED)
def test_behind_a_table_and_saved(model, tmp_path):
    frame, y = make_table()
    pipeline = table_pipeline(clone(model)).fit(frame, y)
    rows = frame[:3]
    found = explain(pipeline, rows, data=frame, y=y)
    check(found, pipeline, rows, frame)
    assert (np.abs(found.contributions[:, found.columns.index("equal")]) <= 1e-12).all()
    if type(model) not in KINDS and not THOROUGH:
        return
    assert repr(explain(pipeline, rows)).startswith(f"Row 0: {found.label[0]}")
    save(pipeline, tmp_path / "model.protolearn")
    again = explain(load(tmp_path / "model.protolearn"), rows, data=frame, y=y)
    assert repr(again) == repr(found)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
@pytest.mark.filterwarnings(UNFINISHED)
def test_alone(model):
    X, y = apart(N_ROWS, ("ash", "birch", "cedar"))
    frame = pd.DataFrame(X.round(2), columns=["height", "weight", "age"])
    alone = clone(model).fit(frame, y)
    check(explain(alone, frame[:3], data=frame, y=y), alone, frame[:3], frame)
