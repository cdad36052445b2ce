"""Exported models answer as in Python, and for the same reasons, in every language."""

import json
import os
import subprocess
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

import protolearn as pl
from given_languages import STRICT, need, run_c, run_duckdb, run_node, run_postgres, run_sqlite
from given_profile import THOROUGH, in_all, long_test
from given_words import table_of_words
from protolearn import certified_radius, datasets, explain, export, to_onnx
from protolearn.analysis import has_margin, linear_leads, margin_of_prediction
from protolearn.io import FixedPointModel, document_of
from protolearn.rule import LinearRule, as_rule, with_raised_scores
from protolearn.tables import table_pipeline

SEED = {"random_state": 0}
TABLE = 'my "rows"; --'
N_ROWS = 100_000 if THOROUGH else 150
SAME = 1e-5
"""Relative difference from Python, of the largest number of its kind, in double precision."""

MODELS = in_all(
    pl.LGMLVQ(**SEED),
    pl.RSLVQ(prototypes_per_class=2, **SEED),
    pl.SoftMarginSVM(),
    thorough=(
        pl.GLVQ(prototypes_per_class=2, **SEED),
        pl.GMLVQ(prototypes_per_class=2, **SEED),
        pl.GRLVQ(**SEED),
        pl.MarginLVQ(**SEED),
        pl.LVQ21(**SEED),
        pl.MRSLVQ(**SEED),
        pl.LGMLVQ(localized="prototype", prototypes_per_class=2, **SEED),
        pl.MeanOfClass(),
        pl.FisherPrototypes(),
        pl.RVM(),
        pl.Perceptron(**SEED),
        LogisticRegression(),
        SGDClassifier(loss="log_loss", **SEED),
    ),
)


def quiet(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **options)


def answers_of(model, frame):
    """Give what Python says of rows, and which of them are clear enough to compare."""
    rule = as_rule(model[-1])
    if rule.is_soft:  # what explain says of these is something else, and takes long
        label, shares = quiet(model.predict, frame), quiet(model.predict_proba, frame)
        margin = quiet(margin_of_prediction, model, frame)
        found = SimpleNamespace(label=label, probability=shares, margin=margin)
    else:
        found = quiet(explain, model, frame, n=0, n_exemplars=1)
    scores = quiet(model.decision_function, frame)
    by_class = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    order = np.sort(by_class, axis=1)
    lead = order[:, -1] - order[:, -2]
    if order.shape[1] > 2:  # contributions depend on which class comes second
        lead = np.minimum(lead, order[:, -2] - order[:, -3])
    return found, lead > 1e-6 * np.abs(by_class).max()


def close(found, wanted, tolerance=SAME):
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance * np.abs(wanted).max())


def compare(found, wanted, clear, tolerance=SAME, least_radius=None, fewest=0.95):
    """Compare the answers of another language with those of Python."""
    assert clear.mean() > fewest
    np.testing.assert_array_equal(found["label"][clear], wanted.label[clear])
    if wanted.probability is not None:
        close(found["probabilities"][clear], np.asarray(wanted.probability)[clear], tolerance)
    else:
        assert found["probabilities"] is None
    if found["radius"] is not None:
        radius = np.asarray(wanted.certified_radius, dtype=float)
        assert (found["radius"][clear] <= radius[clear] * (1.0 + 1e-6)).all()
        if least_radius is None:
            close(found["radius"][clear], radius[clear], tolerance)
        else:
            assert np.median(found["radius"][clear] / radius[clear]) > least_radius
    if found["margin"] is not None:
        close(found["margin"][clear], np.asarray(wanted.margin)[clear], tolerance)


@cache
def fitted(number):
    """Fit a model to a table of words, and give it with new rows and the answers of Python."""
    model = table_pipeline(MODELS[number])
    frame, y = table_of_words(400)
    quiet(model.fit, frame, y)
    new, _ = table_of_words(N_ROWS, seed=1)
    new.iloc[0, 1] = "unseen"
    return model, new, answers_of(model, new)


