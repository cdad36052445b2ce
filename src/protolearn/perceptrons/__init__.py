"""The perceptron and its relatives: units that learn from examples, alone and together."""

from ..separability import (
    cover_count,
    generalization_error,
    is_separable,
    sample_version_space,
    theoretical_error,
)
from .adaline import Adaline
from .committee import BayesPoint, CommitteeMachine
from .hopfield import Hopfield
from .kernel_ada_tron import KernelAdaTron
from .largest_stability import AdaTron, MinOver
from .parity import ParityMachine
from .pocket import Pocket
from .rosenblatt import Perceptron, Rosenblatt
from .training_record import TrainingState

__all__ = [
    "AdaTron",
    "Adaline",
    "BayesPoint",
    "CommitteeMachine",
    "Hopfield",
    "KernelAdaTron",
    "MinOver",
    "ParityMachine",
    "Perceptron",
    "Pocket",
    "Rosenblatt",
    "TrainingState",
    "cover_count",
    "generalization_error",
    "is_separable",
    "sample_version_space",
    "theoretical_error",
]
