"""sklvq, run by its own interpreter."""

from __future__ import annotations

from sklvq import GLVQ

from . import child


def sequential(max_runs: int) -> GLVQ:
    """Make a model that takes one sample at a time."""
    return GLVQ(
        activation_params={"beta": child.BETA},
        solver_type="steepest-gradient-descent",
        solver_params={"max_runs": max_runs, "batch_size": 1, "step_size": child.STEP},
        random_state=0,
    )


def epochs(path: str) -> child.Numbers:
    """Time sequential epochs."""
    data = child.load(path)
    seconds = child.time_epochs(sequential, data, few=1, many=4)
    model = sequential(child.ACCURACY_EPOCHS).fit(data.X, data.y)
    return {**seconds, "accuracy": child.accuracy(model, data)}


if __name__ == "__main__":
    child.main({"epochs": epochs})
