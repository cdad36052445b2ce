"""From a frame to a pipeline, and from the prototypes of its model back."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, KernelGLVQ, MeanOfClass, PrototypeSVM, datasets
from protolearn.tables import prototypes_table, split_target, table_pipeline


@pytest.fixture
def passengers():
    """Make something like the passengers of the Titanic."""
    rng = np.random.RandomState(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": np.where(rng.rand(n) < 0.2, np.nan, rng.randint(1, 80, n)),
            "fare": rng.lognormal(3, 1, n),
            "siblings": rng.randint(0, 4, n),
            "sex": rng.choice(["male", "female"], n),
            "port": rng.choice(["S", "C", "Q", None], n),
            "alone": rng.rand(n) < 0.5,
            "booked": pd.Timestamp("1912-01-01") + pd.to_timedelta(rng.randint(0, 99, n), "D"),
        }
    )
    frame["fate"] = np.where((frame["sex"] == "female") | (frame["age"] < 12), "lived", "died")
    return frame


def as_polars(frame):
    pl = pytest.importorskip("polars")
    lists = {c: [None if pd.isna(v) else v for v in frame[c].tolist()] for c in frame}
    return pl.DataFrame(lists).with_columns(pl.col("booked").cast(pl.Date))


def test_split_target(passengers):
    X, y = split_target(passengers, "fate")
    assert "fate" not in X
    assert "fate" in passengers
    assert y.tolist() == passengers["fate"].tolist()
    assert split_target(passengers, "alone")[1].dtype == bool
    assert split_target(passengers, "siblings")[1].dtype == passengers["siblings"].dtype
    with pytest.raises(ValueError, match=r"no column 'fat'\. Did you mean 'fate'"):
        split_target(passengers, "fat")
    with pytest.raises(ValueError, match=f"no label in {passengers['age'].isna().sum()} of 120"):
        split_target(passengers, "age")
    with pytest.raises(ValueError, match="texts and other values"):
        split_target(passengers.assign(mixed=["a", 1] * 60), "mixed")
    with pytest.raises(TypeError, match="expected a DataFrame"):
        split_target(np.ones((2, 2)), 0)
    with pytest.raises(ValueError, match="nothing to learn from"):
        split_target(passengers[["fate"]], "fate")


def test_split_target_of_polars(passengers):
    frame = as_polars(passengers)
    X, y = split_target(frame, "fate")
    assert X.columns == frame.columns[:-1]
    assert y.tolist() == frame["fate"].to_list()
    with pytest.raises(ValueError, match="Did you mean 'fate'"):
        split_target(frame, "fates")
    with pytest.raises(ValueError, match="no label in"):
        split_target(frame, "port")


def test_a_real_looking_table(passengers):
    X, y = split_target(passengers, "fate")
    model = table_pipeline(GLVQ(random_state=0), X)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    model.fit(X, y)
    other = as_polars(passengers)
    same = clone(model).fit(other.drop("fate"), y)
    assert same.predict(other).tolist() == model.predict(passengers).tolist()
    np.testing.assert_allclose(model[-1].prototypes_, same[-1].prototypes_, atol=1e-6)


def test_a_frame_makes_all_categories_known():
    frame = pd.DataFrame({"n": np.arange(12.0), "t": ["a"] * 6 + ["b"] * 5 + ["rare"]})
    y = np.arange(12) % 2
    with pytest.warns(UserWarning, match="'rare' in column 't'"):
        cross_val_score(table_pipeline(GLVQ(random_state=0)), frame, y, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_score(table_pipeline(GLVQ(random_state=0), frame), frame, y, cv=3)
    with pytest.raises(ValueError, match="column 't' has 12"):
        table_pipeline(GLVQ(), frame.assign(t=[f"no {i}" for i in range(12)]), max_categories=2)
    assert table_pipeline(GLVQ(), frame[["n"]])["table"].categories is None


def test_prototypes_in_units_equal_hand_computation(passengers):
    """Means of classes are means in any units, and shares of categories are frequencies."""
    X, y = split_target(passengers.drop(columns=["age", "port"]), "fate")
    model = table_pipeline(MeanOfClass()).fit(X, y)
    table = prototypes_table(model)
    assert table.index.name == "label"
    assert table.index.tolist() == ["died", "lived"]
    assert table.columns.tolist() == X.columns.tolist()
    by_class = X.groupby(y)
    for name in ("fare", "siblings"):
        np.testing.assert_allclose(table[name], by_class[name].mean())
    for name in ("sex", "alone"):
        assert table[name].tolist() == [part[name].mode()[0] for _, part in by_class]
    means = by_class["booked"].mean().dt.round("D")
    assert table["booked"].tolist() == means.tolist()
    shares = prototypes_table(model, shares=True)
    assert shares["sex=female"].tolist() == pytest.approx(
        [(part["sex"] == "female").mean() for _, part in by_class]
    )
    np.testing.assert_allclose(shares["sex=female"] + shares["sex=male"], 1.0)


def test_prototypes_of_polars(passengers):
    pl = pytest.importorskip("polars")
    frame = as_polars(passengers)
    X, y = split_target(frame, "fate")
    model = table_pipeline(GLVQ(prototypes_per_class=2, random_state=0)).fit(X, y)
    table = prototypes_table(model)
    assert isinstance(table, pl.DataFrame)
    assert table.columns == ["label", *X.columns]
    assert table["label"].to_list() == ["died", "died", "lived", "lived"]
    assert table.schema["booked"] == pl.Date
    assert table.schema["alone"] == pl.Boolean
    assert set(table["port"].to_list()) <= {"S", "C", "Q", None}
    shares = prototypes_table(model, shares=True)
    assert {"port=S", "port=missing", "alone=True"} <= set(shares.columns)
    renamed = X.rename({"port": "label"})
    assert prototypes_table(clone(model).fit(renamed, y)).columns[0] == "prototype_label"


def test_shares_of_several_categories():
    frame = pd.DataFrame({"t": ["a", "b", "c", "a", "a", "b"]})
    y = [0, 0, 0, 1, 1, 1]
    model = table_pipeline(MeanOfClass(), category_distance=2.5).fit(frame, y)
    shares = prototypes_table(model, shares=True)
    np.testing.assert_allclose(shares, [[1 / 3, 1 / 3, 1 / 3], [2 / 3, 1 / 3, 0.0]], atol=1e-12)
    assert shares.columns.tolist() == ["t=a", "t=b", "t=c"]
    table = prototypes_table(model)["t"]
    assert table.isna().tolist() == [True, False]  # no more of one than of another
    assert table.iloc[1] == "a"


def iris_frame():
    X, y = datasets.load("iris")
    return pd.DataFrame(X, columns=datasets.feature_names("iris")), y


def test_steps_in_between_and_searches_are_undone():
    frame, y = iris_frame()
    inner = make_pipeline(StandardScaler(with_std=False), PCA(), GLVQ(random_state=0))
    search = GridSearchCV(inner, {"glvq__prototypes_per_class": [1]}, cv=2)
    for model in (
        table_pipeline(inner),
        table_pipeline(search),
        GridSearchCV(table_pipeline(inner), {"table__unknown": ["ignore"]}, cv=2),
    ):
        table = prototypes_table(model.fit(frame, y))
        last = getattr(model, "best_estimator_", model)[-1]
        last = getattr(last, "best_estimator_", last)
        Z = last[0].inverse_transform(last[1].inverse_transform(last[-1].prototypes_))
        expected = StandardScaler().fit(frame.to_numpy()).inverse_transform(Z)
        np.testing.assert_allclose(table.to_numpy(), expected, atol=1e-10)
        assert table.columns.tolist() == frame.columns.tolist()


def test_models_with_all_kinds_of_prototypes():
    frame, y = iris_frame()
    scaler = StandardScaler().fit(frame.to_numpy())
    model = table_pipeline(MeanOfClass()).fit(frame, y)
    table = prototypes_table(model)
    assert table.index.tolist() == model.classes_.tolist()
    np.testing.assert_allclose(table, frame.groupby(y).mean(), atol=1e-10)
    kernel = table_pipeline(KernelGLVQ(random_state=0)).fit(frame, y)
    table = prototypes_table(kernel)
    rows = {tuple(row) for row in frame.round(6).to_numpy()}
    assert all(tuple(row) in rows for row in table.round(6).to_numpy())  # exemplars are rows
    assert table.index.tolist() == kernel[-1].prototype_labels_.tolist()
    svm = table_pipeline(PrototypeSVM()).fit(frame, y)
    table = prototypes_table(svm)
    np.testing.assert_allclose(table, scaler.inverse_transform(svm[-1].prototypes_), atol=1e-10)


def test_prototypes_of_arrays_are_a_pandas_frame():
    X, y = datasets.load("iris")
    table = prototypes_table(table_pipeline(MeanOfClass()).fit(X, y))
    assert table.columns.tolist() == ["x0", "x1", "x2", "x3"]
    np.testing.assert_allclose(table.loc["setosa"], X[y == "setosa"].mean(axis=0))
    texts = np.array([["a", "long"], ["a", "long"], ["b", "x"]])
    table = prototypes_table(table_pipeline(MeanOfClass()).fit(texts, [0, 0, 1]))
    assert table.to_numpy().tolist() == [["a", "long"], ["b", "x"]]


class SelectOnly(TransformerMixin, BaseEstimator):
    """A step that cannot be undone."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, :2]


def test_no_way_back():
    frame, y = iris_frame()
    with pytest.raises(TypeError, match="LogisticRegression has no prototypes"):
        prototypes_table(table_pipeline(LogisticRegression()).fit(frame, y))
    with pytest.raises(TypeError, match="does not begin with a TableEncoder, but with GLVQ"):
        prototypes_table(GLVQ().fit(*datasets.load("iris")))
    with pytest.raises(ValueError, match="not fitted"):
        prototypes_table(table_pipeline(GLVQ()))
    one_way = make_pipeline(SelectOnly(), MeanOfClass())
    with pytest.raises(ValueError, match=r"Step 'selectonly' .* has no inverse_transform"):
        prototypes_table(table_pipeline(one_way).fit(frame, y))
    alone = table_pipeline(GLVQ()).fit(frame, y)[:1]
    with pytest.raises(TypeError, match="expected a pipeline with a model"):
        prototypes_table(alone)
