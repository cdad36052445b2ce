"""Small systems of equations with a positive matrix, for native loops."""

from __future__ import annotations

import numba

from ..native import FAST, i8, matrix_out, native, vector_out

EQUATIONS = i8(matrix_out, vector_out, i8)
"""``solve(A, b, n)``: see :func:`solve_positive`."""

ROUNDING = 1e-14
"""What rounding may leave of a row that depends on others, in parts of its squared length."""


@native(EQUATIONS)
def solve_positive(A, b, n):
    """Overwrite ``b[:n]`` by the solution x of ``A[:n, :n] x = b[:n]``, and give -1.

    If a row depends on those above it, ``b[:n]`` becomes a combination of rows that is zero
    instead, with -1 for this row, whose place is given. The lower triangle of A is overwritten by
    its Cholesky factor, with the inverse of the diagonal; no more is read.
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
