"""Generalisation bound: what the margins of the training rows say about the error on new ones.

Theorem 1 of Crammer et al. (2002). With probability ``1 - delta`` over the draw of m rows, and for
all prototypes at once, with t the margin in units of the radius R of a ball that holds every
sample of the distribution::

    error <= margin_error + sqrt(8/m (D log2(32 m / t^2) ln(32 m / t^2) + ln(4 / delta)))
    D = min(n + 1, 64 / t^2) * 2 k^|Y| log2(e k^2)

where n is the number of features, k that of the prototypes of a class and |Y| that of the classes.
The factor k^|Y| is proved for two classes.

A bound for any number of classes follows from a net. The margin changes by at most as much as the
prototypes move, so that finitely many sets of prototypes stand for all within a ball of radius B
(the proof is in docs/margins.md). With K prototypes in all::

    error <= margin_error + sqrt((n K ln(1 + 4 B / theta) + ln(1 / delta)) / (2 m))
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import norm as sparse_norm
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats
from .._validation import number_in
from ..classifiers import NearestPrototypeClassifier
from ..distances import Minkowski, SquaredEuclidean
from ..rule import wrong_kind
from .hypothesis_margins import hypothesis_margin, last_step

GRID = 0.5 * 2.0 ** (-np.arange(1, 201) / 10.0)
"""The values of t that are tried, from 0.47 to 5e-7.

The formula knows t by its powers and logarithms, hence equal ratios. Each value is 7 % below the
one before, so the best of them misses at most these 7 % of the second term. All of them together
cost ln 200 = 5.3 in a sum that is above 1,000 from a thousand rows on: a few tenths of a percent.
"""

METHODS = "crammer", "net"

ROUNDS = 60  # iterations for the number of samples; each leaves 0.42 of the error of its logarithm
COUNTABLE = 1e15  # numbers of samples up to which all digits are written


@dataclass(frozen=True)
class GeneralizationBound:
    """A bound on the error on new data, and what it is made of.

    Print it for a sentence.

    Attributes
    ----------
    bound : float
        The bound, at most 1.
    raw_bound : float
        What the formula gives; from 1 on it says nothing.
    theta : float
        The margin that it was computed with, in the units of the rows.
    margin_error : float
        Share of the rows with a hypothesis margin below ``theta``.
    capacity : float
        How many rows prototypes can label at will with that margin, D of the formula; for the net
        the logarithm of the number of its members.
    message : str
        All this in words.
    radius : float
        Length that no sample exceeds.
    delta : float
        Probability that the rows are too unlike the distribution for the bound to hold.
    n_samples : int
        Number of rows.
    """

    bound: float
    raw_bound: float
    theta: float
    margin_error: float
    capacity: float
    message: str
    radius: float
    delta: float
    n_samples: int

    def __str__(self) -> str:
        return self.message


def generalization_bound(
    model: Any,
    X: Any,
    y: Any,
    delta: float = 0.05,
    *,
    radius: float | None = None,
    theta: float | None = None,
    method: str = "crammer",
) -> GeneralizationBound:
    """Bound the error on new data by the margins of the training rows.

    The bounds are for nearest-prototype classifiers with Euclidean distance. They make no
    assumption about the distribution but that its samples lie in a ball. That of Crammer et al. is
    loose: below some hundred thousand rows it is above one for nearly every model, which says
    nothing. The message then says so. The bound by a net holds for any number of classes, and is
    far below it unless there are very many features.

    Parameters
    ----------
    model : nearest-prototype classifier, or Pipeline that ends in one
        A fitted model with squared Euclidean distance. In a pipeline the bound is one in the space
        of the last step, for new data that come in there; strictly, the steps before must not have
        been learned from the same rows.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The training rows. If they lie far from the origin, subtract a point near them before the
        model is fitted: margins stay, and the radius becomes smaller.
    y : array-like of shape (n_samples,)
        Their labels.
    delta : float, default=0.05
        The bound holds with probability ``1 - delta`` over the draw of the rows.
    radius : float, default=None
        A length that no sample of the distribution exceeds, known beforehand. None takes that of
        the longest row, and supposes that no other sample is longer.
    theta : float, default=None
        The margin below which a row counts as an error, in the units of the rows, chosen before
        they were seen; below half the radius. None takes the best of 200 values, with
        ``delta / 200`` for each.
    method : {"crammer", "net"}, default="crammer"
        Theorem 1 of Crammer et al., or the bound by a net of prototypes. Choose before you see
        the results: the better of both holds with probability ``1 - 2 delta`` only.

    Returns
    -------
    bound : GeneralizationBound
        Print it for a sentence.

    Notes
    -----
    The factor ``k^|Y|`` of Crammer's capacity is proved for two classes. For more it follows the
    paper, which claims it; with one prototype a class it does not even grow with the number of
    classes. The bound by a net is proved for any number of classes and of prototypes in each; these
    numbers have to be fixed before the rows are seen. Its ball of prototypes has the radius B, the
    least of the lengths ``radius * 2^j`` that no prototype exceeds, with the share
    ``1 / ((j + 1) (j + 2))`` of delta.

    References
    ----------
    Crammer, Gilad-Bachrach, Navot and Tishby (2002), *Margin analysis of the LVQ algorithm*, NIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ, generalization_bound
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X - X.mean(axis=0), y)
    >>> result = generalization_bound(model, X - X.mean(axis=0), y)
    >>> result.bound, result.raw_bound > 1
    (1.0, True)
    >>> print(result)
    The bound is vacuous for 150 samples: ...
    >>> by_net = generalization_bound(model, X - X.mean(axis=0), y, method="net")
    >>> by_net.bound < 0.6
    True
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(map(repr, METHODS))}.")
    delta = number_in(delta, "delta={value!r}", 0.0, 1.0, above=True, below=True)
    model, X = last_step(model, X)
    check_covered(model)
    margin, rows = hypothesis_margin(model, X, y), model.rule_.read_rows(model, X)
    longest = radius_of(rows, radius)
    thetas = GRID * longest
    if theta is not None:
        shown = f"theta={{value!r}} with radius {longest:g}"
        thetas = np.array([number_in(theta, shown, 0.0, longest / 2.0, above=True, below=True)])
    margin_error = np.searchsorted(np.sort(margin), thetas) / len(margin)
    share, n_samples, n_classes = delta / len(thetas), len(margin), len(model.classes_)
    given = model, longest, thetas, margin_error, n_samples, share
    capacity, added, needed = (net_terms if method == "net" else theorem_terms)(*given)
    raw = margin_error + added
    best = int(raw.argmin())
    result = GeneralizationBound(
        bound=min(float(raw[best]), 1.0),
        raw_bound=float(raw[best]),
        theta=float(thetas[best]),
        margin_error=float(margin_error[best]),
        capacity=float(capacity[best]),
        message="",
        radius=longest,
        delta=delta,
        n_samples=n_samples,
    )
    sentences = [message(result, float(needed.min()))]
    if radius is None:
        known = f"no sample is longer than {longest:.4g}, the longest row"
        if method == "net":
            known = f"the unit of theta, {longest:.4g} as the longest row, was fixed beforehand"
        sentences.append(f"This supposes that {known}.")
    if n_classes > 2 and method == "crammer":
        sentences.append(
            f"The factor k^|Y| of the capacity is proved for two classes; here are {n_classes}. "
            "method='net' is proved for any number."
        )
    return replace(result, message=" ".join(sentences))


