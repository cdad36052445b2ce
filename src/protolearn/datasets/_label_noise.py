"""Label noise: a fixed share of wrong labels, drawn uniformly (Shen and Danyluk, 5.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import Seed, check_number, check_seed


def flip_labels(y: ArrayLike, fraction: float, *, random_state: Seed = None) -> NDArray[Any]:
    """Return a share of the rows a wrong label.

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
