"""How good a model is, and how sure that is: measures against a baseline, and their curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import auc

from ..._arrays import Floats
from ..._names import count
from ...analysis import accuracy_reject_curve
from ...selection import (
    Answers,
    Estimate,
    curve_of,
    measure,
    precision_steps,
    share_interval,
)
from .chart import Chart, Layer, diagonal, every, shares
from .contents import Story
from .evidence import CONFIDENCE, Evidence

MOST_CLASSES, MOST_CURVES, MOST_POINTS = 40, 8, 150
CURVE_POINTS = 1_000  # of curves whose area is told; fewer would change it
MOST_CONFUSIONS = 20
N_BINS = 10

# The measure that each value of ``metric`` of the story stands for.
METRICS = {"balanced-accuracy": "balanced accuracy", "f1": "macro F", "mcc": "MCC", "auc": "AUC"}
METRICS |= {
    "log-loss": "log loss",
    "accuracy": "accuracy",
    "average-precision": "average precision",
}


class Measure(NamedTuple):
    """A measure beside what always predicting the largest class reaches."""

    name: str
    estimate: Estimate
    baseline: float

    def text(self, value: float) -> str:
        """Return a value of the measure as text: shares of rows in percent."""
        return f"{value:.1%}" if self.name.endswith("accuracy") else f"{value:.3f}"

    @property
    def interval(self) -> str:
        """The ends of the interval, or why there is none."""
        one = self.estimate
        if not one.low < one.high:
            return one.reason or "no interval"
        return f"{self.text(one.low)} to {self.text(one.high)}"

    @property
    def is_bounded(self) -> bool:
        """Whether the measure can be drawn on a scale from zero to one."""
        return self.name != "log loss" and self.estimate.low <= self.estimate.high


def measures(evidence: Evidence) -> dict[str, Measure]:
    """Return all measures, with those of a model that always predicts the largest class."""
    answers, n = evidence.answers, len(evidence.answers.y_true)
    codes = np.searchsorted(answers.classes, answers.y_true)
    sizes = np.bincount(codes, minlength=len(answers.classes)) / n
    constant = np.full(n, answers.classes[sizes.argmax()])
    shares_of_classes = np.broadcast_to(sizes, (n, len(sizes)))
    always = measure(Answers(answers.y_true, constant, answers.classes, None, shares_of_classes))
    return {
        name: Measure(name, one, baseline.value)
        for (name, one), baseline in zip(
            evidence.evaluation.table.items(), always.values(), strict=True
        )
    }


def headline(story: Story, found: dict[str, Measure]) -> list[Measure]:
    """Return the measure that was asked for, and another one beside it."""
    first = METRICS.get(story.metric, "accuracy")
    second = "balanced accuracy" if first == "accuracy" else "accuracy"
    return [found[name] for name in (first, second) if not np.isnan(found[name].estimate.value)]


def frequent_errors(evidence: Evidence) -> list[tuple[str, str, int, int]]:
    """Return true class, predicted class, how often, and the rows of the class, most first."""
    pairs = evidence.evaluation.confusion
    errors = pairs.counts - np.diag(np.diag(pairs.counts))
    order = np.argsort(-errors, axis=None, kind="stable")[:MOST_CONFUSIONS]
    places = [(int(k) // len(errors), int(k) % len(errors)) for k in order]
    names = [str(label) for label in pairs.labels]
    sizes = pairs.counts.sum(axis=1)
    return [(names[i], names[j], errors[i, j], sizes[i]) for i, j in places if errors[i, j]]


def class_scores(answers: Answers) -> Any:
    """Return what curves are computed from: probabilities, or scores, or nothing."""
    return answers.probabilities if answers.probabilities is not None else answers.scores


def curve_charts(story: Story) -> list[Chart]:
    """Return the charts of a story, as far as the model has scores and probabilities."""
    found = roc_chart, precision_chart, calibration_chart, reject_chart
    return [chart for make in found if (chart := make(story)) is not None]


def roc_chart(story: Story) -> Chart | None:
    """Return the curves of each class against the others; of two classes one."""
    curves, evaluation = curves_of(story.evidence), story.evidence.evaluation
    if not curves:
        return None
    layers, told = [diagonal()], []
    for label, (x, y, area) in list(curves.items())[:MOST_CURVES]:
        code = int(story.subject.codes_of(np.array([label]))[0])
        told.append(f"{story.subject.classes[code]}, AUC {area:.3f}")
        layers.append(Layer("line", x, y, look="class", name=told[-1], code=code))
    note = "Each class against the others. " if evaluation.roc is None else ""
    left = len(curves) - len(told)
    note += f"{count(left, 'more curve')} not drawn. " if left else ""
    if evaluation.n_folds:
        averaged = "Averaged over the folds at equal false positive rates."
        pooled = "The answers of all folds are taken together."
        note += pooled if evaluation.roc is None else averaged
    return Chart(
        "roc",
        "ROC curve",
        f"ROC curves, true against false positive rate. {'; '.join(told)}.",
        shares("false positive rate"),
        shares("true positive rate"),
        layers,
        f"The further the curve is from the dotted line of guessing, the better. {note}",
    )


def curves_of(evidence: Evidence) -> dict[Any, tuple[Floats, Floats, float]]:
    """Return both rates and the area of the curve of each class, of two classes of the second."""
    evaluation, answers = evidence.evaluation, evidence.answers
    scores = class_scores(answers)
    curves: dict[Any, Any] = {}
    if evaluation.roc is not None:  # of two classes, averaged over the folds
        mean = getattr(evaluation.roc, "mean_curve", (evaluation.roc.fpr, evaluation.roc.tpr))
        curves[evaluation.roc.positive] = *mean[:2], evaluation.auc.value
    elif scores is not None:
        for label in answers.classes:
            if 0 < (answers.y_true == label).mean() < 1:
                found = curve_of(answers.y_true, scores, answers.classes, label)
                curves[label] = found.fpr, found.tpr, found.auc
    return {
        label: (fpr[places], tpr[places], area)
        for label, (fpr, tpr, area) in curves.items()
        for places in [every(len(fpr), CURVE_POINTS)]
    }


def precision_chart(story: Story) -> Chart | None:
    """Return the precision-recall curve of each class against the others, of all rows together."""
    answers = story.evidence.answers
    scores = class_scores(answers)
    labels = [one for one in answers.classes if 0 < (answers.y_true == one).mean() < 1]
    if scores is None or not labels:
        return None
    layers, told = [], []
    for label in labels[:MOST_CURVES]:
        code, positive = int(story.subject.codes_of(np.array([label]))[0]), answers.y_true == label
        steps = precision_steps(positive, scores[:, np.searchsorted(answers.classes, label)])
        recall, precision = thin_steps(*steps)
        name = f"{story.subject.classes[code]}, average precision {auc(recall, precision):.3f}"
        layers.append(Layer("line", recall, precision, look="class", name=name, code=code))
        told.append(f"{name} (guessing: {positive.mean():.3f})")
    folds = "The answers of all folds are taken together. " if story.evidence.left_out else ""
    left = len(labels) - MOST_CURVES
    return Chart(
        "precision",
        "Precision and recall",
        f"Precision against recall. {'; '.join(told)}.",
        shares("recall: rows of the class that are found"),
        shares("precision: predictions of the class that are correct"),
        layers,
        f"{folds}{f'{left} more curves are not drawn.' if left > 0 else ''}",
    )


def thin_steps(recall: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Return a line of fewer steps with the same area below it, if there are many."""
    ends, heights = np.append(recall[:1], recall[1::2]), precision[::2]
    area = np.append(0.0, np.cumsum(np.diff(ends) * heights))
    places = np.array(every(len(ends), CURVE_POINTS // 2))
    ends, area = ends[places], area[places]
    return np.repeat(ends, 2)[1:-1], np.repeat(np.diff(area) / np.diff(ends), 2)


def calibration_chart(story: Story) -> Chart | None:
    """Return how often predictions of some probability are correct."""
    probability, right = story.evidence.probability, ~story.evidence.wrong
    if probability is None:
        return None
    groups = [Group.of(probability[rows], right[rows]) for rows in equal_bins(probability)]
    x, y = [one.said for one in groups], [one.share for one in groups]
    start = max(0.0, min(min(one.low, one.said) for one in groups) - 0.03)
    told = calibration_text(groups, float(probability.mean()), float(right.mean()))
    ends = [one.low for one in groups], [one.high for one in groups]
    return Chart(
        "calibration",
        "Calibration",
        f"Share of correct predictions against their stated probability. {told}",
        shares("stated probability", start, 1.01),
        shares("share that is correct", start, 1.03),
        [
            diagonal(),
            Layer("intervals", x, ends[1], base=ends[0], look="muted"),
            Layer("line", x, y),
            Layer("dots", x, y, tips=[one.text for one in groups]),
        ],
        f"Dots near the dotted line: a stated 80% is correct 80% of the time. {told} Vertical "
        f"lines: {CONFIDENCE:.0%} intervals.",
    )


class Group(NamedTuple):
    """Predictions of about the same probability."""

    n: int  # how many
    said: float  # their mean probability
    share: float  # how many of them are correct, and the interval of that
    low: float
    high: float

    @classmethod
    def of(cls, probability: Floats, right: Any) -> Group:
        """Return the summary of some predictions."""
        ends = share_interval(int(right.sum()), len(right), CONFIDENCE)
        return cls(len(right), float(probability.mean()), float(right.mean()), *ends)

    @property
    def text(self) -> str:
        """What is shown when it is pointed at."""
        return (
            f"{count(self.n, 'prediction')}, stated probability {self.said:.1%} on average; "
            f"correct {self.share:.1%} ({self.low:.1%} to {self.high:.1%})"
        )


def calibration_text(groups: Sequence[Group], said: float, right: float) -> str:
    """Return a text that says whether predictions are correct as often as they state."""
    off = [one for one in groups if not one.low <= one.said <= one.high]
    if not off:
        return "No group deviates more than chance allows."
    kinds = {one.said > one.share for one in off}
    how = "more or less" if len(kinds) > 1 else "less" if True in kinds else "more"
    return (
        f"In {len(off)} of {count(len(groups), 'group')} predictions are correct {how} often than "
        f"stated; overall they state {said:.1%} and are correct {right:.1%} of the time."
    )


def equal_bins(values: Any) -> list[Any]:
    """Return rows in parts of about equal size by their values; equal values stay together."""
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, N_BINS + 1)[1:-1]))
    place = np.searchsorted(edges, values, side="left")
    return [np.flatnonzero(place == k) for k in np.unique(place)]


