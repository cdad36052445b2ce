"""How far a sample may move before it gets another class: exactly, and a certified lower bound.

The certificate: the nearest rival v overtakes an own prototype j only beyond the plane between
them, if that is flat; otherwise only after both distances together have changed by their
difference, which they cannot do faster than a metric allows. Any own prototype that is not
overtaken keeps the class.

In a soft decision all prototypes of a class add up to its score, ``log sum_k exp(-t_k)``, t their
distances in units of the width. Let a sample move by rho:

* Flat boundaries. With p the shares of the own prototypes in their score at the sample, the own
  score is at least ``H - sum_j p_j t_j`` everywhere, H the entropy of p, and exactly that at the
  sample. ``t_v - sum_j p_j t_j`` is linear, and falls by at most rho times its slope.
* Otherwise each distance, unsquared, changes by at most rho times its steepness.

So the lead of the own score over the others is at least a function of rho that only falls. The
radius is where it becomes zero.

Rounding: computed distances are off by E at most (:meth:`Geometry.rounding`), within the radius
that is found without it. All of this is done with own distances raised by E, and those of rivals
lowered by it: then the class cannot change in the arithmetic of ``predict`` either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from sklearn.utils.parallel import Parallel, delayed

from .._arrays import ROUNDING, Floats, as_floats, row_lengths
from .._dask import row_by_row
from .._threads import one_blas_thread
from .._validation import check_norm
from ..codebook import Codebook
from ..native import matrix, native, types, vector_out
from ..rule import DecisionRule, LinearRule, Part, as_rule
from .cells import Cells, complete_rows, describe_model
from .feature_units import both_ends
from .hypothesis_margins import last_of, last_step
from .moves import ROWS, shortest_moves
from .projection import EPSILON

HALVINGS = 60
DOUBLINGS = 100

AT_A_TIME = 512
"""Rows whose distances to all prototypes are in memory together."""

Lead = Callable[[Floats], Floats]
"""By how much the own score at least exceeds the others, given a radius for each row."""

Members = NDArray[np.bool_]

Measure = Callable[[Floats, Members], Floats]
"""A radius of each row, given its distances and which prototypes are of its class."""

flags = types.Array(types.boolean, 2, "C", readonly=True)


@row_by_row
def sample_margin(
    model: Any, X: Any, *, norm: Any = 2, box: Any = None, n_jobs: int | None = None
) -> Floats:
    """Return the distance of each row to the decision boundary.

    The length of the smallest change that gives a row another class, by the projection of the row
    on the cells of the rivals: exact, less a bound of the rounding of ``predict``.

    Parameters
    ----------
    model : nearest-prototype or linear classifier, or Pipeline that ends in one
        A fitted model with flat boundaries: squared Euclidean, relevance, matrix or Mahalanobis
        distance, one metric for all prototypes, and a hard decision, or one prototype a class; or
        any classifier that takes the largest of ``X @ coef_.T + intercept_``, also scikit-learn's.
        In a pipeline the margin is measured in the space of the last step.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The rows. A Dask array or frame is answered lazily, by a Dask array.
    norm : {1, 2, inf}, default=2
        What a length is: the sum of all changes, their Euclidean length, or the largest change of a
        feature (``numpy.inf``).
    box : tuple (low, high), default=None
        Ends of the range in which a changed row has to stay, numbers or one for each feature; None:
        anywhere. Rows outside raise an error. In a pipeline in the units of the last step.
    n_jobs : int, default=None
        Number of threads; of a Dask collection for each part.

    Returns
    -------
    margin : array of shape (n_samples,)
        Lengths in the norm; infinite if no row in the box has another class.

    See Also
    --------
    certified_radius : A lower bound, faster and for more models.
    hypothesis_margin : How far the prototypes may move.

    Notes
    -----
    For each rival prototype the row is projected on the polyhedron where that prototype is nearer
    than all prototypes of the predicted class (Crammer et al., 2002, call the smallest distance
    the sample margin). Rivals behind a plane farther away than the best found are left out. In the
    norms 1 and inf it is a linear program for each row and rival, which HiGHS solves; its
    multipliers prove the length (see :func:`certified_accuracy` for a question that is answered
    faster: whether the distance is at least some radius).

    Examples
    --------
    >>> from protolearn import GLVQ, sample_margin
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> sample_margin(model, [[0.5]]).round(2)
    array([2.])
    """
    rule, norm = as_rule(last_of(model)), check_norm(norm)
    cells = None if rule.is_soft else Cells.of(rule)
    if cells is None:
        soft = ", with a soft decision over all prototypes," if rule.is_soft else ""
        raise ValueError(
            f"The boundaries of {describe_model(last_of(model))}{soft} are not known to be flat, "
            "so that the distance to them has no exact form. certified_radius may give a lower "
            "bound, and the distance of a counterfactual an upper one."
        )
    rows, *roundoff = certain_rows(rule, model, X, "sample_margin")
    if norm != 2 or box is not None:
        return margins_in_box(rule, rows, roundoff, norm, box, n_jobs)

    def lengths(D: Floats, own: Members) -> Floats:
        return cells.shortest_ways(D, rule.codebook.labels[own.argmax(axis=1)]).length

    planes = hard_radius(rule, cells) if isinstance(rule, LinearRule) else lengths
    measure = certain_radius(rule, roundoff, cells, planes)
    starts = range(0, rows.shape[0], ROWS)
    with one_blas_thread():
        margins = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(rule.by_chunks)(rows[start : start + ROWS], measure) for start in starts
        )
    return np.concatenate(margins)


def margins_in_box(
    rule: DecisionRule, rows: Any, roundoff: list[float], norm: Any, box: Any, n_jobs: int | None
) -> Floats:
    """Return the shortest moves of rows in a norm and within a box, less all rounding."""
    rows = rows.toarray() if issparse(rows) else rows
    U, labels = as_floats(rule.directions), rule.codebook.labels
    room = None
    if box is not None:
        room = room_in_box(rows, *both_ends(box, [str(j) for j in range(rows.shape[1])]))
    long = float(rows.shape[1]) ** (0.5 if norm == np.inf else 0.0)
    parts = []
    for start in range(0, len(rows), AT_A_TIME):
        some = slice(start, start + AT_A_TIME)
        here = None if room is None else (room[0][some], room[1][some])
        D = rule.distances(rows[some])
        codes = labels[D.argmin(axis=1)]
        within = shortest_moves(U, labels, D, codes, norm, here, n_jobs=n_jobs).length
        moved = long * np.where(within < np.inf, within, 0.0)
        sure = lower_leads(rule, rows[some], D, labels == codes[:, None], moved, roundoff)
        parts.append(shortest_moves(U, labels, sure, codes, norm, here, n_jobs=n_jobs).length)
    return np.maximum(np.concatenate(parts), 0.0)


def room_in_box(rows: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return how far rows may move down and up; raise if one is outside the box."""
    ends = (np.where(np.isfinite(end), np.abs(end), 0.0) for end in (low, high))
    size = np.maximum(np.maximum(*ends), np.abs(rows))
    outside = ~((low - rows <= ROUNDING * size) & (high - rows >= -ROUNDING * size))
    if outside.any():
        i, j = np.argwhere(outside)[0]
        raise ValueError(
            f"Row {i} is outside the box: feature {j} is {rows[i, j]:g}, not between {low[j]:g} "
            f"and {high[j]:g}. Give a box in which all rows are, or None."
        )
    return np.minimum(low - rows, 0.0), np.maximum(high - rows, 0.0)


