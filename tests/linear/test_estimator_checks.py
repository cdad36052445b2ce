"""scikit-learn's own checks of the linear classifiers."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_profile import in_all
from protolearn import (
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    RejectClassifier,
    SoftMarginSVM,
)
from protolearn.checks import expected_failed_checks

ESTIMATORS = in_all(
    MeanOfClass(),
    FisherPrototypes(),
    HardMarginSVM(),
    SoftMarginSVM(),
    BoostedPrototypes(max_iter=100),
    thorough=[
        SoftMarginSVM(norm=2),
        BoostedPrototypes(C=1.0, max_iter=100),
        FisherPrototypes(ridge=1.0),
    ],
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_only_inseparable_data_are_excused():
    for estimator in ESTIMATORS:
        excused = expected_failed_checks(estimator)
        assert bool(excused) == isinstance(estimator, HardMarginSVM)
        assert not any("weight" in name for name in excused)


def test_what_is_inside_a_model_is_excused():
    inside = expected_failed_checks(HardMarginSVM())
    assert expected_failed_checks(RejectClassifier(HardMarginSVM())) == inside


@pytest.mark.parametrize("name", ["check_estimators_pickle", "check_classifiers_classes"])
def test_separable_data_are_not_excused(name):
    assert name not in expected_failed_checks(HardMarginSVM())
