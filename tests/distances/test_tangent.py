"""Tangent distance: the subspace it measures to, the tangents of pictures, learned tangents."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, ndimage
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from given_profile import run_check
from protolearn import GLVQ, LVQ1, PrototypeClassifier, hypothesis_margin
from protolearn.checks import check_distance, expected_failed_checks
from protolearn.codebook import Codebook
from protolearn.distances import Distance, Orthonormal, SquaredEuclidean, Tangent
from protolearn.distances.tangent_space import FORMULAS, image_tangents
from protolearn.losses import Sigmoid
from protolearn.solvers import SGD, Adam

DIGIT = Tangent(image_shape=(8, 8), smoothing=0.5)
LEARNED = Tangent(learned=True, n_tangents=3)


def orthonormal_codebook(rng, K=4, d=9, t=3, shift=0.0):
    W = rng.standard_normal((K, d)) + shift
    T = np.stack([linalg.qr(rng.standard_normal((d, t)), mode="economic")[0].T for _ in range(K)])
    return Codebook(W, np.arange(K) % 2, T.reshape(K, -1).copy(), np.arange(K), W.mean(axis=0))


def to_the_subspace(X, book):
    """Minimise ``|x - w - T a|^2`` over a, by least squares."""
    D = np.empty((len(X), len(book.prototypes)))
    for k, w in enumerate(book.prototypes):
        T = book.metric[k].reshape(-1, len(w)).T
        a = linalg.lstsq(T, (X - w).T)[0]
        D[:, k] = np.square((X - w).T - T @ a).sum(axis=0)
    return D


# The distance -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_tangents", [1, 4])
def test_checks_of_learned_tangents(n_tangents):
    check_distance(Tangent(learned=True, n_tangents=n_tangents))


def test_checks_of_the_tangents_of_pictures(rng):
    check_distance(Tangent(image_shape=(3, 4)), rng.uniform(0.1, 1.0, (40, 12)))


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_it_is_the_distance_to_the_affine_subspace(rng, shift):
    X, book = rng.standard_normal((30, 9)) + shift, orthonormal_codebook(rng, shift=shift)
    expected, distance = to_the_subspace(X, book), Tangent(learned=True, n_tangents=3)
    atol = 1e-13 * (1.0 + shift)
    for D in (
        distance.pairwise(X, book),
        distance.pairwise(X, book, distance.prepare(X, book)),
        Distance.pairwise(distance, X, book),
    ):
        np.testing.assert_allclose(D, expected, rtol=1e-9, atol=atol)
        assert (D >= 0.0).all()
    assert (distance.nearest(X, book)[0] == expected.argmin(axis=1)).all()


def test_single_precision_stays_single(rng):
    X, book = rng.standard_normal((30, 9)) + 10.0, orthonormal_codebook(rng, shift=10.0)
    D = LEARNED.pairwise(X.astype(np.float32), book)
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, to_the_subspace(X, book), rtol=1e-4, atol=1e-4)


def test_moving_along_the_tangents_costs_nothing(rng):
    X, book = rng.standard_normal((20, 9)), orthonormal_codebook(rng)
    D = LEARNED.pairwise(X, book)
    for k in range(4):
        moved = X + rng.standard_normal((20, 3)) @ book.metric[k].reshape(3, 9)
        np.testing.assert_allclose(LEARNED.pairwise(moved, book)[:, k], D[:, k], atol=1e-12)
        on = book.prototypes[k] + 3.0 * book.metric[k].reshape(3, 9)[:1]
        assert LEARNED.pairwise(on, book)[0, k] < 1e-14


def test_without_tangents_it_is_the_plain_distance(rng):
    X, book = rng.standard_normal((20, 9)), orthonormal_codebook(rng)
    book = replace(book, metric=np.zeros_like(book.metric))
    expected = SquaredEuclidean().pairwise(X, book)
    np.testing.assert_array_equal(LEARNED.pairwise(X, book), expected)


def test_rows_in_parts_have_the_same_distances(rng, monkeypatch):
    X, book = rng.standard_normal((50, 9)), orthonormal_codebook(rng)
    D = LEARNED.pairwise(X, book)
    monkeypatch.setattr("protolearn.distances.tangent.rows_at_a_time", lambda *_: 7)
    np.testing.assert_allclose(LEARNED.pairwise(X, book), D, rtol=1e-13)


@pytest.mark.parametrize("distance", [LEARNED, Tangent(image_shape=(3, 3))])
def test_pulls_are_the_derivatives(rng, distance):
    """By the prototypes along the subspace's normal, by tangents on the orthonormal ones."""
    X, book, G = rng.standard_normal((30, 9)), orthonormal_codebook(rng), np.zeros((30, 4))
    index = np.stack([rng.randint(2, size=30), 2 + rng.randint(2, size=30)], axis=1)
    value = rng.standard_normal((30, 2))
    value[::3, 0] = 0.0
    np.put_along_axis(G, index, value, axis=1)

    def by_prototypes(W):
        return float((G * to_the_subspace(X, replace(book, prototypes=W))).sum())

    def by_free(A):
        metric = Orthonormal(3).apply(A)
        return float((G * to_the_subspace(X, replace(book, metric=metric))).sum())

    by_w = reference.numeric_gradient(by_prototypes, book.prototypes)
    by_a = reference.numeric_gradient(by_free, book.metric)
    winners, rows = book.zero_gradients(), book.zero_gradients()
    distance.pull_winners(X, book, index, value, winners)
    distance.pull_rows(X, book, G, rows)
    for got in (winners, rows):
        np.testing.assert_allclose(got.prototypes, by_w, atol=1e-6)
        if distance.adaptive:
            pulled = distance.constraint.pull_back(book.metric, got.metric)
            np.testing.assert_allclose(pulled, by_a, atol=1e-6)
        else:
            assert not got.metric.any()


