"""Paths of prototypes: what they are at every round of boosting, or at every C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats
from .canonical import Canonical


@dataclass(frozen=True, eq=False, repr=False)
class PrototypePath:
    """Two prototypes and their hyperplane along a parameter, all in canonical form.

    Attributes
    ----------
    parameter : {"C", "round"}
        What changes along the path.
    values : array of shape (n_steps,)
        Its values.
    prototypes : array of shape (n_steps, 2, n_features)
        Prototypes in the order of the classes.
    coef : array of shape (n_steps, n_features)
        Normals of the hyperplanes, which are the differences of the prototypes.
    intercept : array of shape (n_steps,)
        Offsets of the hyperplanes.
    shift : array of shape (n_steps,)
        Shifts in favour of the second class.
    classes : array of shape (2,)
        The labels; one versus rest the first is None.
    """

    parameter: str
    values: Floats
    prototypes: Floats
    coef: Floats
    intercept: Floats
    shift: Floats
    classes: NDArray[Any]

    @classmethod
    def of(cls, parameter: str, values: Any, forms: list[Canonical], classes: Any) -> PrototypePath:
        """Return the hyperplanes of all steps as a path."""
        return cls(
            parameter=parameter,
            values=np.asarray(values, dtype=np.float64),
            prototypes=np.stack([form.prototypes for form in forms]),
            coef=np.stack([form.coef for form in forms]),
            intercept=np.array([form.intercept for form in forms]),
            shift=np.array([form.shift for form in forms]),
            classes=np.asarray(classes),
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        first, last = self.values[0], self.values[-1]
        steps = f"{len(self)} step{'s' * (len(self) > 1)}"
        return f"<PrototypePath: {steps}, {self.parameter} {first:g} to {last:g}>"
