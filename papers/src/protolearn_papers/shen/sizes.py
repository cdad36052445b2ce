"""Table 5: numbers of models in the ensembles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from protolearn.ensemble import PrototypeSVM

from ..findings import Figure, Findings, Table
from ..work import Work
from .data import given
from .folds import FOLDS, measured, n_folds, sets
from .paper import PSVM, TABLE5
from .pictures import draw_sizes

KINDS = ("clean", "noisy")


def table5(work: Work) -> Findings:
    """Count the models of the PSVM with true labels and with noise."""
    records = list(_records(work))
    picture = Figure(
        "table5",
        "Models in the ensemble of the PSVM, ours and published, with true and with wrong labels",
        partial(draw_sizes, records),
        (7.5, 4.5),
    )
    return Findings([_table(records, n_folds(work))], [picture], list(_remarks(records)))


def _records(work: Work) -> Iterator[dict[str, Any]]:
    found = {kind: measured(work, [PSVM], kind == "noisy") for kind in KINDS}
    folds = n_folds(work)
    for name in sets(work):
        n_rows = len(given(name, False, work.seed)[1])
        training = n_rows * (1.0 - 1.0 / folds)
        means = {
            kind: float(np.mean([found[kind][name, PSVM, f]["models"] for f in range(folds)]))
            for kind in KINDS
        }
        published = TABLE5[name]
        yield {
            "dataset": name,
            "rows": n_rows,
            "exemplars": round(training * (1.0 - PrototypeSVM().validation_fraction), 1),
            "clean": round(means["clean"], 1),
            "noisy": round(means["noisy"], 1),
            "paper_exemplars": published.exemplars,
            "paper_clean": published.clean,
            "paper_noisy": published.noisy,
        }


def _table(records: list[dict[str, Any]], folds: int) -> Table:
    rows = [
        [
            record["dataset"],
            *(
                f"{record[key]:.0f} / {record[f'paper_{key}']}"
                for key in ("exemplars", "clean", "noisy")
            ),
        ]
        for record in records
    ]
    return Table(
        "table5",
        f"Models in the ensemble, mean over {folds} folds, ours / paper's",
        ["data set", "at first, by the algorithm", "clean labels", "noisy labels"],
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
    for kind in KINDS:
        fewer = [r["dataset"] for r in records if r[kind] < r[f"paper_{kind}"]]
        yield (
            f"With {kind} labels our ensembles are smaller than the published ones on "
            f"{len(fewer)} of {len(records)} sets: {', '.join(fewer) or 'none'}."
        )
    shares = [r["noisy"] / r["clean"] for r in records]
    published = [r["paper_noisy"] / r["paper_clean"] for r in records]
    yield (
        f"Noise changes the number of models by a factor of {min(shares):.2f} to "
        f"{max(shares):.2f} (paper: {min(published):.2f} to {max(published):.2f})."
    )
    yield (
        "Our PSVM drops models that do not make the training rows more probable (pruning), which "
        "the algorithm of the paper does not. The tweets are left out."
    )
