"""ONNX: a graph on onnxruntime against ``predict`` of the model, one row and many, one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnxruntime
from sklearn.datasets import make_classification

from protolearn import GLVQ, GMLVQ, RSLVQ, SoftMarginSVM, hypothesis_margin, to_onnx

from .measure import HEADING, Row, Table, best_of

SHAPES = ((20, 2), (784, 10))
"""Features, and prototypes a class."""

BATCHES = {1: 0.25, 10_000: 1.5}
"""Rows at a time, and how many times as long as the model the graph may take."""

REPEATS = {1: 200, 10_000: 1}
"""How often a batch is answered in one measurement."""


def tables() -> Iterator[Table]:
    """Give the table."""
    yield Table(HEADING, rows())


def rows() -> Iterator[Row]:
    """Time several models with few and many features."""
    for n_features, each in SHAPES:
        X, y = make_classification(
            10_000, n_features, n_informative=10, n_classes=5, random_state=0
        )
        X = X.astype(np.float32)
        for model in (
            GLVQ(prototypes_per_class=each, max_iter=3, random_state=0),
            GMLVQ(prototypes_per_class=each, rank=10, max_iter=3, random_state=0),
            RSLVQ(prototypes_per_class=each, max_iter=3, random_state=0),
            SoftMarginSVM(),
        ):
            model.fit(X[:1000], y[:1000])
            for size in BATCHES:
                yield from compared(model, X[:size])


def compared(model: Any, X: np.ndarray) -> Iterator[Row]:
    """Compare the label with ``predict``, and all outputs with one call for each of them."""
    n = len(X)
    label, everything = (asked(session(model, each), X) for each in (["label"], None))
    calls = [lambda: model.predict(X), label, lambda: all_of(model, X), everything]
    times = best_of(*(repeated(call, REPEATS[n]) for call in calls))
    name = f"{type(model).__name__}, {X.shape[1]} features, {n} rows"
    yield Row(f"{name}, label", times[1], "predict", times[0], BATCHES[n])
    yield Row(f"{name}, all", times[3], "a call an output", times[2], BATCHES[n])


def all_of(model: Any, X: np.ndarray) -> None:
    """Ask the model for all that its graph tells."""
    predicted = model.predict(X)
    hypothesis_margin(model, X, predicted)
    model.decision_function(X)
    if isinstance(model, GLVQ | GMLVQ | RSLVQ):
        model.predict_proba(X)
        model.nearest_prototypes(X)
        model.distances(X)


def session(model: Any, outputs: list[str] | None) -> onnxruntime.InferenceSession:
    """Load the graph of a model, for one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = to_onnx(model, outputs=outputs).SerializeToString()
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def asked(loaded: onnxruntime.InferenceSession, X: np.ndarray) -> Callable[[], Any]:
    """Give the call that answers rows."""
    return lambda: loaded.run(None, {"X": X})


def repeated(function: Callable[[], Any], times: int) -> Callable[[], None]:
    """Give a function that runs another one several times."""

    def run() -> None:
        for _ in range(times):
            function()

    return run
