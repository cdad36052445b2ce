"""The experiments by name."""

from __future__ import annotations

import difflib

from .experiment import Experiment

BIEHL = "Biehl, lecture notes"
CRAMMER = "Crammer et al. (2002)"
GRAF = "Graf et al. (2009)"
JIN = "Jin et al. (2008)"
SHEN = "Shen and Danyluk"
OURS = "protolearn"
VORACEK = "Voracek and Hein (2022)"
ANDRIUSHCHENKO = "Andriushchenko and Hein (2019)"

_ALL = (
    Experiment(
        "jin-table1",
        f"{JIN}, table 1",
        "accuracy of MCE, SNPC, LOGM and GLVQ on twelve data sets",
        "jin.table1",
        "run",
        "about an hour",
    ),
    Experiment(
        "jin-fig2",
        f"{JIN}, figure 2",
        "average margin of four algorithms during training on USPS",
        "jin.fig2",
        "run",
        "three minutes",
    ),
    Experiment(
        "graf-fig1",
        f"{GRAF}, figure 1",
        "prototypes and separating lines of six classifiers on separable points",
        "graf.toy",
        "fig1",
        "half a minute",
    ),
    Experiment(
        "graf-fig2",
        f"{GRAF}, figure 2",
        "boosting of prototypes and the soft-margin SVM, step by step, separable points",
        "graf.boosting",
        "fig2",
        "half a minute",
    ),
    Experiment(
        "graf-fig3",
        f"{GRAF}, figure 3",
        "the same where classes overlap",
        "graf.boosting",
        "fig3",
        "seconds",
    ),
    Experiment(
        "graf-fig4",
        f"{GRAF}, figure 4",
        "distances of (simulated) neural responses to separating hyperplanes",
        "graf.neurons",
        "fig4",
        "half a minute",
    ),
    Experiment(
        "shen-table2",
        f"{SHEN}, tables 2 and 3",
        "accuracy of PSVMs and six other classifiers",
        "shen.accuracy",
        "table2",
        "fifteen minutes",
    ),
    Experiment(
        "shen-table4",
        f"{SHEN}, tables 4 and 3",
        "the same with one label in ten wrong",
        "shen.accuracy",
        "table4",
        "fifteen minutes",
    ),
    Experiment(
        "shen-table5",
        f"{SHEN}, table 5",
        "numbers of models in the ensembles",
        "shen.sizes",
        "table5",
        "ten minutes",
    ),
    Experiment(
        "shen-clustering",
        f"{SHEN}, section 6",
        "PSVMs beside k-means, localized and profile SVMs: the hypothesis about clusters",
        "shen.clustering",
        "run",
        "two minutes",
    ),
    Experiment(
        "crammer-fig4",
        f"{CRAMMER}, figure 4",
        "hinge loss along OLVQ1 on three classes in the plane",
        "crammer.fig4",
        "run",
        "two minutes",
    ),
    Experiment(
        "crammer-prototypes",
        f"{CRAMMER}, section 4",
        "test error against the number of prototypes, with class means and 1-NN as the ends",
        "crammer.prototypes",
        "run",
        "three minutes",
    ),
    Experiment(
        "crammer-kernel",
        f"{CRAMMER}, section 6",
        "test error with and without a kernel against the number of prototypes",
        "crammer.kernels",
        "run",
        "three minutes",
    ),
    Experiment(
        "biehl-fig52",
        f"{BIEHL}, figure 5.2",
        "GMLVQ on iris: prototypes, relevances, eigenvalues, projection",
        "biehl.fig52",
        "run",
        "half a minute",
    ),
    Experiment(
        "biehl-fig61",
        f"{BIEHL}, figure 6.1",
        "bias and variance of polynomials, and of GLVQ on two sets",
        "biehl.fig61",
        "run",
        "a minute",
    ),
    Experiment(
        "benchmark",
        OURS,
        "every classifier of ours and the usual ones of scikit-learn on all small sets",
        "benchmark",
        "run",
        "twenty minutes",
    ),
    Experiment(
        "robust-mnist",
        VORACEK,
        "digits that no change of some length turns into others, proved for each test row",
        "robust.mnist",
        "run",
        "half an hour",
    ),
    Experiment(
        "robust-tabular",
        ANDRIUSHCHENKO,
        "the same for errors of every feature of small tables, and of pictures",
        "robust.tabular",
        "run",
        "ten minutes",
    ),
)


def experiments() -> tuple[Experiment, ...]:
    """List the experiments.

    Returns
    -------
    tuple of Experiment
        Those that :func:`run` takes by their names.

    Examples
    --------
    >>> from protolearn_papers import experiments
    >>> [one.name for one in experiments()][:2]
    ['jin-table1', 'jin-fig2']
    """
    return _ALL


def find(name: str) -> Experiment:
    """Return an experiment by its name.

    Parameters
    ----------
    name : str
        One of the names of :func:`experiments`.

    Returns
    -------
    Experiment
        What runs it.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> from protolearn_papers import find
    >>> find("jin-table1").source
    'Jin et al. (2008), table 1'
    """
    known = {one.name: one for one in _ALL}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(str(name).lower(), known, 3)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise ValueError(f"Unknown experiment {name!r}.{hint} Known are: {', '.join(known)}.")
