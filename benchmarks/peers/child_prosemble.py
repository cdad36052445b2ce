"""prosemble, run by its own interpreter."""

from __future__ import annotations

from functools import partial
from typing import Any

from prosemble.core.activations import sigmoid_beta
from prosemble.models import GLVQ, GMLVQ

from . import child

MODELS = {"GLVQ": GLVQ, "GMLVQ": GMLVQ}
"""What the tasks call by name."""


def better(model: str = "GLVQ", **more: Any) -> Any:
    """Make a model by the best setting found for it: Adam on all rows, far beyond its default."""
    return MODELS[model](
        max_iter=300, lr=0.05, transfer_fn=sigmoid_beta, beta=child.BETA, random_seed=0, **more
    )


def one_a_class(model: str) -> Any:
    """Make it with one prototype a class, which begins at the mean."""
    return better(model, prototypes_initializer="class_conditional_mean")


def fit_twice(path: str) -> child.Numbers:
    """Fit one prototype a class, then an equal new model; tell the cost that was reached."""
    data = child.load(path)
    models = [one_a_class("GLVQ") for _ in range(2)]
    cold, warm = (child.timed(model, data.X, data.y) for model in models)
    model = models[0]
    return {
        "cold": cold,
        "warm": warm,
        "loss": child.training_loss(data, model.prototypes_, model.prototype_labels_),
        "accuracy": child.accuracy(model, data),
    }


def fit_many(path: str, per_class: int) -> child.Numbers:
    """Fit several prototypes a class from its random start: its class means would stay equal."""
    data = child.load(path)
    model = better(n_prototypes_per_class=per_class)
    seconds = child.timed(model, data.X, data.y)
    return {"cold": seconds, "accuracy": child.accuracy(model, data)}


def fit_matrix(path: str, fits: int) -> child.Numbers:
    """Fit one prototype a class and a matrix."""
    return child.fit_in_turn(partial(one_a_class, "GMLVQ"), child.load(path), fits)


def fit_folds(paths: list[str], model: str) -> child.Numbers:
    """Fit a model on each fold."""
    return child.fit_folds(partial(one_a_class, model), paths)


if __name__ == "__main__":
    child.main(
        {
            "fit_twice": fit_twice,
            "fit_many": fit_many,
            "fit_matrix": fit_matrix,
            "fit_folds": fit_folds,
        }
    )
