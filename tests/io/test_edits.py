"""Edits of a model: the report's own code, run by node, and Python end with the same model."""

import json
import subprocess
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import protolearn as pl
from given_edits import WHY, assert_equal_models, random_edits
from given_languages import exact_rows, need
from given_words import table_of_words
from protolearn import apply_edits, load, save
from protolearn.io import EditsError, document_of, model_fingerprint
from protolearn.io.edits import LARGEST, MOST_EDITS, blank_edits
from protolearn.rule import with_raised_scores
from protolearn.tables import table_pipeline

RUN = """
import { readFileSync, writeFileSync } from "node:fs";
const { document, rows, truth, back, edits } = JSON.parse(readFileSync("work.json"));
const model = modelOf(document);
const Z = Float64Array.from(rows.flatMap((row) => Array.from(model.encode(row))));
const bench = benchOf(document, Z, Int32Array.from(truth), back);
let state = bench.first;
for (const edit of edits) {
  const before = state;
  const kept = JSON.stringify(bench.documentOf(before.list));
  state = bench.apply(state, edit);
  if (JSON.stringify(bench.documentOf(before.list)) !== kept) throw new Error("no undo");
}
const { code, margin, radius, confusion, correct } = bench.judge(state.list);
const edited = modelOf(bench.documentOf(state.list));
const answers = rows.map((row) => edited.predict(row));
const found = { code: [...code], margin: [...margin], radius: [...radius], confusion, correct };
writeFileSync("found.json", JSON.stringify({ ...found, answers }));
"""
SEED = {"random_state": 0}
MODELS = {
    "glvq": pl.GLVQ(prototypes_per_class=3, **SEED),
    "gmlvq": pl.GMLVQ(prototypes_per_class=3, max_iter=20, **SEED),
    "grlvq": pl.GRLVQ(prototypes_per_class=2, max_iter=20, **SEED),
    "by class": pl.LGMLVQ(prototypes_per_class=3, max_iter=10, **SEED),
    "by prototype": pl.LGMLVQ(localized="prototype", prototypes_per_class=3, max_iter=10, **SEED),
    "soft": pl.RSLVQ(prototypes_per_class=2, max_iter=20, **SEED),
}


def page_script(name):
    folder = resources.files("protolearn.report.page") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def file_of(model, edits):
    return blank_edits(model) | {"edits": edits}


def run_bench(folder, model, frame, y, edits, back=None):
    """Make edits as the page does, and give what it then says of rows."""
    need("node")
    engine = (resources.files("protolearn.io.exports") / "model.mjs").read_text(encoding="utf-8")
    (folder / "run.mjs").write_text(f"{engine}\n{page_script('bench.js')}\n{RUN}")
    truth = np.searchsorted(model.classes_, y).tolist()
    work = {"document": document_of(model), "rows": exact_rows(frame), "truth": truth}
    work |= {"back": back, "edits": edits}
    (folder / "work.json").write_text(json.dumps(work))
    subprocess.run(["node", "run.mjs"], cwd=folder, check=True)
    return json.loads((folder / "found.json").read_text())


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.array(["north", "south", "west"])[y]


@pytest.mark.parametrize("name", MODELS)
def test_the_page_and_python_make_the_same_model(wine, tmp_path, name):
    frame, y = wine
    model = make_pipeline(StandardScaler(), MODELS[name]).fit(frame, y)
    edits = random_edits(document_of(model), 50, seed=1)
    edited = apply_edits(model, file_of(model, edits))
    assert_equal_models(run_bench(tmp_path, model, frame, y, edits), edited, frame, y)
    assert_equal_models(run_bench(tmp_path, edited, frame, y, []), edited, frame, y)


def test_thresholds_of_classes_stay_with_their_prototypes(wine, tmp_path):
    frame, y = wine
    scaler = StandardScaler().fit(frame)
    last = pl.GLVQ(prototypes_per_class=2, **SEED).fit(scaler.transform(frame), y)
    model = make_pipeline(scaler, with_raised_scores(last, [0.0, 3.0, 8.0]))
    edits = random_edits(document_of(model), 50, seed=4)
    edited = apply_edits(model, file_of(model, edits))
    assert_equal_models(run_bench(tmp_path, model, frame, y, edits), edited, frame, y)
    save(edited, tmp_path / "edited.protolearn")
    rule = load(tmp_path / "edited.protolearn")[-1].rule_
    np.testing.assert_array_equal(rule.offsets, np.array([8.0, 5.0, 0.0])[rule.codebook.labels])
    np.testing.assert_array_equal(rule.log.offsets, model[-1].rule_.offsets)


def test_behind_a_step_that_mixes_columns(wine, tmp_path):
    frame, y = wine
    last = pl.GMLVQ(prototypes_per_class=2, max_iter=20, **SEED)
    model = make_pipeline(StandardScaler(), PCA(5), last).fit(frame, y)
    edits = random_edits(document_of(model), 30, seed=2)
    edited = apply_edits(model, file_of(model, edits))
    found = run_bench(tmp_path, model, frame, y, edits, back=model[-1].omega_.tolist())
    assert_equal_models(found, edited, frame, y)


