"""The fits of a comparison: one after the other or at the same time, put down as they end."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from traceback import format_exc
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import cross_validate

from ..._threads import one_blas_thread
from .inputs import Split
from .ledger import Fold, Ledger

AS_THEY_END = (
    "generator_unordered"
    if tuple(map(int, joblib.__version__.split(".")[:2])) >= (1, 4)
    else "generator"
)
"""How joblib gives results; before 1.4 only in order, so a slow fit holds back the next ones."""


@dataclass(frozen=True, eq=False)
class Task:
    """One fit that is to be done, with what a worker needs for it and no more."""

    dataset: str
    model_name: str
    number: int
    model: Any
    X: Any
    y: Any
    split: Split
    scoring: Any
    seed: int

    def __str__(self) -> str:
        return f"{self.dataset}: {self.model_name}"

    def fold(self) -> Fold:
        """Fit to the training part, score on the test part."""
        # One thread, whatever n_jobs is: sums in another order would give other digits.
        with one_blas_thread():
            found = cross_validate(
                seeded(self.model, self.seed, self.number),
                self.X,
                self.y,
                cv=[self.split],
                scoring=self.scoring,
                error_score="raise",
            )
        return Fold(float(found["test_score"][0]), float(found["fit_time"][0]))


class SplitFailedWarning(FitFailedWarning):
    """A fit failed: in words, and by the name of the model and the reason."""

    def __init__(self, message: str, model: str, reason: str):
        super().__init__(message)
        self.model = model
        self.reason = reason


class Failure(NamedTuple):
    """Why a fit gave nothing; text, since not every error can be sent between processes."""

    reason: str
    traceback: str


def seeded(model: Any, seed: int, number: int) -> Any:
    """Clone a model for one split, with a seed wherever it has none."""
    model = clone(model)
    free = [
        name
        for name, value in sorted(model.get_params(deep=True).items())
        if name.rsplit("__", 1)[-1] == "random_state" and value is None
    ]
    seeds = np.random.SeedSequence([seed, number]).generate_state(len(free))
    return model.set_params(**dict(zip(free, map(int, seeds), strict=True)))


def run(
    tasks: list[Task],
    ledger: Ledger,
    error_score: Any,
    n_jobs: int | None,
    report: Callable[[str, int], None],
) -> None:
    """Do the tasks and put them down as they end.

    Parameters
    ----------
    tasks : list of Task
        What is to be done.
    ledger : Ledger
        Gets the outcomes.
    error_score : "raise" or float
        Whether the first failure ends it all.
    n_jobs : int or None
        Fits at the same time.
    report : callable
        Is told the first task that is left, and how many there are.
    """
    left = dict(enumerate(tasks))

    def tell() -> None:
        report(str(next(iter(left.values()), "finished")), len(left))

    tell()
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as=AS_THEY_END)
    for index, outcome in parallel(joblib.delayed(_attempt)(*one) for one in enumerate(tasks)):
        task = left.pop(index)
        if isinstance(outcome, Fold):
            ledger.add(task.dataset, task.model_name, task.number, outcome)
        else:
            _failed(task, outcome, error_score, ledger)
        tell()


def _attempt(index: int, task: Task) -> tuple[int, Fold | Failure]:
    """Do a task; the outcome comes back with the number of the task."""
    try:
        return index, task.fold()
    except Exception as error:
        return index, Failure(f"{type(error).__name__}: {error}", format_exc())


def _failed(task: Task, failure: Failure, error_score: Any, ledger: Ledger) -> None:
    """Raise or warn, saying which fit it was."""
    message = (
        f"Model {task.model_name!r} failed on data set {task.dataset!r}, split {task.number} "
        f"(the first is 0), with {failure.reason}"
    )
    if error_score != "raise":
        told = f"{message}\nIts score is {error_score}."
        warning = SplitFailedWarning(told, task.model_name, failure.reason)
        warnings.warn(warning, stacklevel=4)
        return
    kept = "" if ledger.path is None else f"\nWhat was finished is in {str(ledger.path)!r}."
    error = RuntimeError(message + kept)
    error.add_note(failure.traceback)
    raise error
