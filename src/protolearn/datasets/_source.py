"""What every stored data set offers, wherever its rows come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# X is a NumPy array or a scipy.sparse CSR array.
Data: TypeAlias = tuple[Any, NDArray[np.str_]]


class Source(ABC):
    """One data set: its rows, and the little that a listing shows without reading them."""

    def __init__(self, name: str, origin: str) -> None:
        self.name = name
        self.origin = origin

    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """Name the parts of the customary split; none when there is no such split."""

    @abstractmethod
    def read(self, part: str) -> Data:
        """Return the rows of one part, or of ``"all"`` parts stacked."""

    @abstractmethod
    def labels(self) -> NDArray[np.str_]:
        """Return the label of every row without reading the features."""

    @abstractmethod
    def feature_names(self) -> list[str]:
        """Name the columns of X."""
