"""Table 5: numbers of models in the ensembles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from protolearn.ensemble import PrototypeSVM

from ..findings import Figure, Findings, Table
from ..folds import stratified
from ..work import Work
from .data import given
from .folds import FOLDS, measured, n_draws, n_folds, sets
from .paper import EXTENDED, PSVM, SHOWN, TABLE5
from .pictures import draw_sizes

KINDS = ("clean", "noisy")
BOTH = {"published": PSVM, "extended": EXTENDED}


def table5(work: Work) -> Findings:
    """Count the models of PSVMs with true labels and with noise."""
    records = list(_records(work))
    picture = Figure(
        "table5",
        "Models in the ensembles of PSVMs, ours and published, with true and with wrong labels",
        partial(draw_sizes, records),
        (7.5, 4.5),
    )
    return Findings([_table(records, n_folds(work))], [picture], list(_remarks(records)))


def _records(work: Work) -> Iterator[dict[str, Any]]:
    found = {kind: measured(work, [*BOTH.values()], kind == "noisy") for kind in KINDS}
    for name in sets(work, noisy=False):
        published = TABLE5[name]
        yield {
            "dataset": name,
            "rows": len(given(name, False, work.seed)[1]),
            "exemplars": _mean_exemplars(work, name),
            **{
                f"{which}_{kind}": _mean_size(work, found[kind], name, method)
                for which, method in BOTH.items()
                for kind in KINDS
            },
            "paper_exemplars": published.exemplars,
            "paper_clean": published.clean,
            "paper_noisy": published.noisy,
        }


def _mean_exemplars(work: Work, name: str) -> float:
    """Return the mean number of exemplars: held-out rows are a share of a class, rounded down."""
    X, y = given(name, False, work.seed)
    counts = [
        np.unique(y[train], return_counts=True)[1]
        for train, _ in stratified(X, y, n_folds(work), work.seed)
    ]
    share = PrototypeSVM().validation_fraction
    return round(float(np.mean([np.sum(n - np.floor(share * n)) for n in counts])), 1)


def _mean_size(work: Work, found: Any, name: str, method: str) -> float | None:
    """Return the mean number of models over draws and folds; None where nothing was measured."""
    folds, draws = range(n_folds(work)), range(n_draws(work, name))
    sizes = [
        found[key]["models"] for d in draws for f in folds if (key := (name, method, d, f)) in found
    ]
    return round(float(np.mean(sizes)), 1) if sizes else None


def _table(records: list[dict[str, Any]], folds: int) -> Table:
    def text(number: float | None) -> str:
        return "" if number is None else f"{number:.0f}"

    rows = [
        [
            SHOWN.get(record["dataset"], record["dataset"]),
            f"{record['exemplars']:.0f} / {record['paper_exemplars']}",
            *(
                text(record[f"{which}_{kind}"])
                for kind in KINDS
                for which in ("published", "extended", "paper")
            ),
        ]
        for record in records
    ]
    parts = ("as published", "extended", "paper's")
    return Table(
        "table5",
        f"Models in the ensemble, mean over {folds} folds and all draws",
        [
            "data set",
            "at first, ours / paper's",
            *(f"{kind} labels, {part}" for kind in KINDS for part in parts),
        ],
        rows,
        records,
    )


def _remarks(records: list[dict[str, Any]]) -> Iterator[str]:
    held_out = PrototypeSVM().validation_fraction
    fold = 1.0 - 1.0 / FOLDS  # the paper's folds, in the reduced version too
    whole = [r for r in records if abs(r["paper_exemplars"] - fold * r["rows"]) < 1.0]
    yield (
        f"The paper's number at first is that of all training rows of a fold on {len(whole)} of "
        f"{len(records)} sets, although its algorithm holds {100 * held_out:g} % of them out "
        "before it makes an exemplar SVM of each; ours is what is left after that."
    )
    for which, words in (("published", "PSVM as published"), ("extended", "extended PSVM")):
        for kind in KINDS:
            some = [r for r in records if r[f"paper_{kind}"] is not None]
            fewer = [r["dataset"] for r in some if r[f"{which}_{kind}"] < r[f"paper_{kind}"]]
            yield (
                f"With {kind} labels the {words} has fewer models than printed on "
                f"{len(fewer)} of {len(some)} sets: {', '.join(fewer) or 'none'}."
            )
    left = [r["published_clean"] / r["exemplars"] for r in records]
    yield (
        f"Of the exemplar SVMs, {100 * min(left):.0f} to {100 * max(left):.0f} % are left in the "
        "ensemble that the PSVM as published chooses: fewer are left by later shifts, but the "
        "ensembles that are best on held-out rows are often early ones."
    )
    both = [r for r in records if r["paper_noisy"] is not None]
    shares = [r["extended_noisy"] / r["extended_clean"] for r in both]
    published = [r["paper_noisy"] / r["paper_clean"] for r in both]
    yield (
        "Noise changes the number of models of the extended PSVM by a factor of "
        f"{min(shares):.2f} to {max(shares):.2f} (paper: {min(published):.2f} to "
        f"{max(published):.2f})."
    )
