"""Data for perceptrons: a rule given by a teacher, and random patterns (Biehl, chapter 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import Seed, check_count, check_number, check_seed
from ._labelled import Labelled


def make_teacher_student(
    n_samples: int = 200,
    n_features: int = 20,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    return_teacher: bool = False,
) -> tuple[NDArray[Any], ...]:
    """Draw inputs and let a random perceptron, the teacher, label them.

    Inputs are independent standard normal numbers, the teacher ``w`` is uniform on the unit
    sphere, and ``y = sign(w . x)`` (Biehl, 3.4.1). Without noise the classes are linearly
    separable through the origin.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features : int, default=20
        Number of inputs.
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
    teacher : ndarray of shape (n_features,)
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
    rng = check_seed(random_state)
    teacher = rng.standard_normal(n_features)
    teacher /= np.linalg.norm(teacher)
    X = rng.standard_normal((n_samples, n_features))
    y = np.where(X @ teacher >= 0.0, 1, -1)
    inverted = rng.choice(n_samples, round(noise * n_samples), replace=False)
    y[inverted] *= -1
    return (X, y, teacher) if return_teacher else (X, y)


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
