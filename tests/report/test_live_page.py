"""The page asks and edits a model: its numbers are those of Python, its edits can be applied."""

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_browser import a_browser, opened, violations
from given_edits import assert_equal_models, random_edits
from given_languages import exact_rows
from protolearn import GMLVQ, SoftMarginSVM, apply_edits, counterfactual
from protolearn.io import document_of
from protolearn.io.edits import blank_edits
from protolearn.report import write
from protolearn.tables import table_pipeline

ENGINE = """({ rows, truth, edits }) => {
  const script = document.querySelector("script[type=module]").textContent;
  const parts = script.slice(0, script.indexOf("/* Ask:")).replaceAll("export ", "");
  const { live, modelOf, benchOf } = new Function(`${parts}; return { live, modelOf, benchOf };`)();
  const model = modelOf(live.document);
  if (live.edits === null) return { answers: rows.map((row) => model.predict(row)) };
  const Z = Float64Array.from(rows.flatMap((row) => Array.from(model.encode(row))));
  const bench = benchOf(live.document, Z, Int32Array.from(truth), live.back);
  const state = edits.reduce((before, edit) => bench.apply(before, edit), bench.first);
  const { code, margin, radius, confusion, correct } = bench.judge(state.list);
  const edited = modelOf(bench.documentOf(state.list));
  const answers = rows.map((row) => edited.predict(row));
  return { code: [...code], margin: [...margin], radius: [...radius], confusion, correct, answers };
}"""


@pytest.fixture(scope="module")
def browser():
    with a_browser() as one:
        yield one


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def model(cancer):
    last = GMLVQ(prototypes_per_class=2, max_iter=20, random_state=0)
    return make_pipeline(StandardScaler(), last).fit(*cancer)


@pytest.fixture(scope="module")
def path(cancer, model, tmp_path_factory):
    """Write the page of a model that can be edited."""
    path = tmp_path_factory.mktemp("live") / "cancer.html"
    return write(model, *cancer, path, cv=2, n_refits=0)


def test_the_page_computes_what_python_does(browser, cancer, model, path):
    frame, y = cancer[0].sample(500, random_state=0), cancer[1]
    y = y[frame.index]
    edits = random_edits(document_of(model), 50, seed=1)
    edited = apply_edits(model, blank_edits(model) | {"edits": edits})
    work = {"rows": exact_rows(frame), "truth": np.searchsorted(model.classes_, y).tolist()}
    with opened(browser, path) as page:
        assert_equal_models(page.evaluate(ENGINE, work | {"edits": []}), model, frame, y)
        # Both have bounds of models that are equal up to rounding; the page prints fewer digits.
        found = page.evaluate(ENGINE, work | {"edits": edits})
        assert_equal_models(found, edited, frame, y, slack=1e-8)


def test_the_page_of_a_linear_model_computes_what_python_does(browser, cancer, tmp_path):
    frame, y = cancer
    model = table_pipeline(SoftMarginSVM()).fit(frame, y)
    path = write(model, frame, y, tmp_path / "svm.html", cv=None, n_refits=0)
    with opened(browser, path) as page:
        found = page.evaluate(ENGINE, {"rows": exact_rows(frame), "truth": [], "edits": []})
        answers = found["answers"]
        assert [one["label"] for one in answers] == model.predict(frame).tolist()
        page.click("#tab-ask")
        assert page.locator("#ask-answer h3").text_content().startswith("Row 0: ")
        smallest = page.locator("#ask-answer ul").first.text_content()
        first = counterfactual(model, frame[:1])
        for change in first.changes[0]:
            assert f"{change.column}: " in smallest
        size = f"Its size is {first.distance[0]:.3g} standard deviations"
        assert size in page.locator("#ask-answer .note").text_content()
        page.click("#tab-edit")
        assert "no prototypes that the page can edit" in page.locator("#edit").text_content()


def moved(page, name, value):
    """Move the chosen prototype to another value of a column."""
    page.get_by_label(name, exact=True).locator("visible=true").fill(str(value))
    page.click("#edit-move")


def log(page):
    return page.locator("#edit-log tbody th").all_text_contents()


