"""From a model to a graph: its parts, whether ONNX has a form of them, and what skl2onnx makes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from skl2onnx import convert_sklearn, get_model_alias
from skl2onnx.common.data_types import FloatTensorType
from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from ...analysis import RejectClassifier
from ...selection import AutoPrototypeClassifier
from ...tables import NumberColumn, TableEncoder
from .onnx_declarations import alias
from .onnx_outputs import FAMILIES

ORDER = (
    "label",
    "probabilities",
    "nearest_prototype",
    "distances",
    "hypothesis_margin",
    "certified_radius",
    "scores",
    "rejected",
)
"""The outputs, as far as a model has them."""

KNOWN = (*FAMILIES, RejectClassifier, AutoPrototypeClassifier)


def convert_model(model: Any, target_opset: int | None) -> Any:
    """Convert a model, with one input in single precision and all of its outputs."""
    if not is_classifier(model):
        raise TypeError(f"{type(model).__name__} is not a classifier; give a fitted one.")
    model = without_search(model)
    check_parts(model)
    types = [("X", FloatTensorType([None, n_features(model)]))]
    settings = {"options": everything_of(model), "target_opset": target_opset}
    try:
        return convert_sklearn(model, type(model).__name__, types, **settings)
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


def select_outputs(graph: Any, wanted: Sequence[str] | None) -> Any:
    """Return the graph with the outputs that are wanted, in their order."""
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
    """Return the names of the tensors that a node takes, those of graphs within it among them."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from names_used(inner)


def add_metadata(graph: Any, model: Any) -> Any:
    """Return the graph with its producer, the kind of model, and the names of what it knows."""
    from ... import __version__

    graph.producer_name, graph.producer_version = "protolearn", __version__
    last = list(parts(without_search(model)))[-1]
    about = {"model": type(last).__name__}
    for key, name, owner in (
        ("classes", "classes_", model),
        ("prototype_labels", "prototype_labels_", last),
        ("feature_names", "feature_names_in_", model),
    ):
        if hasattr(owner, name):
            about[key] = json.dumps(np.asarray(getattr(owner, name)).tolist())
    onnx.helper.set_model_props(graph, about)
    return graph


def without_search(model: Any) -> Any:
    """Return what a search of scikit-learn has found, and the automatic choice behind its table."""
    while hasattr(model, "best_estimator_") and not isinstance(model, AutoPrototypeClassifier):
        model = model.best_estimator_
    if getattr(model, "table_", None) is not None:
        return Pipeline([("table", model.table_), ("model", model.without_table())])
    return model


def parts(model: Any) -> Iterator[Any]:
    """Return a model, and those that answer within it; the one that decides comes last."""
    yield model
    inner = [model.steps[-1][1]] if isinstance(model, Pipeline) else []
    for name in ("model_", "best_estimator_"):
        inner += [getattr(model, name)] if hasattr(model, name) else []
    for each in inner:
        yield from parts(each)


def transformers(model: Any) -> Iterator[Any]:
    """Return what rows go through before the model that answers."""
    for part in parts(model):
        steps = [step for _, step in part.steps[:-1]] if isinstance(part, Pipeline) else []
        for step in steps:
            yield from members(step)


def members(step: Any) -> Iterator[Any]:
    """Return a transformer, and those that it is made of."""
    yield step
    inner: list[Any] = []
    if isinstance(step, Pipeline):
        inner = [each for _, each in step.steps]
    elif isinstance(step, FeatureUnion):
        inner = [each for _, each in step.transformer_list]
    elif isinstance(step, ColumnTransformer):
        inner = [each for _, each, _ in step.transformers_]
    for each in inner:
        yield from members(each)


def check_parts(model: Any) -> None:
    """Raise if a part of the library has no form in ONNX where it stands."""
    for step in transformers(model):
        if isinstance(step, TableEncoder):
            check_columns(step)
        elif type(step).__module__.startswith("protolearn."):
            raise TypeError(
                f"{type(step).__name__} is a step before the last, and its transform has no form "
                "in ONNX. The graph takes rows of numbers: prepare these with transformers of "
                "scikit-learn, such as StandardScaler."
            )
    for part in parts(model):
        if type(part).__module__.startswith("protolearn.") and not isinstance(part, KNOWN):
            raise TypeError(
                f"{type(part).__name__} has no form in ONNX; nearest-prototype and linear "
                "classifiers have one."
            )


def everything_of(model: Any) -> dict[int, dict[str, bool]]:
    """Return the options by which all outputs of a model, and of those within it, are declared."""
    options: dict[int, dict[str, bool]] = {}
    for part in parts(model):
        kind = type(part)
        if isinstance(part, KNOWN) and get_model_alias(kind) == alias(kind):  # not the user's own
            options[id(part)] = {"zipmap": False, "all_outputs": True}
        elif is_classifier(part) and kind.__module__.startswith("sklearn."):
            options[id(part)] = {"zipmap": False}
    return options


def check_columns(encoder: TableEncoder) -> None:
    """Raise if a column has other values than numbers; dates are days since 1970."""
    words = [
        column.name
        for column in encoder.columns_
        if not isinstance(column, NumberColumn) or column.width != 1
    ]
    if words:
        raise TypeError(
            f"The columns {words!r} of the table are not numbers, but the input of the graph is. "
            "Leave them out and fit again, or replace them by numbers first."
        )
