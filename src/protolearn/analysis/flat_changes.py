"""The smallest changes where boundaries are flat: a mixed-integer linear program for each row.

Numbers move on the grid of their column, categories jump. The cell of a rival prototype v is where
``A y + c <= 0``, with y the change in the user's units (see ``projection.py``); the cost of a
change is the sum of the sizes of the columns, in standard deviations or jumps. Both are linear in
how many steps of its grid a number takes and in which category is jumped to.

:func:`search_options` solves a program by branch and bound over the columns, with the bounds of
Lagrange: for any multipliers of the conditions each column is on its own. HiGHS takes over where
that takes too long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._arrays import Floats, Indices, as_floats
from ..native import (
    f8,
    flags,
    flags_matrix,
    indices,
    indices_out,
    matrix,
    native,
    types,
    vector,
    vector_out,
)
from ..tables import CategoryColumn
from .limits import Limits
from .model_view import ModelView

INSETS = 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3
"""How far to go beyond the boundary, in standard deviations of the column that counts most."""

OPTIMAL = 0
MOST_NODES = 10_000.0
"""Of the search of a program; HiGHS takes over beyond."""

LONGEST = 5.0
"""Seconds for one program; what HiGHS has found until then is not proved."""

MET = 1e-11
"""By how much a condition may be missed, in units of cost: far less than an inset."""

TIE = 1e-9
"""A share of the cost by which a proposal must be better than another rival's to be looked for."""

TIGHT = 1.0 - 1e-12
"""A share of the best cost that a bound must reach for a branch to be given up."""


class Found(NamedTuple):
    """The changed row, its cost, the columns that change, and whether nothing is better."""

    point: Floats
    cost: float
    changed: frozenset[int]
    is_optimal: bool


@dataclass
class Options:
    """How the columns of a row may change: each takes one option, with some steps, or none."""

    column: list[int] = field(default_factory=list)
    effect: list[Floats] = field(default_factory=list)  # on the plain row
    cost: list[float] = field(default_factory=list)
    step: list[Floats] = field(default_factory=list)  # the effect of each further step
    price: list[float] = field(default_factory=list)  # the cost of one
    more: list[float] = field(default_factory=list)  # how many there can be
    required: list[int] = field(default_factory=list)  # columns that have to change

    def add(
        self, j: int, effect: Floats, cost: float, step: Floats, price: float, more: float
    ) -> None:
        """Add an option."""
        self.column.append(j)
        self.effect.append(effect)
        self.cost.append(cost)
        self.step.append(step)
        self.price.append(price)
        self.more.append(more)


def list_options(view: ModelView, limits: Limits, row: Floats) -> Options:
    """Return how the columns of a row may change."""
    options, width = Options(), len(row)
    unit, nothing = view.encoder.units_.scale_, np.zeros(width)
    for j in np.flatnonzero(limits.movable).tolist():
        column, places = view.columns[j], view.places[j]
        if isinstance(column, CategoryColumn):
            own = column.entries - row[places]
            apart = np.linalg.norm(own / unit[places], axis=1)
            if limits.strict[j] and not (apart[limits.allowed[j]] == 0.0).any():
                options.required.append(j)
            for code in limits.allowed[j].tolist():
                if apart[code] > 0.0:
                    effect = np.zeros(width)
                    effect[places] = own[code]
                    options.add(j, effect, float(apart[code]), nothing, 0.0, 0.0)
            continue
        x, place, per = row[places.start], places.start, column.per_unit
        low, high = np.ceil(limits.low[j] * per - 1e-9), np.floor(limits.high[j] * per + 1e-9)
        if limits.strict[j] and not limits.low[j] <= x <= limits.high[j]:
            options.required.append(j)
        for sign, is_free in ((1.0, limits.up[j]), (-1.0, limits.down[j])):
            here = x * per
            first = np.floor(here + 1e-9) + 1.0 if sign > 0 else np.ceil(here - 1e-9) - 1.0
            first = max(first, low) if sign > 0 else min(first, high)
            more = high - first if sign > 0 else first - low
            if is_free and more >= 0.0:
                effect = np.zeros(width)
                effect[place] = sign / per
                price, leap = 1.0 / (per * unit[place]), abs(float(column.on_grid(first)) - x) * per
                leaping = leap * effect
                leaping[place + 1 : places.stop] = -row[place + 1 : places.stop]  # not missing then
                options.add(j, leaping, leap * price, effect, price, float(more))
    return options