def test_nothing_to_pull(rng):
    """A hinge leaves whole batches without a slope."""
    X, book = rng.standard_normal((5, 9)), orthonormal_codebook(rng)
    out = book.zero_gradients()
    LEARNED.pull_winners(X, book, np.zeros((5, 2), dtype=np.intp), np.zeros((5, 2)), out)
    assert not out.prototypes.any()
    assert not out.metric.any()


def test_terms_sum_to_the_distance(rng):
    X, book, k = rng.standard_normal((20, 9)), orthonormal_codebook(rng), rng.randint(4, size=20)
    D = to_the_subspace(X, book)[np.arange(20), k]
    np.testing.assert_allclose(LEARNED.terms(X, book, k).sum(axis=1), D, atol=1e-12)


# Orthonormal --------------------------------------------------------------------------------------


def test_orthonormal_is_the_q_of_numpy(rng):
    A = rng.standard_normal((4, 3, 8))
    theta = Orthonormal(3).apply(A.reshape(4, -1)).reshape(4, 3, 8)
    Q, R = np.linalg.qr(A.transpose(0, 2, 1))
    Q *= np.sign(R.diagonal(axis1=1, axis2=2))[:, None]
    np.testing.assert_allclose(theta.transpose(0, 2, 1), Q, atol=1e-14)


def test_orthonormal_keeps_what_it_made(rng):
    free = rng.standard_normal((4, 24))
    theta = Orthonormal(3).apply(free)
    np.testing.assert_allclose(Orthonormal(3).apply(theta), theta, atol=1e-15)
    plain = free.copy()
    for row in plain:
        Orthonormal.constrain.py(row, 8)
    np.testing.assert_allclose(plain, theta, atol=1e-14)


def test_orthonormal_vectors_that_almost_agree(rng):
    """The textbook form of Gram and Schmidt loses all digits here."""
    base = rng.standard_normal(50)
    A = np.stack([base, base + 1e-8 * rng.standard_normal(50), base + rng.standard_normal(50)])
    T = Orthonormal(3).apply(A.reshape(1, -1)).reshape(3, 50)
    np.testing.assert_allclose(T @ T.T, np.eye(3), atol=1e-14)


