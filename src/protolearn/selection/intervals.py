"""Intervals of measures over rows, none of which collapses where all predictions are right.

Each measure between 0 and 1 has a standard error, computed with half a right and half a wrong row
more in each class, so that it is never zero. It is that of a share of some number of rows, the
*effective* number, and the interval is Clopper and Pearson's for a share of so many rows. For the
accuracy it is the exact one. Rows that stay together count as fewer rows, and so do rows of folds
where little can be learned, since each of them is held out once and learned from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, rankdata, t
from sklearn.utils.multiclass import unique_labels

from .._arrays import Floats, Indices, as_floats, rows_at_a_time
from .._validation import number_in
from .held_out import Answers
from .metrics import rankings, row_losses

FEW_ROWS = 50
"""Mean number of rows of a class up to which a choice of models is as unsure as it can be."""

ROUNDING = 1e-12
"""Part of a variance that is no more than rounding."""


class Interval(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float

    def within(self, low: float, high: float) -> Interval:
        """Cut the interval at the ends of what is possible."""
        return Interval(*(float(end) for end in np.clip(self, low, high)))

    def around(self, value: float) -> Interval:
        """Return the interval, widened to the value that it belongs to."""
        return Interval(min(self.low, value), max(self.high, value))

    def around_both(self, other: Interval) -> Interval:
        """Return the interval that holds both."""
        return self.around(other.low).around(other.high)


class MeasureSpread(NamedTuple):
    """How far a measure from 0 to 1 may be off.

    Attributes
    ----------
    centre : float
        The measure with half a right and half a wrong row more in each class.
    variance : float
        Its variance, as if all rows were independent; never zero.
    influence : array of shape (n_rows,)
        How far each row moves the measure. The sum of the squares is the variance without the
        additional rows.
    """

    centre: float
    variance: float
    influence: Floats


def check_confidence(confidence: Any) -> float:
    """Return the confidence of an interval, a number between zero and one."""
    return number_in(confidence, "confidence={value!r}", 0.0, 1.0, above=True, below=True)


def corrected_variance(scores: Any, n_train: Any, n_test: Any) -> float:
    """Return the variance of the mean of scores over folds, corrected for their overlap.

    Training sets of folds share most of their rows, so the scores depend on each other, and
    ``s^2 / J`` is too small. Nadeau and Bengio (2003) take ``(1 / J + n_test / n_train) s^2``.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if len(scores) < 2:
        raise ValueError(
            f"There are scores of {len(scores)} fold; an interval needs two folds or more."
        )
    share = np.sum(n_test) / np.sum(n_train)
    return float((1.0 / len(scores) + share) * scores.var(ddof=1))


def fold_interval(scores: Any, n_train: Any, n_test: Any, confidence: float) -> Interval:
    """Return the interval of the mean of scores over folds by the corrected resampled t."""
    spread = np.sqrt(corrected_variance(scores, n_train, n_test))
    half = spread * t.ppf(0.5 + 0.5 * check_confidence(confidence), len(scores) - 1)
    mean = float(np.mean(scores))
    return Interval(mean - float(half), mean + float(half))


def share_interval(successes: float, trials: float, confidence: float) -> Interval:
    """Return Clopper and Pearson's interval of a share; the numbers need not be whole."""
    tail, failures = 0.5 * (1.0 - check_confidence(confidence)), trials - successes
    low = float(beta.ppf(tail, successes, failures + 1.0)) if successes > 0.0 else 0.0
    high = float(beta.ppf(1.0 - tail, successes + 1.0, failures)) if failures > 0.0 else 1.0
    return Interval(low, high)


def measure_interval(
    name: str,
    value: float,
    folds: Sequence[Answers],
    groups: Indices | None,
    confidence: float,
    n_resamples: int = 1000,
    rng: Any = None,
    noise: float = 0.0,
) -> Interval:
    """Return the interval of a measure over new rows.

    ``folds`` are the answers of one model to test rows, or of the models of several folds each to
    its own. ``groups`` has a number for each row of all folds; rows with one number depend on each
    other. ``noise`` is that of :func:`noise_of_folds`. The log loss has no largest value: its rows
    are resampled.
    """
    if name in MEANS:
        losses = np.concatenate([MEANS[name](one) for one in folds])
        found = bootstrap_interval(losses, groups, confidence, n_resamples, rng).around(value)
        wider = value + np.sqrt(1.0 + noise) * (np.array(found) - value)
        return Interval(max(float(wider[0]), 0.0), float(wider[1]))
    low, high = ENDS.get(name, (0.0, 1.0))
    share = (value - low) / (high - low)
    n_effective = effective_rows(name, folds, groups) / (1.0 + noise)
    ends = share_interval(share * n_effective, n_effective, confidence).around(share)
    if name == "balanced_accuracy":
        by_class = mean_share_interval(share, folds, groups, confidence, noise)
        ends = by_class.around_both(ends)
    return Interval(*(low + (high - low) * end for end in ends))


