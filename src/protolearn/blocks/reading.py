"""From parts as they are given to blocks to learn from: checked, encoded and weighted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, check_observed_rows, checked_sparse
from .._validation import finite_weights
from ..distances import Distance
from .block import Block, encode
from .parts import Part, column_names


@dataclass(frozen=True)
class Split:
    """Which rows are held out: a share, drawn anew for each part and always the same.

    Attributes
    ----------
    share : float
        The share of rows that is held out; 0: none.
    seed : int
        Of the draw.
    held : bool
        Whether those are wanted, or the others.
    """

    share: float = 0.0
    seed: int = 0
    held: bool = False

    def wanted(self, index: int, n_rows: int) -> NDArray[np.bool_] | None:
        """Return which rows of a part are wanted; None: all."""
        if self.share == 0.0:
            return None
        drawn = np.random.default_rng([self.seed, index]).random(n_rows) < self.share
        return drawn if self.held else ~drawn


@dataclass(frozen=True)
class Checks:
    """What rows have to be like.

    Attributes
    ----------
    distance : Distance
        What will measure them.
    n_features : int
        Number of columns.
    names : tuple of str or None
        Names of the columns.
    takes_sparse : bool
        Whether rows may be sparse.
    owner : str
        Who will learn from them, for messages.
    """

    distance: Distance
    n_features: int
    names: tuple[str, ...] | None
    takes_sparse: bool
    owner: str

    def rows(self, part: Part) -> tuple[Any, NDArray[Any], Floats | None]:
        """Return rows, labels and weights as arrays; an error names the part."""
        try:
            y = labels_of(part.y)
            weight = finite_weights(part.weight, len(y))
            X = self._matrix(part.X, len(y), weight)
        except (ValueError, TypeError) as error:
            raise ValueError(f"In {part.name}: {error}") from error
        return X, y, weight

    def _matrix(self, X: Any, n_rows: int, weight: Floats | None) -> Any:
        names = column_names(X)
        if self.names is not None and names is not None and names != self.names:
            raise ValueError(f"its columns are {list(names)!r}, expected {list(self.names)!r}.")
        missing = self.distance.missing_form is not None
        X = check_array(
            X,
            dtype=np.float64,
            order="C",
            accept_sparse="csr" if self.takes_sparse else False,
            ensure_all_finite="allow-nan" if missing else True,
            ensure_min_samples=0,
            estimator=self.owner,
            input_name="X",
        )
        if X.shape != (n_rows, self.n_features):
            raise ValueError(
                f"X has shape {X.shape}, expected {(n_rows, self.n_features)}: a row for each "
                "label, and a column for each feature of the other parts."
            )
        if issparse(X):
            X = checked_sparse(X)
        elif missing and n_rows:
            check_observed_rows(X, weight)
        if n_rows:
            self.distance.check_rows(X)
        return X


@dataclass(frozen=True)
class Reader:
    """Makes a block of a part.

    Attributes
    ----------
    checks : Checks
        What rows have to be like.
    split : Split
        Which rows are wanted.
    classes : array
        The labels, sorted.
    factors : array or None
        What the weights of each class are multiplied with; None: all weights are one.
    """

    checks: Checks
    split: Split
    classes: NDArray[Any]
    factors: Floats | None

    def __call__(self, part: Part) -> Block:
        """Return the wanted rows of positive weight."""
        X, y, weight = self.checks.rows(part)
        try:
            codes = encode(y, self.classes)
        except ValueError as error:
            raise ValueError(f"In {part.name}: {error}") from error
        if self.factors is not None:
            weight = self.factors[codes] if weight is None else self.factors[codes] * weight
        block, wanted = Block(X, codes, weight), self.split.wanted(part.index, len(y))
        if weight is not None and not weight.all():
            positive = weight > 0.0
            wanted = positive if wanted is None else wanted & positive
        return block if wanted is None else block.rows(np.flatnonzero(wanted))


def labels_of(y: Any) -> NDArray[Any]:
    """Return labels as an array; raise if one is missing, or if they are measurements."""
    labels: NDArray[Any] = column_or_1d(y)
    if labels.dtype.kind in "Of" and any(map(_is_missing, labels)):
        raise ValueError("y has a missing label; leave out rows without one.")
    if labels.dtype.kind == "O" and len({type(label) for label in labels}) == 1:
        labels = np.array(labels.tolist())
    if len(labels):
        with warnings.catch_warnings():  # few rows may well be all of different classes
            warnings.simplefilter("ignore", UserWarning)
            check_classification_targets(labels)
    return labels


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