@pytest.mark.parametrize(("place", "factor"), [(0, 0.0), (1, 0.0), (2, 0.0), (1, 2.0), (2, -3.0)])
def test_vectors_that_add_nothing_become_zero(rng, place, factor):
    A = rng.standard_normal((3, 6))
    A[place] = factor * A[0]
    theta = Orthonormal(3).apply(A.reshape(1, -1)).reshape(3, 6)
    assert not theta[place].any()
    others = np.delete(theta, place, axis=0)
    np.testing.assert_allclose(others @ others.T, np.eye(2), atol=1e-14)
    free = rng.standard_normal((1, 18))
    pulled = Orthonormal(3).pull_back(A.reshape(1, -1), free).reshape(3, 6)
    assert np.isfinite(pulled).all()
    assert not pulled[place].any()


def test_pull_back_is_the_derivative_of_functions_of_the_span(rng):
    """``-sum |T x|^2`` depends on the span of orthonormal T alone."""
    X, A = rng.standard_normal((20, 7)), rng.standard_normal((2, 21))

    def along(free):
        theta = Orthonormal(3).apply(free).reshape(2, 3, 7)
        return float(-np.square(theta @ X.T).sum(axis=(1, 2)) @ [1.0, 2.0])

    theta = Orthonormal(3).apply(A).reshape(2, 3, 7)
    G = -2.0 * (theta @ X.T @ X) * np.array([1.0, 2.0])[:, None, None]
    pulled = Orthonormal(3).pull_back(A, G.reshape(2, 21))
    np.testing.assert_allclose(pulled, reference.numeric_gradient(along, A), atol=1e-6)


# Tangents of pictures -----------------------------------------------------------------------------


SIDE = 60


def smooth_picture():
    """Three blobs well inside a frame, so wide that differences are good slopes."""
    y, x = np.mgrid[:SIDE, :SIDE]
    picture = np.zeros((SIDE, SIDE))
    for a, b, size, height in ((22, 27, 4.0, 1.0), (36, 24, 3.5, 0.7), (33, 40, 5.0, 0.8)):
        picture += height * np.exp(-((y - a) ** 2 + (x - b) ** 2) / (2.0 * size**2))
    return picture


def affine(matrix):
    """Give the picture seen through a linear map of places (down, right) about the middle."""
    matrix, middle = np.asarray(matrix), np.full(2, 0.5 * (SIDE - 1))
    offset = middle - matrix @ middle
    return ndimage.affine_transform(smooth_picture(), matrix, offset, order=5, mode="nearest")


def thickened(step):
    """Take each pixel from a place further up the slope."""
    picture = smooth_picture()
    down, right = np.gradient(picture)
    y, x = np.mgrid[:SIDE, :SIDE]
    return ndimage.map_coordinates(
        picture, [y + step * down, x + step * right], order=5, mode="nearest"
    )


def changed(step):
    """Give the picture after a small step of each transformation."""
    picture = smooth_picture()
    return {
        "horizontal": ndimage.shift(picture, (0.0, step), order=5, mode="nearest"),
        "vertical": ndimage.shift(picture, (step, 0.0), order=5, mode="nearest"),
        "rotation": ndimage.rotate(
            picture, np.degrees(step), reshape=False, order=5, mode="nearest"
        ),
        "scaling": affine((1.0 + step) * np.eye(2)),
        "stretch": affine([[1.0 - step, 0.0], [0.0, 1.0 + step]]),
        "shear": affine([[1.0, step], [step, 1.0]]),
        "thickness": thickened(step),
    }


def cosine(a, b):
    return abs(float(np.vdot(a, b))) / (np.linalg.norm(a) * np.linalg.norm(b))


@pytest.mark.parametrize("name", FORMULAS)
def test_tangents_are_the_changes_of_a_picture(name):
    picture = smooth_picture()
    found = image_tangents(picture[None], (name,), 0.0)[0, 0]
    change = changed(0.01)[name] - changed(-0.01)[name]
    assert cosine(found, change) > 0.999
    others = [other for other in FORMULAS if other != name]
    for wrong in image_tangents(picture[None], tuple(others), 0.0)[0]:
        assert cosine(wrong, change) < 0.7


def test_scaling_is_what_zoom_does():
    picture = smooth_picture()
    larger = ndimage.zoom(picture, (SIDE + 2) / SIDE, order=5, grid_mode=True, mode="grid-constant")
    found = image_tangents(picture[None], ("scaling",), 0.0)[0, 0]
    assert cosine(found, larger[1:-1, 1:-1] - picture) > 0.99


