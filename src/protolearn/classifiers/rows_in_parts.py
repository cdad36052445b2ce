"""Data that come in parts, as a fit learns from them: surveyed once, then summed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._arrays import Floats, Indices, check_observed_columns, check_ranges
from .._dask import is_dask
from .._validation import check_class_weight
from ..blocks import (
    Block,
    Checks,
    FileParts,
    MadeParts,
    Parts,
    Reader,
    SampleSize,
    Split,
    Survey,
    Surveyor,
    is_dataset,
    is_path,
)
from ..distances import Distance, start_source
from ..prototypes import (
    FEWEST_ROWS,
    ROWS_PER_PROTOTYPE,
    Facts,
    check_init,
    completed_means,
    initial_prototypes,
    prototype_counts,
)
from ..store import digest
from .rows import GROWN_ON, TrainingRows, check_classes, check_held, few_rows
from .settings import Settings


class RowsInParts(TrainingRows):
    """Data in files, made by a function, or on a cluster: surveyed once, then summed over."""

    def __init__(
        self,
        model: Any,
        settings: Settings,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.RandomState,
    ):
        parts = parts_of(X, y, sample_weight)
        set_features(model, parts)
        check_init(settings.init, parts.n_features)
        distance = settings.distance
        checks = Checks(
            distance, parts.n_features, parts.names, settings.takes_sparse, settings.name
        )
        seeds = rng.randint(np.iinfo(np.int32).max, size=2)
        share = settings.validation_fraction if settings.early_stopping else 0.0
        split = Split(share, int(seeds[0]))
        marked = settings.checkpoint is not None
        surveyor = Surveyor(checks, split, wanted_rows(settings), int(seeds[1]), marked)
        survey: Survey | None = parts.map_reduce(surveyor)
        if survey is None or not survey.n_samples:
            raise ValueError("X has no row of positive weight: there is nothing to learn from.")
        self._survey, self.classes, self.elsewhere = survey, survey.labels, not parts.in_order
        self._factors = class_factors(survey, settings.class_weight)
        self.counts = survey.rows if self._factors is None else survey.rows * (self._factors > 0)
        if share:
            check_split(settings, survey)
        check_classes(self.classes, self.counts)
        check_observed_columns(survey.low[None])
        if distance.squared:
            check_ranges(survey.low, survey.high)
        self.ranges = survey.low, survey.high
        self.form = distance.suited_to(row_like(survey))
        read = Reader(checks, split, self.classes, self._factors)
        self.taught = parts.blocks(read, survey.n_samples, survey.n_numbers)
        if share:
            width = survey.n_numbers // survey.n_samples
            read = replace(read, split=replace(split, held=True))
            self.held = parts.blocks(read, survey.n_held, width * survey.n_held)

    def prototypes(self, init: Any, counts: Indices, rng: np.random.RandomState) -> Floats:
        """Return the prototypes to begin with: means of all rows, clusters of a sample."""
        return initial_prototypes(init, self.sample(rng), counts, rng, facts=self._facts())

    def metric_rows(self) -> Block:
        """Return few rows with the moments of all, or a sample where these do not tell."""
        facts = self._facts()
        weight = (
            self._survey.weight if self._factors is None else self._factors * self._survey.weight
        )
        found = few_rows(self.form, self.taught, facts, weight)
        return self.sample(np.random.RandomState(0)) if found is None else found

    def sample(self, rng: np.random.RandomState) -> Block:
        """Return the sample of the survey."""
        block = self._survey.sample.block
        if self._factors is not None:
            return Block(block.X, block.y, block.weights * self._factors[block.y])
        return block if self._survey.weighted else Block(block.X, block.y)

    def mark(self) -> str:
        """Return a short text that other data would not have."""
        s = self._survey
        return digest(s.labels, s.rows, s.weight, str(s.mark))

    def _facts(self) -> Facts:
        survey = self._survey
        means = survey.means
        if np.isnan(means).any():
            with np.errstate(invalid="ignore"):
                overall = survey.sums.sum(axis=0) / survey.observed.sum(axis=0)
            means = completed_means(means, overall)
        return Facts(survey.low, survey.high, means)


def parts_of(X: Any, y: Any, sample_weight: Any) -> Parts:
    """Return the parts that the user names."""
    if is_dask(X):
        from ..blocks import DaskParts

        return DaskParts(X, y, sample_weight)
    if is_path(X) or is_dataset(X):
        return FileParts(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "X is a function, which makes blocks (X, y) or (X, y, sample_weight); leave out y and "
            "sample_weight."
        )
    return MadeParts(X)


def set_features(model: Any, parts: Parts) -> None:
    """Set on the model how many features there are, and what they are called."""
    model.n_features_in_ = parts.n_features
    model.__dict__.pop("feature_names_in_", None)
    if parts.names is not None:
        model.feature_names_in_ = np.asarray(parts.names, dtype=object)


def wanted_rows(settings: Settings) -> SampleSize:
    """Return how many rows of each class a start looks at; none where means tell all."""
    per_class, distance, init = settings.prototypes_per_class, settings.distance, settings.init
    if settings.automatic:
        return SampleSize(1, ROWS_PER_PROTOTYPE, GROWN_ON)
    labels = [*per_class] if isinstance(per_class, Mapping) else [0]
    counts = prototype_counts(per_class, np.array(labels, dtype=object))
    clusters = isinstance(init, str) and (
        init in ("kmeans++", "random") or (init == "kmeans" and counts.max() > 1)
    )
    own_start = type(distance).initial is not Distance.initial
    looked_at = clusters or (own_start and start_source(distance) in ("rows", "covariances"))
    return SampleSize(per_class, ROWS_PER_PROTOTYPE, FEWEST_ROWS if looked_at else 0)


def check_split(settings: Settings, survey: Survey) -> None:
    """Raise if a class has only rows that are held out, or none is."""
    check_held(settings, survey.n_held, survey.n_samples + survey.n_held)
    without = survey.labels[(survey.rows == 0)].tolist()
    if without:
        raise ValueError(
            f"Class {without[0]!r} has no row of positive weight that is not held out; give more "
            "rows, a smaller validation_fraction, or early_stopping=False."
        )


def class_factors(survey: Survey, class_weight: Any) -> Floats | None:
    """Return what the weights of each class are multiplied with, so that their mean is one."""
    if class_weight is None and not survey.weighted:
        return None
    factors = np.ones(len(survey.labels))
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = 1.0 / survey.weight
    elif class_weight is not None:
        factors = check_class_weight(class_weight, survey.labels, survey.labels)
    rows = survey.rows @ (factors > 0.0)
    mean = float(factors @ survey.weight) / rows if rows else 0.0
    if not np.isfinite(mean) or mean <= 0.0:
        raise ValueError(
            f"The weights of the rows sum to {factors @ survey.weight}; give weights of ordinary "
            "size."
        )
    return factors / mean


def row_like(survey: Survey) -> Any:
    """Return a row of the kind that data are: sparse, incomplete or neither."""
    d = len(survey.low)
    if survey.sparse:
        return csr_array((1, d))
    return np.full((1, d), np.nan if survey.missing else 0.0)
