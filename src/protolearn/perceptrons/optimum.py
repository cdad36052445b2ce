"""Embedding strengths of largest stability, found on a few examples at a time.

All examples are looked at; the strengths of those that are furthest from optimal, and of those that
may go both ways, are brought near their optimum with the others held; then the potentials of all
follow. The many steps go through few examples, and no more than their products are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from .._arrays import Floats, Indices
from .embedding_steps import ascend, ascend_in_pairs
from .examples import Best, Examples, Unit, UnitState, hebbian
from .perceptron import VANISHED, nothing_separates, threshold_kind
from .products import NOT_SEMIDEFINITE, Products
from .training_record import Training

AT_A_TIME = 128
"""Examples that are furthest from optimal and taken together."""

NEARER = 0.1
"""Part of the violation among all that is left among those taken together."""

INDEFINITE = 1e-9
"""Part of what it could be by which ``u^T C u`` may be negative by rounding."""

DIRECTIONS = 30
"""Random directions from which the largest negative stability is looked for."""

ROUNDING = 1e-9
"""Stability, in units of the largest input, that is as good as none."""

UNBOUNDED = 3
"""What ``linprog`` says of a program without a limit."""

FIRST_BOUND, MOST_STAGES = 100.0, 6
"""Bound of the first stage, in units of ``1 / C_ii``, and how many there are below the last."""

STAGE_TOL = 1e-3
"""Violation that is small enough for all stages but the last."""

ONE_GO = 20
"""Most steps before all examples are looked at again, as a multiple of their number."""

PATIENCE, EVERY = 20, 5
"""Looks at all examples after which strengths between their bounds are also changed together, after
one in so many looks, and how often each time."""

MOST_BETWEEN, FLAT = 1000, 1e-12
"""How many strengths are changed together at most, and the least curvature that this reckons with,
in units of the largest product."""


class Optimum(NamedTuple):
    """Embedding strengths, and how far they are from the optimum."""

    strengths: Floats
    threshold: float  # the free one; zero if there is none
    steps: int
    violation: float  # by how much the conditions of the optimum are violated at worst
    bound: float  # no hyperplane has a larger stability, in units of the longest example


class Goal(NamedTuple):
    """What to look for."""

    eta: float  # length of a step, as a multiple of the way to the optimum along it
    gamma: Floats  # largest strength of each example
    pairs: bool  # whether sum u y = 0 is kept
    tol: float  # the violation that is allowed
    max_iter: int  # most steps, as a multiple of the number of examples


Look = Callable[[Floats, Floats, float, int, Indices | None], object]
"""What is told of strengths, potentials, the threshold, the number of steps, and who changed."""


def optimum(
    products: Products,
    signs: Floats,
    goal: Goal,
    training: Training,
    look: Look,
    start: Floats,
    steps: int = 0,
) -> Optimum:
    """Return the maximum of ``sum u - u^T C u / 2`` for ``0 <= u <= gamma``.

    Strengths and potentials are shown whenever all examples were looked at, or after each step.
    So many ``steps`` were made before.
    """
    n = len(signs)
    u = np.minimum(start, goal.gamma)
    E = signs * products.sums(np.flatnonzero(u), (signs * u)[u != 0.0]) if u.any() else np.zeros(n)
    longest, endless = float(np.sqrt(products.diagonal.max())), bool(np.isinf(goal.gamma).all())
    climb, looks = ascend_in_pairs if goal.pairs else ascend, 0
    while True:
        violation, theta, some = most_violated(signs, u, E, goal)
        bound = stability_bound(u, E, longest)
        training.report(1 + steps // n, f"violation {violation:.1e}", last=violation <= goal.tol)
        out = steps >= goal.max_iter * n or (endless and bound < VANISHED) or training.stopped
        if violation <= goal.tol or out:
            return Optimum(u, theta, steps, violation, bound)
        mine, wanted = signs[some], max(0.5 * goal.tol, NEARER * violation)
        most = min(ONE_GO * n, goal.max_iter * n - steps)
        among, one_go = products.among(some), steps + most
        while steps < one_go and not training.stopped:
            moved, before = u[some], E[some]
            at_a_time = 1 if training.by_step else most
            made, _ = climb(
                mine, among, goal.eta, goal.gamma[some], wanted, at_a_time, moved, before
            )
            if made == 0:
                break
            steps += int(made)
            changed = some[moved != u[some]]
            E += signs * products.sums(some, mine * (moved - u[some]))
            u[some] = moved
            if not training.by_step:
                break
            look(u, E, theta, steps, changed)
        looks += 1
        if looks > PATIENCE and looks % EVERY == 0 and not training.stopped:
            steps += change_together(products, signs, goal, u, E)
        check_semidefinite(u, E, longest)
        look(u, E, theta, steps, None)


def change_together(products: Products, signs: Floats, goal: Goal, u: Floats, E: Floats) -> int:
    """Change strengths between their bounds by Newton's method, in place; return how many times.

    Where examples are nearly parallel to each other it takes many single steps to do the same. A
    strength that comes to a bound stays there, and the others go on.
    """
    for made in range(PATIENCE):
        some = np.flatnonzero((u > 0.0) & (u < goal.gamma))
        if not 1 + goal.pairs <= len(some) <= MOST_BETWEEN:
            return made
        K, mine, high = products.among(some), signs[some], goal.gamma[some]
        curved = K + FLAT * (float(K.diagonal().max()) or 1.0) * np.eye(len(some))
        slope = mine * (1.0 - E[some])
        way, even = np.linalg.solve(curved, np.column_stack([slope, np.ones(len(some))])).T
        if goal.pairs:
            way -= way.sum() / even.sum() * even
        curvature, gain = float(way @ K @ way), float(slope @ way)
        if not (gain > 0.0 and np.isfinite(way).all()):
            return made
        change = mine * way
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(change > 0.0, high - u[some], u[some]) / np.abs(change)
        most = float(np.nanmin(room))
        share = min(gain / curvature, most) if curvature > 0.0 else most
        if not np.isfinite(share):
            return made
        moved = u[some] + share * change
        bounded = room <= share * (1.0 + 1e-12)
        moved[bounded] = np.where(change > 0.0, high, 0.0)[bounded]
        moved = np.clip(moved, 0.0, high)
        E += signs * products.sums(some, mine * (moved - u[some]))
        u[some] = moved
        if not bounded.any():
            return made + 1
    return PATIENCE


def optimum_in_stages(
    products: Products, signs: Floats, goal: Goal, training: Training, look: Look, start: Floats
) -> Optimum:
    """Return the same; a large bound is raised in stages, unless training begins with strengths.

    Of overlapping classes many strengths are at their bound, and steps from zero take long to bring
    them there. The strengths of a lower bound, raised as the bound is, have most of them in place.
    """
    steps, size = 0, float(goal.gamma.max()) * float(products.diagonal.mean())
    n_stages = 0
    if np.isfinite(size) and size > FIRST_BOUND and not start.any():
        n_stages = min(int(np.ceil(np.log10(size / FIRST_BOUND))), MOST_STAGES)
    for stage in range(n_stages, 0, -1):
        low, high = (goal.gamma * 10.0**-k for k in (stage, stage - 1))
        nearly = goal._replace(gamma=low, tol=max(goal.tol, STAGE_TOL))
        found = optimum(products, signs, nearly, training, look, start, steps)
        steps, start = found.steps, found.strengths
        if (start < low).all():  # no bound matters, and a higher one does not either
            break
        start = np.where(start >= low, high, 10.0 * start)
    return optimum(products, signs, goal, training, look, start, steps)


def check_semidefinite(u: Floats, E: Floats, longest: float) -> None:
    """Raise if ``u^T C u`` is negative: no products of rows are such, and there is no optimum."""
    size = float(u.sum()) * longest
    if not np.isfinite(E).all() or (size > 0.0 and u @ E / size < -INDEFINITE * size):
        raise ValueError(NOT_SEMIDEFINITE)


def most_violated(signs: Floats, u: Floats, E: Floats, goal: Goal) -> tuple[float, float, Indices]:
    """Return the violation of optimality, the threshold, and the examples to be changed next."""
    slope, theta = 1.0 - E, 0.0
    if goal.pairs:
        slope = signs * slope
        rise = np.where(signs > 0.0, u < goal.gamma, u > 0.0)
        fall = np.where(signs > 0.0, u > 0.0, u < goal.gamma)
        high = np.where(rise, slope, -np.inf)
        low = np.where(fall, slope, np.inf)
        violation = float(high.max() - low.min())
        theta = -0.5 * float(high.max() + low.min())
        chosen = np.concatenate(
            [largest_places(high, AT_A_TIME // 2), largest_places(-low, AT_A_TIME // 2)]
        )
    else:
        wrong = np.where(np.where(slope > 0.0, u < goal.gamma, u > 0.0), np.abs(slope), 0.0)
        violation = float(wrong.max())
        chosen = largest_places(wrong, AT_A_TIME)
    between = np.flatnonzero((u > 0.0) & (u < goal.gamma))
    return violation, theta, np.union1d(chosen, between)


def largest_places(values: Floats, count: int) -> Indices:
    """Return the places of the largest values."""
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]


def stability_bound(u: Floats, E: Floats, longest: float) -> float:
    """Return ``|w| N / sum u``, which no stability exceeds, in units of the longest example."""
    total = float(u.sum())
    squared = max(float(u @ E), 0.0)
    if total == 0.0:
        return np.inf
    return float(np.sqrt(squared)) / (total * longest) if longest > 0.0 else 0.0


def train(
    model: Any,
    products: Products,
    signs: Floats,
    gamma: Floats,
    training: Training,
    start: Floats,
    examples: Examples | None = None,
) -> Unit:
    """Return the unit of largest stability for strengths up to ``gamma``, from a start on.

    It has no weights yet: in the space of a kernel there are none. Those of ``examples`` can be
    watched.
    """
    free, n = threshold_kind(model) == "free", len(signs)
    if free and abs(start @ signs) > 1e-9 * start.sum():
        start = np.zeros(n)  # not the strengths of these examples
    goal = Goal(float(model.eta), gamma, free, float(model.tol), training.max_iter)
    best = Best(signs, free)

    def look(
        u: Floats, E: Floats, theta: float, steps: int, changed: Indices | None = None
    ) -> None:
        length, n_iter = float(np.sqrt(np.maximum(u @ E, 0.0))), -(-steps // n)
        if changed is None:
            best.offer(signs * E, length, u)
        if not training.watched or (training.by_step and changed is None):
            return
        if examples is None:
            training.keep(u, E - signs * theta, length, n_iter, changed, (None, -theta))
        else:
            training.see(examples, examples.weights(u), u, n_iter, changed, theta)

    if training.watched:
        look(start, signs * products.sums(np.arange(n), signs * start), 0.0, 0, np.array([-1]))
    found = optimum_in_stages(products, signs, goal, training, look, start)
    n_iter = max(-(-found.steps // n), 1)
    unit = Unit(np.empty(0), found.threshold, found.strengths, found.steps, n_iter)
    unit = unit._replace(last=unit.state("best"))
    if found.violation <= goal.tol:
        return unit
    endless = bool(np.isinf(gamma).all())
    unit = unit._replace(complaint=not_optimal(model, found, training.name, endless=endless))
    if not endless:
        return unit
    u = hebbian(signs, free)  # what inseparable examples have led to may be worse
    E = signs * products.sums(np.arange(n), signs * u)
    best.offer(signs * E, float(np.sqrt(np.maximum(u @ E, 0.0))), u)
    return unit._replace(threshold=best.threshold, strengths=best.strengths)


def not_optimal(model: Any, found: Optimum, name: str, *, endless: bool) -> str:
    """Return why the optimum was not reached, and what to do."""
    bound = "C" if hasattr(model, "C") else "gamma"
    if endless and found.bound < VANISHED:
        return nothing_separates(model, name)
    exact = "SVC(C=C)" if bound == "C" else "SoftMarginSVM(C=gamma/N), which is exact"
    allow = f"lower {bound}, or use {exact}"
    if endless:
        allow = f"set a finite {bound} if nothing separates them"
    return (
        f"{type(model).__name__} has not found the optimum for {name} after {model.max_iter} "
        f"sweeps: its conditions are violated by {found.violation:.1e}, tol={model.tol:g}. Raise "
        f"max_iter or tol, scale the features, or {allow}."
    )


def negative_optimum(examples: Examples, w: Floats) -> UnitState | None:
    """Return weights of unit length whose stability is negative and cannot be made larger nearby.

    None if a hyperplane separates the classes. From a direction v on, the largest stability among
    all weights with ``v.w = 1`` is a linear program. These are of unit length or longer, so that a
    negative stability per length is no less, and the direction of the solution is the next.
    """
    inputs = examples.inputs
    rows = examples.mirrored_rows[:, : inputs.size]
    scale = float(np.abs(rows).max()) or 1.0
    thresholds = examples.signs[:, None] if examples.free else np.zeros((len(rows), 0))
    columns = np.hstack([-rows / scale, thresholds, np.ones((len(rows), 1))])
    hebb = (examples.signs * hebbian(examples.signs, examples.free)) @ inputs.rows
    others = np.random.RandomState(0).normal(size=(DIRECTIONS, inputs.size))  # always the same
    starts = [w[: inputs.size], hebb[: inputs.size], *others]
    found = [climb_by_programs(columns, v, inputs.size) for v in starts if v.any()]
    if any(each is None for each in found):
        return None
    stability, v, theta, duals = max((each for each in found if each), key=lambda each: each[0])
    weights = np.zeros(inputs.rows.shape[1])
    weights[: inputs.size] = v
    strengths = inputs.size * duals / (stability * scale) if stability < 0.0 else duals
    return UnitState(weights, scale * theta, strengths)


def climb_by_programs(
    columns: Floats, v: Floats, d: int
) -> tuple[float, Floats, float, Floats] | None:
    """Return stability, direction, threshold and duals of a local optimum, None if positive."""
    v, best = v / np.linalg.norm(v), -np.inf
    cost = np.append(np.zeros(columns.shape[1] - 1), -1.0)
    bounds = [(None, None)] * columns.shape[1]
    while True:
        norm = np.append(v, np.zeros(columns.shape[1] - d))[None]
        solved = linprog(
            *(cost, columns, np.zeros(len(columns)), norm, [1.0], bounds), method="highs"
        )
        if solved.status == UNBOUNDED or (solved.x is not None and solved.x[-1] > ROUNDING):
            return None
        length = float(np.linalg.norm(solved.x[:d]))
        stability, v = float(solved.x[-1]) / length, solved.x[:d] / length
        theta = float(solved.x[d]) / length if columns.shape[1] > d + 1 else 0.0
        if stability <= best + ROUNDING:
            return stability, v, theta, -solved.ineqlin.marginals
        best = stability
