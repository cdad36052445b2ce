"""What a distance is: ``pair`` and ``gradient`` for one sample and one prototype.

Everything else follows from these two by the loops below. What only some distances have is in the
mixins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from .._arrays import Floats, Indices, as_floats, column_ranges, has_missing
from ..codebook import Codebook, Constraint, Gradients
from ..native import (
    ADDRESS,
    GRADIENT,
    PAIR,
    ROW,
    Native,
    indices,
    indices_matrix,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector_out,
)
from .constraints import Free
from .mixins import BlockForm, FeatureTerms, Geometry, LowerBounded, Penalized

Method = TypeVar("Method", bound=Callable[..., Any])
Finder = Callable[[Any], tuple[Indices, Any]]
"""Returns the nearest prototype of each row, and a number that is finite if the row is."""

KEPT = {"d": 1e-6, "f": 1e-3}
"""Share of itself that the smallest distance of a row may be wrong by, in either precision."""

TOLERATED = {char: float(np.finfo(char).eps) / share for char, share in KEPT.items()}
"""Share of its terms below which a sum has too few digits left."""

pair_at = pointer(PAIR)
gradient_at = pointer(GRADIENT)
row_at = pointer(ROW)


@native(ROW)
def row_of_pairs(x, W, theta, group, pair, out):
    """Fill one row of the distance matrix by ``pair``."""
    distance = pair_at(pair)
    for k in range(W.shape[0]):
        out[k] = distance(x, W[k], theta[group[k]])


def has_all_digits(D: Any, norms: Any, codebook: Codebook, stretch: float = 1.0) -> bool:
    """Whether no row has lost digits, by a quick look that is enough for most blocks.

    ``stretch`` is how many times as long the centre can be under a linear map.
    """
    if not len(D):
        return True
    length = math.sqrt(max(norms.max(), 0.0)) + stretch * math.sqrt(
        float(codebook.center @ codebook.center)
    )
    return bool(D.min() >= 4.0 * TOLERATED[D.dtype.char] * length * length)


class Distance(BaseEstimator):
    """How far a sample is from a prototype. Derive from it to make your own.

    A subclass has two functions of one sample ``x``, one prototype ``w`` and the parameter row
    ``theta`` that this prototype uses: ``pair(x, w, theta) -> distance``, decorated with
    ``@native(PAIR)``, and ``gradient(x, w, theta, gw, gtheta)``, decorated with
    ``@native(GRADIENT)``, which writes the derivatives by w and by theta into two arrays that
    arrive as zeros. ``row`` and the methods may be overridden by faster forms of the same.

    The mixins ``BlockForm``, ``Geometry`` and ``FeatureTerms``, and the other forms, belong to one
    formula: a class that redefines the ``pair`` of a parent with any of them raises ``TypeError``.

    Attributes
    ----------
    squared : {True, False, None}
        Whether the distance is the square of a metric, a metric, or neither (a divergence).
    smooth : bool
        Whether the gradient is continuous.
    adaptive : bool
        Whether ``theta`` is learned along with the prototypes.
    constraint : Free, UnitNorm or Orthonormal
        What the rows of ``theta`` have to satisfy.
    shows_nonfinite : bool
        Whether the distance of a row with NaN or infinity is never finite.
    steep : bool
        Whether the gradient of a squared distance can exceed ``2 (w - x)``; sequential steps are
        then shortened so that they do not pass the sample.
    scales_features : bool
        Whether it gives every feature a scale of its own, learned or taken from the data, so that
        the units of features matter little.
    moving : bool
        Whether ``theta`` belongs to where the prototypes are: held fixed while they move, and made
        anew by ``refresh`` between rounds.
    positive_only : bool
        Whether the rows must not be negative.
    blockwise : bool
        Whether the forms for whole blocks are much faster than one sample at a time.
    batch_size : int or None
        Rows of a mini-batch where the distance is learned best in epochs, however few the rows;
        None: it has no wish.
    sparse_form, missing_form : subclass of Distance, or None
        The same distance for CSR matrices, and for rows with missing values; None if it takes
        none of these.
    takes_only_sparse : bool
        Whether this is the form for CSR matrices.
    """

    squared: ClassVar[bool | None] = None
    smooth: bool = True
    adaptive: bool = False
    constraint: Constraint = Free()
    shows_nonfinite: ClassVar[bool] = False
    steep: ClassVar[bool] = False
    scales_features: ClassVar[bool] = False
    moving: bool = False
    positive_only: ClassVar[bool] = False
    blockwise: ClassVar[bool] = False
    batch_size: ClassVar[int | None] = None
    sparse_form: ClassVar[type[Distance] | None] = None
    missing_form: ClassVar[type[Distance] | None] = None
    takes_only_sparse: ClassVar[bool] = False
    pair: ClassVar[Native]
    row: ClassVar[Native] = row_of_pairs
    gradient: ClassVar[Native]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_mixins(cls)
        if "nearest" in vars(cls) and "finder" not in vars(cls):
            cls.finder = Distance.finder  # type: ignore[method-assign]
        if "pair" in vars(cls):
            check_formula(cls)

    def suited_to(self, X: Any) -> Distance:
        """Return the form of this distance for the rows, or raise if it does not take them."""
        if issparse(X):
            form, kind = self.sparse_form, "sparse matrices; give X.toarray()"
        elif has_missing(X):
            form, kind = self.missing_form, "missing values; impute them first"
        else:
            return self
        if form is None:
            raise ValueError(f"{type(self).__name__} does not take {kind}.")
        return form(**self.get_params())

    def check(self) -> None:
        """Raise if a setting is out of range."""

    def check_rows(self, X: Any) -> None:
        """Raise if the rows are not such as the distance takes."""
        if self.positive_only and X.shape[0] and np.nanmin(column_ranges(X)[0]) < 0.0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: it compares rows of "
                "non-negative numbers, such as counts, spectra or histograms."
            )

    def groups(self, labels: Indices) -> Indices:
        """Return the row of ``theta`` that each prototype uses; one row for all by default."""
        return np.zeros(len(labels), dtype=np.intp)

    def initial(self, X: Floats, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return the ``theta`` to start from, an array (n_groups, p); nothing by default."""
        return np.zeros((n_groups, 0))

    def start(
        self, X: Any, y: Indices, weight: Floats, labels: Indices, stream: bool = False
    ) -> Floats:
        """Return the ``theta`` to start from where classes of prototypes, or a stream, matter.

        The first rows of a stream may not show what later ones do.
        """
        return self.initial(X, y, weight, int(self.groups(labels).max()) + 1)

    def refresh(self, codebook: Codebook) -> Floats:
        """Return the ``theta`` that belongs to where the prototypes are now."""
        return codebook.metric

    def stride(self, codebook: Codebook) -> float:
        """Return how many times half the gradient goes, roughly, from a prototype to the sample.

        One for squared Euclidean distance; the inverse of a typical curvature for others.
        """
        return 1.0

    def length(self, scale: float, codebook: Codebook) -> float:
        """Return the length, in the units of the data, at which a distance is about ``scale``."""
        return scale if self.squared is False else math.sqrt(scale * self.stride(codebook))

    def effort(self, codebook: Codebook) -> float:
        """Return how many multiplications a block form makes for each number of a sample.

        It also holds so many numbers for a row at a time.
        """
        return float(len(codebook.labels))

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Any:
        """Return the distances of all rows to all prototypes, an array (n, K)."""
        return distances_by_row(self, X, codebook.prototypes, codebook.metric, codebook.group)

    def nearest(self, X: Any, codebook: Codebook) -> tuple[Indices, Any]:
        """Return the nearest prototype of each row, and a number that is finite if the row is."""
        return least_of_rows(self.pairwise(X, codebook))

    def finder(self, codebook: Codebook, dtype: Any, n_rows: int) -> Finder:
        """Return what ``nearest`` is for parts of ``n_rows`` rows of a type each.

        What all parts need of the codebook is computed here, once.
        """
        return lambda X: self.nearest(X, codebook)

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add to the gradients, given dL/dD at two prototypes of each row."""
        W, theta, group = codebook.prototypes, codebook.metric, codebook.group
        memory = np.empty(W.shape[1]), np.empty(theta.shape[1])
        named = self.gradient.address, index, value
        pull_entries(X, W, theta, group, *named, out.prototypes, out.metric, *memory)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, given the whole matrix dL/dD."""
        every = np.broadcast_to(np.arange(G.shape[1]), G.shape)
        self.pull_winners(X, codebook, np.ascontiguousarray(every), G, out, kept)


