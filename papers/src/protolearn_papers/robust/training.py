"""The prototypes of the record: trained in a subspace, certified over pixels."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from protolearn import RobustLVQ
from protolearn.solvers import Adam

from ..work import Work
from .digits import Subspace, digits

JOURNAL, PROTOTYPES = "training.journal", "prototypes.npz"
"""The files of the epochs, and of the prototypes."""


class Settings(NamedTuple):
    """How prototypes are trained, and on how many test rows they are measured."""

    rows: int
    per_class: int
    axes: int
    radius: float
    rate: float
    batch: int
    epochs: int
    tested: int


FULL = Settings(60_000, 400, 160, 2.5, 0.05, 500, 100, 10_000)
QUICK = Settings(3_000, 10, 32, 2.5, 0.05, 100, 3, 100)


class Folder(NamedTuple):
    """Where a run keeps its files. No result depends on it, so it is written without its place."""

    path: str

    def __repr__(self) -> str:
        return "Folder()"

    @classmethod
    def of(cls, work: Work) -> Folder:
        """Return the folder of a run, or a new one if the run keeps nothing."""
        kept = work.store.path
        return cls(mkdtemp() if kept is None else str(kept.parent))


def train(settings: Settings, seed: int, folder: Folder) -> dict[str, Any]:
    """Train prototypes and keep them; return the costs, and the seconds of processor time.

    In the subspace of the principal components a step takes a third of the time that it takes over
    all pixels, and small changes of pictures are products. Each epoch is kept in a file.
    """
    begun, given, place = process_time(), digits(), Path(folder.path)
    X, y = given.train[: settings.rows], given.y_train[: settings.rows]
    space = Subspace(X, settings.axes, seed)
    model = RobustLVQ(
        radius=settings.radius,
        prototypes_per_class=settings.per_class,
        solver=Adam(learning_rate=settings.rate, batch_size=settings.batch),
        max_iter=settings.epochs,
        augment=space,
        checkpoint=place / JOURNAL,
        calibrate=None,
        random_state=seed,
        verbose=1,
    ).fit(space.coordinates(X), y)
    kept = {"coordinates": np.float16, "axes": np.float32, "mean": np.float32}
    found = model.prototypes_, space.axes, space.mean
    arrays = {name: one.astype(kept[name]) for name, one in zip(kept, found, strict=True)}
    np.savez_compressed(place / PROTOTYPES, **arrays)
    return {"costs": list(model.loss_curve_), "seconds": process_time() - begun}
