"""Cells of a column that recur, each of them made once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...native import i8, indices, indices_out, native, types

bytes_in = types.Array(types.uint8, 1, "C", readonly=True)


class Words(Sequence[str]):
    """Cells of a column, by the different ones among them.

    Parameters
    ----------
    different : list of str
        The different cells, as they come.
    codes : array of shape (n,)
        Which of them each cell is.
    firsts : array
        Where each of them comes first.
    """

    def __init__(self, different: list[str], codes: NDArray[Any], firsts: NDArray[Any]):
        self.different, self.codes, self.firsts = different, codes, firsts

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, place: Any) -> Any:
        return self.different[self.codes[place]]

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return where a cell comes first."""
        return int(self.firsts[self.different.index(value)])

    def __iter__(self) -> Iterator[str]:
        return map(self.different.__getitem__, self.codes.tolist())


def counted(cells: Sequence[str]) -> Iterable[tuple[str, int]]:
    """Return the different cells as they come, and how often each is there."""
    if isinstance(cells, Words):
        numbers = np.bincount(cells.codes, minlength=len(cells.different)).tolist()
        return zip(cells.different, numbers, strict=True)
    return Counter(cells).items()


def find_words(
    text: NDArray[np.uint8], starts: NDArray[Any], ends: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return which of the different cells each cell is, and where each of these comes first."""
    n = len(starts)
    codes, firsts = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    slots = np.full(1 << (2 * n).bit_length(), -1, dtype=np.intp)
    n_different = match(text, starts, ends, slots, codes, firsts)
    return codes, firsts[:n_different]


@native(i8(bytes_in, indices, indices, indices_out, indices_out, indices_out))
def match(text, starts, ends, slots, codes, firsts):
    """Find equal pieces of a text by a table of their sums; give the number of different ones."""
    found = 0
    for i in range(len(starts)):
        start, size = starts[i], ends[i] - starts[i]
        mixed = np.uint64(14695981039346656037)
        for k in range(size):
            mixed = (mixed ^ np.uint64(text[start + k])) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(32)
        slot = np.int64(mixed & np.uint64(len(slots) - 1))
        while True:
            code = slots[slot]
            if code < 0:
                slots[slot] = found
                firsts[found] = i
                codes[i] = found
                found += 1
                break
            other = starts[firsts[code]]
            same = ends[firsts[code]] - other == size
            k = 0
            while same and k < size:
                same = text[start + k] == text[other + k]
                k += 1
            if same:
                codes[i] = code
                break
            slot = (slot + 1) & (len(slots) - 1)
    return found