def check_mixins(cls: type[Distance]) -> None:
    """Raise if a class has a method of a mixin from which it does not derive: nobody would ask."""
    for mixin in (BlockForm, Geometry, FeatureTerms, Penalized, LowerBounded):
        stated = [name for name in vars(mixin) if name in vars(cls) and name[0] != "_"]
        stated = [name for name in stated if name not in vars(Distance)]
        if stated and not issubclass(cls, mixin):
            raise TypeError(
                f"{cls.__name__} has {stated[0]}, which belongs to the mixin {mixin.__name__}; "
                f"write class {cls.__name__}({mixin.__name__}, Distance)."
            )


def check_formula(cls: type[Distance]) -> None:
    """Raise if a class with a formula of its own inherits what belongs to that of a parent."""
    for parent in cls.__mro__[1:]:
        if not hasattr(parent, "pair"):
            continue
        mixins = (BlockForm, Geometry, FeatureTerms)
        inherited = [mixin.__name__ for mixin in mixins if issubclass(parent, mixin)]
        inherited += [
            form
            for form in ("sparse_form", "missing_form")
            if getattr(parent, form, None) is not None and form not in vars(cls)
        ]
        if inherited:
            raise TypeError(
                f"{cls.__name__} redefines pair and inherits {', '.join(inherited)} from "
                f"{parent.__name__}, written for the formula of {parent.__name__}; derive "
                f"{cls.__name__} from Distance, and state its own."
            )