_exact = numba.njit(error_model="numpy")


@_exact
def _option_value(o, parts, lam):
    """Return what an option costs with multipliers, and with how many steps that is least."""
    a, c, b, d, more = parts
    value, slope = c[o], d[o]
    for f in range(lam.size):
        value += lam[f] * a[o, f]
        slope += lam[f] * b[o, f]
    if slope < 0.0 and more[o] > 0.0:
        return value + more[o] * slope, more[o]
    return value, 0.0


@_exact
def _lower_bound(t, order, start, parts, must, left, cost, free, lam, pick, s):
    """Return what columns from place t on must cost at least, with the slope by multipliers in s.

    Each column takes what is best for it: no option, or one with no or all further steps. At most
    ``free`` of them take one.
    """
    a, _, b, _, _ = parts
    C, m, total, taken = order.size, left.size, cost, 0.0
    value, steps = np.empty(C), np.empty(C)
    for f in range(m):
        s[f] = left[f]
        total += lam[f] * left[f]
    for p in range(t, C):
        j = order[p]
        pick[p], value[p] = -1, np.inf if must[j] else 0.0
        for o in range(start[j], start[j + 1]):
            v, far = _option_value(o, parts, lam)
            if v < value[p]:
                pick[p], value[p], steps[p] = o, v, far
        taken += 1.0 if pick[p] >= 0 else 0.0
    while taken > free:  # the least useful ones are left out
        worst = -1
        for p in range(t, C):
            if pick[p] >= 0 and not must[order[p]] and (worst < 0 or value[p] > value[worst]):
                worst = p
        if worst < 0:
            return np.inf
        pick[worst], value[worst] = -1, 0.0
        taken -= 1.0
    for p in range(t, C):
        total += value[p]
        if pick[p] >= 0:
            for f in range(m):
                s[f] += a[pick[p], f] + steps[p] * b[pick[p], f]
    return total


@_exact
def _tighten(rounds, t, order, start, parts, must, left, cost, free, lam, best, pick, s):
    """Return a good lower bound and write its multipliers into ``lam``.

    The bound is concave and made of flat pieces. Each round goes to the top along a line, where two
    pieces meet, and the next along their edge.
    """
    m = lam.size
    edges, way, at = np.zeros((m, m)), np.zeros(m), lam.copy()
    below, above, new = s, np.zeros(m), np.zeros(m)
    bound = _lower_bound(t, order, start, parts, must, left, cost, free, lam, pick, below)
    n_edges = 0
    for _ in range(rounds):
        if bound >= best * TIGHT:
            break
        slope, reach = _direction(lam, below, edges[:n_edges], way)
        if not slope > 1e-14:
            break
        low, low_bound, high, high_bound, high_slope, top = 0.0, bound, -1.0, 0.0, 0.0, 0.0
        for _ in range(20):
            if high < 0.0:
                step = min(low + 2.0 * (best - low_bound) / slope, reach)
            else:
                step = high_bound - low_bound + slope * low - high_slope * high
                step = min(max(step / (slope - high_slope), low), high)
                top = low_bound + slope * (step - low)
            for f in range(m):
                at[f] = max(lam[f] + step * way[f], 0.0)
            found = _lower_bound(t, order, start, parts, must, left, cost, free, at, pick, new)
            new_slope = 0.0
            for f in range(m):
                new_slope += new[f] * way[f]
            is_top = high >= 0.0 and found >= top - 1e-13 * max(1.0, abs(top))
            if found >= best * TIGHT or is_top:
                low, low_bound = step, found
                break
            if new_slope >= 0.0:
                low, low_bound, slope = step, found, new_slope
                below[:] = new
                if step >= reach:
                    break
            else:
                high, high_bound, high_slope = step, found, new_slope
                above[:] = new
        for f in range(m):
            lam[f] = max(lam[f] + low * way[f], 0.0)
        bound = low_bound
        if high >= 0.0:
            n_edges = _add_edge(below, slope, above, high_slope, edges, n_edges)
            if n_edges == m:
                break
    return bound


