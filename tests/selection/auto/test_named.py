"""Candidates by the names of models."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import protolearn
from protolearn import AutoPrototypeClassifier
from protolearn.selection.auto.candidates import (
    FAMILIES,
    MODELS,
    candidates,
    chosen_names,
    members,
    members_of,
    model_names,
)
from protolearn.selection.auto.trials import n_numbers, n_prototypes

X, Y = (part[::5] for part in load_iris(return_X_y=True))


@pytest.mark.parametrize("name", model_names())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_model_can_be_fitted_and_told(name):
    """Setosa against versicolor: a plane separates them, as hard margins need it."""
    rows, labels = X[:20], Y[:20]
    for candidate in members_of(name, 4)[:3]:
        model = candidate.pipeline(labels, seed=0).fit(rows, labels)
        assert type(model[-1]) is getattr(protolearn, name)
        assert model.score(rows, labels) >= 0.9
        assert model.decision_function(rows).shape == (20,)
        assert n_prototypes(model[-1]) >= 2
        assert n_numbers(model[-1]) >= 5
        assert str(candidate).startswith(name)


def test_the_names_are_those_of_the_library():
    assert {"LVQ21", "SoftMarginSVM", "RVM", "Pocket", "KernelAdaTron"} < set(model_names())
    assert not {"Hopfield", "RejectClassifier", "AutoPrototypeClassifier"} & set(model_names())
    assert all(getattr(protolearn, name) is model for name, model in MODELS.items())
    tried = {one.model for f in FAMILIES for one in members(f, 4)}
    assert tried - set(MODELS.values()) == {LogisticRegression}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("LVQ21", ["LVQ21"]),
        ("lvq2.1", ["LVQ21"]),
        (["soft-margin-svm"], ["SoftMarginSVM"]),
        (["soft margin_SVM", "SoftMarginSVM"], ["SoftMarginSVM"]),
        (("RVM", "Linear"), ["linear", "RVM"]),
        (np.array(["rvm", "adaline"]), ["Adaline", "RVM"]),
        ({"all", "lvq1"}, [*FAMILIES, "LVQ1"]),
        ("ALL", list(FAMILIES)),
    ],
)
def test_spellings(given, names):
    assert chosen_names(given, 100) == names


def test_all_leaves_out_what_compares_all_pairs_of_many_rows_unless_it_is_named():
    assert chosen_names("all", 5001) == ["linear", "fixed", "learned", "local"]
    assert chosen_names(["all", "kernel"], 5001)[-1] == "kernel"
    assert chosen_names(["all", "PrototypeSVM"], 5001)[-1] == "PrototypeSVM"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("LVQ22", r"families='LVQ22' .* Instead of 'LVQ22', did you mean .*'LVQ21'"),
        (["linear", "GLVG"], r"Instead of 'GLVG', did you mean 'GLVQ'"),
        ("forest", r"The models are Adaline, AdaTron, .*SoftPreprocessing\."),
        ([""], "must be 'all' or some of 'linear'"),
        ([None, "GLVQ"], "must be 'all' or some of 'linear'"),
        (b"GLVQ", "must be 'all' or some of 'linear'"),
    ],
)
def test_wrong_names(given, message):
    with pytest.raises(ValueError, match=message):
        AutoPrototypeClassifier(families=given).fit(X, Y)


def test_a_model_of_a_family_has_the_settings_of_the_family():
    own = members_of("KernelGLVQ", 4)
    assert own == members("kernel", 4)
    assert {one.family for one in own} == {"kernel"}
    assert all(one.all_pairs for one in own)


def test_other_models_have_their_own():
    assert [str(one) for one in members_of("LVQ21", 4)] == [
        "LVQ21()",
        "LVQ21(prototypes_per_class=2)",
        "LVQ21(prototypes_per_class=4)",
    ]
    assert [str(one) for one in members_of("Pocket", 4)] == ["Pocket()"]
    assert {one.family for one in members_of("RVM", 4)} == {"RVM"}
    assert all(one.all_pairs for one in members_of("RVM", 4))


def test_no_candidate_comes_twice():
    rng = np.random.RandomState(0)
    names = chosen_names(["fixed", "GLVQ", "RSLVQ", "LVQ1"], 100)
    found = [str(one) for one in candidates(names, 4, rng)]
    assert len(set(found)) == len(found)
    assert sum(name.startswith("GLVQ") for name in found) == 10


def test_models_take_turns():
    rng = np.random.RandomState(0)
    order = candidates(chosen_names(["RVM", "LVQ1", "linear"], 100), 4, rng)
    assert [one.model.__name__ for one in order[:3]] == ["SoftMarginSVM", "LVQ1", "RVM"]


def test_a_search_of_named_models():
    model = AutoPrototypeClassifier(
        families=["lvq1", "kernel-adatron", "rvm"], cv=3, random_state=0
    ).fit(X, Y)
    assert {standing.family for standing in model.leaderboard_} == {"LVQ1", "KernelAdaTron", "RVM"}
    assert not any(standing.failure for standing in model.leaderboard_)
    assert model.best_params_["model"] in ("LVQ1", "KernelAdaTron", "RVM")
    assert model.score(X, Y) > 0.8


def test_a_hard_margin_where_there_is_none():
    rows, labels = np.vstack([X, X[10:12]]), np.append(Y, [0, 0])
    model = AutoPrototypeClassifier(families=["HardMarginSVM", "MeanOfClass"], random_state=0)
    model.fit(rows, labels)
    assert model.best_params_["model"] == "MeanOfClass"
    assert "NotSeparableError" in model.leaderboard_[-1].failure
