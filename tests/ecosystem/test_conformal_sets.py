"""MAPIE makes prediction sets of every classifier with probabilities.

That the sets cover as promised is shown with the analysis.
"""

import pytest
from sklearn.base import clone

from given_classifiers import UNFINISHED, WITH_PROBABILITIES, name_of, overlap

mapie = pytest.importorskip("mapie.classification", reason="needs MAPIE")
pytestmark = pytest.mark.filterwarnings(UNFINISHED)

LABELS = "ash", "birch", "cedar"


@pytest.mark.parametrize("model", WITH_PROBABILITIES, ids=name_of)
def test_cross_conformal_sets(model):
    X, y = overlap(90, LABELS)
    conformal = mapie.CrossConformalClassifier(clone(model), confidence_level=0.9, cv=3)
    answers, sets = conformal.fit_conformalize(X, y).predict_set(X)
    assert sets.shape == (len(X), len(LABELS), 1)
    assert set(answers) <= set(LABELS)
    assert sets.any(axis=(1, 2)).mean() > 0.8