def test_a_table_with_words_dates_and_missing_values(tmp_path):
    frame, y = table_of_words(150)
    model = table_pipeline(pl.GMLVQ(prototypes_per_class=2, max_iter=20, **SEED)).fit(frame, y)
    day = frame.columns[2]
    edits = random_edits(document_of(model), 30, seed=3)
    edits.append(MOVE | {"values": {day: "2020-02-27 06:30"}})
    for text in "now", "31.5.2024", "2020-02-27T06:30+01:00":
        with pytest.raises(EditsError, match="needs a date, such as"):
            apply_edits(model, file_of(model, [MOVE | {"values": {day: text}}]))
    edited = apply_edits(model, file_of(model, edits))
    found = run_bench(tmp_path, model, frame, y, edits)
    code = np.searchsorted(edited.classes_, edited.predict(frame))
    np.testing.assert_array_equal(found["code"], code)
    P = np.array([one["probabilities"] for one in found["answers"]])
    np.testing.assert_allclose(P, edited.predict_proba(frame), atol=1e-6)


@pytest.fixture(scope="module")
def small():
    frame = pd.DataFrame({"a": [0.0, 1.0, 4.0, 5.0, 9.0], "b": [0.0, 1.0, 1.0, 0.0, 2.0]})
    y = np.array(["left", "left", "right", "right", "right"])
    return table_pipeline(pl.GLVQ(prototypes_per_class={"right": 2}, **SEED)).fit(frame, y), frame


MOVE = {"edit": "move", "prototype": 0, "values": {"a": 2.0}, **WHY}


def test_the_log_stays_in_the_model(small, tmp_path):
    model, frame = small
    before = model.predict_proba(frame)
    effect = {"rows": 5, "gained": 1, "lost": 0}
    one = apply_edits(model, file_of(model, [MOVE | {"effect": effect, "extra": "dropped"}]))
    np.testing.assert_array_equal(model.predict_proba(frame), before)
    assert model[-1].rule_.log is None
    save(one, tmp_path / "one.protolearn")
    again = load(tmp_path / "one.protolearn")
    lock = {"edit": "lock", "columns": ["a"], **WHY}
    two = apply_edits(again, file_of(again, [lock, {"edit": "remove", "prototype": 1, **WHY}]))
    log = two[-1].rule_.log
    assert log.entries[0] == MOVE | {"effect": effect}
    assert [entry["edit"] for entry in log.entries] == ["move", "lock", "remove"]
    np.testing.assert_array_equal(log.codebook.prototypes, model[-1].prototypes_)
    assert two[-1].n_prototypes_ == {"left": 1, "right": 1}
    with pytest.raises(EditsError, match="'a' is locked"):
        apply_edits(two, file_of(two, [MOVE]))
    free = apply_edits(two, file_of(two, [lock | {"edit": "unlock"}, MOVE]))
    assert free[-1].rule_.log.locked == []
    assert two[-1].partial_fit(two[:-1].transform(frame[:2]), ["left", "right"]) is two[-1]


def test_edits_of_another_model_are_refused(small):
    model, frame = small
    other = table_pipeline(pl.GLVQ(**SEED)).fit(frame, ["left", "left", "right", "right", "left"])
    with pytest.raises(EditsError, match="another model: the fingerprints differ"):
        apply_edits(other, file_of(model, [MOVE]))
    edited = apply_edits(model, file_of(model, [MOVE]))
    with pytest.raises(EditsError, match="another model"):  # not twice
        apply_edits(edited, file_of(model, [MOVE]))
    assert model_fingerprint(model) != model_fingerprint(edited)


