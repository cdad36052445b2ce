"""Section 4: the best number of prototypes lies between one a class and all points."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn._arrays import Floats
from protolearn.analysis import generalization_bound
from protolearn.classifiers import GLVQ, OLVQ1
from protolearn.datasets import fetch
from protolearn.selection import corrected_t_test, corrected_variance, holm

from ..findings import Figure, Findings, Table
from ..work import Work
from .optimum_picture import Draw

SETS = "pima", "heart", "wdbc", "vehicle", "segment"
NUMBERS = 1, 2, 3, 5, 8, 12, 20, 30, 50
"""Prototypes of each class."""

RULES: dict[str, Any] = {"OLVQ1": OLVQ1, "GLVQ": GLVQ}
NEAREST, MEANS = "1-NN", "class means"
FOLDS, LEVEL = 5, 0.05

P_VALUES = "p_against_all", "p_against_one", "p_against_most"

THETA = 0.02
"""Margin at which the bound is computed, as a share of the radius."""


def run(work: Work) -> Findings:
    """Measure the error against the number of prototypes, with both ends beside it."""
    sets, numbers, repeats = (SETS, NUMBERS, 5) if not work.quick else (("wdbc",), (1, 3, 12), 1)
    work.need(*sets)
    curves = {name: measured(work, name, numbers, repeats) for name in sets}
    bounded = sets[0]
    tasks = {f"bound {bounded}, {k}": (bounded, k, work.seed) for k in numbers}
    bounds = list(work.map("bounds", bound, tasks).values())
    records = [optimum(name, rule, one) for name, one in curves.items() for rule in RULES]
    title = "test error against prototypes a class, and the two terms of the bound"
    return Findings(
        [optimum_table(records), errors_table(curves), bound_table(bounded, bounds)],
        [Figure("prototypes", title, Draw(curves, bounded, bounds), (11.0, 7.0))],
        [
            "The paper names neither data nor numbers; here are "
            f"{listed(list(sets))}, with scaled features.",
            *told(records),
            told_bound(bounded, bounds),
        ],
    )


def folds(repeats: int, seed: int) -> RepeatedStratifiedKFold:
    """Return the splits, the same for all classifiers."""
    return RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=seed)


def fitted(kind: str, k: int, seed: int, X: Any, y: Any) -> Any:
    """Fit a classifier on scaled features."""
    scale = StandardScaler().fit(X)
    if kind in RULES:
        rule = RULES[kind](prototypes_per_class=k, random_state=seed)
        return make_pipeline(scale, rule).fit(X, y)
    if kind == MEANS:
        classes = np.unique(y)
        X, y = np.stack([X[y == label].mean(axis=0) for label in classes]), classes
    return Pipeline(
        [("scale", scale), ("nearest", KNeighborsClassifier(1).fit(scale.transform(X), y))]
    )


def fold_errors(name: str, kind: str, k: int, repeats: int, seed: int) -> list[float]:
    """Return the test error in every fold."""
    X, y = fetch(name)
    errors = []
    for train, test in folds(repeats, seed).split(X, y):
        model = fitted(kind, k, seed, X[train], y[train])
        errors.append(float(1.0 - model.score(X[test], y[test])))
    return errors


def measured(work: Work, name: str, numbers: tuple[int, ...], repeats: int) -> dict[str, Any]:
    """Return the errors of all classifiers on a data set: (numbers, folds), ends (folds,)."""
    asked = [(rule, k) for rule in RULES for k in numbers] + [(NEAREST, 0), (MEANS, 0)]
    tasks = {f"{name}, {kind}, {k}": (name, kind, k, repeats, work.seed) for kind, k in asked}
    found = {key: np.array(errors) for key, errors in work.map(name, fold_errors, tasks).items()}
    n_rows = len(fetch(name)[1])
    return {
        "numbers": list(numbers),
        "rows": n_rows,
        **{rule: np.stack([found[f"{name}, {rule}, {k}"] for k in numbers]) for rule in RULES},
        **{end: found[f"{name}, {end}, 0"] for end in (NEAREST, MEANS)},
    }


def p_values(worse: Floats, errors: Floats, n_rows: int) -> Floats:
    """Test, for every number of prototypes, whether it differs from an end; Holm's correction."""
    n_test = n_rows / FOLDS
    tests = [corrected_t_test(worse - one, n_rows - n_test, n_test) for one in errors]
    return holm(np.array([one.pvalue for one in tests]))


def standard_error(errors: Floats, n_rows: int) -> float:
    """Return the standard error of a mean over repeated folds, which overlap."""
    n_test = n_rows / FOLDS
    return float(np.sqrt(corrected_variance(errors, n_rows - n_test, n_test)))


def optimum(name: str, rule: str, one: dict[str, Any]) -> dict[str, Any]:
    """Find the best number, and compare it with one prototype a class and with all points."""
    errors, rows = one[rule], one["rows"]
    best = int(errors.mean(axis=1).argmin())
    few, most = p_values(errors[0], errors[1:], rows), p_values(errors[-1], errors[:-1], rows)
    return {
        "set": name,
        "rule": rule,
        "best": one["numbers"][best],
        "error": float(errors[best].mean()),
        "standard_error": standard_error(errors[best], rows),
        "error_one": float(errors[0].mean()),
        "error_most": float(errors[-1].mean()),
        "error_all": float(one[NEAREST].mean()),
        "p_against_all": float(p_values(one[NEAREST], errors, rows)[best]),
        "p_against_one": float(few[best - 1]) if best else 1.0,
        "p_against_most": float(most[best]) if best < len(most) else 1.0,
        "inside": 0 < best < len(errors) - 1,
    }


