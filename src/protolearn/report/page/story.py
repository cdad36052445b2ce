"""All that a page tells: a model, rows, how good it is, and how it was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..._arrays import Floats, Indices
from ...analysis import certified_radius
from ...tables import NO_FEATURE_NAMES, ignore_warnings
from ..subject import Subject
from .chart import Chart
from .evidence import Evidence
from .html import Markup, tag
from .relevances import Relevances

MOST_ROWS = 5_000
"""Rows for which margins and the like are computed."""

MOST_POINTS, MOST_PICTURES = 1_500, 500
"""Rows that are drawn, and those with a picture each."""

MOST_PIXELS = 200_000
"""Numbers of all these pictures together."""

LARGEST_PICTURE = 4_096
"""Points of a picture; larger ones are thinned out."""


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
    made : list of tuple
        How the model was made: names, and what can be written.
    page : list of tuple
        The same of the page, if that was made by itself.
    begun : float
        When the work began, by ``perf_counter``.
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
    page: Sequence[tuple[str, Any]]
    begun: float
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
    def columns_that_count(self) -> list[int] | None:
        """The columns, those that count most first; None if that is not known by column."""
        by_column = self.relevances.names == self.subject.names
        return self.relevances.order.tolist() if by_column else None

    @property
    def most_points(self) -> int:
        """Rows that are drawn; of pictures fewer, since each comes with its picture."""
        if self.image_shape is None:
            return MOST_POINTS
        size = min(int(np.prod(self.image_shape)), 3 * LARGEST_PICTURE)
        return min(MOST_PICTURES, MOST_PIXELS // size)

    @cached_property
    def measured_rows(self) -> Indices:
        """The rows for which margins and the like are computed."""
        return some_rows(len(self.subject.y), MOST_ROWS, self.seed)

    @cached_property
    def measured(self) -> Subject:
        """The model with these rows."""
        return self.subject.take(self.measured_rows)

    @cached_property
    def certified(self) -> Floats | str:
        """The certified radius of each of these rows, or why there is none."""
        return told(certified_radius, self.measured.last, self.measured.inner)

    def drawn(self, besides: Indices) -> Indices:
        """Draw the rows of the map, and some besides; give them in order."""
        rows = some_rows(len(self.subject.y), self.most_points, self.seed)
        return np.union1d(rows, besides).astype(np.intp)


def some_rows(n_rows: int, most: int, seed: int) -> Indices:
    """Draw at most so many out of a number of rows; give them in order."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(seed).permutation(n_rows)[:most])


def told(ask: Callable[..., Floats], *about: Any) -> Floats | str:
    """Ask something of a model, or give the reason why it cannot tell."""
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            return ask(*about)
    except (TypeError, ValueError) as error:
        return str(error).partition("; give ")[0].rstrip(".")  # no advice for callers of functions


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
