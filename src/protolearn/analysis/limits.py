"""What may change in a table: columns, ranges of numbers, categories, and rules between columns."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from re import sub
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .._names import as_list, suggest_name
from .._validation import integer_in
from ..tables import (
    BEYOND,
    OTHER,
    CategoryColumn,
    Column,
    NumberColumn,
    as_times,
    column_places,
    from_clock,
    is_number,
    to_days,
    zone_of,
)

ROUNDING = 1e-9
"""Relative violation of a rule between columns that rounding explains."""


@dataclass(frozen=True, eq=False)
class Limits:
    """What may change, by place of the column; numbers in the user's units.

    A number changes within ``low`` and ``high``, ``up`` or ``down``; a category to the codes that
    are ``allowed``. A row that is outside of what the user has named, which is ``strict``, has to
    come inside. ``rules`` (m, n_columns + 1) are conditions ``rules @ (x, 1) <= 0``.
    """

    columns: tuple[Column, ...]
    movable: NDArray[np.bool_]
    low: Floats
    high: Floats
    up: NDArray[np.bool_]
    down: NDArray[np.bool_]
    strict: NDArray[np.bool_]
    allowed: dict[int, Indices]
    rules: Floats
    max_changes: int

    @classmethod
    def of(
        cls,
        columns: tuple[Column, ...],
        fixed: Any = None,
        bounds: Any = None,
        increase_only: Any = None,
        decrease_only: Any = None,
        constraints: Any = None,
        max_changes: int | None = None,
    ) -> Limits:
        """Read the parameters of a user."""
        names, n = [column.name for column in columns], len(columns)

        def mask_of(given: Any, parameter: str) -> NDArray[np.bool_]:
            mask: Any = np.asarray(given) if given is not None else np.zeros(0)
            if mask.dtype == bool and mask.shape == (n,):
                return np.array(mask, dtype=bool)
            chosen = {fitted_column(name, names, parameter) for name in as_list(given)}
            return np.array([name in chosen for name in names])

        ends, far = bounds_by_column(bounds, columns), np.zeros(n)
        used = [isinstance(column, CategoryColumn) or column.is_ordered for column in columns]
        up, down = (
            ~mask_of(decrease_only, "decrease_only"),
            ~mask_of(increase_only, "increase_only"),
        )
        found = cls(
            columns,
            np.array(used) & ~mask_of(fixed, "fixed"),
            far,
            far.copy(),
            up,
            down,
            np.array([name in ends for name in names]),
            {},
            np.array([linear_rule(text, columns) for text in as_list(constraints)]).reshape(
                -1, n + 1
            ),
            n if max_changes is None else integer_in(max_changes, "max_changes={value!r}", 1),
        )
        for j in np.flatnonzero(found.movable).tolist():
            column, given = columns[j], ends.get(columns[j].name)
            if isinstance(column, NumberColumn):
                found.low[j], found.high[j] = ends_of(column, given)
                continue
            found.allowed[j] = allowed_codes(column, given)
            if not (up[j] and down[j]):
                which = "decrease_only" if down[j] else "increase_only"
                raise ValueError(
                    f"{which} names the column {column.name!r}, which holds categories; name the "
                    "categories that are allowed in bounds."
                )
        return found

    def grid_ends(self, j: int) -> tuple[float, float]:
        """Return the first and the last place of the grid of a number within its range."""
        column = self.columns[j]
        assert isinstance(column, NumberColumn)
        ends = column.grid_places(np.array([self.low[j], self.high[j]]))
        return float(np.ceil(ends[0] - 1e-9)), float(np.floor(ends[1] + 1e-9))

    def hold(self, rows: Floats, points: Floats) -> NDArray[np.bool_]:
        """Return which points are allowed changes of rows; both with categories as entries."""
        fits, changed = np.ones(len(rows), dtype=bool), np.zeros(len(rows), dtype=int)
        values = np.zeros((len(rows), len(self.columns) + 1))
        values[:, -1] = 1.0
        for j, places in enumerate(column_places(self.columns)):
            column, old, new = self.columns[j], rows[:, places], points[:, places]
            moved = (old != new).any(axis=1)
            changed += moved
            asked = moved | self.strict[j]
            fits &= ~moved | self.movable[j]
            if isinstance(column, CategoryColumn):
                if j in self.allowed:
                    fits &= ~asked | np.isin(column.nearest(new), self.allowed[j])
            else:
                x, y = old[:, 0], new[:, 0]
                values[:, j] = y
                if self.movable[j]:
                    fits &= ~asked | ((self.low[j] <= y) & (y <= self.high[j]))
                    fits &= (self.up[j] | (y <= x)) & (self.down[j] | (y >= x))
        size = np.abs(values) @ np.abs(self.rules.T)
        fits &= (values @ self.rules.T <= ROUNDING * size).all(axis=1)
        return fits & (changed <= self.max_changes)


def linear_rule(text: Any, columns: tuple[Column, ...]) -> Floats:
    """Return the numbers of a condition such as ``"income <= 12 * monthly"``.

    Names that are no identifiers stand between backticks. The sum of the numbers times the columns,
    plus the last number, has to be zero or less.
    """
    names, numbers = {str(column.name): j for j, column in enumerate(columns)}, count()
    quoted: dict[str, str] = {}

    def unquote(match: Any) -> str:
        name = f"_quoted{next(numbers)}"
        quoted[name] = match[1]
        return name

    def terms(node: Any) -> Floats:
        found = np.zeros(len(columns) + 1)
        if isinstance(node, ast.Constant) and is_number(node.value):
            found[-1] = float(str(node.value))
            return found
        if isinstance(node, ast.Name):
            name = quoted.get(node.id, node.id)
            if name not in names:
                raise ValueError(f"there is no column {name!r}.{suggest_name(name, [*names])}")
            if not isinstance(columns[names[name]], NumberColumn):
                raise ValueError(f"column {name!r} holds categories")
            found[names[name]] = 1.0
            return found
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -terms(node.operand)
        if isinstance(node, ast.BinOp):
            left, right = terms(node.left), terms(node.right)
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return left + (right if isinstance(node.op, ast.Add) else -right)
            if isinstance(node.op, ast.Mult) and not (left[:-1].any() and right[:-1].any()):
                return left * right[-1] if left[:-1].any() else right * left[-1]
            if isinstance(node.op, ast.Div) and not right[:-1].any() and right[-1]:
                return left / right[-1]
        raise ValueError("only sums of columns times numbers can be compared")

    try:
        tree = ast.parse(sub("`([^`]*)`", unquote, str(text)), mode="eval").body
        if not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
            raise ValueError("it has no <= or >=")
        lead = terms(tree.left) - terms(tree.comparators[0])
        if isinstance(tree.ops[0], (ast.LtE, ast.Lt)):
            return lead
        if isinstance(tree.ops[0], (ast.GtE, ast.Gt)):
            return -lead
        raise ValueError("it has no <= or >=")
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"constraints has {text!r}: {error}. Write such as 'income <= 12 * monthly', with "
            "names that are not identifiers in backticks."
        ) from None


def fitted_column(name: Any, names: list[Any], parameter: str) -> Any:
    """Return the name of a column, of an array also by its place; raise if there is none such."""
    is_array = names == [f"x{place}" for place in range(len(names))]
    if isinstance(name, (int, np.integer)) and is_array:
        name = f"x{name}"
    if name not in names:
        raise ValueError(
            f"{parameter} names the column {name!r}, which the model has not seen."
            f"{suggest_name(name, names)}"
        )
    return name


def bounds_by_column(bounds: Any, columns: tuple[Column, ...]) -> dict[Any, Any]:
    """Return the bounds of a user by column; None and "training" are the observed ranges."""
    if bounds is None or (isinstance(bounds, str) and bounds == "training"):
        return {}
    if not isinstance(bounds, Mapping):
        raise ValueError(
            f"bounds={bounds!r} must be 'training', or a dict by column: of (low, high) for "
            "numbers and dates, of a list of the allowed ones for categories."
        )
    names = [column.name for column in columns]
    return {fitted_column(name, names, "bounds"): given for name, given in bounds.items()}


def allowed_codes(column: CategoryColumn, given: Any) -> Indices:
    """Return the codes of the allowed categories; a missing value is nothing to strive for."""
    if given is None:
        given = [value for value in column.categories if value not in (None, OTHER)]
    given = as_list(given)
    strange = [value for value in given if value not in column.categories]
    if strange or not given:
        raise ValueError(
            f"bounds of column {column.name!r} are {given!r}; expected a list of some of its "
            f"categories: {list(column.categories)!r}."
        )
    return np.array(sorted({column.categories.index(value) for value in given}), dtype=np.intp)


def ends_of(column: Column, given: Any) -> tuple[float, float]:
    """Return both ends of a range in numbers."""
    assert isinstance(column, NumberColumn)
    if given is None:
        return column.low, column.high
    far = BEYOND * (column.high - column.low + column.sd)
    try:
        low, high = given
        ends = end_of(column, low, column.low - far), end_of(column, high, column.high + far)
    except (TypeError, ValueError):
        what = "dates" if column.kind == "date" else "numbers"
        raise ValueError(
            f"bounds of column {column.name!r} are {given!r}; expected a pair (low, high) of {what}"
            ", or None for no end."
        ) from None
    if not ends[0] <= ends[1]:
        raise ValueError(f"bounds of column {column.name!r} are {given!r}: low is above high.")
    return ends


def end_of(column: NumberColumn, end: Any, none: float) -> float:
    """Return one end of a range as a number; a date may also be written as text.

    A date without a time zone is one in the time zone of the column.
    """
    if end is None:
        return none
    if column.kind == "date":
        if is_number(end):
            raise TypeError
        day = float(to_days(as_times(np.array([end], dtype=object)))[0])
        told = getattr(end, "tzinfo", None) is not None
        return day if told else from_clock(day, zone_of(column.dtype))
    return float(end)
