"""Perceptrons: a sweep, a draw and the largest stability, against scikit-learn and LIBSVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron
from sklearn.svm import SVC

from protolearn import AdaTron, Pocket, Rosenblatt
from protolearn.datasets import make_teacher_student

from .measure import HEADING, Row, Table, best_of

SHAPES = ((2000, 20), (2000, 50), (10000, 100))
SWEEPS = 200
FEW = 10
REPEATS = 20


def tables() -> Iterator[Table]:
    """Give the table."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    yield Table(HEADING, rows())


def rows() -> Iterator[Row]:
    """Time sweeps, then whole fits of the AdaTron."""
    for n, d in SHAPES:
        for name, noise in (("few mistakes", 0.0), ("many", 0.05)):
            X, y = make_classification(
                n, d, n_informative=d // 2, class_sep=2.0, flip_y=noise, random_state=0
            )
            yield sweep(X, y, name)
            yield draw(X, y, name)
    X, y = make_classification(2000, 50, n_informative=25, flip_y=0.05, random_state=0)
    for C in (0.01, 1.0):
        yield largest_stability(f"soft, C={C:g}", X, y, C)
    rule, labels, teacher = make_teacher_student(2000, 50, random_state=0, return_teacher=True)
    apart = rule + 0.3 * np.outer(labels, teacher)
    yield largest_stability("hard", apart, labels, np.inf)


def sweep(X: Any, y: Any, kind: str) -> Row:
    """Time a sweep of the perceptron, the first ones left out, against scikit-learn's."""

    def theirs(count: int) -> Callable[[], Any]:
        return lambda: Perceptron(max_iter=count, tol=None).fit(X, y)

    name = f"Rosenblatt, a sweep, {len(X)} x {X.shape[1]}, {kind}"
    ours, reference = difference(rosenblatt(X, y), theirs)
    return Row(name, ours, "sklearn Perceptron", reference, 0.2)


def draw(X: Any, y: Any, kind: str) -> Row:
    """Time as many draws of the pocket algorithm as there are examples, against a sweep."""

    def pocket(count: int) -> Callable[[], Any]:
        return lambda: Pocket(max_iter=count, random_state=0).fit(X, y)

    name = f"Pocket, a sweep, {len(X)} x {X.shape[1]}, {kind}"
    ours, reference = difference(pocket, rosenblatt(X, y))
    return Row(name, ours, "Rosenblatt", reference, 3.0)


def rosenblatt(X: Any, y: Any) -> Callable[[int], Callable[[], Any]]:
    """Give fits of so many sweeps."""
    return lambda count: lambda: Rosenblatt(max_iter=count).fit(X, y)


def difference(
    ours: Callable[[int], Callable[[], Any]], theirs: Callable[[int], Callable[[], Any]]
) -> tuple[float, float]:
    """Time one sweep of both: many of them less few, so that what a fit does once is left out."""
    many = best_of(ours(FEW + SWEEPS), theirs(FEW + SWEEPS), repeats=REPEATS)
    few = best_of(ours(FEW), theirs(FEW), repeats=REPEATS)
    return (many[0] - few[0]) / SWEEPS, (many[1] - few[1]) / SWEEPS


def largest_stability(name: str, X: Any, y: Any, C: float) -> Row:
    """Time a fit against LIBSVM with the same tolerance of the conditions of the optimum."""
    tol = 1e-4
    adatron = AdaTron(gamma=C * X.shape[1], tol=tol)
    machine = SVC(kernel="linear", C=min(C, 1e10), tol=tol, cache_size=500)
    seconds, reference = best_of(lambda: adatron.fit(X, y), lambda: machine.fit(X, y), repeats=3)
    w, v = adatron.coef_[0], machine.coef_[0]
    short = 1.0 - w @ v / np.linalg.norm(w) / np.linalg.norm(v)
    name = f"AdaTron, {name}, {len(X)} x {X.shape[1]}, 1 - cosine {short:.0e}"
    return Row(name, seconds, f"SVC, tol={tol:g}", reference, 3.0)
