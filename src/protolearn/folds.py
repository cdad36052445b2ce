"""Which rows are held out together: folds that keep equal rows, and groups of rows, undivided.

Every split that the library makes to evaluate or to select comes from here. A copy of a training
row in the test fold is no new row: a model that knows it by heart looks good.
"""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from ._arrays import Floats, Indices
from ._names import count

BITS = 40
"""Binary digits of a number that count when rows are compared, about 12 decimal ones."""

CELLS = 2**20
"""Cells that are compared at a time."""

SMALLEST = 2.0**-30
"""Part of the range of a column that rounding may change at most: it may lie far from zero."""

FEW = 0.1
"""Share of the rows in groups up to which folds are changed by exchanging rows."""

BY_CHANCE = 0.5
"""Part of the equal rows that chance has to explain, for them to be no copies."""

Fold = tuple[Indices, Indices]
"""Training rows and test rows."""


class RowGroups(NamedTuple):
    """Which rows stay together.

    Attributes
    ----------
    codes : array of shape (n_rows,) or None
        Number of the group of each row, from 0; None: every row is a group of its own.
    n_copies : int
        Rows that are equal to another one before them, and do not stay apart.
    n_alike : int
        Rows that are equal to another one before them by chance, and count as different rows.
    """

    codes: Indices | None
    n_copies: int = 0
    n_alike: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of scores should know about equal rows, if there are any."""
        if self.n_alike:
            return (
                f"{count(self.n_alike, 'row')} equal others, as is to be expected of columns with "
                "so few values; they count as different rows.",
            )
        if not self.n_copies:
            return ()
        what = "row is a copy of another" if self.n_copies == 1 else "rows are copies of others"
        return (f"{self.n_copies:,} {what}; copies stay in the same fold.",)

    def of(self, rows: Indices) -> Indices:
        """Return the group of some rows: the row itself if there are no groups."""
        return rows if self.codes is None else self.codes[rows]

    def take(self, rows: Indices) -> RowGroups:
        """Return the groups of some of the rows."""
        return self._replace(codes=None if self.codes is None else self.codes[rows])

    def count_by_class(self, y: Any) -> tuple[NDArray[Any], Indices]:
        """Return the classes, and how many groups have rows of each."""
        classes, labels = np.unique(y, return_inverse=True)
        groups = np.arange(len(labels)) if self.codes is None else self.codes
        pairs = np.unique(np.stack([labels, groups], axis=1), axis=0)
        return classes, np.bincount(pairs[:, 0], minlength=len(classes))


def row_groups(X: Any, groups: Any = None) -> RowGroups:
    """Return which rows stay together: equal ones, and those that share a group.

    Rows are equal if their numbers agree in about 12 digits, and everything else exactly. Groups
    that share a copy become one. Rows of a few categories that are equal by chance are no copies.
    """
    bits = None if sparse.issparse(X) else row_bits(X)
    copies = number_rows(sparse_digests(X) if bits is None else digests(bits))
    n_rows, n_distinct, n_alike = len(copies), len(np.unique(copies)), 0
    if n_distinct < n_rows and bits is not None and are_alike_by_chance(bits, n_rows - n_distinct):
        copies, n_distinct, n_alike = np.arange(n_rows), n_rows, n_rows - n_distinct
    n_copies = n_rows - n_distinct
    if groups is None:
        return RowGroups(copies if n_copies else None, n_copies, n_alike)
    groups = column_or_1d(groups)
    check_consistent_length(X, groups)
    _, codes = np.unique(groups, return_inverse=True)
    # A graph of groups and of distinct rows: what is connected stays together.
    n_groups = int(codes.max()) + 1
    size = n_groups + n_distinct
    links = sparse.coo_matrix((np.ones(n_rows), (codes, n_groups + copies)), shape=(size, size))
    _, parts = connected_components(links, directed=False)
    _, merged = np.unique(parts[:n_groups][codes], return_inverse=True)
    return RowGroups(merged if int(merged.max()) + 1 < n_rows else None, n_copies, n_alike)


def are_alike_by_chance(bits: NDArray[np.int64], n_equal: int) -> bool:
    """Whether about as many rows are equal if each column is shuffled by itself.

    So it is if there are a few columns with few values each: new rows will equal known ones, too.
    """
    if any(len(np.unique(column)) ** 2 > len(bits) for column in bits.T):
        return False
    rng = np.random.RandomState(0)
    shuffled = np.stack([rng.permutation(column) for column in bits.T], axis=1)
    n_expected = len(bits) - len(np.unique(number_rows(digests(shuffled))))
    return n_expected >= BY_CHANCE * n_equal


def number_rows(row_digests: Iterable[bytes]) -> Indices:
    """Return a number for each row, the same for equal rows."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(one, len(numbers)) for one in row_digests], dtype=np.intp)


def digests(bits: NDArray[np.int64]) -> Iterable[bytes]:
    """Return a digest of each row."""
    return (blake2b(row.tobytes(), digest_size=16).digest() for row in bits)


