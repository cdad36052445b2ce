"""What is understood of columns: of numbers, dates and categories; to a model and back."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from .._arrays import SMALLEST_SPREAD, Floats, Indices
from .._names import decimals_text, exact_text
from .dtypes import TypeInWords
from .values import Values, as_objects, to_clock, to_kind, to_times, zone_of

MINUTES = 1440
"""In a day."""

UNKNOWN_CATEGORY = -1
"""Code of a category that was not there in the training rows, or that cannot be told."""

EQUAL = 1e-9
"""Difference of entries that is rounding: none of the categories is the one."""

FINEST = 1000.0
"""Steps of the grid of a column in a standard deviation, at most."""

INTEGERS_FINER = 3
"""Digits by which the grid of integers may be finer."""

FEWEST_ROUND = 10
"""Different values that have to be multiples of a number, or rows of a value, to make it a grid."""

LARGEST_PLACE = 1e15
"""Steps from zero up to which all are exact numbers."""

OTHER = "other categories"
"""What stands for the rare categories of a column that has very many."""

LEAST_KNOWN, FREQUENT = 0.5, 5
"""Share of the rows whose category is kept, at least, where rare ones are put together, and the
rows of a category that is kept."""

WORDS_OF_TEXT = 3.0
"""Words of a value, on average, from which on a column of very many different values is text."""

MOST_WORDS, SHOWN_WORDS = 300, 3
"""Words of a text column that a model sees, and that are shown of a prototype or a decision."""

WORD = r"(?u)\b[^\W\d]\w+\b"
"""What begins with a letter and goes on."""

BEYOND = 20.0
"""Observed ranges beyond the data up to which a number without an end may go."""


@dataclass(frozen=True)
class NumberColumn(TypeInWords):
    """A column of numbers, or of dates as days since 1970.

    Attributes
    ----------
    name : str or other
        Its name in the frame.
    kind : {"number", "date", "empty"}
        ``"empty"``: no training row has a value, and the column is left out of account.
    median : float
        What takes the place of a missing value.
    mean, sd : float
        Of the training rows, missing values replaced; what is subtracted, and divided by. The
        second is 1 where all values are the same.
    low, high : float
        The least and the greatest value of the training rows.
    n_missing : int
        Number of training rows without a value.
    whole_days : bool
        Whether all are dates without a time of day.
    dtype : object
        Its type in the frame.
    is_integer : bool
        Whether all values of the training rows are integers. Files of older versions do not know.
    step : float
        The grid of the column: a power of ten, or a part of a day, of which all values are
        multiples; about a thousandth of a standard deviation if they have more digits.
    multiple, remainder : int
        All values are the remainder and a multiple of this many steps: 2 and 1 of odd numbers.
    jump : float
        How far a missing value is from others in a second entry; 0: there is none.
    """

    name: Any
    kind: str
    median: float
    mean: float
    sd: float
    low: float
    high: float
    n_missing: int = 0
    whole_days: bool = False
    dtype: Any = None
    is_integer: bool = False
    step: float = 0.0
    jump: float = 0.0
    multiple: int = 1
    remainder: int = 0

    @classmethod
    def learn(cls, name: Any, values: Values, dtype: Any, jump: float = 0.0) -> NumberColumn:
        """Find the median, the mean and the standard deviation; the jump if values are missing."""
        if values.kind == "empty":
            return cls(name, "empty", 0.0, 0.0, 1.0, 0.0, 0.0, len(values.data), dtype=dtype)
        data = finite(name, values.data)
        known = ~np.isnan(data)
        median = float(np.median(data[known]))
        with np.errstate(over="ignore", invalid="ignore"):
            scaler = StandardScaler().fit(np.where(known, data, median)[:, None])
        mean, sd = float(scaler.mean_[0]), float(scaler.scale_[0])
        if not np.isfinite([mean, scaler.var_[0]]).all():
            raise ValueError(
                f"The numbers of column {name!r} are too large for a standard deviation; divide "
                "them by something."
            )
        there = data[known]
        if 0.0 < np.ptp(there) < SMALLEST_SPREAD:
            raise ValueError(
                f"The numbers of column {name!r} differ by {np.ptp(there):.1e} at most, whose "
                "square vanishes; multiply them by something."
            )
        low, high, n_missing = float(there.min()), float(there.max()), int((~known).sum())
        is_whole, is_date = bool((there == np.rint(there)).all()), values.kind == "date"
        numbers = median, mean, sd, low, high, n_missing
        step = (1.0 if is_whole else 1.0 / MINUTES) if is_date else grid_step(there, sd)
        kinds = is_whole and is_date, dtype, is_whole and not is_date
        grid = (1, 0) if is_date and not is_whole else grid_multiple(there, step)
        return cls(name, values.kind, *numbers, *kinds, step, jump if n_missing else 0.0, *grid)

    @property
    def width(self) -> int:
        """Number of columns that the model sees."""
        return 2 if self.jump else 1

    @property
    def offset(self) -> Floats:
        """What is subtracted."""
        return np.array([self.mean, 0.0])[: self.width]

    middle = offset
    """The mean of the training rows, none of them missing."""

    @property
    def unit(self) -> Floats:
        """What is divided by."""
        return np.array([self.sd, 1.0 / (self.jump or 1.0)])[: self.width]

    @property
    def is_ordered(self) -> bool:
        """Whether it has values that can rise and fall."""
        return self.kind not in ("empty", "text")

    def out_names(self, name: str) -> list[str]:
        """Name what the model sees."""
        return [name, f"{name} is missing"][: self.width]

    def plain(self, values: Values) -> Floats:
        """Return a column of numbers in the user's units, none missing."""
        if self.kind == "empty":
            return np.zeros((len(values.data), 1))
        data = finite(self.name, to_kind(values, self.kind, self.name).data)
        lost = np.isnan(data)
        return np.stack([np.where(lost, self.median, data), lost], axis=1)[:, : self.width]

    def values(self, plain: Floats) -> Values:
        """Return the values of numbers in the user's units."""
        lost = (plain[:, 1:] > 0.5).any(axis=1) | (self.kind == "empty")
        return Values(self.kind, np.where(lost, np.nan, plain[:, 0]))

    def text(self, value: float, finer: int | None = 0, rounding: str = ROUND_HALF_EVEN) -> str:
        """Write a value with digits that matter beside the standard deviation, or finer.

        ``finer`` is the number of further decimals, None for all. Days are rounded as numbers are;
        times of day are cut off unless they are rounded up.
        """
        if self.kind != "date":
            return number_text(value, self.sd, finer, rounding)
        units = ("D", "m", "us") if self.whole_days else ("m", "us")
        unit = "us" if finer is None else units[min(finer, len(units) - 1)]
        here = to_times(np.array([to_clock(value, zone_of(self.dtype))]), fine=True)[0]
        if unit == "D" and rounding == ROUND_HALF_EVEN:
            here += np.timedelta64(12, "h")
        cut = here.astype(f"datetime64[{unit}]")
        return str(cut + 1 if rounding == ROUND_CEILING and cut < here else cut)

    @property
    def per_unit(self) -> float:
        """Number of steps in one unit."""
        step = self.step or (1.0 if self.is_integer else grid_step(np.array([math.pi]), self.sd))
        return float(np.rint(1.0 / step)) if step < 1.0 else 1.0 / step

    @property
    def gap(self) -> float:
        """How far neighbouring values of the grid are from each other."""
        return self.multiple / self.per_unit

    def grid_places(self, values: Any) -> Any:
        """Return where numbers are on the grid: neighbouring values differ by one."""
        return (values * self.per_unit - self.remainder) / self.multiple

    def on_grid(self, places: Any) -> Floats:
        """Return the values at places of the grid, rounded to whole ones."""
        per = self.per_unit  # below one its inverse is an integer
        steps = np.rint(places) * self.multiple + self.remainder
        return np.asarray(steps / per if per >= 1.0 else steps * np.rint(1.0 / per))

    def grid_text(self, value: float, other: str = "") -> str:
        """Write a value with the digits of the grid, or with all if that is another text."""
        if self.kind == "date":
            texts = [self.text(value), self.text(value, None)]
        else:
            places = max(round(math.log10(self.per_unit)), 0)
            texts = [decimals_text(value, places), exact_text(value)]
        return texts[texts[0] == other]

    def __str__(self) -> str:
        if self.kind == "empty":
            return f"{self.name}: no value in any row, left out of account"
        what, unit = "numbers", number_text(self.sd, self.sd)
        if self.kind == "date":
            what, unit = "dates", f"{self.sd:.4g} days"
        told = f"{self.name}: {what}, mean {self.text(self.mean)}, standard deviation {unit}"
        if self.n_missing:
            told += f"; {self.n_missing} missing, taken as the median {self.text(self.median)}"
            told += " and marked in a second entry" if self.jump else ""
        return told


