"""Where the fits run: in this process and those that it starts, or on a Dask cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib

from .failure import FAILED, Failure

ANSWER_SECONDS = 5.0
"""Seconds that a scheduler has to answer."""

WORKER_SECONDS = 20.0
"""Seconds that the first worker has to come up."""


class Engine(StrEnum):
    """What runs the fits: processes of this machine, or a Dask cluster."""

    local = "local"
    dask = "dask"


def check_engine(engine: Engine, scheduler: str | None, jobs: int | None) -> None:
    """Raise before any work if the options do not go together, or Dask is not there."""
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise Failure(f"--jobs {jobs} is not a number of fits; expected 1 or more, or -1 for all.")
    if engine is not Engine.dask:
        if scheduler is not None:
            raise Failure(
                f"--scheduler {scheduler} needs --engine dask; add it, or leave out --scheduler."
            )
        return
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise Failure(
            "--engine dask needs Dask, which is not installed: pip install 'protolearn[dask]'."
        ) from None


@contextmanager
def running_on(engine: Engine, scheduler: str | None, jobs: int | None) -> Iterator[int]:
    """Let joblib run the fits on an engine; the context is the number of jobs."""
    if engine is not Engine.dask:
        yield 1 if jobs is None else jobs
        return
    with ExitStack() as stack:
        stack.enter_context(silence_cluster())
        client = stack.enter_context(own_cluster(jobs) if scheduler is None else connect(scheduler))
        wanted = chosen_workers(client, jobs) if scheduler is not None else {}
        stack.enter_context(joblib.parallel_config(backend="dask", client=client, **wanted))
        yield -1


@contextmanager
def own_cluster(jobs: int | None) -> Iterator[Any]:
    """Start a cluster of processes on this machine, and close it in the end."""
    from distributed import Client, LocalCluster

    n_workers = joblib.cpu_count() if jobs in (None, -1) else jobs
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def connect(scheduler: str) -> Iterator[Any]:
    """Connect to a cluster that is there already."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=ANSWER_SECONDS)
    except (OSError, ValueError) as error:  # among them those of time and of names
        what = f"no scheduler answers within {ANSWER_SECONDS:g} s"
        if isinstance(error, ValueError):
            what = f"no address ({error})"
        raise Failure(
            f"--scheduler {scheduler}: {what}; expected one such as tcp://HOST:8786, as "
            "'dask scheduler' prints it.",
            FAILED,
        ) from error
    with client:
        check_workers(client, scheduler)
        yield client


def check_workers(client: Any, scheduler: str) -> None:
    """Raise unless there are workers, and all of them can do the work."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise Failure(
            f"--scheduler {scheduler} has no workers; start some with 'dask worker {scheduler}'.",
            FAILED,
        ) from None
    try:
        found = client.run(version, "protolearn")
    except PackageNotFoundError:
        raise Failure(
            f"the workers of --scheduler {scheduler} have no protolearn; install it there too.",
            FAILED,
        ) from None
    others = sorted(set(found.values()) - {version("protolearn")})
    if others:
        warnings.warn(
            f"The workers have protolearn {', '.join(others)}, and here is "
            f"{version('protolearn')}; results may differ.",
            stacklevel=2,
        )


def chosen_workers(client: Any, jobs: int | None) -> dict[str, Any]:
    """Return the workers that take part: all, or as many as have the threads that are wanted."""
    if jobs is None or jobs == -1:
        return {}
    threads = client.nthreads()
    chosen: list[str] = []
    for address in sorted(threads):
        if threads[address] <= jobs:
            chosen.append(address)
            jobs -= threads[address]
    return {"workers": chosen or [min(threads, key=threads.__getitem__)]}


@contextmanager
def silence_cluster() -> Iterator[None]:
    """Keep the log of the cluster, and advice to those who write programs, from the terminal."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        warnings.filterwarnings("ignore", "Port .* is already in use")
        try:
            yield
        finally:
            logger.setLevel(before)
