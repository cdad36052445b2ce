"""AutoPrototypeClassifier as its users see it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles, make_classification, make_moons
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_ledger import Clock
from given_profile import long_test
from protolearn import AutoPrototypeClassifier, MeanOfClass, certified_radius, counterfactual
from protolearn.analysis import by_class
from protolearn.checks import expected_failed_checks
from protolearn.selection.auto.candidates import candidates
from protolearn.selection.auto.trials import CalibratedPipeline

X, Y = load_iris(return_X_y=True)
CHEAP = AutoPrototypeClassifier(max_fits=6, families=["linear", "fixed"], random_state=0)


@pytest.fixture(scope="module")
def fitted():
    return AutoPrototypeClassifier(
        max_fits=130, families=["linear", "fixed", "learned"], random_state=0
    ).fit(X, Y)


@parametrize_with_checks([CHEAP], expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_nothing_is_excused():
    assert not expected_failed_checks(CHEAP)


def names(model):
    return [standing.model for standing in model.leaderboard_]


def test_what_is_chosen_stands_on_the_leaderboard(fitted):
    (chosen,) = [standing for standing in fitted.leaderboard_ if standing.chosen]
    assert chosen.model.startswith(fitted.best_params_["model"])
    assert type(fitted.best_estimator_[-1]).__name__ == fitted.best_params_["model"]
    assert chosen.score >= fitted.leaderboard_[0].score - 0.05
    assert fitted.n_fits_ == 130
    assert "max_fits=130" in fitted.stopped_


def test_all_rows_are_fitted_again(fitted):
    settings = {k: v for k, v in fitted.best_params_.items() if k != "model"}
    model = clone(fitted.best_estimator_[-1]).set_params(**settings)
    again = make_pipeline(StandardScaler(), model).fit(X, Y)
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_the_same_seed_gives_the_same_choice_on_any_number_of_workers(fitted):
    again = clone(fitted).set_params(n_jobs=2).fit(X, Y)
    assert names(again) == names(fitted)
    assert [s.score for s in again.leaderboard_] == [s.score for s in fitted.leaderboard_]
    assert again.best_params_ == fitted.best_params_
    assert again.best_score_ == fitted.best_score_
    assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_a_longer_run_extends_a_shorter_one(fitted):
    longer = clone(fitted).set_params(max_fits=230).fit(X, Y)
    assert set(names(fitted)) < set(names(longer))
    n_fits = {standing.model: standing.n_fits for standing in longer.leaderboard_}
    assert all(n_fits[standing.model] >= standing.n_fits for standing in fitted.leaderboard_)


def test_time_says_where_it_stopped(monkeypatch):
    clock = Clock().rules(monkeypatch)

    def half_a_second(model, X, y):
        clock.now += 0.5
        return float(np.mean(model.predict(X) == y))

    model = AutoPrototypeClassifier(
        families=["linear", "fixed"],
        max_fits=None,
        time_budget=18.0,
        scoring=half_a_second,
        random_state=0,
    ).fit(X, Y)
    assert model.n_fits_ == 15
    assert model.stopped_ == (
        "time_budget=18 seconds leave no time for more: 3 of 27 candidates, 15 fits in 15.0 s"
    )
    by_fits = AutoPrototypeClassifier(
        families=["linear", "fixed"], max_fits=15, random_state=0
    ).fit(X, Y)
    assert by_fits.best_params_ == model.best_params_


@pytest.mark.parametrize("budget", [{"time_budget": 1e-6}, {"max_fits": 1}])
def test_the_smallest_budget_gives_a_model(budget):
    model = AutoPrototypeClassifier(**budget, random_state=0).fit(X, Y)
    assert model.n_fits_ == 1
    assert model.score(X, Y) > 0.8


def test_all_candidates_are_tried_without_a_budget():
    model = AutoPrototypeClassifier(families="linear", max_fits=None, random_state=0)
    model.fit(X[::3], Y[::3])
    assert len(model.leaderboard_) == 12
    assert model.stopped_.startswith("every candidate was tried: 12 of 12 candidates")
    assert {standing.family for standing in model.leaderboard_} == {"linear"}


def test_a_winding_border_needs_a_kernel_or_more_prototypes():
    circles = make_circles(100, noise=0.1, factor=0.4, random_state=0)
    model = AutoPrototypeClassifier(
        max_fits=60, families=["linear", "fixed", "kernel"], random_state=0
    ).fit(*circles)
    assert model.best_score_ > 0.9
    assert model.best_params_["model"] not in ("SoftMarginSVM", "FisherPrototypes", "MeanOfClass")


def test_a_straight_border_does_not(tmp_path):
    rows, labels = make_classification(
        150, 4, n_informative=2, n_redundant=0, n_clusters_per_class=1, random_state=0
    )
    simple = AutoPrototypeClassifier(
        max_fits=120,
        families=["linear", "fixed"],
        prefer="small",
        checkpoint=tmp_path / "both.json",
        random_state=0,
    ).fit(rows, labels)
    largest = clone(simple).set_params(prefer="accurate").fit(rows, labels)
    sizes = [
        next(s.n_numbers for s in model.leaderboard_ if s.chosen) for model in (simple, largest)
    ]
    assert sizes[0] <= sizes[1]
    assert sizes[0] <= 8  # one plane, or a prototype a class
    assert max(s.score for s in largest.leaderboard_ if s.n_fits == 15) == max(
        s.score for s in largest.leaderboard_ if s.chosen
    )


def test_a_model_that_can_be_looked_at_is_preferred(tmp_path):
    """A winding border: kernels are better by less than a point, or prototypes are not chosen."""
    rows, labels = make_moons(200, noise=0.25, random_state=0)
    given = {"families": ["fixed", "kernel"], "checkpoint": tmp_path / "both", "random_state": 0}
    readable = AutoPrototypeClassifier(**given).fit(rows, labels)
    accurate = AutoPrototypeClassifier(prefer="accurate", **given).fit(rows, labels)
    board, other = readable.leaderboard_, accurate.leaderboard_
    assert [s.model for s in board] == [s.model for s in other]
    (chosen,), (best,) = ([s for s in one if s.chosen] for one in (board, other))
    assert best.score == max(s.score for s in other if s.n_fits == best.n_fits)
    assert other.price_of_choice() is None
    assert chosen.kind == "prototypes"
    assert 0.0 <= best.score - chosen.score <= 0.01
    price = board.price_of_choice()
    assert (
        price is None or price == (best, best.score - chosen.score) or price[0].score == best.score
    )
    assert "prototypes" in repr(board)


def test_what_is_deprecated_has_a_successor():
    model = clone(CHEAP).set_params(prefer_simple=False)
    with pytest.warns(FutureWarning, match="use prefer='accurate' instead"):
        model.fit(X, Y)
    small = clone(CHEAP).set_params(prefer="accurate").fit(X, Y)
    assert small.best_params_ == model.best_params_


@long_test
def test_labels_without_meaning_are_reported_as_chance():
    """The best score among many is above chance; what the classifier reports is not."""
    told, top = [], []
    for seed in range(4):
        rng = np.random.RandomState(seed)
        rows, labels = rng.normal(size=(80, 4)), rng.permutation(np.repeat([0, 1], 40))
        model = AutoPrototypeClassifier(
            max_fits=60, families=["MeanOfClass", "FisherPrototypes", "LVQ1"], random_state=seed
        ).fit(rows, labels)
        told.append(model.best_score_)
        top.append(max(standing.score for standing in model.leaderboard_))
    assert np.mean(top) > 0.52
    assert abs(np.mean(told) - 0.5) < 3 * 0.5 / np.sqrt(4 * 80)  # three standard errors of chance


def test_probabilities_agree_with_the_labels(fitted):
    shares = fitted.predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.predict(X))


def test_names_of_features_and_labels_are_kept():
    frame = pd.DataFrame(X, columns=["sepal l", "sepal w", "petal l", "petal w"])
    labels = np.array(["setosa", "versicolor", "virginica"])[Y]
    model = clone(CHEAP).fit(frame, labels)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.best_estimator_[0].feature_names_in_.tolist() == list(frame.columns)
    assert set(model.predict(frame)) == set(labels)
    found = counterfactual(model.best_estimator_, frame[:3])
    assert_array_equal(
        model.predict(pd.DataFrame(found.points, columns=frame.columns)), found.label
    )
    assert (certified_radius(model.best_estimator_, frame) >= 0).all()


def test_what_is_said_of_rows_that_were_held_out(fitted):
    """By the models that were chosen without them, fitted again by scikit-learn's means."""
    folds, shares = fitted.held_out_folds_, fitted.held_out_proba_
    assert sorted(set(folds)) == list(range(5))
    assert np.bincount(folds).tolist() == [30] * 5
    assert_allclose(shares.sum(axis=1), 1.0)
    right = fitted.classes_[shares.argmax(axis=1)] == Y
    by_fold = [right[folds == fold].mean() for fold in range(5)]
    assert fitted.best_score_ == pytest.approx(np.mean(by_fold))
    assert set(fitted.held_out_models_) <= set(names(fitted))
    by_name = {str(one): one for one in candidates(["linear", "fixed", "learned"], 4, rng())}
    for fold, name in enumerate(fitted.held_out_models_):
        train, test = folds != fold, folds == fold
        again = by_name[name].pipeline(Y[train], fitted_seed()).fit(X[train], Y[train])
        assert_array_equal(again.predict(X[test]), fitted.classes_[shares[test].argmax(axis=1)])


