"""Every generator: the same seed gives the same numbers, whatever form the seed has."""

import numpy as np
import pytest

from protolearn import datasets

GENERATORS = [
    datasets.make_isolated,
    datasets.make_striated,
    datasets.make_graf_toy,
    datasets.make_neurons,
    datasets.make_teacher_student,
    datasets.make_random_patterns,
    lambda random_state: datasets.make_spirals(noise=0.1, random_state=random_state),
]


@pytest.mark.parametrize("make", GENERATORS)
def test_the_same_seed_gives_the_same_data(make):
    X, y = make(random_state=7)
    for seed in (7, np.int64(7), np.random.RandomState(7)):
        again, labels = make(random_state=seed)
        np.testing.assert_array_equal(again, X)
        np.testing.assert_array_equal(labels, y)
    assert not np.array_equal(make(random_state=8)[0], X)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_a_source_of_numbers_moves_on(make, kind):
    rng, twin = kind(0), kind(0)
    first, second = make(random_state=rng)[0], make(random_state=rng)[0]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(make(random_state=twin)[0], first)
    np.testing.assert_array_equal(make(random_state=twin)[0], second)


@pytest.mark.parametrize("make", GENERATORS)
def test_no_seed_gives_new_data(make):
    assert not np.array_equal(make(random_state=None)[0], make(random_state=None)[0])


@pytest.mark.parametrize("seed", [-1, "seven", 1.5])
def test_bad_seed(seed):
    with pytest.raises(ValueError, match=r"[Ss]eed"):
        datasets.make_striated(random_state=seed)


def test_classes_come_in_random_order():
    for make in (datasets.make_isolated, datasets.make_striated, datasets.make_neurons):
        y = make(random_state=0)[1]
        assert len(set(y[:20].tolist())) == 2


def test_a_seed_names_one_data_set_for_ever():
    X, _ = datasets.make_neurons(2, random_state=0)
    Z, _ = datasets.make_isolated(5, 2, random_state=0)
    np.testing.assert_allclose(X[0, :2], [7.598346615141256, 6.223770998069816])
    np.testing.assert_allclose(Z[0], [11.09703522777202, 12.513016097183149])
