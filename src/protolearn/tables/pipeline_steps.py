"""The steps of pipelines: which keep columns apart, and how they are undone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn import preprocessing
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats
from .encoder import TableEncoder

FEATUREWISE = (
    preprocessing.StandardScaler,
    preprocessing.MinMaxScaler,
    preprocessing.MaxAbsScaler,
    preprocessing.RobustScaler,
    preprocessing.PowerTransformer,
    preprocessing.QuantileTransformer,
)
"""Steps that change each feature by itself, and keep the order of its values."""


NO_FEATURE_NAMES = "X does not have valid feature names"
"""A warning about rows that have lost the names of their columns on the way."""


class TableSteps(NamedTuple):
    """The steps of a fitted pipeline that begins with a table."""

    encoder: TableEncoder
    between: list[tuple[str, Any]]  # names and transformers
    model: Any

    @classmethod
    def of(cls, pipeline: Any) -> TableSteps:
        """Return the steps of a pipeline, also of pipelines and searches in it."""
        steps = flatten_steps(pipeline)
        if not isinstance(steps[0][1], TableEncoder):
            raise TypeError(
                f"{type(pipeline).__name__} does not begin with a TableEncoder, but with "
                f"{type(steps[0][1]).__name__}; expected a fitted pipeline such as "
                "table_pipeline(model).fit(frame, y)."
            )
        if len(steps) == 1:
            raise TypeError("A TableEncoder alone is given; expected a pipeline with a model.")
        check_is_fitted(steps[0][1])
        check_is_fitted(steps[-1][1])
        return cls(steps[0][1], steps[1:-1], steps[-1][1])

    def in_units(self, Z: Floats) -> Floats:
        """Return rows of the last step in the units of the table."""
        for name, step in reversed(self.between):
            if not hasattr(step, "inverse_transform"):
                raise no_way_back(name, step, "it has no inverse_transform")
            Z = undo_step(name, step, Z)
        return self.encoder.units_.inverse_transform(Z)


def apply_step(step: Any, X: Any) -> Any:
    """Return what a step makes of rows, which may have lost the names of their features."""
    with ignore_warnings(NO_FEATURE_NAMES):
        return step.transform(X)


def undo_step(name: str, step: Any, Z: Floats) -> Floats:
    """Return the rows of which a step makes Z; not finite where it can make no such."""
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.asarray(step.inverse_transform(Z), dtype=np.float64)
    except Exception as error:  # of any type, by steps of any author
        raise no_way_back(name, step, error) from error


def no_way_back(name: str, step: Any, reason: Any) -> ValueError:
    """Return an error that says that a step cannot be undone, and what to do."""
    return ValueError(
        f"Step {name!r} of the pipeline, {step!r}, cannot be undone ({reason}), so that what the "
        "model sees cannot be turned back into your units. Give the last step alone, and rows as "
        "it sees them."
    )


def flatten_steps(model: Any, name: str = "model") -> list[tuple[str, Any]]:
    """Return all steps, in order; of a search those of its best estimator."""
    if hasattr(model, "best_estimator_"):
        return flatten_steps(model.best_estimator_, name)
    if not isinstance(model, Pipeline):
        return [(name, model)]
    steps: list[tuple[str, Any]] = []
    for inner, step in model.steps:
        if step not in (None, "passthrough"):
            steps += flatten_steps(step, inner)
    return steps


@contextmanager
def ignore_warnings(*messages: str) -> Iterator[None]:
    """Ignore warnings that begin with one of these messages."""
    with warnings.catch_warnings():
        for message in messages:
            warnings.filterwarnings("ignore", message)
        yield
