"""Which answers stay the same while rows move, and examples for those that do not.

A row moves by ``y`` times the radius, feature by feature, with ``|y| <= 1`` in the norm of the
threat. Three questions are asked one after the other, each only about the rows that the one before
leaves open: does a bound in closed form prove the answer, does the exact distance to the boundary,
and which is the row that breaks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_consistent_length

from .._arrays import Floats, Indices, as_floats
from .._names import count, suggest_name
from .._validation import check_norm
from ..distances import Minkowski
from ..rule import DecisionRule, as_rule
from ..tables import NumberColumn, TableEncoder, flatten_steps, ignore_warnings
from .cells import Cells, describe_model
from .certificates import (
    AT_A_TIME,
    certain_rows,
    largest_of_smallest,
    lower_leads,
    room_in_box,
    soft_radius,
)
from .feature_units import both_ends
from .hypothesis_margins import known_labels
from .model_view import QUIET, ModelView, multipliers
from .moves import Box, pair_bounds, shortest_moves

BELOW = 1.0 - 1e-12
"""What is left of a length in closed form after the rounding of the form itself."""

INSETS = 1e-4, 1e-5, 1e-6, 1e-8, 1e-10
"""How far examples go beyond the boundary, as shares of the largest distance of the row."""

SINGLE_INSETS = INSETS[:3]
"""The same for rows of single precision: rounding may undo less."""

TRIED = 20
"""Rivals, the nearest ones, towards which rows move where boundaries are curved."""


@dataclass(frozen=True, eq=False)
class CertifiedAccuracy:
    """How many answers are right, and stay right while rows move.

    ``print`` it for a summary in words.

    Attributes
    ----------
    accuracy : float
        Share of the rows that are predicted correctly.
    bound : float
        Share that is proved to stay correct by a bound in closed form, which knows no box.
    exact : float
        Share that stays correct by the exact distance to the boundary, in the box; NaN for models
        whose boundaries are curved.
    certified : array of shape (n_samples,)
        Whether each row is proved to stay correct, by either.
    adversarial : array of shape (n_samples, n_features), or a frame as X is
        For each row that fails one that the model predicts wrongly, at most the radius away and in
        the box: the row itself if it is wrong as it is. NaN for certified rows, and for those
        about which nothing is known (``n_undecided``).
    radius : float or array of shape (n_features,)
        How far rows may move.
    norm : {1, 2, inf}
        In which norm.
    box : tuple or None
        The range in which they stay.
    n_undecided : int
        Rows that are neither certified nor have an example: none where boundaries are flat, but for
        those whose distance is the radius, to rounding.
    """

    accuracy: float
    bound: float
    exact: float
    certified: NDArray[np.bool_]
    adversarial: Any
    radius: Any
    norm: Any
    box: Any
    n_undecided: int
    y: NDArray[Any]

    def by_class(self) -> dict[Any, float]:
        """Return the share of certified rows of each class, by label."""
        return {
            label: float(self.certified[self.y == label].mean())
            for label in np.unique(self.y).tolist()
        }

    def __str__(self) -> str:
        """Return the shares as sentences."""
        norm = {1: "sum of changes", 2: "Euclidean length", np.inf: "largest change"}[self.norm]
        far = f"{self.radius:g}" if isinstance(self.radius, Real) else "their tolerances"
        within = "" if self.box is None else " within the box"
        lines = [
            f"{self.accuracy:.1%} of {count(len(self.y), 'row')} are predicted correctly.",
            f"{self.certified.mean():.1%} are proved to stay correct when they move by up to {far} "
            f"({norm}){within}; {self.bound:.1%} by the bound in closed form.",
        ]
        if np.isnan(self.exact):
            lines.append("The boundaries are curved: more rows may stay correct than is proved.")
        if self.n_undecided:
            rows = count(self.n_undecided, "row")
            lines.append(f"For {rows} there is neither a proof nor an example.")
        return "\n".join(lines)


def certified_accuracy(
    model: Any,
    X: Any,
    y: Any,
    *,
    radius: Any,
    norm: Any = 2,
    box: Any = None,
    n_jobs: int | None = None,
) -> CertifiedAccuracy:
    """Return how many answers are right and stay so for all rows up to ``radius`` away.

    Proved for every one of these rows, in the arithmetic of ``predict``; where a row fails there is
    an example (``adversarial``).

    Parameters
    ----------
    model : nearest-prototype or linear classifier, or Pipeline that ends in one
        A fitted model. Before it there may be scalers, and a
        :class:`~protolearn.tables.TableEncoder`: lengths are in your units, not in those of the
        last step. Exact for flat boundaries: squared Euclidean, relevance, matrix and Mahalanobis
        distance with one metric, and linear classifiers, also scikit-learn's.
    X : array-like of shape (n_samples, n_features), or a table
        Rows.
    y : array-like of shape (n_samples,)
        Their labels.
    radius : float, array of shape (n_features,) or dict
        How far a row may move, in the units of X. An array has the unit of each feature: a row
        moves by these times a vector of length one at most. A dict has such units by name, and
        other columns stay as they are. Of tables only numbers move, no categories.
    norm : {1, 2, inf}, default=2
        What the length of a move is: the sum of all changes, the Euclidean length, or the largest
        change of a feature (``numpy.inf``).
    box : tuple (low, high) or dict, default=None
        Range in which moved rows stay, such as ``(0, 1)`` for pictures: numbers, or arrays with one
        for each feature, or a dict of pairs by name. None: anywhere.
    n_jobs : int, default=None
        Number of threads.

    Returns
    -------
    certified : CertifiedAccuracy
        With ``accuracy``, ``bound``, ``exact``, ``certified``, ``adversarial``.

    See Also
    --------
    sample_margin : The exact distance of each row.
    RobustLVQ : Trains prototypes for it.

    Notes
    -----
    With local metrics, tangents and kernels the bound rests on the Euclidean length of the longest
    move; with :class:`~protolearn.distances.Minkowski` on the norm of the distance. A soft decision
    has its own. For these models examples are searched for on the ways to the nearest rivals.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ, certified_accuracy
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(prototypes_per_class=2, random_state=0).fit(X, y)
    >>> found = certified_accuracy(model, X, y, radius=0.3)
    >>> found.bound <= found.exact <= found.accuracy
    True
    >>> wrong = found.adversarial[~found.certified]
    >>> bool((model.predict(wrong) != y[~found.certified]).all())
    True
    """
    norm = check_norm(norm)
    threat = Threat.of(model, X, radius, norm, box)
    y = known_labels(threat.model, y)
    check_consistent_length(threat.given.plain, y)
    right = np.asarray(threat.predict(threat.given.plain) == y)
    by_bound, by_distance = np.zeros((2, len(y)), dtype=bool)
    adversarial = np.where(right[:, None], np.nan, threat.given.plain)
    codes = np.searchsorted(threat.rule.classes, y)
    for start in range(0, len(y), AT_A_TIME):
        some = start + np.flatnonzero(right[start : start + AT_A_TIME])
        D, sure = threat.distances(some, codes[some])
        by_bound[some] = threat.bounds(sure, codes[some]) >= 1.0
        left = ~by_bound[some]
        some, given = some[left], (D[left], sure[left], codes[some][left])
        if threat.is_flat:
            proved, points = threat.prove_or_break(some, *given, n_jobs)
            by_distance[some] = proved
        else:
            points = threat.attack(some, given[0], given[2])
        adversarial[some] = points
    certified = by_bound | by_distance
    return CertifiedAccuracy(
        accuracy=float(right.mean()),
        bound=float(by_bound.mean()),
        exact=float(certified.mean()) if threat.is_flat else np.nan,
        certified=certified,
        adversarial=threat.as_given(adversarial),
        radius=radius,
        norm=norm,
        box=box,
        n_undecided=int((~certified & np.isnan(adversarial).any(axis=1)).sum()),
        y=y,
    )


@dataclass(frozen=True, eq=False)
class PlainRows:
    """Rows in the user's units, and what leads from there to the last step of a model.

    Attributes
    ----------
    plain : array (n, d)
        The rows.
    names : list of str
        The name of each feature.
    moves : array (d,)
        Whether it is a number, and no part of a category.
    scale : array (d,) or None
        What it is multiplied with on the way; None if that is not all.
    seen : tuple
        A model, and rows, to ask about what the last step sees.
    view : ModelView or None
        If the model begins with a table.
    dtype : dtype
        Of the rows that were given.
    """

    plain: Floats
    names: list[str]
    moves: NDArray[np.bool_]
    scale: Floats | None
    seen: tuple[Any, Any]
    view: ModelView | None = None
    dtype: Any = np.float64

    @classmethod
    def of_table(cls, model: Any, last: Any, X: Any) -> PlainRows:
        """Return the rows of a table."""
        view = ModelView.of(model, X)
        widths = [place.stop - place.start for place in view.places]
        numbers = [isinstance(column, NumberColumn) for column in view.columns]
        names = np.repeat(np.array(view.names, dtype=object), widths).tolist()
        seen = last, view.inner(view.plain)
        return cls(view.plain, names, np.repeat(numbers, widths), view.scale, seen, view)

    @classmethod
    def of_array(cls, steps: list[tuple[str, Any]], X: Any) -> PlainRows:
        """Return the rows of an array, or of a frame of numbers."""
        checked = partial(check_array, dtype=None, ensure_all_finite="allow-nan")
        rows = X.toarray() if issparse(X) else checked(X)
        named = getattr(steps[0][1], "feature_names_in_", range(rows.shape[1]))
        return cls(
            as_floats(rows),
            [str(name) for name in named],
            np.ones(rows.shape[1], dtype=bool),
            multipliers(steps[:-1], np.ones(rows.shape[1])),
            (Pipeline(steps) if len(steps) > 1 else steps[0][1], X),
            dtype=rows.dtype if rows.dtype.kind == "f" else np.dtype(np.float64),
        )


@dataclass(frozen=True, eq=False)
class Threat:
    """A model with rows, and how these may move.

    Attributes
    ----------
    model : classifier
        As given.
    rule : DecisionRule
        How it decides.
    given : PlainRows
        The rows in the user's units.
    rows : array (n, d)
        The rows as the last step sees them, in double precision.
    roundoff : list
        Of predictions, and of the rows.
    radius : array (d,)
        How far a row may move in each feature, in the user's units.
    norm : {1, 2, inf}
        Of a move in units of the radius, which is at most one.
    ends : Box or None
        The range in which moved rows stay.
    room : Box or None
        How far each row may move down and up, in units of the radius.
    """

    model: Any
    rule: DecisionRule
    given: PlainRows
    rows: Floats
    roundoff: list[float]
    radius: Floats
    norm: Any
    ends: Box | None
    room: Box | None

    @classmethod
    def of(cls, model: Any, X: Any, radius: Any, norm: Any, box: Any) -> Threat:
        """Return how the rows of a model may move; raise if that cannot be told."""
        steps = flatten_steps(model)
        rule, last = as_rule(steps[-1][1]), steps[-1][1]
        if rule.directions is None and rule.steepness is None:
            raise ValueError(
                f"{describe_model(last)} has no certificate: its distance gives no bound on how "
                "fast it changes."
            )
        of_table = isinstance(steps[0][1], TableEncoder)
        given = PlainRows.of_table(model, last, X) if of_table else PlainRows.of_array(steps, X)
        if given.scale is None:
            raise ValueError(
                "A step of the pipeline does more than scale each feature, so lengths in your "
                "units have no meaning for the model. Pass the last step alone, with its input "
                "rows."
            )
        rows, *roundoff = certain_rows(rule, *given.seen, "certified_accuracy")
        rows = as_floats(rows.toarray() if issparse(rows) else rows)
        far = np.where(given.moves, radius_by_feature(radius, given.names), 0.0)
        if not far.any():
            raise ValueError(f"radius={radius!r} moves no number of X, only categories.")
        ends = room = None
        if box is not None:
            low, high = both_ends(box, given.names)
            ends = np.where(given.moves, low, -np.inf), np.where(given.moves, high, np.inf)
            down, up = (
                np.divide(way, far, out=np.zeros_like(way), where=far > 0.0)
                for way in room_in_box(given.plain, *ends)
            )
            room = down, up
        return cls(model, rule, given, rows, roundoff, far, norm, ends, room)

    @cached_property
    def stretch(self) -> Floats:
        """How far a row may move in each feature as the last step sees it, with a sign."""
        assert self.given.scale is not None
        return self.radius * self.given.scale

    @cached_property
    def is_flat(self) -> bool:
        """Whether the nearest prototype decides, by flat boundaries."""
        return not self.rule.is_soft and Cells.of(self.rule) is not None

    @cached_property
    def U(self) -> Floats:
        """Where prototypes lie, in units of the radius."""
        assert self.rule.directions is not None
        return as_floats(self.rule.directions * self.stretch)

    @cached_property
    def longest(self) -> float:
        """The largest Euclidean length of a move, as the last step sees it."""
        return self._longest(2.0)

    def _longest(self, q: float) -> float:
        """Return the largest q-norm of ``stretch`` times a vector of length one (Hoelder)."""
        p = float(self.norm)
        if p <= q:
            return float(np.abs(self.stretch).max())
        return float(np.linalg.norm(self.stretch, q if p == np.inf else p * q / (p - q)))

    def predict(self, points: Floats) -> NDArray[Any]:
        """Return what the model says about rows in the user's units."""
        if self.given.view is not None:
            return self.given.view.labels(points)
        with ignore_warnings(*QUIET):
            return np.asarray(self.model.predict(points.astype(self.given.dtype)))

    def as_given(self, points: Floats) -> Any:
        """Return rows in the form in which X was given."""
        if self.given.view is None:
            return points.astype(self.given.dtype)
        known = np.asarray(np.isfinite(points).all(axis=1))
        return self.given.view.frame(np.where(known[:, None], points, self.given.plain))

    def distances(self, some: Indices, codes: Indices) -> tuple[Floats, Floats]:
        """Return the distances of some rows, and such whose leads rounding cannot undercut."""
        rows = self.rows[some]
        D = np.asarray(self.rule.distances(rows), dtype=np.float64)
        own = self.rule.codebook.labels == codes[:, None]
        moved = np.full(len(rows), self.longest)
        return D, lower_leads(self.rule, rows, D, own, moved, self.roundoff)

    def bounds(self, sure: Floats, codes: Indices) -> Floats:
        """Return a bound, in closed form, of how long a move has to be to change each answer."""
        rule, labels = self.rule, self.rule.codebook.labels
        if self.is_flat:
            return pair_bounds(sure, codes, self.U, labels, self.norm)
        own = labels == codes[:, None]
        if rule.is_soft:
            measure = soft_radius(rule, Cells.of(rule), self.roundoff[0])
            return BELOW * measure(sure, own) / self.longest
        if isinstance(rule.distance, Minkowski):
            pace = np.full(len(labels), self._longest(float(rule.distance.p)))
        else:
            pace = np.asarray(rule.steepness) * self.longest
        lengths = np.sqrt(np.maximum(sure, 0.0)) if rule.distance.squared else sure
        found = np.empty(len(sure))
        with np.errstate(divide="ignore"):
            largest_of_smallest(as_floats(lengths), 1.0 / (pace + pace[:, None]), own, found)
        return BELOW * found

    def room_of(self, some: Indices) -> Box | None:
        """Return how far some rows may move."""
        return None if self.room is None else (self.room[0][some], self.room[1][some])

    def prove_or_break(
        self, some: Indices, D: Floats, sure: Floats, codes: Indices, n_jobs: int | None
    ) -> tuple[NDArray[np.bool_], Floats]:
        """Return whether rows are proved not to change, and else rows that do."""
        given = self.U, self.rule.codebook.labels
        search = partial(shortest_moves, enough=1.0, n_jobs=n_jobs)
        found = search(*given, sure, codes, self.norm, self.room_of(some), limit=1.0)
        proved = found.length >= 1.0
        points = np.full((len(some), len(self.stretch)), np.nan)
        for inset in SINGLE_INSETS if self.given.dtype == np.float32 else INSETS:
            left = np.flatnonzero(~proved & np.isnan(points).any(axis=1))
            if not len(left):
                break
            room = self.room_of(some[left])
            moves = search(*given, D[left], codes[left], self.norm, room, inset=inset)
            self._keep_examples(some, left, moves.ways, codes, points)
        return proved, points

    def attack(self, some: Indices, D: Floats, codes: Indices) -> Floats:
        """Return rows on the ways to the nearest rivals that get another answer, NaN without."""
        labels, W = self.rule.codebook.labels, self.rule.codebook.prototypes
        points = np.full((len(some), len(self.stretch)), np.nan)
        if W.shape[1] != len(self.stretch):
            return points
        far = np.where(labels == codes[:, None], np.inf, D)
        moving = self.stretch != 0.0
        for rank in range(min(TRIED, int((labels != labels[0]).sum()))):
            left = np.flatnonzero(np.isnan(points).any(axis=1))
            if not len(left):
                break
            rival = np.argsort(far[left], axis=1)[:, rank]
            way = W[rival] - self.rows[some[left]]
            way = np.divide(way, self.stretch, out=np.zeros_like(way), where=moving)
            if self.norm == np.inf:
                way = np.clip(way, -1.0, 1.0)
            else:
                way /= np.maximum(np.linalg.norm(way, self.norm, axis=1), 1.0)[:, None]
            self._keep_examples(some, left, way, codes, points)
        return points

    def _keep_examples(
        self, some: Indices, left: Indices, ways: Floats, codes: Indices, points: Floats
    ) -> None:
        """Keep the moves, of length one at most, that change the answer."""
        if (room := self.room_of(some[left])) is not None:
            ways = np.clip(ways, *room)
        short = np.linalg.norm(ways, self.norm, axis=1) <= 1.0
        tried = self.given.plain[some[left]] + self.radius * ways
        if self.ends is not None:  # rounding may have left it
            tried = np.clip(tried, *self.ends)
        good = short & np.asarray(self.predict(tried) != self.rule.classes[codes[left]])
        points[left[good]] = tried[good]


def radius_by_feature(radius: Any, names: list[str]) -> Floats:
    """Return how far a row may move in each feature."""
    if isinstance(radius, Mapping):
        found = np.zeros(len(names))
        for name, far in radius.items():
            places = [j for j, one in enumerate(names) if one == str(name)]
            if not places:
                known = suggest_name(name, [*dict.fromkeys(names)])
                raise ValueError(f"radius names the column {name!r}; the model has none.{known}")
            found[places] = far
    else:
        found = np.asarray(radius, dtype=np.float64)
        if found.shape not in ((), (len(names),)):
            raise ValueError(
                f"radius has shape {found.shape}; expected a number, one for each of the "
                f"{len(names)} features, or a dict by name."
            )
    if not (np.isfinite(found).all() and (found >= 0.0).all() and found.any()):
        raise ValueError(
            f"radius={radius!r} must be positive: numbers that are not negative, and not all zero."
        )
    return np.broadcast_to(found, len(names))
