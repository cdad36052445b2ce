"""protolearn alone, on more and more rows: seconds of an epoch, and memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protolearn import GLVQ

from . import child

FEATURES = 20
FEW, MANY = 1, 3


def make(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw n rows of two overlapping classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    X = rng.standard_normal((n, FEATURES))
    X[:, 0] += y
    return X, y


def sequential(max_iter: int) -> GLVQ:
    """Make a model with twenty prototypes."""
    return GLVQ(prototypes_per_class=10, solver="sgd", max_iter=max_iter, random_state=0)


def growth(n: int, repeats: int) -> child.Numbers:
    """Time a few and more epochs, and weigh the first fit against its data.

    A small fit goes first, so that neither the time nor the memory is that of loading code.
    """
    sequential(FEW).fit(*make(1000))
    before = memory("VmRSS")
    X, y = make(n)
    reset_peak()
    few = [child.timed(sequential(FEW), X, y)]
    peak = memory("VmHWM")
    many = []
    for _ in range(repeats):
        many.append(child.timed(sequential(MANY), X, y))
        few.append(child.timed(sequential(FEW), X, y))
    return {
        "few": min(few),
        "many": min(many),
        "epochs": MANY - FEW,
        "peak_bytes": peak - before,
        "data_bytes": X.nbytes + y.nbytes,
    }


def memory(field: str) -> int:
    """Read the present (VmRSS) or the largest (VmHWM) memory of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def reset_peak() -> None:
    """Let the largest memory be the present one."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    child.main({"growth": growth})
