"""The report as a whole: a page for every model, told in the user's words."""

import html
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import protolearn
from given_profile import in_all, long_test
from protolearn import (
    GLVQ,
    LGMLVQ,
    LVQ1,
    RSLVQ,
    RVM,
    AdaTron,
    AutoPrototypeClassifier,
    BoostedPrototypes,
    CommitteeMachine,
    FisherPrototypes,
    KernelAdaTron,
    KernelGLVQ,
    PrototypeSVM,
    RejectClassifier,
    SoftMarginSVM,
)
from protolearn.report import write
from protolearn.report.page import rendering
from protolearn.tables import TableEncoder, table_pipeline

MODELS = {
    "rslvq": RSLVQ(random_state=0, max_iter=20),
    "lvq1": LVQ1(random_state=0, max_iter=5),
    "lgmlvq": LGMLVQ(random_state=0, max_iter=20),
    "kernel": KernelGLVQ(random_state=0, max_iter=20),
    "fisher": FisherPrototypes(),
    "svm": SoftMarginSVM(),
    "boosted": BoostedPrototypes(max_iter=30),
    "rvm": RVM(),
    "adatron": AdaTron(max_iter=50, gamma=1.0),
    "kernel-adatron": KernelAdaTron(kernel="rbf", max_iter=50, C=1.0),
    "committee": CommitteeMachine(random_state=0),
    "ensemble": PrototypeSVM(random_state=0, n_shifts=2),
    "other": LogisticRegression(),
    "forest": RandomForestClassifier(5, random_state=0),
}


SECTIONS = ["overview", "performance", "prototypes", "features", "cases", "ask", "robustness"]
SECTIONS += ["method"]

TWO = "rslvq", "fisher", "svm", "boosted"
"""Of these two classes are another case than three."""


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def text_of(path):
    return path.read_text("utf-8")


def without_engine(path):
    """Give the page without the code that computes with the model."""
    return re.sub(r'<script type="module">.*?</script>', "", text_of(path), flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "n_classes"),
    in_all(
        *((name, 3) for name in MODELS),
        *((name, 2) for name in TWO),
        thorough=[(name, 2) for name in MODELS if name not in TWO],
    ),
)
def test_every_model_has_a_page(flowers, tmp_path, name, n_classes):
    X, y = flowers
    here = np.isin(y, ["versicolor", "virginica", "setosa"][:n_classes])
    X, y = X[here], y[here]
    model = table_pipeline(MODELS[name]).fit(X, y)
    page = without_engine(write(model, X, y, tmp_path / "page.html", cv=2, n_refits=0))
    for section in SECTIONS:
        assert f'<section id="{section}">' in page
    assert "petal width (cm)" in page
    assert "Predicting setosa, versicolor or virginica" in page or n_classes == 2
    assert not re.search(r"\bnan\b|NaN|None\b", page.replace('"None"', ""))


def test_a_model_that_rejects_has_the_page_of_what_it_asks(flowers, tmp_path):
    X, y = flowers
    model = RejectClassifier(GLVQ(random_state=0), cost=0.2).fit(X, y)
    with pytest.raises(TypeError, match="give its model_"):
        write(model, X, y, tmp_path / "page.html", cv=2)


@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars", "structured"])
def test_rows_of_every_kind(flowers, tmp_path, kind):
    X, y = flowers
    rows = {
        "array": X.to_numpy(),
        "list": X.to_numpy().tolist(),
        "pandas": X.set_index(pd.Index([f"flower {i}" for i in range(150)])),
        "polars": pl.from_pandas(X),
        "structured": X.to_records(index=False),
    }[kind]
    model = table_pipeline(GLVQ(random_state=0)).fit(rows, y)
    page = text_of(write(model, rows, y, tmp_path / "page.html", cv=2))
    assert ("petal width (cm)" if kind not in ("array", "list") else "x3") in page
    assert ("Row flower 1" in page) == (kind == "pandas")


