"""A loss, a margin, distances and a kernel as users write them."""

import math

import numpy as np
from sklearn.metrics.pairwise import laplacian_kernel

from protolearn.distances import Distance, Geometry, UnitNorm
from protolearn.losses import Loss
from protolearn.margins import Margin
from protolearn.native import GRADIENT, LOSS, MARGIN, PAIR, native


class Ramp(Loss):
    """A hinge with a quadratic corner."""

    def __init__(self, width=1.0):
        self.width = width

    def theta(self):
        return np.array([self.width])

    @native(LOSS)
    def phi(m, theta):
        t = theta[0] - m
        if t <= 0.0:
            return 0.0, 0.0
        if t < theta[0]:
            return t * t / (2.0 * theta[0]), -t / theta[0]
        return t - 0.5 * theta[0], -1.0


class LogRatio(Margin):
    """``log(1 + D-) - log(1 + D+)`` of the two winners."""

    @native(MARGIN)
    def margin(d, same, theta, g):
        own, rival = (0, 1) if same[0] else (1, 0)
        g[own], g[rival] = -1.0 / (1.0 + d[own]), 1.0 / (1.0 + d[rival])
        return math.log1p(d[rival]) - math.log1p(d[own])


class MeanDifference(Margin):
    """Mean rival distance less mean own distance: sees the whole row."""

    winners = None

    @native(MARGIN)
    def margin(d, same, theta, g):
        n_own = 0
        for k in range(d.size):
            if same[k]:
                n_own += 1
        value = 0.0
        for k in range(d.size):
            g[k] = -1.0 / n_own if same[k] else 1.0 / (d.size - n_own)
            value += g[k] * d[k]
        return value


class TameRadius(Margin):
    """``(D_j - D_i) / (2 |w_i - w_j| + t)``: a radius that close prototypes hardly have."""

    winners = "pair"

    def theta(self):
        return np.array([0.5])

    @native(MARGIN)
    def margin(d, same, theta, g):
        length = 2.0 * d[2] + theta[0]
        m = (d[1] - d[0]) / length
        g[0], g[1], g[2] = -1.0 / length, 1.0 / length, -2.0 * m / length
        return m


class LogCosh(Distance):
    """``sum log cosh(x - w)``: a user's own distance, made of pair and gradient alone."""

    @native(PAIR)
    def pair(x, w, theta):
        total = 0.0
        for j in range(x.size):
            total += math.log(math.cosh(x[j] - w[j]))
        return total

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        for j in range(x.size):
            gw[j] = math.tanh(w[j] - x[j])


class City(Distance):
    """``sum |x - w|``: a metric that is not squared and not smooth."""

    squared = False
    smooth = False

    @native(PAIR)
    def pair(x, w, theta):
        total = 0.0
        for j in range(x.size):
            total += abs(x[j] - w[j])
        return total

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        for j in range(x.size):
            gw[j] = 1.0 if w[j] > x[j] else -1.0


class BoundedCity(Geometry, City):
    """City block distance with a proved bound: a step of length 1 changes it by at most sqrt d."""

    def steepness(self, codebook):
        return np.full(len(codebook.labels), np.sqrt(codebook.prototypes.shape[1]))


class Relevances(Distance):
    """``sum l_j^2 (x_j - w_j)^2`` with ``|l| = 1``: an adaptive distance."""

    squared = True
    adaptive = True
    constraint = UnitNorm()

    def initial(self, X, y, weight, n_groups):
        return np.full((n_groups, X.shape[1]), 1.0 / np.sqrt(X.shape[1]))

    @native(PAIR)
    def pair(x, w, theta):
        total = 0.0
        for j in range(x.size):
            r = theta[j] * (x[j] - w[j])
            total += r * r
        return total

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        for j in range(x.size):
            r = x[j] - w[j]
            gw[j] = -2.0 * theta[j] * theta[j] * r
            gtheta[j] = 2.0 * theta[j] * r * r


class LocalRelevances(Relevances):
    """The same with a row of relevances for every prototype."""

    def groups(self, labels):
        return np.arange(len(labels))


class Laplacian:
    """A kernel that is no function, and is called the same in every process."""

    def __call__(self, X, Y):
        return laplacian_kernel(X, Y)

    def __repr__(self):
        return "Laplacian()"
