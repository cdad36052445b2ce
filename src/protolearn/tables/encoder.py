"""The encoder of a table: from a user's columns to numbers on one scale, and back."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats
from .._names import as_list, count, number_repeats
from .._validation import (
    all_or_nothing,
    check_choice,
    check_flag,
    check_integer,
    check_positive,
)
from .columns import (
    OTHER,
    UNKNOWN_CATEGORY,
    CategoryColumn,
    Column,
    NumberColumn,
    TextColumn,
    column_places,
    is_text,
)
from .table import Table, build_frame, find_column, input_table, library_of, native_column
from .values import Values, as_objects, detect_empty

UNSEEN_CATEGORIES = "Categories that the training rows"
"""How the warning about new categories begins, for those who have told it already."""


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers that can be compared, and back.

    Numbers are brought to mean zero and standard deviation one, a missing one is replaced by the
    median. Dates are numbers of days. Categories (texts, categories, truth values) get one entry
    each, scaled such that two categories are ``category_distance`` apart; where there are two, one
    column with 0 and ``category_distance`` does the same.

    Parameters
    ----------
    categorical : sequence, default=None
        Columns of numbers that are codes of categories, by name (of an array also by place). Other
        columns of numbers stay numbers, however few values they have.
    categories : dict, default=None
        Categories of some columns, by name, in the order wanted; None in a list is a missing value.
        Those of other columns are those of the training rows.
    missing : {"category", "most_frequent"}, default="category"
        What a missing category is: a category of its own, if training rows have it, or the most
        frequent one.
    unknown : {"warn", "ignore", "error"}, default="warn"
        What to do about categories that the training rows do not have: take them as equally far
        from all known ones, with or without a warning, or raise an error.
    category_distance : float, default=1.0
        Distance of two categories, in standard deviations of a number.
    max_categories : int, default=50
        Categories of a column. If there are more, values of three words or more on average are
        text; else the rarest ones become the category "other categories", unless most rows have a
        rare one: such a column, which may be an identifier, is an error.
    text : sequence, default=None
        Columns of free text, by name, beside those that are found by ``max_categories``.
    add_indicator : bool, default=False
        Whether a column of numbers in which training rows have no value gets a second entry, which
        is ``category_distance`` in rows without a value and zero in others.

    Attributes
    ----------
    columns_ : tuple of NumberColumn, CategoryColumn and TextColumn
        What was understood of each column: ``kind``, and ``median``, ``mean``, ``sd``, or
        ``categories`` and ``counts``. Print one to read it.
    n_features_in_ : int
        Number of columns.
    units_ : StandardScaler
        What scales numbers in the units of the table to those that a model sees.
    library_ : {"pandas", "polars", "pyarrow", "structured", "numpy"}
        Which kind of table was given to ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if all are strings.

    See Also
    --------
    table_pipeline : A pipeline of this and a model.
    prototypes_table : Prototypes in the units and words of the table.
    protolearn.counterfactual : Smallest changes of the answer, in these too.

    Notes
    -----
    Any two categories are one standard deviation apart by default, however rare they are. Entries
    of variance one would put a rare category far from everything, and entries of 0 and 1 would be
    the square root of 2 apart, but 1 if there are two categories in one column.

    Columns of a frame are found by their names: their order does not matter, and columns that were
    not there at ``fit``, such as the label, are ignored. Dates come back to the nearest
    millisecond, and without a time of day if no training row has one.

    Examples
    --------
    >>> from protolearn.tables import TableEncoder
    >>> rows = [[1.0, "red"], [2.0, "blue"], [3.0, "red"]]
    >>> encoder = TableEncoder().fit(rows)
    >>> encoder.get_feature_names_out().tolist()
    ['x0', 'x1=red']
    >>> print(encoder.describe())
    x0: numbers, mean 2, standard deviation 0.82
    x1: 2 categories: blue (1), red (2)
    >>> encoder.inverse_transform(encoder.transform(rows)).tolist()
    [[1.0, 'red'], [2.0, 'blue'], [3.0, 'red']]
    """

    columns_: tuple[Column, ...]
    n_features_in_: int
    text = None  # of older files
    add_indicator = False

    def __init__(
        self,
        *,
        categorical: Any = None,
        categories: Any = None,
        missing: str = "category",
        unknown: str = "warn",
        category_distance: float = 1.0,
        max_categories: int = 50,
        text: Any = None,
        add_indicator: bool = False,
    ):
        self.categorical = categorical
        self.categories = categories
        self.missing = missing
        self.unknown = unknown
        self.category_distance = category_distance
        self.max_categories = max_categories
        self.text = text
        self.add_indicator = add_indicator

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the columns of a table are.

        Parameters
        ----------
        X : DataFrame, structured array, or array-like of shape (n_samples, n_columns)
            The training rows.
        y : object, default=None
            Not used.

        Returns
        -------
        self : object
            The fitted encoder.
        """
        with all_or_nothing(self):
            check_choice(self, "missing", ("category", "most_frequent"))
            check_choice(self, "unknown", ("warn", "ignore", "error"))
            distance = check_positive(self, "category_distance")
            most = check_integer(self, "max_categories", low=2)
            jump = distance if check_flag(self, "add_indicator") else 0.0
            table = input_table(self, X, reset=True)
            given = categories_by_column(self.categories, table)
            codes = {find_column(name, table, "categorical") for name in as_list(self.categorical)}
            texts = {find_column(name, table, "text") for name in as_list(self.text)}
            columns: list[Column] = []
            for name in table.names:
                values, dtype = detect_empty(table.read(name)), table.dtype(name)
                if name in given or name in codes:
                    values = codes_as_categories(values, name)
                if name in texts or (name not in given and is_text(values, most)):
                    columns.append(TextColumn.of(name, values, dtype, distance))
                elif name in given or values.kind in ("category", "boolean"):
                    args = name, values, dtype, distance, self.missing, most, given.get(name)
                    columns.append(CategoryColumn.learn(*args))
                else:
                    columns.append(NumberColumn.learn(name, values, dtype, jump))
            check_columns(columns, most, given)
            self.columns_, self.library_ = tuple(columns), library_of(X)
            self.units_ = unit_scaler(self.columns_)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the numbers that a model sees.

        Parameters
        ----------
        X : DataFrame, structured array, or array-like of shape (n_samples, n_columns)
            Rows, with the columns of the training rows.

        Returns
        -------
        Z : array of shape (n_samples, n_features_out)
            Numbers, none of them missing.
        """
        return self.units_.transform(self.unscaled_rows(self.input_table(X)))

    def input_table(self, X: Any) -> Table:
        """Return rows as a table that is read by columns: those of ``fit``, in their order.

        Parameters
        ----------
        X : DataFrame, structured array, or array-like of shape (n_samples, n_columns)
            Rows, with the columns of the training rows.

        Returns
        -------
        table : Table
            With ``names``, and ``read`` for the values of a column.
        """
        check_is_fitted(self)
        return input_table(self, X, reset=False)

    def unscaled_rows(self, table: Table) -> Floats:
        """Return numbers in the units of the table, and the entries of categories.

        Parameters
        ----------
        table : Table
            Rows, see :meth:`input_table`.

        Returns
        -------
        rows : array of shape (n_samples, n_features_out)
            What ``transform`` returns, before it is scaled.
        """
        pairs = zip(self.columns_, table.names, strict=True)
        rows = np.hstack([column.plain(table.read(name)) for column, name in pairs])
        self.warn_of_unseen(table)
        return rows

    def warn_of_unseen(self, table: Table) -> None:
        """Warn of categories that the training rows do not have, or raise an error.

        Parameters
        ----------
        table : Table
            Rows, see :meth:`input_table`.
        """
        told = []
        for column, name in zip(self.columns_, table.names, strict=True):
            if self.unknown == "ignore" or not isinstance(column, CategoryColumn):
                continue
            values = table.read(name)
            new = values.data[column.codes(values) == UNKNOWN_CATEGORY].tolist()
            if new:
                some = ", ".join(map(repr, list(dict.fromkeys(new))[:5]))
                told.append(f"{some} in column {name!r} ({count(len(new), 'row')})")
        message = f"{UNSEEN_CATEGORIES} do not have: {'; '.join(told)}."
        if told and self.unknown == "error":
            raise ValueError(message)
        if told:
            warnings.warn(f"{message} They are taken as equally far from all.", stacklevel=5)

    def split_columns(self, rows: Floats) -> list[tuple[Column, Floats]]:
        """Return the numbers of each column.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features_out)
            Numbers, scaled or not.

        Returns
        -------
        parts : list of tuple
            Each column, and an array with the numbers that belong to it.
        """
        places = column_places(self.columns_)
        return [
            (column, rows[:, place]) for column, place in zip(self.columns_, places, strict=True)
        ]

    def inverse_transform(self, X: Any) -> Any:
        """Return rows in the units and words of the table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Numbers as a model sees them.

        Returns
        -------
        rows : DataFrame, structured array, or array of shape (n_samples, n_columns)
            A frame of the kind that was given to ``fit``. Of categories, that with the largest
            entry; a missing value if all entries are equal. Values that were missing are what took
            their place, or missing again with an indicator. Of texts, the words that weigh most.
        """
        check_is_fitted(self)
        index = X.index if hasattr(X, "iloc") else None
        Z = check_array(X, dtype=np.float64, input_name="X")
        if Z.shape[1] != self.units_.n_features_in_:
            raise ValueError(
                f"X has {Z.shape[1]} columns, but transform gives {self.units_.n_features_in_}."
            )
        parts = self.split_columns(self.units_.inverse_transform(Z))
        columns = {column.name: series_of(column, part, self.library_) for column, part in parts}
        return build_frame(self.library_, columns, index)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the numbers that a model sees.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns; None: those of ``fit``.

        Returns
        -------
        names : array of str of shape (n_features_out,)
            Of a number its column, of a category ``column=category``.
        """
        check_is_fitted(self)
        names = [str(column.name) for column in self.columns_]
        if input_features is not None:
            seen, given = getattr(self, "feature_names_in_", None), list(input_features)
            if seen is not None and given != list(seen):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(given) != len(names):
                raise ValueError(
                    f"input_features should have length equal to number of features "
                    f"({len(names)}), got {len(given)}"
                )
            names = [str(name) for name in given]
        pairs = zip(self.columns_, names, strict=True)
        out = [text for column, name in pairs for text in column.out_names(name)]
        return np.array(number_repeats(out), dtype=object)

    def describe(self) -> str:
        """Return in words what was understood of each column.

        Returns
        -------
        text : str
            A line for each column.
        """
        check_is_fitted(self)
        return "\n".join(map(str, self.columns_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def series_of(column: Column, part: Floats, library: str) -> Any:
    """Return a column of a frame of some library, of numbers in the units of the table."""
    whole_days = isinstance(column, NumberColumn) and column.whole_days
    return native_column(library, column.values(part), column.dtype, whole_days=whole_days)


def unit_scaler(columns: tuple[Column, ...]) -> StandardScaler:
    """Return the scaler between the user's units and those of the model.

    Its numbers are set, since a missing value counts as the median and categories have a scale of
    their own.
    """
    scaler = StandardScaler().set_output(transform="default")
    scaler.mean_ = np.concatenate([column.offset for column in columns])
    scaler.scale_ = np.concatenate([column.unit for column in columns])
    scaler.var_, scaler.n_features_in_ = np.square(scaler.scale_), len(scaler.mean_)
    scaler.n_samples_seen_ = 1
    return scaler


def categories_by_column(categories: Any, table: Table) -> dict[Any, list[Any]]:
    """Return the categories that a user names, by column."""
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        raise ValueError(
            f"categories={categories!r} must be a dict of the name of a column to a list of its "
            "categories."
        )
    return {
        find_column(name, table, "categories"): distinct_categories(name, given)
        for name, given in categories.items()
    }


def distinct_categories(name: Any, given: Any) -> list[Any]:
    """Return the categories of a column that a user names; None for a missing value."""
    try:
        values = [] if isinstance(given, str) else as_objects(list(given)).tolist()
        different = len(set(values)) == len(values)
    except TypeError:  # no list, or lists in it
        different = False
    if not different or not any(value is not None for value in values):
        raise ValueError(
            f"categories of column {name!r} are {given!r}; expected a list of different ones."
        )
    return values


def codes_as_categories(values: Values, name: Any) -> Values:
    """Return numbers that are codes of categories as categories."""
    if values.kind == "date":
        raise ValueError(
            f"Column {name!r} holds dates and is named as categorical; turn it into texts, or "
            "leave it out of the list."
        )
    if values.kind != "number":
        return values
    data = values.data
    if np.isfinite(data[~np.isnan(data)]).all() and not (data % 1.0 > 0.0).any():
        return Values("category", as_objects([v if v != v else int(v) for v in data.tolist()]))
    return Values("category", as_objects(data.tolist()))


def check_columns(columns: list[Column], most: int, given: Any) -> None:
    """Raise if a column has so many categories that it may be an identifier.

    Warn about columns without any value, and those whose rare categories are one.
    """
    free = [c for c in columns if isinstance(c, CategoryColumn) and c.name not in given]
    many = [f"{c.name!r} has {len(c.categories)}" for c in free if len(c.categories) > most]
    if many:
        raise ValueError(
            f"More categories than max_categories={most}: column {', '.join(many)}. Drop "
            "identifiers and free text; turn numbers and dates that are written as text into "
            "numbers and dates; or allow more by max_categories."
        )
    empty = [repr(column.name) for column in columns if column.kind == "empty"]
    if empty:
        warnings.warn(
            f"No row has a value in column {', '.join(empty)}, which is left out of account.",
            stacklevel=3,
        )
    for column in free:
        if OTHER in column.categories:
            n_rare = column.counts[column.categories.index(OTHER)]
            warnings.warn(
                f"Column {column.name!r} has more than max_categories={most} categories; the "
                f"rare ones, of {n_rare} rows, are taken as one, {OTHER!r}.",
                stacklevel=3,
            )
