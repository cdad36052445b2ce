"""Figures 5.2 and 6.1 of Biehl's lecture notes in small."""

import numpy as np
import pytest

import protolearn_papers
from given_profile import long_test
from protolearn_papers.biehl import fig52, fig61


@pytest.fixture(scope="module")
def system(iris):
    return fig52.system(fig52.SHORT, 0).fit(*iris)


def test_figure_5_2_statements_hold(iris, system):
    X, y = iris
    claims = fig52.claims_of("short", system, list("abcd"), system.score(X, y), 0.96)
    assert [claim.verdict for claim in claims] == ["yes"] * 5
    assert "3 and 4" in claims[2].ours


def test_other_features_are_not_called_three_and_four(system):
    """The same matrix with its features in another order."""
    order = [2, 1, 0, 3]

    class Turned:
        metric_ = system.metric_[np.ix_(order, order)]
        relevances_ = system.relevances_[order]

    verdicts = [one.verdict for one in fig52.claims_of("turned", Turned, list("abcd"), 0.5, 0.5)]
    assert verdicts == ["no", "no", "no", "no", "yes"]


def test_eigenvalues_fall_and_sum_to_one(system):
    found = fig52.eigenvalues(system)
    assert found.sum() == pytest.approx(1.0)
    assert (np.diff(found) <= 0.0).all()
    assert system.relevances_.sum() == pytest.approx(1.0)


def test_figure_5_2_runs(tmp_path):
    found = protolearn_papers.run("biehl-fig52", tmp_path, quick=True)
    assert (tmp_path / "fig5_2.png").stat().st_size > 10_000
    again = np.mean(fig52.accuracies(fig52.LONG, 0))
    rows = {row[0]: row for row in found.tables[0].rows}
    assert rows[f"Test accuracy, {fig52.LONG}"][2] == f"{100 * again:.1f} %"


@pytest.mark.parametrize("degree", [1, 3, 7])
def test_parts_are_those_of_the_hat_matrix(degree):
    """Least squares is linear in the targets, so bias and variance are known exactly."""
    x = np.linspace(-1.0, 1.0, fig61.POINTS)
    hat = np.vander(fig61.GRID, degree + 1) @ np.linalg.pinv(np.vander(x, degree + 1))
    bias = np.square(hat @ x**3 - fig61.GRID**3).mean()
    variance = fig61.NOISE**2 * np.square(hat).sum(axis=1).mean()
    found = fig61.polynomial(degree, 0, 4000)
    assert found["variance"] == pytest.approx(variance, rel=0.05)
    assert found["bias"] == pytest.approx(bias, abs=2 * variance / 4000, rel=0.02)
    assert found["error"] == pytest.approx(found["bias"] + found["variance"], rel=1e-12)
    free = (fig61.POINTS - degree - 1) / fig61.POINTS
    unfit = np.square(
        np.vander(x, degree + 1) @ np.linalg.pinv(np.vander(x, degree + 1)) @ x**3 - x**3
    )
    assert found["training"] == pytest.approx(fig61.NOISE**2 * free + unfit.mean(), rel=0.05)


def test_fits_of_the_right_degree_are_exact():
    x = np.linspace(-1.0, 1.0, fig61.POINTS)
    at = np.array([-1.1, 0.3, 1.1])
    np.testing.assert_allclose(fig61.fitted(3, x, (x**3)[None], at), [at**3], atol=1e-12)


def test_figure_6_1_statements_hold():
    claims = fig61.polynomial_claims({K: fig61.polynomial(K, 1, 500) for K in fig61.DEGREES})
    assert [claim.verdict for claim in claims] == ["yes"] * len(claims)


def test_statements_about_prototypes_follow_the_numbers():
    rising = {1: {"bias": 0.1, "variance": 0.3, "error": 0.2}}
    rising |= {2: {"bias": 0.2, "variance": 0.2, "error": 0.1}}
    rising |= {3: {"bias": 0.3, "variance": 0.1, "error": 0.3}}
    assert [one.verdict for one in fig61.prototype_claims("made", rising)] == ["no", "no", "yes"]


@long_test
def test_figure_6_1_runs(tmp_path):
    found = protolearn_papers.run("biehl-fig61", tmp_path, quick=True, seed=2)
    for name in ("fig6_1", "fig6_2"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    again = fig61.prototypes("wdbc", 1, 2, 3)
    records = {(one["set"], one["prototypes"]): one for one in found.tables[2].records}
    assert records["wdbc", 1] == {"set": "wdbc", "prototypes": 1, **again}
