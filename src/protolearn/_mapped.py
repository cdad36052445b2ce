"""Rows of an array on disk: they become doubles in memory as they are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._parameters import Floats, Indices, as_floats


class MappedRows:
    """Rows of a memory map, all of them or some, in whatever type they are stored.

    Indexing gives doubles, row by row; nothing else is read or kept.

    Parameters
    ----------
    array : array (n, d)
        Where the rows are.
    index : array of int or None, default=None
        Which of them; None: all.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, array: Any, index: Indices | None = None):
        self._array, self._index = array, index
        n_rows = array.shape[0] if index is None else len(index)
        self.shape = (int(n_rows), int(array.shape[1]))
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        return as_floats(np.asarray(self._array[self._places(rows)]))

    def some(self, rows: Any) -> MappedRows:
        """Give some of the rows, without reading them."""
        places = self._places(rows)
        return MappedRows(self._array, np.arange(len(self._array))[places])

    def _places(self, rows: Any) -> Any:
        return rows if self._index is None else self._index[rows]
