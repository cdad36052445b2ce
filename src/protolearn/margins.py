"""The margin axis: how clearly a sample is right, from its distances to the prototypes.

With D+ the distance to the nearest prototype of the own class and D- that to the nearest rival:

* difference: ``D- - D+`` (Jin et al., 2008, eq. 3)
* relative: ``(D- - D+) / (D- + D+)`` (Sato and Yamada, 1996)
* hypothesis: ``(sqrt D- - sqrt D+) / 2`` for a squared distance (Crammer et al., 2002, lemma 1)
* k nearest: the hypothesis margin with the h-th nearest own prototype and the h-th nearest rival,
  for the majority of ``k = 2h - 1`` prototypes (Crammer et al., 2002, section 6)
* radius: ``(D_j - D_i) / (2 |w_i - w_j|)`` of the rival j and the own prototype i that decide, the
  distance that a row may move for sure (Voracek and Hein, 2022)
* log-odds: ``log sum_own exp(-xi D) - log sum_rivals exp(-xi D)``, over all prototypes; with the
  logistic loss it is RSLVQ (Seo and Obermayer, 2003), with the sigmoid loss SNPC (Seo, Bode and
  Obermayer, 2003)

Class probabilities follow from the same margin: :func:`class_margins` returns that of each class.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from ._arrays import Floats, as_floats
from ._validation import check_integer, check_norm, check_positive
from .native import (
    ADDRESS,
    MARGIN,
    Native,
    flags_matrix,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)

if TYPE_CHECKING:
    from .distances import Distance

__all__ = [
    "MARGINS",
    "Difference",
    "Hypothesis",
    "KNearest",
    "LogOdds",
    "Margin",
    "PrunedLogOdds",
    "Radius",
    "Relative",
]

margin_at = pointer(MARGIN)

LOG_2, LOG2_E = math.log(2.0), math.log2(math.e)
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11 = (1.0 / math.factorial(k) for k in range(2, 12))
HALVES = 2.0 ** -np.arange(1024.0)
"""What :func:`exp_all` computes with."""

ROUNDING = 1e-12
"""Share of the distance to the other winner that is nothing but rounding."""


@native(MARGIN)
def nearest_own(d, same, theta, g):
    """Return the distance to the nearest prototype of the sample's own class."""
    best = -1
    for k in range(d.size):
        if same[k] and (best < 0 or d[k] < d[best]):
            best = k
    g[best] = 1.0
    return d[best]


