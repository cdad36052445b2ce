"""The loss axis: what a margin costs.

Each loss is one scalar native function of the margin, decreasing; the file of each states its
formula. :class:`Loss` is the base of a loss of your own.
"""

from .base import Loss
from .broken_linear import BrokenLinear
from .exponential import Exponential
from .hinge import Hinge
from .identity import Identity
from .logistic import Logistic
from .sigmoid import Sigmoid
from .sloped import SlopedLoss

LOSSES: dict[str, type[Loss]] = {
    "identity": Identity,
    "sigmoid": Sigmoid,
    "logistic": Logistic,
    "hinge": Hinge,
    "broken_linear": BrokenLinear,
    "exponential": Exponential,
}

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