def mean_share_interval(
    value: float,
    folds: Sequence[Answers],
    groups: Indices | None,
    confidence: float,
    noise: float = 0.0,
) -> Interval:
    """Return the interval of a mean of recalls by Clopper and Pearson's of each class.

    The distances of their ends to the recalls are added as those of independent estimates (Zou and
    Donner, 2008). So few rows with a small recall have a long upper end.
    """
    true, assigned = (np.concatenate([one[i] for one in folds]) for i in (0, 1))
    labels, spread = np.unique(true), SPREADS["balanced_accuracy"](folds)
    effect = design_effect(spread, groups) * (1.0 + noise)
    below, above = 0.0, 0.0
    for label in labels:
        n_rows, right = (true == label).sum(), ((true == label) & (assigned == label)).sum()
        ends = share_interval(right / effect, n_rows / effect, confidence)
        below += (right / n_rows - ends.low) ** 2
        above += (ends.high - right / n_rows) ** 2
    size = np.sqrt([below, above]) / len(labels)
    return Interval(float(value - size[0]), float(value + size[1])).within(0.0, 1.0)


def bounded_mean_interval(
    values: Floats, ends: tuple[float, float], groups: Indices | None, confidence: float
) -> Interval:
    """Return the interval of the mean of numbers between two ends, such as costs of predictions.

    By the standard error with half a smallest and half a largest number more, as of a share.
    """
    low, high = ends
    x, n_rows = (values - low) / (high - low), len(values)
    centre = (x.sum() + 0.5) / (n_rows + 1.0)
    squares = np.square(x - centre).sum() + 0.5 * (centre**2 + (1.0 - centre) ** 2)
    variance = float(squares) / ((n_rows + 1.0) * n_rows)
    spread = MeasureSpread(float(centre), variance, (x - x.mean()) / n_rows)
    n_effective = centre * (1.0 - centre) / (variance * design_effect(spread, groups))
    share = float(x.mean())
    found = share_interval(share * n_effective, n_effective, confidence).around(share)
    return Interval(*(low + (high - low) * end for end in found))


def effective_rows(name: str, folds: Sequence[Answers], groups: Indices | None) -> float:
    """Return the number of rows whose share of right ones would have the same standard error."""
    spread = SPREADS[name](folds)
    variance = spread.variance * design_effect(spread, groups)
    return spread.centre * (1.0 - spread.centre) / variance


def design_effect(spread: MeasureSpread, groups: Indices | None) -> float:
    """Return by how much groups of rows increase the variance, from 1 to their mean size.

    Where no row has any influence nothing can be seen of it, and groups count as one row each.
    """
    if groups is None:
        return 1.0
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    most = float((sizes**2).sum() / sizes.sum())  # of a row, the mean size of its group
    alone = float(spread.influence @ spread.influence)
    if alone <= ROUNDING * spread.variance:
        return most
    together = np.bincount(codes, spread.influence)
    return float(np.clip(together @ together / alone, 1.0, most))


def noise_of_folds(folds: Sequence[Answers], chosen: bool = False) -> float:
    """Return by which part the folds of a cross-validation increase the variance of measures.

    The smaller one of what recalls and what the area under the ROC curve show; zero for one model.
    ``chosen``: the models of the folds were chosen by the same rows, and the measures are to hold
    for the model that is chosen by all of them. With few rows others would choose another one.
    """
    if len(folds) < 2:
        return 0.0
    least = noise_of_choice(folds) if chosen else 0.0
    if any(len(np.unique(one.y_true)) < 2 for one in folds):
        return max(least, NOISE_MOST)
    n_classes = len(np.unique(np.concatenate([one.y_true for one in folds])))
    spread = SPREADS["balanced_accuracy"](folds)
    found = [noise_part(spread.centre, 1.0 / n_classes, spread.variance)]
    if rankings(folds[0]):
        area = SPREADS["auc"](folds)
        found.append(noise_part(area.centre, 0.5, area.variance))
    return max(least, min(found))


