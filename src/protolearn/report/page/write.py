"""Write the report of a model."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import column_or_1d

from ..._files import replacing
from ..._names import class_name, count, shorten_name
from ..._validation import integer_in
from ..prototype_pictures import checked_shape
from ..subject import Subject
from .document import page, tell_missing
from .evidence import Evidence, by_folds, by_given_rows
from .made import data_fingerprint, settings, surroundings
from .relevances import relevances_of
from .story import MOST_ROWS, Story, some_rows


def write(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    cv: Any = 5,
    title: str | None = None,
    feature_names: Sequence[str] | None = None,
    image_shape: tuple[int, ...] | None = None,
    n_refits: int = 20,
    model_path: str | os.PathLike[str] = "model.protolearn",
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Path:
    """Write a page that tells what a model has learned, how good it is, and where to look.

    One file that a browser shows without a network: measures with intervals, the prototypes in your
    units, which columns count, a map, margins and certificates, the rows most worth a second look
    with their counterfactuals, and how the model was made.

    Parameters
    ----------
    model : classifier
        A fitted one, best in a pipeline that begins with your table, see
        :func:`~protolearn.tables.table_pipeline`, or with scalers: these can be undone, and then
        everything is told in your units. A search is told by what it has found. A classifier of
        another library has a page as well, without what only prototypes and margins tell.
    X : DataFrame, structured array, or array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their labels.
    path : str or path
        The file to make; its folder is made if it is missing.
    cv : int, splitter, iterable or None, default=5
        Folds of these rows for the measures: a clone of the model is fitted without each, so that
        rows that the model was fitted to can be given. None: these are rows that the model has not
        seen, and it is measured by them itself.
    title : str, default=None
        The heading; None: the class of the model.
    feature_names : sequence of str, default=None
        Names of the columns of an array; frames have their own.
    image_shape : tuple of int, default=None
        Rows and columns, and 3 if there are colours, of features that form a picture: prototypes
        are then shown as pictures.
    n_refits : int, default=20
        Fits for the intervals of relevances, where a metric is learned; fewer than 10: no
        intervals.
    model_path : str or path, default="model.protolearn"
        The file from which the page says the model can be loaded. It is not written.
    n_jobs : int, default=None
        Fits at a time; None is one, -1 all cores.
    random_state : int, default=0
        Draws folds, and the rows that are shown of many.
    verbose : int, default=0
        1 prints what is being done.

    Returns
    -------
    path : Path
        The file.

    See Also
    --------
    PrototypeDisplay, ProjectionDisplay, RelevanceDisplay : The same pictures for papers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ, report
    >>> from protolearn.tables import table_pipeline
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = table_pipeline(GMLVQ(random_state=0)).fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.html"
    >>> report.write(model, X, y, path, n_refits=10).name
    'iris.html'
    """
    begun = perf_counter()
    seed = integer_in(random_state, "random_state={value!r}", 0)
    n_refits = integer_in(n_refits, "n_refits={value!r}", 0)
    X, y = (np.asarray(X) if isinstance(X, (list, tuple)) else X), column_or_1d(y)
    say = print if verbose else lambda text: None
    if Path(path).is_dir():
        raise IsADirectoryError(f"path={os.fspath(path)!r} is a folder; expected a file to make.")
    say("[report] reading the model and the rows")
    subject = Subject.of(model, X, y, feature_names)
    y = subject.y
    _ = subject.predicted  # rows that do not fit the model are told before any work
    shape = None if image_shape is None else checked_shape(image_shape, subject.columns)
    tell_missing()
    say("[report] judging the model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # which the fit itself has told
        if cv is None:
            evidence = by_given_rows(model, X, y, seed)
        else:
            evidence = by_folds(model, X, y, cv, seed, n_jobs)
    say("[report] finding out which columns count")
    story = Story(
        title=class_name(subject.last) if title is None else shorten_name(str(title), 200),
        about=about(subject),
        sentences=sentences(subject, evidence),
        subject=subject,
        evidence=evidence,
        relevances=relevances_of(
            subject, some_rows(len(subject.y), MOST_ROWS, seed), n_refits, None, n_jobs, seed
        ),
        made=[("settings", settings(model))],
        page=[
            ("rows", f"{len(subject.y):,}, fingerprint {data_fingerprint(X, y)}"),
            ("measured by", evidence.by),
            ("seed", seed),
            *surroundings(),
        ],
        begun=begun,
        use=how_to_load(model_path, "X"),
        row_names=names_of_rows(X),
        image_shape=shape,
        tried=candidates(model),
        seed=seed,
    )
    say("[report] drawing")
    write_page(story, path)
    return Path(path)


def write_page(story: Story, path: str | os.PathLike[str]) -> None:
    """Write a page, beside the file first."""
    text = page(story)
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")


def about(subject: Subject) -> str:
    """Return a text that says what the page is about."""
    counts = np.bincount(subject.codes, minlength=len(subject.classes))
    names = [shorten_name(name, 40) for name in subject.classes]
    parts = [f"{name} ({n:,})" for name, n in zip(names, counts, strict=True)]
    more = f" and {len(parts) - 8} more" if len(parts) > 8 else ""
    return (
        f"{count(len(subject.y), 'row')}, {count(len(subject.columns), 'column')}, "
        f"{len(parts)} class{'es' * (len(parts) > 1)}: "
        f"{', '.join(parts[:8])}{more}"
    )


def sentences(subject: Subject, evidence: Evidence) -> list[str]:
    """Return what was learned, in three sentences."""
    accuracy = evidence.evaluation.accuracy
    name, true = class_name(subject.last), evidence.answers.y_true
    labels, counts = np.unique(true, return_counts=True)
    most = int(counts.argmax())
    found, columns = subject.prototypes, count(int(subject.used.sum()), "column")
    told = (
        f"{name} tells {len(subject.classes)} classes apart by {columns}"
        if found is None
        else f"{name} tells {len(subject.classes)} classes apart by "
        f"{count(len(found[0]), 'prototype')} in {columns}"
    )
    pairs = evidence.evaluation.confusion
    errors = pairs.counts - np.diag(np.diag(pairs.counts))
    i, j = np.unravel_index(int(errors.argmax()), errors.shape)
    third = (
        f"Its most frequent error is to take {name_of(pairs.labels[i])} for "
        f"{name_of(pairs.labels[j])}: "
        f"{errors[i, j]:,} of {pairs.counts[i].sum():,} rows."
        if errors.any()
        else f"It made no error on {len(true):,} rows."
    )
    return [
        f"{told}.",
        f"It is right in {accuracy.value:.1%} of cases ({evidence.evaluation.confidence:.0%} "
        f"interval {accuracy.low:.1%} to {accuracy.high:.1%}); always saying "
        f"{name_of(labels[most])!r} would be right in {counts[most] / len(true):.1%}.",
        third,
    ]


def name_of(label: Any) -> str:
    """Write a class."""
    return shorten_name(str(label), 80)


def how_to_load(path: str | os.PathLike[str], rows: str) -> str:
    """Return the lines that load a model."""
    return (
        "from protolearn import load\n"
        f"model = load({os.fspath(path)!r})\n"
        f"model.predict({rows})  # rows with the same columns"
    )


def candidates(model: Any) -> Sequence[Any]:
    """Return the candidates among which the model was chosen, if it was."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return getattr(last, "leaderboard_", ())


def names_of_rows(X: Any) -> Sequence[Any]:
    """Return the names of the rows of a frame, or their numbers, the first is 0."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not index.is_unique:
        return range(len(X))
    return [shorten_name(str(name), 60) for name in index]
