"""Scores and probabilities become calibrated probabilities."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss

from given_classifiers import REPRESENTATIVES, UNFINISHED, name_of, overlap
from protolearn import GLVQ

pytestmark = pytest.mark.filterwarnings(UNFINISHED)


@pytest.mark.parametrize("labels", [("ash", "birch"), ("ash", "birch", "cedar")], ids=len)
@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_probabilities_of_any_classifier(model, labels):
    X, y = overlap(90, labels)
    calibrated = CalibratedClassifierCV(clone(model), cv=2).fit(X, y)
    proba = calibrated.predict_proba(X)
    assert proba.shape == (len(X), len(labels))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert calibrated.classes_.tolist() == list(labels)
    assert calibrated.score(X, y) > 0.6


def test_a_fitted_model_is_calibrated_on_other_rows():
    """Sharp probabilities of a winner margin become honest ones."""
    X, y = overlap(600, seed=1)
    model = GLVQ(beta=100.0, random_state=0).fit(X[:200], y[:200])
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[200:400], y[200:400])
    fresh, truth = X[400:], y[400:]
    before = log_loss(truth, model.predict_proba(fresh), labels=model.classes_)
    after = log_loss(truth, calibrated.predict_proba(fresh), labels=model.classes_)
    assert after < before
