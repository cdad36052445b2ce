"""Costs and measures of one class as scores, and the threshold that suits them."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_wine, make_classification

from protolearn import GLVQ, AutoPrototypeClassifier, counterfactual, explain, load, save, to_onnx
from protolearn.folds import RowGroups
from protolearn.selection import CostScorer, PositiveScorer
from protolearn.selection.auto.score_calibration import fit_sigmoid
from protolearn.selection.auto.search_data import forward_folds, latest_rows, plan_search
from protolearn.selection.scorers import label_score_of, missing_costs, raise_of_scores

X, Y = make_classification(600, 6, weights=[0.9], flip_y=0.05, class_sep=0.8, random_state=3)
LABELS = np.where(Y, "ill", "well")


def test_costs_are_those_of_the_matrix():
    rng, table = (
        np.random.RandomState(0),
        np.array([[0.0, 1.0, 4.0], [2.0, 0.5, 1.0], [9.0, 1.0, 0.0]]),
    )
    true, said = rng.choice([1, 5, 7], 50), rng.choice([1, 5, 7], 50)
    scorer = CostScorer(table)
    expected = (metrics.confusion_matrix(true, said) * table).sum() / 50
    assert scorer.score(true, said) == pytest.approx(-expected)
    named = CostScorer({(7, 1): 9.0, (1, 7): 4.0, (5, 1): 2.0})
    assert named.matrix([1, 5, 7])[2, 0] == 9.0
    assert named.matrix([1, 5, 7])[1].tolist() == [2.0, 0.0, 1.0]
    assert named.score([7, 7], [1, 7]) == -4.5
    assert missing_costs(np.array([[0.0, 1.0], [20.0, 0.0]])) == pytest.approx([2 / 21, 40 / 21])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0.0, 1.0]], "a row and a column"),
        ([[0.0, np.nan], [1.0, 0.0]], "must be finite"),
        ({("ill", "wel"): 1.0}, "expected a true and a predicted label"),
        ({("ill", "well"): -1.0}, "must be a finite number"),
    ],
)
def test_wrong_costs(costs, message):
    with pytest.raises(ValueError, match=message):
        CostScorer(costs).score(["ill"], ["well"], ["ill", "well"])


def test_measures_of_one_class_are_those_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    model = GLVQ(max_iter=3, random_state=0).fit(X, y)
    scores, said = model.decision_function(X), model.predict(X)
    expected = {
        "f1": metrics.f1_score(y, said, average=None)[1],
        "auc": metrics.roc_auc_score(y == 1, scores[:, 1]),
        "average_precision": metrics.average_precision_score(y == 1, scores[:, 1]),
    }
    for name, value in expected.items():
        assert PositiveScorer(name, 1)(model, X, y) == pytest.approx(value)
    every = [metrics.average_precision_score(y == k, scores[:, k]) for k in range(3)]
    assert PositiveScorer("average_precision")(model, X, y) == pytest.approx(np.mean(every))
    with pytest.raises(ValueError, match="metric='recall'"):
        PositiveScorer("recall", 1)(model, X, y)
    with pytest.raises(ValueError, match="positive=9"):
        PositiveScorer("f1", 9)(model, X, y)


def log_odds(rng, n_rows):
    """Give the log odds of rows, and labels by them."""
    lead = rng.normal(-1.5, 2.0, n_rows)
    return lead, (rng.uniform(size=n_rows) < 1.0 / (1.0 + np.exp(-lead))).astype(int)


@pytest.mark.parametrize("price", [5.0, 20.0])
def test_the_threshold_of_costs_is_that_of_theory(price):
    rng = np.random.RandomState(0)
    folds = [log_odds(rng, 4000) for _ in range(5)]
    scores = [np.stack([-lead, lead], axis=1) / 6.0 for lead, _ in folds]  # of another unit
    scoring = CostScorer({(1, 0): price})
    raised = raise_of_scores(scores, [y for _, y in folds], np.arange(2), scoring, fit_sigmoid)
    assert raised.sum() == pytest.approx(0.0)
    new, y = log_odds(rng, 200_000)
    said = (np.stack([-new, new], axis=1) / 6.0 + raised).argmax(axis=1)
    best = (new > -np.log(price)).astype(int)  # a probability of 1 / (1 + price)
    assert scoring.score(y, said) >= 1.02 * scoring.score(y, best)
    assert scoring.score(y, said) > 1.2 * scoring.score(y, (new > 0).astype(int)) + 0.1


def test_the_threshold_of_balanced_accuracy_counts_classes_alike():
    rng = np.random.RandomState(1)
    folds = [log_odds(rng, 4000) for _ in range(5)]
    scores = [np.stack([0.0 * lead, lead], axis=1) for lead, _ in folds]
    codes = [y for _, y in folds]
    raised = raise_of_scores(scores, codes, np.arange(2), "balanced_accuracy", fit_sigmoid)
    share = np.concatenate(codes).mean()
    assert np.diff(raised)[0] == pytest.approx(-np.log(share / (1.0 - share)), abs=0.35)
    assert raise_of_scores(scores, codes, np.arange(2), "accuracy", fit_sigmoid) is None
    few = [one[:4] for one in scores], [one[:4] for one in codes]
    assert raise_of_scores(*few, np.arange(2), "balanced_accuracy", fit_sigmoid) is None


def test_which_scores_are_of_labels():
    classes = np.array(["ill", "well"])
    score = label_score_of(PositiveScorer("f1", "ill"), classes)
    assert score(["ill", "well"], ["ill", "ill"]) == pytest.approx(2 / 3)
    for scoring in ("accuracy", "roc_auc", PositiveScorer("auc", "ill"), None, len):
        assert label_score_of(scoring, classes) is None


@pytest.fixture(scope="module")
def models():
    """Give choices that optimise accuracy, and costs."""
    costs, given = CostScorer({("ill", "well"): 20.0}), {"families": ["glvq", "soft-margin-svm"]}
    return costs, {
        name: AutoPrototypeClassifier(
            scoring=scoring, max_fits=60, cv=3, random_state=0, **given
        ).fit(X, LABELS)
        for name, scoring in {"accuracy": "accuracy", "cost": costs}.items()
    }


def test_the_choice_costs_less(models):
    costs, found = models
    price = {name: -costs.score(LABELS, one.held_out_labels_) for name, one in found.items()}
    assert price["cost"] < 0.8 * price["accuracy"]
    assert found["cost"].best_score_ == pytest.approx(-price["cost"], abs=0.02)
    assert found["accuracy"].raised_scores_ is None
    shares = found["accuracy"].held_out_proba_
    assert (
        found["accuracy"].classes_[shares.argmax(axis=1)] == found["accuracy"].held_out_labels_
    ).all()


def test_everything_follows_the_threshold(models, tmp_path):
    model = models[1]["cost"]
    assert (model.predict(X) == model.best_estimator_.predict(X)).all()
    scores, shares = model.decision_function(X), model.predict_proba(X)
    assert (model.predict(X) == model.classes_[(scores > 0).astype(int)]).all()
    ill = shares[model.predict(X) == "ill", 0]
    assert ill.min() < 0.3
    assert ill.min() > shares[model.predict(X) == "well", 0].max() - 1e-9
    changed = counterfactual(model, X[:20], data=X)
    assert (model.predict(changed.points) == changed.label).all()
    assert changed.exact
    told = explain(model, X[:5], data=X, y=LABELS)
    lead = np.abs(scores[:5])
    total = told.score_difference + (0.0 if told.threshold is None else told.threshold)
    np.testing.assert_allclose(total, lead)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), shares)
    assert again.scoring == model.scoring


def test_graphs_have_the_threshold(models):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = models[1]["cost"]
    graph = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    label, shares = session.run(["label", "probabilities"], {"X": X.astype(np.float32)})
    assert np.mean(label == model.predict(X)) > 0.99  # in single precision
    np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-4)


def test_folds_follow_time():
    rng = np.random.RandomState(0)
    times = rng.permutation(np.repeat(np.arange(60), 2))
    y = rng.randint(2, size=120)
    folds = forward_folds(y, times, 5)
    assert len(folds) == 5
    for before, after in pairwise(folds):
        assert times[before].max() < times[after].min()
    plan = plan_search(y, RowGroups(None), 5, 0, times)
    for part in (*plan.looks, *plan.others):
        assert times[part.train].max() < min(times[test].min() for test in part.tests)
        assert set(y[part.train]) == {0, 1}
    with pytest.raises(ValueError, match="have seen all classes"):
        forward_folds(np.r_[np.zeros(118), 1, 1], np.arange(120), 5)
    assert times[latest_rows(y, times)].min() > np.delete(times, latest_rows(y, times)).max()


def test_a_choice_by_later_rows():
    times = np.arange(600).astype("datetime64[D]")
    given = {"families": ["mean-of-class"], "random_state": 0}
    model = AutoPrototypeClassifier(**given).fit(X, LABELS, times=times)
    folds = model.held_out_folds_
    assert (np.diff(folds) >= 0).all()
    assert set(folds) == {-1, 0, 1, 2, 3, 4}
    with pytest.raises(ValueError, match="groups and times"):
        AutoPrototypeClassifier(**given).fit(X, LABELS, groups=np.arange(600) // 2, times=times)
    with pytest.raises(ValueError, match="numbers or dates"):
        AutoPrototypeClassifier(**given).fit(X, LABELS, times=LABELS)
