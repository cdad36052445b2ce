"""ONNX graphs give what the models give, to single precision."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

import protolearn as pl
from custom_axes import City, LogCosh
from given_profile import in_all, long_test
from protolearn import certified_radius, datasets, distances, explain, hypothesis_margin, to_onnx
from protolearn.analysis import linear_leads
from protolearn.io import register_converters
from protolearn.rule import LinearRule, as_rule
from protolearn.selection.auto import score_calibration
from protolearn.tables import table_pipeline

onnx = pytest.importorskip("onnx", reason="ONNX is optional: pip install 'protolearn[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
pytest.importorskip("skl2onnx", reason="models are converted by skl2onnx")

ROUNDING = 4e-6  # of the largest number of an output; single precision has 6e-8
SEED = {"random_state": 0}
PLAIN = [
    pl.GLVQ(**SEED),
    pl.GLVQ(prototypes_per_class=3, **SEED),
    pl.RSLVQ(prototypes_per_class=2, **SEED),
    pl.LVQ21(**SEED),
    pl.GRLVQ(**SEED),
    pl.GMLVQ(rank=2, **SEED),
    pl.LGMLVQ(prototypes_per_class=2, **SEED),
    pl.MRSLVQ(**SEED),
    pl.SmallGMLVQ(max_bytes=400, rank=2, label_scores=1, max_iter=5, **SEED),
    pl.MarginLVQ(**SEED),
    pl.KernelGLVQ(**SEED),
    pl.KernelGLVQ(kernel="polynomial", **SEED),
    *(
        pl.PrototypeClassifier(distance=distance, max_iter=20, prototypes_per_class=2, **SEED)
        for distance in (
            distances.Minkowski(1.0),
            distances.Minkowski(2.0),
            distances.Minkowski(7.0),
            distances.Minkowski(np.inf),
            distances.Mahalanobis(),
            distances.Kernel("rbf"),
            distances.Kernel("polynomial"),
            distances.Kernel("linear"),
            distances.Tangent(learned=True, n_tangents=2),
            distances.Relevance("class"),
            distances.LocalMatrix(localized="prototype"),
            distances.MixedDistance(blocks=[1] * 13),
        )
    ),
    pl.MeanOfClass(),
    pl.FisherPrototypes(),
    pl.RVM(),
    pl.RVM(kernel="rbf"),
    pl.HardMarginSVM(),
    pl.SoftMarginSVM(),
    pl.SoftMarginSVM(multi_class="crammer_singer"),
    pl.SoftMarginSVM(kernel="rbf"),
    pl.FisherPrototypes(kernel="poly", ridge=1.0),
    pl.BoostedPrototypes(),
    pl.Rosenblatt(**SEED),
    pl.Perceptron(**SEED),
    pl.Pocket(**SEED),
    pl.MinOver(),
    pl.Adaline(),
    pl.AdaTron(),
    pl.BayesPoint(**SEED),
    pl.KernelAdaTron(),
    pl.KernelAdaTron(kernel="linear"),
]
POSITIVE = [
    pl.PrototypeClassifier(distance=distance, max_iter=20, **SEED)
    for distance in (
        distances.KullbackLeibler(),
        distances.CauchySchwarz(),
        distances.Renyi(),
        distances.Renyi(1.001),
        distances.Renyi(3.0),
    )
]


def run(graph, X):
    """Give the outputs of a graph by name."""
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names, given = [each.name for each in session.get_outputs()], session.get_inputs()
    if hasattr(X, "columns"):
        assert [each.name for each in given] == list(X.columns)
        rows = {each.name: column_of(X[each.name], each.type) for each in given}
    else:
        assert [each.name for each in given] == ["X"]
        rows = {"X": np.float32(X)}
    return dict(zip(names, session.run(None, rows), strict=True))


def column_of(values, kind):
    """Give a column of a frame as its input takes it: dates as days, missing words as ''."""
    if kind == "tensor(string)":
        return values.astype(object).where(values.notna(), "").to_numpy(dtype=object)[:, None]
    if str(values.dtype).startswith("datetime"):
        values = (values - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")
    dtype = np.float64 if kind == "tensor(double)" else np.float32
    return values.to_numpy(dtype=dtype, na_value=np.nan)[:, None]


def check(model, X, least_clear=0.98):
    """Compare all outputs of a graph with the model on the same rows, in single precision.

    At least some share of the rows must have classes that are clear in that precision.
    """
    found, X = run(to_onnx(model), X), np.float64(np.float32(X))
    assert next(iter(found)) == "label"
    last = model[-1] if hasattr(model, "steps") else model
    inner = model[:-1].transform(X) if hasattr(model, "steps") else X
    scores = model.decision_function(X)
    size = sizes(last, inner, scores)
    close(found["scores"][:, 1] if scores.ndim == 1 else found["scores"], scores, size.max())
    check_labels(found["label"], model.predict(X), scores, size, least_clear)
    if hasattr(model, "predict_proba"):
        unit = last.scale_ / last.rule_.decision.sharpness if hasattr(last, "rule_") else 1.0
        enlarged = max(size.max() / unit, 1.0)  # the largest exponent of the softmax
        close(found["probabilities"], model.predict_proba(X), enlarged)
    if hasattr(last, "distances"):
        D = last.distances(inner)
        close(found["distances"], D, np.abs(D).max())
        nearest = np.take_along_axis(D, found["nearest_prototype"][:, None], axis=1)[:, 0]
        close(nearest, D.min(axis=1), np.abs(D).max())
        has_margin = last.rule_.distance.squared is not None
    else:
        has_margin = hasattr(last, "shift_") and hasattr(last, "prototypes_")
    assert has_margin == ("hypothesis_margin" in found)
    if has_margin:
        check_margins(found, hypothesis_margin(model, X, found["label"]), size, last)
    if "contributions" in found and len(found["contributions"]):
        check_reasons(found, model, last, inner, size)
    return found


def check_reasons(found, model, last, inner, size):
    """Contributions are those of the model, and certified radii are no larger than its own."""
    rule = as_rule(last)
    rows = rule.read_rows(last, inner).astype(np.float64)
    scores = rule.scores(rows)
    size_of_scores = np.abs(scores[np.isfinite(scores)]).max()
    clear = np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0] > 1e-3 * size_of_scores
    clear &= rule.classes[scores.argmax(axis=1)] == found["label"]
    if len(rule.classes) > 2:  # which class comes second has to be clear as well
        clear &= np.diff(np.sort(scores, axis=1)[:, -3:])[:, 0] > 1e-3 * size_of_scores
    assert clear.any()
    if isinstance(rule, LinearRule):
        middle = getattr(last, "prototypes_", np.zeros((1, inner.shape[1]))).mean(axis=0)
        if hasattr(model, "steps"):
            middle = np.zeros(inner.shape[1])
        wanted = rule.unit * linear_leads(rule, rows, middle[None])
        radius = certified_radius(last, inner)
        assert (found["certified_radius"] <= radius * (1.0 + 1e-6) + 1e-30).all()
        assert np.median(found["certified_radius"] / np.maximum(radius, 1e-30)) > 0.9
    else:
        wanted = rule.feature_leads(rows)
    close(found["contributions"][clear], wanted[clear], max(np.abs(wanted).max(), size.max()))


def sizes(model, X, scores):
    """Give the size of the numbers that the scores of each row are made of."""
    if hasattr(model, "coef_"):
        return (np.abs(X) @ np.abs(model.coef_).T + np.abs(model.intercept_)).max(axis=1)
    if hasattr(model, "distances"):
        return np.abs(model.distances(X)).max(axis=1)
    return np.abs(scores) if scores.ndim == 1 else np.abs(scores).max(axis=1)


def check_labels(found, wanted, scores, size, least_clear):
    """Compare labels; of rows whose best scores are the same but for rounding either may come."""
    by_class = np.stack([-scores, scores], axis=1) / 2 if scores.ndim == 1 else scores
    lead = np.diff(np.sort(by_class, axis=1)[:, -2:])[:, 0]
    clear = lead > 4.0 * ROUNDING * size
    assert clear.mean() > least_clear
    np.testing.assert_array_equal(found[clear], wanted[clear])


def check_margins(found, margin, size, model):
    """Compare margins: the root of a number has the rounding of that, over twice the root.

    Those of linear models are a lead over such roots.
    """
    D, linear = found["distances"].max(axis=1), hasattr(model, "coef_")
    rounding = ROUNDING * (D + size if linear else D)
    if linear or model.rule_.distance.squared:
        rounding /= np.sqrt(np.maximum(found["distances"].min(axis=1), ROUNDING * D))
    assert (np.abs(found["hypothesis_margin"] - margin) <= rounding).all()


def close(found, wanted, size):
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=ROUNDING * size)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", PLAIN, ids=str)
def test_all_outputs(model, n_classes, wine):
    X, y = wine
    rows = y != np.unique(y)[-1] if n_classes == 2 else np.full(len(y), True)
    check(clone(model).fit(X[rows], y[rows]), X[rows])


@pytest.mark.parametrize("model", POSITIVE, ids=str)
def test_divergences(model, wine):
    X = MinMaxScaler((0.01, 1.0)).fit_transform(wine[0])
    check(clone(model).fit(X, wine[1]), X)
    X[0, :3] = 0.0
    check(clone(model).fit(X, wine[1]), X)


def test_every_classifier_of_these_families_is_tried():
    tried = {type(model) for model in PLAIN}
    families = pl.classifiers.NearestPrototypeClassifier, pl.one_versus_rest.LinearClassifier
    known = {kind for kind in vars(pl).values() if isinstance(kind, type)}
    same = {
        pl.MCE,
        pl.LOGM,
        pl.SNPC,
        pl.LVQ1,
        pl.OLVQ1,
        pl.LVQ3,
        pl.RobustLVQ,
    }  # they decide as others
    assert {kind for kind in known if issubclass(kind, families)} <= tried | same


SETS = {
    "small": ["glass", "heart", "ionosphere", "sonar", "iris"],
    "all": [
        *("diabetes", "glass2", "letter", "mnist", "optdigits", "pendigits", "pima"),
        *("satimage", "segment", "usps", "vehicle", "wdbc", "wine"),
    ],
}


@pytest.mark.parametrize("name", in_all(*SETS["small"], thorough=SETS["all"]))
@pytest.mark.parametrize(
    "model",
    in_all(
        pl.GLVQ(prototypes_per_class=2, max_iter=20, **SEED),
        pl.SoftMarginSVM(),
        thorough=[
            pl.GMLVQ(max_iter=20, rank=5, **SEED),
            pl.RSLVQ(max_iter=20, **SEED),
            pl.FisherPrototypes(),
            pl.Adaline(),
        ],
    ),
    ids=lambda model: type(model).__name__,
)
def test_data_sets(model, name):
    if name not in datasets.names():
        pytest.skip(f"{name} is not among the data sets: set PROTOLEARN_DATA to their folder")
    X, y = datasets.load(name)
    some = np.random.RandomState(0).permutation(len(y))[:2000]
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X[some], y[some])
    # Fisher's coefficients of features that repeat each other are large, and of both signs.
    check(pipeline, X[:20_000], 0.75 if isinstance(model, pl.FisherPrototypes) else 0.98)


@long_test
@pytest.mark.parametrize("name", ["20ng", "semeval2013"])
def test_sparse_data_sets(name):
    """A graph takes dense rows, some at a time, also of a model of sparse ones."""
    if name not in datasets.names():
        pytest.skip(f"{name} is not among the data sets: set PROTOLEARN_DATA to their folder")
    X, y = datasets.load(name)
    some = np.random.RandomState(0).permutation(len(y))[:2000]
    for model in (pl.GLVQ(max_iter=5, **SEED), pl.RSLVQ(max_iter=5, **SEED)):
        check(model.fit(X[some], y[some]), X[:300].toarray())


@pytest.mark.parametrize("opset", [13, 15, 17, 18, 20, None])
def test_operator_sets(opset, wine):
    X, y = wine
    for model in (pl.GLVQ(prototypes_per_class=2, **SEED), pl.RSLVQ(**SEED), pl.FisherPrototypes()):
        model.fit(X, y)
        found = run(to_onnx(model, target_opset=opset), X)
        np.testing.assert_array_equal(found["label"], model.predict(X))
        margin = hypothesis_margin(model, X, found["label"])
        np.testing.assert_allclose(found["hypothesis_margin"], margin, atol=1e-5)


def test_another_runtime(wine):
    """The evaluator of onnx itself, which is written in NumPy, gives the same."""
    from onnx.reference import ReferenceEvaluator

    X, y = np.float32(wine[0]), wine[1]
    for model in (pl.GLVQ(**SEED), pl.LGMLVQ(**SEED), pl.SoftMarginSVM()):
        graph = to_onnx(model.fit(X, y))
        session = ReferenceEvaluator(graph)
        for other, found in zip(session.run(None, {"X": X}), run(graph, X).values(), strict=True):
            if found.dtype.kind == "f":
                close(other, found, np.abs(found).max())
            else:
                np.testing.assert_array_equal(other.astype(found.dtype), found)


def test_batches_of_one_and_of_ten_thousand(wine):
    X, y = wine
    graph = to_onnx(pl.GMLVQ(prototypes_per_class=2, **SEED).fit(X, y))
    many = np.resize(np.float32(X), (10_000, X.shape[1]))
    whole = run(graph, many)
    for row in (0, 1, 9_999):
        for name, found in run(graph, many[row : row + 1]).items():
            assert len(found) == 1
            if found.dtype.kind == "f":
                np.testing.assert_allclose(found[0], whole[name][row], rtol=1e-4, atol=1e-5)
            else:
                assert found[0] == whole[name][row]
    assert len(run(graph, many[:0])["label"]) == 0


@pytest.mark.parametrize(
    "model",
    [
        pl.GLVQ(prototypes_per_class=2, **SEED),
        pl.GRLVQ(**SEED),
        pl.GMLVQ(**SEED),
        pl.LGMLVQ(rank=3, **SEED),
        pl.MRSLVQ(**SEED),
        pl.PrototypeClassifier(distance=distances.Relevance("class"), **SEED),
    ],
    ids=str,
)
def test_missing_values(model, wine):
    X, y = wine[0].copy(), wine[1]
    check(clone(model).fit(X, y), X)
    X[np.random.RandomState(0).rand(*X.shape) < 0.2] = np.nan
    check(clone(model).fit(X, y), X)


def test_data_far_from_the_origin(wine):
    X, y = wine[0] + 1000.0, wine[1]
    for model in (pl.GLVQ(**SEED), pl.GMLVQ(**SEED), pl.FisherPrototypes()):
        check(model.fit(X, y), X)


@pytest.mark.parametrize(
    "labels",
    [[2, 5, 7], ["red", "grün", "蓝"], [1.0, 2.0, 4.0], np.array([1, 2, 3], dtype=np.uint8)],
    ids=str,
)
def test_labels_of_all_types(labels, wine):
    X, y = wine
    y = np.asarray(labels)[np.unique(y, return_inverse=True)[1]]
    found = run(to_onnx(pl.GLVQ(**SEED).fit(X, y)), X)["label"]
    assert found.dtype.kind == {"U": "O", "u": "i"}.get(y.dtype.kind, y.dtype.kind)
    np.testing.assert_array_equal(found, pl.GLVQ(**SEED).fit(X, y).predict(X))
    two = run(to_onnx(pl.GLVQ(**SEED).fit(X, y == y[0])), X)["label"]
    assert two.dtype == bool


def test_labels_of_several_types_are_an_error(wine):
    model = pl.GLVQ(**SEED).fit(*wine)
    model.rule_ = replace(model.rule_, classes=np.array(["a", 1, "c"], dtype=object))
    with pytest.raises(TypeError, match="no common type"):
        to_onnx(model)
    model.rule_ = replace(model.rule_, classes=np.array([1, 2, 2**63 + 5], dtype=np.uint64))
    with pytest.raises(TypeError, match="64-bit integers"):
        to_onnx(model)


def between(values):
    """Give a number in the middle of two of the lower ones."""
    values = np.sort(values)
    return values[len(values) // 4 : len(values) // 4 + 2].mean()


@pytest.mark.parametrize(
    ("model", "measure"),
    [
        (make_pipeline(StandardScaler(), pl.GLVQ(**SEED)), "margin"),
        (pl.RSLVQ(**SEED), "probability"),
        (pl.SoftMarginSVM(), "margin"),
        (pl.Adaline(), "margin"),
        (LogisticRegression(), "probability"),
    ],
    ids=str,
)
@pytest.mark.parametrize("labels", ["words", "numbers", "truth", "reals"])
def test_reject_option(model, measure, labels, wine):
    X, y = np.float32(wine[0]), wine[1]
    kinds = {"numbers": y, "words": np.array(["a", "b", "c"])[y], "truth": y == 1, "reals": y + 1.0}
    y = kinds[labels]
    plain = pl.RejectClassifier(model, threshold=0.0, measure=measure).fit(X, y)
    sure = {label: plain.confidence(X)[plain.predict(X) == label] for label in plain.classes_}
    limits = {label: between(sure[label]) for label in plain.classes_.tolist()[1:]}
    model = clone(plain).set_params(threshold=limits).fit(X, y)
    check_rejections(model, X)


def check_rejections(model, X):
    found = run(to_onnx(model), X)
    np.testing.assert_array_equal(found["rejected"], ~model.accepts(X))
    assert 0.05 < found["rejected"].mean() < 0.5
    np.testing.assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize(
    "inner",
    [
        GridSearchCV(pl.GLVQ(**SEED), {"beta": [2, 5]}, cv=2),
        RandomizedSearchCV(pl.GLVQ(**SEED), {"beta": [2, 5]}, n_iter=1, cv=2),
        pl.AutoPrototypeClassifier(families=["fixed"], max_fits=10, **SEED),
        make_pipeline(make_pipeline(StandardScaler(), pl.GLVQ(**SEED))),
    ],
    ids=lambda model: type(model).__name__,
)
def test_reject_option_around_other_models(inner, two, wine):
    """A search is judged by its scores, as it has no prototypes itself."""
    X, y = np.float32(wine[0]), wine[1] == 1 if two else wine[1]
    plain = pl.RejectClassifier(inner, threshold=0.0).fit(X, y)
    model = clone(plain).set_params(threshold=between(plain.confidence(X))).fit(X, y)
    check_rejections(model, X)


def test_what_is_no_number_is_rejected(wine):
    X, y = wine
    for model in (pl.GLVQ(**SEED), pl.GMLVQ(**SEED), pl.SoftMarginSVM()):
        model = pl.RejectClassifier(model, threshold=0.0).fit(X, y)
        strange = np.stack([X[0], np.full(13, np.nan), np.full(13, 1e30)])
        assert run(to_onnx(model), strange)["rejected"].tolist() == [False, True, True]


def test_reject_label_of_another_type_is_an_error(wine):
    X, y = wine
    model = pl.RejectClassifier(pl.GLVQ(**SEED), threshold=0.1, reject_label="?").fit(X, y)
    with pytest.raises(TypeError, match="no common type"):
        to_onnx(model)
    twice = pl.RejectClassifier(pl.RejectClassifier(pl.GLVQ(**SEED), threshold=0.1), threshold=0.1)
    with pytest.raises(TypeError, match="within RejectClassifier"):
        to_onnx(twice.fit(X, y))
    model = pl.RejectClassifier(pl.GLVQ(**SEED), threshold=0.1, measure="radius").fit(X, y)
    with pytest.raises(TypeError, match="'margin' or"):
        to_onnx(model)


@pytest.mark.parametrize("two", [False, True])
def test_what_the_automatic_choice_chose(two, wine):
    X, y = wine
    y = y == 1 if two else y
    model = pl.AutoPrototypeClassifier(families=["fixed"], max_fits=20, **SEED).fit(X, y)
    found = run(to_onnx(model), X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("fit", ["fit_sigmoid", "fit_isotonic"])
@pytest.mark.parametrize("two", [False, True])
def test_calibrations_of_the_automatic_choice(fit, two, wine):
    X, y = wine
    y = y == 1 if two else y
    model = pl.AutoPrototypeClassifier(families=["fixed"], max_fits=20, **SEED).fit(X, y)
    rng = np.random.RandomState(0)
    scores = rng.randn(2000, len(model.classes_)) * model.temperature_
    codes = (scores + rng.gumbel(size=scores.shape) * model.temperature_).argmax(axis=1)
    codes[:300] = 0  # more rows of the first class than the scores say
    model.calibration_ = getattr(score_calibration, fit)([scores], [codes])
    found = run(to_onnx(model), X)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-3)


def test_the_automatic_choice_with_its_own_table(wine):
    X, y = pd.DataFrame(wine[0][:, :4], columns=list("abcd")), wine[1]
    X.iloc[::7, 1] = np.nan
    model = pl.AutoPrototypeClassifier(families=["fixed"], max_fits=20, **SEED).fit(X, y)
    found = run(to_onnx(model), X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


@pytest.mark.parametrize("two", [False, True])
def test_within_models_of_scikit_learn(two, wine):
    X, y = np.float32(wine[0]), wine[1]
    y = y == 1 if two else y
    for model in (
        GridSearchCV(make_pipeline(StandardScaler(), pl.GLVQ(**SEED)), {"glvq__beta": [2, 5]}),
        CalibratedClassifierCV(pl.GLVQ(**SEED), cv=3),
        CalibratedClassifierCV(pl.SoftMarginSVM(), cv=3),
        StackingClassifier([("a", pl.GLVQ(**SEED)), ("b", scaled(pl.GMLVQ(**SEED)))], cv=3),
        VotingClassifier(
            [("a", pl.GLVQ(**SEED)), ("b", scaled(pl.RSLVQ(**SEED)))],
            voting="soft",
            flatten_transform=False,
        ),
    ):
        found = run(to_onnx(model.fit(X, y)), X)
        np.testing.assert_array_equal(found["label"], model.predict(X))
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)


def test_skl2onnx_in_double_precision(wine):
    import skl2onnx

    register_converters()
    X, y = wine
    model = make_pipeline(StandardScaler(), pl.GMLVQ(**SEED)).fit(X, y)
    graph = skl2onnx.to_onnx(model, X[:1])
    assert [each.name for each in graph.graph.output] == ["label", "probabilities"]
    options = {id(model[-1]): {"all_outputs": True}}
    graph = skl2onnx.to_onnx(model, X[:1], options=options)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    D = dict(
        zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True)
    )["distances"]
    np.testing.assert_allclose(D, model[-1].distances(model[0].transform(X)), rtol=1e-10)


def test_products_with_the_training_rows(wine):
    X, y = wine
    gram = X @ X.T
    for model in (pl.KernelGLVQ(kernel="precomputed", **SEED), pl.RVM(kernel="precomputed")):
        model.fit(gram, y)
        np.testing.assert_array_equal(run(to_onnx(model), gram)["label"], model.predict(gram))


def test_a_class_without_prototypes_yet(wine):
    X, y = wine
    model = pl.GLVQ(**SEED).partial_fit(X[y != 1], y[y != 1], classes=np.unique(y))
    assert len(model.prototypes_) == 2
    found = check(model, X)
    assert (found["probabilities"][:, 1] == 0.0).all()


def test_chosen_outputs(wine):
    X, y = wine
    model = pl.GMLVQ(**SEED).fit(X, y)
    assert list(run(to_onnx(model, outputs=["distances", "label"]), X)) == ["distances", "label"]
    label = to_onnx(model, outputs=["label"])
    assert len(label.graph.node) < len(to_onnx(model).graph.node) / 2
    for wrong in ("label", [], ["labels"], ["label", "label"]):
        with pytest.raises(ValueError, match=r"out of .*'nearest_prototype'"):
            to_onnx(model, outputs=wrong)


def test_tables_of_numbers(wine):
    import pandas as pd

    X, y = 7.0 * wine[0] + 1000.0, wine[1]
    X[np.random.RandomState(0).rand(*X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X).rename(columns=lambda place: f"feature {place}")
    frame["nothing"] = np.nan
    with pytest.warns(UserWarning, match="nothing"):
        model = table_pipeline(pl.GLVQ(**SEED)).fit(frame, y)
    found = run(to_onnx(model), frame)
    frame = frame.astype(np.float32)
    np.testing.assert_array_equal(found["label"], model.predict(frame))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(frame), atol=1e-4)


WORDS = (
    table_pipeline(pl.GMLVQ(**SEED)),
    table_pipeline(pl.MeanOfClass()),
    table_pipeline(pl.KernelGLVQ(**SEED)),
)


@pytest.mark.parametrize("model", WORDS, ids=lambda model: type(model[-1]).__name__)
def test_tables_with_words_dates_and_holes(model):
    frame, y = datasets_with_words(300)
    model = model.fit(frame, y)
    new, _ = datasets_with_words(200, seed=1)
    new.loc[0, 'it\'s "odd"'] = "unseen"
    with pytest.warns(UserWarning, match="unseen"):
        wanted = model.predict(new)
    found = run(to_onnx(model), new)
    assert (found["label"] == wanted).mean() > 0.99
    if "contributions" not in found:
        return
    with pytest.warns(UserWarning, match="unseen"):
        reasons = explain(model, new, n=0)
    assert found["contributions"].shape == (200, frame.shape[1])
    agree = found["label"] == wanted
    close(
        found["contributions"][agree],
        reasons.contributions[agree],
        10.0 * np.abs(reasons.contributions).max(),
    )


def datasets_with_words(n, seed=0):
    """Give a table with words, codes, truth values, dates and holes, and its labels."""
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 3, n)
    frame = pd.DataFrame(
        {
            "age": 40.0 + 5.0 * y + rng.randn(n),
            'it\'s "odd"': np.array(["a'b", 'c"d', "e\\f", ""], dtype=object)[
                np.where(rng.rand(n) < 0.6, y, rng.randint(0, 4, n))
            ],
            "when": pd.Timestamp("2020-02-28") + pd.to_timedelta(y * 3 + rng.randint(0, 9, n), "D"),
            "flag": pd.array(rng.rand(n) < 0.3 + 0.2 * y, dtype="boolean"),
        }
    )
    frame["code"] = pd.Categorical(rng.randint(0, 3, n) * 10 + 5)
    frame.loc[rng.rand(n) < 0.1, "age"] = np.nan
    frame.loc[rng.rand(n) < 0.1, "when"] = pd.NaT
    frame.loc[rng.rand(n) < 0.1, "flag"] = pd.NA
    return frame, np.array(["no", "yes", "it's"])[y]


@pytest.mark.parametrize("last", [pl.GLVQ(**SEED), LogisticRegression()])
def test_metric_models_before_the_last_step(last, wine):
    X, y = wine
    model = make_pipeline(pl.GMLVQ(rank=3, **SEED), last).fit(X, y)
    found = run(to_onnx(model), X)
    assert (found["label"] == model.predict(np.float64(np.float32(X)))).mean() > 0.99


def test_what_the_graph_is_of(wine):
    import pandas as pd

    X, y = wine
    frame = pd.DataFrame(X).rename(columns=lambda place: f"feature {place}")
    model = make_pipeline(StandardScaler(), pl.GLVQ(**SEED)).fit(frame, y)
    graph = to_onnx(model)
    told = {each.key: each.value for each in graph.metadata_props}
    assert told["model"] == "GLVQ"
    assert json.loads(told["classes"]) == np.unique(y).tolist()
    assert json.loads(told["feature_names"]) == list(frame)
    assert json.loads(told["prototype_labels"]) == model[-1].prototype_labels_.tolist()
    assert graph.producer_name == "protolearn"
    assert graph.graph.input[0].type.tensor_type.shape.dim[1].dim_value == X.shape[1]


class Registered(City):
    """Has a form in ONNX."""


class Shrunk(Registered):
    """Another formula than that of its parent."""

    pair = LogCosh.pair


def test_a_distance_of_your_own(wine):
    from protolearn.io.onnx import Parts, onnx_distance

    X, y = wine
    model = pl.PrototypeClassifier(distance=City(), max_iter=5, **SEED).fit(X, y)
    with pytest.raises(TypeError, match=r"City has no form in ONNX.*onnx_distance.register"):
        to_onnx(model)

    @onnx_distance.register
    def city(distance: City, X, codebook):
        columns = [(X - w).apply("Abs").sum(1) for w in codebook.prototypes]
        return Parts(columns[0].beside(*columns[1:]))

    check(model, X)


def test_the_formula_of_a_parent_is_not_taken(wine):
    from protolearn.io.onnx import Parts, onnx_distance

    onnx_distance.register(Registered, lambda distance, X, codebook: Parts(X))
    model = pl.PrototypeClassifier(distance=Shrunk(), max_iter=1, **SEED).fit(*wine)
    with pytest.raises(TypeError, match="Shrunk has no form"):
        to_onnx(model)


def test_a_classifier_of_your_own(wine):
    class Mine(pl.GLVQ):
        pass

    check(Mine(**SEED).fit(*wine), wine[0])

    class First(pl.GLVQ):
        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    with pytest.raises(TypeError, match="First has its own predict"):
        to_onnx(First(**SEED).fit(*wine))


def test_a_converter_of_your_own_is_left_alone(wine):
    import skl2onnx

    class Constant(pl.GLVQ):
        pass

    def convert(scope, operator, container):
        raise RuntimeError("this one was called")

    def shapes(operator):
        """Leave them as declared."""

    skl2onnx.update_registered_converter(Constant, "TestConstant", shapes, convert)
    with pytest.raises(RuntimeError, match="this one was called"):
        to_onnx(Constant(**SEED).fit(*wine))


def test_frames_given_to_skl2onnx_column_by_column(wine):
    import pandas as pd
    import skl2onnx

    register_converters()
    frame = pd.DataFrame(wine[0]).rename(columns=str)
    with pytest.raises(ValueError, match="takes one with all features"):
        skl2onnx.to_onnx(pl.GLVQ(**SEED).fit(frame, wine[1]), frame[:1])


def test_what_has_no_form(wine):
    X, y = wine
    with pytest.raises(NotFittedError):
        to_onnx(pl.GLVQ())
    with pytest.raises(TypeError, match=r"PrototypeSVM.*[Nn]earest-prototype and linear"):
        to_onnx(pl.PrototypeSVM(n_shifts=1, **SEED).fit(X, y))
    with pytest.raises(TypeError, match="Python function"):
        to_onnx(pl.KernelGLVQ(kernel=lambda A, B: A @ B.T, **SEED).fit(X, y))
    union = FeatureUnion([("a", pl.GMLVQ(**SEED)), ("b", StandardScaler())])
    with pytest.raises(TypeError, match="before the last"):
        to_onnx(make_pipeline(union, LogisticRegression()).fit(X, y))
    reject = pl.RejectClassifier(pl.GLVQ(**SEED), threshold=0.0)
    stacked = StackingClassifier([("a", reject)], cv=2).fit(X, y)
    with pytest.raises(TypeError, match="within another model"):
        to_onnx(stacked)
    search = pl.AutoPrototypeClassifier(families=["ensemble"], max_fits=1, **SEED).fit(X, y)
    with pytest.raises(TypeError, match="PrototypeSVM has no form"):
        to_onnx(search)
    with pytest.raises(TypeError, match="not a classifier"):
        to_onnx(StandardScaler().fit(X))
    with pytest.raises(ValueError, match="13 or later"):
        to_onnx(pl.GLVQ(**SEED).fit(X, y), target_opset=12)
    for model in (pl.GLVQ(**SEED), pl.MeanOfClass(), pl.FisherPrototypes()):
        for unit in (1e30, 1e-30):
            with pytest.raises(ValueError, match="single precision; rescale"):
                to_onnx(model.fit(X * unit, y))


def test_packages_that_are_not_installed(wine, monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"protolearn\[onnx\]"):
        to_onnx(pl.GLVQ(**SEED).fit(*wine))


def test_without_what_skl2onnx_does_not_offer(wine, monkeypatch):
    """The way to convert a model within another is private to skl2onnx; others do without."""
    monkeypatch.setitem(sys.modules, "skl2onnx._parse", None)
    model = pl.GLVQ(**SEED).fit(*wine)
    assert to_onnx(model).graph.output[0].name == "label"
    with pytest.raises(ImportError, match="cannot convert RejectClassifier"):
        to_onnx(pl.RejectClassifier(model, threshold=0.1, cv="prefit").fit(*wine))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "last",
    [
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
        LinearSVC(),
        RidgeClassifier(),
        SGDClassifier(loss="log_loss", **SEED),
    ],
    ids=lambda m: type(m).__name__,
)
def test_linear_models_of_scikit_learn_explain_themselves(last, n_classes):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = make_pipeline(StandardScaler(), clone(last)).fit(X, y)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"X": np.float32(X)}), strict=True))
    np.testing.assert_array_equal(found["label"], model.predict(X))
    rule, Z = as_rule(model[-1]), model[:-1].transform(X)
    wanted = rule.unit * linear_leads(rule, Z, np.zeros((1, Z.shape[1])))
    np.testing.assert_allclose(found["contributions"], wanted, atol=1e-5 * np.abs(wanted).max())
    radius = certified_radius(model, X)
    assert (found["certified_radius"] <= radius * (1.0 + 1e-6)).all()
    assert (found["certified_radius"] > 0.99 * radius - 1e-4).all()
    assert ("probabilities" in names) == hasattr(model, "predict_proba")
    if "probabilities" in names:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)
