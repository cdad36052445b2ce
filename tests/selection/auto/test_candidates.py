"""The candidates: who they are, their order, and that each of them can be fitted."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from protolearn.selection.auto.candidates import FAMILIES, Candidate, at_most, candidates, members
from protolearn.selection.auto.trials import n_numbers, n_prototypes

X, Y = make_blobs(90, n_features=3, centers=3, cluster_std=2.0, random_state=0)
EVERY = [(family, place) for family in FAMILIES for place in range(len(members(family, 3)))]


@pytest.mark.parametrize(("family", "place"), EVERY)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_candidate_can_be_fitted_and_told(family, place):
    candidate = members(family, 3)[place]
    model = candidate.pipeline(Y, seed=0).fit(X, Y)
    assert model.score(X, Y) > 0.6
    assert model.decision_function(X).shape == (90, 3)
    assert n_prototypes(model[-1]) >= 3
    assert n_numbers(model[-1]) >= 9
    assert str(candidate).startswith(type(model[-1]).__name__)


@pytest.mark.parametrize("n_features", [1, 2, 3, 10, 500])
def test_candidates_differ_and_ranks_are_possible(n_features):
    names = [str(c) for c in candidates(FAMILIES, n_features, np.random.RandomState(0))]
    assert len(set(names)) == len(names)
    for family in FAMILIES:
        for candidate in members(family, n_features):
            rank = candidate.settings.get("rank")
            assert rank is None or 1 <= rank <= n_features


def test_the_families_take_turns_and_begin_with_their_first():
    order = candidates(FAMILIES, 4, np.random.RandomState(3))
    assert [c.family for c in order[: len(FAMILIES)]] == list(FAMILIES)
    assert [str(c) for c in order[: len(FAMILIES)]] == [str(members(f, 4)[0]) for f in FAMILIES]


def test_the_order_follows_the_seed():
    first, again, other = (
        [str(c) for c in candidates(FAMILIES, 4, np.random.RandomState(seed))] for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)


def test_small_classes_get_fewer_prototypes():
    assert at_most(4, np.repeat(["a", "b"], [4, 9])) == 4
    assert at_most(4, np.repeat(["a", "b"], [3, 9])) == {"a": 3, "b": 4}


def test_a_candidate_gives_a_new_model_each_time():
    candidate = Candidate("fixed", members("fixed", 3)[0].model, {"prototypes_per_class": 50})
    one, two = candidate.pipeline(Y, 0), candidate.pipeline(Y[:60], 0)
    assert one[-1] is not two[-1]
    assert set(one[-1].prototypes_per_class.values()) == {30}
    clone(one)
