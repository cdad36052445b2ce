"""From a user's columns to the numbers that the last step of a pipeline sees, by an affine map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import decomposition, impute, preprocessing
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectorMixin

from ..._arrays import Floats
from ..._names import number_repeats
from ...analysis import mean_row
from ...classifiers import NearestPrototypeClassifier
from ...tables import CategoryColumn, Column, TableEncoder, TextColumn, Values, apply_step

UNSEEN = object()
"""Equal to no category."""

SCALERS = (
    preprocessing.StandardScaler,
    preprocessing.MinMaxScaler,
    preprocessing.MaxAbsScaler,
    preprocessing.RobustScaler,
)

LINEAR_MAPS = (
    decomposition.PCA,
    decomposition.TruncatedSVD,
    LinearDiscriminantAnalysis,
    NearestPrototypeClassifier,
    SelectorMixin,
)
"""Steps that multiply rows with a matrix and add a vector."""

KINDS = {"number": "n", "date": "n", "text": "w", "unused": "u"}

Columns = list[dict[str, Any]]


@dataclass(frozen=True)
class EncodedRows:
    """Numbers of the columns, ``z = (v - offset) scale``, and what the last step sees of them.

    Attributes
    ----------
    columns : tuple of Column or str
        The columns of a table, or the names of the features of an array.
    mean : array of shape (d,), or None
        The mean of the training rows, as numbers z, where a table or a scaler knows it.
    offset, scale : array of shape (d,)
        Of each number v of the columns; of a category these are its entries.
    missing : array of shape (d,)
        What takes the place of a missing number v; NaN if nothing does.
    matrix, shift : array, or None
        The last step sees ``matrix @ z + shift``; None: z itself.
    """

    columns: tuple[Column | str, ...]
    offset: Floats
    scale: Floats
    missing: Floats
    mean: Floats | None = None
    matrix: Floats | None = None
    shift: Floats | None = None

    @classmethod
    def of(cls, steps: list[tuple[str, Any]], last: Any, texts: bool = False) -> EncodedRows:
        """Return what the steps before the last one make of rows; of texts if ``texts`` says so."""
        first = steps[0][1] if steps else last
        if isinstance(first, TableEncoder):
            rows, steps = cls.of_table(first, texts), steps[1:]
        else:
            d = int(first.n_features_in_)
            names = getattr(first, "feature_names_in_", [f"x{j}" for j in range(d)])
            blank = np.full(d, np.nan)
            rows = cls(tuple(map(str, names)), np.zeros(d), np.ones(d), blank)
        for name, step in steps:
            rows = rows.after(name, step)
        return rows

    @classmethod
    def of_table(cls, encoder: TableEncoder, texts: bool = False) -> EncodedRows:
        """Return what the encoder of a table makes of rows."""
        missing = []
        for column in encoder.columns_:
            if column.kind == "text" and not texts:
                raise TypeError(
                    f"Column {column.name!r} is free text, which only ONNX has a form of; export "
                    "by to_onnx, or leave the column out and fit again."
                )
            is_list = isinstance(column, CategoryColumn)
            missing.append(np.full(column.width, np.nan) if is_list else plain_of(column, np.nan))
        offset, scale = encoder.units_.mean_, 1.0 / encoder.units_.scale_
        mean = (mean_row(encoder) - offset) * scale
        return cls(encoder.columns_, offset, scale, np.concatenate(missing), mean)

    def after(self, name: str, step: Any) -> EncodedRows:
        """Return what one more step makes of the rows."""
        if isinstance(step, SCALERS) and not getattr(step, "clip", False):
            return self.scaled_by(step)
        if isinstance(step, impute.SimpleImputer) and not step.add_indicator:
            return self.filled_by(name, step)
        if isinstance(step, LINEAR_MAPS) and hasattr(step, "transform"):
            width = len(self.scale) if self.matrix is None else len(self.matrix)
            shift = np.asarray(apply_step(step, np.zeros((1, width))), dtype=np.float64)[0]
            matrix = (np.asarray(apply_step(step, np.eye(width)), dtype=np.float64) - shift).T
            if self.matrix is not None and self.shift is not None:
                matrix, shift = matrix @ self.matrix, matrix @ self.shift + shift
            return replace(self, matrix=matrix, shift=shift)
        raise TypeError(
            f"Step {name!r} of the pipeline, {step!r}, cannot be exported. Steps before the model "
            "can be a TableEncoder, scalers without clip, SimpleImputer, feature selection, PCA, "
            "TruncatedSVD, LinearDiscriminantAnalysis and metric models such as GMLVQ."
        )

    def scaled_by(self, step: Any) -> EncodedRows:
        """Return the rows behind a scaler: ``(z - middle) factor``."""
        width = len(self.scale) if self.matrix is None else len(self.matrix)
        middle, factor = np.zeros(width), np.ones(width)
        if isinstance(step, preprocessing.MinMaxScaler):
            middle, factor = -step.min_ / step.scale_, step.scale_
        else:
            found = getattr(step, "mean_", None)
            found = getattr(step, "center_", found)
            with_mean = getattr(step, "with_mean", getattr(step, "with_centering", False))
            middle = found if with_mean and found is not None else middle
            factor = factor if step.scale_ is None else 1.0 / step.scale_
        if self.matrix is not None and self.shift is not None:
            matrix = factor[:, None] * self.matrix
            return replace(self, matrix=matrix, shift=(self.shift - middle) * factor)
        mean = None if self.mean is None else (self.mean - middle) * factor
        if self.mean is None and isinstance(step, preprocessing.StandardScaler) and step.with_mean:
            mean = np.zeros(width)
        offset = self.offset + middle / self.scale
        return replace(self, offset=offset, scale=self.scale * factor, mean=mean)

    def filled_by(self, name: str, step: impute.SimpleImputer) -> EncodedRows:
        """Return the rows behind an imputer, which fills in what no other has."""
        if isinstance(self.columns[0], str):  # an encoded table has no holes
            if self.matrix is not None or np.isnan(step.statistics_).any():
                raise TypeError(
                    f"Step {name!r} of the pipeline, {step!r}, cannot be exported: it must come "
                    "before steps that mix features, and every feature needs a training value."
                )
            values = step.statistics_ / self.scale + self.offset
            return replace(self, missing=np.where(np.isnan(self.missing), values, self.missing))
        return self

    def is_isometric(self, used: NDArray[np.bool_]) -> bool:
        """Whether lengths of the numbers that are used are those that the last step sees."""
        if self.matrix is None:
            return True
        A = self.matrix[:, used]
        return bool(np.allclose(A.T @ A, np.eye(A.shape[1])))

    def with_marks(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which numbers are used, with both of a number and the mark of its absence."""
        used, start = used.copy(), 0
        for column in self.columns:
            end = start + (1 if isinstance(column, str) else column.width)
            if not isinstance(column, CategoryColumn):
                used[start:end] = used[start:end].any()
            start = end
        return used

    def used_columns(self, used: NDArray[np.bool_], center: Floats) -> Columns:
        """Return the columns of a document, with numbers that are used, relative to a centre."""
        found, start = [], 0
        names = number_repeats([c if isinstance(c, str) else str(c.name) for c in self.columns])
        for column, name in zip(self.columns, names, strict=True):
            width = 1 if isinstance(column, str) else column.width
            place = slice(start, start + width)
            here, start = np.flatnonzero(used[place]) + start, start + width
            about: dict[str, Any] = {"name": name, "width": len(here)}
            if not isinstance(column, str) and column.kind == "empty":
                about |= {"kind": "unused", "width": 0}
            elif isinstance(column, TextColumn):
                about |= {"kind": "text", "words": column.words}
                about["weights"], about["scale"] = column.idf, self.scale[here]
            elif isinstance(column, CategoryColumn):
                about |= self._category(column, here - place.start, here, center)
            else:
                about |= self._number(column, here, center)
            if not len(here) and about["kind"] != "unused":
                about = {"name": name, "width": 0, "kind": "unused"}
            found.append(about)
        return found

    def _number(self, column: Any, here: Any, center: Floats) -> dict[str, Any]:
        """Return how a number becomes one relative to the centre."""
        if not len(here):
            return {"kind": "unused"}
        j = here[0]
        offset = float(self.offset[j] + center[j] / self.scale[j])
        missing = (self.missing[j] - offset) * self.scale[j]
        about = {
            "kind": getattr(column, "kind", "number"),
            "offset": offset,
            "scale": float(self.scale[j]),
            "missing": None if np.isnan(missing) else float(missing),
        }
        if len(here) > 1:  # a second number marks missing values
            marks = np.array([plain_of(column, 0.0)[1], plain_of(column, np.nan)[1]])
            k = here[1]
            about["indicator"] = ((marks - self.offset[k]) * self.scale[k] - center[k]).tolist()
        if not isinstance(column, str):
            about |= {"low": float(column.low), "high": float(column.high)}
        return about

    def _category(
        self, column: CategoryColumn, places: Any, here: Any, center: Floats
    ) -> dict[str, Any]:
        """Return the numbers of each category, relative to the centre."""
        offset, scale, center = self.offset[here], self.scale[here], center[here]
        rows = (column.entries[:, places] - offset) * scale - center
        values = [getattr(value, "item", lambda v=value: v)() for value in column.categories]
        known = [code for code, value in enumerate(values) if value is not None]
        others = [plain_of(column, value)[places] for value in (None, UNSEEN)]
        missing, unknown = ((entry - offset) * scale - center for entry in others)
        odd = [v for v in values if not (v is None or isinstance(v, (str, bool, int, float)))]
        if odd:
            raise TypeError(
                f"Column {column.name!r} has the category {odd[0]!r}, which JSON cannot write; "
                "fit the model to texts, numbers or truth values."
            )
        return {
            "kind": column.kind,
            "categories": [values[code] for code in known],
            "entries": rows[known].tolist(),
            "missing": missing.tolist(),
            "unknown": unknown.tolist(),
        }


def plain_of(column: Column, value: Any) -> Floats:
    """Return what a column makes of one value, before it is scaled."""
    if column.kind == "empty":
        return np.zeros(column.width)
    data = np.array([value], dtype=object if isinstance(column, CategoryColumn) else np.float64)
    return np.asarray(column.plain(Values(column.kind, data)), dtype=np.float64)[0]


def column_code(column: dict[str, Any]) -> str:
    """Return the letter of a kind of column: number, texts, codes or unused."""
    if column["kind"] in KINDS:
        return KINDS[column["kind"]]
    texts = all(isinstance(value, str) for value in column["categories"])
    return "t" if texts else "c"


def describe_column(column: dict[str, Any]) -> str:
    """Return in words what a column takes."""
    if "categories" not in column:
        return {"date": "days since 1970", "unused": "not used"}.get(column["kind"], "a number")
    if column["kind"] == "boolean":
        return "0 or 1"
    return f"one of {', '.join(map(str, column['categories']))}"
