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


def display(ranks, difference, names=None, **settings):
    names = [f"model {i}" for i in range(len(ranks))] if names is None else names
    return CriticalDifferenceDisplay(
        models=names, ranks=np.array(ranks), critical_difference=difference
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
    texts = [text.get_text() for text in shown.ax_.texts]
    assert "best  1.00" in texts
    assert any("alpha = 0.1" in text for text in texts)
    one = Comparison(("d",), names, scores[:1], scores[:1], sizes[:1], sizes[:1])
    with pytest.raises(ValueError, match="there is only 'd'"):
        CriticalDifferenceDisplay.from_comparison(one)


def test_places():
    shown = display([3.0, 1.5, 1.5], 1.0)
    lines = [line for line in shown.ax_.lines if len(line.get_xdata()) == 3]  # leading to names
    place = sorted(line.get_xdata()[0] for line in lines)
    axis = next(filter(wide, shown.ax_.lines)).get_xdata()
    worst, best = axis
    assert worst < best  # better is further right
    assert place == pytest.approx([worst, *[worst + 0.75 * (best - worst)] * 2])
    (bar,) = bars(shown.ax_)
    assert bar.get_xdata()[0] < place[1] < bar.get_xdata()[1]


def test_ruler_that_is_longer_than_the_axis():
    ax = display([1.2, 1.8], 1.4).ax_
    axis, ruler = (
        line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and wide(line)
    )
    assert np.ptp(ruler) == pytest.approx(1.4 * np.ptp(axis))
    names = [end for line in ax.lines if len(line.get_xdata()) == 3 for end in line.get_xdata()]
    assert max(ruler) <= max(names)


def wide(line):
    return np.ptp(line.get_ydata()) == 0 and line.get_gid() != "group"


@pytest.mark.parametrize("n_models", [2, 3, 4, 12, 20])
@pytest.mark.parametrize("own", [True, False], ids=["figure", "given axes"])
def test_no_name_is_cut_or_covered(n_models, own, rng):
    ranks = np.sort(rng.uniform(1, n_models, n_models))
    names = [LONG, "short", LONG + LONG, *(f"model {i}" for i in range(n_models))][:n_models]
    ax = None if own else plt.subplots(1, 2, figsize=(10, 5), layout="constrained")[1][1]
    shown = display(ranks, 1.4 * (n_models - 1), names, ax=ax)
    figure = shown.figure_
    figure.draw_without_rendering()
    frame = figure.bbox if own else shown.ax_.get_window_extent().padded(1.0)
    boxes = [text.get_window_extent() for text in shown.ax_.texts]
    for box in boxes:
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
    overlaps = [(a, b) for a in boxes for b in boxes if a is not b and a.overlaps(b)]
    assert not overlaps
    for line in shown.ax_.lines:
        pixels = line.get_transform().transform(line.get_xydata())
        assert (pixels >= [frame.x0, frame.y0]).all()
        assert (pixels <= [frame.x1, frame.y1]).all()
