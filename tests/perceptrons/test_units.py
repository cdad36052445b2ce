"""What perceptrons see and keep: inputs, thresholds, the best weights, presentation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from protolearn import Adaline, Pocket, Rosenblatt
from protolearn.perceptrons.examples import (
    HARD,
    TOGETHER,
    Best,
    Examples,
    Inputs,
    aligned_zeros,
    best_threshold,
)
from protolearn.perceptrons.presentation import (
    PRICE,
    SORTING,
    LearningRule,
    count_errors,
    draw,
    sweep,
)
from protolearn.perceptrons.rosenblatt import learn_what_is_missing
from protolearn.perceptrons.training_record import Training
from reference import lengthened, threshold_errors

THRESHOLDS = ("clamped", "free", False)

wholes = st.integers(-3, 3)


def signs_of(n):
    return arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0]))


@st.composite
def fields_and_signs(draw, elements=wholes):
    n = draw(st.integers(1, 9))
    fields = draw(arrays(np.float64, n, elements=elements))
    return fields, draw(signs_of(n))


# Inputs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("d", [1, 7, 8, 9])
def test_inputs(rng, fit_intercept, d):
    X = rng.standard_normal((5, d))
    inputs = Inputs.of(X, fit_intercept)
    N = d + (fit_intercept == "clamped")
    assert inputs.size == N
    assert inputs.rows.shape[1] % 8 == 0
    moved = X - np.sort(X, axis=0)[2] if fit_intercept == "free" else X  # of five: the median
    assert_array_equal(inputs.rows[:, :N], lengthened(moved, fit_intercept == "clamped"))
    assert not inputs.rows[:, N:].any()
    assert_allclose(inputs.squares, [z @ z / N for z in inputs.rows], rtol=1e-14)
    assert inputs.clamped == (fit_intercept == "clamped")
    assert (inputs.center is None) == (fit_intercept != "free")


def test_a_given_center(rng):
    X = rng.standard_normal((5, 3))
    assert_array_equal(Inputs.of(X, "free", X[0]).rows[:, :3], X - X[0])


# Thresholds --------------------------------------------------------------------------------------


def places(fields):
    """Give a threshold in the middle of each gap, and one beyond each end."""
    values = np.unique(fields)
    return [values[0] - 1, *(0.5 * (values[1:] + values[:-1])), values[-1] + 1]


@given(fields_and_signs())
def test_the_best_threshold_has_the_fewest_errors(data):
    fields, signs = data
    theta = best_threshold(fields, signs)
    fewest = min(threshold_errors(fields, signs, place) for place in places(fields))
    assert threshold_errors(fields, signs, theta) == fewest


@given(fields_and_signs())
def test_the_best_threshold_is_in_the_middle_of_the_widest_gap(data):
    fields, signs = data
    theta = best_threshold(fields, signs)
    errors = [threshold_errors(fields, signs, place) for place in places(fields)]
    values = np.unique(fields)
    gaps = [
        (values[k + 1] - values[k], 0.5 * (values[k + 1] + values[k]))
        for k in range(len(values) - 1)
        if errors[k + 1] == min(errors)
    ]
    if gaps:
        widest = max(gap for gap, _ in gaps)
        assert theta in [middle for gap, middle in gaps if gap == widest]
    else:
        assert theta < values[0] or theta > values[-1]


@given(fields_and_signs(st.floats(-1e100, 1e100)))
def test_no_error_is_overlooked(data):
    """Even for neighbouring doubles: a threshold that is equal to a field is an error there."""
    fields, signs = data
    theta = best_threshold(fields, signs)
    assert np.isfinite(theta)
    at_most = min((signs > 0).sum(), (signs < 0).sum())  # beyond all of them
    assert threshold_errors(fields, signs, theta) <= at_most


def test_no_threshold_between_neighbouring_doubles():
    """The fields of equal rows may differ in the last digit: nothing tells these apart."""
    low, high = 1.0, np.nextafter(1.0, 2.0)
    assert not low < best_threshold(np.array([low, high]), np.array([-1.0, 1.0])) <= high
    fields, signs = np.array([0.0, low, high, high, 9.0]), np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    assert best_threshold(fields, signs) == 0.5


# The best weights --------------------------------------------------------------------------------


@given(st.lists(arrays(np.float64, 5, elements=wholes), min_size=1, max_size=8), signs_of(5))
def test_the_best_has_fewest_errors_then_the_largest_stability(offers, signs):
    best, seen = Best(signs, free=False), []
    for k, fields in enumerate(offers):
        u, length = np.full(5, float(k + 1)), float(k % 3)
        kappa = (signs * fields).min() / length if length else 0.0
        errors = threshold_errors(fields, signs, 0.0)
        expected = not seen or (errors, -kappa) < min(seen)[:2]
        assert best.offer(fields, length, u) == expected
        seen.append((errors, -kappa, k))
        u[:] = -1.0  # what was kept is a copy
    assert (best.errors, -best.stability) == min(seen)[:2]
    assert_array_equal(best.strengths, min(seen)[2] + 1.0)


def test_the_first_offer_is_taken_even_if_all_is_wrong():
    best = Best(np.array([1.0, -1.0]), free=False)
    assert best.offer(np.array([-1.0, 1.0]), 1.0, np.ones(2))
    assert (best.errors, best.stability) == (2, -1.0)


def test_a_free_threshold_comes_with_the_best():
    best = Best(np.array([1.0, -1.0, 1.0]), free=True)
    assert best.offer(np.array([5.0, 1.0, 3.0]), 2.0, np.ones(3))
    assert (best.errors, best.stability, best.threshold) == (0, 0.5, 2.0)


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_the_unit_of_the_best_strengths(rng, fit_intercept):
    X, signs = rng.standard_normal((6, 3)), np.array([1.0, -1.0] * 3)
    examples = Examples(Inputs.of(X, fit_intercept), signs, "the two classes")
    u = rng.randint(0, 4, 6).astype(float)
    best = examples.best()
    assert examples.offer(best, examples.weights(u) * examples.inputs.size, u)
    unit = examples.unit(best, u, 7, 3, "why")
    Z, N = examples.inputs.rows, examples.inputs.size
    assert_allclose(unit.weights, sum(u[i] * signs[i] * Z[i] for i in range(6)) / N, atol=1e-15)
    E = signs * (Z @ unit.weights - unit.threshold)
    assert best.errors == (E <= 0).sum()
    assert_allclose(best.stability, E.min() / np.linalg.norm(unit.weights), rtol=1e-12)
    assert (unit.n_updates, unit.n_iter, unit.complaint) == (7, 3, "why")
    assert_array_equal(examples.classes()[0], [1, 3, 5])
    assert_array_equal(examples.classes()[1], [0, 2, 4])


@pytest.mark.parametrize("shape", [(8,), (1, 8), (3, 16)])
def test_rows_begin_with_a_line_of_the_cache(shape):
    for _ in range(5):
        numbers = aligned_zeros(*shape)
        assert numbers.shape == shape
        assert not numbers.any()
        assert numbers.flags.c_contiguous
        assert numbers.ctypes.data % 64 == 0


# Presentation ------------------------------------------------------------------------------------


@st.composite
def presentations(draw):
    n, d = draw(st.integers(2, 11)), draw(st.integers(1, 3))
    rows = np.zeros((n, 8))
    rows[:, :d] = draw(arrays(np.int64, (n, d), elements=wholes))
    order = draw(st.lists(st.integers(0, n - 1), min_size=0, max_size=20))
    w = np.zeros(8)
    w[:d] = draw(arrays(np.int64, d, elements=wholes))
    return rows, draw(signs_of(n)), np.array(order, dtype=np.intp), w


def in_single_precision(mirrored):
    """Give examples of length one below room for weights, and zeros up to a multiple of four."""
    lengths, fill = (
        np.linalg.norm(mirrored, axis=1, keepdims=True),
        np.zeros((-len(mirrored) % 4, 8)),
    )
    hard = np.vstack([np.zeros(8), mirrored / np.where(lengths > 0.0, lengths, 1.0), fill])
    return hard.astype(np.float32)


@given(presentations(), st.sampled_from([0.0, 1.0, 2.5]), st.integers(1, 3))
def test_a_sweep_is_one_example_after_the_other(data, c, times):
    """Whole numbers, so that E = c happens: it is a mistake. Two at a time changes nothing."""
    rows, signs, order, w = data
    u, plain, mistakes = np.zeros(len(rows)), w.copy(), []
    while len(mistakes) < times and 0 not in mistakes:
        mistakes.append(0)
        for i in order:
            if signs[i] * (rows[i] @ plain) <= c:
                plain += signs[i] * rows[i]
                u[i] += 1
                mistakes[-1] += 1
    for function in (sweep, sweep.py):
        fast, strengths = w.copy(), np.zeros(len(rows))
        mirrored = signs[:, None] * rows
        hard = in_single_precision(mirrored)
        made = function(mirrored, order, times, c, fast, strengths, hard, -1)
        assert tuple(made) == (len(mistakes), sum(mistakes), mistakes[-1], 0)
        assert_array_equal(fast, plain)
        assert_array_equal(strengths, u)


@pytest.mark.parametrize("place", range(9))
def test_a_potential_of_c_is_a_mistake_at_every_place(place):
    rows, w, u = np.zeros((9, 8)), np.zeros(8), np.zeros(9)
    rows[:, 0], w[0] = 2.0, 1.0
    rows[place] = 0.5, *np.eye(7)[0]
    hard = in_single_precision(rows)
    assert sweep(rows, np.arange(9), 1, 0.5, w, u, hard, 9) == (1, 1, 1, 1)
    assert_array_equal(u, np.eye(9)[place])
    assert_array_equal(w[:2], [1.5, 1.0])


@given(presentations(), st.data(), st.sampled_from([0.0, 2.0]))
def test_draws_stop_at_weights_that_may_be_better(data, other, c):
    rows, signs, order, w = data
    n, pairs = len(rows), other.draw(st.booleans(), label="pairs")
    partners = other.draw(
        arrays(np.intp, len(order), elements=st.integers(0, n - 1)), label="partners"
    )
    partners = partners if pairs else np.full(len(order), -1)
    state = np.array(other.draw(st.tuples(*[st.integers(0, 3)] * 3)), dtype=np.intp)
    state = np.append(state, other.draw(st.tuples(st.integers(0, 1), *[st.integers(0, 4 * n)] * 2)))
    earned = other.draw(st.integers(0, n), label="earned")
    run, longest, mistakes, counted, fewest, credit = state.tolist()
    plain, u, position, hopeful = w.copy(), np.zeros(n), 0, 0
    while position < len(order) and not hopeful:
        chosen = [k for k in (order[position], partners[position]) if k >= 0]
        credit += earned
        if sum(signs[k] * (rows[k] @ plain) for k in chosen) > c:
            run += 1
            if run > longest and not counted and credit >= PRICE * n:
                counted, wrong = 1, signs * (rows @ plain) <= 0
                too_many = np.flatnonzero(signs * (rows @ plain) < 0)[fewest:]  # beyond doubt
                looked = -(-(too_many[0] + 1) // 4) * 4 if len(too_many) else n  # four at a time
                looked += 0 if len(too_many) else plain.any() * -(-n // 4) * 4
                credit -= SORTING * n if pairs else PRICE * looked
                hopeful = int(pairs or wrong.sum() <= fewest)
        else:
            for k in chosen:
                plain += signs[k] * rows[k]
                u[k] += 1
            run, mistakes, counted = 0, mistakes + 1, 0
        position += 1
    strengths = np.zeros(n)
    mirrored = signs[:, None] * rows
    hard = in_single_precision(mirrored)
    end = draw(mirrored, order, partners, False, 0, c, earned, w, strengths, state, hard)
    assert tuple(end) == (position, hopeful)
    assert_array_equal(w, plain)
    assert_array_equal(strengths, u)
    assert state.tolist() == [run, longest, mistakes, counted, fewest, credit]


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_errors_are_counted_as_in_double_precision(rng, size):
    """Also where single precision cannot tell: rows nearly orthogonal to the weights, and zeros."""
    w = rng.standard_normal(24)
    mirrored = rng.standard_normal((200, 24))
    mirrored[:100] -= np.outer(mirrored[:100] @ w, w) / (w @ w)
    mirrored[:100] += np.outer(rng.choice([-1e-9, 1e-9], 100), w)
    mirrored[100] = 0.0
    expected = np.count_nonzero(mirrored @ w <= 0.0)
    lengths = np.linalg.norm(mirrored, axis=1, keepdims=True)
    unit = mirrored / np.where(lengths > 0.0, lengths, 1.0)
    hard = np.vstack([np.zeros(24), unit]).astype(np.float32)
    for most in (0, expected - 1, expected, 200):
        errors, _ = count_errors(mirrored, hard, size * w, most)
        assert (errors <= most) == (expected <= most)
        assert errors == expected or errors > most


def test_hard_examples_are_those_of_low_potential_with_length_one(rng):
    """Four an error and 64 others; zeros stay zeros, and fill up the last lines."""
    rows = 1e3 * rng.standard_normal((200, 8))
    rows[7] = 0.0
    examples = Examples(Inputs(rows, 8, None, False), rng.choice([-1.0, 1.0], 200), "")
    best, u = examples.best(), np.ones(200)
    assert examples.hard_rows(best).shape == (1, 8)
    assert examples.offer(best, examples.sums(u), u)
    best.potentials[7] = -1e9
    for errors in (best.errors, 5):
        best.errors, low = errors, min(4 * errors, 200)
        hard, count = examples.hard_rows(best), min(low + HARD, 200)
        mirrored = examples.mirrored_rows[np.argsort(best.potentials)[:low]]
        lengths = np.linalg.norm(mirrored, axis=1, keepdims=True)
        unit = mirrored / np.where(lengths > 0.0, lengths, 1.0)
        assert len(hard) == 1 - -count // TOGETHER * TOGETHER
        found, unit = (each[np.argsort(each[:, 0])] for each in (hard[1 : low + 1], unit))
        assert_allclose(found, unit, rtol=1e-6, atol=1e-7)
        assert_allclose(np.linalg.norm(hard[low + 1 : count + 1], axis=1), 1.0, rtol=1e-6)
        assert not hard[count + 1 :].any()


def test_learning_in_turn(rng):
    rows = np.zeros((6, 8))
    rows[:, :3] = rng.standard_normal((6, 3))
    signs, target, weight = np.array([1.0, -1.0] * 3), rng.standard_normal(6), rng.rand(6)
    w, u = np.zeros(8), np.zeros(6)
    examples = Examples(Inputs(rows, 4, None, False), signs, "")
    rule = LearningRule.of(learn_what_is_missing, (0.5,), examples)
    rule = rule._replace(weight=weight, shift=1.0 - signs * target)
    assert rule.in_turn(examples, np.arange(6), w, u) == 6
    plain = np.zeros(8)
    for i in range(6):
        step = 0.5 * weight[i] * (target[i] - plain @ rows[i])
        plain += 0.25 * step * rows[i]
        assert_allclose(u[i], signs[i] * step, rtol=1e-12)
    assert_allclose(w, plain, rtol=1e-12)


# Lines -------------------------------------------------------------------------------------------


def test_lines_get_rarer(capsys):
    progress = Training("the two classes", 1, verbose=1)
    for count in range(1, 251):
        progress.report(count, "x", last=count == 250)
    said = [int(line.split()[4][:-1]) for line in capsys.readouterr().out.splitlines()]
    assert said == [*range(1, 11), *range(20, 101, 10), 200, 250]
    Training("nothing", 1).report(1, "x", last=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("model", [Rosenblatt(), Pocket(random_state=0), Adaline()])
def test_verbose(capsys, model):
    model.set_params(verbose=1).fit([[0.0], [1.0], [4.0]], ["a", "a", "b"])
    out = capsys.readouterr().out
    assert out.startswith("the two classes, sweep 1: ")
    assert f"sweep {model.n_iter_}: " in out.splitlines()[-1]
    model.fit([[0.0, 0.0], [9.0, 1.0], [0.0, 9.0]], ["a", "b", "c"])
    out = capsys.readouterr().out
    assert [f"class '{name}' from the rest, sweep 1" in out for name in "abc"] == [True] * 3
