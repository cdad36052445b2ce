"""Section 6: a kernel helps few prototypes, and more prototypes help as much."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn._arrays import Floats
from protolearn.classifiers import GLVQ, KernelGLVQ, MarginLVQ
from protolearn.datasets import fetch
from protolearn.selection import corrected_t_test, holm

from ..claims import Claim, claims_table
from ..findings import Figure, Findings, Table
from ..work import Work
from .prototypes import FOLDS, LEVEL, folds, listed, standard_error

SETS = "pima", "heart", "wdbc", "ionosphere", "sonar", "vehicle"
PLANAR: dict[str, Any] = {"moons": make_moons, "circles": make_circles}
ROWS, NOISE = 400, {"moons": {"noise": 0.3}, "circles": {"noise": 0.2, "factor": 0.5}}
"""Points in the plane, and what blurs the two classes."""

NUMBERS = 1, 2, 3, 5, 8, 12, 20
"""Prototypes of each class."""

STANDARD: dict[str, Any] = {"MarginLVQ": MarginLVQ(), "GLVQ": GLVQ()}
KERNEL: dict[str, Any] = {
    "MarginLVQ": KernelGLVQ(margin="hypothesis", loss="hinge", beta=4.0, max_support=None),
    "GLVQ": KernelGLVQ(max_support=None),
}
"""The same algorithm without a kernel, and with the Gaussian one of the default width."""

CHOICE_FOLDS = 3

Curves = dict[Any, Any]
"""Errors on a data set by form and rule, with its ``numbers`` of prototypes and its ``rows``."""


def run(work: Work) -> Findings:
    """Measure the error with and without a kernel against the number of prototypes."""
    sets: tuple[str, ...] = (*SETS, *PLANAR)
    numbers: tuple[int, ...] = NUMBERS
    repeats = 1 if work.quick else 3
    if work.quick:
        sets, numbers = ("circles", "heart"), (1, 5)
    work.need(*(name for name in sets if name not in PLANAR))
    curves = {name: error_curves(work, name, numbers, repeats) for name in sets}
    records = [compare(name, rule, one) for name, one in curves.items() for rule in STANDARD]
    correct(records)
    claims = [claim for rule in STANDARD for claim in claims_of(rule, records)]
    figure = Figure("kernels", "test error with and without a kernel", Panels(curves), (12.0, 6.0))
    return Findings(
        [
            claims_table("statements", "What the paper says", claims),
            comparison_table(records, numbers),
            errors_table(curves),
        ],
        [figure],
        [
            "The paper names neither data nor kernel. Here are six sets with scaled features, two "
            "made ones in the plane, and the Gaussian kernel with the default width, which was not "
            "tuned. Its prototypes may combine all training rows.",
            f"The chosen number of prototypes is the best of {listed([str(k) for k in numbers])} "
            f"by {CHOICE_FOLDS} folds of the training rows, for each test fold anew.",
        ],
    )


def load(name: str, seed: int) -> tuple[Floats, NDArray[Any]]:
    """Return a data set; those in the plane are drawn by the seed."""
    if name in PLANAR:
        X, y = PLANAR[name](ROWS, random_state=seed, **NOISE[name])
        return X, y
    return fetch(name)


def pipeline(rule: Any, k: int, seed: int) -> Any:
    """Return a rule with k prototypes a class, on scaled features."""
    model = clone(rule).set_params(prototypes_per_class=k, random_state=seed)
    return make_pipeline(StandardScaler(), model)


def fold_errors(name: str, form: str, rule: str, k: int, repeats: int, seed: int) -> list[float]:
    """Return the test error in every fold."""
    X, y = load(name, seed)
    model = pipeline((KERNEL if form == "kernel" else STANDARD)[rule], k, seed)
    splits = folds(repeats, seed).split(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # initial prototypes may be the best
        scores = [model.fit(X[some], y[some]).score(X[test], y[test]) for some, test in splits]
    return [1.0 - float(one) for one in scores]


def chosen_errors(
    name: str, rule: str, numbers: tuple[int, ...], repeats: int, seed: int
) -> list[list[float]]:
    """Return, for every fold, the test error with the number that its training rows choose."""
    X, y = load(name, seed)
    inner = StratifiedKFold(CHOICE_FOLDS, shuffle=True, random_state=seed)
    found = []
    for train, test in folds(repeats, seed).split(X, y):
        models = [pipeline(STANDARD[rule], k, seed) for k in numbers]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = [cross_val_score(one, X[train], y[train], cv=inner).mean() for one in models]
            best = int(np.argmax(scores))
            model = models[best].fit(X[train], y[train])
        found.append([float(1.0 - model.score(X[test], y[test])), float(numbers[best])])
    return found


def error_curves(work: Work, name: str, numbers: tuple[int, ...], repeats: int) -> Curves:
    """Return the errors of both forms of all rules, (numbers, folds), and with chosen numbers."""
    forms = [(form, rule) for form in ("standard", "kernel") for rule in STANDARD]
    tasks = {
        f"{name}, {form}, {rule}, {k}": (name, form, rule, k, repeats, work.seed)
        for form, rule in forms
        for k in numbers
    }
    found = work.map(name, fold_errors, tasks)
    choices = {f"{name}, {rule}": (name, rule, numbers, repeats, work.seed) for rule in STANDARD}
    chosen = work.map(f"{name}, numbers", chosen_errors, choices)
    return {
        "numbers": list(numbers),
        "rows": len(load(name, work.seed)[1]),
        **{
            (form, rule): np.array([found[f"{name}, {form}, {rule}, {k}"] for k in numbers])
            for form, rule in forms
        },
        **{("chosen", rule): np.array(chosen[f"{name}, {rule}"]).T for rule in STANDARD},
    }


def p_value(difference: Floats, n_rows: int) -> float:
    """Return the p-value of a mean difference over repeated folds."""
    n_test = n_rows / FOLDS
    return float(corrected_t_test(difference, n_rows - n_test, n_test).pvalue)


def compare(name: str, rule: str, one: Curves) -> dict[str, Any]:
    """Return the errors of a rule on a data set, with and without the kernel."""
    standard, kernel, rows = one["standard", rule], one["kernel", rule], one["rows"]
    chosen, numbers = one["chosen", rule]
    return {
        "set": name,
        "rule": rule,
        "standard_one": float(standard[0].mean()),
        "kernel_one": float(kernel[0].mean()),
        "p_one": p_value(standard[0] - kernel[0], rows),
        "standard_chosen": float(chosen.mean()),
        "chosen": float(np.median(numbers)),
        "p_chosen": p_value(chosen - kernel[0], rows),
        "standard_most": float(standard[-1].mean()),
        "kernel_most": float(kernel[-1].mean()),
        "p_most": p_value(standard[-1] - kernel[-1], rows),
    }


def correct(records: list[dict[str, Any]]) -> None:
    """Correct the p-values of each comparison for the number of sets, by Holm's method."""
    for key in ("p_one", "p_chosen", "p_most"):
        for rule in STANDARD:
            own = [one for one in records if one["rule"] == rule]
            for one, p in zip(own, holm(np.array([one[key] for one in own])), strict=True):
                one[key] = float(p)


