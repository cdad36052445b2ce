"""Values of a table in the words and units of its user."""

from __future__ import annotations

from typing import Any

from .._arrays import Floats
from .category_column import UNKNOWN
from .columns import CategoryColumn, Column
from .encoder import TableEncoder
from .steps import TableSteps
from .values import Values

UNUSED = "not used"
"""In the place of a value of a column that was empty in the training rows."""


def row_texts(encoder: TableEncoder, frame: Any) -> list[str]:
    """Write the values of the first row of a frame, one for each column of the encoder."""
    return [texts[0] for texts in column_texts(encoder, frame[:1])]


def column_texts(encoder: TableEncoder, frame: Any) -> list[list[str]]:
    """Write the values of a frame: for each column of the encoder that of each row."""
    table = encoder._table(frame, reset=False)
    return [
        value_texts(column, table.read(name))
        for column, name in zip(encoder.columns_, table.names, strict=True)
    ]


def value_texts(column: Column, values: Values) -> list[str]:
    """Write values, and what they are taken as where they are missing."""
    if isinstance(column, CategoryColumn):
        pairs = zip(column.codes(values).tolist(), values.data, strict=True)
        return [category_text(column, code, given) for code, given in pairs]
    if column.kind == "empty":
        return [UNUSED] * len(values.data)
    texts = [column.text(value) for value in column.plain(values)[:, 0].tolist()]
    if values.kind == "empty":
        return [taken_as(text) for text in texts]
    lost = values.data != values.data
    return [taken_as(text) if gone else text for text, gone in zip(texts, lost, strict=True)]


def category_text(column: CategoryColumn, code: int, given: Any) -> str:
    """Write a category, and what it is taken as if it is missing."""
    if code == UNKNOWN:
        return f"{given} (unknown)"
    if given is None and column.categories[code] is not None:
        return taken_as(column.text(code))
    return column.text(code)


def taken_as(text: str) -> str:
    """Return a text that says what took the place of a missing value."""
    return f"missing (taken as {text})"


def prototype_texts(steps: TableSteps, prototypes: Floats) -> list[list[str]]:
    """Write rows of the space of the model: for each column of the table the value of each row."""
    plain = steps.encoder._units.inverse_transform(steps.undone(prototypes))
    return [
        [plain_text(column, part[k : k + 1]) for k in range(len(plain))]
        for column, part in steps.encoder._parts(plain)
    ]


def plain_text(column: Column, plain: Floats) -> str:
    """Write a value; of categories the one that a prototype has most of."""
    if isinstance(column, CategoryColumn):
        code = int(column.nearest(plain)[0])
        return "mixed" if code == UNKNOWN else column.text(code)
    return UNUSED if column.kind == "empty" else column.text(float(plain[0, 0]))
