"""How skl2onnx turns models into the nodes of a graph: a parser and a converter for each kind.

Nearest-prototype and linear classifiers; tables of numbers; and classifiers around another one,
which pass on the outputs of the one within.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skl2onnx import get_model_alias, update_registered_converter
from skl2onnx.common import data_types

from ...analysis import RejectClassifier, common_dtype, has_margin
from ...selection import AutoPrototypeClassifier
from ...tables import TableEncoder
from ..exports.exported_columns import column_code
from .onnx_conversion import (
    alias,
    check_parts,
    everything_of,
    table_columns,
    with_known_steps,
    without_search,
)
from .onnx_outputs import FAMILIES, Output, as_labels, outputs_class
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
    "center": None,  # the mean row, which contributions to linear scores are relative to
}
"""What can be asked of a classifier; probabilities come as an array whatever is said of zipmap."""

MOST_LETTERS = 4
"""Letters beyond ASCII of which each may be in upper case by itself."""

# Methods that a graph takes the place of.
DECIDES = ("predict", "predict_proba", "decision_function", "distances")


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


def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a model and its outputs: the first two, or all if the option says so."""
    check_methods(model)
    check_one_input(model, inputs)
    offered = list(outputs_class(model).output_types(model).items())
    return declare_operator(scope, model, inputs, dict(asked_outputs(scope, model, offered)))


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
    offered = outputs_class(operator.raw_operator).output_types(operator.raw_operator)
    for output, place in zip(offered.values(), operator.outputs, strict=False):
        place.type = tensor_type(output, operator.inputs[0].type)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a model to a graph."""
    graph, model = graph_in(scope, container), operator.raw_operator
    X = numbers(graph, operator.inputs[0])
    outputs = outputs_class(model)(model, X)
    outputs.center = container.get_options(model, {"center": None})["center"]
    names = list(outputs.output_types(model))
    if container.get_options(model, {"raw_scores": False})["raw_scores"]:
        names[1] = "scores"
    for name, place in zip(names, operator.outputs, strict=False):
        tensor = getattr(outputs, name)
        if name != "label" and tensor.dtype.kind == "f":
            tensor = tensor.cast(X.dtype)
        graph.give(tensor, place.full_name)


def table_shapes(operator: Any) -> None:
    """Set the type of the encoded rows: double precision if all columns have it."""
    width = len(operator.raw_operator.units_.scale_)
    exact = all(isinstance(each.type, data_types.DoubleTensorType) for each in operator.inputs)
    operator.outputs[0].type = TYPES[np.dtype(np.float64 if exact else np.float32)]([None, width])


def convert_table(scope: Any, operator: Any, container: Any) -> None:
    """Turn columns into numbers: one input for each, or one with all columns of numbers."""
    graph, columns = graph_in(scope, container), table_columns(operator.raw_operator)
    place = operator.outputs[0]
    dtype = precision(place.type)
    parts = []
    for j, column in enumerate(columns):
        given = column_input(operator, columns, j)
        if column["kind"] == "unused":
            blank = numbers(graph, given).take([0], axis=1).apply("IsNaN", dtype=bool)
            parts.append(blank.cast(dtype) * 0.0)
            continue
        if column_code(column) in ("t", "w"):
            entries = text_entries if column_code(column) == "t" else word_entries
            parts.append(entries(graph, given, column, dtype))
            continue
        X = numbers(graph, given)
        X = X if len(operator.inputs) > 1 or len(columns) == 1 else X.take([j], axis=1)
        encode = code_entries if column_code(column) == "c" else scale_number
        parts.append(encode(X, column).cast(dtype))
    every = parts[0].beside(*parts[1:])
    graph.give(every, place.full_name)


def column_input(operator: Any, columns: list[dict[str, Any]], j: int) -> Any:
    """Return the input of a column, or the one that has all."""
    if len(operator.inputs) == len(columns):
        by_name = {each.raw_name: each for each in operator.inputs}
        return by_name.get(columns[j]["name"], operator.inputs[j])
    words = [column["name"] for column in columns if column_code(column) in ("t", "w")]
    if len(operator.inputs) > 1 or words:
        raise TypeError(
            f"The graph of a table has one input for each of its {len(columns)} columns; "
            f"{len(operator.inputs)} are given, and the columns {words!r} are texts."
        )
    return operator.inputs[0]


def scale_number(X: Tensor, column: dict[str, Any]) -> Tensor:
    """Return a column of numbers relative to its mean, in standard deviations."""
    Z = (X - column["offset"]) * column["scale"]
    absent = X.apply("IsNaN", dtype=bool)
    Z = Z.replace_where(absent, column["missing"])
    if "indicator" not in column:
        return Z
    present, marked = column["indicator"]
    return Z.beside((Z * 0.0 + present).replace_where(absent, marked))


def text_entries(graph: Graph, given: Any, column: dict[str, Any], dtype: Any) -> Tensor:
    """Return the entries of texts; the empty text is a missing value."""
    known, count = list(column["categories"]), len(column["categories"])
    keys = known if "" in known else [*known, ""]
    table: dict[str, Any] = {
        "keys_strings": keys,
        "values_int64s": list(range(len(keys))),
        "default_int64": count + 1,
        "op_domain": "ai.onnx.ml",
        "op_version": 2,
    }
    text = Tensor(graph, given.full_name, object).reshape(-1)
    code = graph.node("LabelEncoder", text, dtype=np.int64, **table)
    return graph.constant(entries_of(column), dtype).take(code)


def word_entries(graph: Graph, given: Any, column: dict[str, Any], dtype: Any) -> Tensor:
    """Return the TF-IDF of the words of a text, by operators that the ONNX Runtime has."""
    text = Tensor(graph, given.full_name, object).reshape(-1)
    # The locale C is everywhere; it leaves letters beyond ASCII as they are.
    lower = graph.node("StringNormalizer", text, case_change_action="LOWER", locale="C")
    words = {"mark": 0, "mincharnum": 1, "pad_value": "", "tokenexp": r"[\p{L}\p{N}_]+"}
    cells = graph.node("Tokenizer", lower, op_domain="com.microsoft", op_version=1, **words)
    same: dict[str, Any] = {"keys_strings": [""], "values_strings": [""], "default_string": ""}
    same |= {"op_domain": "ai.onnx.ml", "op_version": 2}
    blank = graph.node("LabelEncoder", text.reshape(-1, 1), **same)  # where no text has a word
    forms = [(form, j) for j, word in enumerate(column["words"]) for form in word_forms(word)]
    pool: dict[str, Any] = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1}
    pool |= {"max_skip_count": 0, "ngram_counts": [0], "ngram_indexes": [j for _, j in forms]}
    pool["pool_strings"] = [form for form, _ in forms]
    counts = graph.node("TfIdfVectorizer", cells.beside(blank), dtype=np.float32, **pool)
    counts = counts.cast(dtype)
    some = (counts.maximum(1.0).apply("Log") + 1.0) * np.array(column["weights"])
    Z = some * (counts > 0.0).cast(dtype)
    length = Z.square().sum(1).root()
    return Z / length.replace_where(~(length > 0.0), 1.0) * column["scale"]


def word_forms(word: str) -> list[str]:
    """Return a word with its letters beyond ASCII in lower and upper case, as texts may have it."""
    pairs = [{c: 0, c if c.isascii() or len(c.upper()) > 1 else c.upper(): 0} for c in word]
    if sum(len(pair) > 1 for pair in pairs) > MOST_LETTERS:  # not ASCII, mostly
        return list(dict.fromkeys([word, word.capitalize(), word.upper()]))
    return ["".join(letters) for letters in product(*pairs)]


def code_entries(X: Tensor, column: dict[str, Any]) -> Tensor:
    """Return the entries of categories that are numbers or truth values."""
    values = np.array([float(value) for value in column["categories"]]).astype(X.dtype)
    same, count = X.equals(values[None, :]).cast(X.dtype), len(values)
    code = same.argmax()
    code = code.replace_where(~(same.max(1).reshape(-1) > 0.5), count + 1)
    code = code.replace_where(X.apply("IsNaN", dtype=bool).reshape(-1), count)
    return X.graph.constant(entries_of(column), X.dtype).take(code)


def entries_of(column: dict[str, Any]) -> NDArray[Any]:
    """Return the numbers of each category, of the missing value and of an unknown one."""
    return np.array([*column["entries"], column["missing"], column["unknown"]])


def parse_within(scope: Any, model: Any, within: Any, inputs: Any) -> dict[str, Any]:
    """Declare the model within another; return all of its outputs by their names."""
    try:  # not public, and the only way to declare a model within another
        from skl2onnx._parse import parse_sklearn
    except ImportError as error:
        raise ImportError(
            f"This version of skl2onnx cannot convert {type(model).__name__} ({error}); convert "
            "the model within it, or install another version of skl2onnx."
        ) from error
    within = with_known_steps(without_search(within))
    check_parts(within)
    for key, options in everything_of(within).items():
        scope.add_options(key, options)
    found = parse_sklearn(scope, within, inputs)
    for each in found:
        each.init_status(is_leaf=False)
    return {each.raw_name: each for each in found}


def parse_reject(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a reject option: rejected rows have a label of their own, and a flag."""
    within = parse_within(scope, model, model.model_, inputs)
    sure = within[confidence_name(model, within)]
    outputs = {"label": Output(reject_labels(model).dtype), "rejected": Output(np.dtype(bool))}
    first, last = declare_operator(scope, model, [within.pop("label"), sure], outputs)
    return [*asked_outputs(scope, model, [first, *within.values()]), last]


