"""The Bayes point: the mean of perceptrons, and how well it generalises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from protolearn import BayesPoint, Rosenblatt
from protolearn.datasets import make_teacher_student

THRESHOLDS = ("clamped", "free", False)


def lengthened_weights(model, fit_intercept):
    """Give the weights that count in the length, of each unit."""
    if fit_intercept == "clamped":
        return np.column_stack([model.coef_, model.intercept_])
    return model.coef_


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("c", [0.0, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_mean_of_perceptrons_of_unit_length(fit_intercept, c, n_classes):
    """One after the other, from the same source of random orders, class by class."""
    X, y = three_corners() if n_classes == 3 else make_teacher_student(40, 6, random_state=0)
    rng = np.random.RandomState(7)
    model = BayesPoint(n_estimators=5, c=c, fit_intercept=fit_intercept, random_state=7).fit(X, y)
    for k, label in enumerate(model.classes_ if n_classes == 3 else [1]):
        members = []
        for _ in range(5):
            member = Rosenblatt(c=c, order="random", fit_intercept=fit_intercept, random_state=rng)
            members.append(member.fit(X, y == label))
        lengths = [np.linalg.norm(lengthened_weights(each, fit_intercept)) for each in members]
        for name in ("coef_", "intercept_", "embedding_strengths_"):
            parts = [getattr(each, name)[0] for each in members]
            mean = sum(part / length for part, length in zip(parts, lengths, strict=True)) / 5
            assert_allclose(getattr(model, name)[k], mean, rtol=1e-10, atol=1e-13)
        if n_classes == 2:
            assert model.n_updates_ == sum(each.n_updates_ for each in members)
            assert model.n_iter_ == max(each.n_iter_ for each in members)


def three_corners():
    rng = np.random.RandomState(0)
    y = np.arange(30) % 3
    angle = 2 * np.pi * y / 3
    return 0.3 * rng.standard_normal((30, 2)) + 4 * np.column_stack(
        [np.cos(angle), np.sin(angle)]
    ), y


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_a_mean_of_unit_vectors_is_shorter_than_one(fit_intercept):
    X, y = make_teacher_student(60, 10, random_state=2)
    model = BayesPoint(fit_intercept=fit_intercept, n_estimators=20, random_state=0).fit(X, y)
    assert 0.5 < np.linalg.norm(lengthened_weights(model, fit_intercept)) < 1.0
    one = BayesPoint(fit_intercept=fit_intercept, n_estimators=1, random_state=0).fit(X, y)
    assert_allclose(np.linalg.norm(lengthened_weights(one, fit_intercept)), 1.0, rtol=1e-12)


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 100), st.sampled_from(THRESHOLDS))
def test_the_mean_of_solutions_is_a_solution(n, d, seed, fit_intercept):
    """The version space is convex."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    X[:2] = np.eye(d)[0], -np.eye(d)[0]
    X[:, 0] += 0.3 * np.sign(X[:, 0])
    y = X[:, 0] > 0
    model = BayesPoint(fit_intercept=fit_intercept, n_estimators=5, random_state=seed).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.stability_ > 0.0


def test_weights_are_those_of_the_strengths():
    X, y = make_teacher_student(50, 8, random_state=3)
    S = np.where(y == y.max(), 1.0, -1.0)
    for fit_intercept, N in (("clamped", 9), ("free", 8), (False, 8)):
        model = BayesPoint(fit_intercept=fit_intercept, n_estimators=10, random_state=0).fit(X, y)
        u = model.embedding_strengths_[0]
        assert_allclose(model.coef_[0], (u * S) @ X / N, rtol=1e-10)
        assert fit_intercept != "free" or abs((u * S).sum()) < 1e-12
        assert (u >= 0).all()


def test_generalises_better_than_a_perceptron():
    """The error arccos(w.w*) / pi, on average over rules: by more than three standard errors."""
    better = []
    for seed in range(20):
        X, y, teacher = make_teacher_student(60, 20, random_state=seed, return_teacher=True)

        def error(model, X=X, y=y, teacher=teacher):
            w = model.fit(X, y).coef_[0]
            cosine = w @ teacher / np.linalg.norm(w) / np.linalg.norm(teacher)
            return np.arccos(cosine) / np.pi

        one = error(Rosenblatt(fit_intercept=False))
        center = error(BayesPoint(fit_intercept=False, n_estimators=50, random_state=0))
        better.append(one - center)
    assert np.mean(better) > 3 * np.std(better) / np.sqrt(len(better))
    assert np.mean(better) > 0.01


def test_the_seed_decides():
    X, y = make_teacher_student(60, 10, random_state=4)
    first, again, other = (
        BayesPoint(n_estimators=3, random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_what_cannot_be_separated(rng, fit_intercept):
    y = rng.randint(0, 2, 80)
    X = rng.standard_normal((80, 2)) + 1.5 * y[:, None]
    model = BayesPoint(n_estimators=10, max_iter=20, fit_intercept=fit_intercept, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"No hyperplane separates.*Pocket") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.score(X, y) > 0.65
    member = Rosenblatt(order="random", max_iter=20, fit_intercept=fit_intercept, random_state=0)
    with pytest.warns(ConvergenceWarning):
        member.fit(X, y)
    np.testing.assert_array_equal(model.coef_, member.coef_)


def test_lines(capsys):
    X, y = make_teacher_student(20, 3, random_state=5)
    BayesPoint(n_estimators=25, verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12  # 1 to 10, 20, 25
    assert lines[0].startswith("the two classes, perceptron 1: ")
    assert "perceptron 25: " in lines[-1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0 of BayesPoint must be an integer of at least 1"),
        ({"n_estimators": 2.5}, "n_estimators=2.5 of BayesPoint"),
        ({"c": -1}, "c=-1 of BayesPoint must be a finite number of at least 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        BayesPoint(**parameters).fit([[0.0], [1.0]], [0, 1])
