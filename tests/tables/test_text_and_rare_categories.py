"""Columns of text, rare categories put together, and missing numbers that are marked."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from protolearn import GLVQ, PrototypeClassifier, SoftMarginSVM, counterfactual, explain, load, save
from protolearn.io import export, to_onnx
from protolearn.losses import Sigmoid
from protolearn.report import write
from protolearn.tables import (
    CategoryColumn,
    TableEncoder,
    TextColumn,
    table_pipeline,
)

PRAISE = ["great battery", "works well", "very happy with it", "love the screen"]
BLAME = ["broken on arrival", "poor battery", "waste of money", "screen cracked"]


def reviews(n=200, seed=0):
    """Return reviews with prices, of which some are missing, towns of which most are rare."""
    rng = np.random.RandomState(seed)
    y = rng.choice(["bad", "good"], n)
    text = [
        " and ".join(rng.choice(PRAISE if label == "good" else BLAME, 3)) + f" {i}"
        for i, label in enumerate(y)
    ]
    towns = [f"town {i}" if i < 5 else f"village {i}" for i in range(80)]
    shares = np.where(np.arange(80) < 5, 0.15, 0.25 / 75)
    frame = pd.DataFrame(
        {
            "price": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.randint(5, 90, n)),
            "review": text,
            "town": rng.choice(towns, n, p=shares),
        }
    )
    frame.loc[3, "review"] = None
    return frame, y


@pytest.fixture(scope="module")
def data():
    return reviews()


# Text --------------------------------------------------------------------------------------------


def test_text_is_the_tfidf_of_scikit_learn(data):
    frame, _ = data
    encoder = TableEncoder(max_categories=20).fit(frame)
    column = encoder.columns_[1]
    assert isinstance(column, TextColumn)
    vectorizer = TfidfVectorizer(
        token_pattern=r"\b[a-z]\w+\b", min_df=2, max_df=0.5, sublinear_tf=True
    )
    expected = vectorizer.fit_transform(frame.review.fillna("")).toarray() / np.sqrt(2.0)
    places = slice(1, 1 + column.width)
    assert column.words == tuple(vectorizer.get_feature_names_out())
    np.testing.assert_allclose(encoder.transform(frame)[:, places], expected, rtol=1e-12)
    assert not encoder.transform(frame)[3, places].any()  # no text
    assert encoder.get_feature_names_out()[1] == f"review: {column.words[0]}"


def test_texts_without_a_common_word_are_one_category_apart():
    rows = pd.DataFrame({"a": ["red house", "blue car", "red house", "blue car", "so"]})
    found = TableEncoder(text="a", category_distance=3.0).fit_transform(rows)
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(3.0)


def test_what_is_taken_for_text(data):
    frame, _ = data
    frame = frame.assign(code=[f"A{i}" for i in range(len(frame))])
    with pytest.raises(ValueError, match="More categories than max_categories=50: column 'code'"):
        TableEncoder().fit(frame)
    kinds = [type(column) for column in TableEncoder().fit(frame.drop(columns="code")).columns_]
    assert kinds[1:] == [TextColumn, CategoryColumn]
    few = TableEncoder(text=["review"]).fit(frame[["price", "review"]][:30])
    assert isinstance(few.columns_[1], TextColumn)
    with pytest.raises(ValueError, match=r"text names the column 'reviews'.*Did you mean 'review'"):
        TableEncoder(text=["reviews"]).fit(frame)
    with pytest.raises(ValueError, match="Column 'code' holds text, and no word"):
        TableEncoder(text=["code"]).fit(frame)


@pytest.mark.parametrize(
    "last",
    [
        GLVQ(random_state=0),
        PrototypeClassifier(distance="mixed", loss=Sigmoid(15.0), random_state=0),
        SoftMarginSVM(),
    ],
    ids=["glvq", "mixed", "svm"],
)
def test_words_that_speak_for_a_class_are_shown(data, last, tmp_path):
    frame, y = data
    model = table_pipeline(last, frame, add_indicator=True).fit(frame, y)
    others, labels = reviews(seed=1)
    assert model.score(others, labels) > 0.95
    told = explain(model, others.iloc[[0, 3]], data=frame)
    assert told.words[1] == []  # there is no text
    (line,) = told.words[0]
    words = line.partition(f"for {told.label[0]}: ")[2].partition(";")[0].rstrip(".").split(", ")
    assert set(words) <= set(others.review[0].split())
    pool = PRAISE if told.label[0] == "good" else BLAME
    assert all(any(word in text for text in pool) for word in words)
    assert line in str(told)
    np.testing.assert_allclose(told.contributions.sum(axis=1), told.score_difference)
    save(model, tmp_path / "model.protolearn")
    assert (load(tmp_path / "model.protolearn").predict(others) == model.predict(others)).all()


def test_texts_do_not_change_in_counterfactuals(data):
    frame, y = data
    y = np.where(frame.price.fillna(0.0) > 40.0, "dear", "cheap")
    model = table_pipeline(GLVQ(random_state=0), frame, add_indicator=True).fit(frame, y)
    rows = frame.iloc[:20]
    found = counterfactual(model, rows, data=frame)
    assert found.feasible.sum() >= 10
    done = found.feasible
    assert (model.predict(found.points[done]) != model.predict(rows[done])).all()
    assert found.points.review[done].equals(rows.review[done])


# Rare categories ---------------------------------------------------------------------------------


def test_rare_categories_are_put_together(data):
    frame, y = data
    with pytest.warns(UserWarning, match=r"'town' has more than max_categories=20 categories; the"):
        encoder = TableEncoder(max_categories=20).fit(frame)
    column = encoder.columns_[2]
    assert column.categories == (*(f"town {i}" for i in range(5)), "other categories")
    assert sum(column.counts) == len(frame)
    counts = frame.town.value_counts()
    assert column.counts[:5] == tuple(counts[[f"town {i}" for i in range(5)]])
    rows = frame.iloc[:2].assign(town=["village 7", "never seen"])
    Z = encoder.transform(rows)  # without a warning
    assert encoder.inverse_transform(Z).town.tolist() == ["other categories"] * 2
    model = table_pipeline(GLVQ(random_state=0), frame, max_categories=20).fit(frame, y)
    assert model["table"].columns_[2].categories == column.categories
    found = counterfactual(model, frame.iloc[:10], data=frame)
    changed = found.points.town != frame.town.iloc[:10]
    assert not (found.points.town[changed & found.feasible] == "other categories").any()


def test_categories_that_are_named_are_all_kept(data):
    frame, _ = data
    towns = sorted(set(frame.town))
    encoder = TableEncoder(categories={"town": towns}).fit(frame)
    assert encoder.columns_[2].categories == tuple(towns)


# Missing numbers ---------------------------------------------------------------------------------


def test_missing_numbers_are_marked(data):
    frame, _ = data
    frame = frame[["price"]].assign(size=np.arange(len(frame)))
    encoder = TableEncoder(add_indicator=True, category_distance=2.0).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["price", "price is missing", "size"]
    Z, lost = encoder.transform(frame), frame.price.isna().to_numpy()
    np.testing.assert_array_equal(Z[:, 1], 2.0 * lost)
    plain = TableEncoder().fit(frame)
    np.testing.assert_array_equal(Z[:, [0, 2]], plain.transform(frame))
    pd.testing.assert_frame_equal(encoder.inverse_transform(Z), frame, check_dtype=False)
    assert "marked in a second entry" in encoder.describe()


@pytest.mark.parametrize("count", [1, 2])
def test_changes_of_missing_numbers_are_right(count):
    """A value that is missing decides; a change gives it, exactly as the model then says."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"income": rng.randint(10, 90, 200), "age": rng.randint(18, 80, 200)})
    frame = frame.astype(float)
    frame.loc[rng.uniform(size=200) < 0.3, "income"] = np.nan
    y = np.where(frame.income.isna() | (frame.income < 30), "no", "yes")
    last = PrototypeClassifier(
        distance="mixed", loss=Sigmoid(15.0), prototypes_per_class=count, random_state=0
    )
    model = table_pipeline(last, frame, add_indicator=True).fit(frame, y)
    assert model.score(frame, y) > 0.9
    without = table_pipeline(clone(last), frame).fit(frame, y)
    assert without.score(frame, y) < model.score(frame, y)
    rows = frame[frame.income.isna()].iloc[:10]
    found = counterfactual(model, rows, target="yes", fixed=["age"], data=frame)
    assert found.feasible.all()
    assert found.points.income.notna().all()
    assert (model.predict(found.points) == "yes").all()
    median = frame.income.median()
    sizes = (found.points.income - median).abs() / model["table"].columns_[0].sd
    np.testing.assert_allclose(found.distance, sizes, rtol=1e-9)


