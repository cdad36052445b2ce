"""What things are called, and numbers as text: rounded to nearest, up or down."""

from __future__ import annotations

import difflib
import inspect
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Mapping
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline

WIDE = Context(prec=800)
"""For all decimals that a double can have."""


def things_by_name(things: Any, name: Any, default: Callable[[Any], str]) -> dict[str, Any]:
    """Return things by name: a single one, a list of them, or a dict that names them already.

    Names by default that repeat are numbered.
    """
    if isinstance(things, Mapping):
        if name is not None:
            raise ValueError(f"name={name!r} and a dict, which has names already; give one.")
        found = {str(key): thing for key, thing in things.items()}
    else:
        things = list(things) if isinstance(things, (list, tuple)) else [things]
        names = number_repeats([default(thing) for thing in things])
        if name is not None:
            names = [name] if isinstance(name, str) else [str(one) for one in name]
        if len(names) != len(things) or len(set(names)) != len(names):
            raise ValueError(
                f"name={name!r} must be {len(things)} different names, as many as shown."
            )
        found = dict(zip(names, things, strict=True))
    if not found:
        raise ValueError("There is nothing to show: the list is empty.")
    return found


def number_repeats(names: list[str]) -> list[str]:
    """Return names, with a number after those that are there more than once."""
    total, seen = Counter(names), {name: itertools.count(1) for name in names}
    return [f"{name} {next(seen[name])}" if total[name] > 1 else name for name in names]


def free_name(name: str, taken: Container[Any]) -> str:
    """Return a name, with a number if it is taken."""
    names = itertools.chain([name], (f"{name} ({number})" for number in itertools.count(2)))
    return next(other for other in names if other not in taken)


def as_list(names: Any) -> list[Any]:
    """Return several names as a list; a single one is one."""
    if names is None:
        return []
    return [names] if isinstance(names, str) or not np.iterable(names) else list(names)


def suggest_name(name: Any, names: list[Any]) -> str:
    """Suggest a name that a misspelt one resembles, or tell which there are."""
    match = difflib.get_close_matches(str(name), [str(other) for other in names], 1)
    if match:
        return f" Did you mean {match[0]!r}?"
    more = ", ..." if len(names) > 8 else ""
    return f" It has {', '.join(map(repr, names[:8]))}{more}."


def class_name(model: Any) -> str:
    """Return the name of the class of a model, of the last step in a pipeline."""
    return type(model[-1] if isinstance(model, Pipeline) else model).__name__


class SharedAttributes:
    """A base of estimators that adds the attributes of a family to their docstrings.

    A class of the family has in ``_attributes`` what all its subclasses have, as numpydoc wants
    it. Their own docstrings say what is special.
    """

    _attributes: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring, under its heading "Attributes" or before what follows it."""
        super().__init_subclass__(**options)
        heading, text = "\nAttributes\n----------\n", inspect.cleandoc(cls.__doc__ or "")
        families = [vars(each).get("_attributes", "") for each in reversed(cls.__mro__)]
        shared = "".join(inspect.cleandoc(each) + "\n" for each in families if each)
        if heading in text:
            cls.__doc__ = text.replace(heading, heading + shared, 1)
        elif shared:
            parts = re.split(
                r"(?m)^(?=(?:See Also|Notes|References|Examples)\n-)", text, maxsplit=1
            )
            cls.__doc__ = (heading[1:] + shared + "\n").join(parts)


def count(n: Any, what: str) -> str:
    """Return a number of things as text."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def shorten_name(name: str, most: int = 28) -> str:
    """Return a name, cut in the middle if it is long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 + 1 :]}"


def decimals_text(value: float, places: int, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number with so many decimals, without zeros at its end."""
    return plain_text(Decimal(value).quantize(Decimal((0, (1,), -places)), rounding, WIDE))


def digits_text(value: float, digits: int, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number with so many significant digits, without zeros at its end."""
    return plain_text(Context(digits, rounding).create_decimal_from_float(value))


def exact_text(value: float) -> str:
    """Return the shortest text that is read back as the same number."""
    return plain_text(Decimal(repr(float(value))))


def plain_text(number: Decimal) -> str:
    """Return a number without zeros at its end; very large and small ones with an exponent."""
    if number and not -6 <= number.adjusted() < 15:
        return f"{number.normalize():e}"
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def radius_text(radius: float) -> str:
    """Return a radius with two digits, rounded down: what holds within it holds within the text."""
    return "infinity" if radius == math.inf else digits_text(float(radius), 2, ROUND_FLOOR)
