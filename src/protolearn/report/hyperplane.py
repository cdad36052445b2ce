"""What pictures need to know of a linear classifier: its hyperplane, and its prototypes if any."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats, Indices
from ..analysis import feature_names, known_labels
from ..linear import LinearPrototypes, PrototypePath
from ..linear import hyperplane_of as normal_and_offset
from .projection_display import NOTHING, Plane, other_directions


class Hyperplane(NamedTuple):
    """A linear decision between two classes."""

    coef: Floats  # (d,): the normal, which points to the second class
    intercept: float  # the offset b
    classes_: NDArray[Any]  # (2,): the labels; one versus rest the first is None
    prototypes: Floats | None = None  # (2, d): prototypes in the order of the classes
    shift: float = 0.0  # S of the canonical form

    def distances(self, X: Any) -> Floats:
        """Return the signed distances of rows, positive on the side of the second class."""
        return np.asarray(X @ self.coef + self.intercept) / np.linalg.norm(self.coef)

    def codes(self, y: Any) -> Indices:
        """Return the classes of labels, 0 or 1."""
        if self.classes_[0] is None:
            own = column_or_1d(y) == self.classes_[1]
            if not np.any(own):
                raise ValueError(
                    f"y has no label {self.classes_[1]!r}, the class that this path separates "
                    "from the rest; pass the labels of all classes."
                )
            return np.asarray(own, dtype=np.intp)
        return (known_labels(self, y) == self.classes_[1]).astype(np.intp)

    def names(self) -> list[str]:
        """Return what a legend calls the classes."""
        first, second = self.classes_
        return [f"not {second}" if first is None else str(first), str(second)]


class HyperplaneRows(NamedTuple):
    """A hyperplane and the rows that are shown with it, in the space of the last step."""

    hyperplane: Hyperplane
    X: Any
    codes: Indices
    feature_names: list[str]
    path: PrototypePath | None = None


def rows_with_hyperplane(model: Any, X: Any, y: Any) -> HyperplaneRows:
    """Return the hyperplane of a linear model, pipeline or LinearPrototypes, and checked rows."""
    columns = getattr(X, "columns", None)
    last, before = split_last_step(model)
    hyperplane = hyperplane_of(model)
    if before is not None:
        X, columns = before.transform(X), None
    X, codes = check_rows(hyperplane, X, y)
    names = names_of(X, getattr(last, "feature_names_in_", columns), before)
    path = getattr(last, "path_", None)  # a list of them if there are more than two classes
    path = path if isinstance(path, PrototypePath) else None
    return HyperplaneRows(hyperplane, X, codes, names, path)


def split_last_step(model: Any) -> tuple[Any, Any]:
    """Return the last step of a fitted model, and all before it or None."""
    if isinstance(model, LinearPrototypes):
        return model, model.steps
    check_is_fitted(model)
    if isinstance(model, Pipeline):
        return model[-1], model[:-1] if len(model) > 1 else None
    return model, None


def rows_with_path(path: Any, X: Any, y: Any) -> HyperplaneRows:
    """Return a path of prototypes with rows; the hyperplane is the last."""
    hyperplane = hyperplane_at(check_path(path), -1)
    columns = getattr(X, "columns", None)
    X, codes = check_rows(hyperplane, X, y)
    return HyperplaneRows(hyperplane, X, codes, names_of(X, columns), path)


def check_rows(hyperplane: Hyperplane, X: Any, y: Any) -> tuple[Any, Indices]:
    """Return checked rows and the codes of their classes."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    codes = hyperplane.codes(y)
    check_consistent_length(X, codes)
    if X.shape[1] != len(hyperplane.coef):
        raise ValueError(
            f"X has {X.shape[1]} features; the hyperplane has {len(hyperplane.coef)}. Give the "
            "rows in the space of the classifier."
        )
    if not hyperplane.coef.any():
        raise ValueError("There is no hyperplane to show: all its coefficients are zero.")
    return X, codes


def names_of(X: Any, columns: Any, before: Any = None) -> list[str]:
    """Return the names of the features, if not known then those that the steps before tell."""
    seen = SimpleNamespace(n_features_in_=X.shape[1], feature_names_in_=columns)
    return feature_names(seen, before)


