"""Data for linear classifiers and perceptrons.

The toy and the neurons of Graf et al. (2009), section 8; a rule given by a teacher, and random
patterns (Biehl, chapter 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._drawing import Labelled, Seed, check_count, check_number, check_seed, in_random_order

# Three Gaussians a class, (position along the boundary, height above it) before rotation.
# The second class lies below the boundary. Each row of a factor is one coordinate.
TOY_MEANS = np.array([[[-3.0, 2.6], [0.2, 1.5], [3.0, 3.2]], [[-2.2, 1.6], [0.8, 3.0], [3.4, 2.2]]])

TOY_FACTORS = np.array(
    [
        [[[0.9, 0.0], [0.3, 0.5]], [[0.6, 0.0], [0.0, 0.4]], [[0.5, 0.0], [-0.4, 0.8]]],
        [[[0.7, 0.0], [-0.2, 0.4]], [[1.1, 0.0], [0.3, 0.6]], [[0.4, 0.0], [0.2, 0.7]]],
    ]
)

TOY_ANGLE = np.deg2rad(30.0)

# Tuning curves over orientation, in spikes a trial.
BASE_RATE, PEAK_RATE, CONCENTRATION = 5.0, 25.0, 2.0


def make_graf_toy(
    n_per_class: int = 60, *, gap: float = 0.5, random_state: Seed = None
) -> Labelled:
    """Draw Graf's linearly separable toy set: three Gaussians a class in the plane.

    The Gaussians differ in mean and covariance (Graf et al., 2009, section 8.1). The paper
    prints neither them nor the number of points; those here are ours. Points that come within
    ``gap / 2`` of the boundary are drawn again, so every seed gives separable classes.

    Parameters
    ----------
    n_per_class : int, default=60
        Number of points of each class, shared equally by its Gaussians.
    gap : float, default=0.5
        Width of the empty stripe between the classes, from 0 to 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (2 * n_per_class, 2)
        Points in random order.
    y : ndarray of int of shape (2 * n_per_class,)
        Labels -1 and +1.

    Examples
    --------
    >>> from protolearn.datasets import make_graf_toy
    >>> X, y = make_graf_toy(random_state=0)
    >>> X.shape, int(y.sum())
    ((120, 2), 0)
    """
    n_per_class = check_count("n_per_class", n_per_class)
    gap = check_number("gap", gap, 0.0, 2.0)
    rng = check_seed(random_state)
    component = np.arange(n_per_class) % 3
    sides = [
        _draw_above(gap / 2, means[component], factors[component], rng) * (1.0, sign)
        for sign, means, factors in zip((1.0, -1.0), TOY_MEANS, TOY_FACTORS, strict=True)
    ]
    cosine, sine = np.cos(TOY_ANGLE), np.sin(TOY_ANGLE)
    X = np.vstack(sides) @ np.array([[cosine, sine], [-sine, cosine]])
    return in_random_order(X, np.repeat([1, -1], n_per_class), rng)


def _draw_above(
    height: float,
    means: NDArray[np.float64],
    factors: NDArray[np.float64],
    rng: np.random.RandomState,
) -> NDArray[np.float64]:
    """Draw one point a row from its Gaussian, given that it lies above ``height``."""
    points = np.full_like(means, -np.inf)
    while (low := points[:, 1] <= height).any():
        noise = rng.standard_normal((int(low.sum()), 2))
        points[low] = means[low] + np.einsum("nij,nj->ni", factors[low], noise)
    return points


def make_neurons(
    n_per_stimulus: int = 200,
    *,
    n_neurons: int = 6,
    difference: float = 15.0,
    fano: float = 1.0,
    random_state: Seed = None,
) -> Labelled:
    """Draw the responses of a population of neurons to two stimuli.

    Neurons are independent, with Gaussian noise whose variance is proportional to the mean
    response (Graf et al., 2009, section 8.2); at the default the classes overlap. The paper
    prints no rates. Here neuron k prefers the orientation ``180 k / n_neurons`` degrees, its
    mean response falls from 25 spikes there towards a base of 5, and the stimuli are the
    orientations ``90 -+ difference / 2``.

    Parameters
    ----------
    n_per_stimulus : int, default=200
        Number of trials of each stimulus.
    n_neurons : int, default=6
        Number of neurons.
    difference : float, default=15.0
        Angle between the stimuli in degrees, from 0 (no difference) to 90 (orthogonal).
    fano : float, default=1.0
        Variance of a response divided by its mean.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (2 * n_per_stimulus, n_neurons)
        Responses, trials in random order. Gaussian, so a rare one may be negative.
    y : ndarray of int of shape (2 * n_per_stimulus,)
        Stimulus: -1 or +1.

    Examples
    --------
    >>> from protolearn.datasets import make_neurons
    >>> X, y = make_neurons(random_state=0)
    >>> X.shape
    (400, 6)
    >>> X[y == 1].mean(axis=0).round()
    array([ 5.,  5.,  9., 24., 16.,  7.])
    """
    n_per_stimulus = check_count("n_per_stimulus", n_per_stimulus)
    n_neurons = check_count("n_neurons", n_neurons)
    difference = check_number("difference", difference, 0.0, 90.0)
    fano = check_number("fano", fano, above=True)
    rng = check_seed(random_state)
    y = np.repeat([-1, 1], n_per_stimulus)
    preferred = 180.0 * np.arange(n_neurons) / n_neurons
    angle = np.deg2rad(90.0 + y[:, None] * difference / 2 - preferred)
    # Orientation has period 180 degrees, hence twice the angle.
    tuning = np.exp(CONCENTRATION * (np.cos(2 * angle) - 1))
    mean = BASE_RATE + (PEAK_RATE - BASE_RATE) * tuning
    X = mean + np.sqrt(fano * mean) * rng.standard_normal(mean.shape)
    return in_random_order(X, y, rng)


TEACHERS = ("perceptron", "committee", "parity")


def make_teacher_student(
    n_samples: int = 200,
    n_features: int = 20,
    *,
    teacher: str = "perceptron",
    n_units: int = 3,
    noise: float = 0.0,
    random_state: Seed = None,
    return_teacher: bool = False,
) -> tuple[NDArray[Any], ...]:
    """Draw inputs and let a random perceptron, committee or parity machine label them.

    Inputs are independent standard normal numbers, the weights ``w`` of the teacher are uniform on
    the unit sphere, and ``y = sign(w . x)`` (Biehl, 3.4.1). Without noise the classes of a
    perceptron are linearly separable through the origin. The label of a committee is the majority
    of its units, that of a parity machine their product (Biehl, 4.2.1).

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features : int, default=20
        Number of inputs.
    teacher : {"perceptron", "committee", "parity"}, default="perceptron"
        One unit, or how several of them decide.
    n_units : int, default=3
        Number of units of a committee, odd, or of a parity machine; a perceptron has one.
    noise : float, default=0.0
        Share of labels that are inverted, exactly ``round(noise * n_samples)`` rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.
    return_teacher : bool, default=False
        Whether to return the teacher as well.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    y : ndarray of int of shape (n_samples,)
        Labels -1 and +1.
    teacher : ndarray of shape (n_features,), or (n_units, n_features)
        Weights of the teacher, of unit length; only if ``return_teacher`` is true.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_teacher_student
    >>> X, y, teacher = make_teacher_student(50, 10, random_state=0, return_teacher=True)
    >>> bool(np.all(y == np.sign(X @ teacher)))
    True
    """
    n_samples = check_count("n_samples", n_samples)
    n_features = check_count("n_features", n_features)
    noise = check_number("noise", noise, 0.0, 1.0)
    if teacher not in TEACHERS:
        raise ValueError(f"teacher={teacher!r} must be one of {', '.join(map(repr, TEACHERS))}.")
    n_units = 1 if teacher == "perceptron" else check_count("n_units", n_units)
    if teacher == "committee" and n_units % 2 == 0:
        raise ValueError(
            f"n_units={n_units!r} of a committee must be odd, or a vote may be a draw."
        )
    rng = check_seed(random_state)
    weights = rng.standard_normal((n_units, n_features))
    weights = np.array([w / np.linalg.norm(w) for w in weights])
    X = rng.standard_normal((n_samples, n_features))
    states = np.where(X @ weights.T >= 0.0, 1, -1)
    y = states.prod(axis=1) if teacher == "parity" else np.where(states.sum(axis=1) > 0, 1, -1)
    inverted = rng.choice(n_samples, round(noise * n_samples), replace=False)
    y[inverted] *= -1
    return (X, y, weights[0] if teacher == "perceptron" else weights) if return_teacher else (X, y)


def make_random_patterns(
    n_samples: int = 200,
    n_features: int = 100,
    *,
    inputs: str = "binary",
    random_state: Seed = None,
) -> Labelled:
    """Draw random inputs with random labels: nothing to learn, only to store.

    By Cover's count half of all such labellings are linearly separable through the origin at
    ``n_samples = 2 * n_features``, the default.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features : int, default=100
        Number of inputs.
    inputs : {"binary", "normal"}, default="binary"
        Inputs -1 and +1 with equal probability, or standard normal numbers. Normal inputs are
        in general position, as Cover's count supposes; few binary ones may not be.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    y : ndarray of int of shape (n_samples,)
        Labels -1 and +1, each with probability one half.

    Examples
    --------
    >>> from protolearn.datasets import make_random_patterns
    >>> X, y = make_random_patterns(4, 3, random_state=0)
    >>> X
    array([[-1.,  1.,  1.],
           [-1.,  1.,  1.],
           [ 1.,  1.,  1.],
           [ 1.,  1., -1.]])
    """
    shape = (check_count("n_samples", n_samples), check_count("n_features", n_features))
    if inputs not in ("binary", "normal"):
        raise ValueError(f"inputs={inputs!r} must be 'binary' or 'normal'.")
    rng = check_seed(random_state)
    X = rng.standard_normal(shape) if inputs == "normal" else _signs(rng, shape).astype(float)
    return X, _signs(rng, (shape[0],))


def _signs(rng: np.random.RandomState, shape: tuple[int, ...]) -> NDArray[np.int64]:
    return 2 * rng.randint(2, size=shape, dtype=np.int64) - 1
