"""Where the fits run: in this process and those that it starts, or on a Dask cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib

from .engine import Engine
from .failure import FAILED, Failure

ANSWER = 5.0
"""Seconds that a scheduler has to answer."""

WORKERS = 20.0
"""Seconds that the first worker has to come up."""


def check_engine(engine: Engine, scheduler: str | None, jobs: int | None) -> None:
    """Raise before any work if the options do not go together, or Dask is not there."""
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise Failure(f"--jobs {jobs} is no number of fits; expected 1 or more, or -1 for all.")
    if engine is not Engine.dask:
        if scheduler is not None:
            raise Failure(
                f"--scheduler {scheduler} is given without --engine dask; add it, or leave out the "
                "scheduler."
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
    """Let joblib run fits where they are wanted; give its number of jobs."""
    if engine is not Engine.dask:
        yield 1 if jobs is None else jobs
        return
    with ExitStack() as stack:
        stack.enter_context(quiet())
        client = stack.enter_context(
            own_cluster(jobs) if scheduler is None else connected(scheduler)
        )
        wanted = workers(client, jobs) if scheduler is not None else {}
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
def connected(scheduler: str) -> Iterator[Any]:
    """Connect to a cluster that is there already."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=ANSWER)
    except (OSError, ValueError) as error:  # among them those of time and of names
        told = isinstance(error, ValueError)
        raise Failure(
            f"--scheduler {scheduler}: "
            + (f"no address ({error})" if told else f"no scheduler answers within {ANSWER:g} s")
            + "; expected one such as tcp://HOST:8786, as 'dask scheduler' prints it.",
            FAILED,
        ) from error
    with client:
        check_workers(client, scheduler)
        yield client


def check_workers(client: Any, scheduler: str) -> None:
    """Raise unless there are workers, and all of them can do the work."""
    try:
        client.wait_for_workers(1, timeout=WORKERS)
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


def workers(client: Any, jobs: int | None) -> dict[str, Any]:
    """Return the workers that take part: all, or as many as have the threads that are wanted."""
    if jobs in (None, -1):
        return {}
    assert jobs is not None
    known = client.nthreads()
    chosen: list[str] = []
    left = jobs
    for address in sorted(known):
        if known[address] <= left:
            chosen.append(address)
            left -= known[address]
    return {"workers": chosen or [min(known, key=known.__getitem__)]}


@contextmanager
def quiet() -> Iterator[None]:
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