def row_bits(X: Any) -> NDArray[np.int64]:
    """Return 64 bits for each cell of an array, a structured array, a frame or a list."""
    try:
        X = np.asarray(X)
    except ValueError:  # objects of different lengths
        X = np.fromiter(X, dtype=object, count=len(X))
    if X.dtype.names:
        columns = [X[name] for name in X.dtype.names]
    else:
        cells = X.reshape(len(X), -1)
        # One column at a time if they may be of several kinds, or are long.
        width = 1 if X.dtype == object else max(CELLS // max(len(X), 1), 1)
        columns = [cells[:, j : j + width] for j in range(0, cells.shape[1], width)]
    return np.hstack([as_bits(column) for column in columns])


def as_bits(cells: NDArray[Any]) -> NDArray[np.int64]:
    """Return 64 bits for each value, equal for values that count as equal."""
    shape = len(cells), -1
    if cells.dtype == object:
        try:
            cells = cells.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            codes: dict[Any, int] = {}
            keys = (object_key(value) for value in cells.ravel().tolist())
            return np.array([codes.setdefault(key, len(codes)) for key in keys]).reshape(shape)
    if cells.dtype.kind not in "biuf":  # texts, dates
        _, cells = np.unique(cells, return_inverse=True)
    elif cells.dtype.kind == "f":
        cells = round_numbers(cells.astype(np.float64)).view(np.int64)
    return cells.astype(np.int64).reshape(shape)


def object_key(value: Any) -> Any:
    """Return what two equal objects of a column have in common; NaN equals itself."""
    if isinstance(value, float) and value != value:
        return None
    return value.tobytes() if isinstance(value, np.ndarray) else str(value)


def round_numbers(values: Floats) -> Floats:
    """Return numbers of about 12 digits; zero has no sign, and all NaN are the same."""
    with np.errstate(over="ignore", invalid="ignore"):
        mantissa, exponent = np.frexp(values)
        rounded = np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS)
        known = np.where(np.isfinite(values), values, np.nan)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "All-NaN")
            span = np.nanmax(known, axis=0) - np.nanmin(known, axis=0) if len(values) else 0.0
        near = np.abs(rounded - values) <= SMALLEST * span
    values = np.where(near, rounded, values) + 0.0
    return np.ascontiguousarray(np.where(np.isnan(values), np.nan, values))


def sparse_digests(X: Any) -> Iterable[bytes]:
    """Return a digest of each row of a sparse matrix: places and values of what is not zero."""
    X = X.tocsr().copy()
    X.sum_duplicates()
    X.data = round_numbers(X.data.astype(np.float64))
    X.eliminate_zeros()
    X.sort_indices()
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        row = X.indices[start:end].astype(np.int64).tobytes(), X.data[start:end].tobytes()
        yield blake2b(b"".join(row), digest_size=16).digest()


def stratified_folds(
    y: Any,
    n_folds: int,
    groups: RowGroups,
    *,
    n_repeats: int = 1,
    shuffle: bool = True,
    random_state: Any = None,
) -> list[Fold]:
    """Return stratified folds that divide no group; without groups those of scikit-learn.

    Where few rows are in groups, these are moved together, and others take their places: so the
    folds are nearly those without groups.
    """
    y = column_or_1d(y)
    few, codes = True, groups.codes
    if codes is not None:
        check_group_count(codes, n_folds)
        codes = np.unique(codes, return_inverse=True)[1]
        few = bool(np.mean(np.bincount(codes)[codes] > 1) <= FEW)
        few &= bool(np.unique(y, return_counts=True)[1].max() >= n_folds)
    if codes is None or few:
        splitter: Any = StratifiedKFold(
            n_folds, shuffle=shuffle, random_state=random_state if shuffle else None
        )
        if n_repeats > 1:
            splitter = RepeatedStratifiedKFold(
                n_splits=n_folds, n_repeats=n_repeats, random_state=random_state
            )
        folds = list(splitter.split(np.zeros(len(y)), y))
        return folds if codes is None else join_groups(folds, n_folds, y, codes)
    rng = check_random_state(random_state if shuffle else 0)
    dealt = [deal_groups(y, codes, n_folds, rng) for _ in range(n_repeats)]
    return [fold for fold_of in dealt for fold in as_folds(fold_of, n_folds)]


def plain_folds(n_rows: int, n_folds: int, groups: RowGroups, random_state: Any) -> list[Fold]:
    """Return shuffled folds without regard to labels, which need not be classes."""
    if groups.codes is None:
        splitter = KFold(n_folds, shuffle=True, random_state=random_state)
        return list(splitter.split(np.zeros(n_rows)))
    same = np.zeros(n_rows, dtype=np.intp)
    return stratified_folds(same, n_folds, groups, random_state=random_state)


