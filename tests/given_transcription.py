"""Shen and Danyluk's algorithms 1 to 3 and their prediction, line by line, one model at a time.

Slow on purpose: plain loops, scikit-learn's SVMs, SciPy's optimiser, nothing of the library. What
the paper leaves open is chosen as the library says it does: the held-out rows are a share of each
class; an SVM sees its rows relative to its exemplar and regularises its bias; models that fire on
no training row go before the ensemble is tested; Platt's sigmoid is fitted to the whole training
part, and for the ensemble that is kept once more to all rows; where no model fires the one of the
largest decision value votes as if it just did; of equally accurate ensembles the smaller is kept.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import LinearSVC


@dataclass
class Model:
    """A linear SVM, its exemplar, and the sets that it learns from."""

    exemplar: int
    label: int
    positives: set
    negatives: set
    w: np.ndarray = None
    b: float = 0.0  # in the coordinates of the rows, not relative to the exemplar
    slope: float = 0.0
    offset: float = 0.0

    def value(self, x):
        return float(self.w @ x) + self.b

    def probability(self, value):
        return float(expit(self.slope * value + self.offset))


@dataclass
class Story:
    """What happened: the ensembles after each shift, and the one that was kept.

    ``closest`` is the smallest absolute decision value of a training row, ``hard`` the number of
    hard negatives that joined, ``fallbacks`` the rows that no model fired on in a test, and
    ``lead`` the least by which the largest decision value there was ahead of the next.
    """

    held: list
    ensembles: list
    accuracies: list
    best: int
    rows: np.ndarray
    closest: float
    hard: int = 0
    fallbacks: int = 0
    lead: float = math.inf


def train(X, y, *, s, k, v, p, C, seed):
    """Algorithm 1, TRAIN(T), of z-scored rows."""
    rng = np.random.RandomState(seed)
    T = (X - X.mean(axis=0)) / X.std(axis=0)
    held = hold_out(y, v, rng)
    D = [i for i in range(len(T)) if i not in held]
    V = sorted(held) if held else D
    story = Story(sorted(held), [], [], 0, T, math.inf)
    E = [Model(i, int(y[i]), {i}, set(choose_negatives(T, y, D, i, k))) for i in D]
    for j in range(s + 1):
        if j > 0:
            E = shift(T, y, D, E, p, rng, story)
        for model in E:
            train_svm(T, model, C)
        story.closest = min(story.closest, *(abs(m.value(T[i])) for m in E for i in D))
        E = [m for m in E if any(m.value(T[i]) > 0 for i in D)] or E
        for model in E:
            fit_platt(T, y, D, model)
        story.ensembles.append([copy_of(model) for model in E])
        story.accuracies.append(accuracy(T, y, V, E, story))
    sizes = [len(E) for E in story.ensembles]
    story.best = min(range(s + 1), key=lambda j: (-story.accuracies[j], sizes[j], j))
    for model in story.ensembles[story.best]:
        fit_platt(T, y, range(len(T)), model)
    return story


def hold_out(y, v, rng):
    """Give the rows of V, the same share of each class rounded down."""
    held = set()
    for label in sorted(set(y.tolist())):
        places = rng.permutation([i for i in range(len(y)) if y[i] == label])
        held.update(places[: math.floor(v * len(places))].tolist())
    return held


def choose_negatives(T, y, D, i, k):
    """Algorithm 2, CHOOSENEGATIVES(D, d_i)."""
    N = []
    others = [j for j in D if y[j] != y[i]]
    others.sort(key=lambda j: np.linalg.norm(T[j] - T[i]))
    apart = [j for j in others if np.linalg.norm(T[j] - T[i]) > 0]
    if not apart:  # all of them lie where the exemplar is
        return others[:k]
    x = T[apart[0]]
    n = (x - T[i]) / np.linalg.norm(x - T[i])
    for j in apart:
        if n @ (T[j] - T[i]) > 0:
            N.append(j)
            if len(N) == k:
                return N
    return N


def shift(T, y, D, E, p, rng, story):
    """Algorithm 3, SHIFT(D, E, P, N); the models that fire on nothing are gone already."""
    candidates = {j: [] for j in D}
    for model in E:
        for j in D:
            if model.value(T[j]) > 0:
                if y[j] == model.label:
                    distance = np.linalg.norm(T[j] - T[model.exemplar])
                    candidates[j].append((distance, model))
                elif rng.random_sample() < p:
                    story.hard += j not in model.negatives
                    model.negatives.add(j)
    for j in D:
        if candidates[j]:
            _, closest = min(candidates[j], key=lambda candidate: candidate[0])
            closest.positives.add(j)
    return E


def train_svm(T, model, C):
    """Train a linear SVM, using P_i and N_i.

    LIBLINEAR stops as soon as all rows violate their conditions equally, which two rows often do.
    A row more that weighs next to nothing, and so is content at once, prevents it.
    """
    positives, negatives = sorted(model.positives), sorted(model.negatives)
    Z = T[[*positives, *negatives, model.exemplar]] - T[model.exemplar]
    signs = [1] * len(positives) + [-1] * len(negatives) + [1]
    weight = [1.0] * (len(Z) - 1) + [1e-10]
    svm = LinearSVC(loss="hinge", dual=True, C=C, tol=1e-9, max_iter=10**6, random_state=0)
    svm.fit(Z, signs, sample_weight=weight)
    model.w = svm.coef_[0]
    model.b = float(svm.intercept_[0]) - float(model.w @ T[model.exemplar])


def fit_platt(T, y, rows, model):
    """Fit the sigmoid to Platt's targets by their cross entropy."""
    values = np.array([model.value(T[i]) for i in rows])
    own = np.array([y[i] == model.label for i in rows])
    model.slope, model.offset = platt(values, own)


