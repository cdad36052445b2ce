"""Data that do not fit: memory and time of blocks, and what a Dask cluster adds and saves.

Each fit has a process of its own, which is asked for its anonymous memory all the while; pages of
mapped files are not counted, since the system takes them back when it needs them. A million rows of
fifty features are 0.4 GB, ten million 4 GB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .measure import HEADING, Row, Table, mark

FEATURES, CLASSES, PER_CLASS = 50, 5, 2
ROWS = (100_000, 1_000_000, 10_000_000)
PART = 50_000
CHUNK = 100_000
"""Rows of a part, and of a chunk on Dask."""
ITERATIONS = 5
MOST_GIB = 1.0


@dataclass(frozen=True)
class Peak:
    """One fit: what it took."""

    kind: str
    rows: int
    data_gb: float
    seconds: float
    evaluations: int
    peak_gib: float
    target: float = MOST_GIB

    @property
    def met(self) -> bool:
        """Whether the memory stays below the target."""
        return self.peak_gib < self.target

    def line(self) -> str:
        """Give the line as it is printed."""
        return (
            f"{self.kind:<12}{self.rows:>12,}{self.data_gb:>9.2f}{self.seconds:>10.1f}"
            f"{self.seconds / self.evaluations:>12.2f}{self.peak_gib:>11.3f}{mark(self.met)}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return {**asdict(self), "met": self.met}


def tables() -> Iterator[Table]:
    """Give the tables."""
    heading = "data                rows  data GB   seconds   s a pass   RssAnon GiB"
    yield Table(heading, peaks())
    yield Table(HEADING, cluster_rows())
    yield Table("chunks  ms a pass  ms a task", empty_passes())


def peaks(sizes: tuple[int, ...] = ROWS) -> Iterator[Peak]:
    """Fit each kind of data in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            for kind in ("memory map", "parquet", "generated"):
                command = [sys.executable, "-m", __name__, kind, str(n), folder]
                for step in ("write", "fit"):
                    done = subprocess.run([*command, step], capture_output=True, text=True)
                    if done.returncode:
                        raise RuntimeError(done.stderr)
                yield Peak(kind, n, 8e-9 * n * FEATURES, **json.loads(done.stdout))


def block(index: int, n_rows: int = PART) -> tuple[Any, Any]:
    """Make some rows of five classes that overlap."""
    rng = np.random.default_rng(index)
    centers = np.random.default_rng(0).standard_normal((CLASSES, FEATURES))
    y = rng.integers(0, CLASSES, n_rows)
    return rng.standard_normal((n_rows, FEATURES)) + 0.4 * centers[y], y


def sizes_of(n: int) -> list[int]:
    """Cut rows into parts."""
    return [min(PART, n - first) for first in range(0, n, PART)]


def write(kind: str, n: int, folder: Path) -> None:
    """Put the rows on disk."""
    if kind == "memory map":
        X = np.memmap(folder / f"{n}.X", np.float64, "w+", shape=(n, FEATURES))
        y = np.memmap(folder / f"{n}.y", np.int64, "w+", shape=(n,))
        for i, size in enumerate(sizes_of(n)):
            X[i * PART : i * PART + size], y[i * PART : i * PART + size] = block(i, size)
        X.flush()
        y.flush()
    elif kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        (folder / f"{n}.parquet").mkdir()
        names = [f"x{j}" for j in range(FEATURES)]
        for i, size in enumerate(sizes_of(n)):
            X, y = block(i, size)
            table = pa.table({**dict(zip(names, X.T, strict=True)), "label": y})
            pq.write_table(table, folder / f"{n}.parquet" / f"{i:05}.parquet", compression="none")


def data_of(kind: str, n: int, folder: Path) -> tuple[Any, ...]:
    """Give what ``fit`` takes."""
    if kind == "memory map":
        X = np.memmap(folder / f"{n}.X", np.float64, "r", shape=(n, FEATURES))
        return X, np.memmap(folder / f"{n}.y", np.int64, "r", shape=(n,))
    if kind == "parquet":
        return folder / f"{n}.parquet", "label"
    return (lambda: (block(i, size) for i, size in enumerate(sizes_of(n))),)


def fit(kind: str, n: int, folder: Path) -> dict[str, float]:
    """Fit, and tell what it took."""
    model = a_model()
    model.fit(*block(0, 2000))  # so that nothing is compiled below
    peak, ended = [0.0], threading.Event()
    watch = threading.Thread(target=watch_memory, args=(peak, ended))
    watch.start()
    begun = time.perf_counter()
    calls = count_evaluations()
    model.fit(*data_of(kind, n, folder))
    seconds = time.perf_counter() - begun
    ended.set()
    watch.join()
    return {"seconds": seconds, "evaluations": calls[0], "peak_gib": peak[0]}


