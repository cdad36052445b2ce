"""``protolearn explain``: why a saved model says what it says about a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from rich.table import Table

from .._names import count, decimals_text
from ..analysis import Explanation, change_sentence, counterfactual, explain
from .command_output import Screen, plain_table, say
from .failure import Failure
from .saved_model import RowPredictions, RowPredictor, SavedModel

MOST_COLUMNS = 20
"""Columns that are shown, those that matter most."""

MOST_DATA = 20_000
"""Rows of the file among which exemplars are looked for, the first ones."""


def run_explain(
    model: Path, data: str, row: int, to: str | None = None, fixed: Sequence[str] = ()
) -> None:
    """Explain the answer about a row, which is counted from 1."""
    console = Screen()
    saved = SavedModel.open(model)
    target = None if to is None else saved.label_named(to)
    kept = [name for text in fixed for name in columns_named(saved, text)]
    frame = saved.rows(data)
    if not 1 <= row <= len(frame):
        raise Failure(f"--row {row}: {data!r} has rows 1 to {len(frame):,}.")
    one = frame[row - 1 : row]
    unseen = saved.unseen_note(one)
    if unseen:
        say(Screen(stderr=True), f"note: {unseen}")
    others = frame[:MOST_DATA]
    told = explain(saved.pipeline, one, data=others, target=target, fixed=kept)
    say(console, f"Row {row}: {told.answer(0)}", "bold")
    for line in certainty_lines(RowPredictor(saved), one, told):
        say(console, line)
    console.print(side_by_side(told))
    for line in replace(told, counterfactual=None).notes(0)[told.certified_radius is not None :]:
        say(console, line)
    for line in change_lines(saved, one, told, target, kept, others):
        say(console, line)


def columns_named(saved: SavedModel, text: str) -> list[Any]:
    """Return the columns that an option names: one, or several with commas between them."""
    names = {column.name for column in saved.columns}
    parts = [text] if text in names else [part.strip() for part in text.split(",") if part.strip()]
    return [saved.column_named(part) for part in parts]


def certainty_lines(predictor: RowPredictor, one: NDArray[Any], told: Explanation) -> list[str]:
    """Return how far the answer is from another one, and whether to look again."""
    lines = [] if told.certified_radius is None else told.notes(0)[:1]
    answers: RowPredictions = predictor.ask(one)
    if predictor.threshold is not None and answers.flagged is not None and answers.flagged[0]:
        below = decimals_text(predictor.threshold, 2, ROUND_CEILING)
        lines.append(
            f"Flagged for a second look: the probability is below {below}, where errors are "
            "frequent."
        )
    return lines


def side_by_side(told: Explanation) -> Table:
    """Return the row beside its examples, the columns that matter most first."""
    head, lines = told.table(0)
    table = plain_table("column", "this row")
    for name in head[2:]:
        is_bar = name == head[-1] and told.contributions is not None
        table.add_column(name, header_style="bold", no_wrap=is_bar, overflow="fold")
    for line in lines[:MOST_COLUMNS]:
        table.add_row(*line)
    more = len(lines) - MOST_COLUMNS
    parts = [f"and {count(more, 'column')} more, which matter less"] if more > 0 else []
    reason = told.reasons.get("contributions")
    parts += [f"no share of each column: {reason}"] if reason else []
    table.caption = "; ".join(parts) or None
    return table


def change_lines(
    saved: SavedModel,
    one: NDArray[Any],
    told: Explanation,
    target: Any,
    fixed: Sequence[Any],
    data: Any = None,
) -> list[str]:
    """Return what would change the answer: the smallest change, and one of the fewest columns.

    Only changes that are possible: within the values of the training rows, on the grid of a column.
    """
    nearest = told.counterfactual
    if target is not None and target == told.label[0]:
        return [f"It is {target} already."]
    if nearest is None:
        return [f"There is no counterfactual: {told.reasons['counterfactual']}."]
    goal, lines = nearest.label[0], [change_sentence(nearest, 0)]
    few: Any = counterfactual(saved.pipeline, one, goal, fixed, data=data, fewest=True)
    if nearest.feasible[0] and few.feasible[0]:
        lines.append(f"Fewest columns: {few.assignments(0)}.")
    return lines
