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


def test_no_check_is_excused_but_that_of_the_order_of_probabilities():
    """They follow from the relative margin, and ``decision_function`` from differences."""
    excused = {check for estimator in ESTIMATORS for check in expected_failed_checks(estimator)}
    assert excused <= {"check_decision_proba_consistency"}
