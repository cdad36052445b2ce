"""Receiver operating characteristics: what a threshold buys, and how much folds differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from .._names import class_name
from .._validation import integer_in
from ..selection import AveragedRoc, RocCurve, roc, roc_over_folds
from .style import CurveDisplay, axes_for, class_marker, colour, line_style, number_drawn, percent

CURVE = "roc curve"  # by which a curve is known among the lines of an axes


class RocDisplay(CurveDisplay):
    """True over false positive rate, for every threshold Theta between the two classes.

    The mark is at Theta = 0, where the model itself decides. Curves of folds are averaged at equal
    thresholds; their standard deviations are drawn as bars in both directions at some of these.

    Make one with :meth:`from_estimator` or :meth:`from_cv`. Pass the axes of one to the next to
    compare models.

    Parameters
    ----------
    curve : RocCurve or AveragedRoc
        What :func:`protolearn.selection.roc` or :func:`protolearn.selection.roc_over_folds` gives.
    name : str, default=None
        What the legend calls the curve.
    n_bars : int, default=12
        At how many thresholds the standard deviations of an averaged curve are drawn, evenly along
        it; zero draws none.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The curve.
    mark_ : matplotlib Line2D
        The mark at the working point.
    bars_ : matplotlib ErrorbarContainer or None
        The standard deviations of an averaged curve.
    """

    def __init__(self, *, curve: RocCurve | AveragedRoc, name: str | None = None, n_bars: int = 12):
        self.curve = curve
        self.name = name
        self.n_bars = n_bars

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> RocDisplay:
        """Draw the curve of a fitted model on some rows, best such that it has not seen.

        Parameters
        ----------
        model : classifier
            A fitted one.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        positive : label, default=None
            The positive class, see :func:`protolearn.selection.roc`.
        name : str, default=None
            What the legend calls the curve; None: the class of the model.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : RocDisplay
        """
        curve = roc(model, X, y, positive=positive)
        return cls(curve=curve, name=class_name(model) if name is None else name).plot(ax=ax)

    @classmethod
    def from_cv(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        cv: Any = 10,
        positive: Any = None,
        n_bars: int = 12,
        n_jobs: int | None = None,
        random_state: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> RocDisplay:
        """Draw the averaged curve of the folds of a cross-validation.

        Parameters
        ----------
        model : classifier
            Clones of it are fitted.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        cv : int, splitter or iterable, default=10
            The folds; an integer is a number of shuffled stratified ones.
        positive : label, default=None
            The positive class, see :func:`protolearn.selection.roc`.
        n_bars : int, default=12
            At how many thresholds the standard deviations are drawn; zero draws none.
        n_jobs : int, default=None
            Folds fitted at the same time; None is one, -1 all cores.
        random_state : int, RandomState instance, default=None
            Shuffles the folds of an integer ``cv``.
        name : str, default=None
            What the legend calls the curve; None: the class of the model.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : RocDisplay
        """
        integer_in(n_bars, "n_bars={value!r}", 0)
        curve = roc_over_folds(
            model, X, y, cv=cv, positive=positive, n_jobs=n_jobs, random_state=random_state
        )
        name = class_name(model) if name is None else name
        return cls(curve=curve, name=name, n_bars=n_bars).plot(ax=ax)

    def _draw(self, ax: Any, name: str | None) -> Any:
        """Return the axes with the picture."""
        n_bars = integer_in(self.n_bars, "n_bars={value!r} of RocDisplay", 0)
        ax = axes_for(ax)
        number = number_drawn(ax, CURVE)
        shade = colour(number)
        if not number:
            ax.plot([0, 1], [0, 1], color="0.6", lw=1.0, ls=":", zorder=1)
        (self.line_,) = ax.plot(
            self.curve.fpr,
            self.curve.tpr,
            color=shade,
            ls=line_style(number),
            lw=1.8,
            label=self._label(name),
            gid=CURVE,
            zorder=2,
        )
        self.bars_ = self._bars(ax, shade, n_bars)
        (self.mark_,) = ax.plot(
            *self.curve.working_point,
            class_marker(number),
            color=shade,
            mec="k",
            ms=9,
            zorder=4,
            ls="none",
        )
        if not number:
            self.mark_.set_label(r"working point, $\Theta = 0$")
        rate = f"true positive rate (class {self.curve.positive!s})"
        ax.set(xlabel="false positive rate", ylabel=rate, aspect=1.0)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.xaxis.set_major_formatter(percent)
        ax.yaxis.set_major_formatter(percent)
        ax.legend(frameon=False, loc="lower right")
        return ax

    def _label(self, name: str | None) -> str:
        """Return the name of the curve and its area."""
        area = f"AUC {self.curve.auc:.3f}"
        if isinstance(self.curve, AveragedRoc):
            low, high = self.curve.interval()
            area = f"mean AUC {self.curve.auc:.3f} ({low:.3f} to {high:.3f})"
        return area if name is None else f"{name}, {area}"

    def _bars(self, ax: Any, shade: str, n_bars: int) -> Any:
        """Return the standard deviations, drawn at some thresholds."""
        if not isinstance(self.curve, AveragedRoc) or not n_bars:
            return None
        at = spread_along(self.curve.fpr, self.curve.tpr, n_bars)
        return ax.errorbar(
            self.curve.fpr[at],
            self.curve.tpr[at],
            xerr=cut_at_ends(self.curve.fpr[at], self.curve.fpr_std[at]),
            yerr=cut_at_ends(self.curve.tpr[at], self.curve.tpr_std[at]),
            fmt="none",
            ecolor=shade,
            elinewidth=1.0,
            alpha=0.7,
            capsize=2.0,
            zorder=3,
        )


def spread_along(fpr: Floats, tpr: Floats, number: int) -> Indices:
    """Choose points evenly along a curve, without its ends, which never differ."""
    way = np.append(0.0, np.cumsum(np.hypot(np.diff(fpr), np.diff(tpr))))
    wanted = np.linspace(0.0, way[-1], number + 2)[1:-1]
    return np.unique(np.clip(np.searchsorted(way, wanted), 1, max(len(way) - 2, 1)))


def cut_at_ends(rate: Floats, deviation: Floats) -> Floats:
    """Return lengths of bars to both sides; no rate is below 0 or above 1."""
    return np.stack([np.minimum(deviation, rate), np.minimum(deviation, 1.0 - rate)])