def platt(values, own):
    """Give slope and offset of ``p = 1 / (1 + exp(-slope f - offset))``."""
    n_own, n_other = own.sum(), (~own).sum()
    targets = np.where(own, (n_own + 1) / (n_own + 2), 1 / (n_other + 2))
    unit = np.abs(values).max() or 1.0
    F = np.column_stack([values / unit, np.ones(len(values))])

    def entropy(theta):
        z = F @ theta
        return (np.logaddexp(0.0, z) - targets * z).sum()

    def slope(theta):
        return F.T @ (expit(F @ theta) - targets)

    def curvature(theta):
        q = expit(F @ theta)
        return (F.T * (q * (1.0 - q))) @ F

    start = [0.0, math.log((n_own + 1) / (n_other + 1))]
    found = minimize(
        entropy, start, jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-9}
    )
    return float(found.x[0]) / unit, float(found.x[1])


def totals(x, E, n_classes, story=None):
    """Sum the probabilities of the models that fire on a row, for each class (section 4.3)."""
    votes = [0.0] * n_classes
    values = [model.value(x) for model in E]
    if not any(value > 0 for value in values):
        loudest = E[int(np.argmax(values))]
        votes[loudest.label] += loudest.probability(0.0)
        if story is not None:
            story.fallbacks += 1
            others = [value for model, value in zip(E, values, strict=True) if model is not loudest]
            story.lead = min(story.lead, max(values) - max(others, default=-math.inf))
        return votes
    for model, value in zip(E, values, strict=True):
        if value > 0:
            votes[model.label] += model.probability(value)
    return votes


def accuracy(T, y, V, E, story):
    """TEST(V, E): the share of rows whose class has the largest total."""
    n_classes = len(set(y.tolist()))
    return sum(int(np.argmax(totals(T[i], E, n_classes, story))) == y[i] for i in V) / len(V)


def copy_of(model):
    """Copy a model with its sets, which later shifts change."""
    parts = {**vars(model), "positives": set(model.positives), "negatives": set(model.negatives)}
    return Model(**parts)
