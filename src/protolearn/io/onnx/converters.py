"""How skl2onnx turns a nearest-prototype or linear model into the nodes of a graph."""

from __future__ import annotations

from typing import Any

from ...classifiers import NearestPrototypeClassifier
from .answers import Answers
from .declare import declared, graph_in, numbers, tensor_type, variable
from .linear import LinearAnswers, is_linear
from .nearest import NearestAnswers


def answers_of(model: Any) -> type[Answers]:
    """Give the kind of answers of a model."""
    if isinstance(model, NearestPrototypeClassifier):
        return NearestAnswers
    if is_linear(model):
        return LinearAnswers
    raise TypeError(
        f"{type(model).__name__} has no form in ONNX; nearest-prototype and linear classifiers "
        "have one."
    )


def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a model and all of its outputs."""
    operator = declared(scope, model, inputs)
    for name, output in answers_of(model).offered(model).items():
        operator.outputs.append(variable(scope, name, output, inputs[0].type))
    return operator.outputs


def shapes(operator: Any) -> None:
    """Set the types of the outputs; a model within another one may have only the first two."""
    offered = answers_of(operator.raw_operator).offered(operator.raw_operator)
    for output, place in zip(offered.values(), operator.outputs, strict=False):
        place.type = tensor_type(output, operator.inputs[0].type)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a model to a graph."""
    graph, model = graph_in(scope, container), operator.raw_operator
    X, kind = numbers(graph, operator.inputs[0]), answers_of(model)
    answers, names = kind(model, X), list(kind.offered(model))
    if container.get_options(model, {"raw_scores": False})["raw_scores"]:
        names[1] = "scores"
    for name, place in zip(names, operator.outputs, strict=False):
        tensor = getattr(answers, name)
        if name != "label" and tensor.dtype.kind == "f":
            tensor = tensor.cast(X.dtype)
        graph.give(tensor, place.full_name)
