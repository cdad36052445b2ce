"""HTML as a tree of elements: texts are escaped wherever they come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

# Elements that hold nothing.
EMPTY = {"br", "hr", "img", "input", "meta", "line", "rect", "circle", "path", "polygon"}


class Markup(str):
    """HTML that is to be taken as it is."""

    __slots__ = ()


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element.

    Children that are no markup are texts. Attributes may end in an underscore, as ``class_``, and
    have underscores for hyphens; True is written alone, False and None are left out.
    """
    parts = [
        name,
        *(attribute(key, value) for key, value in attributes.items() if value is not None),
    ]
    inside = " ".join(part for part in parts if part)
    if name in EMPTY:
        return Markup(f"<{inside}/>")  # the slash ends elements of pictures
    return Markup(f"<{inside}>{join_markup(children)}</{name}>")


def attribute(key: str, value: Any) -> str:
    """Return an attribute."""
    name = key.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return name if value else ""
    return f'{name}="{escape(str(value), quote=True)}"'


def join_markup(children: Iterable[Any]) -> Markup:
    """Return elements, texts and lists of them as one."""
    parts = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, (list, tuple)):
            parts.append(join_markup(child))
        elif child is not None:
            parts.append(Markup(escape(str(child), quote=False)))
    return Markup("".join(parts))


def paragraph(text: Any, class_: str | None = None) -> Markup:
    """Return a paragraph."""
    return tag("p", text, class_=class_)


def table(
    heads: Sequence[Any], rows: Iterable[Sequence[Any]], caption: str, class_: str | None = None
) -> Markup:
    """Return a table; the first cell of a row is its name."""
    head = tag("tr", [tag("th", cell, scope="col") for cell in heads]) if heads else None
    body = [
        tag("tr", tag("th", first, scope="row"), [tag("td", cell) for cell in others])
        for first, *others in rows
    ]
    return table_of(head, body, caption, class_)


def table_of(
    head: Markup | None, body: Sequence[Markup], caption: str, class_: str | None = None
) -> Markup:
    """Return a table of lines; it scrolls by itself, also by the keyboard."""
    whole = tag(
        "table",
        tag("caption", caption),
        None if head is None else tag("thead", head),
        tag("tbody", body),
        class_=class_,
    )
    return tag("div", whole, class_="wide", role="region", aria_label=caption, tabindex="0")
