"""Tables of numbers as rows of a graph: missing ones filled in, all on one scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tables import NumberColumn, TableEncoder
from .answers import Output
from .declare import check_one_input, graph_in, numbers, tensor_type


def check_columns(encoder: TableEncoder) -> None:
    """Raise if a column has other values than numbers; dates are days since 1970."""
    words = [column.name for column in encoder.columns_ if not isinstance(column, NumberColumn)]
    if words:
        raise TypeError(
            f"The columns {words!r} of the table are not numbers, but the input of the graph is. "
            "Leave them out and fit again, or replace them by numbers first."
        )


def table_shapes(operator: Any) -> None:
    """Set the type of the encoded rows."""
    output = Output(width=len(operator.raw_operator.columns_))
    operator.outputs[0].type = tensor_type(output, operator.inputs[0].type)


def convert_table(scope: Any, operator: Any, container: Any) -> None:
    """Fill in the medians, subtract the means, divide by the standard deviations."""
    check_one_input(operator.raw_operator, operator.inputs)
    check_columns(operator.raw_operator)
    graph, columns = graph_in(scope, container), operator.raw_operator.columns_
    X = numbers(graph, operator.inputs[0])
    counts = np.array([column.kind != "empty" for column in columns])
    middle = np.array([column.mean for column in columns])
    median = np.array([column.median for column in columns]) - middle
    unit = np.array([column.sd for column in columns])
    Z = X - middle.astype(X.dtype)
    absent = Z.apply("IsNaN", dtype=bool)
    Z = graph.node("Where", absent, graph.constant(median, X.dtype), Z, dtype=X.dtype)
    if not counts.all():
        Z = Z.replaced(graph.constant(~counts), 0.0)
    graph.give(Z / unit, operator.outputs[0].full_name)
