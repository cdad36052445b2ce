"""The margins during training."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LVQ1,
    MCE,
    RSLVQ,
    KernelGLVQ,
    PrototypeClassifier,
    hypothesis_margin,
)
from protolearn.analysis import MarginHistory
from protolearn.distances import Minkowski, Tangent

MODELS = {
    "lbfgs": MCE(solver="lbfgs", prototypes_per_class=2),
    "sgd": GLVQ(solver="sgd", max_iter=4),
    "adam": GLVQ(solver="adam", max_iter=4),
    "rule": LVQ1(max_iter=3),
    "soft": RSLVQ(solver="sgd", max_iter=3),
    "matrix": GMLVQ(solver="lbfgs"),
    "local": LGMLVQ(solver="sgd", max_iter=3),
    "fixed": PrototypeClassifier(distance="mahalanobis", solver="lbfgs"),
    "tangent": PrototypeClassifier(
        distance=Tangent(learned=True, n_tangents=2), solver="sgd", max_iter=3
    ),
    "unsquared": PrototypeClassifier(distance=Minkowski(p=3.0), solver="sgd", max_iter=3),
}


def fitted_margin(model, X, y):
    margin = hypothesis_margin(model, X, y)
    return margin.mean(), np.mean(margin < 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_each_entry_is_the_margin_of_a_model_stopped_there(iris, name):
    X, y = iris
    X, labels = X[:120], np.array(["b", "c", "a"])[y[:120]]
    held = iris[0][::7], np.array(["b", "c", "a"])[y[::7]]
    history = MarginHistory(*held)
    model = clone(MODELS[name]).set_params(random_state=0, callback=history)
    model.fit(X, labels)
    last = history.mean_margin[-1], history.error[-1]
    np.testing.assert_allclose(last, fitted_margin(model, *held), rtol=1e-9)
    assert history.iterations == list(range(1, model.n_iter_ + 1))
    assert len(history.mean_margin) == len(history.error) == model.n_iter_

    def stop_at_two(state):
        return state.iteration == 2

    model.set_params(callback=stop_at_two).fit(X, labels)
    at_two = history.mean_margin[1], history.error[1]
    np.testing.assert_allclose(at_two, fitted_margin(model, *held), rtol=1e-9)


def test_a_new_fit_is_a_new_record_and_a_stream_goes_on(iris):
    X, y = iris
    history = MarginHistory(X, y)
    model = GLVQ(solver="sgd", max_iter=3, callback=history, random_state=0).fit(X, y)
    first = list(history.mean_margin)
    model.fit(X, y)
    assert (history.iterations, history.mean_margin) == ([1, 2, 3], first)
    model.partial_fit(X, y)
    assert history.iterations == [1, 2, 3, 4]
    np.testing.assert_allclose(history.mean_margin[-1], fitted_margin(model, X, y)[0])
    stream = GLVQ(callback=history).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    assert history.iterations == [1, 2]
    np.testing.assert_allclose(history.mean_margin[-1], fitted_margin(stream, X, y)[0])


def test_never_ends_the_fit_and_changes_nothing(iris):
    X, y = iris
    plain = GLVQ(random_state=0).fit(X, y)
    watched = GLVQ(random_state=0, callback=MarginHistory(X, y)).fit(X, y)
    np.testing.assert_array_equal(watched.prototypes_, plain.prototypes_)


@pytest.mark.parametrize("model", [GLVQ(), GRLVQ()], ids=["GLVQ", "GRLVQ"])
@pytest.mark.parametrize("trained", ["dense", "sparse", "missing"])
@pytest.mark.parametrize("watched", ["dense", "sparse", "missing"])
def test_sparse_and_missing_rows(iris, model, trained, watched):
    X, y = iris
    holes = X.copy()
    holes[::10, 1] = np.nan
    forms = {"dense": X, "sparse": csr_array(X), "missing": holes}
    history = MarginHistory(forms[watched], y)
    model = clone(model).set_params(solver="lbfgs", max_iter=200, random_state=0)
    model.set_params(callback=history).fit(forms[trained], y)
    expected = fitted_margin(model, forms[watched], y)
    np.testing.assert_allclose((history.mean_margin[-1], history.error[-1]), expected, rtol=1e-7)


def test_early_stopping_and_verbose_pass_it_on(iris, capsys):
    X, y = iris
    history = MarginHistory(X, y)
    model = GLVQ(callback=history, early_stopping=True, verbose=1, random_state=0).fit(X, y)
    assert len(history.iterations) == len(model.validation_curve_)
    assert capsys.readouterr().out


def test_pipeline_takes_rows_of_the_last_step(iris):
    X, y = iris
    raw = 3.0 * X + 7.0
    scaled = StandardScaler().fit_transform(raw)
    history = MarginHistory(scaled, y)
    pipe = make_pipeline(StandardScaler(), GLVQ(callback=history, random_state=0)).fit(raw, y)
    np.testing.assert_allclose(history.mean_margin[-1], hypothesis_margin(pipe, raw, y).mean())


def test_clones_have_records_of_their_own(iris):
    X, y = iris
    history = MarginHistory(X, y)
    search = GridSearchCV(GLVQ(callback=history, random_state=0), {"beta": [5.0, 15.0]}, cv=2)
    search.fit(X, y)
    assert history.iterations == []
    best = search.best_estimator_
    assert len(best.callback.iterations) == best.n_iter_
    assert repr(history) == "<MarginHistory: 150 rows, 0 iterations>"


def test_errors(iris):
    X, y = iris
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MarginHistory(X, y[:3])
    with pytest.raises(ValueError, match="infinity"):
        MarginHistory(X + np.inf, y)
    with pytest.raises(ValueError, match="Row 0 of X has only missing values"):
        MarginHistory(np.full((2, 4), np.nan), [0, 1])
    with pytest.raises(ValueError, match="has 2 classes, and the model has prototypes of 3"):
        GLVQ(callback=MarginHistory(X[:100], y[:100])).fit(X, y)
    with pytest.raises(ValueError, match="has 3 classes, and the model has prototypes of 2"):
        GLVQ(callback=MarginHistory(X, y)).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="have 2 features, the prototypes 4"):
        GLVQ(callback=MarginHistory(X[:, :2], y)).fit(X, y)
    with pytest.raises(ValueError, match="cannot follow KernelGLVQ"):
        KernelGLVQ(kernel="linear", max_support=None, callback=MarginHistory(X, y)).fit(X, y)
    with pytest.raises(ValueError, match="KullbackLeibler is not a metric"):
        PrototypeClassifier(distance="kl", callback=MarginHistory(X**2, y)).fit(X**2, y)
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="Mahalanobis does not take missing values"):
        PrototypeClassifier(distance="mahalanobis", callback=MarginHistory(holes, y)).fit(X, y)
