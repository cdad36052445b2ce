"""Answers about the rows of a table, line by line."""

import csv
import io

import numpy as np
import pytest

import protolearn
from given_pets import MILD, SEVERE, pets, write
from protolearn import PrototypeSVM, certified_radius, hypothesis_margin
from protolearn.tables import read_table, table_pipeline

HEAD = ["row", "label", f"probability_{MILD}", f"probability_{SEVERE}", "nearest_prototype"]
HEAD += ["margin", "certified_radius", "reject"]


def answers(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def asked(command, fitted):
    done = command("predict", "results/model.protolearn", "pets.csv", cwd=fitted[0])
    assert done.code == 0, done.err
    return done


def column(rows, name):
    return np.array([float(row[name]) for row in rows])


def test_a_line_for_each_row(asked):
    assert asked.out.splitlines()[0].startswith("row,label,")
    assert list(answers(asked.out)[0]) == HEAD
    assert len(answers(asked.out)) == 90
    assert [row["row"] for row in answers(asked.out)] == [str(i) for i in range(1, 91)]
    assert asked.err.startswith("note: 90 of 90 rows are among the training rows")
    assert "90 answers" in asked.err


def test_answers_are_those_of_the_model(asked, fitted, model):
    rows, loaded = answers(asked.out), protolearn.load(model)
    frame = read_table(fitted[0] / "pets.csv").frame
    assert [row["label"] for row in rows] == loaded.predict(frame).tolist()
    shares = loaded.predict_proba(frame)
    np.testing.assert_allclose(column(rows, f"probability_{MILD}"), shares[:, 0], rtol=1e-5)
    Z, last = loaded[0].transform(frame), loaded[-1].best_estimator_
    radius = certified_radius(last, Z)
    np.testing.assert_array_equal(column(rows, "certified_radius"), radius)  # all digits
    margin = hypothesis_margin(last, Z, loaded.predict(frame))
    np.testing.assert_array_equal(column(rows, "margin"), margin)
    threshold = protolearn.io.describe(model).notes["reject"]["threshold"]
    flags = shares.max(axis=1) < (-np.inf if threshold is None else threshold)
    assert [row["reject"] for row in rows] == ["true" if flag else "false" for flag in flags]


def test_the_target_is_ignored_and_columns_may_stand_anywhere(asked, command, fitted, tmp_path):
    changed = [dict(row, state="?", more="x") for row in pets()]
    names = ["more", "noise", "born", "state", "colour", "weight <b>kg</b>"]
    write(tmp_path / "changed.csv", changed, ";", names)
    model = fitted[0] / "results" / "model.protolearn"
    done = command("predict", model, "changed.csv", "-o", "new/answers.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "new" / "answers.csv").read_text("utf-8") == asked.out
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["answers.csv"]
    assert "90 answers in new/answers.csv" in done.err
    assert not done.out


def test_new_categories_are_told(command, fitted, tmp_path):
    rows = [dict(row, colour="green") for row in pets()[:2]]
    write(tmp_path / "green.csv", rows)
    model = fitted[0] / "results" / "model.protolearn"
    done = command("predict", model, "green.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(answers(done.out)) == 2
    assert "Categories that the training rows do not have: 'green' in column 'colour'" in done.err


def test_what_a_model_cannot_tell_is_left_empty(command, fitted, tmp_path):
    table = read_table(fitted[0] / "pets.csv")
    frame = table.frame[["weight <b>kg</b>", "noise"]]
    model = table_pipeline(PrototypeSVM(random_state=0)).fit(
        frame, table.frame["state"].astype(str)
    )
    protolearn.save(model, tmp_path / "votes.protolearn")
    done = command("predict", "votes.protolearn", fitted[0] / "pets.csv", cwd=tmp_path)
    assert done.code == 0, done.err
    rows = answers(done.out)
    assert {row["certified_radius"] for row in rows} == {""}
    assert {row["reject"] for row in rows} == {""}
    assert "note: no certified radius: " in done.err
    assert "note: no reject: the model file has no rule for it" in done.err


def test_many_rows_are_asked_in_blocks(monkeypatch, capsys, fitted, model, asked):
    from protolearn.cli import predict_and_export

    monkeypatch.setattr(predict_and_export, "ROWS_AT_A_TIME", 7)
    table = str(fitted[0] / "pets.csv")
    predict_and_export.run_predict(model, table, predict_and_export.STANDARD_OUTPUT)
    assert answers(capsys.readouterr().out) == answers(asked.out)
