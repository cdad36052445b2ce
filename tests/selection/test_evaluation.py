"""The table of measures with intervals."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from protolearn import GLVQ, RejectClassifier
from protolearn.selection.evaluation import evaluate, evaluate_predictions
from protolearn.selection.intervals import share_interval
from protolearn.selection.roc_curves import roc, roc_over_folds


def minus_log_loss(model, X, y):
    """Give minus the log loss; scikit-learn's scorer takes 1 - p for two classes, and rounds."""
    return -log_loss(y, model.predict_proba(X))


SCORERS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "macro_f": "f1_macro",
    "mcc": "matthews_corrcoef",
    "auc": "roc_auc",
    "log_loss": minus_log_loss,
}


@pytest.fixture(scope="module")
def hard():
    """Two classes that overlap."""
    return make_blobs(240, centers=[[0.0, 0.0], [2.0, 0.0]], cluster_std=1.3, random_state=1)


@pytest.fixture(scope="module")
def three():
    """Three classes that overlap."""
    return make_blobs(240, centers=[[0, 0], [2, 0], [0, 2]], cluster_std=1.1, random_state=2)


def test_values_on_a_test_set(hard):
    X, y = hard
    model = GLVQ(random_state=0).fit(X[:120], y[:120])
    X, y = X[120:], y[120:]
    found, said = evaluate(model, X, y, random_state=0), model.predict(X)
    assert found.accuracy.value == accuracy_score(y, said)
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, said))
    assert found.macro_f.value == pytest.approx(f1_score(y, said, average="macro"))
    assert found.mcc.value == pytest.approx(matthews_corrcoef(y, said))
    assert found.auc.value == pytest.approx(roc_auc_score(y, model.decision_function(X)))
    assert found.log_loss.value == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert found.accuracy[1:3] == share_interval((said == y).sum(), 120, 0.95)
    for estimate in found.table.values():
        assert estimate.low < estimate.value < estimate.high
    assert found.roc.auc == roc(model, X, y).auc
    assert found.confusion.counts.sum() == found.n_samples == 120
    assert found.n_folds == 0


def test_values_of_three_classes(three):
    X, y = three
    names = np.array(["x", "y", "z"])[y]
    model = GLVQ(random_state=0).fit(X[:120], names[:120])
    X, y = X[120:], names[120:]
    found = evaluate(model, X, y, random_state=0)
    proba = model.predict_proba(X)
    expected = roc_auc_score(y, proba, multi_class="ovr", average="macro")
    assert found.auc.value == pytest.approx(expected)
    assert found.log_loss.value == pytest.approx(log_loss(y, proba))
    assert found.mcc.value == pytest.approx(matthews_corrcoef(y, model.predict(X)))
    assert found.roc is None


def test_values_over_folds_are_those_of_scikit_learn(hard):
    X, y = hard
    cv = StratifiedKFold(5, shuffle=True, random_state=4)
    model = GLVQ(random_state=0)
    found = evaluate(model, X, y, cv=5, random_state=4, confidence=0.9)
    scores = cross_validate(model, X, y, cv=cv, scoring=SCORERS)
    for name in SCORERS:
        expected = scores[f"test_{name}"] * (-1 if name == "log_loss" else 1)
        estimate = getattr(found, name)
        assert estimate.value == pytest.approx(expected.mean())
        assert estimate.low < estimate.value < estimate.high
    right = round(240 * found.accuracy.value)
    ends = binomtest(right, 240).proportion_ci(0.9, method="exact")
    assert found.accuracy.low < ends.low < ends.high < found.accuracy.high  # rows of folds depend
    np.testing.assert_allclose(found.accuracy[1:3], ends, atol=0.01)
    assert found.n_folds == 5
    assert found.confusion.counts.sum() == 240
    np.testing.assert_allclose(found.roc.tpr, roc_over_folds(model, X, y, cv=cv).tpr)


def test_workers_and_seeds_give_the_same(hard):
    X, y = hard
    model = GLVQ(random_state=0)
    one = evaluate(model, X, y, cv=3, random_state=0)
    with parallel_config("threading"):
        two = evaluate(model, X, y, cv=3, random_state=0, n_jobs=2)
    assert one.table == two.table
    model.fit(X, y)
    first, again, other = (
        evaluate(model, X, y, random_state=seed, n_resamples=50).table for seed in (1, 1, 2)
    )
    assert first == again != other  # the resamples of the log loss


