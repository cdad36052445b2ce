"""The loss axis: what a margin m costs.

Each loss is one scalar native function ``phi(m)`` that falls with the margin.

* identity: ``-m``, the plain cost of GLVQ (Sato and Yamada, 1996)
* sigmoid: ``1 / (1 + exp(beta m))``, a smooth count of errors
* logistic: ``log(1 + exp(-beta m))``, the conditional log-likelihood
* hinge: ``max(0, 1 - beta m)`` (Crammer et al., 2002, section 5.2)
* broken linear: ``min(2, max(0, 1 - beta m))`` (Crammer et al., 2002, section 5.3)
* exponential: ``exp(-beta m)``, the cost function of AdaBoost
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from ._arrays import as_floats
from ._validation import check_number
from .native import ADDRESS, LOSS, Native, native, pointer, types, vector, vector_out

__all__ = [
    "LOSSES",
    "BrokenLinear",
    "Exponential",
    "Hinge",
    "Identity",
    "Logistic",
    "Loss",
    "Sigmoid",
    "SlopedLoss",
]

loss_at = pointer(LOSS)


class Loss(BaseEstimator):
    """A decreasing price of the margin. Derive from it to make your own.

    A subclass has one scalar function, ``phi(m, theta) -> (value, slope)``, decorated with
    ``@native(LOSS)``, and ``theta()``, which returns the array of numbers that the function needs.

    Attributes
    ----------
    smooth : bool
        Whether the slope is continuous. Solvers that need that refuse a loss without it.
    bounded : bool
        Whether the loss levels off, so that very wrong samples hardly pull any more.
    local : bool
        Whether only margins up to about one unit of the slope count. Where the classes begin hardly
        apart such a loss is made steeper, by ``steepened``.
    sharpness : float
        How fast class probabilities change with the margin.
    """

    smooth: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    local: ClassVar[bool] = False
    sharpness: float = 1.0
    phi: ClassVar[Native]

    def theta(self) -> NDArray[np.float64]:
        """Return the parameters of ``phi`` as one array, after checking them."""
        return np.empty(0)

    def steepened(self, times: float) -> Loss:
        """Return the loss of ``times`` the margin; itself, if it has no slope to be set."""
        return self

    def __call__(self, m: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the loss and its slope for an array of margins."""
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


class Identity(Loss):
    """The negative margin itself.

    Examples
    --------
    >>> from protolearn.losses import Identity
    >>> Identity()([0.5, -2.0])[0]
    array([-0.5,  2. ])
    """

    @native(LOSS)
    def phi(m, theta):
        """Return the loss of one margin, and its slope."""
        return -m, -1.0


class SlopedLoss(Loss):
    """A loss of ``beta * m``.

    Parameters
    ----------
    beta : float, default=1.0
        How fast the price falls with the margin; larger is closer to counting errors.
    """

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def theta(self) -> NDArray[np.float64]:
        """Return ``beta`` as an array."""
        return np.array([check_number(self, "beta", low=0.0, above=True)])

    def steepened(self, times: float) -> SlopedLoss:
        """Return the same loss with ``times`` the slope."""
        return clone(self).set_params(beta=times * self.beta)

    @property
    def sharpness(self) -> float:  # type: ignore[override]
        """The ``beta`` of the loss."""
        return float(self.beta)


class Sigmoid(SlopedLoss):
    """A smooth count of errors, between 0 and 1; the loss of MCE and of GLVQ.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Sigmoid
    >>> Sigmoid(beta=2.0)([0.25, 0.0])[0]
    array([0.37754067, 0.5       ])
    """

    bounded = True
    local = True

    @native(LOSS)
    def phi(m, theta):
        """Return the loss of one margin, and its slope."""
        t = theta[0] * m
        e = math.exp(-abs(t))
        share = 1.0 / (1.0 + e)
        value = e * share if t >= 0.0 else share
        return value, -theta[0] * e * share * share


class Logistic(SlopedLoss):
    """The negative log-likelihood of the right class; the loss of LOGM and RSLVQ.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Logistic
    >>> Logistic(beta=2.0)([0.25, 0.0])[0]
    array([0.47407698, 0.69314718])
    """

    @native(LOSS)
    def phi(m, theta):
        """Return the loss of one margin, and its slope."""
        t = theta[0] * m
        e = math.exp(-abs(t))
        value = math.log1p(e)
        share = 1.0 / (1.0 + e)
        if t >= 0.0:
            return value, -theta[0] * e * share
        return value - t, -theta[0] * share


class Hinge(SlopedLoss):
    """Linear until the margin reaches ``1 / beta``, then nothing.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Hinge
    >>> Hinge(beta=2.0)([0.25, 0.0])[0]
    array([0.5, 1. ])
    """

    smooth = False
    local = True

    @native(LOSS)
    def phi(m, theta):
        """Return the loss of one margin, and its slope."""
        t = 1.0 - theta[0] * m
        if t > 0.0:
            return t, -theta[0]
        return 0.0, 0.0


class BrokenLinear(SlopedLoss):
    """A hinge that stops rising at 2: far errors are given up, as in LVQ2.1.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import BrokenLinear
    >>> BrokenLinear(beta=2.0)([0.25, 0.0])[0]
    array([0.5, 1. ])
    """

    smooth = False
    bounded = True
    local = True

    @native(LOSS)
    def phi(m, theta):
        """Return the loss of one margin, and its slope."""
        t = 1.0 - theta[0] * m
        if t >= 2.0:
            return 2.0, 0.0
        if t > 0.0:
            return t, -theta[0]
        return 0.0, 0.0


class Exponential(SlopedLoss):
    """Errors cost exponentially in their size; straight beyond ``beta m = -50``, to stay finite.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Exponential
    >>> Exponential(beta=2.0)([0.25, 0.0])[0]
    array([0.60653066, 1.        ])
    """

    @native(LOSS)
    def phi(m, theta):
        """Return the loss of one margin, and its slope."""
        t = -theta[0] * m
        if t <= 50.0:
            e = math.exp(t)
            return e, -theta[0] * e
        e = math.exp(50.0)
        return e * (t - 49.0), -theta[0] * e


LOSSES: dict[str, type[Loss]] = {
    "identity": Identity,
    "sigmoid": Sigmoid,
    "logistic": Logistic,
    "hinge": Hinge,
    "broken_linear": BrokenLinear,
    "exponential": Exponential,
}
