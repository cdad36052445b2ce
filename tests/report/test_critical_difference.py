"""The critical-difference picture."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from protolearn.report.critical_difference_display import (
    CriticalDifferenceDisplay,
    indistinct_groups,
)
from protolearn.selection import Comparison

LONG = "a name that is much too long for any picture, with $signs_ and % in it"


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def display(ranks, difference, names=None, alpha=None, **settings):
    names = [f"model {i}" for i in range(len(ranks))] if names is None else names
    return CriticalDifferenceDisplay(
        models=names, ranks=np.array(ranks), critical_difference=difference, alpha=alpha
    ).plot(**settings)


def bars(ax):
    return [line for line in ax.lines if line.get_gid() == "group"]


def test_groups_are_the_largest_ones(rng):
    for _ in range(50):
        ranks = np.sort(np.round(rng.uniform(1, 8, 8), 1))
        difference = rng.uniform(0.3, 4.0)
        close = np.abs(ranks[:, None] - ranks) < difference
        found = indistinct_groups(ranks, difference)
        together = np.zeros((8, 8), dtype=bool)
        for first, last in found:
            assert close[first : last + 1, first : last + 1].all()
            together[first : last + 1, first : last + 1] = True
        np.testing.assert_array_equal(together | np.eye(8, dtype=bool), close)  # no pair is missing
        assert not any(a <= c and d <= b for a, b in found for c, d in found if (a, b) != (c, d))


def test_comparison_is_drawn(rng):
    scores = rng.rand(10, 3, 1) + np.array([0.0, 0.05, 3.0])[:, None]
    sizes = np.ones((10, 1), dtype=int)
    names = "first", "second", "best"
    found = Comparison(tuple(map(str, range(10))), names, scores, scores, sizes, sizes)
    shown = CriticalDifferenceDisplay.from_comparison(found, alpha=0.1)
    assert shown.critical_difference == found.critical_difference(0.1)
    np.testing.assert_array_equal(shown.ranks, found.ranks)
    assert shown.ranks[2] == 1.0
    assert [set(group) for group in shown.groups_] == [{"first", "second"}]
    assert len(bars(shown.ax_)) == 1
    assert shown.ax_.get_yticklabels()[0].get_text() == "best  1.00"
    assert "alpha = 0.1" in shown.ax_.get_title(loc="left")
    one = Comparison(("d",), names, scores[:1], scores[:1], sizes[:1], sizes[:1])
    with pytest.raises(ValueError, match="there is only 'd'"):
        CriticalDifferenceDisplay.from_comparison(one)


def test_places():
    shown = display([3.0, 1.5, 1.5], 1.0, alpha=0.05)
    ranks, rows = shown.ax_.lines[0].get_data()
    assert ranks.tolist() == [1.5, 1.5, 3.0]
    assert rows.tolist() == [0, 1, 2]
    low, high = shown.ax_.get_ylim()
    assert low > high  # the best is on top
    names = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert names == ["model 1  1.50", "model 2  1.50", "model 0  3.00"]
    (bar,) = bars(shown.ax_)
    top, bottom = bar.get_ydata()
    assert top < 0 < 1 < bottom < 2
    (ruler,) = (line for line in shown.ax_.lines if line.get_gid() == "ruler")
    assert ruler.get_xdata().tolist() == [1.5, 2.5]


@pytest.mark.parametrize("n_models", [2, 4, 20])
@pytest.mark.parametrize("own", [True, False], ids=["figure", "given axes"])
def test_no_name_is_cut_or_covered(n_models, own, rng):
    ranks = np.sort(rng.uniform(1, n_models, n_models))
    names = [LONG, "short", LONG + LONG, *(f"model {i}" for i in range(n_models))][:n_models]
    ax = None if own else plt.subplots(1, 2, figsize=(12, 7), layout="constrained")[1][1]
    shown = display(ranks, 0.2 * n_models, names, ax=ax)
    shown.figure_.draw_without_rendering()
    frame = shown.figure_.bbox
    boxes = [text.get_window_extent() for text in shown.ax_.get_yticklabels()]
    assert not [(a, b) for a in boxes for b in boxes if a is not b and a.overlaps(b)]
    for box in (*boxes, *(line.get_window_extent() for line in bars(shown.ax_))):
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
