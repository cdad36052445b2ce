"""scikit-learn's own checks of the perceptrons."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_profile import in_all
from protolearn import (
    Adaline,
    AdaTron,
    BayesPoint,
    CommitteeMachine,
    KernelAdaTron,
    MinOver,
    ParityMachine,
    Perceptron,
    Pocket,
    Rosenblatt,
)
from protolearn.checks import expected_failed_checks

# Most checks have classes that nothing separates, so the number of sweeps decides how long it takes
ESTIMATORS = in_all(
    Rosenblatt(max_iter=50),
    Perceptron(max_iter=50),
    Pocket(max_iter=50),
    MinOver(max_iter=5000),
    Adaline(max_iter=200),
    AdaTron(max_iter=100),
    KernelAdaTron(max_iter=50),
    BayesPoint(n_estimators=5, max_iter=20),
    CommitteeMachine(max_iter=50),
    ParityMachine(Pocket(max_iter=20)),
    thorough=[
        AdaTron(gamma=1.0, fit_intercept="clamped"),
        KernelAdaTron(C=1.0, kernel="precomputed"),
    ],
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_only_rows_in_place_of_a_gram_matrix_and_weights_without_a_cost_are_excused():
    for estimator in ESTIMATORS:
        gram = getattr(estimator, "kernel", "") == "precomputed"
        rule = isinstance(estimator, (Rosenblatt, Perceptron))
        hard = rule or (hasattr(estimator, "_is_hard") and estimator._is_hard())
        assert len(expected_failed_checks(estimator)) == (2 if gram else 0) + hard