def contributions_of(model, frame, wanted):
    """Give what columns contribute: for a soft decision by the nearest prototypes, as they say."""
    rule = as_rule(model[-1])
    if not rule.is_soft:
        return wanted.contributions
    leads = rule.feature_leads(rule.read_rows(model[-1], quiet(model[:-1].transform, frame)))
    starts = np.cumsum([0, *(column.width for column in model[0].columns_)])[:-1]
    return np.add.reduceat(leads, starts, axis=1)


@pytest.mark.parametrize("number", range(len(MODELS)), ids=lambda k: type(MODELS[k]).__name__)
class TestTables:
    """A table with words, dates and holes, whose names and labels try to break out of quotes."""

    def test_javascript(self, number, tmp_path):
        model, frame, (wanted, clear) = fitted(number)
        export(model, tmp_path / "model.mjs", to="js")
        found = run_node(tmp_path, frame)
        compare(found, wanted, clear)
        close(found["contributions"][clear], contributions_of(model, frame, wanted)[clear])

    @pytest.mark.parametrize(
        ("compiler", "kind"),
        in_all(
            ("gcc", "double"),
            ("clang", "float"),
            thorough=[
                ("clang", "double"),
                ("gcc", "float"),
            ],
        ),
    )
    def test_c(self, number, compiler, kind, tmp_path):
        model, frame, (wanted, clear) = fitted(number)
        export(model, tmp_path / "model.h", to="c", number=kind)
        found = run_c(tmp_path, frame, document_of(model), compiler)
        compare(found, wanted, clear, least_radius=None if kind == "double" else 0.9)
        close(found["contributions"][clear], contributions_of(model, frame, wanted)[clear])

    @pytest.mark.parametrize("run", [run_sqlite, run_duckdb, run_postgres])
    def test_sql(self, number, run, tmp_path):
        model, frame, (wanted, clear) = fitted(number)
        export(model, tmp_path / "model.sql", to="sql", table=TABLE)
        query = (tmp_path / "model.sql").read_text(encoding="utf-8")
        found = run(query, frame, document_of(model), TABLE)
        compare(found, wanted, clear)
        close(found["contributions"][clear], contributions_of(model, frame, wanted)[clear])


REAL = {
    "letter": [
        make_pipeline(StandardScaler(), pl.GLVQ(max_iter=20, **SEED)),
        make_pipeline(StandardScaler(), pl.GRLVQ(max_iter=20, **SEED)),
        make_pipeline(StandardScaler(), pl.GMLVQ(max_iter=20, **SEED)),
        make_pipeline(MinMaxScaler(), PCA(10), LogisticRegression(max_iter=50)),
        make_pipeline(StandardScaler(), pl.MeanOfClass()),
    ],
    "pendigits": [
        make_pipeline(StandardScaler(), pl.LGMLVQ(max_iter=20, **SEED)),
        make_pipeline(StandardScaler(), pl.RSLVQ(max_iter=20, prototypes_per_class=2, **SEED)),
        make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", **SEED)),
    ],
    "satimage": [
        make_pipeline(StandardScaler(), pl.GMLVQ(max_iter=20, rank=4, **SEED)),
        make_pipeline(RobustScaler(), pl.FisherPrototypes()),
    ],
}
"""Models of each kind for sets of real rows, 153,830 rows for each language."""

DATA = Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent")


@long_test
@pytest.mark.skipif(
    not (DATA / "letter.csv.gz").is_file(),
    reason="set PROTOLEARN_DATA to the folder of benchmark data",
)
@pytest.mark.parametrize(
    ("name", "place"), [(name, k) for name, models in REAL.items() for k in range(len(models))]
)
def test_real_rows(name, place, tmp_path):
    """All rows of a set, in all languages; prints how far the answers are apart."""
    X, y = datasets.load(name)
    model = REAL[name][place]
    quiet(model.fit, X[::4], y[::4])
    rows = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    wanted, clear = real_answers(model, X)
    document = document_of(model)
    for number, compilers in (("double", ["gcc", "clang"]), ("float", ["gcc", "clang"])):
        export(model, tmp_path / "model.h", to="c", number=number)
        for compiler in compilers:
            found = run_c(tmp_path, rows, document, compiler)
            least = 0.98 if number == "float" else None
            compare(found, wanted, clear, least_radius=least, fewest=0.9)
            print_apart(f"{name} {document['model']} {compiler} {number}", found, wanted, clear)
    export(model, tmp_path / "model.mjs", to="js")
    export(model, tmp_path / "model.sql", to="sql")
    query = (tmp_path / "model.sql").read_text(encoding="utf-8")
    runs = {
        "node": lambda: run_node(tmp_path, rows),
        "SQLite": lambda: run_sqlite(query, rows, document, "rows"),
        "DuckDB": lambda: run_duckdb(query, rows, document, "rows"),
        "PostgreSQL": lambda: run_postgres(query, rows, document, "rows"),
        "onnxruntime": lambda: run_onnx(model, X, document),
    }
    for language, run in runs.items():
        found = run()
        single = language == "onnxruntime"
        compare(found, wanted, clear, least_radius=0.9 if single else None, fewest=0.9)
        print_apart(f"{name} {document['model']} {language}", found, wanted, clear)