def hold_out_part(
    y: Any, share: float, groups: RowGroups, *, stratify: bool, random_state: Any
) -> Fold:
    """Return training and test rows; the test part has about a share of the rows, by class."""
    y = column_or_1d(y)
    if groups.codes is None:
        train, test = train_test_split(
            np.arange(len(y)),
            test_size=share,
            stratify=y if stratify else None,
            random_state=random_state,
        )
        return train, test
    check_group_count(groups.codes, 2)
    codes, counts = class_counts(y if stratify else np.zeros(len(y)), groups.codes)
    missing = share * counts.sum(axis=0)
    weight, held = 1.0 / missing**2, np.zeros(len(counts), dtype=bool)
    order = check_random_state(random_state).permutation(len(counts))
    for group in order[np.argsort(-counts[order].sum(axis=1), kind="stable")]:
        # Nearer to the shares with this group than without it.
        if weight @ ((missing - counts[group]) ** 2 - missing**2) < 0.0:
            held[group], missing = True, missing - counts[group]
    if not 0 < held.sum() < len(held):  # one group is too large, and the other part the smaller
        held = np.arange(len(held)) == counts.sum(axis=1).argmin()
    return np.flatnonzero(~held[codes]), np.flatnonzero(held[codes])


def check_group_count(codes: Indices, n_folds: int) -> None:
    """Raise if there are fewer groups than folds."""
    n_groups = len(np.unique(codes))
    if n_groups < n_folds:
        raise ValueError(
            f"{count(n_folds, 'fold')} cannot be made of {count(n_groups, 'group')} of rows: equal "
            "rows, and rows of a group, stay in the same fold. Use fewer folds, or pass a splitter "
            "of your own as cv."
        )


def join_groups(folds: list[Fold], n_folds: int, y: NDArray[Any], codes: Indices) -> list[Fold]:
    """Return folds, of one or several repeats, with the rows of each group in the first's fold.

    A row of the same class and of no group goes the other way, if there is one.
    """
    sizes, joined = np.bincount(codes), []
    single = sizes[codes] == 1
    for first in range(0, len(folds), n_folds):
        fold_of = np.empty(len(y), dtype=np.intp)
        for k, (_, test) in enumerate(folds[first : first + n_folds]):
            fold_of[test] = k
        for group in np.flatnonzero(sizes > 1):
            rows = np.flatnonzero(codes == group)
            home = fold_of[rows[0]]
            for row in rows[fold_of[rows] != home]:
                others = np.flatnonzero(single & (fold_of == home) & (y == y[row]))
                fold_of[others[:1]] = fold_of[row]
                fold_of[row] = home
        joined += as_folds(fold_of, n_folds)
    return joined


def as_folds(fold_of: Indices, n_folds: int) -> list[Fold]:
    """Return training and test rows of each fold."""
    return [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(n_folds)]


def deal_groups(y: NDArray[Any], codes: Indices, n_folds: int, rng: Any) -> Indices:
    """Return the fold of each row: no group is divided, and classes are spread evenly.

    Groups of several rows come first, the largest before all: each goes to the fold that has least
    of its classes. Single rows fill up what is missing, class by class.
    """
    codes, counts = class_counts(y, codes)
    n_groups, n_classes = counts.shape
    # A row of a rare class weighs more.
    weights = counts / (counts.sum(axis=0) / n_folds) ** 2
    sizes = counts.sum(axis=1)
    load, total = np.zeros((n_folds, n_classes)), np.zeros(n_folds)
    fold_of = np.empty(n_groups, dtype=np.intp)
    order = rng.permutation(n_groups)
    order = order[np.argsort(-sizes[order], kind="stable")]
    several = int((sizes > 1.0).sum())
    for group in order[:several]:
        k = np.lexsort((total, np.round(load @ weights[group], 9)))[0]
        fold_of[group] = k
        load[k] += counts[group]
        total[k] += sizes[group]
    single = order[several:]
    class_of = counts[single].argmax(axis=1)
    for label in range(n_classes):
        heap = [(load[k, label], total[k], k) for k in range(n_folds)]
        heapq.heapify(heap)
        for group in single[class_of == label]:
            here, size, k = heap[0]
            heapq.heapreplace(heap, (here + 1.0, size + 1.0, k))
            fold_of[group] = k
            total[k] += 1.0
    return fold_of[codes]


def class_counts(y: NDArray[Any], codes: Indices) -> tuple[Indices, Floats]:
    """Return the groups as numbers without gaps, and how many rows of each class they have."""
    _, labels = np.unique(y, return_inverse=True)
    _, codes = np.unique(codes, return_inverse=True)
    counts = np.zeros((int(codes.max()) + 1, int(labels.max()) + 1))
    np.add.at(counts, (codes, labels), 1.0)
    return codes, counts


def group_keyword(model: Any) -> str | None:
    """Return the keyword by which ``fit`` of a model, or of the last step, takes groups, if any."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        inner = group_keyword(last)
        return None if inner is None else f"{name}__{inner}"
    return "groups" if has_fit_parameter(model, "groups") else None
