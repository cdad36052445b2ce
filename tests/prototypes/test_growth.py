"""The number of prototypes, found by the fit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import custom_axes
from given_profile import in_all
from protolearn import (
    GLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    OLVQ1,
    RSLVQ,
    SNPC,
    MarginLVQ,
    PrototypeClassifier,
)
from protolearn.datasets import make_graf_toy, make_isolated

PRESETS = [GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ]
RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]
SEEDS = in_all(0, thorough=[1, 2])

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def around(angle, radius=6.0):
    return radius * np.cos(angle), radius * np.sin(angle)


# Places of clusters and their labels. In those on a line neighbours are of different classes, so
# every cluster needs a prototype of its own; elsewhere fewer may do.
LINES = {
    "stripes": ([(0.0,), (3.0,), (6.0,), (9.0,)], [0, 1, 0, 1]),
    "one, two, four": ([(3.0 * k,) for k in range(7)], [2, 1, 2, 0, 2, 1, 2]),
}
PLANES = {
    "xor": ([(0, 0), (4, 4), (0, 4), (4, 0)], [0, 0, 1, 1]),
    "ring of two classes": ([around(k * np.pi / 4) for k in range(8)], [0, 1] * 4),
    "ring of three classes": ([around(k * np.pi / 3) for k in range(6)], [0, 1, 2] * 2),
    "board": ([(4 * i, 4 * j) for i in range(3) for j in range(3)], [0, 1] * 4 + [0]),
}
CASES = LINES | PLANES
MODELS = {
    "GLVQ": GLVQ(),
    "GLVQ lbfgs": GLVQ(solver="lbfgs"),
    "GLVQ sgd": GLVQ(solver="sgd"),
    "MCE": MCE(),
    "LOGM": LOGM(),
    "SNPC": SNPC(),
    "RSLVQ": RSLVQ(),
    "MarginLVQ": MarginLVQ(),
    "LVQ1": LVQ1(),
    "OLVQ1": OLVQ1(),
}


def draw(centers, labels, per_cluster=40, spread=0.5, seed=0):
    rng = np.random.RandomState(seed)
    centers, labels = np.array(centers, dtype=np.float64), np.array(labels)
    k = np.arange(per_cluster * len(centers)) % len(centers)
    return centers[k] + spread * rng.standard_normal((len(k), centers.shape[1])), labels[k]


def grow(model, X, y, seed=0, **kwargs):
    model = clone(model).set_params(prototypes_per_class="auto", random_state=seed, **kwargs)
    return model.fit(X, y)


def check_consistent(model):
    """Check what is always so."""
    classes = model.classes_.tolist()
    assert list(model.n_prototypes_) == classes
    counts = list(model.n_prototypes_.values())
    assert all(isinstance(count, int) and count >= 1 for count in counts)
    assert sum(counts) == len(model.prototypes_)
    assert model.prototype_labels_.tolist() == np.repeat(model.classes_, counts).tolist()
    assert np.isfinite(model.prototypes_).all()


# The right number -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_as_many_as_there_are_clusters(case, name, seed):
    centers, labels = CASES[case]
    X, y = draw(centers, labels, seed=seed)
    fresh = draw(centers, labels, seed=seed + 100)
    needed = dict(zip(*(a.tolist() for a in np.unique(labels, return_counts=True)), strict=True))
    model = grow(MODELS[name], X, y, seed)
    check_consistent(model)
    told = clone(model).set_params(prototypes_per_class=needed).fit(X, y)
    one = clone(model).set_params(prototypes_per_class=1).fit(X, y)
    assert model.score(*fresh) > one.score(*fresh)
    lost = 0.12 if case == "board" else 0.06  # of nine clusters one may be missed
    assert model.score(*fresh) >= told.score(*fresh) - lost
    assert len(model.prototypes_) <= len(labels) + 3
    if case in LINES:
        assert all(model.n_prototypes_[label] >= count for label, count in needed.items())
    won = np.bincount(model.distances(X).argmin(axis=1), minlength=len(model.prototypes_))
    for label, count in model.n_prototypes_.items():  # every prototype wins something
        if count > 1:
            assert (won[model.prototype_labels_ == label] > 0).all()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_one_cluster_a_class_keeps_one(name, seed):
    centers, labels = [(0, 0), (6, 0), (0, 6)], ["a", "b", "c"]
    model = grow(MODELS[name], *draw(centers, labels, seed=seed), seed)
    check_consistent(model)
    assert model.n_prototypes_ == {"a": 1, "b": 1, "c": 1}
    assert model.score(*draw(centers, labels, seed=seed + 100)) > 0.99


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_clusters_that_overlap_do_not_grow_much(name, seed):
    """Errors that no prototype can mend are no reason to add any."""
    centers, labels = [(0, 0), (1.5, 0)], [0, 1]
    X, y = draw(centers, labels, spread=0.6, seed=seed)
    fresh = draw(centers, labels, 400, spread=0.6, seed=seed + 100)
    model = grow(MODELS[name], X, y, seed)
    one = clone(model).set_params(prototypes_per_class=1).fit(X, y)
    assert len(model.prototypes_) <= 2 + 3
    assert model.score(*fresh) >= one.score(*fresh) - 0.03


@pytest.mark.parametrize("name", MODELS)
def test_labels_without_meaning_do_not_grow_much(name):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((200, 3)), rng.randint(2, size=200)
    assert len(grow(MODELS[name], X, y).prototypes_) <= 2 + 6


@pytest.mark.parametrize("model", [LVQ21, LVQ3])
@pytest.mark.parametrize("seed", SEEDS)
def test_where_nothing_grows_nothing_is_lost(model, seed):
    """The trials of growth must leave no trace in prototypes that stay one a class."""
    model = model(window=0.2, learning_rate=0.05, max_iter=8)
    centers, labels = [(0, 0), (1.5, 0)], [0, 1]
    X, y = draw(centers, labels, spread=0.4, seed=seed)
    grown = grow(model, X, y, seed)
    one = clone(model).set_params(random_state=seed).fit(X, y)
    fresh = draw(centers, labels, 400, spread=0.4, seed=seed + 100)
    assert grown.score(*fresh) >= one.score(*fresh) - 0.02


@pytest.mark.parametrize("name", MODELS)
def test_three_gaussians_a_class(name):
    """Linearly separable: one a class may do, three surely."""
    for seed in SEEDS:
        X, y = make_graf_toy(90, random_state=seed)
        fresh = make_graf_toy(400, random_state=seed + 100)
        model = grow(MODELS[name], X, y, seed)
        check_consistent(model)
        one = clone(model).set_params(prototypes_per_class=1).fit(X, y)
        assert len(model.prototypes_) <= 6 + 3
        assert model.score(*fresh) >= one.score(*fresh) - 0.02
        assert model.score(*fresh) > 0.93


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", SEEDS)
def test_clusters_in_a_background(name, seed):
    """Five clusters of one class, and a background around them that needs several as well."""
    X, y = make_isolated(random_state=seed)
    rng = np.random.RandomState(seed)
    held = rng.permutation(len(X)) < 300
    model = grow(MODELS[name], X[~held], y[~held], seed)
    check_consistent(model)
    one = clone(model).set_params(prototypes_per_class=1).fit(X[~held], y[~held])
    assert len(model.prototypes_) <= 40
    assert model.score(X[held], y[held]) > one.score(X[held], y[held])
    if name in ("LVQ1", "OLVQ1"):  # the few steps of a rule leave prototypes about where they began
        return
    assert model.score(X[held], y[held]) > one.score(X[held], y[held]) + 0.03
    assert model.score(X[held], y[held]) > 0.87  # five and eight give 0.90 to 0.96


def test_a_class_alone_grows():
    """One class in a ring of seven clusters around the other."""
    centers = [(0, 0), *(around(k * 2 * np.pi / 7) for k in range(7))]
    X, y = draw(centers, [0] + [1] * 7)
    model = grow(GLVQ(), X, y)
    assert model.n_prototypes_[0] <= 2
    assert 3 <= model.n_prototypes_[1] <= 9
    assert model.score(*draw(centers, [0] + [1] * 7, seed=100)) > 0.97


# With the rest ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xor():
    return draw(*CASES["xor"])


@pytest.mark.parametrize("cls", PRESETS)
@pytest.mark.parametrize("solver", ["auto", "lbfgs", "sgd", "adam", "momentum"])
def test_every_solver(cls, solver, xor):
    if cls is MarginLVQ and solver == "lbfgs":
        pytest.skip("the hinge is not smooth")
    model = grow(cls(solver=solver), *xor)
    check_consistent(model)
    assert len(model.prototypes_) <= 4 + 3
    assert model.score(*xor) > 0.95


@pytest.mark.parametrize("cls", RULES)
def test_every_rule(cls, xor):
    model = grow(cls(), *xor)
    check_consistent(model)
    told = clone(model).set_params(prototypes_per_class=2).fit(*xor)
    assert len(model.prototypes_) <= 4 + 3
    assert model.score(*xor) >= told.score(*xor) - 0.05


@pytest.mark.parametrize("init", ["kmeans", "means", "kmeans++", "random"])
def test_every_start(init, xor):
    model = grow(GLVQ(init=init), *xor)
    check_consistent(model)
    assert model.score(*xor) > 0.95


def test_sparse_rows_grow_as_dense_ones(xor):
    X, y = xor
    for cls in (GLVQ, LOGM):
        dense, model = (
            grow(cls(solver="lbfgs", max_iter=20), Z, y) for Z in (X, sparse.csr_array(X))
        )
        check_consistent(model)
        assert model.n_prototypes_ == dense.n_prototypes_
        np.testing.assert_allclose(model.prototypes_, dense.prototypes_, atol=1e-3)


@pytest.mark.parametrize("model", [GLVQ(), LOGM(), RSLVQ(), LVQ1()], ids=str)
def test_rows_with_holes(model):
    rng = np.random.RandomState(0)
    X, y = draw(*CASES["xor"], per_cluster=80)
    X = np.hstack([X, X[:, ::-1] + 0.1 * rng.standard_normal(X.shape)])
    complete = X.copy()
    X[rng.uniform(size=X.shape) < 0.15] = np.nan
    keep = ~np.isnan(X).all(axis=1)
    model = grow(model, X[keep], y[keep])
    check_consistent(model)
    assert len(model.prototypes_) <= 4 + 3
    assert model.score(complete, y) > 0.9


@pytest.mark.parametrize("model", [GLVQ(), LOGM(), RSLVQ(), LVQ1()], ids=str)
def test_a_column_that_a_cluster_never_observes(model):
    """The column has values, but not among the rows of every prototype that is split."""
    centers, labels = LINES["one, two, four"]
    X, y = draw(centers, labels)
    cluster = np.arange(len(X)) % len(centers)
    for last in range(1, 7):
        column = np.where(cluster < last, 0.1 * np.random.RandomState(0).randn(len(X)), np.nan)
        check_consistent(grow(model, np.column_stack([X, column]), y))


def test_weight_zero_is_no_row(xor):
    X, y = xor
    other = np.array([[20.0, 0.0]]) + np.random.RandomState(1).standard_normal((60, 2))
    for model in (GLVQ(solver="lbfgs"), LVQ1()):
        expected = grow(model, X, y)
        got = clone(expected).fit(
            np.vstack([X, other]),
            np.append(y, np.arange(60) % 2),
            sample_weight=np.repeat([1.0, 0.0], [len(X), 60]),
        )
        assert got.n_prototypes_ == expected.n_prototypes_
        np.testing.assert_allclose(got.prototypes_, expected.prototypes_)


def test_weights_of_any_size(xor):
    X, y = xor
    expected = grow(GLVQ(solver="lbfgs"), X, y)
    for size in (1e-300, 1e300):
        got = clone(expected).fit(X, y, sample_weight=np.full(len(X), size))
        assert got.n_prototypes_ == expected.n_prototypes_


def test_rows_of_little_weight_make_no_prototypes():
    """A handful of strange rows, whose errors weigh nothing."""
    X, y = draw([(0, 0), (6, 0)], [0, 1])
    rng = np.random.RandomState(0)
    strange = rng.standard_normal((30, 2)) * 0.3 + [6.0, 0.0]
    weight = np.repeat([1.0, 1e-9], [len(X), 30])
    for model in (GLVQ(), LVQ1()):
        model = clone(model).set_params(prototypes_per_class="auto", random_state=0)
        model.fit(np.vstack([X, strange]), np.append(y, np.zeros(30, int)), sample_weight=weight)
        assert model.n_prototypes_ == {0: 1, 1: 1}


@pytest.mark.parametrize("class_weight", ["balanced", {0: 5.0}])
def test_class_weights(class_weight):
    X, y = draw(*CASES["xor"])
    rows = np.flatnonzero((y == 1) | (np.arange(len(y)) % 3 == 0))
    model = grow(GLVQ(class_weight=class_weight), X[rows], y[rows])
    check_consistent(model)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize(
    "distance",
    [custom_axes.Relevances(), custom_axes.LocalRelevances(), custom_axes.City()],
    ids=lambda d: type(d).__name__,
)
def test_learned_metrics(distance, xor):
    X, y = xor
    for model in (
        PrototypeClassifier(distance=distance),
        PrototypeClassifier(distance=distance, solver="sgd"),
        PrototypeClassifier(distance=distance, solver="adam"),
        LVQ1(distance=distance),
    ):
        model = grow(model, X, y)
        check_consistent(model)
        if isinstance(distance, custom_axes.LocalRelevances):
            assert model.rule_.codebook.metric.shape == (len(model.prototypes_), 2)
            np.testing.assert_allclose(np.linalg.norm(model.rule_.codebook.metric, axis=1), 1.0)
        assert len(model.prototypes_) <= 4 + 3
        assert model.score(X, y) > 0.9


@pytest.mark.parametrize("model", [GLVQ(), GLVQ(solver="sgd"), RSLVQ(), LVQ1()], ids=str)
@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (2, 2), (1, 40), (3, 1, 40), (5, 4, 3)])
def test_tiny_classes(model, sizes):
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((len(y), 2)) + 5.0 * y[:, None]
    model = grow(model, X, y)
    check_consistent(model)
    assert all(model.n_prototypes_[k] <= size for k, size in enumerate(sizes))
    assert model.score(X, y) > 0.9


def test_equal_rows_in_two_classes():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    for model in (GLVQ(), RSLVQ(), MarginLVQ(), LVQ1(), OLVQ1()):
        check_consistent(grow(model, X, y))


def test_early_stopping(xor):
    for model in (GLVQ(), GLVQ(solver="adam"), LVQ1()):
        model = grow(model, *xor, early_stopping=True, validation_fraction=0.2)
        check_consistent(model)
        assert np.isfinite(model.validation_curve_).all()
        assert model.score(*xor) > 0.9


def test_seeds(xor):
    for model in (GLVQ(solver="lbfgs"), GLVQ(solver="sgd"), RSLVQ(), LVQ1()):
        first, again = grow(model, *xor, seed=3), grow(model, *xor, seed=3)
        assert first.n_prototypes_ == again.n_prototypes_
        np.testing.assert_array_equal(first.prototypes_, again.prototypes_)


def test_units_make_no_difference(xor):
    X, y = xor
    expected = grow(GLVQ(solver="sgd", max_iter=40), X, y)
    for factor, shift in ((1e-100, 0.0), (1e100, 0.0), (1e3, 1e4)):
        got = grow(GLVQ(solver="sgd", max_iter=40), factor * X + shift, y)
        assert got.n_prototypes_ == expected.n_prototypes_


def test_labels_as_strings(xor):
    X, y = xor
    names = np.array(["no", "yes"])
    number = grow(GLVQ(solver="lbfgs"), X, y)
    model = grow(GLVQ(solver="lbfgs"), X, names[y])
    check_consistent(model)
    assert model.n_prototypes_ == {str(names[k]): n for k, n in number.n_prototypes_.items()}
    np.testing.assert_array_equal(model.prototypes_, number.prototypes_)


def test_the_number_can_be_given_again(xor):
    X, y = xor
    for labels in (y, np.array(["no", "yes"])[y], y.astype(bool), y - 7.0):
        model = grow(GLVQ(), X, labels)
        found = model.n_prototypes_
        again = clone(model).set_params(prototypes_per_class=found).fit(X, labels)
        assert again.n_prototypes_ == found
        assert len(again.prototypes_) == len(model.prototypes_)


def test_a_number_that_was_given_is_told(xor):
    assert GLVQ(prototypes_per_class=3).fit(*xor).n_prototypes_ == {0: 3, 1: 3}
    assert LVQ1(prototypes_per_class={1: 4}).fit(*xor).n_prototypes_ == {0: 1, 1: 4}


def test_a_stream_goes_on_with_the_number_that_was_found(xor):
    X, y = xor
    model = grow(GLVQ(), X, y)
    found, before = model.n_prototypes_, model.score(X, y)
    model.set_params(prototypes_per_class=found)
    for _ in range(3):
        model.partial_fit(X, y)
    assert model.n_prototypes_ == found
    assert model.score(X, y) >= before - 0.05


def test_in_a_pipeline_and_a_search(xor):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GLVQ(random_state=0)),
        {"glvq__prototypes_per_class": [1, "auto"]},
    )
    search.fit(*xor)
    assert search.best_params_ == {"glvq__prototypes_per_class": "auto"}
    assert search.best_score_ > 0.95


@pytest.mark.parametrize("cls", [GLVQ, RSLVQ, LVQ1])
def test_given_prototypes_are_an_error(cls, xor):
    X, y = xor
    with pytest.raises(ValueError, match=r"prototypes_per_class='auto'.*init"):
        cls(prototypes_per_class="auto", init=X[:2]).fit(X, y)


@pytest.mark.parametrize("cls", [GLVQ, LVQ1])
def test_streams_are_an_error(cls, xor):
    X, y = xor
    with pytest.raises(ValueError, match=r"prototypes_per_class='auto'.*partial_fit"):
        cls(prototypes_per_class="auto").partial_fit(X, y, classes=[0, 1])


def test_growth_is_told(xor, capsys):
    model = grow(GLVQ(), *xor, verbose=1)
    text = capsys.readouterr().out
    assert f"{len(model.prototypes_)} prototypes" in text


def test_what_the_callback_sees(xor):
    """Trials are not reported: the callback hears of the fit alone, with all its prototypes."""
    seen = []
    model = grow(GLVQ(solver="sgd", max_iter=12), *xor, callback=seen.append)
    assert [state.iteration for state in seen] == list(range(1, model.n_iter_ + 1))
    assert {len(state.codebook.labels) for state in seen} == {len(model.prototypes_)}
    assert len(model.loss_curve_) == model.n_iter_
