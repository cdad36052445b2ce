"""Models made small enough for a microcontroller."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from .._validation import integer_in
from ..classifiers import SmallGMLVQ
from ..rule import as_rule
from .exports import document_of
from .exports.c_code import c_header


def compress(
    model: Any, X: Any, y: Any, max_bytes: int = 16_384, *, bits: int = 8, random_state: Any = 0
) -> Any:
    """Return a model of few bytes that is trained in place of another one.

    It has prototypes behind a low-rank map, dense or sparse, in whole numbers, trained through the
    rounding: a :class:`~protolearn.SmallGMLVQ`. The number of prototypes, of rows of the map, of
    its entries, and of label scores are chosen together by the accuracy on held-out training rows.

    Parameters
    ----------
    model : classifier
        A fitted nearest-prototype or linear model, or a Pipeline that ends in one. The steps before
        it stay. A learned metric is one of the starts of the map.
    X : array-like of shape (n_samples, n_features)
        Training rows, as the model takes them.
    y : array-like of shape (n_samples,)
        Their labels.
    max_bytes : int, default=16_384
        What all constant tables of the C header take at most: prototypes, map, label scores,
        labels, and the units of the columns. Its code takes some more.
    bits : {8, 16}, default=8
        Size of whole numbers.
    random_state : int, RandomState instance or None, default=0
        Seed of the training.

    Returns
    -------
    small : SmallGMLVQ or Pipeline
        A fitted model; ``export(small, path, to="c", number="int8")`` writes it.

    See Also
    --------
    SmallGMLVQ : The same without another model.
    export : Writes it as C.

    Examples
    --------
    >>> from protolearn import GMLVQ, compress, datasets
    >>> X, y = datasets.load("iris")
    >>> small = compress(GMLVQ(random_state=0).fit(X, y), X, y, max_bytes=512)
    >>> bool(small.n_bytes_ <= 512), bool(small.score(X, y) > 0.94)
    (True, True)
    """
    max_bytes = integer_in(max_bytes, "max_bytes={value!r}", 1)
    steps = model.steps[:-1] if isinstance(model, Pipeline) else []
    last = model[-1] if isinstance(model, Pipeline) else model
    rows = Pipeline(steps).transform(X) if steps else X
    options = {"bits": bits, "init": as_rule(last), "random_state": random_state}
    around = 0
    if steps:  # the units of the columns are in tables as well
        least = SmallGMLVQ(rank=1, prototypes_per_class=1, label_scores=1, max_iter=1, **options)
        least.set_params(max_bytes=10**9).fit(rows, y)
        around = table_bytes(Pipeline([*steps, ("small", least)]), bits) - least.n_bytes_
    if max_bytes <= around:
        raise ValueError(
            f"max_bytes={max_bytes} is too small: the units of the columns take {around} bytes. "
            "Give more, or a model without the steps before it."
        )
    small = SmallGMLVQ(max_bytes=max_bytes - around, **options).fit(rows, y)
    return Pipeline([*steps, (type(small).__name__.lower(), small)]) if steps else small


def table_bytes(model: Any, bits: int) -> int:
    """Return what the constant tables of a model take in C."""
    return c_header(document_of(model), "model", f"int{bits}")[1]
