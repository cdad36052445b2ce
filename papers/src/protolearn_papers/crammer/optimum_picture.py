"""Test error against the number of prototypes, a panel for each data set."""

from __future__ import annotations

from typing import Any

import numpy as np


class Draw:
    """Draws the errors of all data sets, and the bound of one.

    Parameters
    ----------
    curves : dict of str to dict
        By data set: ``numbers``, the errors of each rule (numbers, folds), and of both ends.
    bounded : str
        Name of the data set of the bound.
    bounds : list of dict
        Its two terms by number of prototypes.
    """

    def __init__(
        self, curves: dict[str, dict[str, Any]], bounded: str, bounds: list[dict[str, float]]
    ):
        self.curves, self.bounded, self.bounds = curves, bounded, bounds

    def __call__(self, figure: Any) -> None:
        """Draw on an empty figure."""
        count = len(self.curves) + 1
        across = min(count, 3)
        axes = np.ravel(figure.subplots(-(-count // across), across))
        for ax, (name, one) in zip(axes, self.curves.items(), strict=False):
            self._draw_errors(ax, name, one)
        self._draw_bound(axes[count - 1])
        for unused in axes[count:]:
            unused.set_axis_off()
        figure.legend(
            *axes[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=4,
            frameon=False,
        )

    def _draw_errors(self, ax: Any, name: str, one: dict[str, Any]) -> None:
        """Draw the errors on a data set, with their standard errors."""
        from protolearn.report import COLOURS, class_marker, colour, percent

        from .prototypes import MEANS, NEAREST, RULES, standard_error

        for code, rule in enumerate(RULES):
            spread = [standard_error(errors, one["rows"]) for errors in one[rule]]
            look: dict[str, Any] = {"color": colour(code), "marker": class_marker(code), "ms": 5}
            places = np.array(one["numbers"]) * (0.98 + 0.04 * code)  # bars beside each other
            ax.errorbar(places, one[rule].mean(axis=1), spread, label=rule, elinewidth=0.9, **look)
        for end, style in ((NEAREST, "--"), (MEANS, ":")):
            ax.axhline(one[end].mean(), color=COLOURS[-1], ls=style, lw=1.4, label=end)
        ax.set(title=name, xlabel="prototypes a class", ylabel="test error")
        self._number_axis(ax, one["numbers"])
        ax.yaxis.set_major_formatter(percent)

    def _draw_bound(self, ax: Any) -> None:
        """Draw the two terms of the bound."""
        from protolearn.report import colour

        numbers = [one["prototypes"] for one in self.bounds]
        for code, (key, name) in enumerate(
            (("margin_error", "margin error"), ("added", "added by the capacity")), start=2
        ):
            values = [one[key] for one in self.bounds]
            ax.plot(numbers, values, color=colour(code), marker=".", label=name)
        ax.set(
            title=f"bound of theorem 1, {self.bounded}", xlabel="prototypes a class", yscale="log"
        )
        self._number_axis(ax, numbers)
        ax.legend(frameon=False, loc="center right")

    def _number_axis(self, ax: Any, numbers: Any) -> None:
        """Mark some numbers of prototypes on a logarithmic axis."""
        ax.set_xscale("log")
        ax.set_xticks([k for k in numbers if k not in (2, 12, 30)], minor=False)
        ax.set_xticks([], minor=True)
        ax.xaxis.set_major_formatter(lambda k, _: f"{k:g}")