def confidence_name(model: RejectClassifier, within: dict[str, Any]) -> str:
    """Return the name of the output that tells how sure the model is, as ``confidence`` does."""
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
    """Compare how sure the model is with the threshold of the class that it predicts."""
    graph, model = graph_in(scope, container), operator.raw_operator
    check_declared(operator, "label")
    given, sure = operator.inputs
    kind = next(dtype for dtype, kind in TYPES.items() if kind is type(given.type))
    label = Tensor(graph, given.full_name, kind)
    confidence = confidence_tensor(numbers(graph, sure), sure.raw_name, len(model.classes_))
    limits = graph.constant(model.thresholds_, confidence.dtype)
    # What is no number is not sure enough.
    rejected = ~(confidence >= limits.take(code_of(graph, label, model.classes_)))
    labels = reject_labels(model)
    place, flag = operator.outputs
    graph.give(label.cast(labels.dtype).replace_where(rejected, labels[-1]), place.full_name)
    graph.give(rejected, flag.full_name)


def confidence_tensor(values: Tensor, name: str, n_classes: int) -> Tensor:
    """Return one number a row: the margin, the largest probability, or the lead of a score."""
    if name == "hypothesis_margin":
        return values
    best = values.max(1)
    if name == "scores" and n_classes > 2:
        best = best + (-values).without(values.argmax(), n_classes).min(1)
    return best.reshape(-1)


