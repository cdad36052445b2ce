"""From a model to a graph: converted by skl2onnx, with the outputs that are wanted, described."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType
from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from .registry import FAMILIES

ORDER = (
    "label",
    "probabilities",
    "nearest_prototype",
    "distances",
    "hypothesis_margin",
    "scores",
    "rejected",
)
"""The outputs, as far as a model has them."""


def converted(model: Any, target_opset: int | None) -> Any:
    """Convert a model, with one input in single precision and all of its outputs."""
    check_middle_steps(model)
    types = [("X", FloatTensorType([None, n_features(model)]))]
    options = {id(part): {"zipmap": False} for part in parts(model) if is_classifier(part)}
    try:
        return convert_sklearn(
            model, type(model).__name__, types, options=options, target_opset=target_opset
        )
    except (MissingConverter, MissingShapeCalculator) as error:
        raise TypeError(
            f"There is no ONNX form of a part of {type(model).__name__}: "
            f"{str(error).splitlines()[0]} Nearest-prototype and linear classifiers of protolearn "
            "have one, with the steps of scikit-learn that skl2onnx knows."
        ) from error


def n_features(model: Any) -> int:
    """Give the number of features."""
    if not hasattr(model, "n_features_in_"):
        raise ValueError(
            f"{type(model).__name__} does not tell its number of features (n_features_in_), "
            "which the input of the graph must have; fit it to an array or a frame."
        )
    return int(model.n_features_in_)


def check_middle_steps(model: Any) -> None:
    """Raise if a classifier stands where its ``transform`` would be needed."""
    for part in parts(model):
        for step in [step for _, step in part.steps[:-1]] if isinstance(part, Pipeline) else []:
            if isinstance(step, FAMILIES):
                raise TypeError(
                    f"{type(step).__name__} is a step before the last of a Pipeline; its transform "
                    "has no form in ONNX, only its predictions have."
                )


def parts(model: Any) -> Iterator[Any]:
    """Give a model, and those that it is made of."""
    yield model
    inner = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    for name in ("model_", "best_estimator_"):
        inner += [getattr(model, name)] if hasattr(model, name) else []
    for each in inner:
        yield from parts(each)


def selected(graph: Any, wanted: Sequence[str] | None) -> Any:
    """Keep the outputs that are wanted, in their order."""
    found = {output.name for output in graph.graph.output}
    offered = [name for name in ORDER if name in found]
    names = offered if wanted is None else list(wanted)
    if isinstance(wanted, str) or not names or len(set(names)) < len(names) or set(names) - found:
        raise ValueError(
            f"outputs={wanted!r} must be a list of different names out of {offered!r}."
        )
    places = {output.name: output for output in graph.graph.output}
    outputs = [places[name] for name in names]
    del graph.graph.output[:]
    graph.graph.output.extend(outputs)
    prune(graph.graph)
    onnx.checker.check_model(graph)
    return graph


def prune(graph: Any) -> None:
    """Remove nodes and constants that no output needs."""
    needed, kept = {output.name for output in graph.output}, []
    for node in reversed(graph.node):  # each comes before those that use it
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(names_used(node))
    constants = [constant for constant in graph.initializer if constant.name in needed]
    for field, contents in ((graph.node, kept[::-1]), (graph.initializer, constants)):
        del field[:]
        field.extend(contents)


def names_used(node: Any) -> Iterator[str]:
    """Name the tensors that a node takes, those of graphs within it among them."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from names_used(inner)


def described(graph: Any, model: Any) -> Any:
    """Write into a graph what it is of."""
    from ... import __version__

    graph.producer_name, graph.producer_version = "protolearn", __version__
    last = list(parts(model))[-1]
    told = {"model": type(last).__name__}
    for key, name, owner in (
        ("classes", "classes_", model),
        ("prototype_labels", "prototype_labels_", last),
        ("feature_names", "feature_names_in_", model),
    ):
        if hasattr(owner, name):
            told[key] = json.dumps(np.asarray(getattr(owner, name)).tolist())
    onnx.helper.set_model_props(graph, told)
    return graph
