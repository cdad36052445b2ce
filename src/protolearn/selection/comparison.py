"""Fitting several models on the same splits of several data sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils import check_consistent_length, check_random_state, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._arrays import Floats
from .._names import class_name, number_repeats
from .._validation import integer_in
from ..datasets import load
from ..folds import Fold, RowGroups, row_groups, stratified_folds
from ..store import Store, digest, parameters, text
from .comparison_fits import FoldScore, Task, comparison_bar, open_scores, run
from .comparison_result import Comparison
from .held_out import as_indices


@dataclass(frozen=True, eq=False)
class ComparedData:
    """A data set, the splits that all models share, the user's groups, and which rows are equal."""

    name: str
    X: Any
    y: NDArray[Any]
    splits: tuple[Fold, ...]
    groups: NDArray[Any] | None
    together: RowGroups


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    datasets: Any,
    *,
    cv: Any = 10,
    scoring: str | Callable[..., float] = "accuracy",
    n_repeats: int = 1,
    groups: Any = None,
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
        An integer: stratified folds, shuffled, which keep equal rows in one fold. A splitter of
        scikit-learn, whose ``split(X, y)`` is called once for each data set, with the groups if
        there are any. Pairs (training rows, test rows) for one data set. Your own splits may divide
        equal rows.
    scoring : str or callable, default="accuracy"
        A score of scikit-learn, or a function ``scoring(model, X, y)``; larger is better.
    n_repeats : int, default=1
        How often the folds are drawn anew, if ``cv`` is an integer.
    groups : array-like of shape (n_samples,) or dict of str to array-like, default=None
        Rows that depend on each other, such as those of one patient, have the same label here;
        with several data sets a dict by their names. They stay in one fold. Groups that have a row
        in common, up to rounding, count as one. AutoPrototypeClassifier is given them too.
    n_jobs : int, default=None
        Fits at the same time; None: one, or as joblib's context says; -1: as many as there are
        processors. It does not change the scores.
    checkpoint : str or path, default=None
        A file of JSON lines that gets every fit as it ends. A second call with the same file, after
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
    datas = named_data(datasets, cv, n_repeats, seed, groups)
    total = len(found) * sum(len(data.splits) for data in datas)
    with _open_checkpoint(checkpoint, found, datas, scoring, seed) as kept:
        tasks = [
            Task(data.name, name, number, model, data.X, data.y, split, scoring, seed, data.groups)
            for data in datas
            for name, model in found.items()
            for number, split in enumerate(data.splits)
            if (data.name, name, number) not in kept
        ]
        with comparison_bar(total, total - len(tasks), shown=verbose > 0) as update:
            run(tasks, kept, error_score, n_jobs, lambda what, left: update(what, total - left))
        name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))
        return _comparison(tuple(found), datas, kept, name, error_score)


def _open_checkpoint(
    checkpoint: Any, models: Mapping[str, Any], datas: list[ComparedData], scoring: Any, seed: int
) -> Store:
    """Open the file of a comparison, or a store in memory, which needs no fingerprints."""
    if checkpoint is None:
        return open_scores(None, {}, {})
    names = {
        ("data set", data.name): {
            "X": digest(data.X),
            "y": digest(data.y),
            "splits": digest(*(part for split in data.splits for part in split)),
        }
        for data in datas
    }
    names |= {("model", name): parameters(model) for name, model in models.items()}
    return open_scores(checkpoint, {"scoring": text(scoring), "random_state": text(seed)}, names)


def _comparison(
    models: tuple[str, ...], datas: list[ComparedData], kept: Store, scoring: str, error_score: Any
) -> Comparison:
    """Return all scores that are there, and the sizes of the splits."""
    most = max(len(data.splits) for data in datas)
    scores, times = np.full((2, len(datas), len(models), most), np.nan)
    sizes = np.zeros((2, len(datas), most), dtype=np.intp)
    for i, data in enumerate(datas):
        n_splits = len(data.splits)
        sizes[:, i, :n_splits] = np.transpose([list(map(len, split)) for split in data.splits])
        for j, name in enumerate(models):
            scores[i, j, :n_splits] = np.nan if error_score == "raise" else error_score
            for number in range(n_splits):
                if (fold := kept.get((data.name, name, number))) is not None:
                    scores[i, j, number], times[i, j, number] = FoldScore(*fold)[:2]
    return Comparison(
        datasets=tuple(data.name for data in datas),
        models=models,
        scores=scores,
        fit_times=times,
        train_sizes=sizes[0],
        test_sizes=sizes[1],
        scoring=scoring,
        notes=tuple(
            note if len(datas) == 1 else f"{data.name}: {note}"
            for data in datas
            for note in data.together.notes
        ),
        right=tuple(rows_right(data, models, kept) for data in datas),
        row_codes=tuple(data.together.of(np.arange(len(data.y))) for data in datas),
        label_codes=tuple(np.unique(data.y, return_inverse=True)[1] for data in datas),
    )


def rows_right(data: ComparedData, models: tuple[str, ...], kept: Store) -> Floats:
    """Return how often each model is right about each row when it is tested; NaN if unknown."""
    right, n_tests = np.zeros((len(models), len(data.y))), np.zeros(len(data.y))
    for number, (_, test) in enumerate(data.splits):
        np.add.at(n_tests, test, 1.0)
        for j, name in enumerate(models):
            fold = kept.get((data.name, name, number))
            told = "" if fold is None else FoldScore(*fold).right
            flags = np.full(len(test), np.nan)
            if told:
                flags = np.unpackbits(np.frombuffer(bytes.fromhex(told), np.uint8))[: len(test)]
            np.add.at(right[j], test, flags)
    return np.divide(right, n_tests, out=np.full_like(right, np.nan), where=n_tests > 0.0)


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


