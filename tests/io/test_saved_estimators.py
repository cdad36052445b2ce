"""Every estimator of the library comes back from a file as it was."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel

import protolearn
from custom_axes import City, LogCosh, MeanDifference, Ramp
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LVQ1,
    OLVQ1,
    RSLVQ,
    RVM,
    AutoPrototypeClassifier,
    ExemplarSVM,
    KernelAdaTron,
    KernelGLVQ,
    ParityMachine,
    Pocket,
    PrototypeClassifier,
    PrototypeSVM,
    RejectClassifier,
    SoftMarginSVM,
)
from protolearn.distances import DISTANCES, Kernel, LocalMatrix, Mahalanobis, Matrix, Tangent
from protolearn.io import ModelFileError
from protolearn.losses import LOSSES
from protolearn.margins import MARGINS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NEEDED = {
    "RejectClassifier": {"model": GLVQ(max_iter=3), "threshold": 0.1},
    "AutoPrototypeClassifier": {"max_fits": 3},
    "BoostedPrototypes": {"max_iter": 20},
    "SmallGMLVQ": {"max_bytes": 400, "rank": 2, "label_scores": 1, "prototypes_per_class": 2},
}
FITTED = [
    name
    for name in protolearn.__all__
    if isinstance(getattr(protolearn, name), type) and hasattr(getattr(protolearn, name), "fit")
]


def new(name):
    """Give an estimator that is quickly fitted."""
    model = getattr(protolearn, name)(**NEEDED.get(name, {}))
    short = {"max_iter": 5, "random_state": 0}
    given = {key: value for key, value in short.items() if key in model.get_params(deep=False)}
    return model.set_params(**{**given, **NEEDED.get(name, {})})


def test_all_estimators_are_here():
    assert {"GLVQ", "RVM", "Hopfield", "AutoPrototypeClassifier", "ParityMachine"} <= set(FITTED)
    assert len(FITTED) > 30


@pytest.mark.parametrize("name", FITTED)
def test_estimator_comes_back(name, small, come_back):
    X, y = small
    model = new(name)
    assert come_back(model).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    if name == "Hopfield":
        X = np.where(X > 0.0, 1.0, -1.0)
        loaded = come_back(model.fit(X[:3]), X)
    else:
        rows = y != "virginica" if name in ("HardMarginSVM",) else slice(None)
        loaded = come_back(model.fit(X[rows], y[rows]), X)
    assert vars(loaded).keys() == vars(model).keys()


@pytest.mark.parametrize("name", DISTANCES)
def test_every_distance_as_an_object(name, small, come_back):
    X, y = small
    rows = np.abs(X) + 0.1
    rows /= rows.sum(axis=1, keepdims=True)
    distance = Tangent(learned=True, n_tangents=1) if name == "tangent" else DISTANCES[name]()
    come_back(PrototypeClassifier(distance=distance, max_iter=3, random_state=0).fit(rows, y), rows)


@pytest.mark.parametrize("number", range(max(len(LOSSES), len(MARGINS))))
def test_every_loss_and_margin_as_objects(number, small, come_back):
    X, y = small
    loss, margin = (list(axis.values())[number % len(axis)] for axis in (LOSSES, MARGINS))
    model = PrototypeClassifier(
        loss=loss(), margin=margin(), prototypes_per_class=2, max_iter=2, random_state=0
    )
    loaded = come_back(model.fit(X, y), X)
    assert (type(loaded.loss), type(loaded.margin)) == (loss, margin)


PICTURES = Tangent(image_shape=(2, 2), tangents=("rotation",))
MODELS = {
    "kernel distance": PrototypeClassifier(distance=Kernel(), max_iter=2),
    "Mahalanobis": PrototypeClassifier(distance=Mahalanobis(), max_iter=2),
    "matrices of classes": PrototypeClassifier(distance=LocalMatrix(), max_iter=2),
    "matrix of rank 2": PrototypeClassifier(distance=Matrix(rank=2), max_iter=2, random_state=0),
    "tangents of pictures": PrototypeClassifier(distance=PICTURES, max_iter=2),
    "local matrices": LGMLVQ(localized="prototype", rank=2, max_iter=2, random_state=0),
    "polynomial kernel": KernelGLVQ(kernel="polynomial", max_iter=2),
    "kernel function": KernelGLVQ(kernel=laplacian_kernel, max_iter=2),
    "kernel AdaTron": KernelAdaTron(kernel="rbf", max_iter=3),
    "kernel RVM": RVM(kernel="rbf", max_iter=20),
    "kernel SVM": SoftMarginSVM(kernel="rbf"),
    "kernel of several classes": SoftMarginSVM(kernel="poly", multi_class="crammer_singer"),
    "parity of Pockets": ParityMachine(Pocket(max_iter=3), random_state=0),
    "Platt": ExemplarSVM(calibration="platt"),
    "binning": PrototypeSVM(calibration="binning", n_shifts=1, random_state=0),
    "votes": PrototypeSVM(calibration=None, n_shifts=1, random_state=0),
    "reject by cost": RejectClassifier(GLVQ(max_iter=3), cost=0.2),
    "reject by error": RejectClassifier(RSLVQ(max_iter=3), target_error=0.1),
    "reject of an automatic choice": RejectClassifier(
        AutoPrototypeClassifier(max_fits=3, random_state=0), threshold=0.1
    ),
    "a state of random numbers": GLVQ(random_state=np.random.RandomState(3), max_iter=3),
    "early stopping": GLVQ(early_stopping=True, max_iter=5, random_state=0),
    "number of prototypes": GLVQ(prototypes_per_class="auto", max_iter=3, random_state=0),
    "numbers by class": GLVQ(
        prototypes_per_class={"setosa": 1, "versicolor": 2, "virginica": 3}, max_iter=3
    ),
    "given prototypes": GLVQ(init=np.eye(3, 4), max_iter=3),
    "weights": GLVQ(class_weight={"setosa": 1.0, "versicolor": 2.0, "virginica": 0.5}, max_iter=3),
}


@pytest.mark.parametrize("what", MODELS)
def test_variants(what, small, come_back):
    X, y = small
    come_back(MODELS[what].fit(X, y), X)


@pytest.mark.parametrize(
    "keys",
    [
        [True, False],
        [np.True_, np.False_],
        [7, -1],
        [np.int64(7), np.int64(-1)],
        [2.0, 0.5],
        ["", "false"],
        ["true", "null"],
        [np.str_("a"), np.str_("ä")],
    ],
    ids=repr,
)
def test_keys_of_dicts_keep_their_types(keys, come_back):
    model = GLVQ(prototypes_per_class=dict(zip(keys, [2, 1], strict=True)))
    loaded = come_back(model).prototypes_per_class
    assert loaded == model.prototypes_per_class
    assert list(map(type, loaded)) == list(map(type, keys))


@pytest.mark.parametrize("keys", [[None, "a"], [(1, 2), "a"], [1, "1"], ["", False]], ids=repr)
def test_keys_that_would_not_come_back_are_refused(keys, tmp_path):
    model = GLVQ(class_weight=dict(zip(keys, [2, 1], strict=True)))
    with pytest.raises(ModelFileError, match="GLVQ"):
        protolearn.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "labels",
    [
        np.array([True, False]),
        np.array([3, 250], np.uint8),
        np.array([2.0, -1.0]),
        np.array(["ä", "日本"]),
        np.array(["ä", "b"], object),
        np.array([10**12, -3]),
    ],
    ids=lambda labels: labels.dtype.str,
)
def test_labels_keep_their_type(labels, small, come_back):
    X, y = small
    model = GLVQ(max_iter=2).fit(X, labels[(y == "setosa").astype(int)])
    assert come_back(model, X).classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize("model", [GLVQ(max_iter=2), GRLVQ(max_iter=2)], ids=repr)
def test_missing_values(model, small, come_back):
    X, y = small
    X = X.copy()
    X[::4, 1] = np.nan
    come_back(model.fit(X, y), X)


@pytest.mark.parametrize(
    "model", [GLVQ(max_iter=2), GRLVQ(max_iter=2), GMLVQ(max_iter=2)], ids=repr
)
def test_sparse_rows(model, small, come_back):
    X, y = small
    X = sparse.csr_matrix(np.maximum(X, 0.0))
    come_back(model.fit(X, y), X)


def test_single_precision(small, come_back):
    X, y = small
    X = X.astype(np.float32)
    come_back(GLVQ(max_iter=2).fit(X, y), X)


STREAMS = [
    GLVQ(random_state=0),
    GLVQ(solver="adam", random_state=0),
    GLVQ(solver="momentum", random_state=0),
    RSLVQ(random_state=np.random.RandomState(5)),
    GRLVQ(random_state=0),
    GMLVQ(random_state=0),
    LVQ1(random_state=0),
    OLVQ1(random_state=0),
]


@pytest.mark.parametrize("model", STREAMS, ids=lambda model: type(model).__name__)
def test_stream_goes_on(model, small, come_back):
    X, y = small
    for start in range(0, 30, 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10], classes=np.unique(y))
    loaded = come_back(model, X)
    for start in range(30, 50, 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10])
        loaded.partial_fit(X[start : start + 10], y[start : start + 10])
    assert (model.prototypes_ == loaded.prototypes_).all()
    come_back(loaded, X)


def test_axes_of_a_user(small, come_back):
    X, y = small
    model = PrototypeClassifier(
        distance=LogCosh(), margin=MeanDifference(), loss=Ramp(), max_iter=2
    )
    trusted = [LogCosh, MeanDifference, "custom_axes.Ramp"]
    come_back(model.fit(X, y), X, trusted=trusted)


def test_a_class_of_a_user_has_to_be_named(tmp_path, small):
    X, y = small
    model = PrototypeClassifier(distance=City(), solver="sgd", max_iter=2).fit(X, y)
    path = tmp_path / "model"
    with pytest.raises(ModelFileError, match=r"PrototypeClassifier\.distance is custom_axes\.City"):
        protolearn.save(model, path)
    protolearn.save(model, path, trusted=City)
    with pytest.raises(ModelFileError, match=r"trusted=\['custom_axes\.City'\]"):
        protolearn.load(path)


def test_a_model_that_holds_itself(tmp_path):
    model = GLVQ()
    model.loss = [model]
    with pytest.raises(ModelFileError, match=r"save cannot write, GLVQ\.loss\[0\]\.loss"):
        protolearn.save(model, tmp_path / "model")


def test_a_callback_has_to_go(tmp_path):
    with pytest.raises(ModelFileError, match=r"GLVQ\.callback is .*callback to None"):
        protolearn.save(GLVQ(callback=print_progress), tmp_path / "model")


def print_progress(state):
    """Is no part of a file."""
    print(state)