def lower_leads(
    rule: DecisionRule,
    rows: Any,
    D: Floats,
    own: Members,
    moved: Floats,
    roundoff: list[float],
) -> Floats:
    """Return distances with leads that rounding cannot undercut, wherever rows move.

    ``moved`` is the largest Euclidean length of a move. A row that is rounded itself is off by some
    ``e``, so that a lead changes by at most ``2 e |u_v - u_j|``.
    """
    codebook, (K, d) = rule.codebook, rule.codebook.prototypes.shape
    form = rule.distance.suited_to(rows) if issparse(rows) else rule.distance
    unit = roundoff[0] + EPSILON * (K if rule.is_soft else 1)
    unit /= max(1.0 - 2.0 * (d + 16) * unit, EPSILON)
    E = unit * form.rounding(rows, codebook, D, moved)
    e = 8.0 * (roundoff[1] * (row_lengths(rows) + moved) + EPSILON * (d + 8) * moved)
    if rule.directions is not None:
        E += 2.0 * e[:, None] * row_lengths(rule.directions)
    elif rule.steepness is not None:
        step = e[:, None] * rule.steepness
        root = np.sqrt(np.maximum(D, 0.0))
        E += step * (2.0 * root + step) if rule.distance.squared else step
    return np.asarray(D + np.where(own, E, -E))


