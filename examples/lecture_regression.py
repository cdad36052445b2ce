"""
Lecture: regression, Adaline and the pseudo-inverse
===================================================

Section 2.4.2 of Biehl's lecture notes treats linear regression as a learning problem; section 3.6.2
meets it again as Adaline. The same weights come from steps after single examples, from steps after
all of them, and from one formula; a prior for the weights turns it into ridge regression.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from protolearn import Adaline

# %%
# Targets are the labels -1 and +1. Least squares are solved by the pseudo-inverse.
rng = np.random.RandomState(0)
X = rng.standard_normal((80, 5)) * [1.0, 1.0, 1.0, 1.0, 0.4]
y = np.sign(X @ [1.0, -0.5, 0.3, 0.0, 0.8] + 0.6 * rng.standard_normal(80))
exact = np.linalg.pinv(X) @ y

# %%
# Adaline raises or lowers embedding strengths, ``u += rate (1 - E)``: the least mean square rule of
# Widrow and Hoff. All at once it is gradient descent on the squared error; one after the other,
# with steps that get shorter, it comes to the same place.
parallel = Adaline(fit_intercept=False, history=True).fit(X, y)
single = Adaline(updates="sequential", decay=0.05, tol=1e-6, fit_intercept=False, history=True).fit(
    X, y
)
for name, model in (("all at once", parallel), ("one by one", single)):
    print(f"{name:12} {np.abs(model.coef_[0] - exact).max():.1e} from the pseudo-inverse")

# %%
# Ridge regression is the most probable answer (MAP) if the weights are normal with variance ``s``
# and the noise has variance 1: ``(X'X + I / s)^-1 X'y``. Without a prior it is least squares again.
for s in (0.01, 0.1, 10.0):
    w = np.linalg.solve(X.T @ X + np.eye(5) / s, X.T @ y)
    ridge = Ridge(alpha=1.0 / s, fit_intercept=False).fit(X, y).coef_
    print(
        f"prior variance {s:5}: length {np.linalg.norm(w):.3f}, Ridge {np.abs(w - ridge).max():.0e}"
    )

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, model, tone in (("at once", parallel, "#0072B2"), ("one by one", single, "#E69F00")):
    away = np.linalg.norm(model.history_[0]["coef"] - exact, axis=1)
    ax.loglog(np.arange(1, len(away) + 1), np.maximum(away, 1e-9), color=tone, label=name)
ax.set(xlabel="sweeps", ylabel="distance from the pseudo-inverse")
ax.legend(frameon=False)
