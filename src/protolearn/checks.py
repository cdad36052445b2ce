"""Checks for your own losses, margins, distances and classifiers, and for ``check_estimator``.

Each check raises an ``AssertionError`` that names what is wrong, and returns None if all is well.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils import check_X_y

from ._arrays import Floats, as_floats, as_indices
from .codebook import Codebook
from .distances import BlockForm, Distance, FeatureTerms, Geometry, LowerBounded, Penalized
from .expected_failures import expected_failed_checks
from .losses import Loss
from .margins import Margin
from .native import GRADIENT, LOSS, MARGIN, PAIR, Native
from .pairs import find_pairs, lengths_between

__all__ = [
    "check_distance",
    "check_invariance",
    "check_loss",
    "check_margin",
    "expected_failed_checks",
]

TRANSFORMATIONS = ("rotation", "translation", "permutation", "inversion", "scaling")

STEP = 1e-6
FALL = {"margin": "fall", "attraction": "rise"}
EXTREME_PAIRS = (
    [0.0, 0.0],
    [0.0, 1.0],
    [1.0, 0.0],
    [1e-310, 1e-310],
    [1e-155, 3e-155],
    [1e155, 3e155],
    [1e100, 1e-100],
)


def check_loss(loss: Loss) -> None:
    """Check a loss: both forms agree, the slope is the derivative, it falls, stays finite, pickles.

    Parameters
    ----------
    loss : Loss
        The object to check.

    Examples
    --------
    >>> from protolearn.checks import check_loss
    >>> from protolearn.losses import Sigmoid
    >>> check_loss(Sigmoid(beta=3.0))
    """
    _check_object(loss, Loss)
    _check_native(loss, "phi", LOSS)
    theta = as_floats(loss.theta())
    m = np.random.RandomState(0).uniform(-3.0, 3.0, 200)
    native = np.array([loss.phi(v, theta) for v in m])
    _close([loss.phi.py(v, theta) for v in m], native, "phi compiled and phi in Python differ")
    _close(np.stack(loss(m), axis=1), native, "phi over an array and phi one by one differ")
    right = (loss(m + STEP)[0] - native[:, 0]) / STEP
    left = (native[:, 0] - loss(m - STEP)[0]) / STEP
    even = np.isclose(left, right, rtol=1e-3, atol=1e-3)
    if loss.smooth:
        assert _slope_jump(loss) < 1e-3, "smooth is True, but the slope jumps; set smooth = False"
    central = 0.5 * (left + right)
    _close(native[even, 1], central[even], "the slope is not the derivative of the value", 1e-4)
    extremes = np.array([-1e100, -1e8, -1e3, -30.0, 0.0, 30.0, 1e3, 1e8, 1e100])
    single = np.array([loss.phi(v, theta) for v in extremes])  # an exception would surface here
    assert np.isfinite(single).all(), "value or slope is not finite for large margins"
    for values in (loss(np.sort(m))[0], single[:, 0]):
        assert (np.diff(values) <= 1e-12).all(), "the loss does not fall with the margin"


def check_margin(margin: Margin) -> None:
    """Check a margin and its attraction: both forms agree, derivatives, directions, extremes.

    Parameters
    ----------
    margin : Margin
        The object to check.

    Examples
    --------
    >>> from protolearn.checks import check_margin
    >>> from protolearn.margins import LogOdds
    >>> check_margin(LogOdds(xi=2.0))
    """
    _check_object(margin, Margin)
    known = margin.winners in (2, None, "pair")
    assert known, f"winners={margin.winners!r} must be 2, None or 'pair'"
    theta = as_floats(margin.theta())
    if margin.winners == "pair":
        _check_pairs_of_prototypes(margin)
    for name in ("margin", "attraction"):
        _check_native(margin, name, MARGIN)
        function = getattr(margin, name)
        of_pair = margin.winners == "pair" and name == "margin"
        for d, same in _rows("pair" if of_pair else margin.winners and 2):
            value, g = _evaluate(function, d, same, theta)
            plain = _evaluate(function.py, d, same, theta)
            _close(plain[0], value, f"{name} compiled and {name} in Python differ")
            _close(plain[1], g, f"the derivatives of {name} compiled and in Python differ")
            numeric = _derivative(lambda z, s=same, f=function: _evaluate(f, z, s, theta)[0], d)
            _close(g, numeric, f"g is not the derivative of {name}", 1e-4)
            sign = 1.0 if name == "margin" else -1.0
            g, same = (g[:2], same[:2]) if of_pair else (g, same)
            assert (sign * g[same] <= 1e-12).all(), f"{name} must {FALL[name]} with own distances"
            assert (g[~same] >= -1e-12).all(), f"{name} must not fall with rival distances"
        for pair in EXTREME_PAIRS:
            # The length of the way between two prototypes, where they are at the same distances.
            beside = [abs(np.sqrt(pair[0]) - np.sqrt(pair[1]))] if of_pair else []
            numbers, same = np.array([*pair, *beside]), np.array([True, False, False])
            value, g = _evaluate(function, numbers, same[: len(numbers)], theta)
            assert np.isfinite(value), f"{name} is not finite for the distances {pair}"
            assert np.isfinite(g).all(), f"the derivative of {name} is not finite for {pair}"
            plain = _evaluate(function.py, numbers, same[: len(numbers)], theta)
            _close(plain[1], g, f"{name} compiled and in Python differ at {pair}")


def check_distance(distance: Distance, X: Any = None) -> None:
    """Check a distance: both forms, derivatives by prototype and parameters, mixins, pickling.

    Parameters
    ----------
    distance : Distance
        The object to check.
    X : array-like of shape (n_samples, n_features), default=None
        Rows that the distance accepts; None takes positive random ones.

    Examples
    --------
    >>> from protolearn.checks import check_distance
    >>> from protolearn.distances import SquaredEuclidean
    >>> check_distance(SquaredEuclidean())
    """
    _check_object(distance, Distance)
    assert distance.squared in (True, False, None), "squared must be True, False or None"
    _check_native(distance, "pair", PAIR)
    _check_native(distance, "gradient", GRADIENT)
    rng = np.random.RandomState(0)
    rows = rng.uniform(0.1, 1.0, (40, 5)) if X is None else as_floats(X)
    if rows.ndim != 2 or len(rows) < 12:
        raise ValueError(f"X has shape {rows.shape}, expected at least 12 rows of features.")
    X, codebook = _codebook(distance, rows, rng)
    _check_pairs(distance, X, codebook)
    _check_blocks(distance, X, codebook, rng)
    _check_mixins(distance, X, codebook)


def check_invariance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    transformations: Any = TRANSFORMATIONS,
    tol: float = 0.0,
    random_state: int = 0,
) -> None:
    """Check that a classifier is the same for data in other coordinates, units and order.

    A clone is fitted to transformed data, and classifies transformed rows: the training rows and as
    many points between random pairs of them. The answers must be those of the classifier of the
    data as they are (Graf et al., 2009, definition 1).

    Parameters
    ----------
    estimator : classifier
        It is cloned; give it a seed if it draws random numbers.
    X : array-like of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels.
    transformations : sequence of str, default=all of the following
        "rotation" (or reflection), "translation" by some standard deviations, "permutation" of the
        samples, "inversion" of the order of the labels, "scaling" by 3.
    tol : float, default=0.0
        Share of the rows that may change their class: rows on the boundary may by rounding.
    random_state : int, default=0
        Seed of the rotation, the translation, the order and the points.

    Raises
    ------
    AssertionError
        If the answers differ; it names the transformations.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from protolearn import MeanOfClass
    >>> from protolearn.checks import check_invariance
    >>> X, y = load_iris(return_X_y=True)
    >>> check_invariance(MeanOfClass(), X, y)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> check_invariance(tree, X, y, transformations=["permutation", "scaling"], tol=0.02)
    """
    unknown = [name for name in transformations if name not in TRANSFORMATIONS]
    if unknown:
        known = ", ".join(map(repr, TRANSFORMATIONS))
        raise ValueError(f"transformations contains {unknown[0]!r}, expected some of {known}.")
    X, y = check_X_y(X, y, dtype=np.float64)
    rng = np.random.RandomState(random_state)
    share = rng.uniform(size=(len(X), 1))
    between = share * X + (1.0 - share) * X[rng.permutation(len(X))]
    rows = np.vstack([X, between])
    rotation = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    move, order = 3.0 * X.std(axis=0) * rng.standard_normal(X.shape[1]), rng.permutation(len(X))
    classes, codes = np.unique(y, return_inverse=True)
    inverted = codes.max() - codes
    cases = {
        "rotation": (X @ rotation, y, rows @ rotation),
        "translation": (X + move, y, rows + move),
        "permutation": (X[order], y[order], rows),
        "inversion": (X, inverted, rows),
        "scaling": (3.0 * X, y, 3.0 * rows),
    }
    expected, changed = np.asarray(clone(estimator).fit(X, y).predict(rows)), []
    for name in transformations:
        *data, places = cases[name]
        found = np.asarray(clone(estimator).fit(*data).predict(places))
        found = classes[codes.max() - found] if name == "inversion" else found
        part = float(np.mean(found != expected))
        changed += [f"{name} ({part:.2%} of the rows)"] if part > tol else []
    assert not changed, f"{type(estimator).__name__} changes its answers by {', '.join(changed)}"


def _slope_jump(loss: Loss) -> float:
    """Return the largest change of the slope that is left in ever smaller intervals."""
    grid = np.linspace(-3.0, 3.0, 401)
    low, high = grid[:-1], grid[1:]
    for _ in range(40):
        middle = 0.5 * (low + high)
        left, here, right = loss(low)[1], loss(middle)[1], loss(high)[1]
        first_half = np.abs(here - left) > np.abs(right - here)
        low, high = np.where(first_half, low, middle), np.where(first_half, middle, high)
    return float(np.abs(loss(high)[1] - loss(low)[1]).max())


def _check_object(axis: Any, base: Any) -> None:
    """Check the class, cloning and pickling of an axis."""
    assert isinstance(axis, base), f"{axis!r} does not derive from {base.__name__}"
    parameters = str(axis.get_params())
    assert str(clone(axis).get_params()) == parameters, "cloning loses parameters"
    try:
        copy: Any = pickle.loads(pickle.dumps(axis))
    except Exception as error:
        raise AssertionError(
            f"{type(axis).__name__} cannot be pickled; define it in a module. ({error})"
        ) from error
    assert str(copy.get_params()) == parameters, "pickling loses parameters"


def _check_native(axis: Any, name: str, signature: Any) -> None:
    """Check that a function is there, is compiled, and has the right signature."""
    function = getattr(axis, name, None)
    assert isinstance(function, Native), (
        f"{type(axis).__name__}.{name} must be decorated with @native from protolearn.native"
    )
    assert function.signature == signature, f"{name} has the signature {function.signature}"


def _check_pairs_of_prototypes(margin: Margin) -> None:
    """Check that whole rows, and the search of training, find the pair that decides."""
    rng = np.random.RandomState(0)
    X, W, labels = rng.standard_normal((30, 3)), rng.standard_normal((7, 3)), np.arange(7) % 3
    D, y = cdist(X, W, "sqeuclidean"), np.arange(30) % 3
    value, _ = margin(D, labels == y[:, None], lengths_between(W, W, margin.norm))
    found = find_pairs(margin, D, as_indices(y), W, labels, np.ones(2)).value
    _close(found, value, "the least margin over rivals of the largest over own prototypes differs")


def _rows(winners: int | str | None) -> list[tuple[Floats, Any]]:
    """Make rows of distances, with their classes."""
    rng = np.random.RandomState(0)
    rows = []
    if winners == "pair":
        return [(rng.uniform(0.1, 3.0, 3), np.array([True, False, False])) for _ in range(20)]
    for _ in range(20):
        K = 2 if winners == 2 else rng.randint(2, 7)
        same = np.arange(K) < (1 if winners == 2 else rng.randint(1, K))
        rows.append((rng.uniform(0.1, 3.0, K), same if winners == 2 else rng.permutation(same)))
    return rows


def _evaluate(function: Any, d: Floats, same: Any, theta: Floats) -> tuple[float, Floats]:
    """Call a margin function with fresh room for its derivative."""
    g = np.zeros(len(d))
    with np.errstate(all="ignore"):
        return function(d, same, theta, g), g


def _codebook(distance: Distance, X: Floats, rng: np.random.RandomState) -> tuple[Floats, Codebook]:
    """Take the last rows as prototypes; move the parameters a little off their start."""
    labels = np.array([0, 0, 1, 2])
    group = as_indices(distance.groups(labels))
    y = np.arange(len(X)) % 3
    theta = as_floats(distance.initial(X, y, np.ones(len(X)), int(group.max()) + 1))
    if distance.adaptive:
        free = theta + 0.1 * rng.uniform(0.5, 1.0, theta.shape)
        theta = np.ascontiguousarray(distance.constraint.apply(free))
    W = X[-4:].copy()
    return X[:-4], Codebook(W, labels, theta, group, W.mean(axis=0))


def _check_pairs(distance: Distance, X: Floats, codebook: Codebook) -> None:
    """Check ``pair`` and ``gradient`` on some rows."""
    for x in X[:5]:
        for w, group in zip(codebook.prototypes, codebook.group, strict=True):
            theta = codebook.metric[group]
            value = distance.pair(x, w, theta)
            _close(distance.pair.py(x, w, theta), value, "pair compiled and in Python differ")
            by_w, by_theta = np.zeros_like(w), np.zeros_like(theta)
            distance.gradient(x, w, theta, by_w, by_theta)
            plain_w, plain_theta = np.zeros_like(w), np.zeros_like(theta)
            distance.gradient.py(x, w, theta, plain_w, plain_theta)
            message = "gradient compiled and in Python differ"
            _close(plain_w, by_w, message)
            _close(plain_theta, by_theta, message)
            numeric = _derivative(lambda z, x=x, t=theta: distance.pair(x, z, t), w)
            _close(by_w, numeric, "gw is not the derivative of pair by w", 1e-4)
            if distance.adaptive:
                numeric = _derivative(lambda z, x=x, w=w: distance.pair(x, w, z), theta)
                _close(by_theta, numeric, "gtheta is not the derivative of pair by theta", 1e-4)


def _check_blocks(
    distance: Distance, X: Floats, codebook: Codebook, rng: np.random.RandomState
) -> None:
    """Check the forms for whole blocks against the two functions."""
    W, theta, group = codebook.prototypes, codebook.metric, codebook.group
    D = np.array(
        [[distance.pair(x, w, theta[g]) for w, g in zip(W, group, strict=True)] for x in X]
    )
    _close(distance.pairwise(X, codebook), D, "pairwise differs from pair", 1e-9)
    kept = None
    if isinstance(distance, BlockForm):
        prepared = distance.prepare(X, codebook)
        _close(distance.pairwise(X, codebook, prepared), D, "prepare changes pairwise", 1e-9)
        found, kept = distance.forward(X, codebook, prepared)
        _close(found, D, "forward differs from pair", 1e-9)
    winner, _ = distance.nearest(X, codebook)
    assert (winner == D.argmin(axis=1)).all(), "nearest is not the smallest distance"
    if isinstance(distance, FeatureTerms):
        terms = distance.terms(X[: len(W)], codebook, np.arange(len(W)))
        _close(terms.sum(axis=1), D.diagonal(), "terms do not add up to the distance", 1e-9)
    if distance.shows_nonfinite:
        _check_nonfinite(distance, X, codebook)
    row = np.empty(len(W))
    distance.row(X[0], W, theta, group, distance.pair.address, row)
    _close(row, D[0], "row differs from pair", 1e-9)
    G = rng.standard_normal(D.shape)
    expected = codebook.zero_gradients()
    Distance.pull_rows(distance, X, codebook, G, expected)
    whole, parts = codebook.zero_gradients(), codebook.zero_gradients()
    distance.pull_rows(X, codebook, G, whole, kept)
    for rows in (slice(0, 7), slice(7, None)):
        distance.pull_rows(X[rows], codebook, G[rows], parts)
    for got in (whole, parts):
        _close(got.prototypes, expected.prototypes, "pull_rows differs from gradient", 1e-8)
        _close(got.metric, expected.metric, "pull_rows differs from gradient", 1e-8)
    some = codebook.zero_gradients()
    index = np.ascontiguousarray(np.broadcast_to(np.arange(len(W)), D.shape))
    distance.pull_winners(X, codebook, index, G, some)
    _close(some.prototypes, expected.prototypes, "pull_winners differs from gradient", 1e-8)
    _close(some.metric, expected.metric, "pull_winners differs from gradient", 1e-8)


def _check_mixins(distance: Distance, X: Floats, codebook: Codebook) -> None:
    """Check what the mixins of a distance promise."""
    if isinstance(distance, Geometry):
        _check_geometry(distance, np.vstack([X, codebook.prototypes]), codebook)
    if isinstance(distance, Penalized) and distance.penalized:
        metric, by_theta = codebook.metric, distance.penalty(codebook)[1].ravel()
        numeric = _derivative(
            lambda z: distance.penalty(replace(codebook, metric=z.reshape(metric.shape)))[0],
            metric.ravel(),
        )
        _close(by_theta, numeric, "the derivative of penalty is not that of its value", 1e-4)
    if isinstance(distance, LowerBounded):
        lowest = np.full_like(codebook.prototypes, distance.lowest(codebook))
        D = distance.pairwise(X, replace(codebook, prototypes=lowest, center=lowest[0]))
        assert np.isfinite(D).all(), "the distance to prototypes at lowest is not finite"


def _check_geometry(distance: Any, X: Floats, codebook: Codebook) -> None:
    """Check flat boundaries, and how fast the distance changes, from each row to the next."""
    D, steps = distance.pairwise(X, codebook), np.diff(X, axis=0)
    U, steepness = distance.directions(codebook), distance.steepness(codebook)
    if U is not None:
        common = np.diff(D, axis=0) + 2.0 * steps @ U.T
        message = "directions are not the derivatives of differences of distances"
        _close(common, common[:, :1] + np.zeros_like(common), message, 1e-7)
    if steepness is not None:
        change = np.abs(np.diff(np.sqrt(D) if distance.squared else D, axis=0))
        bound = np.linalg.norm(steps, axis=1)[:, None] * steepness
        assert (change <= bound * (1.0 + 1e-7) + 1e-7).all(), "steepness is too small"


def _check_nonfinite(distance: Distance, X: Floats, codebook: Codebook) -> None:
    """Check that a row with NaN or infinity shows in the number beside its winner."""
    for bad in (np.nan, np.inf, -np.inf):
        rows = X.copy()
        rows[2, 0] = bad
        with np.errstate(all="ignore"):
            _, value = distance.nearest(rows, codebook)
        seen = np.isfinite(value)
        assert (seen == (np.arange(len(X)) != 2)).all(), "shows_nonfinite is not true"


def _derivative(function: Any, z: Floats) -> Floats:
    """Differentiate numerically, by each entry."""
    steps = STEP * np.eye(len(z))
    return np.array([(function(z + s) - function(z - s)) / (2 * STEP) for s in steps])


def _close(actual: Any, expected: Any, message: str, tolerance: float = 1e-10) -> None:
    assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, err_msg=message)
