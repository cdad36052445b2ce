"""Pictures of performance: confusion matrix, ROC curve, and what rejecting rows buys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats, Indices
from .._names import class_name
from .._validation import integer_in
from ..analysis import (
    AccuracyRejectCurve,
    Measure,
    RejectClassifier,
    accuracy_reject_curve,
    confidence_of,
)
from ..selection import (
    AveragedRoc,
    ConfusionMatrix,
    RocCurve,
    confusion_percent,
    roc,
    roc_over_folds,
)
from .style import (
    CurveDisplay,
    Display,
    axes_for,
    class_marker,
    colour,
    line_style,
    number_drawn,
    percent,
    pyplot,
)

SHADES = "Blues"  # one hue from light to dark: told apart by everybody, and in print
MOST_NUMBERS = 30  # classes up to which numbers are written into the cells
CELL = 0.5  # inches of a cell that has room for its number
TICKS = (0, 1, 5, 10, 20, 40, 60, 80, 100)
GAMMA = 0.5  # power of the share that a colour stands for: a few percent, the errors, must be seen
DARK = 40.0  # percent from which a cell is so dark that its number is white
# By which curves are known among the lines of an axes.
CURVE, REJECT_CURVE = "roc curve", "accuracy-reject curve"


@dataclass(kw_only=True, eq=False, repr=False)
class ConfusionDisplay(Display):
    """Which class is taken for which, in percent of the true class.

    Rows are true classes and sum to 100. Zeros are left blank, and so are, with more than 30
    classes, all numbers; a class without rows is hatched. A new figure has room for the numbers.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    confusion : ConfusionMatrix
        What :func:`protolearn.selection.confusion_percent` gives.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The cells.
    texts_ : list of matplotlib Text
        The numbers in them.
    """

    confusion: ConfusionMatrix

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, labels: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Draw what a fitted model says about some rows, best such that it has not seen."""
        check_is_fitted(model)
        return cls.from_predictions(y, model.predict(X), labels=labels, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, labels: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Draw some predictions."""
        return cls(confusion=confusion_percent(y_true, y_pred, labels=labels)).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        from matplotlib.colors import PowerNorm

        names = [str(label) for label in self.confusion.labels.tolist()]
        if ax is None:
            side = min(max(CELL * len(names), 3.6), 12.0)
            ax = pyplot().subplots(layout="constrained", figsize=(side + 1.6, side + 0.6))[1]
        percent = np.ma.masked_invalid(self.confusion.percent)
        self.image_ = ax.imshow(percent, cmap=SHADES, norm=PowerNorm(GAMMA, 0.0, 100.0))
        ax.patch.set(hatch="////", edgecolor="0.8")  # seen where a class has no rows
        self.texts_ = self._numbers(ax) if len(names) <= MOST_NUMBERS else []
        every = -(-len(names) // MOST_NUMBERS)
        shown = range(0, len(names), every)
        ax.set_yticks(shown, names[::every])
        tilt = {"rotation": 45.0, "ha": "right"} if max(map(len, names)) > 3 else {"ha": "center"}
        ax.set_xticks(shown, names[::every], rotation_mode="anchor", **tilt)
        ax.set(xlabel="assigned class", ylabel="true class")
        ax.figure.colorbar(self.image_, ax=ax, label="percent of the true class", ticks=TICKS)
        return ax

    def _numbers(self, ax: Any) -> list[Any]:
        """Return the numbers, written into the cells; those that round to zero without digits."""
        size = 10.0 if len(self.confusion.labels) <= 12 else 7.0
        return [
            ax.text(
                j,
                i,
                format_share(share),
                ha="center",
                va="center",
                size=size,
                color="white" if share >= DARK else "black",
            )
            for (i, j), share in np.ndenumerate(self.confusion.percent)
            if share > 0.0
        ]


def format_share(share: float) -> str:
    """Return a percentage as text: with a digit below ten, where it tells most."""
    if share < 0.1:
        return "<0.1"
    if 99.5 < share < 100.0:  # only all is 100
        return f"{min(np.floor(10.0 * share) / 10.0, 99.9):.1f}"
    return f"{share:.1f}" if share < 9.95 else f"{share:.0f}"


@dataclass(kw_only=True, eq=False, repr=False)
class RocDisplay(CurveDisplay):
    """True over false positive rate, for every threshold Theta between the two classes.

    The mark is at Theta = 0, where the model itself decides. Curves of folds are averaged at equal
    false positive rates, so that the area below the line is the mean area of the legend; bars show
    the standard deviation over the folds at some of these rates.

    Make one with :meth:`from_estimator` or :meth:`from_cv`. Pass the axes of one to the next to
    compare models.

    Parameters
    ----------
    curve : RocCurve or AveragedRoc
        What :func:`protolearn.selection.roc` or :func:`protolearn.selection.roc_over_folds` gives.
    name : str, default=None
        What the legend calls the curve.
    n_bars : int, default=12
        At how many points the standard deviations of an averaged curve are drawn, evenly along it;
        zero draws none.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    mark_ : matplotlib Line2D
        The mark at the working point.
    bars_ : matplotlib ErrorbarContainer or None
        The standard deviations of an averaged curve.
    """

    curve: RocCurve | AveragedRoc
    name: str | None = None
    n_bars: int = 12

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
        """Draw the curve of a fitted model on some rows, best such that it has not seen."""
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
        cv : int, splitter or iterable, default=10
            The folds; an integer is a number of shuffled stratified ones.
        n_bars : int, default=12
            At how many points the standard deviations are drawn; zero draws none.
        n_jobs : int, default=None
            Folds fitted at the same time; None is one, -1 all cores.
        random_state : int, RandomState instance, default=None
            Shuffles the folds of an integer ``cv``.
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
            *self._line()[:2],
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

    def _line(self) -> tuple[Floats, Floats, Floats]:
        """Return both rates of the line, and the standard deviation over the folds."""
        if isinstance(self.curve, AveragedRoc):
            return self.curve.mean_curve
        return self.curve.fpr, self.curve.tpr, np.zeros(len(self.curve.fpr))

    def _bars(self, ax: Any, shade: str, n_bars: int) -> Any:
        """Return the standard deviations, drawn at some points."""
        if not isinstance(self.curve, AveragedRoc) or not n_bars:
            return None
        fpr, tpr, spread = self._line()
        at = spread_along(fpr, tpr, n_bars)
        return ax.errorbar(
            fpr[at],
            tpr[at],
            yerr=cut_at_ends(tpr[at], spread[at]),
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
        number = number_drawn(ax, REJECT_CURVE)
        shade = colour(number)
        # The accuracy jumps where the next row is rejected.
        (self.line_,) = ax.plot(
            self.curve.reject_rate,
            self.curve.accuracy,
            drawstyle="steps-post",
            color=shade,
            lw=1.8,
            label=name,
            gid=REJECT_CURVE,
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
