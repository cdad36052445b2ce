"""Tangent distance: the squared distance of x to the affine subspace ``w + span(T)``.

With the rows of T orthonormal and ``e = x - w`` it is ``|e - T^T T e|^2 = |e|^2 - |T e|^2``: what
is left of a difference when its part along the tangents of the prototype costs nothing. The
tangents are those of the picture that the prototype is, or are learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats, Indices, class_means, rows_at_a_time
from .._validation import check_flag, check_integer, check_number, integer_in
from ..codebook import Codebook, Constraint, Gradients
from ..native import GRADIENT, PAIR, native
from .axes import complete_axes, principal_axes
from .constraints import Free, Orthonormal
from .distance import Distance, starts_from
from .mixins import BlockForm, FeatureTerms, Geometry
from .sqeuclidean import SquaredEuclidean
from .tangent_space import FORMULAS, across, by_prototype, by_tangents, image_tangents, tangents_of

PLAIN = SquaredEuclidean()
"""The distance without tangents."""


class Tangent(BlockForm, Geometry, FeatureTerms, Distance):
    """``|x - w|^2`` less its part along the tangents of w: small changes of a kind cost nothing.

    Each prototype has tangents of its own. For pictures they are the changes that small shifts,
    turns and the like make, and follow the prototype as it moves: they are held fixed during one
    pass of a stochastic solver, or one minimisation of several by L-BFGS, and then made anew.
    For any data they can be learned instead, along with the prototypes.

    Parameters
    ----------
    image_shape : tuple (height, width), default=None
        Shape of the picture whose pixels, row by row, are the features. Needed unless the tangents
        are learned; not used if they are.
    tangents : "all" or tuple of str, default="all"
        What may happen to a picture at no cost: any of ``"horizontal"`` and ``"vertical"`` (a
        shift), ``"rotation"``, ``"scaling"``, ``"stretch"`` (wider and lower), ``"shear"``
        (stretched along the diagonal), ``"thickness"`` (of the strokes). Not used if the tangents
        are learned.
    smoothing : float, default=0.5
        Standard deviation, in pixels, of the Gaussian filter before slopes are taken; 0 is none.
        Not used if the tangents are learned.
    learned : bool, default=False
        Whether the tangents are learned. They begin with the directions in which the rows of the
        class vary most.
    n_tangents : int, default=7
        Number of learned tangents of each prototype, fewer than there are features.

    Notes
    -----
    Tangents are straight: a long way along them leads to pictures that no shift or turn makes, and
    that are just as near.

    In a stream (``partial_fit``) learned tangents begin with the rows of the first part; it should
    have clearly more rows of each class than there are tangents.

    References
    ----------
    Simard, LeCun, Denker and Victorri (1998), *Transformation invariance in pattern recognition:
    tangent distance and tangent propagation*. Crammer, Gilad-Bachrach, Navot and Tishby (2002),
    *Margin analysis of the LVQ algorithm*, section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import Tangent
    >>> x, w, tangent = np.array([1.0, 2.0]), np.zeros(2), np.array([0.6, 0.8])
    >>> round(Tangent.pair(x, w, tangent), 2)  # 5 less (0.6 + 1.6)^2
    0.16
    >>> from sklearn.datasets import load_digits
    >>> from protolearn import PrototypeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> distance = Tangent(image_shape=(8, 8))
    >>> model = PrototypeClassifier(distance=distance).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.93
    """

    squared = True
    shows_nonfinite = True
    blockwise = True

    def __init__(
        self,
        image_shape: tuple[int, int] | None = None,
        tangents: str | tuple[str, ...] = "all",
        smoothing: float = 0.5,
        learned: bool = False,
        n_tangents: int = 7,
    ):
        self.image_shape = image_shape
        self.tangents = tangents
        self.smoothing = smoothing
        self.learned = learned
        self.n_tangents = n_tangents

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether the tangents are learned."""
        return bool(self.learned)

    @property
    def moving(self) -> bool:  # type: ignore[override]
        """Whether the tangents follow from where the prototypes are."""
        return not self.learned

    @property
    def constraint(self) -> Constraint:  # type: ignore[override]
        """What learned tangents have to satisfy."""
        return Orthonormal(self.n_tangents) if self.learned else Free()

    def check(self) -> None:
        """Raise if a setting is out of range."""
        if check_flag(self, "learned"):
            check_integer(self, "n_tangents", low=1)
            return
        check_number(self, "smoothing", low=0.0)
        shape = self.image_shape
        if shape is None:
            raise ValueError(
                "Tangent needs image_shape=(height, width) of the pictures that the rows are; for "
                "other data take Tangent(learned=True)."
            )
        if not isinstance(shape, (tuple, list)) or len(shape) != 2:
            raise ValueError(f"image_shape={shape!r} of Tangent must be a tuple (height, width).")
        for side in shape:
            integer_in(side, f"image_shape={shape!r} of Tangent: {{value!r}}", 2)
        self._check_names()

    def _check_names(self) -> None:
        """Raise if ``tangents`` is not such as it may be."""
        names = self.tangents
        if isinstance(names, str) and names == "all":
            return
        known = isinstance(names, (tuple, list)) and len(names) > 0
        if not known or not all(name in tuple(FORMULAS) for name in names):
            raise ValueError(
                f"tangents={names!r} of Tangent must be 'all' or a tuple of names out of "
                f"{', '.join(map(repr, FORMULAS))}."
            )
        if len(set(names)) < len(names):
            raise ValueError(f"tangents={names!r} of Tangent names one of them twice.")

    def check_rows(self, X: Any) -> None:
        """Raise if the rows have not the size of the pictures, or are too short."""
        d, count = X.shape[1], len(self._names())
        if self.image_shape is not None and not self.learned:
            height, width = self.image_shape
            if height * width != d:
                raise ValueError(
                    f"image_shape={self.image_shape!r} of Tangent needs {height * width} features, "
                    f"but X has n_features={d}."
                )
        if count >= d:
            given = f"n_tangents={count}" if self.learned else f"{count} tangents"
            raise ValueError(
                f"{given} of Tangent leave nothing to compare in rows of n_features={d}; there "
                "must be fewer tangents than features."
            )

    def _names(self) -> tuple[str, ...]:
        """Return a name for each tangent."""
        if self.learned:
            return tuple(f"learned {j}" for j in range(self.n_tangents))
        return tuple(FORMULAS) if isinstance(self.tangents, str) else tuple(self.tangents)

    def groups(self, labels: Indices) -> Indices:
        """Return a row for each prototype: it has tangents of its own."""
        return np.arange(len(labels), dtype=np.intp)

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        d, total = x.size, 0.0
        for j in range(d):
            e = x[j] - w[j]
            total += e * e
        for start in range(0, theta.size, d):
            tangent = theta[start : start + d]
            along = 0.0
            for j in range(d):
                along += tangent[j] * (x[j] - w[j])
            total -= along * along
        return max(total, 0.0)

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivatives by the prototype and by its tangents."""
        d = x.size
        for j in range(d):
            gw[j] = 2.0 * (w[j] - x[j])
        for start in range(0, theta.size, d):
            tangent, out = theta[start : start + d], gtheta[start : start + d]
            along = 0.0
            for j in range(d):
                along += tangent[j] * (x[j] - w[j])
            for j in range(d):
                gw[j] += 2.0 * along * tangent[j]
                out[j] = -2.0 * along * (x[j] - w[j])

    @starts_from("covariances")
    def initial(self, X: Any, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return the directions of largest variance within the classes; zeros for pictures.

        Where rows vary in fewer directions the other tangents are zero, and stay it.
        """
        self.check_rows(X)
        start = np.zeros((len(self._names()), X.shape[1]))
        if self.learned:
            offset = X - class_means(X, y, weight, int(y.max()) + 1)[y]
            axes = principal_axes(offset, weight, len(start))
            start[: len(axes)] = axes
        return np.tile(start.ravel(), (n_groups, 1))

    @starts_from("covariances")
    def start(
        self, X: Any, y: Indices, weight: Floats, labels: Indices, stream: bool = False
    ) -> Floats:
        """Return for each prototype the directions in which the rows of its class vary most.

        A class that varies in too few has those of all classes for the rest, and in a stream,
        where later rows may vary in more, directions at random.
        """
        theta = self.initial(X, y, weight, len(labels))
        if not self.learned:
            return theta
        t, d = len(self._names()), X.shape[1]
        pooled = theta[0].reshape(t, d).copy()
        for code in np.unique(labels[np.isin(labels, y)]):
            rows = y == code
            both = np.vstack([principal_axes(X[rows], weight[rows], t), pooled])
            found = Orthonormal(len(both)).apply(both.reshape(1, -1)).reshape(-1, d)
            found = found[found.any(axis=1)][:t]
            theta[labels == code, : found.size] = found.ravel()
        if stream:  # zeros would stay zeros
            rows = theta.reshape(-1, t, d)
            theta = np.stack([complete_axes(T[T.any(axis=1)], t).ravel() for T in rows])
        return theta

    def refresh(self, codebook: Codebook) -> Floats:
        """Return the orthonormal tangents of the pictures that the prototypes are now."""
        if self.learned:
            return codebook.metric
        assert self.image_shape is not None
        pictures, names = codebook.prototypes.reshape(-1, *self.image_shape), self._names()
        found = image_tangents(pictures, names, float(self.smoothing))
        return Orthonormal(len(names)).apply(found.reshape(len(pictures), -1))

    def effort(self, codebook: Codebook) -> float:
        """Return the prototypes and their tangents."""
        return float(len(codebook.labels) * (1 + len(self._names())))

    def prepare(self, X: Any, codebook: Codebook) -> Floats:
        """Return the squared distance of each row to the centre."""
        return PLAIN.prepare(X, codebook)

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, None]:
        """Return all distances, by two products, in the precision of X."""
        D, _ = PLAIN.forward(X, codebook, prepared)
        T, center = tangents_of(codebook), codebook.center.astype(X.dtype, copy=False)
        K, t, d = T.shape
        at_prototype = np.einsum("ktd,kd->tk", T, codebook.prototypes - codebook.center)
        at_prototype = at_prototype.astype(X.dtype, copy=False)
        stacked = T.transpose(1, 0, 2).reshape(t * K, d).astype(X.dtype, copy=False)
        size = rows_at_a_time(d + t * K, X.dtype.itemsize)
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            along = ((X[rows] - center) @ stacked.T).reshape(-1, t, K)
            along -= at_prototype
            D[rows] -= np.einsum("itk,itk->ik", along, along)
        return np.maximum(D, 0.0, out=D), None

    def steepness(self, codebook: Codebook) -> Floats:
        """Return ones: what is left of a difference is not longer than the difference."""
        return np.ones(len(codebook.prototypes))

    def rounding(self, X: Any, codebook: Codebook, D: Floats, moved: Floats) -> Floats:
        """Return how far computed distances can be from exact ones, in units of roundoff."""
        # The squares of the tangents sum to their number; rounding leaves them orthonormal.
        return (1 + len(self._names())) * PLAIN.rounding(X, codebook, D, moved)

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return ``e_j (e - T^T T e)_j``, e the difference."""
        difference: Floats = np.asarray(X - codebook.prototypes[prototype])
        T, terms = tangents_of(codebook), np.empty_like(difference)
        for k in np.unique(prototype):
            rows = prototype == k
            e = difference[rows]
            terms[rows] = e * (e - (e @ T[k].T) @ T[k])
        return terms

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
        plain = Gradients(np.zeros_like(codebook.prototypes), out.metric)
        PLAIN.pull_winners(X, codebook, index, value, plain)
        out.prototypes[...] += across(plain.prototypes, codebook)
        if self.adaptive:
            for k, rows, g in by_prototype(index, value):
                out.metric[codebook.group[k]] += by_tangents(X[rows], codebook, k, g)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, given the whole matrix dL/dD."""
        plain = Gradients(np.zeros_like(codebook.prototypes), out.metric)
        PLAIN.pull_rows(X, codebook, G, plain)
        out.prototypes[...] += across(plain.prototypes, codebook)
        if self.adaptive:
            for k in range(G.shape[1]):
                out.metric[codebook.group[k]] += by_tangents(X, codebook, k, G[:, k])
