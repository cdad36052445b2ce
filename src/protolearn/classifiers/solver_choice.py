"""Which solver ``auto`` takes."""

from __future__ import annotations

from ..objective import Objective
from ..solvers import LBFGS, SGD, Adam, Solver
from .problem import Problem

BATCH_WORK = 200_000_000
"""Multiplications for all distances above which one sample after the other is learned from."""

BLOCK_WORK = 2_000_000_000
"""The same where the alternative is mini-batches."""

SPARSE_BATCH = 256
"""Sparse samples a step: the step itself goes through all features, and takes as long as many."""


def automatic_solver(objective: Objective, problem: Problem) -> Solver:
    """Choose the solver for some axes and an amount of data.

    L-BFGS finds the minimum where the cost is about as tame as that of a linear model: one
    prototype a class, and a loss that does not level off for margins that grow without bound.
    Otherwise there are many minima, and passes that learn from every sample come, in less time, to
    ones that are as good on held-out rows or better. Steps of mini-batches through sparse rows take
    long, so there L-BFGS has all costs that do not level off. Where rows are elsewhere it takes as
    few sums over them as it can.
    """
    distance, sparse = objective.distance, objective.distance.takes_only_sparse
    in_batches = sparse or distance.blockwise or problem.elsewhere
    if problem.stream:
        return (Adam if in_batches else SGD).for_stream()
    smooth = distance.smooth and objective.margin.smooth and objective.loss.smooth
    if smooth and (problem.elsewhere or is_tame(objective, problem)):
        return LBFGS()
    if sparse:
        return Adam(batch_size=SPARSE_BATCH)
    return Adam() if in_batches else SGD()


def is_tame(objective: Objective, problem: Problem) -> bool:
    """Tell whether the cost has few minima, and its sums over all rows do not take long."""
    distance = objective.distance
    levels_off = objective.loss.bounded and not objective.margin.bounded
    if distance.takes_only_sparse:
        return not levels_off
    small = problem.work <= (BLOCK_WORK if distance.blockwise else BATCH_WORK)
    return problem.n_prototypes <= problem.n_classes and not levels_off and small
