"""A model for small devices: prototypes behind a map, in whole numbers of 8 or 16 bits."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import Floats, Indices, as_floats, column_ranges, middle, validate_data
from .._validation import all_or_nothing, check_integer, check_number
from ..codebook import Codebook
from ..distances import LinearMetric, Matrix
from ..rule import Decision, DecisionRule
from .nearest_prototype import NearestPrototypeClassifier
from .quantized_training import Mixture, Shape, Singles, first_mixture, train_mixture

LEVELS = 64
"""Steps of halving in which weights are tabulated."""

COST_STEP = 1.0 / 16.0
"""Smallest step of the logarithm of a label score."""

SHARES = 0.12, 0.25, 0.5
"""Shares of the bytes that the map may take."""

DENSITIES = 1.0, 0.3, 0.1
MANY_FEATURES = 48
"""Features above which the map may be sparse."""

LARGEST_RANK = 64
NOISES = 0.7, 0.3, 0.1
"""Deviations of the noise in training, in units of those of the features; the most first."""

SELECTION_ROWS = 12_000
"""Rows that the choice of a shape looks at, at most."""

SIMILAR_RANGES = 4.0
"""How much larger the largest range may be than the smallest for one unit of all features."""

FAR = 5.0
"""Standard deviations beyond which numbers are cut off."""


class Grid(NamedTuple):
    """Where whole inputs lie: ``q = (x - center) * scale``, rounded."""

    center: Floats
    scale: Floats
    top: int

    @classmethod
    def choices(cls, X: Floats, bits: int) -> list[Grid]:
        """Return one unit for all features and, unless their ranges are similar, one for each."""
        top, (low, high) = 2 ** (bits - 1) - 1, column_ranges(X)
        mean, far = X.mean(axis=0), FAR * X.std(axis=0)
        low, high = np.maximum(low, mean - far), np.minimum(high, mean + far)
        width = high - low
        varying = width > 0.0
        if not varying.any():
            width, varying = np.ones_like(width), ~varying
        ends = np.full_like(low, low[varying].min()), np.full_like(high, high[varying].max())
        every = [ends]
        if width[varying].max() > SIMILAR_RANGES * width[varying].min():
            every.append((low, np.where(varying, high, low + 1.0)))
        return [cls((low + high) / 2.0, 2.0 * top / (high - low), top) for low, high in every]

    def rows(self, X: Floats) -> Singles:
        """Return rows on the grid, as numbers up to one."""
        q = np.rint((X - self.center) * self.scale)
        return np.asarray(np.clip(q, -self.top, self.top) / self.top, dtype=np.float32)

    @property
    def is_common(self) -> bool:
        """Whether all features have one unit."""
        return bool((self.scale == self.scale[0]).all())


class TableBudget(NamedTuple):
    """How many bytes the tables of a model take in C."""

    n_features: int
    labels: Any
    bits: int
    is_common: bool

    @property
    def fixed(self) -> int:
        """The bytes of labels, of the table of weights and of the units of inputs."""
        texts = [len(str(label).encode()) + 5 for label in self.labels.tolist()]
        inputs = 0 if self.is_common else 8 * self.n_features
        return sum(texts) + 2 * LEVELS + inputs

    def of_map(self, rank: int, density: float) -> int:
        """Return the bytes of a map: dense, or an entry and a distance to the next one for each."""
        size, width = rank * self.n_features, self.bits // 8
        return size * width if density == 1.0 else 2 * rank + int(density * size) * (width + 1)

    def of_prototype(self, rank: int, label_scores: int) -> int:
        """Return the bytes of a prototype: places, and a cost and maybe a class for each score."""
        each = 1 if label_scores == len(self.labels) else 1 + (1 if len(self.labels) < 256 else 2)
        return rank * (self.bits // 8) + label_scores * each

    def total(self, whole: dict[str, Any]) -> int:
        """Return the bytes of all tables of a model."""
        m, n_scores = whole["classes"].shape
        A, width = whole["map"], self.bits // 8
        in_map = min(A.size * width, sparse_size(A, width))
        return self.fixed + in_map + m * self.of_prototype(len(A), n_scores)


def sparse_size(A: Any, width: int) -> int:
    """Return the bytes of a map of which only entries other than zero are kept."""
    return 2 * len(A) + (width + 1) * sum(len(gaps) for gaps, _ in map(sparse_row, A))


def sparse_row(row: Any) -> tuple[list[int], list[int]]:
    """Return the entries of a row other than zero, and by how much each is further to the right.

    No gap is larger than 255: there is an entry of zero then.
    """
    gaps: list[int] = []
    values: list[int] = []
    before = 0
    for j in np.flatnonzero(row).tolist():
        while j - before > 255:
            gaps.append(255)
            values.append(0)
            before += 255
        gaps.append(j - before)
        values.append(int(row[j]))
        before = j
    return gaps, values


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
        None: as many as there is room for.
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
        with all_or_nothing(self):
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
            self.whole_ = search.whole(shape, start, n_epochs)
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


def starting_axes(rows: Singles, grid: Grid, rule: Any) -> list[Singles]:
    """Return the axes from which a map may start: principal ones, and those of a fitted model."""
    covariance = np.cov(rows.T.astype(np.float64)).reshape(rows.shape[1], -1)
    sizes, vectors = np.linalg.eigh(covariance)
    principal = vectors.T[::-1][:LARGEST_RANK].astype(np.float32)
    if rule is None or not isinstance(rule.distance, LinearMetric):
        return [principal]
    d, half = rows.shape[1], grid.top / grid.scale
    maps = np.concatenate([rule.distance.omega(row, d) * half for row in rule.codebook.metric])
    _, sizes, axes = np.linalg.svd(maps, full_matrices=False)
    kept = sizes > 1e-3 * sizes[0]
    known = (sizes[kept, None] * axes[kept]).astype(np.float32)
    rest = float(sizes[kept][-1]) * principal  # where the model has fewer rows
    return [principal, np.concatenate([known, rest])[:LARGEST_RANK].astype(np.float32)]


class ShapeSearch:
    """The choice of a shape by the accuracy on held-out rows, one property after another."""

    def __init__(
        self, model: SmallGMLVQ, grid: Grid, classes: Any, X: Floats, codes: Indices, seed: int
    ):
        self.model, self.grid, self.seed, self.n_rows = model, grid, seed, len(X)
        self.rows, self.codes = grid.rows(X), codes
        self.budget = TableBudget(X.shape[1], classes, int(model.bits), grid.is_common)
        self.axes = starting_axes(self.rows, grid, model.init)
        order = np.random.RandomState(seed).permutation(len(X))[:SELECTION_ROWS]
        cut = max(len(order) // 6, 1)
        self.held, self.seen = order[:cut], order[cut:]
        self.scores: dict[Any, float] = {}

    def first_score(self, n_epochs: int) -> float:
        """Return the accuracy of a first shape on held-out rows; -1 if there is no room."""
        shape = next(self.shapes(1), None)
        if shape is None:
            return -1.0
        return self.score(shape, 0, n_epochs)

    def shapes(self, label_scores: int) -> Iterator[Shape]:
        """Yield ranks and densities for which there is room."""
        d, model, free = self.budget.n_features, self.model, self._free
        densities = DENSITIES if d > MANY_FEATURES else (1.0,)
        found = set()
        for density in densities if model.density is None else (model.density,):
            row = self.budget.of_map(1, density)
            ranks = {int(np.clip(share * free / row, 1, min(d, LARGEST_RANK))) for share in SHARES}
            for rank in sorted(ranks) if model.rank is None else [min(model.rank, d)]:
                found.add(self.shape_of(rank, density, label_scores, NOISES[1]))
        yield from sorted(shape for shape in found if shape is not None)

    @property
    def _free(self) -> int:
        return int(self.model.max_bytes) - self.budget.fixed

    def shape_of(self, rank: int, density: float, scores: int, noise: float) -> Shape | None:
        """Return a shape with as many prototypes as there is room for; None: not one a class."""
        n_classes = len(self.budget.labels)
        room = self._free - self.budget.of_map(rank, density)
        n_prototypes = room // self.budget.of_prototype(rank, scores)
        if self.model.prototypes_per_class is not None:
            wanted = self.model.prototypes_per_class * n_classes
            n_prototypes = wanted if wanted <= n_prototypes else 0
        if n_prototypes < n_classes:
            return None
        return Shape(
            rank, density, min(n_prototypes, max(self.n_rows // 4, n_classes)), scores, noise
        )

    def history(self) -> list[dict[str, Any]]:
        """Return what was tried, with its accuracy on held-out rows."""
        return [
            {**shape._asdict(), "from_model": start > 0, "accuracy": accuracy}
            for (shape, start), accuracy in self.scores.items()
        ]

    def choose(self, n_epochs: int) -> tuple[Shape, int]:
        """Return the best shape, and the place of the axes to start from."""
        given, n_classes = self.model.label_scores, len(self.budget.labels)
        first = min(given or 2, n_classes)
        shapes = list(self.shapes(first)) or list(self.shapes(1) if given is None else [])
        if not shapes:
            raise ValueError(
                f"max_bytes={self.model.max_bytes} of {type(self.model).__name__} has no room for "
                f"one prototype a class: {self.budget.fixed} bytes are labels and units alone. "
                "Give more, or a smaller rank or fewer prototypes_per_class."
            )
        best, start = shapes[0], 0
        best, start = self._best([(shape, 0) for shape in shapes], n_epochs)
        others = {1, 2, 4, n_classes} if given is None else set()
        more = [self.shape_of(best.rank, best.density, L, best.noise) for L in sorted(others)]
        fits = [shape for shape in more if shape is not None and shape.label_scores <= n_classes]
        best, start = self._best([(best, start), *((shape, start) for shape in fits)], n_epochs)
        tried = [(best, place) for place in range(len(self.axes))]
        best, start = self._best(tried, n_epochs)
        noisy = [(best._replace(noise=noise), start) for noise in NOISES]
        self._best(noisy, n_epochs)
        # More noise is the safer choice where held-out rows cannot tell: one standard error.
        most = max(self.scores.get(each, 0.0) for each in noisy)
        least = most - np.sqrt(most * (1.0 - most) / len(self.held))
        best, start = next(each for each in noisy if self.scores.get(each, 0.0) >= least)
        return best, start

    def _best(self, tried: list[tuple[Shape, int]], n_epochs: int) -> tuple[Shape, int]:
        """Return the first that is right most often on held-out rows; one alone is not tried."""
        if len(set(tried)) == 1:
            return tried[0]
        return max(tried, key=lambda each: self.score(each[0], each[1], n_epochs))

    def score(self, shape: Shape, start: int, n_epochs: int) -> float:
        """Return the accuracy of a shape on held-out rows."""
        if (shape, start) not in self.scores:
            seen = self.rows[self.seen], self.codes[self.seen]
            mixture = self.mixture(shape, start, *seen, max(n_epochs // 2, 1))
            found = predict_codes(mixture, self.rows[self.held])
            self.scores[shape, start] = float((found == self.codes[self.held]).mean())
        return self.scores[shape, start]

    def mixture(
        self, shape: Shape, start: int, rows: Singles, codes: Indices, n_epochs: int
    ) -> Mixture:
        """Return a mixture of a shape that is trained with some rows."""
        n_classes, rng = len(self.budget.labels), np.random.RandomState(self.seed)
        first = first_mixture(rows, codes, self.axes[start], shape, n_classes, self.seed)
        return train_mixture(first, rows, codes, shape, self.budget.bits, n_epochs, rng)

    def whole(self, shape: Shape, start: int, n_epochs: int) -> dict[str, Any]:
        """Return the whole numbers of a mixture that is trained with all rows."""
        mixture = self.mixture(shape, start, self.rows, self.codes, n_epochs)
        return whole_numbers(mixture, self.grid, self.budget.bits)


def predict_codes(mixture: Mixture, rows: Singles) -> Indices:
    """Return the class of each row."""
    parts = [mixture.weights(rows[i : i + 1000])[-1] for i in range(0, len(rows), 1000)]
    return np.concatenate([part.argmax(axis=1) for part in parts])


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
