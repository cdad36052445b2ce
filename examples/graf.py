"""
Linear classifiers as prototypes
================================

Every linear classifier is two prototypes and a shift: it takes the class of the nearer prototype,
after one of the squared distances was corrected by the shift S. Which averages of the samples the
prototypes are is all in which the classifiers differ. This draws figures 1 to 4 of Graf, Bousquet,
Rätsch and Schölkopf (2009), Prototype Classification: Insights from Machine Learning. The paper
does not print its data; those here are made as it says.
"""

import matplotlib.pyplot as plt
import numpy as np

from protolearn import (
    RVM,
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    SoftMarginSVM,
    regularization_path,
)
from protolearn.datasets import make_graf_toy, make_neurons
from protolearn.report import (
    ConvergenceDisplay,
    DistanceDistributionDisplay,
    PrototypePathDisplay,
)

# %%
# Figure 1: two classes that can be separated. The hyperplane halves the way between the prototypes
# where S is zero: for the class means and the hard margin. Boosted prototypes begin at the class
# means and end where those of the hard margin are, and so do those of the soft margin as C grows.
X, y = make_graf_toy(random_state=0)
models = {
    "mean of class": MeanOfClass(),
    "Fisher": FisherPrototypes(),
    "RVM": RVM(),
    "hard-margin SVM": HardMarginSVM(),
}
boosted = BoostedPrototypes(variant="adaboost*").fit(X, y)
soft = regularization_path(X, y, C=np.geomspace(1e-5, 1e4, 90), norm=2)

figure, axes = plt.subplots(2, 3, figsize=(11, 6.5), sharex=True, sharey=True, layout="compressed")
print("Separable classes\n                    S  samples chosen")
for ax, (name, model) in zip(axes.flat, models.items(), strict=False):
    model.fit(X, y)
    PrototypePathDisplay.from_estimator(model, X, y, name=name, legend=False, ax=ax)
    print(f"{name:15}  {model.shift_[0]:z5.2f}  {len(model.support_):14}")
PrototypePathDisplay.from_path(boosted.path_, X, y, name="boosting", legend=False, ax=axes[1, 1])
PrototypePathDisplay.from_path(soft, X, y, name="soft margin, C grows", legend=False, ax=axes[1, 2])
for ax in axes.flat:
    ax.label_outer()
handles = axes[1, 2].get_legend_handles_labels()
figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)

# %%
# Figure 2: the same two paths, and how far they are from their limits.
figure, axes = plt.subplots(3, 2, figsize=(9, 7), sharex="col", layout="constrained")
ends = {"start": models["mean of class"], "end": models["hard-margin SVM"]}
ConvergenceDisplay.from_path(boosted.path_, **ends, ax=axes[:, 0])
ConvergenceDisplay.from_path(soft, **ends, ax=axes[:, 1])
axes[2, 0].set_xlabel("round of boosting")
axes[2, 1].set_xlabel("C of the soft margin")

# %%
# Figure 3: responses of six neurons to two stimuli, which overlap. C is the one with the fewest
# training errors of the support vector machine; boosting with this C comes to the same hyperplane.
X, y = make_neurons(random_state=0)
grid = np.geomspace(1e-4, 1e1, 26)
errors = [1.0 - SoftMarginSVM(norm=2, C=C).fit(X, y).score(X, y) for C in grid]
C = grid[np.argmin(errors)]
print(f"\nOverlapping classes, C = {C:.2g}\n                    S  error")
models = {
    "mean of class": MeanOfClass(),
    "Fisher": FisherPrototypes(),
    "RVM": RVM(),
    "soft-margin SVM": SoftMarginSVM(norm=2, C=C),
}
for name, model in models.items():
    model.fit(X, y)
    print(f"{name:15}  {model.shift_[0]:z5.2f}  {1.0 - model.score(X, y):.3f}")
boosted = BoostedPrototypes(C=C, variant="adaboost*").fit(X, y)
ends = {"start": models["mean of class"], "end": models["soft-margin SVM"]}
ConvergenceDisplay.from_path(boosted.path_, **ends)

# %%
# Figure 4: what the classifiers see of the responses, their distances to the hyperplane, with the
# places of the prototypes. Boosting (below) goes from the picture of the class means to that of the
# support vector machine.
figure, axes = plt.subplots(2, 2, figsize=(10, 6), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    DistanceDistributionDisplay.from_estimator(model, X, y, name=name, legend=False, ax=ax)
    ax.label_outer()
handles, labels = axes[0, 0].get_legend_handles_labels()
labels = [label.split(":")[0] for label in labels]  # without the errors of one classifier
figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
DistanceDistributionDisplay.from_path(boosted.path_, X, y)
plt.show()
