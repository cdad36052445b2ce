"""The kinds of models that skl2onnx is told of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skl2onnx import get_model_alias, update_registered_converter

from ...tables import TableEncoder
from .converters import ANSWERS, convert, parse, shapes
from .declare import OPTIONS, alias
from .tables import convert_table, table_shapes
from .wrappers import WRAPPERS


def register_all() -> None:
    """Register every kind that there is, a user's own ones among them."""
    for family in ANSWERS:
        for kind in kinds_of(family):
            register(kind, parse, shapes, convert)
    for kind, functions in WRAPPERS.items():
        register(kind, *functions)
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
