"""Classifiers around another one: the outputs of the one within, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skl2onnx._parse import parse_sklearn

from ...analysis import RejectClassifier
from ...analysis.reject.label import common_dtype
from ...selection import AutoPrototypeClassifier
from .answers import Output, as_labels
from .declare import declared, graph_in, labels_in, numbers, variable
from .tensor import Graph, Tensor

KEYS = {"O": "keys_strings", "i": "keys_int64s", "f": "keys_floats"}
"""The attribute of a table of labels, by their kind."""


def parse_within(scope: Any, model: Any, inputs: Any) -> dict[str, Any]:
    """Declare the model within another; give its outputs by their names."""
    found = parse_sklearn(scope, model, inputs)
    for each in found:
        each.init_status(is_leaf=False)
    return {each.raw_name: each for each in found}


def parse_reject(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a reject option: rejected rows have a label of their own, and a flag."""
    within = parse_within(scope, model.model_, inputs)
    sure = within[confidence_name(model, within)]
    operator = declared(scope, model, [within.pop("label"), sure])
    label, flag = Output(reject_labels(model).dtype), Output(np.dtype(bool))
    operator.outputs.append(variable(scope, "label", label, sure.type))
    operator.outputs.append(variable(scope, "rejected", flag, sure.type))
    first, last = operator.outputs
    return [first, *within.values(), last]


def confidence_name(model: RejectClassifier, within: dict[str, Any]) -> str:
    """Name the output that tells how sure the model is."""
    if callable(model.measure) or model.measure == "radius":
        raise TypeError(
            f"measure={model.measure!r} of RejectClassifier has no form in ONNX; give 'margin' or "
            "'probability'."
        )
    margins = ["hypothesis_margin", "scores"]
    wanted = ["probabilities"] if model.measure == "probability" else margins
    found = [name for name in wanted if name in within]
    if not found:
        raise TypeError(
            f"{type(model.model_).__name__} has no {model.measure} in ONNX; give RejectClassifier "
            "another measure."
        )
    return found[0]


def reject_labels(model: RejectClassifier) -> NDArray[Any]:
    """Give the classes and, last, the label of rejected rows."""
    dtype = common_dtype(model.classes_, model.reject_label_)
    label = np.asarray([model.reject_label_], dtype)
    return as_labels(np.concatenate([model.classes_.astype(dtype), label]))


def convert_reject(scope: Any, operator: Any, container: Any) -> None:
    """Compare how sure the model is with the threshold of the class that it predicts."""
    graph, model = graph_in(scope, container), operator.raw_operator
    given, sure = operator.inputs
    label = labels_in(graph, given)
    confidence = measured(numbers(graph, sure), sure.raw_name, len(model.classes_))
    rejected = confidence < thresholds(graph, label, model).cast(confidence.dtype)
    labels = reject_labels(model)
    place, flag = operator.outputs
    graph.give(label.cast(labels.dtype).replaced(rejected, labels[-1]), place.full_name)
    graph.give(rejected, flag.full_name)


def measured(values: Tensor, name: str, n_classes: int) -> Tensor:
    """Give one number a row: the margin, the largest probability, or the lead of a score."""
    if name == "hypothesis_margin":
        return values
    best = values.max(1)
    if name == "scores" and n_classes > 2:
        best = best + (-values).without(values.argmax(), n_classes).min(1)
    return best.reshaped(-1)


def thresholds(graph: Graph, label: Tensor, model: RejectClassifier) -> Tensor:
    """Give the threshold of the class of each row."""
    if label.dtype.kind in "bf":  # of which there are no tables
        label = label.cast(np.int64 if label.dtype.kind == "b" else np.float32)
    keys = as_labels(model.classes_).astype(label.dtype)
    table: dict[str, Any] = {
        KEYS[keys.dtype.kind]: keys.tolist(),
        "values_floats": model.thresholds_.tolist(),
    }
    where: dict[str, Any] = {"op_domain": "ai.onnx.ml", "op_version": 2}
    return graph.node("LabelEncoder", label, dtype=np.float32, **where, **table)


def parse_auto(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the chosen model, with the probabilities of its scores at a temperature."""
    within = parse_within(scope, model.best_estimator_, inputs)
    within.pop("probabilities", None)
    scores = within["scores"]
    operator = declared(scope, model, [scores])
    output = Output(width=len(model.classes_))
    operator.outputs.append(variable(scope, "probabilities", output, scores.type))
    return [within.pop("label"), operator.outputs[0], *within.values()]


def convert_auto(scope: Any, operator: Any, container: Any) -> None:
    """Give the softmax of the scores at a temperature; of two classes one has both scores."""
    graph, model = graph_in(scope, container), operator.raw_operator
    unit = model.temperature_ * (2.0 if len(model.classes_) == 2 else 1.0)
    scores = numbers(graph, operator.inputs[0]) / unit
    graph.give(scores.softmax(), operator.outputs[0].full_name)


def shapes_as_declared(operator: Any) -> None:
    """Leave the types of the outputs as the parser declared them."""


WRAPPERS = {
    RejectClassifier: (parse_reject, shapes_as_declared, convert_reject),
    AutoPrototypeClassifier: (parse_auto, shapes_as_declared, convert_auto),
}
