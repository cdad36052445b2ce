"""Values under a mask are never used as numbers."""

import numpy as np
import pytest
from sklearn.base import clone

from given_classifiers import CLASSIFIERS, UNFINISHED, apart, name_of
from protolearn import GLVQ, Hopfield, MeanOfClass

X, Y = apart(40)
pytestmark = pytest.mark.filterwarnings(UNFINISHED)


def masked(values, place):
    """Return a masked array, with one value masked, or none."""
    found = np.ma.masked_array(values, mask=np.zeros(np.shape(values), bool))
    if place is not None:
        found[place] = np.ma.masked
    return found


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_masked_values_are_refused(model):
    codes, model = np.where(Y == "ash", 0, 1), clone(model)
    with pytest.raises(ValueError, match=r"X is an array with masked values\. Leave these rows"):
        model.fit(masked(X, (3, 1)), Y)
    with pytest.raises(ValueError, match=r"y is an array with masked values"):
        model.fit(X, masked(codes, 5))
    model.fit(masked(X, None), masked(codes, None))
    with pytest.raises(ValueError, match=r"X is an array with masked values"):
        model.predict(masked(X, (3, 1)))
    np.testing.assert_array_equal(model.predict(masked(X, None)), model.predict(X))


def test_masked_values_of_other_arguments_are_refused():
    with pytest.raises(ValueError, match="sample_weight is an array with masked values"):
        MeanOfClass().fit(X, Y, sample_weight=masked(np.ones(len(Y)), 2))
    with pytest.raises(ValueError, match="X is an array with masked values"):
        GLVQ().partial_fit(masked(X, (3, 1)), Y, classes=np.unique(Y))
    with pytest.raises(ValueError, match="X is an array with masked values"):
        Hopfield().fit(masked(np.where(X > 1.0, 1.0, -1.0), (0, 0)))


def test_the_remedy_of_the_message_works():
    filled = masked(X, (3, 1)).filled(np.nan)
    model = GLVQ(max_iter=20, random_state=0).fit(filled, Y)
    assert model.predict(filled).shape == Y.shape
