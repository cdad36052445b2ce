"""Bias and variance by refitting on resamples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state, get_tags, resample
from sklearn.utils.parallel import Parallel, delayed

from .._arrays import Floats, Indices
from .._validation import integer_in, number_in
from ..analysis import LabelledRows
from ..folds import hold_out_part, row_groups
from .held_out import labelled_rows


class SquaredParts(NamedTuple):
    """Parts of a squared error.

    Attributes
    ----------
    error : float
        Mean squared deviation from the target: ``bias + variance``.
    bias : float
        Mean squared deviation of the mean prediction from the target.
    variance : float
        Mean squared deviation of the predictions from their mean.
    """

    error: float
    bias: float
    variance: float


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance:
    """Parts of the error of a kind of model: what it cannot learn, and what it learns by chance.

    Print it for a summary.

    Attributes
    ----------
    error : float
        Mean error of the refits on the test rows: a share of wrong labels, or a mean square.
    bias : float
        Classifiers: share of the rows whose main prediction, the most frequent one over the
        refits, is wrong. Regressors: mean squared deviation of the mean prediction.
    variance : float
        Classifiers: mean share of the predictions that differ from the main one. Regressors: mean
        squared deviation of the predictions from their mean.
    unbiased_variance : float
        Part of the variance on rows whose main prediction is right, where it does harm; NaN for
        regressors.
    biased_variance : float
        Part of it on the other rows, where it may help; NaN for regressors.
    corrected : float
        Share of the biased variance that is right in the end, so that ``error = bias +
        unbiased_variance - corrected``. With two classes it is all of the biased variance; NaN for
        regressors.
    squared : SquaredParts or None
        The quadratic parts: of probabilities against 1 for the true class and 0 for the others,
        None if the model has none; of regressors the same as above.
    main_prediction : array of shape (n_test,)
        The most frequent label, or the mean, over the refits.
    predictions : array of shape (n_resamples, n_test)
        What each refit says about the test rows.
    """

    error: float
    bias: float
    variance: float
    unbiased_variance: float
    biased_variance: float
    corrected: float
    squared: SquaredParts | None
    main_prediction: NDArray[Any]
    predictions: NDArray[Any]

    def __repr__(self) -> str:
        return (
            f"<BiasVariance: error {self.error:.4g}, bias {self.bias:.4g}, "
            f"variance {self.variance:.4g}>"
        )

    def __str__(self) -> str:
        n_resamples, n_test = self.predictions.shape
        lines = [f"{n_resamples} refits, {n_test} test rows"]
        if np.isfinite(self.corrected):
            lines += [
                f"error     {self.error:.4f}  = bias + unbiased variance - corrected",
                f"bias      {self.bias:.4f}  rows whose main prediction is wrong",
                f"variance  {self.variance:.4f}  predictions that differ from the main one",
                f"  unbiased  {self.unbiased_variance:.4f}  on rows whose main prediction is right",
                f"  biased    {self.biased_variance:.4f}  on the others; "
                f"{self.corrected:.4f} of it corrected",
            ]
        if self.squared is not None:
            of = " of probabilities" if np.isfinite(self.corrected) else ""
            error, bias, variance = self.squared
            lines.append(
                f"squared error{of} {error:.4g} = squared bias {bias:.4g} + variance {variance:.4g}"
            )
        return "\n".join(lines)


def bias_variance(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    n_resamples: int = 50,
    train_size: float | None = None,
    test_size: float = 0.3,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> BiasVariance:
    """Split the error of a model into bias and variance, by refitting it on resamples.

    Parameters
    ----------
    model : classifier or regressor
        Clones of it are fitted.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels or targets.
    X_test, y_test : array-like, default=None
        Rows to measure the error on. None sets a part of X aside.
    n_resamples : int, default=50
        How often the model is refitted.
    train_size : int or float, default=None
        Rows of a resample, or their share of the rows to train on, drawn without replacement: the
        more rows there are, the more independent the resamples. None draws as many rows as there
        are with replacement (bootstrap). Classes keep their shares.
    test_size : float, default=0.3
        Share of the rows that is set aside if no test rows are given. Equal rows stay together.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are set aside together; see :func:`evaluate`.
    n_jobs : int, default=None
        Refits at the same time; None is one, -1 all cores.
    random_state : int, RandomState instance, default=None
        Sets rows aside and draws the resamples.

    Returns
    -------
    parts : BiasVariance
        Print it for a summary.

    Notes
    -----
    Classifiers are split by Domingos' rule for wrong labels. If two labels are equally frequent,
    the main prediction is the first of them. What cannot be predicted, such as noise of the
    labels, counts as bias. Resamples of one set of rows are more alike than new sets would be, so
    the variance is rather too small and the bias too large.

    References
    ----------
    Biehl (lecture notes), section 6.1; Domingos (2000), *A unified bias-variance
    decomposition and its applications*, ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from protolearn import GLVQ
    >>> from protolearn.selection import bias_variance
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> parts = bias_variance(GLVQ(random_state=0), X, y, n_resamples=10, random_state=0)
    >>> gap = parts.error - (parts.bias + parts.unbiased_variance - parts.biased_variance)
    >>> abs(gap) < 1e-12
    True
    """
    n_resamples = integer_in(n_resamples, "n_resamples={value!r}", 2)
    check_kind(model)
    rng = check_random_state(random_state)
    train, test = train_and_test(model, X, y, X_test, y_test, test_size, groups, rng)
    asked = Parallel(n_jobs=n_jobs)(
        delayed(fit_and_predict)(model, train.take(rows), test.X)
        for rows in resamples(model, train.y, n_resamples, train_size, rng)
    )
    predictions = np.stack([one[0] for one in asked])
    if is_regressor(model):
        return target_parts(predictions, test.y)
    classes = np.unique(train.y)
    squared = None
    if asked[0][1] is not None:
        unknown = np.setdiff1d(test.y, classes).tolist()
        if unknown:
            raise ValueError(f"y_test contains {unknown!r}, which y does not.")
        probabilities = np.stack([align_columns(p, own, classes) for _, p, own in asked])
        squared = squared_parts(probabilities, (test.y[:, None] == classes).astype(np.float64))
    return label_parts(predictions, test.y, squared)


def check_kind(model: Any) -> None:
    """Raise if a model cannot be refitted on resamples."""
    if not (is_classifier(model) or is_regressor(model)):
        raise ValueError(
            f"{type(model).__name__} is neither a classifier nor a regressor; it has no error to "
            "split."
        )
    if get_tags(model).input_tags.pairwise:
        raise ValueError(
            f"{type(model).__name__} takes a matrix of kernel values, whose rows cannot be drawn "
            "alone; give a kernel that it computes itself."
        )


def train_and_test(
    model: Any, X: Any, y: Any, X_test: Any, y_test: Any, test_size: float, groups: Any, rng: Any
) -> tuple[LabelledRows, LabelledRows]:
    """Return the rows to draw from and those to measure on."""
    data = labelled_rows(X, y)
    if (X_test is None) != (y_test is None):
        given = "y_test" if X_test is None else "X_test"
        raise ValueError(f"Only {given} is given; give X_test and y_test, or neither.")
    if X_test is not None:
        return data, labelled_rows(X_test, y_test)
    test_size = number_in(test_size, "test_size={value!r}", 0.0, 1.0, above=True, below=True)
    train, test = hold_out_part(
        data.y,
        test_size,
        row_groups(data.X, groups),
        stratify=is_classifier(model),
        random_state=rng,
    )
    return data.take(train), data.take(test)


def resamples(
    model: Any, y: NDArray[Any], n_resamples: int, train_size: Any, rng: Any
) -> Iterator[Indices]:
    """Draw rows, many times; classes keep their shares."""
    size = len(y)
    if isinstance(train_size, float):
        share = number_in(train_size, "train_size={value!r}", 0.0, 1.0, above=True, below=True)
        size = max(round(share * len(y)), 1)
    elif train_size is not None:
        size = integer_in(train_size, "train_size={value!r}", 1, len(y) - 1)
    for _ in range(n_resamples):
        yield resample(
            np.arange(len(y)),
            replace=train_size is None,
            n_samples=size,
            stratify=y if is_classifier(model) else None,
            random_state=rng,
        )


def fit_and_predict(model: Any, rows: LabelledRows, X_test: Any) -> tuple[Any, Any, Any]:
    """Refit a model; give its predictions, and its probabilities and classes if it has them."""
    fitted = clone(model).fit(rows.X, rows.y)
    predicted = np.asarray(fitted.predict(X_test))
    if not is_classifier(model) or not hasattr(fitted, "predict_proba"):
        return predicted, None, None
    return predicted, np.asarray(fitted.predict_proba(X_test), dtype=np.float64), fitted.classes_


def align_columns(probabilities: Floats, own: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Return a column to every class; those that a resample lacks have probability zero."""
    full = np.zeros((len(probabilities), len(classes)))
    full[:, np.searchsorted(classes, own)] = probabilities
    return full


