"""scikit-learn's tools that look into a model from outside."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.metrics import get_scorer
from sklearn.model_selection import LearningCurveDisplay, learning_curve

from given_classifiers import CLASSIFIERS, NAMES, REPRESENTATIVES, UNFINISHED, name_of, overlap

pytestmark = pytest.mark.filterwarnings(UNFINISHED)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def age_is_noise():
    """Give a frame whose last column says nothing about the label."""
    X, y = overlap()
    return pd.DataFrame(X, columns=NAMES), y


@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_permutation_importance_finds_the_noise(model):
    X, y = age_is_noise()
    model = clone(model).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=5, random_state=0).importances_mean
    assert found[2] < min(found[:2])


@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_partial_dependence_goes_from_one_class_to_the_other(model):
    """The centre of birch has the greater weight."""
    X, y = age_is_noise()
    model = clone(model).fit(X, y)
    found = partial_dependence(model, X, ["weight"], grid_resolution=5)
    curve = found["average"][0]
    assert len(found["grid_values"][0]) == 5
    assert curve[-1] > curve[0]


def test_partial_dependence_is_drawn():
    X, y = age_is_noise()
    model = clone(REPRESENTATIVES[0]).fit(X, y)
    features = ["height", ("height", "weight")]
    display = PartialDependenceDisplay.from_estimator(model, X, features, grid_resolution=4)
    assert display.axes_.size == 2
    individual = PartialDependenceDisplay.from_estimator(
        model, X, ["age"], kind="both", grid_resolution=4, subsample=5, random_state=0
    )
    assert individual.lines_.size == 6


@pytest.mark.parametrize("labels", [("ash", "birch"), ("ash", "birch", "cedar")], ids=len)
@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_decision_boundary(model, labels):
    X, y = overlap(labels=labels)
    model = clone(model).fit(X[:, :2], y)
    if len(labels) == 2:
        scores = DecisionBoundaryDisplay.from_estimator(model, X[:, :2], grid_resolution=8)
        assert scores.response.shape == (8, 8)
    regions = DecisionBoundaryDisplay.from_estimator(
        model, X[:, :2], response_method="predict", grid_resolution=8
    ).response
    expected = model.predict(corners(X))
    found = regions[[0, 0, -1, -1], [0, -1, 0, -1]]
    np.testing.assert_array_equal(model.classes_[found.astype(int)], expected)


def corners(X):
    """Give the corners of the grid, which goes one further than the data."""
    low, high = X.min(axis=0) - 1.0, X.max(axis=0) + 1.0
    return [(x, y) for y in (low[1], high[1]) for x in (low[0], high[0])]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_ranking_score_of_every_classifier(model):
    """The scores of two classes are greater for the second, ``classes_[1]``."""
    X, y = overlap(40)
    X = X + 8.0 * (y == "birch")[:, None]
    model = clone(model).fit(X, y)
    assert get_scorer("roc_auc")(model, X, y) > 0.9


@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_learning_curve(model):
    X, y = overlap()
    sizes, train, test = learning_curve(
        clone(model), X, y, train_sizes=[0.3, 1.0], cv=2, error_score="raise"
    )
    assert sizes.tolist() == [12, 40]
    assert train.shape == test.shape == (2, 2)
    assert test[-1].mean() > 0.6


def test_learning_curve_of_a_stream_goes_on():
    """By ``partial_fit``, without a new start at each size."""
    X, y = overlap()
    model = clone(REPRESENTATIVES[0])
    options = {"cv": 2, "error_score": "raise", "exploit_incremental_learning": True}
    _, _, test = learning_curve(model, X, y, train_sizes=[0.3, 1.0], **options)
    assert test[-1].mean() > 0.6
    display = LearningCurveDisplay.from_estimator(model, X, y, train_sizes=[0.5, 1.0], **options)
    assert display.ax_.get_xlabel()
