"""The relevance vector machine: beside sklearn-rvm in speed, beside SVMs in sparsity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protolearn import datasets
from protolearn.linear import RVM

from .measure import Line, Table, mark
from .peers.data import Exports, check_known
from .peers.process import ours, peer
from .peers.row import COMPARISONS, Comparison
from .peers.rows import attempt, best

REPEATS = 3
"""Processes of each side."""

FASTER = 100.0
"""How many times faster ours should be."""

SPARSER = 4.0
"""How many times fewer vectors than an SVM it should keep."""

SETS = ("heart", "diabetes", "ionosphere", "sonar", "wdbc")
"""Sets of two classes, on which SVMs keep many vectors."""

FOLDS = 10


@dataclass(frozen=True)
class Sparsity:
    """Our vectors and accuracy beside those of an SVM.

    Attributes
    ----------
    name : str
        The set and the kernel.
    vectors, their_vectors : float
        Mean numbers of training rows that are kept.
    accuracy, their_accuracy : float
        Mean shares of test rows.
    error : float
        Standard error of their difference, the folds taken as independent.
    """

    name: str
    vectors: float
    their_vectors: float
    accuracy: float
    their_accuracy: float
    error: float

    @property
    def met(self) -> bool:
        """Whether the vectors are far fewer, and the accuracy equal but for a standard error."""
        sparse = SPARSER * self.vectors <= self.their_vectors
        return sparse and self.accuracy >= self.their_accuracy - self.error

    def line(self) -> str:
        """Give the line as it is printed."""
        return (
            f"{self.name:<30}{self.vectors:>10.1f}{self.their_vectors:>10.1f}"
            f"{self.their_vectors / self.vectors:>8.1f}{SPARSER:>9g}{100 * self.accuracy:>8.2f}"
            f"{100 * self.their_accuracy:>8.2f}{100 * self.error:>8.2f}{mark(self.met)}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return {**asdict(self), "met": self.met}


SPARSITIES = (
    f"{'RVM beside SVC, ten folds':<30}{'vectors':>10}{'SVC':>10}{'fewer':>8}{'at least':>9}"
    f"{'ours %':>8}{'SVC %':>8}{'error':>8}"
)
"""The heading over lines of :class:`Sparsity`."""


def tables() -> Iterator[Table]:
    """Give speed, then sparsity."""
    with TemporaryDirectory() as folder:
        yield Table(COMPARISONS, speed(Path(folder)))
    yield Table(SPARSITIES, sparsity())


def speed(folder: Path) -> Iterator[Line]:
    """Fit in turn, on the sets for which the peer takes seconds."""
    exports = Exports(folder)
    for name in ("heart", "wdbc"):
        yield from attempt(f"{name}, RVM", partial(beside_peer, exports, folder, name))


def beside_peer(exports: Exports, folder: Path, name: str) -> Iterator[Line]:
    """Fit with the default kernel of the peer, ours in a warm process."""
    path, theirs, mine = exports.path(name), [], []
    library, protolearn = peer("rvm"), ours(folder / "compiled", "child_our_rvm")
    for _ in range(REPEATS):
        theirs.append(library.measure("fit_rbf", path=path))
        mine.append(protolearn.measure("fit_rbf", path=path))
    yield Comparison(
        f"{name}, RVM rbf, {mine[0]['vectors']} vectors",
        f"sklearn-rvm, {theirs[0]['vectors']} vectors",
        best(mine, "warm"),
        best(theirs, "warm"),
        mine[0]["accuracy"],
        theirs[0]["accuracy"],
        FASTER,
        least_accuracy=theirs[0]["accuracy"],
    )


def sparsity() -> Iterator[Line]:
    """Compare with SVC of the same kernel, C = 1, on all sets."""
    for name in SETS:
        for kernel in ("linear", "rbf"):
            yield from attempt(f"{name}, {kernel}", partial(beside_svm, name, kernel))


def beside_svm(name: str, kernel: str) -> Iterator[Line]:
    """Count vectors and measure accuracies on the same folds."""
    check_known(name)
    X, y = datasets.load(name)
    vectors, accuracies = folds(RVM(kernel=kernel), X, y)
    their_vectors, their_accuracies = folds(SVC(kernel=kernel), X, y)
    spread = accuracies.var(ddof=1) + their_accuracies.var(ddof=1)
    yield Sparsity(
        f"{name}, {kernel}",
        float(vectors.mean()),
        float(their_vectors.mean()),
        float(accuracies.mean()),
        float(their_accuracies.mean()),
        float(np.sqrt(spread / FOLDS)),
    )


def folds(model: Any, X: NDArray, y: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the number of vectors and the accuracy of each fold, features z-scored."""
    found = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        model.fit(scaler.transform(X[train]), y[train])
        found.append((len(model.support_), model.score(scaler.transform(X[test]), y[test])))
    vectors, accuracies = np.array(found, dtype=np.float64).T
    return vectors, accuracies
