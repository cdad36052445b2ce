"""The soft-margin support vector machine at many values of C."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import Floats
from ..canonical import Canonical, Frame, canonical
from ..path import PrototypePath
from .machines import SoftMarginSVM, check_norm, expanded, slack_weights, soft_margin, spanned

DEFAULT_C = np.geomspace(1e-4, 1e4, 50)
"""Weights of the slacks for samples of unit size."""


def regularization_path(
    X: Any, y: Any, C: Any = None, *, norm: int = 1, sample_weight: Any = None
) -> PrototypePath:
    """Return the prototypes of the soft-margin support vector machine at many values of C.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their labels, of two classes.
    C : array-like of shape (n_steps,), default=None
        Weights of the slacks, in any order; None: 50 values from where the prototypes are nearly
        those of ``C -> 0`` to a nearly hard margin.
    norm : {1, 2}, default=1
        Slacks, or their squares, as in :class:`SoftMarginSVM`.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors of C by sample.

    Returns
    -------
    path : PrototypePath
        Prototypes, normal, offset and shift at each C, as :class:`SoftMarginSVM` gives them. The
        machines are solved from small to large C, each from the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import regularization_path
    >>> from protolearn.datasets import make_graf_toy
    >>> X, y = make_graf_toy(random_state=0)
    >>> regularization_path(X, y, C=np.geomspace(1e-3, 1e3, 7))
    <PrototypePath: 7 steps, C 0.001 to 1000>
    """
    check_norm(norm)
    model = SoftMarginSVM(norm=norm)
    X, codes, weight, _ = model._counting(X, y, sample_weight)
    if len(model.classes_) != 2:
        raise ValueError(
            f"y has {len(model.classes_)} classes, and a path is that of two prototypes; for one "
            "class against the rest give y == label."
        )
    frame, signs = Frame.of(X, weight), model._problems(codes, weight)[0].signs
    values = DEFAULT_C / frame.scale**2 if C is None else checked_values(C)
    rows = spanned(frame.rows)
    forms: dict[float, Canonical] = {}
    machine = None
    for value in np.unique(values):
        machine = soft_margin(norm, rows, signs, slack_weights(value, frame, weight), machine)
        forms[value] = canonical(expanded(machine, signs), frame)
    return PrototypePath.of("C", values, [forms[value] for value in values], model.classes_)


def checked_values(C: Any) -> Floats:
    """Check the values of C."""
    try:
        values = np.atleast_1d(np.asarray(C, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not len(values):
        raise ValueError(f"C has shape {values.shape}, expected one or more numbers in a row.")
    if not (np.isfinite(values) & (values > 0.0)).all():
        raise ValueError(f"C={C!r} must be finite numbers greater than 0.")
    return values