@row_by_row
def certified_radius(model: Any, X: Any) -> Floats:
    """Return a radius around each row within which the prediction cannot change.

    A proved lower bound of the distance to the decision boundary, in closed form; rounding is in
    it. But for that it is exact for one prototype a class and flat boundaries.

    Parameters
    ----------
    model : nearest-prototype or linear classifier, or Pipeline that ends in one
        A fitted model whose distance is a metric, or the square of one: squared Euclidean,
        relevance, matrix (also local), Mahalanobis, Minkowski, tangent, kernel "rbf"; or any
        classifier that takes the largest of ``X @ coef_.T + intercept_``, also scikit-learn's. In
        a pipeline the radius is measured in the space of the last step.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The rows. A Dask array or frame is answered lazily, by a Dask array.

    Returns
    -------
    radius : array of shape (n_samples,)
        Euclidean lengths, zero or more; infinite if no row has another class.

    See Also
    --------
    sample_margin : The exact distance, where boundaries are flat.
    counterfactual : The nearest row of another class.

    Notes
    -----
    With u the prototypes, or what a matrix metric ``Lambda`` makes of them, it is ``max_j min_v
    (D_v - D_j) / (2 |u_v - u_j|)`` over own prototypes j and rivals v. With local metrics, and
    distances that are not squared Euclidean after a linear map, it is ``max_j min_v
    (sqrt D_v - sqrt D_j) / (L_v + L_j)``, L the largest singular value of the map of a prototype.

    For a soft decision (:class:`RSLVQ`) the own score is bounded below by its tangent at the row,
    and the scores of rivals above by what each of their prototypes can gain.

    For a linear classifier it is ``min_k (s_c - s_k) / |w_c - w_k|`` over the other classes k, s
    the scores and w the rows of ``coef_``; for two classes ``|w.x + b| / |w|``: the sample margin.

    Examples
    --------
    >>> from protolearn import GLVQ, certified_radius
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> certified_radius(model, [[0.5]]).round(2)
    array([2.])
    """
    rule = as_rule(last_of(model))
    cells = Cells.of(rule)
    if cells is None and rule.steepness is None:
        raise ValueError(
            f"{describe_model(last_of(model))} has no certificate: its distance gives no bound on "
            "how fast it changes."
        )
    rows, *roundoff = certain_rows(rule, model, X, "certified_radius")
    measure = soft_radius(rule, cells, roundoff[0]) if rule.is_soft else hard_radius(rule, cells)
    return rule.by_chunks(rows, certain_radius(rule, roundoff, cells, measure))


def certain_rows(rule: DecisionRule, model: Any, X: Any, name: str) -> tuple[Any, float, float]:
    """Return rows in double precision, the roundoff of predictions, and that of the rows."""
    last, Z = last_step(model, X)
    rows = complete_rows(rule, last, Z, name)
    coef = getattr(last, "coef_", rows) if isinstance(rule, LinearRule) else rows
    used = np.result_type(rows.dtype, getattr(coef, "dtype", np.float64))
    halved = getattr(Z, "dtype", None) == np.float16  # what a scaler makes of half precision
    given = np.finfo(np.float16 if halved else rows.dtype).eps
    return rows.astype(np.float64, copy=False), 0.5 * float(np.finfo(used).eps), 0.5 * float(given)


def certain_radius(
    rule: DecisionRule, roundoff: list[float], cells: Cells | None, measure: Measure
) -> Part:
    """Return the function of some rows that lowers what ``measure`` says by all rounding."""
    (K, d), labels = rule.codebook.prototypes.shape, rule.codebook.labels
    # Distances and directions are rounded here too; coordinates and soft scores are sums of K.
    many = rule.is_soft or (cells is not None and cells.basis is not None)
    unit = roundoff[0] + EPSILON * (K if many else 1)
    unit /= max(1.0 - 2.0 * (d + 16) * unit, EPSILON)  # terms of higher order, as in Higham's gamma

    def radius(rows: Any, codebook: Codebook, distance: Any) -> tuple[Floats, Floats]:
        D = distance.pairwise(rows, codebook)
        scores = rule.decision.scores(D / rule.scale, labels, len(rule.classes))
        own = labels == scores.argmax(axis=1)[:, None]
        within = measure(D, own)
        E = distance.rounding(rows, codebook, D, np.where(within < np.inf, within, 0.0))
        found = measure(D + unit * np.where(own, E, -E), own)
        finite = np.where(found < np.inf, found, 0.0)
        found -= 8.0 * (roundoff[1] * (row_lengths(rows) + finite) + EPSILON * (d + 8) * finite)
        return np.maximum(found, 0.0), D

    return radius


