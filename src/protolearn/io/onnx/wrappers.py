"""Classifiers around another one: the outputs of the one within, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skl2onnx._parse import parse_sklearn

from ...analysis import RejectClassifier, common_dtype, has_margin
from ...selection import AutoPrototypeClassifier
from .answers import Output, as_labels
from .declare import (
    check_one_input,
    declared,
    everything_asked,
    graph_in,
    labels_in,
    numbers,
    variable,
)
from .parts import check_parts, everything_of, without_search
from .tensor import Graph, Tensor


def parse_within(scope: Any, model: Any, within: Any, inputs: Any) -> dict[str, Any]:
    """Declare the model within another; give all of its outputs by their names."""
    check_one_input(model, inputs)
    within = without_search(within)
    check_parts(within)
    for key, options in everything_of(within).items():
        scope.add_options(key, options)
    found = parse_sklearn(scope, within, inputs)
    for each in found:
        each.init_status(is_leaf=False)
    return {each.raw_name: each for each in found}


def some_of(scope: Any, model: Any, outputs: list[Any]) -> list[Any]:
    """Return all outputs if the option says so, else the first two."""
    return outputs if everything_asked(scope, model) else outputs[:2]


def parse_reject(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a reject option: rejected rows have a label of their own, and a flag."""
    within = parse_within(scope, model, model.model_, inputs)
    sure = within[confidence_name(model, within)]
    operator = declared(scope, model, [within.pop("label"), sure])
    label, flag = Output(reject_labels(model).dtype), Output(np.dtype(bool))
    operator.outputs.append(variable(scope, "label", label, sure.type))
    operator.outputs.append(variable(scope, "rejected", flag, sure.type))
    first, last = operator.outputs
    return [*some_of(scope, model, [first, *within.values()]), last]


def confidence_name(model: RejectClassifier, within: dict[str, Any]) -> str:
    """Name the output that tells how sure the model is, as ``confidence`` does."""
    if isinstance(without_search(model.model_), RejectClassifier):
        raise TypeError("RejectClassifier within RejectClassifier has no form in ONNX.")
    if callable(model.measure) or model.measure == "radius":
        raise TypeError(
            f"measure={model.measure!r} of RejectClassifier has no form in ONNX; give 'margin' or "
            "'probability'."
        )
    by_margin = "hypothesis_margin" if has_margin(model.model_) else "scores"
    name = "probabilities" if model.measure == "probability" else by_margin
    if name not in within:
        raise TypeError(
            f"{type(model.model_).__name__} has no {name} in ONNX, which "
            f"measure={model.measure!r} of RejectClassifier needs; give another measure."
        )
    return name


def reject_labels(model: RejectClassifier) -> NDArray[Any]:
    """Return the classes and, last, the label of rejected rows."""
    dtype = common_dtype(model.classes_, model.reject_label_)
    label = np.asarray([model.reject_label_], dtype)
    return as_labels(np.concatenate([model.classes_.astype(dtype), label]))


def convert_reject(scope: Any, operator: Any, container: Any) -> None:
    """Compare how sure the model is with the threshold of the class that it predicts.

    What is no number is not sure enough.
    """
    graph, model = graph_in(scope, container), operator.raw_operator
    check_declared(operator, "label")
    given, sure = operator.inputs
    label = labels_in(graph, given)
    confidence = measured(numbers(graph, sure), sure.raw_name, len(model.classes_))
    limits = graph.constant(model.thresholds_, confidence.dtype)
    rejected = ~(confidence >= limits.take(code_of(graph, label, model.classes_)))
    labels = reject_labels(model)
    place, flag = operator.outputs
    graph.give(label.cast(labels.dtype).replaced(rejected, labels[-1]), place.full_name)
    graph.give(rejected, flag.full_name)


def measured(values: Tensor, name: str, n_classes: int) -> Tensor:
    """Return one number a row: the margin, the largest probability, or the lead of a score."""
    if name == "hypothesis_margin":
        return values
    best = values.max(1)
    if name == "scores" and n_classes > 2:
        best = best + (-values).without(values.argmax(), n_classes).min(1)
    return best.reshaped(-1)


def code_of(graph: Graph, label: Tensor, classes: NDArray[Any]) -> Tensor:
    """Return the places of labels among the classes."""
    keys = as_labels(classes)
    if keys.dtype.kind != "O":
        same = label.reshaped(-1, 1).equals(keys.astype(label.dtype)[None, :])
        return same.cast(np.float32).argmax()
    table: dict[str, Any] = {
        "keys_strings": keys.tolist(),
        "values_int64s": list(range(len(keys))),
        "op_domain": "ai.onnx.ml",
        "op_version": 2,
    }
    return graph.node("LabelEncoder", label, dtype=np.int64, **table)


def parse_auto(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the chosen model, with the probabilities of its scores at a temperature."""
    within = parse_within(scope, model, model.best_estimator_, inputs)
    within.pop("probabilities", None)
    scores = within["scores"]
    operator = declared(scope, model, [scores])
    output = Output(width=len(model.classes_))
    operator.outputs.append(variable(scope, "probabilities", output, scores.type))
    return some_of(scope, model, [within.pop("label"), operator.outputs[0], *within.values()])


def convert_auto(scope: Any, operator: Any, container: Any) -> None:
    """Convert to the softmax of the scores at a temperature; of two classes one has both scores."""
    graph, model = graph_in(scope, container), operator.raw_operator
    check_declared(operator, "scores")
    unit = model.temperature_ * (2.0 if len(model.classes_) == 2 else 1.0)
    scores = numbers(graph, operator.inputs[0]) / unit
    graph.give(scores.softmax(), operator.outputs[0].full_name)


def check_declared(operator: Any, name: str) -> None:
    """Raise if an operator was not declared by its parser, which asks the model within first."""
    if operator.inputs[0].raw_name != name:
        raise TypeError(
            f"{type(operator.raw_operator).__name__} within another model has no form in ONNX; "
            "it can be the model itself, the last step of a Pipeline, or the best of a search."
        )


def shapes_as_declared(operator: Any) -> None:
    """Leave the types of the outputs as the parser declared them."""


WRAPPERS = {
    RejectClassifier: (parse_reject, shapes_as_declared, convert_reject),
    AutoPrototypeClassifier: (parse_auto, shapes_as_declared, convert_auto),
}
