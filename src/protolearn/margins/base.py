"""What a margin is: one number from the distances of a sample, positive when it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from .._arrays import Floats, as_floats
from ..native import (
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
    from ..distances import Distance

margin_at = pointer(MARGIN)


@native(MARGIN)
def nearest_own(d, same, theta, g):
    """Give the distance to the nearest prototype of the sample's own class."""
    best = -1
    for k in range(d.size):
        if same[k] and (best < 0 or d[k] < d[best]):
            best = k
    g[best] = 1.0
    return d[best]


class Margin(BaseEstimator):
    """How clearly a sample is right. Derive from it to make your own.

    A subclass gives ``margin(d, same, theta, g) -> value``, decorated with ``@native(MARGIN)``:
    ``d`` holds the distances of one sample to the prototypes, ``same`` says which of them are of
    its class, and ``g``, which arrives as zeros, takes the derivative of the value by ``d``.
    ``attraction`` has the same form; it is the term that keeps the own class near.

    Attributes
    ----------
    winners : {2, None}
        With 2, ``margin`` and ``attraction`` depend only on the nearest own prototype and the
        nearest rival, and the row that they receive holds just these two, own first. With None
        they see the whole row.
    smooth : bool
        Whether the derivative is continuous; a change of the winners does not count.
    bounded : bool
        Whether the value stays between two numbers, as a share does.
    """

    winners: ClassVar[int | None] = 2
    smooth: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    margin: ClassVar[Native]
    attraction: ClassVar[Native] = nearest_own

    def theta(self) -> NDArray[np.float64]:
        """Give the parameters of ``margin`` and ``attraction`` as one array, after checks."""
        return np.empty(0)

    def suited_to(self, distance: Distance) -> Margin:
        """Give the form of this margin for a distance, or raise if they do not go together."""
        return self

    def steepened(self, times: float) -> Margin:
        """Give the margin with ``times`` the sharpness; itself, if it has none."""
        return self

    @property
    def sharpness(self) -> float:
        """How fast class probabilities change with distance, in units of the scale."""
        return 1.0

    def __call__(
        self, D: ArrayLike, same: ArrayLike
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Evaluate the margin and its derivative for the rows of a distance matrix."""
        D, same = as_floats(D), np.ascontiguousarray(same, dtype=bool)
        if self.winners is None:
            return self._measure(D, same)
        own = np.where(same, D, np.inf).argmin(axis=1)
        rival = np.where(same, np.inf, D).argmin(axis=1)
        pair = np.stack([own, rival], axis=1)
        value, g = self._measure(
            np.take_along_axis(D, pair, axis=1), np.tile([True, False], (len(D), 1))
        )
        G = np.zeros_like(D)
        np.put_along_axis(G, pair, g, axis=1)
        return value, G

    def _measure(self, D: Floats, same: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Evaluate rows as the functions take them."""
        value, G = np.empty(len(D)), np.zeros_like(D)
        measure_all(D, same, self.margin.address, as_floats(self.theta()), value, G)
        return value, G


@native(types.void(matrix, flags_matrix, ADDRESS, vector, vector_out, matrix_out))
def measure_all(D, same, margin, theta, value, G):
    """Run a margin over the rows of a distance matrix."""
    measure = margin_at(margin)
    for i in range(D.shape[0]):
        value[i] = measure(D[i], same[i], theta, G[i])
