"""Sets of classes: coverage in every class, and MAPIE's sets for rows of one class."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from given_profile import THOROUGH
from protolearn import RejectClassifier, predict_set
from protolearn.linear import MeanOfClass

N_DRAWS = 200 if THOROUGH else 60


def draw(rng, sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(y), 2)) + 1.2 * np.eye(3)[y][:, :2], y


@pytest.mark.parametrize("cv", [5, "prefit"])
def test_every_class_is_covered(cv):
    rng, hits = np.random.RandomState(0), []
    for _ in range(N_DRAWS):
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


@pytest.mark.parametrize("cv", [5, "prefit"])
def test_accepted_rows_are_right_in_every_class(cv):
    """Of the rows of any class, one in ten is ruled out, and no more are accepted as another."""
    rng, hits, wrong, accepted = np.random.RandomState(3), [], [], []
    for _ in range(N_DRAWS):
        X, y = draw(rng, [120, 60, 25])
        new, truth = draw(rng, [40, 40, 40])
        model = MeanOfClass()
        if cv == "prefit":
            model.fit(*draw(rng, [60, 30, 12]))
        found = RejectClassifier(model, class_coverage=0.9, cv=cv).fit(X, y)
        sets, said = found.predict_set(new), found.predict(new)
        np.testing.assert_array_equal(found.accepts(new), said >= 0)
        hits.append([sets[truth == c, c].mean() for c in range(3)])
        wrong.append([((said != c) & (said >= 0))[truth == c].mean() for c in range(3)])
        accepted.append((said >= 0).mean())
    error = np.std(hits, axis=0) / np.sqrt(len(hits))
    assert (np.mean(hits, axis=0) >= 0.9 - 2.0 * error).all()
    assert (np.mean(hits, axis=0) <= 0.96).all()
    assert (np.mean(wrong, axis=0) <= 0.1 + 2.0 * error).all()
    assert np.mean(accepted) > 0.1


def test_sets_of_a_fitted_model_are_those_of_the_function():
    rng = np.random.RandomState(4)
    X, y = draw(rng, [80, 50, 5])
    model, new = MeanOfClass().fit(*draw(rng, [80, 50, 20])), draw(rng, [30, 30, 30])[0]
    found = RejectClassifier(model, class_coverage=0.9, cv="prefit").fit(X, y)
    expected = predict_set(model, X, y, new, coverage=0.9, cv="prefit")
    np.testing.assert_array_equal(found.predict_set(new), expected)
    assert found.reject_rate_ == pytest.approx((found.predict(X) == -1).mean())
    with pytest.raises(ValueError, match="need class_coverage"):
        RejectClassifier(MeanOfClass(), cost=0.2).fit(X, y).predict_set(new)
    few = np.r_[0:80, 80:130, 134]
    with pytest.raises(ValueError, match="classes \\[2\\]"):
        RejectClassifier(MeanOfClass(), class_coverage=0.9).fit(X[few], y[few])


def test_folds_of_another_size_are_put_on_one_scale():
    """Scores of a model may grow with its number of rows; the sets do not."""

    class Grown(MeanOfClass):
        def decision_function(self, X):
            return super().decision_function(X) * self.n_rows_**3

        def fit(self, X, y):
            self.n_rows_ = len(y) / 100.0
            return super().fit(X, y)

    rng = np.random.RandomState(5)
    X, y = draw(rng, [120, 120, 120])
    new, truth = draw(rng, [1000, 1000, 1000])
    found = RejectClassifier(Grown(), class_coverage=0.8).fit(X, y).predict_set(new)
    assert found[np.arange(3000), truth].mean() == pytest.approx(0.8, abs=0.06)
