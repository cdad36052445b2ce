"""Weights at the ends of double precision: the model of their ratios, or an error that says why."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from given_classifiers import CLASSIFIERS, UNFINISHED, name_of, overlap
from protolearn import FisherPrototypes, MeanOfClass, RejectClassifier
from protolearn.analysis import accuracy_reject_curve

WEIGHTED = [m for m in CLASSIFIERS if "sample_weight" in inspect.signature(m.fit).parameters]
ABSOLUTE = {"RVM", "SoftMarginSVM"}
"""Models of which the size of the weights is a parameter."""

X, Y = overlap(40)
HALF = np.random.RandomState(0).rand(len(Y)) < 0.5
ENDS = [(a, b) for a in (1e-320, 1e-200, 1.0, 1e200, 1e308) for b in (1e-320, 1.0, 1e308)]
CASES = {
    **{f"mixed {a:g} {b:g}": np.where(HALF, a, b) for a, b in ENDS},
    **{f"by class {a:g} {b:g}": np.where(Y == "ash", a, b) for a, b in ENDS if a != b},
}

pytestmark = pytest.mark.filterwarnings(UNFINISHED, "error::RuntimeWarning")


def scores(model, weight):
    """Return the scores of a fit, or None if it refuses the weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            model = clone(model).fit(X, Y, sample_weight=weight)
        except ValueError as error:
            assert "weight" in str(error) or "class" in str(error), error  # noqa: PT017
            return None
        return model.decision_function(X)


@pytest.mark.parametrize("model", WEIGHTED, ids=name_of)
def test_extreme_weights_count_by_their_ratios_or_are_refused(model):
    n_answers = 0
    for name, weight in CASES.items():
        found = scores(model, weight)
        if found is None:
            continue
        n_answers += 1
        assert np.isfinite(found).all(), name
        if name_of(model) not in ABSOLUTE:
            expected = scores(model, weight / weight.max())
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * scale, err_msg=name)
    assert n_answers >= (1 if name_of(model) in ABSOLUTE else 5)


@pytest.mark.parametrize("weight", [1e308, 1e-320, 1e200])
def test_the_size_of_weights_is_refused_where_it_counts(weight):
    for model in WEIGHTED:
        if name_of(model) in ABSOLUTE:
            with pytest.raises(ValueError, match=r"go from .* to .*; rescale them"):
                clone(model).fit(X, Y, sample_weight=np.full(len(Y), weight))


def test_powers_of_four_change_no_bit():
    weight = np.random.RandomState(1).uniform(0.1, 3.0, len(Y))
    for model in (MeanOfClass(), FisherPrototypes()):
        one = clone(model).fit(X, Y, sample_weight=weight)
        other = clone(model).fit(X, Y, sample_weight=weight * 4.0**30)
        assert np.array_equal(one.coef_, other.coef_)


def test_a_class_that_is_lost_in_rounding_is_named():
    with pytest.raises(ValueError, match=r"lost in rounding\. Change sample_weight"):
        FisherPrototypes().fit(X, Y, sample_weight=np.where(Y == "ash", 1e-30, 1e30))


@pytest.mark.parametrize("weight", [1e308, 1e-320])
def test_rates_with_extreme_weights(weight):
    weights = np.full(len(Y), weight)
    one = RejectClassifier(MeanOfClass(), cost=0.2).fit(X, Y)
    other = RejectClassifier(MeanOfClass(), cost=0.2).fit(X, Y, sample_weight=weights)
    assert (other.reject_rate_, other.accepted_error_) == (one.reject_rate_, one.accepted_error_)
    confidence = np.arange(len(Y))
    predicted = np.roll(Y, 3)
    curves = [accuracy_reject_curve(Y, predicted, confidence, w) for w in (None, weights)]
    np.testing.assert_allclose(curves[0].accuracy, curves[1].accuracy)
