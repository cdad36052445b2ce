"""sklearn-rvm, run by its own interpreter."""

from __future__ import annotations

from sklearn_rvm import EMRVC

from . import child


def fit_rbf(path: str) -> child.Numbers:
    """Fit once, all by default: a Gaussian kernel, gamma one over the number of features."""
    data = child.load(path)
    model = EMRVC(kernel="rbf", gamma="auto")
    seconds = child.timed(model, data.X, data.y)
    return {
        "warm": seconds,
        "accuracy": child.accuracy(model, data),
        "vectors": len(model.relevance_vectors_),
    }


if __name__ == "__main__":
    child.main({"fit_rbf": fit_rbf})
