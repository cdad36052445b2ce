"""
Ten minutes with a real table
=============================

A table of wines, a model of three typical wines, and the questions that one asks of a model: how
good is it, what has it learned, why does it say so, what would change its answer, when should it
rather say nothing. All numbers on this page are printed by the code above them.
"""

# %%
# The table
# ---------
#
# 178 wines from three cultivars of one region of Italy. Thirteen measures come with the library; we
# take five that people know, and write their units into the names of the columns. So all that
# follows is told in these units.
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import protolearn
from protolearn import (
    GLVQ,
    RejectClassifier,
    certified_radius,
    counterfactual,
    datasets,
    explain,
    sample_margin,
)
from protolearn.analysis import accuracy_reject_curve
from protolearn.report import ProjectionDisplay, PrototypeDisplay
from protolearn.selection import evaluate
from protolearn.tables import (
    prototypes_table,
    table_pipeline,
)

rows, cultivar = datasets.load("wine")
units = {
    "alcohol": "alcohol (% vol)",
    "malic_acid": "malic acid (g/l)",
    "magnesium": "magnesium (mg/l)",
    "color_intensity": "colour intensity",
    "proline": "proline (mg/l)",
}
wine = pd.DataFrame(rows, columns=datasets.feature_names("wine"))[[*units]].rename(columns=units)
wine.describe().loc[["mean", "std", "min", "max"]].round(1)

# %%
# A quarter of the rows is kept for the end. Nothing below is fitted to them.
X, X_later, y, y_later = train_test_split(
    wine, cultivar, test_size=0.25, stratify=cultivar, random_state=0
)
print(f"{len(X)} rows to learn from, {len(X_later)} for later")

# %%
# How good will it be?
# --------------------
#
# The model: one prototype for each cultivar. It takes the cultivar of the nearest one.
# :class:`~protolearn.GLVQ` moves them so that each wine is nearer to its own than to the others,
# and ``attraction`` keeps them where wines are. Distances add up columns, so these have to be on
# one scale: :func:`~protolearn.tables.table_pipeline` sees to that, within each fold.
#
# The estimate comes first. Ten times, a tenth of the rows is predicted by a model that has not seen
# it. The intervals know that the ten models share most of their rows.
model = table_pipeline(GLVQ(attraction=0.05, random_state=0), X)
print(evaluate(model, X, y, cv=10, random_state=0))

# %%
# Is that good? Compared with what? Three prototypes of each cultivar may follow the data more
# closely. The estimate tells whether that pays: the intervals overlap widely, so we stay with the
# simpler model.
larger = table_pipeline(GLVQ(prototypes_per_class=3, attraction=0.05, random_state=0), X)
for name, one in {"one prototype": model, "three prototypes": larger}.items():
    found = evaluate(one, X, y, cv=10, random_state=0).accuracy
    print(f"{name:16}  accuracy {found.value:.3f}, from {found.low:.3f} to {found.high:.3f}")

# %%
# What has it learned?
# --------------------
#
# The whole model is this table: three wines that do not exist, in the units of the columns.
model.fit(X, y)
prototypes_table(model).round(2)

# %%
# Beside the spread of their class (the middle half and nine tenths of the wines) it shows what is
# typical, and what tells the cultivars apart.
PrototypeDisplay.from_estimator(model, X, y)

# %%
# Rows, prototypes and regions in the plane through the three prototypes. It holds all differences
# that the model looks at, so the borders are the true ones.
ProjectionDisplay.from_estimator(model, X, y)

# %%
# Why does it say so?
# -------------------
#
# Take the wine of the later rows about which the model is least sure.
# :func:`~protolearn.sample_margin` is the exact distance of a row to another answer, in standard
# deviations of the columns, since that is the scale on which the model measures.
margins = sample_margin(model, X_later)
closest = np.argmin(margins)
row = X_later.iloc[[closest]]
print(f"true: {y_later[closest]}, predicted: {model.predict(row)[0]}")
print(f"distance to another answer: {margins[closest]:.3f} standard deviations")
print(f"the median of all later rows: {np.median(margins):.3f}")
row.round(2)

# %%
# What each column did: how much it brings the wine nearer to the prototype of its answer than to
# the next one. The sum is the lead of the answer; negative ones speak against it.
told = explain(model, row, data=X_later)
order = np.argsort(told.contributions[0])
figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
shares = told.contributions[0][order]
ax.barh(np.array(told.columns)[order], shares, color=np.where(shares > 0, "#0072B2", "#E69F00"))
ax.axvline(0.0, color="#444444", lw=0.8)
ax.set(xlabel=f"speaks against or for {model.predict(row)[0]}")

# %%
# A certificate says how far *any* change may go. Of how many later rows is it proved that no change
# shorter than a quarter of a standard deviation alters the answer?
safe = certified_radius(model, X_later) > 0.25
print(f"{safe.sum()} of {len(safe)} later rows")

# %%
# What would change the answer?
# -----------------------------
#
# First the smallest change of all, within the values of the rows that the model has learned from.
# Then one in which the colour and the alcohol stay.
print(fill(str(counterfactual(model, row)), 88), "\n")
fixed = [units["alcohol"], units["color_intensity"]]
print(fill(str(counterfactual(model, row, fixed=fixed)), 88))

# %%
# When should it say nothing?
# ---------------------------
#
# :class:`~protolearn.RejectClassifier` gives no answer where the margin is below a threshold. Here
# five of a hundred answers may be wrong. The threshold is found on held-out predictions of the
# training rows, such that new rows keep this target with a confidence of 90 %. A smaller target
# needs more rows than there are.
careful = RejectClassifier(model, target_error=0.05, reject_label="ask").fit(X, y)
print(f"held-out: {careful.reject_rate_:.3f} rejected, {careful.accepted_error_:.3f} wrong")
answers = careful.predict(X_later)
asked = answers == "ask"
plain = np.mean(model.predict(X_later) == y_later)
print(f"always an answer: {plain:.3f} of the later rows are right")
print(f"with a reject option: {asked.sum()} of {len(asked)} go to a person,")
print(f"and of the others {np.mean(answers[~asked] == y_later[~asked]):.3f} are right")

# %%
# The curve shows what every other threshold would buy.
curve = accuracy_reject_curve(y_later, careful.model_.predict(X_later), careful.confidence(X_later))
_, ax = plt.subplots()
ax.step(curve.reject_rate, curve.accuracy, where="post")
ax.set(xlabel="share of rows that go to a person", ylabel="accuracy on the others")

# %%
# Keep it
# -------
#
# One file, with a note on where it comes from. Loading it runs no code of the file.
with TemporaryDirectory() as folder:
    path = Path(folder) / "wine.protolearn"
    protolearn.save(model, path, notes={"rows": f"{len(X)} wines"})
    print(f"{path.stat().st_size / 1000:.0f} kB")
    again = protolearn.load(path)
print(np.array_equal(again.predict(X_later), model.predict(X_later)))

# %%
# At last, all rows that the model was not fitted to: the estimate from the beginning can be held
# against what has come.
print(evaluate(model, X_later, y_later, random_state=0))

# %%
# Where to go on
# --------------
#
# * Another model for your rows: :doc:`/choose`, or let :doc:`/automatic` do it.
# * Words, dates and holes in the table: :doc:`/tables`. No code at all: :doc:`/command`.
# * What is proved by margins and what is not: :doc:`/margins`; how to estimate well:
#   :doc:`/evaluation`.
# * All of it on one page for a colleague: :doc:`/report`. Into use: :doc:`/deployment`.
plt.show()
