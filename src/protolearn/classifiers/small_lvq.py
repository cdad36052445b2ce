"""A model for small devices: prototypes behind a map, in whole numbers of 8 or 16 bits."""

from __future__ import annotations

import zlib
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import Floats, as_floats, middle, validate_data
from .._threads import one_blas_thread
from .._validation import all_or_nothing, check_integer, check_number
from ..codebook import Codebook
from ..distances import Matrix
from ..rule import Decision, DecisionRule
from .nearest_prototype import NearestPrototypeClassifier
from .quantized_training import Mixture
from .shape_search import LEVELS, Grid, ShapeSearch

COST_STEP = 1.0 / 16.0
"""Smallest step of the logarithm of a label score."""


class SmallGMLVQ(NearestPrototypeClassifier):
    """A model of few bytes: prototypes behind a low-rank map, in whole numbers of 8 or 16 bits.

    A class has the score ``sum_k Z_kc exp(-|A x - b_k|^2)``. The map A, the prototypes b behind it
    and their label scores Z are trained together by the cross-entropy of the scores, at first in
    full precision, then with fewer numbers, and at last through the rounding to whole numbers. How
    many there are of each is chosen by the accuracy on held-out training rows. ``rule_`` says the
    same in floating point, with a prototype for each label score: of all points with the image b,
    the one next to the mean of the class.
    :func:`~protolearn.export` writes the whole numbers as C.

    Parameters
    ----------
    max_bytes : int, default=16_384
        What the constant tables in C take at most, with the labels and the units of rows.
    bits : {8, 16}, default=8
        Size of the numbers of rows, of the map and of prototypes.
    rank : int, default=None
        Rows of the map; None: chosen.
    prototypes_per_class : int, default=None
        None: as many as there is room for; of few rows, fewer where held-out rows say so.
    label_scores : int, default=None
        Classes for which each prototype has a score; None: chosen among 1, 2, 4 and all.
    density : float, default=None
        Share of the entries of the map that are not zero; None: chosen.
    init : DecisionRule, default=None
        The ``rule_`` of a fitted model, from whose metric the map may start; None: only from the
        principal axes of the rows.
    max_iter : int, default=60
        Epochs; fewer for more than 20,000 rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial prototypes, of the held-out rows and of the order of the samples.

    Attributes
    ----------
    omega_ : array of shape (rank, d)
        The map. It has fewer rows where the features or the directions in which the data vary are
        fewer.
    metric_ : array of shape (d, d)
        ``Omega^T Omega``.
    relevances_ : array of shape (d,)
        How much each feature counts: the diagonal of ``metric_``. They sum to one.
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    rule_ : DecisionRule
        What predicts: the prototypes, the distance, and how distances decide.
    prototypes_ : array of shape (K, d)
        The prototypes, in the units of the data.
    prototype_labels_ : array of shape (K,)
        The label of each prototype.
    scale_ : float
        The unit of distance that was used.
    n_bytes_ : int
        What the tables take.
    whole_ : dict
        The whole numbers, from which C is written.
    shape_ : dict
        What was chosen: ``rank``, ``density``, ``n_prototypes`` (points behind the map),
        ``label_scores`` of each, and ``noise``, which is added to rows in training.
    validation_scores_ : list of dict
        The shapes that were tried, with their accuracy on held-out rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has names that are strings.

    References
    ----------
    Gupta, C., Suggala, A. S., Goyal, A., Simhadri, H. V., Paranjape, B., Kumar, A., Goyal, S.,
    Udupa, R., Varma, M., & Jain, P. (2017). ProtoNN: Compressed and Accurate kNN for
    Resource-scarce Devices. ICML.

    See Also
    --------
    compress : Makes one from another model.

    Examples
    --------
    >>> from protolearn import SmallGMLVQ, datasets
    >>> X, y = datasets.load("iris")
    >>> model = SmallGMLVQ(max_bytes=512, random_state=0).fit(X, y)
    >>> bool(model.n_bytes_ <= 512), bool(model.score(X, y) > 0.94)
    (True, True)
    """

    def __init__(
        self,
        *,
        max_bytes: int = 16_384,
        bits: int = 8,
        rank: int | None = None,
        prototypes_per_class: int | None = None,
        label_scores: int | None = None,
        density: float | None = None,
        init: Any = None,
        max_iter: int = 60,
        random_state: Any = None,
    ):
        self.max_bytes = max_bytes
        self.bits = bits
        self.rank = rank
        self.prototypes_per_class = prototypes_per_class
        self.label_scores = label_scores
        self.density = density
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def prototypes_(self) -> Floats:
        """The prototypes, in the units of the data."""
        return self._fitted_rule("prototypes_").codebook.prototypes

    def _axes(self) -> tuple[Any, ...]:
        """Return the distance."""
        return (Matrix(),)

    def fit(self, X: Any, y: Any) -> Self:
        """Choose how many numbers there are of each kind, and train them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels: numbers or strings, of at least two classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with all_or_nothing(self), one_blas_thread():  # batches are too small for more
            bits, n_epochs = self._check()
            X, y = validate_data(self, X, y, dtype=np.float64, order="C")
            check_classification_targets(y)
            classes, codes = np.unique(y, return_inverse=True)
            if len(classes) < 2:
                raise ValueError(
                    f"y has one class only, {classes[0]!r}; give rows of two or more classes."
                )
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            grids = Grid.choices(X, bits)
            searches = [ShapeSearch(self, grid, classes, X, codes, seed) for grid in grids]
            search = searches[0]
            if len(searches) > 1:
                search = max(searches, key=lambda each: each.first_score(n_epochs))
            shape, start = search.choose(n_epochs)
            self.shape_, self.validation_scores_ = shape._asdict(), search.history()
            mixture = search.mixture(shape, start, search.rows, codes, n_epochs)
            self.whole_ = whole_numbers(mixture, search.grid, bits)
            self.n_bytes_ = search.budget.total(self.whole_)
            means = np.stack([X[codes == c].mean(axis=0) for c in range(len(classes))])
            self.rule_ = rule_of(self.whole_, classes, means, type(self).__name__)
            self.whole_["checksum"] = rule_checksum(self.rule_)
        return self

    def _check(self) -> tuple[int, int]:
        """Return the bits and the epochs; raise if a parameter is wrong."""
        check_integer(self, "max_bytes", low=1)
        if self.bits not in (8, 16):
            raise ValueError(f"bits={self.bits!r} of {type(self).__name__} must be 8 or 16.")
        for name in ("rank", "prototypes_per_class", "label_scores"):
            if getattr(self, name) is not None:
                check_integer(self, name, low=1)
        if self.density is not None:
            check_number(self, "density", low=0.0, high=1.0, above=True)
        if self.init is not None and not isinstance(self.init, DecisionRule):
            raise ValueError(f"init={self.init!r} must be the rule_ of a fitted model, or None.")
        return int(self.bits), check_integer(self, "max_iter", low=1)


def whole_numbers(mixture: Mixture, grid: Grid, bits: int) -> dict[str, Any]:
    """Return a mixture in whole numbers: what C needs, and the units of these numbers."""
    rounding = mixture.rounding
    assert rounding is not None
    step, unit, shift, top = rounding
    square = unit**2
    cost_unit = max(int(np.rint(COST_STEP / square)), 1)
    kept = mixture.label_mask > 0.0
    n_scores = int(kept[0].sum())
    classes = np.argsort(~kept, axis=1, kind="stable")[:, :n_scores]
    V = np.take_along_axis(mixture.V.astype(np.float64), classes, axis=1)
    rate = square * LEVELS * np.log2(np.e)
    rate_shift = 7 - int(np.floor(np.log2(rate)))
    return {
        "bits": bits,
        "center": as_floats(grid.center),
        "input_scale": as_floats(grid.scale),
        "map": np.clip(np.rint(mixture.A * mixture.map_mask / step), -top, top).astype(np.int64),
        "shift": shift,
        "places": np.clip(np.rint(mixture.B / unit), -top, top).astype(np.int64),
        "unit": unit,
        "classes": classes.astype(np.int64),
        "costs": np.clip(np.rint((V.max() - V) / (cost_unit * square)), 0, 255).astype(np.int64),
        "cost_unit": cost_unit,
        "rate": int(np.rint(rate * 2.0**rate_shift)),
        "rate_shift": rate_shift,
    }


def rule_of(whole: dict[str, Any], classes: Any, means: Floats, name: str) -> DecisionRule:
    """Return what whole numbers say, in floating point: a prototype for each label score.

    A prototype is the point next to the mean of its class with the image b. If no point has that
    image, the part of b that rows cannot reach is added to all its distances.
    """
    unit, n_scores = whole["unit"], whole["classes"].shape[1]
    A = whole["map"] * whole["input_scale"] * (unit / 2.0 ** whole["shift"])
    size = float(np.linalg.norm(A)) or 1.0
    labels = whole["classes"].ravel()
    images = unit * np.repeat(whole["places"], n_scores, axis=0)
    offsets = unit**2 * whole["cost_unit"] * whole["costs"].ravel().astype(np.float64)
    apart = images - (means[labels] - whole["center"]) @ A.T
    moves = apart @ np.linalg.pinv(A, rcond=1e-6).T
    offsets += np.square(apart - moves @ A.T).sum(axis=1)
    prototypes = as_floats(means[labels] + moves)
    group = np.zeros(len(labels), dtype=np.intp)
    metric = as_floats(A.reshape(1, -1) / size)
    codebook = Codebook(prototypes, labels.astype(np.intp), metric, group, middle(prototypes))
    decision, scale = Decision(soft=True, xi=1.0, sharpness=1.0), 1.0 / size**2
    raised = as_floats(offsets * scale)
    return DecisionRule(codebook, Matrix(), decision, classes, scale, name, offsets=raised)


def rule_checksum(rule: DecisionRule) -> int:
    """Return a number by which whole numbers know the rule that says the same."""
    parts = rule.codebook.prototypes, rule.codebook.metric, rule.offsets
    return zlib.crc32(b"".join(np.ascontiguousarray(p).tobytes() for p in parts if p is not None))
