"""The area below each drawn curve is the number of its legend."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_story import story_of
from protolearn import GLVQ
from protolearn.report.page.chart import BOTTOM, LEFT, RIGHT, TOP
from protolearn.report.page.decision_map import STAR, move_apart
from protolearn.report.page.evidence import by_folds
from protolearn.report.page.performance import precision_chart, roc_chart, thin_steps
from protolearn.report.page.suspect_rows import find_mislabelled, label_doubt
from protolearn.selection import precision_steps

DATA = Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent")


def areas(chart):
    """Give the area below each curve as it is drawn, in pixels, and the number of its legend."""
    for layer in chart.legend:
        x, y = np.array([pair.split(",") for pair in chart.points(layer).split()], dtype=float).T
        x, y = (x - LEFT) / (RIGHT - LEFT), (BOTTOM - y) / (BOTTOM - TOP)
        yield auc(x, y), float(layer.name.rsplit(" ", 1)[1])


class Flattened(LogisticRegression):
    """Scores of another size in every fold, as if these had chosen other models."""

    def decision_function(self, X):
        size = 10.0 ** (int(1e6 * abs(self.coef_[0, 0])) % 5)
        return size * super().decision_function(X) + size - 1.0


@pytest.mark.parametrize("kind", ["two", "three"])
def test_every_curve(kind):
    X, y = load_iris(return_X_y=True)
    X, model = X[:, :2], GLVQ(random_state=0)
    if kind == "two":
        X, y = make_classification(900, 6, weights=[0.9], flip_y=0.1, random_state=1)
        model = Flattened()
    evidence = by_folds(model, X, y, 5, 0, None)
    story = story_of(evidence, model.fit(X, y), X, y)
    found = [*areas(roc_chart(story)), *areas(precision_chart(story))]
    assert len(found) == (3 if kind == "two" else 6)
    for area, legend in found:
        assert area == pytest.approx(legend, abs=1e-3)
    if kind == "two":
        assert found[0][1] == pytest.approx(evidence.evaluation.auc.value, abs=6e-4)
        # At equal thresholds the same folds would show another area.
        averaged = evidence.evaluation.roc
        assert abs(auc(averaged.fpr, averaged.tpr) - averaged.auc) > 0.01


def test_steps_are_those_of_scikit_learn():
    rng = np.random.RandomState(0)
    for n_values in (5, 4000):
        y, scores = rng.uniform(size=3000) < 0.1, rng.randint(n_values, size=3000).astype(float)
        line = precision_steps(y, scores + 2.0 * y)
        expected = average_precision_score(y, scores + 2.0 * y)
        assert auc(*line) == pytest.approx(expected, abs=1e-12)
        assert auc(*thin_steps(*line)) == pytest.approx(expected, abs=1e-12)


def test_flipped_labels_come_first():
    X, y = make_classification(2000, 8, weights=[0.8], class_sep=1.6, flip_y=0.0, random_state=0)
    rng = np.random.RandomState(0)
    flipped = rng.uniform(size=len(y)) < 0.05
    given = np.where(flipped, 1 - y, y)
    evidence = by_folds(LogisticRegression(), X, given, 5, 0, None)
    first = [row for row, _ in find_mislabelled(evidence)[:100]]
    assert flipped[first].mean() >= 0.6


NAMES = "digits", "segment", "satimage", "pendigits", "optdigits", "letter"


@pytest.mark.parametrize("name", NAMES)
def test_flipped_labels_of_real_tables_come_first(name):
    """At least 60 of the first hundred rows have one of the 5 % labels that were flipped."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        if not (DATA / f"{name}.csv.gz").is_file():
            pytest.skip("set PROTOLEARN_DATA to the folder of benchmark data")
        with gzip.open(DATA / f"{name}.csv.gz", "rt") as file:
            next(file)
            table = np.array([line.rstrip().split(",") for line in file])
        X, y = table[:, :-1].astype(float), table[:, -1]
    rng = np.random.RandomState(0)
    rows = rng.permutation(len(y))[:3000]
    X, y = X[rows], y[rows]
    flipped, labels = rng.uniform(size=len(y)) < 0.05, np.unique(y)
    given = y.copy()
    for i in np.flatnonzero(flipped):
        given[i] = rng.choice(labels[labels != y[i]])
    model = make_pipeline(StandardScaler(), GLVQ(prototypes_per_class=3, random_state=0))
    first = [row for row, _ in find_mislabelled(by_folds(model, X, given, 5, 0, None))[:100]]
    assert flipped[first].sum() >= (60 if name in ("digits", "letter") else 80)  # digits has 89


def test_a_rare_class_is_not_suspect_for_being_rare():
    # The second and the third row have the same probabilities; only the usual ones differ.
    P = np.array([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5]] + [[0.9, 0.1]] * 7)
    code = np.array([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    doubt = label_doubt(P, code)
    usual = np.array([[7.6, 1.6], [2.2, 0.8]]) / [[9.0], [3.0]]  # 8 and 2 rows, and shares of one
    assert doubt[0] == pytest.approx(np.log(0.9 / usual[1, 0]) - np.log(0.1 / usual[1, 1]))
    assert doubt[1] < 0.0 < doubt[2]


def test_stars_do_not_hide_each_other():
    centers = np.array([[10.0, 10.0], [10.0, 10.0], [300.0, 200.0]])
    moved = move_apart(centers)
    assert np.linalg.norm(moved[0] - moved[1]) == pytest.approx(STAR, abs=0.1)
    assert moved[:2].mean(axis=0) == pytest.approx([10.0, 10.0], abs=0.1)
    assert moved[2].tolist() == [300.0, 200.0]
