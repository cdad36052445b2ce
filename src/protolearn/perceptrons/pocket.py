"""The pocket algorithm: a perceptron that never rests, and the best weights it came by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from .._arrays import Floats, Indices
from .._validation import check_choice
from ..separability import balance_entries, scale_columns
from .examples import Best, Examples, Inputs, Unit
from .perceptron import LinearUnit, threshold_kind
from .presentation import FEWEST, LONGEST, MISTAKES, PRICE, RUN, SORTING, Draws, draw
from .training_record import Training

COUNTS = ("runs", "updates")

FEW = 32
"""Up to so many examples errors are counted whenever the rule says so, and in the end the fewest
possible ones are looked for."""

PROGRAMS = 1000
"""Most conflicts that are looked for."""

ROUNDING = 1e-9
"""Distance from zero of a convex combination of rows of unit size that is none."""

Flags = NDArray[np.bool_]


class Pocket(LinearUnit):
    """The pocket algorithm with ratchet.

    Examples are drawn at random, and a perceptron learns from its mistakes. If its present run of
    correct answers is longer than that of the weights in the pocket, the errors over all examples
    are counted, and weights with fewer errors (or as many, and a larger stability) go into the
    pocket. So the pocket never gets worse. The more examples are drawn, the more likely it holds
    the fewest errors that a hyperplane can have; training ends after ``max_iter`` sweeps, or when
    there are none. Of up to 32 examples the fewest errors are then found exactly, unless there are
    too many of them.

    Parameters
    ----------
    fit_intercept : {"clamped", "free", True, False}, default="clamped"
        The threshold: the weight of one more input that is always -1, or not a weight (then it
        does not count in the length of ``w``), or none. True is the default.
    count : {"runs", "updates"}, default="runs"
        When the errors over all examples are counted: after a run of correct answers that is
        longer than that of the weights in the pocket, or after every update, as it is printed
        in the notes; then only fewer errors go into the pocket. The second takes longer and
        finds fewer errors in as many sweeps.
    max_iter : int, default=1000
        Most sweeps; in each as many examples are drawn as there are.
    keep : {"best", "last"}, default="best"
        Whether ``coef_`` are the weights with the fewest errors, then the largest stability, of
        all sweeps, or the last ones.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last weights of the fit before.
    callback : callable, default=None
        Called with a ``TrainingState`` after every sweep; a true value ends training.
    history : {False, True, "sweep", "step"}, default=False
        Whether to keep the states after each sweep (True: the same), or each step, as
        ``history_``; the callback is called as often.
    verbose : int, default=0
        Whether to print lines while training.
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.

    Attributes
    ----------
    errors_curve_ : list of arrays
        Number of errors of the weights in the pocket after each sweep, for each unit.
    optimal_ : array of bool of shape (n_units,)
        Whether it is certain that no hyperplane has fewer errors.

    See Also
    --------
    Rosenblatt : The perceptron algorithm alone.
    AdaTron : Few errors and a wide margin, with a finite ``gamma``.

    Notes
    -----
    With a free threshold examples are drawn and learned in pairs of one of each class, and the
    errors are counted with the best threshold.

    Counting errors takes longer than learning. With more than 32 examples it is put off until
    enough others were presented, so that only long runs lead to a count.

    A perceptron may never come by the weights with the fewest errors, if only few weights are as
    good. So a search ends the training where there are few examples. Some of them are in conflict:
    no hyperplane has all of these right. One of each conflict is left out, in all ways that could
    lead to fewer errors than those in the pocket, until no conflict is left or a thousand were
    found. The others get the hyperplane of largest stability.

    References
    ----------
    Gallant (1990), *Perceptron-based learning algorithms*, IEEE Transactions on Neural Networks 1.

    Biehl (lecture notes), section 4.1.

    Examples
    --------
    >>> from protolearn import Pocket
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = Pocket(random_state=0).fit(X, y)
    >>> int(model.errors_curve_[0][-1])
    1
    >>> model.optimal_
    array([ True])
    """

    errors_curve_: list[Indices]
    optimal_: Flags

    def __init__(
        self,
        *,
        fit_intercept: Any = "clamped",
        count: str = "runs",
        max_iter: int = 1000,
        keep: str = "best",
        warm_start: bool = False,
        callback: Callable[[Any], object] | None = None,
        history: Any = False,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.fit_intercept = fit_intercept
        self.count = count
        self.max_iter = max_iter
        self.keep = keep
        self.warm_start = warm_start
        self.callback = callback
        self.history = history
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if check_choice(self, "count", COUNTS) == "updates" and threshold_kind(self) == "free":
            raise ValueError(
                "count='updates' of Pocket is not possible with fit_intercept='free', whose "
                "threshold is another one for each count. Take 'clamped' or False."
            )

    def _learn(self, examples: Examples, rng: np.random.RandomState, training: Training) -> Unit:
        best, last, curve, mistakes = fill_pocket(examples, rng, training, self.count)
        optimal = best.errors == 0
        if not optimal and len(examples.signs) <= FEW:
            optimal = improve_pocket(best, examples)
            curve[-1:] = [best.errors]
        details = np.array(curve), optimal
        return examples.unit(best, last, mistakes, len(curve))._replace(details=details)

    def _store(self, units: list[Unit], inputs: Inputs, keep: str) -> None:
        super()._store(units, inputs, keep)
        self.errors_curve_ = [curve for curve, _ in (unit.details for unit in units)]
        self.optimal_ = np.array([optimal for _, optimal in (unit.details for unit in units)])


def fill_pocket(
    examples: Examples, rng: np.random.RandomState, training: Training, count: str = "runs"
) -> tuple[Best, Floats, list[int], int]:
    """Draw examples, learn from mistakes, and keep the best weights.

    Return what is in the pocket, the last strengths, the errors in the pocket after each sweep,
    and the number of mistakes.
    """
    n, rows, size = len(examples.signs), examples.mirrored_rows, examples.inputs.size
    w, u, state = examples.first_sums(), examples.first_strengths(), np.zeros(6, dtype=np.intp)
    best, curve, draws = examples.best(), list[int](), Draws(rng)
    price = SORTING if examples.free else PRICE
    state[FEWEST], earned = best.errors, 1 + price * FEW**2 // n
    training.see(examples, w / size, u, 0)
    aged = 0
    while len(curve) < training.max_iter and best.errors > 0 and not training.stopped:
        order, partners = draw_sweep(examples, draws)
        if len(curve) >= aged:
            aged = 4 * len(curve)
            hard = examples.hard_rows(best)
        for part, others in zip(training.parts(order), training.parts(partners), strict=True):
            position = 0
            while position < len(part) and best.errors > 0:
                position, hopeful = draw(
                    *(rows, part, others, count == "updates", position, 0.0, earned),
                    *(w, u, state, hard),
                )
                if hopeful and examples.offer(best, w, u):
                    state[LONGEST], state[FEWEST] = state[RUN], best.errors
            training.see(examples, w / size, u, len(curve) + 1, part)
            if training.stopped:
                break
        curve.append(best.errors)
        training.report(len(curve), f"{best.errors} errors", last=best.errors == 0)
    return best, u, curve, int(state[MISTAKES])


def improve_pocket(best: Best, examples: Examples) -> bool:
    """Look for fewer errors than the pocket has, and return whether it has the fewest then."""
    inputs, threshold = examples.inputs, examples.free or examples.inputs.clamped
    rows = inputs.rows[:, : inputs.size - inputs.clamped]
    right, certain = fewest_errors(rows, examples.signs, threshold, best.errors)
    if right is None:
        return certain
    u = np.zeros(len(right))
    try:
        u[right] = widest_strengths(inputs.rows[right], examples.signs[right], examples.free)
    except RuntimeError:  # too many iterations
        return False
    u *= inputs.size
    sums = (u * examples.signs) @ inputs.rows
    if examples.offer(best, sums, u):
        best.sums = sums
    return certain and best.errors == np.count_nonzero(~right)


def widest_strengths(rows: Floats, signs: Floats, free: bool) -> Floats:
    """Return the strengths of the hyperplane of largest stability, with potentials of one.

    The shortest convex combination of the mirrored examples, or with a free threshold of the
    differences between the classes, is its normal: exact by non-negative least squares.
    """
    size = float(np.abs(rows).max(initial=0.0)) or 1.0
    points, members = signs[:, None] * rows / size, np.eye(len(rows))
    if free:
        pairs = [(i, j) for i in np.flatnonzero(signs > 0.0) for j in np.flatnonzero(signs < 0.0)]
        if not pairs:  # no weights: the threshold is enough
            return np.zeros(len(rows))
        points, members = points[pairs, :].sum(axis=1), members[pairs, :].sum(axis=1)
    matrix = np.vstack([points.T, np.ones(len(points))])
    coefficients, _ = nnls(matrix, np.append(np.zeros(rows.shape[1]), 1.0))
    least = float((points @ (coefficients @ points)).min(initial=np.inf))
    scale = (1.0 + free) / (least * size**2) if 0.0 < least < np.inf else 1.0
    return scale * coefficients @ members


def draw_sweep(examples: Examples, draws: Draws) -> tuple[Indices, Indices]:
    """Return as many examples as there are, and partners of the other class (-1: none)."""
    n = len(examples.signs)
    order = draws(n, n)
    if not examples.free:
        return order, np.full(n, -1, dtype=np.intp)
    negative, positive = (each[draws(len(each), n)] for each in examples.classes())
    return order, np.where(examples.signs[order] > 0.0, negative, positive)


def fewest_errors(
    rows: Floats, signs: Floats, threshold: bool, fewer_than: int
) -> tuple[Flags | None, bool]:
    """Return the most examples that a hyperplane has right, and whether there are never more.

    None if none was found that leaves fewer errors. Either a hyperplane has all examples right, or
    some of them are in *conflict*, and no hyperplane has all of these right (Gordan's theorem: a
    convex combination of the mirrored examples is zero). Of each conflict one member has to be
    wrong. So members are left out in turn, depth first, until no conflict is left.
    """
    conflicts, best, most = Conflicts(rows, signs, threshold), None, fewer_than - 1
    try:
        while most >= 0 and (kept := conflicts.without(most)) is not None:
            best, most = kept, len(kept) - int(kept.sum()) - 1
    except Undecided:
        return best, False
    return best, True


class Undecided(Exception):
    """There are too many conflicts to go through."""


class Conflicts:
    """Conflicts among examples; raises :class:`Undecided` after looking for ``programs`` of them.

    ``threshold``: whether hyperplanes may be off the origin.
    """

    def __init__(self, rows: Floats, signs: Floats, threshold: bool, programs: int = PROGRAMS):
        self.mirrored_rows = signs[:, None] * balance_entries(scale_columns(rows, threshold))
        self.programs = programs

    def without(self, most: int) -> Flags | None:
        """Return the examples to keep so that no conflict is left; None if ``most`` is too few."""
        n = len(self.mirrored_rows)
        return self._search(np.ones(n, bool), np.zeros(n, bool), most)

    def _search(self, there: Flags, fixed: Flags, most: int) -> Flags | None:
        """Return the same where some are not there any more, and others may not go."""
        found = self._disjoint(there, most + 1)
        if not found:
            return there
        if len(found) > most:  # each takes one
            return None
        free = min((members[~fixed[members]] for members in found), key=len)
        fixed = fixed.copy()
        for member in free:
            left = there.copy()
            left[member] = False
            kept = self._search(left, fixed, most - 1)
            if kept is not None:
                return kept
            fixed[member] = True  # all choices without it were tried
        return None

    def _disjoint(self, there: Flags, enough: int) -> list[Indices]:
        """Return conflicts that have no member in common, one after the other."""
        there, found = there.copy(), list[Indices]()
        while len(found) < enough and (members := self._conflict(there)).size:
            found.append(members)
            there[members] = False
        return found

    def _conflict(self, there: Flags) -> Indices:
        """Return the members of a conflict; nobody if a hyperplane has all right.

        Of the convex combinations of all examples that of least length is zero or a normal of such
        a hyperplane (Lawson and Hanson, 1974, chapter 23: both by non-negative least squares). The
        members are those with a share in it.
        """
        places = np.flatnonzero(there)
        if not self.programs:
            raise Undecided
        self.programs -= 1
        if not places.size:  # SciPy does not survive it
            return places
        mirrored = self.mirrored_rows[places]
        sums = np.append(np.zeros(mirrored.shape[1]), 1.0)
        try:
            coefficients, distance = nnls(np.vstack([mirrored.T, np.ones(len(places))]), sums)
        except RuntimeError as error:  # too many iterations
            raise Undecided from error
        if distance <= ROUNDING:
            return places[coefficients > ROUNDING]
        if (mirrored @ (coefficients @ mirrored)).min() > 0.0:
            return places[:0]
        raise Undecided
