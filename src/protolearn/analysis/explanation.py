"""Why a model says what it says about rows, in the user's columns, units and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_consistent_length

from .._arrays import Floats, Indices
from .._names import count, number_repeats, radius_text
from .._validation import integer_in
from ..rule import LinearRule
from ..tables import (
    NumberColumn,
    TextColumn,
    column_texts,
    distance_unit,
    ignore_warnings,
    labelled_prototypes,
    prototype_text,
)
from .certificates import certified_radius
from .change_search import plain_prototypes
from .contributions import column_contributions, score_function
from .hypothesis_margins import known_labels, margin_of_prediction
from .limits import Limits
from .model_view import QUIET, ModelView
from .result_tables import import_pandas
from .table_counterfactuals import (
    TableCounterfactuals,
    change_columns,
    target_labels,
)

MOST_ROWS, MOST_COLUMNS = 3, 20
"""Rows and columns that a printed explanation shows."""

BAR = 6
"""Characters of the longest bar."""


class Exemplars(NamedTuple):
    """The real rows that are nearest to something.

    Attributes
    ----------
    name : str
        What they are near to.
    rows : array of shape (n_exemplars,)
        Their places in the data, the nearest first.
    distance : array of shape (n_exemplars,)
        How far they are, as the model sees rows.
    """

    name: str
    rows: Indices
    distance: Floats


class Example(NamedTuple):
    """A row to look at beside another: a prototype, or the mean of a class."""

    name: str
    texts: list[str]  # for each column


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What there is to say about the answers of a model to some rows.

    Print it, or show it in a notebook, to read it.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    label, rival : arrays of shape (n_samples,)
        The predicted class, and the class that comes second.
    probability : array of shape (n_samples, n_classes) or None
        Of each class, in the order of ``classes``.
    classes : array of shape (n_classes,)
        The classes.
    margin : array of shape (n_samples,) or None
        The hypothesis margin of the answer.
    certified_radius : array of shape (n_samples,) or None
        How far a row may move, as the model sees it, without another answer, for certain.
    contributions : array of shape (n_samples, n_columns) or None
        What each column adds to the lead of the predicted class over the other; all numbers that
        the model sees of a category are one. Equal values add nothing.
    score_difference : array of shape (n_samples,) or None
        What the contributions of a row add up to.
    compared_with : str
        What a row is compared with in the contributions.
    examples : tuple of list of Example
        For each row what to look at beside it: the nearest prototype of its class and of the
        other; of a linear model the means of the two classes, if training rows are known.
    exemplars : tuple of list of Exemplars
        For each row the nearest training rows of its class and of the other, if these are known.
    counterfactual : TableCounterfactuals or None
        The smallest allowed change of the answer.
    reasons : dict
        Why something is None, by its name.
    values : list of list of str
        The rows as texts: for each column that of each row.
    unit : str
        In what the certified radius is measured.
    words : tuple of list of str
        For each row, of each column of text, the words that speak for the class and for the other.
    threshold : array of shape (n_samples,) or None
        What the threshold of the decision adds to ``score_difference``: their sum is the lead. None
        if the decision of nearest prototypes has no threshold.
    """

    columns: tuple[str, ...]
    label: NDArray[Any]
    rival: NDArray[Any]
    probability: Floats | None
    classes: NDArray[Any]
    margin: Floats | None
    certified_radius: Floats | None
    contributions: Floats | None
    score_difference: Floats | None
    compared_with: str
    examples: tuple[list[Example], ...]
    exemplars: tuple[list[Exemplars], ...]
    counterfactual: TableCounterfactuals | None
    reasons: dict[str, str]
    values: list[list[str]]
    unit: str
    words: tuple[list[str], ...] = ()
    threshold: Floats | None = None

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        parts = [self.describe(row) for row in range(min(len(self), MOST_ROWS))]
        more = len(self) - len(parts)
        return "\n\n".join(parts + ([f"... and {count(more, 'row')} more"] if more else []))

    def order(self, row: int) -> list[int]:
        """Return the columns, those first that contribute most.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        places : list of int
            Places of the columns.
        """
        if self.contributions is None:
            return list(range(len(self.columns)))
        return np.argsort(-np.abs(self.contributions[row]), kind="stable").tolist()

    def answer(self, row: int) -> str:
        """Return the label with its probability.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            Such as ``good, with probability 83.0% (bad 17.0%)``.
        """
        text = str(self.label[row])
        if self.probability is None:
            return text
        shares = dict(zip(self.classes.tolist(), self.probability[row], strict=True))
        own = shares.pop(self.label[row])
        others = sorted(shares.items(), key=lambda one: -one[1])[:3]
        told = ", ".join(f"{label} {share:.1%}" for label, share in others)
        return f"{text}, with probability {own:.1%} ({told})"

    def table(self, row: int) -> tuple[list[str], list[list[str]]]:
        """Return the row beside its examples, with the contributions of the columns.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        head : list of str
            The heads of the table.
        lines : list of list of str
            A line for each column, those that contribute most first.
        """
        head = ["column", "this row", *(one.name for one in self.examples[row])]
        cells = [list(self.columns), [texts[row] for texts in self.values]]
        cells += [one.texts for one in self.examples[row]]
        if self.contributions is not None:
            head.append(f"speaks for {self.label[row]}")
            cells.append(contribution_bars(self.contributions[row]))
        return head, [[texts[j] for texts in cells] for j in self.order(row)]

    def notes(self, row: int) -> list[str]:
        """Return what else there is to say about a row, in sentences.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        lines : list of str
            The certified radius, the exemplars and the counterfactual.
        """
        lines = []
        if self.certified_radius is not None:
            radius = radius_text(self.certified_radius[row])
            lines.append(
                f"No change smaller than {radius} alters the answer (certified radius, in "
                f"{self.unit})."
            )
        if self.contributions is not None and self.score_difference is not None:
            total, what = self.score_difference[row], "the lead"
            if self.threshold is not None:
                lead = total + self.threshold[row]
                more = f"{self.threshold[row]:+.3g}"
                what = f"and the threshold adds {more} to give {lead:.3g}, the lead"
            lines.append(
                f"The contributions add up to {total:.3g}, {what} of "
                f"{self.label[row]} over {self.rival[row]}; each is in percent of the sum of their "
                f"sizes, compared with {self.compared_with}."
            )
        lines += self.words[row] if self.words else []
        if self.exemplars:
            near = "; ".join(f"{one.name}: {rows_text(one.rows)}" for one in self.exemplars[row])
            lines.append(f"Nearest rows of the data, counted from 1: {near}.")
        found = self.counterfactual
        if found is not None:
            lines.append(change_sentence(found, row))
        return lines

    def describe(self, row: int) -> str:
        """Return the explanation of a row as text.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            Several lines.
        """
        head, lines = self.table(row)
        shown = [head, *lines[:MOST_COLUMNS]]
        widths = [max(len(line[k]) for line in shown) for k in range(len(head))]
        text = [f"Row {row}: {self.answer(row)}"]
        for line in shown:
            pairs = zip(line, widths, strict=True)
            text.append("  ".join(f"{cell:<{width}}" for cell, width in pairs).rstrip())
        more = len(lines) - MOST_COLUMNS
        text += [f"and {count(more, 'column')} more, which matter less"] if more > 0 else []
        return "\n".join(text + self.notes(row))

    def _repr_html_(self) -> str:
        parts = []
        for row in range(min(len(self), MOST_ROWS)):
            head, lines = self.table(row)
            cells = "".join(f"<th>{escape(name)}</th>" for name in head)
            body = "".join(
                "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
                for line in lines[:MOST_COLUMNS]
            )
            notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes(row))
            title = f"<p><b>Row {row}: {escape(self.answer(row))}</b></p>"
            parts.append(f"{title}<table><tr>{cells}</tr>{body}</table>{notes}")
        return "".join(parts)

    def to_frame(self) -> Any:
        """Return values and contributions as a pandas data frame, one line a row and column.

        Returns
        -------
        frame : DataFrame
            Columns ``row``, ``label``, ``rival``, ``column``, ``value``, ``contribution``.
        """
        n, C = len(self), len(self.columns)
        nothing = np.full((n, C), np.nan)
        columns = {
            "row": np.repeat(np.arange(n), C),
            "label": np.repeat(self.label, C),
            "rival": np.repeat(self.rival, C),
            "column": list(self.columns) * n,
            "value": [texts[i] for i in range(n) for texts in self.values],
            "contribution": (nothing if self.contributions is None else self.contributions).ravel(),
        }
        return import_pandas().DataFrame(columns)

    def plot(self, row: int = 0, *, max_columns: int = 12, ax: Any = None) -> Any:
        """Draw the contributions of the columns to the decision about a row.

        Parameters
        ----------
        row : int, default=0
            Which row.
        max_columns : int, default=12
            Columns that are shown, those that contribute most.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        if self.contributions is None:
            raise ValueError(f"There are no contributions: {self.reasons['contributions']}.")
        order = self.order(row)[: integer_in(max_columns, "max_columns={value!r}", 1)]
        if ax is None:
            import matplotlib.pyplot as plt

            size = 6.4, 1.2 + 0.32 * len(order)
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        values = self.contributions[row, order]
        colours = np.where(values >= 0.0, "#0072B2", "#D55E00")
        ax.barh(range(len(order)), values, color=colours)
        names = [f"{self.columns[j]} = {self.values[j][row]}" for j in order]
        ax.set_yticks(range(len(order)), names)
        ax.invert_yaxis()
        ax.axvline(0.0, color="#333333", lw=0.8)
        ax.set_xlabel(f"for {self.rival[row]}   ←   contribution   →   for {self.label[row]}")
        ax.set_title(self.answer(row))
        return ax


def explain(
    model: Any,
    X: Any,
    *,
    data: Any = None,
    y: Any = None,
    target: Any = None,
    fixed: Any = None,
    bounds: Any = None,
    increase_only: Any = None,
    decrease_only: Any = None,
    constraints: Any = None,
    max_changes: int | None = None,
    fewest: bool = False,
    n: int = 1,
    n_exemplars: int = 3,
) -> Explanation:
    """Return why a model says what it says about rows, and what would change its answer.

    Parameters
    ----------
    model : classifier
        A fitted one of this library or scikit-learn, best in a pipeline that begins with a table
        (:func:`~protolearn.tables.table_pipeline`): then all is in your units and words.
    X : DataFrame, structured array, or array-like of shape (n_samples, n_features)
        The rows.
    data : DataFrame, or array-like of shape (n_rows, n_features), default=None
        Training rows: exemplars are looked for among them. A model that does not begin with a table
        has counterfactuals only with them, within their ranges.
    y : array-like of shape (n_rows,), default=None
        The labels of ``data``; None: what the model predicts.
    target, fixed, bounds, increase_only, decrease_only : object
        What may change, and to which class: see :func:`~protolearn.counterfactual`.
    constraints, max_changes, fewest, n : object
        More of the same; ``n=0``: no counterfactuals, which is faster.
    n_exemplars : int, default=3
        Number of exemplars of each class.

    Returns
    -------
    found : Explanation
        With ``label``, ``probability``, ``contributions``, ``examples``, ``exemplars``, ``margin``,
        ``certified_radius``, ``counterfactual``; what a model cannot tell is None, and ``reasons``
        says why.

    See Also
    --------
    counterfactual : The smallest changes alone.

    Notes
    -----
    A column contributes to the lead of the predicted class over the one that comes second:

    * of a nearest-prototype model, by how much it brings the row nearer to the nearest prototype of
      its class than to the nearest of another, in units of the scores. The sum is the lead.
    * of a linear model, by its weights times the way to the row from the boundary, from the point
      there that is nearest to the mean of the training rows. The sum is the lead.
    * of other models (soft decisions of several prototypes, kernels, ensembles), by how much it
      changes the lead on the way from the nearest row of the other class (without ``data`` the
      nearest prototype), averaged over orders of the columns. The sum is the lead less that of the
      other row.

    Examples
    --------
    >>> from protolearn import GLVQ, explain
    >>> from protolearn.tables import table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "blue"], [40.0, "red"], [41.0, "blue"]]
    >>> model = table_pipeline(GLVQ(init="means")).fit(rows, ["young", "young", "old", "old"])
    >>> found = explain(model, [[22.0, "red"]])
    >>> found.label[0], found.contributions.sum().round(6) == found.score_difference[0].round(6)
    (np.str_('young'), np.True_)
    """
    view = ModelView.of(model, X, data)
    wishes = fixed, bounds, increase_only, decrease_only, constraints, max_changes
    limits = Limits.of(view.columns, *wishes)
    goal = target_labels(model, target, len(view.plain))
    reasons: dict[str, str] = {}
    label = view.predict(view.table.data)
    rows = None if data is None else view.take(data)
    known = None if rows is None else row_labels(view, data, y, n_exemplars)
    own, rival = best_two(view, label)
    contributions = column_contributions(view, own, rival, rows)
    if contributions.reason:
        reasons["contributions"] = contributions.reason

    def ask(name: str, function: Callable[[], Any]) -> Any:
        try:
            with ignore_warnings(*QUIET):
                return function()
        except (TypeError, ValueError, AttributeError) as error:
            reasons[name] = str(error).partition("; give ")[0].rstrip(".")
            return None

    inner = view.inner(view.plain) if view.sees_plain_rows else None
    found = None
    if n == 0:
        reasons["counterfactual"] = "n is 0"
    elif view.has_ranges:
        found = ask("counterfactual", lambda: change_columns(view, goal, limits, data, fewest, n))
    else:
        reasons["counterfactual"] = "the ranges of the columns are not known; give data"
    return Explanation(
        columns=tuple(view.names),
        label=label,
        rival=view.classes[rival],
        probability=ask("probability", lambda: answer_probabilities(view)),
        classes=view.classes,
        margin=ask("margin", lambda: margin_of_prediction(view.last, inner)),
        certified_radius=ask("certified_radius", lambda: certified_radius(view.last, inner)),
        contributions=contributions.values,
        score_difference=contributions.total,
        compared_with=contributions.beside,
        threshold=contributions.threshold,
        examples=find_examples(view, own, rival, rows, known),
        exemplars=() if rows is None else nearest_rows(view, own, rival, rows, known, n_exemplars),
        counterfactual=found,
        reasons=reasons,
        values=column_texts(view.encoder, view.table.data),
        unit=distance_unit(view.columns, view.between)
        if view.begins_with_table
        else "units of the model's input",
        words=speaking_words(view, contributions.entries, label, view.classes[rival]),
    )


def answer_probabilities(view: ModelView) -> Floats:
    """Return the probability of each class for the rows of a view; raise if there is none."""
    if not hasattr(view.model, "predict_proba"):
        raise TypeError(f"{type(view.last).__name__} has no probabilities")
    return np.asarray(view.model.predict_proba(view.table.data))


def speaking_words(
    view: ModelView, entries: Floats | None, label: NDArray[Any], rival: NDArray[Any]
) -> tuple[list[str], ...]:
    """Return for each row, of each column of text, which of its words speak for which class."""
    texts = [
        (column, place)
        for column, place in zip(view.columns, view.places, strict=True)
        if isinstance(column, TextColumn)
    ]
    if entries is None or not texts:
        return ()
    found: tuple[list[str], ...] = tuple([] for _ in entries)
    for column, place in texts:
        there = np.where(view.plain[:, place] > 0.0, entries[:, place], 0.0)
        for lines, row, own, other in zip(found, there, label, rival, strict=True):
            sides = [(own, column.top_words(row)), (other, column.top_words(-row))]
            told = "; ".join(f"for {side}: {words}" for side, words in sides if words)
            lines += [f"Words of {column.name} that speak {told}."] if told else []
    return found


def find_exemplars(model: Any, data: Any, y: Any = None, n_exemplars: int = 3) -> list[Exemplars]:
    """Return for each prototype of a model the nearest rows of its class.

    Parameters
    ----------
    model : classifier
        A fitted one with prototypes, in a pipeline or not.
    data : DataFrame, or array-like of shape (n_rows, n_features)
        Rows to choose from, such as the training rows.
    y : array-like of shape (n_rows,), default=None
        Their labels; None: what the model predicts.
    n_exemplars : int, default=3
        Number of rows for each prototype.

    Returns
    -------
    found : list of Exemplars
        One for each prototype, called by its class.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.analysis import find_exemplars
    >>> X, y = [[0.0], [1.0], [3.0], [10.0], [12.0], [13.0]], [0, 0, 0, 1, 1, 1]
    >>> [one.rows.tolist() for one in find_exemplars(GLVQ().fit(X, y), X, y, n_exemplars=1)]
    [[1], [4]]
    """
    view = ModelView.of(model, data, data)
    known = row_labels(view, data, y, n_exemplars)
    prototypes, labels = labelled_prototypes(view.last)
    names = number_repeats([str(label) for label in labels])
    D = model_distances(view, view.inner(view.plain), prototypes)
    codes = np.searchsorted(view.classes, labels)
    pairs = zip(names, codes, D.T, strict=True)
    return [smallest(name, far, known == code, n_exemplars) for name, code, far in pairs]


def smallest(name: str, far: Floats, allowed: NDArray[np.bool_], most: int) -> Exemplars:
    """Return the places of the smallest allowed distances."""
    order = np.argsort(np.where(allowed, far, np.inf), kind="stable")
    order = order[: min(most, int(allowed.sum()))]
    return Exemplars(name, order, far[order])


def model_distances(view: ModelView, A: Floats, B: Floats) -> Floats:
    """Return the distances of rows as the model sees them, by its metric if that is linear."""
    last = view.last
    if getattr(last, "omega_", None) is not None and np.ndim(last.omega_) == 2:
        A, B = A @ last.omega_.T, B @ last.omega_.T
    elif getattr(last, "relevances_", None) is not None and np.ndim(last.relevances_) == 1:
        A, B = A * np.sqrt(last.relevances_), B * np.sqrt(last.relevances_)
    return np.asarray(pairwise_distances(A, B))


def row_labels(view: ModelView, data: Any, y: Any, n_exemplars: int) -> Indices:
    """Return the class of each row of the data."""
    integer_in(n_exemplars, "n_exemplars={value!r}", 1)
    if y is not None:
        check_consistent_length(data, y)
    labels = view.predict(data) if y is None else known_labels(view.model, np.asarray(y))
    return np.searchsorted(view.classes, labels)


def best_two(view: ModelView, label: NDArray[Any]) -> tuple[Indices, Indices]:
    """Return the class of each row, and the one that comes second."""
    own = np.searchsorted(view.classes, label)
    if len(view.classes) == 2:
        return own, 1 - own
    scores = score_function(view)
    if scores is None or not view.sees_plain_rows:
        return own, np.where(own == 0, 1, 0)
    if view.rule is not None and not view.rule.is_soft and len(view.plain):
        D = view.distances(view.plain)
        others = np.where(view.rule.codebook.labels == own[:, None], np.inf, D)
        return own, view.rule.codebook.labels[others.argmin(axis=1)]
    found = scores(view.plain)
    found[np.arange(len(own)), own] = -np.inf
    return own, found.argmax(axis=1)


def find_examples(
    view: ModelView, own: Indices, rival: Indices, rows: Floats | None, known: Indices | None
) -> tuple[list[Example], ...]:
    """Return what to look at beside each row: prototypes, or the means of classes."""
    pairs = list(zip(own.tolist(), rival.tolist(), strict=True))
    if isinstance(view.rule, LinearRule):
        if rows is None or known is None:
            return tuple([] for _ in pairs)
        means = {c: rows[known == c].mean(axis=0) for c in np.unique(known).tolist()}
        there = ([c for c in pair if c in means] for pair in pairs)
        return tuple(
            name_examples(view, [f"mean of {view.classes[c]}" for c in cs], [means[c] for c in cs])
            for cs in there
        )
    try:
        prototypes, labels = labelled_prototypes(view.last)
        plain = plain_prototypes(view, prototypes)
        if plain.shape[1] != view.plain.shape[1] or not view.sees_plain_rows:
            return tuple([] for _ in pairs)
    except (TypeError, ValueError, AttributeError, IndexError):
        return tuple([] for _ in pairs)
    names = number_repeats([str(label) for label in labels])
    codes, Z = np.searchsorted(view.classes, labels), view.inner(view.plain)
    D = model_distances(view, Z, prototypes) if view.rule is None else view.distances(view.plain)
    found = []
    for far, pair in zip(D, pairs, strict=True):
        chosen = [int(np.where(codes == c, far, np.inf).argmin()) for c in pair if c in codes]
        found.append(
            name_examples(view, [f"prototype {names[k]}" for k in chosen], list(plain[chosen]))
        )
    return tuple(found)


def name_examples(view: ModelView, names: list[str], rows: list[Floats]) -> list[Example]:
    """Return averages as texts; integers have decimals only where they would look the same."""
    texts: list[list[str]] = [[] for _ in rows]
    for column, places in zip(view.columns, view.places, strict=True):
        told = [prototype_text(column, row[None, places]) for row in rows]
        if isinstance(column, NumberColumn) and column.is_ordered and len(set(told)) < len(told):
            told = [column.text(float(row[places.start])) for row in rows]
        for text, one in zip(texts, told, strict=True):
            text.append(one)
    return [Example(name, text) for name, text in zip(names, texts, strict=True)]


def nearest_rows(
    view: ModelView, own: Indices, rival: Indices, rows: Floats, known: Any, most: int
) -> tuple[list[Exemplars], ...]:
    """Return for each row the nearest other rows of its class, and of the rival class."""
    if view.sees_plain_rows:
        D = model_distances(view, view.inner(view.plain), view.inner(rows))
    else:
        D = np.stack([view.sizes(np.broadcast_to(x, rows.shape), rows).sum(1) for x in view.plain])
    differs = (rows[None] != view.plain[:, None]).any(axis=2)
    return tuple(
        [smallest(str(view.classes[c]), D[i], (known == c) & differs[i], most) for c in pair]
        for i, pair in enumerate(zip(own.tolist(), rival.tolist(), strict=True))
    )


def contribution_bars(values: Sequence[float] | Floats) -> list[str]:
    """Return each contribution with a bar; what speaks against is on the left of the line."""
    sizes = np.abs(values)
    total, largest = float(sizes.sum()) or 1.0, float(sizes.max()) or 1.0
    lines = []
    for value in values:
        length = round(BAR * abs(value) / largest)
        left, right = ("─" * length, "") if value < 0 else ("", "█" * length)
        share = round(100 * value / total, 1) + 0.0  # no minus zero
        lines.append(f"{left:>{BAR}}│{right:<{BAR}} {share:+5.1f} %")
    return lines


def rows_text(rows: Indices) -> str:
    """Return places of rows, counted from one, as text."""
    return "none" if not len(rows) else ", ".join(str(int(row) + 1) for row in rows)


def change_sentence(found: TableCounterfactuals, row: int) -> str:
    """Return the smallest change of a row in a sentence that says how sure it is."""
    if not found.feasible[row]:
        return f"There is no smallest change: the row {found.describe(row)}."
    which = "of all" if found.optimal[row] else "that was found"
    return f"The smallest change {which}: {found.describe(row)}."
