"""The steps of a fitted pipeline that begins with a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats
from ..analysis import no_way_back, undo_step
from .encoder import TableEncoder


class TableSteps(NamedTuple):
    """What a pipeline is made of.

    Attributes
    ----------
    encoder : TableEncoder
        The first step.
    between : list of tuple
        Names and transformers between the encoder and the model.
    model : classifier
        The last step.
    """

    encoder: TableEncoder
    between: list[tuple[str, Any]]
    model: Any

    @classmethod
    def of(cls, pipeline: Any) -> TableSteps:
        """Take a pipeline to pieces, and what it holds: other pipelines, and searches."""
        steps = flat(pipeline)
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

    def undone(self, Z: Floats) -> Floats:
        """Return rows of the last step as the encoder made them."""
        for name, step in reversed(self.between):
            if not hasattr(step, "inverse_transform"):
                raise no_way_back(name, step, "it has no inverse_transform")
            Z = undo_step(name, step, Z)
        return Z


def flat(model: Any, name: str = "model") -> list[tuple[str, Any]]:
    """Return all steps, in order; of a search those of its best estimator."""
    if hasattr(model, "best_estimator_"):
        return flat(model.best_estimator_, name)
    if not isinstance(model, Pipeline):
        return [(name, model)]
    steps: list[tuple[str, Any]] = []
    for inner, step in model.steps:
        if step not in (None, "passthrough"):
            steps += flat(step, inner)
    return steps


def prototypes_of(model: Any) -> tuple[Floats, Any]:
    """Return the prototypes of a model, or the rows it keeps in their place, and their labels."""
    rows = getattr(model, "prototypes_", None)
    if rows is None:
        rows = getattr(model, "exemplars_", None)
    labels = getattr(model, "prototype_labels_", None)
    if labels is None and rows is not None and len(getattr(model, "classes_", ())) == len(rows):
        labels = model.classes_
    if rows is None or labels is None or np.ndim(labels) != 1 or len(labels) != rows.shape[0]:
        raise TypeError(
            f"{type(model).__name__} has no prototypes with labels: neither prototypes_ nor "
            "exemplars_, with prototype_labels_ or one for each class."
        )
    return rows.toarray() if issparse(rows) else np.asarray(rows, dtype=np.float64), labels
