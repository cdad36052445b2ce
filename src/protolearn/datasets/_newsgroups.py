"""Word counts of the 20 Newsgroups messages that scikit-learn fetches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._source import Data

WORD = "(?<![a-z])[a-z]{2,20}(?![a-z])"
"""A word: two to twenty letters in a row, and no more."""

FEWEST = 3
"""Training messages that a word is in, at least."""


def word_counts() -> Data:
    """Count the words of whole messages, headers too; training rows first, by class and number."""
    from sklearn import datasets
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = (
        _in_order(datasets.fetch_20newsgroups(subset=part, shuffle=False))
        for part in ("train", "test")
    )
    counter = CountVectorizer(token_pattern=WORD, min_df=FEWEST, dtype=np.int32)
    blocks = [counter.fit_transform(train[0]), counter.transform(test[0])]
    return sp.csr_array(sp.vstack(blocks, format="csr")), np.array(train[1] + test[1])


def _in_order(bunch: Any) -> tuple[list[str], list[str]]:
    """Return texts and groups, by group and number of the message."""
    groups = [str(bunch.target_names[code]) for code in bunch.target]
    numbers = [int(Path(path).name) for path in bunch.filenames]
    order = sorted(range(len(groups)), key=lambda row: (groups[row], numbers[row]))
    return [bunch.data[row] for row in order], [groups[row] for row in order]
