"""What is understood of a column."""

from __future__ import annotations

from .category_column import UNKNOWN, CategoryColumn
from .number_column import NumberColumn

Column = NumberColumn | CategoryColumn

__all__ = ["UNKNOWN", "CategoryColumn", "Column", "NumberColumn"]
