"""The types that a file may hold, whatever the file says, and the way each of them is built.

For a type there is one way: an object is made without its constructor and gets its attributes, a
function is only named. A file that wants a known type in another way, such as a call of a
constructor or of a function with arguments of its own, is refused. Of scikit-learn there are those
estimators that compute with NumPy alone: compiled code, as in SVC, trees and neighbours, would
trust the arrays of a file.

None of these types does anything when it is built but to hold what it is given. Those that write
files, such as the ledgers of long searches, are not here and must never be.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from sklearn import feature_selection, metrics, model_selection
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise

PACKAGES = (
    "analysis",
    "classifiers",
    "distances",
    "ensemble",
    "linear",
    "losses",
    "margins",
    "perceptrons",
    "selection",
    "solvers",
    "tables",
)
"""Packages and modules whose estimators are known."""

HOLDERS = (
    "codebook.Codebook",
    "ensemble.calibration.Binning",
    "ensemble.calibration.Local",
    "ensemble.calibration.Platt",
    "ensemble.calibration.Votes",
    "ensemble.voters.Voters",
    "kernels.FeatureKernel",
    "linear.generalized.PrototypePath",
    "perceptrons.hidden_units.Grandmother",
    "classifiers.problem.FirstDistances",
    "rule.Decision",
    "rule.DecisionRule",
    "rule.EditLog",
    "selection.auto.score_calibration.ScoreCalibration",
    "selection.auto.leaderboard.Leaderboard",
    "selection.auto.leaderboard.Standing",
    "selection.held_out.LeaveOneOutFromEachClass",
    "selection.scorers.CostScorer",
    "selection.scorers.PositiveScorer",
    "solvers.batch_solver.Memory",
    "tables.columns.CategoryColumn",
    "tables.columns.NumberColumn",
    "tables.columns.TextColumn",
)
"""What fitted estimators hold beside arrays."""

SKLEARN_HOLDERS = (
    "calibration._CalibratedClassifier",
    "calibration._SigmoidCalibration",
    "calibration._TemperatureScaling",
    "compose._column_transformer.make_column_selector",
    "metrics._scorer._CurveScorer",
    "metrics._scorer._PassthroughScorer",
    "metrics._scorer._Scorer",
    "model_selection._search_successive_halving.HalvingGridSearchCV",
    "model_selection._search_successive_halving.HalvingRandomSearchCV",
    "neural_network._stochastic_optimizers.AdamOptimizer",
    "neural_network._stochastic_optimizers.SGDOptimizer",
    "utils._metadata_requests.MetadataRequest",
    "utils._metadata_requests.MethodMetadataRequest",
)
"""What estimators of scikit-learn hold, such as calibrated classifiers and finished searches."""

SKLEARN_ESTIMATORS = {
    "calibration": "CalibratedClassifierCV",
    "compose": "ColumnTransformer TransformedTargetRegressor",
    "decomposition": "PCA KernelPCA TruncatedSVD",
    "discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "dummy": "DummyClassifier",
    "ensemble": "AdaBoostClassifier BaggingClassifier StackingClassifier VotingClassifier",
    "feature_selection": "RFE RFECV SelectFromModel SelectKBest SelectPercentile VarianceThreshold",
    "frozen": "FrozenEstimator",
    "impute": "KNNImputer MissingIndicator SimpleImputer",
    "isotonic": "IsotonicRegression",
    "linear_model": "LinearRegression LogisticRegression Ridge RidgeClassifier",
    "model_selection": "FixedThresholdClassifier GridSearchCV RandomizedSearchCV "
    "TunedThresholdClassifierCV",
    "multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
    "naive_bayes": "GaussianNB",
    "neural_network": "MLPClassifier",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": "Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer "
    "LabelEncoder MaxAbsScaler MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder "
    "PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler StandardScaler",
    "svm": "LinearSVC",
}
"""Public modules, and the estimators of each that compute with NumPy alone."""

LISTED = "protolearn.", "sklearn."
"""How names begin that are known only if they are on a list here, not if skops trusts them."""

SPLITTERS = (
    "GroupKFold",
    "GroupShuffleSplit",
    "KFold",
    "LeaveOneGroupOut",
    "LeaveOneOut",
    "LeavePGroupsOut",
    "LeavePOut",
    "PredefinedSplit",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
)

SCORES = (
    "accuracy_score",
    "average_precision_score",
    "balanced_accuracy_score",
    "brier_score_loss",
    "cohen_kappa_score",
    "f1_score",
    "jaccard_score",
    "log_loss",
    "matthews_corrcoef",
    "precision_score",
    "recall_score",
    "roc_auc_score",
)

COLUMN_SCORES = "chi2", "f_classif", "f_regression", "mutual_info_classif", "mutual_info_regression"

SKLEARN_COMPILED = "sklearn.tree._", "TreePredictor", "sklearn.neighbors._", "sklearn.svm._"
"""Parts of the names of what trees, neighbours and SVMs of scikit-learn hold, not known."""

VALUES = {
    "builtins.slice": ("SliceNode",),
    "builtins.str": ("JsonNode", "TypeNode"),
    "numpy.dtype": ("DTypeNode",),
    "sklearn.utils._bunch.Bunch": ("DictNode",),
}
"""Values that skops takes by any name, or by none."""


@cache
def known_types() -> dict[str, tuple[str, ...]]:
    """Return the types that any file may hold, each with the ways that skops may build it."""
    objects = [f"protolearn.{name}" for name in HOLDERS]
    objects += [f"sklearn.{name}" for name in SKLEARN_HOLDERS]
    objects += map(full_name, estimators())
    objects += map(full_name, sklearn_estimators())
    objects += [full_name(getattr(model_selection, name)) for name in SPLITTERS]
    functions = [getattr(metrics, name) for name in SCORES]
    functions += [getattr(feature_selection, name) for name in COLUMN_SCORES]
    functions += pairwise.PAIRWISE_KERNEL_FUNCTIONS.values()
    repeated = map(full_name, (model_selection.KFold, model_selection.StratifiedKFold))
    return {
        **dict.fromkeys(objects, ("ObjectNode",)),
        **dict.fromkeys(repeated, ("ObjectNode", "TypeNode")),  # a repeated one holds the type
        **dict.fromkeys(map(full_name, functions), ("FunctionNode",)),
        **VALUES,
    }


@cache
def file_names() -> dict[str, str]:
    """Return the name that a file has for each type of ours, which stays if its module moves.

    A class name means one thing in this library, so the name has no module.
    """
    ours = [name for name in known_types() if name.startswith("protolearn.")]
    return {name: f"protolearn.{name.rpartition('.')[2]}" for name in ours}


def sklearn_estimators() -> Iterator[type]:
    """Return those of ``SKLEARN_ESTIMATORS`` that this scikit-learn has."""
    for module, names in SKLEARN_ESTIMATORS.items():
        home = importlib.import_module(f"sklearn.{module}")
        yield from (getattr(home, name) for name in names.split() if hasattr(home, name))


def estimators() -> Iterator[type]:
    """Return all estimators of this library, those that only others hold as well."""
    for package in PACKAGES:
        home = importlib.import_module(f"protolearn.{package}")
        within = pkgutil.walk_packages(getattr(home, "__path__", ()), f"{home.__name__}.")
        for module in (home.__name__, *(found.name for found in within)):
            for name, thing in vars(importlib.import_module(module)).items():
                ours = isinstance(thing, type) and issubclass(thing, BaseEstimator)
                if ours and (thing.__module__, thing.__name__) == (module, name):
                    yield thing


def full_name(thing: Any) -> str:
    """Return the name of a type or a function with its module."""
    return f"{thing.__module__}.{thing.__name__}"


def type_names(trusted: Iterable[Any]) -> frozenset[str]:
    """Return the names of types that a user trusts."""
    if isinstance(trusted, str) or callable(trusted):
        trusted = [trusted]
    try:
        return frozenset(one if isinstance(one, str) else full_name(one) for one in trusted)
    except (TypeError, AttributeError):
        raise TypeError(
            f"trusted={trusted!r} must be a list of types by name, such as ['mymodule.Ramp'], or "
            "of the types themselves."
        ) from None
