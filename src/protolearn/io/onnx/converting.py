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

from .parts import check_parts, everything_of, parts, without_search

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
    if not is_classifier(model):
        raise TypeError(f"{type(model).__name__} is not a classifier; give a fitted one.")
    model = without_search(model)
    check_parts(model)
    types = [("X", FloatTensorType([None, n_features(model)]))]
    options = everything_of(model)
    try:
        return convert_sklearn(
            model, type(model).__name__, types, options=options, target_opset=target_opset
        )
    except (MissingConverter, MissingShapeCalculator) as error:
        raise TypeError(
            f"skl2onnx knows no form of a part of {type(model).__name__}: "
            f"{str(error).splitlines()[0]}"
        ) from error


def n_features(model: Any) -> int:
    """Return the number of features."""
    steps = [step for _, step in getattr(model, "steps", [])]
    for each in (model, *steps, *parts(model)):
        if hasattr(each, "n_features_in_"):
            return int(each.n_features_in_)
    raise ValueError(
        f"{type(model).__name__} does not tell its number of features (n_features_in_), which the "
        "input of the graph must have; fit it to an array or a frame."
    )


def selected(graph: Any, wanted: Sequence[str] | None) -> Any:
    """Keep the outputs that are wanted, in their order."""
    places = {output.name: output for output in graph.graph.output}
    offered = [name for name in ORDER if name in places]
    names = offered if wanted is None else list(wanted)
    repeated, unknown = len(set(names)) < len(names), set(names) - set(offered)
    if isinstance(wanted, str) or not names or repeated or unknown:
        raise ValueError(
            f"outputs={wanted!r} must be a list of different names out of {offered!r}."
        )
    del graph.graph.output[:]
    graph.graph.output.extend([places[name] for name in names])
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
    last = list(parts(without_search(model)))[-1]
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
