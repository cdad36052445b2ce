"""Cross-validation of one model on one set."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from protolearn.selection import with_seeds

from .data import given, splits
from .models import model

LONGEST = 160
"""Characters that are kept of the words of an error."""


def measure(dataset: str, name: str, folds: int, seed: int) -> dict[str, Any]:
    """Fit a model to all folds but one, for each fold; the first failure ends it.

    Returns
    -------
    found : dict
        ``accuracy`` and ``seconds`` of each fold; ``unfinished``: fits that said that they did
        not converge; ``failed``: what the error said, or None.
    """
    X, y = given(dataset, seed)
    found: dict[str, Any] = {"accuracy": [], "seconds": [], "unfinished": 0, "failed": None}
    for number, (train, test) in enumerate(splits(dataset, folds, seed)):
        fold = with_seeds(model(name), seed, number)
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                start = perf_counter()
                fold.fit(X[train], y[train])
                found["seconds"].append(perf_counter() - start)
                found["accuracy"].append(float(fold.score(X[test], y[test])))
        except Exception as error:  # of any model whatever; the table shows it
            words = " ".join(f"{type(error).__name__}: {error}".split())
            found["failed"] = words[:LONGEST] + "..." * (len(words) > LONGEST)
            break
        found["unfinished"] += any(issubclass(one.category, ConvergenceWarning) for one in said)
    return found