def test_smoothing_is_that_of_the_picture():
    picture = smooth_picture()[None]
    smooth = ndimage.gaussian_filter(picture[0], 1.5, mode="nearest")[None]
    names = tuple(FORMULAS)
    expected = image_tangents(smooth, names, 0.0)
    # Slopes below a share 1e-12 of the brightest pixel, which smoothing lowers, are none.
    np.testing.assert_allclose(image_tangents(picture, names, 1.5), expected, atol=1e-9)


def picture_book(distance, W):
    K = len(W)
    labels = np.arange(K) % 2
    metric = distance.initial(W, labels, np.ones(K), K)
    return Codebook(W, labels, metric, distance.groups(labels), W.mean(axis=0))


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_refreshed_tangents_are_orthonormal(size):
    X = size * load_digits().data[:6]
    book = picture_book(DIGIT, X)
    T = DIGIT.refresh(book).reshape(6, 7, 64)
    np.testing.assert_allclose(T @ T.transpose(0, 2, 1), np.tile(np.eye(7), (6, 1, 1)), atol=1e-13)
    # The same span as that of the tangents themselves.
    raw = image_tangents(X.reshape(-1, 8, 8), tuple(FORMULAS), 0.5).reshape(6, 7, 64)
    np.testing.assert_allclose((raw @ T.transpose(0, 2, 1)) @ T, raw, atol=1e-12)
    again = DIGIT.refresh(replace(book, metric=T.reshape(6, -1)))
    np.testing.assert_array_equal(again, T.reshape(6, -1))


@pytest.mark.parametrize("level", [0.0, 3.7, -1e8])
def test_a_picture_without_contrast_has_no_tangents(rng, level):
    W = np.full((2, 64), level)
    W[1, :32] += 1.0 + abs(level)
    book = picture_book(DIGIT, W)
    T = DIGIT.refresh(book).reshape(2, 7, 64)
    assert not T[0].any()
    assert not T[1, 0].any()  # upper half, lower half: nothing changes to the side
    assert np.linalg.norm(T[1, 1]) == pytest.approx(1.0)
    book = replace(book, metric=T.reshape(2, -1))
    assert np.isfinite(DIGIT.pairwise(rng.standard_normal((5, 64)), book)).all()


def test_a_shifted_picture_is_near():
    picture = smooth_picture()
    moved = ndimage.shift(picture, (0.4, -0.3), order=5).reshape(1, -1)
    near = {}
    for names in (("horizontal", "vertical"), ("thickness",), "all"):
        distance = Tangent(image_shape=(SIDE, SIDE), tangents=names)
        book = picture_book(distance, picture.reshape(1, -1))
        book = replace(book, metric=distance.refresh(book))
        near[names] = distance.pairwise(moved, book)[0, 0]
    plain = np.square(moved - picture.reshape(1, -1)).sum()
    assert near["all"] <= near["horizontal", "vertical"] < 0.05 * plain < 0.9 * plain
    assert near["thickness",] > 0.9 * plain


# Fits ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def composed(distance, solver, **settings):
    return PrototypeClassifier(
        distance=distance, loss=Sigmoid(beta=15.0), solver=solver, random_state=0, **settings
    )


def held_out(model, digits):
    X, X_new, y, y_new = digits
    return model.fit(X, y).score(X_new, y_new)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam"])
def test_tangents_of_digits_are_worth_having(digits, solver):
    plain = held_out(GLVQ(solver=solver, random_state=0), digits)
    model = composed(DIGIT, solver)
    assert held_out(model, digits) > plain + 0.005
    np.testing.assert_array_equal(model.rule_.codebook.metric, DIGIT.refresh(model.rule_.codebook))


def test_tangents_with_a_rule(digits):
    plain = held_out(LVQ1(random_state=0), digits)
    assert held_out(LVQ1(distance=DIGIT, random_state=0), digits) > plain + 0.015


