"""Published experiments, run again: our numbers beside those of the papers.

``experiments()`` lists them, ``run(name)`` runs one. An experiment is a protocol, a function of a
:class:`Work` that spreads its fits over processes and remembers each finished one, and gives
:class:`Findings`: tables, figures and remarks. The seeds are fixed, and part of the results.
"""

from .catalogue import experiments, find
from .experiment import Experiment
from .findings import Figure, Findings, Table
from .running import run
from .work import Work
from .writing import REDUCED, SUMMARY

__version__ = "1.0.0rc1"

__all__ = [
    "REDUCED",
    "SUMMARY",
    "Experiment",
    "Figure",
    "Findings",
    "Table",
    "Work",
    "experiments",
    "find",
    "run",
]
