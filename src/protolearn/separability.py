"""Whether a hyperplane separates two classes, which samples are in its way, and what theory says.

Theory: how many labellings a hyperplane separates, and how far a student is from its teacher.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, linprog
from scipy.sparse import csr_array, diags, hstack, identity, issparse
from scipy.special import erfcx
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets

from ._arrays import Floats, Indices

WRONG = 1.0 - 1e-6
"""Slack from which on a sample counts as lying on the wrong side, or on the hyperplane."""

FOUND, INFEASIBLE = 0, 2
"""What ``linprog`` says of a program that is solved, and of one that cannot be."""

ROUNDING = 2.0**-53
"""Part of the largest number of a row or column below which others are as good as zero."""

SHOWN = 10
"""Rows that a message names."""


class NotSeparableError(ValueError):
    """No hyperplane separates the classes.

    Parameters
    ----------
    rows : array of int
        The samples on the wrong side of the hyperplane with the least total slack; of very many
        samples, of a hyperplane that is nearly that one.
    problem : str
        What was to be separated.

    Attributes
    ----------
    rows : array of int
        The same; without these samples a hyperplane separates the classes.

    Examples
    --------
    >>> from protolearn import HardMarginSVM, NotSeparableError
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0], [1.5]], [0, 0, 0, 1, 1, 1, 1]
    >>> try:
    ...     HardMarginSVM().fit(X, y)
    ... except NotSeparableError as error:
    ...     print(error.rows)
    [6]
    """

    def __init__(self, rows: Indices, problem: str = "the two classes"):
        self.rows = rows
        self.problem = problem
        shown = ", ".join(map(str, rows[:SHOWN]))
        more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        super().__init__(
            f"No hyperplane separates {problem}. Without row{'s' * (len(rows) > 1)} {shown}{more} "
            f"there would be one: look whether {'they are' if len(rows) > 1 else 'it is'} "
            "mislabelled, or use SoftMarginSVM."
        )

    def __reduce__(self) -> tuple[type, tuple[Indices, str]]:
        return type(self), (self.rows, self.problem)


def is_separable(X: Any, y: Any, fit_intercept: bool = True) -> bool:
    """Whether a hyperplane separates the classes.

    Decided by linear programming: are there weights with ``y_i (w.x_i + b) >= 1`` for all rows? A
    row on the hyperplane is not separated, and classes that only rounding keeps apart are not.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels. Of more than two classes each has to be separable from the rest.
    fit_intercept : bool, default=True
        Whether the hyperplane may be off the origin.

    Returns
    -------
    separable : bool
        True if a hyperplane has all rows of a class on one side and all others on the other.

    Examples
    --------
    >>> from protolearn import is_separable
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> is_separable(X, [0, 1, 1, 1]), is_separable(X, [0, 0, 1, 1])
    (True, False)
    """
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ValueError(f"fit_intercept={fit_intercept!r} must be True or False.")
    X, y = check_X_y(X, y, dtype=np.float64, ensure_min_samples=1)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    columns = balance_entries(scale_columns(X, bool(fit_intercept)))
    apart = range(1, 2) if len(classes) < 3 else range(len(classes))
    return all(_feasible(columns, np.where(codes == code, 1.0, -1.0)) for code in apart)


def scale_columns(rows: Any, fit_intercept: bool) -> Any:
    """Return columns of unit size, and one of ones: separable whatever the units are.

    With the ones the columns may be moved too, if they are not sparse: small differences of large
    numbers count.
    """
    columns = divide_by_size(rows)
    if not fit_intercept:
        return columns
    if issparse(columns):
        return hstack([columns, np.ones((columns.shape[0], 1))], format="csr")
    columns = columns - np.quantile(columns, 0.5, axis=0, method="lower")
    return np.column_stack([divide_by_size(columns), np.ones(len(rows))])


def divide_by_size(columns: Any) -> Any:
    """Return columns divided by about their largest entry, a power of two: no digit is lost."""
    if issparse(columns):
        _, powers = np.frexp(np.abs(columns).max(axis=0).toarray().ravel())
        return columns @ diags(np.ldexp(1.0, -powers))
    _, powers = np.frexp(np.abs(columns).max(axis=0, initial=0.0))
    return np.ldexp(columns, -powers)


def balance_entries(columns: Any) -> Any:
    """Return columns with the entries of each row, and of each column, of about unit size.

    A positive factor of a row or of a column does not matter, and large rows do not make others
    vanish: the solver takes entries below 1e-9 for zero. A sparse matrix stays as it is.
    """
    if issparse(columns):
        return columns
    for axis in (1, 0):
        sizes = np.abs(columns)
        largest = sizes.max(axis=axis, keepdims=True)
        least = np.where(sizes > ROUNDING * largest, sizes, largest).min(axis=axis, keepdims=True)
        middle = np.sqrt(largest) * np.sqrt(least)
        columns = columns / np.where(largest > 0.0, middle, 1.0)
    largest = np.abs(columns).max(axis=1, keepdims=True)
    return columns / np.where(largest > 0.0, largest, 1.0)


def separates(rows: Any, signs: Floats) -> bool:
    """Whether a hyperplane separates two classes; much sooner known than which samples do not."""
    return _feasible(balance_entries(scale_columns(rows, True)), signs)


def _feasible(columns: Any, signs: Floats) -> bool:
    """Whether there are weights with ``y_i w.x_i >= 1``."""
    d = columns.shape[1]
    solved = linprog(
        np.zeros(d),
        A_ub=diags(-signs) @ columns if issparse(columns) else -signs[:, None] * columns,
        b_ub=-np.ones(len(signs)),
        bounds=[(None, None)] * d,
        method="highs",
    )
    if solved.status in (FOUND, INFEASIBLE):
        return solved.status == FOUND
    return not _wrong(columns, signs).size  # slower, and never undecided


def samples_in_the_way(rows: Any, signs: Floats) -> Indices:
    """Return the samples that lie wrong for the hyperplane with the least total slack.

    Exact, by linear programming: ``min sum xi`` over hyperplanes with ``y f(x) >= 1 - xi``. There
    are none if and only if a hyperplane separates the classes; without those given one does.
    """
    return _wrong(scale_columns(rows, True), signs)


def _wrong(columns: Any, signs: Floats) -> Indices:
    """Return the rows that have ``y_i w.x_i`` of zero or less where the total slack is least."""
    n, d = columns.shape
    constraints = hstack([diags(-signs) @ csr_array(columns), -identity(n, format="csr")])
    solved = linprog(
        np.concatenate([np.zeros(d), np.ones(n)]),
        A_ub=constraints,
        b_ub=-np.ones(n),
        bounds=[(None, None)] * d + [(0.0, None)] * n,
        method="highs",
    )
    if solved.x is None:
        raise RuntimeError(f"The linear program was not solved: {solved.message}")
    return np.flatnonzero(signs * (columns @ solved.x[:d]) <= 1.0 - WRONG)


def samples_in_the_way_jointly(rows: Any, codes: Indices) -> Indices:
    """Return the samples whose own class does not come first where the total slack is least.

    Exact, by linear programming: ``min sum xi`` over scores with ``f_y(x) - f_c(x) >= 1 - xi`` for
    all classes c other than the own one. There are none if and only if scores put all classes
    first, and without those given some do.
    """
    columns = csr_array(scale_columns(rows, True))
    n, K = len(codes), int(codes.max()) + 1
    samples, rivals = np.nonzero(codes[:, None] != np.arange(K))
    pairs, number = columns[samples].tocoo(), columns.shape[1]
    blocks = [
        csr_array(
            (sign * pairs.data, (pairs.row, pairs.col + number * whose[pairs.row])),
            shape=(len(samples), K * number),
        )
        for sign, whose in ((-1.0, codes[samples]), (1.0, rivals))
    ]
    slack = csr_array((-np.ones(len(samples)), (np.arange(len(samples)), samples)))
    solved = linprog(
        np.concatenate([np.zeros(K * number), np.ones(n)]),
        A_ub=hstack([blocks[0] + blocks[1], slack], format="csr"),
        b_ub=-np.ones(len(samples)),
        bounds=[(None, None)] * (K * number) + [(0.0, None)] * n,
        method="highs",
    )
    if solved.x is None:
        raise RuntimeError(f"The linear program was not solved: {solved.message}")
    return np.flatnonzero(solved.x[K * number :] >= WRONG)


def generalization_error(w: Any, teacher: Any) -> Any:
    """Return the share of inputs that a student labels otherwise than its teacher.

    Of inputs without a preferred direction this is the angle between the weights divided by pi
    (Biehl, 3.34). It is accurate for parallel weights too, where the arc cosine is not.

    Parameters
    ----------
    w : array-like of shape (n_features,) or (n_students, n_features)
        Weights of students through the origin, of any length other than zero.
    teacher : array-like of shape (n_features,)
        Weights of the teacher.

    Returns
    -------
    error : float, or array of shape (n_students,)
        From 0 (parallel) by 0.5 (orthogonal) to 1 (opposite).

    Examples
    --------
    >>> from protolearn import generalization_error
    >>> generalization_error([0.0, 2.0], [1.0, 0.0])
    0.5
    >>> generalization_error([2.0, 0.0], [1.0, 0.0])
    0.0
    """
    w, teacher = np.asarray(w, dtype=np.float64), np.asarray(teacher, dtype=np.float64)
    if w.shape[-1:] != teacher.shape or not np.any(teacher) or not np.any(w, axis=-1).all():
        raise ValueError(
            f"w of shape {w.shape} and teacher of shape {teacher.shape} must have weights for the "
            "same features, and not all of them may be zero."
        )
    a = w / np.linalg.norm(w, axis=-1, keepdims=True)
    b = teacher / np.linalg.norm(teacher)
    apart, together = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    error = 2.0 * np.arctan2(apart, together) / np.pi
    return float(error) if w.ndim == 1 else error


def cover_count(n_samples: int, n_features: int) -> int:
    """Return how many labellings of points a hyperplane through the origin separates.

    Parameters
    ----------
    n_samples : int
        Number P of points in general position.
    n_features : int
        Number N of their coordinates.

    Returns
    -------
    count : int
        ``2 sum_(k < N) binomial(P - 1, k)`` of all ``2^P`` labellings (Cover, 1965): all of them if
        P is at most N, and half at ``P = 2 N``.

    Examples
    --------
    >>> from protolearn import cover_count
    >>> cover_count(3, 2), cover_count(40, 20) / 2**40
    (6, 0.5)
    """
    if n_samples < 1 or n_features < 1:
        raise ValueError("cover_count needs at least one sample and one feature.")
    return 2 * sum(comb(n_samples - 1, k) for k in range(min(n_features, n_samples)))


STUDENTS = ("hebb", "gibbs", "bayes")


def theoretical_error(alpha: float, student: str = "bayes") -> float:
    """Return the generalization error that theory predicts for many features.

    The teacher is a perceptron without noise, the inputs are normal, and the number N of features
    is large at a fixed number ``alpha = P / N`` of examples for each.

    Parameters
    ----------
    alpha : float
        Number of examples divided by the number of features, at least 0.
    student : {"hebb", "gibbs", "bayes"}, default="bayes"
        The sum of all examples, a random point of the version space, or its centre, which no
        student surpasses. For large ``alpha`` the errors are about ``0.40 / sqrt(alpha)``,
        ``0.625 / alpha`` and ``0.442 / alpha``.

    Returns
    -------
    error : float
        The share of new inputs that the student gets wrong.

    References
    ----------
    Vallet (1989), *The Hebb rule for learning linearly separable Boolean functions*, Europhysics
    Letters 8.

    Gyorgyi and Tishby (1990), *Statistical theory of learning a rule*; Opper and Haussler (1991),
    *Generalization performance of Bayes optimal classification algorithm for learning a
    perceptron*, Physical Review Letters 66.

    Examples
    --------
    >>> from protolearn import theoretical_error
    >>> round(theoretical_error(10.0, "bayes"), 3), round(theoretical_error(10.0, "hebb"), 3)
    (0.044, 0.12)
    """
    if student not in STUDENTS or not alpha >= 0.0:
        raise ValueError(
            f"alpha={alpha!r} must be a number of at least 0, and student={student!r} one of "
            f"{', '.join(map(repr, STUDENTS))}."
        )
    if alpha == 0.0:
        return 0.5
    if student == "hebb":
        return float(np.arctan(np.sqrt(np.pi / (2.0 * alpha))) / np.pi)

    def excess(q: float) -> float:  # q = 1 - R, in R = sqrt(1 - R) alpha / pi <e^(-R t^2/2) / H>
        R = 1.0 - q

        def weight(t: float) -> float:
            # e^(-R t^2 / 2) / H(sqrt(R) t) = 2 / erfcx(sqrt(R / 2) t), with the density of t
            return float(2.0 / erfcx(np.sqrt(0.5 * R) * t) * np.exp(-0.5 * t * t))

        mean = quad(weight, -12.0, 12.0, limit=200)[0] / np.sqrt(2.0 * np.pi)
        return float(R - alpha / np.pi * np.sqrt(q) * mean)

    R = 1.0 - brentq(excess, 1e-14, 1.0 - 1e-14, xtol=1e-15)
    return float(np.arccos(R if student == "gibbs" else np.sqrt(R)) / np.pi)


BURN_IN = 100
"""Steps for each weight before the first sample of a version space."""


def sample_version_space(
    X: Any,
    y: Any,
    n_samples: int = 1000,
    *,
    fit_intercept: bool = False,
    thin: int | None = None,
    random_state: Any = None,
) -> Floats:
    """Return random weights that have all examples right, evenly from the version space.

    By hit-and-run: each step goes to a random place of a random great circle, as far as it lies in
    the version space. Their mean estimates the centre, where the Bayes point is.

    Parameters
    ----------
    X : array-like of shape (n_examples, n_features)
        The examples.
    y : array-like of shape (n_examples,)
        Their labels, of two classes.
    n_samples : int, default=1000
        Number of weights.
    fit_intercept : bool, default=False
        Whether there is a threshold, the weight of one more input that is always -1.
    thin : int, default=None
        Steps between two samples; None: twice the number of weights.
    random_state : int, RandomState or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    weights : array of shape (n_samples, n_features), or (n_samples, n_features + 1)
        Weights of length one; with ``fit_intercept`` the last is the threshold.

    References
    ----------
    Smith (1984), *Efficient Monte Carlo procedures for generating points uniformly distributed over
    bounded regions*, Operations Research 32.

    Biehl (lecture notes), section 3.4.2.

    Examples
    --------
    >>> from protolearn import generalization_error, sample_version_space
    >>> from protolearn.datasets import make_teacher_student
    >>> X, y, teacher = make_teacher_student(60, 10, random_state=0, return_teacher=True)
    >>> students = sample_version_space(X, y, 200, random_state=0)
    >>> mean = generalization_error(students, teacher).mean()
    >>> bool(generalization_error(students.mean(axis=0), teacher) < mean)
    True
    """
    X, y = check_X_y(X, y, dtype=np.float64, ensure_min_samples=1)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} class(es); a version space is that of two classes.")
    rows = np.column_stack([X, -np.ones(len(X))]) if fit_intercept else X
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    mirrored = (2.0 * codes - 1.0)[:, None] * rows / np.where(lengths > 0.0, lengths, 1.0)
    w, rng, d = _inner_weights(mirrored), check_random_state(random_state), rows.shape[1]
    samples, thin = np.empty((n_samples, d)), 2 * d if thin is None else thin
    potentials = mirrored @ w
    for step in range(1 - BURN_IN * d, n_samples * thin + 1):
        v = rng.standard_normal(d)
        v -= (v @ w) * w
        v /= np.linalg.norm(v) or 1.0
        change = mirrored @ v
        turn = np.arctan2(change, potentials)  # E(a) = E cos a + change sin a is positive within
        a = rng.uniform(turn.max() - 0.5 * np.pi, turn.min() + 0.5 * np.pi)
        w, potentials = np.cos(a) * w + np.sin(a) * v, np.cos(a) * potentials + np.sin(a) * change
        if step > 0 and step % thin == 0:
            w /= np.linalg.norm(w)
            potentials = mirrored @ w  # without the rounding of many turns
            samples[step // thin - 1] = w
    return samples


def _inner_weights(mirrored: Floats) -> Floats:
    """Return weights of length one well inside of the version space, by linear programming."""
    d = mirrored.shape[1]
    solved = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-mirrored, np.ones(len(mirrored))]),
        b_ub=np.zeros(len(mirrored)),
        bounds=[(-1.0, 1.0)] * d + [(None, 1.0)],
        method="highs",
    )
    w: Floats = np.zeros(d) if solved.x is None else solved.x[:d]
    if not (mirrored @ w).min() > 0.0:
        raise NotSeparableError(_wrong(mirrored, np.ones(len(mirrored))))
    return w / np.linalg.norm(w)
