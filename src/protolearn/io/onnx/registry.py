"""The kinds of classifiers that skl2onnx is told of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...classifiers import NearestPrototypeClassifier
from ...one_versus_rest import LinearClassifier
from ...perceptrons import KernelAdaTron
from .converters import convert, parse, shapes
from .declare import register
from .wrappers import WRAPPERS

FAMILIES = NearestPrototypeClassifier, LinearClassifier, KernelAdaTron


def register_all() -> None:
    """Register every kind that there is, a user's own ones among them."""
    for family in FAMILIES:
        for kind in kinds_of(family):
            register(kind, parse, shapes, convert)
    for kind, functions in WRAPPERS.items():
        register(kind, *functions)


def kinds_of(family: type[Any]) -> Iterator[type[Any]]:
    """Give a class and all that are derived from it."""
    yield family
    for kind in family.__subclasses__():
        yield from kinds_of(kind)
