"""From a model to a graph: its parts, whether ONNX has a form of them, and what skl2onnx makes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from skl2onnx import convert_sklearn, get_model_alias
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import FeatureUnion, Pipeline

from ...analysis import RejectClassifier
from ...classifiers import NearestPrototypeClassifier
from ...selection import AutoPrototypeClassifier
from ...tables import FEATUREWISE, TableEncoder, flatten_steps
from ..exports.exported_columns import EncodedRows, column_code
from .onnx_outputs import FAMILIES, LinearView

ORDER = (
    "label",
    "probabilities",
    "nearest_prototype",
    "distances",
    "hypothesis_margin",
    "certified_radius",
    "contributions",
    "scores",
    "rejected",
)
"""The outputs, as far as a model has them."""

KNOWN = (*FAMILIES, RejectClassifier, AutoPrototypeClassifier)


def convert_model(model: Any, target_opset: int | None) -> Any:
    """Convert a model, with one input in single precision and all of its outputs."""
    if not is_classifier(model):
        raise TypeError(f"{type(model).__name__} is not a classifier; give a fitted one.")
    name, model = type(model).__name__, with_known_steps(without_search(model))
    check_parts(model)
    settings = {"options": everything_of(model), "target_opset": target_opset}
    try:
        graph = convert_sklearn(model, name, input_types(model), **settings)
        return with_column_names(by_column(graph, model), model)
    except (MissingConverter, MissingShapeCalculator) as error:
        raise TypeError(
            f"skl2onnx cannot convert a part of {name}: {str(error).splitlines()[0]}"
        ) from error


def alias(kind: type[Any]) -> str:
    """Return the name of the operator of a kind of classifiers."""
    return f"protolearn.{kind.__module__}.{kind.__qualname__}"


def input_types(model: Any) -> list[tuple[str, Any]]:
    """Return the inputs of a graph: ``X``, or one for each column of a table."""
    first = first_step(model)
    if not isinstance(first, TableEncoder):
        return [("X", FloatTensorType([None, n_features(model)]))]
    kinds: dict[str, Any] = {"t": StringTensorType, "w": StringTensorType}
    return [
        (
            f"column{j}",
            DoubleTensorType([None, 1])
            if column["kind"] == "date"
            else kinds.get(column_code(column), FloatTensorType)([None, 1]),
        )
        for j, column in enumerate(table_columns(first))
    ]


def with_column_names(graph: Any, model: Any) -> Any:
    """Return a graph whose inputs are named as the columns of the table, which may be any text.

    One that is called as an output ends in ``_column``.
    """
    first = first_step(model)
    if isinstance(first, TableEncoder):
        columns, taken = table_columns(first), {output.name for output in graph.graph.output}
        wanted = [c["name"] + "_column" * (c["name"] in taken) for c in columns]
        inner = {name for node in graph.graph.node for name in node.output} - taken
        rename(graph.graph, {name: f"{name}_inner" for name in inner.intersection(wanted)})
        rename(graph.graph, {f"column{j}": name for j, name in enumerate(wanted)})
    return graph


def rename(graph: Any, names: dict[str, str]) -> None:
    """Rename tensors everywhere in a graph, in graphs within it too."""
    for each in (*graph.input, *graph.output, *graph.initializer):
        each.name = names.get(each.name, each.name)
    for node in graph.node:
        for places in (node.input, node.output):
            for k, name in enumerate(places):
                places[k] = names.get(name, name)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                rename(attribute.g, names)


def first_step(model: Any) -> Any:
    """Return what rows come to first."""
    return first_step(model.steps[0][1]) if isinstance(model, Pipeline) else model


def table_columns(encoder: TableEncoder) -> list[dict[str, Any]]:
    """Return how the values of columns become numbers, as in an exported document."""
    rows = EncodedRows.of_table(encoder, texts=True)
    every = np.ones(len(rows.scale), dtype=bool)
    columns = rows.used_columns(every, np.zeros(len(rows.scale)))
    return [column | {"width": max(column["width"], 1)} for column in columns]


def with_known_steps(model: Any, decides: bool = True) -> Any:
    """Return a pipeline with metric models before its last step as the linear maps that they are.

    What skl2onnx knows of these is how a truncated singular value decomposition multiplies. A
    linear classifier of scikit-learn that ``decides`` is replaced by its :class:`LinearView`.
    """
    if not isinstance(model, Pipeline):
        return LinearView.of(model) if decides else model
    *before, last = model.steps
    steps = []
    for name, step in before:
        if isinstance(step, NearestPrototypeClassifier) and hasattr(step, "transform"):
            omega = step.omega_
            known = TruncatedSVD(n_components=len(omega))
            known.components_, known.n_features_in_ = omega, omega.shape[1]
            step = known
        steps.append((name, with_known_steps(step, decides=False)))
    return Pipeline([*steps, (last[0], with_known_steps(last[1], decides))])


def by_column(graph: Any, model: Any) -> Any:
    """Add up contributions that belong to one column, where a table is encoded first."""
    encoder, *between = [step for _, step in flatten_steps(model)][:-1] or [None]
    named = [output for output in graph.graph.output if output.name == "contributions"]
    if not isinstance(encoder, TableEncoder) or not named:
        return graph
    if not all(isinstance(step, FEATUREWISE) for step in between):
        return graph
    widths = [column["width"] for column in table_columns(encoder)]
    members = np.repeat(np.eye(len(widths), dtype=np.float32), widths, axis=0)
    inner, names = "contributions_of_features", ("members", "contributions")
    rename(graph.graph, {names[1]: inner})
    named[0].name = names[1]
    members = members.astype(
        np.float64 if named[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE else np.float32
    )
    graph.graph.initializer.append(onnx.numpy_helper.from_array(members, names[0]))
    graph.graph.node.append(onnx.helper.make_node("MatMul", [inner, names[0]], [names[1]]))
    named[0].type.tensor_type.shape.dim[1].dim_value = len(widths)
    return graph


def n_features(model: Any) -> int:
    """Return the number of features."""
    steps = [step for _, step in getattr(model, "steps", [])]
    for each in (model, *steps, *parts(model)):
        if hasattr(each, "n_features_in_"):
            return int(each.n_features_in_)
    raise ValueError(
        f"{type(model).__name__} has no n_features_in_, which the input of the graph needs; fit "
        "it to an array or a frame."
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
            table_columns(step)
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


def mean_row_of(model: Any) -> Any:
    """Return the mean of the training rows as the last step sees it, if the steps know it."""
    steps = flatten_steps(model)
    try:
        rows = EncodedRows.of(steps[:-1], steps[-1][1], texts=True)
    except (TypeError, AttributeError):  # steps that are no affine map
        return None
    if rows.mean is None or rows.matrix is None or rows.shift is None:
        return rows.mean
    return rows.matrix @ rows.mean + rows.shift


def everything_of(model: Any) -> dict[int, dict[str, Any]]:
    """Return the options by which all outputs of a model, and of those within it, are declared."""
    options: dict[int, dict[str, Any]] = {}
    center = mean_row_of(model)
    for part in parts(model):
        kind = type(part)
        if isinstance(part, KNOWN) and get_model_alias(kind) == alias(kind):  # not the user's own
            options[id(part)] = {"zipmap": False, "all_outputs": True}
            if center is not None and len(center) == getattr(part, "n_features_in_", 0):
                options[id(part)]["center"] = center
        elif is_classifier(part) and kind.__module__.startswith("sklearn."):
            options[id(part)] = {"zipmap": False}
    return options
