"""Sample margin: the exact distance of a sample to the decision boundary."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from .._arrays import Floats
from .._dask import row_by_row
from .._threads import one_blas_thread
from ..codebook import Codebook
from ..distances import Distance
from ..rule import LinearRule, as_rule
from .cells import Cells, describe_model, rows_of_last_step
from .certificates import linear_radius
from .margins import last_of

ROWS = 128
"""Rows that a thread takes at a time; always as many, so that all numbers of threads agree."""


@row_by_row
def sample_margin(model: Any, X: Any, *, n_jobs: int | None = None) -> Floats:
    """Return the distance of each row to the decision boundary.

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
    rule = as_rule(last_of(model))
    cells = None if rule.is_soft else Cells.of(rule)
    if cells is None:
        soft = ", with a soft decision over all prototypes," if rule.is_soft else ""
        raise ValueError(
            f"The boundaries of {describe_model(last_of(model))}{soft} are not known to be flat, "
            "so that the distance to them has no exact form. certified_radius may give a lower "
            "bound, and the distance of a counterfactual an upper one."
        )
    rows = rows_of_last_step(rule, model, X, "sample_margin")

    def lengths(part: Any, codebook: Codebook, distance: Distance) -> tuple[Floats, Floats]:
        D = distance.pairwise(part, codebook)
        return cells.shortest_ways(D, codebook.labels[D.argmin(axis=1)]).length, D

    measure = linear_radius if isinstance(rule, LinearRule) else lengths
    starts = range(0, rows.shape[0], ROWS)
    with one_blas_thread():
        margins = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(rule.by_chunks)(rows[start : start + ROWS], measure) for start in starts
        )
    return np.concatenate(margins)
