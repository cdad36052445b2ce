"""What is understood of a column of numbers or dates, and its way to the model and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from .._arrays import SMALLEST_SPREAD, Floats
from .dtypes import TypeInWords
from .values import Values, clock, times_of, to_kind, zone_of


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

    @classmethod
    def learn(cls, name: Any, values: Values, dtype: Any) -> NumberColumn:
        """Find the median, the mean and the standard deviation."""
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
        return cls(
            name,
            values.kind,
            median,
            mean,
            sd,
            low=float(there.min()),
            high=float(there.max()),
            n_missing=int((~known).sum()),
            whole_days=values.kind == "date" and bool((there == np.rint(there)).all()),
            dtype=dtype,
        )

    @property
    def width(self) -> int:
        """Number of columns that the model sees."""
        return 1

    @property
    def offset(self) -> Floats:
        """What is subtracted."""
        return np.array([self.mean])

    @property
    def unit(self) -> Floats:
        """What is divided by."""
        return np.array([self.sd])

    def out_names(self, name: str) -> list[str]:
        """Name what the model sees."""
        return [name]

    def plain(self, values: Values) -> Floats:
        """Return a column of numbers in the user's units, none missing."""
        if self.kind == "empty":
            return np.zeros((len(values.data), 1))
        data = finite(self.name, to_kind(values, self.kind, self.name).data)
        return np.where(np.isnan(data), self.median, data)[:, None]

    def values(self, plain: Floats) -> Values:
        """Return the values of numbers in the user's units."""
        data = np.full(len(plain), np.nan) if self.kind == "empty" else plain[:, 0]
        return Values(self.kind, data)

    def text(self, value: float, finer: int = 0) -> str:
        """Write a value with digits that matter beside the standard deviation, or finer."""
        if self.kind != "date":
            return number_text(value, decimals(self.sd) + finer)
        units = ("D", "m", "us") if self.whole_days else ("m", "us")
        unit = units[min(finer, len(units) - 1)]
        here = np.array([clock(value, zone_of(self.dtype))])
        return str(times_of(here, fine=True)[0].astype(f"datetime64[{unit}]"))

    def texts(self, old: float, new: float) -> tuple[str, str]:
        """Write two values with as many digits as tell them apart."""
        for finer in range(16):
            told = self.text(old, finer), self.text(new, finer)
            if told[0] != told[1]:
                break
        return told

    def __str__(self) -> str:
        if self.kind == "empty":
            return f"{self.name}: no value in any row, left out of account"
        unit = (
            f"{self.sd:.4g} days"
            if self.kind == "date"
            else number_text(self.sd, decimals(self.sd))
        )
        what = "dates" if self.kind == "date" else "numbers"
        told = f"{self.name}: {what}, mean {self.text(self.mean)}, standard deviation {unit}"
        if self.n_missing:
            told += f"; {self.n_missing} missing, taken as the median {self.text(self.median)}"
        return told


def finite(name: Any, data: Floats) -> Floats:
    """Raise if numbers are infinite."""
    wrong = int(np.isinf(data).sum())
    if wrong:
        raise ValueError(
            f"Column {name!r} contains infinity in {wrong} of {len(data)} rows; replace it by a "
            "number, or by NaN if the value is missing."
        )
    return data


def decimals(sd: float) -> int:
    """Return the number of decimals that show a hundredth of a standard deviation."""
    return int(np.clip(np.ceil(-np.log10(sd / 50.0)), 0, 15))


def number_text(value: float, digits: int) -> str:
    """Write a number with so many decimals, without zeros at its end."""
    if value != 0.0 and not 1e-6 < abs(value) < 1e15:
        return f"{value:.6g}"
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
