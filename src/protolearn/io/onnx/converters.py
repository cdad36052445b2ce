"""How skl2onnx turns a nearest-prototype or linear model into the nodes of a graph."""

from __future__ import annotations

from typing import Any

from ...classifiers import NearestPrototypeClassifier
from ...one_versus_rest import LinearClassifier
from ...perceptrons import KernelAdaTron
from .answers import Answers, Output
from .declare import (
    check_one_input,
    declared,
    everything_asked,
    graph_in,
    numbers,
    tensor_type,
    variable,
)
from .linear import LinearAnswers
from .nearest import NearestAnswers

ANSWERS: dict[type[Any], type[Answers]] = {
    NearestPrototypeClassifier: NearestAnswers,
    LinearClassifier: LinearAnswers,
    KernelAdaTron: LinearAnswers,
}
"""What the models of a family, and those derived from them, have to say."""

DECIDES = ("predict", "predict_proba", "decision_function", "distances")
"""Methods that a graph takes the place of."""


def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a model and its outputs: the first two, or all if the option says so."""
    check_methods(model)
    check_one_input(model, inputs)
    operator = declared(scope, model, inputs)
    offered = list(offered_by(model).items())
    for name, output in offered if everything_asked(scope, model) else offered[:2]:
        operator.outputs.append(variable(scope, name, output, inputs[0].type))
    return operator.outputs


def check_methods(model: Any) -> None:
    """Raise if a class of the user's decides in another way than the family it derives from."""
    for method in DECIDES:
        owner = next((kind for kind in type(model).__mro__ if method in vars(kind)), None)
        if owner is not None and not owner.__module__.startswith("protolearn."):
            raise TypeError(
                f"{owner.__name__} has its own {method}, which has no form in ONNX; register a "
                "converter for it with skl2onnx.update_registered_converter."
            )


def shapes(operator: Any) -> None:
    """Set the types of the outputs."""
    for output, place in zip(
        offered_by(operator.raw_operator).values(), operator.outputs, strict=False
    ):
        place.type = tensor_type(output, operator.inputs[0].type)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a model to a graph."""
    graph, model = graph_in(scope, container), operator.raw_operator
    X = numbers(graph, operator.inputs[0])
    answers, names = kind_of(model)(model, X), list(offered_by(model))
    if container.get_options(model, {"raw_scores": False})["raw_scores"]:
        names[1] = "scores"
    for name, place in zip(names, operator.outputs, strict=False):
        tensor = getattr(answers, name)
        if name != "label" and tensor.dtype.kind == "f":
            tensor = tensor.cast(X.dtype)
        graph.give(tensor, place.full_name)


def offered_by(model: Any) -> dict[str, Output]:
    """Name the outputs of a model."""
    return kind_of(model).offered(model)


def kind_of(model: Any) -> type[Answers]:
    """Return the kind of answers of a model."""
    return next(kind for family, kind in ANSWERS.items() if isinstance(model, family))