@_exact
def _direction(lam, s, edges, way):
    """Write the way up along all edges; return its slope, and how far it leads to no negative."""
    m = lam.size
    for f in range(m):
        way[f] = 0.0 if lam[f] <= 0.0 and s[f] < 0.0 else s[f]
    for e in range(edges.shape[0]):
        share = 0.0
        for f in range(m):
            share += edges[e, f] * way[f]
        for f in range(m):
            way[f] -= share * edges[e, f]
    slope, reach = 0.0, np.inf
    for f in range(m):
        if lam[f] <= 0.0 and way[f] < 0.0:
            way[f] = 0.0
        slope += s[f] * way[f]
        if way[f] < 0.0:
            reach = min(reach, -lam[f] / way[f])
    return slope, reach


@_exact
def _add_edge(below, slope, above, high_slope, edges, n_edges):
    """Add the edge of two pieces, and write the slope along it into ``below``."""
    m, size, share = below.size, 0.0, slope / (slope - high_slope)
    for f in range(m):
        edges[n_edges, f] = above[f] - below[f]
        below[f] += share * (above[f] - below[f])
    for e in range(n_edges):
        part = 0.0
        for f in range(m):
            part += edges[e, f] * edges[n_edges, f]
        for f in range(m):
            edges[n_edges, f] -= part * edges[e, f]
    for f in range(m):
        size += edges[n_edges, f] ** 2
    if not size > 1e-24:
        return n_edges
    for f in range(m):
        edges[n_edges, f] /= np.sqrt(size)
    return n_edges + 1


@_exact
def _last_step(o, parts, left, is_last_word):
    """Return the steps of an option that meet all conditions, or all steps if none do."""
    a, _, b, _, more = parts
    k = 0.0
    for f in range(left.size):
        lack = left[f] + a[o, f]
        if lack > MET:
            if not b[o, f] < 0.0:
                return more[o]
            k = max(k, np.ceil((lack - MET) / -b[o, f]))
    return min(k, more[o]) if is_last_word else more[o]


@_exact
def _repeats(before, changes, j):
    """Whether all columns of an earlier proposal change, with j."""
    for one in range(before.shape[0]):
        same = before[one, j]
        for i in range(changes.size):
            same = same and (not before[one, i] or changes[i] or i == j)
        if same:
            return True
    return False


PARTS = types.Tuple((matrix, vector, matrix, vector, vector))


