"""What the paper leaves open of its synthetic sets: the order of folds, the number of stripes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..findings import Table
from ..work import Work
from .folds import BY_CLASS, IN_ORDER, SHUFFLED, measure, n_folds
from .paper import EXTENDED, MEASURED, PSVM, SHOWN, Published

ORDERS = SHUFFLED, IN_ORDER, BY_CLASS

STRIPES, QUICK_STRIPES = (4, 6, 8, 10, 12, 16), (4, 8)
"""Numbers of stripes; the set has 8."""

STRIPED = PSVM, EXTENDED, "C4.5", "linear SVM", "polynomial SVM"
"""The methods that are measured by the number of stripes: those that are fast."""

PRINTED = {"PSVM": 97.3, "C4.5": 69.4, "linear SVM": 48.5, "polynomial SVM": 72.8}
"""Their accuracies on the striated set in table 2."""


def orders_of_folds(
    work: Work, paper: dict[str, dict[str, Published]], noisy: bool
) -> tuple[Table, str]:
    """Measure the spirals with three orders of folds."""
    folds, kind = n_folds(work), "noisy" if noisy else "clean"
    places = [
        (method, order, fold) for method in MEASURED for order in ORDERS for fold in range(folds)
    ]
    tasks = {
        f"order/{kind}/{order}/{method}/{fold}": (
            *("spirals", method, noisy, fold, folds, work.seed, order),
        )
        for method, order, fold in places
    }
    found = work.map(f"orders of folds, {kind} labels", measure, tasks)
    values = dict(zip(places, (each["accuracy"] for each in found.values()), strict=True))
    records = [
        {"method": method}
        | {order: _percent([values[method, order, f] for f in range(folds)]) for order in ORDERS}
        | {"paper": "" if method == EXTENDED else paper["spirals"][method].mean}
        for method in MEASURED
    ]
    table = Table(
        f"spirals_{kind}",
        f"Spirals by the order of folds, accuracy in percent, {kind} labels",
        ["method", *ORDERS, "paper's"],
        [_row(record) for record in records],
        records,
        [
            f"*{IN_ORDER.capitalize()}*: ten stretches of the spirals from the outside inwards, "
            f"each with both classes. *{BY_CLASS.capitalize()}*: ten stretches of the rows sorted "
            "by their true class, so that nearly every test fold has one class, which is the rarer "
            "one in its training rows."
        ],
    )
    return table, _nearest_order(records)


def _row(record: dict[str, Any]) -> list[str]:
    cells = (record[key] for key in (*ORDERS, "paper"))
    return [
        SHOWN.get(record["method"], record["method"]),
        *("" if cell == "" else f"{cell:.1f}" for cell in cells),
    ]


def _nearest_order(records: list[dict[str, Any]]) -> str:
    """Say which order comes nearest to the printed figures."""
    printed = [record for record in records if record["paper"] != ""]
    distance = {
        order: float(np.mean([abs(record[order] - record["paper"]) for record in printed]))
        for order in ORDERS
    }
    nearest = min(distance, key=lambda order: distance[order])
    listed = ", ".join(f"{order} {distance[order]:.1f}" for order in ORDERS)
    return (
        "The printed figures of the spirals are below those of guessing. Their mean distance from "
        f"ours is, by the order of folds, in points: {listed}. So the order that explains them "
        f"best is '{nearest}'."
    )


def stripes(work: Work) -> tuple[Table, str]:
    """Measure the striated set with other numbers of stripes."""
    folds, numbers = n_folds(work), QUICK_STRIPES if work.quick else STRIPES
    places = [(n, method, fold) for n in numbers for method in STRIPED for fold in range(folds)]
    tasks = {
        f"stripes/{n}/{method}/{fold}": (
            *("striated", method, False, fold, folds, work.seed, SHUFFLED, {"n_stripes": n}),
        )
        for n, method, fold in places
    }
    found = work.map("numbers of stripes", measure, tasks)
    values = dict(zip(places, (each["accuracy"] for each in found.values()), strict=True))
    records: list[dict[str, Any]] = [
        {"stripes": n}
        | {m: _percent([values[n, m, fold] for fold in range(folds)]) for m in STRIPED}
        for n in numbers
    ]
    table = Table(
        "stripes",
        "Striated set by the number of its stripes, accuracy in percent, clean labels",
        ["stripes", *(SHOWN.get(method, method) for method in STRIPED)],
        [
            *([str(r["stripes"]), *(f"{r[m]:.1f}" for m in STRIPED)] for r in records),
            ["paper's", *(f"{PRINTED[m]:.1f}" if m in PRINTED else "" for m in STRIPED)],
        ],
        records,
        ["The paper prints neither the number of stripes nor their shape; one draw each."],
    )
    best = max(records, key=lambda record: record[PSVM])
    return table, (
        f"With any of {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} stripes the PSVM as "
        f"published has at most {best[PSVM]:.1f} % ({best['stripes']} stripes), the extended one "
        f"at least {min(r[EXTENDED] for r in records):.1f} %; the paper prints "
        f"{PRINTED[PSVM]:.1f} %."
    )


def _percent(values: list[float]) -> float:
    return round(100.0 * float(np.mean(values)), 4)
