"""What pictures and pages tell about, in the user's units."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from protolearn import GLVQ, AutoPrototypeClassifier, KernelGLVQ, counterfactual, explain
from protolearn.report.page.suspect_rows import reasons_of, turns_of
from protolearn.report.subject import Subject
from protolearn.tables import prototypes_table, table_pipeline


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def mixed(flowers):
    X, y = flowers
    colour = np.where(np.arange(150) % 3, "red", "blue")
    return X.assign(colour=colour), y


def test_scalers_are_undone(flowers):
    X, y = flowers
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    subject = Subject.of(model, X, y)
    rows, codes = subject.prototypes
    np.testing.assert_allclose(subject.undo_steps(rows), model[0].inverse_transform(rows))
    assert codes.tolist() == [0, 1, 2]
    assert subject.names == list(X.columns)
    assert subject.inner_names == list(X.columns)
    np.testing.assert_array_equal(subject.plain, X)


def test_a_table_keeps_its_words(mixed):
    X, y = mixed
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    subject = Subject.of(model, X, y)
    texts = subject.prototype_texts(subject.undo_steps(subject.prototypes[0]))
    for text, colour in zip(texts[4], prototypes_table(model)["colour"], strict=True):
        assert text.startswith(colour)
    assert [column[0] for column in subject.texts()] == ["5.1", "3.5", "1.4", "0.2", "blue"]
    assert subject.inner_names[4:] == ["colour=red"]


def test_what_a_search_has_found_is_told(flowers):
    X, y = flowers
    search = AutoPrototypeClassifier(
        families=["glvq", "fisher-prototypes"], max_fits=4, random_state=0
    )
    model = table_pipeline(search).fit(X, y)
    subject = Subject.of(model, X, y)
    assert subject.last is model[-1].best_estimator_[-1]
    np.testing.assert_array_equal(subject.predicted_codes, subject.codes_of(model.predict(X)))


def test_where_nothing_leads_back_the_last_step_is_told(mixed):
    X, y = mixed
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(columns, GLVQ(random_state=0)).fit(X, y)
    subject = Subject.of(model, X, y)
    assert subject.names == columns.get_feature_names_out().tolist()
    np.testing.assert_array_equal(subject.predicted_codes, subject.codes_of(model.predict(X)))


def test_steps_that_mix_columns_are_undone_but_not_one_by_one(flowers):
    X, y = flowers
    model = make_pipeline(StandardScaler(), PCA(2), GLVQ(random_state=0)).fit(X, y)
    subject = Subject.of(model, X, y)
    assert subject.names == list(X.columns)
    assert not subject.one_by_one
    expected = model[0].inverse_transform(model[1].inverse_transform(model[-1].prototypes_))
    np.testing.assert_allclose(subject.undo_steps(subject.prototypes[0]), expected)


def test_counterfactuals_are_those_of_the_library(flowers):
    X, y = flowers
    rows = np.array([50, 70, 120])
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    subject, some = Subject.of(model, X, y), X.iloc[rows]
    turns = turns_of(subject, model, explain(model, some, data=X))
    expected = counterfactual(model, X.iloc[rows], data=X)
    points = expected.points.to_numpy()
    for turn, point, label in zip(turns, points, expected.label, strict=True):
        assert turn.label == label
        np.testing.assert_array_equal(turn.plain, point)
        assert {change.column for change in turn.changes} <= set(X.columns)
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    told = explain(model, some, data=X)
    turns = turns_of(Subject.of(model, X, y), model, told)
    table = counterfactual(model, X.iloc[rows])
    assert [turn.changes for turn in turns] == list(table.changes)
    np.testing.assert_allclose([turn.plain for turn in turns], table.points)
    reasons = reasons_of(subject, told, 0)
    sizes = np.abs(told.contributions[0])
    assert [one.column for one in reasons] == [X.columns[j] for j in told.order(0)]
    np.testing.assert_allclose([abs(one.share) for one in reasons], -np.sort(-sizes / sizes.sum()))


def test_names_of_an_array(flowers):
    X, y = flowers
    model = GLVQ(random_state=0).fit(X.to_numpy(), y)
    subject = Subject.of(model, X.to_numpy(), y, list("abcd"))
    assert subject.names == list("abcd")
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        Subject.of(model, X.to_numpy(), y, ["a", "b"])
    with pytest.raises(ValueError, match="2 of them different"):
        Subject.of(model, X.to_numpy(), y, ["a", "b", "a", "b"])


def test_models_without_prototypes_are_told_too(flowers):
    X, y = flowers
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert Subject.of(forest, X, y).prototypes is None
    kernel = KernelGLVQ(random_state=0).fit(X.to_numpy(), y)
    assert Subject.of(kernel, X.to_numpy(), y).predicted_codes.shape == (150,)


def test_bad_input_says_what_to_give(flowers):
    X, y = flowers
    model = GLVQ(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="rose"):
        Subject.of(model, X, np.where(y == "setosa", "rose", y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Subject.of(model, X, y[:-1])
    with pytest.raises(TypeError, match="StandardScaler is not a fitted classifier"):
        Subject.of(StandardScaler().fit(X), X, y)
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="sparse matrix"):
        Subject.of(model, csr_array(X), y)


def test_spread_is_that_of_each_class(mixed):
    X, y = mixed
    X = X.copy()
    X.iloc[3, 0] = np.nan
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    first, *_, colour = Subject.of(model, X, y).spreads
    filled = X["sepal length (cm)"].fillna(X["sepal length (cm)"].median())
    expected = pd.Series(filled).groupby(y).quantile([0.05, 0.25, 0.5, 0.75, 0.95]).unstack()
    np.testing.assert_allclose(first.quantiles, expected)
    shares = pd.crosstab(y, X["colour"], normalize="index")
    np.testing.assert_allclose(colour.shares, shares)
