"""Which of scikit-learn's estimator checks a linear classifier cannot pass, and why."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from .rvm import RVM
from .svm import HardMarginSVM

NOT_SEPARABLE = (
    "check_classifier_data_not_an_array",
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_supervised_y_2d",
)


def excuses_of(estimator: BaseEstimator) -> dict[str, str]:
    """Return the checks that one of the linear classifiers cannot pass, with the reasons."""
    if isinstance(estimator, HardMarginSVM):
        return dict.fromkeys(NOT_SEPARABLE, "the check has classes that no hyperplane separates")
    if isinstance(estimator, RVM) and estimator._is("precomputed"):
        return {"check_decision_proba_consistency": "the check gives rows, not a Gram matrix"}
    return {}