def rng():
    return np.random.RandomState(0)


def fitted_seed():
    """Give the seed of the models, which is drawn after the order of the candidates."""
    drawn = rng()
    candidates(["linear", "fixed", "learned"], 4, drawn)
    return int(drawn.randint(2**31 - 1))


def test_rows_beyond_the_sample_are_not_held_out(monkeypatch):
    monkeypatch.setattr("protolearn.selection.auto.search_data.MOST_ROWS", 90)
    model = clone(CHEAP).set_params(max_fits=None, families="MeanOfClass").fit(X, Y)
    unknown = model.held_out_folds_ == -1
    assert unknown.sum() == 60
    assert np.isnan(model.held_out_proba_[unknown]).all()
    assert np.isfinite(model.held_out_proba_[~unknown]).all()


def test_the_leaderboard_as_a_table(fitted):
    frame = fitted.leaderboard_.to_frame()
    assert len(frame) == len(fitted.leaderboard_)
    assert frame.chosen.sum() == 1
    text = repr(fitted.leaderboard_)
    assert fitted.best_params_["model"] in text
    assert len(fitted.leaderboard_[:3]) == 3


def test_rows_that_are_scaled_already_stay_as_they_are():
    model = clone(CHEAP).set_params(standardize=False).fit(X, Y)
    assert [name for name, _ in model.best_estimator_.steps] == ["model"]
    scaled = StandardScaler().fit_transform(X)
    before, within = clone(model).fit(scaled, Y), clone(CHEAP).fit(X, Y)
    assert before.best_params_ == within.best_params_


