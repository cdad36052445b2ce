"""What a model is made of, and whether all of it has a form in ONNX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skl2onnx import get_model_alias
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from ...analysis import RejectClassifier
from ...selection import AutoPrototypeClassifier
from ...tables import TableEncoder
from .converters import ANSWERS
from .declare import alias
from .tables import check_columns

KNOWN = (*ANSWERS, RejectClassifier, AutoPrototypeClassifier)


def without_search(model: Any) -> Any:
    """Return what a search of scikit-learn has found, in place of the search."""
    while hasattr(model, "best_estimator_") and not isinstance(model, AutoPrototypeClassifier):
        model = model.best_estimator_
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


def is_ours(kind: type[Any]) -> bool:
    """Whether a kind of classifiers is registered here, and not by the user."""
    return issubclass(kind, KNOWN) and get_model_alias(kind) == alias(kind)


def everything_of(model: Any) -> dict[int, dict[str, bool]]:
    """Return the options by which all outputs of a model, and of those within it, are declared."""
    options: dict[int, dict[str, bool]] = {}
    for part in parts(model):
        if is_ours(type(part)):
            options[id(part)] = {"zipmap": False, "all_outputs": True}
        elif is_classifier(part) and type(part).__module__.startswith("sklearn."):
            options[id(part)] = {"zipmap": False}
    return options
