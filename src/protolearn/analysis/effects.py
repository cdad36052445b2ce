"""How a model's score changes with each column, and whether it only ever rises or falls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from .._arrays import Floats
from .._names import suggest_name
from .._validation import integer_in
from ..rule import LinearRule, as_rule
from ..tables import (
    CategoryColumn,
    Column,
    NumberColumn,
    TableEncoder,
    TextColumn,
    flatten_steps,
)
from .contributions import mean_row, score_function
from .limits import Limits
from .model_view import ModelView
from .result_tables import import_pandas

MOST_LINES = 30
"""Effects that are printed, the largest ones."""

CERTAIN = 1e-12
"""Probabilities nearer to zero or one are taken as this near."""

RISING = 1e-9
"""Share of the largest slope by which slopes differ through rounding."""

MOST_TRIED = 20
"""Counterexamples that are tried once more, by themselves."""

CURVE_POINTS = 25
"""Values of a column at which an effect curve is computed."""

INFEASIBLE = 2
"""Status of a linear program without a solution."""


class Effect(NamedTuple):
    """What a step in one column does to the score of a class.

    Attributes
    ----------
    column : str
        The column.
    step : str
        What changes: ``+1 sd`` of a number, ``A instead of B`` of categories, or ``with "A"``, a
        word, of texts.
    effect : float
        By how much the score rises, on average over rows if it is not the same for all.
    low, high : float
        The 5th and 95th percentile over rows.
    per_unit : float
        The effect of one unit of a number; NaN for categories.
    odds_ratio : float
        What the odds of the class are multiplied with; NaN if there are no probabilities, or more
        than two classes.
    """

    column: str
    step: str
    effect: float
    low: float
    high: float
    per_unit: float
    odds_ratio: float


@dataclass(frozen=True, eq=False, repr=False)
class Effects:
    """What each column does to the score of each class.

    Attributes
    ----------
    classes : tuple
        Of two classes the second, whose lead over the first is meant; otherwise all, and the score
        of each is compared with the mean of all.
    effects : tuple of tuple of Effect
        For each of these classes.
    exact : bool
        Whether the effects are the same for all rows, as those of a linear model.
    """

    classes: tuple[Any, ...]
    effects: tuple[tuple[Effect, ...], ...]
    exact: bool

    def __repr__(self) -> str:
        lines = []
        for label, effects in zip(self.classes, self.effects, strict=True):
            kind = "effects" if self.exact else "mean effects"
            lines.append(f"For {label}, {kind} on the score:")
            order = sorted(effects, key=lambda one: -abs(one.effect))[:MOST_LINES]
            width = max(len(f"{one.column}: {one.step}") for one in order)
            for one in order:
                odds = "" if np.isnan(one.odds_ratio) else f", odds x {one.odds_ratio:.3g}"
                unit = "" if np.isnan(one.per_unit) else f", per unit {one.per_unit:+.3g}"
                name = f"{one.column}: {one.step}"
                lines.append(f"  {name:<{width}}  {one.effect:+.3g}{unit}{odds}")
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the effects as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            One line an effect, with the columns of :class:`Effect` and ``label``.
        """
        pairs = zip(self.classes, self.effects, strict=True)
        lines = [(label, *one) for label, effects in pairs for one in effects]
        return import_pandas().DataFrame(lines, columns=["label", *Effect._fields])


