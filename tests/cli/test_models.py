"""Models by name: which there are, how they may be written, what a wrong name is told."""

import pandas as pd
import pytest
from sklearn.base import clone

import protolearn
from given_classifiers import apart
from given_pets import write
from given_profile import in_all
from protolearn.cli import model_names
from protolearn.cli.failure import Failure
from protolearn.cli.model_names import all_names, model_named, official_name, print_models
from protolearn.selection import FAMILIES


@pytest.mark.parametrize(
    "name", ["SoftMarginSVM", "soft-margin-svm", "soft_margin_svm", "SOFTMARGINSVM"]
)
def test_how_a_name_may_be_written(name):
    assert official_name(name) == "soft-margin-svm"
    assert type(model_named(name, 0)) is protolearn.SoftMarginSVM


def test_every_named_class_of_the_library_is_known():
    found = {type(model_named(name, 0)).__name__ for name in all_names()}
    assert found >= {"GLVQ", "GMLVQ", "LVQ21", "KernelGLVQ", "MeanOfClass", "RVM", "AdaTron"}
    # One needs a model, one is made by a function, one stores patterns.
    assert found.isdisjoint({"RejectClassifier", "LinearPrototypes", "Hopfield"})


def test_names_are_different_and_lead_back_to_themselves():
    assert len(set(all_names())) == len(all_names())
    assert [official_name(name) for name in all_names()] == all_names()


@pytest.mark.parametrize("name", sorted(set(all_names()) - {"auto", "hard-margin-svm"}))
def test_defaults_are_enough(name, iris):
    X, y = (part[[0, 1, 2, 60, 61, 62]] for part in iris)
    if name == "knn":
        X, y = X.repeat(2, axis=0), y.repeat(2)
    assert clone(model_named(name, 0)).fit(X, y).score(X, y) >= 0.5


def test_seed():
    assert model_named("glvq", 7).random_state == 7
    assert model_named("random-forest", 7).random_state == 7
    assert model_named("mean-of-class", 7).get_params() == protolearn.MeanOfClass().get_params()


def test_automatic_choice_leaves_scaling_to_the_table():
    model = model_named("auto", 3)
    assert isinstance(model, protolearn.AutoPrototypeClassifier)
    assert (model.standardize, model.random_state) == (False, 3)


def test_wrong_name():
    with pytest.raises(
        Failure, match=r"no model 'gmlqv'\. Did you mean 'gmlvq'.*--list-models"
    ) as e:
        model_named("gmlqv", 0)
    assert e.value.code == 2
    with pytest.raises(Failure) as e:
        model_named("", 0)
    assert "Did you mean" not in str(e.value)


def test_listing(capsys):
    print_models()
    shown = capsys.readouterr().out
    assert all(name in shown for name in all_names())


FIT_NAMES = [*(name for name in model_names._ours()), *FAMILIES]
QUICK = "soft-margin-svm", "exemplar-svm", "kernel"


@pytest.mark.parametrize("name", in_all(*QUICK, thorough=sorted(set(FIT_NAMES) - set(QUICK))))
def test_what_fit_writes_is_loaded_without_trust(command, tmp_path, name):
    X, y = apart()
    rows = [{"a": a, "b": b, "y": label} for (a, b, *_), label in zip(X, y, strict=True)]
    write(tmp_path / "rows.csv", rows)
    fit = ("fit", "rows.csv", "--target", "y", "--model", name, "--fits", "3", "--folds", "2")
    done = command(*fit, "--out", "out", cwd=tmp_path)
    assert done.code == 0, done.err
    path = tmp_path / "out" / "model.protolearn"
    assert set(protolearn.load(path).predict(pd.DataFrame(X[:, :2], columns=["a", "b"]))) == set(y)
    assert b'"sklearn.svm' not in path.read_bytes()


def test_models_of_scikit_learn_are_not_fitted(command, tmp_path):
    done = command("fit", "iris", "--model", "svc", cwd=tmp_path)
    assert done.code == 2
    assert "'svc' is a model of scikit-learn; only protolearn compare" in done.sentence
