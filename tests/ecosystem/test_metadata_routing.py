"""Weights go where they are asked for, and nowhere else."""

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_classifiers import CLASSIFIERS, UNFINISHED, apart, name_of, overlap
from protolearn import GLVQ, GMLVQ

pytestmark = pytest.mark.filterwarnings(UNFINISHED)


@pytest.fixture(autouse=True)
def _routing():
    with config_context(enable_metadata_routing=True):
        yield


def takes_weights(model):
    return "sample_weight" in inspect.signature(model.fit).parameters


WEIGHTED = [model for model in CLASSIFIERS if takes_weights(model) and not hasattr(model, "model")]
UNWEIGHTED = [model for model in CLASSIFIERS if not takes_weights(model)]


def weighted(X, y):
    """Give weights that change the answers: hardly any for rows far out."""
    return np.where(X[:, 0] > np.median(X[:, 0]), 0.02, 1.0)


def asking(model):
    return clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)


@pytest.mark.parametrize("model", WEIGHTED, ids=name_of)
def test_weights_through_cross_validation(model):
    """Each fold has the fit that its part of the weights gives."""
    X, y = overlap()
    weight, folds = weighted(X, y), [(np.arange(40), np.arange(40, 80))]
    got = cross_validate(
        asking(model), X, y, params={"sample_weight": weight}, cv=folds, return_estimator=True,
        error_score="raise",
    )  # fmt: skip
    expected = clone(model).fit(X[:40], y[:40], sample_weight=weight[:40])
    found = got["estimator"][0].decision_function(X)
    np.testing.assert_array_equal(found, expected.decision_function(X))
    assert (found != clone(model).fit(X[:40], y[:40]).decision_function(X)).any()


@pytest.mark.parametrize("model", WEIGHTED, ids=name_of)
def test_weights_through_a_pipeline(model):
    X, y = overlap()
    weight = weighted(X, y)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipe = make_pipeline(scaler, asking(model)).fit(X, y, sample_weight=weight)
    scaled = StandardScaler().fit_transform(X)
    expected = clone(model).fit(scaled, y, sample_weight=weight)
    np.testing.assert_array_equal(pipe.decision_function(X), expected.decision_function(scaled))


@pytest.mark.parametrize("model", WEIGHTED, ids=name_of)
def test_weights_that_nobody_asked_for_are_an_error(model):
    X, y = apart()
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(
            clone(model), X, y, params={"sample_weight": np.ones(len(y))}, error_score="raise"
        )


@pytest.mark.parametrize("model", UNWEIGHTED, ids=name_of)
def test_a_fit_without_weights_cannot_ask_for_them(model):
    with pytest.raises((TypeError, AttributeError), match=r"sample_weight|set_fit_request"):
        clone(model).set_fit_request(sample_weight=True)


def test_weights_of_a_step_that_maps():
    """A model is fitted with weights, and its map goes to the next step."""
    X, y = overlap()
    weight = weighted(X, y)
    mapping = GMLVQ(rank=2, max_iter=20, random_state=0)
    pipe = make_pipeline(asking(mapping), KNeighborsClassifier(1))
    pipe.fit(X, y, sample_weight=weight)
    expected = clone(mapping).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(pipe[0].transform(X), expected.transform(X))


def test_weights_of_a_search_and_of_predictions():
    X, y = overlap()
    params = {"sample_weight": weighted(X, y)}
    model = asking(GLVQ(max_iter=20, random_state=0))
    search = GridSearchCV(model, {"beta": [1.0, 5.0]}, cv=2, error_score="raise")
    search.fit(X, y, **params)
    again = clone(search.best_estimator_).fit(X, y, **params)
    np.testing.assert_array_equal(search.decision_function(X), again.decision_function(X))
    assert len(cross_val_predict(model, X, y, cv=2, params=params)) == len(y)
