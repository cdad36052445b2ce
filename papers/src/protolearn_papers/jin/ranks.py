"""The paper's test: LOGM against the others by signed ranks over the data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy.stats import wilcoxon

from ..findings import Table
from .cells import Cell
from .published import P_VALUES

TWICE = "pima"
"""A set whose rows are those of another."""


def ranks_table(cells: Sequence[Cell]) -> Table:
    """Compare over all sets: with our accuracies, with the printed ones, and as printed."""
    once = [cell for cell in cells if cell.data != TWICE]
    records: list[dict[str, Any]] = [
        {
            "method": other,
            "logm_better_on": wins(cells, other),
            "sets": len({cell.data for cell in cells}),
            "p": signed_rank_p(cells, other, "accuracy"),
            f"p_without_{TWICE}": signed_rank_p(once, other, "accuracy"),
            "p_from_printed_table": signed_rank_p(cells, other, "published"),
            "p_printed": printed,
        }
        for other, printed in P_VALUES.items()
    ]
    rows = [
        [
            f"LOGM against {one['method']}",
            f"{one['logm_better_on']} of {one['sets']}",
            *(f"{value:.4f}" for key, value in one.items() if key.startswith("p")),
        ]
        for one in records
    ]
    return Table(
        "wilcoxon",
        "Wilcoxon's signed-rank test over the data sets, exact and two-sided",
        [
            "",
            "LOGM better on",
            "p, ours",
            f"p without {TWICE}",
            "p of the printed accuracies",
            "p, printed",
        ],
        rows,
        records,
        [f"{TWICE} has the rows of diabetes, and the test takes sets to be independent."],
    )


def column(cells: Sequence[Cell], method: str, which: str) -> list[float]:
    """Return the accuracies of a method, in the order of the sets."""
    return [getattr(cell, which) for cell in cells if cell.method == method]


def signed_rank_p(cells: Sequence[Cell], other: str, which: str) -> float:
    """Return the p-value of LOGM against another method."""
    differences = [
        a - b
        for a, b in zip(column(cells, "LOGM", which), column(cells, other, which), strict=True)
    ]
    return float(wilcoxon(differences, method="exact").pvalue)


def wins(cells: Sequence[Cell], other: str) -> int:
    """Count the sets on which LOGM is better."""
    pairs = zip(column(cells, "LOGM", "accuracy"), column(cells, other, "accuracy"), strict=True)
    return sum(a > b for a, b in pairs)
