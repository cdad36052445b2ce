"""Pictures of learning: how weights or prototypes move, and the version space of a perceptron."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.ndimage import binary_erosion
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices
from .._validation import integer_in
from ..analysis import feature_names
from ..separability import sample_version_space
from .projection_display import Plane, plane_of_rows
from .style import COLOURS, LegendDisplay, axes_for, class_marker, colour

DARK, GREY = "#222222", "#8a929b"
FEW_LINES = 6  # earlier hyperplanes that are drawn
SHORTEST, LONGEST = 0.3, 2.0  # length of weights as a share of the data, drawn as they are
ROOM, MOST = 1.6, 0.98  # the picture shows so many times the extent of this share of weights
RESOLUTION = 300


@dataclass(kw_only=True, eq=False, repr=False)
class TrajectoryDisplay(LegendDisplay):
    """How the prototypes, or the weights of a perceptron, move from one state to the next.

    Prototypes go from a white dot to a star. Weights are arrows from the origin, the last one
    dark, with the hyperplane orthogonal to it. If it ends before training did, a ring marks the
    example that was presented last.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        The samples in the plane.
    codes : array of shape (n_samples,)
        Their classes, as indices of ``classes``.
    ways : array of shape (n_states, n_prototypes, 2)
        The prototypes in the plane, or the weights.
    way_codes : array of shape (n_prototypes,) or None
        Classes of the prototypes; None: the ways are weights.
    intercepts : array of shape (n_states,) or None
        Minus the thresholds of the weights.
    example : int
        The sample that was presented last; -1: none.
    classes : list of str
        Names of the classes.
    axis_names : tuple of two str
        What the axes are.
    """

    points: Floats
    codes: Indices
    ways: Floats
    way_codes: Indices | None
    intercepts: Floats | None = None
    example: int = -1
    classes: list[str]
    axis_names: tuple[str, str]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        unit: int = 0,
        until: int | None = None,
        legend: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw the history of a model that was fitted with ``history``.

        Two features are the axes. With more, the plane is that in which the ways go furthest.

        Parameters
        ----------
        model : classifier
            A perceptron, or a model with prototypes, fitted with ``history=True`` or ``"step"``.
        X : array-like of shape (n_samples, n_features)
            The rows that it was fitted with.
        unit : int, default=0
            Which unit of a perceptron of several classes.
        until : int, default=None
            How many states to draw, at least 1, the first before training; None: all.
        """
        check_is_fitted(model)
        if not hasattr(model, "history_"):
            raise ValueError(
                f"{type(model).__name__} has no history_: fit it with history=True or 'step'."
            )
        X, codes = np.asarray(X, dtype=np.float64), np.searchsorted(model.classes_, y)
        has_weights = isinstance(model.history_, list)
        history = model.history_[unit] if has_weights else model.history_
        if has_weights and "coef" not in history:
            raise ValueError(f"{type(model).__name__} has no weights in the space of the features.")
        ways = history["coef"][:, None] if has_weights else history["prototypes"]
        last = len(ways) if until is None else integer_in(until, "until={value!r}", 1)
        plane = plane_of_ways(ways, X, feature_names(model, None), has_weights)
        flat = ways.reshape(-1, ways.shape[-1])
        places = flat @ plane.seeing.T if has_weights else plane.places(flat)
        return cls(
            points=plane.places(X),
            codes=codes,
            ways=places.reshape(*ways.shape[:2], 2)[:last],
            way_codes=None if has_weights else model.rule_.codebook.labels,
            intercepts=history["intercept"][:last] if has_weights else None,
            example=-1 if until is None else int(history["example"][:last][-1]),
            classes=[str(label) for label in model.classes_],
            axis_names=plane.axis_names,
        ).plot(ax=ax, legend=legend)

    def _draw(self, ax: Any) -> Any:
        ax = axes_for(ax)
        for code, name in enumerate(self.classes):
            of = self.codes == code
            given = {"s": 28, "color": colour(code), "marker": class_marker(code), "alpha": 0.75}
            ax.scatter(*self.points[of].T, label=name, linewidths=0, zorder=2, **given)
        if self.example >= 0:
            ring = {"s": 160, "facecolors": "none", "edgecolors": DARK, "linewidths": 1.4}
            ax.scatter(*self.points[self.example], label="presented", zorder=3, **ring)
        if self.way_codes is None:
            self._draw_weights(ax)
        else:
            self._draw_prototypes(ax, self.way_codes)
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1], aspect="equal")
        return ax

    def _draw_prototypes(self, ax: Any, codes: Indices) -> None:
        for way, code in zip(self.ways.transpose(1, 0, 2), codes, strict=True):
            tone = colour(code)
            ax.plot(*way.T, color=DARK, lw=2.4, zorder=3)
            ax.plot(*way.T, color=tone, lw=1.2, zorder=4)
            ax.scatter(*way[0], s=30, color="white", edgecolors=DARK, zorder=5)
            ax.scatter(*way[-1], s=190, color=tone, marker="*", edgecolors=DARK, zorder=6)
        ax.scatter([], [], s=90, color=GREY, marker="*", edgecolors=DARK, label="prototype")

    def _draw_weights(self, ax: Any) -> None:
        size = float(np.abs(self.points).max())
        longest = float(np.linalg.norm(self.ways, axis=-1).max())
        is_seen = SHORTEST * size <= longest <= LONGEST * size
        factor = 1.0 if is_seen or longest == 0.0 else 0.8 * size / longest
        arrows = factor * self.ways[:, 0]
        reach = 1.15 * max(size, float(np.abs(arrows).max()))
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        for w in arrows[-FEW_LINES - 1 : -1]:
            draw_arrow(ax, np.zeros(2), w, GREY, 1.0)
        if len(arrows) > 1 and np.any(arrows[-1] != arrows[-2]):
            draw_arrow(ax, arrows[-2], arrows[-1], COLOURS[5], 1.6)
        draw_arrow(ax, np.zeros(2), arrows[-1], DARK, 2.2)
        label = "w" if factor == 1.0 else f"w, drawn {factor:.2g} times as long"
        ax.plot([], [], color=DARK, lw=2.2, label=label)
        w, b = self.ways[-1, 0], 0.0 if self.intercepts is None else float(self.intercepts[-1])
        if np.any(w):
            draw_line(ax, w[0], w[1], b, color=DARK, lw=1.0, ls="--", zorder=1)


