"""Solve many small linear support vector machines at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats, as_floats
from .._threads import in_slices
from .cholesky import solve_positive
from .dual_descent import solve_in_dual
from .problems import Hyperplanes, Problems
from .sparse_descent import solve_sparse


def solve(
    X: Floats,
    problems: Problems,
    C: Any,
    *,
    penalty: str = "l2",
    warm: Any = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Hyperplanes:
    """Find the hyperplane of each problem.

    With ``z = x - X[origin]`` and the sign y, the penalty "l2" minimizes
    ``1/2 |w|^2 + 1/2 b^2 + sum C max(0, 1 - y (w.z + b))``, and "l1"
    ``|w|_1 + |b| + sum C max(0, 1 - y (w.z + b))^2``.

    Parameters
    ----------
    X : array (n, d)
    problems : Problems
    C : float or array (total,)
        What an error costs; one for all, or one a row of a problem.
    penalty : {"l2", "l1"}
    warm : array (total,), pair of arrays (M, d) and (M,), or None
        Where to start: strengths for "l2", weights and offsets for "l1". The solution is the same.
    tol : float
        Largest duality gap, in parts of the cost.
    max_iter : int
        Sweeps over a problem at most.

    Returns
    -------
    Hyperplanes
        A problem that did not converge has the values that it reached.
    """
    X, total, M = as_floats(X), len(problems.rows), len(problems.origin)
    C = as_floats(np.broadcast_to(C, total))
    weights, offsets = np.zeros((M, X.shape[1])), np.zeros(M)
    strengths, gaps = np.zeros(total), np.zeros(M)
    results: tuple[Floats, ...]
    if penalty == "l2":
        native, results = solve_in_dual, (weights, offsets, strengths, gaps)
        if warm is not None:
            np.clip(warm, 0.0, C, out=strengths)
    elif penalty == "l1":
        native, results = solve_sparse, (weights, offsets, gaps)
        if warm is not None:
            weights[:], offsets[:] = warm
    else:
        raise ValueError(f"penalty={penalty!r} must be 'l2' or 'l1'.")
    run, given = native.compiled, (X, *problems, C)  # compiled once, before threads begin
    settings = tol, max_iter, solve_positive.address
    in_slices(M, lambda first, last: run(*given, first, last, *settings, *results))
    return Hyperplanes(weights, offsets, strengths, gaps <= tol)