def test_pictures_are_shown_as_pictures(tmp_path):
    X, y = load_digits(n_class=3, return_X_y=True)
    model = GLVQ(random_state=0).fit(X, y)
    page = text_of(write(model, X, y, tmp_path / "page.html", cv=2, image_shape=(8, 8)))
    for name in "012":
        assert f'alt="{name}, as a picture"' in page
    assert page.count('class="pixels"') > 3  # rows worth a look, too
    for shape in (8, 7), (64,), (4, 4, 4), "8x8":
        with pytest.raises(ValueError, match="image_shape="):
            write(model, X, y, tmp_path / "page.html", image_shape=shape)


def test_a_search_tells_what_it_tried(flowers, tmp_path):
    X, y = flowers
    search = AutoPrototypeClassifier(families=["glvq", "fisher-prototypes"], max_fits=20)
    model = table_pipeline(search.set_params(random_state=0)).fit(X, y)
    page = text_of(write(model, X, y, tmp_path / "page.html", cv=2, title="Flowers"))
    assert "Models compared" in page
    assert "<h1>Flowers</h1>" in page


def test_the_same_seed_gives_the_same_page(flowers, tmp_path):
    X, y = flowers
    X, y = pd.concat([X] * 20, ignore_index=True), np.tile(y, 20)
    model = GLVQ(random_state=0).fit(X, y)

    def written(seed):
        path = write(model, X, y, tmp_path / "page.html", cv=2, random_state=seed)
        return re.sub(r"[\d.]+ seconds", "", text_of(path))

    first = written(0)
    assert written(0) == first
    assert written(1) != first
    assert re.search(r"1,5\d\d of 3,000 rows are drawn", first)


def test_unseen_rows_are_judged_by_the_model_itself(flowers, tmp_path):
    X, y = flowers
    model = GLVQ(random_state=0).fit(X[::2], y[::2])
    page = text_of(write(model, X[1::2], y[1::2], tmp_path / "page.html", cv=None))
    accuracy = model.score(X[1::2], y[1::2])
    assert f"<strong>{accuracy:.1%}</strong>" in page
    assert "The model itself predicted all rows" in page


def test_how_to_load_it_again(flowers, tmp_path):
    X, y = flowers
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    file = tmp_path / "iris.protolearn"
    protolearn.save(model, file)
    page = text_of(write(model, X, y, tmp_path / "page.html", cv=2, model_path=file))
    (code,) = re.findall('<pre tabindex="0"><code>(.*?)</code>', page, flags=re.DOTALL)
    assert len(code.splitlines()) == 3
    found = {"X": X}
    exec(html.unescape(code), found)
    np.testing.assert_array_equal(found["model"].predict(X), model.predict(X))


def test_missing_values_are_told(flowers, tmp_path):
    X, y = flowers
    X = X.copy()
    X.iloc[::7, 1] = np.nan
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    assert "missing (taken as 3)" in text_of(write(model, X, y, tmp_path / "page.html", cv=2))
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    assert "missing" in text_of(write(model, X, y, tmp_path / "page.html", cv=2))


def test_without_jinja2_the_remedy_is_told_before_any_work(flowers, tmp_path, monkeypatch):
    X, y = flowers
    model = GLVQ(random_state=0).fit(X, y)
    rendering.page_templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="pip install jinja2"):
        write(model, X, y, tmp_path / "page.html", cv=2)
    assert not list(tmp_path.iterdir())


def test_the_first_screen_says_how_much_better_than_a_guess(flowers, tmp_path):
    X, y = flowers
    X, y = X.iloc[20:], y[20:]
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    page = text_of(write(model, X, y, tmp_path / "page.html", cv=2))
    first = page[page.index('<section id="overview">') : page.index('<section id="performance">')]
    assert f"{50 / 130:.1%} by always predicting the largest class" in first
    assert f"{1 / 3:.1%} by always predicting the largest class" in first  # balanced accuracy
    assert first.count("<article") == 3


