"""Mini-batch descent: the gradient of some samples at a time, by matrix products.

The steps are taken on the flat vector of a codebook (prototypes in units of the scale, the metric
before its constraint), seen as two tables: a row for each prototype, a row for each metric.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._arrays import Floats
from .._validation import check_integer, check_number, check_positive
from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Distance, Penalized
from ..native import f8, matrix, matrix_out, native, types
from .batch_solver import Memory, Rng
from .matrix_epoch import adapted_step, learn_at_once, suits_one_call
from .stochastic import PATIENCE, StochasticSolver

Moments = dict[str, Floats]

SMALLEST_BATCH = 64
"""Samples a step, at least, when the user names no number."""


class FlatPart(NamedTuple):
    """A part of the flat vector: a view of its rows, their moments, and a factor of the rate."""

    place: slice
    rows: Floats
    moments: Moments
    share: float


class MinibatchSolver(StochasticSolver):
    """Steps along the mean gradient of a batch; a subclass shapes the step."""

    batch_size: int | None
    moments: ClassVar[tuple[str, ...]]

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        super().check_settings()
        if self.batch_size is not None:
            check_integer(self, "batch_size", low=1)

    def sweep(
        self, cost: Any, codebook: Codebook, blocks: Blocks, memory: Memory, rng: Rng, n_steps: int
    ) -> float:
        """Take a step after each batch."""
        distance, coordinates = cost.distance, cost.coordinates(codebook)
        schedule, theta = self.rate(n_steps, cost)
        flat = coordinates.flatten(codebook)
        parts = self.parts(flat, codebook, memory)
        total = weight = 0.0
        size = self.rows_of_batch(blocks)
        for given in blocks.mini_batches(size, rng if self.shuffle else None):
            batch = self.augment_batch(given, rng)
            present = coordinates.codebook(flat)
            partial = batch.reduce(cost.partial, present)
            mean = partial.over(len(batch))
            if isinstance(distance, Penalized) and distance.penalized:
                mean = mean.add_penalty(*distance.penalty(present))
            gradient = coordinates.gradient(flat, mean.gradients)
            rate = schedule(memory.steps, theta)
            memory.steps += len(batch)
            memory.updates += 1
            for place, rows, kept, share in parts:
                by_row = gradient[place].reshape(rows.shape)
                self.step(rows, by_row, rate * share, kept, memory.updates, distance.adaptive)
            coordinates.constrain(flat)
            total, weight = total + partial.value, weight + partial.weight
        reached = coordinates.codebook(flat)
        codebook.prototypes[...], codebook.metric[...] = reached.prototypes, reached.metric
        return float(total / weight)

    def rows_of_batch(self, blocks: Blocks) -> int:
        """Return how many rows make a step."""
        usual = np.clip(blocks.n_samples // 250, SMALLEST_BATCH, blocks.largest_batch)
        return self.batch_size or int(usual)

    def parts(self, flat: Floats, codebook: Codebook, memory: Memory) -> list[FlatPart]:
        """Return the parts of the flat vector: the prototypes, and the metric if it is learned."""
        cut, found = codebook.prototypes.size, []
        for place, like, kept, factor in (
            (slice(cut), codebook.prototypes, memory.by_prototype, 1.0),
            (slice(cut, None), codebook.metric, memory.by_group, self.metric_rate),
        ):
            if flat[place].size:
                moments = {n: kept.setdefault(n, np.zeros(like.shape)) for n in self.moments}
                rows = flat[place].reshape(like.shape)
                found.append(FlatPart(place, rows, moments, factor * self.share(like)))
        return found

    def share(self, rows: Floats) -> float:
        """Return the factor of the learning rate for the entries of some rows."""
        return 1.0

    @abstractmethod
    def step(
        self, rows: Floats, slope: Floats, rate: float, moments: Moments, update: int, joint: bool
    ) -> None:
        """Take the step number ``update``, counted from 1; change rows and moments in place.

        ``joint`` says that all numbers of a row have one rate.
        """


class Momentum(MinibatchSolver):
    """Mini-batch gradient descent with momentum.

    Parameters
    ----------
    learning_rate : float, default=0.1
        First step size, in units of the scale; so many times smaller as the loss was made steeper.
    momentum : float, default=0.9
        Share of the last step that the next one keeps.
    batch_size : int, default=None
        Samples a step; None: 64, more for more than 16,000 samples, up to 256, or 8192 where they
        are on Dask.
    schedule : {"linear", "inverse_time", "constant"}, default="linear"
        How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)``, or not at all.
    decay : float, default=1e-4
        Decay of the inverse-time schedule, for each sample seen.
    least_rate : float, default=None
        Share of the first rate below which the inverse-time schedule does not fall, from 0 to 1;
        None: zero.
    metric_rate : float, default=0.01
        Step size of a learned metric as a share of that of the prototypes.
    shuffle : bool, default=True
        Whether each epoch takes the samples in a new random order.
    n_iter_no_change : int or None, default=5
        Epochs without progress after which a schedule that is not linear ends; None: never.
    inside : bool, default=False
        Whether prototypes are moved back into the range that the rows of their class have in each
        feature after every epoch.
    """

    name = "momentum"
    moments = ("velocity",)

    def __init__(
        self,
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        batch_size: int | None = None,
        schedule: str = "linear",
        decay: float = 1e-4,
        least_rate: float | None = None,
        metric_rate: float = 0.01,
        shuffle: bool = True,
        n_iter_no_change: int | None = PATIENCE,
        inside: bool = False,
    ):
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.schedule = schedule
        self.decay = decay
        self.least_rate = least_rate
        self.metric_rate = metric_rate
        self.shuffle = shuffle
        self.n_iter_no_change = n_iter_no_change
        self.inside = inside

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        super().check_settings()
        check_number(self, "momentum", low=0.0, high=1.0, below=True)

    def step(
        self, rows: Floats, slope: Floats, rate: float, moments: Moments, update: int, joint: bool
    ) -> None:
        """Go by ``v <- momentum v - rate g``."""
        glide(rows, slope, moments["velocity"], rate, self.momentum)


@native(types.void(matrix_out, matrix, matrix_out, f8, f8))
def glide(rows, gradient, velocity, rate, momentum):
    """Take a step with momentum in one pass."""
    for r in range(rows.shape[0]):
        row, g, v = rows[r], gradient[r], velocity[r]
        for f in range(g.size):
            v[f] = momentum * v[f] - rate * g[f]
            row[f] += v[f]


class Adam(MinibatchSolver):
    """Mini-batch descent with steps of adapted size (Kingma and Ba, 2015).

    Where a metric is learned, the size is adapted for each prototype and each metric as a whole,
    so that a step is a combination of gradients and does not depend on the axes.

    Parameters
    ----------
    learning_rate : float, default=None
        How far the first step moves each prototype, in units of the scale. None: 0.05, or 0.025
        where a metric is learned as well.
    batch_size : int, default=None
        Samples a step; None: 64, more for more than 16,000 samples, up to 256, or 8192 where they
        are on Dask.
    beta1, beta2 : float, default=0.9, 0.999
        Shares of the running means of the gradient and of its square that a step keeps.
    epsilon : float, default=1e-8
        What is added to the root of the mean square.
    schedule : {"linear", "inverse_time", "constant"}, default="linear"
        How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)``, or not at all.
    decay : float, default=1e-4
        Decay of the inverse-time schedule, for each sample seen.
    least_rate : float, default=None
        Share of the first rate below which the inverse-time schedule does not fall, from 0 to 1;
        None: zero.
    metric_rate : float, default=1.0
        Step size of a learned metric as a share of that of the prototypes.
    shuffle : bool, default=True
        Whether each epoch takes the samples in a new random order.
    n_iter_no_change : int or None, default=5
        Epochs without progress after which a schedule that is not linear ends; None: never.
    inside : bool, default=False
        Whether prototypes are moved back into the range that the rows of their class have in each
        feature after every epoch.
    """

    name = "adam"
    moments = ("mean", "square")
    steps_along_gradient = False

    def __init__(
        self,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule: str = "linear",
        decay: float = 1e-4,
        least_rate: float | None = None,
        metric_rate: float = 1.0,
        shuffle: bool = True,
        n_iter_no_change: int | None = PATIENCE,
        inside: bool = False,
    ):
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule = schedule
        self.decay = decay
        self.least_rate = least_rate
        self.metric_rate = metric_rate
        self.shuffle = shuffle
        self.n_iter_no_change = n_iter_no_change
        self.inside = inside

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        super().check_settings()
        check_number(self, "beta1", low=0.0, high=1.0, below=True)
        check_number(self, "beta2", low=0.0, high=1.0, below=True)
        check_positive(self, "epsilon")

    def first_rate(self, distance: Distance) -> float:
        """Return the learning rate of the first step, shorter where a metric moves as well."""
        if self.learning_rate is None:
            return 0.025 if distance.adaptive else 0.05
        return super().first_rate(distance)

    def sweep(
        self, cost: Any, codebook: Codebook, blocks: Blocks, memory: Memory, rng: Rng, n_steps: int
    ) -> float:
        """Take a step after each batch; where that is possible, all in one native call."""
        given = cost, codebook, blocks
        if type(self) is Adam and self.augment is None and suits_one_call(*given):
            return learn_at_once(self, *given, memory, rng, n_steps)
        return super().sweep(*given, memory, rng, n_steps)

    def share(self, rows: Floats) -> float:
        """Make a step of all entries of a row as long as the rate."""
        return 1.0 / np.sqrt(max(rows.shape[1], 1))

    def step(
        self, rows: Floats, slope: Floats, rate: float, moments: Moments, update: int, joint: bool
    ) -> None:
        """Go by ``- rate m / (sqrt(v) + epsilon)``, means corrected for their start at zero."""
        rate, correction = rate / (1.0 - self.beta1**update), 1.0 / (1.0 - self.beta2**update)
        shares = 1.0 - self.beta1, 1.0 - self.beta2
        means = moments["mean"], moments["square"]
        adapted_step(rows, slope, *means, rate, *shares, correction, self.epsilon, joint)
