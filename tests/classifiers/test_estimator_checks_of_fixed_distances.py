"""scikit-learn's own checks of estimators with each distance that is not learned."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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

ESTIMATORS = [
    *(
        PrototypeClassifier(distance=distance)
        for distance in (
            Minkowski(1),
            Minkowski(),
            Minkowski(np.inf),
            Kernel(),
            Kernel("polynomial", degree=2),
            Kernel("linear"),
            KullbackLeibler(),
            CauchySchwarz(),
            Renyi(),
            Mahalanobis(),
            Mahalanobis(0.0),
        )
    ),
    LVQ1(distance="minkowski"),
    LVQ1(distance="kl"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    check(estimator)
