"""Optuna tunes by an objective that any user would write."""

import pytest
from sklearn.model_selection import cross_val_score

from given_classifiers import UNFINISHED, overlap
from protolearn import GLVQ

optuna = pytest.importorskip("optuna", reason="needs Optuna")
pytestmark = pytest.mark.filterwarnings(UNFINISHED)


def objective(trial):
    X, y = overlap(60)
    model = GLVQ(
        beta=trial.suggest_float("beta", 0.1, 100.0, log=True),
        prototypes_per_class=trial.suggest_int("prototypes_per_class", 1, 3),
        solver=trial.suggest_categorical("solver", ["lbfgs", "sgd"]),
        max_iter=10,
        random_state=0,
    )
    return cross_val_score(model, X, y, cv=2, error_score="raise").mean()


@pytest.fixture
def study():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=0, n_startup_trials=4)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=8)
    return study


def test_the_best_settings_make_a_model(study):
    assert all(trial.state == optuna.trial.TrialState.COMPLETE for trial in study.trials)
    assert study.best_value == max(trial.value for trial in study.trials) > 0.7
    X, y = overlap(60)
    model = GLVQ(**study.best_params, max_iter=10, random_state=0).fit(X, y)
    assert model.get_params().items() >= study.best_params.items()


def test_a_callback_prunes_a_fit():
    """An exception of a callback reaches the study as it is."""
    X, y = overlap(60)

    def stopped(trial):
        def report(state):
            trial.report(0.0, step=1)
            raise optuna.TrialPruned

        GLVQ(callback=report, random_state=0).fit(X, y)

    study = optuna.create_study()
    study.optimize(stopped, n_trials=1)
    assert study.trials[0].state == optuna.trial.TrialState.PRUNED
