"""Running an experiment, from its name to its files."""

from __future__ import annotations

from pathlib import Path

from protolearn._threads import one_blas_thread, one_openmp_thread
from protolearn.report import library_versions
from protolearn.store import Store

from .catalogue import find
from .findings import Findings
from .work import OWNER, Progress, Work
from .writing import write

FINISHED = "finished.jsonl"
"""The file of finished tasks in the folder of results."""


def run(
    name: str,
    out: str | Path | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Findings:
    """Run a published experiment again.

    Parameters
    ----------
    name : str
        One of the names of :func:`experiments`.
    out : path or None
        Folder for tables, figures and the finished tasks, from which a run that was stopped goes
        on; None: nothing is written.
    quick : bool, default=False
        Whether to run a reduced version that takes seconds.
    seed : int, default=0
        Random seed.
    jobs : int, default=1
        Processes; -1: one a core.
    progress : callable or None
        Is told what is being done, how much of it is finished, and how much there is.

    Returns
    -------
    findings : Findings
        Tables, figures and remarks.

    Examples
    --------
    >>> import protolearn_papers
    >>> found = protolearn_papers.run("crammer-fig4", quick=True)
    >>> print(found.tables[0].title)
    Hinge loss...
    """
    experiment = find(name)
    folder = None if out is None else Path(out)
    if jobs == 0:
        raise ValueError("jobs=0 does nothing; expected the number of processes, or -1.")
    known_by = {
        "experiment": name,
        "quick": str(int(quick)),
        "seed": str(seed),
        **library_versions(),
    }
    path = None if folder is None else folder / FINISHED
    with Store(path, known_by, owner=OWNER) as store:
        work = Work(quick, seed, jobs, store, progress)
        with one_blas_thread(), one_openmp_thread():
            findings = experiment.run(work)
        if folder is not None:
            write(experiment, work, findings, folder)
    return findings
