"""The automatic choice on data frames: words, dates, truth values and missing values."""

import numpy as np
import pandas as pd
import polars
import pytest
from numpy.testing import assert_array_equal

import protolearn as pl
from protolearn.tables import table_pipeline

FEW = {"max_fits": 40, "families": ["linear", "fixed"], "random_state": 0}


@pytest.fixture(scope="module")
def people():
    rng = np.random.RandomState(0)
    n = 200
    days = pd.to_timedelta(rng.randint(0, 900, n), unit="D")
    frame = pd.DataFrame(
        {
            "age": rng.randint(18, 80, n).astype(float),
            "job": rng.choice(["Private", "State", "Self"], n),
            "since": pd.Timestamp("2020-01-01") + days,
            "married": rng.rand(n) < 0.5,
        }
    )
    likely = (frame["age"] > 45) == (frame["job"] == "Private")
    y = np.where(likely ^ (rng.rand(n) < 0.1), "yes", "no")
    frame.loc[::17, "age"], frame.loc[::23, "job"] = np.nan, None
    return frame, y


@pytest.fixture(scope="module")
def fitted(people):
    return pl.AutoPrototypeClassifier(**FEW).fit(*people)


def test_a_frame_with_words_is_taken_as_it_is(people, fitted):
    """The same as with an encoder before it."""
    frame, y = people
    auto = pl.AutoPrototypeClassifier(standardize=False, **FEW)
    before = table_pipeline(auto, frame).fit(frame, y)
    assert_array_equal(fitted.predict_proba(frame), before.predict_proba(frame))
    assert fitted.best_score_ == before[-1].best_score_
    assert list(fitted.feature_names_in_) == list(frame.columns)
    assert fitted.n_features_in_ == 4
    assert fitted.score(frame, y) > 0.6


def test_polars(people, fitted):
    frame, y = people
    other = polars.from_pandas(frame)
    model = pl.AutoPrototypeClassifier(**FEW).fit(other, y)
    assert_array_equal(model.predict(other), fitted.predict(frame))


def test_numbers_alone_need_no_encoder(people):
    frame, y = people
    numbers = frame[["age"]].fillna(40.0).assign(other=np.arange(len(frame)))
    model = pl.AutoPrototypeClassifier(**FEW).fit(numbers, y)
    assert model.table_ is None
    array = pl.AutoPrototypeClassifier(**FEW).fit(numbers.to_numpy(), y)
    assert_array_equal(model.predict(numbers), array.predict(numbers.to_numpy()))


def test_the_whole_way(people, fitted, tmp_path):
    frame, _ = people
    rows = frame[:5]
    explanation = pl.explain(fitted, rows)
    assert "job" in repr(explanation)
    shares = fitted.predict_proba(rows)
    assert_array_equal(explanation.probability, shares)
    change = pl.counterfactual(fitted, rows)
    assert list(change.points.columns) == list(frame.columns)
    there = change.feasible
    assert there.any()
    assert_array_equal(fitted.predict(change.points)[there], np.asarray(change.label)[there])
    pl.save(fitted, tmp_path / "model")
    again = pl.load(tmp_path / "model")
    assert_array_equal(again.predict_proba(frame), fitted.predict_proba(frame))
    assert_array_equal(again.without_table().classes_, fitted.classes_)


def test_labels_of_another_length(people):
    frame, y = people
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        pl.AutoPrototypeClassifier(**FEW).fit(frame, y[:-1])


def test_what_was_chosen_is_written(fitted):
    first, last = repr(fitted).splitlines()[0], repr(fitted).splitlines()[-1]
    assert first.startswith("AutoPrototypeClassifier(")
    assert last.startswith("Chosen: ")
    assert f"one of {len(fitted.leaderboard_)} models compared" in last
    assert f"{fitted.best_score_:.1%} accuracy" in last
    assert "Chosen" not in repr(pl.AutoPrototypeClassifier())
