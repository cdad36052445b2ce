"""
Lecture: prototypes, and how complex a model should be
======================================================

Figures 5.1 and 6.2 of Biehl's lecture notes: neighbours beside prototypes, how LVQ1 and GLVQ move
them, and the errors of training and test rows as a model becomes more complex.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from protolearn import GLVQ, LVQ1
from protolearn.report import ProjectionDisplay, TrajectoryDisplay

rng = np.random.RandomState(3)
centres = np.array([[0.0, 0.0], [2.2, 0.4], [1.0, 2.0], [-1.2, 1.6]])


def draw_rows(n):
    """Return rows of three classes, the last of two clusters."""
    which = rng.randint(4, size=n)
    return centres[which] + 0.75 * rng.standard_normal((n, 2)), np.minimum(which, 2)


# %%
# Figure 5.1. The nearest neighbour decides (left), or the nearest of a few prototypes (right). Both
# borders consist of straight pieces, and those of prototypes are much smoother.
X, y = draw_rows(90)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
models = {
    "nearest neighbour": KNeighborsClassifier(1),
    "prototypes": GLVQ(prototypes_per_class={2: 2}, random_state=0),
}
for ax, (name, model) in zip(panels, models.items(), strict=True):
    ProjectionDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)
    ax.set_title(name)
print("prototypes:", len(models["prototypes"].prototypes_), "of", len(X), "rows")

# %%
# How the prototypes came there: each sample moves one of them (LVQ1) or two (GLVQ).
figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
start = np.array([[1.0, 1.0], [1.1, 1.0], [1.0, 1.2], [0.9, 1.1]])
given = {"init": start, "prototypes_per_class": {2: 2}, "max_iter": 10, "random_state": 0}
for ax, model in zip(panels, (LVQ1(**given), GLVQ(solver="sgd", **given)), strict=True):
    model.set_params(history="step").fit(X, y)
    TrajectoryDisplay.from_estimator(model, X, y, legend=ax is panels[1], ax=ax)
    ax.set_title(f"{type(model).__name__}, {model.score(X, y):.0%} right")

# %%
# Figure 6.2. The more prototypes, the fewer training errors; on new rows there is a best number.
counts, repeats = np.array([1, 2, 4, 8, 16, 32]), 12
errors = np.empty((2, repeats, len(counts)))
for r in range(repeats):
    (X, y), (new, truth) = draw_rows(120), draw_rows(2000)
    for k, count in enumerate(counts):
        most = int(min(count, np.bincount(y).min()))
        model = GLVQ(prototypes_per_class=most, solver="sgd", random_state=0).fit(X, y)
        errors[:, r, k] = 1.0 - model.score(X, y), 1.0 - model.score(new, truth)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, error, tone in zip(("training", "test"), errors, ("#0072B2", "#D55E00"), strict=True):
    mean, spread = error.mean(axis=0), 2.0 * error.std(axis=0, ddof=1) / np.sqrt(repeats)
    ax.plot(counts, 100 * mean, "o-", color=tone, label=name)
    ax.fill_between(counts, 100 * (mean - spread), 100 * (mean + spread), color=tone, alpha=0.15)
ax.set(xscale="log", xlabel="prototypes of a class", ylabel="errors, %")
ax.set_xticks(counts, counts)
ax.minorticks_off()
ax.legend(frameon=False)
print("test errors:", (100 * errors[1].mean(axis=0)).round(1), "%")
