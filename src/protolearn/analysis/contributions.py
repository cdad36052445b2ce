"""What each column of a row has to do with the decision about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from ..classifiers import NearestPrototypeClassifier
from ..codebook import Codebook
from ..rule import LinearRule
from ..tables import TableEncoder, ignore_warnings
from .change_search import search_candidates
from .model_view import QUIET, ModelView

ON_BOUNDARY = "the point of the boundary that is nearest to the mean row"

ORDERS = 8
"""Orders of the columns, each also backwards, over which a change of the score is averaged."""


class Contributions(NamedTuple):
    """What columns have to do with decisions.

    ``values`` (n, C) are positive where a column speaks for the predicted class; they add up to
    ``total``. ``beside`` is what the row is compared with. None and a ``reason`` if there is none.
    ``entries`` are what they are sums of: what each number that the model sees adds.
    ``threshold`` (n,) is what a threshold of the decision adds to the total, None if there is none.
    """

    values: Floats | None
    total: Floats | None
    beside: str
    reason: str = ""
    entries: Floats | None = None
    threshold: Floats | None = None


def column_contributions(
    view: ModelView, own: Indices, rival: Indices, data: Floats | None
) -> Contributions:
    """Return what the columns add to the lead of the class of each row over the rival class.

    Where the decision is no sum over columns a row is compared with one of the ``data``, which are
    plain rows, or with a prototype if these are not known, or lack a rival class.
    """
    rule, name = view.rule, type(view.last).__name__
    if not view.sees_plain_rows:
        return Contributions(None, None, "", f"what {name} sees is not a sum over your columns")
    if view.is_featurewise and rule is not None:
        Z = view.inner(view.plain)
        with ignore_warnings(*QUIET):
            rows = rule.read_rows(view.last, Z).astype(np.float64, copy=False)
        if isinstance(rule, LinearRule):
            center = view.inner(mean_row(view.encoder)[None])
            entries = rule.unit * linear_leads(rule, rows, center)
            values = by_column(view, entries)
            return Contributions(values, values.sum(axis=1), ON_BOUNDARY, entries=entries)
        if isinstance(view.last, NearestPrototypeClassifier) and not (
            rule.is_soft or rule.decision.neighbors > 1
        ):
            try:
                entries = rule.feature_leads(rows)
                values, beside = by_column(view, entries), "the nearest prototypes"
                total, more = values.sum(axis=1), None
                if rule.offsets is not None:
                    more = np.ptp(rule.own_and_rival(rows), axis=1) - total
                return Contributions(values, total, beside, entries=entries, threshold=more)
            except (AttributeError, TypeError):  # a distance that is no sum over features
                pass
    if data is not None and np.isin(view.classes[rival], view.labels(data)).all():
        return compare_rows(view, own, rival, data, "row")
    return compare_rows(view, own, rival, search_candidates(view, None), "prototype")


def mean_row(encoder: TableEncoder) -> Floats:
    """Return the mean of the training rows, in the user's units."""
    return np.concatenate([column.middle for column in encoder.columns_])


def linear_leads(rule: LinearRule, rows: Floats, center: Floats) -> Floats:
    """Return what each feature adds to the lead of the best class over the second.

    On the way to the row from the boundary between them, from the point there that is nearest to
    the centre: the sum is the lead.
    """

    def terms(part: Any, codebook: Codebook, distance: Any) -> tuple[Floats, Floats]:
        scores = distance.scores(part, codebook)
        own = scores.argmax(axis=1)
        others = scores.copy()
        np.put_along_axis(others, own[:, None], -np.inf, axis=1)
        rival = others.argmax(axis=1)
        normal = codebook.prototypes[own] - codebook.prototypes[rival]
        offset = (codebook.metric[own] - codebook.metric[rival])[:, 0]
        length = np.square(normal).sum(axis=1)
        lead = normal @ center[0] + offset
        away = np.divide(lead, length, out=np.zeros_like(lead), where=length > 0.0)
        speaks = normal * (part - center + away[:, None] * normal)
        return speaks, scores

    return np.asarray(rule.by_chunks(rows, terms))


def by_column(view: ModelView, numbers: Floats) -> Floats:
    """Add up what belongs to one column."""
    starts = [places.start for places in view.places]
    return np.asarray(np.add.reduceat(numbers, starts, axis=1))


def score_function(view: ModelView) -> Callable[[Floats], Floats] | None:
    """Return what gives plain rows a score for each class, or None."""
    last = view.last
    name = next((m for m in ("decision_function", "predict_proba") if hasattr(last, m)), None)
    if name is None:
        return None

    def scores(plain: Floats) -> Floats:
        with ignore_warnings(*QUIET):
            found = np.asarray(getattr(last, name)(view.inner(plain)), dtype=np.float64)
        return np.stack([np.zeros(len(found)), found], axis=1) if found.ndim == 1 else found

    return scores


def compare_rows(
    view: ModelView, own: Indices, rival: Indices, candidates: Floats, kind: str
) -> Contributions:
    """Return what each column adds to the lead, from the nearest row of the rival class to the row.

    By how much the lead changes as columns get the values of the row one after another, averaged
    over orders of the columns (Shapley values, Strumbelj and Kononenko, 2014). What is equal in
    both rows adds nothing, and the sum is the lead less that of the other row.
    """
    scores, name = score_function(view), type(view.last).__name__
    if scores is None or not len(candidates):
        lacks = "has no scores" if scores is None else "has no prototypes; give training rows, data"
        return Contributions(None, None, "", f"{name} {lacks}")
    labels = np.searchsorted(view.classes, view.labels(candidates))
    n, C = len(view.plain), len(view.columns)
    values, total = np.zeros((n, C)), np.zeros(n)
    rng = np.random.RandomState(0)
    orders = [rng.permutation(C) for _ in range(ORDERS)]
    orders += [order[::-1] for order in orders]
    for i in range(n):
        there = candidates[labels == rival[i]]
        if not len(there):
            return Contributions(
                None, None, "", f"no row of class {view.classes[rival[i]]} is known"
            )
        row = view.plain[i]
        size = view.sizes(np.broadcast_to(row, there.shape), there).sum(axis=1)
        path = paths(there[size.argmin()], row, orders, view.places)
        found = scores(path)
        lead = (found[:, own[i]] - found[:, rival[i]]).reshape(len(orders), C + 1)
        for order, way in zip(orders, np.diff(lead, axis=1), strict=True):
            values[i, order] += way / len(orders)
        total[i] = lead[0, -1] - lead[0, 0]
    return Contributions(values, total, f"the nearest {kind} of the other class")


def paths(start: Floats, end: Floats, orders: list[NDArray[Any]], places: list[slice]) -> Floats:
    """Return the rows on the ways from one to another, column after column, in several orders."""
    found = np.repeat(start[None], len(orders) * (len(places) + 1), axis=0)
    for k, order in enumerate(orders):
        part = found[k * (len(places) + 1) : (k + 1) * (len(places) + 1)]
        for step, j in enumerate(order.tolist()):
            part[step + 1 :, places[j]] = end[places[j]]
    return found
