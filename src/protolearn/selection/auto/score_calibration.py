"""From the scores of a model to probabilities, learned on rows that the model has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.isotonic import IsotonicRegression

from ..._arrays import Floats, Indices
from ...analysis import by_class

STEEPEST = 1e6
"""Largest worth of a lead, in units of the mean one."""

FEWEST_OFFSETS, FEWEST_STEPS = 30, 1000
"""Held-out rows from which on offsets, and steps, are considered."""

TIE = 1e-9
"""Relative lead of the predicted class over one that is as probable."""


@dataclass(frozen=True)
class ScoreCalibration:
    """How the scores of a model become probabilities.

    Parameters
    ----------
    method : {"temperature", "sigmoid", "isotonic"}
        ``"temperature"``: the softmax of the scores times a factor. ``"sigmoid"``: an offset for
        each class is added first. ``"isotonic"``: a rising function, by class, of the lead over
        the best other class, normalised to sum one.
    factor : float
        What scores are multiplied by.
    offsets : array of shape (n_classes,)
        What is added to them.
    steps : list of tuple of arrays
        For each class leads and probabilities; between them the function is linear.
    """

    method: str = "temperature"
    factor: float = 1.0
    offsets: Floats = field(default_factory=lambda: np.zeros(0))
    steps: tuple[tuple[Floats, Floats], ...] = ()

    def probabilities(self, scores: Floats, agree: bool = True) -> Floats:
        """Return the probability of each class; the one with the largest score has the largest.

        Parameters
        ----------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            What ``decision_function`` returns.
        agree : bool, default=True
            Whether the largest score has the largest probability; False: probabilities as they are.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Each row sums to one.
        """
        scores = by_class(scores)
        if self.method == "temperature":
            return np.asarray(softmax(self.factor * scores, axis=1))
        if self.method == "sigmoid":
            shares = softmax(self.factor * scores + self.offsets, axis=1)
        else:
            leads = leads_of(scores)
            columns = zip(leads.T, self.steps, strict=True)
            shares = np.stack([np.interp(lead, *step) for lead, step in columns], axis=1)
            shares /= shares.sum(axis=1, keepdims=True)
        return agree_with(shares, scores.argmax(axis=1)) if agree else np.asarray(shares)


def leads_of(scores: Floats) -> Floats:
    """Return how far each class is ahead of the best other one."""
    order = np.sort(scores, axis=1)
    best, second = order[:, -1:], order[:, -2:-1]
    first = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
    return np.where(first, scores - second, scores - best)


def agree_with(shares: Floats, codes: Indices) -> Floats:
    """Return probabilities of which the predicted class has the largest.

    Classes that were more probable share with it what they have together.
    """
    own = shares[np.arange(len(shares)), codes][:, None]
    above = shares >= own
    level = (shares * above).sum(axis=1, keepdims=True) / above.sum(axis=1, keepdims=True)
    shares = np.where(above, level, shares)
    shares[np.arange(len(shares)), codes] *= 1.0 + TIE
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def calibrate(scores: list[Floats], codes: list[Indices]) -> ScoreCalibration:
    """Return the calibration with the smallest log loss on held-out folds.

    Parameters
    ----------
    scores : list of arrays of shape (n_samples, n_classes)
        For each fold, the scores of a model that was fitted without it.
    codes : list of arrays of shape (n_samples,)
        The places of the true classes.

    Returns
    -------
    calibration : ScoreCalibration
        Learned from all folds. The method is the simplest one, unless another has a smaller log
        loss on folds that it is not learned from, by more than a standard error.
    """
    n_rows = sum(map(len, codes))
    fits = [fit_temperature]
    fits += [fit_sigmoid] if n_rows >= FEWEST_OFFSETS else []
    fits += [fit_isotonic] if n_rows >= FEWEST_STEPS else []
    best, least = fits[0], None
    for fit in fits if len(scores) > 1 else ():
        losses = np.concatenate([loss_on_fold(fit, scores, codes, k) for k in range(len(scores))])
        gain = np.zeros(1) if least is None else least - losses
        if least is None or gain.mean() > gain.std() / np.sqrt(len(gain)):
            best, least = fit, losses
    return best(scores, codes)


def loss_on_fold(
    fit: Callable[..., ScoreCalibration], scores: list[Floats], codes: list[Indices], fold: int
) -> Floats:
    """Return the log loss of each row of a fold, if a calibration is learned from the others."""
    others = [k for k in range(len(scores)) if k != fold]
    found = fit([scores[k] for k in others], [codes[k] for k in others])
    shares = found.probabilities(scores[fold])[np.arange(len(codes[fold])), codes[fold]]
    return np.asarray(-np.log(np.maximum(shares, np.finfo(float).tiny)))


def fit_temperature(scores: list[Floats], codes: list[Indices]) -> ScoreCalibration:
    """Return one factor for all scores: the median over the folds."""
    n_rows = sum(map(len, codes))
    folds = zip(scores, codes, strict=True)
    factors = [steepness(one, own, len(own) / n_rows) for one, own in folds if len(own)]
    return ScoreCalibration(factor=float(np.median(factors)) if factors else 1.0)


def fit_sigmoid(scores: list[Floats], codes: list[Indices]) -> ScoreCalibration:
    """Return a factor and offsets of the classes with the best likelihood.

    Platt's targets keep probabilities away from 0 and 1: each row counts as if one more of every
    class had been seen.
    """
    every, own = np.vstack(scores), np.concatenate(codes)
    start = fit_temperature(scores, codes).factor
    counts = np.bincount(own, minlength=every.shape[1])
    n_classes, rows = len(counts), np.arange(len(own))
    targets = np.repeat(1.0 / (len(own) + n_classes), n_classes)[None, :].repeat(len(own), axis=0)
    targets[rows, own] = 1.0 - targets[rows, own] * (n_classes - 1)

    def cost(values: Floats) -> tuple[float, Floats]:
        factor, offsets = start * np.exp(values[0]), values[1:]
        logs = log_softmax(factor * every + offsets, axis=1)
        slopes = np.exp(logs) - targets
        value = -float((targets * logs).sum()) + 0.5 * float(values @ values)
        inner = np.append(float((slopes * every).sum()) * factor, slopes.sum(axis=0))
        return value, inner + values

    found = minimize(cost, np.zeros(1 + n_classes), jac=True, method="L-BFGS-B")
    factor = start * float(np.exp(np.clip(found.x[0], -5.0, 5.0)))
    return ScoreCalibration("sigmoid", factor, np.asarray(found.x[1:]))


def fit_isotonic(scores: list[Floats], codes: list[Indices]) -> ScoreCalibration:
    """Return a rising function of the lead, for each class.

    A step of n rows has the share (k + 1/2) / (n + 1) of the class, not k / n, so that it is never
    0 or 1.
    """
    leads, own = leads_of(np.vstack(scores)), np.concatenate(codes)
    start = fit_temperature(scores, codes).factor
    steps = []
    for k, lead in enumerate(leads.T):
        rising = IsotonicRegression(y_min=0.0, y_max=1.0).fit(lead, own == k)
        level, place = np.unique(rising.predict(lead), return_inverse=True)
        n_rows = np.bincount(place)
        ends = [(lead[place == j].min(), lead[place == j].max()) for j in range(len(level))]
        soft = (level * n_rows + 0.5) / (n_rows + 1.0)
        soft = np.maximum.accumulate(soft)
        steps.append((np.ravel(ends), np.repeat(soft, 2)))
    return ScoreCalibration("isotonic", start, steps=tuple(steps))


def steepness(scores: Floats, codes: Indices, doubt: float = 1.0) -> float:
    """Return the factor of the scores with the best log-likelihood of the true classes.

    One row more has the scores of a middling sure one and its second class, and the weight
    ``doubt``: so the factor has an end where all rows come out right.
    """
    if not len(scores):
        return 1.0
    order = np.sort(scores, axis=1)
    leads = order[:, -1] - order[:, -2]
    unit = leads.mean()
    if not unit > 0.0:
        return 1.0
    middling = np.argsort(leads)[len(leads) // 2]
    second = np.argsort(scores[middling])[-2]
    scores = np.vstack([scores, scores[middling]]) / unit
    rows, codes = np.arange(len(scores)), np.append(codes, second)
    weight = np.append(np.ones(len(leads)), doubt)

    def cost(log_factor: float) -> float:
        return -float(weight @ log_softmax(np.exp(log_factor) * scores, axis=1)[rows, codes])

    found = minimize_scalar(cost, bounds=(-np.log(STEEPEST), np.log(STEEPEST)), method="bounded")
    return float(np.exp(found.x) / unit)
