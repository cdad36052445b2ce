"""A fitted model with prototypes and a metric that are given, not learned."""

import numpy as np

from protolearn import PrototypeClassifier
from protolearn._arrays import middle
from protolearn.codebook import Codebook
from protolearn.distances import SquaredEuclidean
from protolearn.rule import Decision, DecisionRule


def given_model(W, labels, distance=None, metric=None, *, xi=None, scale=1.0):
    """Return it; the decision is soft if ``xi`` is given."""
    model = PrototypeClassifier(decision="nearest" if xi is None else "soft")
    distance = SquaredEuclidean() if distance is None else distance
    prototypes, labels = np.array(W, dtype=float), np.array(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    metric = np.zeros((1, 0)) if metric is None else np.array(metric, dtype=float)
    codebook = Codebook(prototypes, codes, metric, distance.groups(codes), middle(prototypes))
    decision = Decision(xi is not None, 1.0 if xi is None else xi, 1.0)
    model.n_features_in_ = prototypes.shape[1]
    model.rule_ = DecisionRule(codebook, distance, decision, classes, scale, "PrototypeClassifier")
    return model


def assert_just_below(found, exact, loss):
    """Assert that lower bounds are below what is exact but for rounding, by no more than a loss."""
    found, exact = np.asarray(found), np.asarray(exact)
    assert (found <= exact + 1e-9 * np.abs(exact)).all()
    assert (found >= exact - loss).all()


def random_prototypes(rng, n_classes, most, d):
    """Return up to ``most`` Gaussian prototypes for each class, and their labels."""
    labels = np.repeat(np.arange(n_classes), rng.randint(1, most + 1, size=n_classes))
    return rng.randn(len(labels), d), labels