def label_parts(
    predictions: NDArray[Any], y: NDArray[Any], squared: SquaredParts | None
) -> BiasVariance:
    """Split the share of wrong labels."""
    labels = np.unique(predictions)
    votes = np.stack([(predictions == label).sum(axis=0) for label in labels])
    main = labels[votes.argmax(axis=0)]
    biased = main != y
    differs = (predictions != main).mean(axis=0)
    return BiasVariance(
        error=float((predictions != y).mean()),
        bias=float(biased.mean()),
        variance=float(differs.mean()),
        unbiased_variance=float((differs * ~biased).mean()),
        biased_variance=float((differs * biased).mean()),
        corrected=float(((predictions == y).mean(axis=0) * biased).mean()),
        squared=squared,
        main_prediction=main,
        predictions=predictions,
    )


def target_parts(predictions: Floats, y: Floats) -> BiasVariance:
    """Split the mean squared error."""
    parts = squared_parts(predictions[..., None], np.asarray(y, dtype=np.float64)[:, None])
    return BiasVariance(
        *parts, np.nan, np.nan, np.nan, parts, predictions.mean(axis=0), predictions
    )


def squared_parts(predictions: Floats, target: Floats) -> SquaredParts:
    """Split squared deviations, arrays (n_resamples, n_test, columns) and (n_test, columns)."""
    mean = predictions.mean(axis=0)
    return SquaredParts(
        *(
            float(np.square(gap).sum(axis=-1).mean())
            for gap in (predictions - target, mean - target, predictions - mean)
        )
    )