def test_nothing_is_left_of_a_page_that_fails(flowers, tmp_path, monkeypatch):
    X, y = flowers
    model = GLVQ(random_state=0).fit(X, y)
    path = tmp_path / "page.html"
    path.write_text("before")
    monkeypatch.setattr("pathlib.Path.write_text", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(model, X, y, path, cv=2)
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    assert path.read_bytes() == b"before"


def test_columns_that_a_step_leaves_out_are_not_invented(flowers, tmp_path):
    X, y = flowers
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), GLVQ(random_state=0)).fit(X, y)
    page = text_of(write(model, X, y, tmp_path / "page.html", cv=2))
    assert page.count("not used") == 2 * 3  # below the two columns of each of three prototypes
    assert "with 3 prototypes" in page
    assert "from 2 columns" in page


def test_what_cannot_be_undone_is_told_as_the_model_sees_it(flowers, tmp_path):
    X, y = flowers
    model = Pipeline(
        [("table", TableEncoder()), ("lda", LinearDiscriminantAnalysis()), ("glvq", GLVQ())]
    ).fit(X, y)
    page = text_of(write(model, X, y, tmp_path / "page.html", cv=2))
    assert "Prototypes, as the model sees them" in page
    words = pd.DataFrame({"colour": np.where(y == "setosa", "red", "blue"), "size": y})
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(words, y)
    assert "colour_red" in text_of(write(model, words, y, tmp_path / "page.html", cv=2))


def test_no_page_is_too_large(tmp_path):
    rng = np.random.RandomState(0)
    n = 600
    long = np.array([f"{i}{'category ' * 400}" for i in range(3)])[rng.randint(3, size=n)]
    frame = pd.DataFrame(rng.normal(size=(n, 30)), columns=[f"{j}{'x' * 5000}" for j in range(30)])
    frame["long"] = long
    y = np.array([f"{'class ' * 100}{i}" for i in range(20)])[np.arange(n) % 20]
    model = table_pipeline(GLVQ(init="means", max_iter=1)).fit(frame, y)
    assert write(model, frame, y, tmp_path / "page.html", cv=2).stat().st_size < 1_200_000


@long_test
def test_no_page_of_pictures_is_too_large(tmp_path):
    rng = np.random.RandomState(0)
    pictures, labels = rng.normal(size=(100, 64 * 64)), np.arange(100) % 2
    model = GLVQ(init="random", max_iter=1, prototypes_per_class=20).fit(pictures, labels)
    path = tmp_path / "page.html"
    write(model, pictures, labels, path, cv=2, image_shape=(64, 64))
    assert path.stat().st_size < 1_000_000


def test_few_rows_have_a_page(flowers, tmp_path):
    X, y = flowers
    rows = [0, 1, 50, 51]
    model = GLVQ(random_state=0).fit(X.iloc[rows], y[rows])
    page = text_of(write(model, X.iloc[rows], y[rows], tmp_path / "page.html"))
    assert "100.0% to 100.0%" not in page
    assert "StratifiedKFold, 2 splits" in page


def test_bad_settings_are_told_before_any_work(flowers, tmp_path):
    X, y = flowers
    model = GLVQ(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="random_state='x'"):
        write(model, X, y, tmp_path / "page.html", random_state="x")
    with pytest.raises(ValueError, match="n_refits=-1"):
        write(model, X, y, tmp_path / "page.html", n_refits=-1)
    with pytest.raises(ValueError, match="cv=1"):
        write(model, X, y, tmp_path / "page.html", cv=1)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write(model, X, y, tmp_path)
    with pytest.raises(ValueError, match="have names already"):
        write(model, X, y, tmp_path / "page.html", feature_names=list("abcd"))
    with pytest.raises(ValueError, match="feature"):
        write(model, X.iloc[:, :3], y, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