def hard_radius(rule: DecisionRule, cells: Cells | None) -> Measure:
    """Return the function of distances that computes the radius of nearest-prototype decisions.

    Gaps between distances, or between their roots, close at the pace of a pair of prototypes.
    """
    if cells is not None:
        pace, root = 2.0 * cdist(rule.directions, rule.directions), False
    else:
        steepness, root = np.asarray(rule.steepness), rule.distance.squared is True
        pace = steepness + steepness[:, None]
    with np.errstate(divide="ignore"):
        inverse = 1.0 / pace

    def radius(D: Floats, own: Members) -> Floats:
        D, out = np.sqrt(np.maximum(D, 0.0)) if root else D, np.empty(len(D))
        largest_of_smallest(D, inverse, own, out)
        return out

    return radius


@native(types.void(matrix, matrix, flags, vector_out))
def largest_of_smallest(D, inverse, own, out):
    """Write ``max_j min_v (D_v - D_j) inverse_vj`` over own prototypes j and rivals v.

    A lead over a rival that is in the same place never changes.
    """
    for i in range(D.shape[0]):
        row, mine, best = D[i], own[i], 0.0
        for j in range(row.size):
            if mine[j]:
                smallest, here = np.inf, inverse[j]
                for v in range(row.size):
                    if not mine[v]:
                        gap = row[v] - row[j]
                        smallest = min(smallest, gap * here[v] if gap > 0.0 else gap)
                best = max(best, smallest)
        out[i] = best


def soft_radius(rule: DecisionRule, cells: Cells | None, unit: float) -> Measure:
    """Return the function of distances that computes the radius of soft decisions."""
    labels, sharp = rule.codebook.labels, rule.decision.xi / rule.scale
    classes, K = labels == np.unique(labels)[:, None], len(labels)
    slack = 4.0 * (K + 8) * (unit + EPSILON)  # two scores, each the logarithm of K exponentials

    def radius(D: Floats, own: Members) -> Floats:
        if cells is not None:
            lead = flat_lead(sharp * D, own, classes, sharp * cells.coordinates)
        else:
            squared, steepness = rule.distance.squared is True, np.asarray(rule.steepness)
            lead = curved_lead(D, own, classes, steepness, squared, sharp)
        return first_zero(lambda rho: lead(rho) - slack, np.sqrt(np.abs(D).max(axis=1)))

    return radius


def scores(T: Floats, classes: Members) -> Floats:
    """Return ``log sum exp`` over the prototypes of each class, an array (n, classes)."""
    with np.errstate(divide="ignore"):  # prototypes that take no part are at minus infinity
        return np.stack([logsumexp(T[:, members], axis=1) for members in classes], axis=1)


def flat_lead(T: Floats, own: Members, classes: Members, U: Floats) -> Lead:
    """Return the lead where differences of T are linear, with slopes ``2 (u_j - u_v)``."""
    p = softmax(np.where(own, -T, -np.inf), axis=1)
    mean = (p * T).sum(axis=1)
    own_score = logsumexp(np.where(own, -T, -np.inf), axis=1) + mean
    slopes = 2.0 * cdist(p @ U, U)
    start = np.where(own, -np.inf, mean[:, None] - T)
    return lambda rho: own_score - scores(start + rho[:, None] * slopes, classes).max(axis=1)


def curved_lead(
    D: Floats, own: Members, classes: Members, steepness: Floats, squared: bool, sharp: float
) -> Lead:
    """Return the lead where each distance, unsquared, is known to change no faster than so."""
    D = np.maximum(D, 0.0)
    d = np.sqrt(D) if squared else D

    def lead(rho: Floats) -> Floats:
        change = rho[:, None] * steepness
        at_worst = np.where(own, d + change, np.maximum(d - change, 0.0))
        T = sharp * (np.square(at_worst) if squared else at_worst)
        own_score = logsumexp(np.where(own, -T, -np.inf), axis=1)
        return own_score - scores(np.where(own, -np.inf, -T), classes).max(axis=1)

    return lead


def first_zero(lead: Lead, unit: Floats) -> Floats:
    """Return the largest radius found, row by row, at which the lead is not negative."""
    high = np.where(unit > 0.0, unit, 1.0)
    for _ in range(DOUBLINGS):
        ahead = lead(high) >= 0.0
        if not ahead.any():
            break
        high = np.where(ahead, 2.0 * high, high)
    never = lead(high) >= 0.0
    low = np.zeros_like(high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        ahead = lead(middle) >= 0.0
        low, high = np.where(ahead, middle, low), np.where(ahead, high, middle)
    return np.where(never, np.inf, low)
