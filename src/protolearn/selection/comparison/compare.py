"""Fitting several models on the same splits of several data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state

from ..._fingerprint import digest, parameters, text
from ..._validation import integer_in
from .fitting import Task, run
from .inputs import Problem, named_models, named_problems
from .ledger import Ledger
from .progress import bar
from .result import Comparison


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    datasets: Any,
    *,
    cv: Any = 10,
    scoring: str | Callable[..., float] = "accuracy",
    n_repeats: int = 1,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    error_score: Any = "raise",
    verbose: int = 0,
    random_state: Any = None,
) -> Comparison:
    """Compare classifiers by cross-validation on one or several data sets.

    All models see the same splits of a data set, so their scores are paired. Every model is
    fitted to the rows as they are: scaling and the like belong into a Pipeline, where they are
    learned from the training part alone. A choice of parameters belongs into the model too, as a
    search of scikit-learn.

    Parameters
    ----------
    models : dict of str to classifier, or list of classifiers
        What to compare. They are cloned, never fitted themselves. Models of a list are called by
        their class, Pipelines by their last step.
    datasets : dict of str to (X, y), list of str, str, or tuple (X, y)
        The data sets, or names that :func:`protolearn.datasets.load` knows.
    cv : int, splitter or pairs of indices, default=10
        An integer: stratified folds, shuffled. A splitter of scikit-learn, whose ``split(X, y)``
        is called once for each data set. Pairs (training rows, test rows) for one data set.
    scoring : str or callable, default="accuracy"
        A score of scikit-learn, or a function ``scoring(model, X, y)``; larger is better.
    n_repeats : int, default=1
        How often the folds are drawn anew, if ``cv`` is an integer.
    n_jobs : int, default=None
        Fits at the same time; None: one, or as joblib's context says; -1: as many as there are
        processors. It does not change the scores.
    checkpoint : str or path, default=None
        A file, in JSON, that gets every fit as it ends. A second call with the same file, after
        an interruption or with more models or data sets, does only what is missing, and gives the
        same scores as one call without interruption. It is an error if a name stands for other
        data, parameters or splits than before. One run at a time may use a file.
    error_score : "raise" or float, default="raise"
        The score of a fit that fails, such as NaN, with a warning. Failed fits are not put into
        the checkpoint, so the next call tries them again.
    verbose : int, default=0
        Whether there is a progress bar.
    random_state : int, RandomState or None, default=None
        Seed of the splits, and of models that have ``random_state=None``; models with a seed of
        their own keep it. With ``checkpoint`` it must be an integer.

    Returns
    -------
    comparison : Comparison
        Scores and times of all fits, with tests of the differences. Print it for a table.

    See Also
    --------
    protolearn.report.CriticalDifferenceDisplay : A picture of the mean ranks.

    Examples
    --------
    >>> from protolearn import GLVQ, GMLVQ
    >>> from protolearn.selection import compare
    >>> models = {"GLVQ": GLVQ(random_state=0), "GMLVQ": GMLVQ(random_state=0)}
    >>> comparison = compare(models, ["iris", "wine"], cv=5, random_state=0)
    >>> comparison.scores.shape
    (2, 2, 5)
    >>> comparison.wins("GMLVQ", "GLVQ")
    WinTieLoss(win=1, tie=1, loss=0)
    """
    verbose = verbose if isinstance(verbose, bool) else integer_in(verbose, "verbose={value!r}", 0)
    n_repeats = integer_in(n_repeats, "n_repeats={value!r}", 1)
    _check_scoring(scoring, error_score)
    seed = _check_seed(random_state, checkpoint)
    found = named_models(models)
    problems = named_problems(datasets, cv, n_repeats, seed)
    ledger = _open_ledger(checkpoint, found, problems, scoring, seed)
    tasks = list(_unfinished(found, problems, ledger, scoring, seed))
    total = len(found) * sum(len(problem.splits) for problem in problems)
    with bar(total, total - len(tasks), shown=verbose > 0) as update:
        run(tasks, ledger, error_score, n_jobs, lambda what, left: update(what, total - left))
    return _comparison(tuple(found), problems, ledger, _shown(scoring), error_score)


def _unfinished(
    models: Mapping[str, Any], problems: list[Problem], ledger: Ledger, scoring: Any, seed: int
) -> Iterator[Task]:
    for problem in problems:
        for name, model in models.items():
            done = ledger.done(problem.name, name)
            for number, split in enumerate(problem.splits):
                if number not in done:
                    where = problem.name, name, number
                    yield Task(*where, model, problem.X, problem.y, split, scoring, seed)


def _open_ledger(
    checkpoint: Any, models: Mapping[str, Any], problems: list[Problem], scoring: Any, seed: int
) -> Ledger:
    if checkpoint is None:
        return Ledger(None, {}, {}, {})
    return Ledger(
        checkpoint,
        {"scoring": text(scoring), "random_state": text(seed)},
        {problem.name: _fingerprint(problem) for problem in problems},
        {name: parameters(model) for name, model in models.items()},
    )


def _fingerprint(problem: Problem) -> dict[str, str]:
    rows = [part for split in problem.splits for part in split]
    return {"X": digest(problem.X), "y": digest(problem.y), "splits": digest(*rows)}


def _comparison(
    models: tuple[str, ...],
    problems: list[Problem],
    ledger: Ledger,
    scoring: str,
    error_score: Any,
) -> Comparison:
    most = max(len(problem.splits) for problem in problems)
    scores, times = np.full((2, len(problems), len(models), most), np.nan)
    sizes = np.zeros((2, len(problems), most), dtype=np.intp)
    for i, problem in enumerate(problems):
        n_splits = len(problem.splits)
        sizes[:, i, :n_splits] = np.transpose(
            [[len(part) for part in split] for split in problem.splits]
        )
        for j, name in enumerate(models):
            scores[i, j, :n_splits] = np.nan if error_score == "raise" else error_score
            for number, fold in ledger.done(problem.name, name).items():
                scores[i, j, number], times[i, j, number] = fold
    return Comparison(
        datasets=tuple(problem.name for problem in problems),
        models=models,
        scores=scores,
        fit_times=times,
        train_sizes=sizes[0],
        test_sizes=sizes[1],
        scoring=scoring,
    )


def _shown(scoring: Any) -> str:
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))


def _check_scoring(scoring: Any, error_score: Any) -> None:
    if not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(
            f"scoring={scoring!r} must be the name of one score of scikit-learn, or a function "
            "scoring(model, X, y)."
        )
    get_scorer(scoring)
    if error_score != "raise" and not isinstance(error_score, (int, float)):
        raise ValueError(f"error_score={error_score!r} must be 'raise' or a number.")


def _check_seed(random_state: Any, checkpoint: Any) -> int:
    """Return one integer from which everything random follows."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return integer_in(random_state, "random_state={value!r}", 0, 2**32 - 1)
    if checkpoint is not None:
        raise ValueError(
            f"checkpoint needs an integer random_state, got {random_state!r}: without it a second "
            "call would draw other splits, and could not continue."
        )
    return int(check_random_state(random_state).randint(2**31 - 1))