@dataclass(frozen=True)
class TextColumn(NumberColumn):
    """A column of free text: the model sees how much of each of some words is in it.

    A row has the logarithmic TF-IDF of the words (:class:`TfidfVectorizer` of scikit-learn), of
    length one; zeros if it has none of them, or no text.

    Attributes
    ----------
    words : tuple of str
        The most frequent words that are in two or more training rows, and in half of them at most.
    idf : tuple of float
        The weight of each: the fewer rows have it, the larger.
    distance : float
        How far two texts without a common word are from each other, as the model sees them.
    """

    words: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    distance: float = 1.0

    @classmethod
    def of(cls, name: Any, values: Values, dtype: Any, distance: float) -> TextColumn:
        """Find the words and their weights."""
        texts = ["" if value is None else str(value) for value in values.data.tolist()]
        counts = TfidfVectorizer(
            token_pattern=WORD, sublinear_tf=True, min_df=2, max_df=0.5, max_features=MOST_WORDS
        )
        try:
            counts.fit(texts)
        except ValueError as error:
            raise ValueError(
                f"Column {name!r} holds text, and no word is in two or more of its rows and in "
                f"half of them at most: {str(error).rstrip('.')}. Drop the column."
            ) from error
        words, idf = counts.get_feature_names_out().tolist(), counts.idf_.tolist()
        n_missing = sum(value is None for value in values.data)
        numbers = 0.0, 0.0, 1.0, 0.0, 0.0, n_missing, False, dtype
        return cls(name, "text", *numbers, words=(*words,), idf=(*idf,), distance=distance)

    @property
    def width(self) -> int:
        """Number of columns that the model sees."""
        return len(self.words)

    @property
    def offset(self) -> Floats:
        """Nothing is subtracted."""
        return np.zeros(self.width)

    middle = offset

    @property
    def unit(self) -> Floats:
        """What is divided by."""
        return np.full(self.width, np.sqrt(2.0) / self.distance)

    def out_names(self, name: str) -> list[str]:
        """Name what the model sees."""
        return [f"{name}: {word}" for word in self.words]

    def plain(self, values: Values) -> Floats:
        """Return how much of each word there is."""
        counts = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True, vocabulary=self.words)
        counts.idf_ = np.array(self.idf)
        texts = ["" if value is None else str(value) for value in as_objects(values.data).tolist()]
        return np.asarray(counts.transform(texts).toarray())

    def values(self, plain: Floats) -> Values:
        """Return the words with the largest entries: there is no way back to a text."""
        return Values("category", as_objects([self.top_words(row) or None for row in plain]))

    def top_words(self, row: Floats) -> str:
        """Return the words with the largest entries, if these are positive."""
        order = (-row).argsort(kind="stable")[:SHOWN_WORDS]
        return ", ".join(self.words[place] for place in order if row[place] > EQUAL)

    def __str__(self) -> str:
        shown = ", ".join(self.words[place] for place in np.argsort(self.idf)[:SHOWN_WORDS])
        return f"{self.name}: text, of which the model sees {self.width} words: {shown}, ..."


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
        cls,
        name: Any,
        values: Values,
        dtype: Any,
        distance: float,
        missing: str,
        most: int,
        given: Any = None,
    ) -> CategoryColumn:
        """Find the categories, or take those that are given.

        If they are more than ``most``, rare ones become one, unless most rows have a rare one.
        """
        kind = "boolean" if values.kind == "boolean" else "category"
        data = to_kind(values, kind, name).data
        total = Counter(data.tolist())
        n_missing = total.pop(None, 0)
        known = in_order(total, values.order) if given is None else list(given)
        if given is None and (kept := frequent_categories(total, most)):
            known = [*(value for value in known if value in kept), OTHER]
        if OTHER in known:
            total[OTHER] += sum(n for value, n in total.items() if value not in known)
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
    def middle(self) -> Floats:
        """The mean of the training rows."""
        counts = np.array(self.counts, dtype=np.float64)
        if None not in self.categories:
            counts[self.usual] += self.n_missing
        return np.asarray(counts @ self.entries / max(counts.sum(), 1.0))

    @property
    def usual(self) -> int:
        """Code of the most frequent category that is no missing value."""
        pairs = zip(self.categories, self.counts, strict=True)
        return int(np.argmax([-1 if value is None else n for value, n in pairs]))

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
        new = place.get(OTHER, UNKNOWN_CATEGORY)
        data = to_kind(values, self.kind, self.name).data
        return np.array([place.get(value, new) for value in data], dtype=np.intp)

    def plain(self, values: Values) -> Floats:
        """Return the entries; those of an unknown category are equally far from all."""
        codes = self.codes(values)
        return np.where(
            (codes == UNKNOWN_CATEGORY)[:, None], self.entries.mean(axis=0), self.entries[codes]
        )

    def shares(self, plain: Floats) -> Floats:
        """Return how much of each category there is in entries, one for a full category."""
        if len(self.categories) > 2:
            return plain / (self.distance / np.sqrt(2.0))
        second = plain / self.distance
        if len(self.categories) == 1:
            return np.ones_like(second)
        return np.hstack([1.0 - second, second])

    def nearest(self, plain: Floats) -> Indices:
        """Return the code of the category with the largest entry; UNKNOWN where all are equal."""
        shares = self.shares(plain)
        told = (np.ptp(shares, axis=1) > EQUAL) | (len(self.categories) == 1)
        return np.where(told, shares.argmax(axis=1), UNKNOWN_CATEGORY)

    def values(self, plain: Floats) -> Values:
        """Return the categories with the largest entries."""
        known = (*self.categories, None)  # the last is UNKNOWN_CATEGORY
        return Values(self.kind, as_objects([known[code] for code in self.nearest(plain)]))

    def text(self, code: int) -> str:
        """Write a category."""
        value = None if code == UNKNOWN_CATEGORY else self.categories[code]
        return "missing" if value is None else str(value)

    def __str__(self) -> str:
        parts = [f"{self.text(c)} ({n})" for c, n in enumerate(self.counts)]
        n = len(self.categories) - (None in self.categories)
        what = (
            f"{n} categor{'y' if n == 1 else 'ies'}" if self.kind != "boolean" else "truth values"
        )
        told = f"{self.name}: {what}: {', '.join(parts)}"
        if self.n_missing and None not in self.categories:
            told += f"; {self.n_missing} missing, taken as {self.text(self.usual)}"
        return told