def column_effects(model: Any, data: Any = None) -> Effects:
    """Return what a step in each column does to the score of a model.

    Parameters
    ----------
    model : classifier
        A fitted one, best in a pipeline that begins with a table.
    data : DataFrame, or array-like of shape (n_rows, n_features), default=None
        Rows over which effects are averaged; not needed for a linear model in a table pipeline,
        whose effects are the same for all rows.

    Returns
    -------
    found : Effects
        Print it to read it. A number changes by one standard deviation, a category from the most
        frequent one, and texts get a word that they had not.

    Examples
    --------
    >>> from protolearn import SoftMarginSVM
    >>> from protolearn.analysis import column_effects
    >>> from protolearn.tables import table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "blue"], [40.0, "red"], [41.0, "blue"]]
    >>> model = table_pipeline(SoftMarginSVM()).fit(rows, ["young", "young", "old", "old"])
    >>> [one.step for one in column_effects(model).effects[0]]
    ['+1 sd', 'red instead of blue']
    """
    first = data
    if first is None:
        first = first_table_row(model)
    view = ModelView.of(model, first, data)
    scores = score_function(view)
    if scores is None or not view.sees_plain_rows:
        raise TypeError(f"{type(view.last).__name__} has no score by columns.")
    is_linear = isinstance(view.rule, LinearRule) and view.scale is not None
    if not is_linear and data is None:
        raise ValueError(
            f"The effects in {type(view.last).__name__} differ between rows: give the training "
            "rows as data=."
        )
    rows = mean_row(view.encoder)[None] if is_linear else view.plain
    groups = (1,) if len(view.classes) == 2 else tuple(range(len(view.classes)))

    def leads(plain: Floats) -> Floats:
        found = scores(plain)
        others = found[:, :1] if len(view.classes) == 2 else found.mean(axis=1, keepdims=True)
        return np.asarray((found - others)[:, groups])

    found: list[list[Effect]] = [[] for _ in groups]
    for j, column in enumerate(view.columns):
        for step, before, after, size in steps_of(view, column, j, rows):
            change = leads(after) - leads(before)
            odds, was = log_odds(view, after), log_odds(view, before)
            ratio = np.nan if odds is None or was is None else float(np.exp(np.mean(odds - was)))
            for g in range(len(groups)):
                low, high = np.percentile(change[:, g], [5.0, 95.0])
                mean = float(change[:, g].mean())
                ends = float(low), float(high), mean / size if size else np.nan, ratio
                found[g].append(Effect(str(column.name), step, mean, *ends))
    labels = tuple(view.classes[list(groups)].tolist())
    return Effects(labels, tuple(map(tuple, found)), is_linear)


def is_linear_rule(model: Any) -> bool:
    """Whether a classifier takes the largest of linear scores."""
    try:
        return isinstance(as_rule(model), LinearRule)
    except TypeError:
        return False


def first_table_row(model: Any) -> Any:
    """Return a row of a table that a model was fitted to, made of what its encoder knows."""
    encoder = flatten_steps(model)[0][1]
    if not isinstance(encoder, TableEncoder):
        raise ValueError("The model does not record its columns; pass the training rows as data=.")
    return encoder.inverse_transform(encoder.units_.transform(mean_row(encoder)[None]))


def steps_of(
    view: ModelView, column: Column, j: int, rows: Floats
) -> Iterator[tuple[str, Floats, Floats, float]]:
    """Yield the steps of a column: what each is called, rows before and after, and its size."""
    places = view.places[j]
    if isinstance(column, TextColumn):
        for word, place in enumerate(range(places.start, places.stop)):
            before, after = rows.copy(), rows.copy()
            before[:, place] = 0.0
            usual = rows[rows[:, place] > 0.0, place]
            after[:, place] = usual.mean() if len(usual) else 1.0
            for part in before[:, places], after[:, places]:  # as texts are: of length one
                part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), CERTAIN)
            yield f'with "{column.words[word]}"', before, after, 0.0
    elif isinstance(column, NumberColumn):
        if column.is_ordered and column.low < column.high:
            after = rows.copy()
            after[:, places.start] += column.sd
            yield "+1 sd", rows, after, column.sd
    else:
        usual, before = column.usual, rows.copy()
        before[:, places] = column.entries[usual]
        for code in range(len(column.categories)):
            if code != usual:
                after = rows.copy()
                after[:, places] = column.entries[code]
                name = f"{column.text(code)} instead of {column.text(usual)}"
                yield name, before, after, 0.0


class EffectCurve(NamedTuple):
    """How predictions change with a column, while all other columns of some rows stay the same."""

    column: int  # its place
    values: Floats  # (n_values,): of a column of numbers; the codes of categories
    texts: list[str]  # these in words
    # (n_values, n_classes): the mean over the rows of the probability of each class, or of its
    # score.
    mean: Floats
    low: Floats  # percentiles 10 and 90 over the rows, like the mean
    high: Floats
    has_probabilities: bool


def effect_curves(model: Any, data: Any, columns: Sequence[int]) -> list[EffectCurve]:
    """Return how the predictions for some rows change with some of their columns.

    Numbers go from percentile 1 to 99 of the rows. Columns of text and of one value are left out.
    """
    view = ModelView.of(model, data, data)
    scores, has_probabilities = score_function(view), hasattr(view.model, "predict_proba")
    if scores is None or not view.sees_plain_rows:
        raise TypeError(f"{type(view.last).__name__} has no score by columns.")
    ask, found = view.probabilities if has_probabilities else scores, []
    for j in columns:
        column, places = view.columns[j], view.places[j]
        if isinstance(column, CategoryColumn):
            values = np.arange(len(column.categories), dtype=np.float64)
            entries, texts = column.entries, [column.text(int(code)) for code in values]
        elif column.is_ordered:
            first, last = np.percentile(view.plain[:, places.start], [1.0, 99.0]).tolist()
            values = np.unique(np.linspace(first, last, CURVE_POINTS))
            if column.is_integer:
                values = np.unique(np.rint(values))
            entries = np.pad(values[:, None], ((0, 0), (0, column.width - 1)))  # none is missing
            texts = [column.text(value) for value in values.tolist()]
        else:
            continue
        if len(values) > 1:
            plain = np.tile(view.plain, (len(values), 1))
            plain[:, places] = np.repeat(entries, len(view.plain), axis=0)
            said = ask(plain).reshape(len(values), len(view.plain), -1)
            low, high = np.percentile(said, [10.0, 90.0], axis=1)
            mean = said.mean(axis=1)
            found.append(EffectCurve(j, values, texts, mean, low, high, has_probabilities))
    return found


