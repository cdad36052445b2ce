"""Conformal prediction with our models, by MAPIE."""

import numpy as np
import pytest
from scipy.stats import betabinom
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, RSLVQ

mapie = pytest.importorskip("mapie.classification", reason="needs MAPIE")

HELD, FRESH, UNLIKELY = 1000, 4000, 1e-5
LEVELS = [0.8, 0.95]


def sets_of(model):
    """Give prediction sets of fresh rows, and which of them hold the true label."""
    X, y = make_blobs(300 + HELD + FRESH, centers=4, cluster_std=2.0, random_state=0)
    y = np.array(["a", "b", "c", "d"])[y]
    train, held, fresh = np.split(np.arange(len(y)), [300, 300 + HELD])
    model = make_pipeline(StandardScaler(), model).fit(X[train], y[train])
    conformal = mapie.SplitConformalClassifier(model, confidence_level=LEVELS, prefit=True)
    _, sets = conformal.conformalize(X[held], y[held]).predict_set(X[fresh])
    return sets, sets[np.arange(FRESH), np.searchsorted(model.classes_, y[fresh])]


def chance(level):
    """Give the distribution of the number of covered rows, if no two scores are equal."""
    rank = int(np.ceil((HELD + 1) * level))
    return betabinom(FRESH, rank, HELD + 1 - rank)


@pytest.mark.parametrize(
    "model",
    [GLVQ(beta=1.0), GMLVQ(beta=1.0), RSLVQ(), CalibratedClassifierCV(GLVQ(), ensemble=False)],
    ids=lambda model: type(model).__name__,
)
def test_coverage_is_as_promised(model):
    sets, covered = sets_of(model)
    for j, level in enumerate(LEVELS):
        low, high = chance(level).ppf([UNLIKELY, 1.0 - UNLIKELY])
        assert low <= covered[:, j].sum() <= high
        assert sets[:, :, j].sum(axis=1).mean() < 2.5  # not by naming all four


def test_sharp_probabilities_cover_too():
    _, covered = sets_of(GLVQ())  # many round to zero or one: sets are larger than needed
    for j, level in enumerate(LEVELS):
        assert covered[:, j].sum() >= chance(level).ppf(UNLIKELY)