def hyperplane_of(model: Any) -> Hyperplane:
    """Return the hyperplane of a fitted model, in the space of the last step of a pipeline."""
    last, _ = split_last_step(model)
    if isinstance(last, LinearPrototypes):
        inner = last.inner_prototypes
        return Hyperplane(last.coef, last.intercept, last.classes, inner, last.shift)
    coef, intercept = normal_and_offset(last)
    centers, shift = getattr(last, "prototypes_", None), getattr(last, "shift_", 0.0)
    return Hyperplane(coef, intercept, last.classes_, centers, float(np.ravel(shift)[0]))


def with_prototypes(hyperplane: Hyperplane, name: str) -> Floats:
    """Return the prototypes, or raise if there are none."""
    if hyperplane.prototypes is None:
        raise TypeError(
            f"{name} has no prototypes_; give generalized_prototypes(model, X, y), which finds "
            "those of any linear classifier."
        )
    return hyperplane.prototypes


def check_path(path: Any) -> PrototypePath:
    """Return a path of prototypes, or raise if it is none."""
    if not isinstance(path, PrototypePath):
        raise TypeError(
            "path must be a PrototypePath: what regularization_path gives, or path_ of "
            f"BoostedPrototypes, one of them with more than two classes. It is a "
            f"{type(path).__name__}."
        )
    if len(path.classes) > 2:
        raise ValueError(
            f"path has {len(path.classes)} classes, and a hyperplane separates two: give one of "
            "those of regularization_path with multi_class='ovr'."
        )
    return path


def hyperplane_at(path: PrototypePath, number: int) -> Hyperplane:
    """Return the hyperplane of one step of a path."""
    return Hyperplane(
        coef=path.coef[number],
        intercept=float(path.intercept[number]),
        classes_=path.classes,
        prototypes=path.prototypes[number],
        shift=float(path.shift[number]),
    )


def path_step_name(path: PrototypePath, number: int) -> str:
    """Return what a step of a path is called."""
    between = " " if path.parameter == "round" else " = "
    return f"{path.parameter}{between}{path.values[number]:g}"


def view_of(what: HyperplaneRows) -> Plane:
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


def direction_beside(normal: Floats, what: HyperplaneRows) -> tuple[Floats, str]:
    """Return the direction of the second axis, and its name."""
    if what.path is not None and (first := what.path.coef[0]).any():
        turned = first / np.linalg.norm(first)
        turned = turned - normal * (normal @ turned)
        if (size := np.linalg.norm(turned)) > NOTHING:
            return turned / size, "direction in which the first one differs"
    found = other_directions(what.X, normal[None], 1)
    if not len(found):
        return np.zeros_like(normal), ""
    return found[0], "direction along it in which the rows vary most"


class PathInPlane(NamedTuple):
    """A hyperplane, or a path of them, with rows and prototypes, seen edge on."""

    points: Floats  # (n_samples, 2): the rows
    codes: Indices  # (n_samples,): their classes, 0 or 1
    # (n_steps, 2, 2): the prototypes at each step, one step without a path; then the class.
    prototypes: Floats
    # (n_steps, 3): ``(u, v, c)`` is the line ``u x + v y + c = 0``, the second class is where it is
    # positive.
    lines: Floats
    classes: list[str]  # names of the classes
    axis_names: tuple[str, str]
    path: PrototypePath | None
    shift: float  # S of the canonical form


def path_in_plane(what: HyperplaneRows) -> PathInPlane:
    """Return a hyperplane and its path, if there is one, in the plane in which they are seen."""
    last, path, view = what.hyperplane, what.path, view_of(what)
    steps = [last] if path is None else [hyperplane_at(path, i) for i in range(len(path))]
    prototypes = np.reshape([step.prototypes for step in steps], (-1, len(last.coef)))
    normals = np.stack([step.coef for step in steps])
    offsets = normals @ view.origin + [step.intercept for step in steps]
    return PathInPlane(
        view.places(what.X),
        what.codes,
        view.places(prototypes).reshape(-1, 2, 2),
        np.column_stack([normals @ view.spanning.T, offsets]),
        last.names(),
        view.axis_names,
        path,
        last.shift,
    )
