"""A path of prototypes that are given, not found by a classifier."""

import numpy as np

from protolearn.linear import PrototypePath


def given_path(prototypes, intercept, values, parameter="C", classes=(0, 1)):
    """Make it of prototypes (n_steps, 2, d) in the order of the classes."""
    P, b = np.asarray(prototypes, dtype=float), np.asarray(intercept, dtype=float)
    return PrototypePath(
        parameter=parameter,
        values=np.asarray(values, dtype=float),
        prototypes=P,
        coef=P[:, 1] - P[:, 0],
        intercept=b,
        shift=2.0 * b + (P[:, 1] ** 2).sum(axis=1) - (P[:, 0] ** 2).sum(axis=1),
        classes=np.array(classes, dtype=object if classes[0] is None else None),
    )


def random_path(rng, n_steps, d, **more):
    """Make one whose values of C are powers of ten, from 0.01."""
    P = rng.randn(n_steps, 2, d)
    return given_path(P, rng.randn(n_steps), 10.0 ** (np.arange(n_steps) - 2), **more)
