"""Plain formulas of prototype classification, for checking faster code against.

Everything here is slow on purpose: explicit loops, explicit differences, float64, one formula a
function. Nothing is shared with the library that the formulas check.

Contents
--------
1. Losses       identity, sigmoid, logistic, hinge, broken_linear, exponential; LOSSES
2. Distances    squared_euclidean, relevance, partial_squared_euclidean, mapped, partial_relevance,
                mixed; of one pair squared_pair, squared_gradient, partial_pair, partial_gradient,
                mapped_pair, mapped_gradients; log_det_penalty
3. Margins      winners, difference, relative, hypothesis, hypothesis_metric, k_nearest, radius,
                log_odds, pruned_log_odds;
                MARGINS; majority; attractions nearest_own, soft_own
4. Objective    cost, numeric_gradient, support_weights
5. One step     mce_step, logm_step, glvq_step, snpc_step, rslvq_step; mapped_glvq_step
6. Heuristics   lvq1, olvq1, lvq21, lvq3; mapped_lvq1_step
7. Schedules    linear_rate, inverse_rate, constant_rate
8. Scores       class_scores_nearest, class_scores_soft, probabilities, hypothesis_margin
9. Optimisers   momentum_steps, adam_steps
10. Bounds      generalization_bound, net_bound
11. Radii       certified_radius, lipschitz_radius, projection, way_to_cell, sample_margin
12. Perceptrons lengthened, rosenblatt, pocket, threshold_errors, separable, cover

Conventions
-----------
``X`` is (n, d), ``W`` is (K, d), ``c`` holds the K class codes of the prototypes and ``y`` those
of the samples. ``d`` is one row of distances (K,), ``same`` the boolean row ``c == y``. A margin
is positive when the sample is classified correctly. Ties go to the lowest index. A missing value
of ``X`` is NaN; ``W`` has none. A linear metric is a list ``maps`` of matrices Omega (r, d), of
which prototype k uses ``maps[group[k]]``; relevances lambda are the map diag(sqrt(lambda)).

References
----------
Jin, Liu and Hou (2008), Prototype learning with margin-based conditional log-likelihood loss.
Sato and Yamada (1995), Generalized learning vector quantization.
Seo, Bode and Obermayer (2003), Soft nearest prototype classification.
Seo and Obermayer (2003), Soft learning vector quantization.
Crammer, Gilad-Bachrach, Navot and Tishby (2002), Margin analysis of the LVQ algorithm.
Kohonen et al. (1995), LVQ_PAK: the learning vector quantization program package.
Biehl (lecture notes).
Schneider, Biehl and Hammer (2009), Adaptive relevance matrices in learning vector quantization.
Sutskever, Martens, Dahl and Hinton (2013), On the importance of initialization and momentum in
deep learning.
Voracek and Hein (2022), Provably adversarially robust nearest prototype classifiers.
Kingma and Ba (2015), Adam: a method for stochastic optimization.
Lawson and Hanson (1974), Solving least squares problems, chapter 23.
Gallant (1990), Perceptron-based learning algorithms.
Gower (1971), A general coefficient of similarity and some of its properties.
Cover (1965), Geometrical and statistical properties of systems of linear inequalities.
"""

from fractions import Fraction
from math import comb

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit

# 1. Losses ---------------------------------------------------------------------------------------


def identity(m):
    """phi(m) = -m, the loss of plain GLVQ (Sato and Yamada, 1995)."""
    return -np.asarray(m, dtype=float)


def sigmoid(m, beta):
    """phi(m) = 1 / (1 + exp(beta m)); Jin et al. (2008), eq. 4, with m = -d_k."""
    return expit(-beta * np.asarray(m, dtype=float))


def logistic(m, beta):
    """phi(m) = log(1 + exp(-beta m)); Jin et al. (2008), eqs. 10 and 12."""
    return np.logaddexp(0.0, -beta * np.asarray(m, dtype=float))


def hinge(m, beta):
    """phi(m) = max(0, 1 - beta m); Crammer et al. (2002), section 5.2."""
    return np.maximum(0.0, 1.0 - beta * np.asarray(m, dtype=float))


def broken_linear(m, beta):
    """phi(m) = min(2, max(0, 1 - beta m)); Crammer et al. (2002), section 5.3."""
    return np.minimum(2.0, np.maximum(0.0, 1.0 - beta * np.asarray(m, dtype=float)))


def exponential(m, beta):
    """phi(m) = exp(-beta m); Crammer et al. (2002), figure 3."""
    return np.exp(-beta * np.asarray(m, dtype=float))


LOSSES = {
    "identity": lambda m, beta: identity(m),
    "sigmoid": sigmoid,
    "logistic": logistic,
    "hinge": hinge,
    "broken_linear": broken_linear,
    "exponential": exponential,
}


# 2. Distances ------------------------------------------------------------------------------------


def squared_euclidean(X, W):
    """D_ik = sum_j (x_ij - w_kj)^2."""
    D = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        for k in range(len(W)):
            D[i, k] = np.sum((X[i] - W[k]) ** 2)
    return D


def relevance(X, W, lam):
    """D_ik = sum_j lambda_j (x_ij - w_kj)^2."""
    D = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        for k in range(len(W)):
            D[i, k] = np.sum(lam * (X[i] - W[k]) ** 2)
    return D


def partial_squared_euclidean(X, W):
    """D_ik = (d / |O_i|) sum over j in O_i of (x_ij - w_kj)^2, O_i the observed features of x_i."""
    D = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        for k in range(len(W)):
            D[i, k] = partial_pair(X[i], W[k])
    return D


def squared_pair(x, w):
    """delta(x, w) = sum_j (x_j - w_j)^2."""
    return np.sum((x - w) ** 2)


