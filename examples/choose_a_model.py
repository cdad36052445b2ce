"""
From a table to a model that can be read
========================================

A table as people have them: numbers in their units, words, and holes. The model is chosen
automatically, what it learned is shown in the same units and words, and so is what would change
its answer.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from protolearn import AutoPrototypeClassifier, counterfactual, datasets
from protolearn.selection import evaluate
from protolearn.tables import prototypes_table, split_target, table_pipeline

COLOURS, MARKS = ("#0072B2", "#E69F00", "#009E73"), "osD"
PAIR = ["flavanoids", "proline"]

# %%
# The table: five measures of 178 wines from three cultivars, and their colour in a word. Some
# values were lost.
rows, cultivar = datasets.load("wine")
wine = pd.DataFrame(rows, columns=datasets.feature_names("wine"))
words = pd.cut(wine["color_intensity"], [0.0, 3.5, 6.0, 13.0], labels=["pale", "medium", "deep"])
table = wine[["alcohol", "malic_acid", "magnesium", "flavanoids", "proline"]].assign(
    colour=words.astype(object), cultivar=cultivar
)
rng = np.random.RandomState(0)
table.loc[rng.uniform(size=len(table)) < 0.1, "magnesium"] = np.nan
table.loc[rng.uniform(size=len(table)) < 0.05, "colour"] = None
X, y = split_target(table, "cultivar")

# %%
# Sixty rows are kept for later. The encoder of the table scales the numbers, so the candidates need
# no scaler of their own. We want few prototypes that look like wines, so only some families may be
# chosen.
test = rng.permutation(len(X))[:60]
train = np.setdiff1d(np.arange(len(X)), test)
auto = AutoPrototypeClassifier(
    families=["fixed", "learned"], standardize=False, max_fits=250, random_state=0
)
model = table_pipeline(auto, X).fit(X.iloc[train], y[train])
print("What was understood:", model["table"].describe(), sep="\n")
chosen = model["model"]
print(f"\n{chosen.stopped_}\n{chosen.leaderboard_}")
print(f"\nTo be expected: {chosen.best_score_:.3f}; on the rows that were kept:")
print(evaluate(model, X.iloc[test], y[test], random_state=0))

# %%
# The simplest of the candidates within one standard error of the best is chosen. The error is that
# of the difference, fold by fold, which is smaller than the bars of both.
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for family, colour, mark in zip(auto.families, COLOURS, MARKS, strict=False):
    for standing in (one for one in chosen.leaderboard_ if one.family == family):
        fill = colour if standing.n_fits > 10 else "white"
        score, error = 100 * standing.score, 100 * standing.standard_error
        ax.errorbar(standing.n_numbers, score, error, color=colour, marker=mark, mfc=fill)
    ax.plot([], [], color=colour, marker=mark, ls="", label=f"{family} metric")
best = next(standing for standing in chosen.leaderboard_ if standing.chosen)
place = best.n_numbers, 100 * best.score
ax.plot(*place, "o", ms=18, mfc="none", mec="k", label=f"chosen: {best.model}")
ax.legend(loc="lower left")
ax.set(xscale="log", xlabel="numbers of the model", ylabel="accuracy in percent")
ax.set_xticks([30, 50, 100, 200], [30, 50, 100, 200])
ax.minorticks_off()
ax.set_title("Candidates; filled: those that were given more fits")

# %%
# The prototypes are wines, as it were.
print("\nPrototypes:", prototypes_table(model).round(2), sep="\n")

# %%
# What would change the answer about one of the rows that were kept? First any change, then one of
# two columns only, within what the training rows show.
row = X.iloc[[test[14]]]
print("\nA row:", row, sep="\n")
print(counterfactual(model, row))
fixed = ["alcohol", "malic_acid", "magnesium", "colour"]
found = counterfactual(model, row, fixed=fixed)
print(found)

# %%
# The same in the plane of the two columns that may change.
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
prototypes = prototypes_table(model)
for label, colour, mark in zip(chosen.classes_, COLOURS, MARKS, strict=True):
    ax.scatter(*X.loc[y == label, PAIR].T.to_numpy(), s=14, color=colour, marker=mark, alpha=0.6)
    star = prototypes.loc[[label], PAIR].T.to_numpy()
    ax.scatter(*star, s=260, marker="*", color=colour, edgecolors="k", label=label)
start, end = (part[PAIR].iloc[0] for part in (row, found.points))
ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "lw": 2})
ax.annotate(f"{found.label[0]} from here on ", end, ha="right", va="top")
ax.legend(title="prototypes")
ax.set(xlabel="flavanoids", ylabel="proline")
plt.show()
