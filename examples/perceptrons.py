"""
What a perceptron can learn
===========================

Two curves of the theory of perceptrons (Biehl's lecture notes, chapter 3), measured.
How soon does a student agree with a teacher who shows it examples of a rule? And how many examples
can be stored if there is no rule at all?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binom

from protolearn import AdaTron, BayesPoint, Rosenblatt, generalization_error, is_separable
from protolearn.datasets import make_random_patterns, make_teacher_student

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#444444"

# %%
# The learning curve. A teacher with N weights labels random inputs, and students learn P of them
# without an error. A student at an angle to its teacher is wrong about ``angle / pi`` of all
# inputs: the generalisation error, known without test rows. All hyperplanes here go through the
# origin, as that of the teacher does.
N, SEEDS = 20, 16
ratios = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
students = {
    "Rosenblatt": Rosenblatt(fit_intercept=False),
    "AdaTron": AdaTron(fit_intercept=False),
    "BayesPoint": BayesPoint(n_estimators=25, fit_intercept=False, random_state=0),
}
errors = np.empty((len(students), SEEDS, len(ratios)))
for seed in range(SEEDS):
    X, y, teacher = make_teacher_student(
        int(N * ratios[-1]), N, random_state=seed, return_teacher=True
    )
    for j, P in enumerate((N * ratios).astype(int)):
        for i, student in enumerate(students.values()):
            w = student.fit(X[:P], y[:P]).coef_[0]
            errors[i, seed, j] = generalization_error(w, teacher)

print(f"Generalisation error, N = {N}, mean of {SEEDS} teachers")
print("P / N     " + "  ".join(f"{name:>10}" for name in students))
for j, ratio in enumerate(ratios):
    print(
        f"{ratio:5g}     " + "  ".join(f"{error:10.3f}" for error in errors[:, :, j].mean(axis=1))
    )

# %%
# The more examples, the smaller is the set of weights that have learned them all, and the teacher
# is in it: for large P the error falls as N / P (dashed; Biehl 3.36). The second picture shows the
# same times P / N. All students without errors differ by a small factor only. The centre of that
# set, estimated by the Bayes point, is the best place to be, and the largest stability the second
# best. Bands are two standard errors of the mean; the students learn the same examples, so their
# order is surer than the bands.
figure, (curve, factor) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, error, colour, mark in zip(students, errors, (BLUE, ORANGE, GREEN), "os^", strict=True):
    for ax, values in ((curve, error), (factor, error * ratios)):
        mean, spread = values.mean(axis=0), 2.0 * values.std(axis=0, ddof=1) / np.sqrt(SEEDS)
        ax.plot(ratios, mean, marker=mark, color=colour, lw=1.8, label=name)
        ax.fill_between(ratios, mean - spread, mean + spread, color=colour, alpha=0.15, lw=0)
curve.plot(ratios[2:], 0.5 / ratios[2:], "--", color=GREY, lw=1.2, label="falls as N / P")
curve.set(yscale="log", ylabel="generalisation error")
curve.set_yticks([0.03, 0.1, 0.3], ["3 %", "10 %", "30 %"])
curve.minorticks_off()
factor.set(ylabel="generalisation error times P / N", ylim=(0.0, None))
for ax in (curve, factor):
    ax.set(xscale="log", xlabel="examples per weight, P / N")
    ax.set_xticks(ratios, [f"{ratio:g}" for ratio in ratios])
    ax.minorticks_off()
    ax.legend(frameon=False, loc="lower left" if ax is curve else "lower right")

# %%
# Separability. Now the labels are random. Of the ``2^P`` ways to label P points in general position
# hyperplanes through the origin give ``C(P, N) = 2 sum_{k < N} binom(P - 1, k)`` (Cover, 1965): the
# share that is separable is a sum of binomial probabilities. It is one half at P = 2 N for every N,
# and the fall from one to zero around it is the steeper the larger N is. ``is_separable`` decides
# for each labelling by linear programming; bars are the standard error of so many labellings.
SIZES, LABELLINGS = (5, 20), 60
ratios = np.array([1.6, 2.0, 2.4, 2.8])
rng = np.random.RandomState(0)
shares, exact = np.empty((len(SIZES), len(ratios))), np.empty((len(SIZES), len(ratios)))
figure, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
for i, (N, colour, mark) in enumerate(zip(SIZES, (BLUE, ORANGE), "os", strict=True)):
    for j, P in enumerate((N * ratios).round().astype(int)):
        sets = (
            make_random_patterns(P, N, inputs="normal", random_state=rng) for _ in range(LABELLINGS)
        )
        shares[i, j] = np.mean([is_separable(X, y, fit_intercept=False) for X, y in sets])
        exact[i, j] = binom.cdf(N - 1, P - 1, 0.5)
    P = np.arange(N, 4 * N + 1)
    ax.plot(P / N, binom.cdf(N - 1, P - 1, 0.5), color=colour, lw=1.8)
    bars = np.sqrt(exact[i] * (1.0 - exact[i]) / LABELLINGS)
    ax.errorbar(ratios, shares[i], bars, fmt=mark, color=colour, capsize=3, label=f"N = {N}")
ax.plot([], [], color=GREY, lw=1.8, label="Cover's share")
ax.axvline(2.0, color=GREY, lw=0.8, ls=":")
ax.set(xlabel="examples per weight, P / N", ylabel="share of separable labellings")
ax.legend(frameon=False)

print(f"\nShare of {LABELLINGS} labellings that are separable (Cover)")
print("P / N     " + "  ".join(f"{f'N = {N}':>12}" for N in SIZES))
for ratio, found, known in zip(ratios, shares.T, exact.T, strict=True):
    cells = (f"{a:.2f} ({b:.2f})" for a, b in zip(found, known, strict=True))
    print(f"{ratio:5g}     " + "  ".join(f"{cell:>12}" for cell in cells))
plt.show()
