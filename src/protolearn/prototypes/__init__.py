"""How many prototypes, where they begin, and what they begin with."""

from .codebook import (
    SMALLEST_SCALE,
    first_codebook,
    mean_own_distance,
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
    "Growth",
    "check_enough_rows",
    "check_init",
    "completed_means",
    "first_codebook",
    "initial_prototypes",
    "is_automatic",
    "mean_own_distance",
    "mistakes",
    "only",
    "prototype_counts",
    "rearranged",
    "settled",
    "winning",
]
