"""How many prototypes, where they begin, and what they begin with."""

from .growth import Growth, only, rearranged, winning
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
    settled,
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
    "rearranged",
    "settled",
    "winning",
]
