"""Tables 2 and 4 with table 3: accuracy of the PSVM and of other methods, and who wins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.selection import Comparison, WinTieLoss

from ..findings import Figure, Findings, Table
from ..work import Work
from .data import NOISE
from .folds import compared
from .paper import (
    LOSS,
    METHODS,
    OTHERS,
    PSVM,
    TABLE2,
    TABLE3,
    TABLE4,
    TWEETS,
    WIN,
    Published,
    wins,
)
from .pictures import draw_accuracy

LEVEL = 0.05
"""Level of the corrected t-test, as in the paper."""

SHORT = {
    "boosted linear SVM": "boosted SVM",
    "polynomial SVM": "poly. SVM",
    "multilayer perceptron": "MLP",
}
"""Names in heads of columns."""

Accuracies = dict[str, dict[str, Published]]

SETTINGS = (
    "The PSVM has this library's defaults: z-scored features, probabilities that are calibrated "
    "locally; models that do not make the training rows more probable are dropped, and rows that "
    "their neighbours gainsay may not be learned from. The paper has LIBSVM's probabilities, drops "
    "nothing, and gives neither C nor scaling. Trees, SVMs and "
    "perceptron are scikit-learn's, as near to Weka's defaults as they come. Folds are stratified "
    "and shuffled; how those of the paper were drawn is not known."
)
NO_TWEETS = (
    "The tweets of the paper are left out, since which of them it took is not known; its wins, "
    "ties and losses are counted without them too."
)


def table2(work: Work) -> Findings:
    """Measure with true labels."""
    return _findings(compared(work, METHODS, noisy=False), TABLE2, "clean")


def table4(work: Work) -> Findings:
    """Measure with wrong labels, in test rows too, as in the paper."""
    noise = (
        f"{100 * NOISE:g} % of all rows have a wrong label, and test rows are counted by the label "
        f"that they have: no method can expect more than {100 * (1 - NOISE):g} %."
    )
    return _findings(compared(work, METHODS, noisy=True), TABLE4, "noisy", noise)


def signs(comparison: Comparison) -> NDArray[np.intp]:
    """Return +1, 0 or -1 by set and other method: the PSVM is significantly better, or worse."""
    found = []
    for method in OTHERS:
        statistic, pvalue = comparison.t_test(PSVM, method)
        found.append(np.where(pvalue < LEVEL, np.sign(statistic), 0.0))
    return np.array(found, dtype=np.intp).T


def published_signs(sets: Sequence[str], table: Accuracies) -> NDArray[np.intp]:
    """Return the same by the marks of the paper."""
    return np.array([[wins(name, method, table) for method in OTHERS] for name in sets])


def counted(values: NDArray[np.intp]) -> WinTieLoss:
    """Count wins, ties and losses."""
    return WinTieLoss(*(int((values == sign).sum()) for sign in (1, 0, -1)))


def _findings(comparison: Comparison, paper: Accuracies, kind: str, *more: str) -> Findings:
    number = "2" if kind == "clean" else "4"
    picture = Figure(
        f"table{number}",
        f"Accuracy of the PSVM, ours and published, beside the other methods ({kind} labels)",
        partial(draw_accuracy, comparison, paper),
        (8.0, 4.6),
    )
    return Findings(
        [_accuracies(comparison, paper, number, kind), _wins(comparison, paper, kind)],
        [picture],
        [*_remarks(comparison, paper), *more, SETTINGS, NO_TWEETS],
    )


def _accuracies(comparison: Comparison, paper: Accuracies, number: str, kind: str) -> Table:
    """Make a row a set, a column a method."""
    marks = np.hstack([np.zeros((len(comparison.datasets), 1), dtype=int), signs(comparison)])
    means = 100.0 * comparison.means
    folds = int(comparison.n_splits.max())
    rows = [
        [name, *(_cell(means[i, j], marks[i, j], paper[name][m]) for j, m in enumerate(METHODS))]
        for i, name in enumerate(comparison.datasets)
    ]
    return Table(
        f"table{number}",
        f"Accuracy in percent, ours / paper's, {folds} folds, {kind} labels",
        ["data set", *(SHORT.get(method, method) for method in METHODS)],
        rows,
        list(_records(comparison, paper, marks)),
        [
            f"{WIN}: the PSVM is significantly better than this method, {LOSS}: worse (corrected "
            f"paired t-test, level {LEVEL:g}; ours by our folds, the paper's as printed)."
        ],
    )


def _cell(mean: float, sign: int, published: Published) -> str:
    mark = {1: WIN, -1: LOSS}.get(int(sign), "")
    return f"{mean:.1f}{mark} / {published.mean:.1f}{published.mark}"


def _records(comparison: Comparison, paper: Accuracies, marks: Any) -> Iterator[dict[str, Any]]:
    means, spread = 100.0 * comparison.means, 100.0 * comparison.standard_deviations
    seconds = comparison.fit_times.mean(axis=2)
    for i, name in enumerate(comparison.datasets):
        for j, method in enumerate(METHODS):
            published = paper[name][method]
            yield {
                "dataset": name,
                "method": method,
                "accuracy": round(means[i, j], 4),
                "deviation": round(spread[i, j], 4),
                "psvm_wins": int(marks[i, j]),
                "seconds": round(seconds[i, j], 4),
                "paper_accuracy": published.mean,
                "paper_deviation": published.deviation,
                "paper_psvm_wins": wins(name, method, paper),
            }


def _wins(comparison: Comparison, paper: Accuracies, kind: str) -> Table:
    """Make a row for each other method, and one for all."""
    ours, theirs = signs(comparison), published_signs(comparison.datasets, paper)
    pairs = [(counted(ours[:, j]), counted(theirs[:, j])) for j in range(len(OTHERS))]
    pairs.append((counted(ours), counted(theirs)))
    names = [*OTHERS, "all"]
    printed, tweets = TABLE3[kind], TWEETS[kind]
    remark = f"Table 3 has {_spelled(printed)} in all" + (
        f", {_spelled(tweets)} of them on the tweets." if sum(tweets) else "."
    )
    return Table(
        f"table3_{kind}",
        f"Wins - ties - losses of the PSVM over {len(comparison.datasets)} sets, {kind} labels",
        ["against", "ours", "paper's"],
        [[name, *map(_text, pair)] for name, pair in zip(names, pairs, strict=True)],
        [
            {"against": name, **_named("", our), **_named("paper_", their)}
            for name, (our, their) in zip(names, pairs, strict=True)
        ],
        [remark],
    )


def _text(counts: WinTieLoss) -> str:
    return " - ".join(map(str, counts))


def _spelled(counts: WinTieLoss) -> str:
    return f"{counts.win} wins, {counts.tie} ties and {counts.loss} losses"


def _named(prefix: str, counts: WinTieLoss) -> dict[str, int]:
    return {f"{prefix}{key}": value for key, value in counts._asdict().items()}


def _remarks(comparison: Comparison, paper: Accuracies) -> Iterator[str]:
    """Yield where our PSVM stands beside the published one, and which methods differ."""
    means, names = 100.0 * comparison.means, comparison.datasets
    places = [paper[name][PSVM] for name in names]
    ours = means[:, METHODS.index(PSVM)]
    low = [n for n, mean, p in zip(names, ours, places, strict=True) if mean < p.mean]
    bad = [n for n, m, p in zip(names, ours, places, strict=True) if m < p.mean - 0.5 * p.deviation]
    yield (
        f"Over {len(names)} sets the PSVM has {ours.mean():.1f} % on average, the published one "
        f"{np.mean([p.mean for p in places]):.1f} %. Lower than published: {_list(low)}; by more "
        f"than half a published standard deviation: {_list(bad)}."
    )
    far = [
        f"{method} on {name} ({means[i, j]:.1f} instead of {paper[name][method].mean:.1f})"
        for i, name in enumerate(names)
        for j, method in enumerate(METHODS)
        if method != PSVM and abs(means[i, j] - paper[name][method].mean) > 10.0
    ]
    yield f"Other methods more than ten points away from the paper: {_list(far)}."
    same = signs(comparison) == published_signs(names, paper)
    yield f"{int(same.sum())} of {same.size} marks are those of the paper."


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
