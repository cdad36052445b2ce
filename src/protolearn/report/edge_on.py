"""The plane in which a hyperplane is seen edge on, as a line."""

from __future__ import annotations

import numpy as np

from .._arrays import Floats
from .hyperplane import Hyperplane, Shown
from .plane import NOTHING, Plane, others


def view_of(what: Shown) -> Plane:
    """Return the plane in which a hyperplane is seen edge on."""
    if what.X.shape[1] == 2:
        names = what.feature_names[0], what.feature_names[1]
        return Plane(np.zeros(2), np.eye(2), np.eye(2), names)
    w, b = what.hyperplane.coef, what.hyperplane.intercept
    normal = w / np.linalg.norm(w)
    mean = np.asarray(what.X.mean(axis=0)).ravel()
    origin = mean - normal * (normal @ mean + b / np.linalg.norm(w))
    second, name = direction_beside(normal, what)
    which = "hyperplane" if what.path is None else "last hyperplane"
    directions = np.vstack([normal, second])
    return Plane(origin, directions, directions, (f"distance to the {which}", name))


def direction_beside(normal: Floats, what: Shown) -> tuple[Floats, str]:
    """Return the direction of the second axis, and its name."""
    if what.path is not None and (first := what.path.coef[0]).any():
        turned = first / np.linalg.norm(first)
        turned = turned - normal * (normal @ turned)
        if (size := np.linalg.norm(turned)) > NOTHING:
            return turned / size, "direction in which the first one differs"
    found = others(what.X, normal[None], 1)
    if not len(found):
        return np.zeros_like(normal), ""
    return found[0], "first principal axis beside it"


def line_in(view: Plane, hyperplane: Hyperplane) -> Floats:
    """Return a hyperplane as a line in the plane."""
    normal = view.spanning @ hyperplane.coef
    return np.array([*normal, hyperplane.coef @ view.origin + hyperplane.intercept])
