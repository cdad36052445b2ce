"""How texts become pages: the templates, what they can call, and the colours of classes."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from markupsafe import Markup

from ..._names import shorten_name
from ..style import COLOURS

LONGEST = 60  # characters of a value
# The colours of classes on a dark page, in the order of the others.
ON_DARK = ("#4FA8E0", "#E69F00", "#2FBF8F", "#E090BE", "#7FCBF2", "#F07F3C", "#F0E442", "#BDBDBD")


def short(value: Any) -> str:
    """Return a value as text that is not too long."""
    return shorten_name(str(value), LONGEST)


def markdown_text(value: Any) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    return re.sub(r"([\\`*_|\[\]<>#])", r"\\\1", " ".join(str(value).split()))


@cache
def page_templates() -> Any:
    """Return the templates of pages; all texts that they are given are escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Pages need jinja2: pip install jinja2.") from error
    found = Environment(
        loader=PackageLoader("protolearn.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"short": short, "breakable": breakable, "markdown": markdown_text}
    return found


def breakable(text: str) -> Markup:
    """Return a name that may go on in another line after an underscore and the like."""
    return Markup("<wbr>").join(part for part in re.split(r"(?<=[_./-])", text) if part)


def colours() -> str:
    """Return the colours of classes to the page, for light and dark."""
    light, dark = (
        "".join(f"--class-{i}:{value};" for i, value in enumerate(values))
        for values in (COLOURS, ON_DARK)
    )
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
