"""The smallest changes where boundaries are flat: a mixed-integer linear program for each row.

Numbers move on the grid of their column, categories jump. The cell of a rival prototype v is where
``A y + c <= 0``, with y the change in the user's units (see ``projection.py``); the cost of a
change is the sum of the sizes of the columns, in standard deviations or jumps. Both are linear in
how many steps of its grid a number takes and in which category is jumped to.

:func:`search_options` solves a program by branch and bound. The bound is that of the linear
relaxation, by its multipliers: with these each column is on its own, so that what a column would
add to the bound tells which options and steps cannot be part of a better solution. HiGHS takes over
where that takes too long.
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

TIGHT = 1.0 - 1e-9
"""A share of the best cost that a bound must reach for a branch to be given up."""

LACKING = 1e6
"""The cost of a condition that is not met, while the relaxation looks for a solution."""

ROUNDS, IMPROVEMENTS, DEPTH = 60, 8, 200
"""Most rounds of the simplex method and of improvements, and branches that may wait."""

WHOLE = 1e-7
"""A part of an option or of a step that is nothing but rounding."""


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
        x, place, gap = row[places.start], places.start, column.gap
        low, high = limits.grid_ends(j)
        if limits.strict[j] and not limits.low[j] <= x <= limits.high[j]:
            options.required.append(j)
        for sign, is_free in ((1.0, limits.up[j]), (-1.0, limits.down[j])):
            here = column.grid_places(x)
            first = np.floor(here + 1e-9) + 1.0 if sign > 0 else np.ceil(here - 1e-9) - 1.0
            first = max(first, low) if sign > 0 else min(first, high)
            more = high - first if sign > 0 else first - low
            if is_free and more >= 0.0:
                effect = np.zeros(width)
                effect[place] = sign * gap
                price, leap = gap / unit[place], abs(float(column.on_grid(first)) - x) / gap
                leaping = leap * effect
                leaping[place + 1 : places.stop] = -row[place + 1 : places.stop]  # not missing then
                options.add(j, leaping, leap * price, effect, price, float(more))
    return options


_exact = numba.njit(error_model="numpy")


@_exact
def _price(lam, program, lows, highs, may_stay, most, pick, steps, s):
    """Return the least price of a change with multipliers; write what each column takes.

    A column takes no option, or one with its fewest or its most steps; at most ``most`` take one.
    What the conditions then lack, the slope of the price by the multipliers, is written into ``s``.
    """
    start, a, _, b, _, needs = program
    C, m, total, n_taken = start.size - 1, needs.size, 0.0, 0.0
    value = np.empty(C)
    for f in range(m):
        s[f] = needs[f]
        total += lam[f] * needs[f]
    for j in range(C):
        pick[j], steps[j], value[j] = -1, 0.0, 0.0 if may_stay[j] else np.inf
        for o in range(start[j], start[j + 1]):
            if lows[o] <= highs[o]:
                v, slope = _with_multipliers(o, program, lam)
                k = highs[o] if slope < 0.0 else lows[o]
                if v + k * slope < value[j]:
                    pick[j], steps[j], value[j] = o, k, v + k * slope
        n_taken += pick[j] >= 0
    while n_taken > most:  # the least useful ones stay
        worst = -1
        for j in range(C):
            if pick[j] >= 0 and may_stay[j] and (worst < 0 or value[j] > value[worst]):
                worst = j
        if worst < 0:
            return np.inf
        pick[worst], value[worst] = -1, 0.0
        n_taken -= 1.0
    for j in range(C):
        total += value[j]
        if pick[j] >= 0:
            for f in range(m):
                s[f] += a[pick[j], f] + steps[j] * b[pick[j], f]
    return total


@_exact
def _with_multipliers(o, program, lam):
    """Return the price of an option without further steps, and of each further step."""
    _, a, c, b, d, _ = program
    v, slope = c[o], d[o]
    for f in range(lam.size):
        v += lam[f] * a[o, f]
        slope += lam[f] * b[o, f]
    return v, slope


@_exact
def _relax(lam, program, lows, highs, may_stay, most, best, share, mean):
    """Return the bound of the linear relaxation, and write its multipliers and its solution.

    ``share`` is the part of each option in it, ``mean`` its steps times that part. This is the
    simplex method on combinations of whole changes; each round adds the one that _price finds. It
    ends early once the bound reaches the best cost.
    """
    _, _, c, _, d, needs = program
    C, m = may_stay.size, needs.size
    M = m + 1  # the conditions, and that the parts add up to one
    picks, times = np.full((M, C), -1), np.zeros((M, C))
    pick, steps, s = np.empty(C, dtype=np.int64), np.empty(C), np.empty(m)
    inverse, cost, weight = np.zeros((M, M)), np.zeros(M), np.zeros(M)
    column, dual, now = np.zeros(M), np.zeros(M), lam.copy()
    bound = _price(lam, program, lows, highs, may_stay, most, pick, steps, s)
    if not bound < best * TIGHT:
        return bound
    for f in range(m):  # slack, or what is lacking at a high price
        sign = 1.0 if s[f] <= 0.0 else -1.0
        inverse[f, f], inverse[f, m] = sign, -sign * s[f]
        weight[f], cost[f] = abs(s[f]), 0.0 if s[f] <= 0.0 else LACKING
    inverse[m, m] = weight[m] = 1.0
    leave, slack = m, -1
    for _ in range(ROUNDS):
        picks[leave], times[leave], cost[leave] = -1, 0.0, 0.0
        for j in range(C if slack < 0 else 0):
            if pick[j] >= 0:
                picks[leave, j], times[leave, j] = pick[j], steps[j]
                cost[leave] += c[pick[j]] + steps[j] * d[pick[j]]
        slack = -1
        for f in range(M):
            dual[f], column[f] = 0.0, 0.0
            for i in range(M):
                dual[f] += cost[i] * inverse[i, f]
            if f < m and dual[f] > max(1e-9, dual[slack] if slack >= 0 else 0.0):
                slack = f
        if slack >= 0:
            column[slack] = 1.0
        else:
            for f in range(m):
                now[f] = max(-dual[f], 0.0)
            found = _price(now, program, lows, highs, may_stay, most, pick, steps, s)
            if found > bound:
                bound, lam[:] = found, now
            if bound >= best * TIGHT or found >= dual[m] - 1e-11 * max(1.0, abs(dual[m])):
                break
            for f in range(m):
                column[f] = s[f]
            column[m] = 1.0
        leave = _exchange(column, inverse, weight)
        if leave < 0:
            break
    share[:], mean[:] = 0.0, 0.0
    for i in range(M):
        for j in range(C):
            if picks[i, j] >= 0:
                share[picks[i, j]] += weight[i]
                mean[picks[i, j]] += weight[i] * times[i, j]
    return bound


@_exact
def _exchange(column, inverse, weight):
    """Take a column into the basis of the simplex method; return the place it takes, or -1."""
    M, leave, ratio = weight.size, -1, np.inf
    change = np.zeros(M)
    for i in range(M):
        for f in range(M):
            change[i] += inverse[i, f] * column[f]
        if change[i] > 1e-12 and weight[i] < ratio * change[i]:
            leave, ratio = i, weight[i] / change[i]
    if leave >= 0:
        weight[leave] = ratio
        for f in range(M):
            inverse[leave, f] /= change[leave]
        for i in range(M):
            if i != leave:
                weight[i] = max(weight[i] - ratio * change[i], 0.0)
                for f in range(M):
                    inverse[i, f] -= change[i] * inverse[leave, f]
    return leave


@_exact
def _narrow(lam, room, program, lows, highs, may_stay):
    """Take away options and steps that cost at least ``room`` more than the best of the column."""
    start = program[0]
    for j in range(may_stay.size):
        least = 0.0 if may_stay[j] else np.inf
        for o in range(start[j], start[j + 1]):
            if lows[o] <= highs[o]:
                v, slope = _with_multipliers(o, program, lam)
                least = min(least, v + slope * (highs[o] if slope < 0.0 else lows[o]))
        for o in range(start[j], start[j + 1]):
            if lows[o] <= highs[o]:
                v, slope = _with_multipliers(o, program, lam)
                over = room + least - v - slope * (highs[o] if slope < 0.0 else lows[o])
                if over <= 0.0:
                    highs[o] = lows[o] - 1.0
                elif abs(slope) * (highs[o] - lows[o]) > over:
                    k = np.floor(over / abs(slope))
                    if slope > 0.0:
                        highs[o] = lows[o] + k
                    else:
                        lows[o] = highs[o] - k
        if -least >= room:
            may_stay[j] = 0.0


@_exact
def _improve(program, more, must, most, pick, steps):
    """Change one column at a time as long as that makes a whole change cheaper; return its cost.

    Infinity if the conditions are not met, with any other choice for one column either.
    """
    start, _, c, _, d, needs = program
    s, cost, n_taken, result = needs.copy(), 0.0, 0.0, np.inf
    for j in range(pick.size):
        cost += _take(pick[j], steps[j], 1.0, program, s)
        n_taken += pick[j] >= 0
    for _ in range(IMPROVEMENTS):
        at, option, times, least = -1, -1, 0.0, result * TIGHT
        for j in range(pick.size):
            rest = cost + _take(pick[j], steps[j], -1.0, program, s)
            n_rest, lacking = n_taken - (pick[j] >= 0), False
            for f in range(s.size):
                lacking = lacking or s[f] > MET
            if not must[j] and rest < least and not lacking:
                at, option, times, least = j, -1, 0.0, rest
            for o in range(start[j], start[j + 1] if n_rest < most else start[j]):
                k = _fewest_steps(o, program, s, more[o])
                if rest + c[o] + k * d[o] < least:
                    at, option, times, least = j, o, k, rest + c[o] + k * d[o]
            _take(pick[j], steps[j], 1.0, program, s)
        if at < 0:
            break
        _take(pick[at], steps[at], -1.0, program, s)
        _take(option, times, 1.0, program, s)
        n_taken += (option >= 0) - (pick[at] >= 0)
        pick[at], steps[at] = option, times
        cost = result = least
    return result


@_exact
def _take(o, k, sign, program, s):
    """Add an option with k steps to a change, or take it away by ``sign`` -1; return the cost."""
    _, a, c, b, d, _ = program
    if o < 0:
        return 0.0
    for f in range(s.size):
        s[f] += sign * (a[o, f] + k * b[o, f])
    return sign * (c[o] + k * d[o])


@_exact
def _fewest_steps(o, program, s, most):
    """Return with how many steps an option meets all conditions; infinity if with none."""
    _, a, _, b, _, _ = program
    low, high = 0.0, most
    for f in range(s.size):
        lack, by = s[f] + a[o, f], b[o, f]
        if by < 0.0:
            low = max(low, np.ceil((lack - MET) / -by))
        elif by > 0.0:
            high = min(high, np.floor((MET - lack) / by))
        elif lack > MET:
            return np.inf
    return low if low <= high else np.inf


@_exact
def _is_repeated(before, pick):
    """Whether all columns of an earlier proposal change."""
    for one in range(before.shape[0]):
        same = True
        for j in range(pick.size):
            same = same and (pick[j] >= 0 or not before[one, j])
        if same:
            return True
    return False


@_exact
def _leave_one(before, start, lows, highs, may_stay):
    """Let a column stay where all others of an earlier proposal change; return if it cannot."""
    for one in range(before.shape[0]):
        n_free, last = 0, -1
        for j in range(may_stay.size):
            if before[one, j] and may_stay[j]:
                n_free, last = n_free + 1, j
        if n_free == 0:
            return False
        for o in range(start[last], start[last + 1] if n_free == 1 else start[last]):
            highs[o] = lows[o] - 1.0
    return True


@_exact
def _round(program, share, mean, may_stay, pick, steps):
    """Write the whole change that a relaxed one is nearest to."""
    start = program[0]
    for j in range(pick.size):
        top, total = -1, 0.0
        for o in range(start[j], start[j + 1]):
            total += share[o]
            if share[o] > 0.0 and (top < 0 or share[o] > share[top]):
                top = o
        if top >= 0 and may_stay[j] and 1.0 - total > share[top]:
            top = -1
        pick[j], steps[j] = top, np.rint(mean[top] / share[top]) if top >= 0 else 0.0


@_exact
def _most_open(program, share, mean, pick, lows, highs, may_stay):
    """Return the column to be decided next, and its option if that is sure but for the steps.

    A column that is shared by several options comes first, then the one whose part of a step costs
    most; where nothing is open in the relaxed solution, any that still has a choice; or -1.
    """
    start, _, _, _, d, _ = program
    column, option, most = -1, -1, 0.0
    for j in range(pick.size):
        o, total = pick[j], 0.0
        for i in range(start[j], start[j + 1]):
            total += share[i]
        mixed = 1.0 - (share[o] if o >= 0 else 1.0 - total)
        if mixed > WHOLE:
            if 1.0 + mixed > most:
                column, option, most = j, -1, 1.0 + mixed
        elif o >= 0 and most < 1.0:
            part = abs(mean[o] / share[o] - np.rint(mean[o] / share[o]))
            if part > WHOLE and min(part * d[o], 1.0) > most:
                column, option, most = j, o, min(part * d[o], 1.0)
    for j in range(pick.size if column < 0 else 0):
        n_open = 1 if may_stay[j] else 0
        for o in range(start[j], start[j + 1]):
            n_open += lows[o] <= highs[o]
            if lows[o] < highs[o]:
                column, option = j, o
        if n_open > 1:
            return j, -1
    return column, option


@_exact
def _branch(t, program, share, mean, column, option, stack):
    """Replace node t of the stack by its branches, the most promising last; return where it ends.

    An option has fewer steps in one branch, more in the other; a column takes one of its options,
    or none.
    """
    start, (lows, highs, stays, _) = program[0], stack
    if option >= 0:
        low, high = lows[t, option], highs[t, option]
        steps = mean[option] / share[option] if share[option] > 0.5 else low
        at = min(max(np.floor(steps), low), high - 1.0)
        _copy_node(t, t + 1, stack)
        more = t + 1 if steps - at > 0.5 else t
        lows[more, option], highs[2 * t + 1 - more, option] = at + 1.0, at
        return t + 2
    first, end = start[column], start[column + 1]
    part = np.zeros(end - first + 1)  # that of no option comes last
    part[end - first] = 1.0
    for o in range(first, end):
        part[o - first] = share[o]
        part[end - first] -= share[o]
        if lows[t, o] > highs[t, o]:
            part[o - first] = np.inf
    if not stays[t, column]:
        part[end - first] = np.inf
    last = lows.shape[0] - 1
    _copy_node(t, last, stack)
    while part.min() < np.inf:
        chosen = part.argmin()
        part[chosen] = np.inf
        _copy_node(last, t, stack)
        stays[t, column] = 1.0 if chosen == end - first else 0.0
        for o in range(first, end):
            if o != first + chosen:
                highs[t, o] = lows[t, o] - 1.0
        t += 1
    return t


@_exact
def _copy_node(one, other, stack):
    """Copy a node of the stack onto another."""
    for part in stack:
        for i in range(part.shape[1]):
            part[other, i] = part[one, i]


PARTS = types.Tuple((matrix, vector, matrix, vector, vector))


@native(
    f8(indices, PARTS, flags, vector, flags_matrix, f8, f8, f8, indices_out, vector_out),
    makes_arrays=True,
)
def search_options(start, parts, must, needs, before, most, cutoff, nodes, chosen, times):
    """Write the cheapest options that meet all conditions, and return their cost.

    Column j has the options from ``start[j]`` to ``start[j + 1]``; an option o with k steps, k = 0
    ... ``more[o]``, costs ``c[o] + k d[o]`` and adds ``a[o] + k b[o]`` to the ``needs``, which have
    to be zero or less. ``must``: columns that have to take one. At most ``most`` columns take one,
    and not all of any row of ``before``. Infinity if nothing costs less than ``cutoff``, NaN after
    too many nodes.
    """
    a, c, b, d, more = parts
    C, n, m = must.size, c.size, needs.size
    if C == 0:
        return 0.0 if (needs <= MET).all() and cutoff > 0.0 else np.inf
    program, depth = (start, a, c, b, d, needs), DEPTH + n + 2
    share, mean = np.zeros(n), np.zeros(n)
    pick, nearest = np.zeros(C, dtype=np.int64), np.zeros(C, dtype=np.int64)
    steps, s = np.zeros(C), np.zeros(m)
    lows, highs = np.zeros((depth, n)), np.zeros((depth, n))
    stays, multipliers = np.zeros((depth, C)), np.zeros((depth, m))
    for o in range(n):
        highs[0, o] = more[o]
    for j in range(C):
        stays[0, j] = 0.0 if must[j] else 1.0
    if m:
        multipliers[0, needs.argmax()] = 1.0
    best, is_better, t = 1.0, False, 1
    for o in range(n):
        best += c[o] + more[o] * d[o]
    best = min(best, cutoff)
    while t > 0:
        t, nodes = t - 1, nodes - 1.0
        if nodes < 0.0 or t >= DEPTH:
            return np.nan
        low, high, may_stay, lam = lows[t], highs[t], stays[t], multipliers[t]
        if not _leave_one(before, start, low, high, may_stay):
            continue
        bound = _relax(lam, program, low, high, may_stay, most, best, share, mean)
        if not bound < best * TIGHT:
            continue
        _round(program, share, mean, may_stay, pick, steps)
        for j in range(C):
            nearest[j] = pick[j]
        found = _improve(program, more, must, most, pick, steps)
        if found < best * TIGHT and not _is_repeated(before, pick):
            best, is_better = found, True
            for j in range(C):
                chosen[j], times[j] = pick[j], steps[j]
        bound = _price(lam, program, low, high, may_stay, np.inf, pick, steps, s)
        _narrow(lam, best * TIGHT - bound, program, low, high, may_stay)
        column, option = _most_open(program, share, mean, nearest, low, high, may_stay)
        if column >= 0:
            t = _branch(t, program, share, mean, column, option, (lows, highs, stays, multipliers))
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
            options={"mip_rel_gap": 0.0, "presolve": False, "time_limit": LONGEST},
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
                value = column.grid_places(point[places.start])
                point[places.start] = column.on_grid(value)
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