def claims_of(rule: str, records: list[dict[str, Any]]) -> list[Claim]:
    """Compare the three statements of the paper with the errors of one rule."""
    own = [one for one in records if one["rule"] == rule]
    helped = [one for one in own if one["kernel_one"] < one["standard_one"]]
    surely = [one["set"] for one in helped if one["p_one"] < LEVEL]
    behind = [
        one["set"]
        for one in helped
        if one["standard_chosen"] > one["kernel_one"] and one["p_chosen"] < LEVEL
    ]
    later = [
        one["set"]
        for one in own
        if one["kernel_most"] < one["standard_most"] and one["p_most"] < LEVEL
    ]
    gain = np.mean([one["standard_one"] - one["kernel_one"] for one in own])
    last = np.mean([one["standard_most"] - one["kernel_most"] for one in own])
    return [
        Claim(
            f"{rule}: with one prototype a class the kernel lowers the error",
            "a kernel improves the results with few prototypes",
            f"lower on {len(helped)} of {len(own)} sets (significantly: {listed(surely)}), by "
            f"{100 * gain:.1f} points in the mean of all",
            len(helped) / len(own),
        ),
        Claim(
            f"{rule}: where it does, more prototypes without a kernel do as well",
            "the standard version with more prototypes achieves the same improvement",
            f"significantly worse than the kernel with one prototype on {listed(behind)}; "
            f"{largest_gap(helped)}",
            1.0 - len(behind) / max(len(helped), 1),
        ),
        Claim(
            f"{rule}: with the most prototypes the kernel does not help",
            "follows from the explanation: short straight pieces come near every smooth curve",
            f"significantly better on {listed(later)}; {100 * last:.1f} points in the mean",
            1.0 - len(later) / len(own),
        ),
    ]


