"""
Lecture: beyond linear separability
===================================

Figures 4.1, 4.3 and 4.4 of Biehl's lecture notes: a perceptron that allows errors, machines of
several perceptrons, and a map to more dimensions in which a hyperplane is enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from protolearn import AdaTron, CommitteeMachine, ParityMachine
from protolearn.datasets import make_teacher_student

DARK, BLUE = "#222222", "#0072B2"

# %%
# Figure 4.1. With a finite ``gamma`` embedding strengths are bounded, and examples may lie between
# the planes, or on the wrong side. All of these are support vectors (squares).
rng = np.random.RandomState(1)
X = np.vstack([rng.normal((1.0, 0.6), 1.0, (20, 2)), rng.normal((-1.0, -0.6), 1.0, (20, 2))])
y = np.repeat([1, -1], 20)
model = AdaTron(gamma=2.0).fit(X, y)
figure, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
for label, face in ((1, DARK), (-1, "white")):
    for kind, mark in ((True, "s"), (False, "o")):
        of = (y == label) & (np.isin(np.arange(40), model.support_) == kind)
        ax.scatter(*X[of].T, marker=mark, s=50, facecolors=face, edgecolors=DARK)
levels = {"levels": [-1.0, 0.0, 1.0], "linestyles": [":", "-", ":"], "colors": BLUE}
DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="decision_function", plot_method="contour", ax=ax, **levels
)
ax.set(aspect="equal", title=f"{len(model.support_)} support vectors")
print("support vectors:", len(model.support_), "errors:", int((model.predict(X) != y).sum()))

# %%
# Figure 4.3. Three hyperplanes divide the plane. In the committee machine the majority decides, and
# parts of the hyperplanes separate nothing; in the parity machine the product of all three decides,
# and every hyperplane separates everywhere.
figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
machines = {
    "committee": CommitteeMachine(n_units=3, max_iter=5000, random_state=0),
    "parity": ParityMachine(max_units=3, random_state=0),
}
grid = np.linspace(-2.5, 2.5, 300)
U, V = np.meshgrid(grid, grid)
for ax, (teacher, machine) in zip(panels, machines.items(), strict=True):
    P, seed = (60, 5) if teacher == "committee" else (24, 9)
    X, y = make_teacher_student(P, 2, teacher=teacher, n_units=3, random_state=seed)
    answer = machine.fit(X, y).decision_function(np.column_stack([U.ravel(), V.ravel()]))
    ax.contourf(
        U, V, answer.reshape(U.shape), levels=[-1e9, 0.0, 1e9], colors=["#fdf0e6", "#dfeaf2"]
    )
    if teacher == "committee":
        units = zip(machine.hidden_coef_[0], machine.hidden_intercept_[0], strict=True)
    else:
        units = ((unit.coef_[0], unit.intercept_[0]) for unit in machine.units_[0])
    for w, b in units:
        ax.contour(U, V, w[0] * U + w[1] * V + b, levels=[0.0], colors=DARK, linewidths=1.0)
    ax.scatter(*X.T, c=np.where(y > 0, BLUE, "#E69F00"), s=22)
    ax.set(title=f"{teacher} machine, {machine.score(X, y):.0%} right")
    ax.set(xlim=(-2.5, 2.5), ylim=(-2.5, 2.5), aspect="equal")

# %%
# Figure 4.4. One class surrounds the other: no line separates them. The map from two features to
# three, (x, y, x^2 + y^2), lifts the outer class, and the AdaTron finds a plane.
angle = rng.uniform(0.0, 2.0 * np.pi, 120)
radius = np.where(np.arange(120) < 60, rng.uniform(0.0, 0.8, 120), rng.uniform(1.2, 1.8, 120))
X, y = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.arange(120) // 60
lifted = np.column_stack([X, (X**2).sum(axis=1)])
plane = AdaTron().fit(lifted, y)
tones = np.where(y > 0, BLUE, "#E69F00")
figure = plt.figure(figsize=(10, 4.4), layout="constrained")
flat = figure.add_subplot(1, 2, 1, aspect="equal")
flat.scatter(*X.T, c=tones, s=16)
flat.set_title("two features: not separable")
space = figure.add_subplot(1, 2, 2, projection="3d")
space.scatter(*lifted.T, c=tones, s=16)
(a, b, c), d = plane.coef_[0], plane.intercept_[0]
U, V = np.meshgrid([-1.8, 1.8], [-1.8, 1.8])
space.plot_surface(U, V, -(a * U + b * V + d) / c, color="#888888", alpha=0.35)
space.view_init(elev=12, azim=-60)
space.set_title(f"three features: stability {plane.stability_:.2f}")
print("stability of the plane:", round(plane.stability_, 3))
