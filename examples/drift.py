"""
Following a drift
=================

Rows come one after another, and what they look like changes slowly. A model that was fitted once
gets old. ``partial_fit`` goes on learning, but only as far as its learning rate lets it: with a
rate that vanishes it stops to follow, with one that stays it does not. Each block of rows is
predicted first and learned from afterwards, so all accuracies are those on new rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from protolearn import GLVQ
from protolearn.solvers import SGD

COLOURS = ["#444444", "#E69F00", "#0072B2", "#009E73"]
CLASSES = ["#CC79A7", "#56B4E9", "#D55E00"]

# %%
# Three round classes on a circle, which makes one and a quarter turns while the stream lasts. No
# classifier is better than the one that knows the centres at every moment.
ROWS, BLOCK, TURNS, RADIUS = 150_000, 1_500, 1.25, 1.7


def centres(t):
    """Give the centres of the three classes after t rows."""
    angle = 2.0 * np.pi * (TURNS * t[:, None] / ROWS + np.arange(3) / 3)
    return RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


rng = np.random.RandomState(0)
y = rng.randint(3, size=ROWS)
places = centres(np.arange(ROWS))
X = places[np.arange(ROWS), y] + rng.standard_normal((ROWS, 2))
known = np.linalg.norm(X[:, None] - places, axis=2).argmin(axis=1) == y

# %%
# Four ways to learn. The first sees only the first block. The rate of the second falls as
# ``1 / (1 + t / 1000)``: right for a world that stays as it is, where every row should count the
# same. The third is the default: its rate falls ten times as slowly, and a tenth of it stays for
# ever. The last has the same rate all the time. In a stream as short as this one the slower fall is
# what helps the default; ``least_rate=0.1`` would help the second as much. Without it the default,
# too, would fall behind, after some hundred thousand rows more.
models = {
    "fitted once": GLVQ(random_state=0),
    "rate that vanishes": GLVQ(solver=SGD(schedule="inverse_time", decay=1e-3), random_state=0),
    "default rate": GLVQ(random_state=0),
    "constant rate": GLVQ(solver=SGD(schedule="constant"), random_state=0),
}
blocks = np.arange(ROWS).reshape(-1, BLOCK)
right = np.full((len(models), len(blocks)), np.nan)
paths = np.empty((len(models), len(blocks), 3, 2))
for i, (name, model) in enumerate(models.items()):
    for j, rows in enumerate(blocks):
        if j > 0:
            right[i, j] = np.mean(model.predict(X[rows]) == y[rows])
        if name != "fitted once":
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        elif j == 0:
            model.fit(X[rows], y[rows])
        paths[i, j] = model.prototypes_

best = known[blocks].mean(axis=1)
lines = dict(zip([*models, "known centres"], [*right, best], strict=True))
print("Accuracy on new rows, in the three thirds of the stream")
for name, line in lines.items():
    thirds = np.array_split(line[1:], 3)
    print(f"{name:20}" + "".join(f"{third.mean():8.3f}" for third in thirds))


# %%
# What was fitted once is wrong about nearly everything after half a turn, and right again after a
# whole one. The rate that vanishes falls behind more and more. The other two follow, and on the
# right is how far they stay behind the best: the default by less, since a constant rate trembles
# more than such a slow drift needs. If the circle turned four times as fast, it would be the other
# way round. The curves are means of 5 and of 15 blocks.
def smooth(values, n):
    """Give the mean of n blocks around each, of fewer at the ends."""
    window, ones = np.ones(n), np.ones(len(values))
    return np.convolve(values, window, "same") / np.convolve(ones, window, "same")


figure, (whole, near) = plt.subplots(
    1, 2, figsize=(10, 3.6), width_ratios=[2, 1], layout="constrained"
)
time = blocks[1:, 0] / 1000.0
for name, line, colour in zip(models, right, COLOURS, strict=True):
    whole.plot(time, smooth(line[1:], 5), color=colour, lw=1.8, label=name)
    if name != "fitted once":
        near.plot(time, 100.0 * smooth((best - line)[1:], 15), color=colour, lw=1.8)
whole.plot(time, smooth(best[1:], 5), ":", color="black", lw=1.4, label="known centres")
whole.set(ylabel="accuracy on new rows", ylim=(0.0, 1.0))
near.set(ylabel="% behind known centres", ylim=(0.0, 3.0))
for ax in (whole, near):
    ax.set(xlabel="rows seen, in thousands", xlim=(0.0, ROWS / 1000.0))
    ax.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper center", ncols=5, frameon=False)

# %%
# The prototypes in the last quarter turn, with a dot where they end; grey is the way of the
# centres, with crosses at its end. GLVQ puts its prototypes a little outside of the centres, where
# they decide the same.
last = len(blocks) // 5
ways = centres(np.linspace(0.8 * ROWS, ROWS, 50))
figure, panels = plt.subplots(
    1, 4, figsize=(10, 2.9), sharex=True, sharey=True, layout="constrained"
)
for ax, name, path, tint in zip(panels, models, paths, COLOURS, strict=True):
    for k, colour in enumerate(CLASSES):
        ax.plot(*ways[:, k].T, color="#CCCCCC", lw=5, solid_capstyle="round")
        ax.plot(*path[-last:, k].T, color=colour, lw=1.2)
        ax.plot(*path[-1, k], "o", color=colour, mec="black", ms=7)
        ax.plot(*ways[-1, k], "x", color=colour, ms=8, mew=2.5)
    ax.set_title(name, color=tint, fontsize=11)
    ax.set(aspect="equal", xticks=[], yticks=[])
plt.show()
