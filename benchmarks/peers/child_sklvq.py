"""sklvq, run by its own interpreter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklvq import GLVQ, GMLVQ

from . import child

np.int = int  # noqa: NPY001 - its prediction of two classes calls what NumPy took away

MODELS = {"GLVQ": GLVQ, "GMLVQ": GMLVQ}
"""What the tasks call by name."""


def sequential(max_runs: int) -> GLVQ:
    """Make a model that takes one sample at a time."""
    return GLVQ(
        activation_params={"beta": child.BETA},
        solver_type="steepest-gradient-descent",
        solver_params={"max_runs": max_runs, "batch_size": 1, "step_size": child.STEP},
        random_state=0,
    )


def batch(model: str, beta: float, callback: Callable[[Any], None] | None = None) -> Any:
    """Make a model that L-BFGS of SciPy fits, to the tolerances of SciPy."""
    return MODELS[model](
        activation_params={"beta": beta},
        solver_type="lbfgs",
        solver_params={"callback": callback},
        random_state=0,
    )


def epochs(path: str) -> child.Numbers:
    """Time sequential epochs."""
    data = child.load(path)
    seconds = child.time_epochs(sequential, data, few=1, many=4)
    model = sequential(child.ACCURACY_EPOCHS).fit(data.X, data.y)
    return {**seconds, "accuracy": child.accuracy(model, data)}


def fit_matrix(path: str, beta: float, limit: float) -> child.Numbers:
    """Fit one prototype a class and a matrix; stop after the iteration that passes the limit."""
    data, stopped, end = child.load(path), [], perf_counter() + limit

    def stop_late(_: Any) -> None:
        if perf_counter() > end:
            stopped.append(True)
            raise StopIteration

    found = child.fit_in_turn(partial(batch, "GMLVQ", beta, stop_late), data, fits=1)
    return {**found, "stopped": bool(stopped)}


def fit_folds(paths: list[str], model: str, beta: float) -> child.Numbers:
    """Fit a model on each fold."""
    return child.fit_folds(partial(batch, model, beta), paths)


if __name__ == "__main__":
    child.main({"epochs": epochs, "fit_matrix": fit_matrix, "fit_folds": fit_folds})