@native(
    f8(indices, PARTS, flags, vector, flags_matrix, f8, f8, f8, indices_out, vector_out),
    makes_arrays=True,
)
def search_options(start, parts, must, needs, before, most, cutoff, nodes, chosen, steps):
    """Write the cheapest options that meet all conditions, and return their cost.

    Column j has the options from ``start[j]`` to ``start[j + 1]``; an option o with k steps, k = 0
    ... ``more[o]``, costs ``c[o] + k d[o]`` and adds ``a[o] + k b[o]`` to the ``needs``, which have
    to be zero or less. ``must``: columns that have to take one. At most ``most`` columns take one,
    and not all of any row of ``before``. Infinity if nothing costs less than ``cutoff``, NaN after
    too many nodes. Columns are decided one by one, most promising options first.
    """
    a, c, b, d, more = parts
    C, m = start.size - 1, needs.size
    best, n_options, is_better = 1.0, a.shape[0], False
    n_must = 0
    for j in range(C):
        n_must += must[j]
        top = 0.0
        for o in range(start[j], start[j + 1]):
            top = max(top, c[o] + more[o] * d[o])
        best += top
    best = min(best, cutoff)
    lam, left = np.zeros((C + 1, m)), np.zeros((C + 1, m))
    cost, used, seen = np.zeros(C + 1), np.zeros(C + 1), np.full(C + 1, np.inf)
    queue, at = np.zeros((C, n_options + 1), dtype=np.int64), np.zeros(C + 1, dtype=np.int64)
    k, pick, s = np.zeros(C), np.zeros(C, dtype=np.int64), np.zeros(m)
    now, changes = np.full(C, -1), np.zeros(C, dtype=np.bool_)
    rank = np.zeros(n_options + 1)
    left[0] = needs
    met = n_must == 0
    for f in range(m):
        met = met and needs[f] <= MET
    if (met and before.shape[0] == 0) or C == 0:
        chosen[:] = -1
        return 0.0 if met and cutoff > 0.0 else np.inf
    order = np.arange(C)
    if m:
        lam[0, needs.argmax()] = 1.0
    bound = _tighten(60, 0, order, start, parts, must, needs, 0.0, most, lam[0], best, pick, s)
    if bound >= best * TIGHT:
        return np.inf
    coarse = np.zeros(C)  # the finest columns come last, where the best number of steps is known
    for j in range(C):
        for o in range(start[j], start[j + 1]):
            coarse[j] = max(coarse[j], d[o] if more[o] > 0.0 else c[o])
    order = np.argsort(-coarse)
    t, is_new = 0, True
    while t >= 0:
        j = order[t]
        if is_new or best < seen[t]:
            if not is_new:
                bound = _tighten(
                    8,
                    t,
                    order,
                    start,
                    parts,
                    must,
                    left[t],
                    cost[t],
                    most - used[t],
                    lam[t],
                    best,
                    pick,
                    s,
                )
                if bound >= best * TIGHT:
                    at[t] = n_options + 2
            seen[t] = best
        if is_new:
            is_new, count = False, 0
            for o in range(start[j], start[j + 1] + 1):  # the last is to take none
                is_none = o == start[j + 1]
                if is_none and must[j]:
                    continue
                v = 0.0 if is_none else _option_value(o, parts, lam[t])[0]
                p = count
                while p > 0 and rank[p - 1] > v:
                    rank[p], queue[t, p] = rank[p - 1], queue[t, p - 1]
                    p -= 1
                rank[p], queue[t, p] = v, -1 if is_none else o
                count += 1
            at[t], k[t] = 0, np.nan
            queue[t, count:] = -2
        if at[t] > n_options or queue[t, at[t]] == -2:
            t -= 1
            if t >= 0:
                k[t] -= 1.0
                changes[order[t]] = False
                now[t] = -1
            continue
        o = queue[t, at[t]]
        if k[t] < 0.0:
            at[t] += 1
            k[t] = np.nan
            continue
        nodes -= 1.0
        if nodes < 0.0:
            return np.nan
        waits = False
        for p in range(t + 1, C):
            waits = waits or must[order[p]]
        if o >= 0 and np.isnan(k[t]):
            if used[t] + 1.0 > most or _repeats(before, changes, j):
                k[t] = -1.0
                continue
            k[t] = _last_step(o, parts, left[t], not waits)
        elif o < 0:
            k[t] = 0.0
        cost[t + 1], used[t + 1], met = cost[t], used[t], not waits
        if o >= 0:
            cost[t + 1] += c[o] + k[t] * d[o]
            used[t + 1] += 1.0
        for f in range(m):
            left[t + 1, f] = left[t, f]
            if o >= 0:
                left[t + 1, f] += a[o, f] + k[t] * b[o, f]
            met = met and left[t + 1, f] <= MET
        if met:
            if cost[t + 1] < best:
                best, is_better = cost[t + 1], True
                chosen[:] = -1
                for p in range(t):
                    chosen[order[p]], steps[order[p]] = now[p], k[p]
                chosen[j], steps[j] = o, k[t]
            k[t] -= 1.0
            continue
        lam[t + 1] = lam[t]
        bound = _tighten(
            8,
            t + 1,
            order,
            start,
            parts,
            must,
            left[t + 1],
            cost[t + 1],
            most - used[t + 1],
            lam[t + 1],
            best,
            pick,
            s,
        )
        if not bound < best * TIGHT:
            slope = 0.0
            if o >= 0:
                slope = d[o]
                for f in range(m):
                    slope += lam[t + 1, f] * b[o, f]
            if slope > 0.0 and bound < np.inf:  # fewer steps may do
                k[t] -= max(1.0, np.floor((bound - best) / slope))
            else:
                k[t] = -1.0
            continue
        if t + 1 == C:  # not proved to be of no use, and not of use
            k[t] -= 1.0
            continue
        now[t] = o
        changes[j] = o >= 0
        t, is_new = t + 1, True
    return best if is_better else np.inf


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
        self.values = np.array([p.start for p in view.places])
        self.is_number = np.array([not isinstance(c, CategoryColumn) for c in view.columns])

    def find(self, i: int, leave: int, enter: int, inset: float) -> list[Found]:
        """Return up to n changes of a row, each of other columns; ``enter`` -1 is any other."""
        hold = self.labels == leave if enter < 0 else self.labels != enter
        options = list_options(self.view, self.limits, self.view.plain[i])
        rivals, hold = np.flatnonzero(~hold), np.flatnonzero(hold)
        programs = [self._program(i, options, v, hold, inset) for v in rivals.tolist()]
        found: list[Found] = []
        for _ in range(self.n):
            best = self._best(i, options, programs, found)
            if best is None:
                break
            found.append(best)
            if not best.changed:
                break
        return found

    def _best(
        self, i: int, options: Options, programs: list[Program], before: list[Found]
    ) -> Found | None:
        """Return the best change into the cell of any rival."""
        best: Found | None = None
        order = sorted((p for p in programs if np.isfinite(p.least)), key=lambda p: p.least)
        for program in order:
            if best is not None and not self.fewest and program.least > best.cost * (1.0 - TIE):
                break
            found = self._solve(i, options, program, before, best)
            if found is not None and (best is None or self._rank(found) < self._rank(best)):
                best = found
        return best

    def _rank(self, found: Found) -> tuple[float, ...]:
        return (len(found.changed), found.cost) if self.fewest else (found.cost,)

    def _program(self, i: int, options: Options, v: int, hold: Indices, inset: float) -> Program:
        """Return the conditions for the cell of v, and the least cost that they allow."""
        S = self.view.directions
        assert S is not None
        A, c = 2.0 * (S[hold] - S[v]), self.D[i, v] - self.D[i, hold]
        rules = self.limits.rules
        values = np.append(np.where(self.is_number, self.view.plain[i][self.values], 0.0), 1.0)

        def by_condition(effects: list[Floats]) -> Floats:
            E = np.array(effects).reshape(-1, A.shape[1])
            return np.hstack([E @ A.T, (E[:, self.values] * self.is_number) @ rules[:, :-1].T])

        effects, steps = by_condition(options.effect), by_condition(options.step)
        needs = np.concatenate([c, rules @ values])
        cost, price = np.array(options.cost), np.array(options.price)
        more = np.array(options.more)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = (np.abs(effects) / cost[:, None]).max(axis=0, initial=0.0)
            flat = unit <= 1e-12 * max(float(unit.max(initial=0.0)), 1e-300)
            unit = np.where(flat, 1.0, unit)
            effects, steps, needs = effects / unit, steps / unit, needs / unit
        needs[: len(c)] += inset
        gain = np.maximum(-effects - np.maximum(steps * more[:, None], 0.0), 0.0)
        gain = np.maximum(gain, -effects - steps * more[:, None])
        least = 0.0 if not options.required else min(options.cost, default=np.inf)
        if (gain.sum(axis=0) < needs - 1e-9).any() or (flat & (needs > 1e-9)).any():
            least = np.inf
        elif len(needs):
            least = max(least, float(needs.max()))
        parts = (*map(as_floats, (effects, cost, steps, price, more)),)
        return Program(parts, needs, least)

    def _solve(
        self, i: int, options: Options, program: Program, before: list[Found], best: Found | None
    ) -> Found | None:
        """Return the optimum of one program, None if there is none better than the best so far."""
        if program.least <= 0.0 and not options.required and not before:
            return Found(self.view.plain[i].copy(), 0.0, frozenset(), True)
        column = np.array(options.column, dtype=np.intp)
        names, place = np.unique(column, return_inverse=True)
        start = np.searchsorted(place, np.arange(len(names) + 1))
        must = np.isin(names, options.required)
        if must.sum() < len(options.required):
            return None  # a column has to change, and cannot
        sets = np.array([[j in one.changed for j in names] for one in before], dtype=bool)
        sets = sets.reshape(-1, len(names))
        chosen, steps = np.full(len(names), -1), np.zeros(len(names))
        most = float(min(self.limits.max_changes, len(names)))
        counts = [most]
        if self.fewest:
            most = most if best is None else min(most, float(len(best.changed)))
            counts = np.arange(max(must.sum(), 1.0), most + 1.0).tolist()
        for count in counts:
            is_rival = best is not None and (not self.fewest or count == len(best.changed))
            cutoff = best.cost * (1.0 - TIE) if best is not None and is_rival else np.inf
            limits = must, program.needs, sets, count, cutoff, MOST_NODES
            cost = search_options(start, program.parts, *limits, chosen, steps)
            if np.isnan(cost):
                return self._solve_by_highs(i, options, program, place, must, sets, most)
            if cost < np.inf:
                taken = chosen[chosen >= 0]
                return self._read(i, options, taken, steps[chosen >= 0], True)
        return None

    def _solve_by_highs(
        self,
        i: int,
        options: Options,
        program: Program,
        place: Indices,
        must: NDArray[np.bool_],
        sets: NDArray[np.bool_],
        most: float,
    ) -> Found | None:
        """Return the optimum of a program of binary options, and of integers for their steps."""
        effects, cost, steps, price, more = program.parts
        n = len(cost)
        groups = (place == np.arange(len(must))[:, None]).astype(float)
        inside = sets.astype(float) @ groups
        rows = [
            LinearConstraint(np.hstack([effects.T, steps.T]), -np.inf, -program.needs),
            LinearConstraint(np.hstack([-np.diag(more), np.eye(n)]), -np.inf, 0.0),
            LinearConstraint(np.hstack([groups, 0.0 * groups]), must.astype(float), 1.0),
            LinearConstraint(np.r_[np.ones(n), np.zeros(n)], 0.0, most),
        ]
        if len(sets):
            largest = sets.sum(axis=1) - 1.0
            rows.append(LinearConstraint(np.hstack([inside, 0.0 * inside]), 0.0, largest))
        charge = 1.0 + float(cost.sum() + price @ more) if self.fewest else 0.0
        result = milp(
            np.r_[cost + charge, price],
            integrality=np.ones(2 * n),
            bounds=Bounds(0.0, np.r_[np.ones(n), more]),
            constraints=rows,
            options={"mip_rel_gap": 0.0, "time_limit": LONGEST},
        )
        if result.x is None:
            return None
        taken = np.flatnonzero(np.rint(result.x[:n]))
        times = np.rint(result.x[n:])[taken]
        return self._read(i, options, taken, times, result.status == OPTIMAL)

    def _read(
        self, i: int, options: Options, taken: Indices, steps: Floats, is_optimal: bool
    ) -> Found:
        """Return the changed row of a solution."""
        point = self.view.plain[i].copy()
        for o, times in zip(taken.tolist(), steps.tolist(), strict=True):
            point += options.effect[o] + times * options.step[o]
            column, places = self.view.columns[j := options.column[o]], self.view.places[j]
            if isinstance(column, CategoryColumn):
                point[places] = column.entries[int(column.nearest(point[None, places])[0])]
            else:
                point[places] = column.on_grid(np.rint(point[places] * column.per_unit))
        size = self.view.sizes(self.view.plain[i : i + 1], point[None])[0]
        changed = frozenset(np.flatnonzero(size).tolist())
        return Found(point, float(size.sum()), changed, bool(is_optimal))


class Program(NamedTuple):
    """Conditions in units of cost, and a bound of the cost.

    ``parts`` are effects, costs, effects and prices of steps, and the number of steps of the
    options; the effects of those that are taken, plus the ``needs``, have to be zero or less.
    """

    parts: tuple[Floats, ...]
    needs: Floats
    least: float