def real_answers(model, X):
    """Give what Python says of rows of numbers, and which of them are clear enough to compare."""
    rule, Z = as_rule(model[-1]), model[:-1].transform(X)
    scores = model.decision_function(X)
    order = np.sort(scores, axis=1)
    lead = np.minimum(order[:, -1] - order[:, -2], order[:, -2] - order[:, -3])
    if isinstance(rule, LinearRule):
        center = mean_row_of_steps(model, X) if Z.shape[1] == X.shape[1] else 0.0 * Z[:1]
        leads = rule.unit * linear_leads(rule, rule.read_rows(model[-1], Z), center)
    else:
        leads = rule.feature_leads(rule.read_rows(model[-1], Z))
    found = SimpleNamespace(
        label=model.predict(X),
        probability=model.predict_proba(X) if hasattr(model, "predict_proba") else None,
        margin=margin_of_prediction(model, X) if has_margin(model) else None,
        certified_radius=None if rule.is_soft else certified_radius(model, X),
        contributions=leads if Z.shape[1] == X.shape[1] else None,
    )
    return found, lead > 2e-5 * np.abs(scores).max()


def mean_row_of_steps(model, X):
    """Give the mean of the training rows as the last step sees it, or that of the prototypes."""
    if not isinstance(model[0], StandardScaler):  # the steps do not know the mean of the rows
        return model[-1].prototypes_.mean(axis=0, keepdims=True)
    return model[:-1].transform(X[::4]).mean(axis=0, keepdims=True)


def print_apart(what, found, wanted, clear):
    """Compare contributions, and print how far answers are apart, relative to the largest."""
    pairs = {
        "probability": (found["probabilities"], wanted.probability),
        "contribution": (found["contributions"], wanted.contributions),
        "margin": (found["margin"], wanted.margin),
        "radius": (found["radius"], wanted.certified_radius),
    }
    parts = [f"{int(clear.sum())} of {len(clear)} rows"]
    for name, (here, there) in pairs.items():
        if here is not None and there is not None:
            here, there = (np.asarray(x, dtype=float)[clear] for x in (here, there))
            apart = np.abs(here - there).max() / np.abs(there).max()
            parts.append(f"{name} {apart:.0e}")
            assert apart < SAME or name == "radius"
    print(what, *parts, sep=", ")


