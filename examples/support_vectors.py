"""
Support vectors as a sign of overfitting
========================================

The decision of an AdaTron rests on its support vectors, the examples with embedding strengths
other than zero. All others could have been left out of training, and nothing would be different.
Where almost all examples are needed, little was learned that holds for others (Biehl, lecture
notes, section 4.3.4). This needs no test rows to see.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from protolearn import KernelAdaTron

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#444444"

# %%
# Two half moons with much noise, 100 examples to learn and many to test. The width of the rbf
# kernel goes from wide, where the border is nearly straight, to narrow, where each example has a
# bump of its own. Errors are allowed: no embedding strength exceeds ``gamma``.
n = 100
X, y = make_moons(n + 4000, noise=0.3, random_state=0)
X, X_test, y, y_test = X[:n], X[n:], y[:n], y[n:]
widths = 2.0 ** np.arange(2, -5, -1)
models = [KernelAdaTron(kernel_gamma=0.5 / width**2, C=10.0).fit(X, y) for width in widths]


# %%
# The leave-one-out error: train without one example, predict it, and do so with each. Without an
# example that is no support vector the classifier is the same, and has it on the right side. So
# only support vectors can be errors, and the leave-one-out error is at most their share. To compute
# it only they have to be left out.
def leave_one_out(model):
    """Give the share of examples that are wrong if they are not learned."""
    wrong = 0
    for i in model.support_:
        others = np.delete(np.arange(n), i)
        wrong += clone(model).fit(X[others], y[others]).predict(X[[i]])[0] != y[i]
    return wrong / n


curves = {
    "support vectors": [len(model.support_) / n for model in models],
    "test error": [1.0 - model.score(X_test, y_test) for model in models],
    "leave-one-out error": [leave_one_out(model) for model in models],
    "training error": [1.0 - model.score(X, y) for model in models],
}
print(" width  " + "  ".join(f"{name:>19}" for name in curves))
for width, *shares in zip(widths, *curves.values(), strict=True):
    print(f"{width:6g}  " + "  ".join(f"{share:19.3f}" for share in shares))

# %%
# The training error falls with the width and tells nothing. The share of support vectors is lowest
# about where the test error is. It is larger on the left too: a border that is too simple has many
# examples on the wrong side or near it, and all of them are support vectors. So a large share says
# that something is wrong; with few training errors, that it is overfitting.
#
# Below, three of the classifiers, with their support vectors in circles.
figure = plt.figure(figsize=(10, 6.5), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(1.25, 1.0))
ax = above.subplots()
for (name, shares), colour, mark in zip(
    curves.items(), (PINK, BLUE, GREEN, ORANGE), "Do^s", strict=True
):
    ax.plot(widths, shares, marker=mark, color=colour, lw=1.8, label=name)
ax.set(xscale="log", xlabel="width of the kernel", ylabel="share of the examples", ylim=(0.0, 1.02))
ax.invert_xaxis()
ax.set_xticks(widths, [f"{width:g}" for width in widths])
ax.minorticks_off()
ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
ax.legend(frameon=False, loc="upper left")

regions = {
    "response_method": "predict",
    "eps": 0.3,
    "grid_resolution": 200,
    "levels": [-0.5, 0.5, 1.5],
    "colors": [BLUE, ORANGE],
    "alpha": 0.15,
}
for ax, j in zip(below.subplots(1, 3, sharey=True), (0, 3, 6), strict=True):
    DecisionBoundaryDisplay.from_estimator(models[j], X, ax=ax, **regions)
    for code, colour, mark in ((0, BLUE, "o"), (1, ORANGE, "s")):
        ax.scatter(*X[y == code].T, s=14, color=colour, marker=mark, lw=0)
    support = X[models[j].support_]
    ax.scatter(*support.T, s=55, facecolors="none", edgecolors=GREY, lw=0.8)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_title(f"width {widths[j]:g}: {len(support)} support vectors", fontsize=10)
plt.show()
