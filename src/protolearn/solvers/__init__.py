"""Ways to lower the objective."""

from .base import Callback, Solver, SolverResult, State
from .lbfgs import LBFGS
from .sequential import SGD

SOLVERS: dict[str, type[Solver]] = {"sgd": SGD, "lbfgs": LBFGS}

__all__ = ["LBFGS", "SGD", "SOLVERS", "Callback", "Solver", "SolverResult", "State"]
