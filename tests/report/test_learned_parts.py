"""What the page says of prototypes, columns and the baseline, against what others compute."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score

from given_story import story_of
from protolearn import GLVQ, SoftMarginSVM
from protolearn.report import Subject
from protolearn.report.page.column_importance import directions_of, effects_of
from protolearn.report.page.evidence import by_given_rows
from protolearn.report.page.performance import headline, measures
from protolearn.report.page.prototype_cards import (
    class_values,
    overview_cards,
    prototype_cards,
    word_for,
)
from protolearn.tables import table_pipeline


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_the_baseline_is_that_of_the_largest_class(cancer):
    X, y = cancer
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    evidence = by_given_rows(model, X, y, 0)
    found = measures(evidence)
    dummy = DummyClassifier(strategy="prior").fit(X, y)
    assert found["accuracy"].baseline == dummy.score(X, y)
    assert found["balanced accuracy"].baseline == balanced_accuracy_score(y, dummy.predict(X))
    shares = dummy.predict_proba(X)
    assert found["AUC"].baseline == roc_auc_score(y, shares[:, 1]) == 0.5
    assert found["log loss"].baseline == pytest.approx(log_loss(y, shares))
    assert found["MCC"].baseline == 0.0
    assert found["accuracy"].estimate == evidence.evaluation.accuracy


@pytest.mark.parametrize(
    ("metric", "names"),
    [
        ("accuracy", ["accuracy", "balanced accuracy"]),
        ("auc", ["AUC", "accuracy"]),
        ("f1", ["macro F", "accuracy"]),
        ("anything", ["accuracy", "balanced accuracy"]),
    ],
)
def test_the_metric_that_was_asked_for_comes_first(cancer, metric, names):
    X, y = cancer
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    evidence = by_given_rows(model, X, y, 0)
    story = story_of(evidence, model, X, y)
    object.__setattr__(story, "metric", metric)
    assert [one.name for one in headline(story, measures(evidence))] == names


def test_columns_favour_the_class_that_their_coefficient_does(cancer):
    X, y = cancer
    names = np.array(["malignant", "benign"])[y]
    model = table_pipeline(SoftMarginSVM(C=0.1)).fit(X, names)
    subject = Subject.of(model, X, names)
    found = directions_of(subject, effects_of(subject, np.arange(100)))
    assert list(found) == list(X.columns)
    for name, weight in zip(X.columns, model[-1].coef_[0], strict=True):
        (one,) = found[name]
        toward = model.classes_[int(weight > 0.0)]
        assert (one.step, one.toward) == ("higher values", toward)
        assert one.is_sure
        assert one.reason_for("malignant") == f"{'high' if weight > 0.0 else 'low'} {name}"
        assert one.reason_for("benign") == f"{'low' if weight > 0.0 else 'high'} {name}"


@pytest.mark.parametrize("share", [0.2, 0.8], ids=["red is rare", "red is frequent"])
def test_words_favour_the_class_that_has_them(share):
    """A step is from the most frequent word; whichever that is, red favours yes."""
    rng = np.random.RandomState(0)
    y = np.array(["no", "yes"])[(rng.uniform(size=300) < share).astype(int)]
    colour = np.where((y == "yes") ^ (rng.uniform(size=300) < 0.1), "red", "blue")
    X = pd.DataFrame({"colour": colour, "size": rng.normal(size=300)})
    for last in SoftMarginSVM(), GLVQ(random_state=0):
        model = table_pipeline(last).fit(X, y)
        subject = Subject.of(model, X, y)
        found = directions_of(subject, effects_of(subject, np.arange(300)))
        (one,) = found["colour"]
        assert (one.toward == "yes") == one.step.startswith("red")
        assert one.reason_for("yes") == "colour: red instead of blue"
        assert one.reason_for("no") == "colour: blue instead of red"
    values = class_values(story_of(None, model, X, y), [0])[0]
    shares = {
        code: np.mean(colour[y == subject.classes[code]] == values.category) for code in (0, 1)
    }
    assert dict(values.shares) == pytest.approx(shares)


def test_cards_tell_the_rows_that_prototypes_stand_for():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = table_pipeline(GLVQ(prototypes_per_class=2, random_state=0)).fit(X, y)
    story = story_of(None, model, X, y)
    cards = prototype_cards(story, {})
    inner = model[:-1].transform(X)
    prototypes, labels = model[-1].prototypes_, model[-1].prototype_labels_
    distances = ((inner[:, None] - prototypes) ** 2).sum(axis=2)
    expected = []
    for k, label in enumerate(labels):
        here = distances.argmin(axis=1) == k
        own = np.mean(y[here] == label)
        expected.append(
            f"Nearest to {here.mean():.0%} of all rows; {own:.0%} of these are {label}."
        )
    assert {card.share for card in cards} == set(expected)
    for card in cards:
        assert [card.code for card in cards] == [0, 0, 1, 1, 2, 2]
        order = np.argsort(np.where(y == card.code, distances[:, place_of(card, labels)], np.inf))
        assert card.exemplars == [str(row) for row in order[:3]]
    assert [one.code for one in overview_cards(cards, 4)] == [0, 0, 1, 2]


def place_of(card, labels):
    """Give the place of a prototype by "prototype 2"."""
    place = int(card.place.split()[1]) - 1
    assert labels[place] == card.code
    return place


def test_strips_are_percentiles_of_the_rows():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    card = prototype_cards(story_of(None, model, X, y), {})[0]
    line = next(one for one in card.lines if one.column == X.columns[2])
    lengths = X.iloc[:, 2]
    own = np.percentile(lengths[y == 0], [5, 25, 50, 75, 95])
    everything = np.percentile(lengths, [5, 95])
    drawn = np.array([*line.strip.all, *line.strip.own])
    known = np.array([*everything, *own])
    slope, start = np.polyfit(known, drawn, 1)
    np.testing.assert_allclose(drawn, slope * known + start, atol=0.1)
    assert line.strip.value == pytest.approx(slope * float(line.text) + start, abs=0.3)


def test_words_for_values():
    values = np.arange(100.0)
    assert [word_for(x, values) for x in (2, 20, 50, 80, 98)] == [
        *("very low", "low", "medium", "high", "very high")
    ]
