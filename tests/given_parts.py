"""Data in parts, for the tests of all places where data may be."""

from itertools import pairwise

import numpy as np


def overlapping(n=300, d=4, seed=0, labels=("ash", "birch", "cedar")):
    """Give rows of classes that overlap, with names as labels."""
    rng = np.random.RandomState(seed)
    codes = rng.randint(0, len(labels), n)
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((len(labels), d))[codes]
    return X, np.array(labels)[codes]


def starts(X, y, per_class=2):
    """Give prototypes to begin with: the first rows of each class."""
    return np.vstack([X[y == label][:per_class] for label in np.unique(y)])


def factory(X, y, *ends, weight=None):
    """Give a function that makes blocks that end at these rows."""
    bounds = [0, *ends, len(y)]

    def make():
        for first, last in pairwise(bounds):
            block = X[first:last], y[first:last]
            yield block if weight is None else (*block, weight[first:last])

    return make
