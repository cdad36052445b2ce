"""The report in a browser: by pointer and keyboard, on paper, on a phone, without a script."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from given_browser import PHONE, a_browser, opened, violations
from given_profile import long_test
from protolearn import GLVQ, GMLVQ, GRLVQ
from protolearn.report import write
from protolearn.report.page import evidence
from protolearn.tables import table_pipeline

LARGEST, LARGEST_OF_MANY = 2_000_000, 4_000_000
"""Bytes of a page, and of one of many rows."""

TABS = ["overview", "performance", "prototypes", "features", "cases", "robustness", "method"]
LIVE = ["ask", "edit"]
"""Tabs that have nothing to say without a script, or on paper."""

A4 = 688
"""Pixels between the margins of the paper."""

RUN = "ran=1"
TITLE = f"</title><script>{RUN}</script>"
COLUMNS = (
    f"<script>{RUN}</script>",
    "</script>'\"",
    "javascript:alert(1)",
    "a <b>bold</b> &lt;",
    "@ink {{ 7 * 7 }}",
)
CATEGORIES = f"<img src=x onerror='{RUN}'>", "$x^2$", "{% raw %}"
CLASSES = "<script>alert(1)", '%{x} it\'s "so"', "$y^2$ &lt;"

CUT = """() => {
  const found = [];
  for (const plot of document.querySelectorAll("section.open .plot")) {
    const box = plot.getBoundingClientRect();
    for (const text of plot.querySelectorAll("text")) {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      const across = left < box.left - 2 || right > box.right + 2;
      if (across || top < box.top - 1 || bottom > box.bottom + 1)
        found.push(text.textContent);
    }
  }
  return found;
}"""

BROKEN = """() => {
  const found = [], range = document.createRange();
  for (const cell of document.querySelectorAll(".measures *, .confusion *, .lines .value")) {
    for (const part of cell.childNodes) {
      for (const word of part.nodeType === 3 ? part.data.matchAll(/\\S+/g) : []) {
        range.setStart(part, word.index);
        range.setEnd(part, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.push(word[0]);
      }
    }
  }
  return found;
}"""

COLOURS = """() => {
  const style = (where, what) => getComputedStyle(document.querySelector(where))[what];
  return {
    paper: style("body", "backgroundColor"), text: style("body", "color"),
    note: style(".about", "color"), tick: style(".plot text", "fill"),
    mark: style("#world .rows use", "fill"),
  };
}"""

VISIBLE = "() => [...document.querySelectorAll('main > section')].filter(" + (
    "(one) => one.getClientRects().length).map((one) => one.id)"
)


@pytest.fixture(scope="module")
def browser():
    with a_browser() as one:
        yield one


@pytest.fixture(scope="module")
def flowers():
    """Iris as a table."""
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def page_of_flowers(browser, flowers, tmp_path_factory):
    """Write a page with every chart but the path."""
    model = table_pipeline(GMLVQ(random_state=0, max_iter=20)).fit(*flowers)
    path = tmp_path_factory.mktemp("page") / "flowers.html"
    return write(model, *flowers, path, cv=2, n_refits=10)


def texts(page, where):
    """Give the texts of elements."""
    return page.locator(where).all_text_contents()


def contrast(one, other):
    """Give the contrast of two colours, as WCAG has it."""

    def light(colour):
        values = np.array([int(x) for x in re.findall(r"\d+", colour)[:3]]) / 255.0
        linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722] + 0.05

    return max(light(one) / light(other), light(other) / light(one))


def assert_shows_the_row(page, frame):
    """See that the panel shows the row whose name it has, and give that name."""
    name = int(page.locator("#row h3").text_content().removeprefix("Row "))
    shown = dict(zip(texts(page, "#row th"), texts(page, "#row td"), strict=True))
    assert {key: float(value) for key, value in shown.items()} == frame.loc[name].to_dict()
    return name


def test_tabs_charts_and_map(browser, flowers, page_of_flowers):
    assert page_of_flowers.stat().st_size < LARGEST
    with opened(browser, page_of_flowers) as page:
        for name in TABS + LIVE:
            page.click(f"#tab-{name}")
            assert page.evaluate(VISIBLE) == [name]
            assert page.evaluate(CUT) == []
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            assert page.evaluate("document.scrollingElement.scrollHeight") < 4_000
            assert violations(page) == []
        page.goto(page_of_flowers.as_uri() + "#features")
        page.wait_for_selector("#features.open")

        page.click("#tab-performance")
        page.hover("#calibration circle >> nth=0", force=True)
        assert re.search(r"\d+ predictions?, stated probability", page.locator(".tip").inner_text())
        page.hover("#roc .plot", position={"x": 60, "y": 60})
        page.wait_for_function("document.querySelector('.tip').textContent.includes('positive')")

        page.click("#tab-cases")
        for place in 0, 60, 110:
            page.locator("#world .rows use").nth(place).hover(force=True)
            name = assert_shows_the_row(page, flowers[0])
            assert page.locator(".tip").inner_text() == f"row {name}: {flowers[1][name]}"
        page.select_option("#class", label="versicolor")
        faded = page.locator("#world .rows").evaluate_all(
            "all => all.map(e => e.matches('.faded'))"
        )
        assert faded == [True, False, True]
        cards = page.locator("#cases .card[data-class]:visible")
        assert set(cards.evaluate_all("all => all.map(e => e.dataset.class)")) <= {"1"}
        page.select_option("#class", label="all classes")
        assert not page.locator(".faded").count()


def test_by_keyboard_alone(browser, flowers, page_of_flowers):
    with opened(browser, page_of_flowers) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Tab")
        keys = [("ArrowRight", "performance"), ("End", "method"), ("ArrowRight", "overview")]
        for key, name in [*keys, ("ArrowLeft", "method"), ("Home", "overview")]:
            page.keyboard.press(key)
            assert page.evaluate("document.activeElement.id") == f"tab-{name}"
            assert page.evaluate(VISIBLE) == [name]
        page.click("#tab-cases")
        page.focus("#row-choice")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector("#row td")
        assert_shows_the_row(page, flowers[0])
        assert page.locator("#world .chosen").count() == 1
        page.locator("#tab-ask").press("Enter")
        go_to(page, "letter-open")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "letter"
        go_to(page, "letter-close", "Shift+Tab")
        page.keyboard.press("Enter")
        page.locator("#tab-edit").press("Enter")
        for name, text in ("edit-author", "Ada"), ("edit-reason", "a typo"), ("edit-0", "5"):
            go_to(page, name)
            page.keyboard.type(text)
        go_to(page, "edit-move", "Shift+Tab")
        page.keyboard.press("Enter")
        assert texts(page, "#edit-log td")[:2] == ["a typo", "Ada"]
        page.keyboard.press("Control+z")
        assert texts(page, "#edit-log td") == []
        page.locator("#tab-performance").press("Enter")
        go_to(page, "threshold-cutoff")
        page.keyboard.press("ArrowRight")
        assert texts(page, "#threshold-cutoff-value") == ["0.51"]


def go_to(page, name, key="Tab"):
    """Press a key until a control has the focus."""
    for _ in range(100):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.id") == name:
            return
    pytest.fail(f"{name} cannot be reached with {key}")


def test_without_a_script_it_is_one_long_document(browser, page_of_flowers):
    with opened(browser, page_of_flowers, with_script=False, java_script_enabled=False) as page:
        assert [box["height"] > 100 for box in map(box_of(page), TABS)] == [True] * len(TABS)
        tops = [box["y"] for box in map(box_of(page), TABS)]
        assert tops == sorted(tops)
        assert page.locator("#world use").first.bounding_box() is not None
        for nothing in ".pick", "#row", ".choose":
            assert page.locator(f"{nothing}:visible").count() == 0


def box_of(page):
    return lambda name: page.locator(f"#{name}").bounding_box()


def test_light_and_dark_and_paper(browser, page_of_flowers):
    with opened(browser, page_of_flowers, color_scheme="light") as page:
        light = page.evaluate(COLOURS)
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(COLOURS)
        for colours in light, dark:
            for name in "text", "note", "tick":
                assert contrast(colours[name], colours["paper"]) > 4.5
        assert all(light[name] != dark[name] for name in light)
        for name in TABS + LIVE:
            page.click(f"#tab-{name}")
            assert violations(page) == []
        page.reload()
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": A4, "height": 900})
        assert page.evaluate(VISIBLE) == TABS
        assert page.evaluate("document.scrollingElement.scrollWidth") <= A4
        paper = page.evaluate(COLOURS)
        assert paper["paper"] == "rgb(255, 255, 255)"
        assert {paper[name] == light[name] for name in ("text", "note", "tick", "mark")} == {True}
        pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
        assert 3 <= pages <= 12


@long_test
def test_a_phone(browser, flowers, page_of_flowers):
    with opened(browser, page_of_flowers, **PHONE) as page:
        assert page.evaluate("innerWidth") == 390
        for name in TABS + LIVE:
            page.tap(f"#tab-{name}")
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            assert page.evaluate(CUT) == []
            assert page.evaluate(BROKEN) == []
            assert violations(page) == []
        tabs = page.locator(".tabs a").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect().right)"
        )
        assert max(tabs) <= 390
        page.reload()
        page.tap("#tab-cases")
        mark = page.locator("#world .rows use").nth(60)
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector("#row td", state="attached")
        assert_shows_the_row(page, flowers[0])


def test_hostile_names_are_only_names(browser, tmp_path):
    rng = np.random.RandomState(0)
    y = rng.randint(0, 3, 150)
    X = pd.DataFrame(rng.normal(size=(150, len(COLUMNS))), columns=COLUMNS)
    X[COLUMNS[0]] += 3.0 * (y == 1)
    X[COLUMNS[1]] += 3.0 * (y == 2)
    X["kind"] = np.array(CATEGORIES)[np.where(rng.rand(150) < 0.7, y, rng.randint(0, 3, 150))]
    X["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(0, 90, 150), "D")
    names = {*COLUMNS, "kind", "day"}
    X.index = [f"<script>{RUN}</script>{i}" for i in range(150)]
    labels = np.array(CLASSES)[y]
    model = table_pipeline(GRLVQ(random_state=0, max_iter=20)).fit(X, labels)
    path = write(model, X, labels, tmp_path / "hostile.html", title=TITLE, cv=2, n_refits=0)
    with opened(browser, path) as page:
        assert page.title() == TITLE
        assert texts(page, "h1") == [TITLE]
        assert set(texts(page, "#class option")) == {"all classes", *CLASSES}
        assert set(texts(page, "#world .legend li")) >= set(CLASSES)
        assert set(texts(page, "#margins .legend li")) == set(CLASSES)
        assert set(texts(page, "#features .features tbody th")) == names
        assert set(texts(page, "#prototypes .lines th")) == names
        assert set(texts(page, ".confusion tbody th")) == set(CLASSES)

        page.click("#tab-cases")
        page.locator("#world .rows use").first.hover(force=True)
        shown = page.locator(".tip").inner_text()
        assert shown.startswith(f"row <script>{RUN}</script>")
        assert any(shown.endswith(f": {name}") for name in CLASSES)
        assert set(texts(page, "#row th")) == names
        assert set(texts(page, "#row td")) & set(CATEGORIES)
        page.select_option("#class", label=CLASSES[0])
        page.click("#tab-ask")
        assert set(texts(page, "#ask-fields label:first-child")) >= names
        page.click("#letter-open")
        assert set(texts(page, "#letter th")) & names
        page.click("#letter-close")
        page.click("#tab-edit")
        page.fill("#edit-author", TITLE)
        page.fill("#edit-reason", TITLE)
        page.fill("#edit-fields input[type=number] >> nth=0", "1")
        page.click("#edit-move")
        assert texts(page, "#edit-log td")[:2] == [TITLE, TITLE]
        assert texts(page, "#edit-log tbody th")[0].count(" = ") == 1
        assert page.locator("main img:not([src^='data:image/png']), main script").count() == 0
        assert page.evaluate("window.ran") is None


@long_test
def test_of_many_rows_some_are_drawn(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "FEWEST_RESAMPLES", 20)  # of so many rows they take long
    rng = np.random.RandomState(0)
    y = rng.randint(0, 3, 100_000)
    X = rng.normal(size=(len(y), 4))
    X[np.arange(len(y)), y] += 2.0
    model = GLVQ(random_state=0, max_iter=20).fit(X[:2000], y[:2000])
    path = write(model, X, y, tmp_path / "many.html", cv=None)
    assert path.stat().st_size < LARGEST_OF_MANY
    with opened(browser, path) as page:
        assert re.search(r"1,5\d\d of 100,000 rows", page.locator("#cases").text_content())
        assert 1_000 < page.locator("#world .rows use").count() < 2_000
        assert page.locator("*").count() < 12_000
