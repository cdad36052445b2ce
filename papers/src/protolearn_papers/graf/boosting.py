"""Figures 2 and 3: from the class means to the support vector machine, round by round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protolearn.linear import PrototypePath
from protolearn.report import path_differences, target_hyperplane

from ..claims import Claim, claims_table, small, times, told
from ..findings import Figure, Findings, Table
from ..work import Work
from .fits import HARD, MEAN, SOFT, TIGHT, TRIED, Fits, on_neurons, on_toy, training_errors

ARRIVED = 0.05
"""Share of the way between two classifiers up to which a path is at one of them."""

KINDS = "prototypes", "unit normal", "offset"
ROUNDS, WEIGHTS = "boosting", "soft margin, C grows"


def fig2(work: Work) -> Findings:
    """Follow both paths on separable points."""
    fits = on_toy(work.seed)
    seeds = range(work.seed, work.seed + (2 if work.quick else 50))
    draws = work.map("draws", toy_ends, {f"draw {seed}": (seed,) for seed in seeds})
    remarks = [
        "The points are those of make_graf_toy, since the paper does not print its own.",
        f"Boosting ends when its margin is within {TIGHT:g} of the largest; the prototypes come to "
        "their places more slowly than the hyperplane does.",
    ]
    return findings("fig2", fits, HARD, list(draws.values()), (), remarks)


def fig3(work: Work) -> Findings:
    """Follow both paths where classes overlap, with the C of least training error."""
    n, repeats = (60, 2) if work.quick else (200, 10)
    fits, C = on_neurons(work.seed, n)
    seeds = range(work.seed, work.seed + repeats)
    draws = work.map("draws", neuron_ends, {f"draw {seed}": (seed, n) for seed in seeds})
    remarks = [
        "The responses of the paper are not printed; those of make_neurons stand in, six "
        "independent neurons whose variance is their mean.",
        f"C = {C:.2g} has the least training error of the SVM among {len(TRIED)} values. The paper "
        "shows boosting alone; the path of C is ours.",
    ]
    return findings("fig3", fits, SOFT, list(draws.values()), [chosen_table(fits, C)], remarks)


def toy_ends(seed: int) -> dict[str, Any]:
    """Return the ends of both paths on one draw of the separable points."""
    return ends(on_toy(seed), HARD)


def neuron_ends(seed: int, n_per_stimulus: int) -> dict[str, Any]:
    """Return the ends of both paths on one draw of the overlapping responses."""
    return ends(on_neurons(seed, n_per_stimulus)[0], SOFT)


def paths_of(fits: Fits) -> dict[str, PrototypePath]:
    """Name the two paths."""
    return {ROUNDS: fits.rounds, WEIGHTS: fits.soft}


def ends(fits: Fits, last: str) -> dict[str, Any]:
    """Return how far each path begins from the class means, and ends from the SVM.

    For each path three lists, in the order of ``KINDS``: the first difference, the last, and that
    of the two classifiers; and the share of steps that come nearer to the SVM.
    """
    start, end = fits.models[MEAN], fits.models[last]
    found = {}
    for name, path in paths_of(fits).items():
        to_start, to_end = (
            path_differences(path, target_hyperplane(path, start)),
            path_differences(path, target_hyperplane(path, end)),
        )
        found[name] = {
            "first": to_start[:, 0].tolist(),
            "last": to_end[:, -1].tolist(),
            "way": to_end[:, 0].tolist(),
            "nearer": (np.diff(to_end, axis=1) < 0.0).mean(axis=1).tolist(),
        }
    return found


def findings(
    name: str,
    fits: Fits,
    last: str,
    draws: list[dict[str, Any]],
    tables: Any,
    remarks: list[str],
) -> Findings:
    """Return a figure with its tables."""
    claims = claims_of(draws, last)
    return Findings(
        [
            ends_table(ends(fits, last), last),
            claims_table("statements", f"What the paper says, {len(draws)} draws", claims),
            *tables,
        ],
        [Figure(name, f"from {MEAN} to {last} along two paths", panels(fits, last), (9.0, 7.5))],
        [*remarks, *told(claims)],
    )


def claims_of(draws: list[dict[str, Any]], last: str) -> list[Claim]:
    """Hold the statements against draws; where classes overlap the paper has boosting alone."""
    return [
        claim_of(draws, path, which, classifier, verb)
        for path in ((ROUNDS, WEIGHTS) if last == HARD else (ROUNDS,))
        for which, classifier, verb in (("first", MEAN, "begins"), ("last", last, "ends"))
    ]


def claim_of(
    draws: list[dict[str, Any]], path: str, which: str, classifier: str, verb: str
) -> Claim:
    """Hold one statement against draws: where a path begins or ends."""
    off = np.array([[one[path][which], one[path]["way"]] for one in draws])
    shares = (off[:, 0] / off[:, 1])[:, :2]  # the offsets may be the same by chance
    worst = shares.max(axis=1)
    there = int(np.sum(worst <= ARRIVED))
    return Claim(
        f"{path}: {verb} at the {classifier}",
        "difference 0",
        f"{small(100.0 * float(np.median(worst)))} % of the way off in the median, at most "
        f"{small(100.0 * float(worst.max()))} %; below {100.0 * ARRIVED:g} % in "
        f"{times(there, len(draws))}",
        there / len(draws),
    )


def ends_table(found: dict[str, Any], last: str) -> Table:
    """Return the differences of one draw."""
    records = [
        {
            "path": path,
            "of": kind,
            **{key: values[key][i] for key in ("first", "last", "way", "nearer")},
        }
        for path, values in found.items()
        for i, kind in enumerate(KINDS)
    ]
    return Table(
        "ends",
        "Where the paths begin and end",
        [
            "path: difference of",
            f"first step to {MEAN} (the paper: 0)",
            f"last step to {last} (the paper: 0)",
            f"first step to {last}",
            "steps nearer to it",
        ],
        [
            [
                f"{one['path']}: {one['of']}",
                *(small(one[key]) for key in ("first", "last", "way")),
                f"{100.0 * one['nearer']:.0f} %",
            ]
            for one in records
        ],
        records,
    )


def chosen_table(fits: Fits, C: float) -> Table:
    """Return the training error at each C."""
    errors = training_errors(fits.X, fits.y)
    return Table(
        "training_error",
        "Training error of the soft-margin SVM by C",
        ["C", "training error", "chosen"],
        [
            [f"{value:.2g}", f"{100.0 * error:.2f} %", "yes" if value == C else ""]
            for value, error in zip(TRIED, errors, strict=True)
        ],
        [
            {"C": float(value), "error": float(error), "chosen": int(value == C)}
            for value, error in zip(TRIED, errors, strict=True)
        ],
    )


def panels(fits: Fits, last: str) -> Callable[[Any], None]:
    """Return what draws the differences along both paths, a column each."""

    def draw(figure: Any) -> None:
        from protolearn.report import ConvergenceDisplay

        axes = figure.subplots(3, 2, sharex="col")
        for column, path in zip(axes.T, paths_of(fits).values(), strict=True):
            ConvergenceDisplay.from_path(
                path,
                start=fits.models[MEAN],
                end=fits.models[last],
                name=(MEAN, last),
                ax=column,
            )
            column[0].get_legend().remove()
        for column, name in zip(axes.T, (ROUNDS, WEIGHTS), strict=True):
            column[0].set_title(name)
        axes[2, 0].set_xlabel("round of boosting")
        axes[2, 1].set_xlabel("C of the soft margin")
        for ax in axes[:, 1]:
            ax.set_ylabel("")
        handles = axes[0, 0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False)

    return draw
