"""Pictures of accuracies and of sizes, ours beside those of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn.report import class_marker, colour
from protolearn.selection import Comparison

from .paper import METHODS, OTHERS, PSVM, Published

GREY, DARK = "#777777", "#222222"


def draw_accuracy(
    comparison: Comparison, paper: dict[str, dict[str, Published]], figure: Any
) -> None:
    """Draw the PSVM with bars of a standard deviation, and marks for the others' means."""
    ax, places = figure.subplots(), np.arange(len(comparison.datasets), dtype=float)
    means, spread = 100.0 * comparison.means, 100.0 * comparison.standard_deviations
    column = METHODS.index(PSVM)
    theirs = [paper[name][PSVM] for name in comparison.datasets]
    bars = {"capsize": 3.0, "ls": "", "ms": 7.0, "zorder": 4}
    ax.errorbar(
        *(places - 0.22, means[:, column], spread[:, column]),
        **{"color": colour(0), "marker": "o", "label": "PSVM, ours", **bars},
    )
    ax.errorbar(
        *(places - 0.08, [p.mean for p in theirs], [p.deviation for p in theirs]),
        **{"color": DARK, "marker": "s", "mfc": "white", "label": "PSVM, paper", **bars},
    )
    for number, method in enumerate(OTHERS):
        style = {
            "marker": class_marker(number + 2),
            "color": colour(number + 1),
            "ls": "",
            "ms": 6.0,
        }
        style |= {"mec": DARK, "mew": 0.4}
        x = places + 0.06 + 0.06 * number
        ax.plot(x, means[:, METHODS.index(method)], label=f"{method}, ours", **style)
    for place in places[1:]:
        ax.axvline(place - 0.4, color=GREY, lw=0.5, alpha=0.5)
    ax.set(xticks=places, ylabel="accuracy (%)", xlim=(-0.4, len(places) - 0.4))
    ax.set_xticklabels(comparison.datasets)
    ax.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)


def draw_sizes(records: list[dict[str, Any]], figure: Any) -> None:
    """Draw numbers of models, filled marks for ours and empty ones for the paper's."""
    ax, places = figure.subplots(), np.arange(len(records), dtype=float)
    for number, (kind, shift) in enumerate((("clean", -0.12), ("noisy", 0.12))):
        style = {"color": colour(number), "marker": class_marker(number), "ls": "", "ms": 8.0}
        ours, theirs = ([r[key] for r in records] for key in (kind, f"paper_{kind}"))
        ax.vlines(places + shift, ours, theirs, color=colour(number), lw=1.0, alpha=0.6)
        ax.plot(places + shift, ours, label=f"{kind} labels, ours", **style)
        ax.plot(places + shift, theirs, label=f"{kind} labels, paper", mfc="white", **style)
    first = [r["exemplars"] for r in records]
    ax.plot(places, first, "_", color=GREY, ms=22.0, label="exemplar SVMs at first, ours")
    ax.set(yscale="log", xticks=places, ylabel="models", xlim=(-0.5, len(places) - 0.5))
    ax.set_xticklabels([r["dataset"] for r in records])
    ax.set_yticks([20, 50, 100, 200, 500, 1000, 2000][: 7 if max(first) > 500 else 3])
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
