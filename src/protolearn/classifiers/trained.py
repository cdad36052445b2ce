"""Training: validate, encode, start, learn, store; all at once or in parts."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import TransformerTags, check_random_state

from .._fingerprint import parameters
from ..blocks import Blocks, FileJournal, Journal, MemoryBlocks
from ..blocks.journal import NO_JOURNAL
from ..codebook import Codebook
from ..distances import Distance
from ..prototypes import (
    FirstDistances,
    check_enough_rows,
    first_codebook,
    first_distances,
    is_automatic,
    only,
    prototype_counts,
    settled,
    winning,
)
from ..solvers import Callback, Memory, SolverResult
from ..solvers.base import check_cost
from .base import NearestPrototypeClassifier
from .data import TrainingData, WholeData
from .early_stopping import EarlyStopping
from .given import (
    check_parameters,
    check_same_distance,
    known_classes,
    training_rows,
)
from .growth import grown
from .learner import Learner
from .metric import maps_rows
from .parted import PartedData, in_parts
from .problem import HIGH_CONTRAST, Problem
from .progress import report_pass, reporter
from .resuming import NOT_KNOWN_BY, check_same_data, started
from .shared import spell_out
from .stream import added_prototypes

NO_BETTER = "{} finds no better prototypes than the initial ones, and keeps these. {}"


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
    _fixed_contrast: float = HIGH_CONTRAST

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
        checkpoint: Any = None,
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
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        spell_out(cls)

    @abstractmethod
    def _named_distance(self) -> Distance:
        """Give the distance that the parameters name."""

    @abstractmethod
    def _learner(self, distance: Distance, problem: Problem) -> Learner:
        """Give what moves the prototypes; raise if a parameter is wrong."""

    def _first_distances(
        self, form: Distance, codebook: Codebook, blocks: Blocks
    ) -> FirstDistances:
        """Give the unit of distance, or None if the data do not tell, and the contrast."""
        return first_distances(form, codebook, blocks)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the prototypes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features), or data in parts
            Training data. NaN is a missing value where the distance takes such rows. Data that
            do not fit into memory: a :class:`numpy.memmap`; a folder of Parquet or CSV files, or a
            pyarrow dataset; a function that gives an iterator over blocks ``(X, y)`` or ``(X, y,
            sample_weight)`` each time it is called; a Dask array or frame.
        y : array-like of shape (n_samples,)
            Labels: numbers or strings, of at least two classes. For Dask a Dask array or series
            as well; for files and Dask frames the name of a column; for a function nothing.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; weight 2 counts as the row twice, weight 0 as no row. Given as
            ``y`` is, where data come in parts.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        distance = self._checked_distance()
        rng = self._randomness()
        with self._journal(rng) as journal:
            kind = PartedData if in_parts(X) else WholeData
            data = kind(self, distance, X, y, sample_weight, rng)
            check_same_data(journal, data)
            data.taught.journal = journal
            if data.held is not None:
                data.held.journal = journal
            codebook = started(journal, lambda: self._start(data, rng), rng)
            learner = self._learner_for(data)(codebook)
            reached, result, curve = self._train(learner, codebook, data, rng)
        self._keep(reached, result, curve, learner, distance, data)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows: one pass over them, from where the last call ended.

        A class has no prototype before its first row. The unit of distance is that of the first
        call, and slopes are as given. After ``fit`` learning goes on with the fitted prototypes,
        the unit and the slope of ``fit``.

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
        scale, contrast = (
            (None, HIGH_CONTRAST) if first else (self._fixed_scale, self._fixed_contrast)
        )
        scale = scale or self._first_distances(form, codebook, MemoryBlocks(block)).unit
        problem = Problem(
            n_classes=len(known),
            scale=scale or 1.0,
            contrast=contrast,
            n_prototypes=len(codebook.labels),
            n_features=codebook.prototypes.shape[1],
            work=block.size * form.effort(codebook),
            stream=True,
        )
        learner = self._learner(form, problem)
        loss = np.nan
        if len(np.unique(codebook.labels)) > 1:  # one class alone teaches nothing
            loss = learner.one_pass(codebook, MemoryBlocks(block), memory, rng)
            check_cost(loss)
        self._store(codebook, learner, distance, known)
        self.n_iter_ = 1 + (0 if first else self.n_iter_)
        self.loss_curve_ = [*([] if first else self.loss_curve_), loss]
        self._memory, self._rng = memory, rng
        self._fixed_scale, self._fixed_contrast = scale, contrast
        report_pass(self, codebook, perf_counter() - begun)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what input the chosen distance and solver take."""
        tags = super().__sklearn_tags__()
        try:
            distance = self._named_distance()
        except ValueError:  # fit will say what is wrong
            return tags
        if maps_rows(getattr(self, "_distance", None) or distance):
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
        self._learner(distance, Problem(stream=stream))
        return distance

    def _randomness(self) -> np.random.RandomState:
        """Give the source of randomness: one of our own, if it has to be put down."""
        if self.random_state is None and self.checkpoint is not None:
            return np.random.RandomState()
        return check_random_state(self.random_state)

    def _journal(self, rng: np.random.RandomState) -> AbstractContextManager[Journal]:
        """Open the journal that ``checkpoint`` names."""
        if self.checkpoint is None:
            return nullcontext(NO_JOURNAL)
        journal = FileJournal(self.checkpoint, parameters(self, without=NOT_KNOWN_BY), rng)
        if journal.n_found and self.verbose:
            name = type(self).__name__
            print(f"[{name}] goes on after {journal.n_found} results of {self.checkpoint}")
        return journal

    def _start(self, data: TrainingData, rng: np.random.RandomState) -> Codebook:
        """Make the codebook to begin with."""
        automatic = is_automatic(self.prototypes_per_class)
        counts = prototype_counts(1 if automatic else self.prototypes_per_class, data.classes)
        check_enough_rows(counts, data.classes, data.rows)
        prototypes = data.prototypes(self.init, counts, rng)
        labels = np.repeat(np.arange(len(counts)), counts)
        codebook = first_codebook(data.form, prototypes, labels, data.metric_rows)
        if automatic:
            sample = data.sample(rng)
            few = MemoryBlocks(sample)
            codebook = grown(self, data.form, self._learner_for(data, few), codebook, sample, rng)
        return codebook

    def _learner_for(
        self, data: TrainingData, blocks: Blocks | None = None
    ) -> Callable[[Codebook], Learner]:
        """Give the function that makes the learner of a codebook, from all rows or some."""
        rows, form = blocks or data.taught, data.form

        def learner(start: Codebook) -> Learner:
            unit, contrast = self._first_distances(form, start, rows)
            problem = Problem(
                n_classes=len(data.classes),
                scale=unit or 1.0,
                contrast=contrast,
                n_prototypes=len(start.labels),
                n_features=start.prototypes.shape[1],
                work=rows.size * form.effort(start),
                elsewhere=data.elsewhere and blocks is None,
            )
            return self._learner(form, problem)

        return learner

    def _train(
        self,
        learner: Learner,
        codebook: Codebook,
        data: TrainingData,
        rng: np.random.RandomState,
    ) -> tuple[Codebook, SolverResult, list[float] | None]:
        """Learn from all the data; give the codebook to keep, how it went, and on held-out rows."""
        held, max_iter = data.held, self.max_iter or learner.default_max_iter(data.taught.n_samples)
        with reporter(self, learner.name, max_iter) as callback:
            stopping = None if held is None else EarlyStopping(learner, held, self.tol, callback)
            result = learner.train(
                codebook,
                data.taught,
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
        if stopping is not None:
            return stopping.best or result.codebook, result, stopping.curve
        if learner.makes_worse(codebook, result.codebook, data.taught):
            told = NO_BETTER.format(type(self).__name__, learner.advice)
            warnings.warn(told, ConvergenceWarning, stacklevel=3)
            return codebook, result, None
        return result.codebook, result, None

    def _keep(
        self,
        reached: Codebook,
        result: SolverResult,
        curve: list[float] | None,
        learner: Learner,
        distance: Distance,
        data: TrainingData,
    ) -> None:
        """Store what a fit has found."""
        reached, memory = settled(reached, data.form), result.memory
        if is_automatic(self.prototypes_per_class):
            rows = winning(data.form, reached, data.taught)
            reached, groups = only(reached, data.form, rows)
            memory = memory.rearranged(rows, groups)
        self._store(reached, learner, distance, data.classes)
        self.n_iter_ = result.n_iter
        self.loss_curve_ = result.loss_curve
        if curve is None:
            self.__dict__.pop("validation_curve_", None)  # of an earlier fit
        else:
            self.validation_curve_ = curve
        self._memory = memory
        self._fixed_scale = learner.problem.scale
        self._fixed_contrast = learner.problem.contrast
        self._rng = None  # a stream that follows begins one of its own

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
        self.scale_ = learner.problem.scale
        self.solver_ = learner.name