def test_edits_need_a_reason_and_can_be_undone_applied_and_judged(
    browser, cancer, model, path, tmp_path
):
    frame, y = cancer
    with opened(browser, path, accept_downloads=True) as page:
        page.click("#tab-edit")
        moved(page, "mean radius", 20)
        assert "reason of the edit first" in page.locator("#edit-status").text_content()
        page.fill("#edit-reason", "a typo")
        page.keyboard.press("Tab")
        page.fill("#edit-author", "Ada")
        page.click("#edit-move")
        assert log(page) == ["1. move prototype 1 to mean radius = 20"]
        page.locator("#edit-fields input[type=checkbox]").first.check()
        moved(page, "mean radius", 21)
        assert "is locked" in page.locator("#edit-status").text_content()
        page.select_option("#edit-prototype", "3")
        page.click("#edit-remove")
        page.fill("#edit-row", "7")
        page.click("#edit-row-button")
        page.click("#edit-add")
        assert [line.split()[1] for line in log(page)] == ["move", "lock", "remove", "add"]
        page.focus("#edit-undo")
        for _ in range(3):
            page.keyboard.press("Control+z")
        assert len(log(page)) == 1
        for _ in range(3):
            page.keyboard.press("Control+y")
        assert len(log(page)) == 4
        assert violations(page) == []
        with page.expect_download() as saved:
            page.click("#edit-save")
        saved.value.save_as(tmp_path / "edits.json")
        cells = page.locator("#edit-effect tbody tr").first.locator("td").all_text_contents()
        page.click("#tab-cases")
        said = page.locator("#case-count").text_content()
    rows = int(cells[0].split(" of ")[1].replace(",", ""))
    assert said == f"{rows} of {rows} rows"
    (kept,) = re.findall(r"([\d,]+) rows are kept back", path.read_text("utf-8"))
    assert int(kept) + rows == len(y)
    edits = json.loads((tmp_path / "edits.json").read_text())
    assert [one["author"] for one in edits["edits"]] == ["Ada"] * 4
    edited = apply_edits(model, tmp_path / "edits.json")
    effect = edits["edits"][-1]["effect"]
    assert effect["correct after"] == int(cells[1])
    again = write(edited, frame, y, tmp_path / "next.html", cv=None).read_text("utf-8")
    assert re.search(r"On \d+ rows that were kept from the authors of the edits", again)
    assert effect["rows"] == rows < len(y)
    (after,) = re.findall(r"the model is correct for [\d.]+% \((\d+) rows\)", again)
    right = edited.predict(frame) == y
    assert int(after) + effect["correct after"] == right.sum()


def test_cases_are_sorted_searched_and_opened(browser, path):
    with opened(browser, path) as page:
        page.click("#tab-cases")
        page.get_by_role("button", name="certified radius").click()
        radii = page.locator("#case-table tbody td:nth-child(6)").all_text_contents()
        assert [float(one) for one in radii] == sorted(float(one) for one in radii)
        page.check("#case-errors")
        cells = page.locator("#case-table tbody tr").all()
        assert all(
            one.locator("td").nth(0).text_content() != one.locator("td").nth(1).text_content()
            for one in cells
        )
        page.uncheck("#case-errors")
        page.fill("#case-search", "malignant")
        found, of = re.findall(r"\d+", page.locator("#case-count").text_content())
        assert 0 < int(found) < int(of)
        mark = page.locator("#world .rows use").nth(30)
        mark.click(force=True)
        name = page.locator("#row h3").text_content()
        page.get_by_role("button", name="Ask about this row").click()
        assert page.locator("#ask-answer h3").text_content().startswith(f"{name}: ")
        assert violations(page) == []


def test_a_letter_is_one_page(browser, path):
    with opened(browser, path) as page:
        page.click("#tab-ask")
        page.click("#letter-open")
        text = page.locator("#letter").inner_text()
        for part in "The answer", "The reasons", "What would have changed it", "How sure":
            assert part in text
        assert "of the predictions of" in text
        assert violations(page) == []
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 1


def test_the_threshold_follows_the_slider(browser, cancer, path):
    with opened(browser, path) as page:
        page.click("#tab-performance")
        page.select_option("#threshold-positive", label="malignant")
        cells = []
        for value in "0", "0.5":
            page.fill("#threshold-cutoff", value)
            cells.append(page.locator("#threshold-result td").all_text_contents())
        assert cells[0][:4] == ["212", "0", "357", "0"]
        hit, missed, wrong, right = map(int, cells[1][:4])
        assert (hit + missed, wrong + right) == (212, 357)
        assert cells[1][4:6] == [f"{100 * hit / (hit + wrong):.1f}%", f"{100 * hit / 212:.1f}%"]
        page.fill("#threshold-cost", "10")
        cost = float(page.locator("#threshold-result td").nth(6).text_content())
        assert cost == pytest.approx((10 * missed + wrong) / 569, rel=1e-3)
        assert violations(page) == []