def noise_of_choice(folds: Sequence[Answers]) -> float:
    """Return which part of the variance is added as models were chosen.

    That of Nadeau and Bengio (2003) for the overlap of training sets, ``n_test / n_train`` for each
    fold. What a model owes to the draw of its rows decreases as one over their number, so that it
    is less from ``FEW_ROWS`` of a class on.
    """
    true = np.concatenate([one.y_true for one in folds])
    few = FEW_ROWS * len(np.unique(true)) / len(true)
    return len(folds) / (len(folds) - 1.0) * min(few, 1.0)


def noise_part(
    value: float, chance: float, variance: float, errors: float = 2.5, power: float = 2.0
) -> float:
    """Return which part of what models have learned is noise, by how far they are above chance.

    Where nothing can be learned, whether a row is right depends on another one as much as that one
    depends on it: the errors of two rows, each tested by a model that has seen the other, are
    correlated, and the variance of a mean over all folds is about twice that of independent rows.
    What is learned for sure does not depend on single rows. The part between is from simulations:
    half of it is left that many standard ``errors`` above chance.
    """
    above = max(value - chance, 0.0)
    unsure = 1.0 / (1.0 + (above / (errors * variance**0.5)) ** power)
    return float(NOISE_MOST * min(unsure, (1.0 - above / (1.0 - chance)) ** NOISE_POWER))


NOISE_MOST, NOISE_POWER = 0.85, 3.0
"""Part of the variance that is added at chance, and the power of the way that is left to
perfection."""


def accuracy_spread(folds: Sequence[Answers]) -> MeasureSpread:
    """Return the spread of the share of right rows."""
    right = np.concatenate([one.y_true == one.y_pred for one in folds])
    n_rows, centre = len(right), (right.sum() + 0.5) / (len(right) + 1.0)
    return MeasureSpread(centre, centre * (1.0 - centre) / n_rows, (right - right.mean()) / n_rows)


class CellShares(NamedTuple):
    """Shares of the cells of a confusion matrix, as they are or with half rows more."""

    cells: Floats
    true: Indices
    assigned: Indices

    @classmethod
    def of(cls, folds: Sequence[Answers], more: float) -> CellShares:
        """Count the cells; each class has ``more`` right and ``more`` wrong rows in addition."""
        true, assigned = (np.concatenate([one[i] for one in folds]) for i in (0, 1))
        labels = unique_labels(true, assigned)
        true, assigned = np.searchsorted(labels, true), np.searchsorted(labels, assigned)
        size = max(len(labels), 2)
        counts = np.zeros((size, size))
        np.add.at(counts, (true, assigned), 1.0)
        rows = counts.sum(axis=1, keepdims=True)
        counts += more * np.where(np.eye(size) > 0.0, 1.0, 1.0 / (size - 1))
        cells = counts * rows / np.maximum(rows + 2.0 * more, 1.0)  # an absent class has none
        return cls(cells / cells.sum(), true, assigned)


Gradient = Callable[[Floats], tuple[float, Floats]]
"""Returns a measure of the shares of cells, and its derivatives by them."""


def cell_spread(folds: Sequence[Answers], gradient: Gradient) -> MeasureSpread:
    """Return the spread of a measure that follows from the confusion matrix, by its derivatives."""
    plain, smooth = CellShares.of(folds, 0.0), CellShares.of(folds, 0.5)
    n_rows = len(plain.true)
    centre, slopes = gradient(smooth.cells)
    slopes = slopes - (smooth.cells * slopes).sum()
    variance = float((smooth.cells * slopes**2).sum()) / n_rows
    _, own = gradient(plain.cells)
    own = own - (plain.cells * own).sum()
    return MeasureSpread(centre, variance, own[plain.true, plain.assigned] / n_rows)


def mean_recall(cells: Floats) -> tuple[float, Floats]:
    """Return the mean recall of the classes with rows, and its derivatives."""
    rows, here = cells.sum(axis=1), cells.sum(axis=1) > 0.0
    scale = np.divide(1.0, rows, out=np.zeros_like(rows), where=here) / here.sum()
    recall = np.diag(cells) * scale * here.sum()
    slopes = np.diag(scale) - (recall * scale)[:, None]
    return float(recall.sum() / here.sum()), slopes