def run_onnx(model, X, document):
    """Run the graph of a model."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"X": np.float32(X)}), strict=True))
    return {
        "label": np.asarray(found["label"]),
        "probabilities": found.get("probabilities"),
        "contributions": found.get("contributions"),
        "margin": found.get("hypothesis_margin"),
        "radius": found.get("certified_radius"),
    }


def iris_like(n=120):
    X, y = datasets.load("iris")
    rng = np.random.RandomState(0)
    rows = X[rng.randint(0, len(X), n)] + 0.1 * rng.randn(n, X.shape[1])
    return X, y, pd.DataFrame(rows, columns=["x0", "x1", "x2", "x3"])


PIPELINES = [
    make_pipeline(MinMaxScaler(), pl.GMLVQ(rank=2, **SEED)),
    make_pipeline(RobustScaler(), PCA(2), StandardScaler(), pl.GLVQ(**SEED)),
    make_pipeline(SelectKBest(k=2), pl.MeanOfClass()),
    make_pipeline(pl.GMLVQ(rank=2, **SEED), LogisticRegression()),
    make_pipeline(SimpleImputer(), StandardScaler(), pl.LGMLVQ(**SEED)),
    pl.RejectClassifier(pl.GLVQ(**SEED), cost=0.2),
    pl.RejectClassifier(
        make_pipeline(StandardScaler(), pl.RSLVQ(**SEED)), cost=0.1, measure="probability"
    ),
    pl.RejectClassifier(LogisticRegression(), threshold=3.0),
    GridSearchCV(make_pipeline(StandardScaler(), pl.GLVQ(**SEED)), {"glvq__beta": [2.0, 5.0]}),
]


@pytest.mark.parametrize("model", PIPELINES, ids=lambda m: repr(m)[:40].split("\n")[0])
def test_pipelines_and_rejection(model, tmp_path):
    X, y, rows = iris_like()
    model.fit(X, y)
    wanted, P = model.predict(rows.to_numpy()), None
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(rows.to_numpy())
    for found in exported_everywhere(model, rows, tmp_path):
        label = np.where(found["rejected"], "reject", found["label"])
        np.testing.assert_array_equal(label, wanted)
        if P is not None:
            close(found["probabilities"], P)


def test_missing_values_that_the_distance_skips(tmp_path):
    X, y, rows = iris_like()
    model = pl.GRLVQ(**SEED).fit(X, y)
    rows[np.random.RandomState(1).rand(*rows.shape) < 0.2] = np.nan
    rows = rows[rows.notna().any(axis=1)]
    wanted = model.predict(rows.to_numpy())
    for found in exported_everywhere(model, rows, tmp_path):
        np.testing.assert_array_equal(found["label"], wanted)
        close(found["probabilities"], model.predict_proba(rows.to_numpy()))


def exported_everywhere(model, rows, folder):
    """Export a model, and yield what node, gcc, SQLite and DuckDB say of rows."""
    export(model, folder / "model.mjs", to="js")
    export(model, folder / "model.h", to="c", number="double")
    export(model, folder / "model.sql", to="sql")
    document, query = document_of(model), (folder / "model.sql").read_text(encoding="utf-8")
    yield run_node(folder, rows)
    yield run_c(folder, rows, document, "gcc")
    yield run_sqlite(query, rows, document, "rows")
    yield run_duckdb(query, rows, document, "rows")


@pytest.mark.parametrize("raised", [None, [0.0, 0.5, 0.2]], ids=["plain", "threshold"])
@pytest.mark.parametrize("method", ["temperature", "sigmoid", "isotonic"])
def test_the_automatic_choice(method, raised, tmp_path):
    X, y, rows = iris_like()
    auto = pl.AutoPrototypeClassifier(families=["fixed"], max_fits=20, **SEED)
    frame = pd.DataFrame(X, columns=rows.columns)
    auto.fit(frame, y)
    scores = [auto.decision_function(frame)]
    from protolearn.selection.auto import score_calibration

    fit = getattr(score_calibration, f"fit_{method}")
    auto.calibration_ = fit(scores, [np.searchsorted(auto.classes_, y)])
    if raised is not None:
        before = auto.predict(rows)
        auto.raised_scores_ = np.array(raised)
        auto.best_estimator_ = auto._with_threshold(auto.best_estimator_)
        assert (auto.predict(rows) != before).any()
    for found in exported_everywhere(auto, rows, tmp_path):
        np.testing.assert_array_equal(found["label"], auto.predict(rows))
        close(found["probabilities"], auto.predict_proba(rows))


@pytest.mark.parametrize(
    "model",
    [
        pl.GLVQ(prototypes_per_class=2, **SEED),
        pl.LGMLVQ(**SEED),
        pl.RSLVQ(prototypes_per_class=2, **SEED),
        pl.SoftMarginSVM(),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_threshold_between_the_classes(model, tmp_path):
    X, y, rows = iris_like()
    pipeline = table_pipeline(model).fit(pd.DataFrame(X, columns=rows.columns), y)
    before, size = pipeline.predict(rows), np.ptp(pipeline.decision_function(rows))
    name, last = pipeline.steps[-1]
    pipeline.steps[-1] = name, with_raised_scores(last, [0.0, 0.05 * size, 0.0])
    assert (pipeline.predict(rows) != before).any()
    wanted, clear = answers_of(pipeline, rows)
    leads = contributions_of(pipeline, rows, wanted)
    for found in exported_everywhere(pipeline, rows, tmp_path):
        compare(found, wanted, clear)
        close(found["contributions"][clear], leads[clear])


def test_what_cannot_be_exported(tmp_path):
    X, y, _ = iris_like()
    path = tmp_path / "model.json"
    for model, reason in (
        (pl.KernelGLVQ(**SEED), "is not the squared Euclidean distance"),
        (pl.PrototypeClassifier(distance="minkowski", max_iter=5, **SEED), "to_onnx takes more"),
        (make_pipeline(MinMaxScaler(clip=True), pl.GLVQ(**SEED)), "Step 'minmaxscaler'"),
    ):
        with pytest.raises(TypeError, match=reason):
            export(quiet(model.fit, X, y), path, to="json")
    model = pl.GLVQ(**SEED).fit(X, y)
    with pytest.raises(ValueError, match="to='cobol' must be one of 'c', 'js'"):
        export(model, path, to="cobol")
    with pytest.raises(ValueError, match="number='double' is for to='c'"):
        export(model, path, to="json", number="double")
    with pytest.raises(ValueError, match="table='mine' is for to='sql'"):
        export(model, path, to="json", table="mine")
    assert not any(tmp_path.iterdir())


def test_bad_rows_in_javascript(tmp_path):

    need("node")
    X, y, _ = iris_like()
    export(pl.SoftMarginSVM().fit(X, y), tmp_path / "m.mjs", to="js")
    script = """
