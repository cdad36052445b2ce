"""``protolearn explain``: why a saved model says what it says about a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from .._names import count, decimals_text, radius_text
from ..tables import (
    TableCounterfactuals,
    contributions_table,
    counterfactual_table,
    distance_unit,
    labelled_prototypes,
    prototype_texts,
    row_texts,
)
from .command_output import Screen, plain_table, say
from .failure import Failure
from .saved_model import RowPredictions, RowPredictor, SavedModel

MOST_COLUMNS = 20
"""Columns that are shown, those that matter most."""

MOST_OTHERS = 3
"""Classes of which the nearest prototype is shown beside that of the answer."""

BAR = 6
"""Characters of the longest bar."""

MOST_ALONE = 40
"""Columns that are tried to change alone, those first that change most in the smallest change."""


def run_explain(
    model: Path, data: str, row: int, to: str | None = None, fixed: Sequence[str] = ()
) -> None:
    """Explain the answer about a row, which is counted from 1."""
    console = Screen()
    saved = SavedModel.open(model)
    target = None if to is None else saved.label_named(to)
    kept = [saved.column_named(name) for name in fixed]
    frame = saved.rows(data)
    if not 1 <= row <= len(frame):
        raise Failure(f"--row {row}: {data!r} has rows 1 to {len(frame):,}.")
    one = frame[row - 1 : row]
    unseen = saved.unseen_note(one)
    if unseen:
        say(Screen(stderr=True), f"note: {unseen}")
    predictor = RowPredictor(saved)
    answers = predictor.ask(one)
    say(console, answer_text(predictor, answers, row), "bold")
    for line in certainty_lines(predictor, answers):
        say(console, line)
    console.print(side_by_side(predictor, answers, one))
    for line in change_lines(saved, one, answers.label[0], target, kept):
        say(console, line)


def answer_text(predictor: RowPredictor, answers: RowPredictions, row: int) -> str:
    """Return a text that says what the answer is, and how probable."""
    text = f"Row {row}: {answers.label[0]}"
    if answers.probability is None:
        return text
    shares = dict(zip(predictor.classes.tolist(), answers.probability[0], strict=True))
    others = sorted(
        (one for one in shares.items() if one[0] != answers.label[0]), key=lambda one: -one[1]
    )
    told = ", ".join(f"{label} {share:.1%}" for label, share in others[:MOST_OTHERS])
    return f"{text}, with probability {shares[answers.label[0]]:.1%} ({told})"


def certainty_lines(predictor: RowPredictor, answers: RowPredictions) -> list[str]:
    """Return how far the answer is from another one, and whether to look again."""
    lines = []
    if answers.radius is not None:
        steps = predictor.saved.steps
        lines.append(
            f"Nothing changes the answer within {radius_text(answers.radius[0])}, the certified "
            f"radius, in {distance_unit(steps.encoder.columns_, steps.between)}."
        )
    if predictor.threshold is not None and answers.flagged is not None and answers.flagged[0]:
        below = decimals_text(predictor.threshold, 2, ROUND_CEILING)
        lines.append(
            f"Flagged for a second look: the probability is below {below}, where errors are "
            "frequent."
        )
    return lines


def side_by_side(predictor: RowPredictor, answers: RowPredictions, one: NDArray[Any]) -> Table:
    """Return the row beside the nearest prototypes, the columns that matter most first."""
    encoder = predictor.saved.steps.encoder
    found = contributions_table(predictor.saved.pipeline, one)
    names = [str(column.name) for column in encoder.columns_]
    table = plain_table("column", "this row")
    columns = [names, row_texts(encoder, one)]
    for head, texts in prototypes_beside(predictor, answers):
        table.add_column(head, header_style="bold", overflow="fold")
        columns.append(texts)
    order = np.arange(len(names))
    if found.shares is not None:
        speaks = found.shares[0]
        order = np.argsort(-np.abs(speaks), kind="stable")
        table.add_column(f"speaks for {answers.label[0]}", header_style="bold", no_wrap=True)
        columns.append([share_bar(share, np.abs(speaks).max()) for share in speaks])
    for place in order[:MOST_COLUMNS]:
        table.add_row(*(cells[place] for cells in columns))
    table.caption = side_caption(len(names), found.reason, predictor)
    return table


def side_caption(n_columns: int, reason: str, predictor: RowPredictor) -> str | None:
    """Return a text that says what the table does not show."""
    more = n_columns - MOST_COLUMNS
    parts = [f"and {count(more, 'column')} more, which matter less"] if more > 0 else []
    parts += [f"no share of each column: {reason}"] if reason else []
    silent = predictor.reasons.get("nearest_prototype")
    parts += [f"no prototypes: {silent}"] if silent else []
    return "; ".join(parts) or None


def prototypes_beside(
    predictor: RowPredictor, answers: RowPredictions
) -> list[tuple[str, list[str]]]:
    """Return the nearest prototype of the answer and of the nearest other classes, with heads."""
    if answers.distances is None:
        return []
    steps, distances = predictor.saved.steps, answers.distances[0]
    try:
        prototypes, labels = labelled_prototypes(steps.model)
    except TypeError:
        return []
    nearest: dict[Any, int] = {}
    for k in np.argsort(distances, kind="stable").tolist():
        nearest.setdefault(labels[k], k)
    own = nearest.pop(answers.label[0], None)
    shown = [*([] if own is None else [own]), *list(nearest.values())[:MOST_OTHERS]]
    cells = prototype_texts(steps, prototypes[shown])
    heads = [f"prototype {predictor.prototypes[k]}" for k in shown]
    return [(head, [texts[j] for texts in cells]) for j, head in enumerate(heads)]


def share_bar(share: float, largest: float) -> str:
    """Return a share with a bar; what speaks against is on the left of the line."""
    length = round(BAR * abs(share) / largest) if largest else 0
    left = "" if share >= 0 else "─" * length
    right = "█" * length if share >= 0 else ""
    return f"{left:>{BAR}}│{right:<{BAR}} {100 * share:+5.1f} %"


def change_lines(
    saved: SavedModel, one: NDArray[Any], label: Any, target: Any, fixed: Sequence[Any]
) -> list[str]:
    """Return what would change the answer: the smallest change, and one of the fewest columns."""
    if target is not None and target == label:
        return [f"It is {label} already."]
    try:
        nearest = counterfactual_table(saved.pipeline, one, target, fixed)
    except (TypeError, ValueError) as error:
        return [f"There is no counterfactual: {error}"]
    which = "of all" if nearest.exact else "that was found"
    lines = [f"The smallest change {which}: {nearest.describe(0)}."]
    if nearest.feasible[0]:
        few = change_fewest(saved, one, nearest, fixed)
        lines.append(f"Fewest columns: {few.assignments(0)}.")
    return lines


def change_fewest(
    saved: SavedModel, one: NDArray[Any], nearest: TableCounterfactuals, fixed: Sequence[Any]
) -> TableCounterfactuals:
    """Return a change of few columns to the same class, in the training rows' ranges if it can be.

    It is one column if one is enough; otherwise none of the columns can be left out.
    """
    names = [column.name for column in saved.columns]
    order = [change.column for change in nearest.changes[0]]
    order += [name for name in names if name not in order and name not in fixed]

    def ask(chosen: Sequence[Any], bounds: str | None) -> TableCounterfactuals:
        others = [name for name in names if name not in chosen]
        return counterfactual_table(saved.pipeline, one, nearest.label[0], others, bounds)

    for bounds in ("training", None):
        whole = ask(order, bounds)
        if not whole.feasible[0]:
            continue
        alone = [ask([name], bounds) for name in order[:MOST_ALONE]]
        if any(found.feasible[0] for found in alone):
            return min(alone, key=lambda found: found.distance[0])
        return leave_out(whole, partial(ask, bounds=bounds))
    return nearest


def leave_out(
    whole: TableCounterfactuals, ask: Callable[[Sequence[Any]], TableCounterfactuals]
) -> TableCounterfactuals:
    """Return a change without the columns that it can do without, the smallest changes first."""
    best, chosen = whole, [change.column for change in whole.changes[0]]
    size = len(chosen) // 2
    while size:
        place = len(chosen)
        while place > 0:
            rest = chosen[: max(place - size, 0)] + chosen[place:]
            found = ask(rest)
            if found.feasible[0]:
                best, chosen = found, rest
            place -= size
        size //= 2
    return best
