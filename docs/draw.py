"""Draw the figures of the documentation that no example and no page draws.

``python docs/draw.py [FOLDER]`` writes them, into ``docs/images`` if no folder is named.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from chart import write_chart
from sklearn.datasets import make_blobs

from protolearn import (
    GLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    OLVQ1,
    RobustLVQ,
    counterfactual,
    datasets,
    losses,
)
from protolearn.distances import (
    DISTANCES,
    Kernel,
    KullbackLeibler,
    Mahalanobis,
    Matrix,
    Minkowski,
    Relevance,
)
from protolearn.solvers import LBFGS, SGD, Adam, Momentum

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#444444"
COLOURS, MARKS = (BLUE, ORANGE, GREEN), "os^"
NARROW = {"dpi": 110, "bbox_inches": "tight"}


def points(ax, X, y, size=14, alpha=0.6):
    """Draw the rows of each class with its colour and mark."""
    for label, colour, mark in zip(np.unique(y), COLOURS, MARKS, strict=False):
        ax.scatter(*X[y == label].T, s=size, color=colour, marker=mark, lw=0, alpha=alpha)


def regions(ax, model, X, share=0.08):
    """Colour the plane by the answers of a model."""
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - share * (high - low), high + share * (high - low)
    across, up = np.meshgrid(*np.linspace(low, high, 400).T)
    answers = model.predict(np.column_stack([across.ravel(), up.ravel()]))
    codes = np.searchsorted(model.classes_, answers).reshape(across.shape)
    levels = np.arange(len(model.classes_) + 1) - 0.5
    ax.contourf(across, up, codes, levels=levels, colors=COLOURS[: len(levels) - 1], alpha=0.13)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def stars(ax, prototypes, labels, size=260):
    """Draw prototypes."""
    for label, colour in zip(np.unique(labels), COLOURS, strict=False):
        style = {"marker": "*", "color": colour, "edgecolors": "k", "zorder": 5}
        ax.scatter(*prototypes[labels == label].T, s=size, **style)


def first_page():
    """Draw what the library does: prototypes, regions, a margin and a counterfactual."""
    flowers, y = datasets.load("iris")
    X = flowers[:, [2, 0]]
    model = GLVQ(attraction=0.05, random_state=0).fit(X, y)
    figure, ax = plt.subplots(figsize=(5.6, 3.7), layout="constrained")
    regions(ax, model, X, 0.12)
    points(ax, X, y, 26, 0.75)
    stars(ax, model.prototypes_, model.prototype_labels_, 420)
    row = np.array([[3.9, 4.9]])
    found = counterfactual(model, row)
    style = {"fill": False, "color": "k", "ls": ":", "lw": 1.5}
    ax.add_patch(plt.Circle(row[0], found.distance[0], **style))
    ax.plot(*row[0], "ks", ms=8)
    ax.annotate("", found.points[0], row[0], arrowprops={"arrowstyle": "->", "lw": 2, "shrinkB": 0})
    ax.annotate("a flower, and the smallest\nchange to another answer", (4.72, 4.2), fontsize=10)
    for name, place in zip(model.classes_, [(0.9, 6.2), (3.1, 7.5), (5.7, 5.4)], strict=True):
        ax.annotate(name, place, fontsize=13, weight="bold")
    ax.set(xlabel="petal length in cm", ylabel="sepal length in cm", aspect="equal")
    return figure, {"dpi": 150}


def one_formula():
    """Draw the losses, and where prototypes end by three costs."""
    figure, axes = plt.subplots(1, 4, figsize=(11, 3.1), width_ratios=[1.35, 1, 1, 1])
    m = np.linspace(-2.0, 2.0, 401)
    looks = zip(losses.LOSSES.items(), ["-", "-", "-", "--", ":", "-."], strict=True)
    colours = [GREY, BLUE, ORANGE, GREEN, PINK, "#D55E00"]
    for ((name, loss), style), colour in zip(looks, colours, strict=True):
        axes[0].plot(m, loss()(m)[0], style, color=colour, lw=1.8, label=name.replace("_", " "))
    axes[0].axvline(0.0, color=GREY, lw=0.7)
    axes[0].set(xlabel="margin m", title="losses, $\\beta = 1$", ylim=(-1.2, 3.5))
    axes[0].legend(frameon=False, fontsize=8, loc="upper right")
    X, y = make_blobs(
        [150, 150], centers=[[-1.4, 0.0], [1.4, 0.0]], cluster_std=0.5, random_state=0
    )
    models = {
        "GLVQ": GLVQ(random_state=0),
        "LOGM": LOGM(attraction=0.0, random_state=0),
        "LOGM, attraction=0.05": LOGM(attraction=0.05, random_state=0),
    }
    for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
        model.fit(X, y)
        points(ax, X, y, 8)
        stars(ax, model.prototypes_, model.prototype_labels_, 200)
        ax.set(title=name, xticks=[], yticks=[], xlim=(-3.4, 3.4), ylim=(-2.6, 2.6), aspect="equal")
    figure.tight_layout()
    return figure, NARROW


def distance_balls():
    """Draw rows that are equally far from a prototype, by the distances of the library."""
    rng = np.random.RandomState(0)
    X = np.abs(np.array([1.0, 1.0]) + 0.25 * rng.normal(size=(200, 2)) @ [[1.0, 0.7], [0.0, 0.6]])
    w, side = np.array([1.0, 1.0]), np.linspace(0.02, 2.0, 160)
    across, up = np.meshgrid(side, side)
    rows = np.column_stack([across.ravel(), up.ravel()])
    slanted = np.array([[0.8, -0.5], [0.1, 0.3]])
    cases = {
        "sqeuclidean": (DISTANCES["sqeuclidean"](), np.zeros(0)),
        "minkowski, p = 1": (Minkowski(1), None),
        "minkowski, p = inf": (Minkowski(np.inf), None),
        "mahalanobis": (Mahalanobis(), None),
        "relevance": (Relevance(), np.sqrt([0.85, 0.15])),
        "matrix": (Matrix(), (slanted / np.linalg.norm(slanted)).ravel()),
        "kernel rbf": (Kernel("rbf", gamma=2.0), None),
        "kl": (KullbackLeibler(), None),
    }
    figure, axes = plt.subplots(
        2, 4, figsize=(10, 5), sharex=True, sharey=True, layout="compressed"
    )
    weight, codes = np.ones(len(X)), np.zeros(len(X), dtype=np.intp)
    for ax, (name, (distance, theta)) in zip(axes.flat, cases.items(), strict=True):
        if theta is None:
            theta = distance.initial(X, codes, weight, 1)[0]
        D = np.array([distance.pair(row, w, theta) for row in rows]).reshape(across.shape)
        ax.contour(across, up, D, levels=8, colors=BLUE, linewidths=1.2)
        ax.plot(*w, "*", ms=15, color=ORANGE, mec="k")
        ax.set(title=name, aspect="equal", xticks=[], yticks=[])
    return figure, NARROW


class Ways:
    """Keeps the prototypes after each epoch."""

    def __init__(self):
        self.places = []

    def __call__(self, state):
        """Copy the prototypes."""
        self.places.append(state.codebook.prototypes.copy())


def rules():
    """Draw the ways of prototypes by the rules of Kohonen."""
    centers = [[-1.2, 0.0], [1.2, 0.0], [-1.2, 2.6], [1.2, 2.6]]
    X, y = make_blobs([80] * 4, centers=centers, cluster_std=0.75, random_state=1)
    y = np.array([0, 1, 1, 0])[y]
    init = np.array([[-0.4, 0.6], [0.5, 2.1], [0.5, 0.5], [-0.6, 2.0]])
    figure, axes = plt.subplots(1, 4, figsize=(11, 3.3), sharey=True, layout="constrained")
    for ax, rule in zip(axes, (LVQ1, OLVQ1, LVQ21, LVQ3), strict=True):
        path = Ways()
        model = rule(
            prototypes_per_class=2, init=init, max_iter=40, callback=path, random_state=0
        ).fit(X, y)
        regions(ax, model, X)
        points(ax, X, y, 8)
        ways = np.array([init, *path.places])
        for k, label in enumerate(model.prototype_labels_):
            ax.plot(*ways[:, k].T, color=COLOURS[label], lw=1.4)
            ax.plot(*ways[0, k], "o", mfc="white", mec=COLOURS[label], ms=6)
        stars(ax, model.prototypes_, model.prototype_labels_, 180)
        right = 100 * model.score(X, y)
        ax.set(title=f"{rule.__name__}: {right:.0f} % right", xticks=[], yticks=[])
    return figure, NARROW


def training():
    """Draw starts, schedules and the fall of the cost by four solvers."""
    X, y = datasets.make_isolated(random_state=0)
    figure, axes = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained")
    for ax, init in zip(axes[0], ("means", "kmeans", "kmeans++", "random"), strict=True):
        model = GLVQ(prototypes_per_class=5, init=init, max_iter=1, solver=SGD(1e-9))
        model.set_params(random_state=0).fit(X, y)
        points(ax, X, y, 5, 0.4)
        stars(ax, model.prototypes_, model.prototype_labels_, 130)
        ax.set(title=f'init="{init}"', xticks=[], yticks=[], aspect="equal")
    grid = axes[0, 0].get_gridspec()
    for ax in axes[1]:
        ax.remove()
    left, right = figure.add_subplot(grid[1, :2]), figure.add_subplot(grid[1, 2:])
    t, total = np.linspace(0, 3e5, 600), 3e5
    falls = {
        "linear, a fit of 300,000 steps": 1.0 - t / total,
        "inverse_time, decay=1e-4": 1.0 / (1.0 + 1e-4 * t),
        "inverse_time, least_rate=0.1": np.maximum(1.0 / (1.0 + 1e-4 * t), 0.1),
        "constant": np.ones_like(t),
    }
    looks = zip(falls.items(), (BLUE, ORANGE, GREEN, PINK), ("-", "-", "--", "-"), strict=True)
    for (name, rate), colour, style in looks:
        left.plot(t, rate, style, color=colour, lw=1.8, label=name)
    left.set(xlabel="samples seen, t", ylabel="rate / first rate", title="schedules")
    left.legend(frameon=False, fontsize=8)
    cells, kind = datasets.load("wdbc")
    cells = (cells - cells.mean(axis=0)) / cells.std(axis=0)
    solvers = (LBFGS(), SGD(), Adam(), Momentum())
    for solver, colour in zip(solvers, (BLUE, ORANGE, GREEN, PINK), strict=True):
        model = GLVQ(solver=solver, max_iter=30, random_state=0).fit(cells, kind)
        right.plot(model.loss_curve_, color=colour, lw=1.8, label=model.solver_)
    right.set(xlabel="iterations or epochs", ylabel="mean cost", title="GLVQ on wdbc")
    right.legend(frameon=False)
    return figure, NARROW


def made_data():
    """Draw the sets that are made by formula."""
    figure, axes = plt.subplots(2, 3, figsize=(10, 6.2), layout="constrained")
    teacher = datasets.make_teacher_student(200, 2, noise=0.05, random_state=3, return_teacher=True)
    neurons, stimulus = datasets.make_neurons(random_state=0)
    sets = {
        "make_isolated": datasets.make_isolated(random_state=0),
        "make_striated": datasets.make_striated(random_state=0),
        "make_spirals": datasets.make_spirals(),
        "make_graf_toy": datasets.make_graf_toy(random_state=0),
        "make_neurons: 3 and 4 of 6": (neurons[:, 2:4], stimulus),
        "make_teacher_student, noise=0.05": teacher[:2],
    }
    for ax, (name, (X, y)) in zip(axes.flat, sets.items(), strict=True):
        points(ax, X, y, 9, 0.7)
        ax.set(title=name, xticks=[], yticks=[], aspect="equal")
    w = teacher[2]
    axes[1, 2].axline((0, 0), (-w[1], w[0]), color=GREY, lw=1)
    return figure, NARROW


def adversarial():
    """Draw digits, and the nearest pictures that two models take for another digit."""
    rows, digits = datasets.load("digits")
    rows = rows / 16.0
    models = (
        GLVQ(prototypes_per_class=5, random_state=0).fit(rows[:1400], digits[:1400]),
        RobustLVQ(prototypes_per_class=5, radius=1.2, random_state=0).fit(
            rows[:1400], digits[:1400]
        ),
    )
    some = np.unique(digits)[:8]
    chosen = [1400 + int(np.flatnonzero(digits[1400:] == digit)[0]) for digit in some]
    found = [counterfactual(model, rows[chosen], bounds=(0.0, 1.0)) for model in models]
    figure, axes = plt.subplots(3, 8, figsize=(8.4, 3.9), layout="constrained")
    lines = [rows[chosen], *(one.points for one in found)]
    titles = [[str(digit) for digit in digits[chosen]]]
    for one in found:
        pairs = zip(one.label, one.distance, strict=True)
        titles.append([f"{label} at {length:.2f}" for label, length in pairs])
    for line, texts, row in zip(lines, titles, axes, strict=True):
        for picture, text, ax in zip(line, texts, row, strict=True):
            ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0.0, vmax=1.0)
            ax.set_title(text, fontsize=10)
            ax.set(xticks=[], yticks=[])
    for ax, name in zip(axes[:, 0], ("digit", "GLVQ", "RobustLVQ"), strict=True):
        ax.set_ylabel(name, fontsize=11)
    return figure, NARROW


FIGURES = {
    "first_page": first_page,
    "one_formula": one_formula,
    "distance_balls": distance_balls,
    "rules": rules,
    "training": training,
    "made_data": made_data,
    "adversarial": adversarial,
}


def draw(folder):
    """Write all figures and the chart into a folder."""
    folder = Path(folder)
    for name, figure in FIGURES.items():
        drawn, how = figure()
        drawn.savefig(folder / f"{name}.png", **how)
        plt.close(drawn)
    write_chart(folder / "choose_a_model.svg")


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "images")
