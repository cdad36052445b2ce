"""Sample margin: the exact distance of a sample to the decision boundary."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from .._arrays import Floats
from .._lazy import row_by_row
from .._threads import one_blas_thread
from ..classifiers import NearestPrototypeClassifier
from ..codebook import Codebook
from ..distances import Distance
from .cells import Cells, complete_rows, decides_softly, leading_class, named
from .margins import last_step
from .planes import LinearCells, last_with_cells

ROWS = 128
"""Rows that a thread takes at a time; always as many, so that all numbers of threads agree."""


@row_by_row
def sample_margin(model: Any, X: Any, *, n_jobs: int | None = None) -> Floats:
    """Give the distance of each row to the decision boundary.

    The length of the smallest change that gives a row another class: exact, by the projection of
    the row on the cells of the rival prototypes. :func:`counterfactual` gives the changed row.

    Parameters
    ----------
    model : nearest-prototype or linear classifier, or Pipeline that ends in one
        A fitted model with flat boundaries: squared Euclidean, relevance, matrix or Mahalanobis
        distance, one metric for all prototypes, and a hard decision, or one prototype a class; or
        any classifier that takes the largest of ``X @ coef_.T + intercept_``, also scikit-learn's.
        In a pipeline the margin is measured in the space of the last step.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The rows. A Dask array or frame is answered lazily, by a Dask array.
    n_jobs : int, default=None
        Number of threads; of a Dask collection for each part.

    Returns
    -------
    margin : array of shape (n_samples,)
        Euclidean lengths; infinite if no row has another class.

    See Also
    --------
    certified_radius : A lower bound, faster and for more models.
    hypothesis_margin : How far the prototypes may move.

    Notes
    -----
    For each rival prototype the row is projected on the polyhedron where that prototype is nearer
    than all prototypes of the predicted class (Crammer et al., 2002, call the smallest distance
    the sample margin). Rivals behind a plane farther away than the best found are left out.

    Examples
    --------
    >>> from protolearn import GLVQ, sample_margin
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> sample_margin(model, [[0.5]]).round(2)
    array([2.])
    """
    model, X = last_step(model, X, last_with_cells)
    cells = Cells.of(model)
    if cells is None:
        raise ValueError(
            f"The boundaries of {curved(model)} are not known to be flat, so that the distance to "
            "them has no exact form. certified_radius may give a lower bound, and the distance of "
            "a counterfactual an upper one."
        )
    X, cells = complete_rows(model, X, "sample_margin"), cells.within_their_span()

    def lengths(rows: Any, codebook: Codebook, distance: Distance) -> tuple[Floats, Floats]:
        D = distance.pairwise(rows, codebook)
        return cells.shortest_ways(D, leading_class(D, codebook.labels)).length, D

    part = model.radius if isinstance(model, LinearCells) else lengths
    starts = range(0, X.shape[0], ROWS)
    with one_blas_thread():
        told = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(model._by_parts)(X[start : start + ROWS], part) for start in starts
        )
    return np.concatenate(told)


def curved(model: NearestPrototypeClassifier) -> str:
    """Name what may make the boundaries of a model curved."""
    soft = ", with a soft decision over all prototypes,"
    return named(model) + (soft if decides_softly(model) else "")