BROKEN = {
    "no edit": ({"edit": "__init__", **WHY}, "none of these: move, remove"),
    "text": ("move", "none of these"),
    "reason": (MOVE | {"reason": " "}, "has no reason"),
    "author": (MOVE | {"author": None}, "has no author"),
    "number": (MOVE | {"prototype": 99}, "no prototype 99"),
    "negative": (MOVE | {"prototype": -1}, "no prototype -1"),
    "truth": (MOVE | {"prototype": True}, "no prototype True"),
    "column": (MOVE | {"values": {"__class__": 1.0}}, "no column '__class__' that is used"),
    "value": (MOVE | {"values": {"a": "__import__('os')"}}, "needs a number"),
    "far": (MOVE | {"values": {"a": 1e300}}, "far from all rows"),
    "huge": (MOVE | {"values": {"a": 10**400}}, "cannot be applied"),
    "list": (MOVE | {"values": [1.0]}, "not an object with a value"),
    "class": ({"edit": "relabel", "prototype": 1, "label": "up", **WHY}, "no class 'up'"),
    "same": ({"edit": "relabel", "prototype": 1, "label": "right", **WHY}, "this class already"),
    "last": ({"edit": "remove", "prototype": 0, **WHY}, "without a prototype"),
    "itself": ({"edit": "merge", "prototype": 1, "other": 1, **WHY}, "with itself"),
    "lacking": ({"edit": "add", "label": "left", "values": {"a": 1}, **WHY}, "1 have none"),
    "lock": ({"edit": "lock", "columns": "a", **WHY}, "not a list of names"),
    "unknown": ({"edit": "lock", "columns": ["c"], **WHY}, "no column 'c'"),
    "missing": ({"edit": "merge", "prototype": 1, **WHY}, "Edit 1 cannot be applied"),
    "effect": (MOVE | {"effect": {"gained": 1.5}}, "not a number of rows"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_edits_are_refused_with_the_reason(small, name):
    model, _ = small
    edit, reason = BROKEN[name]
    with pytest.raises(EditsError, match=reason):
        apply_edits(model, file_of(model, [edit]))


HOSTILE = {
    "empty": ("", "cannot be read as JSON"),
    "pickle": (b"\x80\x04cos\nsystem\n(S'true'\ntR.", "cannot be read as JSON"),
    "deep": ("[" * 200_000, "cannot be read as JSON"),
    "constant": ('{"format": NaN}', "NaN is not a number"),
    "twice": ('{"format": 1, "format": 2}', "twice"),
    "list": ("[]", "not in the format"),
    "format": ('{"format": "protolearn-model"}', "not in the format"),
    "version": ('{"format": "protolearn-edits", "version": 2}', "reads version 1"),
    "long": (" " * (LARGEST + 1), "more than 10,000,000 bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_with_the_reason(small, tmp_path, name):
    content, reason = HOSTILE[name]
    path = tmp_path / "edits.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(EditsError, match=reason):
        apply_edits(small[0], path)


def test_other_files_are_refused(small, tmp_path):
    model, _ = small
    with pytest.raises(IsADirectoryError, match="is a folder"):
        apply_edits(model, tmp_path)
    for edits, reason in (
        ({"edits": []}, "list of 1 to"),
        ({"edits": [MOVE] * (MOST_EDITS + 1)}, "list of 1 to"),
        ({"edits": [MOVE], "shown": [-1]}, "not whole numbers"),
        ({"edits": [MOVE], "model": 1}, "do not say for which model"),
    ):
        with pytest.raises(EditsError, match=reason):
            apply_edits(model, blank_edits(model) | edits)
    linear = pl.SoftMarginSVM().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    with pytest.raises(TypeError, match="is linear"):
        apply_edits(linear, blank_edits(linear) | {"edits": [MOVE]})


def test_a_search_and_a_reject_option_are_edited_within(wine):
    frame, y = wine
    search = pl.AutoPrototypeClassifier(families="GLVQ", max_fits=6, random_state=0)
    model = table_pipeline(pl.RejectClassifier(search, cost=0.2)).fit(frame, y)
    name = document_of(model)["columns"][0]["name"]
    edits = [MOVE | {"values": {name: 12.0}}, {"edit": "lock", "columns": [name], **WHY}]
    edited = apply_edits(model, file_of(model, edits))
    before, after = (np.array(document_of(one)["prototypes"]) for one in (model, edited))
    moved = (after - after[1]) - (before - before[1])  # documents have centers of their own
    assert np.argwhere(np.abs(moved) > 1e-9).tolist() == [[0, 0]]
    assert model_fingerprint(model) == blank_edits(model)["model"] != model_fingerprint(edited)
    assert edited[-1].model_.best_estimator_ is not model[-1].model_.best_estimator_


def test_learning_goes_on_from_an_edited_model(wine, tmp_path):
    frame, y = wine
    Z = StandardScaler().fit_transform(frame)
    model = pl.GMLVQ(prototypes_per_class=2, max_iter=20, **SEED).fit(Z, y)
    edits = [{"edit": "remove", "prototype": 0, **WHY}, MOVE | {"values": {"x1": 0.3}}]
    edited = apply_edits(model, file_of(model, edits))
    new = pl.GMLVQ(init=edited.rule_, max_iter=1, **SEED).fit(Z, y)
    assert new.n_prototypes_ == edited.n_prototypes_ == {"north": 1, "south": 2, "west": 2}
    assert new.rule_.log is None
    step = np.abs(new.prototypes_ - edited.prototypes_).max()
    assert 0.0 < step < np.abs(new.prototypes_ - model.prototypes_[1:]).max()
    assert np.abs(new.omega_ - edited.omega_).max() < 0.3 < np.abs(new.omega_ - np.eye(13)).max()
    again = clone(new).fit(Z, y)
    np.testing.assert_array_equal(again.prototypes_, new.prototypes_)
    stream = pl.GMLVQ(init=edited.rule_, solver="sgd", **SEED)
    stream.partial_fit(Z[:1], y[:1], list(model.classes_))
    assert np.abs(stream.prototypes_ - edited.prototypes_).max() < 0.5
    save(new, tmp_path / "new.protolearn")
    assert load(tmp_path / "new.protolearn").init.log.entries == edited.rule_.log.entries
    with pytest.raises(ValueError, match="cannot continue with"):
        pl.GLVQ(init=edited.rule_).fit(Z, y)
    with pytest.raises(ValueError, match="the rows have"):
        pl.GMLVQ(init=edited.rule_).fit(Z[y != "west"], y[y != "west"])
    with pytest.raises(ValueError, match="13"):
        pl.GMLVQ(init=edited.rule_).fit(Z[:, :5], y)
