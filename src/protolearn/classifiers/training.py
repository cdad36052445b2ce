"""Training: settings, rows, a start, a problem, its solver; all at once or in parts."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from functools import partial
from inspect import Parameter, signature
from operator import call
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import TransformerTags, check_random_state

from .._arrays import ROUNDING, Floats, MappedRows, check_magnitude, middle
from .._dask import is_dask
from .._validation import ScaleWarning, all_or_nothing, known_classes
from ..blocks import Block, Blocks, MemoryBlocks, is_dataset, is_path
from ..codebook import Codebook
from ..distances import Distance, LinearMetric
from ..margins import class_margins
from ..objective import Objective, score_some_rows
from ..prototypes import (
    add_prototypes,
    first_codebook,
    only,
    prototype_counts,
    settle,
    winning,
)
from ..rule import DecisionRule
from ..solvers import Callback, Memory, SolverResult, StochasticSolver, cost_error
from ..store import Record
from .fit_log import PrototypeHistory, Reporter, check_same_data, open_journal, report_pass, watch
from .held_out_rows import EarlyStopping, check_one_array, grow, refit_factor
from .nearest_prototype import NearestPrototypeClassifier
from .probabilities import first_factor, follow_factor
from .problem import FirstDistances, Problem
from .rows import TrainingRows, WholeRows, check_same_distance, read_block
from .rows_in_parts import RowsInParts
from .settings import Settings

NO_BETTER = "{} finds no better prototypes than the initial ones, and keeps these. {}"
NOT_MOVED = (
    "{} has not moved its initial prototypes: the cost has no slope there. Take another slope or "
    "sharpness (beta or xi) or a tol below 1, and see whether the classes differ in X at all."
)
FAR_OUTSIDE = (
    "A prototype of {} lies {:.3g} times the range of a feature beyond the training data, so it "
    "is not typical. Set attraction=0.01 or more to keep prototypes inside the data; outside_ "
    "holds the distance of each one."
)
FEW_ROWS_DECIDE = (
    "A few rows are so far from their class that they dominate all distances of {}. "
    "Look at the rows with the largest model.distances(X).min(axis=1); correct or remove them, or "
    "scale X with sklearn.preprocessing.RobustScaler and clip it."
)
ONE_FEATURE_DECIDES = (
    "Feature {} makes up {:.1%} of the variance of the {} features of X, so it dominates the "
    "distances of {}. If the features have different units, scale them first: "
    "make_pipeline(StandardScaler(), model)."
)

FURTHEST_OUT = 10.0
"""Ranges of a feature by which a prototype may be outside the data without a warning."""

FEWEST_DECISIVE = 4.0
"""Rows that have to share the distances, at least."""

FEWEST_ROWS = 40
"""Rows below which a few of them may well have most of the distances."""

FEWEST_FEATURES = 2.0, 0.2
"""Features that have to share the variance, at least: so many, or this share of all."""


class TrainedClassifier(NearestPrototypeClassifier, ABC):
    """A classifier whose prototypes are learned from rows.

    A subclass names its distance and its settings.
    """

    _attributes = """
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    rule_ : DecisionRule
        What predicts: the prototypes, the distance, and how distances decide.
    prototypes_ : array of shape (K, d)
        The prototypes, in the units of the data.
    prototype_labels_ : array of shape (K,)
        The label of each prototype.
    n_prototypes_ : dict
        The number of prototypes of each label.
    outside_ : array of shape (K,)
        After ``fit``: how far each prototype lies beyond the training data, in the feature where it
        is furthest out and as a multiple of the range of that feature; 0.0: within all ranges.
    scale_ : float
        The unit of distance that was used.
    history_ : dict of arrays
        With ``history``, one line a state, the first before training: "prototypes", "metric",
        "loss" (of the sample), "example" (the row that was presented, or -1), "n_iter".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has names that are strings.
    """
    n_prototypes_: dict[Any, int]
    solver_: str
    n_iter_: int
    loss_curve_: list[float]
    history_: dict[str, Any]
    history = False  # of older files
    _settings_type: ClassVar[type[Settings]]
    _follows_contrast: ClassVar[bool] = True
    _has_features: ClassVar[bool] = True
    """Whether the columns of its rows mean something to the user."""
    _memory: Memory
    _rng: np.random.RandomState | None
    _first: FirstDistances
    _running: tuple[float, float, float] | None  # see ``follow_factor``

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
        calibrate: str | None = "train",
        callback: Callback | None = None,
        history: Any = False,
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
        self.calibrate = calibrate
        self.callback = callback
        self.history = history
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Name, for scikit-learn, the parameters that a subclass passes on by ``**others``."""
        super().__init_subclass__(**kwargs)
        own = signature(cls.__init__)
        *named, last = own.parameters.values()
        if "__init__" in vars(cls) and last.kind is Parameter.VAR_KEYWORD:
            inherited = signature(super(cls, cls).__init__).parameters
            others = [inherited[name] for name in inherited if name not in own.parameters]
            vars(cls.__init__)["__signature__"] = own.replace(parameters=[*named, *others])

    @abstractmethod
    def _axes(self) -> tuple[Any, ...]:
        """Return the parts that the parameters name, the distance first."""

    def _takes_sparse(self) -> bool:
        """Whether it can learn from sparse rows."""
        return False

    @property
    def prototypes_(self) -> Floats:
        """The prototypes, in the units of the data; assign others to move them."""
        return self._fitted_rule("prototypes_").codebook.prototypes

    @prototypes_.setter
    def prototypes_(self, prototypes: Any) -> None:
        moved, shape = np.array(prototypes, dtype=np.float64, order="C"), self.prototypes_.shape
        if moved.shape != shape:
            raise ValueError(
                f"prototypes_ has shape {moved.shape}, expected {shape}; fit another model to "
                "change the number of prototypes."
            )
        if not np.isfinite(moved).all():
            raise ValueError("prototypes_ contains NaN or infinity; give finite prototypes.")
        codebook = replace(self.rule_.codebook, prototypes=moved, center=middle(moved))
        self.rule_ = replace(self.rule_, codebook=codebook)

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
        with all_or_nothing(self):
            settings = self._settings_type.of(self)
            if settings.calibrate == "cv":
                check_one_array(X)
            rng = check_random_state(settings.random_state)
            resumes = settings.checkpoint is not None
            with open_journal(self, settings, rng) if resumes else nullcontext(call) as record:
                in_parts = not isinstance(X, np.ndarray) and (
                    is_dask(X) or callable(X) or is_path(X) or is_dataset(X)
                )
                kind = RowsInParts if in_parts else WholeRows
                rows = kind(self, settings, X, y, sample_weight, rng)
                if resumes:
                    check_same_data(record, settings, rows)
                codebook = record(partial(initial_codebook, settings, rows), rng)
                problem = settings.problem(
                    codebook, rows.form, rows.taught, len(rows.classes), elsewhere=rows.elsewhere
                )
                if self._has_features:
                    check_scale(settings, problem, rows)
                reached = train(settings, problem, codebook, rows, rng, record)
            self._keep(settings, problem, reached, rows)
            if settings.calibrate == "cv":
                factor, floor = refit_factor(self, X, y, sample_weight)
                decision = replace(self.rule_.decision, sharpness=factor, floor=floor)
                self.rule_ = replace(self.rule_, decision=decision)
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
        with all_or_nothing(self):
            begun = perf_counter()
            settings = self._settings_type.of(self, stream=True)
            is_first = not hasattr(self, "_memory")
            known = known_classes(self, classes)
            if not is_first:
                check_same_distance(self.rule_.distance, settings.distance)
            block, _, form = read_block(self, settings, X, y, sample_weight, known)
            if form.squared:
                check_magnitude(block.X)
            rng = getattr(self, "_rng", None) or check_random_state(settings.random_state)
            running = self._follow(settings, form, block)
            counts = prototype_counts(settings.prototypes_per_class, known)
            old = None if is_first else (self.rule_.codebook, self._memory)
            present = np.empty(0, np.intp) if old is None else old[0].labels
            complete = (np.bincount(present, minlength=len(counts)) >= counts).all()
            if old is not None and not (complete and len(block) == 1):  # one row has one order
                rng = deepcopy(rng)
            if is_first and isinstance(settings.init, DecisionRule):
                codebook, memory = codebook_to_go_on(settings, known), Memory()
            else:
                codebook, memory = add_prototypes(old, form, settings.init, block, counts, rng)
            first = FirstDistances(None) if is_first else self._first
            blocks: Blocks = MemoryBlocks(block)
            if first.unit is None:
                unit = settings.first_distances(form, codebook, blocks).unit
                first = replace(first, unit=unit)
            problem = settings.problem(codebook, form, blocks, len(known), first=first)
            loss, solver, history = np.nan, problem.solver, None
            if settings.history is not False:
                given = solver, codebook, blocks, form
                settings, solver, blocks, history = watch(settings, *given)
            if len(np.unique(codebook.labels)) > 1:  # one class alone teaches nothing
                if not isinstance(solver, StochasticSolver):
                    solver.check_streaming()
                    raise TypeError(f"{solver!r} has no one_pass for a stream.")
                loss = solver.one_pass(problem.cost, codebook, blocks, memory, rng)
                if not np.isfinite(loss):
                    raise cost_error(loss)
            if running is None:
                running = first_factor(settings, problem, codebook, blocks)
            self._store(codebook, problem, settings, known, running)
            self.n_iter_ = 1 + (0 if is_first else self.n_iter_)
            self.loss_curve_ = [*([] if is_first else self.loss_curve_), loss]
            self._memory, self._rng, self._first = memory, rng, first
            report_pass(settings, self, perf_counter() - begun)
            self._keep_history(history)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return what input the chosen distance and solver take, for scikit-learn."""
        tags = super().__sklearn_tags__()
        rule = self.__dict__.get("rule_")
        try:
            distance = self._axes()[0] if rule is None else rule.distance
        except ValueError:  # fit will say what is wrong
            return tags
        if isinstance(distance, LinearMetric) and distance.localized is None:
            tags.transformer_tags = TransformerTags()
        tags.input_tags.positive_only = distance.positive_only
        tags.input_tags.allow_nan = distance.missing_form is not None
        tags.input_tags.sparse = distance.sparse_form is not None and self._takes_sparse()
        return tags

    def _keep(
        self, settings: Settings, problem: Problem, reached: Reached, rows: TrainingRows
    ) -> None:
        """Store what a fit has found."""
        codebook, memory = settle(reached.codebook, rows.form), reached.result.memory
        if settings.automatic:
            kept = winning(rows.form, codebook, rows.taught)
            codebook, groups = only(codebook, rows.form, kept)
            memory = memory.rearrange(kept, groups)
        running = first_factor(settings, problem, codebook, rows.taught)
        self._store(codebook, problem, settings, rows.classes, running)
        if self._has_features:
            (low, high), W = rows.ranges, codebook.prototypes
            constant = np.isclose(low, high, rtol=ROUNDING, atol=0.0)
            widths = np.where(constant, np.inf, high - low)
            self.outside_ = (np.fmax(low - W, W - high) / widths).max(axis=1).clip(min=0.0)
            if (furthest := float(self.outside_.max())) > FURTHEST_OUT:
                warnings.warn(FAR_OUTSIDE.format(settings.name, furthest), ScaleWarning, 3)
        self.n_iter_ = reached.result.n_iter
        self.loss_curve_ = reached.result.loss_curve
        self.__dict__.pop("validation_curve_", None)  # of an earlier fit
        if reached.validation_curve is not None:
            self.validation_curve_ = reached.validation_curve
        self._keep_history(reached.history)
        self._memory, self._first = memory, problem.first
        self._rng = None  # a stream that follows begins one of its own

    def _keep_history(self, history: PrototypeHistory | None) -> None:
        """Store the history if there is one, and forget that of an earlier fit."""
        self.__dict__.pop("history_", None)
        if history is not None:
            self.history_ = history.arrays()

    def _follow(
        self, settings: Settings, form: Distance, block: Block
    ) -> tuple[float, float, float] | None:
        """Return the factor of a stream by rows that the prototypes have not seen; None at first.

        A first one comes from the rows that prototypes were learned from.
        """
        running = getattr(self, "_running", None)
        if running is None or settings.calibrate is None:
            return None
        rule = self.rule_
        found = score_some_rows(form, rule.codebook, len(rule.classes), 1.0, block)
        margins = class_margins(-found.nearest / rule.scale, rule.decision.margin)
        return follow_factor(margins, found.codes, found.weights, running)

    def _store(
        self,
        codebook: Codebook,
        problem: Problem,
        settings: Settings,
        classes: NDArray[Any],
        running: tuple[float, float, float] | None,
    ) -> None:
        """Keep what was learned, all at once."""
        if not (np.isfinite(codebook.prototypes).all() and np.isfinite(codebook.metric).all()):
            raise ValueError(
                "The prototypes left the range of double precision; rescale X, or keep them near "
                "the data with attraction=0.01."
            )
        decision, self._running = problem.decision, running
        if running is not None:
            margin, floor = problem.class_scores, len(classes) / (running[2] + len(classes))
            decision = replace(decision, sharpness=running[0], margin=margin, floor=floor)
        self.rule_ = DecisionRule(
            replace(codebook, center=middle(codebook.prototypes)),
            settings.distance,
            decision,
            classes,
            problem.cost.scale,
            settings.name,
        )
        self.__dict__.pop("outside_", None)  # of an earlier fit
        count = np.bincount(codebook.labels, minlength=len(classes))
        self.n_prototypes_ = dict(zip(classes.tolist(), count.tolist(), strict=True))
        self.solver_ = problem.solver.name
        if isinstance(problem.cost, Objective):
            self.slope_factor_ = problem.cost.slope_factor


class Reached(NamedTuple):
    """Where training has led: the codebook to keep, how it went, and on held-out rows."""

    codebook: Codebook
    result: SolverResult
    history: PrototypeHistory | None = None
    validation_curve: list[float] | None = None


def check_scale(settings: Settings, problem: Problem, rows: TrainingRows) -> None:
    """Warn, once, if a few rows or one feature decide about all distances."""
    if rows.taught.n_samples < FEWEST_ROWS:
        return
    if problem.first.n_decisive < FEWEST_DECISIVE:
        warnings.warn(FEW_ROWS_DECIDE.format(settings.name), ScaleWarning, stacklevel=3)
        return
    distance = settings.distance
    if (X := rows.varied) is None or distance.scales_features or distance.positive_only:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if issparse(X):
            variances = np.asarray(X.multiply(X).mean(axis=0) - np.square(X.mean(axis=0))).ravel()
        else:
            X = X[:] if isinstance(X, MappedRows) else X
            variances = np.where(np.isnan(X), np.mean(rows.ranges, axis=0), X).var(axis=0)
        shares, (fewest, share) = variances / variances.sum(), FEWEST_FEATURES
    if float(shares @ shares) * min(fewest, share * len(shares)) > 1.0:
        first = int(shares.argmax())
        message = ONE_FEATURE_DECIDES.format(first, shares[first], len(shares), settings.name)
        warnings.warn(message, ScaleWarning, stacklevel=3)


def initial_codebook(
    settings: Settings, rows: TrainingRows, rng: np.random.RandomState
) -> Codebook:
    """Return the codebook to begin with."""
    if isinstance(settings.init, DecisionRule):
        return codebook_to_go_on(settings, rows.classes)
    counts = prototype_counts(settings.prototypes_per_class, rows.classes, rows.counts)
    prototypes = rows.prototypes(settings.init, counts, rng)
    labels = np.repeat(np.arange(len(counts)), counts)
    codebook = first_codebook(rows.form, prototypes, labels, rows.metric_rows)
    return grow(settings, rows, codebook, rng) if settings.automatic else codebook


def codebook_to_go_on(settings: Settings, classes: NDArray[Any]) -> Codebook:
    """Return the codebook of the rule from which learning goes on."""
    rule = settings.init
    check_same_distance(rule.distance, settings.distance)
    if not np.array_equal(rule.classes, classes):
        raise ValueError(
            f"init is the rule of a model with the classes {rule.classes.tolist()!r}, and the rows "
            f"have {classes.tolist()!r}. Give a rule that has learned the same classes."
        )
    codebook: Codebook = rule.codebook.copy()
    return codebook


def train(
    settings: Settings,
    problem: Problem,
    codebook: Codebook,
    rows: TrainingRows,
    rng: np.random.RandomState,
    record: Record,
) -> Reached:
    """Return what the solver reaches from a codebook, or the start if that is better."""
    solver, blocks, history = problem.solver, rows.taught, None
    if settings.history is not False:
        given = solver, codebook, blocks, problem.cost.distance
        settings, solver, blocks, history = watch(settings, *given)
    max_iter = settings.max_iter or solver.usual_max_iter(blocks.n_samples, codebook)
    reporter = Reporter(settings, solver.name, max_iter) if settings.verbose else None
    callback: Callback | None = reporter or settings.callback
    stopping = None
    if rows.held is not None:
        stopping = EarlyStopping(problem.cost, rows.held, settings.tol, callback, record)
    result = solver.minimize(
        problem.cost,
        codebook,
        blocks,
        rng,
        max_iter=max_iter,
        tol=settings.tol,
        callback=stopping or callback,
        **({} if settings.checkpoint is None else {"record": record}),
    )
    if reporter is not None:
        reporter.finish()
    if not result.converged:
        warnings.warn(
            f"{settings.name} stopped at max_iter={max_iter} before it converged; increase "
            "max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    if not result.n_iter or (
        result.codebook is not codebook
        and np.array_equal(result.codebook.prototypes, codebook.prototypes)
        and np.array_equal(result.codebook.metric, codebook.metric)
    ):
        warnings.warn(NOT_MOVED.format(settings.name), ConvergenceWarning, stacklevel=3)
        return Reached(codebook, result, history, None if stopping is None else stopping.curve)
    if stopping is not None:
        return Reached(stopping.best or result.codebook, result, history, stopping.curve)
    if result.codebook is codebook or (
        problem.guards_start and makes_more_errors(problem, codebook, result.codebook, blocks)
    ):
        message = NO_BETTER.format(settings.name, problem.advice)
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return Reached(codebook, result, history)
    return Reached(result.codebook, result, history)


def makes_more_errors(problem: Problem, start: Codebook, reached: Codebook, blocks: Blocks) -> bool:
    """Whether more rows are classified wrongly than in the beginning."""
    before, after = (blocks.reduce(weigh_errors, problem, one) for one in (start, reached))
    return bool(after > before)


def weigh_errors(problem: Problem, codebook: Codebook, block: Block) -> float:
    """Return the weight of the rows that are classified wrongly."""
    distance, wrong = problem.cost.distance, 0.0
    for chunk in block.chunks(distance.effort(codebook)):
        D = distance.pairwise(chunk.X, codebook, chunk.prepared) / problem.cost.scale
        scores = problem.decision.scores(D, codebook.labels, problem.cost.n_classes)
        wrong += float(chunk.weights @ (scores.argmax(axis=1) != chunk.codes))
    return wrong
