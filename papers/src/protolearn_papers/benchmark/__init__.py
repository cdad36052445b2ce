"""Every classifier of ours and the usual ones of scikit-learn, with defaults, on all small sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from protolearn.selection import Comparison

from ..findings import Figure, Findings
from ..work import Work
from . import data, models
from .fits import measure
from .pictures import critical_difference, draw_pareto, pareto_front, picture_height
from .results import Standing, comparison, standings
from .tables import accuracies, summary

FOLDS, QUICK_FOLDS = 10, 3

LEVEL = 0.05
"""Level of the tests."""


def run(work: Work) -> Findings:
    """Measure all models on all sets."""
    sets = data.QUICK if work.quick else data.SETS
    names = models.QUICK if work.quick else tuple(models.MODELS)
    folds = QUICK_FOLDS if work.quick else FOLDS
    work.need(*sets)
    places = [(dataset, name) for dataset in sets for name in names]
    tasks = {f"{dataset}/{name}": (dataset, name, folds, work.seed) for dataset, name in places}
    results = work.map(f"{len(names)} models on {len(sets)} sets", measure, tasks)
    found = dict(zip(places, results.values(), strict=True))
    compared = comparison(found, sets, names, folds, work.seed)
    ordered = standings(found, sets, names, compared)
    return Findings(
        [summary(ordered, sets), accuracies(ordered, sets, folds)],
        list(_figures(ordered, compared)),
        list(_remarks(ordered, compared)),
    )


def _figures(ordered: Sequence[Standing], compared: Comparison) -> Iterator[Figure]:
    yield Figure(
        "critical_difference",
        "Mean ranks by accuracy; bars join models that do not differ significantly",
        partial(critical_difference, compared, LEVEL),
        (12.0, picture_height(compared)),
    )
    yield Figure(
        "pareto",
        f"Mean rank by accuracy against training time relative to {models.YARDSTICK}",
        partial(draw_pareto, ordered),
        (9.0, 6.5),
    )


def _remarks(ordered: Sequence[Standing], compared: Comparison) -> Iterator[str]:
    yield (
        "Every model has its defaults, those of protolearn and those of scikit-learn, behind a "
        "StandardScaler that sees training rows alone; no setting was chosen for these folds. Some "
        "defaults of ours were once settled on folds of sets that are among these, as those of "
        "scikit-learn may have been. AutoPrototypeClassifier, which searches, and "
        "RejectClassifier, which wraps a model, are left out. Fits have one thread; times depend "
        "on what else the computer does, all other numbers follow from the seed."
    )
    if drawn := [name for name in compared.datasets if name in data.SHORTENED]:
        yield f"Of {', '.join(drawn)} {data.MOST_ROWS} rows are taken."
    yield from _best(ordered)
    if len(compared.models) > 2:
        differ, difference = compared.friedman(), compared.critical_difference(LEVEL)
        ranks = compared.ranks
        yield (
            f"Friedman's test over {len(compared.datasets)} sets: p = {differ.pvalue:.2g}. Mean "
            f"ranks that differ by {difference:.1f} or more differ significantly (Nemenyi, level "
            f"{LEVEL:g}); they go from {ranks.min():.1f} to {ranks.max():.1f}."
        )
    front = [one.name for one in pareto_front(ordered)]
    yield f"No other model is both faster to train and better in rank than: {', '.join(front)}."
    for one in ordered:
        if one.failed:
            first, reason = next(iter(one.failed.items()))
            yield f"{one.name} failed on {', '.join(one.failed)}; on {first}: {reason}"
    unfinished = [f"{one.name} ({len(one.unfinished)})" for one in ordered if one.unfinished]
    if unfinished:
        yield (
            "Fits that said that they did not converge, by number of sets: "
            f"{', '.join(unfinished)}."
        )


def _best(ordered: Sequence[Standing]) -> Iterator[str]:
    """Name the best of either library."""
    for ours, library in ((True, "protolearn"), (False, "scikit-learn")):
        ranked = [one for one in ordered if one.ours is ours and one.rank is not None]
        if ranked:
            first = [f"{one.name} ({one.rank:.1f})" for one in ranked[:3]]
            yield f"Best mean ranks of {library}: {', '.join(first)}."
