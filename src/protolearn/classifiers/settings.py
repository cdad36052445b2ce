"""The parameters of a classifier, checked, and the problem that they make of data.

Nothing else reads the parameters of an estimator that is about to learn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from os import PathLike
from types import NoneType
from typing import Any

import numpy as np
from sklearn.base import clone

from .._validation import (
    BOOLEANS,
    check_choice,
    check_flag,
    check_history,
    check_integer,
    check_number,
    number_in,
)
from ..blocks import Blocks, MemoryBlocks
from ..codebook import Codebook
from ..distances import Distance, LinearMetric
from ..losses import Loss
from ..margins import Margin
from ..objective import ErrorCount, Objective, own_and_rival
from ..rule import Decision
from ..solvers import LBFGS, SGD, Adam, Callback, Kohonen, Solver, StochasticSolver
from .problem import FREE, FREE_UNBOUNDED, FirstDistances, Problem, have_extent, missing_share

SMALLEST_SCALE = 1e-305
"""The inverse of a smaller number overflows."""

BATCH_WORK = 200_000_000
"""Multiplications for all distances above which one sample after the other is learned from."""

BLOCK_WORK = 2_000_000_000
"""The same where the alternative is mini-batches."""

SPARSE_BATCH = 256
"""Sparse samples a step: the step itself goes through all features, and takes as long as many."""

LOCAL_RATE = 0.05
"""First learning rate of Adam where several maps are learned: each of them sees a few rows only."""

LOW_CONTRAST = 0.2
"""Mean gap between own and rival prototypes, as a share of the own distance, that is too small."""

FEATURES = 20
"""A slope becomes at most as many times steeper as there are so many features."""

STEEPEST = 10.0
"""How many times steeper a slope may become."""

ATTRACTION, ATTRACTION_TO_HOLES = 0.003, 0.5
"""Attraction that keeps prototypes among the data, and how much more times the share of missing
values: found by cross-validation on four sets (docs/daily_use.md)."""

UNSUITED_SLOPE = (
    "Its slope or sharpness (beta or xi) may be out of proportion to the data: take another one, "
    "or another model, or name a solver to keep what it reaches."
)
TOO_MANY_EPOCHS = (
    "Every epoch made more training errors, because a rule minimises no cost. Use more prototypes "
    "or GLVQ, or set max_iter to follow the rule anyway."
)


@dataclass(frozen=True)
class Settings(ABC):
    """What all trained classifiers have; attributes are named as the parameters.

    Attributes
    ----------
    name : str
        Name of the classifier, for messages.
    distance : Distance
        A distance of its own.
    takes_sparse : bool
        Whether it can learn from sparse rows.
    is_stream : bool
        Whether there will be more rows.
    automatic : bool
        Whether the number of prototypes is to be found; it begins with one a class.
    scale : float or None
        Unit of distance; None: that of the data.
    follows_contrast : bool
        Whether a slope may be made steeper where the classes begin hardly apart.
    has_features : bool
        Whether the rows are features; in a feature space distances may be known but for a term that
        all prototypes share.
    """

    name: str
    distance: Distance
    takes_sparse: bool
    is_stream: bool
    automatic: bool
    prototypes_per_class: Any
    init: Any
    max_iter: int | None
    tol: float
    class_weight: Any
    early_stopping: bool
    validation_fraction: float
    calibrate: str | None
    callback: Callback | None
    history: Any
    checkpoint: Any
    verbose: int
    random_state: Any
    scale: float | None
    follows_contrast: bool
    has_features: bool

    @classmethod
    @abstractmethod
    def of(cls, model: Any, stream: bool = False) -> Settings:
        """Return the settings of a classifier; raise if a parameter is wrong."""

    @abstractmethod
    def problem(
        self,
        codebook: Codebook,
        form: Distance,
        blocks: Blocks,
        n_classes: int,
        *,
        elsewhere: bool = False,
        first: FirstDistances | None = None,
    ) -> Problem:
        """Return what is to be minimised from a codebook, with the distance in a form for the rows.

        ``elsewhere``: rows stay where they are, and only sums over them come here. ``first`` is
        what is known of the distances to begin with; None: they are measured.
        """

    def dtypes(self, X: Any) -> list[Any]:
        """Return the precisions in which rows may be learned from."""
        return [np.float64]

    def first_distances(self, form: Distance, codebook: Codebook, blocks: Blocks) -> FirstDistances:
        """Return the unit of distance and the contrast of all rows at the initial prototypes.

        With a scale that the user names, distances are as they are.
        """
        missing = missing_share(blocks) if type(form) is self.distance.missing_form else 0.0
        if self.scale is not None:
            return FirstDistances(self.scale, missing=missing)
        *sums, squares, weight = blocks.reduce(own_and_rival, form, codebook).tolist()
        own, rival, gap = np.divide(sums, weight).tolist()
        if not np.isfinite(own + rival):
            raise ValueError(
                "The distances to the initial prototypes overflow; rescale X, or give other ones "
                "by init."
            )
        if own > SMALLEST_SCALE:
            contrast = gap / own if self.follows_contrast else 1.0
            known = 0.0 < squares < np.inf  # within double precision
            decisive = (sums[0] / np.sqrt(squares)) ** 2 if known else np.inf
            return FirstDistances(own, contrast, decisive, missing)
        # Where all rows lie on their prototypes the next class is the unit.
        apart = rival > SMALLEST_SCALE and have_extent(blocks, codebook)
        return FirstDistances(rival if apart else None, np.inf, missing=missing)


def read_shared(model: Any, distance: Distance, stream: bool) -> dict[str, Any]:
    """Return the parameters that all trained classifiers have, by name; raise if one is wrong."""
    distance = clone(distance)
    distance.check()
    early_stopping = check_flag(model, "early_stopping")
    if model.max_iter is not None:
        check_integer(model, "max_iter", low=1)
    if not isinstance(model.verbose, BOOLEANS):
        check_integer(model, "verbose", low=0)
    if model.callback is not None and not callable(model.callback):
        raise ValueError(f"callback={model.callback!r} must be a function of one argument.")
    if not isinstance(model.checkpoint, (str, PathLike, NoneType)):
        raise ValueError(f"checkpoint={model.checkpoint!r} must be the name of a file, or None.")
    per_class = model.prototypes_per_class
    automatic = isinstance(per_class, str) and per_class == "auto"
    if automatic and not isinstance(model.init, str):
        raise ValueError("prototypes_per_class='auto' finds its own prototypes; leave out init.")
    if model.calibrate is not None:
        check_choice(model, "calibrate", ("train", "cv"), None)
    if stream:
        check_stream(model, automatic, early_stopping)
    source = model.random_state
    if source is None and model.checkpoint is not None:
        source = np.random.RandomState()  # one of its own: its state is written down
    strictly = {"above": True, "below": True}
    fraction = check_number(model, "validation_fraction", low=0.0, high=1.0, **strictly)
    return {
        "name": type(model).__name__,
        "distance": distance,
        "takes_sparse": model._takes_sparse(),
        "is_stream": stream,
        "prototypes_per_class": 1 if automatic else per_class,
        "automatic": automatic,
        "init": model.init,
        "max_iter": model.max_iter,
        "tol": check_number(model, "tol", low=0.0),
        "class_weight": model.class_weight,
        "early_stopping": early_stopping,
        "validation_fraction": fraction,
        "calibrate": model.calibrate,
        "callback": model.callback,
        "history": check_history(model),
        "checkpoint": model.checkpoint,
        "verbose": int(model.verbose),
        "random_state": source,
        "scale": None,
        "follows_contrast": model._follows_contrast,
        "has_features": model._has_features,
    }


def check_stream(model: Any, automatic: bool, early_stopping: bool) -> None:
    """Raise if a parameter asks for all the data at once."""
    if model.checkpoint is not None:
        raise ValueError(
            "partial_fit keeps no checkpoint; leave it out, and save the model between two calls."
        )
    if early_stopping:
        raise ValueError("partial_fit has no rows to hold out; set early_stopping=False.")
    if automatic:
        raise ValueError(
            "prototypes_per_class='auto' needs all the data; give partial_fit a number."
        )
    if model.calibrate == "cv":
        raise ValueError("calibrate='cv' needs all the data; give partial_fit 'train' or None.")
    if isinstance(model.class_weight, str):
        raise ValueError(
            f"class_weight={model.class_weight!r} needs all the data; give partial_fit a dict."
        )


@dataclass(frozen=True)
class CostSettings(Settings):
    """The settings of a classifier that lowers ``loss(margin(distance(x, prototypes)))``.

    Attributes
    ----------
    margin, loss : Margin, Loss
        The other axes.
    is_soft : bool
        Whether all prototypes decide, by their posterior.
    solver : Solver or None
        None: chosen by the data.
    attraction : float or None
        Weight of the attraction; None: as much as keeps prototypes among the data.
    is_inside : bool
        Whether prototypes stay in the range of their class, by whatever solver.
    """

    margin: Margin
    loss: Loss
    is_soft: bool
    solver: Solver | None
    attraction: float | None
    is_inside: bool = False

    @classmethod
    def of(cls, model: Any, stream: bool = False) -> CostSettings:
        """Return the settings of a classifier; raise if a parameter is wrong."""
        distance, margin, loss = model._axes()
        shared = read_shared(model, distance, stream)
        margin = margin.suited_to(shared["distance"])
        margin.theta()
        loss.theta()
        if not isinstance(model.scale, str) or model.scale != "data":
            name = "scale={value!r} must be 'data', or it"
            shared["scale"] = number_in(model.scale, name, SMALLEST_SCALE)
        solver = None
        is_inside = isinstance(model.solver, str) and model.solver == "inside"
        if is_inside and (stream or not model._has_features):
            raise ValueError(
                "solver='inside' needs all the data, and rows of features: partial_fit and models "
                "with a kernel take 'auto'."
            )
        if not is_inside and (not isinstance(model.solver, str) or model.solver != "auto"):
            solver = model._named_solver(loss, margin, shared["distance"], stream=stream)
        return cls(
            **shared,
            margin=margin,
            loss=loss,
            is_soft=model._is_soft,
            solver=solver,
            attraction=(
                None if model.attraction is None else check_number(model, "attraction", low=0.0)
            ),
            is_inside=is_inside,
        )

    def objective(
        self,
        form: Distance,
        n_classes: int,
        n_features: int,
        first: FirstDistances,
        times: float | None = None,
    ) -> Objective:
        """Return the axes put together, with a slope that suits the data, or ``times`` the slope.

        A sigmoid or a hinge tells right from wrong within about one unit of its slope. Where the
        distances of a row to all prototypes are nearly the same, as with texts and with many
        features that tell nothing, all rows lie well within that unit: the loss is a straight
        line, and pulls as hard at rows that are right as at those that are not. There the slope
        is made steeper, so that a beta or xi means about the same for all data. A metric that is
        learned raises the contrast itself; and among few features a low contrast tells that the
        classes are mixed, which no slope can change.
        """
        if times is None and self.loss.local and not form.adaptive:
            most = min(STEEPEST, n_features / FEATURES)
            low = LOW_CONTRAST / max(first.contrast, LOW_CONTRAST / STEEPEST)
            times = max(1.0, min(most, low))
        attraction = self.attraction
        if attraction is None:
            attraction = ATTRACTION + ATTRACTION_TO_HOLES * first.missing
        axes = form, self.margin, self.loss
        objective = Objective(*axes, n_classes, attraction, first.unit or 1.0)
        return objective if times is None or times == 1.0 else objective.steepened(times)

    def problem(
        self,
        codebook: Codebook,
        form: Distance,
        blocks: Blocks,
        n_classes: int,
        *,
        elsewhere: bool = False,
        first: FirstDistances | None = None,
    ) -> Problem:
        """Return the objective, and the solver that the user names or that suits the data."""
        first = first or self.first_distances(form, codebook, blocks)
        objective = self.objective(form, n_classes, codebook.prototypes.shape[1], first)
        h = objective.margin.neighbors
        if h > 1 and np.unique(codebook.labels, return_counts=True)[1].min() < h:
            raise ValueError(
                f"{objective.margin!r} decides by {h} prototypes of a class, and a class has "
                f"fewer; increase prototypes_per_class to {h} or more."
            )
        work = blocks.size * form.effort(codebook)
        n_extra = len(codebook.labels) - n_classes
        solver = self.solver or self.automatic_solver(objective, n_extra, work, elsewhere)
        if self.is_inside:
            solver.set_params(inside=True)
        sharpness = objective.margin.sharpness
        decision = Decision(
            self.is_soft,
            sharpness,
            sharpness * objective.loss.sharpness,
            1 if self.is_soft else objective.margin.neighbors,
        )
        drifts = self.solver is None and isinstance(solver, StochasticSolver)
        # A look at rows elsewhere takes long.
        guards = drifts and isinstance(blocks, MemoryBlocks)
        grows = not (objective.loss.bounded or objective.margin.bounded)
        return Problem(
            objective,
            solver,
            decision,
            first,
            guards,
            UNSUITED_SLOPE,
            class_scores=(
                objective.margin.class_scores
                if self.has_features and n_classes > 2
                else "difference"
            ),
            free=FREE_UNBOUNDED if grows else FREE,
        )

    def automatic_solver(
        self, objective: Objective, n_extra: int, work: float, elsewhere: bool = False
    ) -> Solver:
        """Return the solver for some axes and an amount of data.

        L-BFGS finds the minimum where the cost is about as tame as that of a linear model: one
        prototype a class, and a loss that does not level off for margins that grow without bound.
        Otherwise there are many minima, and passes that learn from every sample come, in less
        time, to ones that are as good on held-out rows or better. Steps of mini-batches through
        sparse rows take long, so there L-BFGS has all costs that do not level off. Where rows are
        elsewhere it takes as few sums over them as it can. Several maps have so many entries that
        a minimum of their cost has learned the noise as well, so they are learned in epochs; so is
        one map of rows with missing values.
        """
        distance, sparse = objective.distance, objective.distance.takes_only_sparse
        of_pairs = objective.margin.winners == "pair"
        in_batches = sparse or distance.blockwise or elsewhere or of_pairs
        if self.is_stream:
            return (Adam if in_batches else SGD).for_stream()
        smooth = distance.smooth and objective.margin.smooth and objective.loss.smooth
        levels_off = objective.loss.bounded and not objective.margin.bounded
        small = not of_pairs and work <= (BLOCK_WORK if distance.blockwise else BATCH_WORK)
        is_matrix = isinstance(distance, LinearMetric) and distance.blockwise
        is_local = is_matrix and distance.localized is not None
        with_missing = is_matrix and type(distance) is self.distance.missing_form
        in_epochs = is_local or with_missing or distance.batch_size is not None
        tame = not levels_off and (sparse or (n_extra <= 0 and small and not in_epochs))
        if smooth and (elsewhere or tame):
            return LBFGS()
        if sparse:
            return Adam(batch_size=SPARSE_BATCH)
        if not in_batches:
            return SGD()
        return Adam(LOCAL_RATE if is_local else None, distance.batch_size)


@dataclass(frozen=True)
class RuleSettings(Settings):
    """The settings of a classifier that follows one of Kohonen's rules."""

    solver: Kohonen

    @classmethod
    def of(cls, model: Any, stream: bool = False) -> RuleSettings:
        """Return the settings of a classifier; raise if a parameter is wrong."""
        shared = read_shared(model, model._axes()[0], stream)
        solver = Kohonen(
            model._rule,
            metric_rate=check_number(model, "metric_rate", low=0.0),
            shuffle=check_flag(model, "shuffle"),
            keep_best=shared["max_iter"] is None and not shared["early_stopping"],
            **model._solver_parameters(stream),
        )
        return cls(**shared, solver=solver)

    def problem(
        self,
        codebook: Codebook,
        form: Distance,
        blocks: Blocks,
        n_classes: int,
        *,
        elsewhere: bool = False,
        first: FirstDistances | None = None,
    ) -> Problem:
        """Return the count of errors, and the rule that lowers it."""
        first = first or self.first_distances(form, codebook, blocks)
        cost = ErrorCount(form, n_classes, first.unit or 1.0)
        return Problem(cost, self.solver, Decision(), first, False, TOO_MANY_EPOCHS)
