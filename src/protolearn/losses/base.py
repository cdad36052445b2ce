"""What a loss is: the price ``phi(m)`` of a margin m, and its slope."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from .._arrays import as_floats
from ..native import ADDRESS, LOSS, Native, native, pointer, types, vector, vector_out

loss_at = pointer(LOSS)


class Loss(BaseEstimator):
    """A decreasing price of the margin. Derive from it to make your own.

    A subclass gives one scalar function, ``phi(m, theta) -> (value, slope)``, decorated with
    ``@native(LOSS)``, and ``theta()``, the array of numbers that the function needs.

    Attributes
    ----------
    smooth : bool
        Whether the slope is continuous. Solvers that need that refuse a loss without it.
    bounded : bool
        Whether the loss levels off, so that very wrong samples hardly pull any more.
    local : bool
        Whether only margins up to about one unit of the slope count. Where the classes begin hardly
        apart such a loss is made steeper, by ``steepened``.
    """

    smooth: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    local: ClassVar[bool] = False
    phi: ClassVar[Native]

    def theta(self) -> NDArray[np.float64]:
        """Give the parameters of ``phi`` as one array, after checking them."""
        return np.empty(0)

    def steepened(self, times: float) -> Loss:
        """Give the loss of ``times`` the margin; itself, if it has no slope to be set."""
        return self

    @property
    def sharpness(self) -> float:
        """How fast class probabilities change with the margin."""
        return 1.0

    def __call__(self, m: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Evaluate the loss and its slope for an array of margins."""
        m = np.asarray(m, dtype=np.float64)
        value, slope = np.empty(m.size), np.empty(m.size)
        price_all(as_floats(m).ravel(), self.phi.address, as_floats(self.theta()), value, slope)
        return value.reshape(m.shape), slope.reshape(m.shape)


@native(types.void(vector, ADDRESS, vector, vector_out, vector_out))
def price_all(m, loss, theta, value, slope):
    """Run ``phi`` over an array of margins."""
    phi = loss_at(loss)
    for i in range(m.size):
        value[i], slope[i] = phi(m[i], theta)
