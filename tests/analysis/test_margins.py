"""The hypothesis margin."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import custom_axes
import reference
from protolearn import GLVQ, PrototypeClassifier, hypothesis_margin


def test_is_the_formula(iris):
    X, y = iris
    names = np.array(["a", "b", "c"])
    model = GLVQ(prototypes_per_class=2, random_state=0).fit(X, names[y])
    expected = [
        reference.hypothesis_margin(x, label, model.prototypes_, model.prototype_labels_)
        for x, label in zip(X, names[y], strict=True)
    ]
    margin = hypothesis_margin(model, X, names[y])
    np.testing.assert_allclose(margin, expected, atol=1e-12)
    assert ((margin > 0) == (model.predict(X) == names[y])).all()


def test_pipeline(iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), GLVQ()).fit(3.0 * X + 7.0, y)
    inner = hypothesis_margin(pipe[-1], pipe[0].transform(3.0 * X + 7.0), y)
    np.testing.assert_array_equal(hypothesis_margin(pipe, 3.0 * X + 7.0, y), inner)


def test_unsquared_distance_has_no_root(iris):
    X, y = iris
    model = PrototypeClassifier(distance=custom_axes.City(), random_state=0).fit(X, y)
    D = model.distances(X)
    own = D[np.arange(150), y]
    rival = np.where(np.arange(3) == y[:, None], np.inf, D).min(axis=1)
    np.testing.assert_allclose(hypothesis_margin(model, X, y), (rival - own) / 2)


def test_errors(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    with pytest.raises(ValueError, match=r"y contains \[7\]"):
        hypothesis_margin(model, X[:1], [7])
    with pytest.raises(ValueError, match="X has 2 rows and y has 1 labels"):
        hypothesis_margin(model, X[:2], [0])
    with pytest.raises(TypeError, match="LogisticRegression is neither a nearest-prototype"):
        hypothesis_margin(LogisticRegression().fit(X, y), X, y)
    divergent = PrototypeClassifier(distance=custom_axes.LogCosh()).fit(X, y)
    with pytest.raises(ValueError, match="LogCosh is not a metric"):
        hypothesis_margin(divergent, X, y)
