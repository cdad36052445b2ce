"""A model in whole numbers of 8 or 16 bits, as C runs it: the reference, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from .model_document import Document, map_vector

Whole = NDArray[np.int64]

BEYOND = 5.0
"""Standard deviations from the centre that whole numbers reach, where no range is known."""

ROOM = {8: 14, 16: 20}
"""Bits of what a map gives, such that no sum of contributions is larger than 64 bits."""

FARTHER = 3.0
"""The same in units of the largest prototype."""

AWAY_BITS = 14
"""Bits of the share that a feature has in the offset of a lead of linear scores."""

LARGEST_OFFSET = 2.0**46
"""Largest whole intercept, which is multiplied by such a share."""

SAFETY = 1.01
"""Factor of what rounding to whole numbers takes from a radius, for the rounding of rows before."""


@dataclass(frozen=True, eq=False)
class FixedPointModel:
    """The whole numbers of a model.

    Attributes
    ----------
    document : dict
        The model that it stands for.
    bits : {8, 16}
        Size of its numbers; sums have four times as many.
    input_scale : array of shape (d,)
        What encoded numbers are multiplied with before they are rounded.
    maps : list of arrays, or None for the identity
        The maps of the prototypes.
    shift : int
        Bits by which results of the map are shifted down.
    prototypes, mapped, mapped_rest : arrays
        The prototypes, as they are and under their maps, and the other ones of a linear model.
    offsets : array of shape (K,)
        What is added to distances.
    coef, intercept, away : arrays, or None
        Linear scores, and the weights of features in the offset of a lead.
    distance_unit, score_unit, contribution_unit : float
        What whole distances, scores and contributions are multiplied with to give those of the
        model.
    """

    document: Document
    bits: int
    input_scale: Floats
    maps: list[Whole | None]
    shift: int
    prototypes: Whole
    mapped: list[Whole]
    mapped_rest: list[Whole]
    offsets: Whole
    distance_unit: float
    score_unit: float
    contribution_unit: float
    coef: Any = None
    intercept: Any = None
    away: Any = None

    @classmethod
    def of(cls, document: Document, bits: int, ranges: Any = None) -> FixedPointModel:
        """Return a model in whole numbers.

        ``ranges`` (d,) are the largest encoded numbers; None: what the document knows of them.
        """
        scores, margin = document["scores"], document["margin"] or {}
        if scores.get("sharpness") is not None:
            raise TypeError(
                f"{document['model']} has no form in fixed point: all prototypes of a class decide "
                "together. Take number='float', or what compress makes of it, with its bits."
            )
        top, is_linear = 2.0 ** (bits - 1) - 1.0, scores["kind"] == "linear"
        ranges = ranges_of(document) if ranges is None else np.asarray(ranges, dtype=np.float64)
        W, rest = document["prototypes"], margin.get("rest", [])
        ranges = np.max([ranges, *np.abs(W)], axis=0)
        if document["maps"] == [None] and not is_linear:
            ranges = np.full(len(ranges), ranges.max())
        scale, offsets = top / ranges, np.array(scores.get("offsets") or np.zeros(len(W)))
        maps, shift, factor = whole_maps(document, ranges, bits, 2 if offsets.any() else 1)
        unit = factor / 2.0**shift
        own = [document["maps"][g] for g in document["map_of"]]
        mapped, others = (
            [np.rint(unit * map_vector(np.array(w), form)).astype(np.int64) for w, form in pairs]
            for pairs in (zip(W, own, strict=True), zip(rest, own, strict=False))
        )
        whole = np.rint(np.clip(np.reshape(W, (len(W), len(ranges))) * scale, -top, top))
        most = 2.0 ** (4 * bits - 2) - 1.0
        raised = np.rint(np.minimum(offsets * unit**2, most)).astype(np.int64)
        parts = maps, shift, whole.astype(np.int64), mapped, others, raised, 1.0 / unit**2
        if is_linear:
            return cls(document, bits, scale, *parts, **whole_scores(scores, scale, bits))
        units = 1.0 / unit**2, 1.0 / (factor * unit)
        return cls(document, bits, scale, *parts, *units)

    def quantized_rows(self, Z: Floats) -> Whole:
        """Return encoded rows as whole numbers."""
        top = 2 ** (self.bits - 1) - 1
        x = np.asarray(Z) * self.input_scale
        return np.clip(np.trunc(x + np.copysign(0.5, x)), -top, top).astype(np.int64)

    def image(self, q: Whole, map_number: int) -> Whole:
        """Return rows under a map, divided by a power of two, rounding half away from zero."""
        A = self.maps[map_number]
        if A is None:
            return q
        return divide_by_power(q * A if A.ndim == 1 else q @ A.T, self.shift)

    def distances(self, q: Whole) -> Whole:
        """Return the squared distances of rows to the prototypes, in whole numbers."""
        images = [self.image(q, g) for g in range(len(self.maps))]
        pairs = zip(self.mapped, self.document["map_of"], strict=True)
        found = [np.square(images[g] - w).sum(axis=1) for w, g in pairs]
        return np.stack(found, axis=1) + self.offsets

    def scores(self, q: Whole) -> Whole:
        """Return the score of each class, an array (n, C)."""
        if self.coef is not None:
            return np.asarray(q @ self.coef.T + self.intercept)
        D, labels = self.distances(q), np.array(self.document["prototype_classes"])
        classes = range(len(self.document["classes"]))
        return -np.stack([D[:, labels == c].min(axis=1) for c in classes], axis=1)

    def codes(self, q: Whole) -> Whole:
        """Return the place of the class of each row: of the first of the nearest prototypes."""
        if self.coef is not None:
            return self.scores(q).argmax(axis=1)
        return np.array(self.document["prototype_classes"])[self.distances(q).argmin(axis=1)]

    def contributions(self, q: Whole) -> Whole:
        """Return what each number adds to the lead of the class over the second."""
        own = self.codes(q)
        if self.coef is not None:
            scores = self.scores(q)
            np.put_along_axis(scores, own[:, None], np.iinfo(np.int64).min, axis=1)
            rival = scores.argmax(axis=1)
            normal = self.coef[own] - self.coef[rival]
            square = np.square(normal) * self.away
            total = np.maximum(square.sum(axis=1, keepdims=True), 1)
            lead = (self.intercept[own] - self.intercept[rival])[:, None]
            return normal * q + divide_by_power(lead * ((square << AWAY_BITS) // total), AWAY_BITS)
        D, labels = self.distances(q), np.array(self.document["prototype_classes"])
        least = np.where(labels == own[:, None], np.iinfo(np.int64).max, D)
        return self._terms(q, least.argmin(axis=1)) - self._terms(q, D.argmin(axis=1))

    def _terms(self, q: Whole, prototype: Whole) -> Whole:
        found = np.empty_like(q)
        for k in np.unique(prototype):
            rows, g = prototype == k, self.document["map_of"][k]
            A, apart = self.maps[g], self.image(q[rows], g) - self.mapped[k]
            if A is not None:
                apart = apart * A if A.ndim == 1 else apart @ A
            found[rows] = (q[rows] - self.prototypes[k]) * apart
        return found

    def certificate(self) -> tuple[Floats, Floats] | None:
        """Return how fast whole leads shrink as a row moves, and how much rounding takes of them.

        Two arrays: of two prototypes, or classes of linear scores. With s the scales of the inputs,
        a row that moves by ``r`` changes a whole input by ``s r + 1``, and a number of an image
        ``(A q) / 2^shift`` by ``|A s| r / 2^shift`` and what is rounded. Under one map the lead
        ``D_v - D_j`` is linear in the image; under several, roots of distances are compared.
        """
        known = self.document["certificate"]
        if known is None or not known["isometric"]:
            return None
        part, scale = 2.0**-self.shift, self.input_scale
        if self.coef is not None:
            apart = (self.coef[:, None] - self.coef).astype(np.float64)
            return np.linalg.norm(apart * scale, axis=2), SAFETY * np.abs(apart).sum(axis=2)
        every = [np.eye(len(scale)) if A is None else A.astype(np.float64) for A in self.maps]
        maps = [part * (np.diag(A) if A.ndim == 1 else A) for A in every]
        rounds = [float(A is not None and self.shift > 0) for A in self.maps]
        if not known["root"]:
            places = np.stack(self.mapped).astype(np.float64)
            apart = places[:, None] - places
            moved = apart @ maps[0]
            lost = np.abs(moved).sum(axis=2) + rounds[0] * np.abs(apart).sum(axis=2)
            return 2.0 * np.linalg.norm(moved * scale, axis=2), 2.0 * SAFETY * lost
        map_of = self.document["map_of"]
        steep = np.array([np.linalg.norm(A * scale, 2) for A in maps])[map_of]
        lost = np.array(
            [
                np.linalg.norm(np.abs(A).sum(axis=1)) + more * len(A) ** 0.5
                for A, more in zip(maps, rounds, strict=True)
            ]
        )[map_of]
        return steep + steep[:, None], SAFETY * (lost + lost[:, None])


def whole_maps(
    document: Document, ranges: Floats, bits: int, spare: int
) -> tuple[list[Whole | None], int, float]:
    """Return maps of whole rows, the bits by which their sums are shifted, and their unit."""
    top = 2.0 ** (bits - 1) - 1.0
    if document["maps"] == [None] and (ranges == ranges[0]).all():
        return [None], 0, float(top / ranges[0])
    numbers = [
        np.ones(len(ranges)) if form is None else np.asarray(next(iter(form.values())))
        for form in document["maps"]
    ]
    weights = [A * ranges / top for A in numbers]
    factor = top / max(float(np.abs(A).max()) for A in weights)
    maps: list[Whole | None] = [np.rint(A * factor).astype(np.int64) for A in weights]
    return maps, shift_of(maps, bits, spare), factor


def whole_scores(scores: Document, scale: Floats, bits: int) -> Document:
    """Return linear scores of whole rows."""
    coef, intercept = np.array(scores["coef"]) / scale, np.array(scores["intercept"])
    top = 2.0 ** (bits - 1) - 1.0
    factor = top / max(np.abs(coef).max(), 1e-300)
    room = min(2.0 ** (4 * bits - 2) - coef.shape[1] * top * top, LARGEST_OFFSET)
    factor = min(factor, room / max(np.abs(intercept).max(), 1e-300))
    weights = np.maximum(np.rint(65535.0 * np.square(scale / scale.max())), 1.0)
    return {
        "coef": np.rint(coef * factor).astype(np.int64),
        "intercept": np.rint(intercept * factor).astype(np.int64),
        "away": weights.astype(np.int64),
        "score_unit": 1.0 / factor,
        "contribution_unit": 1.0 / factor,
    }


def divide_by_power(total: Whole, shift: int) -> Whole:
    """Return whole numbers over a power of two, rounded half away from zero."""
    half = (1 << shift) >> 1
    return np.asarray(np.sign(total) * ((np.abs(total) + half) >> shift))


def shift_of(maps: list[Whole | None], bits: int, spare: int = 1) -> int:
    """Return the bits by which sums are shifted so that no distance is too large."""
    sums = [np.abs(A) if A.ndim == 1 else np.abs(A).sum(axis=1) for A in maps if A is not None]
    most = max(int(total.max()) for total in sums) * (2 ** (bits - 1) - 1)
    rank = max(len(total) for total in sums)
    room = (4 * bits - spare - int(np.ceil(np.log2(rank)))) // 2 - 1
    return max(int(np.ceil(np.log2(max(most, 1)))) - min(room, ROOM[bits]), 0)


def ranges_of(document: Document) -> Floats:
    """Return how large encoded numbers are, as far as the columns and the prototypes tell."""
    found: list[float] = []
    W = np.array(document["prototypes"])
    for column in document["columns"]:
        if "categories" in column:
            rows = np.array([*column["entries"], column["missing"], column["unknown"]])
            found += np.abs(rows).max(axis=0).tolist()
        elif column["kind"] != "unused":
            ends = np.array([column.get("low", np.nan), column.get("high", np.nan)])
            reach = float(np.abs((ends - column["offset"]) * column["scale"]).max())
            if not np.isfinite(reach):
                reach = BEYOND if column["scale"] != 1.0 or not len(W) else 0.0
                reach = max(reach, FARTHER * float(np.abs(W[:, len(found)]).max()) if len(W) else 0)
            found.append(reach)
            if "indicator" in column:
                found.append(float(np.abs(column["indicator"]).max()))
    largest = max([*found, 1e-300])
    return np.array([reach if reach > 0.0 else largest for reach in found])
