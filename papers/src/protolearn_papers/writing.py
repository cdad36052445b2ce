"""The files of an experiment: CSV, Markdown and pictures."""

from __future__ import annotations

import csv
from pathlib import Path

from protolearn._files import replacing_files
from protolearn.report import library_versions

from .experiment import Experiment
from .findings import Figure, Findings, Table
from .work import Work

SUMMARY = "results.md"
"""Name of the page with the results of an experiment."""

REDUCED = "This is the reduced version: too small to be held against what was published."
"""Sentence that goes with the results of a quick run."""


def write(experiment: Experiment, work: Work, findings: Findings, folder: Path) -> list[Path]:
    """Write everything into a folder; give the files, the summary first."""
    with replacing_files(folder) as drafts:
        text = summary(experiment, work, findings)
        (drafts / SUMMARY).write_text(text, encoding="utf-8")
        tables = [write_table(table, drafts) for table in findings.tables]
        pictures = [draw(figure, drafts) for figure in findings.figures]
    return [folder / SUMMARY, *(folder / path.name for path in (*tables, *pictures))]


def summary(experiment: Experiment, work: Work, findings: Findings) -> str:
    """Return the findings as Markdown."""
    parts = [f"# {experiment.name}: {experiment.title}", made(experiment, work)]
    parts += [table.markdown() for table in findings.tables]
    parts += [f"![{figure.title}]({figure.name}.png)" for figure in findings.figures]
    if findings.remarks:
        parts.append("\n".join(f"- {remark}" for remark in findings.remarks))
    return "\n\n".join(parts) + "\n"


def made(experiment: Experiment, work: Work) -> str:
    """Return a text that says what was run, and with what."""
    command = f"protolearn reproduce {experiment.name} --seed {work.seed}"
    libraries = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    text = (
        f"{experiment.source}. Seed {work.seed}; `{command}{' --quick' * work.quick}` gives the "
        f"same numbers, but for times, with the same data and versions ({libraries})."
    )
    return f"{text} {REDUCED}" if work.quick else text


def write_table(table: Table, folder: Path) -> Path:
    """Write the numbers of a table."""
    target = folder / f"{table.name}.csv"
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table.records[0]) if table.records else [])
        writer.writeheader()
        writer.writerows(table.records)
    return target


def draw(figure: Figure, folder: Path) -> Path:
    """Draw a picture into a file."""
    import matplotlib.figure

    # No pyplot: nothing is left open, and no window is wanted.
    canvas = matplotlib.figure.Figure(figsize=figure.size, layout="constrained")
    figure.draw(canvas)
    target = folder / f"{figure.name}.png"
    canvas.savefig(target, dpi=130)
    return target
