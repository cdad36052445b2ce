"""
Ensembles of small SVMs, before and after shifting
==================================================

Exemplar SVMs are as many linear models as there are rows, each for the neighbourhood of one of
them. Shifting and pruning turn them into prototype SVMs (Shen and Danyluk): models that are not
needed go, and those that are left gather their rows. The three sets of the paper, where one
hyperplane is hardly better than guessing, show what becomes of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split

from protolearn import PrototypeSVM, datasets

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#444444"
COLOURS, MARKS = np.array([BLUE, ORANGE]), "os"

# %%
# The sets, and a quarter of each to test. The customary spirals have 194 points, so few that a row
# whose neighbours on the spiral are left out has the other spiral next to it. These have four times
# as many.
sets = {
    "isolated": datasets.make_isolated(random_state=0),
    "striated": datasets.make_striated(random_state=0),
    "spirals": datasets.make_spirals(density=4),
}
parts = {
    name: train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    for name, (X, y) in sets.items()
}

# %%
# The same ensemble before the first shift and at the end. Of the rows to learn from a quarter is
# held out once more, to choose among the ensembles after each shift; both models hold out the same.
# With other seeds the one before the first shift is sometimes chosen: its clusters are single rows.
stages = {
    "exemplar SVMs": PrototypeSVM(n_shifts=0, pruning=None, random_state=1),
    "prototype SVMs": PrototypeSVM(random_state=1),
}


# %%
# A model is drawn as a star, its prototype, with thin lines to the rows of its cluster; and as a
# piece of its hyperplane, longer if the cluster is wider, with a strip on the side on which it
# fires. Of the exemplar SVMs only every third is drawn, so that there is something to see.
def pieces(model, X, unit):
    """Give the ends of a piece of each hyperplane, and those of the strip next to it."""
    length = np.linalg.norm(model.hyperplanes_, axis=1, keepdims=True)
    normals = model.hyperplanes_ / length
    along = normals[:, ::-1] * (-1.0, 1.0)
    heights = np.sum(model.prototypes_ * normals, axis=1, keepdims=True)
    feet = model.prototypes_ - (heights + model.offsets_[:, None] / length) * normals
    reach = [np.ptp(X[rows] @ a) / 2.0 for rows, a in zip(model.positive_sets_, along, strict=True)]
    reach = np.clip(reach, 2.0 * unit, 8.0 * unit)[:, None] * along
    lines = np.stack([feet - reach, feet + reach], axis=1)
    return lines, lines[:, ::-1] + 2.0 * unit * normals[:, None]


def draw_models(ax, model, X, unit):
    """Draw prototypes, clusters, and the hyperplanes near them; of many models every third."""
    shown = slice(None, None, 3 if len(model.prototypes_) > 200 else 1)
    colours, prototypes = COLOURS[model.prototype_labels_[shown]], model.prototypes_[shown]
    lines, inside = (ends[shown] for ends in pieces(model, X, unit))
    for colour, prototype, rows in zip(
        colours, prototypes, model.positive_sets_[shown], strict=True
    ):
        strings = [(prototype, row) for row in X[rows]]
        ax.add_collection(LineCollection(strings, colors=colour, lw=0.5, alpha=0.7, zorder=2))
    strips = PolyCollection(np.hstack([lines, inside]), facecolors=colours, alpha=0.4, zorder=3)
    ax.add_collection(strips)
    ax.add_collection(LineCollection(lines, colors=colours, lw=1.5, zorder=3))
    style = {"marker": "*", "edgecolors": "k", "lw": 0.5, "zorder": 4}
    ax.scatter(*prototypes.T, s=40, color=colours, **style)


def draw(ax, model, X, y, wrong):
    """Draw regions, rows and models; ring the test rows that are wrong."""
    middle, half = (X.min(axis=0) + X.max(axis=0)) / 2.0, 0.54 * np.ptp(X, axis=0).max()
    half = min(half, 2.6 * X.std(axis=0).max())  # a few rows far out do not have to be seen
    low, high = middle - half, middle + half
    DecisionBoundaryDisplay.from_estimator(
        model,
        np.stack([low, high]),
        ax=ax,
        response_method="predict",
        eps=0.0,
        grid_resolution=200,
        levels=[-0.5, 0.5, 1.5],
        colors=[BLUE, ORANGE],
        alpha=0.15,
    )
    for code, (colour, mark) in enumerate(zip(COLOURS, MARKS, strict=True)):
        ax.scatter(*X[y == code].T, s=8, color=colour, marker=mark, lw=0, alpha=0.5)
    ax.scatter(*wrong.T, s=50, facecolors="none", edgecolors="k", lw=1.0, zorder=5)
    draw_models(ax, model, X, 0.013 * half)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[], aspect="equal")


# %%
# Before shifting there is a model for every row, and all have a say. Each is right near its
# exemplar, but it fires in a whole half-space, across other clusters too. At the end few are left,
# most with a cluster of several rows, and the regions have the shape of the classes.
figure, axes = plt.subplots(2, 3, figsize=(11, 8.6), layout="compressed")
stories = {}
print("set       models              right of the test rows")
for column, (name, (X, X_test, y, y_test)) in zip(axes.T, parts.items(), strict=True):
    for ax, (stage, model) in zip(column, stages.items(), strict=True):
        right = model.fit(X, y).predict(X_test) == y_test
        number = f"{len(model.prototypes_)} {stage}"
        print(f"{name:8}  {number:18}  {100 * right.mean():.1f} %")
        draw(ax, model, X, y, X_test[~right])
        ax.set_title(
            f"{name}: {number}\n{100 * right.mean():.1f} % of the test rows are right", fontsize=10
        )
    stories[name] = (
        model.best_shift_,
        {
            "models that fire": model.n_firing_,
            "models that are kept": model.ensemble_sizes_,
            "validation accuracy": model.validation_scores_,
        },
    )

point = {"ls": "", "color": GREY}
legend = {
    "training row": Line2D([], [], marker="o", ms=3, **point),
    "prototype, or every third exemplar": Line2D([], [], marker="*", ms=9, mec="k", **point),
    "its cluster": Line2D([], [], color=GREY, lw=0.6),
    "hyperplane": Line2D([], [], color=GREY, lw=1.5),
    "side on which it fires": Patch(color=GREY, alpha=0.4, lw=0),
    "wrong test row": Line2D([], [], marker="o", mfc="none", mec="k", ls=""),
}
figure.legend(legend.values(), legend, loc="outside lower center", ncols=6, frameon=False)

# %%
# What became of the models at each shift. Some fire on nothing any more. Of the others most do not
# make the training rows more probable, and are not in the ensemble. The ensemble that is most
# accurate on the rows held out in ``fit`` is chosen, of several the smallest. Rows of models that
# are not in it join the clusters of those that are.
figure, axes = plt.subplots(2, 3, figsize=(11, 5), sharex=True, sharey="row", layout="constrained")
looks = (0, BLUE, "o"), (0, ORANGE, "s"), (1, GREEN, "^")
for column, (name, (best, curves)) in zip(axes.T, stories.items(), strict=True):
    column[0].set_title(name)
    for (row, colour, mark), (label, values) in zip(looks, curves.items(), strict=True):
        column[row].plot(values, marker=mark, color=colour, lw=1.8, label=label)
    for ax, values in zip(column, list(curves.values())[1:], strict=True):
        ax.plot(best, values[best], "o", ms=12, mfc="none", mec="k", label="chosen", ls="")
    column[1].set_xlabel("shifts")
for ax in axes[:, 0]:
    ax.legend(frameon=False)
axes[0, 0].set(yscale="log", yticks=[20, 50, 100, 200, 400])
axes[0, 0].yaxis.set_major_formatter("{x:g}")
axes[0, 0].minorticks_off()
axes[1, 0].yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
plt.show()
