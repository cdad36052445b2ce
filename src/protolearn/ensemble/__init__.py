"""Ensembles of small linear support vector machines, each tuned to a region."""

from .exemplar import ExemplarSVM
from .prototype import PrototypeSVM

__all__ = ["ExemplarSVM", "PrototypeSVM"]
