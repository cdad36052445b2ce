"""Figures 1 to 4 of Graf et al. in small, and the geometry behind them."""

import numpy as np
import pytest

import protolearn_papers
from given_profile import in_all
from protolearn import HardMarginSVM, MeanOfClass
from protolearn_papers.claims import Claim, claims_table, small, told
from protolearn_papers.graf import boosting, neurons, toy
from protolearn_papers.graf.fits import HARD, LEAST, MEAN, SOFT, on_neurons, on_toy
from protolearn_papers.graf.geometry import angle, canonical_gap, distances, from_middle, margin

CORNERS = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 1.0], [4.0, 0.0], [4.0, 2.0]])
SIDES = np.array([-1, -1, -1, 1, 1, 1])


@pytest.fixture(scope="module")
def separable():
    return on_toy(0)


@pytest.fixture(scope="module")
def overlapping():
    return on_neurons(0, 60)


def test_geometry_of_a_known_line():
    """The widest margin between (1, 1) and (3, 1) is 1, on the line x = 2."""
    svm = HardMarginSVM().fit(CORNERS, SIDES)
    assert margin(svm, CORNERS, SIDES) == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(distances(svm, [[2.0, 7.0], [5.0, 0.0]]), [0.0, 3.0], atol=1e-6)
    assert from_middle(svm) == pytest.approx(0.0, abs=1e-9)
    assert canonical_gap(svm, CORNERS) < 1e-9


def test_angle_turns_with_the_points():
    turn = np.deg2rad(37.0)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    first, second = MeanOfClass().fit(CORNERS, SIDES), MeanOfClass().fit(CORNERS @ rotation, SIDES)
    assert angle(first, second) == pytest.approx(37.0)
    assert angle(first, first) == 0.0


def test_shift_moves_the_line_from_the_middle():
    svm = HardMarginSVM().fit(CORNERS, SIDES)
    svm.shift_ = np.array([2.0 * 4.0 * 0.25])  # |p+ - p-|^2 = 4
    assert from_middle(svm) == pytest.approx(0.25, rel=1e-6)


def test_canonical_gap_sees_a_wrong_coefficient(separable):
    model = MeanOfClass().fit(separable.X, separable.y)
    assert canonical_gap(model, separable.X) < 1e-12
    model.dual_coef_ = 1.01 * model.dual_coef_
    assert canonical_gap(model, separable.X) == pytest.approx(0.02)


def test_figure_1(separable):
    found = toy.facts(0)
    assert found["middle"] < 1e-9
    assert max(found["shift"], key=found["shift"].get) == "RVM"
    assert found["nearest"][HARD] == pytest.approx(
        margin(separable.models[HARD], separable.X, separable.y), rel=1e-6
    )
    rows = {one["classifier"]: one for one in toy.models_table(separable).records}
    assert max(one["margin"] for one in rows.values()) == pytest.approx(rows[HARD]["margin"])
    assert rows["boosted prototypes"]["angle"] < 0.1 < rows[MEAN]["angle"]


def test_statements_follow_the_numbers():
    """A draw in which nothing is as the paper says."""
    draw = {
        "middle": 0.1,
        "shift": {"RVM": 1.0, "Fisher": 2.0},
        "second": 0.5,
        "centre": 0.5,
        "nearest": {HARD: 2.0, MEAN: 1.0},
        "canonical": 0.1,
    }
    assert [claim.verdict for claim in toy.claims_of([draw])] == ["no"] * 6
    good = {**draw, "middle": 0.0, "shift": {"RVM": 3.0, "Fisher": 2.0}}
    shares = [claim.share for claim in toy.claims_of([draw, good])]
    assert shares == [0.0, 0.5, 0.5, 0.0, 0.0, 0.0]


def test_figure_2_goes_from_the_means_to_the_machine(separable):
    found = boosting.ends(separable, HARD)
    means, machine = (separable.models[name].prototypes_ for name in (MEAN, HARD))
    for path in found.values():
        assert path["way"][0] == pytest.approx(np.linalg.norm(means - machine), rel=0.01)
        assert path["first"][0] < 0.01 * path["way"][0]
        assert path["last"][0] < 0.01 * path["way"][0]
    assert found[boosting.ROUNDS]["first"][0] == pytest.approx(0.0, abs=1e-12)


def test_figure_3_ends_at_the_chosen_machine(overlapping):
    fits, C = overlapping
    assert fits.models[SOFT].C == fits.boosted.C == C
    assert fits.soft.values[[0, -1]] == pytest.approx([LEAST * C, C])
    table = boosting.chosen_table(fits, C)
    errors = {one["C"]: one["error"] for one in table.records}
    assert (
        errors[C] == min(errors.values()) == pytest.approx(1 - fits.models[SOFT].score(*fits[:2]))
    )
    assert [row[2] for row in table.rows].count("yes") == 1


def test_figure_4(overlapping):
    fits, _ = overlapping
    found = neurons.facts(fits)
    models = found["models"]
    assert models[SOFT]["error"] == pytest.approx(1.0 - fits.models[SOFT].score(fits.X, fits.y))
    assert np.abs(models[SOFT]["prototypes"]).max() < np.abs(models[MEAN]["prototypes"]).min()
    assert found["ends"][0] == pytest.approx(0.0, abs=1e-9)
    assert found["ends"][1] < 0.01


def test_projected_gaussians_are_gaussian():
    """At the level of the test, about one in twenty is rejected: the statement cannot hold."""
    draws = [neurons.draw_of_neurons(seed, 60) for seed in range(3)]
    claim = next(one for one in neurons.claims_of(draws) if "Gaussian" in one.what)
    assert claim.share < 0.3


@pytest.mark.parametrize(
    "name", in_all("graf-fig3", thorough=["graf-fig1", "graf-fig2", "graf-fig4"])
)
def test_runs_and_draws(name, tmp_path):
    found = protolearn_papers.run(name, tmp_path, quick=True, seed=1)
    assert {table.name for table in found.tables} >= {"statements"}
    assert found.remarks
    for figure in found.figures:
        assert (tmp_path / f"{figure.name}.png").stat().st_size > 10_000


def test_same_seed_same_numbers():
    first, again = (protolearn_papers.run("graf-fig4", quick=True, seed=1) for _ in range(2))
    assert [table.records for table in again.tables] == [table.records for table in first.tables]


def test_claims_in_words():
    claims = [
        Claim("A", "1", "1", 1.0),
        Claim("B", "2", "3", 0.75),
        Claim("C", "2", "4", 0.0),
    ]
    assert [row[3] for row in claims_table("t", "T", claims).rows] == ["yes", "in 75 %", "no"]
    first, second, third = told(claims)
    assert first.startswith("1 of 3 statements")
    assert second.startswith("Holds in 75 %: B")
    assert third.startswith("Does not hold: C")
    assert small(1e-12) == "0"
    assert small(0.01234) == "0.012"
