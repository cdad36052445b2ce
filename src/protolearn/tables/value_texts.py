"""Values of a table in the words and units of its user."""

from __future__ import annotations

import json
from typing import Any

from .._arrays import Floats
from .columns import UNKNOWN_CATEGORY, CategoryColumn, Column
from .encoder import TableEncoder
from .pipeline import TableSteps
from .values import Values

UNUSED_COLUMN = "not used"
"""In the place of a value of a column that was empty in the training rows."""


MOST_SHARES, TINY, ALL = 3, 0.1, 0.005
"""Categories of a prototype that are shown, their smallest share, and the rest that is nothing."""


def row_texts(encoder: TableEncoder, frame: Any) -> list[str]:
    """Write the values of the first row of a frame, one for each column of the encoder."""
    return [texts[0] for texts in column_texts(encoder, frame[:1])]


def column_texts(encoder: TableEncoder, frame: Any) -> list[list[str]]:
    """Write the values of a frame: for each column of the encoder that of each row."""
    table = encoder.input_table(frame)
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
        return [UNUSED_COLUMN] * len(values.data)
    texts = [column.text(value) for value in column.plain(values)[:, 0].tolist()]
    lost = [True] * len(texts) if values.kind == "empty" else values.data != values.data
    return [taken_as(text) if gone else text for text, gone in zip(texts, lost, strict=True)]


def category_text(column: CategoryColumn, code: int, given: Any) -> str:
    """Write a category, and what it is taken as if it is missing."""
    if code == UNKNOWN_CATEGORY:
        return f"{given} (unknown)"
    if given is None and column.categories[code] is not None:
        return taken_as(column.text(code))
    return column.text(code)


def taken_as(text: str) -> str:
    """Return a text that says what took the place of a missing value."""
    return f"missing (taken as {text})"


def prototype_texts(steps: TableSteps, prototypes: Floats) -> list[list[str]]:
    """Write rows of the space of the model: for each column of the table the value of each row."""
    return [
        [prototype_text(column, part[k : k + 1]) for k in range(len(part))]
        for column, part in steps.encoder.split_columns(steps.in_units(prototypes))
    ]


def prototype_text(column: Column, plain: Floats) -> str:
    """Write a value of a prototype: categories by their shares, integers as integers."""
    if isinstance(column, CategoryColumn):
        if int(column.nearest(plain)[0]) == UNKNOWN_CATEGORY:
            return "mixed"
        shares = column.shares(plain)[0].clip(0.0, 1.0)
        shares /= max(shares.sum(), 1.0)
        order = [c for c in (-shares).argsort(kind="stable")[:MOST_SHARES] if shares[c] >= TINY]
        if shares[order[0]] > 1.0 - ALL:
            return column.text(int(order[0]))
        return ", ".join(f"{column.text(int(c))} {100.0 * shares[c]:.0f} %" for c in order)
    if column.kind == "empty":
        return UNUSED_COLUMN
    is_code = column.low == 0.0 and column.high == 1.0
    value = float(plain[0, 0])
    return column.text(round(value) if column.is_integer and not is_code else value)


def change_texts(column: Column, given: Any, row: Floats, point: Floats) -> tuple[str, str]:
    """Write the value that was given, and the one that is to be."""
    if isinstance(column, CategoryColumn):
        new = column.text(int(column.nearest(point[None])[0]))
        return "missing" if given is None else str(given), new
    new = column.grid_text(float(point[0]))
    old = column.grid_text(float(row[0]), new)
    return (taken_as(old) if given is None or given != given else old), new


def quote_text(text: str) -> str:
    """Return a text, in double quotes if its end could not be told in a list of changes."""
    clear = text == text.strip() != "" and text.isprintable()
    if clear and not {",", '"'} & set(text) and "to" not in text.split():
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
