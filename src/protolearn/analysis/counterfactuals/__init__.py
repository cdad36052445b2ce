"""The smallest change of a row that changes the answer."""

from .counterfactual import counterfactual
from .result import Counterfactuals

__all__ = ["Counterfactuals", "counterfactual"]
