"""imbalanced-learn makes rows anew inside each fold, before our classifiers learn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

from given_classifiers import REPRESENTATIVES, UNFINISHED, name_of, overlap
from protolearn import GLVQ

over_sampling = pytest.importorskip("imblearn.over_sampling", reason="needs imbalanced-learn")
pipeline = pytest.importorskip("imblearn.pipeline", reason="needs imbalanced-learn")
pytestmark = pytest.mark.filterwarnings(UNFINISHED)

FOLDS = StratifiedKFold(2, shuffle=True, random_state=0)


def rare(n=120):
    """Give rows of which one in six is of the second class."""
    X, y = overlap(n, seed=2)
    keep = (y == "ash") | (np.arange(n) % 10 == 1)
    return X[keep], y[keep]


def balanced(model):
    smote = over_sampling.SMOTE(k_neighbors=3, random_state=0)
    return pipeline.make_pipeline(StandardScaler(), smote, clone(model))


@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_smote_before_a_classifier(model):
    X, y = rare()
    scores = cross_val_score(
        balanced(model), X, y, cv=FOLDS, scoring="balanced_accuracy", error_score="raise"
    )
    assert scores.mean() > 0.6


def test_rows_are_made_for_the_fit_alone():
    X, y = rare()
    seen = []

    class Watching(GLVQ):
        def fit(self, X, y, sample_weight=None):
            seen.append(dict(zip(*np.unique(y, return_counts=True), strict=True)))
            return super().fit(X, y, sample_weight)

    model = balanced(Watching(max_iter=20, random_state=0)).fit(X, y)
    assert seen == [{"ash": (y == "ash").sum(), "birch": (y == "ash").sum()}]
    assert len(model.predict(X)) == len(X)


def test_both_are_tuned_together():
    X, y = rare()
    grid = {"smote__k_neighbors": [1, 3], "glvq__prototypes_per_class": [1, 2]}
    model = balanced(GLVQ(max_iter=20, random_state=0))
    search = GridSearchCV(model, grid, cv=FOLDS, error_score="raise").fit(X, y)
    assert set(search.best_params_) == set(grid)
