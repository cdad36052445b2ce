"""The smallest changes where boundaries are flat: a mixed-integer linear program for each row.

Numbers move on the grid of their column, categories jump. The cell of a rival prototype v is where
``A y + c <= 0``, with y the change in the user's units (see ``projection.py``); the cost of a
change is the sum of the sizes of the columns, in standard deviations or jumps. Both are linear in
how many steps of its grid a number takes and in which category is jumped to.

One condition (two prototypes, or two classes of a linear model) is a knapsack to be filled at the
least cost, which :func:`fill_knapsack` solves by branch and bound. More conditions go to HiGHS.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._arrays import Floats, Indices, as_floats
from ..native import f8, native, types, vector, vector_out
from ..tables import CategoryColumn
from .limits import Limits
from .model_view import ModelView

INSETS = 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3
"""How far to go beyond the boundary, in standard deviations of the column that counts most."""

OPTIMAL = 0
MOST_NODES = 200_000.0
"""Of the search of a knapsack; HiGHS takes over beyond."""

LONGEST = 5.0
"""Seconds for one program; what HiGHS has found until then is not proved."""

FULL = 1e-11
"""What may lack in a knapsack, in units of cost: far less than an inset."""

TIE = 1e-9
"""A share of the cost by which a proposal must be better than another rival's to be looked for."""


class Found(NamedTuple):
    """The changed row, its cost, the columns that change, and whether nothing is better."""

    point: Floats
    cost: float
    changed: frozenset[int]
    is_optimal: bool


@dataclass
class Moves:
    """The variables of the program of one row: how its columns may change."""

    column: list[int] = field(default_factory=list)
    effect: list[Floats] = field(default_factory=list)  # on the plain row, for a one
    cost: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)  # the largest value; all are integers
    opens: list[int] = field(default_factory=list)  # the variable that must be one, -1 if none
    required: list[int] = field(default_factory=list)  # columns that have to change

    def add(self, j: int, effect: Floats, cost: float, most: float = 1.0, opens: int = -1) -> None:
        """Add a variable."""
        self.column.append(j)
        self.effect.append(effect)
        self.cost.append(cost)
        self.most.append(most)
        self.opens.append(opens)


def list_moves(view: ModelView, limits: Limits, row: Floats, charged: bool) -> Moves:
    """Return how the columns of a row may change; ``charged``: each change has a variable."""
    moves, width = Moves(), len(row)
    unit = view.encoder.units_.scale_
    for j in np.flatnonzero(limits.movable).tolist():
        column, places = view.columns[j], view.places[j]
        if isinstance(column, CategoryColumn):
            own = column.entries - row[places]
            apart = np.linalg.norm(own / unit[places], axis=1)
            if limits.strict[j] and not (apart[limits.allowed[j]] == 0.0).any():
                moves.required.append(j)
            for code in limits.allowed[j].tolist():
                if apart[code] > 0.0:
                    effect = np.zeros(width)
                    effect[places] = own[code]
                    moves.add(j, effect, float(apart[code]))
            continue
        x, place, per = row[places.start], places.start, column.per_unit
        low, high = np.ceil(limits.low[j] * per - 1e-9), np.floor(limits.high[j] * per + 1e-9)
        if limits.strict[j] and not limits.low[j] <= x <= limits.high[j]:
            moves.required.append(j)
        apart_from_steps = charged or j in moves.required
        for sign, is_free in ((1.0, limits.up[j]), (-1.0, limits.down[j])):
            here = x * per
            first = np.floor(here + 1e-9) + 1.0 if sign > 0 else np.ceil(here - 1e-9) - 1.0
            first = max(first, low) if sign > 0 else min(first, high)
            more = high - first if sign > 0 else first - low
            if not is_free or more < 0.0:
                continue
            effect = np.zeros(width)
            effect[place] = sign / per
            cost, leap = 1.0 / (per * unit[place]), abs(float(column.on_grid(first)) - x)
            if not apart_from_steps and abs(leap * per - 1.0) < 1e-6:
                moves.add(j, effect, cost, more + 1.0)
                continue
            moves.add(j, leap * per * effect, leap * per * cost)
            if more:
                moves.add(j, effect, cost, more, len(moves.column) - 1)
    return moves


