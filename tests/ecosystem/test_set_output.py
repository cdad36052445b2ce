"""Every transformer gives frames where ``set_output`` asks for them."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_classifiers import NAMES, UNFINISHED, apart, name_of
from protolearn import GLVQ, GMLVQ, GRLVQ, LVQ1, MRSLVQ, Hopfield, PrototypeClassifier
from protolearn.distances import Matrix
from protolearn.tables import TableEncoder

pytestmark = pytest.mark.filterwarnings(UNFINISHED)

FEW = {"max_iter": 20, "random_state": 0}
TRANSFORMERS = [
    GRLVQ(**FEW),
    GMLVQ(**FEW),
    GMLVQ(rank=2, **FEW),
    MRSLVQ(**FEW),
    LVQ1(distance="matrix", **FEW),
    PrototypeClassifier(distance=Matrix(rank=2), **FEW),
    TableEncoder(),
]


def frame_types():
    """Give the types of frames by the name that scikit-learn has for them."""
    pl = pytest.importorskip("polars", reason="needs polars")
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("model", TRANSFORMERS, ids=name_of)
def test_a_frame_with_the_names_of_the_columns(model, library):
    X, y = apart()
    plain = clone(model).fit(X, y).transform(X)
    named = pd.DataFrame(X, columns=NAMES, index=np.arange(len(X)) + 100)
    model = clone(model).set_output(transform=library)
    got = model.fit(named, y).transform(named)
    assert type(got) is frame_types()[library]
    assert list(got.columns) == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(np.asarray(got), plain)
    np.testing.assert_array_equal(np.asarray(model.fit_transform(named, y)), plain)
    if library == "pandas":
        assert got.index.equals(named.index)
    assert isinstance(model.set_output(transform="default").transform(named), np.ndarray)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_patterns_of_a_memory(library):
    frame = pd.DataFrame(np.sign(apart()[0][:2] - 3.0), columns=NAMES)
    got = Hopfield().set_output(transform=library).fit(frame).transform(frame)
    assert type(got) is frame_types()[library]
    assert list(got.columns) == NAMES


def test_the_setting_for_all_estimators():
    X, y = apart()
    with config_context(transform_output="polars"):
        model = make_pipeline(StandardScaler(), GMLVQ(rank=2, **FEW), KNeighborsClassifier())
        model.fit(pd.DataFrame(X, columns=NAMES), y)
        assert model[-1].feature_names_in_.tolist() == ["gmlvq0", "gmlvq1"]
        assert (model.predict(pd.DataFrame(X, columns=NAMES)) == y).all()


def test_columns_of_a_column_transformer():
    X, y = apart()
    frame = pd.DataFrame(X, columns=NAMES)
    parts = [("map", GMLVQ(rank=1, **FEW), NAMES[:2]), ("same", "passthrough", NAMES[2:])]
    model = ColumnTransformer(parts).set_output(transform="pandas")
    got = model.fit_transform(frame, y)
    assert list(got.columns) == ["map__gmlvq0", "same__age"]
    np.testing.assert_array_equal(model.transform(frame), got)


def test_a_model_without_a_map_is_no_transformer():
    """So that no pipeline takes it for one."""
    for model in (GLVQ(), PrototypeClassifier(), LVQ1()):
        assert not hasattr(model, "transform")
        assert not hasattr(model, "get_feature_names_out")
        assert not hasattr(model, "set_output")


@pytest.mark.parametrize("model", TRANSFORMERS, ids=name_of)
def test_the_setting_is_kept_by_a_clone_and_given_by_a_pipeline(model):
    X, y = apart()
    assert isinstance(
        clone(clone(model).set_output(transform="pandas")).fit(X, y).transform(X), pd.DataFrame
    )
    pipe = make_pipeline(StandardScaler(), clone(model)).set_output(transform="pandas")
    assert isinstance(pipe.fit(X, y).transform(X), pd.DataFrame)


def test_a_classifier_at_the_end_of_a_pipeline_of_frames():
    X, y = apart()
    pipe = make_pipeline(StandardScaler(), GLVQ(**FEW)).set_output(transform="pandas")
    assert pipe.fit(pd.DataFrame(X, columns=NAMES), y)[-1].feature_names_in_.tolist() == NAMES
