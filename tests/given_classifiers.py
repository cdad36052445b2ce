"""Every public classifier with settings that fit in an instant, and rows that suit them all."""

import inspect

import numpy as np
from sklearn.base import ClassifierMixin

import protolearn
from given_profile import in_all
from protolearn import GLVQ, GMLVQ, LVQ1, RSLVQ, PrototypeSVM, Rosenblatt, SoftMarginSVM

NAMES = ["height", "weight", "age"]
CHEAP = {"max_iter": 20, "random_state": 0, "max_fits": 4, "n_estimators": 3}
GIVEN = {
    "AutoPrototypeClassifier": {"families": ["fixed"]},
    "SmallGMLVQ": {"max_bytes": 400, "rank": 1, "label_scores": 1, "prototypes_per_class": 2},
    "RejectClassifier": {"model": GLVQ(max_iter=20, random_state=0), "threshold": 0.0},
}
"""What a class needs besides."""

UNFINISHED = "ignore::sklearn.exceptions.ConvergenceWarning"
"""For ``pytest.mark.filterwarnings``: few steps are enough to see that the parts fit."""

REPRESENTATIVES = [
    GLVQ(max_iter=20, random_state=0),
    GMLVQ(max_iter=20, random_state=0),
    RSLVQ(max_iter=20, random_state=0),
    LVQ1(max_iter=20, random_state=0),
    SoftMarginSVM(),
    Rosenblatt(max_iter=20, random_state=0),
    PrototypeSVM(random_state=0),
]
"""One of each kind."""

WITH_PROBABILITIES = [model for model in REPRESENTATIVES if hasattr(model, "predict_proba")]


def name_of(model):
    """Name a case by its class."""
    return type(model).__name__


def cheap(cls):
    """Make a classifier that needs few steps."""
    taken = inspect.signature(cls).parameters
    settings = {name: value for name, value in CHEAP.items() if name in taken}
    return cls(**settings, **GIVEN.get(cls.__name__, {}))


def is_classifier_class(candidate):
    """Tell whether a public name is one."""
    return isinstance(candidate, type) and issubclass(candidate, ClassifierMixin)


PUBLIC = [getattr(protolearn, name) for name in protolearn.__all__]
CLASSIFIERS = [cheap(cls) for cls in PUBLIC if is_classifier_class(cls)]
"""One of every public class."""

KINDS = {type(model) for model in REPRESENTATIVES}


SOME = in_all(*REPRESENTATIVES, thorough=[m for m in CLASSIFIERS if type(m) not in KINDS])
"""One of each kind, and in the thorough run of every class."""


def apart(n=40, labels=("ash", "birch"), seed=0):
    """Give rows of classes that a hyperplane separates, which HardMarginSVM needs, and labels."""
    rng = np.random.RandomState(seed)
    codes = np.arange(n) % len(labels)
    centres = 6.0 * np.eye(len(NAMES))[: len(labels)]
    return centres[codes] + rng.uniform(-1.0, 1.0, (n, len(NAMES))), np.array(labels)[codes]


def overlap(n=80, labels=("ash", "birch"), seed=0):
    """Give rows of classes that overlap a little, and their labels."""
    rng = np.random.RandomState(seed)
    codes = np.arange(n) % len(labels)
    centres = 2.0 * np.eye(len(NAMES))[: len(labels)]
    return centres[codes] + rng.standard_normal((n, len(NAMES))), np.array(labels)[codes]
