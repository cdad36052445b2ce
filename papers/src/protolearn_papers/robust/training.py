"""The prototypes of the record: trained in a subspace, certified over pixels."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from protolearn import RobustLVQ, save
from protolearn.solvers import Adam

from .digits import Subspace, digits

SUBSPACE, PIXELS, MODEL = "subspace.journal", "pixels.journal", "prototypes.protolearn"
"""The files of both stages of training, and of the model."""


class Settings(NamedTuple):
    """How prototypes are trained."""

    rows: int
    per_class: int
    axes: int
    radius: float
    rate: float
    batch: int
    epochs: int
    last_rate: float
    last_epochs: int


FULL = Settings(60_000, 400, 96, 2.5, 0.05, 250, 32, 0.005, 2)
QUICK = Settings(3_000, 10, 32, 2.5, 0.05, 100, 3, 0.005, 1)


def train(settings: Settings, seed: int, folder: str) -> dict[str, Any]:
    """Train and keep the prototypes; return times and costs.

    First in the subspace of the principal components, where a step takes a fifth of the time, and
    small changes of pictures are products; then over all pixels, with small steps.
    """
    begun, place = process_time(), Path(folder)
    given = digits()
    X, y = given.train[: settings.rows], given.y_train[: settings.rows]
    space = Subspace(X, settings.axes, seed)
    options: dict[str, Any] = {
        "radius": settings.radius,
        "prototypes_per_class": settings.per_class,
        "calibrate": None,
        "random_state": seed,
        "verbose": 1,
    }
    first = RobustLVQ(
        solver=Adam(learning_rate=settings.rate, batch_size=settings.batch),
        max_iter=settings.epochs,
        augment=space,
        checkpoint=place / SUBSPACE,
        **options,
    ).fit(space.coordinates(X), y)
    between = process_time()
    model = RobustLVQ(
        init=space.pictures(first.prototypes_),
        solver=Adam(learning_rate=settings.last_rate, batch_size=2 * settings.batch),
        max_iter=settings.last_epochs,
        checkpoint=place / PIXELS,
        **options,
    ).fit(X.astype(np.float32), y)
    model.set_params(init="kmeans", checkpoint=None)  # else the file has the prototypes twice
    save(model, place / MODEL)
    return {
        "costs": [*first.loss_curve_, *model.loss_curve_],
        "seconds": [between - begun, process_time() - between],
    }
