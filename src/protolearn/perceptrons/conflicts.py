"""The fewest errors that a hyperplane can have, for a handful of examples.

Either a hyperplane has all examples right, or some of them are in *conflict*: no hyperplane has all
of these right (Gordan's theorem: a convex combination of the mirrored examples is zero). Of each
conflict one member has to be wrong. So members are left out in turn, depth first, until no conflict
is left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from .._arrays import Floats, Indices
from ..separability import balanced, scaled

Flags = NDArray[np.bool_]

PROGRAMS = 1000
"""Most conflicts that are looked for."""

ROUNDING = 1e-9
"""Distance from zero of a convex combination of rows of unit size that is none."""


class Undecided(Exception):
    """There are too many conflicts to go through."""


class Conflicts:
    """Conflicts among examples.

    Parameters
    ----------
    rows : array (n, d)
        The examples.
    signs : array (n,)
        Their classes, +1 and -1.
    threshold : bool
        Whether hyperplanes may be off the origin.
    programs : int
        Most conflicts that are looked for, before :class:`Undecided` is raised.
    """

    def __init__(self, rows: Floats, signs: Floats, threshold: bool, programs: int = PROGRAMS):
        self.mirrored = signs[:, None] * balanced(scaled(rows, threshold))
        self.programs = programs

    def without(self, most: int) -> Flags | None:
        """Return the examples to keep so that no conflict is left; None if ``most`` is too few."""
        n = len(self.mirrored)
        return self._kept(np.ones(n, bool), np.zeros(n, bool), most)

    def _kept(self, there: Flags, fixed: Flags, most: int) -> Flags | None:
        """Do the same where some are not there any more, and others may not go."""
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
            kept = self._kept(left, fixed, most - 1)
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
        mirrored = self.mirrored[places]
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


def fewest_errors(
    rows: Floats, signs: Floats, threshold: bool, fewer_than: int
) -> tuple[Flags | None, bool]:
    """Look for examples that a hyperplane has right, with fewer errors among the others.

    Give the largest such set that was found, None if there is none; and whether it is certain that
    there is no larger one.
    """
    conflicts, best, most = Conflicts(rows, signs, threshold), None, fewer_than - 1
    try:
        while most >= 0 and (kept := conflicts.without(most)) is not None:
            best, most = kept, len(kept) - int(kept.sum()) - 1
    except Undecided:
        return best, False
    return best, True
