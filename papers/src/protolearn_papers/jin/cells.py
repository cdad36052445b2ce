"""A cell of the table: our accuracy beside the published one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .protocol import Setting

ALLOWED = 0.5
"""Points by which a single test part may fall short."""


@dataclass(frozen=True)
class Cell:
    """Accuracies in percent.

    Attributes
    ----------
    data, method : str
        The row and the column.
    accuracy, deviation : float
        Ours: the mean and the standard deviation of repetitions, which is NaN for one test part.
    published, published_deviation : float
        Theirs.
    setting : Setting
        What was chosen most often.
    share : float
        In what share of the folds.
    attracted : float
        In what share of the folds a setting with attraction was chosen.
    fallen : sequence of mapping
        What was found in folds in which the chosen setting broke down.
    """

    data: str
    method: str
    accuracy: float
    deviation: float
    published: float
    published_deviation: float
    setting: Setting
    share: float
    attracted: float = float("nan")
    fallen: Sequence[Mapping[str, float]] = ()

    @classmethod
    def of_repetitions(
        cls,
        data: str,
        method: str,
        means: Sequence[Any],
        published: tuple[float, float],
        setting: Setting,
        share: float,
        attracted: float = float("nan"),
        fallen: Sequence[Mapping[str, float]] = (),
    ) -> Cell:
        """Sum up the mean accuracies of repetitions."""
        deviation = 100.0 * float(np.std(means, ddof=1)) if len(means) > 1 else float("nan")
        return cls(
            data,
            method,
            100.0 * float(np.mean(means)),
            deviation,
            *published,
            setting,
            share,
            attracted,
            fallen,
        )

    @classmethod
    def of_test(
        cls,
        data: str,
        method: str,
        accuracy: float,
        published: float,
        setting: Setting,
        share: float,
        attracted: float = float("nan"),
    ) -> Cell:
        """Take over the accuracy on a test part."""
        nan = float("nan")
        return cls(data, method, 100.0 * accuracy, nan, published, nan, setting, share, attracted)

    @property
    def bar(self) -> float:
        """What is to be reached at least."""
        allowed = ALLOWED if np.isnan(self.published_deviation) else self.published_deviation
        return self.published - allowed

    @property
    def met(self) -> bool:
        """Whether it is reached."""
        return self.accuracy >= self.bar

    def texts(self) -> tuple[str, str]:
        """Return ours, with a star if it is short, and theirs."""
        star = "" if self.met else "*"
        return (
            shown(self.accuracy, self.deviation) + star,
            shown(self.published, self.published_deviation),
        )

    def record(self) -> dict[str, Any]:
        """Return the line of the CSV file."""
        return {
            "data": self.data,
            "method": self.method,
            "accuracy": round(self.accuracy, 4),
            "deviation": blank(self.deviation),
            "paper_accuracy": self.published,
            "paper_deviation": blank(self.published_deviation),
            "bar": round(self.bar, 4),
            "met": self.met,
        }


def shown(mean: float, deviation: float) -> str:
    """Write a mean with its deviation, if there is one."""
    return f"{mean:.2f}" if np.isnan(deviation) else f"{mean:.2f} ({deviation:.2f})"


def blank(value: float) -> float | str:
    """Return a number for a CSV file, nothing for NaN."""
    return "" if np.isnan(value) else round(value, 4)
