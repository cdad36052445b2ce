"""
How good is a model, honestly?
==============================

One number from one split is not an answer. A few that are: measures with intervals, the curve of
all thresholds, which class is taken for which, what a search promises and what it keeps, and
whether a difference between models is more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, MeanOfClass, PrototypeSVM, datasets
from protolearn.report import CriticalDifferenceDisplay
from protolearn.selection import (
    bias_variance,
    compare,
    evaluate,
    nested_cross_validate,
    roc_over_folds,
)


def scaled(model):
    """Give a pipeline: the scaler too is learned from the training part alone."""
    return make_pipeline(StandardScaler(), model)


# %%
# All measures at once, over ten folds. The intervals know that folds share their training rows.
X, y = datasets.load("wdbc")
glvq = scaled(GLVQ(random_state=0))
print("GLVQ on wdbc:", evaluate(glvq, X, y, cv=10, random_state=0), sep="\n")

# %%
# To miss a malignant tumour is worse than a false alarm. The threshold Theta moves the boundary
# after training, and the curve shows what it costs. It is an average over the folds at equal
# thresholds; bands are standard deviations over the folds, and marks are where the models decide by
# themselves, at Theta = 0.
#
# On the right: which class is taken for which. Every row of that table is a true class and sums to
# 100 percent.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(12, 4.8), width_ratios=[1.2, 1.0], layout="constrained"
)
for model in MeanOfClass(), GLVQ(random_state=0):
    name, curve = type(model).__name__, roc_over_folds(scaled(model), X, y, random_state=0)
    print(f"\n{name}: {curve}")
    fpr, tpr, spread = curve.mean_curve
    (line,) = left.plot(fpr, tpr, label=f"{name}, mean AUC {curve.auc:.3f}")
    left.fill_between(fpr, tpr - spread, tpr + spread, alpha=0.15)
    left.plot(*curve.working_point, "o", color=line.get_color())
left.set(title="wdbc, ten folds", xlabel="false positive rate", ylabel="true positive rate")
left.set(xlim=(-0.01, 0.31), ylim=(0.69, 1.01))
left.legend()

digits, labels = datasets.load("digits")
found = evaluate(scaled(GLVQ(random_state=0)), digits, labels, cv=5, random_state=0)
percent = found.confusion.percent
ConfusionMatrixDisplay(percent, display_labels=found.confusion.labels).plot(
    ax=right, values_format=".0f", cmap="Blues"
)
right.set_title("digits, one prototype a class, five folds")

# %%
# A search for parameters is part of the model. Its own best score is that of a winner; the outer
# folds tell what it keeps. Labels from a coin make the difference clear: nothing can be learned.
rng = np.random.RandomState(0)
noise, coin = rng.normal(size=(60, 10)), rng.permutation(np.arange(60) % 2)
settings = {"prototypes_per_class": [1, 2, 3, 4], "beta": [2.0, 15.0]}
search = GridSearchCV(GLVQ(random_state=0), settings, cv=3)
nested = nested_cross_validate(search, noise, coin, random_state=0)
print(
    f"\nA search on coin labels says {nested.inner_scores.mean():.2f}, and keeps {nested.mean:.2f}"
)

# %%
# Where errors come from: what the model cannot learn, and what it learns by chance.
moons = make_moons(300, noise=0.25, random_state=0)
print("\nError on the moons, and its parts")
for number in 1, 4, 32:
    model = GLVQ(prototypes_per_class=number, random_state=0)
    parts = bias_variance(model, *moons, n_resamples=30, random_state=0)
    print(
        f"{number:2d} prototypes a class: error {parts.error:.3f}, bias {parts.bias:.3f}, "
        f"variance {parts.variance:.3f}"
    )

# %%
# Five models on the same folds of eight sets. Ranks are compared over the sets: a bar joins models
# whose mean ranks are too near to each other for so few of them.
sets = {
    "digits": (digits[:600], labels[:600]),
    **{name: datasets.load(name) for name in ("iris", "wdbc", "wine")},
    "isolated": datasets.make_isolated(random_state=0),
    "striated": datasets.make_striated(random_state=0),
    "spirals": datasets.make_spirals(density=4),
    "moons": moons,
}
models = {
    "means": MeanOfClass(),
    "GLVQ": GLVQ(random_state=0),
    "GLVQ, 5 a class": GLVQ(prototypes_per_class=5, random_state=0),
    "GMLVQ": GMLVQ(random_state=0),
    "PrototypeSVM": PrototypeSVM(random_state=0),
}
models = {name: scaled(model) for name, model in models.items()}
comparison = compare(models, sets, cv=5, random_state=0)
print(f"\n{comparison}")
print(f"Friedman: p = {comparison.friedman().pvalue:.4f}")
wilcoxon = comparison.wilcoxon("PrototypeSVM", "GLVQ")
print(f"PrototypeSVM and GLVQ over the sets: p = {wilcoxon.pvalue:.2f} (Wilcoxon)")
print(f"On each of them: {comparison.wins('PrototypeSVM', 'GLVQ')} (corrected t-test)")
CriticalDifferenceDisplay.from_comparison(comparison)
plt.show()
