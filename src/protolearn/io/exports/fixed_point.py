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
        The maps of the prototypes; of a linear model none.
    shift : int
        Bits by which what a map gives is shortened.
    prototypes, mapped : arrays
        The prototypes, as they are and under their maps; of a linear model the coefficients and
        the intercepts.
    score_unit, contribution_unit : float
        What whole scores and contributions are multiplied with to give those of the model.
    """

    document: Document
    bits: int
    input_scale: Floats
    maps: list[Whole | None]
    shift: int
    prototypes: Whole
    mapped: list[Whole]
    score_unit: float
    contribution_unit: float

    @classmethod
    def of(cls, document: Document, bits: int, ranges: Any = None) -> FixedPointModel:
        """Return a model in whole numbers.

        ``ranges`` (d,) are the largest encoded numbers; None: what the document knows of them.
        """
        scores = document["scores"]
        if scores.get("sharpness") is not None:
            raise TypeError(
                f"{document['model']} has no form in fixed point: all prototypes of a class decide "
                "together. Take number='float', or one prototype a class."
            )
        top = 2.0 ** (bits - 1) - 1.0
        ranges = ranges_of(document) if ranges is None else np.asarray(ranges, dtype=np.float64)
        ranges = np.max([ranges, *np.abs(document["prototypes"])], axis=0)
        if scores["kind"] == "linear":
            return cls._linear(document, bits, top / ranges)
        if document["maps"] == [None]:
            scale = np.full(len(ranges), top / ranges.max())
            return cls._nearest(document, bits, scale, [None], 0, scale[0], scale[0])
        numbers = [
            np.ones(len(ranges)) if form is None else np.asarray(next(iter(form.values())))
            for form in document["maps"]
        ]
        weights = [A * ranges / top for A in numbers]
        factor = top / max(float(np.abs(A).max()) for A in weights)
        maps: list[Whole | None] = [np.rint(A * factor).astype(np.int64) for A in weights]
        shift = shift_of(maps, bits)
        unit = factor / 2.0**shift
        return cls._nearest(document, bits, top / ranges, maps, shift, unit, factor)

    @classmethod
    def _nearest(
        cls,
        document: Document,
        bits: int,
        scale: Floats,
        maps: list[Whole | None],
        shift: int,
        unit: float,
        factor: float,
    ) -> FixedPointModel:
        """Return the model; ``unit`` is the size of one in what maps give, ``factor`` before."""
        W, map_of, top = np.array(document["prototypes"]), document["map_of"], 2 ** (bits - 1) - 1
        mapped = [
            np.rint(unit * map_vector(w, document["maps"][g])).astype(np.int64)
            for w, g in zip(W, map_of, strict=True)
        ]
        whole = np.rint(np.clip(W * scale, -top, top)).astype(np.int64)
        units = float(1.0 / unit**2), float(1.0 / (factor * unit))
        return cls(document, bits, scale, maps, shift, whole, mapped, *units)

    @classmethod
    def _linear(cls, document: Document, bits: int, scale: Floats) -> FixedPointModel:
        coef = np.array(document["scores"]["coef"]) / scale
        intercept = np.array(document["scores"]["intercept"])
        top = 2.0 ** (bits - 1) - 1.0
        factor = top / np.abs(coef).max()
        room = 2.0 ** (4 * bits - 2) - coef.shape[1] * top * top
        factor = min(factor, room / max(np.abs(intercept).max(), 1e-300))
        whole = np.rint(coef * factor).astype(np.int64)
        offsets = [np.rint(intercept * factor).astype(np.int64)]
        return cls(document, bits, scale, [], 0, whole, offsets, 1.0 / factor, 1.0 / factor)

    def quantized_rows(self, Z: Floats) -> Whole:
        """Return encoded rows as whole numbers."""
        top = 2 ** (self.bits - 1) - 1
        x = np.asarray(Z) * self.input_scale
        return np.clip(np.trunc(x + np.copysign(0.5, x)), -top, top).astype(np.int64)

    def image(self, q: Whole, map_number: int) -> Whole:
        """Return rows under a map, shortened by rounding half away from zero."""
        A = self.maps[map_number]
        if A is None:
            return q
        total = q * A if A.ndim == 1 else q @ A.T
        half = (1 << self.shift) >> 1
        return np.sign(total) * ((np.abs(total) + half) >> self.shift)

    def distances(self, q: Whole) -> Whole:
        """Return the squared distances of rows to the prototypes, in whole numbers."""
        images = [self.image(q, g) for g in range(len(self.maps))]
        pairs = zip(self.mapped, self.document["map_of"], strict=True)
        return np.stack([np.square(images[g] - w).sum(axis=1) for w, g in pairs], axis=1)

    def codes(self, q: Whole) -> Whole:
        """Return the place of the class of each row."""
        if not self.maps:
            return (q @ self.prototypes.T + self.mapped[0]).argmax(axis=1)
        return np.array(self.document["prototype_classes"])[self.distances(q).argmin(axis=1)]

    def contributions(self, q: Whole) -> Whole:
        """Return what each number adds to the lead of the class; of linear models nothing."""
        if not self.maps:
            return np.zeros_like(q)
        D, labels = self.distances(q), np.array(self.document["prototype_classes"])
        own = D.argmin(axis=1)
        least = np.where(labels == labels[own][:, None], np.iinfo(np.int64).max, D)
        return self._terms(q, least.argmin(axis=1)) - self._terms(q, own)

    def _terms(self, q: Whole, prototype: Whole) -> Whole:
        found = np.empty_like(q)
        for k in np.unique(prototype):
            rows, g = prototype == k, self.document["map_of"][k]
            A, apart = self.maps[g], self.image(q[rows], g) - self.mapped[k]
            if A is not None:
                apart = apart * A if A.ndim == 1 else apart @ A
            found[rows] = (q[rows] - self.prototypes[k]) * apart
        return found


def shift_of(maps: list[Whole | None], bits: int) -> int:
    """Return by how many bits sums are shortened, such that no distance is too large."""
    sums = [np.abs(A) if A.ndim == 1 else np.abs(A).sum(axis=1) for A in maps if A is not None]
    most = max(int(total.max()) for total in sums) * (2 ** (bits - 1) - 1)
    rank = max(len(total) for total in sums)
    room = (4 * bits - 1 - int(np.ceil(np.log2(rank)))) // 2 - 1
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