@native(types.f8(vector, vector, vector, vector, f8, f8, f8, vector_out), makes_arrays=True)
def fill_knapsack(ratio, leap, step, more, need, most, nodes, out):
    """Write the cheapest amounts that fill a knapsack into ``out``, and return their cost.

    An amount is zero or ``leap + k step``, k = 0 ... ``more``; it costs itself and fills ``ratio``
    times as much. Ratios fall. At most ``most`` amounts are not zero. Depth first, from large
    amounts to small ones; the bound is the filling by parts of amounts, which costs the more the
    less is taken of an earlier one. Infinity if there is no filling, NaN after too many nodes.
    """
    n = ratio.size
    if n == 0:
        return 0.0 if need <= FULL else np.inf
    best, t = np.inf, 0
    left, cost, used = np.empty(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    k, amount, gain = np.empty(n), np.zeros(n), np.empty(n)
    is_taken = np.empty(n, dtype=np.bool_)
    for j in range(n):
        gain[j] = ratio[j] * (leap[j] + more[j] * step[j])
    left[0], is_new = need, True
    while t >= 0:
        if is_new:
            want, k[t], is_new = left[t] / ratio[t], 0.0, False
            if want > leap[t] and step[t] > 0.0:
                k[t] = min(more[t], np.ceil((want - leap[t]) / step[t] - 1e-9))
        if k[t] < -1.0:
            t -= 1
            if t >= 0:
                k[t] -= 1.0
            continue
        nodes -= 1.0
        if nodes < 0.0:
            return np.nan
        amount[t] = 0.0 if k[t] < 0.0 else leap[t] + k[t] * step[t]
        left[t + 1], cost[t + 1] = left[t] - ratio[t] * amount[t], cost[t] + amount[t]
        used[t + 1] = used[t] + (1.0 if k[t] >= 0.0 else 0.0)
        if used[t + 1] > most:
            k[t] = -1.0
            continue
        if left[t + 1] <= FULL:
            if cost[t + 1] < best:
                best = cost[t + 1]
                for j in range(n):
                    out[j] = amount[j] if j <= t else 0.0
            k[t] -= 1.0
            continue
        bound, rest = cost[t + 1], left[t + 1]
        for j in range(t + 1, n):
            part = min(gain[j], rest)
            bound += part / ratio[j]
            rest -= part
            is_taken[j] = False
        if not (rest <= FULL and bound < best * (1.0 - 1e-12)):  # also where numbers are NaN
            k[t] = -2.0
            continue
        free, rest = most - used[t + 1], left[t + 1]
        while free > 0.0 and rest > FULL and free < n - t - 1:
            top = -1
            for j in range(t + 1, n):
                if not is_taken[j] and (top < 0 or gain[j] > gain[top]):
                    top = j
            is_taken[top] = True
            rest -= gain[top]
            free -= 1.0
        if rest > FULL and free <= 0.0:
            k[t] = -1.0 if k[t] >= 0.0 else -2.0
            continue
        t, is_new = t + 1, True
    return best


@dataclass
class FlatChanges:
    """Proved smallest changes of rows of a view, one after another."""

    view: ModelView
    limits: Limits
    fewest: bool
    n: int

    def __post_init__(self) -> None:
        view = self.view
        assert view.rule is not None
        self.labels = view.rule.codebook.labels
        self.D = view.distances(view.plain)
        self.charged = self.fewest or self.n > 1 or self.limits.max_changes < len(view.columns)
        self.values = np.array([p.start for p in view.places])
        self.is_number = np.array([not isinstance(c, CategoryColumn) for c in view.columns])

    def find(self, i: int, leave: int, enter: int, inset: float) -> list[Found]:
        """Return up to n changes of a row, each of other columns; ``enter`` -1 is any other."""
        hold = self.labels == leave if enter < 0 else self.labels != enter
        rivals = np.flatnonzero(~hold)
        moves = list_moves(self.view, self.limits, self.view.plain[i], self.charged)
        found: list[Found] = []
        for _ in range(self.n):
            best = self._best(i, moves, rivals, np.flatnonzero(hold), inset, found)
            if best is None:
                break
            found.append(best)
            if not best.changed:
                break
        return found

    def _best(
        self,
        i: int,
        moves: Moves,
        rivals: Indices,
        hold: Indices,
        inset: float,
        before: list[Found],
    ) -> Found | None:
        """Return the best change into the cell of any rival."""
        best: Found | None = None
        programs = [self._program(i, moves, v, hold, inset) for v in rivals.tolist()]
        order = sorted((p for p in programs if np.isfinite(p.least)), key=lambda p: p.least)
        for program in order:
            if best is not None and not self.fewest and program.least > best.cost * (1.0 - TIE):
                break
            found = self._solve(i, moves, program, before)
            if found is not None and (best is None or self._rank(found) < self._rank(best)):
                best = found
        return best

    def _rank(self, found: Found) -> tuple[float, ...]:
        return (len(found.changed), found.cost) if self.fewest else (found.cost,)

    def _program(self, i: int, moves: Moves, v: int, hold: Indices, inset: float) -> Program:
        """Return the conditions for the cell of v, and the least cost that they allow."""
        S = self.view.directions
        assert S is not None
        A, c = 2.0 * (S[hold] - S[v]), self.D[i, v] - self.D[i, hold]
        rules = self.limits.rules
        values = np.append(np.where(self.is_number, self.view.plain[i][self.values], 0.0), 1.0)
        E = np.array(moves.effect).reshape(-1, A.shape[1])
        by_column = E[:, self.values] * self.is_number
        effects = np.vstack([A @ E.T, rules[:, :-1] @ by_column.T])
        needs = np.concatenate([c, rules @ values])
        cost = np.array(moves.cost)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = (np.abs(effects) / cost).max(axis=1, initial=0.0)
            flat = unit <= 1e-12 * max(float(unit.max(initial=0.0)), 1e-300)
            unit = np.where(flat, 1.0, unit)
            effects, needs = effects / unit[:, None], needs / unit
        needs[: len(c)] += inset
        gain = np.maximum(-effects, 0.0)
        least = 0.0 if not moves.required else min(moves.cost)
        if ((gain * moves.most).sum(axis=1) < needs - 1e-9).any() or (flat & (needs > 1e-9)).any():
            least = np.inf
        elif len(needs):
            least = max(least, float(needs.max()))
        return Program(effects, needs, least)

    def _solve(self, i: int, moves: Moves, program: Program, before: list[Found]) -> Found | None:
        """Return the optimum of one program, None if there is none."""
        if program.least <= 0.0 and not moves.required and not before:
            return Found(self.view.plain[i].copy(), 0.0, frozenset(), True)
        useful = (program.effects < 0.0).any(axis=0) | np.isin(moves.column, moves.required)
        keep = np.flatnonzero(self._without_worse(moves, program.effects, useful))
        if len(program.needs) == 1 and not moves.required and not before:
            found = self._fill(i, moves, program, keep)
            if found is not None:
                return found
        cost, column = np.array(moves.cost)[keep], np.array(moves.column)[keep]
        opens, most = np.array(moves.opens)[keep], np.array(moves.most)[keep]
        rows = [program.effects[:, keep]]
        low, high = [np.full(len(program.needs), -np.inf)], [-program.needs]
        back = {int(k): t for t, k in enumerate(keep)}
        is_first = opens < 0

        def condition(line: Floats, least: float, largest: float) -> None:
            rows.append(line[None])
            low.append(np.array([least]))
            high.append(np.array([largest]))

        for t in np.flatnonzero(~is_first).tolist():
            line = np.zeros(len(keep))
            line[t], line[back[int(opens[t])]] = 1.0, -most[t]
            condition(line, -np.inf, 0.0)
        for j in np.unique(column).tolist():
            line = ((column == j) & is_first & (most == 1.0)).astype(float)
            if line.sum() > 1.0 or j in moves.required:
                condition(line, float(j in moves.required), 1.0)
        if self.charged:
            condition(is_first.astype(float), 0.0, float(self.limits.max_changes))
        for one in before:
            condition(
                (np.isin(column, list(one.changed)) & is_first).astype(float),
                0.0,
                len(one.changed) - 1.0,
            )
        price = cost + is_first * (1.0 + float(cost @ most)) if self.fewest else cost
        result = milp(
            price,
            integrality=np.ones(len(keep)),
            bounds=Bounds(0.0, most),
            constraints=LinearConstraint(
                np.vstack(rows), np.concatenate(low), np.concatenate(high)
            ),
            options={"mip_rel_gap": 0.0, "time_limit": LONGEST},
        )
        if result.x is None:
            return None
        return self._read(i, moves, keep, np.rint(result.x), result.status == OPTIMAL)

    def _fill(self, i: int, moves: Moves, program: Program, keep: Indices) -> Found | None:
        """Return the optimum of a program of one condition; None if that takes too long."""
        column, opens = np.array(moves.column)[keep], np.array(moves.opens)[keep]
        cost, most = np.array(moves.cost)[keep], np.array(moves.most)[keep]
        ratio = -program.effects[0, keep] / cost
        first = np.flatnonzero(opens < 0)
        if len(np.unique(column[first])) < len(first):
            return None
        leap, step, more = cost[first], np.zeros(len(first)), most[first] - 1.0
        step[more > 0.0] = leap[more > 0.0]
        place = {int(keep[f]): t for t, f in enumerate(first)}
        for k in np.flatnonzero(opens >= 0):
            t = place[int(opens[k])]
            step[t], more[t] = cost[k], most[k]
        order = np.argsort(-ratio[first], kind="stable")
        gains = np.sort(ratio[first] * (leap + more * step))[::-1].cumsum()
        need, limit = float(program.needs[0]), float(self.limits.max_changes)
        if self.fewest:
            limit = min(limit, 1.0 + float(np.searchsorted(gains, need - FULL)))
        out = np.zeros(len(first))
        parts = (as_floats(part[order]) for part in (ratio[first], leap, step, more))
        total = fill_knapsack(*parts, need, limit, MOST_NODES, out)
        if not total < np.inf:
            return None
        x = np.zeros(len(keep))
        for t, amount in zip(order.tolist(), out.tolist(), strict=True):
            if amount:
                x[first[t]] = 1.0
                steps = np.rint((amount - leap[t]) / step[t]) if step[t] else 0.0
                later = np.flatnonzero(opens == keep[first[t]])
                if len(later):
                    x[later[0]] = steps
                else:
                    x[first[t]] = 1.0 + steps
        return self._read(i, moves, keep, x, True)

    def _without_worse(
        self, moves: Moves, effects: Floats, useful: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Leave out, where there is one condition, the categories that do less than another."""
        if len(effects) > 1:
            return useful
        useful = useful.copy()
        column = np.array(moves.column)
        for j in self.limits.allowed:
            own = np.flatnonzero((column == j) & useful)
            if len(own) > 1 and np.ptp(np.array(moves.cost)[own]) < 1e-12:
                useful[own] = False
                useful[own[effects[0, own].argmin()]] = True
        return useful

    def _read(self, i: int, moves: Moves, keep: Indices, x: Floats, is_optimal: bool) -> Found:
        """Return the changed row of a solution."""
        point = self.view.plain[i].copy()
        for k, times in zip(keep.tolist(), x.tolist(), strict=True):
            if times:
                point += times * moves.effect[k]
        changed = set()
        for j, places in enumerate(self.view.places):
            column = self.view.columns[j]
            if (point[places] == self.view.plain[i, places]).all():
                continue
            changed.add(j)
            if isinstance(column, CategoryColumn):
                point[places] = column.entries[int(column.nearest(point[None, places])[0])]
            else:
                point[places] = column.on_grid(np.rint(point[places] * column.per_unit))
        size = self.view.sizes(self.view.plain[i : i + 1], point[None])[0]
        return Found(point, float(size.sum()), frozenset(changed), bool(is_optimal))


class Program(NamedTuple):
    """Conditions ``effects @ x + needs <= 0``, in units of cost, and a bound of the cost."""

    effects: Floats
    needs: Floats
    least: float
