"""Sequential descent for thousands of fits: the parts of the objective compiled into one loop.

:class:`~protolearn.solvers.SGD` calls margin, loss and schedule by address, so that its loop is
compiled once for all of them. Here they are compiled into the loop, which takes seconds for each
new combination in a process, and then makes a step on a small problem three or four times as fast.
Squared Euclidean distance alone; the steps are those of ``SGD``.
"""

from .dense import DenseDescent
from .sparse import SparseDescent

__all__ = ["DenseDescent", "SparseDescent"]
