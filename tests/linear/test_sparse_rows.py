"""Linear classifiers of sparse rows: those of the same rows written down, in little memory."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse import random as sparse_random
from sklearn.base import clone
from sklearn.svm import LinearSVC

from protolearn import (
    RVM,
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    NotSeparableError,
    SoftMarginSVM,
    generalized_prototypes,
    regularization_path,
)
from protolearn.linear import logistic_model
from protolearn.linear.canonical import CenteredFrame
from protolearn.linear.dual_descent import best_offset

# Where a model iterates, rounding decides when it stops. With a tight ``tol`` both forms of the RVM
# agree; boosting has the default of 5e-4, since its systems are ill-conditioned with a tighter one.
EXACT, ITERATED, DESCENT = 1e-9, 1e-6, 1e-4
MODELS = {
    "mean": (MeanOfClass(), EXACT),
    "fisher": (FisherPrototypes(), EXACT),
    "fisher with a ridge": (FisherPrototypes(ridge=0.5), EXACT),
    "fisher with priors": (FisherPrototypes(priors="empirical"), EXACT),
    "nearest fisher": (FisherPrototypes(multi_class="nearest"), EXACT),
    "rvm": (RVM(tol=1e-9), ITERATED),
    "hard": (HardMarginSVM(), DESCENT),
    "soft": (SoftMarginSVM(multi_class="ovr"), DESCENT),
    "soft, large C": (SoftMarginSVM(C=30.0, multi_class="ovr"), DESCENT),
    "squared": (SoftMarginSVM(norm=2), DESCENT),
    "nearest": (SoftMarginSVM(multi_class="nearest"), DESCENT),
    "joint": (SoftMarginSVM(), DESCENT),
    "hard joint": (HardMarginSVM(multi_class="crammer_singer"), DESCENT),
    "boosting": (BoostedPrototypes(), ITERATED),
    "soft boosting": (BoostedPrototypes(C=1.0), ITERATED),
    "adaboost": (BoostedPrototypes(variant="adaboost*", C=1.0, tol=1e-2), EXACT),
    "rbf": (SoftMarginSVM(kernel="rbf"), EXACT),
}
WEIGHTED = ("mean", "fisher", "rvm", "soft", "squared", "joint")


def sparse_classes(shape, n_classes, density=0.15):
    """Return sparse rows with an origin far from their mean, and separable classes."""
    X = sparse_random(*shape, density, format="csr", random_state=0)
    X = X + csr_matrix(np.tile(np.arange(shape[1]) == 0, (shape[0], 1)) * 2.0)
    W = np.random.default_rng(1).standard_normal((shape[1], n_classes))
    return csr_matrix(X), (X @ W - np.median(X @ W, axis=0)).argmax(axis=1)


def assert_same_model(given, written, tolerance):
    for name in ("prototypes_", "coef_", "intercept_", "shift_", "dual_coef_"):
        if hasattr(written, name):
            mine, other = getattr(given, name), getattr(written, name)
            size = max(np.abs(other).max(), 1e-2)  # some shifts are zero
            assert_allclose(mine, other, atol=tolerance * size, err_msg=name)


@pytest.mark.parametrize("shape", [(90, 25), (60, 200)])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_are_those_written_down(name, n_classes, shape):
    X, y = sparse_classes(shape, n_classes)
    model, tolerance = MODELS[name]
    given, written = clone(model).fit(X, y), clone(model).fit(X.toarray(), y)
    assert_same_model(given, written, tolerance)
    scores = written.decision_function(X.toarray())
    for kind in (csr_matrix, csr_array):
        assert_allclose(
            given.decision_function(kind(X)), scores, atol=tolerance * np.abs(scores).max()
        )
    assert_allclose(given.decision_function(X.toarray()), given.decision_function(X), atol=1e-12)
    assert given.__sklearn_tags__().input_tags.sparse
    if hasattr(given, "support_vectors_") and model.kernel == "linear":
        assert (given.support_vectors_ != X[given.support_]).nnz == 0


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_sparse_rows(name, rng):
    X, y = sparse_classes((80, 20), 3)
    weight = rng.randint(0, 4, 80).astype(float)
    model, tolerance = MODELS[name]
    given = clone(model).fit(X, y, sample_weight=weight)
    assert_same_model(given, clone(model).fit(X.toarray(), y, sample_weight=weight), tolerance)


def test_many_sparse_rows_of_the_relevance_vector_machine(monkeypatch):
    X, y = sparse_classes((90, 25), 2)
    written = RVM().fit(X.toarray(), y)
    monkeypatch.setattr(logistic_model, "FEW", 10)  # products are not kept
    assert_same_model(RVM().fit(X, y), written, 1e-9)


def test_overlapping_sparse_classes_have_no_hard_margin(rng):
    X, y = sparse_classes((90, 6), 2)
    y[[3, 40]] = 1 - y[[3, 40]]
    with pytest.raises(NotSeparableError) as written:
        HardMarginSVM().fit(X.toarray(), y)
    with pytest.raises(NotSeparableError) as given:
        HardMarginSVM().fit(X, y)
    assert given.value.rows.tolist() == written.value.rows.tolist()


def test_paths_and_prototypes_of_sparse_rows():
    X, y = sparse_classes((80, 20), 2)
    C = [1.0, 0.01, 10.0]
    given, written = regularization_path(X, y, C), regularization_path(X.toarray(), y, C)
    assert_allclose(given.prototypes, written.prototypes, atol=1e-4)
    model = LinearSVC(loss="hinge", tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    form = generalized_prototypes(model, X, y)
    assert_allclose(
        form.decision_function(X) / np.abs(form.coef).max(),
        model.decision_function(X) / np.abs(model.coef_).max(),
        atol=1e-6,
    )


@pytest.mark.parametrize("model", [SoftMarginSVM(C=0.3), SoftMarginSVM(norm=2, C=0.3)])
def test_wide_rows_are_solved_as_they_are(model, rng, monkeypatch):
    X = rng.standard_normal((60, 300)) + 0.5
    y = X[:, 0] + 3.0 * rng.standard_normal(60) > 0.5
    exact = clone(model).fit(X, y)
    monkeypatch.setattr("protolearn.linear.support_vector_machines.MUCH_WORK", 0)
    wide = clone(model).fit(X, y)

    def cost(machine):
        slack = np.maximum(1.0 - np.where(y, 1.0, -1.0) * machine.decision_function(X), 0.0)
        slacks = slack.sum() if model.norm == 1 else 0.5 * np.sum(slack**2)
        return 0.5 * np.sum(machine.coef_**2) + model.C * slacks

    assert cost(exact) <= cost(wide) <= (1.0 + 1e-5) * cost(exact)
    far = clone(model).fit(X + 1e6, y)  # rounding allows no products about the origin
    assert_allclose(far.coef_, exact.coef_, atol=1e-5 * np.abs(exact.coef_).max())


def test_rows_are_never_written_down():
    X = sparse_random(1000, 20_000, 1e-3, format="csr", random_state=0)  # 160 MB written down
    y = np.arange(1000) % 2
    for name in ("mean", "fisher", "soft", "squared", "hard", "soft boosting"):
        model = clone(MODELS[name][0])
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40e6, name


def test_the_best_offset_is_where_the_slope_changes_its_sign(rng):
    scores, signs = rng.standard_normal(30), np.where(np.arange(30) % 3, 1.0, -1.0)
    cap, none = rng.uniform(0.5, 2.0, 30), np.zeros(30)

    def cost(b, give):
        slack = np.maximum(1.0 - signs * (scores + b), 0.0)
        return cap @ slack if not give.any() else 0.5 * np.sum(slack**2 / give)

    for give in (none, 1.0 / cap):
        found = best_offset(scores, signs, cap, give)
        others = np.linspace(-5.0, 5.0, 2001)
        assert cost(found, give) <= min(cost(b, give) for b in others) + 1e-12


def test_a_frame_of_sparse_rows_is_centred(rng):
    X, _ = sparse_classes((40, 10), 2)
    weight = rng.uniform(0.5, 2.0, 40)
    given, written = CenteredFrame.of(X, weight), CenteredFrame.of(X.toarray(), weight)
    assert_allclose(given.center, written.center, atol=1e-14)
    assert given.scale == pytest.approx(written.scale)
    v, u = rng.standard_normal((10, 3)), rng.standard_normal((2, 40))
    assert_allclose(given.rows @ v, written.rows @ v, atol=1e-13)
    assert_allclose(u @ given.rows, u @ written.rows, atol=1e-13)
    assert_allclose(given.rows.gram(np.arange(5)), (written.rows @ written.rows.T)[:5], atol=1e-13)
