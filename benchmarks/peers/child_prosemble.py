"""prosemble, run by its own interpreter."""

from __future__ import annotations

from typing import Any

from prosemble.core.activations import sigmoid_beta
from prosemble.models import GLVQ

from . import child


def better(**more: Any) -> GLVQ:
    """Make the model by the best setting found for it: Adam on all rows, far beyond its default."""
    return GLVQ(
        max_iter=300, lr=0.05, transfer_fn=sigmoid_beta, beta=child.BETA, random_seed=0, **more
    )


def fit_twice(path: str) -> child.Numbers:
    """Fit one prototype a class, then an equal new model; tell the cost that was reached."""
    data = child.load(path)
    models = [better(prototypes_initializer="class_conditional_mean") for _ in range(2)]
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


if __name__ == "__main__":
    child.main({"fit_twice": fit_twice, "fit_many": fit_many})