def log_odds(view: ModelView, rows: Floats) -> Floats | None:
    """Return the logarithm of the odds of the second of two classes, if there are any."""
    if len(view.classes) != 2 or not hasattr(view.model, "predict_proba"):
        return None
    try:
        p = view.probabilities(rows)[:, 1]
    except (AttributeError, ValueError, TypeError):
        return None
    p = p.clip(CERTAIN, 1.0 - CERTAIN)
    return np.asarray(np.log(p / (1.0 - p)))


class Monotone(NamedTuple):
    """Whether an answer only ever moves one way with a column.

    Attributes
    ----------
    holds : bool
        Whether no counterexample was found.
    proved : bool
        Whether that is proved for all rows within the observed ranges.
    counterexample : tuple of two rows, or None
        Two rows that differ in the column alone, the second further in the direction: the first
        has the class, and the second has lost it.
    reason : str
        A sentence.
    """

    holds: bool
    proved: bool
    counterexample: tuple[Any, Any] | None
    reason: str


def check_monotone(
    model: Any,
    column: Any,
    direction: str = "increasing",
    *,
    label: Any = None,
    data: Any = None,
    n_rows: int = 1000,
    random_state: int = 0,
) -> Monotone:
    """Return whether a class is never lost as a column grows, by a proof or a counterexample.

    Parameters
    ----------
    model : classifier
        A fitted one, best in a pipeline that begins with a table.
    column : str or int
        The column of numbers.
    direction : {"increasing", "decreasing"}, default="increasing"
        Whether the class is to be kept as the column grows, or as it falls.
    label : label, default=None
        The class; None: the last of ``classes_``.
    data : DataFrame, or array-like of shape (n_rows, n_features), default=None
        Training rows, for a model that does not begin with a table: their ranges are meant.
    n_rows : int, default=1000
        Rows that are tried where there is no proof.
    random_state : int, default=0
        Draws these rows.

    Returns
    -------
    found : Monotone
        With ``holds``, ``proved``, ``counterexample`` and ``reason``.

    Notes
    -----
    Where boundaries are flat, the class is lost only where a row crosses from the cell of one of
    its prototypes into that of another whose score rises faster with the column. Of a linear model
    that is the sign of a coefficient. Otherwise a linear program for each such pair of prototypes
    tells whether their cells touch within the observed ranges (with shares of categories in the
    place of categories). If none do, it is proved. If some do, or boundaries are curved, the
    point, and rows drawn from the ranges, are tried for a counterexample.

    Examples
    --------
    >>> from protolearn import SoftMarginSVM, check_monotone
    >>> from protolearn.tables import table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "blue"], [40.0, "red"], [41.0, "blue"]]
    >>> model = table_pipeline(SoftMarginSVM()).fit(rows, ["young", "young", "old", "old"])
    >>> check_monotone(model, "x0", label="old").proved
    True
    """
    if direction not in ("increasing", "decreasing"):
        raise ValueError(f"direction={direction!r} must be 'increasing' or 'decreasing'.")
    sign = 1.0 if direction == "increasing" else -1.0
    integer_in(n_rows, "n_rows={value!r}", 1)
    view = ModelView.of(model, first_table_row(model) if data is None else data, data)
    j = number_place(view, column)
    goal = view.classes[-1] if label is None else label
    if goal not in view.classes.tolist():
        raise ValueError(f"label={goal!r} is not one of the classes {view.classes.tolist()}.")
    words = f"{goal} is never lost as {view.names[j]} {'grows' if sign > 0 else 'falls'}"
    if view.directions is not None and view.rule is not None:
        touching = touching_points(view, j, sign, goal)
        if not len(touching):
            return Monotone(True, True, None, f"Proved: {words}.")
    else:
        touching = view.plain[:0]
    rows = np.concatenate([touching, random_rows(view, n_rows, random_state)])
    pair = find_counterexample(view, j, sign, goal, rows)
    if pair is not None:
        return Monotone(False, True, pair, f"It is not true that {words}: see counterexample.")
    return Monotone(True, False, None, f"No counterexample in {n_rows} rows: {words}, as it seems.")


