"""A fit that does not come to its end leaves the model exactly as it was."""

import gc
import inspect
import sys
import warnings
from copy import deepcopy
from operator import methodcaller

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import protolearn
from given_classifiers import CLASSIFIERS, UNFINISHED, apart, name_of, overlap
from protolearn import (
    GLVQ,
    GMLVQ,
    LVQ1,
    AutoPrototypeClassifier,
    Hopfield,
    RejectClassifier,
    compare,
)
from protolearn.tables import TableEncoder

HOME = protolearn.__file__.removesuffix("__init__.py")
ESTIMATORS = [*CLASSIFIERS, Hopfield(), TableEncoder()]
STREAMING = [model for model in CLASSIFIERS if hasattr(model, "partial_fit")]

pytestmark = [
    pytest.mark.filterwarnings(UNFINISHED),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def small(model):
    """Return an unfitted copy that fits in few steps."""
    few = {"max_iter": 3, "max_fits": 2, "n_shifts": 1}
    return clone(model).set_params(**{k: v for k, v in few.items() if k in model.get_params()})


def rows_for(model, names, labels, seed=0):
    """Return rows with so many named features, and labels."""
    X, y = apart(30, labels, seed)
    X = np.hstack([X, X[:, ::-1]])[:, : len(names)]
    return pd.DataFrame(np.where(X > 1.0, 1.0, -1.0) if is_hopfield(model) else X, None, names), y


def is_hopfield(model):
    return isinstance(model, Hopfield)


def data_for(model):
    """Return rows, and others that differ in everything."""
    first = rows_for(model, ["height", "weight", "age"], ("ash", "birch"))
    return first, rows_for(model, list("vwxyz"), ("elm", "fir", "oak"), seed=1)


def answer(model, X):
    return getattr(model, "predict" if hasattr(model, "predict") else "transform")(X)


class Injection:
    """Raises an error at the k-th event within protolearn: the call or the return of a function.

    Locks are left alone, and generators: Python prints an error at their removal, and goes on.
    """

    def __init__(self, place=None, error=KeyboardInterrupt):
        self.place, self.error, self.count, self.end = place, error, 0, 0

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(HOME):
            return
        is_generator = code.co_flags & inspect.CO_GENERATOR and code.co_name != "all_or_nothing"
        if "_threads" not in code.co_filename and not is_generator:
            self.count += 1
            if code.co_name == "all_or_nothing":
                if event == "call":
                    self.end = self.count  # after the last such call everything is stored
            elif self.place is not None and self.count >= self.place:
                raise self.error

    def run(self, call):
        gc.disable()  # an error while garbage is collected would be lost
        sys.setprofile(self)
        try:
            call()
        finally:
            sys.setprofile(None)
            gc.enable()


def places_within(learn, model):
    """Return some of the places where a call may fail, more of them near its end."""
    learn(deepcopy(model))  # what is compiled or imported at first is not counted
    counted, copy = Injection(), deepcopy(model)
    counted.run(lambda: learn(copy))
    counted.end = counted.end or counted.count  # without such a place: as if it were the last
    early, late = np.linspace(1, counted.end - 1, 12), np.arange(counted.end - 12, counted.end)
    return sorted({int(place) for place in (*early, *late) if place > 0})


def check_unchanged(learn, model, X):
    """Check that no failure changes the names, the objects or their contents."""
    before, content, answers = dict(vars(model)), joblib.hash(vars(model)), answer(model, X)
    for place in places_within(learn, model):
        with pytest.raises(KeyboardInterrupt):
            Injection(place).run(lambda: learn(model))
        assert list(vars(model)) == list(before)
        assert [k for k, value in vars(model).items() if value is not before[k]] == []
        assert joblib.hash(vars(model)) == content
    np.testing.assert_array_equal(answer(model, X), answers)


@pytest.mark.parametrize("model", ESTIMATORS, ids=name_of)
def test_a_fit_that_fails_anywhere_changes_nothing(model):
    (X, y), others = data_for(model)
    check_unchanged(lambda learner: learner.fit(*others), small(model).fit(X, y), X)


@pytest.mark.parametrize("model", STREAMING, ids=name_of)
def test_a_partial_fit_that_fails_anywhere_changes_nothing(model):
    (X, y), _ = data_for(model)
    for begun in (small(model).fit(X, y), small(model).partial_fit(X, y, classes=np.unique(y))):
        check_unchanged(lambda learner: learner.partial_fit(X[::-1], y[::-1]), begun, X)


@pytest.mark.parametrize("model", ESTIMATORS, ids=name_of)
def test_a_first_fit_that_fails_stores_nothing(model):
    (X, y), _ = data_for(model)
    unfitted = small(model)
    before = dict(vars(unfitted))
    last = places_within(lambda learner: learner.fit(X, y), unfitted)[-1]
    with pytest.raises(KeyboardInterrupt):
        Injection(last).run(lambda: unfitted.fit(X, y))
    assert vars(unfitted) == before
    with pytest.raises(AttributeError):  # NotFittedError is one
        answer(unfitted, X)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_bad_labels_of_other_rows_change_nothing(model):
    (X, y), (other_X, _) = data_for(model)
    fitted = small(model).fit(X, y)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="class"):
        fitted.fit(other_X, ["elm"] * len(other_X))
    assert vars(fitted) == before
    assert fitted.feature_names_in_.tolist() == ["height", "weight", "age"]


