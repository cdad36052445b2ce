"""What held-out rows decide: when a fit ends, how many prototypes there are, probabilities."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats, Indices
from .._dask import is_dask
from ..blocks import Block, Blocks, MemoryBlocks, encode
from ..codebook import Codebook
from ..folds import row_groups, stratified_folds
from ..margins import class_margins
from ..objective import Cost, mean_cost
from ..prototypes import Growth
from ..solvers import Callback, Kohonen, State
from ..store import Record
from .probabilities import fit_factor, rows_by_weight
from .settings import RuleSettings, Settings

if TYPE_CHECKING:
    from .rows import TrainingRows

PATIENCE = 10
"""Iterations without progress on the held-out rows after which a fit ends."""

JUDGED = 0.3
"""Share of the samples that decide about the number of prototypes."""

FOLDS = 5
"""Folds of a calibration by refits."""

ENOUGH = 600
"""Fewer samples are learned from as often as these: held-out ones tell if it is by heart."""


def hold_out(
    block: Block, fraction: float, kept: Indices, rng: np.random.RandomState
) -> tuple[Block, Block]:
    """Return the rows in two parts, the same share of each class as far as whole rows allow.

    A class keeps at least ``kept`` rows to learn from, so with few rows none may be left in the
    second part.
    """
    rows = np.bincount(block.y, minlength=len(kept))
    spare = np.maximum(rows - kept, 0)
    counts = np.minimum((fraction * rows).astype(np.intp), spare)
    missing = min(round(fraction * len(block)), int(spare.sum())) - int(counts.sum())
    if missing > 0:  # one more where the share lost most by rounding
        lost = np.where(counts < spare, fraction * rows - counts, -np.inf)
        counts[np.argsort(-lost, kind="stable")[: min(missing, int((counts < spare).sum()))]] += 1
    held = np.zeros(len(block), dtype=bool)
    for code in np.flatnonzero(counts):
        held[rng.permutation(np.flatnonzero(block.y == code))[: counts[code]]] = True
    return block.some(np.flatnonzero(~held)), block.some(np.flatnonzero(held))


def check_one_array(X: Any) -> None:
    """Raise if rows come in parts, which cannot be split into folds."""
    if is_dask(X) or not (hasattr(X, "shape") or isinstance(X, (list, tuple))):
        raise ValueError(
            "calibrate='cv' learns on folds, and needs all rows in one array; set "
            "calibrate='train', which takes the margins of the training rows."
        )


def refit_factor(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
    """Return the factor of margins for probabilities, and their floor, by refits on five folds.

    ``model`` is fitted; the margins are those of the held-out rows of each fold. Equal rows stay
    in one fold.
    """
    y, decision = column_or_1d(y), model.rule_.decision
    weight = np.ones(len(y)) if sample_weight is None else column_or_1d(sample_weight)
    rows = np.flatnonzero(weight)
    y, weight = y[rows], weight[rows]
    codes = encode(y, model.classes_)
    X = model.rule_.read_rows(model, X)[rows]
    groups = row_groups(X)
    counts = groups.count_by_class(codes)[1]
    if counts.min() < 2:
        label = model.classes_.tolist()[counts.argmin()]
        raise ValueError(
            f"Class {label!r} has one row, which calibrate='cv' cannot hold out and learn from; "
            "set calibrate='train'."
        )
    n_folds = min(FOLDS, int(counts.min()))
    quiet = {"calibrate": None, "callback": None, "checkpoint": None, "verbose": 0}
    quiet["history"] = False
    part = clone(model).set_params(**quiet)
    margins = np.empty((len(rows), len(model.classes_)))
    for train, test in stratified_folds(codes, n_folds, groups, random_state=0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a part; those of the whole have been shown
            part.fit(X[train], y[train], None if sample_weight is None else weight[train])
        margins[test] = class_margins(part.rule_.scores(X[test]), decision.margin)
    return fit_factor(margins, codes, weight, rows_by_weight(len(rows), weight))


class EarlyStopping:
    """A callback that follows the cost of held-out rows, keeps the best codebook, calls the next.

    Progress is a fall by the share ``tol``; ``record`` calls each sum of costs, and may know its
    result.
    """

    def __init__(
        self, cost: Cost, held: Blocks, tol: float, callback: Callback | None, record: Record
    ):
        self.curve: list[float] = []
        self.best: Codebook | None = None
        self._cost, self._held, self._tol, self._record = cost, held, tol, record
        self._callback, self._waited = callback, 0
        self._least = self._reference = np.inf

    def __call__(self, state: State) -> bool:
        """Note the cost; return whether to stop."""

        def held_cost(prototypes: Floats) -> float:
            return mean_cost(self._cost, state.codebook, self._held)

        cost: float = self._record(held_cost, state.codebook.prototypes)
        self.curve.append(cost)
        if cost < self._least:
            self._least, self.best = cost, state.codebook.copy()
        progress = not np.isfinite(self._reference) or (
            cost < self._reference - self._tol * abs(self._reference)
        )
        self._waited = 0 if progress else self._waited + 1
        if progress:
            self._reference = cost
        stop = self._callback is not None and bool(self._callback(state))
        return stop or self._waited >= PATIENCE


def grow(
    settings: Settings, rows: TrainingRows, start: Codebook, rng: np.random.RandomState
) -> Codebook:
    """Return a start with as many prototypes of each class as held-out rows ask for."""
    sample, n_classes = rows.sample(rng), len(rows.classes)
    taught, judged = hold_out(sample, JUDGED, np.bincount(start.labels), rng)
    if not len(judged):
        return start
    if isinstance(settings, RuleSettings):  # split prototypes have to part, at whatever cost
        solver: Kohonen = clone(settings.solver).set_params(keep_best=False)
        settings = replace(settings, solver=solver)
    everything, blocks = MemoryBlocks(sample), MemoryBlocks(taught)
    n = len(taught)

    def train(start: Codebook) -> Codebook:
        problem = settings.problem(start, rows.form, everything, n_classes)
        solver = problem.solver
        most = max(map(solver.default_max_iter, (n, max(n, ENOUGH))))
        max_iter = settings.max_iter or most
        return solver.minimize(
            problem.cost, start, blocks, rng, max_iter=max_iter, tol=settings.tol
        ).codebook

    def tell(count: int, share: float) -> None:
        if settings.verbose:
            print(f"[{settings.name}] {count} prototypes, {100 * share:.1f} % held-out errors")

    return Growth(rows.form, train, taught, judged, rng, tell).grow(start)
