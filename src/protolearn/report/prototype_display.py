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

FEW = 4  # number of prototypes up to which their values are written
# Letters of names of columns, and of all other texts, that are written.
LONGEST_NAME, LONGEST_VALUE = 32, 18
MOST_USUAL, LONGEST_USUAL = 3, 12  # categories of a class that are written, and letters of each
GREY, BAND = "#777777", "#F4F4F4"
LETTER = 0.08  # width of a letter, in inches
# Height of a strip at least, and of all at most if that leaves each as much; in inches.
LOWEST, TALLEST = 0.42, 12.0
ASIDE = 1.0  # how far beyond all classes a prototype is drawn in its place, in widths of the chart
LEGEND_COLUMNS = 5  # entries of the legend beside each other
IN_A_ROW = 12  # pictures beside each other at most
WIDEST, SIDE = 12.0, 1.8  # width of a figure and of a picture at most, in inches


class ColumnStrip(NamedTuple):
    """A column of the prototypes, of numbers or of words."""

    name: str
    apart: float  # how far prototypes of different classes are from each other
    texts: Sequence[str]  # the values of the prototypes in words
    note: str = ""  # the scale of the column, below its name
    values: Floats | None = None  # (n_prototypes,): those of numbers, in the user's units
    quantiles: Floats | None = None  # (n_classes, 5): percentiles 5, 25, 50, 75 and 95
    mean: float = 0.0
    sd: float = 1.0
    usual: Sequence[str] = ()  # of categories, what is usual in each class

    def deviations(self, values: Any) -> Floats:
        """Return values of the column in standard deviations from its mean."""
        return np.asarray((np.asarray(values) - self.mean) / self.sd)


@dataclass(kw_only=True, eq=False, repr=False)
class PrototypeDisplay(Display):
    """The prototypes of a model beside the spread of each class, or as pictures.

    A row for each column of numbers: a thin line from percentile 5 to 95 of a class, a thick one
    from 25 to 75, a tick at the median, and a star for each prototype. Make one with
    :meth:`from_estimator`.

    Parameters
    ----------
    classes : sequence of str
        Names of the classes.
    prototype_codes : array of shape (n_prototypes,)
        Classes of the prototypes, as indices of ``classes``.
    prototype_names : sequence of str
        What the prototypes are called.
    strips : sequence of ColumnStrip, default=()
        The columns: ``name``, ``values``, ``texts``, ``quantiles`` and so on.
    pictures : array of shape (n_prototypes, rows, columns) or with 3 colours, default=None
        The prototypes as pictures, which are drawn instead.
    limits : tuple of two floats, default=None
        Values that are black and white in pictures; None: the least and the greatest of the
        prototypes.
    max_features : int, default=20
        Columns of numbers that are shown, and of categories as many.
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
        if not any(one.values is not None for one in strips) and (len(rows) > FEW or not strips):
            raise ValueError(
                f"X has no column of numbers to draw, and the categories of {len(rows)} prototypes "
                "are too many to write; see prototypes_table."
            )
        return cls(strips=strips, **common).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        count = integer_in(self.max_features, "max_features={value!r}", 1)
        if self.pictures is not None:
            return self._draw_pictures(self.pictures, ax)
        numbers = [one for one in self.strips if one.values is not None]
        words = [one for one in self.strips if one.values is None]
        are_few = len(self.prototype_codes) <= FEW
        drawn = sorted(numbers, key=lambda one: -one.apart)[:count]
        shown = drawn + (sorted(words, key=lambda one: -one.apart)[:count] if are_few else [])
        texts = value_lines(self.prototype_names, shown) if are_few else []
        ax = self._new_axes(shown, texts) if ax is None else axes_for(ax)
        shape = len(drawn), len(self.prototype_codes)
        points = np.reshape([one.deviations(one.values) for one in drawn], shape).T
        spread = self._draw_classes(ax, drawn)
        left, right = chart_ends(points, spread)
        self._draw_prototypes(ax, points, left, right)
        pad = 0.03 * (right - left) or 1.0
        ax.set_xlim(left - pad, right + pad)
        self._label(ax, shown, texts)
        notes = [f"{len(drawn)} of {len(numbers)} columns"] if len(drawn) < len(numbers) else []
        if rest := len(words) - len(shown) + len(drawn):
            notes.append(f"{rest} column{'s' * (rest > 1)} of categories left out")
        scale = "standard deviations from the mean of the column" if drawn else ""
        ax.set_xlabel("\n".join(filter(None, [scale, ", ".join(notes)])))
        if not drawn:
            ax.set_xticks([])
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

    def _new_axes(self, shown: Sequence[ColumnStrip], texts: Sequence[str]) -> Any:
        """Return the axes of a figure with room for texts at both sides and for a legend."""
        n_classes, n_strips = len(self.classes), max(len(shown), 2)
        legend = 0.22 * -(-(n_classes + 4) // LEGEND_COLUMNS)
        strip = max(LOWEST, min(0.08 + 0.065 * n_classes, (TALLEST - legend) / n_strips))
        height = 1.5 + strip * n_strips + legend
        width = 6.0 + LETTER * sum(
            max(map(len, names), default=0) for names in (texts, [one.name for one in shown])
        )
        return pyplot().subplots(figsize=(width, height), layout="constrained")[1]

    def _draw_classes(self, ax: Any, drawn: Sequence[ColumnStrip]) -> Floats | None:
        """Draw of each class a thin line, a thick one, and a tick at the median."""
        if not drawn or drawn[0].quantiles is None:
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

    def _label(self, ax: Any, shown: Sequence[ColumnStrip], texts: Sequence[str]) -> None:
        """Name the strips, and write values at the right and what is usual in strips of words."""
        rows, top = np.arange(len(shown)), -1.2 if texts else -0.5
        names = [f"{shorten_name(one.name, LONGEST_NAME)}\n{one.note}".strip() for one in shown]
        ax.set_yticks(rows, names)
        ax.set_ylim(len(shown) - 0.5, top)
        labels = ax.get_yticklabels()
        if texts:
            right = ax.secondary_yaxis("right")
            right.set_yticks([-0.85, *rows], texts, family="monospace", fontsize="small")
            right.tick_params(length=0)
            right.spines[:].set_visible(False)
            labels += right.get_yticklabels()
        for label in labels:
            label.set_parse_math(False)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "right", "top"]].set_visible(False)
        for row in rows[::2]:
            ax.axhspan(row - 0.5, row + 0.5, color=BAND, lw=0.0, zorder=0.0)
        is_number = [one.values is not None for one in shown]
        ax.vlines(0.0, -0.5, sum(is_number) - 0.5, color=GREY, lw=0.8, zorder=0.5)
        style = {"transform": ax.get_yaxis_transform(), "va": "center_baseline", "size": "small"}
        for row, one in enumerate(shown):
            for code, text in enumerate(one.usual):
                y = row + self._offsets[code]
                ax.text(0.01, y, text, color=darker(code), parse_math=False, **style)

    def _add_legend(self, ax: Any, spread: Floats | None, has_further: bool) -> None:
        """Add what lines and marks are, above the picture."""
        from matplotlib.lines import Line2D

        star: dict[str, Any] = {"marker": "*", "ms": 11, "mec": "k", "mew": 0.8, "ls": ""}
        entries = []
        for code, name in enumerate(cut_texts(self.classes)):
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
        across = n_across(n_pictures)
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
    """Return the columns of prototypes in the user's units."""
    found = []
    columns = zip(
        subject.parts(plain), subject.prototype_texts(plain), subject.spreads, strict=True
    )
    for (column, part), texts, spread in columns:
        name = str(column.name)
        if isinstance(column, CategoryColumn):
            usual = usual_texts(column, spread.shares)
            found.append(ColumnStrip(name, apart(part, codes), texts, usual=usual))
        elif isinstance(column, TextColumn):
            found.append(ColumnStrip(name, apart(part, codes), texts))
        elif column.is_ordered:
            values, ends = part[:, 0], (column.mean, column.sd)
            far = apart(part[:, :1], codes) / column.sd
            found.append(
                ColumnStrip(name, far, texts, scale_text(column), values, spread.quantiles, *ends)
            )
    return found