def squared_gradient(x, w):
    """Gradient d delta / d w = -2 (x - w) of delta = |x - w|^2."""
    return -2.0 * (x - w)


def _observed(x):
    """Give the indices of the features of x that are not missing; there must be one."""
    observed = [j for j in range(len(x)) if not np.isnan(x[j])]
    if not observed:
        raise ValueError("no feature of x is observed")
    return observed


def partial_pair(x, w):
    """delta(x, w) = (d / |O|) sum over j in O of (x_j - w_j)^2, O the observed features of x."""
    observed = _observed(x)
    total = 0.0
    for j in observed:
        total += (x[j] - w[j]) ** 2
    return len(x) / len(observed) * total


def partial_gradient(x, w):
    """Gradient of partial_pair: -2 (d / |O|) (x_j - w_j) for j in O and 0 elsewhere."""
    observed = _observed(x)
    gradient = np.zeros(len(x))
    for j in observed:
        gradient[j] = -2.0 * len(x) / len(observed) * (x[j] - w[j])
    return gradient


def mapped_pair(x, w, omega):
    """delta(x, w) = (x - w)^T Omega^T Omega (x - w); Biehl (lecture notes), eq. 5.13."""
    return (x - w) @ (omega.T @ omega) @ (x - w)


def mapped_gradients(x, w, omega):
    """Give 2 Lambda (w - x), by w, and 2 Omega (w - x)(w - x)^T, by Omega; Biehl, eq. 5.15."""
    return 2.0 * omega.T @ omega @ (w - x), 2.0 * omega @ np.outer(w - x, w - x)


def mapped(X, W, maps, group):
    """D_ik = |Omega (x_i - w_k)|^2 with Omega = maps[group[k]]."""
    D = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        for k in range(len(W)):
            D[i, k] = mapped_pair(X[i], W[k], maps[group[k]])
    return D


def partial_relevance(X, W, lam):
    """D_ik = (d / |O_i|) sum over j in O_i of lam_kj (x_ij - w_kj)^2, O_i the observed features."""
    D = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        observed = _observed(X[i])
        for k in range(len(W)):
            for j in observed:
                D[i, k] += len(X[i]) / len(observed) * lam[k][j] * (X[i, j] - W[k, j]) ** 2
    return D


def partial_mapped(X, W, maps, group):
    """D_ik = (d / |O_i|) |sum over j in O_i of Omega_.j (x_ij - w_kj)|^2, Omega = maps[group[k]].

    O_i are the observed features: the columns of Omega of the others are left out.
    """
    D = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        observed = _observed(X[i])
        for k in range(len(W)):
            pair = X[i, observed], W[k, observed], maps[group[k]][:, observed]
            D[i, k] = len(X[i]) / len(observed) * mapped_pair(*pair)
    return D


def mixed(X, W, numbers, categories):
    """D_ik = sum_j lambda_j (x_ij - w_kj)^2 - 1/2 sum_c u_c^T delta_c u_c, u_c = x_ic - w_kc.

    ``numbers`` are pairs of a column and its relevance, ``categories`` pairs of a slice of columns,
    which hold shares with the same sum in X and W, and the dissimilarities delta of its levels. For
    one-hot rows the second term is delta itself. After Gower (1971), with squares for numbers and
    any dissimilarity in place of 0 and 1 for categories.
    """
    D = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        for k in range(len(W)):
            for j, lam in numbers:
                D[i, k] += lam * (X[i, j] - W[k, j]) ** 2
            for block, delta in categories:
                u = X[i, block] - W[k, block]
                for a in range(len(u)):
                    for b in range(len(u)):
                        D[i, k] -= u[a] * delta[a, b] * u[b] / 2
    return D


def log_det_penalty(maps, mu):
    """-(mu/2) log det(Omega Omega^T), mean over the maps; Schneider, Biehl and Hammer (2009)."""
    return np.mean([-mu / 2 * np.linalg.slogdet(omega @ omega.T)[1] for omega in maps])


# 3. Margins and attractions of one sample --------------------------------------------------------


def logsumexp(a):
    """Log of the sum of exp(a_k), of few numbers far sooner than scipy.special.logsumexp."""
    return np.logaddexp.reduce(a)


def winners(d, same):
    """Give the index of the nearest prototype of the own class and of the nearest other one."""
    own = [k for k in range(len(d)) if same[k]]
    other = [k for k in range(len(d)) if not same[k]]
    return min(own, key=lambda k: d[k]), min(other, key=lambda k: d[k])


def difference(d, same):
    """Margin m = D- - D+; Jin et al. (2008), eqs. 3 and 11."""
    i, j = winners(d, same)
    return d[j] - d[i]


def relative(d, same):
    """Margin m = (D- - D+) / (D- + D+), and 0 where both are 0; Sato and Yamada (1995)."""
    i, j = winners(d, same)
    total = d[j] + d[i]
    return (d[j] - d[i]) / total if total > 0 else 0.0


def hypothesis(d, same):
    """Margin m = (sqrt D- - sqrt D+) / 2 of squared distances; Crammer et al. (2002), lemma 1."""
    i, j = winners(d, same)
    return (np.sqrt(d[j]) - np.sqrt(d[i])) / 2


def hypothesis_metric(d, same):
    """Margin m = (D- - D+) / 2 of distances not squared; Crammer et al. (2002), lemma 1."""
    i, j = winners(d, same)
    return (d[j] - d[i]) / 2


def k_nearest(d, same, k=3):
    """Margin m = (sqrt D-_(h) - sqrt D+_(h)) / 2 with the h-th smallest squared distances.

    h = (k + 1) // 2, or the number of prototypes if it is smaller. Crammer et al. (2002), section
    6, name the rule; lemma 1 with the h-th nearest gives the margin.
    """
    h = (k + 1) // 2
    own, rival = np.sort(d[same])[:h][-1], np.sort(d[~same])[:h][-1]
    return (np.sqrt(rival) - np.sqrt(own)) / 2