def test_model_without_probabilities(hard, three):
    for data in (hard, three):
        model = LinearSVC().fit(*data)
        found = evaluate(model, *data, random_state=0)
        assert np.isnan(found.log_loss[:3]).all()
        assert found.log_loss.reason == "no probabilities"
        assert np.isfinite(found.auc[:3]).all()
        folds = evaluate(LinearSVC(), *data, cv=3, random_state=0)
        assert folds.log_loss.reason == "no probabilities"
    scores = model.decision_function(three[0])
    areas = [roc_auc_score(three[1] == c, scores[:, c]) for c in range(3)]
    assert found.auc.value == pytest.approx(np.mean(areas))


def test_model_without_decision_function(hard):
    model = GaussianNB().fit(*hard)
    found = evaluate(model, *hard, random_state=0)
    assert found.auc.value == pytest.approx(
        roc_auc_score(hard[1], model.predict_proba(hard[0])[:, 1])
    )
    assert found.roc.auc == pytest.approx(found.auc.value)


def test_classes_that_the_test_set_lacks(three):
    X, y = three
    model = GLVQ(random_state=0).fit(X, y)
    here = y != 2
    found = evaluate(model, X[here], y[here], random_state=0)
    said = model.predict(X[here])
    recalls = [(said[y[here] == c] == c).mean() for c in (0, 1)]
    assert found.balanced_accuracy.value == pytest.approx(np.mean(recalls))
    assert found.notes[0] == "No tested row is of [2]; averages are over the other classes."
    assert found.notes[0] in str(found)
    assert np.isnan(found.confusion.percent[2]).all()
    proba = model.predict_proba(X[here])
    areas = [roc_auc_score(y[here] == c, proba[:, c]) for c in (0, 1)]
    assert found.auc.value == pytest.approx(np.mean(areas))
    one = evaluate(model, X[y == 0], y[y == 0], random_state=0)
    for name in ("mcc", "auc"):
        assert getattr(one, name).reason == "the tested rows are of one class"
        assert np.isnan(getattr(one, name)[:3]).all()
    assert np.isfinite(one.log_loss[:3]).all()


def test_recalls_have_exact_intervals(three):
    X, y = three
    names = np.array(["x", "y", "z"])[y]
    for found in (
        evaluate(GLVQ(random_state=0), X, names, cv=4, random_state=0),
        evaluate(GLVQ(random_state=0).fit(X, names), X, names, random_state=0),
    ):
        assert list(found.recalls) == ["x", "y", "z"]
        for place, (value, low, high, _) in enumerate(found.recalls.values()):
            row = found.confusion.counts[place]
            ends = binomtest(int(row[place]), int(row.sum())).proportion_ci(0.95, method="exact")
            assert value == pytest.approx(row[place] / row.sum())
            assert low <= ends.low * (1.0 + 1e-9)
            assert high >= ends.high * (1.0 - 1e-9)
            wider = 2e-3 if found.n_folds else 1e-9  # rows of folds depend on each other
            np.testing.assert_allclose((low, high), ends, atol=wider)


def test_no_interval_collapses_where_all_is_right():
    y = np.repeat([0, 1], 20)
    found = evaluate_predictions(y, y, scores=y - 0.5, random_state=0)
    for name in ("accuracy", "balanced_accuracy", "macro_f", "mcc", "auc"):
        value, low, high, _ = getattr(found, name)
        assert value == high == 1.0
        assert 0.7 < low < 0.95
    assert found.notes == ()


def test_folds_of_one_class(hard):
    X, y = hard[0][::8], hard[1][::8]
    found = evaluate(GLVQ(random_state=0), X, y, cv=LeaveOneOut())
    assert found.auc.reason == found.mcc.reason == "30 of 30 test folds have one class"
    assert found.roc is None
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high


def test_folds_that_are_alike(rng):
    y = np.arange(30) % 2
    X = rng.randn(30, 2) + 100 * y[:, None]
    found = evaluate(GLVQ(random_state=0), X, y, cv=3, random_state=0)
    ends = binomtest(30, 30).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(found.accuracy[:3], [1.0, ends.low, ends.high], atol=1e-4)
    assert found.accuracy.low <= ends.low
    said = "The intervals cover sampling of rows; they do not cover refitting the model."
    assert found.notes == (said,)
    assert str(found).endswith(said)