def theorem_terms(
    model: Any, radius: float, thetas: Floats, margin_error: Floats, n_samples: int, share: float
) -> tuple[Floats, Floats, Floats]:
    """Return the capacity of theorem 1, what it adds to the error, and the samples for one."""
    t, n_features = thetas / radius, model.prototypes_.shape[1]
    most = max(Counter(model.prototype_labels_.tolist()).values())
    capacity = capacities(t, n_features, most, len(model.classes_))
    added = np.sqrt(8.0 / n_samples * complexity(n_samples, t, capacity, share))
    return capacity, added, samples_needed(margin_error, t, capacity, share)


def net_terms(
    model: Any, radius: float, thetas: Floats, margin_error: Floats, n_samples: int, share: float
) -> tuple[Floats, Floats, Floats]:
    """Return the same of a net of prototypes: within ``theta / 2`` of all in a ball is a member."""
    prototypes = model.prototypes_
    times = float(np.linalg.norm(prototypes, axis=1).max()) / radius
    j = max(0, int(np.ceil(np.log2(times)))) if times > 0.0 else 0
    capacity = prototypes.size * np.log1p(4.0 * radius * 2.0**j / thetas)
    inside = 0.5 * (capacity + np.log((j + 1) * (j + 2) / share))
    with np.errstate(divide="ignore"):
        return capacity, np.sqrt(inside / n_samples), inside / np.square(1.0 - margin_error)


