"""A few rows with the means, covariances and sizes of very many.

Of a class with mean m and covariance ``S = sum_k l_k l_k^T`` take the P rows ``m + t sum_k h_jk
l_k``, where the columns of h are those of a Hadamard matrix of P > d rows, without the first: of
entries of size one, orthogonal, with sum zero. Their mean is m, their covariance a multiple of S,
and all of them are ``t sqrt(trace S)`` away from m. With the share ``1 / t^2`` of the weight, the
rest of it on m, they have the covariance S, and with ``t^2 = E|x - m|^4 / (trace S)^2 >= 1`` the
fourth moment of the lengths as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import hadamard
from scipy.sparse import issparse

from .._arrays import Floats, some_rows
from .base import Blocks
from .block import Block

MOST_NUMBERS = 1 << 24
"""Numbers that the covariances of all classes may have."""


@dataclass(frozen=True)
class Scatter:
    """Sums over the rows of each class, of what they differ from its mean.

    Attributes
    ----------
    weight : array (n_classes,)
        The weights.
    products : array (n_classes, d, d)
        The products.
    fourth : array (n_classes,)
        The fourth powers of the lengths.
    """

    weight: Floats
    products: Floats
    fourth: Floats

    def __add__(self, other: Scatter) -> Scatter:
        return Scatter(
            self.weight + other.weight,
            self.products + other.products,
            self.fourth + other.fourth,
        )


def scatter(means: Floats, block: Block) -> Scatter:
    """Return the scatter of a block about the means of its classes."""
    n_classes, d = means.shape
    products, fourth = np.zeros((n_classes, d, d)), np.zeros(n_classes)
    weights = block.weights
    for rows in some_rows(block.X):
        part = block.X[rows].toarray() if issparse(block.X) else block.X[rows]
        codes = block.y[rows]
        for code in np.unique(codes):
            here = codes == code
            offset, weight = part[here] - means[code], weights[rows][here]
            products[code] += (weight[:, None] * offset).T @ offset
            fourth[code] += weight @ np.square(np.einsum("ij,ij->i", offset, offset))
    total = np.bincount(block.y, weights, minlength=n_classes).astype(np.float64)
    return Scatter(total, products, fourth)


def rows_with_moments(blocks: Blocks, means: Floats, low: Floats, high: Floats) -> Block | None:
    """Return few rows with the moments of all; None if their covariances would be too large.

    Parameters
    ----------
    blocks : Blocks
        All rows.
    means : array (n_classes, d)
        The mean of each class.
    low, high : array (d,)
        The range of each column; those that are constant are so in the new rows.
    """
    n_classes, d = means.shape
    if n_classes * d * d > MOST_NUMBERS:
        return None
    means = np.clip(means, low, high)  # a mean of equal numbers may differ from them
    total = blocks.reduce(scatter, means)
    varies = low < high
    signs = hadamard(1 << d.bit_length(), dtype=np.int8)[:, 1 : varies.sum() + 1]
    X, weight = [], []
    for code, mean in enumerate(means):
        s = total.weight[code]
        S = total.products[code][np.ix_(varies, varies)] / s
        squared = S.trace() ** 2
        stretch = max(total.fourth[code] / s / squared, 1.0) if squared > 0.0 else 1.0
        values, vectors = np.linalg.eigh(S)
        rows = np.tile(mean, (len(signs) + 1, 1))
        rows[:-1, varies] += signs @ (np.sqrt(stretch * np.maximum(values, 0.0)) * vectors).T
        X.append(rows)
        share = s / stretch
        weight.append(np.append(np.full(len(signs), share / len(signs)), s - share))
    codes = np.repeat(np.arange(n_classes), len(signs) + 1)
    return Block(np.vstack(X), codes, np.concatenate(weight))
