"""Structured arrays give the same numbers as frames of pandas."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from protolearn import GLVQ, GMLVQ, counterfactual, explain
from protolearn.tables import (
    TableEncoder,
    prototypes_table,
    read_table,
    split_target,
    table_pipeline,
)
from protolearn.tables.pipeline import column_texts, prototype_text
from protolearn.tables.pipeline_steps import TableSteps

N_ROWS = 80


@pytest.fixture(scope="module")
def pets():
    """Make a frame of pandas with all kinds of columns."""
    rng = np.random.RandomState(0)
    weight = rng.lognormal(2, 0.5, N_ROWS)
    return pd.DataFrame(
        {
            "weight": np.where(rng.rand(N_ROWS) < 0.15, np.nan, weight),
            "legs": rng.randint(2, 5, N_ROWS),
            "colour": rng.choice(["red", "green", "blue"], N_ROWS),
            "home": rng.choice(["in", "out", None], N_ROWS),
            "tame": rng.rand(N_ROWS) < 0.5,
            "born": (np.datetime64("2015-01-01") + rng.randint(0, 999, N_ROWS)).astype("M8[us]"),
            "kind": np.where(weight > 7.5, "dog", "cat"),
        }
    )


def structured(frame):
    """Make a structured array of a frame."""
    fields = [(c, object if frame[c].dtype.kind not in "fiubM" else frame[c].dtype) for c in frame]
    found = np.empty(len(frame), dtype=fields)
    for name in frame:
        values = frame[name]
        if found.dtype[name].kind == "O":
            values = [None if pd.isna(value) else value for value in values]
        found[name] = values
    return found


def same(found, expected):
    """Compare a structured array with a frame of pandas."""
    assert list(found.dtype.names) == list(expected.columns)
    for name in expected:
        if expected[name].dtype.kind in "fiub":
            np.testing.assert_allclose(
                found[name].astype(float), expected[name].to_numpy(dtype=float), rtol=1e-12
            )
        elif expected[name].dtype.kind == "M":
            times = expected[name].to_numpy().astype("datetime64[us]")
            np.testing.assert_array_equal(found[name], times)
        else:
            texts = [None if pd.isna(value) else value for value in expected[name]]
            assert found[name].tolist() == texts


def fitted(model, pets):
    """Give the same pipeline, fitted to a frame and to a structured array."""
    X, y = split_target(pets, "kind")
    S, t = split_target(structured(pets), "kind")
    return (
        table_pipeline(model, X).fit(X, y),
        X,
        table_pipeline(clone(model), S).fit(S, t),
        S,
    )


def test_split_target(pets):
    S, t = split_target(structured(pets), "kind")
    X, y = split_target(pets, "kind")
    same(S, X)
    assert t.tolist() == y.tolist()
    assert t.dtype.kind == "U"
    for name in ("legs", "tame"):
        one, other = (split_target(f, name)[1] for f in (structured(pets), pets))
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match=r"no column 'kin'\. Did you mean 'kind'"):
        split_target(structured(pets), "kin")
    with pytest.raises(ValueError, match=f"no label in {pets['weight'].isna().sum()} of {N_ROWS}"):
        split_target(structured(pets), "weight")
    with pytest.raises(ValueError, match="no label in"):
        split_target(structured(pets), "home")
    with pytest.raises(ValueError, match="nothing to learn from"):
        split_target(structured(pets)[["kind"]], "kind")


@pytest.mark.parametrize("model", [GLVQ(random_state=0), GMLVQ(random_state=0)])
def test_pipeline_prototypes_and_contributions(pets, model):
    framed, X, plain, S = fitted(model, pets)
    assert plain["table"].describe() == framed["table"].describe()
    np.testing.assert_array_equal(plain["table"].transform(S), framed["table"].transform(X))
    assert list(plain["table"].feature_names_in_) == list(framed["table"].feature_names_in_)
    names = framed["table"].get_feature_names_out().tolist()
    assert plain["table"].get_feature_names_out().tolist() == names
    assert plain.predict(S).tolist() == framed.predict(X).tolist()
    for shares in (False, True):
        found, expected = prototypes_table(plain, shares), prototypes_table(framed, shares)
        same(found, expected.reset_index())
    found, expected = explain(plain, S, n=0), explain(framed, X, n=0)
    np.testing.assert_allclose(found.contributions, expected.contributions)
    assert found.columns == expected.columns


def test_cross_validation_and_pickles(pets):
    framed, X, plain, S = fitted(LogisticRegression(), pets)
    y = pets["kind"].to_numpy(dtype=str)
    np.testing.assert_allclose(
        cross_val_score(plain, S, y, cv=4), cross_val_score(framed, X, y, cv=4)
    )
    again = pickle.loads(pickle.dumps(plain))
    assert again.predict(S).tolist() == plain.predict(S).tolist()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"target": "dog"},
        {"fixed": ["weight", "colour"]},
        {"bounds": {"weight": (None, 30), "colour": ["red", "blue"]}, "fixed": "born"},
        {"bounds": "training"},
    ],
    ids=str,
)
def test_counterfactuals(pets, options):
    framed, X, plain, S = fitted(GLVQ(random_state=0), pets)
    expected = counterfactual(framed, X.iloc[:12], **options)
    found = counterfactual(plain, S[:12], **options)
    np.testing.assert_allclose(found.distance, expected.distance)
    assert found.sentences() == expected.sentences()
    assert found.label.tolist() == expected.label.tolist()
    same(found.points, expected.points)
    same(found.original, expected.original)


def test_back_to_the_table(pets):
    framed, X, plain, _ = fitted(LogisticRegression(), pets)
    Z = framed["table"].transform(X)
    same(plain["table"].inverse_transform(Z), framed["table"].inverse_transform(Z))


def test_columns_are_found_by_name(pets):
    framed, X, plain, S = fitted(GLVQ(random_state=0), pets)
    expected = plain.predict(S)
    whole = structured(pets)  # the label too
    order = list(reversed(whole.dtype.names))
    assert (plain.predict(whole[order]) == expected).all()
    assert (plain.predict(X) == expected).all()  # other libraries
    assert (framed.predict(S) == expected).all()
    with pytest.raises(ValueError, match="has no column 'legs', which was there"):
        plain.predict(S[[name for name in S.dtype.names if name != "legs"]])
    with pytest.raises(ValueError, match="a minimum of 1 row"):
        plain.predict(S[:0])
    with pytest.raises(ValueError, match=r"expected shape \(n_samples,\)"):
        plain.predict(S[0:1].reshape(1, 1))
    with pytest.raises(ValueError, match=r"expected shape \(n_samples,\)"):
        plain.predict(S[:1].reshape(()))
    array = table_pipeline(GLVQ(random_state=0)).fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])
    rows = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("u", float), ("v", float)])
    assert array.predict(rows).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="features"):
        array.predict(rows[["u"]])


def test_types_of_fields():
    """Whatever NumPy can hold in a field is read as it is meant."""
    rows = np.array(
        [
            (1, 2.5, True, b"a", "x", "2020-01-01", 1.5),
            (2, np.nan, False, b"\xc3\xa9", "y", "NaT", None),
            (3, 4.5, True, b"a", "z", "2020-01-03", 2.5),
        ],
        dtype=[
            ("i", "u1"),
            ("f", "f4"),
            ("b", "?"),
            ("S", "S2"),
            ("U", "U3"),
            ("M", "M8[D]"),
            ("O", "O"),
        ],
    )
    encoder = TableEncoder().fit(rows)
    kinds = [column.kind for column in encoder.columns_]
    assert kinds == ["number", "number", "boolean", "category", "category", "date", "number"]
    assert encoder.columns_[3].categories == ("a", "é")
    back = encoder.inverse_transform(encoder.transform(rows))
    assert back["i"].tolist() == [1, 2, 3]
    assert back["i"].dtype == np.uint8
    assert back["b"].tolist() == [True, False, True]
    assert back["S"].tolist() == ["a", "é", "a"]
    assert back["M"].astype("M8[D]").astype(str).tolist() == [
        "2020-01-01",
        "2020-01-02",
        "2020-01-03",
    ]
    assert back["O"].tolist() == [1.5, 2.0, 2.5]
    latin = np.array([(b"\xe9",), (b"a",)], dtype=[("S", "S1")])
    assert TableEncoder().fit(latin).columns_[0].categories == ("a", "é")
    for bad in ([("v", "f8", (2,))], [("v", [("w", "f8")])], [("v", "c16")], [("v", "m8[s]")]):
        with pytest.raises(TypeError, match="Column 'v' holds"):
            TableEncoder().fit(np.zeros(2, dtype=bad))


def test_masked_and_record_arrays():
    fields = [("x", "i8"), ("f", "f8"), ("s", "U1"), ("d", "M8[D]")]
    data = np.array([(1, 1.5, "a", "2020-01-01"), (2, 2.5, "b", "2020-01-03")] * 2, dtype=fields)
    expected = TableEncoder().fit(data).transform(data)
    np.testing.assert_array_equal(TableEncoder().fit_transform(data.view(np.recarray)), expected)
    mask = [(False,) * 4, (True,) * 4, (False,) * 4, (False,) * 4]
    encoder = TableEncoder().fit(np.ma.array(data, mask=mask))
    assert [column.n_missing for column in encoder.columns_] == [1] * 4
    assert encoder.columns_[0].median == 1
    assert encoder.columns_[2].categories == ("a", "b", None)
    unmasked = TableEncoder().fit_transform(np.ma.array(data))
    np.testing.assert_array_equal(unmasked, expected)


def test_texts_of_values(pets):
    framed, X, plain, S = fitted(GLVQ(random_state=0), pets)
    for row in range(10):
        found = first_texts(plain["table"], S[row : row + 1])
        assert found == first_texts(framed["table"], X.iloc[row : row + 1])
    lost = int(np.flatnonzero(pets["weight"].isna())[0])
    encoder = plain["table"]
    median = encoder.columns_[0].text(encoder.columns_[0].median)
    assert first_texts(encoder, S[lost:])[0] == f"missing (taken as {median})"
    new = S[:1].copy()
    new["colour"] = "pink"
    assert first_texts(encoder, new)[2] == "pink (unknown)"
    usual = table_pipeline(GLVQ(), S, missing="most_frequent").fit(S, pets["kind"])["table"]
    gone = int(np.flatnonzero(pets["home"].isna())[0])
    assert first_texts(usual, S[gone:])[3].startswith("missing (taken as ")
    assert first_texts(encoder, S[gone:])[3] == "missing"


def first_texts(encoder, rows):
    return [texts[0] for texts in column_texts(encoder, rows[:1])]


def prototype_texts(steps, prototypes):
    parts = steps.encoder.split_columns(steps.in_units(prototypes))
    return [[prototype_text(column, row[None]) for row in part] for column, part in parts]


def test_texts_of_prototypes(pets):
    framed, _, plain, _ = fitted(GLVQ(random_state=0), pets)
    steps = TableSteps.of(plain)
    texts = prototype_texts(steps, plain["model"].prototypes_)
    table = prototypes_table(framed)
    assert len(texts) == len(table.columns)
    for text, colour in zip(texts[2], table["colour"], strict=True):
        assert text.startswith(f"{colour} ")
    spread = framed["table"].columns_[0].sd
    np.testing.assert_allclose([float(t) for t in texts[0]], table["weight"], atol=spread / 50)
    assert [t[:10] for t in texts[5]] == table["born"].dt.strftime("%Y-%m-%d").tolist()
    middle = plain["model"].prototypes_.copy()
    middle[:, 2:5] = 1.0  # as much of each colour
    assert prototype_texts(steps, middle)[2] == ["mixed", "mixed"]


def test_a_file_and_a_frame_give_the_same_model(pets, tmp_path):
    path = tmp_path / "pets.csv"
    pets.to_csv(path, index=False)
    found = read_table(path, kinds={"tame": "category"}).frame
    texts = pets.assign(tame=pets["tame"].map(str).str.lower(), legs=pets["legs"].astype(float))
    same(found, texts)
    X, y = split_target(texts, "kind")
    S, t = split_target(found, "kind")
    framed = table_pipeline(GLVQ(random_state=0), X).fit(X, y)
    plain = table_pipeline(GLVQ(random_state=0), S).fit(S, t)
    np.testing.assert_array_equal(plain["model"].prototypes_, framed["model"].prototypes_)
