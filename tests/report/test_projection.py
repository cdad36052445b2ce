"""The plane of the prototypes."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ
from protolearn.report import ProjectionDisplay


def test_three_prototypes_lose_nothing(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=20)
    D = ((display.points[:, None] - display.prototypes) ** 2).sum(axis=2)
    assert (D.argmin(axis=1) == model.predict(X)).all()
    assert display.wrong.sum() == (model.predict(X) != y).sum()
    across, up, regions = display.grid
    nodes = np.stack(np.meshgrid(across, up), axis=2)
    nearest = ((nodes[:, :, None] - display.prototypes) ** 2).sum(axis=3).argmin(axis=2)
    assert (nearest == regions).all()
    assert display.figure_ is display.ax_.figure
    plt.close("all")


@pytest.mark.parametrize(("classes", "d"), [(2, 4), (2, 1), (3, 2)])
def test_few_prototypes_or_features(iris, classes, d):
    X, y = iris
    keep = y < classes
    pipe = make_pipeline(StandardScaler(), GLVQ()).fit(X[keep, :d], y[keep])
    display = ProjectionDisplay.from_estimator(pipe, X[keep, :d], y[keep], resolution=10)
    assert np.isfinite(display.points).all()
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[:classes] == [str(c) for c in range(classes)]
    plt.close("all")


def test_given_axes(iris):
    X, y = iris
    _, ax = plt.subplots()
    display = ProjectionDisplay.from_estimator(GLVQ().fit(X, y), X, y, ax=ax, resolution=5)
    assert display.ax_ is ax
    plt.close("all")


def test_unknown_label(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"y contains \[9\]"):
        ProjectionDisplay.from_estimator(GLVQ().fit(X, y), X[:1], [9])


def test_named_features_bring_no_warning(iris, recwarn):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    ProjectionDisplay.from_estimator(GLVQ().fit(frame, y), frame, y, resolution=5)
    assert not [w for w in recwarn if "feature names" in str(w.message)]
    plt.close("all")
