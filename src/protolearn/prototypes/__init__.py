"""How many prototypes, and where they begin."""

from .initial import STARTS, initial_prototypes
from .number import prototype_counts

__all__ = ["STARTS", "initial_prototypes", "prototype_counts"]