def test_rejected_rows_are_errors(hard):
    X, y = hard
    names = np.array(["no", "yes"])[y]
    model = RejectClassifier(GLVQ(random_state=0), cost=0.2).fit(X, names)
    found = evaluate(model, X, names, random_state=0)
    said = model.predict(X)
    assert len(np.unique(said)) == 3
    assert found.accuracy.value == np.mean(said == names)
    assert found.confusion.counts.shape == (3, 3)
    assert found.balanced_accuracy.low < found.balanced_accuracy.value < 0.9


def test_text_and_frame(hard):
    model = LinearSVC().fit(*hard)
    found = evaluate(model, *hard, random_state=0, confidence=0.9)
    lines = str(found).splitlines()
    assert lines[0] == "240 tested rows, 90 % intervals"
    assert lines[8] == "log loss                 -       -       -  (no probabilities)"
    assert len({len(line) for line in lines[1:8]}) == 1
    assert lines[9].split() == ["class", "precision", "recall", "av.", "prec.", "lift"]
    first = next(iter(found.recalls))
    assert lines[10].split()[:3] == [
        str(first),
        f"{found.precisions[first].value:.4g}",
        f"{found.recalls[first].value:.4g}",
    ]
    assert len(lines) == 10 + len(found.recalls)
    frame = found.to_frame()
    assert list(frame) == ["value", "low", "high", "reason"]
    assert frame.loc["MCC", "value"] == found.mcc.value
    assert frame.index.name == "measure"
    assert repr(found) == f"<Evaluation: accuracy {found.accuracy.value:.4f}, 240 rows>"
    folds = evaluate(clone(model), *hard, cv=3, random_state=0)
    assert str(folds).startswith("240 tested rows in 3 folds, 95 % intervals")


def test_predictions_are_as_good_as_the_model(three):
    X, y = three
    model = GLVQ(random_state=0).fit(X, y)
    direct = evaluate(model, X, y, random_state=0)
    order = [2, 0, 1]
    given = evaluate_predictions(
        y,
        model.predict(X),
        scores=model.decision_function(X)[:, order],
        probabilities=model.predict_proba(X)[:, order],
        classes=order,
        random_state=0,
    )
    assert given.table.keys() == direct.table.keys()
    for name, estimate in direct.table.items():  # sums of columns in another order round otherwise
        values = [[e.value, e.low, e.high] for e in (given.table[name], estimate)]
        np.testing.assert_allclose(*values, rtol=1e-12)
    np.testing.assert_array_equal(given.confusion.counts, direct.confusion.counts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scores": [[0.1], [0.2], [0.3], [0.4]]}, r"scores has shape \(4, 1\), expected one"),
        ({"probabilities": [0.1, 0.2, 0.3, 0.4]}, r"probabilities has shape \(4,\)"),
        ({"scores": [0.1, np.nan, 0.2, 0.3]}, "scores contains NaN"),
        ({"probabilities": [[0.5, 0.6]] * 4}, "do not sum to one in 4 rows, first in row 0"),
        ({"scores": [0.1]}, "inconsistent numbers of samples"),
        ({"classes": [0, 2]}, r"\[1\] are missing"),
        ({"classes": [0, 1, 1]}, "must be different labels"),
        ({"confidence": 95}, "confidence=95"),
        ({"n_resamples": 2}, "n_resamples=2 must be an integer of at least 10"),
    ],
)
def test_errors_of_predictions(settings, message):
    with pytest.raises(ValueError, match=message):
        evaluate_predictions([0, 0, 1, 1], [0, 1, 1, 1], **settings)


def test_errors(hard):
    X, y = hard
    with pytest.raises(NotFittedError):
        evaluate(GLVQ(), X, y)
    with pytest.raises(ValueError, match="which the model has not seen"):
        evaluate(GLVQ().fit(X, y), X, y + 1)
    with pytest.raises(ValueError, match="give the random_state to the splitter"):
        evaluate(GLVQ(), X, y, cv=StratifiedKFold(3), random_state=0)
    with pytest.raises(ValueError, match="no rows"):
        evaluate_predictions([], [])


def test_nested_folds_repeat_the_whole_choice():
    """With labels of a coin the best of a search looks better than chance, but not on new rows."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 9, 11]}, cv=3)
    nested = evaluate(search, X, y, nested=True, random_state=0)
    assert str(nested) == str(evaluate(search, X, y, cv=5, random_state=0))
    assert str(nested) != str(evaluate(search, X, y, nested=True, cv=4, random_state=0))
    assert search.fit(X, y).best_score_ > nested.accuracy.value
