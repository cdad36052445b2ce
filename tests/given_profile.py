"""What the quick run of the tests leaves to the thorough one."""

import os

import pytest
from sklearn.base import clone

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"

long_test = pytest.mark.skipif(not THOROUGH, reason="a long test, of the thorough run alone")

# Each fits many forms of the same rows, and looks at the shape of the answers alone.
CHECKS_OF_FORMS = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")


def in_all(*quick, thorough=()):
    """Give the cases of every run, and after them those that only the thorough run takes."""
    return [*quick, *thorough] if THOROUGH else [*quick]


def run_check(estimator, check):
    """Run a check of scikit-learn; whether a form of rows is taken shows after a few steps."""
    if check.func.__name__ in CHECKS_OF_FORMS and not THOROUGH:
        estimator = clone(estimator).set_params(max_iter=3)
    check(estimator)
