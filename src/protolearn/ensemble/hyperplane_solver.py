"""Solve many small linear support vector machines at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices, as_floats
from .._threads import in_slices
from ..native import FAST, native
from .coordinate_descent import EQUATIONS, ROUNDING, solve_in_dual, solve_in_primal


class Problems(NamedTuple):
    """Many small problems of two classes over the rows of one array X."""

    start: Indices  # (M + 1,): the rows of problem i are ``rows[start[i]:start[i + 1]]``
    rows: Indices  # (total,): places in X
    signs: Floats  # (total,): the class of each row within its problem, +1.0 or -1.0
    origin: Indices  # (M,): the row of X that the features of a problem are relative to


class Hyperplanes(NamedTuple):
    """The solutions of problems: ``f(x) = weights . (x - X[origin]) + offset``."""

    weights: Floats  # (M, d)
    offsets: Floats  # (M,): the values of f at the origins
    strengths: Floats  # (total,): dual variables of the l2 problems, from 0 to C; zeros for l1
    converged: NDArray[np.bool_]  # (M,): whether the tolerance was met


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
    """Return the hyperplane of each problem.

    With ``z = x - X[origin]`` and the sign y, the penalty "l2" minimizes
    ``1/2 |w|^2 + 1/2 b^2 + sum C max(0, 1 - y (w.z + b))``, and "l1"
    ``|w|_1 + |b| + sum C max(0, 1 - y (w.z + b))^2``. A problem that did not converge has the
    values that it reached.

    Parameters
    ----------
    C : float or array (total,)
        What an error costs; one for all, or one a row of a problem.
    warm : array (total,), pair of arrays (M, d) and (M,), or None
        Where to start: strengths for "l2", weights and offsets for "l1". The solution is the same.
    tol : float
        Largest duality gap, in parts of the cost.
    max_iter : int
        Sweeps over a problem at most.
    """
    X, total, M = as_floats(X), len(problems.rows), len(problems.origin)
    C = as_floats(np.broadcast_to(C, total))
    both, strengths, gaps = np.zeros((M, X.shape[1] + 1)), np.zeros(total), np.zeros(M)
    if penalty == "l2":
        method = solve_in_dual
        if warm is not None:
            np.clip(warm, 0.0, C, out=strengths)
    elif penalty == "l1":
        method = solve_in_primal
        if warm is not None:
            both[:, :-1], both[:, -1] = warm
    else:
        raise ValueError(f"penalty={penalty!r} must be 'l2' or 'l1'.")
    run, given = method.compiled, (X, *problems, C)  # compiled once, before threads begin
    settings, results = (tol, max_iter, solve_positive.address), (both, strengths, gaps)
    in_slices(M, lambda first, last: run(*given, first, last, *settings, *results))
    return Hyperplanes(as_floats(both[:, :-1]), as_floats(both[:, -1]), strengths, gaps <= tol)


@native(EQUATIONS)
def solve_positive(A, b, n):
    """Overwrite ``b[:n]`` by the solution x of ``A[:n, :n] x = b[:n]``, and return -1.

    A is symmetric and positive. If a row depends on those above it, ``b[:n]`` becomes a
    combination of rows that is zero instead, with -1 for this row, whose place is returned. The
    lower triangle of A is overwritten by its Cholesky factor, with the inverse of the diagonal; no
    more is read.
    """
    least = 1.0  # rounding grows by the inverse of what was left of the rows before
    for i in range(n):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total * A[j, j]
        square, rest = A[i, i], b[i]
        for k in range(i):
            square -= A[i, k] * A[i, k]
            rest -= A[i, k] * b[k]
        if least * square <= ROUNDING * A[i, i]:
            b[i:n] = 0.0
            b[i] = -1.0
            for k in range(i):
                b[k] = A[i, k]
            substitute(A, b, i)
            return i
        least = min(least, square / A[i, i])
        A[i, i] = 1.0 / square**0.5
        b[i] = rest * A[i, i]
    substitute(A, b, n)
    return -1


@numba.njit(**FAST)
def substitute(A, b, n):
    """Solve with the transposed factor."""
    for i in range(n - 1, -1, -1):
        b[i] *= A[i, i]
        for k in range(i):
            b[k] -= A[i, k] * b[i]
