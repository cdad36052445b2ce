"""The fits of a comparison: one after the other or at the same time, put down as they end."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from traceback import format_exc
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import cross_validate

from .._threads import one_blas_thread
from ..folds import Fold, group_keyword
from ..store import Owner, Store, changes

OWNER = Owner(
    "compare",
    "comparison",
    advice="Give what was given before to continue it, another name to what is new, or another "
    "path.",
)

LIBRARIES = "protolearn", "scikit-learn", "numpy", "scipy"

AS_THEY_END = (
    "generator_unordered"
    if tuple(map(int, joblib.__version__.split(".")[:2])) >= (1, 4)
    else "generator"
)
"""How joblib gives results; before 1.4 only in order, so a slow fit holds back the next ones."""


class FoldScore(NamedTuple):
    """What one fit gave; ``right`` says about which test rows, as bits in hexadecimal digits."""

    score: float
    fit_time: float
    right: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """One fit that is to be done, with what a worker needs for it and no more."""

    dataset: str
    model_name: str
    number: int
    model: Any
    X: Any
    y: Any
    split: Fold
    scoring: Any
    seed: int
    groups: Any = None

    def __str__(self) -> str:
        return f"{self.dataset}: {self.model_name}"

    def fold(self) -> FoldScore:
        """Fit to the training part, score on the test part."""
        keyword = None if self.groups is None else group_keyword(self.model)
        told: list[str] = []

        def note_right(model: Any, X: Any, y: Any) -> float:
            right = np.asarray(model.predict(X)) == np.asarray(y)
            told.append(np.packbits(right).tobytes().hex())
            return float(right.mean())

        # One thread, whatever n_jobs is: sums in another order would give other digits.
        with one_blas_thread():
            found = cross_validate(
                with_seeds(self.model, self.seed, self.number),
                self.X,
                self.y,
                cv=[self.split],
                params=None if keyword is None else {keyword: self.groups},
                scoring={"score": self.scoring, "right": note_right},
                error_score="raise",
            )
        return FoldScore(float(found["test_score"][0]), float(found["fit_time"][0]), told[-1])


class SplitFailedWarning(FitFailedWarning):
    """A fit failed: in words, and by the name of the model and the reason."""

    def __init__(self, message: str, model: str, reason: str):
        super().__init__(message)
        self.model = model
        self.reason = reason


class FailedFit(NamedTuple):
    """Why a fit gave nothing; text, since not every error can be sent between processes."""

    reason: str
    traceback: str


def with_seeds(model: Any, seed: int, number: int) -> Any:
    """Clone a model for one split, with a seed wherever it has none."""
    model = clone(model)
    free = [
        name
        for name, value in sorted(model.get_params(deep=True).items())
        if name.rsplit("__", 1)[-1] == "random_state" and value is None
    ]
    seeds = np.random.SeedSequence([seed, number]).generate_state(len(free))
    return model.set_params(**dict(zip(free, map(int, seeds), strict=True)))


def open_scores(
    path: Any, settings: Mapping[str, str], names: Mapping[tuple[str, str], Mapping[str, str]]
) -> Store:
    """Open the file of a comparison: a :class:`FoldScore` by data set, model and split.

    Names of data sets and models that the file does not have join it; those that it has must stand
    for the same as before.
    """
    kept = Store(path, settings, owner=OWNER)
    try:
        before = {name: kept.get(name) for name in names if name in kept}
        kept.refuse(
            [
                change
                for (kind, name), known in before.items()
                for change in changes(f" of {kind} {name!r}", known, names[kind, name])
            ]
        )
        libraries = {name: version(name) for name in LIBRARIES}
        versions = libraries | {"python": platform.python_version()}
        for key, value in [(("versions", *versions.values()), versions), *names.items()]:
            if key not in kept:
                kept.add(key, value)
    except BaseException:
        kept.close()
        raise
    return kept


def run(
    tasks: list[Task],
    kept: Store,
    error_score: Any,
    n_jobs: int | None,
    report: Callable[[str, int], None],
) -> None:
    """Do the tasks and keep their scores as they end.

    ``error_score="raise"`` ends all at the first failure. ``report`` is called with the first task
    that is left, and how many there are.
    """
    left = dict(enumerate(tasks))

    def tell() -> None:
        report(str(next(iter(left.values()), "finished")), len(left))

    tell()
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as=AS_THEY_END)
    for index, outcome in parallel(joblib.delayed(_attempt)(*one) for one in enumerate(tasks)):
        task = left.pop(index)
        if isinstance(outcome, FoldScore):
            kept.add((task.dataset, task.model_name, task.number), outcome)
        else:
            _handle_failure(task, outcome, error_score, kept.path)
        tell()


def _attempt(index: int, task: Task) -> tuple[int, FoldScore | FailedFit]:
    """Do a task; the outcome comes back with the number of the task."""
    try:
        return index, task.fold()
    except Exception as error:
        return index, FailedFit(f"{type(error).__name__}: {error}", format_exc())


def _handle_failure(task: Task, failure: FailedFit, error_score: Any, path: Path | None) -> None:
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
    kept = "" if path is None else f"\nWhat was finished is in {str(path)!r}."
    error = RuntimeError(message + kept)
    error.add_note(failure.traceback)
    raise error


@contextmanager
def comparison_bar(total: int, done: int, *, shown: bool) -> Iterator[Callable[[str, int], None]]:
    """Return a function ``update(description, done)`` that moves a bar of fits, if one is shown."""
    if not shown:
        yield lambda description, done: None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description}", markup=False),  # names may have brackets
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("fits, remaining"),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda description, done: progress.update(
            task, description=description, completed=done
        )
