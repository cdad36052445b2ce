"""The prototypes of a model as a person reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._names import numbered
from ..report import LINEAR_PROTOTYPES_NOTE
from ..tables import TableSteps, labelled_prototypes
from ..tables import prototype_texts as texts_of_prototypes


class PrototypeTexts(NamedTuple):
    """Prototypes in words.

    Attributes
    ----------
    names : list of str
        Of each prototype its class, with a number if the class has several.
    rows : list of (str, list of str)
        Of each column its name, and the value of each prototype.
    remark : str
        What one has to know to read them; may be empty.
    """

    names: list[str]
    rows: list[tuple[str, list[str]]]
    remark: str = ""


def prototype_names(labels: Any) -> list[str]:
    """Name prototypes by their class, with a number if it has several."""
    return numbered([str(label) for label in labels.tolist()])


def prototype_texts(model: Any) -> PrototypeTexts | None:
    """Write the prototypes of a pipeline in the user's units; None if it has none."""
    steps = TableSteps.of(model)
    try:
        rows, labels = labelled_prototypes(steps.model)
    except TypeError:
        return None
    columns = [str(column.name) for column in steps.encoder.columns_]
    cells = texts_of_prototypes(steps, rows)
    remark = LINEAR_PROTOTYPES_NOTE if np.any(getattr(steps.model, "shift_", 0.0)) else ""
    return PrototypeTexts(prototype_names(labels), list(zip(columns, cells, strict=True)), remark)
