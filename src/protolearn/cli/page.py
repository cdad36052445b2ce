"""The report of ``protolearn fit``: one file that a browser shows without a network."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .outcome import Outcome
from .prototype_texts import prototype_texts

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #8886; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; background: white; }
pre { background: #8882; padding: 1rem; overflow-x: auto; }
"""


def page(outcome: Outcome, measures: dict[str, Any]) -> str:
    """Write the report."""
    title = f"{outcome.table.target}: {outcome.chosen}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        "<h2>In short</h2>",
        *(f"<p>{escape(sentence)}</p>" for sentence in outcome.in_short),
        "<h2>How good, and how sure</h2>",
        measures_table(outcome),
        confusion_table(outcome),
        "<h2>The prototypes, in the units of the table</h2>",
        prototypes_table(outcome),
        picture(outcome),
        "<h2>What was tried</h2>",
        f"<pre>{escape(repr(outcome.model[-1].leaderboard_))}</pre>",
        "<h2>How it was made</h2>",
        made(outcome, measures),
        "<h2>How to use it</h2>",
        f"<pre>{escape(USE)}</pre>",
    ]
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
    return head + "\n".join(parts) + "\n</main>\n</body>\n</html>\n"


USE = """from protolearn import load
model = load("model.protolearn")
model.predict(frame)  # a DataFrame with the same columns
"""


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table; the first cell of a row is its name."""
    lines = ["<table>", "<thead><tr>"]
    lines += [f'<th scope="col">{escape(head)}</th>' for head in heads]
    lines.append("</tr></thead><tbody>")
    for first, *others in rows:
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in others)
        lines.append(f'<tr><th scope="row">{escape(str(first))}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody></table>"])


def measures_table(outcome: Outcome) -> str:
    """Write the measures with their intervals."""
    rows = [
        (name, "-" if np.isnan(one.value) else f"{one.value:.3f}", one.reason or between(one))
        for name, one in outcome.judgement.evaluation.table.items()
    ]
    return table(("measure", "value", "95 % interval"), rows)


def between(one: Any) -> str:
    """Write an interval."""
    return f"{one.low:.3f} to {one.high:.3f}"


def confusion_table(outcome: Outcome) -> str:
    """Write which class is taken for which."""
    confusion = outcome.judgement.evaluation.confusion
    labels = [str(label) for label in confusion.labels]
    rows = [
        (label, *map(str, counts)) for label, counts in zip(labels, confusion.counts, strict=True)
    ]
    return "<p>Rows of each class (down), and what was said of them (across):</p>\n" + table(
        ("true class", *labels), rows
    )


def prototypes_table(outcome: Outcome) -> str:
    """Write the prototypes in the user's units."""
    found = prototype_texts(outcome.model)
    if found is None:
        return "<p>A model of this kind has no prototypes.</p>"
    shown = table(("column", *found.names), [(name, *texts) for name, texts in found.rows])
    return shown + f"\n<p>{escape(found.remark)}</p>" if found.remark else shown


def made(outcome: Outcome, measures: dict[str, Any]) -> str:
    """Write what the model was made of, and by what."""
    rows = [
        ("data", measures["data"]),
        ("rows", f"{measures['rows']:,}"),
        ("search", measures["search"]["stopped"]),
        ("seed", measures["seed"]),
        ("seconds", measures["seconds"]),
        *((name, text) for name, text in measures["versions"].items()),
    ]
    return table(("", ""), rows)


def picture(outcome: Outcome) -> str:
    """Draw the plane of the prototypes, where there is one and matplotlib is installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from ..report import ProjectionDisplay
    except ImportError:
        return "<p>A picture needs matplotlib: pip install 'protolearn[report]'.</p>"
    figure = Figure(figsize=(8, 5.5))
    FigureCanvasAgg(figure)
    X, y = outcome.model[0].transform(outcome.table.X), outcome.table.y
    try:
        ProjectionDisplay.from_estimator(
            outcome.model[-1].best_estimator_, X, y, ax=figure.subplots()
        )
    except (TypeError, ValueError) as error:
        return f"<p>There is no picture of this model: {escape(str(error))}</p>"
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150, bbox_inches="tight")
    data = base64.b64encode(stream.getvalue()).decode()
    return (
        f'<img alt="Rows, prototypes and decision regions in a plane" '
        f'src="data:image/png;base64,{data}">'
    )