@pytest.mark.parametrize("last", [GLVQ(random_state=0), SoftMarginSVM()])
def test_a_graph_takes_text(last):
    """Words with letters beyond ASCII, in any case and beside any sign; no text at all."""
    onnxruntime = pytest.importorskip("onnxruntime")
    rng, words = np.random.RandomState(0), ["good", "Größe", "ÄPFEL", "1x", "x_y", "Ωmega", "née"]
    y = rng.choice(["bad", "good"], 150)
    texts = [
        rng.choice([" ", ", ", "-", "!\n"]).join(
            rng.choice([word, word.upper(), word.title()])
            for word in rng.choice(words[:5] if label == "good" else words[2:], rng.randint(0, 7))
        )
        for label in y
    ]
    frame = pd.DataFrame({"review": [text or None for text in texts], "x": rng.normal(size=150)})
    model = table_pipeline(last, frame, text=["review"]).fit(frame[:100], y[:100])
    assert len(model["table"].columns_[0].words) == 7  # ß in upper case is SS
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    feed = {"review": np.array(texts, object)[:, None], "x": np.float32(frame[["x"]])}
    label, scores, reasons = session.run(["label", "scores", "contributions"], feed)
    np.testing.assert_array_equal(label, model.predict(frame))
    np.testing.assert_allclose(scores[:, 1], model.decision_function(frame), atol=1e-5)
    assert reasons.shape == (150, 2)
    empty = {"review": np.array([[""]], object), "x": np.float32([[0.5]])}
    row = pd.DataFrame({"review": [None], "x": [0.5]})
    assert session.run(["label"], empty)[0] == model.predict(row)
    with pytest.raises(TypeError, match="'review' is free text"):
        export(model, "model.json", "json")


def test_a_graph_takes_marks_of_missing_numbers(data):
    frame, y = data
    onnxruntime = pytest.importorskip("onnxruntime")
    prices = frame[["price"]]
    model = table_pipeline(GLVQ(), prices, add_indicator=True).fit(prices, y)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    labels = session.run(["label"], {"price": prices.to_numpy(np.float32)})[0]
    assert prices.price.isna().any()
    np.testing.assert_array_equal(labels, model.predict(prices))


def test_the_page_shows_a_word_in_which_the_classes_differ(data, tmp_path):
    frame, y = data
    model = table_pipeline(GLVQ(random_state=0), frame, add_indicator=True).fit(frame, y)
    write(model, frame, y, tmp_path / "page.html", cv=None, n_refits=0)
    page = (tmp_path / "page.html").read_text("utf-8")
    word = re.search(r"<small>(\w+)</small>", page[page.index("values by class") :])[1]
    shares = [frame.review[y == one].str.contains(word, na=False).mean() for one in ("bad", "good")]
    assert abs(shares[0] - shares[1]) > 0.2