def radius(D, same, apart):
    """Margin m = min_j max_i (D_j - D_i) / (2 |w_i - w_j|), i own, j rivals, of squared distances.

    The distance to the plane between two prototypes is (|x - w_j|^2 - |x - w_i|^2) / (2 |w_i -
    w_j|); Voracek and Hein (2022), theorem 2.
    """
    planes = [
        max((D[j] - D[i]) / (2 * apart[i, j]) for i in np.flatnonzero(same))
        for j in np.flatnonzero(~same)
    ]
    return min(planes)


def majority(d, c, k):
    """Return the class that has more than half of the k nearest prototypes, or None.

    With an even k and a tie of two classes, that which has its k/2 prototypes first.
    """
    order = np.argsort(d, kind="stable")
    for nearest in (order[:k], order[: k - 1 + k % 2]):
        for label in np.unique(c):
            if 2 * np.sum(c[nearest] == label) > len(nearest):
                return label
    return None


def log_odds(d, same, xi):
    """Margin m = log sum_own exp(-xi D) - log sum_other exp(-xi D), the logit of P(own)."""
    d, same = np.asarray(d, dtype=float), np.asarray(same, dtype=bool)
    return logsumexp(-xi * d[same]) - logsumexp(-xi * d[~same])


def pruned_log_odds(d, same, xi, nearest, window):
    """Log-odds over the nearest own prototypes and the nearest rivals, cut off at the window.

    Jin et al. (2008), section 1, name both: pruning by proximity, and the windowing rule.
    """
    own, rival = np.sort(d[same])[:nearest], np.sort(d[~same])[:nearest]
    return np.clip(logsumexp(-xi * own) - logsumexp(-xi * rival), -window, window)


def nearest_own(d, same):
    """Attraction a = D+; Jin et al. (2008), eq. 14."""
    i, _ = winners(d, same)
    return d[i]


def soft_own(d, same, xi):
    """Attraction a = -(1/xi) log sum_own exp(-xi D); Jin et al. (2008), eq. 16, divided by xi."""
    d, same = np.asarray(d, dtype=float), np.asarray(same, dtype=bool)
    return -logsumexp(-xi * d[same]) / xi


MARGINS = {
    "difference": lambda d, same, xi: difference(d, same),
    "relative": lambda d, same, xi: relative(d, same),
    "hypothesis": lambda d, same, xi: hypothesis(d, same),
    "hypothesis_metric": lambda d, same, xi: hypothesis_metric(d, same),
    "k_nearest": lambda d, same, xi: k_nearest(d, same),
    "log_odds": log_odds,
}


# 4. Objective ------------------------------------------------------------------------------------


def cost(
    X,
    y,
    weights,
    W,
    c,
    *,
    margin,
    loss,
    beta=1.0,
    xi=1.0,
    alpha=0.0,
    scale=1.0,
    distance=squared_euclidean,
    directions=None,
):
    """L = sum_i s_i [phi(m(D_i / scale)) + alpha a(D_i / scale)] / sum_i s_i.

    D = distance(X, W) is a squared distance, squared Euclidean unless another is given, except for
    "hypothesis_metric", where its square root is taken. The attraction a is soft_own for
    "log_odds" and nearest_own for all other margins. "radius" measures between ``directions``,
    Lambda w_k of one matrix Lambda for all prototypes, which are the prototypes by default.
    """
    D = distance(X, W)
    if margin == "hypothesis_metric":
        D = np.sqrt(D)
    total = 0.0
    for i in range(len(X)):
        d = D[i] / scale
        same = np.asarray(c) == y[i]
        if margin == "radius":
            places = W if directions is None else directions
            apart = np.sqrt(squared_euclidean(places, places) / scale)
            m = radius(d, same, apart)
        else:
            m = MARGINS[margin](d, same, xi)
        phi = LOSSES[loss](m, beta)
        a = soft_own(d, same, xi) if margin == "log_odds" else nearest_own(d, same)
        total += weights[i] * (phi + alpha * a)
    return total / np.sum(weights)


def numeric_gradient(f, w, step=1e-6):
    """Central differences (f(w + step e) - f(w - step e)) / (2 step) for every entry of w."""
    w = np.array(w, dtype=float)
    gradient = np.zeros(w.shape)
    for index in np.ndindex(*w.shape):
        up, down = w.copy(), w.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (f(up) - f(down)) / (2 * step)
    return gradient


def support_weights(X, y, W, c, beta):
    """w_l^r = alpha_l^r / sum_l alpha_l^r, alpha_l^r = L'(theta_l) S_l(r) / |x_l - mu_r|.

    Crammer et al. (2002), section 5, for the loss L = exp(-beta theta).
    """
    alpha = np.zeros((len(X), len(W)))
    for i in range(len(X)):
        d = np.sqrt(np.sum((X[i] - W) ** 2, axis=1))
        own, rival = winners(d, c == y[i])
        slope = -beta * np.exp(-beta * 0.5 * (d[rival] - d[own]))
        alpha[i, own] = slope / d[own]
        alpha[i, rival] = -slope / d[rival]
    return alpha / alpha.sum(axis=0)


# 5. One sequential step --------------------------------------------------------------------------


def _discriminants(x, W):
    """g_ls = -|x - u_ls|^2; Jin et al. (2008), eq. 2."""
    return np.array([-np.sum((x - u) ** 2) for u in W])


def _move_two(x, W, ki, rj, dphi_dgki, dphi_dgrj, eta, alpha):
    """Move the two winners; Jin et al. (2008), eq. 15 (eq. 6 when alpha = 0)."""
    W = np.array(W, dtype=float)
    W[ki] = W[ki] - 2 * eta * (dphi_dgki - alpha) * (x - W[ki])
    W[rj] = W[rj] - 2 * eta * dphi_dgrj * (x - W[rj])
    return W


