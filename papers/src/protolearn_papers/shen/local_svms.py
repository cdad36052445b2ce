"""Linear SVMs of regions: by k-means, of the neighbours of each row, and of profiles.

Localized and profile SVMs are as Shen and Danyluk describe them (section 2), after Cheng, Tan and
Jin (2010). Each has one number: of clusters, or of neighbours. It is the one of a few that tells
the classes of most held-out rows, a quarter of each class as for PSVMs; of equals the smallest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

COST = 100.0
"""Cost of an error, as that of PSVMs."""

HELD_OUT = 0.25
MOST_ASKED = 200
"""Held-out rows that are asked at most: a localized SVM trains a model for each of them."""

CLUSTERS = (1, 2, 4, 8, 16, 32, 64)
NEIGHBOURS = (10, 30, 100)

Rule = Callable[[Any], Any]


class LocalSVMs(ClassifierMixin, BaseEstimator):
    """SVMs of regions whose number or size is chosen by held-out rows."""

    sizes: Sequence[int]

    def __init__(self, random_state: int = 0):
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the number, then train with all rows."""
        self.classes_ = np.unique(y)
        self.scaler_ = StandardScaler().fit(X)
        X, held = self.scaler_.transform(X), self._held_out(y)
        asked = np.flatnonzero(held)[:MOST_ASKED]
        possible = [size for size in self.sizes if size <= np.count_nonzero(~held)]
        right = [
            np.mean(self.rule(X[~held], y[~held], size)(X[asked]) == y[asked]) for size in possible
        ]
        self.size_ = possible[int(np.argmax(right))]
        self.rule_ = self.rule(X, y, self.size_)
        return self

    def predict(self, X: Any) -> Any:
        """Return the classes of rows."""
        return self.rule_(self.scaler_.transform(X))

    @property
    def n_models_(self) -> int | None:
        """How many models there are; None: one for each row that is asked about."""
        return self.size_

    @abstractmethod
    def rule(self, X: Any, y: Any, size: int) -> Rule:
        """Train, and return what tells the classes of rows."""

    def _held_out(self, y: Any) -> Any:
        rng, held = np.random.RandomState(self.random_state), np.zeros(len(y), bool)
        for label in self.classes_:
            places = rng.permutation(np.flatnonzero(y == label))
            held[places[: int(HELD_OUT * len(places))]] = True
        return held


class ClusterSVMs(LocalSVMs):
    """One linear SVM for each cluster of k-means; the nearest centre decides which is asked."""

    sizes = CLUSTERS

    def rule(self, X: Any, y: Any, size: int) -> Rule:
        """Cluster the rows and train."""
        clusters = KMeans(size, n_init=1, random_state=self.random_state).fit(X)
        machines = [linear_svm(X, y, clusters.labels_ == k) for k in range(size)]
        return lambda rows: by_machine(machines, rows, clusters.predict(rows), y.dtype)


class LocalizedSVM(LocalSVMs):
    """A linear SVM of the nearest training rows for each row that is asked about."""

    sizes = NEIGHBOURS

    @property
    def n_models_(self) -> None:
        """None: there is one for each row that is asked about."""
        return None

    def rule(self, X: Any, y: Any, size: int) -> Rule:
        """Keep the rows."""
        near = NearestNeighbors(n_neighbors=size).fit(X)

        def classes(rows: Any) -> Any:
            neighbours = near.kneighbors(rows, return_distance=False)
            said = [linear_svm(X, y, some)(rows[i : i + 1])[0] for i, some in enumerate(neighbours)]
            return np.array(said, dtype=y.dtype)

        return classes


class ProfileSVM(LocalSVMs):
    """A linear SVM for each cluster of training rows that are alike to the same asked rows.

    The profile of a training row is its similarity to each row that is asked about, a Gaussian
    kernel of the width of the z-scored features. A row is answered by the cluster that is most
    similar to it.
    """

    sizes = CLUSTERS

    def rule(self, X: Any, y: Any, size: int) -> Rule:
        """Keep the rows; clusters wait for those that are asked about."""

        def classes(rows: Any) -> Any:
            profiles = rbf_kernel(X, rows, gamma=1.0 / X.shape[1])
            clusters = KMeans(size, n_init=1, random_state=self.random_state).fit(profiles)
            machines = [linear_svm(X, y, clusters.labels_ == k) for k in range(size)]
            return by_machine(machines, rows, clusters.cluster_centers_.argmax(axis=0), y.dtype)

        return classes


def linear_svm(X: Any, y: Any, some: Any) -> Rule:
    """Return the rule of some rows; the class if they have one alone."""
    X, y = X[some], y[some]
    if not len(y):
        raise ValueError("A cluster has no rows.")
    if (y == y[0]).all():
        return lambda rows: np.full(len(rows), y[0])
    machine: SVC = SVC(kernel="linear", C=COST).fit(X, y)
    rule: Rule = machine.predict
    return rule


def by_machine(machines: Sequence[Rule], rows: Any, which: Any, dtype: Any) -> Any:
    """Return what the machine of each row says of it."""
    said = np.empty(len(rows), dtype=dtype)
    for k in np.unique(which):
        said[which == k] = machines[k](rows[which == k])
    return said
