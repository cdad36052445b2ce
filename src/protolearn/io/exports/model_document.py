"""A fitted model as one JSON document: columns, an affine map, prototypes, and how they decide.

``docs/export.md`` describes the document field by field. Code in other languages is written from
the document alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..._arrays import Floats
from ...analysis import RejectClassifier, factors, has_margin, is_linear, joint_factor
from ...classifiers import rule_checksum
from ...distances import LinearMetric, SquaredEuclidean
from ...linear import RVM, is_joint
from ...rule import DecisionRule, LinearRule, as_rule
from ...selection import AutoPrototypeClassifier
from ...tables import flatten_steps
from .exported_columns import EncodedRows

FORMAT, VERSION = "protolearn-model", 1

AGREES = 1e-6
"""Relative difference between distances of the document and of the model that is rounding."""

N_PROBES = 100
"""Rows, at most, by which the distances are compared."""

LARGEST = float(np.finfo(np.float64).max)
"""Stands for infinity, which JSON does not have."""

Document = dict[str, Any]


@dataclass
class ModelParts:
    """The steps of a model, the one that decides, and those around it."""

    steps: list[tuple[str, Any]] = field(default_factory=list)
    last: Any = None
    calibration: Any = None
    raised: Floats | None = None
    reject: RejectClassifier | None = None

    @classmethod
    def of(cls, model: Any) -> ModelParts:
        """Return the parts of a fitted model."""
        found = cls()
        while True:
            check_is_fitted(model)
            if isinstance(model, Pipeline):
                *before, (_, last) = [s for s in model.steps if s[1] not in (None, "passthrough")]
                for name, step in before:
                    found.steps += flatten_steps(step, name)
                model = last
            elif isinstance(model, RejectClassifier):
                if found.reject is not None:
                    raise TypeError("RejectClassifier within RejectClassifier cannot be exported.")
                found.reject, model = model, model.model_
            elif isinstance(model, AutoPrototypeClassifier):
                found.calibration, found.raised = model.calibration_, model.raised_scores_
                model = model.best_estimator_
            elif hasattr(model, "best_estimator_"):
                model = model.best_estimator_
            else:
                found.last = model
                return found


def document_of(model: Any, threshold: float | None = None) -> Document:
    """Return a fitted model as a document of numbers, texts and lists.

    Parameters
    ----------
    model : classifier
        See :func:`protolearn.export`.
    threshold : float, default=None
        Probability below which a row is flagged, of a model without a reject option of its own.

    Returns
    -------
    document : dict
        As ``json.dumps`` takes it; there is no infinity and no NaN in it.
    """
    from ... import __version__

    parts = ModelParts.of(model)
    rule = as_rule(parts.last)
    check_rule(rule)
    rows = EncodedRows.of(parts.steps, parts.last)
    if isinstance(rule, LinearRule):
        body = linear_body(rule, rows)
    else:
        whole = getattr(parts.last, "whole_", None)
        is_same = whole is not None and rule_checksum(rule) == whole["checksum"]
        body = nearest_body(rule, rows, whole if is_same else None)
    probabilities = probabilities_of(parts, rule)
    return {
        "format": FORMAT,
        "version": VERSION,
        "producer": f"protolearn {__version__}",
        "model": rule.name,
        "classes": [label_value(label) for label in rule.classes.tolist()],
        **body,
        "probabilities": probabilities,
        "reject": reject_of(parts, rule, probabilities, threshold),
    }


def check_rule(rule: DecisionRule) -> None:
    """Raise unless scores are linear, or distances squared Euclidean ones after a linear map."""
    if isinstance(rule, LinearRule):
        return
    if not isinstance(rule.distance, (LinearMetric, SquaredEuclidean)):
        raise TypeError(
            f"{rule.name} cannot be exported: {type(rule.distance).__name__} is not the squared "
            "Euclidean distance after a linear map. to_onnx takes more distances."
        )
    if rule.decision.neighbors > 1:
        raise TypeError(
            f"{rule.name} cannot be exported: it decides by several nearest prototypes. Take a "
            "margin by which the nearest one decides, such as Hypothesis."
        )
    if len(np.unique(rule.codebook.labels)) < len(rule.classes):
        raise ValueError(f"{rule.name} has a class without prototypes; fit it to rows of all.")


def label_value(label: Any) -> Any:
    """Return a label as JSON has it."""
    if isinstance(label, (str, bool, int, float)) and label == label:
        return label
    raise TypeError(f"The label {label!r} is neither text nor a number, which JSON needs.")


class EncodedPrototypes(NamedTuple):
    """Prototypes among the numbers of the columns, before the matrix of the pipeline."""

    maps: list[Floats]  # of differences there to the space in which lengths are distances
    group: NDArray[np.intp]  # the map of each prototype
    points: Floats  # (K, d)
    used: NDArray[np.bool_]  # which of the d numbers have any part in distances
    center: Floats  # the mean of the points, which a document subtracts
    skips: bool  # whether missing numbers are left out

    @classmethod
    def of(cls, rule: DecisionRule, rows: EncodedRows) -> EncodedPrototypes:
        """Return the prototypes of a rule whose distance is a linear map's."""
        codebook, d = rule.codebook, rule.codebook.prototypes.shape[1]
        if isinstance(rule.distance, LinearMetric):
            maps = [rule.distance.omega(row, d) for row in codebook.metric]
        else:
            maps = [np.eye(d)]
        group = np.asarray(codebook.group if len(maps) > 1 else np.zeros(len(codebook.labels), int))
        check_distances(rule, maps, group)
        maps, points = before_map(rows, maps, codebook.prototypes)
        skips = rule.distance.missing_form is not None and bool(np.isnan(rows.missing).any())
        skips = skips and rows.matrix is None
        used = np.any([np.abs(A).max(axis=0) > 0.0 for A in maps], axis=0) | skips
        return cls(maps, group, points, rows.with_marks(used), points.mean(axis=0), skips)


