"""Data frames of pandas and polars are taken as scikit-learn takes them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from given_classifiers import CLASSIFIERS, NAMES, SOME, UNFINISHED, apart, name_of

pytestmark = pytest.mark.filterwarnings(UNFINISHED)


def pandas_frame(X, names=NAMES):
    return pd.DataFrame(X, columns=names)


def polars_frame(X, names=NAMES):
    pl = pytest.importorskip("polars", reason="needs polars")
    return pl.DataFrame(X, schema=names)


# polars for one of each kind: scikit-learn makes the same array of both.
CASES = [(model, pandas_frame) for model in CLASSIFIERS] + [(model, polars_frame) for model in SOME]
every_frame = pytest.mark.parametrize(
    ("model", "frame"), CASES, ids=[f"{name_of(model)}-{frame.__name__}" for model, frame in CASES]
)


def answers(model, X):
    """Give all that a classifier answers about rows."""
    methods = "predict", "decision_function", "predict_proba"
    return {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}


@every_frame
def test_a_frame_is_its_array_with_names(model, frame):
    X, y = apart()
    plain, named = clone(model).fit(X, y), clone(model).fit(frame(X), y)
    assert named.feature_names_in_.tolist() == NAMES
    assert named.n_features_in_ == len(NAMES)
    assert not hasattr(plain, "feature_names_in_")
    got = answers(named, frame(X))
    for method, expected in answers(plain, X).items():
        if method == "predict":
            np.testing.assert_array_equal(got[method], expected)
        else:  # columns of a frame lie apart in memory, and sums over them round otherwise
            np.testing.assert_allclose(got[method], expected, rtol=1e-10, err_msg=method)


@every_frame
def test_other_columns_are_an_error_of_scikit_learn(model, frame):
    X, y = apart()
    model = clone(model).fit(frame(X), y)
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        model.predict(frame(X, NAMES[::-1]))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- colour"):
        model.predict(frame(X, ["colour", *NAMES[1:]]))
    with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- age"):
        model.predict(frame(X[:, :2], NAMES[:2]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("model", SOME, ids=name_of)
def test_names_that_were_not_there_are_a_warning(model):
    X, y = apart()
    with pytest.warns(UserWarning, match="has feature names, but .* was fitted without"):
        clone(model).fit(X, y).predict(pandas_frame(X))


@pytest.mark.parametrize("model", SOME, ids=name_of)
def test_labels_may_be_a_column(model):
    X, y = apart()
    expected = clone(model).fit(X, y).predict(X)
    pl = pytest.importorskip("polars", reason="needs polars")
    for labels in (pd.Series(y), pd.Series(y, dtype="category"), pl.Series(y)):
        got = clone(model).fit(X, labels)
        assert got.classes_.tolist() == ["ash", "birch"]
        np.testing.assert_array_equal(got.predict(X), expected)