def test_scores_of_probabilities_are_those_of_calibrated_ones():
    model = AutoPrototypeClassifier(
        families=["linear", "fixed"], scoring="neg_log_loss", max_fits=30, random_state=0
    ).fit(X, Y)
    assert {s.family for s in model.leaderboard_ if s.n_fits} == {"linear", "fixed"}
    assert not any(s.failure for s in model.leaderboard_)  # though some have no probabilities
    assert np.log(1 / len(np.unique(Y))) < model.best_score_ < 0


def test_no_row_has_a_part_in_its_own_probability():
    rows, labels = X[:, :2], Y
    steps = [("model", MeanOfClass().fit(rows, labels))]
    scores = by_class(steps[0][1].decision_function(rows))
    whole = CalibratedPipeline(steps).remember(scores, labels, 0.1)
    found = whole.predict_proba(rows)
    assert_allclose(found.sum(axis=1), 1.0)
    assert (found.argmax(axis=1) == scores.argmax(axis=1)).all()
    wrong = labels.copy()
    wrong[::2] = np.roll(wrong[::2], 7)
    other = whole.remember(scores, wrong, 0.1).predict_proba(rows)
    assert_array_equal(other[::2], found[::2])
    assert (other[1::2] != found[1::2]).any()


def test_nobody_can_take_part():
    def refuse(model, X, y):
        raise ValueError("never")

    model = AutoPrototypeClassifier(families="linear", scoring=refuse, max_fits=5)
    with pytest.raises(ValueError, match=r"None of the .* could be fitted and scored"):
        model.fit(X, Y)


@pytest.mark.parametrize("counts", [(30, 1), (30, 2), (3, 3), (40, 4, 2, 1)])
def test_small_classes(counts):
    rng = np.random.RandomState(0)
    labels = np.repeat(np.arange(len(counts)), counts)
    rows = rng.normal(size=(len(labels), 3)) + 3 * labels[:, None]
    model = AutoPrototypeClassifier(max_fits=20, random_state=0).fit(rows, labels)
    assert_array_equal(model.classes_, np.arange(len(counts)))
    assert model.predict_proba(rows).shape == (len(labels), len(counts))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"families": "kernels"}, "families='kernels' .* 'kernel'"),
        ({"families": []}, "must be 'all' or some of"),
        ({"max_fits": 0}, "max_fits=0"),
        ({"time_budget": -1.0}, "time_budget=-1.0"),
        ({"prefer_simple": "yes"}, "prefer_simple='yes'"),
        ({"prefer": "simple"}, "prefer='simple'"),
        ({"scoring": "accurate"}, "scoring|accurate"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        AutoPrototypeClassifier(**parameters).fit(X, Y)


def test_classes_of_two_rows_each():
    with pytest.raises(ValueError, match="None of the 3 classes has 3 rows or more"):
        clone(CHEAP).fit(X[:6], [0, 0, 1, 1, 2, 2])


def test_missing_values_have_a_remedy():
    rows = X.copy()
    rows[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN.*data frame"):
        clone(CHEAP).fit(rows, Y)


def test_progress_is_shown(capsys):
    clone(CHEAP).set_params(verbose=1).fit(X, Y)
    assert "max_fits=6 was reached" in capsys.readouterr().out


def test_pickles_and_nests(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert cross_val_score(CHEAP, X, Y, cv=3).mean() > 0.85
