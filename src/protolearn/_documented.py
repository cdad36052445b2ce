"""Texts that several docstrings have in common, written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

C = TypeVar("C", bound=type)


def documented(**texts: str) -> Callable[[C], C]:
    """Give a decorator that puts texts in the places ``{name}`` of the docstring of a class."""

    def fill(cls: C) -> C:
        doc = cls.__doc__ or ""
        for name, text in texts.items():
            doc = doc.replace(f"{{{name}}}", text)
        cls.__doc__ = doc
        return cls

    return fill
