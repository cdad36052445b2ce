"""Texts that several docstrings have in common, written once."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import TypeVar

C = TypeVar("C", bound=type)


def documented(**texts: str) -> Callable[[C], C]:
    """Return a decorator that puts texts in the places ``{name}`` of the docstring of a class.

    The lines of a text are indented as those of the docstring are, but for the first.
    """

    def fill(cls: C) -> C:
        doc = cleandoc(cls.__doc__ or "")  # as Python 3.13 has it already
        for name, text in texts.items():
            doc = doc.replace(f"{{{name}}}", text.replace("\n    ", "\n"))
        cls.__doc__ = doc
        return cls

    return fill
