"""Which of scikit-learn's estimator checks an estimator of ours cannot pass, and why."""

from __future__ import annotations

from sklearn.base import BaseEstimator, MetaEstimatorMixin

from .classifiers import (
    LVQ21,
    CostSettings,
    FirstDistances,
    KernelGLVQ,
    Settings,
    TrainedClassifier,
)
from .distances import CauchySchwarz, Distance, KullbackLeibler, Mahalanobis, Matrix, Renyi, Tangent
from .linear import HardMarginSVM, LinearPrototypeClassifier
from .perceptrons import AdaTron, KernelAdaTron, Perceptron, Rosenblatt

WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
NEGATIVE_ROWS = ("check_class_weight_classifiers", "check_decision_proba_consistency")
NO_GRAM = (
    "check_positive_only_tag_during_fit",
    "check_estimators_dtypes",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_train",
    "check_decision_proba_consistency",
)
ZERO_ROWS = (
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
)

NOT_SEPARABLE = (
    "check_classifier_data_not_an_array",
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
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


def expected_failed_checks(estimator: BaseEstimator) -> dict[str, str]:
    """Return which of scikit-learn's estimator checks an estimator cannot pass, and why.

    Parameters
    ----------
    estimator : estimator
        One of ours.

    Returns
    -------
    checks : dict
        Name of the check to reason; the ``expected_failed_checks`` of ``check_estimator``.

    Examples
    --------
    >>> from protolearn import LOGM
    >>> from protolearn.checks import expected_failed_checks
    >>> expected_failed_checks(LOGM())
    {}
    >>> list(expected_failed_checks(LOGM(solver="sgd")))
    ['check_sample_weight_equivalence_on_dense_data',
     'check_sample_weight_equivalence_on_sparse_data']
    """
    if isinstance(estimator, MetaEstimatorMixin) and hasattr(estimator, "model"):
        return expected_failed_checks(estimator.model)
    return prototype_failures(estimator) | linear_failures(estimator)


def prototype_failures(estimator: BaseEstimator) -> dict[str, str]:
    """Return the checks that one of the prototype classifiers cannot pass, with the reasons."""
    if isinstance(estimator, KernelGLVQ):
        reason = "training stops by derivatives in coordinates that depend on the order of the rows"
        failures = prototype_failures(estimator._trainer()) or dict.fromkeys(WEIGHTS, reason)
        if estimator._is_precomputed():
            failures.update(dict.fromkeys(NO_GRAM, "the check gives rows, not a Gram matrix"))
        return failures
    if not isinstance(estimator, TrainedClassifier):
        return {}
    distance = estimator._axes()[0]
    failures = distance_failures(distance)
    reason = weight_reason(estimator, distance)
    if reason:
        failures.update(dict.fromkeys(WEIGHTS, reason))
    if isinstance(estimator, LVQ21):
        failures["check_class_weight_classifiers"] = (
            "only samples in a narrow window around the border move prototypes"
        )
    return failures


def weight_reason(estimator: TrainedClassifier, distance: Distance) -> str:
    """Return why a weight of two is not quite the same as the row twice; nothing if it is."""
    drawn = isinstance(estimator.init, str) and estimator.init in ("random", "kmeans++")
    if not is_full_batch(estimator._settings_type.of(estimator)):
        return "a sample of weight two is one step of double length, not two steps"
    if drawn or estimator.prototypes_per_class != 1 or estimator.early_stopping:
        return "the prototypes start from random choices among the rows"
    if isinstance(distance, Mahalanobis):
        auto = distance.shrinkage == "auto"
        return "the shrinkage depends on the number of rows, not on their weights" if auto else ""
    if isinstance(distance, Tangent) or (isinstance(distance, Matrix) and distance.rank):
        return "principal axes differ by rounding, and training amplifies it"
    if isinstance(distance, KullbackLeibler):
        return "sums over rows in another order differ by rounding, and training amplifies it"
    return ""


def is_full_batch(settings: Settings) -> bool:
    """Whether the solver is L-BFGS, for few rows and one prototype a class."""
    if not isinstance(settings, CostSettings):
        return False
    objective = settings.objective(settings.distance, 2, 0, FirstDistances(1.0))
    solver = settings.solver or settings.automatic_solver(objective, 0, 0.0)
    return solver.name == "lbfgs"


def distance_failures(distance: Distance) -> dict[str, str]:
    """Return which checks have data that a distance does not take, or no answer to."""
    failures = {}
    if distance.sparse_form is None:  # scikit-learn 1.6 asks all the same
        failures[WEIGHTS[1]] = "the distance takes no sparse rows"
    if distance.positive_only:
        reason = "the check gives negative rows in spite of the tag positive_only"
        failures.update(dict.fromkeys(NEGATIVE_ROWS, reason))
    if isinstance(distance, (CauchySchwarz, Renyi)):
        failures.update(dict.fromkeys(ZERO_ROWS, "the check has a row of zeros"))
        failures["check_classifiers_train"] = "of two features the ratio alone counts"
    if isinstance(distance, Tangent):
        reason = "prototypes that are lines in a plane get stuck behind each other"
        failures.update(
            dict.fromkeys(("check_class_weight_classifiers", "check_classifiers_train"), reason)
        )
    return failures


def linear_failures(estimator: BaseEstimator) -> dict[str, str]:
    """Return the checks that a linear classifier or perceptron cannot pass, with the reasons."""
    if isinstance(estimator, HardMarginSVM):
        return dict.fromkeys(NOT_SEPARABLE, "the check has classes that no hyperplane separates")
    if isinstance(estimator, LinearPrototypeClassifier) and estimator.kernel == "precomputed":
        return {NO_GRAM[-1]: "the check gives rows, not a Gram matrix"}
    failures = {}
    if isinstance(estimator, KernelAdaTron) and estimator._is_precomputed():
        failures = dict.fromkeys(NO_GRAM[:2], "the check gives rows, not a Gram matrix")
    if isinstance(estimator, (AdaTron, KernelAdaTron)) and estimator._is_hard():
        failures[NEGATIVE_ROWS[0]] = "weights of classes are factors of a bound, which is infinite"
    if isinstance(estimator, (Perceptron, Rosenblatt)):
        failures[NEGATIVE_ROWS[0]] = "weights of classes change the steps of a rule, not a cost"
    return failures