def mean_f(cells: Floats) -> tuple[float, Floats]:
    """Return the mean F of the classes with rows, and its derivatives."""
    here = cells.sum(axis=1) > 0.0
    both = cells.sum(axis=1) + cells.sum(axis=0)
    scale = np.divide(1.0, both, out=np.zeros_like(both), where=here) / here.sum()
    f = 2.0 * np.diag(cells) * scale * here.sum()
    slopes = np.diag(2.0 * scale) - (f * scale)[:, None] - f * scale
    return float(f.sum() / here.sum()), slopes


def half_correlation(cells: Floats) -> tuple[float, Floats]:
    """Return Matthews' coefficient on the scale from 0 to 1, and its derivatives."""
    true, assigned = cells.sum(axis=1), cells.sum(axis=0)
    spreads = 1.0 - true @ true, 1.0 - assigned @ assigned
    size = np.sqrt(max(spreads[0], 0.0) * max(spreads[1], 0.0))
    if not size > ROUNDING:  # one class is predicted, and the coefficient is zero
        return 0.5, np.zeros_like(cells)
    value = (np.trace(cells) - true @ assigned) / size
    slopes = (np.eye(len(cells)) - assigned[:, None] - true) / size
    slopes += value * (true[:, None] / spreads[0] + assigned / spreads[1])
    return 0.5 + 0.5 * value, 0.5 * slopes


def auc_spread(folds: Sequence[Answers]) -> MeasureSpread:
    """Return the spread of the area under the ROC curve, or of the mean of one for each class.

    The variance is DeLong's, or Hanley and McNeil's for exponential scores if that is larger.
    Scores are compared within folds.
    """
    ranked = [rankings(one) or [] for one in folds]
    ends = np.cumsum([0, *(len(one.y_true) for one in folds)])
    influence, floors, centres = np.zeros(ends[-1]), [], []
    for curve in zip(*ranked, strict=True):
        places = [placements(positive, scores) for positive, scores in curve]
        positive, place = (np.concatenate(parts) for parts in zip(*places, strict=True))
        known = ~np.isnan(place)
        sizes = [int((known & (positive == kind)).sum()) for kind in (True, False)]
        if not all(sizes):
            continue
        for kind, size in zip((True, False), sizes, strict=True):
            rows = known & (positive == kind)
            influence[rows] += (place[rows] - place[rows].mean()) / np.sqrt(size * max(size - 1, 1))
        least, area = min(sizes), place[known & positive].mean()
        centres.append((area * least + 0.5) / (least + 1.0))
        floors.append(exponential_variance(centres[-1], *sizes))
    n_curves = len(centres)
    influence /= n_curves
    variance = max(float(influence @ influence), sum(floors) / n_curves**2)
    return MeasureSpread(float(np.mean(centres)), variance, influence)