def starts_from(source: str) -> Callable[[Method], Method]:
    """Return a decorator that states which data ``initial`` or ``start`` needs.

    Where there are too many rows, the method receives a few that have the same such statistics.
    A method without the decorator receives rows themselves, also where it overrides one with it.

    Parameters
    ----------
    source : {"rows", "covariances", "means", "ranges"}
        The rows themselves; the weights, means and covariances of the classes; their weights and
        means; or the ranges of the columns.
    """

    def mark(method: Method) -> Method:
        method.starts_from = source  # type: ignore[attr-defined]
        return method

    return mark


def start_source(distance: Distance) -> str:
    """Return which data the start of ``theta`` needs: one of those of :func:`starts_from`."""
    kind = type(distance)
    methods = {kind.initial, kind.start} - {Distance.start}
    sources = {getattr(method, "starts_from", "rows") for method in methods}
    return sources.pop() if len(sources) == 1 else "rows"


def least_of_rows(D: Any) -> tuple[Indices, Any]:
    """Return the place of the least entry of each row, and the entry."""
    place = D.argmin(axis=1)
    return place, np.take_along_axis(D, place[:, None], axis=1)[:, 0]


def distances_by_row(
    distance: Distance, X: Any, W: Floats, metric: Floats, group: Indices
) -> Floats:
    """Return all distances by ``row``, without products."""
    D = np.empty((len(X), len(W)))
    all_rows(as_floats(X), W, metric, group, distance.row.address, distance.pair.address, D)
    return D


@native(types.void(matrix, matrix, matrix, indices, ADDRESS, ADDRESS, matrix_out))
def all_rows(X, W, theta, group, row, pair, D):
    """Fill a distance matrix row by row."""
    fill = row_at(row)
    for i in range(X.shape[0]):
        fill(X[i], W, theta, group, pair, D[i])


@native(
    types.void(
        *(matrix, matrix, matrix, indices, ADDRESS, indices_matrix, matrix),
        *(matrix_out, matrix_out, vector_out, vector_out),
    )
)
def pull_entries(X, W, theta, group, gradient, index, value, gW, gtheta, by_w, by_theta):
    """Accumulate ``value * gradient`` over the named entries of the distance matrix."""
    derive = gradient_at(gradient)
    for i in range(X.shape[0]):
        for j in range(index.shape[1]):
            k, g = index[i, j], value[i, j]
            if g != 0.0:
                by_w[:] = 0.0
                by_theta[:] = 0.0
                derive(X[i], W[k], theta[group[k]], by_w, by_theta)
                for f in range(by_w.size):
                    gW[k, f] += g * by_w[f]
                for f in range(by_theta.size):
                    gtheta[group[k], f] += g * by_theta[f]
