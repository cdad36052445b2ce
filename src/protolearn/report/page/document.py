"""The report as a whole: one file that a browser shows without a network."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
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
from ...selection import Estimate
from ..prototype_drawings import checked_shape
from ..style import COLOURS
from ..subject import Subject
from .chart import as_json
from .column_importance import columns_section, relevances_of
from .contents import MOST_MEASURED_ROWS, Section, Story, describe_data, sample_rows, sentences
from .decision_map import map_section, row_details
from .evidence import by_folds, by_given_rows
from .html import Markup, paragraph, tag
from .margin_charts import margins_section
from .performance import performance_section
from .prototype_section import prototypes_section
from .provenance import (
    candidates_section,
    data_fingerprint,
    loading_code,
    model_settings,
    path_section,
    provenance_section,
    versions_and_date,
)
from .suspect_rows import find_suspects, suspects_section

# The colours of classes on a dark page, in the order of the others.
ON_DARK = ("#4FA8E0", "#E69F00", "#2FBF8F", "#E090BE", "#7FCBF2", "#F07F3C", "#F0E442", "#BDBDBD")
NO_CHARTS = "The charts of a report need plotly: pip install 'protolearn[report]'."


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
    _ = subject.predicted_codes  # rows that do not fit the model are told before any work
    shape = None if image_shape is None else checked_shape(image_shape, subject.columns)
    if not charting_library():
        warnings.warn(NO_CHARTS, stacklevel=2)
    say("[report] judging the model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # which the fit itself has told
        if cv is None:
            evidence = by_given_rows(model, X, y, seed)
        else:
            evidence = by_folds(model, X, y, cv, seed, n_jobs)
    say("[report] finding out which columns count")
    rows = sample_rows(len(y), MOST_MEASURED_ROWS, seed)
    story = Story(
        title=class_name(subject.last) if title is None else shorten_name(str(title), 200),
        about=describe_data(subject),
        sentences=sentences(subject, evidence),
        subject=subject,
        evidence=evidence,
        relevances=relevances_of(subject, rows, n_refits, None, n_jobs, seed),
        made=[("settings", model_settings(model))],
        page=[
            ("rows", f"{len(subject.y):,}, fingerprint {data_fingerprint(X, y)}"),
            ("measured by", evidence.by),
            ("seed", seed),
            *versions_and_date(),
        ],
        begun=begun,
        use=loading_code(model_path, "X"),
        row_names=names_of_rows(X),
        image_shape=shape,
        tried=getattr(model[-1] if isinstance(model, Pipeline) else model, "leaderboard_", ()),
        seed=seed,
    )
    say("[report] drawing")
    write_page(story, path)
    return Path(path)


def write_page(story: Story, path: str | os.PathLike[str]) -> None:
    """Write a page, beside the file first."""
    text = page_html(story)
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")


def page_html(story: Story) -> str:
    """Return the page."""
    library = charting_library()
    found = find_suspects(story)
    rows = story.rows_on_map(np.array([doubt.row for doubt in found], dtype=np.intp))
    wanted = [
        performance_section(story),
        prototypes_section(story),
        columns_section(story),
        map_section(story, rows),
        margins_section(story),
        suspects_section(story, found),
        path_section(story),
        candidates_section(story),
        provenance_section(story),
    ]
    sections = [section for section in wanted if section is not None]
    charts = [chart.data for section in sections for chart in section.charts]
    data = {"charts": charts, "classes": story.subject.classes, "rows": row_details(story, rows)}
    body = [
        tag("a", "Skip to the text", href="#short", class_="skip"),
        *header(story, sections),
        tag("main", in_short(story), [section.html for section in sections]),
        tag("footer", paragraph("Made with protolearn. This file is complete in itself.")),
    ]
    scripts = [
        tag("script", as_json(data), type="application/json", id="data"),
        tag("script", Markup(library)),
        tag("script", Markup(text_of("page.js"))),
    ]
    kind = "with-charts" if library else "without-charts"
    inside = tag("body", body, scripts if library else None, class_=kind)
    return whole_page(story.title, "", inside)


def whole_page(title: str, more_style: str, body: Markup) -> str:
    """Return a page with the style of the report, and more."""
    head = tag(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("title", title),
        tag("style", Markup(colours() + text_of("page.css") + more_style)),
    )
    return f'<!doctype html>\n<html lang="en">\n{head}\n{body}\n</html>\n'


def header(story: Story, sections: list[Section]) -> list[Markup]:
    """Return the head of the page: its title, and the way to the sections."""
    links = [tag("a", one.short, href=f"#{one.name}") for one in sections]
    options = [tag("option", "all classes", value="")]
    options += [tag("option", name, value=code) for code, name in enumerate(story.subject.classes)]
    label, select = tag("label", "Show ", for_="class"), tag("select", options, id="class")
    pick, brand = tag("div", label, select, class_="pick"), paragraph("protolearn report", "brand")
    return [
        tag("header", brand, tag("h1", story.title), paragraph(story.about, "about")),
        tag("nav", tag("div", links, class_="links"), pick, aria_label="Sections"),
    ]


def in_short(story: Story) -> Markup:
    """Return what was learned, with the most important numbers."""
    evaluation, subject = story.evidence.evaluation, story.subject
    accuracy, balanced = evaluation.accuracy, evaluation.balanced_accuracy
    n_prototypes = 0 if subject.prototypes is None else len(subject.prototypes[0])
    tiles = [
        tile(f"{accuracy.value:.1%}", "accuracy", interval_text(accuracy)),
        tile(f"{balanced.value:.1%}", "balanced accuracy", interval_text(balanced)),
        tile(str(n_prototypes or "none"), "prototypes", f"{len(subject.classes)} classes"),
        tile(f"{len(subject.y):,}", "rows", count(int(subject.is_used.sum()), "column")),
    ]
    return tag(
        "section",
        tag("h2", "Summary"),
        [paragraph(text, "warning") for text in story.warnings],
        [paragraph(sentence) for sentence in story.sentences],
        tag("div", tiles, class_="tiles"),
        None if charting_library() else paragraph(NO_CHARTS, "warning"),
        id="short",
    )


def interval_text(one: Estimate) -> str:
    """Return an interval as text, unless it is empty."""
    return f"{one.low:.1%} to {one.high:.1%}" if one.low < one.high else "no interval"


def tile(value: str, name: str, more: str) -> Markup:
    """Return a number, shown large."""
    return tag("div", tag("strong", value), tag("span", name), tag("small", more), class_="tile")


def colours() -> str:
    """Return the colours of classes to the page, for light and dark."""
    light, dark = (
        "".join(f"--class-{i}:{value};" for i, value in enumerate(values))
        for values in (COLOURS, ON_DARK)
    )
    dark = f":root:not([data-theme=light]){{{dark}}}"
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def text_of(name: str) -> str:
    """Return a file that is part of the page."""
    return files(__package__).joinpath(name).read_text("utf-8")


@cache
def charting_library() -> str:
    """Return the charting library, or nothing if it is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        return ""
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def names_of_rows(X: Any) -> Sequence[Any]:
    """Return the names of the rows of a frame, or their numbers, the first is 0."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not index.is_unique:
        return range(len(X))
    return [shorten_name(str(name), 60) for name in index]
