"""A curve of the reject option: what accuracy is bought by rejecting the less sure rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._names import class_name
from ..analysis import (
    AccuracyRejectCurve,
    Measure,
    RejectClassifier,
    accuracy_reject_curve,
    confidence_of,
)
from .style import CurveDisplay, axes_for, class_marker, colour, number_drawn, percent

CURVE = "accuracy-reject curve"  # by which a curve is known among the lines of an axes


@dataclass(kw_only=True, eq=False, repr=False)
class RejectDisplay(CurveDisplay):
    """Accuracy of the accepted rows over the share that is rejected.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`. Pass the axes of one to the
    next to compare models.

    Parameters
    ----------
    curve : AccuracyRejectCurve
        What :func:`protolearn.analysis.accuracy_reject_curve` returns.
    name : str, default=None
        What the legend calls the curve.
    working_point : tuple of two floats, default=None
        Share rejected and accuracy of the accepted at the thresholds of a
        :class:`~protolearn.RejectClassifier`; the accuracy is NaN where it rejects all.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    mark_ : matplotlib Line2D or None
        The mark at the working point.
    """

    curve: AccuracyRejectCurve
    name: str | None = None
    working_point: tuple[float, float] | None = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        measure: Measure | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> RejectDisplay:
        """Draw the curve of a fitted model on some rows, best such that it has not seen.

        Parameters
        ----------
        model : classifier
            A fitted one. A :class:`~protolearn.RejectClassifier`, also at the end of a Pipeline,
            is drawn with its own measure and a mark at its working point, the rates of its
            thresholds on these rows. With thresholds by class that may be off the curve, which has
            one threshold for all.
        measure : {"margin", "radius", "probability"} or callable, default=None
            Confidence of a prediction, see :class:`~protolearn.RejectClassifier`; None: the measure
            of that, or "margin".
        """
        check_is_fitted(model)
        y = column_or_1d(y)
        if isinstance(model, Pipeline) and isinstance(model[-1], RejectClassifier):
            model, X = model[-1], model[:-1].transform(X) if len(model) > 1 else X
        rejecting = isinstance(model, RejectClassifier)
        inner, measure = model.model_ if rejecting else model, measure_of(model, measure)
        predicted, confidence = inner.predict(X), confidence_of(inner, X, measure)
        curve = accuracy_reject_curve(y, predicted, confidence)
        point = working_point(model.accepts(X), predicted == y) if rejecting else None
        name = class_name(inner) if name is None else name
        return cls(curve=curve, name=name, working_point=point).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, confidence: Any, *, name: str | None = None, ax: Any = None
    ) -> RejectDisplay:
        """Draw the curve of some predictions.

        Parameters
        ----------
        confidence : array-like of shape (n_samples,)
            How sure each prediction is; larger is surer.
        name : str, default=None
            What the legend calls the curve.
        """
        curve = accuracy_reject_curve(y_true, y_pred, confidence)
        return cls(curve=curve, name=name).plot(ax=ax)

    def _draw(self, ax: Any, name: str | None) -> Any:
        """Return the axes with the picture."""
        ax = axes_for(ax)
        number = number_drawn(ax, CURVE)
        shade = colour(number)
        # The accuracy jumps where the next row is rejected.
        (self.line_,) = ax.plot(
            self.curve.reject_rate,
            self.curve.accuracy,
            drawstyle="steps-post",
            color=shade,
            lw=1.8,
            label=name,
            gid=CURVE,
        )
        self.mark_ = None
        if self.working_point is not None and not np.isnan(self.working_point[1]):
            (self.mark_,) = ax.plot(
                *self.working_point, class_marker(number), color=shade, mec="k", ms=9, zorder=3
            )
            self.mark_.set_label("working point" if name is None else f"{name}, working point")
        ax.set(xlabel="share rejected", ylabel="accuracy of the accepted")
        ax.xaxis.set_major_formatter(percent)
        ax.yaxis.set_major_formatter(percent)
        ax.set_xlim(0.0, 1.0)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False, loc="best")
        return ax


def measure_of(model: Any, measure: Measure | None) -> Measure:
    """Return the measure to draw; that of a RejectClassifier is its own."""
    if not isinstance(model, RejectClassifier):
        return "margin" if measure is None else measure
    if measure not in (None, model.measure):
        raise ValueError(
            f"measure={measure!r} is given, but this RejectClassifier has "
            f"measure={model.measure!r}, which is drawn; leave it out, or give model_."
        )
    return model.measure


def working_point(accepted: Any, right: Any) -> tuple[float, float]:
    """Return the share of the rows that are rejected, and the accuracy of the others."""
    accuracy = float(right[accepted].mean()) if accepted.any() else np.nan
    return float(1.0 - accepted.mean()), accuracy
