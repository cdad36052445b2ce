"""Operators and variables as skl2onnx has them, before a graph is made."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)

from .answers import Output
from .tensor import LEAST_OPSET, Graph, Tensor

TYPES = {
    np.dtype(np.int64): Int64TensorType,
    np.dtype(np.float64): DoubleTensorType,
    np.dtype(np.float32): FloatTensorType,
    np.dtype(bool): BooleanTensorType,
    np.dtype(object): StringTensorType,
}

KINDS = {kind: dtype for dtype, kind in TYPES.items()}

OPTIONS = {
    "zipmap": [True, False, "columns"],
    "raw_scores": [True, False],
    "all_outputs": [True, False],
}
"""What can be asked of a classifier; probabilities come as an array whatever is said of zipmap."""


def alias(kind: type[Any]) -> str:
    """Return the name of the operator of a kind of classifiers."""
    return f"protolearn.{kind.__module__}.{kind.__qualname__}"


def declared(scope: Any, model: Any, inputs: list[Any]) -> Any:
    """Declare the operator of a model."""
    operator = scope.declare_local_operator(alias(type(model)), model)
    operator.inputs = inputs
    return operator


def check_one_input(model: Any, inputs: list[Any]) -> None:
    """Raise if rows come column by column."""
    if len(inputs) != 1:
        raise ValueError(
            f"{type(model).__name__} is given {len(inputs)} inputs, but takes one with all "
            "features; give skl2onnx an array, such as X.to_numpy(), instead of a frame."
        )


def everything_asked(scope: Any, model: Any) -> bool:
    """Whether a model is to give all of its outputs."""
    return bool(scope.get_options(model, {"all_outputs": False})["all_outputs"])


def variable(scope: Any, name: str, output: Output, given: Any) -> Any:
    """Declare an output; ``given`` is the type of the input."""
    return scope.declare_local_variable(name, tensor_type(output, given))


def tensor_type(output: Output, given: Any) -> Any:
    """Return the type of an output."""
    dtype = precision(given) if output.dtype is None else output.dtype
    return TYPES[np.dtype(dtype)]([None] if output.width is None else [None, output.width])


def precision(given: Any) -> np.dtype[Any]:
    """Return the precision in which an input of some type is computed with."""
    return np.dtype(np.float64 if isinstance(given, DoubleTensorType) else np.float32)


def labels_in(graph: Graph, given: Any) -> Tensor:
    """Return the labels of another model as they come."""
    return Tensor(graph, given.full_name, KINDS[type(given.type)])


def numbers(graph: Graph, given: Any) -> Tensor:
    """Return an input in the precision in which it is computed with."""
    dtype = precision(given.type)
    if isinstance(given.type, FloatTensorType | DoubleTensorType):
        return Tensor(graph, given.full_name, dtype)
    return Tensor(graph, given.full_name, np.int64).cast(dtype)


def graph_in(scope: Any, container: Any) -> Graph:
    """Return the graph to add nodes to; raise if it is to be of too old an operator set."""
    graph = Graph(scope, container)
    if graph.opset < LEAST_OPSET:
        raise ValueError(
            f"target_opset={graph.opset} is too old; models of protolearn need {LEAST_OPSET} or "
            "later."
        )
    return graph
