"""Weights at the ends of double precision: the model of their ratios, or an error that says why."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from given_classifiers import CLASSIFIERS, UNFINISHED, apart, name_of, overlap
from protolearn import (
    GLVQ,
    RVM,
    Adaline,
    FisherPrototypes,
    MeanOfClass,
    RejectClassifier,
    SoftMarginSVM,
)
from protolearn.analysis import accuracy_reject_curve
from protolearn.one_versus_rest import OneVersusRestClassifier

WEIGHTED = [m for m in CLASSIFIERS if "sample_weight" in inspect.signature(m.fit).parameters]
ABSOLUTE = {"RVM", "SoftMarginSVM", "AdaTron", "KernelAdaTron", "Perceptron", "Rosenblatt"}
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
        found, expected = scores(model, weight), scores(model, weight / weight.max())
        if found is not None:
            n_answers += 1
            assert np.isfinite(found).all(), name
        if found is not None and expected is not None and name_of(model) not in ABSOLUTE:
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * scale, err_msg=name)
    assert n_answers >= (1 if isinstance(model, OneVersusRestClassifier) else 5)


@pytest.mark.parametrize("weight", [1e308, 1e-320, 1e200])
@pytest.mark.parametrize("cls", [MeanOfClass, FisherPrototypes, RVM, SoftMarginSVM, Adaline])
def test_linear_models_say_which_weights_they_take(cls, weight):
    with pytest.raises(ValueError, match="from 1e-100 to 1e100; rescale the weights"):
        cls().fit(X, Y, sample_weight=np.full(len(Y), weight))


def test_ratios_alone_count_where_the_method_says_so():
    weight = np.random.RandomState(1).uniform(0.1, 3.0, len(Y))
    for model in (MeanOfClass(), FisherPrototypes(), Adaline()):
        one, other = (clone(model).fit(X, Y, sample_weight=weight * f) for f in (1e90, 1e-90))
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)


def test_a_class_that_is_lost_in_rounding_is_named():
    with pytest.raises(ValueError, match=r"loses a class in rounding"):
        FisherPrototypes().fit(X, Y, sample_weight=np.where(Y == "ash", 1e-30, 1e30))


BY_CLASS = [m for m in CLASSIFIERS if "class_weight" in m.get_params()]
SIZES = 1e308, 1e200, 1e-200, 1e-320, np.nan, np.inf, -1.0
IN_RANGE = "zero, or from 1e-100 to 1e100; rescale the weights"


@pytest.mark.parametrize("model", BY_CLASS, ids=name_of)
def test_extreme_class_weights_are_refused_and_others_count_by_their_ratios(model):
    for size in SIZES:
        for other in (1.0, size):
            with pytest.raises(ValueError, match=IN_RANGE):
                clone(model).set_params(class_weight={"ash": size, "birch": other}).fit(X, Y)
    if name_of(model) in ABSOLUTE:
        return
    found = [
        clone(model).set_params(class_weight={"ash": 3.0 * f, "birch": f}).fit(X, Y)
        for f in (1.0, 2.0**300, 2.0**-300)
    ]
    one, *others = (each.decision_function(X) for each in found)
    for scores_of_other in others:
        np.testing.assert_allclose(scores_of_other, one, rtol=1e-9)


@pytest.mark.parametrize("cls", [RVM, SoftMarginSVM])
def test_products_of_weights_have_a_range_too(cls):
    with pytest.raises(ValueError, match=f"sample_weight times class_weight that is {IN_RANGE}"):
        cls(class_weight={"ash": 1e99, "birch": 1.0}).fit(X, Y, np.full(len(Y), 1e99))


@pytest.mark.parametrize("weight", [1e308, 1e200, 1e-320])
def test_weights_of_partial_fit(weight):
    model = GLVQ(solver="adam")
    with pytest.raises(ValueError, match=f"partial_fit takes .* {IN_RANGE}"):
        model.partial_fit(X, Y, np.unique(Y), sample_weight=np.full(len(Y), weight))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_extreme_weights_in_score(model):
    X, Y = apart() if name_of(model) == "HardMarginSVM" else overlap(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = clone(model).fit(X, Y)
    half = np.arange(len(Y)) % 2 == 0
    expected = model.score(X, Y, half.astype(float))
    for size in (1e308, 1e-320):
        assert model.score(X, Y, np.where(half, size, 0.0)) == expected
        assert model.score(X, Y, np.full(len(Y), size)) == model.score(X, Y)
    for wrong in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match="sample_weight must be finite and non-negative"):
            model.score(X, Y, np.where(half, wrong, 1.0))
    with pytest.raises(ValueError, match="y is an array with masked values"):
        model.score(X, np.ma.array(Y, mask=half))


@pytest.mark.parametrize("size", [1e308, 1e-320])
def test_extreme_weights_in_score_of_dask_collections(size):
    da = pytest.importorskip("dask.array", reason="Dask is optional")
    model, half = GLVQ(max_iter=5).fit(X, Y), np.arange(len(Y)) % 3 == 0
    rows, labels = da.from_array(X, chunks=(13, -1)), da.from_array(Y, chunks=13)
    weight = da.from_array(np.where(half, size, 0.0), chunks=13)
    assert model.score(rows, labels, weight) == pytest.approx(model.score(X, Y, half))
    with pytest.raises(ValueError, match="sample_weight must be finite and non-negative"):
        model.score(rows, labels, -weight - 1.0)


@pytest.mark.parametrize("weight", [1e90, 1e-90])
def test_rates_with_extreme_weights(weight):
    weights = np.full(len(Y), weight)
    one = RejectClassifier(MeanOfClass(), cost=0.2).fit(X, Y)
    other = RejectClassifier(MeanOfClass(), cost=0.2).fit(X, Y, sample_weight=weights)
    assert other.reject_rate_ == pytest.approx(one.reject_rate_)
    assert other.accepted_error_ == pytest.approx(one.accepted_error_)
    confidence = np.arange(len(Y))
    predicted = np.roll(Y, 3)
    for w in (weights, np.full(len(Y), 1e308), np.full(len(Y), 1e-320)):
        curve = accuracy_reject_curve(Y, predicted, confidence, w)
        expected = accuracy_reject_curve(Y, predicted, confidence)
        np.testing.assert_allclose(curve.accuracy, expected.accuracy)
    prefit = RejectClassifier(MeanOfClass().fit(X, Y), cv="prefit", cost=0.2)
    rates = [prefit.fit(X, Y, w).reject_rate_ for w in (None, np.full(len(Y), 1e308))]
    assert rates[0] == pytest.approx(rates[1])
