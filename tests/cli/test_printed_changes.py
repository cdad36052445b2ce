"""What ``protolearn explain`` prints is true when it is read back."""

import csv
import io
import re
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import protolearn
from given_changes import fewest_columns, named_table
from given_pets import write
from given_profile import THOROUGH, in_all
from protolearn import GLVQ, GMLVQ, LGMLVQ, SoftMarginSVM, counterfactual, explain, sample_margin
from protolearn.cli.explain_command import certainty_lines, change_lines
from protolearn.cli.saved_model import RowPredictor, SavedModel
from protolearn.tables import read_table, table_pipeline

LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}

MODELS = {
    "glvq": GLVQ(random_state=0),
    "several": GLVQ(prototypes_per_class=3, random_state=0),
    "gmlvq": GMLVQ(random_state=0),
    "svm": SoftMarginSVM(),
    "local": LGMLVQ(random_state=0, max_iter=20),
}


def rows_of(table):
    """Give the rows of a table as a file has them, and the labels."""
    if table == "named":
        return named_table()
    data = LOADERS[table]()
    rows = [dict(zip(data.feature_names, row, strict=True)) for row in data.data.tolist()]
    return rows, np.array([f"class {code}" for code in data.target])


@pytest.fixture
def saved(request, tmp_path):
    """Give a model in a file, and the rows of the file that it was fitted to."""
    table, name = request.param
    rows, y = rows_of(table)
    write(tmp_path / "rows.csv", rows)
    frame = read_table(tmp_path / "rows.csv").frame
    if name == "svm":  # for two classes
        y = np.where(y == y[0], y, "another class")
    protolearn.save(table_pipeline(MODELS[name]).fit(frame, y), tmp_path / "model.protolearn")
    return SavedModel.open(tmp_path / "model.protolearn"), rows


def some(rows):
    """Give the places of rows: all in the thorough run, otherwise fewer if columns are many."""
    return range(0, len(rows), 1 if THOROUGH or len(rows[0]) <= 6 else len(rows[0]))


QUICK = [*((table, "glvq") for table in (*LOADERS, "named")), ("wine", "several"), ("named", "svm")]
OTHERS = sorted({*product(("iris", "wine", "named"), MODELS)} - {*QUICK})
CASES = in_all(*QUICK, thorough=OTHERS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("saved", CASES, indirect=True, ids="-".join)
def test_printed_changes_give_the_promised_class(saved, tmp_path):
    saved, rows = saved
    frame, places = saved.rows(str(tmp_path / "rows.csv")), some(rows)
    own, promised, changed = saved.pipeline.predict(frame), [], []
    for i in places:
        one = frame[i : i + 1]
        lines = change_lines(saved, one, explain(saved.pipeline, one, data=frame), None, [], frame)
        (label,) = re.findall(f": would be (.+) instead of {own[i]} if ", lines[0])
        promised.append(label)
        values = fewest_columns("\n".join(lines))
        assert values.keys() <= rows[i].keys()
        changed.append(rows[i] | values)
    write(tmp_path / "changed.csv", changed)
    said = saved.pipeline.predict(saved.rows(str(tmp_path / "changed.csv")))
    assert said.tolist() == promised
    assert (said != own[list(places)]).all()


@pytest.mark.parametrize("saved", [("iris", "gmlvq"), ("wine", "glvq")], indirect=True)
def test_nothing_changes_the_answer_within_the_printed_radius(saved, tmp_path):
    saved, _ = saved
    frame, predictor = saved.rows(str(tmp_path / "rows.csv")), RowPredictor(saved)
    exact = sample_margin(saved.steps.model, saved.steps.encoder.transform(frame))
    for i, limit in enumerate(exact):
        one = frame[i : i + 1]
        (line,) = certainty_lines(predictor, one, explain(saved.pipeline, one, n=0))
        (printed,) = re.findall(r"No change smaller than (\S+) alters the answer", line)
        assert 0.9 * limit <= float(printed) <= limit


def test_the_command_keeps_its_word(command, tmp_path):
    rows, y = named_table()
    labelled = [dict(row, state=label) for row, label in zip(rows, y, strict=True)]
    write(tmp_path / "rows.csv", labelled)
    settings = ("--target", "state", "--model", "glvq", "--fits", "4", "--folds", "2")
    done = command("fit", "rows.csv", *settings, "--out", "out", cwd=tmp_path)
    assert done.code == 0, done.err
    places, changed = (0, 13, 27), []
    for i in places:
        done = command(
            "explain", "out/model.protolearn", "rows.csv", "--row", i + 1, "--fixed", "noise",
            cwd=tmp_path, env={"COLUMNS": "40"},
        )  # fmt: skip
        assert done.code == 0, done.err
        values = fewest_columns(done.out)
        assert "noise" not in values
        (label,) = re.findall(": would be (.+?) instead of ", done.out)
        changed.append(rows[i] | values | {"promised": label})
    write(tmp_path / "changed.csv", changed)
    done = command("predict", "out/model.protolearn", "changed.csv", cwd=tmp_path)
    said = [row["label"] for row in csv.DictReader(io.StringIO(done.out))]
    assert said == [row["promised"] for row in changed]


@pytest.mark.parametrize("saved", [("wine", "glvq")], indirect=True)
def test_one_column_if_one_is_enough_and_none_too_many(saved, tmp_path):
    saved, _ = saved
    frame, names = saved.rows(str(tmp_path / "rows.csv")), [c.name for c in saved.columns]
    sizes = set()
    for i in range(0, len(frame), 20):
        one = frame[i : i + 1]
        lines = change_lines(saved, one, explain(saved.pipeline, one), None, [])
        (label,) = re.findall(": would be (.+?) instead of ", lines[0])
        chosen = list(fewest_columns(lines[1]))
        sizes.add(len(chosen))
        fewer = [[name for name in chosen if name != left_out] for left_out in chosen]
        for movable in fewer if len(chosen) == 1 else [*fewer, *([name] for name in names)]:
            fixed = [name for name in names if name not in movable]
            found = counterfactual(saved.pipeline, one, label, fixed)
            assert not found.feasible[0]
    assert len(sizes) > 1
