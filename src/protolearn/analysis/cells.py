"""The cells of the prototypes of a rule, where their boundaries are flat.

The nearest cell of another class is that of the rival prototype which a sample reaches by the
shortest way. Rivals behind a plane that is farther away than the way to another rival are left out,
unseen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices, as_floats
from ..native import (
    ADDRESS,
    f8,
    indices,
    indices_out,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector_out,
)
from ..pairs import lengths_between, lost_digits
from ..rule import DecisionRule
from .projection import CERTAIN, PARALLEL, PROJECT, TOOLS, add, dot, project

ANY = -1  # in the place of a class to enter: any other than the one to leave

project_at = pointer(PROJECT)
_exact = numba.njit(error_model="numpy")


class Ways(NamedTuple):
    """The shortest ways of some rows into other classes.

    ``ways`` (n, d) is what to add to the rows, ``length`` how long that is, and ``rival`` the
    prototype whose cell is reached: infinite and -1 where there is no way.
    """

    ways: Floats
    length: Floats
    rival: Indices


@dataclass(frozen=True)
class Cells:
    """The cells of prototypes whose distances differ by linear functions of the sample.

    ``coordinates`` (K, r) are where the prototypes lie, by :meth:`Distance.directions`: their
    features, or coordinates in the subspace in which they lie, which has the axes ``basis`` (d, r).
    """

    coordinates: Floats
    basis: Floats | None
    labels: Indices

    @classmethod
    def of(
        cls, rule: DecisionRule, movable: Any = slice(None), *, by_feature: bool = False
    ) -> Cells | None:
        """Return the cells of a rule, or None if their boundaries may be curved.

        If its decision is soft, these are the cells of the nearest prototypes. ``movable`` are the
        features that may change. Unless coordinates have to be features (``by_feature``), they are
        those of the subspace in which the prototypes lie, where that has fewer dimensions.
        """
        if rule.decision.neighbors > 1:
            raise ValueError(
                f"{rule.name} decides by several nearest prototypes. Certificates, exact distances "
                "and counterfactuals are for models in which the nearest one decides; "
                "hypothesis_margin is for both."
            )
        if rule.directions is None:
            return None
        U, labels = as_floats(rule.directions[:, movable]), rule.codebook.labels
        if by_feature or U.shape[1] <= len(U):
            return cls(U, None, labels)
        basis, triangle = np.linalg.qr(U.T)
        return cls(as_floats(triangle.T), basis, labels)

    @cached_property
    def apart(self) -> Floats:
        """The distances of the coordinates from each other, an array (K, K), or a little more.

        They come from products, and are longer by what these may lose to rounding.
        """
        U = self.coordinates
        return lengths_between(U, U, 2) * (1.0 + lost_digits(U))

    def shortest_ways(
        self,
        D: Floats,
        leave: Indices,
        enter: Indices | None = None,
        box: tuple[Floats, Floats] | None = None,
        inset: float = 0.0,
        limit: float = np.inf,
        enough: float = 0.0,
    ) -> Ways:
        """Return the shortest ways out of one class into another, or into ``ANY`` other.

        ``D`` (n, K) are the distances of the rows. ``box`` is how far each may move along each
        coordinate, down and up; ``inset`` how far to go beyond the boundary, in units of the
        largest distance of the row. Only ways shorter than ``limit`` are looked for, and no better
        one than one shorter than ``enough``.
        """
        n, U = len(D), self.coordinates
        found = Ways(np.zeros((n, U.shape[1])), np.empty(n), np.empty(n, dtype=np.intp))
        enter = np.full(n, ANY) if enter is None else enter
        low, high = (np.empty((n, 0)),) * 2 if box is None else map(as_floats, box)
        touching = PARALLEL * float(self.apart.max(initial=0.0))
        tools, cells = (dot.address, add.address), (U, self.apart, touching, self.labels)
        rows = as_floats(D), leave, enter, low, high, inset, limit, enough
        nearest_cells(project.address, tools, *cells, *rows, *found)
        if np.isnan(found.length).any():
            raise RuntimeError(
                "The distance to the boundary was not found within the steps that are allowed. "
                "Please report this, with the model and the rows."
            )
        return found if self.basis is None else found._replace(ways=found.ways @ self.basis.T)


@_exact
def _conditions(v, D, U, apart, touching, hold, inset, A, c, certain):
    """Write down what makes v nearer than those that hold; return how many, -1 if v cannot be.

    ``inset`` moves the boundaries into the cell, in units of the largest distance.
    """
    m, scale, largest = 0, 0.0, 0.0
    for j in range(D.size):
        scale = max(scale, D[j])
    for j in range(D.size):
        if not hold[j]:
            continue
        gap, length = D[v] - D[j], 2.0 * apart[v, j]
        if length <= touching:  # no way along the features that may move changes this
            if gap + inset * scale > CERTAIN * scale:
                return -1
            continue
        for i in range(U.shape[1]):
            A[m, i] = 2.0 * (U[j, i] - U[v, i]) / length
        c[m] = (gap + inset * scale) / length
        certain[m] = CERTAIN * scale / length
        largest = max(largest, abs(c[m]))
        m += 1
    certain[m] = CERTAIN * largest
    return m


@_exact
def _bound(v, D, apart, touching, hold):
    """Return the distance to the farthest plane between the sample and the cell of v."""
    largest = 0.0
    for j in range(D.size):
        if hold[j] and D[v] > D[j] and 2.0 * apart[v, j] > touching:
            largest = max(largest, (D[v] - D[j]) / (2.0 * apart[v, j]))
    return largest


CELLS = matrix, matrix, f8, indices
ROWS = matrix, indices, indices, matrix, matrix, f8, f8, f8
FOUND = matrix_out, vector_out, indices_out


@native(types.void(ADDRESS, TOOLS, *CELLS, *ROWS, *FOUND), makes_arrays=True)
def nearest_cells(
    address,
    tools,
    U,
    apart,
    touch,
    labels,
    D,
    leave,
    enter,
    low,
    high,
    inset,
    limit,
    enough,
    ways,
    length,
    rival,
):
    """Write for each row the shortest way into another class, its length, and whose cell it is.

    ``enter`` is the class to go to, or -1 for any other than the one to ``leave``. Where there is
    no way the length is the limit and the rival -1.
    """
    project, (K, r) = project_at(address), U.shape
    A, c, certain, y = np.empty((K, r)), np.empty(K), np.empty(K + 1), np.empty(r)
    bound, hold = np.empty(K), np.empty(K, dtype=np.bool_)
    for i in range(D.shape[0]):
        for j in range(K):
            hold[j] = labels[j] == leave[i] if enter[i] < 0 else labels[j] != enter[i]
        for v in range(K):
            bound[v] = np.inf if hold[v] else _bound(v, D[i], apart, touch, hold)
        length[i], rival[i] = limit, -1
        for _ in range(K):
            v = bound.argmin()
            least, bound[v] = bound[v], np.inf
            if least >= length[i] or length[i] < enough:
                break
            m = _conditions(v, D[i], U, apart, touch, hold, inset, A, c, certain)
            if m < 0:
                continue
            found = project(tools, A[:m], c[:m], certain[: m + 1], low[i], high[i], length[i], y)
            if found < length[i]:
                length[i], rival[i] = max(found, least), v  # rounding makes no way shorter
                for f in range(r):
                    ways[i, f] = y[f]
            elif np.isnan(found):
                length[i] = np.nan
                break


def complete_rows(rule: DecisionRule, model: Any, X: Any, name: str) -> Any:
    """Return the rows that the rule takes; raise if values are missing, for the function named."""
    X = rule.read_rows(model, X)
    if not issparse(X) and np.isnan(X.min()):
        raise ValueError(
            f"X has missing values: {name} measures how far a row may move, which needs all of "
            "its values. Impute them first."
        )
    return X


def describe_model(model: Any) -> str:
    """Return the name of a model, with its distance where that is a parameter."""
    name, distance = type(model).__name__, getattr(model, "distance", None)
    return name if distance is None else f"{name} with distance={distance!r}"