def mce_step(x, y, W, c, eta, xi, alpha=0.0):
    """One MCE update; Jin et al. (2008), eqs. 2-6 and 15."""
    g = _discriminants(x, W)
    ki, rj = winners(-g, np.asarray(c) == y)
    d_k = -g[ki] + g[rj]  # eq. 3
    phi = expit(xi * d_k)  # eq. 4
    dphi_dgki = -xi * phi * (1 - phi)  # eq. 5
    dphi_dgrj = -dphi_dgki
    return _move_two(x, W, ki, rj, dphi_dgki, dphi_dgrj, eta, alpha)


def logm_step(x, y, W, c, eta, xi, alpha=0.0):
    """One LOGM update; Jin et al. (2008), eqs. 11-13 and 15."""
    g = _discriminants(x, W)
    ki, rj = winners(-g, np.asarray(c) == y)
    f = g[ki] - g[rj]  # eq. 11
    p_k = expit(xi * f)  # eq. 12
    dphi_dgki = -(1 - p_k) * xi  # eq. 13
    dphi_dgrj = -dphi_dgki
    return _move_two(x, W, ki, rj, dphi_dgki, dphi_dgrj, eta, alpha)


def glvq_step(x, y, W, c, eta, xi, alpha=0.0):
    """One GLVQ update, sigmoid of slope xi; Jin et al. (2008), eqs. 4, 7 and 15.

    The sign of eq. 7 is corrected: d_k = (-g_k + g_r) / (-g_k - g_r), negative when correct.
    No force from phi where g_k = g_r = 0.
    """
    g = _discriminants(x, W)
    ki, rj = winners(-g, np.asarray(c) == y)
    g_k, g_r = g[ki], g[rj]
    if g_k + g_r == 0:
        return np.array(W, dtype=float)  # x sits on both winners: nothing to move
    d_k = (-g_k + g_r) / (-g_k - g_r)  # eq. 7, corrected
    phi = expit(xi * d_k)  # eq. 4
    dd_dgk = 2 * g_r / (g_k + g_r) ** 2
    dd_dgr = -2 * g_k / (g_k + g_r) ** 2
    dphi_dgki = xi * phi * (1 - phi) * dd_dgk
    dphi_dgrj = xi * phi * (1 - phi) * dd_dgr
    return _move_two(x, W, ki, rj, dphi_dgki, dphi_dgrj, eta, alpha)


def snpc_step(x, y, W, c, eta, xi, alpha=0.0):
    """One SNPC update; Jin et al. (2008), eqs. 16-18, with d phi / d g_ls in eq. 17.

    The attraction is that of eq. 16 divided by xi (see soft_own), so its part of the update is
    2 eta alpha (P_ls / P_k) (x - u_ls), without the factor xi that eq. 17 prints.
    """
    W = np.array(W, dtype=float)
    g = _discriminants(x, W)
    same = np.asarray(c) == y
    p = np.exp(xi * g - logsumexp(xi * g))  # P_ls
    p_k = np.sum(p[same])  # P_k
    log_own = logsumexp(xi * g[same])
    new = W.copy()
    for s in range(len(W)):
        if same[s]:
            dphi_dg = -xi * p[s] * (1 - p_k)  # eq. 18, l = k
            ratio = np.exp(xi * g[s] - log_own)  # P_ls / P_k
            new[s] = W[s] - 2 * eta * dphi_dg * (x - W[s]) + 2 * eta * alpha * ratio * (x - W[s])
        else:
            dphi_dg = xi * p[s] * p_k  # eq. 18, l != k
            new[s] = W[s] - 2 * eta * dphi_dg * (x - W[s])
    return new


def rslvq_step(x, y, W, c, eta, xi):
    """One RSLVQ update, descent on -log p(y|x); Seo and Obermayer (2003).

    w_k moves by 2 eta xi (P(k|own) - P(k)) (x - w_k) if c_k = y, by -2 eta xi P(k) (x - w_k)
    otherwise: components exp(-xi |x - w|^2) with equal priors, xi = 1 / (2 sigma^2).
    """
    W = np.array(W, dtype=float)
    g = _discriminants(x, W)
    same = np.asarray(c) == y
    p_all = np.exp(xi * g - logsumexp(xi * g))
    log_own = logsumexp(xi * g[same])
    new = W.copy()
    for k in range(len(W)):
        if same[k]:
            p_own = np.exp(xi * g[k] - log_own)
            new[k] = W[k] + 2 * eta * xi * (p_own - p_all[k]) * (x - W[k])
        else:
            new[k] = W[k] - 2 * eta * xi * p_all[k] * (x - W[k])
    return new


def _shortened(step, slope, d, stride):
    """Limit a step so that it ends at the sample or before: |step| stride |slope|^2 <= 4 d."""
    longest = 1.0 / max(1.0, stride * np.sum(slope**2) / (4.0 * d)) if d > 0 else 1.0
    return min(max(step, -longest), longest)


