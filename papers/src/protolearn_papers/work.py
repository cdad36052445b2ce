"""The work of an experiment: many small tasks, done once each, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import joblib

from protolearn._threads import one_blas_thread, one_openmp_thread
from protolearn.datasets import fetch
from protolearn.selection import AS_THEY_END
from protolearn.store import Owner, Store, digest

OWNER = Owner(
    "an experiment",
    "run of an experiment",
    label="{path}",
    advice="Name another folder, or delete the file to start again.",
)

Progress = Callable[[str, int, int], object]
"""Is told what is done at present, how much of it is finished, and how much there is."""


class Work:
    """What an experiment is run with.

    Parameters
    ----------
    quick : bool, default=False
        Whether a reduced version is wanted that takes seconds: less data, fewer repetitions.
    seed : int, default=0
        Random seed.
    jobs : int, default=1
        Processes; -1: one a core.
    store : Store or None
        Keeps the results of finished tasks; None: for this object alone.
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
        store: Store | None = None,
        progress: Progress | None = None,
    ):
        self.quick = quick
        self.seed = seed
        self.jobs = jobs
        self.store = Store(None, {}, owner=OWNER) if store is None else store
        self._progress = progress

    def map(
        self,
        what: str,
        function: Callable[..., Any],
        tasks: Mapping[str, tuple[Any, ...]],
    ) -> dict[str, Any]:
        """Return the results of a function for all arguments, those known already from the store.

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
        keys = {name: (name, repr(arguments)) for name, arguments in tasks.items()}
        open_tasks = {name: tasks[name] for name, key in keys.items() if key not in self.store}
        done = len(tasks) - len(open_tasks)
        self._tell(what, done, len(tasks))
        for name, result in self._run(function, open_tasks):
            self.store.add(keys[name], result)
            done += 1
            self._tell(what, done, len(tasks))
        return {name: self.store.get(key) for name, key in keys.items()}

    def need(self, *names: str) -> None:
        """Get data sets before any work, and raise if results are there of other rows."""
        for number, name in enumerate(names):
            self._tell("data", number, len(names))
            X, y = fetch(name)
            found, key = digest(X, y), f"rows of {name}"
            if key not in self.store:
                self.store.add(key, found)
            elif self.store.get(key) != found:
                raise ValueError(
                    f"Results are there that were found with other rows of {name!r}, or with the "
                    "same in another order. Give the data that they were found with, or name "
                    "another folder."
                )
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
