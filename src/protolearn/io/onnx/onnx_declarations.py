"""Operators and variables as skl2onnx has them, before a graph is made."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx.common import data_types

from .onnx_outputs import Output
from .onnx_tensor import LEAST_OPSET, Graph, Tensor

TYPES = {
    np.dtype(np.int64): data_types.Int64TensorType,
    np.dtype(np.float64): data_types.DoubleTensorType,
    np.dtype(np.float32): data_types.FloatTensorType,
    np.dtype(bool): data_types.BooleanTensorType,
    np.dtype(object): data_types.StringTensorType,
}

OPTIONS = {
    "zipmap": [True, False, "columns"],
    "raw_scores": [True, False],
    "all_outputs": [True, False],
}
"""What can be asked of a classifier; probabilities come as an array whatever is said of zipmap."""


def alias(kind: type[Any]) -> str:
    """Return the name of the operator of a kind of classifiers."""
    return f"protolearn.{kind.__module__}.{kind.__qualname__}"


def declare_operator(
    scope: Any, model: Any, inputs: list[Any], outputs: dict[str, Output]
) -> list[Any]:
    """Declare the operator of a model; return its outputs, as precise as the last input."""
    operator = scope.declare_local_operator(alias(type(model)), model)
    operator.inputs = inputs
    for name, output in outputs.items():
        kind = tensor_type(output, inputs[-1].type)
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def check_one_input(model: Any, inputs: list[Any]) -> None:
    """Raise if rows come column by column."""
    if len(inputs) != 1:
        raise ValueError(
            f"{type(model).__name__} is given {len(inputs)} inputs, but takes one with all "
            "features; give skl2onnx an array, such as X.to_numpy(), instead of a frame."
        )


def asked_outputs(scope: Any, model: Any, outputs: list[Any]) -> list[Any]:
    """Return all outputs of a model if the option says so, else the first two."""
    everything = scope.get_options(model, {"all_outputs": False})["all_outputs"]
    return outputs if everything else outputs[:2]


def tensor_type(output: Output, given: Any) -> Any:
    """Return the type of an output; ``given`` is that of the input."""
    dtype = precision(given) if output.dtype is None else output.dtype
    return TYPES[np.dtype(dtype)]([None] if output.width is None else [None, output.width])


def precision(given: Any) -> np.dtype[Any]:
    """Return the precision in which an input of some type is computed with."""
    return np.dtype(np.float64 if isinstance(given, data_types.DoubleTensorType) else np.float32)


def numbers(graph: Graph, given: Any) -> Tensor:
    """Return an input in the precision in which it is computed with."""
    dtype = precision(given.type)
    if isinstance(given.type, (data_types.FloatTensorType, data_types.DoubleTensorType)):
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