def named_models(models: Any) -> dict[str, Any]:
    """Return classifiers by name; those of a list have the name of their class, and a number.

    A Pipeline is called by its last step.
    """
    if isinstance(models, Mapping):
        found = {_name(name, "model"): model for name, model in models.items()}
    elif isinstance(models, (list, tuple)):
        found = dict(zip(number_repeats([class_name(m) for m in models]), models, strict=True))
    else:
        raise ValueError(f"models={models!r} must be a dict of classifiers by name, or a list.")
    if not found:
        raise ValueError("models is empty; give one classifier at least.")
    for name, model in found.items():
        if isinstance(model, type):
            raise ValueError(f"Model {name!r} is the class {model.__name__}; give an object of it.")
        if not (hasattr(model, "fit") and hasattr(model, "get_params") and is_classifier(model)):
            raise ValueError(
                f"Model {name!r} is {model!r}; expected a classifier with scikit-learn's methods."
            )
    return found


def named_data(
    datasets: Any, cv: Any, n_repeats: int, seed: int, groups: Any
) -> list[ComparedData]:
    """Return the data sets by name, checked, with the splits of each."""
    pairs = _named_pairs(datasets)
    cv = _check_cv(cv, n_repeats, len(pairs))
    own = _named_groups(groups, tuple(pairs))
    return [
        _compared_data(name, pair, cv, n_repeats, seed, own.get(name))
        for name, pair in pairs.items()
    ]


def _named_groups(groups: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the groups of rows by the name of the data set."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        if len(names) > 1:
            raise ValueError(
                f"groups belongs to one data set, but there are {len(names)}; give a dict of "
                "groups by the name of the data set."
            )
        groups = {names[0]: groups}
    unknown = [name for name in groups if name not in names]
    if unknown:
        raise ValueError(
            f"groups names {unknown!r}; the data sets are {', '.join(map(repr, names))}."
        )
    return groups


def _named_pairs(datasets: Any) -> dict[str, Any]:
    """Return X and y by the name of the data set, loaded where only a name is given."""
    if isinstance(datasets, str):
        datasets = [datasets]
    if isinstance(datasets, tuple) and not all(isinstance(one, str) for one in datasets):
        datasets = {"data": datasets}
    if isinstance(datasets, Mapping):
        found = {_name(name, "data set"): pair for name, pair in datasets.items()}
    elif isinstance(datasets, (list, tuple)) and all(isinstance(one, str) for one in datasets):
        found = {name: load(name) for name in datasets}
        if len(found) < len(datasets):
            raise ValueError(f"datasets={list(datasets)!r} must be different names.")
    else:
        raise ValueError(
            f"datasets of type {type(datasets).__name__} must be a dict of pairs (X, y) by name, "
            "a list of names of protolearn.datasets, one name, or one tuple (X, y)."
        )
    if not found:
        raise ValueError("datasets is empty; give one at least.")
    return found


def _compared_data(
    name: str, pair: Any, cv: Any, n_repeats: int, seed: int, groups: Any
) -> ComparedData:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"Data set {name!r} must be a pair (X, y), got {type(pair).__name__}.")
    together = RowGroups(None)
    try:
        X, y = indexable(pair[0], column_or_1d(pair[1]))
        check_consistent_length(X, y)
        check_classification_targets(y)
        groups = None if groups is None else column_or_1d(groups)
        if isinstance(cv, int):
            together = row_groups(X, groups)
            pairs: Any = stratified_folds(y, cv, together, n_repeats=n_repeats, random_state=seed)
        elif hasattr(cv, "split"):
            pairs = cv.split(X, y, *(() if groups is None else (groups,)))
        else:
            pairs = cv
        splits = tuple((as_indices(train), as_indices(test)) for train, test in pairs)
    except (ValueError, TypeError) as error:
        raise ValueError(f"Data set {name!r}: {error}") from error
    if not splits or not all(len(part) for split in splits for part in split):
        raise ValueError(f"cv={cv!r} gives data set {name!r} no splits, or empty ones.")
    return ComparedData(name, X, y, splits, groups, together)


def _check_cv(cv: Any, n_repeats: int, n_datasets: int) -> Any:
    """Return a number of folds, a splitter, or a list of pairs of indices."""
    if isinstance(cv, (int, np.integer)):
        return integer_in(cv, "cv={value!r}", 2)
    if n_repeats != 1:
        raise ValueError(
            f"n_repeats={n_repeats} is for an integer cv; cv={cv!r} has its own number of splits."
        )
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    try:
        pairs = [(train, test) for train, test in cv]
    except (TypeError, ValueError):
        raise ValueError(
            f"cv={cv!r} must be a number of folds, a splitter of scikit-learn, or pairs "
            "(training rows, test rows)."
        ) from None
    if n_datasets > 1:
        raise ValueError(
            f"cv is a list of rows, which belongs to one data set, but there are {n_datasets}; "
            "give an integer or a splitter."
        )
    return pairs


def _name(name: Any, kind: str) -> str:
    if isinstance(name, str) and name:
        return name
    raise ValueError(f"The name {name!r} of a {kind} must be a string, not empty.")
