"""LVQ that is trained to be robust: rows may move without a change of the answer."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._validation import check_choice, check_norm, check_positive
from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Distance, Minkowski, SquaredEuclidean
from ..losses import Hinge, Loss
from ..margins import Margin, Radius
from ..objective import Objective
from ..solvers import Augment, Callback, MinibatchSolver, StochasticSolver
from .composable import CostFunctionClassifier, is_auto
from .problem import FirstDistances, Problem
from .settings import CostSettings

AUTOMATIC = 0.4
"""The automatic radius, as a share of the length at which a distance is one scale."""


@dataclass(frozen=True)
class RobustSettings(CostSettings):
    """The settings of :class:`RobustLVQ`.

    Attributes
    ----------
    radius : float or None
        Where the hinge ends, in the units of the data; None: by the data.
    augment : callable or None
        Changes the rows of each step.
    """

    radius: float | None = None
    augment: Augment | None = None

    @classmethod
    def of(cls, model: Any, stream: bool = False) -> RobustSettings:
        """Return the settings of a classifier; raise if a parameter is wrong."""
        shared = vars(CostSettings.of(model, stream))
        if model.augment is not None and not callable(model.augment):
            raise ValueError(
                f"augment={model.augment!r} must be a function (X, rng) that returns rows."
            )
        radius = None if is_auto(model.radius) else check_positive(model, "radius")
        return cls(**shared, radius=radius, augment=model.augment)

    def dtypes(self, X: Any) -> list[Any]:
        """Return the precisions of products: mini-batches of dense rows may have single ones."""
        in_batches = self.solver is None or isinstance(self.solver, MinibatchSolver)
        single = in_batches and self.margin.winners == "pair" and not issparse(X)
        return [np.float64, np.float32] if single else super().dtypes(X)

    def length(self, first: FirstDistances) -> float:
        """Return the unit of the margins in the units of the data."""
        unit = first.unit or 1.0
        return math.sqrt(unit) if self.distance.squared else unit

    def objective(
        self,
        form: Distance,
        n_classes: int,
        n_features: int,
        first: FirstDistances,
        times: float | None = None,
    ) -> Objective:
        """Return the axes put together, with a hinge that ends at the radius.

        A move of the same length in every feature is ``sqrt(d)`` times as long in the Euclidean
        norm as in the maximum norm; the automatic radius allows for that.
        """
        objective = super().objective(form, n_classes, n_features, first, times=1.0)
        if times is None and self.radius is not None:
            times = self.length(first) / self.radius
        elif times is None:
            spread = self.margin.norm == math.inf and self.distance.squared
            times = (math.sqrt(n_features) if spread else 1.0) / AUTOMATIC
        return replace(objective, loss=Hinge(times), slope_factor=times)

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
        """Return the objective, and the solver, which changes the rows of each step if asked to."""
        given = codebook, form, blocks, n_classes
        problem = super().problem(*given, elsewhere=elsewhere, first=first)
        if self.augment is not None:
            if not isinstance(problem.solver, StochasticSolver) or elsewhere:
                raise ValueError(
                    "augment needs rows in this process and a solver that takes some rows at a "
                    "time: leave out augment, or take solver='adam', 'momentum' or 'sgd'."
                )
            solver = copy(problem.solver)  # that of the parameters stays as it is
            solver.augment = self.augment
            problem = replace(problem, solver=solver)
        return problem


class RobustLVQ(CostFunctionClassifier):
    """LVQ whose answers stay the same while rows move.

    Maximises, up to ``radius``, how far each training row may move in a norm before its answer can
    change: the hinge of ``min_j max_i (D_j - D_i) / (2 |w_i - w_j|)`` over rivals j and own
    prototypes i, the bound that :func:`certified_accuracy` proves. One prototype a class already
    gains; thousands give certificates as large as those of the best known methods.

    Parameters
    ----------
    norm : {1, 2, inf}, default=2
        In which norm rows move: the sum of all changes, their Euclidean length, or the largest
        change of a feature (``numpy.inf``).
    radius : float or "auto", default="auto"
        How far, in the units of the data, rows are pushed from the boundary. Rows that are farther
        from it do not count, so take more than the moves that you fear: 1.5 times is a good start.
        "auto" is 0.4 times the typical distance of a row to its prototype, for
        ``norm=numpy.inf`` over the root of the number of features if that is a Euclidean distance
        (``radius_``).
    distance : {"sqeuclidean", "minkowski"}, default="sqeuclidean"
        What the prototypes measure: squared Euclidean distance, whose boundaries are flat, so that
        certificates are exact; or the distance of the norm itself, ``Minkowski(p=norm)``, with the
        radius ``(D- - D+) / 2``.
    augment : callable, default=None
        Changes the rows of each step of training, such as pictures by small shifts:
        ``augment(X, rng)`` receives a copy of some rows and a :class:`numpy.random.RandomState`,
        and returns as many rows.
    prototypes_per_class : int, dict or "auto", default=1
        Number of prototypes of every class, or one number a label; labels left out have one. "auto"
        starts with one and adds more where held-out rows show that it helps (``n_prototypes_``).
    init : {"kmeans", "means", "kmeans++", "random"}, array or DecisionRule, default="kmeans"
        Where the prototypes begin: k-means in each class, the class mean (several are moved apart a
        little), rows far from each other, random rows, or given prototypes, grouped by class in the
        order of ``classes_``. The ``rule_`` of a fitted model with the same distance: learning
        goes on from its prototypes and metric, such as those that a person has edited.
    solver : {"auto", "inside", "lbfgs", "sgd", "adam", "momentum"} or Solver, default="auto"
        Full-batch L-BFGS, sequential gradient descent, mini-batches, or an object of
        :mod:`protolearn.solvers` with its own settings. "auto" takes L-BFGS for a smooth cost with
        one prototype a class (or sparse rows) and data that are not large, unless a bounded loss
        has an unbounded margin or several maps are learned; else ``sgd``, or ``adam`` for sparse
        rows, learned matrices and tangents. ``solver_`` has the choice. The initial prototypes are
        kept, with a warning, if they make fewer training errors. "inside" is the same, with
        prototypes that stay in the range of their class in each feature.
    max_iter : int, default=None
        Most iterations (L-BFGS) or epochs (all others). None: 1000 iterations,
        fewer for millions of learned numbers; 8 to 30 epochs, fewer for very large and very small
        data. ``partial_fit`` makes one pass whatever it is.
    tol : float, default=1e-3
        L-BFGS stops when the largest derivative is below ``tol``, or ``10 tol`` times the first one
        where that is less, or when some iterations lower the cost by less than ``tol**2`` each.
        Epochs without a linear schedule stop after five of them without a relative improvement of
        ``tol``. Early stopping requires the same improvement.
    attraction : float, default=0.0
        Weight of a term that pulls the nearest own prototype to each sample, against overfitting.
    class_weight : dict or "balanced", default=None
        Weight of each class, as everywhere in scikit-learn.
    early_stopping : bool, default=False
        Whether to hold out some rows, end when their cost has not fallen for ten iterations, and
        keep the prototypes that were best on them.
    validation_fraction : float, default=0.1
        Share of each class that is held out for early stopping; for data in parts, of all rows.
    calibrate : {"train", "cv"} or None, default="train"
        How ``predict_proba`` turns margins into probabilities: by a temperature that suits the
        training rows, higher for few rows and many prototypes; by one that suits the held-out rows
        of five refits; None, by a softmax of the scores as they are. A soft decision returns its
        posterior unless this is "cv".
    callback : callable, default=None
        Called with a :class:`~protolearn.solvers.State` after every iteration; the fit ends when it
        returns something true.
    history : {False, True, "sweep", "step"}, default=False
        Whether to keep the prototypes after each epoch (True: the same), or each sample, as
        ``history_``; the callback is called as often. "step" needs a rule or ``solver="sgd"``.
    checkpoint : str or path, default=None
        File in which ``fit`` keeps what it has computed. An interrupted fit with the same data and
        parameters goes on from there, to the same prototypes; delete the file to start again.
        Clones, as in a cross-validation, need files of their own.
    verbose : int, default=0
        1 prints the first and the last iteration, every twentieth part of ``max_iter`` and one
        after ten seconds without a line; 2 prints every iteration.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial prototypes, of the held-out rows and of the order of the samples.

    Attributes
    ----------
    radius_ : float
        The radius that was used, in the units of the data.
    slope_factor_ : float
        The slope of the hinge: the unit of the margins over ``radius_``.

    References
    ----------
    Crammer, Gilad-Bachrach, Navot and Tishby (2002), *Margin analysis of the LVQ algorithm*.
    Voracek and Hein (2022), *Provably adversarially robust nearest prototype classifiers*.
    Saralajew, Holdijk and Villmann (2020), *Fast adversarial robustness certification of nearest
    prototype classifiers for arbitrary seminorms*.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ, RobustLVQ, certified_accuracy
    >>> X, y = load_iris(return_X_y=True)
    >>> robust = RobustLVQ(radius=0.6, random_state=0).fit(X, y)
    >>> plain = GLVQ(random_state=0).fit(X, y)
    >>> [round(certified_accuracy(m, X, y, radius=0.4).exact, 2) for m in (robust, plain)]
    [0.83, 0.79]
    """

    _only_names = ("distance",)
    _follows_contrast = False
    _settings_type = RobustSettings
    scale = "data"

    def __init__(
        self,
        *,
        norm: Any = 2,
        radius: float | str = "auto",
        distance: str = "sqeuclidean",
        augment: Augment | None = None,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        solver: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-3,
        attraction: float = 0.0,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        calibrate: str | None = "train",
        callback: Callback | None = None,
        history: Any = False,
        checkpoint: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        super().__init__(
            prototypes_per_class=prototypes_per_class,
            init=init,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            attraction=attraction,
            class_weight=class_weight,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            calibrate=calibrate,
            callback=callback,
            history=history,
            checkpoint=checkpoint,
            verbose=verbose,
            random_state=random_state,
        )
        self.norm = norm
        self.radius = radius
        self.distance = distance
        self.augment = augment

    @property
    def radius_(self) -> float:
        """How far rows were pushed from the boundary, in the units of the data."""
        rule = self._fitted_rule("radius_")
        unit = math.sqrt(rule.scale) if rule.distance.squared else rule.scale
        return unit / self.slope_factor_

    def _axes(self) -> tuple[Distance, Margin, Loss]:
        norm = check_norm(self.norm)
        kind = check_choice(self, "distance", ("sqeuclidean", "minkowski"))
        distance = SquaredEuclidean() if kind == "sqeuclidean" else Minkowski(float(norm))
        return distance, Radius(norm), Hinge()
