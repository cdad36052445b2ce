"""scikit-learn's own checks of estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn import GLVQ, LOGM, MCE, RSLVQ, SNPC, MarginLVQ, PrototypeClassifier
from protolearn.checks import expected_failed_checks

ESTIMATORS = [
    GLVQ(),
    GLVQ(solver="sgd"),
    GLVQ(prototypes_per_class=2),
    MCE(),
    LOGM(),
    SNPC(),
    RSLVQ(),
    RSLVQ(solver="sgd"),
    MarginLVQ(),
    MarginLVQ(loss="exponential"),
    PrototypeClassifier(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_only_the_weight_checks_are_excused():
    for estimator in ESTIMATORS:
        assert set(expected_failed_checks(estimator)) <= {
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        }
    assert not any(expected_failed_checks(e) for e in (GLVQ(), MCE(), LOGM(), SNPC(), RSLVQ()))
