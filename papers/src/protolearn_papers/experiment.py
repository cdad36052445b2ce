"""What an experiment is."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from .findings import Findings
from .work import Work


@dataclass(frozen=True)
class Experiment:
    """A published table or figure that can be made again.

    Attributes
    ----------
    name : str
        Name to call it by, such as ``"jin-table1"``.
    source : str
        Who published it, and where.
    title : str
        What it shows, in a line.
    module : str
        The module of this package that has the function.
    function : str
        Name of the function that runs it: takes a :class:`Work`, gives :class:`Findings`.
    takes : str
        How long it takes, in words, on two cores.
    """

    name: str
    source: str
    title: str
    module: str
    function: str
    takes: str

    def run(self, work: Work) -> Findings:
        """Run it."""
        module = import_module(f"{__package__}.{self.module}")
        findings: Findings = getattr(module, self.function)(work)
        return findings
