"""All that a page tells: a model, rows, how good it is, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..._parameters import Indices
from ..subject import Subject
from .chart import Chart
from .evidence import Evidence
from .html import Markup, tag
from .relevances import Relevances

MOST_ROWS = 5_000
"""Rows for which margins and the like are computed."""

MOST_CERTAIN = 4
"""One row in so many that are drawn may be a hard one."""

MOST_POINTS, MOST_PICTURES = 1_500, 500
"""Rows that are drawn, and those with a picture each."""


@dataclass(frozen=True, eq=False)
class Story:
    """What is told.

    Parameters
    ----------
    title : str
        The heading of the page.
    about : str
        A line below it: which rows, which columns.
    sentences : list of str
        What was learned, in three sentences.
    subject : Subject
        The model and the rows.
    evidence : Evidence
        How good it is.
    relevances : Relevances
        How much each column counts, or why nobody knows.
    made : list of tuple of two str
        How it was made, by name.
    use : str
        How to load the model again, in code.
    row_names : sequence
        What each row is called: its number in a file, or its name in a frame.
    threshold : float or None
        Probability below which predictions are flagged for a second look.
    image_shape : tuple of int or None
        Of features that form a picture.
    tried : sequence
        Candidates among which the model was chosen, if it was.
    seed : int
        Draws the rows that are shown.
    """

    title: str
    about: str
    sentences: Sequence[str]
    subject: Subject
    evidence: Evidence
    relevances: Relevances
    made: Sequence[tuple[str, Any]]
    use: str
    row_names: Sequence[Any]
    threshold: float | None = None
    image_shape: tuple[int, ...] | None = None
    tried: Sequence[Any] = ()
    seed: int = 0

    @cached_property
    def black_and_white(self) -> tuple[float, float]:
        """The values that are black and white in pictures of rows."""
        low, high = np.percentile(self.subject.plain, [0.5, 99.5])
        return float(low), float(high)

    @property
    def most_points(self) -> int:
        """Rows that are drawn; of pictures fewer, since each comes with its picture."""
        return MOST_POINTS if self.image_shape is None else MOST_PICTURES

    def some_rows(self, most: int, first: Indices | None = None) -> Indices:
        """Draw rows, certain ones before others, in their order."""
        return some_rows(len(self.subject.y), most, self.seed, first)


def some_rows(n_rows: int, most: int, seed: int, first: Indices | None = None) -> Indices:
    """Draw rows out of a number of them, certain ones before others; give them in order."""
    if n_rows <= most:
        return np.arange(n_rows)
    drawn = np.random.RandomState(seed).permutation(n_rows)
    if first is not None:
        certain = np.isin(drawn, first)
        drawn = np.concatenate([drawn[certain][: most // MOST_CERTAIN], drawn[~certain]])
    return np.sort(drawn[:most])


@dataclass
class Section:
    """A part of a page.

    Parameters
    ----------
    name : str
        By which links know it.
    title : str
        Its heading.
    short : str
        Its name in the list of contents.
    parts : list of Markup and Chart
        What is in it.
    placed : list of Chart
        Charts that some markup among the parts has a place for already.
    """

    name: str
    title: str
    short: str
    parts: list[Markup | Chart] = field(default_factory=list)
    placed: list[Chart] = field(default_factory=list)

    @property
    def charts(self) -> list[Chart]:
        """The charts."""
        return [*(part for part in self.parts if isinstance(part, Chart)), *self.placed]

    @property
    def html(self) -> Markup:
        """The section as it stands in the page; neighbouring charts stand side by side."""
        whole: list[Markup] = []
        row: list[Markup] = []
        for part in [*self.parts, None]:
            if isinstance(part, Chart):
                row.append(part.figure)
                continue
            if row:
                whole.append(tag("div", row, class_="charts" if len(row) > 1 else "alone"))
                row = []
            if part is not None:
                whole.append(part)
        return tag("section", tag("h2", self.title), whole, id=self.name)