@pytest.mark.parametrize("solver", ["lbfgs", SGD(metric_rate=1.0), Adam(metric_rate=1.0)])
def test_learned_tangents_are_worth_having(digits, solver):
    plain = held_out(composed("sqeuclidean", "lbfgs"), digits)
    model = composed(LEARNED, solver)
    assert held_out(model, digits) > plain + 0.01
    T = model.rule_.codebook.metric.reshape(10, 3, 64)
    np.testing.assert_allclose(T @ T.transpose(0, 2, 1), np.tile(np.eye(3), (10, 1, 1)), atol=1e-12)


def test_learned_tangents_with_a_rule(digits):
    plain = held_out(LVQ1(random_state=0), digits)
    model = LVQ1(distance=LEARNED, metric_rate=1.0, random_state=0)
    assert held_out(model, digits) > plain + 0.03


class AsTheyStart(Tangent):
    """Learned tangents that are not learned after all."""

    adaptive = False


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learning_the_tangents_helps(digits):
    """Not only their start, the principal axes."""
    X, _, y, _ = digits
    still, learned = (
        composed(kind(learned=True, n_tangents=3), "lbfgs", tol=1e-5).fit(X, y)
        for kind in (AsTheyStart, Tangent)
    )
    assert learned.loss_curve_[-1] < 0.5 * still.loss_curve_[-1]


def test_learned_tangents_start_within_the_classes(rng):
    """Along what varies in each class, not along what tells the classes apart."""
    y = np.arange(200) % 2
    X = rng.standard_normal((200, 4)) * [0.1, 0.1, 1.0, 0.2]
    X[:, 0] += 10.0 * y
    theta = Tangent(learned=True, n_tangents=1).initial(X, y, np.ones(200), 3)
    np.testing.assert_allclose(theta, np.tile([0.0, 0.0, 1.0, 0.0], (3, 1)), atol=0.05)


def test_fewer_directions_than_tangents(rng):
    X = np.zeros((40, 6))
    X[:, :2] = rng.standard_normal((40, 2))
    X[:, 2] = np.arange(40) % 2
    model = composed(LEARNED, "lbfgs").fit(X, X[:, 2])
    T = model.rule_.codebook.metric.reshape(2, 3, 6)
    assert not T[:, 2].any()
    assert model.score(X, X[:, 2]) == 1.0


@pytest.mark.parametrize("distance", [DIGIT, LEARNED])
@pytest.mark.parametrize("solver", ["sgd", "adam"])
def test_streams(digits, distance, solver):
    X, X_new, y, y_new = digits
    late = np.isin(y, (3, 8))  # two classes come later
    model = composed(distance, solver)
    model.partial_fit(X[~late], y[~late], classes=np.arange(10))
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.score(X_new, y_new) > 0.93
    if distance.moving:
        np.testing.assert_array_equal(
            model.rule_.codebook.metric, distance.refresh(model.rule_.codebook)
        )


@pytest.mark.parametrize("distance", [DIGIT, LEARNED])
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_early_stopping(digits, distance, solver):
    model = composed(distance, solver, early_stopping=True)
    assert held_out(model, digits) > 0.94
    assert len(model.validation_curve_) == model.n_iter_


@pytest.mark.parametrize("distance", [DIGIT, LEARNED])
def test_automatic_number_of_prototypes(digits, distance):
    X, X_new, y, y_new = (part[::2] for part in digits)
    model = composed(distance, "lbfgs", prototypes_per_class="auto", max_iter=30, tol=1e-2)
    model.fit(X, y)
    assert model.rule_.codebook.metric.shape == (
        len(model.prototypes_),
        model.rule_.codebook.metric.shape[1],
    )
    assert model.score(X_new, y_new) > 0.9
    if distance.moving:
        np.testing.assert_array_equal(
            model.rule_.codebook.metric, distance.refresh(model.rule_.codebook)
        )


