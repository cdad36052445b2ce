"""What a saved model has to say about rows: the label, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import euclidean_distances
from sklearn.pipeline import Pipeline

from .._arrays import Floats
from ..analysis import certified_radius, margin_of_prediction
from ..classifiers import NearestPrototypeClassifier
from ..selection import places_among
from ..tables import (
    NO_FEATURE_NAMES,
    UNSEEN_CATEGORIES,
    TableEncoder,
    ignore_warnings,
    labelled_prototypes,
    model_input,
)
from .prototype_texts import prototype_names
from .saved import SavedModel


@dataclass(frozen=True)
class Answers:
    """What is told of some rows; None where the model cannot tell.

    Attributes
    ----------
    label : array (n,)
        The predicted classes.
    probability : array (n, n_classes) or None
        In the order of ``classes_``.
    distances : array (n, K) or None
        To the prototypes.
    margin, radius : array (n,) or None
        Hypothesis margin of the predicted class, and certified radius.
    flagged : array of bool (n,) or None
        Whether the rule of the file rejects the row.
    """

    label: NDArray[Any]
    probability: Floats | None
    distances: Floats | None
    margin: Floats | None
    radius: Floats | None
    flagged: NDArray[np.bool_] | None


class Respondent:
    """A saved model that is asked about some rows after others.

    Attributes
    ----------
    silent : dict of str to str
        Why the model does not tell something, by the name of what it is.
    threshold : float or None
        Probability below which a row is flagged; None if there is no rule. A rule that flags
        nothing has the threshold minus infinity.
    prototypes : list of str
        Names of the prototypes, empty if there are none.
    """

    def __init__(self, saved: SavedModel):
        self.saved, self.silent = saved, dict[str, str]()
        self.classes = np.asarray(saved.pipeline.classes_)
        self._whole = after_table(saved.pipeline)
        self.threshold = self._threshold()
        if not hasattr(self._whole, "predict_proba"):
            self.silent["probability"] = f"{self._name} gives no probabilities"
        self.prototypes = self._prototypes()

    def ask(self, frame: Any) -> Answers:
        """Return all that can be told of some rows."""
        steps, model = self.saved.steps, self.saved.steps.model
        with ignore_warnings(UNSEEN_CATEGORIES, NO_FEATURE_NAMES):
            Z = steps.encoder.transform(frame)
            label = np.asarray(self._whole.predict(Z))
            rows = model_input(steps, Z)
            probability = self._told("probability", lambda: self._whole.predict_proba(Z))
            return Answers(
                label,
                probability,
                self._told("nearest_prototype", lambda: distances(model, rows)),
                self._told("margin", lambda: margin_of_prediction(model, rows)),
                self._told("certified_radius", lambda: certified_radius(model, rows)),
                self._flagged(label, probability),
            )

    def of_prediction(self, label: NDArray[Any], probability: Floats) -> Floats:
        """Return the probability of the predicted classes."""
        return probability[np.arange(len(label)), places_among(self.classes, label)]

    @property
    def _name(self) -> str:
        return type(self.saved.steps.model).__name__

    def _told(self, what: str, ask: Callable[[], Any]) -> Floats | None:
        """Return an answer, or keep the reason why there is none."""
        if what in self.silent:
            return None
        try:
            return np.asarray(ask(), dtype=np.float64)
        except (TypeError, ValueError) as error:
            # What the caller of a function is to give instead is no advice for a command.
            self.silent[what] = str(error).partition("; give ")[0].rstrip(".")
            return None

    def _prototypes(self) -> list[str]:
        """Name the prototypes."""
        try:
            return prototype_names(labels_of_prototypes(self.saved.steps.model))
        except TypeError as error:
            self.silent["nearest_prototype"] = str(error).partition(":")[0]
            return []

    def _threshold(self) -> float | None:
        """Read the rule of the file, by the probability of the predicted class."""
        rule = self.saved.notes.get("reject")
        if rule is None:
            self.silent["reject"] = "the model file has no rule for it"
            return None
        try:
            if rule["measure"] == "probability":
                threshold = rule["threshold"]
                return -np.inf if threshold is None else float(threshold)
        except (KeyError, TypeError, ValueError):
            pass
        self.silent["reject"] = f"the rule of the model file is not understood: {rule!r}"
        return None

    def _flagged(self, label: NDArray[Any], probability: Floats | None) -> NDArray[np.bool_] | None:
        """Return which rows the rule of the file rejects."""
        if self.threshold is None:
            return None
        if self.threshold == -np.inf:
            return np.zeros(len(label), dtype=bool)
        if probability is None:
            self.silent["reject"] = "its rule needs probabilities"
            return None
        return self.of_prediction(label, probability) < self.threshold


def after_table(model: Any) -> Any:
    """Return the model without the encoder at its beginning: it takes the numbers of that."""
    steps = steps_after(model)
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)


def steps_after(model: Any) -> list[tuple[str, Any]]:
    """Return what comes after the encoder; the last step stays as it is, also if it is a search."""
    if not isinstance(model, Pipeline):
        return steps_after(model.best_estimator_)
    first, *others = [step for step in model.steps if step[1] not in (None, "passthrough")]
    return others if isinstance(first[1], TableEncoder) else steps_after(first[1]) + others


def distances(model: Any, rows: Floats) -> Floats:
    """Return the distance of rows to all prototypes, as the model measures it if it does."""
    if isinstance(model, NearestPrototypeClassifier):
        return np.asarray(model.distances(rows))
    return np.asarray(euclidean_distances(rows, labelled_prototypes(model)[0]))


def labels_of_prototypes(model: Any) -> NDArray[Any]:
    """Return the label of each prototype."""
    if isinstance(model, NearestPrototypeClassifier):
        return np.asarray(model.prototype_labels_)
    return np.asarray(labelled_prototypes(model)[1])