def nearest_body(rule: DecisionRule, rows: EncodedRows, whole: Any = None) -> Document:
    """Return the part of a document that tells how prototypes decide."""
    maps, group, points, used, center, skips = EncodedPrototypes.of(rule, rows)
    whole = None if rows.matrix is not None else whole
    if whole is not None:  # all numbers stay, since the whole ones are of all
        used, center = np.ones(len(center), dtype=bool), whole["center"]
    return {
        "columns": rows.used_columns(used, center),
        "missing": "skip" if skips else "refuse",
        "maps": [map_value(A[:, used]) for A in maps],
        "map_of": group.tolist(),
        "prototypes": (points - center)[:, used].tolist(),
        "prototype_classes": rule.codebook.labels.tolist(),
        "scores": {
            "kind": "distance",
            "sharpness": rule.decision.xi / rule.scale if rule.is_soft else None,
            "offsets": None if rule.offsets is None else rule.offsets.tolist(),
        },
        "margin": {"kind": "gap"},
        "certificate": certificate_of(rule, rows.is_isometric(used)),
        **({} if whole is None else {"whole": whole_value(whole)}),
    }


def whole_value(whole: Any) -> Document:
    """Return the whole numbers of a small model as JSON has them."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in whole.items()
        if name != "center"
    }


def check_distances(rule: DecisionRule, maps: list[Floats], group: Any) -> None:
    """Raise unless the maps give the distances of the model: a subclass may measure otherwise."""
    W = rule.codebook.prototypes
    probes = W[:: len(W) // N_PROBES + 1]
    probes = probes + np.random.RandomState(0).standard_normal(probes.shape) * W.std(axis=0)
    D = np.stack(
        [np.square((probes - w) @ maps[g].T).sum(axis=1) for w, g in zip(W, group, strict=True)], 1
    )
    found = np.asarray(rule.distance.pairwise(np.ascontiguousarray(probes), rule.codebook))
    if not np.allclose(D, found, rtol=AGREES, atol=AGREES * max(np.abs(D).max(), 1e-300)):
        raise TypeError(
            f"{rule.name} cannot be exported: {type(rule.distance).__name__} does not measure by "
            "its linear map alone."
        )


def before_map(
    rows: EncodedRows, maps: list[Floats], points: Floats
) -> tuple[list[Floats], Floats]:
    """Return maps and points as they are before the matrix of the pipeline, by its inverse."""
    if rows.matrix is None or rows.shift is None:
        return maps, points
    back = (points - rows.shift) @ np.linalg.pinv(rows.matrix).T
    again = back @ rows.matrix.T + rows.shift
    if not np.allclose(again, points, atol=AGREES * max(np.abs(points).max(), 1e-300)):
        raise TypeError(
            "This model cannot be exported: its prototypes are not where the steps before it bring "
            "rows. Take fewer components than features."
        )
    return [A @ rows.matrix for A in maps], back


def map_value(A: Floats) -> Document | None:
    """Return a map: None for the identity, its diagonal, or all of it."""
    if A.shape[0] == A.shape[1] and not (A - np.diag(np.diag(A))).any():
        diagonal = np.diag(A)
        return None if (diagonal == 1.0).all() else {"diagonal": diagonal.tolist()}
    return {"matrix": A.tolist()}


def certificate_of(rule: DecisionRule, isometric: bool = False) -> Document | None:
    """Return how fast the lead of one prototype or class can shrink as a row moves.

    ``isometric`` is whether lengths of encoded rows are those of the last step.
    """
    if rule.is_soft:
        return None
    if rule.directions is not None:
        factor = rule.unit if isinstance(rule, LinearRule) else 2.0
        pace = factor * cdist(rule.directions, rule.directions)
    elif rule.steepness is not None:
        pace = rule.steepness + rule.steepness[:, None]
    else:
        return None
    is_root = rule.directions is None
    return {"root": is_root, "isometric": isometric, "pace": pace.tolist()}


def linear_body(rule: LinearRule, rows: EncodedRows) -> Document:
    """Return the part of a document that tells how linear scores decide."""
    model: Any = rule.model
    normals = rule.unit * rule.codebook.prototypes
    offsets = rule.unit * rule.codebook.metric[:, 0]
    coef = normals
    if rows.matrix is not None and rows.shift is not None:
        coef, offsets = normals @ rows.matrix, offsets + normals @ rows.shift
    points, maps = np.zeros((0, coef.shape[1])), [np.eye(coef.shape[1])]
    margin: Document | None = None
    if is_linear(model):
        maps, points = before_map(rows, [np.eye(normals.shape[1])], model.prototypes_)
        margin, rest = reach_of(model)
        if len(rest):
            points = np.vstack([points, before_map(rows, [], rest)[1]])
    # Relative to the mean row; if it is not known, to the mean of the prototypes.
    center = points.mean(axis=0) if len(points) else np.zeros(coef.shape[1])
    center = center if rows.mean is None else rows.mean
    used = np.ones(coef.shape[1], dtype=bool) if len(points) else np.abs(coef).max(axis=0) > 0.0
    count = len(rule.classes) if len(points) else 0
    used = rows.with_marks(used)
    points = (points - center)[:, used]
    if margin is not None:
        margin["rest"] = points[count:].tolist()
    return {
        "columns": rows.used_columns(used, center),
        "missing": "refuse",
        "maps": [map_value(A[:, used]) for A in maps[:1]] if count else [None],
        "map_of": [0] * count,
        "prototypes": points[:count].tolist(),
        "prototype_classes": list(range(count)),
        "scores": {
            "kind": "linear",
            "coef": coef[:, used].tolist(),
            "intercept": (offsets + coef @ center).tolist(),
        },
        "margin": margin,
        "certificate": certificate_of(rule, rows.is_isometric(used)),
    }


def reach_of(model: Any) -> tuple[Document, Floats]:
    """Return the weights of the hypothesis margin of a linear model, and its other prototypes."""
    if len(model.classes_) == 2:
        weights = factors(model, model.prototypes_[1:] - model.prototypes_[:1])
    elif is_joint(model):
        weights = joint_factor(model)
    else:
        weights = factors(model, model.prototypes_ - model.rest_prototypes_)
        return {"kind": "reach", "weights": weights.tolist()}, model.rest_prototypes_
    return {"kind": "reach", "weights": weights.tolist()}, np.zeros((0, 0))


def probabilities_of(parts: ModelParts, rule: DecisionRule) -> Document | None:
    """Return how scores become probabilities; None if the model has none."""
    softmax = {"kind": "softmax", "of": "scores", "offsets": None, "floor": 0.0, "agree": False}
    if parts.calibration is not None:
        found, raised = parts.calibration, parts.raised
        agree = found.method != "temperature" and raised is None
        if found.method == "isotonic":
            steps = [[at.tolist(), height.tolist()] for at, height in found.steps]
            lowered = None if raised is None else raised.tolist()
            return {"kind": "isotonic", "steps": steps, "lowered": lowered, "agree": agree}
        offsets = found.offsets if found.method == "sigmoid" else np.zeros(len(rule.classes))
        offsets = offsets if raised is None else offsets - found.factor * raised
        return softmax | {
            "factor": float(found.factor),
            "offsets": offsets.tolist() if offsets.any() else None,
            "agree": agree,
        }
    model = parts.last
    if not isinstance(rule, LinearRule):
        decision = rule.decision
        unit = {"difference": rule.scale, "root": np.sqrt(rule.scale)}.get(decision.margin, 1.0)
        of = "scores" if decision.margin == "difference" else decision.margin
        factor = float(decision.sharpness / unit)
        return softmax | {"of": of, "factor": factor, "floor": float(decision.floor)}
    if isinstance(model, RVM):
        two = len(model.classes_) == 2
        return softmax | {"factor": float(1.0 / model.unit_)} if two else {"kind": "logistic"}
    if isinstance(model, (LogisticRegression, LinearDiscriminantAnalysis)) or (
        isinstance(model, SGDClassifier) and model.loss == "log_loss"
    ):
        one_by_one = getattr(model, "multi_class", "") == "ovr" or isinstance(model, SGDClassifier)
        one_by_one |= getattr(model, "solver", "") == "liblinear"
        together = len(model.classes_) == 2 or not one_by_one
        return softmax | {"factor": 1.0} if together else {"kind": "logistic"}
    return None


def reject_of(
    parts: ModelParts, rule: DecisionRule, probabilities: Any, threshold: float | None
) -> Document | None:
    """Return below which confidence a row is rejected; None: no row is."""
    if parts.reject is None:
        if threshold is None or probabilities is None:
            return None
        limits = [max(float(threshold), -LARGEST)] * len(rule.classes)
        return {"measure": "probability", "thresholds": limits, "label": None}
    measure = parts.reject.measure
    if callable(measure):
        raise TypeError(
            "A RejectClassifier whose measure is a function cannot be exported; fit it with "
            "measure='margin', 'radius' or 'probability'."
        )
    if measure == "margin" and not has_margin(parts.reject.model_):
        measure = "lead"
    if (measure == "probability" and probabilities is None) or (
        measure == "radius" and certificate_of(rule) is None
    ):
        raise TypeError(f"{rule.name} has no {measure} that could be exported.")
    limits = np.clip(parts.reject.thresholds_, -LARGEST, LARGEST).tolist()
    label = label_value(np.asarray(parts.reject.reject_label_).item())
    return {"measure": measure, "thresholds": limits, "label": label}


def map_vector(vector: Floats, form: Document | None) -> Floats:
    """Return a vector under a map of a document."""
    if form is None:
        return vector
    if "diagonal" in form:
        return np.asarray(form["diagonal"]) * vector
    return np.asarray(form["matrix"]) @ vector


def label_text(label: Any) -> str:
    """Return a label as a text: of a truth value, as JSON writes it."""
    return str(label).lower() if isinstance(label, bool) else str(label)
