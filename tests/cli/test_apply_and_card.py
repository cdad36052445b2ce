"""Edits of a report are applied to a saved model, and a model card is written."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

import protolearn
from protolearn import GLVQ
from protolearn.io.edits import blank_edits
from protolearn.tables import table_pipeline

EDIT = {"edit": "move", "prototype": 0, "values": {"petal length (cm)": 3.0}}
WHY = {"reason": "a typo | in row 2", "author": "Ada", "time": "2024-05-31"}
EFFECT = {"rows": 120, "correct before": 100, "correct after": 110, "gained": 12, "lost": 2}


@pytest.fixture
def flowers(tmp_path):
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, np.array(["s", "c", "v"])[y])
    protolearn.save(model, tmp_path / "model.protolearn", notes={"target": "species"})
    edits = blank_edits(model) | {"edits": [EDIT | WHY | {"effect": EFFECT}]}
    (tmp_path / "edits.json").write_text(json.dumps(edits))
    return tmp_path, model, frame


def test_edits_are_applied(command, flowers):
    folder, model, frame = flowers
    done = command("apply", "model.protolearn", "edits.json", "-o", "new.protolearn", cwd=folder)
    assert done.code == 0, done.err
    assert "the model with 1 edit" in done.err
    assert "correct of 120 rows of the report: 100 before the edits, 110 after" in done.err
    new = protolearn.load(folder / "new.protolearn")
    wanted = protolearn.apply_edits(model, folder / "edits.json")
    np.testing.assert_array_equal(new.predict_proba(frame), wanted.predict_proba(frame))
    assert protolearn.io.describe(folder / "new.protolearn").notes == {"target": "species"}

    again = command("apply", "new.protolearn", "edits.json", "-o", "two.protolearn", cwd=folder)
    assert again.code == 2
    assert "made for another model: the fingerprints differ" in " ".join(again.err.split())
    assert not (folder / "two.protolearn").exists()
    there = command("apply", "model.protolearn", "edits.json", "-o", "new.protolearn", cwd=folder)
    assert there.code == 2
    assert "--force" in there.err
    lost = command("apply", "model.protolearn", "none.json", "-o", "two.protolearn", cwd=folder)
    assert "there is no file 'none.json'" in lost.err

    card = command("card", "new.protolearn", "--use", "Herbaria only", cwd=folder)
    assert card.code == 0, card.err
    assert "## Intended use\n\nHerbaria only\n" in card.out
    assert "| move prototype 1 to petal length (cm) = 3 | a typo \\| in row 2 | Ada |" in card.out
    assert "12 errors corrected, 2 new, in 120 rows" in card.out
    assert "Not known: the model was saved without it." in card.out


def test_the_next_report_shows_the_edits(command, flowers):
    folder, _, frame = flowers
    _, y = load_iris(return_X_y=True)
    table = frame.assign(species=np.array(["s", "c", "v"])[y])
    table.loc[3, "species"] = None
    table.to_csv(folder / "flowers.csv", index=False)
    command("apply", "model.protolearn", "edits.json", "-o", "new.protolearn", cwd=folder)
    done = command("report", "new.protolearn", "flowers.csv", "-o", "next.html", cwd=folder)
    assert done.code == 0, done.err
    assert "the report of new.protolearn on 149 rows" in " ".join(done.err.split())
    page = (folder / "next.html").read_text("utf-8")
    assert "rows that were kept from the authors of the edits" in page
    assert "a typo | in row 2" in page
    table.drop(columns="species").to_csv(folder / "bare.csv", index=False)
    done = command("report", "new.protolearn", "bare.csv", "-o", "two.html", cwd=folder)
    assert done.code == 2
    assert "has no column 'species'" in " ".join(done.err.split())


def test_hostile_edits_are_refused(command, flowers):
    folder, *_ = flowers
    (folder / "bad.json").write_bytes(b"\x80\x04cos\nsystem\n(S'touch ran'\ntR.")
    done = command("apply", "model.protolearn", "bad.json", "-o", "new.protolearn", cwd=folder)
    assert done.code == 2
    assert "cannot be read as JSON" in done.err
    assert not (folder / "ran").exists()
    assert not (folder / "new.protolearn").exists()
