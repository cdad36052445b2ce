"""``fit --robust`` and ``--tolerance``: which answers stay correct under errors of measurement."""

import json

import numpy as np
import pytest

from given_pets import FIT, MILD, SEVERE, pets, write
from protolearn import certified_accuracy, load
from protolearn.report import Certified

WEIGHT = "weight <b>kg</b>"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tolerances")
    write(folder / "pets.csv", pets())
    return folder


def frame_of(table):
    pd = pytest.importorskip("pandas")
    return pd.read_csv(table / "pets.csv", parse_dates=["born"])


def test_shares_are_printed_written_and_shown(command, table):
    options = "--tolerance", f"{WEIGHT}=0.5", "--tolerance", "noise=0.1"
    done = command("fit", "pets.csv", *FIT, *options, "--out", "by_column", cwd=table)
    assert done.code == 0, done.err
    sentence = "are proved to stay correct (90 rows, to which the model was fitted)."
    assert sentence in " ".join(done.out.split())
    found = json.loads((table / "by_column" / "metrics.json").read_text("utf-8"))["certified"]
    assert found["tolerance"] == {WEIGHT: 0.5, "noise": 0.1}
    assert set(found["by_class"]) == {SEVERE, MILD}
    assert sentence in found["note"]
    page = (table / "by_column" / "report.html").read_text("utf-8")
    assert "are proved to stay correct" in page
    assert "whose predictions stay correct" in page
    model = load(table / "by_column" / "model.protolearn")
    frame = frame_of(table)
    again = certified_accuracy(
        model, frame, frame["state"], radius={WEIGHT: 0.5, "noise": 0.1}, norm=np.inf
    )
    assert again.certified.mean() == found["share"]
    worse = certified_accuracy(
        model, frame, frame["state"], radius={WEIGHT: 3.0, "noise": 0.1}, norm=np.inf
    )
    assert worse.exact < again.exact


def test_standard_deviations_let_robust_lvq_compete(command, table):
    fit = "--target", "state", "--fits", "400", "--folds", "2", "--time", "60"
    done = command("fit", "pets.csv", *fit, "--model", "robust-lvq", "--robust", "0.2", cwd=table)
    assert done.code == 0, done.err
    assert "RobustLVQ(" in done.out
    assert "every number is off by up to 0.2 standard deviations" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tolerance", "noise"), "'noise' has no number; write COLUMN=NUMBER"),
        (("--tolerance", "noise=much"), "must be COLUMN=NUMBER with a positive number"),
        (("--tolerance", "noise=-1"), "must be COLUMN=NUMBER with a positive number"),
        (
            ("--tolerance", "nose=1"),
            "names 'nose', which is not a column to learn from. Did you mean",
        ),
        (("--tolerance", "colour=1"), "holds categories, not numbers"),
        (("--robust", "0"), "must be a positive number of standard deviations"),
        (("--robust", "1", "--tolerance", "noise=1"), "use one of them"),
    ],
)
def test_bad_tolerances(command, table, options, message):
    done = command("fit", "pets.csv", *FIT, *options, "--out", "never", cwd=table)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert not (table / "never").exists()


def test_a_model_without_certificate_says_why(table):
    from protolearn import KernelGLVQ
    from protolearn.tables import table_pipeline

    frame = frame_of(table)
    columns = frame[[WEIGHT, "noise"]].fillna(0.0)
    model = table_pipeline(KernelGLVQ(random_state=0)).fit(columns, frame["state"])
    found = Certified.of(model, columns, frame["state"], 0.1)
    assert found.found is None
    assert "has no certificate" in found.sentence
    assert found.shares == {}
