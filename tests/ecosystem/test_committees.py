"""Our classifiers vote and are stacked beside others."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from given_classifiers import REPRESENTATIVES, UNFINISHED, WITH_PROBABILITIES, name_of, overlap

pytestmark = pytest.mark.filterwarnings(UNFINISHED)

LABELS = "ash", "birch", "cedar"


def named(models):
    return [(name_of(model), clone(model)) for model in models]


def test_hard_vote_of_all_kinds():
    X, y = overlap(90, LABELS)
    vote = VotingClassifier([*named(REPRESENTATIVES), ("other", GaussianNB())]).fit(X, y)
    answers = np.array([member.predict(X) for member in vote.estimators_])
    counts = np.array([(answers == code).sum(axis=0) for code in range(len(LABELS))])
    np.testing.assert_array_equal(vote.predict(X), np.array(LABELS)[counts.argmax(axis=0)])


def test_soft_vote_is_the_mean_of_probabilities():
    X, y = overlap(90, LABELS)
    vote = VotingClassifier(named(WITH_PROBABILITIES), voting="soft").fit(X, y)
    mean = np.mean([member.predict_proba(X) for member in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), mean)


@pytest.mark.parametrize("labels", [LABELS[:2], LABELS], ids=len)
def test_stack_of_all_kinds(labels):
    X, y = overlap(90, labels)
    stack = StackingClassifier(named(REPRESENTATIVES), LogisticRegression(), cv=2).fit(X, y)
    width = sum(1 if len(labels) == 2 else len(labels) for _ in REPRESENTATIVES)
    assert stack.transform(X).shape == (len(X), width)
    assert stack.score(X, y) > 0.75


@pytest.mark.parametrize("model", REPRESENTATIVES, ids=name_of)
def test_bags(model):
    X, y = overlap(90, LABELS)
    bag = BaggingClassifier(clone(model), n_estimators=3, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.6