def apart(points: Floats, codes: Indices) -> float:
    """Return how far prototypes of different classes are from each other in a column."""
    points, found = np.nan_to_num(points), 0.0
    for code in np.unique(codes):
        mine, others = points[codes == code], points[codes != code]
        if len(others):
            found = max(found, float((mine.max(axis=0) - others.min(axis=0)).max()))
    return found


def value_lines(names: Sequence[str], shown: Sequence[ColumnStrip]) -> list[str]:
    """Return the names of the prototypes as a line, and their values in each column below it."""
    table = [cut_texts(names), *(cut_texts(one.texts) for one in shown)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for row in table
    ]


def scale_text(column: NumberColumn) -> str:
    """Return the mean and the standard deviation of a column as text, in its units."""
    if column.low == column.high:
        return f"always {column.text(column.mean)}"
    sd = f"{column.sd:.3g} days" if column.kind == "date" else column.text(column.sd)
    return f"{column.text(column.mean)} ± {sd}"


def usual_texts(column: CategoryColumn, shares: Any) -> list[str]:
    """Return for each class the most frequent categories of a column."""
    names = cut_texts([column.text(code) for code in range(len(column.categories))], LONGEST_USUAL)
    return [
        ", ".join(
            f"{names[code]} {100.0 * share[code]:.0f} %"
            for code in np.argsort(-share, kind="stable")[:MOST_USUAL]
            if share[code] > 0.0
        )
        for share in shares
    ]


def cut_texts(texts: Sequence[str], longest: int = LONGEST_VALUE) -> list[str]:
    """Return texts of which long ones are cut."""
    return [shorten_name(text, longest) for text in texts]


def chart_ends(points: Floats, spread: Floats | None) -> tuple[float, float]:
    """Return the ends of the chart: all prototypes, but those far beyond the classes."""
    known = np.append(points if spread is None else spread, 0.0)
    low, high = np.nanmin(known), np.nanmax(known)
    room = ASIDE * max(high - low, 1.0)
    near = np.append(np.clip(points, low - room, high + room), [low, high])
    return float(np.nanmin(near)), float(np.nanmax(near))


def darker(code: int) -> tuple[float, ...]:
    """Return the colour of a class in which text can be read."""
    from matplotlib.colors import to_rgb

    return tuple(0.62 * part for part in to_rgb(colour(code)))


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
