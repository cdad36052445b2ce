"""What the generators share: checks of sizes and seeds, the order of rows, wrong labels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._validation import integer_in, number_in

Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None

Labelled: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]


def check_count(name: str, value: Any, minimum: int = 1) -> int:
    """Return ``value`` as an int that is at least ``minimum``."""
    return integer_in(value, f"{name}={{value!r}}", minimum)


def check_number(
    name: str, value: Any, low: float = 0.0, high: float = np.inf, *, above: bool = False
) -> float:
    """Return ``value`` as a finite float in ``[low, high]``, or above ``low``."""
    return number_in(value, f"{name}={{value!r}}", low, high, above=above)


def check_seed(random_state: Seed) -> np.random.RandomState:
    """Return the random numbers to draw from.

    NumPy keeps the streams of ``RandomState`` fixed for ever, those of ``Generator`` not: with
    the former a seed names one data set in every version. A given ``Generator`` is not copied;
    its bit generator supplies the numbers, so two calls with it give two data sets.
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    rng: np.random.RandomState = check_random_state(random_state)
    return rng


def in_random_order(
    X: NDArray[np.float64], y: NDArray[np.int64], rng: np.random.RandomState
) -> Labelled:
    """Return mixed classes, so that consecutive folds and sequential training see all of them."""
    order = rng.permutation(len(y))
    return X[order], y[order]


def flip_labels(y: ArrayLike, fraction: float, *, random_state: Seed = None) -> NDArray[Any]:
    """Return labels of which a share is wrong (Shen and Danyluk, 5.3).

    Exactly ``round(fraction * n)`` rows, drawn without replacement, change to another class of
    y, each other class with the same probability.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels; left as they are.
    fraction : float
        Share of the rows to change, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    ndarray of shape (n,)
        A copy of y with the changed labels.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import flip_labels
    >>> y = np.repeat(["a", "b", "c"], 20)
    >>> noisy = flip_labels(y, 0.1, random_state=0)
    >>> int((noisy != y).sum())
    6
    """
    fraction = check_number("fraction", fraction, 0.0, 1.0)
    labels = np.array(y)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}, expected one label a row: (n,).")
    n_flipped = round(fraction * len(labels))
    if n_flipped == 0:
        return labels
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has only the class {classes.tolist()[0]!r}: there is no other label to change to. "
            "Give labels of at least two classes."
        )
    rng = check_seed(random_state)
    rows = rng.choice(len(labels), n_flipped, replace=False)
    # A shift of 1 to K - 1 places, modulo K, reaches every other class equally often.
    shift = rng.randint(1, len(classes), size=n_flipped)
    labels[rows] = classes[(codes[rows] + shift) % len(classes)]
    return labels
