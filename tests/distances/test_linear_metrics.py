"""Relevance and matrix distances: formulas, block forms, derivatives, and hard data."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference
from protolearn.blocks import Block, MemoryBlocks
from protolearn.checks import check_distance
from protolearn.codebook import Codebook
from protolearn.distances import (
    DISTANCES,
    LocalMatrix,
    Mahalanobis,
    Matrix,
    PartialMatrix,
    PartialRelevance,
    Relevance,
    SparseMatrix,
    SparseRelevance,
)
from protolearn.distances.relevance import DiagonalMetric
from protolearn.losses import LOSSES, Identity, Sigmoid
from protolearn.margins import MARGINS, LogOdds, Relative
from protolearn.objective import Objective

LABELS = np.array([0, 0, 1, 1, 1, 2])
LOCALIZED = [None, "class", "prototype"]
METRICS = [
    *(Relevance(localized) for localized in LOCALIZED),
    *(Matrix(localized=localized) for localized in LOCALIZED),
    *(Matrix(rank=2, localized=localized) for localized in LOCALIZED),
    Matrix(rank=1),
]


def name(metric):
    return "-".join(map(str, [type(metric).__name__, *metric.get_params().values()]))


def every_metric(argument="metric"):
    return pytest.mark.parametrize(argument, METRICS, ids=name)


def make_data(seed=0, n=30, d=3):
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((n, d)), rng.randint(3, size=n)
    return X, y, rng.uniform(0.1, 2.0, n), rng.standard_normal((len(LABELS), d))


def rows_of(metric, d):
    """Give the number of parameters of one map."""
    if isinstance(metric, DiagonalMetric):
        return d
    return d * min(metric.rank or d, d)


def random_codebook(metric, W, seed=1):
    """Put a random metric of unit norm beside prototypes."""
    labels = LABELS[: len(W)]
    group = metric.groups(labels)
    theta = np.random.RandomState(seed).standard_normal(
        (group.max() + 1, rows_of(metric, len(W[0])))
    )
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    return Codebook(W, labels, theta, group, W.mean(axis=0))


def maps_of(metric, book, theta=None):
    """Give the maps of a codebook as matrices, for the plain formulas."""
    theta, d = book.metric if theta is None else theta, book.prototypes.shape[1]
    return [np.diag(t) if isinstance(metric, DiagonalMetric) else t.reshape(-1, d) for t in theta]


def expected_distances(metric, X, book):
    return reference.mapped(X, book.prototypes, maps_of(metric, book), book.group)


def with_holes(X, rng, share=0.4):
    """Remove values at random; every row keeps one."""
    holes = rng.uniform(size=X.shape) < share
    holes[np.arange(len(X)), rng.randint(X.shape[1], size=len(X))] = False
    return np.where(holes, np.nan, X)


# The contract ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric",
    [
        *METRICS,
        *(PartialRelevance(localized) for localized in LOCALIZED),
        *(PartialMatrix(rank, 0.1, localized) for rank in (None, 2) for localized in LOCALIZED),
        *(Matrix(rank, 0.1, localized) for rank in (None, 2) for localized in LOCALIZED),
        LocalMatrix(),
        LocalMatrix(2, 0.1, "prototype"),
    ],
    ids=name,
)
def test_checks(metric):
    check_distance(metric)


@pytest.mark.parametrize("localized", LOCALIZED)
def test_partial_metrics_pass_the_checks_on_incomplete_rows(rng, localized):
    X = rng.uniform(0.1, 1.0, (40, 5))
    X[:-4] = with_holes(X[:-4], rng)  # the last four rows are the prototypes of the check
    check_distance(PartialRelevance(localized), X)
    check_distance(PartialMatrix(3, 0.0, localized), X)


def test_short_names():
    assert {"relevance", "matrix", "local_matrix"} <= set(DISTANCES)
    assert DISTANCES["local_matrix"]().localized == "class"


@every_metric()
def test_who_shares_a_map(metric):
    expected = {None: [0] * 6, "class": LABELS, "prototype": range(6)}[metric.localized]
    assert metric.groups(LABELS).tolist() == list(expected)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Relevance("classes"), "localized='classes'"),
        (Matrix(localized=3), "localized=3"),
        (Matrix(rank=0), "rank=0"),
        (Matrix(rank=1.5), "rank=1.5"),
        (Matrix(rank="two"), "rank='two'"),
        (Matrix(regularization=-0.1), "regularization=-0.1"),
        (Matrix(regularization=np.nan), "regularization=nan"),
        (LocalMatrix(regularization=np.inf), "regularization=inf"),
    ],
)
def test_bad_settings(metric, message):
    with pytest.raises(ValueError, match=message):
        metric.check()


# The start ---------------------------------------------------------------------------------------


def start(metric, X, n_groups=1, weight=None):
    weight = np.ones(X.shape[0]) if weight is None else weight
    return metric.initial(X, np.arange(X.shape[0]) % 2, weight, n_groups)


@every_metric()
def test_every_start_has_norm_one(metric, rng):
    theta = start(metric, rng.standard_normal((20, 4)), 3)
    assert theta.shape == (3, rows_of(metric, 4))
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6 + 0.1])
@every_metric()
def test_a_constant_feature_starts_at_zero(metric, constant, rng):
    X = np.insert(rng.standard_normal((20, 4)), 2, constant, axis=1)
    assert (metric.relevances(start(metric, X), 5)[:, 2] == 0.0).all()
    if isinstance(metric, DiagonalMetric):
        np.testing.assert_allclose(np.delete(start(metric, X)[0] ** 2, 2), 0.25)


def test_a_full_matrix_starts_as_the_projector(rng):
    X = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 5))
    omega = start(Matrix(), X).reshape(5, 5)
    basis = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    np.testing.assert_allclose(omega, basis.T @ basis / np.sqrt(3.0), atol=1e-12)
    identity = start(Matrix(), rng.standard_normal((50, 5))).reshape(5, 5)
    np.testing.assert_allclose(identity, np.eye(5) / np.sqrt(5.0), atol=1e-15)


def test_a_rank_starts_as_principal_axes(rng):
    X = rng.standard_normal((50, 4)) * [4.0, 3.0, 2.0, 1.0]
    omega = start(Matrix(rank=2), X).reshape(2, 4)
    axes = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    np.testing.assert_allclose(np.abs(np.sum(omega * axes, axis=1)), np.sqrt(0.5), rtol=1e-10)


@pytest.mark.parametrize("rank", [None, 3, 9])
def test_a_penalized_start_has_no_null_direction(rng, rank):
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5))
    omega = start(Matrix(rank=rank, regularization=0.1), X).reshape(-1, 5)
    assert len(omega) == 2
    assert np.linalg.svd(omega)[1].min() > 0.1


def test_a_matrix_that_is_too_large_asks_for_a_rank():
    with pytest.raises(ValueError, match=r"30000 x 30000 entries; give a smaller rank"):
        start(Matrix(), sparse.csr_array((10, 30000)))


# Distances ---------------------------------------------------------------------------------------


@given(
    case=st.integers(0, len(METRICS) - 1),
    d=st.integers(1, 7),
    K=st.integers(1, 6),
    seed=st.integers(0, 99),
    shift=st.sampled_from([0.0, 1.0, 1e4, -1e6]),
    size=st.sampled_from([1e-100, 1.0, 1e100]),
)
def test_distances_are_the_formula(case, d, K, seed, shift, size):
    metric, rng = METRICS[case], np.random.RandomState(seed)
    X = (rng.standard_normal((12, d)) + shift) * size
    book = random_codebook(metric, (rng.standard_normal((K, d)) + shift) * size, seed)
    expected = expected_distances(metric, X, book)
    D = metric.pairwise(X, book)
    # Relative to the spread of the data, not to the distance itself: a product cannot do better.
    atol = 1e-15 * (1 + abs(shift)) * size**2 * d * 20
    np.testing.assert_allclose(D, expected, rtol=1e-12, atol=atol)
    assert (D >= 0.0).all()
    winner, value = metric.nearest(X, book)
    assert np.isfinite(value).all()
    np.testing.assert_allclose(expected[np.arange(12), winner], expected.min(axis=1), 1e-12, atol)


@every_metric()
def test_nearest_is_the_smallest_distance(metric, rng):
    X, W = rng.standard_normal((300, 7)) + 100.0, rng.standard_normal((6, 7)) + 100.0
    book = random_codebook(metric, W)
    expected = expected_distances(metric, X, book).argmin(axis=1)
    assert (metric.nearest(X, book)[0] == expected).all()
    assert (metric.pairwise(X, book).argmin(axis=1) == expected).all()
    single = metric.nearest(X.astype(np.float32), book)[0]
    assert (single == expected).mean() > 0.99


@every_metric()
def test_single_precision_stays_single(metric, rng):
    X, W = rng.standard_normal((50, 7)), rng.standard_normal((6, 7))
    book = random_codebook(metric, W)
    D = metric.pairwise(X.astype(np.float32), book)
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, expected_distances(metric, X, book), rtol=1e-3, atol=1e-6)


@every_metric()
def test_terms_are_a_sum_over_features(metric, rng):
    X, W = rng.standard_normal((6, 4)), rng.standard_normal((6, 4))
    book, prototype = random_codebook(metric, W), np.array([3, 0, 5, 5, 1, 2])
    maps = maps_of(metric, book)
    for i, terms in enumerate(metric.terms(X, book, prototype)):
        k = prototype[i]
        e, omega = X[i] - W[k], maps[book.group[k]]
        np.testing.assert_allclose(terms, e * (omega.T @ omega @ e), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("localized", LOCALIZED)
@given(
    seed=st.integers(0, 99),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    shift=st.sampled_from([0.0, 1e4, -1e6]),
    size=st.sampled_from([1e-100, 1.0, 1e100]),
)
def test_partial_distances_are_the_formula(localized, seed, share, shift, size):
    rng = np.random.RandomState(seed)
    X = (with_holes(rng.standard_normal((12, 5)), rng, share) + shift) * size
    metric = PartialRelevance(localized)
    book = random_codebook(metric, (rng.standard_normal((6, 5)) + shift) * size, seed)
    lam = book.metric[book.group] ** 2
    expected = reference.partial_relevance(X, book.prototypes, lam)
    atol = 1e-15 * (1 + abs(shift)) * size**2 * 100
    np.testing.assert_allclose(metric.pairwise(X, book), expected, rtol=1e-12, atol=atol)
    winner, _ = metric.nearest(X, book)
    np.testing.assert_allclose(expected[np.arange(12), winner], expected.min(axis=1), 1e-12, atol)
    terms = metric.terms(X[:6], book, np.arange(6))
    np.testing.assert_allclose(terms.sum(axis=1), expected[:6].diagonal(), 1e-9, atol)
    assert (terms[np.isnan(X[:6])] == 0.0).all()


@pytest.mark.parametrize("localized", LOCALIZED)
@given(
    seed=st.integers(0, 99),
    rank=st.sampled_from([None, 1, 3]),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    shift=st.sampled_from([0.0, 1e4, -1e6]),
    size=st.sampled_from([1e-100, 1.0, 1e100]),
)
def test_partial_matrix_distances_are_the_formula(localized, rank, seed, share, shift, size):
    rng = np.random.RandomState(seed)
    X = (with_holes(rng.standard_normal((12, 5)), rng, share) + shift) * size
    metric = PartialMatrix(rank, 0.0, localized)
    book = random_codebook(metric, (rng.standard_normal((6, 5)) + shift) * size, seed)
    expected = reference.partial_mapped(X, book.prototypes, maps_of(metric, book), book.group)
    atol = 1e-15 * (1 + abs(shift)) * size**2 * 100
    np.testing.assert_allclose(metric.pairwise(X, book), expected, rtol=1e-12, atol=atol)
    winner, _ = metric.nearest(X, book)
    np.testing.assert_allclose(expected[np.arange(12), winner], expected.min(axis=1), 1e-12, atol)
    terms = metric.terms(X[:6], book, np.arange(6))
    np.testing.assert_allclose(terms.sum(axis=1), expected[:6].diagonal(), 1e-9, atol)
    assert (terms[np.isnan(X[:6])] == 0.0).all()
    if share == 0.0:
        whole = Matrix(rank, 0.0, localized).pairwise(X, book)
        np.testing.assert_allclose(metric.pairwise(X, book), whole, rtol=1e-9, atol=atol)


def test_a_diagonal_partial_matrix_is_the_partial_relevance(rng):
    X, W = with_holes(rng.standard_normal((12, 5)), rng), rng.standard_normal((6, 5))
    diagonal = random_codebook(PartialRelevance(), W)
    matrix = replace(diagonal, metric=np.diag(diagonal.metric[0]).reshape(1, -1))
    found = PartialMatrix().pairwise(X, matrix), PartialRelevance().pairwise(X, diagonal)
    np.testing.assert_allclose(*found, rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("localized", LOCALIZED)
def test_a_row_that_is_not_finite_shows(rng, bad, localized):
    """Also in a feature of relevance zero, and where the prototypes do not differ."""
    for W in (rng.standard_normal((6, 3)), np.zeros((6, 3))):
        book = random_codebook(Relevance(localized), W)
        book.metric[:, 1] = 0.0
        X = rng.standard_normal((4, 3))
        X[2, 1] = bad
        with np.errstate(invalid="ignore"):
            _, value = Relevance(localized).nearest(X, book)
        assert np.isfinite(value).tolist() == [True, True, False, True]


# Sparse rows -------------------------------------------------------------------------------------


def pulls(metric, X, book, G):
    """Give the gradients of ``sum G * D`` by all rows, and by two entries of each row."""
    whole, some = book.zero_gradients(), book.zero_gradients()
    metric.pull_rows(X, book, G, whole)
    index = np.argsort(-G, axis=1)[:, :2].copy()
    metric.pull_winners(X, book, index, np.take_along_axis(G, index, axis=1), some)
    return [*whole, *some]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@every_metric()
def test_sparse_equals_dense(metric, kind, rng):
    X = rng.standard_normal((30, 5)) * (rng.uniform(size=(30, 5)) < 0.5)
    X[3] = 0.0
    S = kind(X)
    form = metric.suited_to(S)
    assert type(form) in (SparseRelevance, SparseMatrix)
    assert form.get_params() == metric.get_params()
    book = random_codebook(metric, rng.standard_normal((6, 5)))
    D = form.pairwise(S, book)
    assert isinstance(D, np.ndarray)
    np.testing.assert_allclose(D, expected_distances(metric, X, book), rtol=1e-11, atol=1e-13)
    assert (form.nearest(S, book)[0] == metric.nearest(X, book)[0]).all()
    assert form.pairwise(S.astype(np.float32), book).dtype == np.float32
    prototype = np.arange(30) % 6
    np.testing.assert_allclose(
        form.terms(S, book, prototype), metric.terms(X, book, prototype), atol=1e-13
    )
    G = rng.standard_normal((30, 6))
    for got, expected in zip(pulls(form, S, book, G), pulls(metric, X, book, G), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(start(form, S, 2), start(metric, X, 2), atol=1e-12)


def test_every_form_leads_to_the_form_that_suits(rng):
    X = rng.standard_normal((6, 3))
    holes, S = with_holes(X, rng, 1.0), sparse.csr_array(X)
    for metric in (Relevance("class"), PartialRelevance("class"), SparseRelevance("class")):
        for rows, kind in ((holes, PartialRelevance), (S, SparseRelevance)):
            form = metric.suited_to(rows)
            assert type(form) is kind
            assert form.localized == "class"
    for metric in (Matrix(2, 0.1, "class"), SparseMatrix(2, 0.1, "class"), LocalMatrix(2, 0.1)):
        assert type(metric.suited_to(S)) is SparseMatrix
        assert isinstance(metric.suited_to(X), Matrix)
        assert metric.suited_to(S).get_params() == metric.get_params()
        assert type(metric.suited_to(holes)) is PartialMatrix
        assert metric.suited_to(holes).get_params() == metric.get_params()
    with pytest.raises(ValueError, match="Mahalanobis does not take missing values; impute"):
        Mahalanobis().suited_to(holes)


@pytest.mark.parametrize("metric", [Relevance(), Matrix(rank=10)], ids=name)
def test_wide_sparse_rows_stay_sparse(metric):
    """The rows would be 80 MB, the square of the features 3.2 GB."""
    S = sparse.csr_array(
        sparse.random(500, 20000, density=1e-3, format="csr", random_state=np.random.RandomState(0))
    )
    labels = np.array([0, 1])
    form = metric.suited_to(S)
    tracemalloc.start()
    theta = form.initial(S, np.arange(500) % 2, np.ones(500), 1)
    book = Codebook(np.zeros((2, 20000)), labels, theta, metric.groups(labels), np.zeros(20000))
    objective = Objective(form, Relative(), Sigmoid(2.0), 2)
    partial = objective.partial(book, Block(S, np.arange(500) % 2))
    form.nearest(S, book)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.isfinite(partial.gradients.metric).all()
    assert peak < 40e6


# Derivatives -------------------------------------------------------------------------------------


@every_metric()
@given(seed=st.integers(0, 99), shift=st.sampled_from([0.0, 1e3]))
def test_pull_is_the_formula(metric, seed, shift):
    rng = np.random.RandomState(seed)
    X, W, G = rng.standard_normal((8, 3)) + shift, rng.standard_normal((6, 3)), rng.randn(8, 6)
    book = random_codebook(metric, W + shift, seed)
    by_w, by_map = np.zeros((6, 3)), [np.zeros_like(m) for m in maps_of(metric, book)]
    for i in range(8):
        for k in range(6):
            g = book.group[k]
            omega = maps_of(metric, book)[g]
            dw, domega = reference.mapped_gradients(X[i], book.prototypes[k], omega)
            by_w[k] += G[i, k] * dw
            by_map[g] += G[i, k] * domega
    expected = [np.diag(m) if isinstance(metric, DiagonalMetric) else m.ravel() for m in by_map]
    out = book.zero_gradients()
    metric.pull_rows(X, book, G, out)
    np.testing.assert_allclose(out.prototypes, by_w, atol=1e-12 * (1 + shift))
    np.testing.assert_allclose(out.metric, expected, atol=1e-12 * (1 + shift))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("margin", MARGINS)
@every_metric()
def test_value_and_gradient_of_the_objective(metric, margin, loss):
    if margin == "radius" and metric.localized is not None:
        pytest.skip("the boundaries of local metrics are not flat")
    X, y, weight, W = make_data()
    objective = Objective(
        metric,
        LogOdds(0.7) if margin == "log_odds" else MARGINS[margin](),
        Identity() if loss == "identity" else LOSSES[loss](1.5),
        3,
        0.3,
        1.7,
    )
    book = random_codebook(metric, W)
    coordinates = objective.coordinates(book)
    flat = coordinates.flatten(book)
    flat = flat + 0.1 * np.random.RandomState(2).standard_normal(flat.size)
    blocks = MemoryBlocks(Block(X, y, weight))
    here = coordinates.codebook(flat)
    total = blocks.reduce(objective.partial, here)
    settings = {"margin": margin, "loss": loss, "beta": 1.5, "xi": 0.7, "alpha": 0.3, "scale": 1.7}
    maps = maps_of(metric, here)

    def distance(X, W):
        return reference.mapped(X, W, maps, here.group)

    if margin == "radius":
        settings["directions"] = here.prototypes @ maps[0].T @ maps[0]
    plain = reference.cost(X, y, weight, here.prototypes, LABELS, distance=distance, **settings)
    np.testing.assert_allclose(total.value / total.weight, plain, rtol=1e-10)

    def value(v):
        return blocks.reduce(objective.partial, coordinates.codebook(v)).value

    gradient = coordinates.gradient(flat, total.gradients)
    atol = 1e-6 * max(1.0, np.abs(gradient).max())
    for seed in range(8):  # a wrong entry shows in almost every direction
        step = 1e-6 * np.random.RandomState(seed).standard_normal(flat.size)
        rise = 0.5 * (value(flat + step) - value(flat - step)) / 1e-6
        np.testing.assert_allclose(gradient @ step / 1e-6, rise, rtol=1e-6, atol=atol)


@pytest.mark.parametrize("margin", [Relative(), LogOdds(0.7)])
@pytest.mark.parametrize("localized", LOCALIZED)
@pytest.mark.parametrize("kind", [PartialRelevance, PartialMatrix])
def test_gradient_of_the_objective_with_missing_values(kind, localized, margin, rng):
    X, y, weight, W = make_data(d=4)
    metric = kind(localized=localized)
    objective = Objective(metric, margin, Sigmoid(2.0), 3, 0.2, 1.7)
    book, blocks = random_codebook(metric, W), MemoryBlocks(Block(with_holes(X, rng), y, weight))
    coordinates = objective.coordinates(book)
    flat = 1.1 * coordinates.flatten(book)

    def value(v):
        return blocks.reduce(objective.partial, coordinates.codebook(v)).value

    total = blocks.reduce(objective.partial, coordinates.codebook(flat))
    numeric = reference.numeric_gradient(value, flat)
    np.testing.assert_allclose(coordinates.gradient(flat, total.gradients), numeric, atol=1e-5)


# The penalty -------------------------------------------------------------------------------------


@pytest.mark.parametrize("localized", LOCALIZED)
@pytest.mark.parametrize("rank", [None, 1, 2])
def test_penalty_is_the_log_of_the_determinant(rank, localized):
    metric = Matrix(rank, 0.3, localized)
    book = random_codebook(metric, make_data()[3])
    value, gradient = metric.penalty(book)

    def plain(theta):
        return reference.log_det_penalty(maps_of(metric, book, theta), 0.3)

    np.testing.assert_allclose(value, plain(book.metric), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        gradient, reference.numeric_gradient(plain, book.metric), rtol=1e-6, atol=1e-7
    )
    assert not Matrix(rank, 0.0, localized).penalized


@pytest.mark.parametrize("localized", LOCALIZED)
def test_shrink_is_the_proximal_step(localized, rng):
    """The minimum of ``step penalty(V) + |V - Omega|^2 / 2``, then back to norm one."""
    metric, step = Matrix(2, 0.3, localized), 0.7
    book = random_codebook(metric, make_data()[3]).copy()
    before = book.metric.copy()
    metric.shrink(book, step)
    np.testing.assert_allclose(np.linalg.norm(book.metric, axis=1), 1.0, rtol=1e-14)
    mu = 0.3 / len(before)
    for old, new in zip(before, book.metric, strict=True):
        # V = t new and V - step mu pinv(V)^T = old; times new: t - 2 step mu / t = old.new
        half = 0.5 * old @ new
        omega = (half + np.sqrt(half**2 + 2.0 * step * mu)) * new.reshape(2, 3)
        optimal = omega - step * mu * np.linalg.pinv(omega).T
        np.testing.assert_allclose(optimal.ravel(), old, atol=1e-12)
