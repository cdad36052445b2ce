"""Training by a cost function: validate, encode, start, minimise, store."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .._parameters import Codebook, Floats, Indices
from .._validation import check_integer, check_number, check_positive, check_sample_weight, resolve
from ..blocks import MemoryBlocks
from ..distances import Distance
from ..losses import Loss
from ..margins import Margin
from ..objective import Objective
from ..prototypes import initial_prototypes, prototype_counts
from ..solvers import SOLVERS, Callback, Solver, State
from .base import NearestPrototypeClassifier
from .magnitude import check_magnitude
from .shared import spell_out

BATCH_WORK = 500_000_000
"""Above this many products of a sample, a feature and a prototype, ``auto`` goes sequentially."""


TINY = 1e-305
"""A mean distance below this is no unit: its inverse overflows."""


class CostFunctionClassifier(NearestPrototypeClassifier):
    """A classifier that lowers ``loss(margin(distance(x, prototypes)))``.

    A subclass names its parts in ``_axes``.
    """

    _soft = False

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
        distance, margin, loss = self._axes()
        margin = margin.suited_to(distance)
        attraction = check_number(self, "attraction", low=0.0)
        tol = check_number(self, "tol", low=0.0)
        X, codes, weight = self._validated(X, y, sample_weight)
        counts = prototype_counts(self.prototypes_per_class, self.classes_, codes)
        solver = self._solver(distance, loss, X.size * int(counts.sum()))
        max_iter = self._iterations(solver, len(X))
        rng = check_random_state(self.random_state)
        codebook = self._start(distance, X, codes, weight, counts, rng)
        scale = self._unit_of_distance(distance, codebook, X, codes, weight)
        n_classes = len(counts)
        objective = Objective(distance, margin, loss, n_classes, attraction, scale)
        result = solver.minimize(
            objective,
            codebook,
            MemoryBlocks(X, codes, weight, n_classes, distance, codebook),
            rng,
            max_iter=max_iter,
            tol=tol,
            callback=self._reporter(solver, max_iter),
        )
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={max_iter} before it converged; "
                "increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._store(result.codebook, objective)
        self.solver_ = solver.name
        self.n_iter_ = result.n_iter
        self.loss_curve_ = result.loss_curve
        return self

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Floats, Indices, Floats]:
        """Check and encode the data; rows of weight zero are left out."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class, {self.classes_.tolist()[0]!r}; a classifier needs rows of "
                "at least two classes."
            )
        check_magnitude(X)
        weight = check_sample_weight(sample_weight, len(X))
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weight = weight * by_class[codes]
        if not weight.all():
            kept = weight > 0
            X, codes, weight = X[kept], codes[kept], weight[kept]
        present = np.bincount(codes, minlength=len(self.classes_))
        if not present.all():
            raise ValueError(
                f"Class {self.classes_[present.argmin()].item()!r} has no row of positive weight; "
                "every class needs one."
            )
        return X, codes, weight / weight.mean()

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
        group = distance.groups(labels)
        metric = distance.initial(X, y, weight, int(group.max()) + 1)
        return Codebook(prototypes, labels, metric, group, prototypes.mean(axis=0))

    def _unit_of_distance(
        self, distance: Distance, codebook: Codebook, X: Floats, y: Indices, weight: Floats
    ) -> float:
        """Give the scale: the mean distance to the nearest own prototype, or the user's number."""
        if self.scale != "data":
            return check_positive(self, "scale")
        own = rival = 0.0
        share = weight / weight.sum()
        same = codebook.same_class(len(self.classes_))
        size = max((1 << 21) // (X.shape[1] + len(codebook.labels)), 32)
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            D = distance.pairwise(X[rows], codebook)
            mine = same[y[rows]]
            own += float(np.where(mine, D, np.inf).min(axis=1) @ share[rows])
            rival += float(np.where(mine, np.inf, D).min(axis=1) @ share[rows])
        # All rows on their prototypes: then the distance to the next class is the natural unit.
        return next((mean for mean in (own, rival) if mean > TINY), 1.0)

    def _solver(self, distance: Distance, loss: Loss, work: int) -> Solver:
        """Choose the solver, and check that it fits the axes."""
        if isinstance(self.solver, str) and self.solver == "auto":
            smooth = distance.smooth and loss.smooth
            return SOLVERS["lbfgs" if smooth and work <= BATCH_WORK else "sgd"]()
        solver = resolve(self, "solver", SOLVERS, Solver)  # type: ignore[type-abstract]
        solver.check(distance, loss)
        return solver

    def _iterations(self, solver: Solver, n_samples: int) -> int:
        if self.max_iter is None:
            return solver.default_max_iter(n_samples)
        return check_integer(self, "max_iter", low=1)

    def _reporter(self, solver: Solver, max_iter: int) -> Callback | None:
        """Join the progress lines of ``verbose`` and the user's callback."""
        if not self.verbose:
            return self.callback
        name, every = type(self).__name__, 1 if self.verbose > 1 else max(max_iter // 20, 1)
        print(f"[{name}] solver {solver.name}, at most {max_iter} iterations")

        def report(state: State) -> object:
            if state.iteration == 1 or state.iteration % every == 0:
                print(
                    f"[{name}] iteration {state.iteration:>5}  loss {state.loss:.6f}  "
                    f"{state.elapsed:.1f} s",
                    flush=True,
                )
            return None if self.callback is None else self.callback(state)

        return report

    def _store(self, codebook: Codebook, objective: Objective) -> None:
        """Keep what was learned, as arrays."""
        if not (np.isfinite(codebook.prototypes).all() and np.isfinite(codebook.metric).all()):
            raise ValueError(
                "The prototypes left the range of double precision; rescale X, or keep them near "
                "the data with attraction=0.01."
            )
        self.prototypes_ = codebook.prototypes
        self.prototype_labels_: NDArray[Any] = self.classes_[codebook.labels]
        self.scale_ = objective.scale
        self._metric = codebook.metric
        self._distance = objective.distance
        self._sharpness = objective.margin.sharpness * float(getattr(objective.loss, "beta", 1.0))
