"""A fitted model with prototypes and a metric that are given, not learned."""

import numpy as np

from protolearn import PrototypeClassifier
from protolearn.classifiers.decision import Decision
from protolearn.distances import SquaredEuclidean


def given_model(W, labels, distance=None, metric=None, *, xi=None, scale=1.0):
    """Make it; the decision is soft if ``xi`` is given."""
    model = PrototypeClassifier(decision="nearest" if xi is None else "soft")
    model.classes_ = np.unique(labels)
    model.prototypes_ = np.array(W, dtype=float)
    model.prototype_labels_ = np.array(labels)
    model.n_features_in_ = model.prototypes_.shape[1]
    model.scale_ = scale
    model._distance = SquaredEuclidean() if distance is None else distance
    model._metric = np.zeros((1, 0)) if metric is None else np.array(metric, dtype=float)
    model._decision = Decision(xi is not None, 1.0 if xi is None else xi, 1.0)
    return model


def random_prototypes(rng, n_classes, most, d):
    """Give up to ``most`` Gaussian prototypes for each class, and their labels."""
    labels = np.repeat(np.arange(n_classes), rng.randint(1, most + 1, size=n_classes))
    return rng.randn(len(labels), d), labels
