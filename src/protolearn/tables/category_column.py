"""What is understood of a column of categories, and its way to the model and back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .dtypes import TypeInWords
from .values import Values, as_objects, to_kind

UNKNOWN = -1
"""Code of a category that was not there in the training rows, or that cannot be told."""

EQUAL = 1e-9
"""Difference of entries that is rounding: none of the categories is the one."""


@dataclass(frozen=True)
class CategoryColumn(TypeInWords):
    """A column of categories.

    Attributes
    ----------
    name : str or other
        Its name in the frame.
    kind : {"category", "boolean"}
        What its values are.
    categories : tuple
        The categories of the training rows, in the order of their entries; None is the missing
        value.
    counts : tuple of int
        Number of training rows of each.
    distance : float
        How far two categories are from each other, as the model sees them.
    n_missing : int
        Number of training rows without a value.
    dtype : object
        Its type in the frame.
    """

    name: Any
    kind: str
    categories: tuple[Any, ...]
    counts: tuple[int, ...]
    distance: float = 1.0
    n_missing: int = 0
    dtype: Any = None

    @classmethod
    def learn(
        cls, name: Any, values: Values, dtype: Any, distance: float, missing: str, given: Any = None
    ) -> CategoryColumn:
        """Find the categories, or take those that are given."""
        kind = "boolean" if values.kind == "boolean" else "category"
        data = to_kind(values, kind, name).data
        total = Counter(data.tolist())
        n_missing = total.pop(None, 0)
        known = in_order(total, values.order) if given is None else list(given)
        if n_missing and missing == "category":
            known, total[None] = [value for value in known if value is not None], n_missing
            known.append(None)
        counts = tuple(total[value] for value in known)
        return cls(name, kind, tuple(known), counts, distance, n_missing, dtype)

    @property
    def width(self) -> int:
        """Number of columns that the model sees."""
        return 1 if len(self.categories) <= 2 else len(self.categories)

    @property
    def offset(self) -> Floats:
        """Nothing is subtracted."""
        return np.zeros(self.width)

    @property
    def unit(self) -> Floats:
        """Nothing is divided by."""
        return np.ones(self.width)

    @property
    def usual(self) -> int:
        """Code of the most frequent category that is no missing value."""
        known = [
            -1 if value is None else n
            for value, n in zip(self.categories, self.counts, strict=True)
        ]
        return int(np.argmax(known))

    @property
    def entries(self) -> Floats:
        """What the model sees of each category: a row for each, all equally far apart."""
        n = len(self.categories)
        if n <= 2:
            return self.distance * np.arange(float(n))[:, None]
        return self.distance / np.sqrt(2.0) * np.eye(n)

    def out_names(self, name: str) -> list[str]:
        """Name what the model sees: of two categories, the second alone."""
        n = len(self.categories)
        return [f"{name}={self.text(c)}" for c in (range(n) if n != 2 else [1])]

    def codes(self, values: Values) -> Indices:
        """Return the place of each value among the categories, or ``UNKNOWN``."""
        place = {value: code for code, value in enumerate(self.categories)}
        place.setdefault(None, self.usual)
        data = to_kind(values, self.kind, self.name).data
        return np.array([place.get(value, UNKNOWN) for value in data], dtype=np.intp)

    def plain(self, values: Values) -> Floats:
        """Return the entries; those of an unknown category are equally far from all."""
        codes = self.codes(values)
        return np.where((codes == UNKNOWN)[:, None], self.entries.mean(axis=0), self.entries[codes])

    def shares(self, plain: Floats) -> Floats:
        """Return how much of each category there is in entries, one for a full category."""
        if len(self.categories) > 2:
            return plain / (self.distance / np.sqrt(2.0))
        second = plain / self.distance
        return (
            np.ones_like(second) if len(self.categories) == 1 else np.hstack([1.0 - second, second])
        )

    def nearest(self, plain: Floats) -> Indices:
        """Return the code of the category with the largest entry; UNKNOWN where all are equal."""
        shares = self.shares(plain)
        told = (np.ptp(shares, axis=1) > EQUAL) | (len(self.categories) == 1)
        return np.where(told, shares.argmax(axis=1), UNKNOWN)

    def values(self, plain: Floats) -> Values:
        """Return the categories with the largest entries."""
        return Values(self.kind, self.named(self.nearest(plain)))

    def named(self, codes: Indices) -> NDArray[Any]:
        """Return the categories of codes."""
        return as_objects([None if c == UNKNOWN else self.categories[c] for c in codes])

    def text(self, code: int) -> str:
        """Write a category."""
        value = None if code == UNKNOWN else self.categories[code]
        return "missing" if value is None else str(value)

    def __str__(self) -> str:
        parts = [f"{self.text(c)} ({n})" for c, n in enumerate(self.counts)]
        n = len([value for value in self.categories if value is not None])
        what = (
            "truth values" if self.kind == "boolean" else f"{n} categor{'y' if n == 1 else 'ies'}"
        )
        told = f"{self.name}: {what}: {', '.join(parts)}"
        if self.n_missing and None not in self.categories:
            told += f"; {self.n_missing} missing, taken as {self.text(self.usual)}"
        return told


def in_order(found: Any, order: tuple[Any, ...] | None) -> list[Any]:
    """Return the categories that were found in their own order, or sorted."""
    if order is not None:
        return [value for value in order if value in found]
    try:
        return sorted(found)
    except TypeError:  # numbers and texts
        return sorted(found, key=lambda value: (isinstance(value, str), value))
