"""Certificates in floating point: no row within the radius gets another class from ``predict``."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from given_model import given_model, random_prototypes
from given_profile import THOROUGH
from protolearn import (
    GLVQ,
    GMLVQ,
    LGMLVQ,
    SoftMarginSVM,
    certified_radius,
    sample_margin,
    to_onnx,
)
from protolearn.analysis.cells import Cells
from protolearn.analysis.certificates import hard_radius
from protolearn.distances import (
    Kernel,
    LocalMatrix,
    Mahalanobis,
    Matrix,
    Minkowski,
    Relevance,
    Tangent,
)

OFFSETS = (0.0, 1.0, 1e3, 1e6, 1e8)  # in units of the spread
SCALES = (1e-6, 1e-3, 1.0, 1e3, 1e6)
SHARES = (1.0, 1.0 - 1e-14, 1.0 - 1e-6)  # of the radius
TRIALS = 1_000_000 if THOROUGH else 20_000


def nearest(distance=None, parameters=None, soft=False):
    """Give a maker of nearest-prototype models of three classes."""

    def make(rng, d, offset, scale):
        W, labels = random_prototypes(rng, 3, 4, d)
        W = scale * (W + offset)
        metric = None if parameters is None else parameters(rng, len(W), d, scale)
        xi = 10.0 ** rng.uniform(-1, 1) if soft else None
        model = given_model(W, labels, distance, metric, xi=xi, scale=scale**2)
        return model, W

    return make


def unit_rows(rng, *shape):
    """Give random rows of length one."""
    rows = rng.randn(*shape)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def logistic(kind):
    """Give a maker of linear models with coefficients of a kind."""

    def make(rng, d, offset, scale):
        W = scale * (rng.randn(3, d) + offset)
        model, coef = LogisticRegression(), rng.randn(3, d) / scale
        model.classes_, model.n_features_in_ = np.arange(3), d
        model.coef_ = coef.astype(kind)
        model.intercept_ = (rng.randn(3) - coef @ W.mean(axis=0)).astype(kind)
        return model, W

    return make


def separating(machine):
    """Give a maker of fitted machines; their solvers take no data far from the origin."""

    def make(rng, d, offset, scale):
        W = rng.randn(12, d) + min(offset, 10.0)
        return machine().fit(W, (W[:, 0] > np.median(W[:, 0])).astype(int)), W

    return make


def mixed_units(rng, K, d, scale):
    """Give a map whose features have units of their own."""
    return (rng.randn(1, d * d) * np.tile(10.0 ** rng.uniform(-3, 3, d), d)) / scale


MODELS = {
    "euclidean": nearest(),
    "relevance": nearest(Relevance(), lambda rng, K, d, s: unit_rows(rng, 1, d)),
    "matrix": nearest(Matrix(), lambda rng, K, d, s: unit_rows(rng, 1, rng.randint(1, d + 1) * d)),
    "mahalanobis": nearest(Mahalanobis(), mixed_units),
    "local": nearest(
        LocalMatrix(localized="prototype"), lambda rng, K, d, s: unit_rows(rng, K, d * d)
    ),
    "city block": nearest(Minkowski(1.0), lambda rng, K, d, s: [[1.0, 1.0]]),
    "minkowski": nearest(Minkowski(3.0), lambda rng, K, d, s: [[3.0, 1.0]]),
    "rbf": nearest(
        Kernel("rbf"), lambda rng, K, d, s: [[0.0, 10.0 ** rng.uniform(-2, 0) / s**2, 3.0, 1.0]]
    ),
    "tangent": nearest(
        Tangent(learned=True, n_tangents=1), lambda rng, K, d, s: unit_rows(rng, K, d)
    ),
    "soft": nearest(soft=True),
    "soft local": nearest(
        LocalMatrix(localized="class"), lambda rng, K, d, s: unit_rows(rng, 3, d * d), soft=True
    ),
    "logistic": logistic(np.float64),
    "logistic of single precision": logistic(np.float32),
    "svc": separating(lambda: SVC(kernel="linear", C=1e3)),
    "machine": separating(SoftMarginSVM),
}
EXACT = ("euclidean", "relevance", "matrix", "mahalanobis", "logistic", "svc")


class InGraph:
    """A model as an ONNX graph, with its own labels and its own certificate."""

    def __init__(self, model):
        runtime = pytest.importorskip("onnxruntime")
        graph = to_onnx(model, outputs=["label", "certified_radius"])
        self.session = runtime.InferenceSession(graph.SerializeToString())
        self.rule_ = model.rule_

    def predict(self, X):
        """Give the labels."""
        return self.session.run(["label"], {"X": np.asarray(X, dtype=np.float32)})[0]


def radius_in_graph(model, X):
    """Give the certificate of a graph."""
    return model.session.run(["certified_radius"], {"X": X})[0].astype(float)


def directions(rng, model, own, x, W, radius, unit):
    """Give directions of length one: those in which the class changes soon, and some at random."""
    last = model[-1] if isinstance(model, Pipeline) else model
    U = last.rule_.directions if hasattr(last, "rule_") else np.vstack([last.coef_, 0.0 * W[:1]])
    pairs = [] if U is None else [(U[:, None] - U[None]).reshape(-1, len(x))]
    U = np.vstack([*pairs, (W - x) / unit, (x - W) / unit]).astype(float)
    U = U[U.any(axis=1)]
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    changes = model.predict(x + 1.01 * radius * unit * U) != own
    U = U[np.argsort(~changes, kind="stable")[:6]]
    return np.vstack([U, unit_rows(rng, 2, len(x))])


def moved_rows(rng, x, radius, unit, U):
    """Give rows whose exact distance from x, in units of the features, is below the radius."""
    steps = radius * unit * U * np.array(SHARES)[:, None, None]
    Z = (x + steps.reshape(-1, len(x))).astype(x.dtype)
    Z = np.vstack([Z, Z + rng.randint(-2, 3, Z.shape).astype(x.dtype) * np.spacing(Z)])
    difference = (Z.astype(np.longdouble) - x.astype(np.longdouble)) / unit.astype(np.longdouble)
    length = np.sqrt(np.square(difference).sum(axis=1)) * (1.0 + np.longdouble(1e-18))
    return Z[length < radius]


def violations(name, seed, certify, form="rows", one_feature=False):
    """Give how many rows were moved within their radius, and how many of them changed class."""
    rng = np.random.RandomState(seed)
    d, dtype = rng.randint(2, 9), rng.choice([np.float32, np.float64])
    d = 1 if one_feature else d
    offset, scale = rng.choice(OFFSETS), rng.choice(SCALES)
    if form == "half":
        dtype, offset, scale = np.float16, min(offset, 1.0), 1.0
    piped = form in ("pipeline", "half")
    model, W = MODELS[name](rng, d, 0.0 if piped else offset, 1.0 if piped else scale)
    X = 0.5 * (W[rng.randint(len(W), size=4)] + W[rng.randint(len(W), size=4)])
    X, unit = X + 0.3 * np.ptp(W, axis=0) * rng.randn(4, d), np.ones(d)
    as_form = csr_matrix if form == "sparse" else np.asarray
    if piped:
        units = scale * 10.0 ** rng.uniform(-2, 2, d)
        W, X = (units * (points + offset) for points in (W, X))
        model = make_pipeline(StandardScaler().fit(W), model)
        unit = model[0].scale_
    elif form == "graph":
        model, dtype = InGraph(model), np.float32
    X, total = X.astype(dtype), np.zeros(2, dtype=int)
    radii = certify(model, as_form(X))
    for x, own, radius in zip(X, model.predict(as_form(X)), radii, strict=True):
        if 0.0 < radius < np.inf:
            U = directions(rng, model, own, x, W, radius, unit)
            Z = moved_rows(rng, x, radius, unit, U)
            for part in (Z, Z[:1], Z[1:3]):  # few rows are predicted by another formula
                if len(part):
                    total += len(part), int((model.predict(as_form(part)) != own).sum())
    return total


CASES = [
    *((name, certified_radius, "rows") for name in MODELS),
    *((name, sample_margin, "rows") for name in EXACT),
    *((name, certified_radius, "pipeline") for name in ("euclidean", "matrix", "soft", "logistic")),
    *((name, certified_radius, "sparse") for name in ("euclidean", "relevance", "matrix")),
    ("euclidean", sample_margin, "half"),
    *((name, radius_in_graph, "graph") for name in ("euclidean", "relevance", "matrix", "local")),
]


@pytest.mark.parametrize(("name", "certify", "form"), CASES)
def test_no_row_within_the_radius_has_another_class(name, certify, form):
    total, seed = np.zeros(2, dtype=int), 0
    while total[0] < TRIALS / len(CASES):
        total += violations(name, seed, certify, form)
        seed += 1
    print(name, certify.__name__, form, seed, total)
    assert total[1] == 0


@pytest.mark.parametrize("name", [name for name in MODELS if name != "tangent"])
def test_one_feature(name):
    tried, broken = sum(
        violations(name, seed, certified_radius, one_feature=True) for seed in range(8)
    )
    assert tried > 200
    assert broken == 0


def test_rounding_costs_little_of_a_certificate(iris):
    X, y = iris
    for model in (GLVQ, GMLVQ, LGMLVQ):
        model = model(prototypes_per_class=2, random_state=0).fit(X, y)
        double, single = (certified_radius(model, X.astype(kind)) for kind in (float, np.float32))
        loss = np.median(1.0 - single / double)
        assert 0.0 < loss < 1e-3
        rule, D = model.rule_, model.distances(X)
        own = rule.codebook.labels == rule.codebook.labels[D.argmin(axis=1)][:, None]
        exact = hard_radius(rule, Cells.of(rule))(D, own)
        assert 0.0 < np.median(1.0 - double / exact) < 1e-12
