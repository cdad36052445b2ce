"""The section of the prototypes: what they are like, beside the rows of their class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._arrays import Floats, Indices
from ...analysis import Effect, column_effects, find_exemplars, is_linear_rule
from ...classifiers import NearestPrototypeClassifier
from ...tables import CategoryColumn, TextColumn
from ..subject import Spread, spread_of
from .chart import grey_image
from .contents import LARGEST_PICTURE, Section, Story
from .html import Markup, paragraph, table_of, tag

MOST_COLUMNS, MOST_CELLS, MOST_PICTURES = 25, 500, 100
# Of the strip in which a prototype is seen beside its class.
WIDTH, HEIGHT, MIDDLE = 120.0, 18.0, 9.0

MOST_TABLES = 8  # classes whose effects are shown

EFFECT_HEADS = "column", "change", "effect", "per unit", "odds ratio"

LINEAR = (
    "The model is linear: each column adds its effect to the score of a class. The table shows the "
    "mean of each class beside its rows; the effects follow."
)

NEAREST = "A row gets the class of the prototype that is nearest to it."

LEGEND = (
    "Beside each value: thin the middle 90% of the rows of its class, thick the middle half, a "
    "tick at their median, and a star at the prototype; grey the middle 90% of all rows."
)


def prototypes_section(story: Story) -> Section:
    """Return the prototypes in the units of the user; of a linear model means and effects."""
    subject = story.subject
    units = "in your units" if subject.in_users_units else "as the model sees them"
    is_linear = is_linear_rule(subject.last)
    what = "The class means and the effects" if is_linear else "The prototypes"
    section = Section("prototypes", f"{what}, {units}", "Effects" if is_linear else "Prototypes")
    name = type(subject.last).__name__
    if is_linear:
        section.parts += linear_parts(story)
        return section
    if subject.prototypes is None:
        section.parts.append(paragraph(f"{name} has no prototypes that could be shown."))
        return section
    rows, codes = subject.prototypes
    if rows.shape[1] != subject.inner.shape[1]:
        section.parts.append(paragraph(f"The prototypes of {name} do not lie among the rows."))
        return section
    show = in_columns if story.image_shape is None else pictures
    section.parts.append(paragraph(rule_of(subject.last)))
    section.parts += show(story, subject.undo_steps(rows), codes, subject.prototype_names)
    section.parts += exemplar_parts(story)
    return section


def linear_parts(story: Story) -> list[Markup]:
    """Return the means of the classes beside their rows, and the signed effects of columns."""
    subject = story.subject
    codes = np.unique(subject.codes)
    means = np.stack([subject.inner[subject.codes == code].mean(axis=0) for code in codes])
    show = in_columns if story.image_shape is None else pictures
    before = "mean of " if story.image_shape is None else ""
    names = [f"{before}{subject.classes[code]}" for code in codes]
    parts = [paragraph(LINEAR)]
    parts += show(story, subject.undo_steps(means), codes, names)
    try:
        found = column_effects(subject.model, subject.X)
    except (TypeError, ValueError):
        return parts
    for label, effects in list(zip(found.classes, found.effects, strict=True))[:MOST_TABLES]:
        head = tag("tr", [tag("th", text, scope="col") for text in EFFECT_HEADS])
        order = sorted(effects, key=lambda one: -abs(one.effect))[:MOST_COLUMNS]
        body = [tag("tr", [tag("td", cell) for cell in effect_cells(one)]) for one in order]
        parts.append(table_of(head, body, f"Effects on the score of {label}", "effects"))
    return parts


def effect_cells(one: Effect) -> list[str]:
    """Return an effect as the cells of a line."""
    odds = "" if math.isnan(one.odds_ratio) else f"{one.odds_ratio:.3g}"
    unit = "" if math.isnan(one.per_unit) else f"{one.per_unit:+.3g}"
    return [one.column, one.step, f"{one.effect:+.3g}", unit, odds]


def exemplar_parts(story: Story) -> list[Markup]:
    """Return the rows that are nearest to each prototype, so that a reader can look at cases."""
    subject = story.subject
    try:
        found = find_exemplars(subject.model, subject.X, subject.y)
    except (TypeError, ValueError):
        return []
    names = story.row_names
    texts = [
        f"{one.name}: {', '.join(str(names[row]) for row in one.rows)}"
        for one in found[:MOST_PICTURES]
        if len(one.rows)
    ]
    told = f"Nearest rows of the class of each prototype: {'; '.join(texts)}."
    return [paragraph(told, "note")] if texts else []


def rule_of(model: Any) -> str:
    """Return a text that says what prototypes have to do with the decision."""
    if not isinstance(model, NearestPrototypeClassifier):
        return "The model decides by all of them together, not by the nearest alone."
    if model.rule_.decision.soft:
        return "A row gets the class whose prototypes are near it, the nearer the more they count."
    if not model.rule_.decision.by_nearest:
        return "A row gets the class of the majority of the prototypes that are nearest to it."
    return NEAREST


def in_columns(story: Story, plain: Floats, codes: Indices, names: Sequence[str]) -> list[Markup]:
    """Return a table of the prototypes, with strips that show them beside their class."""
    subject = story.subject
    texts, spreads = subject.prototype_texts(plain), spread_of(subject)
    parts, rows = subject.parts(plain), subject.parts(subject.plain)
    everything = [np.percentile(part[:, 0], [5.0, 95.0]) for _, part in rows]
    order = columns_in_order(story, plain)
    shown = range(min(len(codes), MOST_CELLS // min(len(order), MOST_COLUMNS)))
    head = tag(
        "tr",
        tag("th", "column", scope="col"),
        [tag("th", dot(codes[k]), names[k], scope="col", data_class=codes[k]) for k in shown],
    )
    body = []
    for j in order[:MOST_COLUMNS]:
        column, part = parts[j]
        cells = []
        for k in shown:
            beside = None
            if subject.is_used[j] and isinstance(column, CategoryColumn):
                name = subject.classes[codes[k]]
                beside = category_share(column, part[k : k + 1], spreads[j], codes[k], name)
            elif subject.is_used[j] and not isinstance(column, TextColumn):
                beside = strip(column, part[:, 0], k, spreads[j].quantiles, everything[j], codes)
            value = tag("span", texts[j][k], class_="number")
            cells.append(tag("td", value, beside, data_class=codes[k]))
        body.append(tag("tr", tag("th", subject.names[j], scope="row"), cells))
    whole = table_of(head, body, "Prototypes beside the rows of their class", "prototypes")
    return [whole, paragraph(LEGEND + left_out(story, len(codes) - len(shown)), "note")]


def left_out(story: Story, n_prototypes: int) -> str:
    """Return a text that says what the table does not show."""
    n_columns = len(story.subject.columns) - MOST_COLUMNS
    rest = [f"{n_prototypes} more prototypes"] if n_prototypes else []
    rest += [f"{n_columns} columns that matter less"] if n_columns > 0 else []
    return f" Not shown: {' and '.join(rest)}." if rest else ""


def columns_in_order(story: Story, plain: Floats) -> list[int]:
    """Return the columns, those that count most first, or in which prototypes differ most."""
    subject, known = story.subject, story.columns_that_count
    if known is not None:
        return known
    apart = np.ptp(plain, axis=0) / np.maximum(subject.plain.std(axis=0), 1e-300)
    return np.argsort(-subject.by_column(apart), kind="stable").tolist()


def dot(code: int) -> Markup:
    """Return a dot in the colour of a class."""
    return tag("span", class_="dot", style=f"--colour:var(--class-{code % 8})", aria_hidden="true")


def class_tag(name: str, code: int) -> Markup:
    """Return the name of a class with its colour."""
    return tag("span", dot(code), name, class_="of-class")


def category_share(column: Any, part: Floats, spread: Spread, code: int, name: str) -> Markup:
    """Return how many rows of the class have the category of a prototype."""
    category = int(column.nearest(part)[0])
    assert spread.shares is not None
    text = "" if category < 0 else f"{spread.shares[code, category]:.0%} of {name}"
    return tag("small", text)


def strip(
    column: Any, values: Floats, k: int, quantiles: Any, everything: Floats, codes: Indices
) -> Markup:
    """Return a drawing of a prototype beside the rows of its class."""
    code, value = codes[k], values[k]
    own = quantiles[code]
    ends = np.concatenate([everything, values, quantiles[np.isfinite(quantiles)]])
    low, high = float(ends.min()), float(ends.max())
    if not high > low:
        return tag("small", "the same in all rows")

    def place(x: float) -> float:
        return 4.0 + (WIDTH - 8.0) * (x - low) / (high - low)

    def line(a: float, b: float, kind: str) -> Markup:
        ends = {"x1": f"{place(a):.1f}", "x2": f"{place(b):.1f}"}
        return tag("line", **ends, y1=MIDDLE, y2=MIDDLE, class_=kind)

    marks = [line(everything[0], everything[1], "all")]
    told = f"prototype {column.text(value)}"
    if math.isfinite(own[0]):
        at = f"{place(own[2]):.1f}"
        marks += [line(own[0], own[4], "thin"), line(own[1], own[3], "thick")]
        marks.append(tag("line", x1=at, x2=at, y1=MIDDLE - 5, y2=MIDDLE + 5, class_="median"))
        told += (
            f"; rows of its class: median {column.text(own[2])}, middle 90% "
            f"{column.text(own[0])} to {column.text(own[4])}"
        )
    marks.append(tag("polygon", points=star(place(value))))
    return tag(
        "svg",
        tag("title", told),
        marks,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        class_="strip",
        role="img",
        style=f"--colour:var(--class-{code % 8})",
    )


def star(x: float) -> str:
    """Return the corners of a star, the mark of prototypes."""
    corners = []
    for k in range(10):
        size, angle = (7.0 if k % 2 == 0 else 3.0), math.pi * k / 5.0
        corners.append(f"{x + size * math.sin(angle):.1f},{MIDDLE - size * math.cos(angle):.1f}")
    return " ".join(corners)


def pictures(story: Story, plain: Floats, codes: Indices, names: Sequence[str]) -> list[Markup]:
    """Return prototypes as pictures."""
    frames = [
        tag("div", picture(story, plain[k], names[k], dot(codes[k])), data_class=codes[k])
        for k in range(min(len(codes), story.most_points, MOST_PICTURES))
    ]
    rest = len(codes) - len(frames)
    note = [paragraph(f"Not shown: {rest} more prototypes.", "note")] if rest > 0 else []
    return [tag("div", frames, class_="pictures"), *note]


def picture(story: Story, plain: Floats, name: str, mark: Markup | None = None) -> Markup:
    """Return a row as a picture, all of a page with the same black and white."""
    image = tag("img", src=image_of(story, plain), alt=f"{name}, as a picture", class_="pixels")
    return tag("figure", image, tag("figcaption", mark, name))


def image_of(story: Story, plain: Floats) -> str:
    """Return a row as a picture."""
    assert story.image_shape is not None
    image = plain.reshape(story.image_shape)
    step = math.ceil(math.sqrt(image.shape[0] * image.shape[1] / LARGEST_PICTURE))
    return grey_image(image[::step, ::step], *story.black_and_white)
