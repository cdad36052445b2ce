"""What was measured, summed up: means, ranks, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.selection import Comparison

from .data import splits
from .models import OURS, YARDSTICK


@dataclass(frozen=True)
class Standing:
    """A model over all sets.

    Attributes
    ----------
    name : str
        Name of the model.
    accuracy : dict of str to float
        Mean over folds, by set; without those where it failed.
    milliseconds : dict of str to float
        Median time of a fit, by set; the same.
    rank : float or None
        Mean rank by accuracy among models that failed nowhere, 1 is best; None if it failed.
    ratio : float or None
        Time of a fit divided by that of the yardstick, geometric mean over its sets.
    failed : dict of str to str
        What the error said, by set.
    unfinished : tuple of str
        Sets on which a fit said that it did not converge.
    """

    name: str
    accuracy: dict[str, float]
    milliseconds: dict[str, float]
    rank: float | None
    ratio: float | None
    failed: dict[str, str]
    unfinished: tuple[str, ...]

    @property
    def ours(self) -> bool:
        """Whether it is one of this library."""
        return self.name in OURS


Found = Mapping[tuple[str, str], Mapping[str, Any]]
"""What :func:`.fits.measure` gave, by set and model."""


def comparison(
    found: Found, sets: Sequence[str], models: Sequence[str], folds: int, seed: int
) -> Comparison:
    """Compare the models that failed nowhere."""
    whole = [name for name in models if not any(found[s, name]["failed"] for s in sets)]

    def values(key: str) -> NDArray[np.float64]:
        return np.array([[found[s, name][key] for name in whole] for s in sets])

    rows = [splits(s, folds, seed) for s in sets]
    sizes = [np.array([[len(split[k]) for split in one] for one in rows]) for k in (0, 1)]
    return Comparison(
        datasets=tuple(sets),
        models=tuple(whole),
        scores=values("accuracy"),
        fit_times=values("seconds"),
        train_sizes=sizes[0],
        test_sizes=sizes[1],
    )


def standings(
    found: Found, sets: Sequence[str], models: Sequence[str], compared: Comparison
) -> list[Standing]:
    """Sum up each model; the best mean rank comes first, models that failed come last."""
    ranks = dict(zip(compared.models, compared.ranks.tolist(), strict=True))
    yardstick = _times(found, sets, YARDSTICK)
    every = [_standing(found, sets, name, ranks.get(name), yardstick) for name in models]
    return sorted(every, key=lambda one: (one.rank is None, one.rank or 0.0))


def _standing(
    found: Found, sets: Sequence[str], name: str, rank: float | None, yardstick: dict[str, float]
) -> Standing:
    times = _times(found, sets, name)
    logs = [np.log(times[s] / yardstick[s]) for s in times if s in yardstick]
    return Standing(
        name=name,
        accuracy={s: float(np.mean(found[s, name]["accuracy"])) for s in times},
        milliseconds=times,
        rank=rank,
        ratio=float(np.exp(np.mean(logs))) if logs else None,
        failed={s: found[s, name]["failed"] for s in sets if s not in times},
        unfinished=tuple(s for s in sets if found[s, name]["unfinished"]),
    )


def _times(found: Found, sets: Sequence[str], name: str) -> dict[str, float]:
    """Return the median time; the first fit of a process can be one that compiles."""
    done = [s for s in sets if not found[s, name]["failed"]]
    return {s: 1000.0 * float(np.median(found[s, name]["seconds"])) for s in done}
