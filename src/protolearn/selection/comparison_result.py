"""What a comparison found."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from .._arrays import Floats, Indices
from .._validation import number_in
from ..analysis import import_pandas
from . import significance
from .intervals import check_confidence
from .significance import PairedTest, RowTest, WinTieLoss, drop_rounding

SHARES = "accuracy", "balanced_accuracy"
"""Scores that are shown in percent."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores of several models on the same splits of several data sets.

    Print it for a table. Larger scores are better, as scikit-learn's scorers have it.

    Attributes
    ----------
    datasets : tuple of str
        Names of the data sets.
    models : tuple of str
        Names of the models.
    scores : array of shape (n_datasets, n_models, n_splits)
        Score of each fit on the rows that it has not seen. Where a data set has fewer splits than
        others, the rest is NaN, and ``test_sizes`` is 0 there.
    fit_times : array of shape (n_datasets, n_models, n_splits)
        Seconds that each fit took.
    train_sizes : array of shape (n_datasets, n_splits)
        Rows in the training part of each split.
    test_sizes : array of shape (n_datasets, n_splits)
        Rows in the test part of each split.
    scoring : str
        Name of the score.
    notes : tuple of str
        What to know about the splits, such as how many rows are copies.
    right : tuple of arrays of shape (n_models, n_rows)
        For each data set, how often each model is right about each row when it is tested; NaN for
        rows that are not tested.
    row_codes : tuple of arrays of shape (n_rows,)
        For each data set, the group of each row: equal rows, and those of one group, share it.
    label_codes : tuple of arrays of shape (n_rows,)
        For each data set, the number of the class of each row.

    Notes
    -----
    Folds of one data set share most of their training rows, and a plain t-test over them finds
    differences where there are none. :meth:`t_test` takes this into account (Nadeau and Bengio
    2003, *Inference for the generalization error*), at the price of few true differences that it
    finds. :meth:`row_test` compares the answers row by row. Over several data sets use
    :meth:`wilcoxon` for two models; :meth:`friedman` and :meth:`critical_difference`, or
    :meth:`pairwise`, for more (Demsar 2006, *Statistical comparisons of classifiers over multiple
    data sets*).

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from protolearn.selection import compare
    >>> models = {"bayes": GaussianNB(), "3-nn": KNeighborsClassifier(3)}
    >>> comparison = compare(models, ["iris", "wine"], cv=5, random_state=0)
    >>> print(comparison)
    accuracy in percent, mean +- standard deviation over splits; * best
                        bayes            3-nn
    iris       96.00 +- 1.49*  96.00 +- 2.79*
    wine       97.19 +- 0.04*  67.44 +- 3.93
    mean rank           1.25            1.75
    iris: 1 row is a copy of another; copies stay in the same fold.
    >>> comparison.t_test("bayes", "3-nn").pvalue < 0.05
    array([False,  True])
    """

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats
    fit_times: Floats
    train_sizes: Indices
    test_sizes: Indices
    scoring: str = "accuracy"
    notes: tuple[str, ...] = ()
    right: tuple[Floats, ...] = ()
    row_codes: tuple[Indices, ...] = ()
    label_codes: tuple[Indices, ...] = ()

    @property
    def n_splits(self) -> Indices:
        """Number of splits of each data set."""
        return (self.test_sizes > 0).sum(axis=1)

    @property
    def means(self) -> Floats:
        """Mean scores, an array of shape (n_datasets, n_models); NaN where a fit failed."""
        return np.array([self._split_scores(i).mean(axis=1) for i in range(len(self.datasets))])

    @property
    def standard_deviations(self) -> Floats:
        """Standard deviations of the scores over splits; NaN with a single split."""
        spread = np.full((len(self.datasets), len(self.models)), np.nan)
        for i, n_splits in enumerate(self.n_splits):
            if n_splits > 1:
                spread[i] = self._split_scores(i).std(axis=1, ddof=1)
        return spread

    @property
    def ranks(self) -> Floats:
        """Mean rank of each model over the data sets, 1 is best; equal means share their ranks."""
        return np.asarray(stats.rankdata(-self._comparable_means(), axis=1)).mean(axis=0)

    def t_test(self, a: str, b: str) -> PairedTest:
        """Compare two models on each data set by the corrected resampled t-test.

        Parameters
        ----------
        a, b : str
            Names of the models.

        Returns
        -------
        test : PairedTest
            ``statistic`` and ``pvalue`` (two-sided), arrays of shape (n_datasets,). The statistic
            is positive where ``a`` is better. Equal scores on all splits have p = 1.
        """
        first, second = self._two(a, b)
        if (few := self.n_splits < 2).any():
            raise ValueError(
                f"Data set {self.datasets[few.argmax()]!r} has a single split, and a t-test needs "
                "two at least; compare with cv=10."
            )
        self._comparable_means((first, second))
        tests = [
            significance.corrected_t_test(
                scores[first] - scores[second], self.train_sizes[i], self.test_sizes[i]
            )
            for i, scores in enumerate(map(self._split_scores, range(len(self.datasets))))
        ]
        return PairedTest(*np.array(tests).T)

    def row_test(self, a: str, b: str, confidence: float = 0.95) -> RowTest:
        """Compare the accuracies of two models on each data set, row by row.

        Parameters
        ----------
        a, b : str
            Names of the models.
        confidence : float, default=0.95
            Of the intervals.

        Returns
        -------
        test : RowTest
            ``difference`` (positive where ``a`` is better), ``low`` and ``high`` of its interval,
            and ``pvalue`` (two-sided), arrays of shape (n_datasets,); NaN where a fit failed.

        Notes
        -----
        McNemar's test with the mid-p value, over the rows of all folds together; a t test over
        groups of rows if rows are tested several times or are equal. In simulations of two equally
        good procedures it is below 0.05 in 4.0 to 5.7 % of the cases (in 7 % with 30 columns and
        200 rows), the corrected t-test in 1 to 2 %, and both in 5 % where there is nothing to
        learn.
        """
        first, second = self._two(a, b)
        level = check_confidence(confidence)
        tests = [
            significance.row_test(
                right[first], right[second], codes, level, labels if n_splits > 1 else None
            )
            for right, codes, labels, n_splits in zip(
                self.right, self.row_codes, self.label_codes, self.n_splits, strict=True
            )
        ]
        return RowTest(*np.array(tests).reshape(-1, 4).T)

    def wins(self, a: str, b: str, alpha: float = 0.05) -> WinTieLoss:
        """Count the data sets on which a model is significantly better than another.

        Parameters
        ----------
        a, b : str
            Names of the models.
        alpha : float, default=0.05
            A difference counts if the p value of :meth:`t_test` is below this.

        Returns
        -------
        counts : WinTieLoss
            Wins, ties and losses of ``a``.
        """
        alpha = _check_alpha(alpha)
        statistic, pvalue = self.t_test(a, b)
        sign = np.where(pvalue < alpha, np.sign(statistic), 0.0)
        return WinTieLoss(*(int((sign == which).sum()) for which in (1.0, 0.0, -1.0)))

    def wilcoxon(self, a: str, b: str) -> PairedTest:
        """Compare two models over the data sets by Wilcoxon's signed-rank test.

        Parameters
        ----------
        a, b : str
            Names of the models.

        Returns
        -------
        test : PairedTest
            The smaller sum of ranks, and the two-sided p value: by the exact distribution for up
            to 50 data sets, otherwise by the normal one. Data sets with equal means are dropped.
            Equal differences share their rank; the distribution is that without such ties.
        """
        self._need_datasets("Wilcoxon's test", instead="t_test")
        means = self._comparable_means(self._two(a, b))
        difference = means[:, 0] - means[:, 1]
        return significance.signed_rank_test(drop_rounding(difference, np.abs(means).max()))

    def friedman(self) -> PairedTest:
        """Test whether any of three models or more differs from the others over the data sets.

        Returns
        -------
        test : PairedTest
            Friedman's chi-square statistic and its p value.
        """
        self._need_datasets("Friedman's test", instead="pairwise")
        if len(self.models) < 3:
            raise ValueError(
                f"Friedman's test needs three models at least, there are {len(self.models)}; "
                "use wilcoxon for two."
            )
        return significance.friedman_test(self._comparable_means())

    def critical_difference(self, alpha: float = 0.05) -> float:
        """Return the difference of mean ranks that is significant by Nemenyi's test.

        Parameters
        ----------
        alpha : float, default=0.05
            Level of the test, for all pairs of models together.

        Returns
        -------
        difference : float
            Models whose ``ranks`` differ by this or more are significantly different.
        """
        alpha = _check_alpha(alpha)
        self._need_datasets("Nemenyi's test", instead="pairwise")
        if len(self.models) < 2:
            raise ValueError("There is a single model, and nothing to compare it with.")
        return significance.nemenyi_difference(len(self.models), len(self.datasets), alpha)

    def pairwise(self) -> Floats:
        """Return the p values of all pairs of models, corrected for their number by Holm's method.

        Returns
        -------
        pvalues : array of shape (n_models, n_models)
            By :meth:`wilcoxon`; with one data set by :meth:`t_test`. Symmetric, the diagonal is 1.
        """
        pairs = list(combinations(range(len(self.models)), 2))
        names = [(self.models[i], self.models[j]) for i, j in pairs]
        if len(self.datasets) > 1:
            single = [self.wilcoxon(a, b).pvalue for a, b in names]
        else:
            single = [self.t_test(a, b).pvalue[0] for a, b in names]
        table = np.ones((len(self.models), len(self.models)))
        for (i, j), pvalue in zip(pairs, significance.holm(np.array(single)), strict=True):
            table[i, j] = table[j, i] = pvalue
        return table

    def to_frame(self) -> Any:
        """Return the scores as a pandas data frame, one row a fit.

        Returns
        -------
        frame : DataFrame
            Columns ``dataset``, ``model``, ``split``, ``score``, ``fit_time``.
        """
        place = np.broadcast_to((self.test_sizes > 0)[:, None], self.scores.shape)
        dataset, model, split = np.nonzero(place)
        columns = {
            "dataset": np.array(self.datasets, dtype=object)[dataset],
            "model": np.array(self.models, dtype=object)[model],
            "split": split,
            "score": self.scores[place],
            "fit_time": self.fit_times[place],
        }
        return import_pandas().DataFrame(columns)

    def __repr__(self) -> str:
        return (
            f"<Comparison of {len(self.models)} models on {len(self.datasets)} data sets, "
            f"{self.scoring}>"
        )

    def __str__(self) -> str:
        means = self.means
        share = self.scoring in SHARES
        unit, form = (100.0, "{:.2f}") if share else (1.0, "{:.4g}")
        rows = [["", *self.models]]
        for name, mean, deviation in zip(
            self.datasets, means, self.standard_deviations, strict=True
        ):
            rows.append([name, *_entries(unit * mean, unit * deviation, form)])
        if len(self.datasets) > 1 and not np.isnan(means).any():
            rows.append(["mean rank", *(f"{rank:.2f} " for rank in self.ranks)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        ]
        title = f"{self.scoring} in percent" if share else self.scoring
        head = f"{title}, mean +- standard deviation over splits; * best"
        return "\n".join([head, *lines, *self.notes])

    def _split_scores(self, dataset: int) -> Floats:
        """Return the scores of one data set: an array of shape (n_models, its number of splits)."""
        return self.scores[dataset][:, self.test_sizes[dataset] > 0]

    def _two(self, a: str, b: str) -> tuple[int, int]:
        """Return the places of two models."""
        for name in a, b:
            if name not in self.models:
                raise ValueError(
                    f"There is no model {name!r}; there are {', '.join(map(repr, self.models))}."
                )
        return self.models.index(a), self.models.index(b)

    def _comparable_means(self, chosen: tuple[int, ...] | None = None) -> Floats:
        """Return the means without the noise of rounding, or say where there are none."""
        columns = range(len(self.models)) if chosen is None else chosen
        means = self.means[:, columns]
        for i, j in np.argwhere(np.isnan(means)):
            raise ValueError(
                f"Model {self.models[columns[j]]!r} has no mean score on data set "
                f"{self.datasets[i]!r}, since a fit failed or a score is NaN; compare without "
                "that model or that data set."
            )
        return np.array([drop_rounding(row) for row in means])

    def _need_datasets(self, test: str, instead: str) -> None:
        if len(self.datasets) < 2:
            raise ValueError(
                f"{test} takes each data set as one observation, and there is only "
                f"{self.datasets[0]!r}; folds of one data set are not independent. Use {instead}, "
                "which compares over its folds."
            )


def _check_alpha(alpha: Any) -> float:
    return number_in(alpha, "alpha={value!r}", 0.0, 1.0, above=True, below=True)


def _entries(mean: Floats, deviation: Floats, form: str) -> list[str]:
    """Write one row; the place of the star is always there, so that the numbers line up."""
    known = mean[~np.isnan(mean)]
    near = np.full(mean.shape, False)
    if known.size:
        near[~np.isnan(mean)] = drop_rounding(known) == drop_rounding(known).max()
    return [
        form.format(m) + (f" +- {form.format(s)}" if np.isfinite(s) else "") + "* "[not best]
        for m, s, best in zip(mean, deviation, near, strict=True)
    ]