import { predict } from "./m.mjs";
for (const row of [{ x0: 1 }, { x0: "word", x1: 1, x2: 1, x3: 1 }, [1, 2, Infinity, 4]]) {
  try { predict(row); console.log("no error"); } catch (error) { console.log(error.message); }
}
"""
    (tmp_path / "run.mjs").write_text(script)
    done = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        'Column "x1" has no value.',
        'Column "x0" needs a number, not word.',
        'Column "x2" needs a number, not Infinity.',
    ]


def test_the_document_holds_the_model():
    X, y, _ = iris_like()
    document = document_of(pl.GMLVQ(rank=2, **SEED).fit(X, y))
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert (document["format"], document["version"]) == ("protolearn-model", 1)
    assert [column["name"] for column in document["columns"]] == ["x0", "x1", "x2", "x3"]
    assert np.shape(document["prototypes"]) == (3, 4)
    assert np.shape(document["maps"][0]["matrix"]) == (2, 4)


FIXED_MAIN = r"""
#include "model.h"
#include <stdio.h>
int main(void) {
  static model_answer a;
  model_small q[MODEL_FEATURES];
  int j, v;
  for (;;) {
    for (j = 0; j < MODEL_FEATURES; j++) {
      if (scanf("%d", &v) != 1) return 0;
      q[j] = (model_small)v;
    }
    v = model_decide(q, &a);
    printf("%d %d %d", v, a.nearest_prototype, a.rejected);
    for (j = 0; j < MODEL_CLASSES; j++) printf(" %lld", (long long)a.scores[j]);
    for (j = 0; j < MODEL_COLUMNS; j++) printf(" %lld", (long long)a.contributions[j]);
    printf(" %.9g %.9g", (double)a.margin, (double)a.certified_radius);
    for (j = 0; j < MODEL_CLASSES; j++) printf(" %.9g", (double)a.probabilities[j]);
    printf("\n");
  }
}
"""

IN_FIXED_POINT = in_all(
    pl.GLVQ(prototypes_per_class=2, **SEED),
    pl.LGMLVQ(**SEED),
    pl.SoftMarginSVM(),
    thorough=(
        pl.GRLVQ(**SEED),
        pl.GMLVQ(prototypes_per_class=2, **SEED),
        pl.LGMLVQ(localized="prototype", prototypes_per_class=2, **SEED),
        pl.MeanOfClass(),
        pl.FisherPrototypes(),
        pl.RVM(),
        LogisticRegression(),
    ),
)


def run_fixed(folder, Q):
    """Give what ``model.h`` says of whole rows: whole numbers by their exact texts, and floats."""
    need("gcc")
    (folder / "main.c").write_text(FIXED_MAIN)
    strict = [*STRICT, "-fsanitize=undefined", "-fno-sanitize-recover"]
    subprocess.run(["gcc", *strict, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    text = "\n".join(" ".join(map(str, row)) for row in Q.tolist())
    done = subprocess.run(
        ["./main"], cwd=folder, input=text, capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    d = Q.shape[1]
    whole = np.array([line[: 6 + d] for line in lines], dtype=np.int64)
    return whole, np.array([line[6 + d :] for line in lines], dtype=float)


def raised_by(model, X):
    """Give a pipeline with a threshold that favours its second class."""
    size = np.ptp(model.decision_function(X))
    name, last = model.steps[-1]
    model.steps[-1] = name, with_raised_scores(last, [0.0, 0.05 * size, 0.0])
    return model


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("model", IN_FIXED_POINT, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("is_raised", in_all(False, thorough=[True]))
def test_fixed_point(model, bits, is_raised, tmp_path):
    """C and Python agree bit for bit, and the labels are those of the model, but for some rows."""
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    model = raised_by(model, X) if is_raised else model
    export(model, tmp_path / "model.h", to="c", number=f"int{bits}")
    document = document_of(model)
    fixed = FixedPointModel.of(document, bits)
    top, rng = 2 ** (bits - 1) - 1, np.random.RandomState(0)
    Q = rng.randint(-top, top + 1, (N_ROWS, X.shape[1]))
    Q[: len(Q) // 2] //= 4
    offset = np.array([column["offset"] for column in document["columns"]])
    scale = np.array([column["scale"] for column in document["columns"]])
    Z = (X - offset) * scale
    rows = fixed.quantized_rows(Z)
    Q = np.vstack([rows, Q])
    whole, real = run_fixed(tmp_path, Q)
    np.testing.assert_array_equal(whole[:, 0], fixed.codes(Q))
    np.testing.assert_array_equal(whole[:, 3:6], fixed.scores(Q))
    np.testing.assert_array_equal(whole[:, 6:], fixed.contributions(Q))
    if document["prototypes"]:
        np.testing.assert_array_equal(whole[:, 1], fixed.distances(Q).argmin(axis=1))
    agree = (model.classes_[fixed.codes(rows)] == model.predict(X)).mean()
    assert agree > {8: 0.95, 16: 0.99}[bits]
    check_confidences(model, X, real[: len(X)], 0.02 if bits == 16 else 0.35)
    if real[0, 1] >= 0.0:
        check_radii(fixed, Z, real[: len(X), 1])


def check_confidences(model, X, found, tolerance):
    """Compare margins, radii and probabilities in fixed point with those of the model."""
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found[:, 2:], model.predict_proba(X), atol=tolerance)
        np.testing.assert_allclose(found[:, 2:].sum(axis=1), 1.0, rtol=1e-5)
    else:
        assert (found[:, 2:] == -1.0).all()
    if hasattr(model[-1], "prototypes_"):
        close(found[:, 0], margin_of_prediction(model, X), tolerance)
    else:
        assert (found[:, 0] == -1.0).all()


def check_radii(fixed, Z, radius):
    """No row within a radius has another class in fixed point, and most radii say something."""
    rng, codes = np.random.RandomState(1), fixed.codes(fixed.quantized_rows(Z))
    assert (radius > 0.0).mean() > (0.9 if fixed.bits == 16 else 0.2)
    others = np.array([Z[codes != c].mean(axis=0) for c in range(3)])[codes] - Z
    for step in (*rng.standard_normal((30, *Z.shape)), others):
        step = step / np.linalg.norm(step, axis=1, keepdims=True)
        moved = fixed.quantized_rows(Z + radius[:, None] * step)
        np.testing.assert_array_equal(fixed.codes(moved), codes)


def test_soft_decisions_have_no_fixed_point(tmp_path):
    X, y, _ = iris_like()
    model = pl.RSLVQ(prototypes_per_class=2, **SEED).fit(X, y)
    with pytest.raises(TypeError, match="RSLVQ has no form in fixed point"):
        export(model, tmp_path / "model.h", to="c", number="int8")
    assert not any(tmp_path.iterdir())
