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

# Always: with a kink, and by products of rows that may not be negative.
ESTIMATORS = in_all(
    *(
        PrototypeClassifier(distance=distance)
        for distance in in_all(
            Minkowski(1),
            KullbackLeibler(),
            thorough=[
                Kernel(),
                Mahalanobis(),
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
    thorough=[LVQ1(distance="kl"), LVQ1(distance="minkowski")],
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    run_check(estimator, check)
