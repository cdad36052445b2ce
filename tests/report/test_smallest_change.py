"""The page finds the smallest changes of a row, as Python does."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import protolearn
from given_languages import exact_rows, need
from protolearn import GLVQ, GMLVQ, RSLVQ, SoftMarginSVM, counterfactual
from protolearn.io import document_of
from protolearn.report.page.live_model import column_ends
from protolearn.report.subject import Subject
from protolearn.tables import table_pipeline

ROOT = Path(protolearn.__file__).parent
TEMPLATES = ROOT / "report" / "page" / "templates"
PARTS = (
    ROOT / "io" / "exports" / "model.mjs",
    *map(TEMPLATES.joinpath, ("bench.js", "smallest.js", "changes.js")),
)
NODE = """
const { document, ends, rows, may } = JSON.parse(require("fs").readFileSync("given.json", "utf8"));
const model = modelOf(document);
const answers = rows.map((row) => {
  const z = model.encode(row);
  const { ones, all, isProved } = changesOf(model, ends, row, z, may);
  const changed = row.slice();
  if (all) all.changes.forEach(({ j, to }) => { changed[j] = to; });
  return { ones: ones.map(({ cost }) => cost), size: all ? all.cost : null, isProved,
    n: all ? all.changes.length : 0, row: changed, label: model.predict(changed).label };
});
require("fs").writeFileSync("found.json", JSON.stringify(answers));
"""


def changes_of_the_page(model, frame, y, rows, fixed, folder):
    """Give what the page says of rows, as a table, and the changed rows."""
    need("node")
    subject, document = Subject.of(model, frame, y), document_of(model)
    given = {
        "document": document,
        "ends": column_ends(subject, document["columns"]),
        "rows": exact_rows(rows),
        "may": [name not in fixed for name in frame],
    }
    (folder / "given.json").write_text(json.dumps(given))
    script = "".join(part.read_text().replace("export ", "") for part in PARTS)
    (folder / "run.cjs").write_text(script + NODE)
    subprocess.run(["node", "run.cjs"], cwd=folder, check=True)
    found = pd.DataFrame(json.loads((folder / "found.json").read_text()))
    points = pd.DataFrame(found["row"].tolist(), columns=list(frame), index=rows.index)
    return found, points.astype(dict(frame.dtypes))


def assert_as_in_python(model, frame, y, rows, fixed, folder):
    found, points = changes_of_the_page(model, frame, y, rows, fixed, folder)
    expected = counterfactual(model, rows, fixed=fixed)
    assert expected.optimal.all()
    assert found["isProved"].all()
    size = found["size"].astype(float).fillna(np.inf)
    np.testing.assert_allclose(size, expected.distance, rtol=1e-6)
    np.testing.assert_array_equal(found["label"], model.predict(points))
    changed = found["label"] != model.predict(rows)
    np.testing.assert_array_equal(changed, expected.feasible)
    assert not any((points[name] != rows[name])[rows[name].notna()].any() for name in fixed)
    ones = found["ones"].map(lambda costs: min(costs, default=np.inf))
    assert (ones >= size * (1 - 1e-9)).all()
    is_one = found["n"] == 1
    assert is_one.any()
    np.testing.assert_allclose(ones[is_one], size[is_one], rtol=1e-9)
    return expected


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    "last",
    [
        GLVQ(random_state=0),
        GLVQ(prototypes_per_class=3, random_state=0),
        GMLVQ(random_state=0),
        SoftMarginSVM(),
    ],
    ids=["one", "three", "matrix", "linear"],
)
@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_the_smallest_change_is_that_of_python(load, last, tmp_path):
    data = load(as_frame=True)
    frame, y = data.data, data.target_names[data.target]
    if "max_iter" in last.get_params():
        last.set_params(max_iter=15)
    model = table_pipeline(last).fit(frame, y)
    rows = frame.sample(min(200, len(frame)), random_state=0)
    expected = assert_as_in_python(model, frame, y, rows, [], tmp_path)
    assert expected.feasible.all()


def test_values_outside_their_range_come_inside(tmp_path):
    frame, y = load_wine(return_X_y=True, as_frame=True)
    model = table_pipeline(GLVQ(prototypes_per_class=2, max_iter=15, random_state=0))
    rows = frame[::3].copy()
    rows["alcohol"], rows["magnesium"] = 3.0 * rows["alcohol"], rows["magnesium"] - 60.0
    assert_as_in_python(model.fit(frame, y), frame, y, rows, [], tmp_path)


@pytest.fixture(scope="module")
def mixed():
    """Make a table of categories, gaps, odd numbers and rare words."""
    random, n = np.random.RandomState(0), 300
    frame = pd.DataFrame(
        {
            "income": random.normal(3000, 900, n).round(-1),
            "odd": 2.0 * random.randint(0, 20, n) + 1.0,
            "gap": random.randn(n).round(3),
            "housing": random.choice(["own", "rent", "free"], n),
            "sex": random.choice(["m", "f"], n),
            "car": random.choice(list("abcdefghij"), n, p=[0.4, 0.3, 0.1, *[0.2 / 7] * 7]),
        }
    )
    score = frame["income"] / 900 + (frame["housing"] == "own") + frame["odd"] / 20
    y = np.where(score + 0.4 * random.randn(n) > 4.6, "yes", "no")
    for name in "gap", "income", "housing", "sex":
        frame.loc[random.rand(n) < 0.15, name] = None if name in ("housing", "sex") else np.nan
    return frame, y


@pytest.mark.filterwarnings("ignore")  # of a category that the model has not seen
@pytest.mark.parametrize("fixed", [[], ["income", "gap", "odd"]], ids=["free", "fixed"])
@pytest.mark.parametrize(
    "options",
    [
        {"add_indicator": True},
        {"missing": "most_frequent", "max_categories": 5, "category_distance": 2.0},
    ],
    ids=["indicator", "rare"],
)
def test_it_is_with_categories_and_missing_values(mixed, options, fixed, tmp_path):
    frame, y = mixed
    last = GMLVQ(prototypes_per_class=2, max_iter=15, random_state=0)
    model = table_pipeline(last, **options).fit(frame, y)
    rows = frame[:80].copy()
    rows.loc[:5, "housing"], rows.loc[3:8, "car"] = "castle", "tram"
    expected = assert_as_in_python(model, frame, y, rows, fixed, tmp_path)
    assert expected.feasible.all() == (not fixed)


@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_where_boundaries_are_curved_the_change_is_the_best_of_a_search(tmp_path):
    frame, y = load_wine(return_X_y=True, as_frame=True)
    model = table_pipeline(RSLVQ(prototypes_per_class=2, max_iter=15, random_state=0))
    rows = frame[::9]
    found, points = changes_of_the_page(model.fit(frame, y), frame, y, rows, [], tmp_path)
    assert not found["isProved"].any()
    assert found["size"].notna().all()
    np.testing.assert_array_equal(found["label"], model.predict(points))
    assert (found["label"] != model.predict(rows)).all()
