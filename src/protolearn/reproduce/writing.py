"""The files of an experiment: CSV, Markdown and pictures."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

from .._files import replacing
from ..report.page.made import versions
from .experiment import Experiment
from .findings import Figure, Findings, Table
from .work import Work

SUMMARY = "results.md"

REDUCED = "This is the reduced version: too small to be held against what was published."


def write(experiment: Experiment, work: Work, findings: Findings, folder: Path) -> list[Path]:
    """Write everything into a folder; give the files, the summary first."""
    pictures = [draw(figure, folder) for figure in findings.figures] if can_draw() else []
    tables = [write_table(table, folder) for table in findings.tables]
    with replacing(folder / SUMMARY) as path:
        path.write_text(summary(experiment, work, findings, bool(pictures)), encoding="utf-8")
    return [folder / SUMMARY, *tables, *pictures]


def summary(experiment: Experiment, work: Work, findings: Findings, pictures: bool) -> str:
    """Return the findings as Markdown."""
    parts = [f"# {experiment.name}: {experiment.title}", made(experiment, work)]
    parts += [table.markdown() for table in findings.tables]
    if pictures:
        parts += [f"![{figure.title}]({figure.name}.png)" for figure in findings.figures]
    if findings.remarks:
        parts.append("\n".join(f"- {remark}" for remark in findings.remarks))
    return "\n\n".join(parts) + "\n"


def made(experiment: Experiment, work: Work) -> str:
    """Return a text that says what was run, and with what."""
    command = f"protolearn reproduce {experiment.name} --seed {work.seed}"
    libraries = ", ".join(f"{name} {number}" for name, number in versions().items())
    text = (
        f"{experiment.source}. Seed {work.seed}; `{command}{' --quick' * work.quick}` gives the "
        f"same numbers, but for times, with the same data and versions ({libraries})."
    )
    return f"{text} {REDUCED}" if work.quick else text


def write_table(table: Table, folder: Path) -> Path:
    """Write the numbers of a table."""
    target = folder / f"{table.name}.csv"
    with (
        replacing(target) as path,
        path.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.DictWriter(file, list(table.records[0]) if table.records else [])
        writer.writeheader()
        writer.writerows(table.records)
    return target


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def draw(figure: Figure, folder: Path) -> Path:
    """Draw a picture into a file."""
    import matplotlib.figure

    # No pyplot: nothing is left open, and no window is wanted.
    canvas = matplotlib.figure.Figure(figsize=figure.size, layout="constrained")
    figure.draw(canvas)
    target = folder / f"{figure.name}.png"
    with replacing(target) as path:
        canvas.savefig(path, dpi=130)
    return target
