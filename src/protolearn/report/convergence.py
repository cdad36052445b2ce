"""How a path of prototypes leaves one classifier and comes to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import Floats
from .._names import class_name, number_repeats
from ..linear import PrototypePath
from .hyperplane import Hyperplane, check_path, hyperplane_of, step, step_name, with_prototypes
from .style import colour, line_style, number_drawn, panels_for

CURVE = "convergence"
"""By which a curve is known among the lines of an axes."""

PANELS = ("of the prototypes", "of the unit normal", "of the offset $b/|w|$")
"""What differs, from the first panel to the last."""

SIZE = 5.6, 6.4
"""Size of a figure in inches."""

SMALLEST = 1e-6
"""Share of the largest difference below which a curve is not followed."""


class ConvergenceDisplay:
    """How far the steps of a path are from other linear classifiers, in three panels.

    Make one with :meth:`from_path`.

    Parameters
    ----------
    values : array of shape (n_steps,)
        What changes along the path.
    differences : dict of str to array of shape (3, n_steps)
        For each classifier, by its name in the legend, how far the path is from it: the norm of the
        difference of the prototypes, of both together, and of the unit normals ``w / |w|`` of the
        hyperplanes, and the difference of their offsets ``b / |w|``, the distances from the origin.
    parameter : str, default="C"
        What the values are.

    Attributes
    ----------
    axes_ : array of three matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Their figure.
    """

    def __init__(self, *, values: Floats, differences: Mapping[str, Floats], parameter: str = "C"):
        self.values = values
        self.differences = differences
        self.parameter = parameter

    @classmethod
    def from_path(
        cls,
        path: PrototypePath,
        *,
        start: Any = None,
        end: Any = None,
        name: Any = None,
        ax: Any = None,
    ) -> ConvergenceDisplay:
        """Draw how far each step of a path is from where it should begin, and end.

        Parameters
        ----------
        path : PrototypePath
            What :func:`~protolearn.regularization_path` gives, or ``path_`` of
            :class:`~protolearn.BoostedPrototypes`.
        start, end : linear classifier of protolearn, or LinearPrototypes, default=None
            Fitted models of the same classes and features, for example
            :class:`~protolearn.MeanOfClass` and :class:`~protolearn.HardMarginSVM`. None: the first
            step of the path, or the last.
        name : tuple of two str, default=None
            What the legend calls them; None: their classes.
        ax : array-like of three matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ConvergenceDisplay
        """
        check_path(path)
        names, targets = [], []
        for model, number in ((start, 0), (end, -1)):
            names.append(step_name(path, number) if model is None else class_name(model))
            targets.append(step(path, number) if model is None else target(path, model))
        if name is not None:
            names = [str(each) for each in name] if not isinstance(name, str) else [name]
            if len(names) != 2 or names[0] == names[1]:
                raise ValueError(f"name={name!r} must be two different names, of start and end.")
        order = np.argsort(path.values, kind="stable")
        differences = {
            each: difference(path, other)[:, order]
            for each, other in zip(number_repeats(names), targets, strict=True)
        }
        return cls(
            values=path.values[order], differences=differences, parameter=path.parameter
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : array-like of three matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ConvergenceDisplay
        """
        panels = panels_for(ax, 3, 1, sharex=True, figsize=SIZE)
        for which, panel in enumerate(panels):
            self._draw(panel, which)
        panels[-1].set_xlabel(self.parameter)
        # Above, since one curve falls and the other rises: there is no free corner.
        panels[0].legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        self.axes_, self.figure_ = panels, panels[0].figure
        return self

    def _draw(self, panel: Any, which: int) -> None:
        """Draw one kind of difference."""
        first = number_drawn(panel, CURVE)
        for i, (name, difference) in enumerate(self.differences.items(), start=first):
            look = {"color": colour(i), "ls": line_style(i), "gid": CURVE}
            single = "o" if len(self.values) == 1 else None  # a line of one point is unseen
            panel.plot(self.values, difference[which], label=f"to {name}", marker=single, **look)
        drawn = np.concatenate([line.get_ydata() for line in panel.lines])
        largest = np.nanmax(drawn, initial=0.0)
        if largest > 0.0:
            panel.set_yscale("log")
            smallest = drawn[drawn > SMALLEST * largest].min()
            panel.set_ylim(0.6 * smallest, 1.7 * largest)
        if self.values.min() > 0.0:
            panel.set_xscale("log")
        panel.set_ylabel(f"difference\n{PANELS[which]}")


def target(path: PrototypePath, model: Any) -> Hyperplane:
    """Read a classifier that a path is compared with."""
    found, name = hyperplane_of(model), class_name(model)
    with_prototypes(found, name)
    if found.coef.shape != path.coef.shape[1:]:
        raise ValueError(
            f"{name} has {len(found.coef)} features, the path {path.coef.shape[1]}; fit them to "
            "the same data."
        )
    if path.classes[0] is not None and list(found.classes_) != list(path.classes):
        raise ValueError(
            f"{name} has the classes {found.classes_.tolist()!r}, the path "
            f"{path.classes.tolist()!r}; fit them to the same labels."
        )
    return found


def difference(path: PrototypePath, other: Hyperplane) -> Floats:
    """Return how far each step is from a hyperplane: prototypes, unit normal and offset."""
    apart = (path.prototypes - np.asarray(other.prototypes)).reshape(len(path), -1)
    normals, offsets = unit(path.coef, path.intercept)
    normal, offset = unit(other.coef[None], np.array([other.intercept]))
    return np.stack(
        [
            np.linalg.norm(apart, axis=1),
            np.linalg.norm(normals - normal, axis=1),
            np.abs(offsets - offset),
        ]
    )


def unit(coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
    """Return hyperplanes with unit normals; NaN where there is none."""
    size = np.linalg.norm(coef, axis=1)
    size = np.where(size > 0.0, size, np.nan)
    return coef / size[:, None], intercept / size
