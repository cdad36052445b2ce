"""Training: validate, encode, start, learn, store; all at once or in parts."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from copy import deepcopy
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import TransformerTags, check_random_state

from .._parameters import Codebook
from ..blocks import Block, MemoryBlocks
from ..distances import Distance
from ..prototypes import (
    check_enough_rows,
    first_codebook,
    initial_prototypes,
    is_automatic,
    mean_own_distance,
    only,
    prototype_counts,
    settled,
    winning,
)
from ..solvers import Callback, Memory, SolverResult
from ..solvers.base import check_cost
from .base import NearestPrototypeClassifier
from .given import (
    check_parameters,
    check_same_distance,
    check_trainable,
    known_classes,
    training_rows,
)
from .growth import grown
from .learner import Learner
from .progress import report_pass, reporter
from .shared import spell_out
from .stream import added_prototypes
from .validation import EarlyStopping, hold_out


class TrainedClassifier(NearestPrototypeClassifier, ABC):
    """A classifier whose prototypes are learned from rows.

    A subclass names its distance and gives the learner that moves the prototypes.
    """

    n_prototypes_: dict[Any, int]
    solver_: str
    n_iter_: int
    loss_curve_: list[float]
    _memory: Memory
    _rng: np.random.RandomState | None
    _fixed_scale: float | None

    def __init__(
        self,
        *,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        max_iter: int | None = None,
        tol: float = 1e-3,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        callback: Callback | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.prototypes_per_class = prototypes_per_class
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        spell_out(cls)

    @abstractmethod
    def _named_distance(self) -> Distance:
        """Give the distance that the parameters name."""

    @abstractmethod
    def _learner(
        self,
        distance: Distance,
        n_classes: int,
        scale: float,
        n_prototypes: int = 0,
        work: float = 0.0,
        *,
        stream: bool = False,
    ) -> Learner:
        """Give what moves the prototypes; raise if a parameter is wrong.

        ``work`` tells the multiplications for all distances of the data, ``stream`` that they
        come in parts.
        """

    def _given_scale(self) -> float | None:
        """Give the unit of distance, None for the mean own distance."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the prototypes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training data. NaN is a missing value where the distance takes such rows.
        y : array-like of shape (n_samples,)
            Labels: numbers or strings, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; weight 2 counts as the row twice, weight 0 as no row.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        distance = self._checked_distance()
        block, classes = training_rows(self, distance, X, y, sample_weight)
        check_trainable(block, classes)
        rng = check_random_state(self.random_state)
        taught, held = block, None
        if self.early_stopping:
            taught, held = self._held_out(block, classes, rng)
        form = distance.suited_to(block.X)
        codebook = self._start(form, taught, block, classes, rng)

        def learner_for(start: Codebook) -> Learner:
            scale = self._scale(form, start, taught) or 1.0
            work = taught.size * form.effort(start)
            return self._learner(form, len(classes), scale, len(start.labels), work)

        automatic = is_automatic(self.prototypes_per_class)
        if automatic:
            codebook = grown(self, form, learner_for, codebook, taught, rng)
        learner = learner_for(codebook)
        reached, result, curve = self._train(learner, codebook, taught, held, rng)
        reached, memory = settled(reached, form), result.memory
        if automatic:
            rows = winning(form, reached, taught)
            reached, groups = only(reached, form, rows)
            memory = memory.rearranged(rows, groups)
        self._store(reached, learner, distance, classes)
        self.n_iter_ = result.n_iter
        self.loss_curve_ = result.loss_curve
        if curve is None:
            self.__dict__.pop("validation_curve_", None)  # of an earlier fit
        else:
            self.validation_curve_ = curve
        self._memory, self._fixed_scale = memory, learner.scale
        self._rng = None  # a stream that follows begins one of its own
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows: one pass over them, from where the last call ended.

        A class has no prototype before its first row. The unit of distance is that of the first
        call. After ``fit`` learning goes on with the fitted prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed at the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; the step that a row makes is as many times as long.

        Returns
        -------
        self : object
            The classifier.
        """
        begun = perf_counter()
        distance = self._checked_distance(stream=True)
        first = not hasattr(self, "_memory")
        known = known_classes(self, classes)
        if not first:
            check_same_distance(self, distance)
        block, _ = training_rows(self, distance, X, y, sample_weight, known)
        form = distance.suited_to(block.X)
        rng = deepcopy(getattr(self, "_rng", None)) or check_random_state(self.random_state)
        counts = prototype_counts(self.prototypes_per_class, known)
        old = None if first else (self._codebook(), self._memory)
        codebook, memory = added_prototypes(old, form, self.init, block, counts, rng)
        scale = None if first else self._fixed_scale
        scale = scale or self._scale(form, codebook, block)
        work = block.size * form.effort(codebook)
        learner = self._learner(
            form, len(known), scale or 1.0, len(codebook.labels), work, stream=True
        )
        loss = np.nan
        if len(np.unique(codebook.labels)) > 1:  # one class alone teaches nothing
            loss = learner.one_pass(codebook, MemoryBlocks(block), memory, rng)
            check_cost(loss)
        self._store(codebook, learner, distance, known)
        self.n_iter_ = 1 + (0 if first else self.n_iter_)
        self.loss_curve_ = [*([] if first else self.loss_curve_), loss]
        self._memory, self._rng, self._fixed_scale = memory, rng, scale
        report_pass(self, codebook, perf_counter() - begun)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what input the chosen distance and solver take."""
        tags = super().__sklearn_tags__()
        try:
            distance = self._named_distance()
        except ValueError:  # fit will say what is wrong
            return tags
        if hasattr(self, "transform"):
            tags.transformer_tags = TransformerTags()
        tags.input_tags.positive_only = distance.positive_only
        tags.input_tags.allow_nan = distance.missing_form is not None
        tags.input_tags.sparse = distance.sparse_form is not None and self._takes_sparse()
        return tags

    def _takes_sparse(self) -> bool:
        """Tell whether the learner can work on sparse rows."""
        return False

    def _checked_distance(self, stream: bool = False) -> Distance:
        """Raise if a parameter is wrong, before any work; give a distance of our own."""
        check_parameters(self, stream)
        distance: Distance = clone(self._named_distance())
        distance.check()
        self._learner(distance, 2, 1.0, stream=stream)
        return distance

    def _held_out(
        self, block: Block, classes: NDArray[Any], rng: np.random.RandomState
    ) -> tuple[Block, Block]:
        """Split off the rows that early stopping looks at."""
        per_class = self.prototypes_per_class
        kept = prototype_counts(1 if is_automatic(per_class) else per_class, classes)
        taught, held = hold_out(block, float(self.validation_fraction), kept, rng)
        if not len(held):
            raise ValueError(
                f"validation_fraction={self.validation_fraction!r} of {len(block)} rows leaves "
                "none to validate on; give more rows, a larger fraction, or early_stopping=False."
            )
        return taught, held

    def _start(
        self,
        form: Distance,
        taught: Block,
        block: Block,
        classes: NDArray[Any],
        rng: np.random.RandomState,
    ) -> Codebook:
        """Make the codebook to begin with, from the rows to learn from."""
        per_class = 1 if is_automatic(self.prototypes_per_class) else self.prototypes_per_class
        counts = prototype_counts(per_class, classes)
        check_enough_rows(counts, classes, taught.y)
        fallback = None
        if taught is not block and not issparse(block.X):  # what only held-out rows observe
            fallback = np.nanmean(block.X, axis=0)
        prototypes = initial_prototypes(self.init, taught, counts, rng, fallback)
        return first_codebook(form, prototypes, np.repeat(np.arange(len(counts)), counts), taught)

    def _scale(self, form: Distance, codebook: Codebook, block: Block) -> float | None:
        """Give the unit of distance, or None if the data do not tell."""
        return self._given_scale() or mean_own_distance(form, codebook, block)

    def _train(
        self,
        learner: Learner,
        codebook: Codebook,
        taught: Block,
        held: Block | None,
        rng: np.random.RandomState,
    ) -> tuple[Codebook, SolverResult, list[float] | None]:
        """Learn from all the data; give the codebook to keep, how it went, and on held-out rows."""
        max_iter = self.max_iter or learner.default_max_iter(len(taught))
        with reporter(self, learner.name, max_iter) as callback:
            stopping = None if held is None else EarlyStopping(learner, held, self.tol, callback)
            result = learner.train(
                codebook,
                MemoryBlocks(taught),
                rng,
                max_iter=max_iter,
                tol=self.tol,
                callback=stopping or callback,
            )
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={max_iter} before it converged; "
                "increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if stopping is None:
            return result.codebook, result, None
        return stopping.best or result.codebook, result, stopping.curve

    def _store(
        self, codebook: Codebook, learner: Learner, distance: Distance, classes: NDArray[Any]
    ) -> None:
        """Keep what was learned, as arrays, all at once."""
        if not (np.isfinite(codebook.prototypes).all() and np.isfinite(codebook.metric).all()):
            raise ValueError(
                "The prototypes left the range of double precision; rescale X, or keep them near "
                "the data with attraction=0.01."
            )
        self._decision = learner.decision
        self._distance = distance
        self._metric = codebook.metric
        self.classes_ = classes
        self.prototypes_ = codebook.prototypes
        self.prototype_labels_ = classes[codebook.labels]
        count = np.bincount(codebook.labels, minlength=len(classes))
        self.n_prototypes_ = dict(zip(classes.tolist(), count.tolist(), strict=True))
        self.scale_ = learner.scale
        self.solver_ = learner.name
