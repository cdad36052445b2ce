"""A strip for each column: the spread of each class, and the prototypes as stars."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from ..tables import CategoryColumn, Column
from .style import axes_for, colour, line_style, panels_for, pyplot

GREY, BAND = "#777777", "#F4F4F4"
LETTER = 0.08  # width of a letter, in inches
# Height of a strip at least, and of all at most if that leaves each as much; in inches.
LOWEST, TALLEST = 0.42, 12.0
ASIDE = 1.0  # how far beyond all classes a prototype is drawn in its place, in widths of the chart
LEGEND_COLUMNS = 5  # entries of the legend beside each other
IN_A_ROW = 12  # pictures beside each other at most
WIDEST, SIDE = 12.0, 1.8  # width of a figure and of a picture at most, in inches


@dataclass(frozen=True, eq=False)
class Strips:
    """What is drawn of prototypes and classes: strips of numbers, and below strips of words."""

    classes: Sequence[str]  # names of the classes
    prototype_names: Sequence[str]  # what the prototypes are called
    prototype_codes: Indices  # (n_prototypes,): their classes
    points: Floats  # (n_prototypes, n_numbers): where they are in the strips of numbers
    # (5, n_classes, n_numbers): percentiles 5, 25, 50, 75 and 95 of the classes in these; NaN
    # for a class without rows.
    spread: Floats | None
    names: Sequence[str]  # names of all strips
    scale_texts: Sequence[str]  # second lines of the names of strips of numbers, or none
    usual: Sequence[Sequence[str]]  # for each strip of words that of each class
    # For each strip the values of the prototypes, to write at the right; none leaves them
    # out.
    values: Sequence[Sequence[str]]
    label: str  # what the axis is

    def draw(self, ax: Any) -> Any:
        """Return the axes of the picture, those of a new figure if none are given."""
        ax = self._new_axes() if ax is None else axes_for(ax)
        left, right = chart_ends(self.points, self.spread)
        self._draw_classes(ax)
        self._draw_prototypes(ax, left, right)
        pad = 0.03 * (right - left) or 1.0
        ax.set_xlim(left - pad, right + pad)
        self._label(ax)
        self._draw_bands(ax, self._write_values(ax) if self.values else 0.0)
        self._add_legend(ax, bool(((self.points < left) | (self.points > right)).any()))
        return ax

    @property
    def _n_numbers(self) -> int:
        """Number of strips of numbers."""
        return self.points.shape[1]

    @property
    def _offsets(self) -> Floats:
        """Where in its strip a class is drawn; the first on top."""
        n_classes = len(self.classes)
        step = min(0.27, 0.8 / n_classes)
        return step * (np.arange(float(n_classes)) - (n_classes - 1) / 2.0)

    @property
    def _size(self) -> float:
        """How large lines and marks are: smaller if there are many classes."""
        return min(1.0, float(np.sqrt(5.0 / len(self.classes))))

    def _new_axes(self) -> Any:
        """Return the axes of a figure with room for texts at both sides."""
        n_strips, n_classes = max(len(self.names), 2), len(self.classes)
        strip = max(LOWEST, min(0.08 + 0.065 * n_classes, TALLEST / n_strips))
        height = 1.7 + strip * n_strips
        if self.values:
            columns = zip(self.prototype_names, *self.values, strict=True)
            width = max(6.7, 4.6 + sum(0.2 + longest(texts) for texts in columns))
        else:
            width = 4.6 + max(1.5, 0.65 + longest(self.classes))
            height = max(height, 1.5 + 0.2 * n_classes)
        size = longest(self.names) + width, height
        return pyplot().subplots(figsize=size, layout="constrained")[1]

    def _draw_classes(self, ax: Any) -> None:
        """Draw of each class a thin line, a thick one, and a tick at the median."""
        if self.spread is None:
            return
        for code, offset in enumerate(self._offsets):
            low, lower, middle, upper, high = self.spread[:, code]
            y = np.arange(self._n_numbers) + offset
            style = {"color": colour(code), "ls": line_style(code)}
            ax.hlines(y, low, high, lw=1.2 * self._size, **style)
            ax.hlines(y, lower, upper, lw=3.6 * self._size, **style)
            ax.plot(middle, y, "|", color=colour(code), ms=9 * self._size, mew=1.6 * self._size)

    def _draw_prototypes(self, ax: Any, left: float, right: float) -> None:
        """Draw stars; at the ends of the chart arrows for those that are further out."""
        for code, x in zip(self.prototype_codes, self.points, strict=True):
            y = np.arange(self._n_numbers) + self._offsets[code]
            inside = (x >= left) & (x <= right)
            style = {"color": colour(code), "edgecolors": "k", "lw": 0.8 * self._size, "zorder": 3}
            ax.scatter(x[inside], y[inside], s=110 * self._size**2, marker="*", **style)
            for mark, end, far in ("<", left, x < left), (">", right, x > right):
                at = np.full(far.sum(), end)
                ax.scatter(at, y[far], s=40 * self._size**2, marker=mark, **style)

    def _label(self, ax: Any) -> None:
        """Name strips and axis, and write what is usual in the strips of words."""
        ax.set_yticks(np.arange(len(self.names)), self.names)
        ax.set_ylim(len(self.names) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "right", "top"]].set_visible(False)
        for label in ax.get_yticklabels():
            label.set_parse_math(False)
        for row, text in enumerate(self.scale_texts):
            ax.get_yticklabels()[row].set_verticalalignment("bottom")
            write_text(ax, text, 0.0, row, (-3.5, -1.0), ha="right", va="top", color=GREY)
        for row, texts in enumerate(self.usual, start=self._n_numbers):
            for code, text in enumerate(texts):
                write_text(ax, text, 0.0, row + self._offsets[code], (6.0, 0.0), color=darker(code))
        ax.set_xlabel(self.label)
        if not self._n_numbers:
            ax.set_xticks([])
            ax.spines["bottom"].set_visible(False)

    def _write_values(self, ax: Any) -> float:
        """Return how many points the values of the prototypes take, written at the right."""
        right = 4.0
        columns = zip(self.prototype_codes, self.prototype_names, *self.values, strict=True)
        for code, name, *values in columns:
            style: dict[str, Any] = {"color": darker(code), "ha": "right"}
            head = write_text(ax, name, 1.0, -0.5, (0.0, 3.0), va="bottom", weight="bold", **style)
            notes = [write_text(ax, text, 1.0, row, **style) for row, text in enumerate(values)]
            widths = [note.get_window_extent().width for note in (head, *notes)]
            right += 10.0 + 72.0 * max(widths) / ax.figure.dpi
            for note in head, *notes:
                note.xyann = right, note.xyann[1]
        return right + 4.0

    def _draw_bands(self, ax: Any, room: float) -> None:
        """Draw every second strip on grey, with some points at the right, and where the mean is."""
        from matplotlib.patches import Rectangle
        from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory

        edge = ScaledTranslation(1.0, 0.0, ax.transAxes)
        points = Affine2D().scale(1.0 / 72.0) + ax.figure.dpi_scale_trans + edge
        style: dict[str, Any] = {"color": BAND, "lw": 0.0, "zorder": 0.0}
        aside: dict[str, Any] = {
            "transform": blended_transform_factory(points, ax.transData),
            "clip_on": False,
        }
        for row in range(0, len(self.names), 2):
            ax.axhspan(row - 0.5, row + 0.5, **style)
            ax.add_artist(Rectangle((0.0, row - 0.5), room, 1.0, **aside, **style))
        ax.vlines(0.0, -0.5, self._n_numbers - 0.5, color=GREY, lw=0.8, zorder=0.5)
        if 0 < self._n_numbers < len(self.names):
            ax.axhline(self._n_numbers - 0.5, color=GREY, lw=0.8)

    def _add_legend(self, ax: Any, further: bool) -> None:
        """Add what lines and marks are: below if values are written at the right."""
        from matplotlib.lines import Line2D
        from matplotlib.transforms import ScaledTranslation

        star: dict[str, Any] = {"marker": "*", "ms": 11, "mec": "k", "mew": 0.8, "ls": ""}
        classes = []
        for code, name in enumerate(self.classes):
            mark = star if code in self.prototype_codes else {}
            style = mark | {"color": colour(code), "ls": line_style(code), "lw": 2.0}
            classes.append((Line2D([], [], **style), name))
        marks = [(Line2D([], [], color="w", **star), "prototype")]
        if further:
            marks.append(
                (Line2D([], [], color="w", **star | {"marker": ">", "ms": 6}), "further out")
            )
        if self.spread is not None:
            marks += [
                (Line2D([], [], color=GREY, marker="|", ms=9, mew=1.6, ls=""), "median"),
                (Line2D([], [], color=GREY, lw=3.6), "middle 50 %"),
                (Line2D([], [], color=GREY, lw=1.2), "middle 90 %"),
            ]
        if not self.values:
            add_legend(ax, [*classes, *marks], handlelength=3.0, bbox_to_anchor=(1.0, 1.0))
            return
        axis = ax.xaxis.get_tightbbox() or ax.bbox  # none without ticks and label
        gap = (ax.bbox.y0 - axis.y0) / ax.figure.dpi + 0.03
        for entries in [classes, marks] if self._n_numbers else [classes]:
            below = ax.transAxes + ScaledTranslation(0.0, -gap, ax.figure.dpi_scale_trans)
            place = {"bbox_to_anchor": (0.0, 0.0), "bbox_transform": below, "borderaxespad": 0.0}
            add_legend(
                ax, entries, ncols=LEGEND_COLUMNS, columnspacing=1.4, handlelength=2.0, **place
            )
            gap += 0.22 * -(-len(entries) // LEGEND_COLUMNS)


def add_legend(ax: Any, entries: Sequence[tuple[Any, str]], **settings: Any) -> None:
    """Add a legend to those that the axes have."""
    before = ax.get_legend()
    legend = ax.legend(*zip(*entries, strict=True), frameon=False, loc="upper left", **settings)
    for text in legend.get_texts():
        text.set_parse_math(False)
    if before is not None:
        ax.add_artist(before)
        before.set_clip_on(False)  # its room is counted then


def chart_ends(points: Floats, spread: Floats | None) -> tuple[float, float]:
    """Return the ends of the chart: all prototypes, but those far beyond the classes."""
    known = np.append(points if spread is None else spread, 0.0)
    low, high = np.nanmin(known), np.nanmax(known)
    room = ASIDE * max(high - low, 1.0)
    near = np.append(np.clip(points, low - room, high + room), [low, high])
    return float(np.nanmin(near)), float(np.nanmax(near))


def write_text(
    ax: Any, text: str, edge: float, row: float, offset: Any = (0.0, 0.0), **style: Any
) -> Any:
    """Return a text in a strip, so many points from the left edge (0) or the right one (1)."""
    return ax.annotate(
        text,
        (edge, row),
        xytext=offset,
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        annotation_clip=False,
        parse_math=False,
        **{"va": "center_baseline", "fontsize": "small"} | style,
    )


def longest(texts: Sequence[str]) -> float:
    """Return the width of the longest text, in inches."""
    return LETTER * max(len(text) for text in texts)


def darker(code: int) -> tuple[float, ...]:
    """Return the colour of a class in which text can be read."""
    from matplotlib.colors import to_rgb

    return tuple(0.62 * part for part in to_rgb(colour(code)))


def draw_pictures(
    pictures: Floats,
    names: Sequence[str],
    codes: Indices,
    limits: tuple[float, float] | None,
    ax: Any,
) -> Any:
    """Return the axes of pictures, each in a frame of the colour of its class.

    Pictures are grey, or have three numbers a point: red, green and blue. The limits are the values
    that are black and white; None: the least and the greatest.
    """
    low, high = limits or (pictures.min(), pictures.max())
    grey = pictures.ndim == 3
    if not grey:
        pictures = np.clip((pictures - low) / ((high - low) or 1.0), 0.0, 1.0)
    n_pictures, height, width, *_ = pictures.shape
    across = n_across(n_pictures)
    side = min(SIDE, WIDEST / across)
    size = 0.8 + side * across, (0.3 + side * min(height / width, 3.0)) * -(-n_pictures // across)
    panels = panels_for(ax, n_pictures, across, figsize=size)
    for panel, picture, name, code in zip(panels, pictures, names, codes, strict=True):
        drawn = panel.imshow(picture, cmap="gray", vmin=low, vmax=high)
        panel.set_title(name, fontsize="medium").set_parse_math(False)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set(color=colour(code), lw=2.0)
    if grey and ax is None:
        panels[0].figure.colorbar(drawn, ax=list(panels), shrink=0.8, aspect=30, pad=0.02)
    return panels


def n_across(n_panels: int) -> int:
    """Return the number of panels in a row that leaves few places empty and is not too tall."""
    wanted = np.sqrt(2.5 * n_panels)
    choices = range(1, min(n_panels, IN_A_ROW) + 1)
    return min(choices, key=lambda across: -n_panels % across + abs(across - wanted))


def checked_shape(image_shape: Any, columns: Sequence[Column]) -> tuple[int, ...]:
    """Return the shape of pictures; raise if the columns are none of that shape."""
    shape = tuple(image_shape) if np.iterable(image_shape) else ()
    whole = all(isinstance(n, numbers.Integral) and int(n) > 0 for n in shape)
    if not whole or not (len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)):
        raise ValueError(
            f"image_shape={image_shape!r} must be (rows, columns) or (rows, columns, 3)."
        )
    words = [str(c.name) for c in columns if isinstance(c, CategoryColumn)]
    if words:
        raise ValueError(
            f"image_shape={image_shape!r} needs numbers, and column {words[0]!r} is of categories."
        )
    if np.prod(shape) != len(columns):
        raise ValueError(
            f"image_shape={image_shape!r} is a picture of {np.prod(shape)} numbers; the prototypes "
            f"have {len(columns)}, one for each column of X."
        )
    return tuple(int(n) for n in shape)
