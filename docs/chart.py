"""Draw the chart of the page "Choose a model" as SVG.

Its colours are those of the theme where the drawing stands inside a page, light or dark, and
readable ones of its own elsewhere.
"""

from html import escape
from pathlib import Path

# A question, the models if the answer is yes, a few words on them, and the heading to read on.
STEPS = [
    (
        "Is it the first model for a table?",
        "AutoPrototypeClassifier",
        "tries the others for you",
        "a-first-model",
    ),
    (
        "Is it to study or to teach?",
        "LVQ1, LVQ3, Rosenblatt, AdaTron, ...",
        "for study, one rule each",
        "to-study-or-to-teach",
    ),
    (
        "May the boundary be one plane?",
        "SoftMarginSVM, FisherPrototypes, RVM",
        "two prototypes and a shift",
        "one-plane",
    ),
    (
        "Do you ask which features count?",
        "GRLVQ, GMLVQ, LGMLVQ",
        "learn the distance, too",
        "which-features-count",
    ),
    (
        "Are probabilities the answer?",
        "RSLVQ, MRSLVQ",
        "a mixture with posteriors",
        "probabilities",
    ),
    (
        "Are rows counts, spectra, pictures?",
        "PrototypeClassifier(distance=...)",
        "another distance, or your own",
        "another-kind-of-distance",
    ),
    (
        "Do classes have many parts?",
        "GLVQ with more prototypes,\nKernelGLVQ, PrototypeSVM",
        "",
        "many-parts",
    ),
]
LAST = "GLVQ", "few prototypes, exact margins; takes missing values", "the-default"

WIDTH, ROW, BOX, GAP = 860, 66, 46, 60
LEFT, RIGHT = (10, 330), (460, 390)  # where the columns begin, and how wide they are

STYLE = """
.pc-box { fill: var(--color-background-secondary, #f6f7f9);
  stroke: var(--color-foreground-border, #878787); }
.pc-leaf { fill: var(--color-background-primary, #ffffff);
  stroke: var(--color-brand-primary, #0a4bff); stroke-width: 1.6; }
.pc-text { fill: var(--color-foreground-primary, #000000); font: 15px sans-serif; }
.pc-name { fill: var(--color-brand-content, #2757dd); font: bold 15px sans-serif; }
.pc-small { fill: var(--color-foreground-secondary, #5a5c63); font: 13px sans-serif; }
.pc-line { stroke: var(--color-foreground-secondary, #5a5c63); stroke-width: 1.6; fill: none; }
.pc-tip { fill: var(--color-foreground-secondary, #5a5c63); }
"""


def text(x, y, words, kind, anchor="start"):
    """Give a line of text."""
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def arrow(x, y, to_x, to_y):
    """Give a straight arrow to the right or down."""
    tip = (
        f"{to_x},{to_y} {to_x - 8},{to_y - 5} {to_x - 8},{to_y + 5}"
        if y == to_y
        else f"{to_x},{to_y} {to_x - 5},{to_y - 8} {to_x + 5},{to_y - 8}"
    )
    line = f'<path class="pc-line" d="M{x} {y} L{to_x} {to_y}"/>'
    return line + f'<polygon class="pc-tip" points="{tip}"/>'


def leaf(x, y, width, names, words, heading):
    """Give a box with models that is a link to what is said about them."""
    lines = names.split("\n")
    rows = [(line, "pc-name") for line in lines] + ([(words, "pc-small")] if words else [])
    first = y + BOX / 2 - 9 * (len(rows) - 1) + 5
    inside = "".join(
        text(x + 14, first + 18 * i, line, kind) for i, (line, kind) in enumerate(rows)
    )
    return (
        f'<a href="#{heading}"><rect class="pc-leaf" x="{x}" y="{y}" width="{width}" '
        f'height="{BOX}" rx="8"/>{inside}</a>'
    )


def chart():
    """Give the whole drawing."""
    parts, height = [], ROW * (len(STEPS) + 1) + 4
    (left, wide), (right, room) = LEFT, RIGHT
    middle = left + 60
    for i, (question, names, words, heading) in enumerate(STEPS):
        y = ROW * i + 4
        parts.append(
            f'<rect class="pc-box" x="{left}" y="{y}" width="{wide}" height="{BOX}" rx="22"/>'
            + text(left + wide / 2, y + BOX / 2 + 5, question, "pc-text", "middle")
            + arrow(left + wide, y + BOX / 2, right, y + BOX / 2)
            + text((left + wide + right) / 2, y + BOX / 2 - 7, "yes", "pc-small", "middle")
            + leaf(right, y, room, names, words, heading)
            + arrow(middle, y + BOX, middle, y + ROW)
            + text(middle + 10, y + BOX + 15, "no", "pc-small")
        )
    parts.append(leaf(left, ROW * len(STEPS) + 4, wide + 130, *LAST))
    described = "Questions from top to bottom; each yes leads to models on the right."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{described}"><style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def write_chart(path):
    """Write the drawing to a file."""
    Path(path).write_text(chart(), encoding="utf-8")


if __name__ == "__main__":
    write_chart(Path(__file__).parent / "images" / "choose_a_model.svg")