class Margin(BaseEstimator):
    """How clearly a sample is right. Derive from it to make your own.

    A subclass has ``margin(d, same, theta, g) -> value``, decorated with ``@native(MARGIN)``:
    ``d`` holds the distances of one sample to the prototypes, ``same`` says which of them are of
    its class, and ``g``, which arrives as zeros, takes the derivative of the value by ``d``.
    ``attraction`` has the same form; it is the term that keeps the own class near.

    Attributes
    ----------
    winners : {2, None, "pair"}
        With 2, ``margin`` and ``attraction`` depend only on the nearest own prototype and the
        nearest rival, and the row that they receive holds just these two, own first. With None
        they see the whole row. With "pair" ``margin`` receives three numbers, the distances to an
        own prototype and to a rival, and the length of the way between these two, and a sample has
        the least margin over the rivals of the largest over the own prototypes; ``attraction``
        receives the distance to the nearest own prototype alone.
    norm : {1, 2, inf}
        Of a margin of pairs: in which norm a sample moves. The way between two prototypes is
        measured in the dual norm.
    smooth : bool
        Whether the derivative is continuous; a change of the winners does not count.
    bounded : bool
        Whether the value stays between two numbers, as a share does.
    sharpness : float
        How fast class probabilities change with distance, in units of the scale, as long as no
        factor of the margins is learned.
    class_scores : {"difference", "relative", "root"}
        Which scores of the classes probabilities come from (:func:`class_margins`).
    neighbors : int
        The h of the decision that belongs to the margin: the class whose h-th nearest prototype is
        nearest.
    """

    winners: ClassVar[int | str | None] = 2
    norm: Any = 2
    smooth: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    sharpness: float = 1.0
    neighbors: int = 1
    class_scores: ClassVar[str] = "difference"
    margin: ClassVar[Native]
    attraction: ClassVar[Native] = nearest_own

    def theta(self) -> NDArray[np.float64]:
        """Return the parameters of ``margin`` and ``attraction`` as one array, after checks."""
        return np.empty(0)

    def suited_to(self, distance: Distance) -> Margin:
        """Return the form of this margin for a distance, or raise if they do not go together."""
        return self

    def steepened(self, times: float) -> Margin:
        """Return the margin with ``times`` the sharpness; itself, if it has none."""
        return self

    def __call__(
        self, D: ArrayLike, same: ArrayLike, apart: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the margin and its derivative for the rows of a distance matrix.

        A margin of pairs needs the lengths ``apart`` between the prototypes, an array (K, K).
        """
        D, same = as_floats(D), np.ascontiguousarray(same, dtype=bool)
        if self.winners is None:
            return self._measure(D, same)
        if self.winners == "pair":
            return self._measure_pairs(D, same, as_floats(apart))
        own = np.where(same, D, np.inf).argmin(axis=1)
        rival = np.where(same, np.inf, D).argmin(axis=1)
        pair = np.stack([own, rival], axis=1)
        value, g = self._measure(
            np.take_along_axis(D, pair, axis=1), np.tile([True, False], (len(D), 1))
        )
        G = np.zeros_like(D)
        np.put_along_axis(G, pair, g, axis=1)
        return value, G

    def _measure_pairs(
        self, D: Floats, same: NDArray[np.bool_], apart: Floats
    ) -> tuple[Floats, Floats]:
        """Return value and derivative of each row, one pair of prototypes after the other."""
        found, G, mine = np.empty(len(D)), np.zeros_like(D), np.array([[True, False, False]])
        for i, (d, own) in enumerate(zip(D, same, strict=True)):
            owns, rivals = np.flatnonzero(own), np.flatnonzero(~own)
            k, j = (grid.ravel() for grid in np.meshgrid(owns, rivals))
            rows = as_floats(np.stack([d[k], d[j], apart[k, j]], axis=1))
            value, g = self._measure(rows, np.repeat(mine, len(rows), axis=0))
            by_rival = value.reshape(len(rivals), len(owns))
            rival = by_rival.max(axis=1).argmin()
            best = rival * len(owns) + by_rival[rival].argmax()
            found[i], G[i, k[best]], G[i, j[best]] = value[best], g[best, 0], g[best, 1]
        return found, G

    def _measure(self, D: Floats, same: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return value and derivative of rows as the functions take them."""
        value, G = np.empty(len(D)), np.zeros_like(D)
        measure_all(D, same, self.margin.address, as_floats(self.theta()), value, G)
        return value, G


@native(types.void(matrix, flags_matrix, ADDRESS, vector, vector_out, matrix_out))
def measure_all(D, same, margin, theta, value, G):
    """Run a margin over the rows of a distance matrix."""
    measure = margin_at(margin)
    for i in range(D.shape[0]):
        value[i] = measure(D[i], same[i], theta, G[i])


@numba.njit
def find_winners(d, same):
    """Return the index of the nearest own prototype and of the nearest rival.

    In training the row holds just these two; the functions stay right for any row.
    """
    own = rival = -1
    for k in range(d.size):
        if same[k]:
            if own < 0 or d[k] < d[own]:
                own = k
        elif rival < 0 or d[k] < d[rival]:
            rival = k
    return own, rival


class Difference(Margin):
    """``D- - D+``: how much nearer the own class is; linear in x for squared Euclidean distance.

    Examples
    --------
    >>> from protolearn.margins import Difference
    >>> Difference()([[1.0, 3.0]], [[True, False]])[0]
    array([2.])
    """

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the margin of one row."""
        own, rival = find_winners(d, same)
        g[own], g[rival] = -1.0, 1.0
        return d[rival] - d[own]


class Relative(Margin):
    """``(D- - D+) / (D- + D+)``, between -1 and 1: the margin of GLVQ.

    Examples
    --------
    >>> from protolearn.margins import Relative
    >>> Relative()([[1.0, 3.0]], [[True, False]])[0]
    array([0.5])
    """

    bounded = True
    class_scores = "relative"

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the margin of one row; 0 with slope 0 where both winners lie on the sample."""
        own, rival = find_winners(d, same)
        total = d[own] + d[rival]
        if total < 1e-300:
            return 0.0
        g[own] = -2.0 * (d[rival] / total) / total
        g[rival] = 2.0 * (d[own] / total) / total
        return (d[rival] - d[own]) / total


class Hypothesis(Margin):
    """``(d- - d+) / 2`` of the unsquared distances: how far the prototypes may move.

    Examples
    --------
    >>> from protolearn.margins import Hypothesis
    >>> Hypothesis()([[1.0, 9.0]], [[True, False]])[0]
    array([1.])
    """

    class_scores = "root"

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the margin of squared distances; slope 0 where a winner lies on the sample.

        It does so if its distance, beside that of the other, is as small as rounding makes it.
        """
        own, rival = find_winners(d, same)
        near, far = math.sqrt(d[own]), math.sqrt(d[rival])
        if near > ROUNDING * far:
            g[own] = -0.25 / near
        if far > ROUNDING * near:
            g[rival] = 0.25 / far
        return 0.5 * (far - near)

    def suited_to(self, distance: Distance) -> Margin:
        """Return the form for a metric or for its square; a divergence has no hypothesis margin."""
        if distance.squared is None:
            raise ValueError(
                f"The hypothesis margin needs a distance that is a metric or its square, and "
                f"{type(distance).__name__} is neither; take margin='difference' or 'relative'."
            )
        return self if distance.squared else MetricHypothesis()


class MetricHypothesis(Margin):
    """The hypothesis margin of a distance that is not squared: ``(D- - D+) / 2``."""

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the margin of one row."""
        own, rival = find_winners(d, same)
        g[own], g[rival] = -0.5, 0.5
        return 0.5 * (d[rival] - d[own])


class Radius(Margin):
    """How far a row may move for sure: ``min_j max_i (D_j - D_i) / (2 |w_i - w_j|)``.

    Over the rivals j and the own prototypes i. ``(D_j - D_i) / (2 |w_i - w_j|)`` is the distance of
    the row to the plane between the two, and a rival takes the row over only beyond its planes to
    all own prototypes. It is negative where the row is wrong. The length of ``w_i - w_j`` is in the
    dual norm of the one in which the row moves. Under a learned metric ``w`` are what
    :meth:`~protolearn.distances.Geometry.directions` returns, and the row moves in the input.

    With the distance :class:`~protolearn.distances.Minkowski` of the same norm, ``p=norm``, it is
    ``(D- - D+) / 2``: the distance to each prototype changes by at most the length of the move.

    Parameters
    ----------
    norm : {1, 2, inf}, default=2
        In which norm the row moves.

    References
    ----------
    Crammer, Gilad-Bachrach, Navot and Tishby (2002), *Margin analysis of the LVQ algorithm*.
    Saralajew, Holdijk and Villmann (2020), *Fast adversarial robustness certification of nearest
    prototype classifiers for arbitrary seminorms*.
    Voracek and Hein (2022), *Provably adversarially robust nearest prototype classifiers*.

    Examples
    --------
    >>> from protolearn.margins import Radius
    >>> apart = [[0.0, 2.0], [2.0, 0.0]]
    >>> Radius()([[1.0, 9.0]], [[True, False]], apart)[0]
    array([2.])
    """

    winners = "pair"
    class_scores = "root"

    def __init__(self, norm: Any = 2):
        self.norm = norm

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether the derivative is continuous: not with the dual norms 1 and inf."""
        return bool(self.norm == 2)

    def theta(self) -> NDArray[np.float64]:
        """Return nothing, after a check of the norm."""
        check_norm(self.norm)
        return np.empty(0)

    def suited_to(self, distance: Distance) -> Margin:
        """Return the form for flat boundaries, or for the distance of the same norm."""
        norm = check_norm(self.norm)
        if getattr(distance, "has_flat_boundaries", False):
            return self
        p = distance.get_params(deep=False).get("p")
        if distance.squared is False and p is not None and p == norm:
            return MetricHypothesis()
        raise ValueError(
            f"The margin 'radius' with norm={self.norm!r} needs a distance with flat boundaries, "
            "such as 'sqeuclidean', 'relevance' or 'matrix', or Minkowski(p=norm); got "
            f"{distance!r}. Take another distance, or margin='hypothesis'."
        )

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the distance to the plane of one pair; zero where the two are in one place."""
        gap, length = d[1] - d[0], 2.0 * d[2]
        if not length * length > ROUNDING * ROUNDING * (d[0] + d[1]):
            return 0.0
        g[0], g[1], g[2] = -1.0 / length, 1.0 / length, -2.0 * (gap / length) / length
        return gap / length


@numba.njit
def find_nearest(d, same, own, h):
    """Return the index of the h-th nearest of the own prototypes or of the rivals, or the last."""
    last = -1
    for _ in range(h):
        best = -1
        for k in range(d.size):
            follows = last < 0 or d[k] > d[last] or (d[k] == d[last] and k > last)
            if same[k] == own and follows and (best < 0 or d[k] < d[best]):
                best = k
        if best < 0:
            break
        last = best
    return last


class KNearest(Margin):
    """The hypothesis margin of the majority among the k nearest prototypes.

    ``(d-_h - d+_h) / 2`` with the h-th smallest unsquared distances to rivals and to prototypes of
    the own class, ``h = (k + 1) // 2``: if it is positive, the own class has h of the ``2h - 1``
    nearest prototypes, and keeps them while no prototype moves farther than that. A model with this
    margin predicts the class that is the first to have h prototypes among the nearest: the majority
    of the k nearest, if there is one; of two classes with an even k, the nearer one.

    Parameters
    ----------
    k : int, default=3
        Number of prototypes that decide. Each class needs at least ``(k + 1) // 2``.

    Examples
    --------
    >>> from protolearn.margins import KNearest
    >>> KNearest(k=3)([[1.0, 4.0, 9.0, 36.0]], [[True, True, False, False]])[0]
    array([2.])
    """

    winners = None
    _squared = True

    def __init__(self, k: int = 3):
        self.k = k

    @property
    def neighbors(self) -> int:  # type: ignore[override]
        """How many prototypes of one class decide."""
        return (check_integer(self, "k", low=1) + 1) // 2

    def theta(self) -> NDArray[np.float64]:
        """Return the number h, and whether distances are squared."""
        return np.array([self.neighbors, self._squared], dtype=np.float64)

    def suited_to(self, distance: Distance) -> Margin:
        """Return the form for a metric or for its square; a divergence has no hypothesis margin."""
        form = clone(self)
        form._squared = isinstance(Hypothesis().suited_to(distance), Hypothesis)
        return form

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the margin of one row; slope 0 where one of the two lies on the sample."""
        h = int(theta[0])
        own, rival = find_nearest(d, same, True, h), find_nearest(d, same, False, h)
        if theta[1] == 0.0:
            g[own], g[rival] = -0.5, 0.5
            return 0.5 * (d[rival] - d[own])
        near, far = math.sqrt(d[own]), math.sqrt(d[rival])
        if near > ROUNDING * far:
            g[own] = -0.25 / near
        if far > ROUNDING * near:
            g[rival] = 0.25 / far
        return 0.5 * (far - near)


@numba.njit(fastmath={"reassoc", "contract", "nsz", "arcp"})
def exp_all(x):
    """Replace numbers from -700 to 0 by their exponentials; others count as the nearer end.

    The loop becomes one of vectors, and takes a quarter of the time of ``math.exp`` for a relative
    error of 1e-13: ``exp(x) = 2^-n exp(r)``, with the Taylor polynomial of a small rest r.
    """
    for k in range(x.size):
        a = x[k] if x[k] > -700.0 else -700.0  # also if it is not a number
        a = a if a < 0.0 else 0.0
        n = np.int32(0.5 - a * LOG2_E)
        r = a + n * LOG_2
        p = C10 + r * C11
        p = C6 + r * (C7 + r * (C8 + r * (C9 + r * p)))
        p = 1.0 + r * (1.0 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * p)))))
        x[k] = p * HALVES[n]


class LogOdds(Margin):
    """The log-odds of the own class under a mixture of equal Gaussians.

    Parameters
    ----------
    xi : float, default=1.0
        Sharpness of the Gaussians: the larger, the more only the nearest prototypes count.

    Examples
    --------
    >>> from protolearn.margins import LogOdds
    >>> LogOdds(xi=2.0)([[1.0, 3.0]], [[True, False]])[0]
    array([4.])
    """

    winners = None

    def __init__(self, xi: float = 1.0):
        self.xi = xi

    def theta(self) -> NDArray[np.float64]:
        """Return ``xi`` as an array."""
        return np.array([check_positive(self, "xi")])

    def steepened(self, times: float) -> LogOdds:
        """Return the log-odds under Gaussians that are ``times`` as sharp."""
        return clone(self).set_params(xi=times * self.xi)

    @property
    def sharpness(self) -> float:  # type: ignore[override]
        """The ``xi`` of the posterior probabilities."""
        return float(self.xi)

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the margin of one row."""
        xi = theta[0]
        own = rival = math.inf
        for k in range(d.size):
            if same[k]:
                own = d[k] if d[k] < own else own
            elif d[k] < rival:
                rival = d[k]
        for k in range(d.size):
            g[k] = xi * ((own if same[k] else rival) - d[k])
        exp_all(g)
        own_sum = rival_sum = 0.0
        for k in range(d.size):
            own_sum += g[k] if same[k] else 0.0
            rival_sum += 0.0 if same[k] else g[k]
        own_share, rival_share = -xi / own_sum, xi / rival_sum
        for k in range(d.size):
            g[k] *= own_share if same[k] else rival_share
        return xi * (rival - own) + math.log(own_sum) - math.log(rival_sum)

    @native(MARGIN)
    def attraction(d, same, theta, g):
        """Return the soft minimum of the own distances, ``-(1/xi) log sum_own exp(-xi D)``."""
        xi = theta[0]
        own = math.inf
        for k in range(d.size):
            if same[k]:
                own = min(own, d[k])
        total = 0.0
        for k in range(d.size):
            if same[k]:
                g[k] = math.exp(xi * (own - d[k]))
                total += g[k]
        for k in range(d.size):
            g[k] /= total
        return own - math.log(total) / xi


@numba.njit
def weigh_nearest(d, same, own, xi, n, g):
    """Write the weights of the n nearest of one side; return the least distance and their sum."""
    first, last = find_nearest(d, same, own, 1), find_nearest(d, same, own, n)
    total = 0.0
    for k in range(d.size):
        if same[k] == own and (d[k] < d[last] or (d[k] == d[last] and k <= last)):
            g[k] = math.exp(xi * (d[first] - d[k]))
            total += g[k]
    return d[first], total


class PrunedLogOdds(LogOdds):
    """The log-odds of the nearest prototypes only, within a window around the boundary.

    The sums of :class:`LogOdds` are over the ``nearest`` own prototypes and as many rivals, so that
    a row moves at most twice that number. Beyond ``window`` the margin is constant: rows that are
    surely right, or hopelessly wrong, move nothing. It changes training only; a soft decision
    counts all prototypes.

    Parameters
    ----------
    xi : float, default=1.0
        Sharpness of the Gaussians: the larger, the more only the nearest prototypes count.
    nearest : int, default=3
        Number of own prototypes, and of rivals, that count for a row.
    window : float, default=inf
        Largest size of the log-odds. Rows count whose probability of the own class is between
        ``1 / (1 + exp(window))`` and ``1 / (1 + exp(-window))``.

    Examples
    --------
    >>> from protolearn.margins import PrunedLogOdds
    >>> PrunedLogOdds(xi=2.0, nearest=1)([[1.0, 3.0, 4.0]], [[True, False, False]])[0]
    array([4.])
    """

    def __init__(self, xi: float = 1.0, nearest: int = 3, window: float = math.inf):
        super().__init__(xi)
        self.nearest = nearest
        self.window = window

    def theta(self) -> NDArray[np.float64]:
        """Return the parameters as an array."""
        nearest = check_integer(self, "nearest", low=1)
        window = self.window if self.window == math.inf else check_positive(self, "window")
        return np.array([check_positive(self, "xi"), nearest, window], dtype=np.float64)

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Return the margin of one row."""
        xi, n, window = theta[0], int(theta[1]), theta[2]
        own, own_sum = weigh_nearest(d, same, True, xi, n, g)
        rival, rival_sum = weigh_nearest(d, same, False, xi, n, g)
        value = xi * (rival - own) + math.log(own_sum) - math.log(rival_sum)
        slope = xi if abs(value) <= window else 0.0
        for k in range(d.size):
            g[k] *= -slope / own_sum if same[k] else slope / rival_sum
        return min(max(value, -window), window)

    @native(MARGIN)
    def attraction(d, same, theta, g):
        """Return the soft minimum of the nearest own distances."""
        own, total = weigh_nearest(d, same, True, theta[0], int(theta[1]), g)
        for k in range(d.size):
            g[k] /= total
        return own - math.log(total) / theta[0]


MARGINS: dict[str, type[Margin]] = {
    "difference": Difference,
    "relative": Relative,
    "hypothesis": Hypothesis,
    "radius": Radius,
    "k_nearest": KNearest,
    "log_odds": LogOdds,
}


SMALLEST = 1e-300
"""Sum of two distances below which both are taken for zero."""


def class_margins(scores: Any, kind: str) -> Any:
    """Return the margin of each class from scores that are minus a distance, an array (n, C).

    With D the distance to a class and R that to the second nearest class: ``-D`` ("difference"),
    ``(R - D) / (R + D)`` ("relative"), ``-sqrt D`` ("root"). The nearest class has the largest;
    its lead over the second is the margin of the row. A score of minus infinity, of a class
    without prototypes, stays what it is.
    """
    if kind == "difference":
        return scores
    D = np.maximum(-scores, 0.0)
    if kind == "root":
        return -np.sqrt(D)
    R = np.partition(D, 1, axis=1)[:, 1:2]
    found = np.zeros_like(D)
    known = np.isfinite(D + R) & (D + R > SMALLEST)
    np.divide(R - D, R + D, out=found, where=known)
    found[np.isinf(D)] = -np.inf
    return found


def class_minima(D: Any, codes: Any, n_classes: int) -> Any:
    """Return the distance to the nearest prototype of each class, infinite where it has none."""
    if len(codes) == n_classes and (codes == np.arange(n_classes)).all():
        return D
    order = np.argsort(codes, kind="stable")
    present, starts = np.unique(codes[order], return_index=True)
    found = np.full((len(D), n_classes), np.inf, dtype=D.dtype)
    found[:, present] = np.minimum.reduceat(D[:, order], starts, axis=1)
    return found
