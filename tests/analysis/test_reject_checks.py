"""scikit-learn's own checks of a classifier with a reject option."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn import GLVQ, RejectClassifier
from protolearn.checks import expected_failed_checks

ESTIMATORS = [RejectClassifier(GLVQ(), threshold=0.0)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_no_check_is_excused():
    assert not any(map(expected_failed_checks, ESTIMATORS))