Column = NumberColumn | CategoryColumn  # a TextColumn is a NumberColumn that is not ordered


def column_places(columns: Sequence[Column]) -> list[slice]:
    """Return where the numbers of each column are among those that a model sees."""
    ends = np.cumsum([0, *(column.width for column in columns)]).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def frequent_categories(total: Counter[Any], most: int) -> set[Any]:
    """Return the categories that are kept of too many, by the rows of each; none if most are rare.

    There is room for the others and for missing values beside them.
    """
    common = total.most_common(max(most - 2, 1)) if len(total) > most else []
    kept = {value for value, n in common if n >= FREQUENT}
    is_most = sum(total[value] for value in kept) >= LEAST_KNOWN * total.total()
    return kept if is_most else set()


def is_text(values: Values, most: int) -> bool:
    """Whether a column has very many different values, of several words each."""
    if values.kind != "category":
        return False
    found = {value for value in values.data.tolist() if isinstance(value, str)}
    return len(found) > most and reads_as_text(found)


def reads_as_text(found: Collection[str]) -> bool:
    """Whether values have several words each, some of them in common."""
    if sum(len(value.split()) for value in found) < WORDS_OF_TEXT * len(found):
        return False
    words = Counter(word for value in found for word in set(re.findall(WORD, value.lower())))
    return any(2 <= number <= len(found) / 2 for number in words.values())