def code_of(graph: Graph, label: Tensor, classes: NDArray[Any]) -> Tensor:
    """Return the places of labels among the classes."""
    keys = as_labels(classes)
    if keys.dtype.kind != "O":
        same = label.reshape(-1, 1).equals(keys.astype(label.dtype)[None, :])
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
    outputs = {"probabilities": Output(width=len(model.classes_))}
    (probabilities,) = declare_operator(scope, model, [within["scores"]], outputs)
    return asked_outputs(scope, model, [within.pop("label"), probabilities, *within.values()])


def convert_auto(scope: Any, operator: Any, container: Any) -> None:
    """Convert to the calibrated probabilities; of two classes one has both scores."""
    graph, model = graph_in(scope, container), operator.raw_operator
    check_declared(operator, "scores")
    scores = numbers(graph, operator.inputs[0])
    scores, raised = scores / (2.0 if len(model.classes_) == 2 else 1.0), model.raised_scores_
    if raised is not None:
        scores = scores - raised[None, :]
    shares = calibrate_scores(scores, model.calibration_, agree=raised is None)
    graph.give(shares, operator.outputs[0].full_name)


def calibrate_scores(scores: Tensor, calibration: Any, agree: bool) -> Tensor:
    """Return what ``ScoreCalibration.probabilities`` returns."""
    if calibration.method == "temperature":
        return (scores * calibration.factor).softmax()
    code = scores.argmax()
    if calibration.method == "sigmoid":
        shares = (scores * calibration.factor + calibration.offsets[None, :]).softmax()
    else:
        n_classes = len(calibration.steps)
        second = -(-scores).without(code, n_classes).min(1)
        leads = (scores - scores.max(1)).replace_where(
            code.reshape(-1, 1).equals(np.arange(n_classes)[None, :]), scores - second
        )
        columns = [
            interpolate(leads.take([k], axis=1), *step) for k, step in enumerate(calibration.steps)
        ]
        shares = columns[0].beside(*columns[1:])
        shares = shares / shares.sum(1)
    if not agree:
        return shares
    above = shares >= shares.at(code)
    among = above.cast(shares.dtype)
    return shares.replace_where(above, (shares * among).sum(1) / among.sum(1))


def interpolate(values: Tensor, at: NDArray[Any], heights: NDArray[Any]) -> Tensor:
    """Return a function that is linear between places, and constant beyond them."""
    rises = np.flatnonzero(np.diff(heights) > 0)
    if not len(rises):
        return values * 0.0 + heights[0]
    widths = np.maximum(np.diff(at)[rises], np.finfo(np.float32).tiny)
    share = ((values - at[rises][None, :]) / widths[None, :]).positive()
    share = -(-share).maximum(-1.0)
    return (share * np.diff(heights)[rises][None, :]).sum(1) + heights[0]


def check_declared(operator: Any, name: str) -> None:
    """Raise if an operator was not declared by its parser, which asks the model within first."""
    if operator.inputs[0].raw_name != name:
        raise TypeError(
            f"{type(operator.raw_operator).__name__} within another model has no form in ONNX; "
            "it can be the model itself, the last step of a Pipeline, or the best of a search."
        )


def shapes_as_declared(operator: Any) -> None:
    """Leave the types of the outputs as the parser declared them."""


def register_all() -> None:
    """Register every kind that there is, a user's own ones among them."""
    for family in FAMILIES:
        for kind in kinds_of(family):
            register(kind, parse, shapes, convert)
    register(RejectClassifier, parse_reject, shapes_as_declared, convert_reject)
    register(AutoPrototypeClassifier, parse_auto, shapes_as_declared, convert_auto)
    register(TableEncoder, None, table_shapes, convert_table, options=None)


def register(
    kind: type[Any], parse: Any, shapes: Any, convert: Any, options: Any = OPTIONS
) -> None:
    """Register a kind of models with skl2onnx, unless it is known already."""
    try:
        get_model_alias(kind)
    except RuntimeError:
        update_registered_converter(
            kind, alias(kind), shapes, convert, parser=parse, options=options
        )


def kinds_of(family: type[Any]) -> Iterator[type[Any]]:
    """Return a class and all that are derived from it."""
    yield family
    for kind in family.__subclasses__():
        yield from kinds_of(kind)
