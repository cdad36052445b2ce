"""20 newsgroups as the experiment takes it: the thousand most informative words, weighted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from protolearn._arrays import Floats, Indices

WORDS = 1000


def information_gain(X: Any, y: Indices) -> Floats:
    """Return what knowing that a word occurs tells about the class, in bits, for each."""
    n = X.shape[0]
    member = csr_array((np.ones(n), (y, np.arange(n))))
    occurs = csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    with_word = (member @ occurs).toarray()
    in_class = np.bincount(y)[:, None].astype(float)
    share = with_word.sum(axis=0) / n
    without = in_class - with_word
    return entropy(in_class) - share * entropy(with_word) - (1.0 - share) * entropy(without)


def entropy(counts: Floats) -> Floats:
    """Return the entropy of each column of counts in bits; zero for one without any."""
    total = np.maximum(counts.sum(axis=0), 1.0)
    p = counts / total
    logs = np.log2(p, where=p > 0.0, out=np.zeros_like(p))
    gain: Floats = -(p * logs).sum(axis=0)
    return gain


class Weighting:
    """Logarithmic counts of the chosen words, times the rarity of the word, at length one.

    Parameters
    ----------
    X : CSR matrix of counts
        Texts that choose the words and tell how rare they are.
    y : array of class codes
        Their classes.
    words : int, default=1000
        How many words are kept.
    """

    def __init__(self, X: Any, y: Indices, words: int = WORDS):
        self.words = np.argsort(-information_gain(X, y), kind="stable")[:words]
        kept = csr_array(X[:, self.words])
        occurring = np.bincount(kept.indices, minlength=len(self.words))
        self.rarity = np.log(X.shape[0] / np.maximum(occurring, 1))

    def __call__(self, X: Any) -> Any:
        """Return the weights of texts."""
        counts = csr_array(X[:, self.words], dtype=np.float64)
        return csr_array(normalize(csr_array(counts.log1p().multiply(self.rarity))))
