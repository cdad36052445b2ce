"""Shared fixtures, and how many cases hypothesis generates."""

import os

# One BLAS thread for each process, also for those that tests start: pytest-xdist gives every core
# a process, and on small matrices the threads of several only wait. Tests of threads ask for more.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

os.environ.setdefault("MPLBACKEND", "Agg")

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=25, derandomize=True, **COMMON)
settings.register_profile("thorough", max_examples=1500, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def iris():
    """Iris with z-scored features."""
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="session")
def distinct_iris(iris):
    """Iris without the one row that is a copy of another: its folds are those of scikit-learn."""
    X, y = iris
    _, first = np.unique(X, axis=0, return_index=True)
    return X[np.sort(first)], y[np.sort(first)]


@pytest.fixture
def rng():
    """Give a seeded generator."""
    return np.random.RandomState(0)
