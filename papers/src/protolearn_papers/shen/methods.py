"""The methods of the paper: PSVMs, and what is nearest to Weka's in scikit-learn.

Settings are those of Weka's defaults where both have them. Where they are not the same:

* a tree is pruned by cost and complexity, the cost chosen by folds of the training rows;
* SVMs and perceptrons see z-scored features. These are centred, so that a quadratic kernel without
  a constant would be even; it has one;
* the perceptron's step is taken for 32 rows at a time, and it has 20 hidden units at most: of
  the tweets' 2,700 words Weka's rule would make 1,350.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from protolearn.ensemble import PrototypeSVM

from .local_svms import ClusterSVMs, LocalizedSVM, ProfileSVM
from .paper import MEASURED

KMEANS, LOCALIZED, PROFILE = "k-means SVMs", "localized SVM", "profile SVM"
"""Methods that the paper names but does not measure."""

PRUNING = (0.0, 0.003, 0.01)
"""Costs of a leaf, in bits times share of the rows."""

INNER_FOLDS = 3
ROUNDS = 10
"""Rounds of boosting."""

EPOCHS, RATE, MOMENTUM, BATCH, MOST_HIDDEN = 200, 0.3, 0.2, 32, 20
"""Training of the perceptron."""


class WeightedSVC(SVC):
    """SVC for boosting: weights with a mean of one, so that C keeps its meaning."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> WeightedSVC:
        """Fit."""
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight) / np.mean(sample_weight)
        super().fit(X, y, sample_weight=sample_weight)
        return self


class Boosted(AdaBoostClassifier):
    """AdaBoost that keeps the first model alone where it is no better than guessing."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Boosted:
        """Fit."""
        try:
            super().fit(X, y, sample_weight)
        except ValueError as error:
            if "worse than random" not in str(error):
                raise
            self.estimators_ = [clone(self.estimator).fit(X, y)]
            self.estimator_weights_ = np.ones(1)
        return self


def psvm(n_features: int, n_classes: int, seed: int) -> Any:
    """Return the PSVM as published; it scales the features itself."""
    return PrototypeSVM(pruning=None, calibration="platt", random_state=seed)


def extended_psvm(n_features: int, n_classes: int, seed: int) -> Any:
    """Return the PSVM with this library's defaults."""
    return PrototypeSVM(random_state=seed)


def tree(n_features: int, n_classes: int, seed: int) -> Any:
    """Return a pruned tree."""
    return _pruned(_tree(seed), "ccp_alpha", seed)


def boosted_tree(n_features: int, n_classes: int, seed: int) -> Any:
    """Return boosted pruned trees."""
    boosted = Boosted(_tree(seed), n_estimators=ROUNDS, random_state=seed)
    return _pruned(boosted, "estimator__ccp_alpha", seed)


def linear_svm(n_features: int, n_classes: int, seed: int) -> Any:
    """Return a linear SVM."""
    return make_pipeline(StandardScaler(), SVC(kernel="linear"))


def boosted_linear_svm(n_features: int, n_classes: int, seed: int) -> Any:
    """Return boosted linear SVMs."""
    svm = WeightedSVC(kernel="linear")
    return make_pipeline(StandardScaler(), Boosted(svm, n_estimators=ROUNDS, random_state=seed))


def polynomial_svm(n_features: int, n_classes: int, seed: int) -> Any:
    """Return an SVM with a quadratic kernel."""
    svm = SVC(kernel="poly", degree=2, gamma=1.0 / n_features, coef0=1.0)
    return make_pipeline(StandardScaler(), svm)


def perceptron(n_features: int, n_classes: int, seed: int) -> Any:
    """Return a multilayer perceptron; Weka's number of hidden units, up to a limit."""
    network = MLPClassifier(
        (min((n_features + n_classes) // 2, MOST_HIDDEN),),
        activation="logistic",
        solver="sgd",
        alpha=0.0,
        batch_size=BATCH,
        learning_rate_init=RATE,
        momentum=MOMENTUM,
        nesterovs_momentum=False,
        max_iter=EPOCHS,
        n_iter_no_change=EPOCHS,
        random_state=seed,
    )
    return make_pipeline(StandardScaler(), network)


_MODELS: tuple[Callable[[int, int, int], Any], ...] = (
    psvm,
    extended_psvm,
    tree,
    boosted_tree,
    linear_svm,
    boosted_linear_svm,
    polynomial_svm,
    perceptron,
)
MODELS: dict[str, Callable[[int, int, int], Any]] = {
    **dict(zip(MEASURED, _MODELS, strict=True)),
    KMEANS: lambda n_features, n_classes, seed: ClusterSVMs(seed),
    LOCALIZED: lambda n_features, n_classes, seed: LocalizedSVM(seed),
    PROFILE: lambda n_features, n_classes, seed: ProfileSVM(seed),
}
"""Functions of the numbers of features and classes and of a seed, by method."""


def _tree(seed: int) -> Any:
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)


def _pruned(model: Any, name: str, seed: int) -> Any:
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    return GridSearchCV(model, {name: list(PRUNING)}, cv=folds)
