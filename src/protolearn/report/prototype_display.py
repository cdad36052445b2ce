"""The prototypes in the user's units, against what is usual in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from .._names import shorten_name
from .._validation import integer_in
from ..tables import CategoryColumn, NumberColumn, TextColumn
from .prototype_drawings import Strips, checked_shape, draw_pictures
from .style import Display
from .subject import LEVELS, Subject

FEW = 4  # number of prototypes up to which their values are written
# Letters of names of columns, and of all other texts, that are written.
LONGEST_NAME, LONGEST_VALUE = 32, 18
MOST_USUAL, LONGEST_USUAL = 3, 12  # categories of a class that are written, and letters of each


class PrototypeDisplay(Display):
    """The prototypes of a model beside the spread of each class, or as pictures.

    A row for each column of numbers: a thin line from percentile 5 to 95 of a class, a thick one
    from 25 to 75, a tick at the median, and a star for each prototype. Make one with
    :meth:`from_estimator`.

    Parameters
    ----------
    prototypes : array of shape (n_prototypes, n_columns)
        The prototypes in the columns of numbers, in the user's units.
    prototype_codes : array of shape (n_prototypes,)
        Their classes, as indices of ``classes``.
    prototype_names : sequence of str
        What they are called.
    classes : sequence of str
        Names of the classes.
    column_names : sequence of str, default=()
        Names of the columns of numbers.
    quantiles : array of shape (n_columns, n_classes, 5), default=None
        Percentiles 5, 25, 50, 75 and 95 of each class, in the user's units; NaN for a class
        without rows. None draws the prototypes alone.
    means, sds : array of shape (n_columns,), default=None
        What is subtracted and divided by, so that all columns share an axis. None: 0 and 1.
    scale_texts : sequence of str, default=()
        These in words, for each column; a second line below its name.
    texts : sequence of sequence of str, default=()
        For each column the values of the prototypes in words; none writes the numbers.
    categories : dict of str to sequence of str, default=None
        The categories of the prototypes, by name of the column.
    usual : dict of str to sequence of str, default=None
        What is usual in each class in these columns.
    image_shape : tuple of int, default=None
        Shape of the pictures that the prototypes are; None draws rows.
    limits : tuple of two floats, default=None
        Values that are black and white in pictures; None: the least and the greatest of the
        prototypes.
    max_features : int, default=20
        Columns of numbers that are shown, and of categories as many.
    """

    def __init__(
        self,
        *,
        prototypes: Floats,
        prototype_codes: Indices,
        prototype_names: Sequence[str],
        classes: Sequence[str],
        column_names: Sequence[str] = (),
        quantiles: Floats | None = None,
        means: Floats | None = None,
        sds: Floats | None = None,
        scale_texts: Sequence[str] = (),
        texts: Sequence[Sequence[str]] = (),
        categories: Mapping[str, Sequence[str]] | None = None,
        usual: Mapping[str, Sequence[str]] | None = None,
        image_shape: tuple[int, ...] | None = None,
        limits: tuple[float, float] | None = None,
        max_features: int = 20,
    ):
        self.prototypes = prototypes
        self.prototype_codes = prototype_codes
        self.prototype_names = prototype_names
        self.classes = classes
        self.column_names = column_names
        self.quantiles = quantiles
        self.means = means
        self.sds = sds
        self.scale_texts = scale_texts
        self.texts = texts
        self.categories = categories or {}
        self.usual = usual or {}
        self.image_shape = image_shape
        self.limits = limits
        self.max_features = max_features

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
            "prototype_codes": codes,
            "prototype_names": subject.prototype_names,
            "classes": subject.classes,
            "max_features": max_features,
        }
        if image_shape is not None:
            shape = checked_shape(image_shape, subject.columns)
            seen = subject.plain
            limits = (float(seen.min()), float(seen.max())) if len(shape) == 3 else None
            return cls(prototypes=plain, image_shape=shape, limits=limits, **common).plot(ax=ax)
        numbers, words = [], []
        columns = zip(
            subject.parts(plain), subject.prototype_texts(plain), subject.spreads, strict=True
        )
        for (column, part), texts, spread in columns:
            if isinstance(column, CategoryColumn):
                usual = usual_texts(column, spread.shares)
                words.append((apart(part, codes).max(), str(column.name), texts, usual))
            elif column.is_ordered:
                numbers.append((column, part[:, :1], texts, spread.quantiles))
            elif isinstance(column, TextColumn):
                words.append((apart(part, codes).max(), str(column.name), texts, []))
        if not numbers and (len(rows) > FEW or not words):
            raise ValueError(
                f"X has no column of numbers to draw, and the categories of {len(rows)} prototypes "
                "are too many to write; see prototypes_table."
            )
        words.sort(key=lambda found: -found[0])
        shape = len(numbers), len(subject.classes), len(LEVELS)
        return cls(
            prototypes=np.hstack([plain[:, :0], *(part for _, part, *_ in numbers)]),
            column_names=[str(column.name) for column, *_ in numbers],
            quantiles=np.reshape([quantiles for *_, quantiles in numbers], shape),
            means=np.array([column.mean for column, *_ in numbers]),
            sds=np.array([column.sd for column, *_ in numbers]),
            scale_texts=[scale_text(column) for column, *_ in numbers],
            texts=[texts for _, _, texts, _ in numbers],
            categories={name: texts for _, name, texts, _ in words},
            usual={name: usual for _, name, _, usual in words},
            **common,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        count = integer_in(self.max_features, "max_features={value!r}", 1)
        if self.image_shape is None:
            return self._strips(count).draw(ax)
        pictures = np.reshape(self.prototypes, (-1, *self.image_shape))
        names = cut_texts(self.prototype_names)
        return draw_pictures(pictures, names, self.prototype_codes, self.limits, ax)

    def _strips(self, count: int) -> Strips:
        """Return, for chosen columns, what is drawn and written of them."""
        points, codes = self._in_deviations(self.prototypes), np.asarray(self.prototype_codes)
        shown = np.argsort(-apart(points, codes), kind="stable")[:count]
        listed, values = [], []
        if len(codes) <= FEW:
            plain = [[f"{value:.4g}" for value in column] for column in self.prototypes.T]
            texts = self.texts if len(self.texts) else plain
            listed = list(self.categories)[:count]
            values = [texts[j] for j in shown] + [self.categories[name] for name in listed]
        return Strips(
            classes=cut_texts(self.classes),
            prototype_names=cut_texts(self.prototype_names),
            prototype_codes=codes,
            points=points[:, shown],
            spread=None
            if self.quantiles is None
            else self._in_deviations(self.quantiles.T)[..., shown],
            names=cut_texts([*(self.column_names[j] for j in shown), *listed], LONGEST_NAME),
            scale_texts=[self.scale_texts[j] for j in shown] if len(self.scale_texts) else [],
            usual=[self.usual.get(name, ()) for name in listed],
            values=[cut_texts(row) for row in values],
            label=self._label(len(shown), len(listed)),
        )

    def _in_deviations(self, values: Floats) -> Floats:
        """Return values of the columns, along the last axis, in standard deviations."""
        means = 0.0 if self.means is None else self.means
        return (values - means) / (1.0 if self.sds is None else self.sds)

    def _label(self, n_shown: int, n_listed: int) -> str:
        """Return a text that says what the axis is, and what is left out."""
        scale = "value" if self.sds is None else "standard deviations from the mean of the column"
        total, rest = len(self.column_names), len(self.categories) - n_listed
        notes = [f"{n_shown} of {total} columns"] if n_shown < total else []
        if rest:
            notes.append(f"{rest} column{'s' * (rest > 1)} of categories left out")
        lines = [scale if n_shown else "", ", ".join(notes)]
        return "\n".join(line for line in lines if line)


def apart(points: Floats, codes: Indices) -> Floats:
    """Return how far prototypes of different classes are from each other, in each column."""
    points = np.nan_to_num(points)
    found = np.zeros(points.shape[1])
    for code in np.unique(codes):
        mine, others = points[codes == code], points[codes != code]
        if len(others):
            found = np.maximum(found, mine.max(axis=0) - others.min(axis=0))
    return found


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
