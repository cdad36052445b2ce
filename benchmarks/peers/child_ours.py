"""protolearn, run by the interpreter that runs the benchmarks."""

from __future__ import annotations

from functools import partial
from typing import Any

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, MRSLVQ, PrototypeClassifier
from protolearn.solvers import SGD

from . import child

MODELS: dict[str, Any] = {
    "GLVQ": GLVQ,
    "GMLVQ": GMLVQ,
    "LGMLVQ": LGMLVQ,
    "GRLVQ": GRLVQ,
    "MRSLVQ": MRSLVQ,
    "matrix LOGM": partial(
        PrototypeClassifier, distance="matrix", margin="difference", loss="logistic"
    ),
}
"""What the tasks call by name."""


def sequential(max_iter: int) -> GLVQ:
    """Make a model that takes one sample at a time, in the units of the data."""
    solver = SGD(learning_rate=child.STEP)
    return GLVQ(beta=child.BETA, scale=1.0, solver=solver, max_iter=max_iter, random_state=0)


def epochs(path: str) -> child.Numbers:
    """Time sequential epochs; they are short, so many."""
    data = child.load(path)
    seconds = child.time_epochs(sequential, data, few=1, many=501)
    model = sequential(child.ACCURACY_EPOCHS).fit(data.X, data.y)
    return {**seconds, "accuracy": child.accuracy(model, data)}


def fit_twice(path: str, loss: float) -> child.Numbers:
    """Fit until a cost is reached, then an equal new model."""
    data = child.load(path)
    models = [
        GLVQ(
            beta=child.BETA,
            init="means",
            tol=1e-6,
            callback=lambda state: state.loss <= loss,
            random_state=0,
        )
        for _ in range(2)
    ]
    cold, warm = (child.timed(model, data.X, data.y) for model in models)
    reached = [child.training_loss(data, m.prototypes_, m.prototype_labels_) for m in models]
    return {
        "cold": cold,
        "warm": warm,
        "loss": max(reached),
        "accuracy": child.accuracy(models[0], data),
        "iterations": models[0].n_iter_,
    }


def fit_many(path: str, per_class: int, model: str = "GLVQ", **parameters: Any) -> child.Numbers:
    """Fit several prototypes a class, all else by default."""
    data = child.load(path)
    fitted = MODELS[model](prototypes_per_class=per_class, random_state=0, **parameters)
    seconds = child.timed(fitted, data.X, data.y)
    return {"cold": seconds, "accuracy": child.accuracy(fitted, data)}


def fit_matrix(path: str, fits: int) -> child.Numbers:
    """Fit one prototype a class and a matrix, all by default."""
    return child.fit_in_turn(partial(GMLVQ, random_state=0), child.load(path), fits)


def fit_folds(paths: list[str], model: str) -> child.Numbers:
    """Fit a model by default on each fold."""
    return child.fit_folds(partial(MODELS[model], random_state=0), paths)


def compile_all(path: str) -> child.Numbers:
    """Fill the disk cache with what the other tasks call."""
    data = child.load(path)
    for make in MODELS.values():
        for solver in ("sgd", "adam", "lbfgs"):
            make(prototypes_per_class=10, solver=solver, max_iter=2).fit(data.X, data.y)
    return {}


if __name__ == "__main__":
    child.main(
        {
            "epochs": epochs,
            "fit_twice": fit_twice,
            "fit_many": fit_many,
            "fit_matrix": fit_matrix,
            "fit_folds": fit_folds,
            "compile_all": compile_all,
        }
    )
