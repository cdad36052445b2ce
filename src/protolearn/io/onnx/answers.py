"""What a model has to say of rows: which outputs there are, and a formula for each."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .tensor import Tensor, take_from


class Output(NamedTuple):
    """An output of a graph.

    Attributes
    ----------
    dtype : dtype or None
        Of its entries; None: numbers in the precision of the input.
    width : int or None
        How many numbers there are for a row; None: one, and no second axis.
    """

    dtype: np.dtype[Any] | None = None
    width: int | None = None


class Answers:
    """The outputs of a fitted model, each computed when it is asked for.

    A subclass has a property for every name in ``offered``.

    Parameters
    ----------
    model : classifier
        A fitted model.
    X : Tensor of shape (n, d)
        The rows.
    """

    def __init__(self, model: Any, X: Tensor):
        self.model = model
        self.X = X

    @classmethod
    def offered(cls, model: Any) -> dict[str, Output]:
        """Name the outputs, the label first and what scores the classes second."""
        raise NotImplementedError

    @cached_property
    def code(self) -> Tensor:
        """The place of the predicted class among the classes."""
        raise NotImplementedError

    @cached_property
    def scores(self) -> Tensor:
        """The decision function; for two classes minus and plus it."""
        raise NotImplementedError

    @cached_property
    def label(self) -> Tensor:
        """The predicted class."""
        return take_from(self.X.graph, as_labels(self.model.classes_), self.code)


def as_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as ONNX has them: 64-bit integers, double precision, booleans or strings."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "iu" and np.array_equal(labels.astype(np.int64), labels):
        return labels.astype(np.int64)
    if labels.dtype.kind == "f":
        return labels.astype(np.float64)
    if labels.dtype.kind == "b" or all(isinstance(label, str) for label in labels.tolist()):
        return labels if labels.dtype.kind == "b" else labels.astype(object)
    raise TypeError(
        f"The labels {labels.tolist()!r} have no common type in ONNX, which has strings, 64-bit "
        "integers, numbers in double precision and booleans; fit the model with such labels."
    )


def two_columns(scores: Tensor) -> Tensor:
    """Return one score a class for the score of the second of two."""
    return (-scores).beside(scores)