def test_views_of_the_fitted_model(digits):
    X, _, y, _ = digits
    model = composed(DIGIT, "adam", prototypes_per_class=2, max_iter=3).fit(X, y)
    shares = model.contributions(X[:5])
    np.testing.assert_allclose(np.abs(shares).sum(axis=1), 1.0)
    assert np.isfinite(model.predict_proba(X[:5])).all()
    D = model.distances(X[:50])
    own = np.where(model.prototype_labels_ == y[:50, None], D, np.inf).min(axis=1)
    rival = np.where(model.prototype_labels_ == y[:50, None], np.inf, D).min(axis=1)
    expected = (np.sqrt(rival) - np.sqrt(own)) / 2.0
    np.testing.assert_allclose(hypothesis_margin(model, X[:50], y[:50]), expected)
    single = model.predict(X.astype(np.float32))
    assert (single == model.predict(X)).mean() > 0.999


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_far_from_the_origin_give_the_same_classifier(digits):
    X, X_new, y, _ = digits
    for distance in (DIGIT, LEARNED):
        near = composed(distance, "lbfgs", max_iter=5).fit(X, y).predict(X_new)
        far = composed(distance, "lbfgs", max_iter=5).fit(X + 1e5, y).predict(X_new + 1e5)
        assert (near == far).mean() > 0.995


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [PrototypeClassifier(distance=Tangent(learned=True, n_tangents=1))],
    expected_failed_checks=expected_failed_checks,
)
def test_sklearn_check(estimator, check):
    run_check(estimator, check)


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distance", "message"),
    [
        ("tangent", r"needs image_shape=\(height, width\).*learned=True"),
        (Tangent(image_shape=(4, 9)), r"image_shape=\(4, 9\) .*36 features.*n_features=64"),
        (Tangent(image_shape=64), r"image_shape=64 .* must be a tuple \(height, width\)"),
        (
            Tangent(image_shape=(64, 1)),
            r"image_shape=\(64, 1\) of Tangent: 1 must be an integer of at least 2",
        ),
        (
            Tangent(image_shape=(8.0, 8)),
            r"image_shape=\(8.0, 8\) of Tangent: 8.0 must be an integer",
        ),
        (Tangent(image_shape=(8, 8), tangents="rotation"), "'rotation' .* must be 'all' or"),
        (Tangent(image_shape=(8, 8), tangents=("zoom",)), "'zoom'.*'scaling'"),
        (Tangent(image_shape=(8, 8), tangents=()), "must be 'all' or"),
        (Tangent(image_shape=(8, 8), tangents=("shear", "shear")), "twice"),
        (Tangent(image_shape=(8, 8), smoothing=-1.0), "smoothing=-1.0"),
        (Tangent(learned="yes"), "learned='yes'"),
        (Tangent(learned=True, n_tangents=0), "n_tangents=0"),
        (Tangent(learned=True, n_tangents=64), "n_tangents=64 .*n_features=64.*fewer"),
    ],
)
def test_errors(digits, distance, message):
    X, _, y, _ = digits
    for model in (PrototypeClassifier(distance=distance), LVQ1(distance=distance)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


def test_pictures_need_more_pixels_than_tangents(rng):
    X, y = rng.standard_normal((20, 6)), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"7 tangents .*n_features=6"):
        PrototypeClassifier(distance=Tangent(image_shape=(2, 3))).fit(X, y)
    few = Tangent(image_shape=(2, 3), tangents=("horizontal", "vertical"))
    PrototypeClassifier(distance=few).fit(X, y)


def test_settings_can_be_changed_later():
    distance = clone(DIGIT).set_params(learned=True, n_tangents=2)
    assert distance.adaptive
    assert not distance.moving
    assert distance.constraint.n_rows == 2


@pytest.mark.parametrize("distance", [DIGIT, LEARNED])
def test_missing_values_are_not_taken(digits, distance):
    X, y = digits[0].copy(), digits[2]
    X[3, 5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PrototypeClassifier(distance=distance).fit(X, y)
    model = PrototypeClassifier(distance=distance).fit(digits[0], y)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)


def test_learned_tangents_of_a_stream_are_never_zero(digits):
    X, _, y, _ = digits
    model = PrototypeClassifier(distance=Tangent(learned=True, n_tangents=3), random_state=0)
    model.partial_fit(X[:2], y[:2], classes=np.unique(y))
    for start in range(0, 400, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100])
    T = model.rule_.codebook.metric.reshape(len(model.rule_.codebook.metric), 3, -1)
    np.testing.assert_allclose(
        T @ T.transpose(0, 2, 1), np.tile(np.eye(3), (len(T), 1, 1)), atol=1e-9
    )