def mapped_glvq_step(
    x, y, W, c, maps, group, eta, beta, *, weight=1.0, alpha=0.0, scale=1.0, metric_rate=0.01
):
    """One GLVQ update, sigmoid of slope beta, of prototypes and maps; Schneider et al. (2009).

    Distances are in units of ``scale``. A prototype moves by the gradient times the dimension d,
    the inverse of the mean eigenvalue of a metric of trace one, and no further than to the sample.
    The maps move by the gradient times metric_rate and go back to Frobenius norm one.
    """
    W, maps = np.array(W, dtype=float), [np.array(omega, dtype=float) for omega in maps]
    d = mapped(x[None], W, maps, group)[0]
    i, j = winners(d, np.asarray(c) == y)
    own, rival = d[i] / scale, d[j] / scale
    phi = sigmoid((rival - own) / (rival + own), beta)
    slope = -beta * phi * (1 - phi)
    by_own = -2 * rival / (own + rival) ** 2 * slope + alpha
    by_rival = 2 * own / (own + rival) ** 2 * slope
    total = [np.zeros_like(omega) for omega in maps]
    moved = W.copy()
    for k, g in ((i, by_own), (j, by_rival)):
        by_w, by_omega = mapped_gradients(x, W[k], maps[group[k]])
        step = 0.5 * _shortened(2 * weight * eta * g, by_w, d[k], len(x))
        moved[k] = W[k] - len(x) * step * by_w
        total[group[k]] += weight * eta * g / scale * by_omega
    for r, by_omega in enumerate(total):
        maps[r] = maps[r] - metric_rate * by_omega
        maps[r] = maps[r] / np.linalg.norm(maps[r])
    return moved, maps


# 6. Heuristic rules over an ordered sequence of samples ------------------------------------------
#
# weights     s_t of the samples, 1 if None: a factor of the step alone
# distance    delta(x, w) of one pair, squared Euclidean if None
# gradient    d delta / d w of one pair; given if and only if distance is
# squared     whether delta is a squared distance: the window takes its square root, or delta itself


def _rate(eta, t):
    """Give the rate of step t: eta itself if it is one number, else eta[t]."""
    return eta if np.ndim(eta) == 0 else eta[t]


def _weight(weights, t):
    """Give the weight s_t of sample t, 1 if there are no weights."""
    return 1.0 if weights is None else weights[t]


def _pair(distance, gradient):
    """Give delta(x, w) and its gradient, those of the squared Euclidean distance by default."""
    if (distance is None) != (gradient is None):
        raise ValueError("a distance and its gradient go together")
    return (squared_pair, squared_gradient) if distance is None else (distance, gradient)


def _order(x, W, delta=squared_pair, squared=True):
    """Unsquared distances to x and the prototypes from nearest to farthest."""
    d = np.array([np.sqrt(delta(x, w)) if squared else delta(x, w) for w in W])
    return d, sorted(range(len(W)), key=lambda k: d[k])


def _in_window(d_i, d_j, window):
    """min(d_i/d_j, d_j/d_i) > (1 - window)/(1 + window), unsquared d; a distance 0 is outside."""
    if d_i == 0 or d_j == 0:
        return False
    return min(d_i / d_j, d_j / d_i) > (1 - window) / (1 + window)


def _moved(x, w, step, ddelta_dw):
    """Give w - step (1/2) d delta/dw, w + step (x - w) if squared Euclidean; Biehl, 5.9."""
    return w - step * 0.5 * ddelta_dw(x, w)


def lvq1(X, y, W, c, eta, *, weights=None, distance=None, gradient=None, squared=True):
    """LVQ1: the nearest prototype moves by -s eta psi (1/2) d delta/dw, psi = 1 if right, else -1.

    Squared Euclidean and unweighted: by +eta (x - w) if right, -eta (x - w) if wrong.
    """
    delta, ddelta_dw = _pair(distance, gradient)
    W = np.array(W, dtype=float)
    for t in range(len(X)):
        _, order = _order(X[t], W, delta, squared)
        j = order[0]
        psi = 1.0 if c[j] == y[t] else -1.0
        s = _weight(weights, t)
        W[j] = _moved(X[t], W[j], s * _rate(eta, t) * psi, ddelta_dw)
    return W


def olvq1(
    X,
    y,
    W,
    c,
    eta0,
    *,
    weights=None,
    distance=None,
    gradient=None,
    squared=True,
    rates=None,
    return_rates=False,
):
    """OLVQ1: eta_j <- min(eta_j(0), eta_j / (1 + psi eta_j)) first, then LVQ1's move with it.

    psi is +1 when the current sample hits a right prototype, -1 when a wrong one; 0 < eta0 < 1.
    The rates eta_j begin at eta_j(0) = eta0, or at ``rates``, left by earlier steps; eta0 stays
    their bound. The weight s_t does not enter them. Gives W, or (W, rates) with ``return_rates``.
    """
    delta, ddelta_dw = _pair(distance, gradient)
    W = np.array(W, dtype=float)
    start = np.full(len(W), eta0, dtype=float)
    rate = start.copy() if rates is None else np.array(rates, dtype=float)
    for t in range(len(X)):
        _, order = _order(X[t], W, delta, squared)
        j = order[0]
        psi = 1.0 if c[j] == y[t] else -1.0
        s = _weight(weights, t)
        rate[j] = min(start[j], rate[j] / (1 + psi * rate[j]))
        W[j] = _moved(X[t], W[j], s * rate[j] * psi, ddelta_dw)
    return (W, rate) if return_rates else W


def lvq21(X, y, W, c, eta, window, *, weights=None, distance=None, gradient=None, squared=True):
    """LVQ2.1: of the two nearest, one right and one wrong and in the window, pull and push."""
    delta, ddelta_dw = _pair(distance, gradient)
    W = np.array(W, dtype=float)
    for t in range(len(X)):
        d, order = _order(X[t], W, delta, squared)
        i, j = order[0], order[1]
        step = _weight(weights, t) * _rate(eta, t)
        if (c[i] == y[t]) != (c[j] == y[t]) and _in_window(d[i], d[j], window):
            right, wrong = (i, j) if c[i] == y[t] else (j, i)
            W[right] = _moved(X[t], W[right], step, ddelta_dw)
            W[wrong] = _moved(X[t], W[wrong], -step, ddelta_dw)
    return W


