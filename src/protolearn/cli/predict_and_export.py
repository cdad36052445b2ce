"""What is made of a saved model: answers, other languages, an edited model, a card, a report."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.recfunctions import repack_fields
from rich.console import Console
from rich.progress import track

from .._files import replacing
from .._names import count
from ..reading import different_names, text_of
from ..tables import flatten_steps
from .command_output import Screen, open_text, say, spreadsheet_lines
from .data_source import PLAIN_READING, Reading
from .failure import FAILED, Failure
from .output_checks import check_model_file, check_outputs
from .saved_model import RowPredictions, RowPredictor, SavedModel

ROWS_AT_A_TIME = 10_000
"""Rows that are asked about at a time."""

STANDARD_OUTPUT = Path("-")


def run_predict(
    model: Path,
    data: str,
    out: Path,
    keep: bool = False,
    reading: Reading = PLAIN_READING,
    raw: bool = False,
    force: bool = False,
) -> None:
    """Ask a model about all rows, and write a line for each; ``keep``: with the table's columns."""
    aside = Screen(stderr=True)
    check_outputs([] if out == STANDARD_OUTPUT else [out], [model, data], force)
    saved = SavedModel.open(model)
    with aside.status("reading"):
        read, ids = saved.read(data, reading, keep)
    frame = read.frame
    for note in read.assumptions:
        say(aside, f"note: {note}")
    unseen = saved.unseen_note(frame)
    if unseen:
        say(aside, f"note: {unseen}")
    predictor = RowPredictor(saved)
    starts: Iterable[int] = range(0, len(frame), ROWS_AT_A_TIME)
    if len(frame) > ROWS_AT_A_TIME and aside.is_terminal:
        starts = track(starts, "asking", console=aside, transient=True)
    n_flagged, n_known = 0, 0
    kept = [name for name in frame.dtype.names or () if keep and name not in ids]
    with open_output(out) as file:
        writer, terminal = csv.writer(file, lineterminator="\n"), file.isatty()
        names = different_names(["row", *ids, *answer_columns(predictor), *kept], [])
        writer.writerows(spreadsheet_lines([names], raw, terminal))
        for start in starts:
            rows = frame[start : start + ROWS_AT_A_TIME]
            answers = predictor.ask(rows)
            lines = with_columns(answer_lines(predictor, answers), rows, start, ids, kept)
            n_known += 0 if answers.known is None else int(answers.known.sum())
            writer.writerows(spreadsheet_lines(lines, raw, terminal))
            n_flagged += 0 if answers.flagged is None else int(answers.flagged.sum())
    for what, reason in predictor.reasons.items():
        say(aside, f"note: no {what.replace('_', ' ')}: {reason}")
    if n_known:
        what = f"{n_known:,} of {count(len(frame), 'row')} {'is' if n_known == 1 else 'are'}"
        say(
            aside,
            f"note: {what} among the training rows; accuracy on them says little about new rows",
        )
    where = "" if out == STANDARD_OUTPUT else f" in {out}"
    flagged = f", {n_flagged:,} flagged for a second look" if predictor.threshold else ""
    say(aside, f"{count(len(frame), 'answer')}{where}{flagged}")


def answer_columns(predictor: RowPredictor) -> list[str]:
    """Return the names of the columns."""
    shares = [f"probability_{label}" for label in predictor.classes]
    return ["label", *shares, "nearest_prototype", "margin", "certified_radius", "reject"]


def answer_lines(predictor: RowPredictor, answers: RowPredictions) -> Iterator[list[Any]]:
    """Return a line for each answer; what the model cannot tell is left empty."""
    nearest = flags = empty = [""] * len(answers.label)
    if answers.distances is not None:
        nearest = [predictor.prototypes[k] for k in answers.distances.argmin(axis=1)]
    if answers.flagged is not None:
        flags = ["true" if flag else "false" for flag in answers.flagged]
    shares: Any = [None] * len(predictor.classes)
    if answers.probability is not None:
        shares = answers.probability.T
    shares = [empty if part is None else [f"{value:.6g}" for value in part] for part in shares]
    margin, radius = (
        empty if part is None else part.tolist() for part in (answers.margin, answers.radius)
    )
    yield from zip(answers.label.tolist(), *shares, nearest, margin, radius, flags, strict=True)


def with_columns(
    lines: Iterable[list[Any]], rows: Any, start: int, ids: list[str], kept: list[str]
) -> Iterator[list[Any]]:
    """Return lines with the number and the names of each row before, and its columns behind."""
    before = [[text_of(value) for value in rows[name].tolist()] for name in ids]
    behind = [[text_of(value) for value in rows[name].tolist()] for name in kept]
    for place, line in enumerate(lines):
        own = [column[place] for column in before]
        yield [start + place + 1, *own, *line, *(column[place] for column in behind)]


@contextmanager
def open_output(out: Path) -> Iterator[IO[str]]:
    """Open what the lines are written to; a file is there when all of it is."""
    if out == STANDARD_OUTPUT:
        yield sys.stdout
        return
    with replacing(out) as path, open_text(path) as file:
        yield file


