"""Ways to lower the objective."""

from .base import Callback, Solver, SolverResult, State
from .lbfgs import LBFGS
from .memory import Memory
from .minibatch import Adam, Momentum
from .sequential import SGD
from .stochastic import StochasticSolver

SOLVERS: dict[str, type[Solver]] = {"sgd": SGD, "adam": Adam, "momentum": Momentum, "lbfgs": LBFGS}

__all__ = [
    "LBFGS",
    "SGD",
    "SOLVERS",
    "Adam",
    "Callback",
    "Memory",
    "Momentum",
    "Solver",
    "SolverResult",
    "State",
    "StochasticSolver",
]