def largest_gap(helped: list[dict[str, Any]]) -> str:
    """Return a text that says how far a chosen number of prototypes stays behind the kernel."""
    gaps = [100.0 * (one["standard_chosen"] - one["kernel_one"]) for one in helped]
    if not gaps:
        return "no set to compare"
    worst = helped[int(np.argmax(gaps))]
    return (
        f"{np.mean(gaps):+.1f} points of error in the mean, at most {max(gaps):+.1f} on "
        f"{worst['set']} (p = {worst['p_chosen']:.3f})"
    )


def comparison_table(records: list[dict[str, Any]], numbers: tuple[int, ...]) -> Table:
    """Return the errors with one prototype a class, a chosen number, and the most."""
    percent = "standard_one", "kernel_one", "standard_chosen", "standard_most", "kernel_most"
    rows = []
    for one in records:
        error = {key: f"{100 * one[key]:.1f}" for key in percent}
        p = {key: f"{one[key]:.3f}" for key in ("p_one", "p_chosen", "p_most")}
        rows.append(
            [
                f"{one['set']}, {one['rule']}",
                *(error["standard_one"], error["kernel_one"], p["p_one"]),
                *(f"{error['standard_chosen']} ({one['chosen']:g})", p["p_chosen"]),
                *(error["standard_most"], error["kernel_most"], p["p_most"]),
            ]
        )
    return Table(
        "comparison",
        "Test error in percent, without and with the kernel",
        [
            "set, rule",
            "one a class",
            "with kernel",
            "p",
            "chosen number (median)",
            "p against kernel with one",
            f"{numbers[-1]} a class",
            "with kernel",
            "p",
        ],
        rows,
        records,
        [
            "Means over repeated folds; tests by Nadeau and Bengio, with Holm's correction for the "
            "number of sets."
        ],
    )


def errors_table(curves: dict[str, Curves]) -> Table:
    """Return the error at every number."""
    lines = [
        (name, form, rule, one)
        for name, one in curves.items()
        for rule in STANDARD
        for form in ("standard", "kernel")
    ]
    records = [
        {
            "set": name,
            "rule": rule,
            "form": form,
            "prototypes": k,
            "error": float(errors.mean()),
            "standard_error": standard_error(errors, one["rows"]),
        }
        for name, form, rule, one in lines
        for k, errors in zip(one["numbers"], one[form, rule], strict=True)
    ]
    numbers = next(iter(curves.values()))["numbers"]
    rows = [
        [f"{name}, {rule}, {form}", *(f"{100 * e.mean():.1f}" for e in one[form, rule])]
        for name, form, rule, one in lines
    ]
    head = ["set, rule, form", *map(str, numbers)]
    return Table("errors", "Test error in percent by prototypes a class", head, rows, records)


class Panels:
    """Draws the errors of all data sets, a panel each.

    Parameters
    ----------
    curves : dict of str to dict
        By data set: ``numbers``, and the errors of each form and rule (numbers, folds).
    """

    def __init__(self, curves: dict[str, Curves]):
        self.curves = curves

    def __call__(self, figure: Any) -> None:
        """Draw on an empty figure."""
        across = min(len(self.curves), 4)
        axes = np.ravel(figure.subplots(-(-len(self.curves) // across), across))
        for ax, (name, one) in zip(axes, self.curves.items(), strict=True):
            self._draw(ax, name, one)
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False)

    def _draw(self, ax: Any, name: str, one: Curves) -> None:
        """Draw the errors on one data set."""
        from protolearn.report import class_marker, colour, percent

        for code, rule in enumerate(STANDARD):
            for form, style in (("standard", "--"), ("kernel", "-")):
                label = f"{rule}, kernel" if form == "kernel" else rule
                look: dict[str, Any] = {"color": colour(code), "marker": class_marker(code)}
                errors = one[form, rule].mean(axis=1)
                ax.plot(one["numbers"], errors, ls=style, ms=4, label=label, **look)
        ax.set(title=name, xlabel="prototypes a class", ylabel="test error", xscale="log")
        ax.set_xticks([k for k in one["numbers"] if k != 12], minor=False)
        ax.set_xticks([], minor=True)
        ax.xaxis.set_major_formatter(lambda k, _: f"{k:g}")
        ax.yaxis.set_major_formatter(percent)
