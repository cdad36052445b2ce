"""Prototypes as rows of the user's table."""

from __future__ import annotations

from typing import Any

from .._names import number_repeats
from .columns import CategoryColumn, Column
from .libraries import LIBRARIES
from .steps import TableSteps, prototypes_of
from .table import Table, free
from .values import Values


def prototypes_table(pipeline: Any, shares: bool = False) -> Any:
    """Return the prototypes of a model in the units and words of the table it was fitted to.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted one, see :func:`table_pipeline`, or a search over such. The model at its end has
        ``prototypes_`` or ``exemplars_``; steps in between are undone.
    shares : bool, default=False
        Whether categories are given by how much a prototype has of each, in columns
        ``column=category``, instead of by the one it has most of. A prototype is no mean: shares
        may lie outside of 0 and 1.

    Returns
    -------
    frame : DataFrame or structured array
        One row a prototype. Of polars, or a structured array, with the labels in the first column
        ``label`` (or ``prototype_label``, if there is a column of that name), if the model was
        fitted to such a frame; otherwise of pandas, with the labels as its index. A category is
        missing where a prototype has no more of one than of another.

    Examples
    --------
    >>> import pandas as pd
    >>> from protolearn import GLVQ
    >>> from protolearn.tables import prototypes_table, table_pipeline
    >>> frame = pd.DataFrame({"age": [20, 22, 40, 42], "colour": ["red", "red", "blue", "red"]})
    >>> model = table_pipeline(GLVQ(init="means", max_iter=1)).fit(frame, ["a", "a", "b", "b"])
    >>> table = prototypes_table(model)
    >>> table.index.tolist(), table.columns.tolist()
    (['a', 'b'], ['age', 'colour'])
    """
    steps = TableSteps.of(pipeline)
    encoder = steps.encoder
    rows, labels = prototypes_of(steps.model)
    plain = encoder._units.inverse_transform(steps.undone(rows))
    kind = LIBRARIES["pandas" if encoder._library == "numpy" else encoder._library]
    plain_names = {c.name for c in encoder.columns_ if not isinstance(c, CategoryColumn)}
    columns: dict[Any, Any] = {}
    for column, part in encoder._parts(plain):
        if shares and isinstance(column, CategoryColumn):
            for name, share in share_columns(column, part, kind).items():
                columns[free(name, {*plain_names, *columns})] = share
        else:
            whole_days = getattr(column, "whole_days", False)
            columns[column.name] = kind.series(
                column.values(part), column.dtype, whole_days=whole_days
            )
    return kind.labelled(columns, labels)


def share_columns(column: Column, part: Any, kind: type[Table]) -> dict[str, Any]:
    """Return a column of numbers for each category."""
    assert isinstance(column, CategoryColumn)
    texts = [f"{column.name}={column.text(code)}" for code in range(len(column.categories))]
    found = column.shares(part)
    return {
        text: kind.series(Values("number", found[:, j]), None)
        for j, text in enumerate(number_repeats(texts))
    }
