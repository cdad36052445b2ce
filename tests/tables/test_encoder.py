"""The encoder as a transformer of scikit-learn, and its numbers."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn import GLVQ, counterfactual, datasets
from protolearn.tables import (
    TableEncoder,
    prototypes_table,
    table_pipeline,
)


@parametrize_with_checks([TableEncoder()])
def test_it_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [22.0, 38.0, np.nan, 35.0, 60.0],
            "port": ["S", "C", "S", "Q", "S"],
            "sex": ["m", "f", "f", "m", "m"],
            "alone": [True, False, True, True, False],
        }
    )


def test_numbers_are_those_of_imputer_and_scaler(frame):
    ours = TableEncoder().fit_transform(frame)[:, 0]
    theirs = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    np.testing.assert_allclose(ours, theirs.fit_transform(frame[["age"]])[:, 0], rtol=1e-14)


def test_entries_are_those_of_one_hot(frame):
    encoder = TableEncoder(category_distance=3.0).fit(frame)
    names = encoder.get_feature_names_out().tolist()
    assert names == ["age", "port=C", "port=Q", "port=S", "sex=m", "alone=True"]
    Z = encoder.transform(frame)
    theirs = OneHotEncoder(sparse_output=False).fit_transform(frame[["port"]])
    np.testing.assert_allclose(Z[:, 1:4], 3.0 * theirs / np.sqrt(2.0))
    np.testing.assert_array_equal(Z[:, 4], 3.0 * (frame["sex"] == "m"))
    np.testing.assert_array_equal(Z[:, 5], 3.0 * frame["alone"])


def test_any_two_categories_are_equally_far_apart():
    for n in (2, 3, 7):
        rows = np.array([[chr(97 + c)] for c in range(n)], dtype=object)
        Z = TableEncoder(category_distance=1.5).fit_transform(rows)
        apart = np.linalg.norm(Z[:, None] - Z, axis=2)
        np.testing.assert_allclose(apart[~np.eye(n, dtype=bool)], 1.5)


def test_clone_pickle_and_output(frame):
    encoder = TableEncoder(categorical=["age"], max_categories=9)
    assert clone(encoder).get_params() == encoder.get_params()
    encoder = TableEncoder().fit(frame)
    copy = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(copy.transform(frame), encoder.transform(frame))
    pd.testing.assert_frame_equal(
        copy.inverse_transform(copy.transform(frame)),
        encoder.inverse_transform(encoder.transform(frame)),
    )
    shifted = frame.set_axis([5, 6, 7, 7, 9])
    out = encoder.set_output(transform="pandas").transform(shifted)
    assert out.columns.tolist() == encoder.get_feature_names_out().tolist()
    assert out.index.tolist() == [5, 6, 7, 7, 9]
    assert encoder.inverse_transform(out).index.tolist() == [5, 6, 7, 7, 9]


def test_the_output_that_is_set_for_all(frame):
    X, y = frame.drop(columns="sex"), frame["sex"]
    plain = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    with config_context(transform_output="pandas"):
        model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
        assert isinstance(model[0].transform(X), pd.DataFrame)
        pd.testing.assert_frame_equal(prototypes_table(model), prototypes_table(plain))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = counterfactual(model, X)
    np.testing.assert_allclose(found.distance, counterfactual(plain, X).distance)


def test_rows_of_another_width(frame):
    with pytest.raises(ValueError, match="X has 2 columns, but transform gives 6"):
        TableEncoder().fit(frame).inverse_transform([[0.0, 1.0]])


def test_what_was_understood(frame):
    encoder = TableEncoder().fit(frame)
    age, port, sex, alone = encoder.columns_
    filled = frame["age"].fillna(36.5)
    assert (age.kind, age.median, age.n_missing) == ("number", 36.5, 1)
    assert age.mean == pytest.approx(filled.mean())
    assert age.sd == pytest.approx(filled.std(ddof=0))
    assert (age.low, age.high) == (22.0, 60.0)
    assert (port.kind, port.categories, port.counts) == ("category", ("C", "Q", "S"), (1, 1, 3))
    assert (sex.kind, alone.kind, alone.categories) == ("category", "boolean", (False, True))
    assert encoder.describe().splitlines() == [
        "age: numbers, mean 38.3, standard deviation 12.3; 1 missing, taken as the median 36.5",
        "port: 3 categories: C (1), Q (1), S (3)",
        "sex: 2 categories: f (2), m (3)",
        "alone: truth values: False (2), True (3)",
    ]


@pytest.mark.parametrize("name", ["iris", "wdbc"])
def test_built_in_tables(name):
    X, _ = datasets.load(name)
    frame = pd.DataFrame(X, columns=datasets.feature_names(name))
    encoder = TableEncoder().fit(frame)
    np.testing.assert_allclose(
        encoder.transform(frame), StandardScaler().fit_transform(X), atol=1e-12
    )
    back = encoder.inverse_transform(encoder.transform(frame))
    pd.testing.assert_frame_equal(back, frame, rtol=1e-12)


def test_arrays_go_back_to_arrays():
    X = np.array([[1, 2], [3, 4], [5, 5]])
    encoder = TableEncoder().fit(X)
    back = encoder.inverse_transform(encoder.transform(X))
    assert back.dtype == X.dtype
    np.testing.assert_array_equal(back, X)
    mixed = np.array([[1.5, "a"], [2.5, "b"], [3.5, "c"]], dtype=object)
    encoder = TableEncoder().fit(mixed)
    np.testing.assert_array_equal(encoder.inverse_transform(encoder.transform(mixed)), mixed)
    texts = np.array([["a", "x"], ["b", "y"]])
    assert TableEncoder().fit(texts).get_feature_names_out().tolist() == ["x0=b", "x1=y"]
    days = np.array([["2020-01-01"], ["2020-03-01"]], dtype="datetime64[D]")
    encoder = TableEncoder().fit(days)
    np.testing.assert_array_equal(encoder.inverse_transform(encoder.transform(days)), days)


def test_codes_of_categories():
    X = np.array([[1, 10.5], [2, 11.0], [3, np.nan], [1, 12.0]])
    for categorical in (["x0"], [0], "x0", 0):
        encoder = TableEncoder(categorical=categorical).fit(X)
        assert encoder.columns_[0].categories == (1, 2, 3)
    assert encoder.get_feature_names_out().tolist() == ["x0=1", "x0=2", "x0=3", "x1"]
    frame = pd.DataFrame({"code": [1, 2, 3, 1]})
    encoder = TableEncoder(categorical=["code"]).fit(frame)
    pd.testing.assert_frame_equal(encoder.inverse_transform(encoder.transform(frame)), frame)
    with_gap = pd.DataFrame({"code": [1.0, np.nan, 2.0]})  # as pandas reads integers with gaps
    np.testing.assert_allclose(
        encoder.transform(with_gap)[:, 0] * np.sqrt(2.0), [1.0, 1.0, 0.0], rtol=1e-15
    )


def test_given_categories_and_their_order():
    frame = pd.DataFrame({"size": ["m", "s", "m"], "n": [1.0, 2.0, 3.0]})
    encoder = TableEncoder(categories={"size": ["s", "m", "l"]}).fit(frame)
    assert encoder.columns_[0].categories == ("s", "m", "l")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = encoder.transform(pd.DataFrame({"size": ["l"], "n": [1.0]}))
    np.testing.assert_allclose(Z[0, :3], [0.0, 0.0, 1.0 / np.sqrt(2.0)])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"missing": "drop"}, "missing='drop'"),
        ({"unknown": "raise"}, "unknown='raise'"),
        ({"category_distance": 0.0}, "category_distance=0.0"),
        ({"max_categories": 1}, "max_categories=1"),
        ({"categorical": ["aeg"]}, "Did you mean 'age'"),
        ({"categories": {"aeg": ["a"]}}, "Did you mean 'age'"),
        ({"categories": ["a"]}, "must be a dict"),
        ({"categories": {"port": []}}, "list of different ones"),
        ({"categories": {"port": "SCQ"}}, "list of different ones"),
        ({"categories": {"port": ["S", "S"]}}, "list of different ones"),
    ],
)
def test_wrong_parameters(frame, wrong, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder(**wrong).fit(frame)
