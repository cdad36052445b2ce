"""Ways to lower the objective."""

from .batch_solver import LBFGS, Callback, Memory, Solver, SolverResult, State
from .batch_solver import cost_error as cost_error
from .kohonen import Kohonen as Kohonen
from .minibatch import Adam, Momentum
from .minibatch import MinibatchSolver as MinibatchSolver
from .sequential import SGD
from .sequential import SequentialSolver as SequentialSolver
from .stochastic import LEAST_IN_STREAMS as LEAST_IN_STREAMS
from .stochastic import SCHEDULES as SCHEDULES
from .stochastic import Annealing, StochasticSolver
from .stochastic import Augment as Augment
from .stochastic import linear as linear

SOLVERS: dict[str, type[Solver]] = {"sgd": SGD, "adam": Adam, "momentum": Momentum, "lbfgs": LBFGS}

__all__ = [
    "LBFGS",
    "SGD",
    "SOLVERS",
    "Adam",
    "Annealing",
    "Callback",
    "Memory",
    "Momentum",
    "Solver",
    "SolverResult",
    "State",
    "StochasticSolver",
]
