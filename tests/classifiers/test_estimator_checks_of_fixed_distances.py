"""scikit-learn's own checks of estimators with each distance that is not learned."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_profile import in_all, run_check
from protolearn import LVQ1, PrototypeClassifier
from protolearn.checks import expected_failed_checks
from protolearn.distances import (
    CauchySchwarz,
    Kernel,
    KullbackLeibler,
    Mahalanobis,
    Minkowski,
    Renyi,
)

# Always: one distance of each kind, with a kink, by products of rows and not, and a rule.
ESTIMATORS = in_all(
    *(
        PrototypeClassifier(distance=distance)
        for distance in in_all(
            Minkowski(1),
            Kernel(),
            KullbackLeibler(),
            Mahalanobis(),
            thorough=[
                Minkowski(),
                Minkowski(np.inf),
                Kernel("linear"),
                Kernel("polynomial", degree=2),
                CauchySchwarz(),
                Renyi(),
                Mahalanobis(0.0),
            ],
        )
    ),
    LVQ1(distance="kl"),
    thorough=[LVQ1(distance="minkowski")],
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    run_check(estimator, check)
