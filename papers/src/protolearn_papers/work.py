"""The work of an experiment: many small tasks, done once each, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import joblib

from protolearn._fingerprint import digest
from protolearn._threads import one_blas_thread, one_openmp_thread
from protolearn.datasets import fetch
from protolearn.selection import AS_THEY_END

from .ledger import Ledger

Progress = Callable[[str, int, int], object]
"""Is told what is done at present, how much of it is finished, and how much there is."""


class Work:
    """What an experiment is run with.

    Parameters
    ----------
    quick : bool, default=False
        Whether a reduced version is wanted that takes seconds: less data, fewer repetitions.
    seed : int, default=0
        Seed of everything random.
    jobs : int, default=1
        Processes; -1: one a core.
    ledger : Ledger or None
        Remembers finished tasks; None: for this object alone.
    progress : callable or None
        Is told how far the work is.

    Examples
    --------
    >>> from protolearn_papers import Work
    >>> Work().map("powers", pow, {"two": (2, 3), "three": (3, 3)})
    {'two': 8, 'three': 27}
    """

    def __init__(
        self,
        quick: bool = False,
        seed: int = 0,
        jobs: int = 1,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
    ):
        self.quick = quick
        self.seed = seed
        self.jobs = jobs
        self.ledger = Ledger(None, {}) if ledger is None else ledger
        self._progress = progress

    def map(
        self,
        what: str,
        function: Callable[..., Any],
        tasks: Mapping[str, tuple[Any, ...]],
    ) -> dict[str, Any]:
        """Return the results of a function for all arguments, those known already from the ledger.

        Parameters
        ----------
        what : str
            What is being done, for the bar.
        function : callable
            A function of a module (other processes import it) that gives what JSON can hold:
            numbers, texts, None, lists and dicts with texts as keys. It depends on nothing but its
            arguments, and runs in one thread, so that a sum is always taken in the same order.
        tasks : mapping of str to tuple
            Arguments by key; a key is unique in the experiment and stays the same from run to run.
            A result is known again if the arguments are written the same, too.

        Returns
        -------
        results : dict of str to result
            In the order of the tasks.
        """
        open_tasks = {
            key: given for key, given in tasks.items() if not self.ledger.has(key, repr(given))
        }
        done = len(tasks) - len(open_tasks)
        self._tell(what, done, len(tasks))
        for key, result in self._run(function, open_tasks):
            self.ledger.add(key, result, repr(tasks[key]))
            done += 1
            self._tell(what, done, len(tasks))
        return {key: self.ledger[key] for key in tasks}

    def need(self, *names: str) -> None:
        """Get data sets before any work, and raise if results are there of other rows."""
        for number, name in enumerate(names):
            self._tell("data", number, len(names))
            X, y = fetch(name)
            found, key = digest(X, y), f"rows of {name}"
            if self.ledger.has(key) and self.ledger[key] != found:
                raise ValueError(
                    f"Results are there that were found with other rows of {name!r}, or with the "
                    "same in another order. Give the data that they were found with, or name "
                    "another folder."
                )
            if not self.ledger.has(key):
                self.ledger.add(key, found)
        self._tell("data", len(names), len(names))

    def _run(self, function: Callable[..., Any], tasks: Mapping[str, tuple[Any, ...]]) -> Any:
        if len(tasks) < 2 or joblib.effective_n_jobs(self.jobs) == 1:
            return (_keyed(function, *one) for one in tasks.items())
        parallel = joblib.Parallel(n_jobs=self.jobs, return_as=AS_THEY_END)
        return parallel(joblib.delayed(_keyed)(function, *one) for one in tasks.items())

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(what, done, total)


def _keyed(function: Callable[..., Any], key: str, given: tuple[Any, ...]) -> tuple[str, Any]:
    with one_blas_thread(), one_openmp_thread():
        return key, function(*given)
