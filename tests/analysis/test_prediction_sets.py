"""Sets of classes: coverage in every class, and MAPIE's sets for rows of one class."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from protolearn import predict_set
from protolearn.linear import MeanOfClass


def draw(rng, sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(y), 2)) + 1.2 * np.eye(3)[y][:, :2], y


@pytest.mark.parametrize("cv", [5, "prefit"])
def test_every_class_is_covered(cv):
    rng, hits = np.random.RandomState(0), []
    for _ in range(200):
        X, y = draw(rng, [120, 60, 25])
        new, truth = draw(rng, [40, 40, 40])
        model = MeanOfClass()
        if cv == "prefit":
            model.fit(*draw(rng, [60, 30, 12]))
        sets = predict_set(model, X, y, new, coverage=0.9, cv=cv)
        hits.append([sets[truth == c, c].mean() for c in range(3)])
    hits = np.array(hits)
    error = hits.std(axis=0) / np.sqrt(len(hits))
    assert (hits.mean(axis=0) >= 0.9 - 2.0 * error).all()
    assert (hits.mean(axis=0) <= 0.96).all()  # not by sets that hold everything


def test_sets_are_those_of_mapie_for_one_class_at_a_time():
    mapie = pytest.importorskip("mapie.classification", reason="MAPIE is not installed")
    rng = np.random.RandomState(1)
    X, y = draw(rng, [80, 50])
    model = LogisticRegression().fit(*draw(rng, [80, 50]))
    new, _ = draw(rng, [100, 100])
    ours = predict_set(model, X, y, new, coverage=0.9, cv="prefit")
    for label in (0, 1):
        other = mapie.SplitConformalClassifier(
            model, confidence_level=0.9, conformity_score="lac", prefit=True
        )
        # The quantile of the scores of one class; MAPIE itself has one for all classes.
        own = y == label
        scores = np.sort(1.0 - model.predict_proba(X[own])[:, label])
        place = int(np.ceil((own.sum() + 1) * 0.9)) - 1
        expected = 1.0 - model.predict_proba(new)[:, label] <= scores[place]
        np.testing.assert_array_equal(ours[:, label], expected)
        other.conformalize(X[own], y[own])
        theirs = other.predict_set(new)[1][:, label, 0]
        np.testing.assert_array_equal(ours[:, label], theirs)


def test_few_rows_exclude_nothing():
    X, y = draw(np.random.RandomState(2), [60, 5])
    sets = predict_set(MeanOfClass(), X, y, X, coverage=0.95)
    assert sets[:, 1].all()  # 5 rows cannot tell what 1 in 20 does


def test_wrong_parameters():
    X, y = draw(np.random.RandomState(2), [30, 30])
    with pytest.raises(ValueError, match="coverage="):
        predict_set(MeanOfClass(), X, y, X, coverage=1.5)
    with pytest.raises(ValueError, match="has not seen the classes"):
        predict_set(MeanOfClass().fit(X, y), X, y + 1, X, cv="prefit")
