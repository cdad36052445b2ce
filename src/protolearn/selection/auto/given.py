"""What a search is given: parameters and data that can be searched with, or an error."""

from __future__ import annotations

from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ..._arrays import Floats, check_magnitude
from ..._validation import check_flag, check_integer, check_positive, check_verbose
from .folds import FEWEST


def check_parameters(search: Any) -> None:
    """Raise if a parameter is wrong, before any work starts."""
    if search.max_fits is not None:
        check_integer(search, "max_fits", low=1)
    if search.time_budget is not None:
        check_positive(search, "time_budget")
    check_flag(search, "prefer_simple")
    check_flag(search, "standardize")
    check_verbose(search)
    if not (search.callback is None or callable(search.callback)):
        raise ValueError(
            f"callback={search.callback!r} of AutoPrototypeClassifier must be None or a function "
            "of one argument, how far the search is."
        )
    if not (search.checkpoint is None or isinstance(search.checkpoint, (str, PathLike))):
        raise ValueError(
            f"checkpoint={search.checkpoint!r} of AutoPrototypeClassifier must be None or the "
            "path of a file."
        )
    if search.checkpoint is not None and not isinstance(search.random_state, Integral):
        raise ValueError(
            f"random_state={search.random_state!r} of AutoPrototypeClassifier must be an integer "
            "if there is a checkpoint: otherwise every call is another search."
        )
    if not (search.scoring is None or isinstance(search.scoring, str) or callable(search.scoring)):
        raise ValueError(
            f"scoring={search.scoring!r} of AutoPrototypeClassifier must be the name of one "
            "scorer of scikit-learn, or a function scoring(model, X, y)."
        )


def checked_data(search: Any, X: Any, y: Any) -> tuple[Floats, NDArray[Any]]:
    """Return rows and labels as arrays; store the classes."""
    try:
        X, y = validate_data(search, X, y, dtype=np.float64)
    except ValueError as error:
        if "X contains NaN" not in str(error):
            raise
        raise ValueError(
            "Input X contains NaN, and not all candidates take missing values. Replace them "
            "before, as protolearn.tables.table_pipeline does, or SimpleImputer in a Pipeline."
        ) from error
    check_classification_targets(y)
    search.classes_, counts = np.unique(y, return_counts=True)
    if len(search.classes_) < 2:
        raise ValueError(
            f"AutoPrototypeClassifier needs at least two classes; y contains one class only: "
            f"{search.classes_[0]!r}."
        )
    if counts.max() < FEWEST:
        raise ValueError(
            f"None of the {len(counts)} classes has {FEWEST} rows or more: nothing can be held "
            "out to compare models. Fit one, such as GLVQ, without a choice."
        )
    check_magnitude(X)
    return X, y