def lvq3(
    X, y, W, c, eta, window, epsilon, *, weights=None, distance=None, gradient=None, squared=True
):
    """LVQ3: LVQ2.1, and if both nearest are right both are pulled, epsilon times, no window."""
    delta, ddelta_dw = _pair(distance, gradient)
    W = np.array(W, dtype=float)
    for t in range(len(X)):
        d, order = _order(X[t], W, delta, squared)
        i, j = order[0], order[1]
        step = _weight(weights, t) * _rate(eta, t)
        if c[i] == y[t] and c[j] == y[t]:
            W[i] = _moved(X[t], W[i], epsilon * step, ddelta_dw)
            W[j] = _moved(X[t], W[j], epsilon * step, ddelta_dw)
        elif (c[i] == y[t]) != (c[j] == y[t]) and _in_window(d[i], d[j], window):
            right, wrong = (i, j) if c[i] == y[t] else (j, i)
            W[right] = _moved(X[t], W[right], step, ddelta_dw)
            W[wrong] = _moved(X[t], W[wrong], -step, ddelta_dw)
    return W


def mapped_lvq1_step(x, y, W, c, maps, group, eta, *, weight=1.0, scale=1.0, metric_rate=0.01):
    """Matrix LVQ1: the nearest prototype and its map move, towards a right sample or away.

    By the dimension times half the gradient, and no further than to the sample; the map by
    metric_rate / scale times half the gradient, and back to Frobenius norm one.
    """
    W, maps = np.array(W, dtype=float), [np.array(omega, dtype=float) for omega in maps]
    d = mapped(x[None], W, maps, group)[0]
    k = int(np.argmin(d))
    psi = 1.0 if c[k] == y else -1.0
    by_w, by_omega = mapped_gradients(x, W[k], maps[group[k]])
    step = _shortened(weight * eta * psi, by_w, d[k], len(x))
    W[k] = W[k] - len(x) * step * 0.5 * by_w
    maps[group[k]] = maps[group[k]] - metric_rate / scale * step * 0.5 * by_omega
    maps[group[k]] = maps[group[k]] / np.linalg.norm(maps[group[k]])
    return W, maps


# 7. Schedules ------------------------------------------------------------------------------------


def linear_rate(t, eta0, total):
    """eta(t) = eta0 (1 - t/total); Jin et al. (2008), section 4, t counting single samples."""
    return eta0 * (1 - t / total)


def inverse_rate(t, eta0, decay):
    """eta(t) = eta0 / (1 + t decay)."""
    return eta0 / (1 + t * decay)


def constant_rate(t, eta0):
    """eta(t) = eta0."""
    return eta0


# 8. Scores ---------------------------------------------------------------------------------------


def class_scores_nearest(D, c, n_classes):
    """score_il = -min over prototypes k of class l of D_ik; every class has a prototype."""
    scores = np.zeros((len(D), n_classes))
    for i in range(len(D)):
        for label in range(n_classes):
            scores[i, label] = -min(D[i][k] for k in range(len(c)) if c[k] == label)
    return scores


def class_scores_soft(D, c, n_classes, xi, scale):
    """score_il = (scale/xi) log of the sum over k of class l of exp(-xi D_ik / scale)."""
    scores = np.zeros((len(D), n_classes))
    for i in range(len(D)):
        for label in range(n_classes):
            exponents = [-xi * D[i][k] / scale for k in range(len(c)) if c[k] == label]
            scores[i, label] = scale / xi * logsumexp(exponents)
    return scores


def probabilities_of_margins(nearest, kind, factor, floor):
    """Class probabilities of rows by their distances to the classes, one row and class at a time.

    ``(1 - e) softmax(factor m) + e / C`` of the margin m of each class: minus its distance, minus
    the root of it, or the relative margin to the second nearest class.
    """
    P = np.empty_like(nearest)
    for p, row in zip(P, nearest, strict=True):
        margins, second = [], sorted(row)[1]
        for D in row:
            relative = (second - D) / (second + D) if second + D > 0.0 else 0.0
            margins.append({"difference": -D, "root": -np.sqrt(D), "relative": relative}[kind])
        raised = np.exp(factor * (np.array(margins) - max(margins)))
        p[:] = (1.0 - floor) * raised / raised.sum() + floor / len(row)
    return P


def probabilities(scores, sharpness, scale):
    """p_il = exp(sharpness score_il / scale) / sum over classes of the same."""
    result = np.zeros(np.shape(scores))
    for i in range(len(scores)):
        z = sharpness * np.asarray(scores[i], dtype=float) / scale
        result[i] = np.exp(z - logsumexp(z))
    return result


def hypothesis_margin(x, y, W, c):
    """(|x - v*| - |x - w*|) / 2, v* nearest of other classes, w* of the own; Crammer et al."""
    d, _ = _order(x, W)
    i, j = winners(d, np.asarray(c) == y)
    return (d[j] - d[i]) / 2


# 9. Optimisers over a sequence of gradients ------------------------------------------------------


def _gradient_at(g, theta):
    """Give g(theta) if g is a function, else g itself."""
    return np.asarray(g(theta.copy()) if callable(g) else g, dtype=float)


def momentum_steps(theta, gradients, rates, momentum, nesterov=False):
    """Momentum: v <- momentum v - rate g(theta), theta <- theta + v; Sutskever et al. (2013).

    v starts at 0. Nesterov: theta <- theta + momentum v - rate g with the new v; this theta is the
    point theta' + momentum v at which their eq. 3 takes the gradient, theta' being their iterate.
    ``gradients`` holds a function g_t(theta) (or a fixed vector) a step, ``rates`` a number.
    """
    theta = np.array(theta, dtype=float)
    v = np.zeros(theta.shape)
    for g_t, rate in zip(gradients, rates, strict=True):
        g = _gradient_at(g_t, theta)
        v = momentum * v - rate * g
        theta = theta + momentum * v - rate * g if nesterov else theta + v
    return theta