def plane_of_ways(ways: Floats, X: Floats, names: list[str], are_weights: bool) -> Plane:
    """Return the plane of two features, or the one in which ways go furthest."""
    if X.shape[1] == 2:
        return Plane(np.zeros(2), np.eye(2), np.eye(2), (names[0], names[1]))
    flat = ways.reshape(-1, ways.shape[-1])
    origin = np.zeros(X.shape[1]) if are_weights else flat.mean(axis=0)
    return plane_of_rows(origin, flat - origin, X, "weights" if are_weights else "prototypes")


def draw_line(ax: Any, a: float, b: float, c: float, **style: Any) -> None:
    """Draw the line ``a x + b y + c = 0``."""
    foot = -c * np.array([a, b]) / (a * a + b * b)
    ax.axline(foot, foot + np.array([-b, a]), **style)


def draw_arrow(ax: Any, start: Floats, end: Floats, tone: str, width: float) -> None:
    """Draw an arrow, unless it has no length."""
    if np.any(start != end):
        style = {"arrowstyle": "-|>", "color": tone, "lw": width, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", end, start, arrowprops=style, zorder=4)


@dataclass(kw_only=True, eq=False, repr=False)
class VersionSpaceDisplay(LegendDisplay):
    """The weights that have all examples right, as a part of the sphere of all weights.

    The sphere is seen from its middle, around the centre of the version space, so that the planes
    orthogonal to the examples are straight lines. Of more than three weights it is the section
    through the centre in which the version space is widest. Darker is more stable. Examples whose
    line touches the version space are informative: without them it would be larger.

    Make one with :meth:`from_examples`.

    Parameters
    ----------
    lines : array of shape (n_examples, 3)
        ``(a, b, c)``: the example is right where ``a u + b v + c > 0``.
    is_informative : array of bool of shape (n_examples,)
        Whose lines touch the version space.
    grid : tuple of arrays
        Coordinates along both axes, and the stability at each crossing, not a number outside.
    marks : dict of arrays of shape (2,)
        Weights with a name.
    """

    lines: Floats
    is_informative: Any
    grid: tuple[Floats, Floats, Floats]
    marks: dict[str, Floats]

    @classmethod
    def from_examples(
        cls,
        X: Any,
        y: Any,
        weights: Mapping[str, Any] | None = None,
        *,
        fit_intercept: bool = False,
        n_samples: int = 500,
        legend: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw the version space of some examples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The examples, with two classes that a hyperplane separates.
        weights : dict, default=None
            Weights to mark, by name: arrays, or fitted linear classifiers.
        fit_intercept : bool, default=False
            Whether there is a threshold, one more weight.
        n_samples : int, default=500
            Random weights that find the centre.
        """
        samples = sample_version_space(X, y, n_samples, fit_intercept=fit_intercept, random_state=0)
        X, codes = np.asarray(X, dtype=np.float64), np.unique(y, return_inverse=True)[1]
        rows = np.column_stack([X, -np.ones(len(X))]) if fit_intercept else X
        if rows.shape[1] < 3:
            raise ValueError(
                "A version space is drawn of three weights or more: give X three features, or two "
                "with fit_intercept=True."
            )
        mirrored = (2.0 * codes - 1.0)[:, None] * rows
        centre = samples.mean(axis=0)
        centre /= np.linalg.norm(centre)
        seen = samples / (samples @ centre)[:, None] - centre
        axes = np.linalg.svd(seen, full_matrices=True)[2]
        axes = axes - np.outer(axes @ centre, centre)
        axes = np.linalg.qr(axes[:2].T)[0].T
        lines = mirrored @ np.vstack([axes, centre]).T
        place = partial(place_of, fit_intercept, centre, axes)
        marks = {name: place(given) for name, given in (weights or {}).items()}
        size = ROOM * float(np.quantile(np.abs(seen @ axes.T).max(axis=1), MOST))
        grid = stability_on_grid(lines, size)
        return cls(lines=lines, is_informative=touching(lines, grid), grid=grid, marks=marks).plot(
            ax=ax, legend=legend
        )

    def _draw(self, ax: Any) -> Any:
        ax = axes_for(ax)
        u, v, stability = self.grid
        ax.set_facecolor("#f1f2f4")
        levels = np.linspace(0.0, float(np.nanmax(stability)), 7)
        ax.contourf(u, v, stability, levels=levels, cmap="Blues", extend="max", alpha=0.9)
        seen = {True: ("informative example", DARK, 1.6), False: ("other example", GREY, 0.7)}
        for kind, (label, tone, width) in seen.items():
            for k, (a, b, c) in enumerate(self.lines[self.is_informative == kind]):
                draw_line(ax, a, b, c, color=tone, lw=width, label=None if k else label)
        for k, (name, place) in enumerate(self.marks.items()):
            given = {"s": 90, "color": COLOURS[(k + 1) % len(COLOURS)], "edgecolors": "white"}
            ax.scatter(*place, marker=class_marker(k), label=name, zorder=5, **given)
        ax.set(xlim=u[[0, -1]], ylim=v[[0, -1]], aspect="equal", xticks=[], yticks=[])
        return ax


def place_of(fit_intercept: bool, centre: Floats, axes: Floats, given: Any) -> Floats:
    """Return where weights are seen; they may be those of a fitted classifier."""
    if hasattr(given, "coef_"):
        w = np.ravel(given.coef_)
        w = np.append(w, -np.ravel(given.intercept_)[0]) if fit_intercept else w
    else:
        w = np.ravel(np.asarray(given, dtype=np.float64))
    if len(w) != len(centre) or not w @ centre > 0.0:
        raise ValueError(
            f"weights have to be {len(centre)} numbers on the side of the version space; "
            f"got {len(w)}{'' if len(w) != len(centre) else ' on the other side'}."
        )
    return axes @ w / (w @ centre)


def stability_on_grid(lines: Floats, size: float) -> tuple[Floats, Floats, Floats]:
    """Return coordinates, and the least stability there; not a number where an example is wrong."""
    u = np.linspace(-size, size, RESOLUTION)
    U, V = np.meshgrid(u, u)
    lengthened = np.sqrt(U**2 + V**2 + 1.0)
    potentials = lines[:, 0, None, None] * U + lines[:, 1, None, None] * V
    stability = ((potentials + lines[:, 2, None, None]) / lengthened).min(axis=0)
    return u, u, np.where(stability > 0.0, stability, np.nan)


def touching(lines: Floats, grid: tuple[Floats, Floats, Floats]) -> Any:
    """Return whose lines are the nearest of all at some place on the border of the region."""
    u, v, stability = grid
    U, V = np.meshgrid(u, v)
    inside = np.isfinite(stability)
    border = inside & ~binary_erosion(inside)
    places = np.column_stack([U[border], V[border], np.ones(border.sum())])
    away = places @ lines.T / np.linalg.norm(lines[:, :2], axis=1)
    found = np.zeros(len(lines), dtype=bool)
    found[away.argmin(axis=1)] = True
    return found
