"""The report: one file that a browser shows without a network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import column_or_1d

from ..._files import replacing
from ..._names import shorten_name
from ..._validation import integer_in
from ...analysis import is_linear_rule
from ...classifiers import NearestPrototypeClassifier
from ...io import engine_text
from ...tables import CategoryColumn, TextColumn
from ..prototype_display import checked_shape
from ..subject import Subject
from .chart import as_json
from .column_importance import (
    MOST_BARS,
    MOST_GROUPS,
    directions_of,
    effect_charts,
    effects_of,
    importance_images,
    important_columns,
    relevances_of,
)
from .contents import (
    MOST_MEASURED_ROWS,
    Story,
    default_title,
    describe_data,
    sample_rows,
    sentences,
)
from .decision_map import HEIGHT, WIDTH, decision_map, row_details
from .evidence import CONFIDENCE, evidence_for
from .live_model import EditReport, column_ends, page_table, plane_numbers
from .margin_charts import distance_unit, robustness_of
from .model_card import BLANK_USE, card_record, error_shares, judged_data, model_card
from .performance import MOST_CLASSES, curve_charts, frequent_errors, headline, measures
from .prototype_cards import (
    class_values,
    effect_cells,
    overview_cards,
    prototype_cards,
    why_none,
)
from .provenance import (
    MOST_TRIED,
    data_fingerprint,
    loading_code,
    model_settings,
    provenance_tables,
    versions_and_date,
)
from .rendering import colours, page_templates
from .suspect_rows import cases_of, find_suspects

EFFECT_ROWS = 200  # rows over which effects are averaged
FEW_CARDS = 8  # on the first screen
MOST_EFFECTS, MOST_STRIPS = 25, 8  # effects of a class, and classes whose values are drawn


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
    """Write a page that shows what a model has learned, how good it is, and where to look.

    One file that a browser shows without a network: the performance with intervals and beside a
    baseline, the prototypes in your units, the importance of the columns, a map, the rows most
    worth a second look with their counterfactuals, certificates, and how the model was made.

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
        The heading; None: what is predicted, by the name of ``y`` or the classes.
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
    given_y = y
    X, y = (np.asarray(X) if isinstance(X, (list, tuple)) else X), column_or_1d(y)
    say = print if verbose else lambda text: None
    if Path(path).is_dir():
        raise IsADirectoryError(f"path={os.fspath(path)!r} is a folder; expected a file to make.")
    say("[report] reading the model and the rows")
    subject = Subject.of(model, X, y, feature_names)
    y = subject.y
    _ = subject.predicted_codes  # rows that do not fit the model are told before any work
    shape = None if image_shape is None else checked_shape(image_shape, subject.columns)
    page_templates()  # before any work
    say("[report] evaluating the model")
    evidence = evidence_for(model, X, y, cv, seed, n_jobs)
    say("[report] measuring the importance of the columns")
    rows = sample_rows(len(y), MOST_MEASURED_ROWS, seed)
    story = Story(
        title=default_title(subject, given_y) if title is None else shorten_name(str(title), 200),
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
    say("[report] writing the page")
    write_page(story, path)
    return Path(path)


def write_page(story: Story, path: str | os.PathLike[str]) -> None:
    """Write a page, beside the file first."""
    text = page_html(story)
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")


def page_html(story: Story) -> str:
    """Return the page."""
    subject, evidence = story.subject, story.evidence
    cases, details = case_parts(story)
    live, judged = live_data(story, cases), judged_data(evidence, subject, story.seed)
    data = {"classes": subject.classes, "rows": details, "live": live, "judged": judged}
    found = measures(evidence)
    return (
        page_templates()
        .get_template("page.html")
        .render(
            title=story.title,
            story=story,
            subject=subject,
            classes=subject.classes,
            evidence=evidence,
            confidence=f"{CONFIDENCE:.0%}",
            measures=found,
            headline=headline(story, found),
            errors=frequent_errors(evidence),
            most_classes=MOST_CLASSES,
            curves=curve_charts(story),
            **learned_parts(story),
            **cases,
            robustness=robustness_of(story),
            provenance=provenance_tables(story),
            most_tried=MOST_TRIED,
            live=live,
            judged=judged,
            static_reason=story.live.reason and f"The reason: {story.live.reason}.",
            edit_report=EditReport.of(subject, story.live),
            engine=engine_text(),
            card_text=model_card(card_record(story)),
            blank_use=BLANK_USE,
            colours=colours(),
            data=as_json(data),
        )
    )


def live_data(story: Story, cases: dict[str, Any]) -> dict[str, Any] | None:
    """Return the model and the rows with which the page computes; None if it cannot."""
    subject, live, found = story.subject, story.live, cases["map"]
    if live.working is None:
        return None
    working, document = live.working, live.working.document
    suspects = np.array([one.suspect.row for one in cases["cases"]], dtype=np.intp)
    rows = story.rows_on_map(suspects)
    can_be_edited = live.can_be_edited
    log = getattr(getattr(subject.last, "rule_", None), "log", None)
    edits = None
    if can_be_edited:
        shown = live.marks[rows[live.is_kept[rows]]]
        edits = working.edits and working.edits | {"shown": shown.tolist()}
    return {
        "document": document,
        "edits": edits,
        "locked": log.locked if log else [],
        "back": working.maps[0].tolist() if working.is_mixed and len(working.maps) == 1 else None,
        "ends": column_ends(subject, document["columns"]),
        "order": story.columns_that_count or list(range(len(document["columns"]))),
        "table": page_table(subject, live, rows, story.row_names, story.seed),
        "plane": plane_numbers(working, found.plane, found.corners, np.array([WIDTH, HEIGHT]))
        if found is not None and can_be_edited
        else None,
        "errors": error_shares(story),
        "unit": distance_unit(story.measured_subject),
    }


def learned_parts(story: Story) -> dict[str, Any]:
    """Return what the page shows of prototypes and columns."""
    subject = story.subject
    effects = effects_of(subject, sample_rows(len(subject.y), EFFECT_ROWS, story.seed))
    directions = directions_of(subject, effects)
    cards = prototype_cards(story, directions)
    return {
        "is_linear": is_linear_rule(subject.last),
        "cards": cards,
        "first_cards": overview_cards(cards, FEW_CARDS),
        "has_words": any(isinstance(one, (CategoryColumn, TextColumn)) for one in subject.columns),
        "no_prototypes": why_none(subject),
        "is_nearest": isinstance(subject.last, NearestPrototypeClassifier),
        "effects": effect_tables(effects),
        "are_exact": effects is not None and effects.exact,
        "effect_charts": effect_charts(story),
        **feature_parts(story, directions),
    }


def case_parts(story: Story) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the page shows of single rows, and the rows of the map for its script."""
    found = find_suspects(story)
    rows = story.rows_on_map(np.array([one.row for one in found], dtype=np.intp))
    cases, no_changes = cases_of(story, found)
    parts = {
        "cases": cases,
        "no_changes": no_changes,
        "map": decision_map(story, rows),
        "map_size": (WIDTH, HEIGHT),
    }
    return parts, row_details(story, rows, cases)


def feature_parts(story: Story, directions: dict[str, Any]) -> dict[str, Any]:
    """Return what the page shows of the importance of columns."""
    found, names = story.relevances, story.subject.names
    if found.reason:
        return {"groups": [], "importance_images": [], "n_more": 0}
    strips: dict[str, Any] = {}
    if story.columns_that_count is not None and len(story.subject.classes) <= MOST_STRIPS:
        drawn = class_values(story, story.columns_that_count[:MOST_BARS])
        strips = {names[j]: one for j, one in drawn.items()}
    is_picture = story.image_shape is not None and len(found.names) == np.prod(story.image_shape)
    groups = found.groups[:MOST_GROUPS] or [""]
    return {
        "groups": [
            (name, important_columns(found, g, directions, strips)) for g, name in enumerate(groups)
        ],
        "importance_images": importance_images(found, story.image_shape or ())
        if is_picture
        else [],
        "n_more": max(len(found.names) - MOST_BARS, 0),
    }


def effect_tables(effects: Any) -> list[tuple[str, list[list[str]]]]:
    """Return for each class the largest effects as lines of a table."""
    found = []
    for label, several in zip(effects.classes, effects.effects, strict=True) if effects else ():
        largest = sorted(several, key=lambda one: -abs(one.effect))[:MOST_EFFECTS]
        found.append((shorten_name(str(label), 80), [effect_cells(one) for one in largest]))
    return found[:MOST_STRIPS]


def names_of_rows(X: Any) -> Sequence[Any]:
    """Return the names of the rows of a frame, or their numbers, the first is 0."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not index.is_unique:
        return range(len(X))
    return [shorten_name(str(name), 60) for name in index]