def adam_steps(theta, gradients, rates, beta1, beta2, epsilon):
    """Adam: theta <- theta - rate m^ / (sqrt(v^) + epsilon); Kingma and Ba (2015), algorithm 1.

    m and v are the moving averages of g and g^2 from 0, m^ = m / (1 - beta1^t) and
    v^ = v / (1 - beta2^t) with t = 1, 2, ... ``gradients`` and ``rates`` as in momentum_steps.
    """
    theta = np.array(theta, dtype=float)
    m, v = np.zeros(theta.shape), np.zeros(theta.shape)
    for t, (g_t, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        g = _gradient_at(g_t, theta)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        theta = theta - rate * m_hat / (np.sqrt(v_hat) + epsilon)
    return theta


# 10. Bounds --------------------------------------------------------------------------------------


def generalization_bound(margins, theta, R, n, k, n_classes, delta):
    """Give the right side of eq. 2, d of eq. 3 and the margin error; Crammer et al., theorem 1.

    The theorem is applied to x / R, a sample in the unit ball, hence to margins / R and theta / R.
    The logarithm of eq. 3 has base 2 (theorem 2), and so has one of the two factors of
    log^2(32 m / theta^2): it is ln of (4 m / gamma^2)^(d log2(...)), a covering number, in theorem
    3; the other and log(4 / delta) are natural.
    """
    theta = theta / R
    m = len(margins)
    alpha = sum(1 for margin in margins if margin / R < theta) / m
    d = min(n + 1, 64 / theta**2) * 2 * k**n_classes * np.log2(np.e * k**2)
    inside = d * np.log2(32 * m / theta**2) * np.log(32 * m / theta**2) + np.log(4 / delta)
    return alpha + np.sqrt(8 / m * inside), d, alpha


def net_bound(margins, theta, R, W, delta):
    """Give alpha + sqrt((n K ln(1 + 4 B / theta) + ln(1 / delta_j)) / (2 m)), and ln of the net.

    B = R 2^j is the least such length that no prototype exceeds, delta_j = delta / ((j+1)(j+2)).
    """
    K, n = W.shape
    j = 0
    while max(np.sqrt(np.sum(w**2)) for w in W) > R * 2**j:
        j += 1
    alpha = sum(1 for margin in margins if margin < theta) / len(margins)
    net = n * K * np.log(1 + 4 * R * 2**j / theta)
    inside = net + np.log((j + 1) * (j + 2) / delta)
    return alpha + np.sqrt(inside / (2 * len(margins))), net, alpha


# 11. Radii within which a sample keeps its class ------------------------------------------------


def certified_radius(x, W, c, own, omega=None):
    """max_j min_v (D_v - D_j) / (2 |Lambda (v - w_j)|), at least 0; j of class own, v of others."""
    omega = np.eye(len(x)) if omega is None else omega
    D = [mapped_pair(x, w, omega) for w in W]
    best = 0.0
    for j in range(len(W)):
        if c[j] != own:
            continue
        smallest = np.inf
        for v in range(len(W)):
            if c[v] != own:
                length = np.linalg.norm(omega.T @ omega @ (W[v] - W[j]))
                smallest = min(smallest, (D[v] - D[j]) / (2 * length) if length > 0 else 0.0)
        best = max(best, smallest)
    return best


def lipschitz_radius(d, c, own, steepness):
    """max_j min_v (d_v - d_j) / (L_v + L_j), at least 0, of distances d that are not squared."""
    best = 0.0
    for j in range(len(d)):
        if c[j] != own:
            continue
        gaps = [(d[v] - d[j]) / (steepness[v] + steepness[j]) for v in range(len(d)) if c[v] != own]
        best = max(best, min(gaps, default=np.inf))
    return best


def projection(A, b):
    """Give the shortest y with A y <= b, None if there is none; Lawson and Hanson (1974), 23.27.

    The rows of A have length one. Ways of more than 1e7 count as none.
    """
    E = np.vstack([-A.T, -b])
    f = np.append(np.zeros(A.shape[1]), 1.0)
    u, _ = nnls(E, f, maxiter=100 * (len(A) + 10))
    r = E @ u - f
    return None if np.linalg.norm(r) < 1e-7 else -r[:-1] / r[-1]


def way_to_cell(x, v, W, leave, omega=None, box=None):
    """Give the shortest y such that x + y is as near to W[v] as to all W[leave], or None.

    ``box`` is a pair of vectors, low <= y <= high.
    """
    lam = np.eye(len(x)) if omega is None else omega.T @ omega
    A, b = [], []
    for j in leave:  # D_v(x + y) <= D_j(x + y)
        normal = 2 * lam @ (W[j] - W[v])
        gap = (x - W[j]) @ lam @ (x - W[j]) - (x - W[v]) @ lam @ (x - W[v])
        length = np.linalg.norm(normal)
        if length > 0:
            A.append(normal / length)
            b.append(gap / length)
        elif gap < 0:
            return None
    for i in range(0 if box is None else len(x)):
        for side, bound in ((-1.0, box[0][i]), (1.0, box[1][i])):
            if np.isfinite(bound):
                A.append(side * np.eye(len(x))[i])
                b.append(side * bound)
    return projection(np.array(A), np.array(b)) if A else np.zeros(len(x))


def sample_margin(x, W, c, own, omega=None):
    """Give the distance of x to the nearest cell of another class, and the way there."""
    leave = [j for j in range(len(W)) if c[j] == own]
    nearest = np.inf, None
    for v in range(len(W)):
        if c[v] != own:
            y = way_to_cell(x, v, W, leave, omega)
            if y is not None and np.linalg.norm(y) < nearest[0]:
                nearest = np.linalg.norm(y), y
    return nearest


# 12. Perceptrons ---------------------------------------------------------------------------------


def lengthened(X, clamped):
    """Give the inputs of a unit: the rows, with one more input -1 for a clamped threshold."""
    return np.column_stack([X, [-1] * len(X)]) if clamped else np.asarray(X)


def rosenblatt(Z, y, c, orders):
    """Biehl, 3.15 with E <= c: give u, the number of updates and of sweeps, and success.

    With inputs of type Fraction in exact arithmetic.
    """
    N = Z.shape[1]
    w, u, updates, sweeps = 0 * Z[0], np.zeros(len(Z)), 0, 0
    for sweeps, order in enumerate(orders, start=1):
        before = updates
        for i in order:
            if y[i] * (w @ Z[i]) <= c:
                w = w + y[i] * Z[i] / N
                u[i] += 1
                updates += 1
        if updates == before:
            return u, updates, sweeps, True
    return u, updates, sweeps, False


def pocket(Z, y, draws, theta):
    """Gallant (1990), pocket with ratchet, on sweeps of draws (i, j); j is None or a partner.

    Errors are counted when the present run of correct answers is longer than that of the weights
    in the pocket. ``theta(fields)`` is the threshold. Gives the strengths in the pocket, its errors
    after each sweep and the number of updates. Weights are N times those of a unit.
    """
    w, u, run = 0 * Z[0], np.zeros(len(Z)), 0
    pocket_u, errors, stability, longest = u, len(Z), -np.inf, 0
    counted, curve, updates = False, [], 0
    for sweep in draws:
        for i, j in sweep:
            if errors == 0:
                break
            learned = [i] if j is None else [i, j]
            if sum(y[k] * (w @ Z[k]) for k in learned) <= 0:
                for k in learned:
                    w = w + y[k] * Z[k]
                    u = u + (np.arange(len(Z)) == k)
                run, counted, updates = 0, False, updates + 1
                continue
            run += 1
            if run > longest and not counted:
                counted = True  # again the errors would be the same
                E = y * (Z @ w - theta(Z @ w))
                H, kappa = np.sum(E <= 0), E.min() / np.sqrt(w @ w)
                if errors > H or (errors == H and kappa > stability):
                    pocket_u, errors, stability, longest = u, H, kappa, run
        curve.append(errors)
        if errors == 0:
            break
    return pocket_u, curve, updates


def threshold_errors(fields, y, theta):
    """Count the fields that are not on the side of theta that y says."""
    return sum(1 for f, s in zip(fields, y, strict=True) if s * (f - theta) <= 0)


def separable(Z):
    """Tell whether there is a w with w.z > 0 for all rows z, exactly, by Fourier and Motzkin."""
    rows = {tuple(map(Fraction, z)) for z in np.asarray(Z).tolist()}
    for k in range(len(Z[0])):
        up, down = [r for r in rows if r[k] > 0], [r for r in rows if r[k] < 0]
        rows = {r for r in rows if r[k] == 0}
        for p in up:
            for q in down:
                r = [b * p[k] - a * q[k] for a, b in zip(p, q, strict=True)]
                size = max(map(abs, r)) or 1
                rows.add(tuple(v / size for v in r))
        if any(not any(r) for r in rows):  # 0 > 0
            return False
    return True


def cover(P, N):
    """Give the share of the dichotomies of P points in N dimensions that are separable.

    By hyperplanes through the origin; Cover (1965), points in general position.
    """
    return sum(comb(P - 1, k) for k in range(N)) / 2 ** (P - 1)


def ada_tron_step(u, C, i, eta, gamma=np.inf):
    """Biehl (lecture notes), 3.76 and with errors 4.6: the strengths after a step of example i."""
    changed = u.copy()
    changed[i] = min(gamma, max(0.0, u[i] + eta * (1.0 - C[i] @ u) / C[i, i]))
    return changed


def dual(u, C):
    """Give what the AdaTron maximises."""
    return u.sum() - u @ C @ u / 2


def optimality_violation(u, E, y, gamma, free):
    """Give the least eps with the Kuhn-Tucker conditions up to eps, by each example.

    Without a threshold: ``E >= 1 - eps`` unless u is gamma, ``E <= 1 + eps`` unless u is 0. With a
    free one the same for ``E - y theta`` up to eps / 2, for the best theta.
    """
    if not free:
        short = [1 - e for e, v in zip(E, u, strict=True) if v < gamma]
        over = [e - 1 for e, v in zip(E, u, strict=True) if v > 0]
        return max(0.0, *short, *over)
    low, high = -np.inf, np.inf  # low <= theta <= high
    for e, v, s in zip(E, u, y, strict=True):
        edge = s * (e - 1)
        if (v < gamma and s > 0) or (v > 0 and s < 0):
            high = min(high, edge)
        if (v < gamma and s < 0) or (v > 0 and s > 0):
            low = max(low, edge)
    return max(0.0, low - high)


def largest_stability(Z, y):
    """Give the weights with ``y w.z >= 1`` of least length, None if there are none."""
    length = np.linalg.norm(Z, axis=1)
    if not length.all():
        return None
    return projection(-y[:, None] * Z / length[:, None], -1.0 / length)


def min_over(Z, y, tol, most, free):
    """Biehl, 3.5.1: learn the example of least E, the first of equals; free: of each class.

    Gives the strengths, the number of updates, and whether the stability is known to be within tol
    of the largest. Weights are N times those of a unit.
    """
    w, u = 0 * Z[0], np.zeros(len(Z))
    groups = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)] if free else [np.arange(len(Z))]
    for made in range(most + 1):
        E = y * (Z @ w)
        worst = [group[E[group].argmin()] for group in groups]
        lowest = np.mean([E[i] for i in worst])
        if lowest > 0 and lowest / np.sqrt(w @ w) >= (1 - tol) * np.sqrt(w @ w) / u.sum():
            return u, made, True
        if made < most:
            for i in worst:
                w, u[i] = w + y[i] * Z[i], u[i] + 1
    return u, most, False
