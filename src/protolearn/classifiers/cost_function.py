"""Training by a cost function: validate, encode, start, minimise, store."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .._parameters import (
    Codebook,
    Floats,
    Indices,
    as_floats,
    as_indices,
    rows_at_a_time,
)
from .._validation import check_integer, check_number, check_sample_weight, resolve
from ..blocks import MemoryBlocks
from ..distances import DISTANCES, Distance
from ..losses import LOSSES, Loss
from ..margins import MARGINS, Margin
from ..objective import Objective
from ..prototypes import initial_prototypes, prototype_counts
from ..solvers import SOLVERS, Callback, Solver, SolverResult
from .base import NearestPrototypeClassifier
from .decision import Decision
from .magnitude import check_magnitude
from .progress import reporter
from .shared import spell_out
from .weights import weigh

BATCH_WORK = 500_000_000
"""Above this many products of a sample, a feature and a prototype, ``auto`` goes sequentially."""

SMALLEST_SCALE = 1e-305
"""The inverse of a smaller number overflows."""

REGISTRIES: dict[str, Any] = {
    "distance": DISTANCES,
    "margin": MARGINS,
    "loss": LOSSES,
    "solver": SOLVERS,
}


class CostFunctionClassifier(NearestPrototypeClassifier, ABC):
    """A classifier that lowers ``loss(margin(distance(x, prototypes)))``.

    A subclass names its parts in ``_axes``.
    """

    def __init__(
        self,
        *,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        solver: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-4,
        attraction: float = 0.0,
        scale: Any = "data",
        class_weight: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.prototypes_per_class = prototypes_per_class
        self.init = init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.attraction = attraction
        self.scale = scale
        self.class_weight = class_weight
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        spell_out(cls)

    @abstractmethod
    def _axes(self) -> tuple[Distance, Margin, Loss]:
        """Name the distance, the margin and the loss."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CostFunctionClassifier:
        """Learn the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels: numbers or strings, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; weight 2 counts as the row twice, weight 0 as no row.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        distance, margin, loss = (clone(axis) for axis in self._axes())
        margin = margin.suited_to(distance)
        self._check_parameters(distance, margin, loss)
        X, codes, weight, classes = self._validated(distance, X, y, sample_weight)
        counts = prototype_counts(self.prototypes_per_class, classes, codes)
        solver = self._solver(distance, margin, loss, X.size * int(counts.sum()))
        max_iter = self.max_iter or solver.default_max_iter(len(X))
        rng = check_random_state(self.random_state)
        codebook = self._start(distance, X, codes, weight, counts, rng)
        scale = self._unit_of_distance(distance, codebook, X, codes, weight)
        objective = Objective(distance, margin, loss, len(classes), self.attraction, scale)
        with reporter(self, solver, max_iter) as callback:
            result = solver.minimize(
                objective,
                codebook,
                MemoryBlocks(X, codes, weight, distance, codebook),
                rng,
                max_iter=max_iter,
                tol=self.tol,
                callback=callback,
            )
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={max_iter} before it converged; "
                "increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._store(result, objective, solver, classes)

    def set_params(self, **params: Any) -> CostFunctionClassifier:
        """Set parameters; ``loss__beta`` and the like need the part to be an object.

        Parameters
        ----------
        **params : dict
            New values.

        Returns
        -------
        self : object
            The classifier.
        """
        for key in params:
            part, _, name = key.partition("__")
            value = params.get(part, getattr(self, part, None))
            if name and part in REGISTRIES and isinstance(value, str):
                known = REGISTRIES[part].get(value, next(iter(REGISTRIES[part].values())))
                example = f"protolearn.{known.__module__.split('.')[1]}.{known.__name__}"
                raise ValueError(
                    f"{key} cannot be set while {part}={value!r} is a short name; give an object, "
                    f"for example {part}={example}(...)."
                )
        super().set_params(**params)
        return self

    def _is_soft(self) -> bool:
        """Tell whether all prototypes decide, by their posterior."""
        return False

    def _check_parameters(self, distance: Distance, margin: Margin, loss: Loss) -> None:
        """Raise if a parameter is wrong, before any work."""
        margin.theta()
        loss.theta()
        self._is_soft()
        check_number(self, "attraction", low=0.0)
        check_number(self, "tol", low=0.0)
        if not isinstance(self.scale, str) or self.scale != "data":
            check_number(self, "scale", low=SMALLEST_SCALE)
        if self.max_iter is not None:
            check_integer(self, "max_iter", low=1)
        if not isinstance(self.verbose, (bool, np.bool_)):
            check_integer(self, "verbose", low=0)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback={self.callback!r} must be a function of one argument.")
        self._solver(distance, margin, loss, 0)

    def _validated(
        self, distance: Distance, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Floats, Indices, Floats, Any]:
        """Check and encode the data; rows of weight zero are left out."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes.tolist()[0]!r}; a classifier needs rows of at "
                "least two classes."
            )
        weight = check_sample_weight(sample_weight, len(X))
        X, codes, weight = weigh(X, codes, weight, self.class_weight, classes)
        if distance.squared:
            check_magnitude(X)
        return X, codes, weight, classes

    def _start(
        self,
        distance: Distance,
        X: Floats,
        y: Indices,
        weight: Floats,
        counts: Indices,
        rng: np.random.RandomState,
    ) -> Codebook:
        """Make the codebook to begin with."""
        labels = np.repeat(np.arange(len(counts)), counts)
        prototypes = initial_prototypes(self.init, X, y, weight, counts, rng)
        group = as_indices(distance.groups(labels))
        metric = as_floats(distance.initial(X, y, weight, int(group.max()) + 1))
        return Codebook(prototypes, labels, metric, group, prototypes.mean(axis=0))

    def _unit_of_distance(
        self, distance: Distance, codebook: Codebook, X: Floats, y: Indices, weight: Floats
    ) -> float:
        """Give the scale: the mean distance to the nearest own prototype, or the user's number."""
        if not isinstance(self.scale, str):
            return float(self.scale)
        own = rival = 0.0
        share = weight / weight.sum()
        same = codebook.same_class(int(codebook.labels.max()) + 1)
        size = rows_at_a_time(X.shape[1] + len(codebook.labels))
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            D, mine = distance.pairwise(X[rows], codebook), same[y[rows]]
            own += float(np.where(mine, D, np.inf).min(axis=1) @ share[rows])
            rival += float(np.where(mine, np.inf, D).min(axis=1) @ share[rows])
        if not np.isfinite(own + rival):
            raise ValueError(
                "The distances to the initial prototypes overflow; rescale X, or give other ones "
                "by init."
            )
        # Where all rows lie on their prototypes, but for rounding, the next class is the unit.
        means = (own if own > 1e-10 * rival else 0.0, rival if np.ptp(X, axis=0).any() else 0.0)
        return next((mean for mean in means if mean > SMALLEST_SCALE), 1.0)

    def _solver(self, distance: Distance, margin: Margin, loss: Loss, work: int) -> Solver:
        """Choose the solver, and check that it fits the axes."""
        if isinstance(self.solver, str) and self.solver == "auto":
            smooth = distance.smooth and margin.smooth and loss.smooth
            return SOLVERS["lbfgs" if smooth and work <= BATCH_WORK else "sgd"]()
        solver = resolve(self, "solver", SOLVERS, Solver, "auto")  # type: ignore[type-abstract]
        solver.check(loss, margin, distance)
        return solver

    def _store(
        self, result: SolverResult, objective: Objective, solver: Solver, classes: Any
    ) -> CostFunctionClassifier:
        """Keep what was learned, as arrays, all at once."""
        codebook = result.codebook
        if not (np.isfinite(codebook.prototypes).all() and np.isfinite(codebook.metric).all()):
            raise ValueError(
                "The prototypes left the range of double precision; rescale X, or keep them near "
                "the data with attraction=0.01."
            )
        xi = objective.margin.sharpness
        self._decision = Decision(self._is_soft(), xi, xi * objective.loss.sharpness)
        self._distance = objective.distance
        self._metric = codebook.metric
        self.classes_ = classes
        self.prototypes_ = codebook.prototypes
        self.prototype_labels_ = classes[codebook.labels]
        self.scale_ = objective.scale
        self.solver_ = solver.name
        self.n_iter_ = result.n_iter
        self.loss_curve_ = result.loss_curve
        return self
