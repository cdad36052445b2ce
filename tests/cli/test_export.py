"""A saved model as a graph for other languages."""

import json
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import protolearn
from protolearn import GLVQ
from protolearn.cli.failure import FAILED, Failure
from protolearn.cli.predict_and_export import run_export
from protolearn.tables import table_pipeline

onnx = pytest.importorskip("onnx", reason="ONNX is optional: pip install 'protolearn[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """Save a model of a table of numbers, with the threshold of a second look."""
    folder = tmp_path_factory.mktemp("wine")
    frame = load_wine(as_frame=True).frame
    X, y = frame.drop(columns="target"), frame["target"].map({0: "a", 1: "b", 2: "c"})
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    protolearn.save(model, folder / "wine.protolearn", notes={"reject": {"threshold": 0.7}})
    return folder, model, X


def test_the_graph_gives_what_the_model_gives(command, wine):
    folder, model, X = wine
    done = command("export", "wine.protolearn", cwd=folder)
    assert done.code == 0, done.err
    assert "alcohol, malic_acid" in " ".join(done.err.split())
    assert "below 0.7" in done.err
    session = onnxruntime.InferenceSession(str(folder / "wine.onnx"))
    rows = {name: X[[name]].to_numpy(dtype=np.float32) for name in X}
    label, probabilities = session.run(["label", "probabilities"], rows)
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-4)


def test_the_graph_says_what_it_is_of(command, wine):
    folder, _, X = wine
    assert command("export", "wine.protolearn", "-o", "there/graph.onnx", cwd=folder).code == 0
    graph = onnx.load(folder / "there" / "graph.onnx")
    told = {each.key: each.value for each in graph.metadata_props}
    assert json.loads(told["feature_names"]) == list(X.columns)
    assert told["reject_below_probability"] == "0.7"


def test_what_cannot_be_exported(command, fitted, wine, tmp_path):
    done = command("export", wine[0] / "wine.protolearn", "--to", "cobol", cwd=tmp_path)
    assert done.code == 2
    assert "--to cobol is not one of c, js, sql" in done.sentence
    for option in ("--number", "double"), ("--table", "mine"):
        done = command(
            "export",
            wine[0] / "wine.protolearn",
            "-o",
            tmp_path / "wine.json",
            *option,
            cwd=tmp_path,
        )
        assert done.code == 2
        assert f"{option[0][2:]}='{option[1]}' is for to=" in done.sentence
    assert not any(tmp_path.iterdir())
    done = command("export", wine[0] / "wine.protolearn", "-o", tmp_path, cwd=tmp_path)
    assert done.code == 2
    assert "is a folder" in done.sentence
    done = command("export", "nowhere", cwd=tmp_path)
    assert done.code == 2
    assert "no file 'nowhere'" in done.sentence


def test_packages_that_are_not_installed(wine, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(Failure, match=r"protolearn\[onnx\]") as failure:
        run_export(wine[0] / "wine.protolearn", tmp_path / "wine.onnx")
    assert failure.value.code == FAILED
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["c.h", "js.mjs", "sql.sql", "json.json"])
def test_other_languages(command, fitted, tmp_path, ending):
    to, _, file = ending.partition(".")
    model = fitted[0] / "results" / "model.protolearn"
    by_name = command("export", model, "-o", tmp_path / f"pets.{file}", cwd=tmp_path)
    assert by_name.code == 0, by_name.err
    assert "takes a row of:" in by_name.err
    by_option = command("export", model, "-o", tmp_path / "pets", "--to", to, cwd=tmp_path)
    assert by_option.code == 0, by_option.err
    assert (tmp_path / "pets").read_bytes() == (tmp_path / f"pets.{file}").read_bytes()
    if to == "c" and shutil.which("gcc"):
        assert "code " in by_name.err
        assert "tables " in by_name.err
    if to == "json":
        assert json.loads((tmp_path / "pets.json").read_text())["format"] == "protolearn-model"


def test_frames_are_read_in_the_order_of_the_table():
    """The columns of a graph stand as those of the table, whatever names they have."""
    frame = pd.DataFrame({"b": [0.0, 1.0, 8.0, 9.0], "a": [5.0, 5.0, 5.0, 6.0]})
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, [0, 0, 1, 1])
    session = onnxruntime.InferenceSession(protolearn.to_onnx(model).SerializeToString())
    assert [each.name for each in session.get_inputs()] == ["b", "a"]
    rows = {name: frame[[name]].to_numpy(dtype=np.float32) for name in frame}
    assert session.run(["label"], rows)[0].tolist() == [0, 0, 1, 1]