def run_export(
    model: Path,
    out: Path | None,
    force: bool = False,
    to: str | None = None,
    number: str | None = None,
    table: str | None = None,
) -> None:
    """Write a model in another language beside it, or where it is wanted, and say what it takes."""
    from ..io import LANGUAGES, describe, exported_bytes, load

    if to is None:
        endings = {ending: name for name, ending in LANGUAGES.items()} | {".js": "js"}
        to = endings.get(out.suffix, "onnx") if out is not None else "onnx"
    if to not in LANGUAGES:
        raise Failure(f"--to {to} is not one of {', '.join(LANGUAGES)}.")
    out = model.with_suffix(LANGUAGES[to]) if out is None else out
    check_outputs([out], [model], force)
    check_model_file(model)
    loaded, notes = load(model), describe(model).notes or {}
    threshold = notes.get("reject", {}).get("threshold")
    options = {"number": number, "table": table, "threshold": threshold}
    try:
        content = exported_bytes(loaded, out.stem, to, **options)
    except ImportError as error:
        raise Failure(str(error), FAILED) from error
    with replacing(out) as path:
        path.write_bytes(content)
    print_export(Screen(stderr=True), content, loaded, out, to)
    if threshold is not None:
        note = f"flag predictions with a probability below {threshold:.3g}"
        say(Screen(stderr=True), note)


def print_export(console: Console, content: bytes, model: Any, out: Path, to: str) -> None:
    """Print what the exported model takes and gives, and how large it is."""
    from ..io import answer_columns, code_size

    text = "" if to == "onnx" else content.decode("utf-8", "surrogateescape")
    columns = [str(name) for name in getattr(model, "feature_names_in_", ())]
    given = ", ".join(columns) if columns else f"{model.n_features_in_} numbers"
    say(console, f"{out}: {len(content) / 1000:,.0f} kB")
    say(console, f"takes a row of: {given}")
    if to == "onnx":
        import onnx

        graph = onnx.load_from_string(content)
        say(console, f"gives {', '.join(output.name for output in graph.graph.output)}")
    if to == "sql":
        say(
            console,
            f"gives {', '.join(answer_columns(content.decode('utf-8', 'surrogateescape')))}",
        )
    if to == "c":
        size = code_size(text)
        said = "code size unknown: gcc and size are not installed"
        if size:
            parts = (f"{name} {size[name]:,} bytes" for name in ("code", "tables"))
            stack = f"stack at most {size['stack']:,} bytes"
            said = f"{', '.join(parts)}, {stack}, by gcc -Os on this machine"
        say(console, said)


def run_apply(model: Path, edits: Path, out: Path, force: bool = False) -> None:
    """Apply the edits that a person has made in a report, and save the model that results."""
    from ..io import apply_edits, describe, load, read_edits, save

    check_outputs([out], [model, edits], force)
    check_model_file(model)
    if not edits.exists():
        raise Failure(
            f"there is no file {str(edits)!r}; give the edits file that a report has saved."
        )
    content, loaded = read_edits(edits), load(model)
    edited = apply_edits(loaded, content)
    save(edited, out, notes=describe(model).notes)
    several = content["edits"]
    say(Screen(stderr=True), f"{out}: the model with {count(len(several), 'edit')}")
    counts = [one.get("effect") or {} for one in several]
    rows = [one["correct after"] for one in counts if "correct after" in one]
    if rows and "correct before" in counts[0]:
        of = f"of {count(counts[0].get('rows', 0), 'row')} of the report"
        first = counts[0]["correct before"]
        say(Screen(stderr=True), f"correct {of}: {first:,} before the edits, {rows[-1]:,} after")
        note = f"protolearn report {out.name} DATA: the effect on rows that the editor did not see"
        say(Screen(stderr=True), note)


def run_card(model: Path, use: str | None, out: Path, force: bool = False) -> None:
    """Write the card of a saved model as Markdown."""
    from ..io import describe, load
    from ..report import edits_of, model_card

    check_outputs([] if out == STANDARD_OUTPUT else [out], [model], force)
    check_model_file(model)
    loaded, about = load(model), describe(model)
    last = flatten_steps(loaded)[-1][1]
    kept = about.notes.get("card")
    record = dict(kept) if isinstance(kept, dict) else {"model": about.model}
    edits = edits_of(last)
    record |= {"is_older": len(edits) > len(record.get("edits", ())), "edits": edits}
    try:
        text = model_card(record, use or "")
    except (KeyError, TypeError, ValueError) as error:
        raise Failure(f"the notes of {str(model)!r} about its card are damaged.") from error
    with open_output(out) as file:
        file.write(text)


def run_report(
    model: Path, data: str, out: Path, reading: Reading = PLAIN_READING, force: bool = False
) -> None:
    """Write the report of a saved model about rows with labels."""
    from ..report import write

    check_outputs([out], [model, data], force)
    saved = SavedModel.open(model)
    read, _ = saved.read(data, reading, keep=True)
    frame, target = read.frame, saved.notes.get("target")
    if target not in (frame.dtype.names or ()):
        raise Failure(
            f"{data!r} has no column {str(target)!r}. The report measures the model and needs the "
            "labels of the rows."
        )
    given = [text_of(label) for label in frame[target].tolist()]
    has_label = np.array([text is not None for text in given])
    y = np.array([saved.label_named(text) for text in given if text is not None])
    X = repack_fields(frame[[column.name for column in saved.columns]])[has_label]
    title = f"Predicting {target}"
    write(saved.pipeline, X, y, out, cv=None, title=title, model_path=model)
    say(Screen(stderr=True), f"{out}: the report of {model.name} on {count(len(y), 'row')}")
