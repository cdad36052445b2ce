"""Certified radius: no smaller change of a sample gives it another class, for certain.

The nearest rival v overtakes an own prototype j only beyond the plane between them, if that is
flat; otherwise only after both distances together have changed by their difference, which they
cannot do faster than a metric allows. Any own prototype that is not overtaken keeps the class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats
from .._lazy import row_by_row
from ..codebook import Codebook
from ..distances import Distance, Geometry
from ..native import indices, matrix, native, types, vector_out
from .cells import Cells, complete_rows, decides_softly, leading_class, named
from .margins import last_step
from .planes import LinearCells, last_with_cells
from .projection import PARALLEL
from .soft_certificates import soft_radius


@row_by_row
def certified_radius(model: Any, X: Any) -> Floats:
    """Give a radius around each row within which the prediction cannot change.

    A proved lower bound of the distance to the decision boundary, in closed form. It is exact for
    one prototype a class and flat boundaries.

    Parameters
    ----------
    model : nearest-prototype or linear classifier, or Pipeline that ends in one
        A fitted model whose distance is a metric, or the square of one: squared Euclidean,
        relevance, matrix (also local), Mahalanobis, Minkowski, tangent, kernel "rbf"; or any
        classifier that takes the largest of ``X @ coef_.T + intercept_``, also scikit-learn's. In
        a pipeline the radius is measured in the space of the last step.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The rows. A Dask array or frame is answered lazily, by a Dask array.

    Returns
    -------
    radius : array of shape (n_samples,)
        Euclidean lengths, zero or more; infinite if no row has another class.

    See Also
    --------
    sample_margin : The exact distance, where boundaries are flat.
    counterfactual : The nearest row of another class.

    Notes
    -----
    With u the prototypes, or what a matrix metric ``Lambda`` makes of them, it is ``max_j min_v
    (D_v - D_j) / (2 |u_v - u_j|)`` over own prototypes j and rivals v. With local metrics, and
    distances that are not squared Euclidean after a linear map, it is ``max_j min_v
    (sqrt D_v - sqrt D_j) / (L_v + L_j)``, L the largest singular value of the map of a prototype.

    For a soft decision (:class:`RSLVQ`) the own score is bounded below by its tangent at the row,
    and the scores of rivals above by what each of their prototypes can gain.

    For a linear classifier it is ``min_k (s_c - s_k) / |w_c - w_k|`` over the other classes k, s
    the scores and w the rows of ``coef_``; for two classes ``|w.x + b| / |w|``: the sample margin.

    Examples
    --------
    >>> from protolearn import GLVQ, certified_radius
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> certified_radius(model, [[0.5]]).round(2)
    array([2.])
    """
    model, X = last_step(model, X, last_with_cells)
    if isinstance(model, LinearCells):
        return model._by_parts(complete_rows(model, X, "certified_radius"), model.radius)
    codebook = model._codebook()
    distance, directions, steepness = model._distance, None, None
    if isinstance(distance, Geometry):
        directions, steepness = distance.directions(codebook), distance.steepness(codebook)
    if directions is None and steepness is None:
        raise ValueError(
            f"{named(model)} has no certificate: its distance gives no bound on how fast it "
            "changes."
        )
    X = complete_rows(model, X, "certified_radius")
    if decides_softly(model):
        return model._by_parts(X, soft_radius(model, directions, steepness))
    cells = Cells.of(model)
    if cells is not None:
        apart = cells.within_their_span().apart
        return model._by_parts(X, hard_radius(2.0 * apart, root=False))
    assert steepness is not None
    pace = steepness + steepness[:, None]
    return model._by_parts(X, hard_radius(pace, root=model._distance.squared is True))


def hard_radius(pace: Floats, root: bool) -> Any:
    """Give the function of some rows that computes the radius of nearest-prototype decisions.

    Gaps between distances, or between their roots, close at the pace of a pair of prototypes.
    """
    # Prototypes in the same place never part: nothing is certain between them.
    moves = pace > PARALLEL * pace.max()
    inverse = np.divide(1.0, pace, out=np.zeros_like(pace), where=moves)

    def radius(rows: Any, codebook: Codebook, distance: Distance) -> tuple[Floats, Floats]:
        D = distance.pairwise(rows, codebook)
        own, out = leading_class(D, codebook.labels), np.empty(len(D))
        largest_of_smallest(np.sqrt(D) if root else D, inverse, codebook.labels, own, out)
        return out, D

    return radius


@native(types.void(matrix, matrix, indices, indices, vector_out))
def largest_of_smallest(D, inverse, labels, own, out):
    """Write ``max_j min_v (D_v - D_j) inverse_vj`` over own prototypes j and rivals v."""
    for i in range(D.shape[0]):
        row, best = D[i], 0.0
        for j in range(row.size):
            if labels[j] == own[i]:
                smallest, here = np.inf, inverse[j]
                for v in range(row.size):
                    if labels[v] != own[i]:
                        smallest = min(smallest, (row[v] - row[j]) * here[v])
                best = max(best, smallest)
        out[i] = best
