"""Searches reach parameters at any depth."""

import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_classifiers import UNFINISHED, overlap
from protolearn import (
    GLVQ,
    GMLVQ,
    ParityMachine,
    Pocket,
    PrototypeClassifier,
    PrototypeSVM,
    RejectClassifier,
    SoftMarginSVM,
)
from protolearn.distances import Matrix
from protolearn.losses import Sigmoid

pytestmark = pytest.mark.filterwarnings(UNFINISHED)

FEW = {"max_iter": 10, "random_state": 0}
NESTED = [
    (
        PrototypeClassifier(distance=Matrix(), loss=Sigmoid(), **FEW),
        {"distance__rank": [1, 2], "loss__beta": [1.0, 5.0]},
    ),
    (
        make_pipeline(StandardScaler(), GMLVQ(**FEW)),
        {"standardscaler__with_std": [True, False], "gmlvq__rank": [1, 2]},
    ),
    (
        RejectClassifier(make_pipeline(StandardScaler(), GLVQ(**FEW)), threshold=0.0),
        {"model__glvq__beta": [1.0, 5.0], "threshold": [0.0, 0.1]},
    ),
    (ParityMachine(Pocket(max_iter=5), random_state=0), {"estimator__max_iter": [5, 10]}),
    (SoftMarginSVM(), {"C": [0.1, 1.0], "norm": [1, 2]}),
    (PrototypeSVM(random_state=0), {"C": [0.1, 1.0]}),
]


@pytest.mark.parametrize(("model", "grid"), NESTED, ids=lambda case: type(case).__name__)
def test_grid(model, grid):
    X, y = overlap(60)
    before = str(model.get_params())
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert set(search.best_params_) == set(grid)
    found = search.best_estimator_.get_params()
    assert {name: found[name] for name in grid} == search.best_params_
    assert str(model.get_params()) == before
    assert search.score(X, y) > 0.5


def test_halving_by_steps_of_the_solver():
    X, y = overlap(60)
    model = make_pipeline(StandardScaler(), GLVQ(solver="sgd", random_state=0))
    search = HalvingGridSearchCV(
        model,
        {"glvq__prototypes_per_class": [1, 2, 3], "glvq__beta": [1.0, 5.0]},
        resource="glvq__max_iter",
        min_resources=3,
        max_resources=27,
        cv=2,
        error_score="raise",
        random_state=0,
    ).fit(X, y)
    assert search.n_iterations_ > 1
    assert search.best_estimator_[-1].max_iter == search.n_resources_[-1]


def test_halving_by_samples():
    X, y = overlap(120)
    search = HalvingGridSearchCV(
        GLVQ(**FEW), {"beta": [1.0, 3.0, 9.0]}, cv=2, error_score="raise", random_state=0
    ).fit(X, y)
    assert search.score(X, y) > 0.7


def test_a_choice_among_classifiers():
    X, y = overlap(60)
    model = make_pipeline(StandardScaler(), GLVQ())
    grid = [
        {"glvq": [GLVQ(**FEW)], "glvq__beta": [1.0, 5.0]},
        {"glvq": [SoftMarginSVM()], "glvq__C": [0.1, 1.0]},
    ]
    search = RandomizedSearchCV(model, grid, n_iter=4, cv=2, error_score="raise", random_state=0)
    assert len(search.fit(X, y).cv_results_["params"]) == 4