def reject_chart(story: Story) -> Chart | None:
    """Return what accuracy is gained by leaving the least certain predictions to a person."""
    evidence, confidence = story.evidence, story.evidence.confidence
    if confidence is None:
        return None
    answers = evidence.answers
    found = accuracy_reject_curve(answers.y_true, answers.y_pred, confidence)
    # Of the last few rows the accuracy says little.
    there = found.reject_rate <= 1.0 - min(20, len(confidence)) / len(confidence)
    rate, accuracy = found.reject_rate[there], found.accuracy[there]
    if len(rate) < 2:
        return None
    places = every(len(rate), MOST_POINTS)
    rate, accuracy = rate[places], accuracy[places]
    layers = [Layer("line", rate, accuracy)]
    note = ""
    if story.threshold is not None and (kept := confidence >= story.threshold).any():
        at, right = float(1.0 - kept.mean()), float(1.0 - evidence.wrong[kept].mean())
        note = (
            f"The dot: predictions with a probability below {story.threshold:.2f} are flagged, "
            f"{at:.1%} of the rows; the others are correct {right:.1%} of the time."
        )
        layers.append(Layer("dots", [at], [right], look="ink", tips=[note]))
    low = float(accuracy.min())
    return Chart(
        "reject",
        "Accuracy when the least certain predictions go to a person",
        f"Accuracy of the others against the share left out: {accuracy[0]:.1%} with none left out, "
        f"{np.interp(0.1, rate, accuracy):.1%} without the least certain tenth. {note}",
        shares("share of rows that a person decides", 0.0, float(rate[-1])),
        shares("accuracy on the others", max(0.0, low - 0.1 * (1.0 - low) - 0.01), 1.005),
        layers,
        note or "Predictions are left to a person in the order of their certainty.",
    )
