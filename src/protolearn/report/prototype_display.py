"""The prototypes in the user's units, against what is usual in each class."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Floats, Indices
from .._names import shorten_name
from .._validation import integer_in
from ..tables import CategoryColumn, Column, NumberColumn, TextColumn
from .style import Display, axes_for, colour, line_style, panels_for, pyplot
from .subject import Subject

# Letters of names of columns, and of all other texts, that are written.
LONGEST_NAME, LONGEST_VALUE = 32, 18
GREY, BAND = "#777777", "#F4F4F4"
LETTER = 0.08  # width of a letter, in inches
# Height of a strip at least, and of all at most if that leaves each as much; in inches.
LOWEST, TALLEST = 0.42, 12.0
ASIDE = 1.0  # how far beyond all classes a prototype is drawn in its place, in widths of the chart
LEGEND_COLUMNS = 5  # entries of the legend beside each other
IN_A_ROW = 12  # pictures beside each other at most
WIDEST, SIDE = 12.0, 1.8  # width of a figure and of a picture at most, in inches


class ColumnStrip(NamedTuple):
    """A column of numbers of the prototypes."""

    name: str
    apart: float  # how far prototypes of different classes are from each other
    note: str  # the scale of the column, below its name
    values: Floats  # (n_prototypes,): those of the prototypes, in the user's units
    quantiles: Floats | None = None  # (n_classes, 5): percentiles 5, 25, 50, 75 and 95
    mean: float = 0.0
    sd: float = 1.0

    def deviations(self, values: Any) -> Floats:
        """Return values of the column in standard deviations from its mean."""
        return np.asarray((np.asarray(values) - self.mean) / self.sd)


@dataclass(kw_only=True, eq=False, repr=False)
class PrototypeDisplay(Display):
    """The prototypes of a model beside the spread of each class, or as pictures.

    A row for each column of numbers: a thin line from percentile 5 to 95 of a class, a thick one
    from 25 to 75, a tick at the median, and a star for each prototype. Columns of words are in
    :func:`~protolearn.tables.prototypes_table`. Make one with :meth:`from_estimator`.

    Parameters
    ----------
    classes : sequence of str
        Names of the classes.
    prototype_codes : array of shape (n_prototypes,)
        Classes of the prototypes, as indices of ``classes``.
    prototype_names : sequence of str
        What the prototypes are called.
    strips : sequence of ColumnStrip, default=()
        The columns of numbers: ``name``, ``values``, ``quantiles`` and so on.
    pictures : array of shape (n_prototypes, rows, columns) or with 3 colours, default=None
        The prototypes as pictures, which are drawn instead.
    limits : tuple of two floats, default=None
        Values that are black and white in pictures; None: the least and the greatest of the
        prototypes.
    max_features : int, default=20
        Columns that are shown.
    """

    classes: Sequence[str]
    prototype_codes: Indices
    prototype_names: Sequence[str]
    strips: Sequence[ColumnStrip] = ()
    pictures: Floats | None = None
    limits: tuple[float, float] | None = None
    max_features: int = 20

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        feature_names: Any = None,
        image_shape: Any = None,
        max_features: int = 20,
        ax: Any = None,
    ) -> PrototypeDisplay:
        """Draw the prototypes of a fitted model with the spread of some samples.

        Parameters
        ----------
        model : classifier with prototypes, Pipeline that ends in one, or a search over such
            The fitted model. Prototypes are shown in the units of X; where a step of a pipeline
            cannot be undone, in those of the last step.
        X : array-like of shape (n_samples, n_features), data frame or structured array
            Samples. A missing number counts as the median of its column.
        feature_names : sequence of str, default=None
            Names of the columns of an array; None: those of X.
        image_shape : tuple of int, default=None
            ``(rows, columns)`` or ``(rows, columns, 3)`` if each sample is a picture: so is each
            prototype then. The latter is drawn in red, green and blue, from the least to the
            greatest value in X; the former in grey, from the least to the greatest value of the
            prototypes.
        max_features : int, default=20
            How many columns to show: those in which prototypes of different classes differ most,
            in standard deviations of the column.
        """
        subject = Subject.of(model, X, y, feature_names)
        if subject.prototypes is None:
            raise TypeError(
                f"{type(subject.last).__name__} has no prototypes to show; give a fitted model "
                "that has, such as GLVQ, FisherPrototypes or ExemplarSVM, or a pipeline that ends "
                "in one."
            )
        rows, codes = subject.prototypes
        plain = subject.undo_steps(rows)
        common: dict[str, Any] = {
            "classes": subject.classes,
            "prototype_codes": codes,
            "prototype_names": subject.prototype_names,
            "max_features": max_features,
        }
        if image_shape is not None:
            shape, seen = checked_shape(image_shape, subject.columns), subject.plain
            limits = (float(seen.min()), float(seen.max())) if len(shape) == 3 else None
            pictures = plain.reshape(-1, *shape)
            return cls(pictures=pictures, limits=limits, **common).plot(ax=ax)
        strips = strips_of(subject, plain, codes)
        if not strips:
            raise ValueError("X has no column of numbers to draw; see prototypes_table.")
        return cls(strips=strips, **common).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        count = integer_in(self.max_features, "max_features={value!r}", 1)
        if self.pictures is not None:
            return self._draw_pictures(self.pictures, ax)
        drawn = sorted(self.strips, key=lambda one: -one.apart)[:count]
        ax = self._new_axes(drawn) if ax is None else axes_for(ax)
        points = np.stack([one.deviations(one.values) for one in drawn], axis=1)
        spread = self._draw_classes(ax, drawn)
        left, right = chart_ends(points, spread)
        self._draw_prototypes(ax, points, left, right)
        pad = 0.03 * (right - left) or 1.0
        ax.set_xlim(left - pad, right + pad)
        self._label(ax, drawn)
        few = f"\n{count} of {len(self.strips)} columns" if count < len(self.strips) else ""
        ax.set_xlabel(f"standard deviations from the mean of the column{few}")
        self._add_legend(ax, spread, bool(((points < left) | (points > right)).any()))
        return ax

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

    def _new_axes(self, drawn: Sequence[ColumnStrip]) -> Any:
        """Return the axes of a figure with room for names and for a legend."""
        n_classes, n_strips = len(self.classes), max(len(drawn), 2)
        legend = 0.22 * -(-(n_classes + 4) // LEGEND_COLUMNS)
        strip = max(LOWEST, min(0.08 + 0.065 * n_classes, (TALLEST - legend) / n_strips))
        width = 6.0 + LETTER * max(len(one.name) for one in drawn)
        size = width, 1.5 + strip * n_strips + legend
        return pyplot().subplots(figsize=size, layout="constrained")[1]

    def _draw_classes(self, ax: Any, drawn: Sequence[ColumnStrip]) -> Floats | None:
        """Draw of each class a thin line, a thick one, and a tick at the median."""
        if drawn[0].quantiles is None:
            return None
        spread = np.stack([one.deviations(one.quantiles) for one in drawn])
        for code, offset in enumerate(self._offsets):
            low, lower, middle, upper, high = spread[:, code].T
            y = np.arange(len(drawn)) + offset
            style = {"color": colour(code), "ls": line_style(code)}
            ax.hlines(y, low, high, lw=1.2 * self._size, **style)
            ax.hlines(y, lower, upper, lw=3.6 * self._size, **style)
            ax.plot(middle, y, "|", color=colour(code), ms=9 * self._size, mew=1.6 * self._size)
        return spread

    def _draw_prototypes(self, ax: Any, points: Floats, left: float, right: float) -> None:
        """Draw stars; at the ends of the chart arrows for those that are further out."""
        for code, x in zip(self.prototype_codes, points, strict=True):
            y = np.arange(len(x)) + self._offsets[code]
            inside = (x >= left) & (x <= right)
            style = {"color": colour(code), "edgecolors": "k", "lw": 0.8 * self._size, "zorder": 3}
            ax.scatter(x[inside], y[inside], s=110 * self._size**2, marker="*", **style)
            for mark, end, far in ("<", left, x < left), (">", right, x > right):
                at = np.full(far.sum(), end)
                ax.scatter(at, y[far], s=40 * self._size**2, marker=mark, **style)

    def _label(self, ax: Any, drawn: Sequence[ColumnStrip]) -> None:
        """Name the strips."""
        rows = np.arange(len(drawn))
        names = [f"{shorten_name(one.name, LONGEST_NAME)}\n{one.note}".strip() for one in drawn]
        ax.set_yticks(rows, names, parse_math=False)
        ax.set_ylim(len(drawn) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "right", "top"]].set_visible(False)
        for row in rows[::2]:
            ax.axhspan(row - 0.5, row + 0.5, color=BAND, lw=0.0, zorder=0.0)
        ax.axvline(0.0, color=GREY, lw=0.8, zorder=0.5)

    def _add_legend(self, ax: Any, spread: Floats | None, has_further: bool) -> None:
        """Add what lines and marks are, above the picture."""
        from matplotlib.lines import Line2D

        star: dict[str, Any] = {"marker": "*", "ms": 11, "mec": "k", "mew": 0.8, "ls": ""}
        entries = []
        for code, name in enumerate(shorten_name(name, LONGEST_VALUE) for name in self.classes):
            style: dict[str, Any] = {"color": colour(code), "ls": line_style(code), "lw": 2.0}
            mark = star if code in self.prototype_codes else {}
            entries.append((Line2D([], [], **style | mark | {"ls": style["ls"]}), name))
        entries.append((Line2D([], [], color="w", **star), "prototype"))
        if has_further:
            entries.append((Line2D([], [], color="w", **star | {"marker": ">"}), "further out"))
        if spread is not None:
            tick = Line2D([], [], color=GREY, marker="|", ms=9, mew=1.6, ls="")
            thick, thin = (Line2D([], [], color=GREY, lw=width) for width in (3.6, 1.2))
            entries += [(tick, "median"), (thick, "middle 50 %"), (thin, "middle 90 %")]
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": LEGEND_COLUMNS}
        legend = ax.legend(*zip(*entries, strict=True), frameon=False, columnspacing=1.4, **place)
        for text in legend.get_texts():
            text.set_parse_math(False)

    def _draw_pictures(self, pictures: Floats, ax: Any) -> Any:
        """Return the axes of pictures, each in a frame of the colour of its class.

        Pictures are grey, or have three numbers a point: red, green and blue.
        """
        low, high = self.limits or (pictures.min(), pictures.max())
        is_grey, (n_pictures, height, width, *_) = pictures.ndim == 3, pictures.shape
        if not is_grey:
            pictures = np.clip((pictures - low) / ((high - low) or 1.0), 0.0, 1.0)
        across = min(n_pictures, IN_A_ROW, int(np.ceil(np.sqrt(2.5 * n_pictures))))
        side, down = min(SIDE, WIDEST / across), -(-n_pictures // across)
        size = 0.8 + side * across, (0.3 + side * min(height / width, 3.0)) * down
        panels, names = panels_for(ax, n_pictures, across, figsize=size), self.prototype_names
        for k, (panel, code) in enumerate(zip(panels, self.prototype_codes, strict=True)):
            drawn = panel.imshow(pictures[k], cmap="gray", vmin=low, vmax=high)
            title = shorten_name(names[k], LONGEST_VALUE)
            panel.set_title(title, fontsize="medium").set_parse_math(False)
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set(color=colour(code), lw=2.0)
        if is_grey and ax is None:
            panels[0].figure.colorbar(drawn, ax=list(panels), shrink=0.8, aspect=30, pad=0.02)
        return panels


def strips_of(subject: Subject, plain: Floats, codes: Indices) -> list[ColumnStrip]:
    """Return the columns of numbers of prototypes in the user's units."""
    return [
        ColumnStrip(
            str(column.name),
            apart(part[:, 0], codes) / column.sd,
            scale_text(column),
            part[:, 0],
            spread.quantiles,
            column.mean,
            column.sd,
        )
        for (column, part), spread in zip(subject.parts(plain), subject.spreads, strict=True)
        if isinstance(column, NumberColumn)
        and not isinstance(column, TextColumn)
        and column.is_ordered
    ]


def apart(points: Floats, codes: Indices) -> float:
    """Return how far prototypes of different classes are from each other in a column."""
    points, found = np.nan_to_num(points), 0.0
    for code in np.unique(codes):
        mine, others = points[codes == code], points[codes != code]
        if len(others):
            found = max(found, float(mine.max() - others.min()))
    return found


def scale_text(column: NumberColumn) -> str:
    """Return the mean and the standard deviation of a column as text, in its units."""
    if column.low == column.high:
        return f"always {column.text(column.mean)}"
    sd = f"{column.sd:.3g} days" if column.kind == "date" else column.text(column.sd)
    return f"{column.text(column.mean)} ± {sd}"


def chart_ends(points: Floats, spread: Floats | None) -> tuple[float, float]:
    """Return the ends of the chart: all prototypes, but those far beyond the classes."""
    known = np.append(points if spread is None else spread, 0.0)
    low, high = np.nanmin(known), np.nanmax(known)
    room = ASIDE * max(high - low, 1.0)
    near = np.append(np.clip(points, low - room, high + room), [low, high])
    return float(np.nanmin(near)), float(np.nanmax(near))


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