def capacities(t: Floats, n_features: int, n_prototypes: int, n_classes: int) -> Floats:
    """Return D of the formula for margins t; infinity where it is too large for a number."""
    k = np.float64(n_prototypes)
    with np.errstate(over="ignore"):
        dimension = np.minimum(n_features + 1.0, np.square(8.0 / t))
        return np.asarray(dimension * 2.0 * k**n_classes * np.log2(np.e * k**2))


def complexity(n_samples: Any, t: Floats, capacity: Floats, delta: float) -> Floats:
    """Return ``D log2(32 m / t^2) ln(32 m / t^2) + ln(4 / delta)``."""
    logarithm = np.log(32.0) + np.log(n_samples) - 2.0 * np.log(t)
    with np.errstate(over="ignore"):
        return np.asarray(capacity * logarithm**2 / np.log(2.0) + np.log(4.0 / delta))


def samples_needed(margin_error: Floats, t: Floats, capacity: Floats, delta: float) -> Floats:
    """Return the number of samples at which the bound would be one; infinity if there is none.

    ``m = 8 complexity(m) / (1 - margin_error)^2`` is iterated. The logarithm of the right side
    grows at most 0.42 times as fast as that of m, so this converges from anywhere.
    """
    needed = np.ones_like(t)
    with np.errstate(over="ignore", divide="ignore"):
        for _ in range(ROUNDS):
            needed = 8.0 * complexity(needed, t, capacity, delta) / np.square(1.0 - margin_error)
    return needed


def message(result: GeneralizationBound, needed: float) -> str:
    """Return the bound in words; from one on it says nothing."""
    if result.raw_bound < 1.0:
        return (
            f"With probability at least {1.0 - result.delta:g} the error on new data is at most "
            f"{result.bound:.3f}: of {result.n_samples:,} rows a share of "
            f"{result.margin_error:.3f} has a margin below {result.theta:.3g}, and the capacity of "
            f"the prototypes adds {result.raw_bound - result.margin_error:.3f}."
        )
    outlook = "it would never fall below one, however many samples there are"
    if needed < np.inf:
        count = f"{float(f'{needed:.2g}'):,.0f}" if needed < COUNTABLE else f"{needed:.1e}"
        outlook = f"it would take about {count} samples to fall below one"
    return (
        f"The bound is vacuous for {result.n_samples:,} samples: with probability at least "
        f"{1.0 - result.delta:g} the error on new data is at most {result.raw_bound:.3g}, and no "
        f"error exceeds 1. With margins like these {outlook}; look at the distribution of the "
        "margins (hypothesis_margin)."
    )


def check_covered(model: Any) -> None:
    """Raise if the theorem is not about this kind of model."""
    if not isinstance(model, NearestPrototypeClassifier):
        raise wrong_kind(model, "is not a nearest-prototype classifier", "of protolearn's")
    check_is_fitted(model)
    name, distance = type(model).__name__, model.rule_.distance
    is_minkowski_two = type(distance) is Minkowski and distance.p == 2.0
    if type(distance) is not SquaredEuclidean and not is_minkowski_two:
        raise ValueError(
            f"The bound is a theorem about Euclidean distance, and {name} has "
            f"{type(distance).__name__}; give a model with distance='sqeuclidean', or "
            "Minkowski(p=2)."
        )
    if not model.rule_.decision.by_nearest:
        raise ValueError(
            f"The bound is a theorem about models that decide by the nearest prototype, and {name} "
            "decides by several; give one with a hard decision, such as GLVQ."
        )


def radius_of(rows: Any, radius: float | None) -> float:
    """Return the radius of the ball in which the samples lie."""
    if not issparse(rows) and np.isnan(rows).any():
        raise ValueError("X has missing values; the theorem is about complete rows.")
    rows = rows.astype(np.float64, copy=False)
    lengths = sparse_norm(rows, axis=1) if issparse(rows) else np.linalg.norm(rows, axis=1)
    longest = float(lengths.max())
    if radius is None:
        if not 0.0 < longest < np.inf:
            raise ValueError(f"The longest row of X has length {longest:g}; give radius=.")
        return longest
    radius = number_in(radius, "radius={value!r}", 0.0, above=True)
    outside = int((lengths > radius).sum())
    if outside:
        raise ValueError(
            f"{outside} of {len(lengths)} rows are longer than radius={radius!r}, the longest "
            f"{longest:.6g}; no sample may be. In a Pipeline, lengths are those in the last step."
        )
    return radius
