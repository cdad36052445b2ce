"""The numbers that are learned: a codebook, its gradients, and one flat vector for a solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats, Indices


class Gradients(NamedTuple):
    """Derivatives by the prototypes and by the parameters of the distance; they add up."""

    prototypes: Floats
    metric: Floats


@dataclass(frozen=True, eq=False)
class Codebook:
    """Labelled prototypes and the metric in which they are compared.

    Attributes
    ----------
    prototypes : array (K, d)
    labels : array (K,)
        Class code of each prototype.
    metric : array (groups, p)
        Parameters of the distance.
    group : array (K,)
        The row of ``metric`` that each prototype uses.
    center : array (d,)
        A point among the data. Products are taken relative to it, so that data far from the
        origin lose few digits.
    """

    prototypes: Floats
    labels: Indices
    metric: Floats
    group: Indices
    center: Floats

    def zero_gradients(self) -> Gradients:
        """Return gradients to accumulate into."""
        return Gradients(np.zeros_like(self.prototypes), np.zeros_like(self.metric))

    def copy(self) -> Codebook:
        """Copy the arrays that learning changes."""
        return replace(self, prototypes=self.prototypes.copy(), metric=self.metric.copy())

    def arrays(self) -> dict[str, Floats]:
        """Return the arrays that learning changes."""
        return {"prototypes": self.prototypes, "metric": self.metric}

    def restore(self, arrays: Mapping[str, Floats]) -> None:
        """Set what learning changes, in place, to what ``arrays`` returned."""
        self.prototypes[...], self.metric[...] = arrays["prototypes"], arrays["metric"]

    def same_class(self, n_classes: int) -> NDArray[np.bool_]:
        """Return for every class which prototypes are its own: an array (n_classes, K)."""
        return self.labels == np.arange(n_classes)[:, None]


class Constraint(ABC):
    """How free numbers become the parameters of a distance."""

    constrain: Any
    """Puts one row back where it belongs, in place: a native function ``CONSTRAIN``."""

    @abstractmethod
    def apply(self, free: Floats) -> Floats:
        """Return the parameters of free numbers, row by row."""

    @abstractmethod
    def pull_back(self, free: Floats, gradient: Floats) -> Floats:
        """Turn a gradient by the parameters into one by the free numbers."""


@dataclass(frozen=True)
class Coordinates:
    """The flat vector that a batch solver sees.

    Prototypes appear as ``(w - center) / unit``, so that their size is about one whatever the
    units of the data; the metric appears before its constraint, in units of ``metric_unit``, and
    only if it is learned. No prototype has an entry below ``lowest``.
    """

    template: Codebook
    unit: float
    constraint: Constraint | None
    lowest: float = -np.inf
    metric_unit: float = 1.0

    def flatten(self, codebook: Codebook) -> Floats:
        """Return a codebook as one vector."""
        moved = ((codebook.prototypes - codebook.center) / self.unit).ravel()
        if self.constraint is None:
            return moved
        return np.append(moved, codebook.metric / self.metric_unit)

    def codebook(self, flat: Floats) -> Codebook:
        """Make the codebook of a vector."""
        size = self.template.prototypes.size
        moved = flat[:size].reshape(self.template.prototypes.shape)
        prototypes = self.unit * moved
        prototypes += self.template.center
        if self.constraint is None:
            return replace(self.template, prototypes=prototypes)
        metric = self.constraint.apply(self._free(flat))
        return replace(self.template, prototypes=prototypes, metric=metric)

    def lower_bounds(self) -> Floats:
        """Return the least that each number may be."""
        bounds = np.full(self.flatten(self.template).shape, -np.inf)
        center = np.broadcast_to(self.template.center, self.template.prototypes.shape)
        bounds[: center.size] = ((self.lowest - center) / self.unit).ravel()
        return bounds

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the least and the most that each number may be, given those of prototypes."""
        least = (
            self.lower_bounds()
            if self.lowest > -np.inf
            else np.full_like(self.flatten(self.template), -np.inf)
        )
        most = np.full_like(least, np.inf)
        center = self.template.center
        least[: low.size] = np.maximum(least[: low.size], ((low - center) / self.unit).ravel())
        most[: low.size] = ((high - center) / self.unit).ravel()
        return least, most

    def constrain(self, flat: Floats) -> Floats:
        """Move prototypes above their bound and the metric to its constraint, in place."""
        if self.lowest > -np.inf:
            np.maximum(flat, self.lower_bounds(), out=flat)
        if self.constraint is not None:
            flat[self.template.prototypes.size :] = (
                self.constraint.apply(self._free(flat)).ravel() / self.metric_unit
            )
        return flat

    def gradient(self, flat: Floats, gradients: Gradients) -> Floats:
        """Turn gradients of a codebook into the gradient of its vector."""
        moved = (gradients.prototypes * self.unit).ravel()
        if self.constraint is None:
            return moved
        free = self.metric_unit * self.constraint.pull_back(self._free(flat), gradients.metric)
        return np.append(moved, free)

    def _free(self, flat: Floats) -> Floats:
        return self.metric_unit * flat[self.template.prototypes.size :].reshape(
            self.template.metric.shape
        )