def touching_points(view: ModelView, j: int, sign: float, goal: Any) -> Floats:
    """Return points at which a cell of the class touches one whose score rises faster.

    Within the observed ranges; categories at the nearest ones. Empty only if there are none.
    """
    S, rule = view.directions, view.rule
    assert S is not None
    assert rule is not None
    slope, start = sign * S[:, view.places[j].start], mean_row(view.encoder)
    own = rule.classes[rule.codebook.labels] == goal
    D = view.distances(start[None])[0]
    ends, equal = column_ranges(view)
    found = []
    for v in np.flatnonzero(own):
        for w in np.flatnonzero(~own & (slope > slope[v] + RISING * np.abs(slope).max())):
            # D_v = D_w <= D_k at start + y: twice (S_k - S_v) y <= D_k - D_v.
            A, b = 2.0 * (S - S[v]), D - D[v]
            program = linprog(
                np.zeros(len(start)),
                A_ub=A,
                b_ub=b,
                A_eq=np.vstack([A[w], equal]),
                b_eq=np.append(b[w], np.zeros(len(equal))),
                bounds=ends - start[:, None],
            )
            if program.status != INFEASIBLE:
                found.append(start if program.x is None else start + program.x)
    points = np.array(found).reshape(-1, len(start))
    for column, places in zip(view.columns, view.places, strict=True):
        if isinstance(column, CategoryColumn):
            points[:, places] = column.entries[column.nearest(points[:, places])]
    return points


def column_ranges(view: ModelView) -> tuple[Floats, Floats]:
    """Return the ends of plain numbers, and what adds up to nothing in changes of categories."""
    ends, equal = np.zeros((view.plain.shape[1], 2)), []
    for column, places in zip(view.columns, view.places, strict=True):
        if isinstance(column, CategoryColumn):
            ends[places] = 0.0, column.entries.max()
            if places.stop - places.start > 1:
                equal.append(np.isin(np.arange(len(ends)), np.arange(len(ends))[places]))
        else:
            ends[places.start] = column.low, column.high
    return ends, np.array(equal, dtype=np.float64).reshape(-1, len(ends))


def number_place(view: ModelView, column: Any) -> int:
    """Return the place of a column of numbers."""
    names = [one.name for one in view.columns]
    place = column if isinstance(column, (int, np.integer)) and column not in names else None
    if place is None and column not in names:
        raise ValueError(f"The model has no column {column!r}.{suggest_name(column, names)}")
    j = names.index(column) if place is None else int(place)
    if isinstance(view.columns[j], CategoryColumn):
        raise ValueError(f"Column {column!r} holds categories, which have no direction.")
    return j


def find_counterexample(
    view: ModelView, j: int, sign: float, goal: Any, rows: Floats
) -> tuple[Any, Any] | None:
    """Return two rows that differ in one column, of which the further has lost the class."""
    column = view.columns[j]
    assert isinstance(column, NumberColumn)
    values = np.linspace(column.low, column.high, 200)
    values = np.unique(column.on_grid(column.grid_places(values)))[:: int(sign)]
    had = np.zeros(len(rows), dtype=bool)
    kept = rows.copy()
    for value in values.tolist():
        rows[:, view.places[j].start] = value
        has: NDArray[np.bool_] = view.labels(rows) == goal
        for i in np.flatnonzero(had & ~has)[:MOST_TRIED].tolist():
            places = np.zeros(1, dtype=np.intp)
            pair = view.frame(kept[i : i + 1], places), view.frame(rows[i : i + 1], places)
            # On the very boundary the answer may depend on the rows that come with a row.
            if view.predict(pair[0])[0] == goal != view.predict(pair[1])[0]:
                return pair
        kept[has], had = rows[has], had | has
    return None


def random_rows(view: ModelView, n_rows: int, random_state: int) -> Floats:
    """Return plain rows with values drawn from the observed ranges."""
    rng, limits = np.random.RandomState(random_state), Limits.of(view.columns)
    rows = np.repeat(mean_row(view.encoder)[None], n_rows, axis=0)
    for j, column in enumerate(view.columns):
        if isinstance(column, CategoryColumn):
            rows[:, view.places[j]] = column.entries[rng.choice(limits.allowed[j], n_rows)]
        elif column.is_ordered:
            drawn = column.on_grid(column.grid_places(rng.uniform(column.low, column.high, n_rows)))
            rows[:, view.places[j].start] = drawn.clip(column.low, column.high)
    return rows
