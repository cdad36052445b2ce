"""
Sets of labels, and rejected rows
=================================

A prototype classifier names one class for every row. Two ways to be honest about the rows of
which it is not sure:

* a *conformal* classifier gives a set of classes that holds the true one with a chosen
  probability, whatever the model and the data are, as long as new rows come from where the
  calibration rows came from. MAPIE does that for every classifier with ``predict_proba``;
* a *reject option* gives one class or none, with a chosen share of errors among the rows that it
  accepts.

Both take rows that the model was not fitted to. Needs MAPIE: ``pip install "mapie>=1.0"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from mapie.classification import SplitConformalClassifier
from mapie.metrics.classification import classification_coverage_score
from mapie.utils import train_conformalize_test_split
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, RejectClassifier
from protolearn.analysis import accuracy_reject_curve

LEVELS = [0.9, 0.95, 0.99]

# %%
# A third of the rows for the model, a third for the calibration, a third to see what comes out.
# The probabilities need not be calibrated for what follows.
X, y = load_digits(return_X_y=True)
X_train, X_held, X_test, y_train, y_held, y_test = train_conformalize_test_split(
    X, y, train_size=0.34, conformalize_size=0.33, test_size=0.33, random_state=0
)
model = make_pipeline(StandardScaler(), GLVQ(prototypes_per_class=2, beta=5.0, random_state=0))
model.fit(X_train, y_train)
print(f"One prediction a row: accuracy {model.score(X_test, y_test):.3f}")

# %%
# Sets of labels. The coverage is the share of rows whose set holds the true class; it differs from
# the level by chance, by one or two percent with 600 rows. A set may also be empty: such a row
# resembles no class enough.
conformal = SplitConformalClassifier(model, confidence_level=LEVELS, prefit=True)
conformal.conformalize(X_held, y_held)
_, sets = conformal.predict_set(X_test)
coverage = classification_coverage_score(y_test, sets)
sizes = sets.sum(axis=1)
print("\nSets of labels (MAPIE)\n level  coverage  mean size  one label  none")
for j, level in enumerate(LEVELS):
    one, none = np.mean(sizes[:, j] == 1), np.mean(sizes[:, j] == 0)
    mean = sizes[:, j].mean()
    print(f"{level:6.2f}  {coverage[j]:8.3f}  {mean:9.2f}  {one:9.3f}  {none:.3f}")

# %%
# How large the sets are: a higher level is paid for with more labels.
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for j, (level, colour) in enumerate(zip(LEVELS, ("#0072B2", "#E69F00", "#009E73"), strict=True)):
    counts = np.bincount(sizes[:, j], minlength=sizes.max() + 1) / len(sizes)
    places = np.arange(len(counts)) + 0.27 * (j - 1)
    ax.bar(places, 100 * counts, 0.25, color=colour, label=f"level {level:g}")
ax.set(xlabel="labels in the set", ylabel="% of the test rows")
ax.legend(frameon=False)

# %%
# The reject option with the same held-out rows needs no probabilities: the hypothesis margin tells
# which predictions are sure. With a confidence of 90 % the error among accepted new rows is at most
# the target, which means in at least nine of ten draws of held-out rows. For the smaller targets
# this draw is one of the others: among its sure rows the held-out ones happen to have fewer errors.
print("\nOne label or none (RejectClassifier)\ntarget  rejected  error of the accepted")
for target in (0.05, 0.02, 0.01):
    rejecting = RejectClassifier(model, target_error=target, cv="prefit").fit(X_held, y_held)
    accepted = rejecting.accepts(X_test)
    error = np.mean(rejecting.predict(X_test)[accepted] != y_test[accepted])
    print(f"{target:6.2f}  {1.0 - accepted.mean():8.3f}  {error:.3f}")

# %%
# All thresholds at once: the accuracy of what is accepted over the share that is rejected.
curve = accuracy_reject_curve(
    y_test, rejecting.model_.predict(X_test), rejecting.confidence(X_test)
)
plt.step(curve.reject_rate, curve.accuracy, where="post")
plt.xlabel("share of rows that are rejected")
plt.ylabel("accuracy on the others")
plt.show()
