"""Many small problems of two classes over the rows of one array, and what solves them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices


class Problems(NamedTuple):
    """Many small problems of two classes over the rows of one array X.

    Attributes
    ----------
    start : array (M + 1,)
        The rows of problem i are ``rows[start[i]:start[i + 1]]``.
    rows : array (total,)
        Places in X.
    signs : array (total,)
        The class of each row within its problem: +1.0 or -1.0.
    origin : array (M,)
        The row of X that the features of problem i are relative to.
    """

    start: Indices
    rows: Indices
    signs: Floats
    origin: Indices


class Hyperplanes(NamedTuple):
    """The solutions of problems: ``f(x) = weights . (x - X[origin]) + offset``.

    Attributes
    ----------
    weights : array (M, d)
    offsets : array (M,)
        The values of f at the origins.
    strengths : array (total,)
        The dual variables of the l2 problems, from 0 to C; zeros for l1.
    converged : array (M,)
        Whether the tolerance was met.
    """

    weights: Floats
    offsets: Floats
    strengths: Floats
    converged: NDArray[np.bool_]
