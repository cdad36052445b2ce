"""
Lecture: how a perceptron learns
================================

Figures 3.4 to 3.9 of Biehl's lecture notes, replayed: the steps of Rosenblatt's algorithm, the
version space of all weights that have the examples right, which examples are informative, and the
weights of largest stability.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from protolearn import AdaTron, BayesPoint, Rosenblatt, generalization_error
from protolearn.report import TrajectoryDisplay, VersionSpaceDisplay

# %%
# Figure 3.4. Six examples are presented one after the other, beginning without any weights. Where
# the answer is wrong, the example times its label, divided by N = 2, is added to the weights
# (orange); where it is right, nothing happens. ``history="step"`` keeps every state.
X = np.array([[0.4, 1.8], [-1.2, -0.6], [1.8, -0.9], [-1.6, -0.2], [0.9, -1.6], [1.5, 0.8]])
y = np.array([1, -1, 1, -1, -1, 1])
model = Rosenblatt(order="cyclic", fit_intercept=False, history="step").fit(X, y)
figure, panels = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for t, ax in enumerate(panels.ravel(), start=1):
    TrajectoryDisplay.from_estimator(model, X, y, until=t + 1, legend=False, ax=ax)
    ax.set_title(f"t = {t}: E = {model.history_[0]['potentials'][t - 1, t - 1]:.2f}")
print("weights after one sweep:", model.history_[0]["coef"][6].round(2))

# %%
# Figure 3.5. A student at an angle to its teacher is wrong about the inputs between the two
# hyperplanes: the angle divided by pi, whatever the dimension.
student, teacher = np.array([1.0, 0.35]), np.array([0.5, 1.0])
angle = np.linspace(0.0, 2.0 * np.pi, 721)
inputs = np.column_stack([np.cos(angle), np.sin(angle)])
differ = np.sign(inputs @ student) != np.sign(inputs @ teacher)
figure, ax = plt.subplots(figsize=(4.4, 4.4), layout="constrained")
ax.fill_between(inputs[:, 0], inputs[:, 1], 0.0, color="#eef3f7")
for a, b in zip(inputs[:-1][differ[:-1]], inputs[1:][differ[:-1]], strict=True):
    ax.fill([0.0, a[0], b[0]], [0.0, a[1], b[1]], color="#D55E00", alpha=0.7, lw=0)
for name, w, tone in (("student w", student, "#0072B2"), ("teacher w*", teacher, "#222222")):
    w = w / np.linalg.norm(w)
    ax.annotate("", w, (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": tone, "lw": 2})
    ax.axline((0.0, 0.0), (-w[1], w[0]), color=tone, lw=1.0, ls="--", label=name)
ax.set(aspect="equal", title=f"error {generalization_error(student, teacher):.3f}")
ax.set_axis_off()
ax.legend(frameon=False, loc="lower left")

# %%
# Figures 3.6 and 3.7. Seen the other way round, every example divides the sphere of weights into
# those that have it right and those that do not. What is left is the version space. A fourth
# example whose line does not meet it teaches nothing; a fifth that cuts through it does.
turn = np.deg2rad([90.0, 210.0, 330.0, 40.0, 140.0])
rule = np.array([0.0, 0.0, 1.0])
points = np.column_stack([np.cos(turn), np.sin(turn), [0.5, 0.5, 0.5, 1.4, 0.3]])
points, labels = points * [[1], [-1], [1], [-1], [1]], np.array([1, -1, 1, -1, 1])
figure, panels = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for P, ax in zip((3, 4, 5), panels, strict=True):
    shown = VersionSpaceDisplay.from_examples(
        points[:P], labels[:P], {"teacher": rule}, legend=P == 5, ax=ax
    )
    ax.set_title(f"P = {P}, {shown.is_informative.sum()} informative")

# %%
# Figure 3.8. The stability of weights is the least distance of an example from the hyperplane.
# Demanding more of it leaves less and less of the version space (darker), in the end the perceptron
# of optimal stability, which the AdaTron finds. The Bayes point is the centre.
students = {
    "Rosenblatt": Rosenblatt(fit_intercept=False),
    "AdaTron": AdaTron(fit_intercept=False),
    "Bayes point": BayesPoint(fit_intercept=False, random_state=0),
}
for each in students.values():
    each.fit(points, labels)
figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
VersionSpaceDisplay.from_examples(points, labels, {**students, "teacher": rule}, ax=ax)
ax.set_title("stability " + ", ".join(f"{m.stability_:.2f}" for m in students.values()))

# %%
# Figure 3.9. The examples nearest to the hyperplane of optimal stability support it: they alone
# have an embedding strength, and a potential of one.
rng = np.random.RandomState(4)
X = np.vstack([rng.normal((1.3, 1.0), 0.7, (14, 2)), rng.normal((-1.3, -1.0), 0.7, (14, 2))])
y = np.repeat([1, -1], 14)
best = AdaTron().fit(X, y)
figure, ax = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
for label, face in ((1, "#222222"), (-1, "white")):
    for kind, mark in ((True, "s"), (False, "o")):
        of = (y == label) & (np.isin(np.arange(28), best.support_) == kind)
        ax.scatter(*X[of].T, marker=mark, s=50, facecolors=face, edgecolors="#222222")
levels = {"levels": [-1.0, 0.0, 1.0], "linestyles": [":", "-", ":"], "colors": "#0072B2"}
DecisionBoundaryDisplay.from_estimator(
    best, X, response_method="decision_function", plot_method="contour", ax=ax, **levels
)
ax.set(aspect="equal", title=f"{len(best.support_)} support vectors (squares)")
print("potentials of the support vectors:", best.decision_function(X[best.support_]).round(3))
