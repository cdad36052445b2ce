"""The models: every classifier of ours, and the usual ones of scikit-learn, with their defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from protolearn.selection import MODELS as OUR_MODELS

OURS: dict[str, Callable[[], Any]] = dict(OUR_MODELS)
"""Classifiers of this library."""

YARDSTICK = "logistic regression"
"""The model by whose training time the others are measured."""

THEIRS: dict[str, Callable[[], Any]] = {
    "decision tree": DecisionTreeClassifier,
    "gradient boosting": HistGradientBoostingClassifier,
    "kNN": KNeighborsClassifier,
    "LDA": LinearDiscriminantAnalysis,
    YARDSTICK: LogisticRegression,
    "multilayer perceptron": MLPClassifier,
    "naive Bayes": GaussianNB,
    "nearest centroid": NearestCentroid,
    "QDA": QuadraticDiscriminantAnalysis,
    "random forest": RandomForestClassifier,
    "SVC": SVC,
}
"""Models of scikit-learn."""

MODELS: dict[str, Callable[[], Any]] = {**OURS, **THEIRS}
"""All, by name; those with two classes take more one versus rest by themselves."""

QUICK = ("GLVQ", "HardMarginSVM", "LVQ1", "MeanOfClass", "LDA", YARDSTICK, "kNN")
"""Models of the reduced version."""


def model(name: str) -> Any:
    """Make a model that sees z-scored features; the scale is that of its training rows."""
    return make_pipeline(StandardScaler(), MODELS[name]())