def a_model(**settings: Any) -> Any:
    """Give the model of all measurements: some iterations of L-BFGS, whatever they reach."""
    from protolearn import GLVQ

    warnings.simplefilter("ignore")
    settings = {"solver": "lbfgs", "max_iter": ITERATIONS, "tol": 1e-9} | settings
    return GLVQ(prototypes_per_class=PER_CLASS, random_state=0, **settings)


def count_evaluations() -> list[int]:
    """Count the passes over the data: sums over all blocks, and the survey."""
    from protolearn.blocks import Blocks
    from protolearn.blocks.parts import ReadParts

    count = [0]

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            count[0] += 1
            return function(*args)

        return call

    Blocks.reduce = counted(Blocks.reduce)  # type: ignore[method-assign]
    ReadParts.map_reduce = counted(ReadParts.map_reduce)  # type: ignore[method-assign]
    return count


def watch_memory(peak: list[float], ended: threading.Event) -> None:
    """Keep the greatest anonymous memory of this process, in GiB."""
    while not ended.wait(0.01):
        with open("/proc/self/status") as status:
            here = next(line for line in status if line.startswith("RssAnon"))
        peak[0] = max(peak[0], int(here.split()[1]) / 2**20)


def cluster_rows(n: int = 1_000_000) -> Iterator[Row]:
    """Compare a cluster of one worker with plain blocks, and with two workers."""
    import dask.array as da
    from distributed import Client, LocalCluster

    def make() -> Iterator[tuple[Any, Any]]:
        return iter(blocks)

    blocks = [block(i, size) for i, size in enumerate(sizes_of(n))]
    plain = timed(lambda: a_model(max_iter=20).fit(make))
    on_workers = {}
    for workers in (1, 2):
        settings = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**settings) as cluster, Client(cluster):
            X = da.concatenate([from_seed(i, size)[0] for i, size in enumerate(sizes_of(n))])
            y = da.concatenate([from_seed(i, size)[1] for i, size in enumerate(sizes_of(n))])
            X, y = X.rechunk((CHUNK, -1)).persist(), y.rechunk(CHUNK).persist()
            a_model(max_iter=1).fit(X, y)  # workers import and load compiled functions
            on_workers[workers] = timed(lambda X=X, y=y: a_model(max_iter=20).fit(X, y))
    yield Row("Dask, one worker", on_workers[1], "plain blocks", plain, 1.25)
    yield Row("Dask, two workers", on_workers[2], "Dask, one worker", on_workers[1], 1 / 1.6)


@dataclass(frozen=True)
class Pass:
    """A pass over chunks in which nothing is computed."""

    chunks: int
    seconds: float

    def line(self) -> str:
        """Give the line as it is printed."""
        return (
            f"{self.chunks:>6}{1e3 * self.seconds:>11.1f}{1e3 * self.seconds / self.chunks:>11.2f}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return asdict(self)


def empty_passes() -> Iterator[Pass]:
    """Time what a pass costs by itself, on two workers."""
    from distributed import Client, LocalCluster

    from protolearn.blocks.on_dask import DaskParts

    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**settings) as cluster, Client(cluster):
        for chunks in (2, 10, 100, 1000):
            X, y = rows_of_chunks(chunks)
            parts = DaskParts(X, y)
            blocks = parts.blocks(as_block, 10 * chunks, 10 * chunks)
            blocks.reduce(len)
            yield Pass(chunks, timed(lambda blocks=blocks: blocks.reduce(len), 5))


def rows_of_chunks(chunks: int) -> tuple[Any, Any]:
    """Give ten rows a chunk."""
    import dask.array as da

    return da.zeros((10 * chunks, 1), chunks=(10, 1)), da.zeros(10 * chunks, chunks=10)


def as_block(part: Any) -> Any:
    """Take a part as it is."""
    from protolearn.blocks import Block

    return Block(part.X, part.y)


def from_seed(index: int, size: int) -> tuple[Any, Any]:
    """Give a chunk that a worker makes."""
    import dask.array as da
    from dask import delayed

    X, y = delayed(block, nout=2)(index, size)
    return (
        da.from_delayed(X, (size, FEATURES), np.float64),
        da.from_delayed(y, (size,), np.int64),
    )


def timed(work: Callable[[], object], times: int = 3) -> float:
    """Give the least time of some."""
    seconds = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    kind, n, folder, step = sys.argv[1:]
    if step == "write":
        write(kind, int(n), Path(folder))
    else:
        print(json.dumps(fit(kind, int(n), Path(folder))))