def better(error: float, other: float, p: float) -> str:
    """Return a text that says whether an error is smaller than another."""
    if error >= other:
        return "no"
    return "yes" if p < LEVEL else "not significantly"


def optimum_table(records: list[dict[str, Any]]) -> Table:
    """Show the best numbers."""
    return Table(
        "optimum",
        "Best number of prototypes a class (the paper: between the ends, and better than 1-NN)",
        [
            "set",
            "rule",
            "best",
            "error",
            "with one",
            "with most",
            NEAREST,
            "between the ends",
            f"p against {NEAREST}",
            "p against one",
            "p against most",
        ],
        [
            [
                one["set"],
                one["rule"],
                str(one["best"]),
                f"{100 * one['error']:.1f} ± {100 * one['standard_error']:.1f} %",
                *(f"{100 * one[key]:.1f} %" for key in ("error_one", "error_most", "error_all")),
                "yes" if one["inside"] else "no",
                *(f"{one[key]:.3f}" for key in P_VALUES),
            ]
            for one in records
        ],
        [
            {
                **one,
                "better_than_all": better(one["error"], one["error_all"], one["p_against_all"]),
                "better_than_one": better(one["error"], one["error_one"], one["p_against_one"]),
            }
            for one in records
        ],
        [
            "Errors are means over repeated folds; standard errors and tests are those of Nadeau "
            "and Bengio, with Holm's correction for the numbers that were tried.",
            "Between the ends tells where the least mean error is, significant or not. It is a "
            "little too good, since the same folds chose the number.",
        ],
    )


def errors_table(curves: dict[str, dict[str, Any]]) -> Table:
    """Show the error at every number."""
    records = [
        {
            "set": name,
            "classifier": kind,
            "prototypes": k,
            "error": float(errors.mean()),
            "standard_error": standard_error(errors, one["rows"]),
        }
        for name, one in curves.items()
        for kind, k, errors in lines(one)
    ]
    numbers = next(iter(curves.values()))["numbers"]
    rows = []
    for name, one in curves.items():
        ends = [f"{100 * one[end].mean():.1f}" for end in (MEANS, NEAREST)]
        rows += [
            [f"{name}, {rule}", ends[0], *(f"{100 * e.mean():.1f}" for e in one[rule]), ends[1]]
            for rule in RULES
        ]
    head = ["set, rule", MEANS, *map(str, numbers), NEAREST]
    return Table("errors", "Test error in percent by prototypes a class", head, rows, records)


def lines(one: dict[str, Any]) -> list[tuple[str, Any, Floats]]:
    """List the classifiers of a data set with their errors."""
    found: list[tuple[str, Any, Floats]] = [
        (rule, k, errors)
        for rule in RULES
        for k, errors in zip(one["numbers"], one[rule], strict=True)
    ]
    return [*found, (MEANS, "", one[MEANS]), (NEAREST, "", one[NEAREST])]


def bound(name: str, k: int, seed: int) -> dict[str, float]:
    """Return the two terms of the bound for OLVQ1 trained on all rows."""
    X, y = fetch(name)
    Z = StandardScaler().fit_transform(X)
    radius = float(np.linalg.norm(Z, axis=1).max())
    model = OLVQ1(prototypes_per_class=k, random_state=seed).fit(Z, y)
    found = generalization_bound(model, Z, y, radius=radius, theta=THETA * radius)
    return {
        "prototypes": k,
        "margin_error": found.margin_error,
        "added": found.raw_bound - found.margin_error,
        "bound": found.raw_bound,
    }


def bound_table(name: str, bounds: list[dict[str, float]]) -> Table:
    """Show the two terms of the bound."""
    return Table(
        "bound",
        f"Theorem 1 for OLVQ1 on {name}, theta = {THETA:g} of the radius",
        ["prototypes a class", "margin error", "added by the capacity", "bound"],
        [
            [
                str(one["prototypes"]),
                f"{one['margin_error']:.3f}",
                f"{one['added']:.1f}",
                f"{one['bound']:.1f}",
            ]
            for one in bounds
        ],
        bounds,
    )


def told(records: list[dict[str, Any]]) -> list[str]:
    """Return sentences that say where the prediction holds."""
    said = []
    for rule in RULES:
        own = [one for one in records if one["rule"] == rule]
        inside = [one["set"] for one in own if one["inside"]]
        ahead = [one["set"] for one in own if one["error"] < one["error_all"]]
        surely = [
            one["set"]
            for one in own
            if one["error"] < one["error_all"] and one["p_against_all"] < LEVEL
        ]
        behind = [one["set"] for one in own if one["set"] not in ahead]
        said.append(
            f"{rule}: the best number lies between the ends of those tried on {listed(inside)}. "
            f"It is more accurate than {NEAREST} on {listed(ahead)} (significantly: "
            f"{listed(surely)}), and not on {listed(behind)}."
        )
    return said


def told_bound(name: str, bounds: list[dict[str, float]]) -> str:
    """Return a text that says what the bound makes of it."""
    least = min(bounds, key=lambda one: one["bound"])
    first, last = bounds[0], bounds[-1]
    empty = all(one["bound"] >= 1.0 for one in bounds)
    return (
        f"The bound on {name} is {'above one for every number, which says nothing, and ' * empty}"
        f"least with {least['prototypes']:g} a class. From {first['prototypes']:g} to "
        f"{last['prototypes']:g} of them the margin error goes from {first['margin_error']:.2f} to "
        f"{last['margin_error']:.2f}, and what the capacity adds from {first['added']:.0f} to "
        f"{last['added']:.0f}."
    )


def listed(names: list[str]) -> str:
    """Write names in a row."""
    return ", ".join(names) or "none"
