"""Pictures of accuracies and of sizes, ours beside those of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn.report import class_marker, colour
from protolearn.selection import Comparison

from .draws import mean_accuracy, spread
from .paper import EXTENDED, OTHERS, PSVM, Published

GREY, DARK = "#777777", "#222222"


def draw_accuracy(
    found: dict[str, list[Comparison]], paper: dict[str, dict[str, Published]], figure: Any
) -> None:
    """Draw PSVMs with bars of a standard deviation of folds, and marks for the others' means."""
    ax, places = figure.subplots(), np.arange(len(found), dtype=float)
    theirs = [paper[name][PSVM] for name in found]
    bars = {"capsize": 3.0, "ls": "", "ms": 7.0, "zorder": 4}
    ours = (PSVM, "PSVM as published, ours", -0.3, 0), (EXTENDED, "extended PSVM, ours", -0.2, 8)
    for method, label, shift, number in ours:
        means = [mean_accuracy(draws, method) for draws in found.values()]
        deviations = [spread(draws, method)[0] for draws in found.values()]
        style = {"color": colour(number), "marker": "oD"[number > 0], "label": label}
        ax.errorbar(places + shift, means, deviations, **style, **bars)
    ax.errorbar(
        *(places - 0.1, [p.mean for p in theirs], [p.deviation for p in theirs]),
        **{"color": DARK, "marker": "s", "mfc": "white", "label": "PSVM, paper", **bars},
    )
    for number, method in enumerate(OTHERS):
        marks = {
            "marker": class_marker(number + 2),
            "color": colour(number + 1),
            "ls": "",
            "ms": 6.0,
        }
        marks |= {"mec": DARK, "mew": 0.4}
        means = [mean_accuracy(draws, method) for draws in found.values()]
        ax.plot(places + 0.02 + 0.06 * number, means, label=f"{method}, ours", **marks)
    for place in places[1:]:
        ax.axvline(place - 0.4, color=GREY, lw=0.5, alpha=0.5)
    ax.set(xticks=places, ylabel="accuracy (%)", xlim=(-0.4, len(places) - 0.4))
    ax.set_xticklabels(list(found))
    ax.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)


def draw_sizes(records: list[dict[str, Any]], figure: Any) -> None:
    """Draw numbers of models, filled marks for ours and empty ones for the paper's."""
    ax, places = figure.subplots(), np.arange(len(records), dtype=float)
    for number, (kind, shift) in enumerate((("clean", -0.12), ("noisy", 0.12))):
        style = {"color": colour(number), "marker": class_marker(number), "ls": "", "ms": 8.0}
        for which, label, fill in (
            ("published", "as published, ours", colour(number)),
            ("extended", "extended, ours", GREY),
            ("paper", "paper", "white"),
        ):
            values = [np.nan if (v := r[f"{which}_{kind}"]) is None else v for r in records]
            ax.plot(places + shift, values, label=f"{kind} labels, {label}", mfc=fill, **style)
    first = [r["exemplars"] for r in records]
    ax.plot(places, first, "_", color=GREY, ms=22.0, label="exemplar SVMs, ours")
    ax.set(yscale="log", xticks=places, ylabel="models", xlim=(-0.5, len(places) - 0.5))
    ax.set_xticklabels([r["dataset"] for r in records])
    ax.set_yticks([20, 50, 100, 200, 500, 1000, 2000][: 7 if max(first) > 500 else 3])
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
