"""Data of the tests of ensembles."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from protolearn.datasets import make_striated


@pytest.fixture(scope="session")
def flowers():
    """Iris with the names of the species as labels."""
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="session")
def stripes():
    """Four stripes of two classes."""
    return make_striated(100, n_stripes=4, random_state=0)
