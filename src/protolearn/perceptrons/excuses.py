"""Which of scikit-learn's estimator checks a perceptron cannot pass, and why."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from .kernel_ada_tron import KernelAdaTron

NO_GRAM = ("check_positive_only_tag_during_fit", "check_estimators_dtypes")


def excuses_of(estimator: BaseEstimator) -> dict[str, str]:
    """Return the checks that one of the perceptrons cannot pass, with the reasons."""
    if isinstance(estimator, KernelAdaTron) and estimator._precomputed():
        return dict.fromkeys(NO_GRAM, "the check gives rows, not a Gram matrix")
    return {}
