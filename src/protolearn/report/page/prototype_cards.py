"""Prototypes as cards: what is special about each, in words, beside the rows of its class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Floats, Indices
from ..._names import count, digits_text, shorten_name
from ...analysis import Effect, find_exemplars, is_linear_rule
from ...classifiers import NearestPrototypeClassifier
from ...tables import NO_FEATURE_NAMES, CategoryColumn, TextColumn, ignore_warnings
from ..subject import LONGEST, Spread, Subject
from .chart import grey_image
from .column_importance import Direction, shorten_step
from .contents import LARGEST_PICTURE, Story

MOST_CARDS, MOST_LINES = 120, 12
MOST_PICTURES = 100
# Shares of the rows with a smaller value up to which a value is called so.
WORDS = (0.1, "very low"), (0.3, "low"), (0.7, "medium"), (0.9, "high"), (1.0, "very high")


class Strip(NamedTuple):
    """A value among the rows, as places between 0 and 100."""

    all: tuple[float, float]  # the middle 90% of all rows
    # Percentiles 5, 25, 50, 75 and 95 of the rows of the class; None if it has no rows.
    own: tuple[float, ...] | None
    value: float
    told: str  # the same in words


class Line(NamedTuple):
    """A column of a prototype."""

    column: str
    text: str  # its value; of a column of words all of them, with their shares
    brief: str  # the same, of words the first alone
    word: str  # what that is among all rows
    strip: Strip | None = None
    shares: tuple[float, float] | None = None  # of a category: in the class, and in all rows
    is_used: bool = True  # whether the model sees the column


@dataclass
class Card:
    """A prototype, or the mean of a class."""

    name: str
    code: int  # its class
    place: str  # which of the prototypes it is
    lines: list[Line] = field(default_factory=list)  # the columns that matter most first
    size: float = 0.0  # the share of the rows that it stands for
    share: str = ""  # the same in words
    exemplars: list[str] = field(default_factory=list)  # names of the nearest rows of its class
    picture: str = ""  # the address of a picture
    reasons: list[str] = field(default_factory=list)  # of a linear model: what speaks for it


def why_none(subject: Subject) -> str:
    """Return why no prototypes can be shown; nothing if they can."""
    name = type(subject.last).__name__
    if is_linear_rule(subject.last):
        return ""
    if subject.prototypes is None:
        return f"{name} has no prototypes."
    if subject.prototypes[0].shape[1] != subject.inner.shape[1]:
        return f"The prototypes of {name} are not rows of the table, so they cannot be shown."
    return ""


def prototype_cards(story: Story, directions: dict[str, list[Direction]]) -> list[Card]:
    """Return the cards; of a linear model class means."""
    subject = story.subject
    if why_none(subject):
        return []
    if is_linear_rule(subject.last):
        codes = np.unique(subject.codes)
        inner = np.stack([subject.inner[subject.codes == code].mean(axis=0) for code in codes])
        sizes = np.bincount(subject.codes)
        cards = [
            Card(subject.classes[code], code, f"mean of {count(int(sizes[code]), 'row')}")
            for code in codes.tolist()
        ]
        for card in cards:
            card.reasons = reasons_for(subject.classes[card.code], directions)
    else:
        assert subject.prototypes is not None
        inner, codes = subject.prototypes
        pairs = zip(subject.prototype_names, codes.tolist(), strict=True)
        cards = [Card(one, code, f"prototype {k}") for k, (one, code) in enumerate(pairs, start=1)]
        add_exemplars(story, cards)
    plain = subject.undo_steps(inner)
    if len(cards) > 1:
        add_shares(story, cards)
    most = MOST_CARDS if story.image_shape is None else MOST_PICTURES
    shown = np.sort(np.argsort([-card.size for card in cards], kind="stable")[:most])
    chosen, values = [cards[k] for k in shown], plain[shown]
    if story.image_shape is None:
        add_lines(story, chosen, values)
    else:
        for card, row in zip(chosen, values, strict=True):
            card.picture = image_of(story, row)
    return chosen


def add_exemplars(story: Story, cards: list[Card]) -> None:
    """Name the rows of the class that are nearest to each prototype."""
    subject = story.subject
    try:
        with ignore_warnings(NO_FEATURE_NAMES):
            found = find_exemplars(subject.model, subject.X, subject.y)
    except (TypeError, ValueError):
        return
    for card, one in zip(cards, found, strict=True):
        card.exemplars = [str(story.row_names[row]) for row in one.rows]


def add_shares(story: Story, cards: list[Card]) -> None:
    """Add to each card which rows its prototype stands for."""
    model, some = story.subject.last, story.measured_subject
    if not isinstance(model, NearestPrototypeClassifier) or not model.rule_.decision.by_nearest:
        return
    with ignore_warnings(NO_FEATURE_NAMES):
        nearest = np.ravel(model.nearest_prototypes(some.inner)[1])
    for k, card in enumerate(cards):
        here = nearest == k
        card.size = float(here.mean())
        card.share = "Nearest to no row."
        if here.any():
            own = float((some.codes[here] == card.code).mean())
            name = story.subject.classes[card.code]
            card.share = f"Nearest to {card.size:.0%} of all rows; {own:.0%} of these are {name}."


def overview_cards(cards: list[Card], most: int) -> list[Card]:
    """Return some cards: of each class that which stands for most rows, then the next of each."""
    rank: dict[int, int] = {}
    ranked = []
    for k in sorted(range(len(cards)), key=lambda k: -cards[k].size):
        rank[cards[k].code] = rank.get(cards[k].code, -1) + 1
        ranked.append((rank[cards[k].code], cards[k].code, k))
    return [cards[k] for k in sorted(k for *_, k in sorted(ranked)[:most])]


def add_lines(story: Story, cards: list[Card], plain: Floats) -> None:
    """Describe prototypes by their columns, those that set each apart from all rows first."""
    subject = story.subject
    texts, spreads = subject.prototype_texts(plain), subject.spreads
    parts, rows = subject.parts(plain), subject.parts(subject.plain)
    weights = np.ones(len(parts))
    if story.columns_that_count is not None:
        weights = story.relevances.values.mean(axis=0)
    far = np.stack([distances_from_mean(*one) for one in zip(parts, rows, strict=True)], axis=1)
    far = np.where(subject.is_used, far, 0.0) * (weights + 0.05 * weights.max())
    every = [np.percentile(part[:, 0], [5.0, 95.0]) for _, part in rows]
    for k, card in enumerate(cards):
        for j in np.argsort(-far[k], kind="stable")[:MOST_LINES]:
            (column, part), values = parts[j], rows[j][1]
            text, name = texts[j][k], subject.names[j]
            if not subject.is_used[j]:
                card.lines.append(Line(name, text, text, "", is_used=False))
            elif np.ptp(values, axis=0).max() == 0.0:
                card.lines.append(Line(name, text, text, "same in all rows"))
            elif isinstance(column, CategoryColumn):
                shares = category_shares(column, part[k], spreads[j], subject.codes, card.code)
                first, share = first_category(column, part[k])
                card.lines.append(Line(name, text, first, share, shares=shares))
            elif isinstance(column, TextColumn):
                card.lines.append(Line(name, text, text, ""))
            else:
                value = round(part[k, 0]) if column.is_integer else part[k, 0]
                strip = strip_of(column, value, spreads[j].quantiles[card.code], every[j])
                card.lines.append(Line(name, text, text, word_for(value, values[:, 0]), strip))


def distances_from_mean(one: tuple[Any, Floats], rows: tuple[Any, Floats]) -> Floats:
    """Return how far prototypes are from the mean of all rows in a column."""
    (column, part), (_, values) = one, rows
    away = np.abs(part - values.mean(axis=0))
    if isinstance(column, (CategoryColumn, TextColumn)):
        return np.asarray(2.0 * away.max(axis=1))
    return np.asarray(away[:, 0] / max(float(values.std()), 1e-300))


def word_for(value: float, values: Floats) -> str:
    """Return what a value is among others: low, average or high."""
    rank = float(0.5 * (np.mean(values < value) + np.mean(values <= value)))
    return next(word for most, word in WORDS if rank <= most)


def first_category(column: Any, part: Floats) -> tuple[str, str]:
    """Return the category that a prototype is near, and its share if that is not all of it."""
    category = int(column.nearest(part[None])[0])
    if category < 0:
        return "mixed", ""
    share = float(column.shares(part[None])[0, category])
    name = shorten_name(column.text(category), LONGEST)
    return name, f"{share:.0%}" if share < 0.995 else ""


def category_shares(
    column: Any, part: Floats, spread: Spread, codes: Indices, code: int
) -> tuple[float, float] | None:
    """Return how many rows of a class, and of all, have the category that a prototype is near."""
    category = int(column.nearest(part[None])[0])
    if category < 0 or spread.shares is None:
        return None
    of_classes = spread.shares[:, category]
    return float(of_classes[code]), float(np.mean(of_classes[codes]))


def strip_of(column: Any, value: float, own: Floats, everything: Floats) -> Strip | None:
    """Return where a value is among the rows."""
    ends = np.concatenate([everything, [value], own[np.isfinite(own)]])
    low, high = float(ends.min()), float(ends.max())
    if not high > low:
        return None

    def place(x: float) -> float:
        return round(100.0 * (x - low) / (high - low), 1)

    told = f"{column.text(value)}; middle 90% of all rows {column.text(everything[0])} to "
    told += column.text(everything[1])
    if not math.isfinite(own[0]):
        return Strip((place(everything[0]), place(everything[1])), None, place(value), told)
    told += f", of its class {column.text(own[0])} to {column.text(own[4])}"
    classes = tuple(place(x) for x in own.tolist())
    return Strip((place(everything[0]), place(everything[1])), classes, place(value), told)


def reasons_for(name: str, directions: dict[str, list[Direction]]) -> list[str]:
    """Return what speaks most for a class, in words."""
    every = [one for several in directions.values() for one in several]
    found = [one for one in every if name in (one.toward, one.against)]
    return [one.reason_for(name) for one in sorted(found, key=lambda one: -one.size)[:4]]


def effect_cells(one: Effect) -> list[str]:
    """Return an effect as the cells of a line."""
    texts = [
        "" if math.isnan(value) else f"{sign if value > 0.0 else ''}{digits_text(value, 3)}"
        for value, sign in ((one.effect, "+"), (one.per_unit, "+"), (one.odds_ratio, ""))
    ]
    return [shorten_name(str(one.column), LONGEST), shorten_step(one.step), *texts]


def image_of(story: Story, plain: Floats) -> str:
    """Return a row as a picture, all of a page with the same black and white."""
    assert story.image_shape is not None
    image = plain.reshape(story.image_shape)
    step = math.ceil(math.sqrt(image.shape[0] * image.shape[1] / LARGEST_PICTURE))
    return grey_image(image[::step, ::step], *story.black_and_white)


class ClassValues(NamedTuple):
    """The values of each class in a column, on one scale."""

    strips: list[tuple[int, Strip]]  # of numbers
    category: str = ""  # that in which the classes differ most, or such a word of texts
    shares: Sequence[tuple[int, float]] = ()  # of the rows of each class that have it


def class_values(story: Story, columns: list[int]) -> dict[int, ClassValues]:
    """Return for some columns the values of each class."""
    subject = story.subject
    spreads, rows = subject.spreads, subject.parts(subject.plain)
    there, found = np.unique(subject.codes), {}
    for j in columns:
        (column, values), (quantiles, shares) = rows[j], spreads[j]
        if shares is not None:
            category = int(np.ptp(shares[there], axis=0).argmax())
            each = [(int(code), float(shares[code, category])) for code in there]
            words = column.words if isinstance(column, TextColumn) else ()
            found[j] = ClassValues([], words[category] if words else column.text(category), each)
        elif quantiles is not None and np.ptp(values) > 0.0:
            known = np.append(quantiles[there], np.percentile(values[:, 0], [5.0, 95.0]))
            ends = np.array([known.min(), known.max()])
            strips = [
                (int(code), strip_of(column, quantiles[code, 2], quantiles[code], ends))
                for code in there
            ]
            found[j] = ClassValues([(code, one) for code, one in strips if one is not None])
    return found
