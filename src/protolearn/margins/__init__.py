"""The margin axis: how clearly a sample is right, from its distances to the prototypes."""

from .base import Margin
from .log_odds import LogOdds
from .winner import Difference, Hypothesis, Relative

MARGINS: dict[str, type[Margin]] = {
    "difference": Difference,
    "relative": Relative,
    "hypothesis": Hypothesis,
    "log_odds": LogOdds,
}

__all__ = ["MARGINS", "Difference", "Hypothesis", "LogOdds", "Margin", "Relative"]
