"""The confusion matrix, in percent of the true class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..selection import ConfusionMatrix, confusion_percent
from .style import Display, pyplot

COLOURS = "Blues"  # one hue from light to dark: told apart by everybody, and in print
MOST_NUMBERS = 30  # classes up to which numbers are written into the cells
CELL = 0.5  # inches of a cell that has room for its number
TICKS = (0, 1, 5, 10, 20, 40, 60, 80, 100)
GAMMA = 0.5  # power of the share that a colour stands for: a few percent, the errors, must be seen
DARK = 40.0  # percent from which a cell is so dark that its number is white


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
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    image_ : matplotlib AxesImage
        The cells.
    texts_ : list of matplotlib Text
        The numbers in them.
    """

    def __init__(self, *, confusion: ConfusionMatrix):
        self.confusion = confusion

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, labels: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Draw what a fitted model says about some rows, best such that it has not seen.

        Parameters
        ----------
        model : classifier
            A fitted one.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        labels : array-like, default=None
            The classes in the order to show; None: all that occur, sorted.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ConfusionDisplay
        """
        check_is_fitted(model)
        return cls.from_predictions(y, model.predict(X), labels=labels, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, labels: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Draw some predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        labels : array-like, default=None
            The classes in the order to show; None: all that occur, sorted.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ConfusionDisplay
        """
        return cls(confusion=confusion_percent(y_true, y_pred, labels=labels)).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        from matplotlib.colors import PowerNorm

        names = [str(label) for label in self.confusion.labels.tolist()]
        if ax is None:
            side = min(max(CELL * len(names), 3.6), 12.0)
            ax = pyplot().subplots(layout="constrained", figsize=(side + 1.6, side + 0.6))[1]
        percent = np.ma.masked_invalid(self.confusion.percent)
        self.image_ = ax.imshow(percent, cmap=COLOURS, norm=PowerNorm(GAMMA, 0.0, 100.0))
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
