"""Clones, pickles and worker processes give the same model."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from given_classifiers import (
    CLASSIFIERS,
    REPRESENTATIVES,
    SOME,
    UNFINISHED,
    apart,
    name_of,
    overlap,
)
from given_profile import long_test

pytestmark = pytest.mark.filterwarnings(UNFINISHED)


def fitted_names(model):
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_a_clone_has_the_parameters_and_nothing_learned(model):
    fitted = clone(model).fit(*apart())
    again = clone(fitted)
    assert str(again.get_params()) == str(model.get_params())
    assert not fitted_names(again)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_a_pickle_answers_the_same(model):
    X, y = apart()
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("model", SOME, ids=name_of)
def test_joblib_maps_the_arrays_of_a_model(model, tmp_path):
    """Arrays that are read from disk in place are read-only."""
    X, y = apart()
    fitted = clone(model).fit(X, y)
    joblib.dump(fitted, tmp_path / "model")
    again = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


def answers_after_fit(model, X, y):
    return model.fit(X, y).predict(X)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=long_test)])
def test_fits_in_parallel(backend):
    """Rows above ``max_nbytes`` reach loky as read-only memory maps."""
    X, y = overlap()
    here = [answers_after_fit(clone(model), X, y) for model in REPRESENTATIVES]
    there = joblib.Parallel(2, backend=backend, max_nbytes=100)(
        joblib.delayed(answers_after_fit)(clone(model), X, y) for model in REPRESENTATIVES
    )
    for model, expected, got in zip(REPRESENTATIVES, here, there, strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=name_of(model))


@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_rows_that_cannot_be_written_to(model):
    X, y = overlap()
    expected = clone(model).fit(X, y).predict(X)
    X.flags.writeable = y.flags.writeable = False
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), expected)