@pytest.mark.parametrize("error", [StopIteration, MemoryError, KeyboardInterrupt, GeneratorExit])
@pytest.mark.parametrize(
    "model",
    [
        GLVQ(max_iter=5, random_state=0),
        GMLVQ(max_iter=5, solver="sgd", random_state=0),
        GLVQ(max_iter=5, early_stopping=True, random_state=0),
        LVQ1(max_iter=5, random_state=0),
        AutoPrototypeClassifier(max_fits=2, families=["fixed"], random_state=0),
    ],
    ids=name_of,
)
def test_an_error_of_a_callback_reaches_the_caller(model, error):
    """Also one that ends iterations."""
    X, y = overlap()
    fitted = clone(model).fit(X, y)
    before = dict(vars(fitted))

    def callback(state):
        raise error("by the callback")

    fitted.callback = before["callback"] = callback
    shown = (RuntimeError, "Return True") if error is StopIteration else (error, "by the callback")
    with pytest.raises(shown[0], match=shown[1]):
        fitted.fit(X[:, :2], y)
    assert vars(fitted) == before
    fitted.predict(X)


def test_stop_iteration_ends_no_iteration_of_the_caller():
    X, y = overlap()

    def callback(state):
        raise StopIteration

    models = [GLVQ(max_iter=5, callback=callback), LVQ1(max_iter=5, callback=callback)]
    with pytest.raises(RuntimeError, match="Return True to stop the fit"):
        list(map(methodcaller("fit", X, y), models))
    with pytest.raises(RuntimeError, match="Return True to stop the fit"):
        list(map(methodcaller("partial_fit", X, y, classes=np.unique(y)), models))
    with pytest.raises(RuntimeError, match="Return True to stop the fit"):
        compare(models, {"rows": (X, y)}, cv=2)


def test_a_warning_that_is_an_error_changes_nothing():
    X, y = overlap()
    fitted = GLVQ(max_iter=200).fit(X, y).set_params(max_iter=1)
    before = dict(vars(fitted))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Warning, match="max_iter"):
            fitted.fit(X[:, :2], y)
    assert vars(fitted) == before


def test_the_model_inside_is_a_copy():
    (X, y), (other_X, other_y) = data_for(None)
    inside = GLVQ(max_iter=3)
    fitted = RejectClassifier(inside, threshold=0.0).fit(X, y)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="threshold"):
        fitted.set_params(threshold="none").fit(other_X, other_y)
    assert vars(fitted) == before | {"threshold": "none"}
    assert not hasattr(inside, "rule_")
