"""ROC curves by the threshold between two classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.stats import mannwhitneyu
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protolearn import GLVQ, GMLVQ, LVQ1, RSLVQ, SoftMarginSVM
from protolearn.selection import evaluate
from protolearn.selection.roc_curves import curve_of, roc, roc_over_folds

MODELS = {
    "glvq": GLVQ(prototypes_per_class=2, random_state=0),
    "lvq1": LVQ1(random_state=0, max_iter=20),
    "matrix": GMLVQ(random_state=0),
    "relative scale": GLVQ(scale=7.0, random_state=0),
}


@pytest.fixture(scope="module")
def hard():
    """Two classes that overlap."""
    return make_blobs(200, centers=[[0.0, 0.0], [2.0, 0.0]], cluster_std=1.3, random_state=1)


@pytest.mark.parametrize("name", MODELS)
def test_the_literal_rule_at_each_threshold(hard, name):
    """A row is positive if d(w*(+1), x) < d(w*(-1), x) - Theta."""
    X, y = hard
    model = clone(MODELS[name]).fit(X[:100], y[:100])
    curve = roc(model, X[100:], y[100:])
    D, y = model.distances(X[100:]), y[100:]
    plus = D[:, model.prototype_labels_ == 1].min(axis=1)
    minus = D[:, model.prototype_labels_ == 0].min(axis=1)
    # Midway between scores, where rounding decides nothing.
    finite = curve.thresholds[:-1]
    thetas = np.concatenate([[finite[0] + 1.0], 0.5 * (finite[1:] + finite[:-1]), [finite[-1] - 1]])
    assert len(thetas) == len(curve.fpr)
    for i, theta in enumerate(thetas):
        positive = plus < minus - theta
        assert curve.fpr[i] == pytest.approx(positive[y == 0].mean())
        assert curve.tpr[i] == pytest.approx(positive[y == 1].mean())
        assert curve.at(theta) == (curve.fpr[i], curve.tpr[i])
    said = model.predict(X[100:]) == 1
    assert curve.working_point == pytest.approx((said[y == 0].mean(), said[y == 1].mean()))


SCORES = st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


@given(SCORES)
def test_area_is_the_mann_whitney_statistic(rows):
    y, s = (np.array(part) for part in zip(*rows, strict=True))
    scores = np.stack([-0.5 * s, 0.5 * s], axis=1)
    curve = curve_of(y, scores, np.array([False, True]), None)
    statistic = mannwhitneyu(s[y], s[~y]).statistic / (y.sum() * (~y).sum())
    assert curve.auc == pytest.approx(statistic)
    assert curve.auc == pytest.approx(roc_auc_score(y, s))
    for theta in np.arange(-4.5, 5.0, 0.5):  # at scores, too: the rule is strict
        assert curve.at(theta) == ((s[~y] > theta).mean(), (s[y] > theta).mean())
    fpr, tpr = curve.at(curve.thresholds)
    np.testing.assert_array_equal([fpr, tpr], [curve.fpr, curve.tpr])
    flipped = curve_of(y, scores, np.array([False, True]), False)
    assert flipped.auc == pytest.approx(curve.auc)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        SVC(),
        RSLVQ(random_state=0),
        SoftMarginSVM(),
        make_pipeline(StandardScaler(), GLVQ(random_state=0)),
        KNeighborsClassifier(4),
    ],
    ids=["logistic", "svc", "rslvq", "prototype-svm", "pipeline", "neighbors"],
)
def test_any_classifier_with_scores(hard, model):
    X, y = hard
    curve = roc(clone(model).fit(X, y), X, y)
    fitted = clone(model).fit(X, y)
    score = "decision_function" if hasattr(fitted, "decision_function") else "predict_proba"
    values = getattr(fitted, score)(X)
    assert curve.auc == pytest.approx(
        roc_auc_score(y, values if values.ndim == 1 else values[:, 1])
    )
    said = fitted.predict(X) == 1
    assert curve.working_point == pytest.approx((said[y == 0].mean(), said[y == 1].mean()))


def test_one_class_against_the_others(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    curve = roc(model, X, y, positive=1)
    scores = model.decision_function(X)
    lead = scores[:, 1] - np.maximum(scores[:, 0], scores[:, 2])
    assert curve.auc == pytest.approx(roc_auc_score(y == 1, lead))
    said = model.predict(X) == 1
    assert curve.working_point == pytest.approx((said[y != 1].mean(), said[y == 1].mean()))
    assert roc_over_folds(model, X, y, positive=2, cv=3).positive == 2


@pytest.mark.parametrize("most", [1000, 20])
def test_averages_are_a_plain_loop(hard, most):
    X, y = hard
    names = np.array(["no", "yes"])[y]
    model = GLVQ(random_state=0)
    averaged = roc_over_folds(model, X, names, cv=4, n_thresholds=most, random_state=3)
    rates = []
    for train, test in StratifiedKFold(4, shuffle=True, random_state=3).split(X, names):
        score = clone(model).fit(X[train], names[train]).decision_function(X[test])
        own, other = score[names[test] == "yes"], score[names[test] == "no"]
        rates.append([[(s > t).mean() for t in averaged.thresholds] for s in (other, own)])
    rates = np.array(rates)
    np.testing.assert_allclose([averaged.fpr, averaged.tpr], rates.mean(axis=0))
    np.testing.assert_allclose(
        [averaged.fpr_std, averaged.tpr_std], rates.std(axis=0, ddof=1), atol=1e-15
    )
    assert len(averaged.thresholds) == min(200, most) + 1
    assert (averaged.fpr[0], averaged.tpr[0]) == (0.0, 0.0)
    assert (averaged.fpr[-1], averaged.tpr[-1]) == (1.0, 1.0)
    assert averaged.positive == "yes"
    assert averaged.auc == np.mean([curve.auc for curve in averaged.curves])
    found = evaluate(model, X, names, cv=4, confidence=0.9, random_state=3)
    assert averaged.interval(0.9) == pytest.approx(found.auc[1:3])
    assert found.roc.interval(0.9) == pytest.approx(found.auc[1:3])
    points = [curve.working_point for curve in averaged.curves]
    assert averaged.working_point == pytest.approx(tuple(np.mean(points, axis=0)))


def test_workers_give_the_same(hard):
    one = roc_over_folds(GLVQ(random_state=0), *hard, cv=3, random_state=0)
    with parallel_config("threading"):
        two = roc_over_folds(GLVQ(random_state=0), *hard, cv=3, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(one.tpr, two.tpr)


def test_texts(hard):
    model = GLVQ(random_state=0)
    averaged = roc_over_folds(model, *hard, cv=3, random_state=0)
    assert str(averaged).startswith(f"Mean AUC of 3 folds {averaged.auc:.4f}, 95 % interval")
    assert repr(averaged) == f"<AveragedRoc: 3 folds, mean AUC {averaged.auc:.4f}>"
    curve = roc(model.fit(*hard), *hard)
    assert f"AUC {curve.auc:.4f}; at Theta = 0" in str(curve)
    assert repr(curve) == f"<RocCurve: AUC {curve.auc:.4f}, positive class 1>"


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier without scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_errors(hard, iris):
    X, y = hard
    model = GLVQ().fit(X, y)
    with pytest.raises(ValueError, match=r"All 2 rows are negative ones \(positive class: 1\)"):
        roc(model, X[:2], [0, 0])
    with pytest.raises(ValueError, match=r"positive=5 must be one of the classes \[0, 1\]"):
        roc(model, X, y, positive=5)
    with pytest.raises(ValueError, match="which the model has not seen"):
        roc(model, X, y + 1)
    with pytest.raises(NotFittedError):
        roc(GLVQ(), X, y)
    with pytest.raises(ValueError, match="There are 3 classes; give positive="):
        roc_over_folds(GLVQ(), *iris)
    with pytest.raises(ValueError, match="Mute has neither decision_function nor predict_proba"):
        roc(Mute().fit(X, y), X, y)
    pairs = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")).fit(*iris)
    with pytest.raises(ValueError, match="not one score a class; choose"):
        roc(pairs, *iris, positive=0)
    with pytest.raises(ValueError, match="both rates need rows of both kinds"):
        roc_over_folds(GLVQ(), X[::20], y[::20], cv=LeaveOneOut())
    with pytest.raises(ValueError, match="The training rows of split 1 have none of"):
        roc_over_folds(GLVQ(), X, y, cv=[(np.flatnonzero(y), np.flatnonzero(y == 0))] * 2)
    with pytest.raises(ValueError, match="gives 1 split, expected two or more"):
        roc_over_folds(GLVQ(), X, y, cv=[(np.arange(100), np.arange(100, 200))])


def test_nearest_centroid_has_scores_or_says_so(hard):
    model = NearestCentroid().fit(*hard)
    if hasattr(model, "decision_function"):
        assert roc(model, *hard).auc > 0.7
    else:
        with pytest.raises(ValueError, match="neither"):
            roc(model, *hard)