def finite(name: Any, data: Floats) -> Floats:
    """Raise if numbers are infinite."""
    wrong = int(np.isinf(data).sum())
    if wrong:
        raise ValueError(
            f"Column {name!r} contains infinity in {wrong} of {len(data)} rows; replace it by a "
            "number, or by NaN if the value is missing."
        )
    return data


def grid_step(data: Floats, sd: float) -> float:
    """Return the power of ten of which all numbers are multiples, not below the finest.

    Integers may be finer than other numbers.
    """
    most = math.ceil(math.log10(FINEST / sd))
    finest = max(most, min(0, most + INTEGERS_FINER))
    if abs(most) <= 15:
        for places in range(min(0, finest), finest + 1):
            if (np.round(data, places) == data).all():
                return float(10.0**-places)
    return float(10.0**-most)


def grid_multiple(data: Floats, step: float) -> tuple[int, int]:
    """Return how many steps neighbouring values of the grid differ by, and the least place.

    One and zero if the numbers are no multiples of the step, or too few to tell.
    """
    places, values = np.rint(data / step), len(np.unique(data))
    few = values < FEWEST_ROUND and len(data) < FEWEST_ROUND * values
    exact = np.allclose(places * step, data, rtol=1e-12, atol=0.0)
    if few or not exact or np.abs(places).max() > LARGEST_PLACE:
        return 1, 0
    multiple = int(np.gcd.reduce((places - places.min()).astype(np.int64))) or 1
    return multiple, int(places.min()) % multiple


def number_text(
    value: float, sd: float, finer: int | None = 0, rounding: str = ROUND_HALF_EVEN
) -> str:
    """Write a number with the decimals that show a hundredth of a standard deviation.

    ``finer`` is a number of further decimals, None for all. Tiny and huge numbers get at least six
    significant digits, and at most those of a double.
    """
    if finer is None or not math.isfinite(value):
        return exact_text(value)
    places = math.ceil(-math.log10(sd / 50.0))
    if value == 0.0 or 1e-6 < abs(value) < 1e15:
        places = min(max(places, 0), 15)
    else:
        first = math.floor(math.log10(abs(value)))
        places = min(max(places, 5 - first), 16 - first)
    return decimals_text(value, places + finer, rounding)


def in_order(found: Any, order: tuple[Any, ...] | None) -> list[Any]:
    """Return the categories that were found in their own order, or sorted."""
    if order is not None:
        return [value for value in order if value in found]
    try:
        return sorted(found)
    except TypeError:  # numbers and texts
        return sorted(found, key=lambda value: (isinstance(value, str), value))
