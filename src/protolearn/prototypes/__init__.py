"""How many prototypes, where they begin, and what they begin with."""

from .codebook import (
    SMALLEST_SCALE,
    FirstDistances,
    first_codebook,
    first_distances,
    mistakes,
    rearranged,
    settled,
)
from .growth import Growth, only, winning
from .initial import (
    FEWEST_ROWS,
    ROWS_PER_PROTOTYPE,
    STARTS,
    Facts,
    check_init,
    completed_means,
    initial_prototypes,
)
from .number import check_enough_rows, is_automatic, prototype_counts

__all__ = [
    "FEWEST_ROWS",
    "ROWS_PER_PROTOTYPE",
    "SMALLEST_SCALE",
    "STARTS",
    "Facts",
    "FirstDistances",
    "Growth",
    "check_enough_rows",
    "check_init",
    "completed_means",
    "first_codebook",
    "first_distances",
    "initial_prototypes",
    "is_automatic",
    "mistakes",
    "only",
    "prototype_counts",
    "rearranged",
    "settled",
    "winning",
]
