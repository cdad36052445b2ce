"""How many prototypes, where they begin, and what they begin with."""

from .growth import Growth, only, rearrange, winning
from .growth import add_prototypes as add_prototypes
from .initial import (
    FEWEST_ROWS,
    ROWS_PER_PROTOTYPE,
    STARTS,
    Facts,
    check_init,
    completed_means,
    first_codebook,
    initial_prototypes,
    is_automatic,
    prototype_counts,
    settle,
)

__all__ = [
    "FEWEST_ROWS",
    "ROWS_PER_PROTOTYPE",
    "STARTS",
    "Facts",
    "Growth",
    "check_init",
    "completed_means",
    "first_codebook",
    "initial_prototypes",
    "is_automatic",
    "only",
    "prototype_counts",
    "rearrange",
    "settle",
    "winning",
]
