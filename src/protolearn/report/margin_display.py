"""The distribution of margins: how sure a model is, and where it is wrong, in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats
from .._names import class_name, things_by_name
from ..analysis import (
    MarginHistory,
    certified_radius,
    hypothesis_margin,
    known_labels,
    sample_margin,
)
from .style import Display, axes_for, colour, line_style, number_drawn, percent

GREY = "#666666"
CURVE, HISTORY_CURVE = "margins", "margins during training"  # by which curves are known in axes


@dataclass(kw_only=True, eq=False, repr=False)
class MarginDisplay(Display):
    """The cumulative distribution of margins: for each value the share of rows that are below it.

    At zero it shows the share of errors; the further to the right a line lies, the surer is the
    model. Make one with :meth:`from_estimator` or :meth:`from_predictions`;
    :meth:`from_history` draws the average margin during training. Pass the axes of one to the next
    to add lines.

    Parameters
    ----------
    margins : dict of str to array of shape (n_samples,)
        The margins of each model, by its name in the legend.
    xlabel : str, default="margin"
        What kind of margin it is.
    """

    margins: Mapping[str, Floats]
    xlabel: str = "margin"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        kind: str = "hypothesis",
        name: Any = None,
        ax: Any = None,
    ) -> MarginDisplay:
        """Draw the margins of one or several fitted models.

        Parameters
        ----------
        model : nearest-prototype classifier, or Pipeline that ends in one; list or dict of them
            The fitted models; the keys of a dict are their names. A margin is in the units of the
            space that the last step of a pipeline sees; compare models of the same space.
        kind : {"hypothesis", "certified", "sample"}, default="hypothesis"
            How far the prototypes may move before a sample changes its class
            (:func:`hypothesis_margin`); or how far the sample itself may, at least
            (:func:`certified_radius`) or exactly (:func:`sample_margin`). The last two are drawn
            with a minus sign where the prediction is wrong.
        name : str, or list of str for a list of models, default=None
            Names in the legend; None: those of the classes, numbered if they repeat.
        """
        if not (isinstance(kind, str) and kind in KINDS):
            raise ValueError(f"kind={kind!r} must be one of {', '.join(map(repr, KINDS))}.")
        measure, xlabel = KINDS[kind]
        models = things_by_name(model, name, class_name)
        margins = {key: measure(each, X, y) for key, each in models.items()}
        return cls(margins=margins, xlabel=xlabel).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        classes: Any = None,
        name: str | None = None,
        ax: Any = None,
    ) -> MarginDisplay:
        """Draw how much the score of the true class exceeds the best score of another.

        Parameters
        ----------
        y_score : array-like of shape (n_samples, n_classes), or (n_samples,) for two classes
            What ``decision_function`` or ``predict_proba`` of any classifier gives. One column
            alone is how much the second class exceeds the first, as ``decision_function`` gives
            it; of probabilities give both columns.
        classes : array-like of shape (n_classes,), default=None
            The labels in the order of the columns, ``classes_`` of the classifier; None: the
            labels in ``y_true``, sorted.
        name : str, default=None
            Name in the legend; None: "Classifier".
        """
        margin = score_margin(column_or_1d(y_true), y_score, classes)
        return cls(margins={name or "Classifier": margin}, xlabel="margin of the score").plot(ax=ax)

    @classmethod
    def from_history(
        cls, history: Any, *, name: Any = None, ax: Any = None
    ) -> MarginHistoryDisplay:
        """Draw the average margin during training, after every iteration.

        Parameters
        ----------
        history : MarginHistory; list or dict of them
            What was recorded as the ``callback`` of a fit.
        name : str, or list of str for a list of histories, default=None
            Names in the legend; None: numbers.
        """
        histories = things_by_name(history, name, lambda _: "fit")
        for each in histories.values():
            if not isinstance(each, MarginHistory):
                raise TypeError(
                    f"history must be a MarginHistory, or a list or dict of them; there is a "
                    f"{type(each).__name__}."
                )
        return MarginHistoryDisplay(histories=histories).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        ax = axes_for(ax)
        first = number_drawn(ax, CURVE)
        if not first:
            ax.axvline(0.0, color=GREY, lw=0.8)
        for i, (name, margin) in enumerate(self.margins.items(), start=first):
            wrong = float(np.mean(margin < 0.0))
            label = f"{name}: {100.0 * wrong:.1f} % below zero"
            ax.ecdf(margin, color=colour(i), ls=line_style(i), label=label, gid=CURVE)
            ax.plot(0.0, wrong, "o", color=colour(i), ms=5, clip_on=False)
        ax.set(xlabel=self.xlabel, ylabel="rows with at most this margin", ylim=(0.0, 1.0))
        ax.yaxis.set_major_formatter(percent)
        middle = np.mean(ax.get_xlim())
        early = np.mean([np.mean(margin <= middle) for margin in self.margins.values()]) >= 0.5
        place = "lower right" if early else "upper left"  # where the lines are not
        ax.legend(loc=place, edgecolor="none", framealpha=0.8)
        return ax


@dataclass(kw_only=True, eq=False, repr=False)
class MarginHistoryDisplay(Display):
    """The average margin after every iteration of one or several fits.

    Make one with :meth:`MarginDisplay.from_history`.

    Parameters
    ----------
    histories : dict of str to MarginHistory
        What was recorded, by the name in the legend.
    """

    histories: Mapping[str, MarginHistory]

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        for name, history in self.histories.items():
            if not history.iterations:
                raise ValueError(
                    f"{name} has recorded nothing; fit a model with this object as its callback. "
                    "A clone has a copy of its own."
                )
        ax = axes_for(ax)
        first = number_drawn(ax, HISTORY_CURVE)
        for i, (name, history) in enumerate(self.histories.items(), start=first):
            single = "o" if len(history.iterations) == 1 else None  # a line of one point is unseen
            look = {"color": colour(i), "ls": line_style(i), "gid": HISTORY_CURVE}
            ax.plot(history.iterations, history.mean_margin, marker=single, label=name, **look)
        ax.set(xlabel="iteration", ylabel="mean hypothesis margin")
        ax.locator_params(axis="x", integer=True)
        if first + len(self.histories) > 1:
            ax.legend(frameon=False)
        return ax


def negative_where_wrong(
    distance: Callable[[Any, Any], Floats],
) -> Callable[[Any, Any, Any], Floats]:
    """Return a measure: the distance to the boundary, negative where the prediction is wrong."""

    def measure(model: Any, X: Any, y: Any) -> Floats:
        radius, y = distance(model, X), known_labels(model, y)
        check_consistent_length(radius, y)
        return np.where(model.predict(X) == y, radius, -radius)

    return measure


KINDS = {
    "hypothesis": (hypothesis_margin, "hypothesis margin"),
    "certified": (negative_where_wrong(certified_radius), "certified radius, negative where wrong"),
    "sample": (
        negative_where_wrong(sample_margin),
        "distance to the boundary, negative where wrong",
    ),
}


def score_margin(y: Any, y_score: Any, classes: Any) -> Floats:
    """Return the score of each label less the best score of another."""
    scores = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
    labels = np.unique(y) if classes is None else column_or_1d(classes)
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    if scores.shape != (len(y), len(labels)) or len(labels) < 2:
        raise ValueError(
            f"y_score has shape {np.shape(y_score)}; {len(y)} labels of {len(labels)} classes need "
            f"{(len(y), len(labels))}, or {(len(y),)} for two. If y_true has not all classes, give "
            "classes=."
        )
    order = np.argsort(labels)
    place = np.searchsorted(labels[order], y).clip(max=len(labels) - 1)
    own = order[place]
    if (labels[own] != y).any():
        unknown = np.setdiff1d(y, labels).tolist()
        raise ValueError(f"y_true contains {unknown!r}, which is not among the classes.")
    mine = np.arange(len(labels)) == own[:, None]
    return scores[mine] - np.where(mine, -np.inf, scores).max(axis=1)
