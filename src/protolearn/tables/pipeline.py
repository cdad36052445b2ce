"""Pipelines of an encoder and a model, their prototypes as a table, and values as texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._arrays import Floats
from .._names import free_name, number_repeats, suggest_name
from .columns import UNKNOWN_CATEGORY, CategoryColumn, Column, TextColumn
from .encoder import TableEncoder, series_of
from .pipeline_steps import TableSteps
from .table import Table, labelled_frame, library_of, native_column
from .values import Values, is_missing

UNUSED_COLUMN = "not used"
"""In the place of a value of a column that was empty in the training rows."""


MOST_SHARES, TINY, ALL = 3, 0.1, 0.005
"""Categories of a prototype that are shown, their smallest share, and the rest that is nothing."""

LONGEST_TEXT = 60
"""Characters that are shown of a text."""


def table_pipeline(
    model: Any,
    frame: Any = None,
    *,
    categorical: Any = None,
    categories: Any = None,
    missing: str = "category",
    unknown: str = "warn",
    category_distance: float = 1.0,
    max_categories: int = 50,
    text: Any = None,
    add_indicator: bool = False,
) -> Pipeline:
    """Return a pipeline with a :class:`TableEncoder` in front of a model.

    Parameters
    ----------
    model : classifier
        An unfitted model, of protolearn or scikit-learn.
    frame : pandas, polars or pyarrow table, structured array, or array-like, default=None
        A table to look at. What is wrong with it is told at once, and the categories of its columns
        become known, so that a fold of cross-validation without one of them is no surprise. Give
        it without the label.
    categorical, categories, missing, unknown, category_distance, max_categories : object
        Parameters of :class:`TableEncoder`.
    text, add_indicator : object
        Parameters of :class:`TableEncoder`.

    Returns
    -------
    pipeline : Pipeline
        Unfitted, with the steps ``"table"`` and ``"model"``.

    See Also
    --------
    split_target : The frame without the label, and the labels.
    prototypes_table : The prototypes in the units and words of the frame.
    protolearn.counterfactual : The smallest changes of the answer.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.tables import table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "red"], [30.0, "blue"], [31.0, "red"]]
    >>> model = table_pipeline(GLVQ(random_state=0), rows).fit(rows, ["no", "no", "yes", "yes"])
    >>> model.predict([[32.0, "blue"]]).tolist()
    ['yes']
    """
    encoder = TableEncoder(
        categorical=categorical,
        categories=categories,
        missing=missing,
        unknown=unknown,
        category_distance=category_distance,
        max_categories=max_categories,
        text=text,
        add_indicator=add_indicator,
    )
    if frame is not None:
        seen = clone(encoder).fit(frame)
        found = {
            column.name: list(column.categories)
            for column in seen.columns_
            if isinstance(column, CategoryColumn)
        }
        texts = [column.name for column in seen.columns_ if isinstance(column, TextColumn)]
        encoder.set_params(categories=found or None, text=texts or None)
    return Pipeline([("table", encoder), ("model", model)])


def split_target(frame: Any, target: Any) -> tuple[Any, NDArray[Any]]:
    """Return a frame without its column of labels, and the labels.

    Parameters
    ----------
    frame : pandas, polars or pyarrow table, or structured array
        The table with its labels.
    target : str or other
        Name of the column of labels.

    Returns
    -------
    X : DataFrame or structured array
        The frame without it.
    y : array of shape (n_samples,)
        The labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from protolearn.tables import split_target
    >>> X, y = split_target(pd.DataFrame({"age": [20, 30], "bought": ["no", "yes"]}), "bought")
    >>> list(X.columns), y.tolist()
    (['age'], ['no', 'yes'])
    """
    if library_of(frame) == "numpy":
        raise TypeError(
            f"frame is {type(frame).__name__}; expected a DataFrame of pandas or polars, a table "
            "of pyarrow, or a structured array."
        )
    table = Table(frame)
    if target not in table.names:
        raise ValueError(f"The frame has no column {target!r}.{suggest_name(target, table.names)}")
    if len(table.names) == 1:
        raise ValueError(
            f"The frame has no column other than {target!r}: there is nothing to learn from."
        )
    values = table.read(target).data
    missing = np.array([is_missing(value) for value in values.tolist()])
    if missing.any():
        raise ValueError(
            f"Column {target!r} has no label in {missing.sum()} of {len(missing)} rows, the first "
            f"is row {int(missing.argmax())}. Drop them."
        )
    others = [name for name in table.names if name != target]
    return table.select(others), label_array(table, target)


def label_array(table: Any, target: Any) -> NDArray[Any]:
    """Return labels as an array that scikit-learn takes: of numbers, truth values or texts."""
    values = table.read(target)
    if values.kind in ("number", "date"):
        return np.asarray(table.column(target))
    if len({isinstance(value, str) for value in values.data}) > 1:
        raise ValueError(
            f"Column {target!r} has texts and other values as labels; make all of them texts."
        )
    return np.array(values.data.tolist())


def distance_unit(columns: Sequence[Column], between: Sequence[tuple[str, Any]]) -> str:
    """Return the unit of the distances of a model that has these steps after the encoder."""
    if between:
        return "units of the model's input"
    jumps = {f"{c.distance:.3g}" for c in columns if isinstance(c, CategoryColumn)}
    jump = f", where another category counts as {jumps.pop()}" if jumps else ""
    return f"standard deviations of the columns{jump}"


def labelled_prototypes(model: Any) -> tuple[Floats, Any]:
    """Return the prototypes of a model, or the rows it keeps in their place, and their labels."""
    rows = getattr(model, "prototypes_", None)
    if rows is None:
        rows = getattr(model, "exemplars_", None)
    labels = getattr(model, "prototype_labels_", None)
    if labels is None and rows is not None and len(getattr(model, "classes_", ())) == len(rows):
        labels = model.classes_
    if rows is None or labels is None or np.ndim(labels) != 1 or len(labels) != rows.shape[0]:
        raise TypeError(
            f"{type(model).__name__} has no prototypes with labels: neither prototypes_ nor "
            "exemplars_, with prototype_labels_ or one for each class."
        )
    return rows.toarray() if issparse(rows) else np.asarray(rows, dtype=np.float64), labels


def prototypes_table(pipeline: Any, shares: bool = False) -> Any:
    """Return the prototypes of a model in the units and words of the table it was fitted to.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted one, see :func:`table_pipeline`, or a search over such. The model at its end has
        ``prototypes_`` or ``exemplars_``; steps in between are undone.
    shares : bool, default=False
        Whether categories are given by how much a prototype has of each, in columns
        ``column=category``, instead of by the one it has most of. A prototype is no mean: shares
        may lie outside of 0 and 1.

    Returns
    -------
    frame : DataFrame or structured array
        One row a prototype. Of polars, or a structured array, with the labels in the first column
        ``label`` (or ``prototype_label``, if there is a column of that name), if the model was
        fitted to such a frame; otherwise of pandas, with the labels as its index. A category is
        missing where a prototype has no more of one than of another.

    Examples
    --------
    >>> import pandas as pd
    >>> from protolearn import GLVQ
    >>> from protolearn.tables import prototypes_table, table_pipeline
    >>> frame = pd.DataFrame({"age": [20, 22, 40, 42], "colour": ["red", "red", "blue", "red"]})
    >>> model = table_pipeline(GLVQ(init="means", max_iter=1)).fit(frame, ["a", "a", "b", "b"])
    >>> table = prototypes_table(model)
    >>> table.index.tolist(), table.columns.tolist()
    (['a', 'b'], ['age', 'colour'])
    """
    steps = TableSteps.of(pipeline)
    encoder = steps.encoder
    rows, labels = labelled_prototypes(steps.model)
    library = "pandas" if encoder.library_ == "numpy" else encoder.library_
    plain_names = {c.name for c in encoder.columns_ if not isinstance(c, CategoryColumn)}
    columns: dict[Any, Any] = {}
    for column, part in encoder.split_columns(steps.in_units(rows)):
        if shares and isinstance(column, CategoryColumn):
            texts = [f"{column.name}={column.text(code)}" for code in range(len(column.categories))]
            for text, share in zip(number_repeats(texts), column.shares(part).T, strict=True):
                name = free_name(text, {*plain_names, *columns})
                columns[name] = native_column(library, Values("number", share), None)
        else:
            columns[column.name] = series_of(column, part, library)
    return labelled_frame(library, columns, labels)


def column_texts(encoder: TableEncoder, frame: Any) -> list[list[str]]:
    """Write the values of a frame: for each column of the encoder that of each row."""
    table = encoder.input_table(frame)
    return [
        value_texts(column, table.read(name))
        for column, name in zip(encoder.columns_, table.names, strict=True)
    ]


def value_texts(column: Column, values: Values) -> list[str]:
    """Write values, and what they are taken as where they are missing."""
    if isinstance(column, CategoryColumn):
        pairs = zip(column.codes(values).tolist(), values.data, strict=True)
        return [category_text(column, code, given) for code, given in pairs]
    if column.kind == "empty":
        return [UNUSED_COLUMN] * len(values.data)
    if isinstance(column, TextColumn):
        return [shorten(str(value or ""), LONGEST_TEXT) for value in values.data.tolist()]
    texts = [column.text(value) for value in column.plain(values)[:, 0].tolist()]
    lost = [True] * len(texts) if values.kind == "empty" else values.data != values.data
    return [taken_as(text) if gone else text for text, gone in zip(texts, lost, strict=True)]


def category_text(column: CategoryColumn, code: int, given: Any) -> str:
    """Write a category, and what it is taken as if it is missing."""
    if code == UNKNOWN_CATEGORY:
        return f"{given} (unknown)"
    if given is None and column.categories[code] is not None:
        return taken_as(column.text(code))
    return column.text(code)


def taken_as(text: str) -> str:
    """Return a text that says what took the place of a missing value."""
    return f"missing (taken as {text})"


def prototype_text(column: Column, plain: Floats) -> str:
    """Write a value of a prototype: categories by their shares, integers as integers."""
    if isinstance(column, CategoryColumn):
        if int(column.nearest(plain)[0]) == UNKNOWN_CATEGORY:
            return "mixed"
        shares = column.shares(plain)[0].clip(0.0, 1.0)
        shares /= max(shares.sum(), 1.0)
        order = (-shares).argsort(kind="stable")[:MOST_SHARES]
        order = [c for c in order if shares[c] >= TINY] or order[:1].tolist()
        if shares[order[0]] > 1.0 - ALL:
            return column.text(int(order[0]))
        return ", ".join(f"{column.text(int(c))} {shares[c]:.0%}" for c in order)
    if column.kind == "empty":
        return UNUSED_COLUMN
    if isinstance(column, TextColumn):
        return column.top_words(plain[0]) or "none of the words"
    is_code = column.low == 0.0 and column.high == 1.0
    value = float(plain[0, 0])
    told = column.text(round(value) if column.is_integer and not is_code else value)
    lost = float(plain[0, 1:].clip(0.0, 1.0).sum())
    return f"{told}, missing {lost:.0%}" if lost > TINY else told


def change_texts(column: Column, given: Any, row: Floats, point: Floats) -> tuple[str, str]:
    """Write the value that was given, and the one that is to be."""
    if isinstance(column, CategoryColumn):
        new = column.text(int(column.nearest(point[None])[0]))
        return "missing" if given is None else str(given), new
    new = column.grid_text(float(point[0]))
    old = column.grid_text(float(row[0]), new)
    return (taken_as(old) if given is None or given != given else old), new


def quote_text(text: str) -> str:
    """Return a text, in double quotes if its end could not be told in a list of changes."""
    clear = text == text.strip() != "" and text.isprintable()
    if clear and not {",", '"'} & set(text) and "to" not in text.split():
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