def placements(positive: NDArray[np.bool_], scores: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Return which rows are positive, and the share of the other kind that each is right about.

    NaN where there is no row of the other kind; ties count half.
    """
    ranks, place = rankdata(scores), np.full(len(scores), np.nan)
    for kind in (True, False):
        rows, n_others = positive == kind, int((positive != kind).sum())
        if n_others:
            below = (ranks[rows] - rankdata(scores[rows])) / n_others
            place[rows] = below if kind else 1.0 - below
    return positive, place


def exponential_variance(area: float, n_positive: int, n_negative: int) -> float:
    """Return the variance of the area of Hanley and McNeil (1982)."""
    first = area / (2.0 - area) - area**2
    second = 2.0 * area**2 / (1.0 + area) - area**2
    pairs = area * (1.0 - area) + (n_positive - 1) * first + (n_negative - 1) * second
    return pairs / (n_positive * n_negative)


def precision_spread(folds: Sequence[Answers]) -> MeasureSpread:
    """Return the spread of the mean average precision of the classes.

    The variance is that of a share of as many rows as the class has (Boyd, Eng and Page 2013), or
    the sum of the squares of what the rows add, if that is larger.
    """
    ranked = [rankings(one, by_class=True) or [] for one in folds]
    ends = np.cumsum([0, *(len(one.y_true) for one in folds)])
    influence, centres, variances = np.zeros(ends[-1]), [], []
    for curve in zip(*ranked, strict=True):
        own = np.concatenate([positive for positive, _ in curve])
        n_rows = int(own.sum())
        if not n_rows:
            continue
        parts = [precision_influence(*one) for one in curve]
        at_rows = np.concatenate([one[0] for one in parts])
        more = np.concatenate([one[1] for one in parts])
        more[own] += at_rows - at_rows.mean()
        influence += more / n_rows
        centres.append((at_rows.sum() + 0.5) / (n_rows + 1.0))
        variances.append(centres[-1] * (1.0 - centres[-1]) / n_rows)
    n_curves = len(centres)
    influence /= n_curves
    variance = max(sum(variances) / n_curves**2, float(influence @ influence))
    return MeasureSpread(float(np.mean(centres)), variance, influence)


def precision_influence(positive: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    """Return the precision at each positive row, and what each row adds to that of the others.

    At a row it is the share of positive ones among those that score as high. One more positive row
    raises it at all that score no higher, and one more negative row lowers it.
    """
    order = np.sort(scores)
    own, at = np.sort(scores[positive]), scores[positive]
    n_above = len(order) - np.searchsorted(order, own, side="left")
    n_right = len(own) - np.searchsorted(own, own, side="left")
    per_right, per_wrong = (n_above - n_right) / n_above**2, n_right / n_above**2
    sums = np.stack([np.append(0.0, np.cumsum(one)) for one in (per_right, per_wrong)])
    reached = np.searchsorted(own, scores, side="right")
    added = np.where(positive, sums[0][reached], -sums[1][reached])
    precision = (n_right / n_above)[np.searchsorted(own, at, side="left")]
    return np.asarray(precision), added


def brier_losses(answers: Answers) -> Floats:
    """Return the squared distance of the probabilities to the true class, half of it."""
    assert answers.probabilities is not None
    true = answers.y_true[:, None] == answers.classes
    return 0.5 * np.square(answers.probabilities - true).sum(axis=1)


def bootstrap_interval(
    losses: Floats, groups: Indices | None, confidence: float, n_resamples: int, rng: Any
) -> Interval:
    """Return the interval of a mean by the bootstrap of its t statistic (Efron, 1981).

    Resamples draw groups of rows with replacement. The mean of a few large losses among many small
    ones is rather too small than too large; percentiles of means would not see that.
    """
    codes = np.arange(len(losses)) if groups is None else np.unique(groups, return_inverse=True)[1]
    sums, sizes = as_floats(np.bincount(codes, losses)), as_floats(np.bincount(codes))
    n_groups, found = len(sums), []
    mean, error = mean_and_error(sums[None], sizes[None])
    block = rows_at_a_time(n_groups)
    for start in range(0, n_resamples, block):
        drawn = rng.randint(n_groups, size=(min(block, n_resamples - start), n_groups))
        means, errors = mean_and_error(sums[drawn], sizes[drawn])
        errors = np.maximum(errors, 1e-3 * error)  # a resample of equal rows
        found.append(np.divide(means - mean, errors, out=np.zeros_like(means), where=errors > 0.0))
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(np.concatenate(found), [tail, 100.0 - tail])
    least = float(losses.min())
    return Interval(float(mean[0] - high * error[0]), float(mean[0] - low * error[0])).within(
        least, np.inf
    )


def mean_and_error(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the mean of the rows of each line of groups, and its standard error."""
    total = sizes.sum(axis=1)
    means = sums.sum(axis=1) / total
    away = sums - means[:, None] * sizes
    return means, np.sqrt(np.square(away).sum(axis=1)) / total


SPREADS: dict[str, Callable[[Sequence[Answers]], MeasureSpread]] = {
    "accuracy": accuracy_spread,
    "balanced_accuracy": lambda folds: cell_spread(folds, mean_recall),
    "macro_f": lambda folds: cell_spread(folds, mean_f),
    "mcc": lambda folds: cell_spread(folds, half_correlation),
    "auc": auc_spread,
    "average_precision": precision_spread,
}
"""Measures between two ends, here all on the scale from 0 to 1."""

ENDS = {"mcc": (-1.0, 1.0)}
"""Ends other than 0 and 1."""

MEANS: dict[str, Callable[[Answers], Floats]] = {"log_loss": row_losses, "brier": brier_losses}
"""Measures that are means over the rows without a largest value, or near none."""
