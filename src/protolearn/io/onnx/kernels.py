"""Kernels as formulas of a graph, in double precision as everywhere in the library."""

from __future__ import annotations

import numpy as np

from ..._arrays import Floats
from ...kernels import FeatureKernel
from .tensor import Tensor


def products(kernel: FeatureKernel, X: Tensor, rows: Floats) -> Tensor:
    """Return the products of the rows of a tensor with some samples."""
    X, Y = shifted(kernel, X), rows if kernel.center is None else rows - kernel.center
    if kernel.kind == "linear":
        return X @ Y.T
    if kernel.kind == "polynomial":
        return power(kernel, X @ Y.T)
    D = X @ (-2.0 * Y).T + np.square(Y).sum(axis=1) + X.squared().sum(1)
    return (D.positive() * -kernel.settings["gamma"]).apply("Exp")


def diagonal(kernel: FeatureKernel, X: Tensor) -> Tensor:
    """Return the product of each row with itself, an array (n, 1)."""
    squares = shifted(kernel, X).squared().sum(1)
    if kernel.kind == "linear":
        return squares
    return power(kernel, squares) if kernel.kind == "polynomial" else squares * 0.0 + 1.0


def shifted(kernel: FeatureKernel, X: Tensor) -> Tensor:
    """Return the rows relative to the centre of the kernel."""
    if callable(kernel.kind):
        raise TypeError(
            "A kernel that is a Python function has no form in ONNX; fit the model with a named "
            "kernel, or with kernel='precomputed', whose products are then the input of the graph."
        )
    X = X.cast(np.float64)
    return X if kernel.center is None else X - kernel.center


def power(kernel: FeatureKernel, inner: Tensor) -> Tensor:
    """Return ``(gamma x.y + coef0)^degree``."""
    settings = kernel.settings
    return (inner * settings["gamma"] + settings["coef0"]) ** float(settings["degree"])
