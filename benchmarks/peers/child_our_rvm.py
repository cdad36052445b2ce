"""The relevance vector machine of protolearn, run by the interpreter that runs the benchmarks."""

from __future__ import annotations

from protolearn.linear import RVM

from . import child

FITS = 7
"""Fits, of which the first may load or compile functions and the best of the others counts."""


def fit_rbf(path: str) -> child.Numbers:
    """Fit with the kernel that sklearn-rvm has by default."""
    data = child.load(path)
    models = [RVM(kernel="rbf", gamma=1.0 / data.X.shape[1]) for _ in range(FITS)]
    seconds = [child.timed(model, data.X, data.y) for model in models]
    return {
        "warm": min(seconds[1:]),
        "accuracy": child.accuracy(models[0], data),
        "vectors": len(models[0].support_),
    }


if __name__ == "__main__":
    child.main({"fit_rbf": fit_rbf})
