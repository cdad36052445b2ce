"""The kinds of classifiers that skl2onnx is told of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skl2onnx import get_model_alias, update_registered_converter

from .converters import ANSWERS, convert, parse, shapes
from .declare import OPTIONS, alias
from .wrappers import WRAPPERS


def register_all() -> None:
    """Register every kind that there is, a user's own ones among them."""
    for family in ANSWERS:
        for kind in kinds_of(family):
            register(kind, parse, shapes, convert)
    for kind, functions in WRAPPERS.items():
        register(kind, *functions)


def register(kind: type[Any], parse: Any, shapes: Any, convert: Any) -> None:
    """Tell skl2onnx of a kind of classifiers, unless it knows of it already."""
    try:
        get_model_alias(kind)
    except RuntimeError:
        update_registered_converter(
            kind, alias(kind), shapes, convert, parser=parse, options=OPTIONS
        )


def kinds_of(family: type[Any]) -> Iterator[type[Any]]:
    """Give a class and all that are derived from it."""
    yield family
    for kind in family.__subclasses__():
        yield from kinds_of(kind)
