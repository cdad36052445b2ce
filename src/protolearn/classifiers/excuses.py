"""Which of scikit-learn's estimator checks a model cannot pass, and why."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from ..distances import CauchySchwarz, Distance, Mahalanobis, Matrix, Renyi, Tangent
from .heuristic_lvq import LVQ21
from .kernel_lvq import KernelGLVQ
from .problem import FirstDistances
from .settings import CostSettings, Settings
from .trained import TrainedClassifier

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


def excuses_of(estimator: BaseEstimator) -> dict[str, str]:
    """Return the checks that one of the prototype classifiers cannot pass, with the reasons."""
    if isinstance(estimator, KernelGLVQ):
        reason = "training stops by derivatives in coordinates that depend on the order of the rows"
        excused = excuses_of(estimator._trainer()) or dict.fromkeys(WEIGHTS, reason)
        if estimator._is_precomputed():
            excused.update(dict.fromkeys(NO_GRAM, "the check gives rows, not a Gram matrix"))
        return excused
    if not isinstance(estimator, TrainedClassifier):
        return {}
    distance = estimator._axes()[0]
    excused = of_distance(distance)
    reason = of_weights(estimator, distance)
    if reason:
        excused.update(dict.fromkeys(WEIGHTS, reason))
    if isinstance(estimator, LVQ21):
        excused["check_class_weight_classifiers"] = (
            "only samples in a narrow window around the border move prototypes"
        )
    return excused


def of_weights(estimator: TrainedClassifier, distance: Distance) -> str:
    """Return why a weight of two is not quite the same as the row twice; nothing if it is."""
    drawn = isinstance(estimator.init, str) and estimator.init in ("random", "kmeans++")
    if not learns_from_all_at_once(estimator._settings_type.of(estimator)):
        return "a sample of weight two is one step of double length, not two steps"
    if drawn or estimator.prototypes_per_class != 1 or estimator.early_stopping:
        return "the prototypes start from random choices among the rows"
    if isinstance(distance, Mahalanobis):
        auto = distance.shrinkage == "auto"
        return "the shrinkage depends on the number of rows, not on their weights" if auto else ""
    if isinstance(distance, Tangent) or (isinstance(distance, Matrix) and distance.rank):
        return "principal axes differ by rounding, and training amplifies it"
    return ""


def learns_from_all_at_once(settings: Settings) -> bool:
    """Whether the solver is L-BFGS, for few rows and one prototype a class."""
    if not isinstance(settings, CostSettings):
        return False
    objective = settings.objective(settings.distance, 2, 0, FirstDistances(1.0))
    solver = settings.solver or settings.automatic_solver(objective, 0, 0.0)
    return solver.name == "lbfgs"


def of_distance(distance: Distance) -> dict[str, str]:
    """Return which checks have data that a distance does not take, or no answer to."""
    excused = {}
    if distance.sparse_form is None:  # scikit-learn 1.6 asks all the same
        excused[WEIGHTS[1]] = "the distance takes no sparse rows"
    if distance.positive_only:
        reason = "the check gives negative rows in spite of the tag positive_only"
        excused.update(dict.fromkeys(NEGATIVE_ROWS, reason))
    if isinstance(distance, (CauchySchwarz, Renyi)):
        excused.update(dict.fromkeys(ZERO_ROWS, "the check has a row of zeros"))
        excused["check_classifiers_train"] = "of two features the ratio alone counts"
    if isinstance(distance, Tangent):
        reason = "prototypes that are lines in a plane get stuck behind each other"
        excused.update(
            dict.fromkeys(("check_class_weight_classifiers", "check_classifiers_train"), reason)
        )
    return excused
