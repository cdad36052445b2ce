"""The report in a browser: drawn, pointed at, on paper, on a phone, and by whoever reads it."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from given_browser import PHONE, a_browser, opened, violations
from given_profile import long_test
from protolearn import GLVQ, GMLVQ, GRLVQ, SoftMarginSVM
from protolearn.report import write
from protolearn.report.page import document, evidence
from protolearn.tables import table_pipeline

pytest.importorskip("plotly", reason="plotly is not installed: the report has no charts")

LARGEST = 6_000_000
"""Bytes of a page."""

A4 = 688
"""Pixels between the margins of the paper."""

RUN = "ran=1"
TITLE = f"</title><script>{RUN}</script>"
COLUMNS = (
    f"<script>{RUN}</script>",
    "</script>'\"",
    "javascript:alert(1)",
    "a <b>bold</b> &lt;",
    "@ink",
)
CATEGORIES = f"<img src=x onerror='{RUN}'>", "$x^2$", "%{x}"
CLASSES = "<script>alert(1)", '%{x} it\'s "so"', "$y^2$ &lt;"

CUT = """() => {
  const found = [];
  for (const plot of document.querySelectorAll(".plot")) {
    const box = plot.getBoundingClientRect();
    for (const text of plot.querySelectorAll("svg text, svg.main-svg")) {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      const across = left < box.left - 1 || right > box.right + 1;
      if (across || top < box.top - 1 || bottom > box.bottom + 1)
        found.push(plot.id + ": " + text.textContent.slice(0, 80));
    }
    if (box.right > innerWidth) found.push(plot.id);
  }
  return found;
}"""

BROKEN = """() => {
  const found = [], range = document.createRange();
  for (const cell of document.querySelectorAll(".measures *, .confusion *, .prototypes *")) {
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

UNDRAWN = """() => [...document.querySelectorAll(".plot")].filter(
  (plot) => !plot.querySelector("svg.main-svg .trace")).map((plot) => plot.id)"""

COLOURS = """() => {
  const fill = (where) => getComputedStyle(document.querySelector(where)).fill;
  return {
    paper: getComputedStyle(document.body).backgroundColor,
    tick: fill("#world .xtick text"), title: fill("#world .xtitle"),
    legend: fill("#world .legendtext"), mark: fill("#world .point"),
    svgs: document.querySelectorAll(".plot svg.main-svg .trace").length,
  };
}"""

FAINTEST = """() => [...document.querySelectorAll("#world .scatterlayer .trace")].map((trace) => {
  const opacity = (one) => Number(getComputedStyle(one).opacity);
  return opacity(trace) * Math.min(...[...trace.querySelectorAll(".point")].map(opacity));
})"""


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


def swipe(page, start, end):
    """Move a finger up or down the page."""
    touch = page.context.new_cdp_session(page)
    for place in np.linspace(start, end, 10):
        kind = "touchStart" if place == start else "touchMove"
        points = [{"x": 200, "y": float(place)}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def assert_shows_the_row(page, frame):
    """See that the panel shows the row whose name it has, and give that name."""
    name = int(page.locator("#row h3").text_content().removeprefix("Row "))
    shown = dict(zip(texts(page, "#row th"), texts(page, "#row td"), strict=True))
    assert {key: float(value) for key, value in shown.items()} == frame.loc[name].to_dict()
    return name


def test_charts_are_drawn_and_answer_and_all_can_be_read(browser, flowers, page_of_flowers):
    assert page_of_flowers.stat().st_size < LARGEST
    with opened(browser, page_of_flowers) as page:
        assert page.locator(".plot").count() >= 7
        assert page.evaluate(UNDRAWN) == []
        assert page.evaluate(CUT) == []

        for place in 0, 60, 140:
            page.locator("#world .point").nth(place).hover(force=True)
            page.wait_for_selector("#world .hoverlayer .hovertext")
            name = assert_shows_the_row(page, flowers[0])
            label = f"row {name}: {flowers[1][name]}"
            assert texts(page, "#world .hoverlayer .hovertext text") == [label]

        assert min(page.evaluate(FAINTEST)[:3]) > 0.5
        page.select_option("#class", label="versicolor")
        page.wait_for_function(f"({FAINTEST})()[0] < 0.2")
        others, own, _ = page.evaluate(FAINTEST)[:3]
        assert others < 0.2 < 0.5 < own
        assert page.locator(".prototypes th:visible").all_inner_texts()[1] == "versicolor"
        classes = page.locator("[data-class]:visible").evaluate_all(
            "all => all.map(e => e.dataset.class)"
        )
        assert set(classes) == {"1"}
        page.select_option("#class", label="all classes")
        page.wait_for_function(f"({FAINTEST})()[0] > 0.5")
        assert page.locator("[data-class]:visible").count() > len(classes)

        page.set_viewport_size({"width": 700, "height": 900})
        page.wait_for_function("document.querySelector('#world svg').clientWidth < 680")
        assert page.evaluate(CUT) == []

        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []


@long_test
def test_light_and_dark_and_paper(browser, page_of_flowers, tmp_path):
    with opened(browser, page_of_flowers, color_scheme="light") as page:
        light = page.evaluate(COLOURS)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"({COLOURS})().tick !== '{light['tick']}'")
        dark = page.evaluate(COLOURS)
        for colours in light, dark:
            for name in "tick", "title", "legend":
                assert contrast(colours[name], colours["paper"]) > 4.5
        for name in "paper", "tick", "title", "legend", "mark":
            assert light[name] != dark[name]

        # What stands on paper: the script of the page has heard of it before this one.
        page.evaluate(
            f"addEventListener('beforeprint', () => {{ window.printed = ({COLOURS})() }})"
        )
        paper = page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 4
        assert page.evaluate("window.printed") == light
        page.wait_for_function(f"({COLOURS})().tick === '{dark['tick']}'")
        assert page.evaluate(COLOURS) == dark

        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size({"width": A4, "height": 900})
        assert page.evaluate(CUT) == []
        assert page.evaluate("document.scrollingElement.scrollWidth") <= A4
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(255, 255, 255)"


@long_test
def test_a_phone(browser, flowers, page_of_flowers):
    with opened(browser, page_of_flowers, **PHONE) as page:
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        assert page.evaluate("innerWidth") == 390
        assert page.evaluate(UNDRAWN) == []
        assert page.evaluate(CUT) == []
        assert page.evaluate(BROKEN) == []

        mark = page.locator("#world .point").nth(60)
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector("#row td", state="attached")
        assert_shows_the_row(page, flowers[0])

        page.locator("#world").evaluate("e => e.scrollIntoView({block: 'center'})")
        before = page.evaluate("scrollY")
        swipe(page, 450, 250)
        page.wait_for_function(f"scrollY > {before + 50}")  # the map lets the page scroll
        assert violations(page) == []


@long_test
def test_the_slider_of_a_path(browser, tmp_path):
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[:120, :4], data.target_names[data.target][:120]
    model = table_pipeline(SoftMarginSVM(C=0.1)).fit(X, y)
    path = write(model, X, y, tmp_path / "svm.html", cv=2)
    assert path.stat().st_size < LARGEST
    lines = (
        "() => [...document.querySelectorAll('#path-0 .js-line')].map((e) => e.getAttribute('d'))"
    )
    with opened(browser, path) as page:
        assert page.evaluate(UNDRAWN) == []
        assert page.evaluate(CUT) == []
        slider, told = page.locator("#path-0-step"), page.locator("#path-0-told")
        seen = [told.text_content()]
        slider.focus()
        for key in "Home", "End", "ArrowLeft":
            before = page.evaluate(lines)
            page.keyboard.press(key)
            page.wait_for_function(
                f"before => JSON.stringify(({lines})()) !== JSON.stringify(before)", arg=before
            )
            seen.append(told.text_content())
            assert re.fullmatch(r"C = \S+: \d+\.\d% of these rows are right", seen[-1])
        assert len(set(seen)) == 4
        assert int(slider.input_value()) == int(slider.get_attribute("max")) - 1
        slider.fill("0")
        assert told.text_content() == seen[1]
        assert violations(page) == []


@long_test
def test_hostile_names_are_only_names(browser, tmp_path):
    rng = np.random.RandomState(0)
    y = rng.randint(0, 3, 150)
    X = pd.DataFrame(rng.normal(size=(150, len(COLUMNS))), columns=COLUMNS)
    X[COLUMNS[0]] += 3.0 * (y == 1)
    X[COLUMNS[1]] += 3.0 * (y == 2)
    X["kind"] = np.array(CATEGORIES)[np.where(rng.rand(150) < 0.7, y, rng.randint(0, 3, 150))]
    X.index = [f"<script>{RUN}</script>{i}" for i in range(150)]
    labels = np.array(CLASSES)[y]
    model = table_pipeline(GRLVQ(random_state=0, max_iter=20)).fit(X, labels)
    path = write(model, X, labels, tmp_path / "hostile.html", title=TITLE, cv=2, n_refits=0)
    with opened(browser, path) as page:
        assert page.title() == TITLE
        assert texts(page, "h1") == [TITLE]
        assert page.evaluate(UNDRAWN) == []
        assert set(texts(page, "#class option")) == {"all classes", *CLASSES}
        assert set(texts(page, "#world .legendtext")) >= set(CLASSES)
        assert set(texts(page, "#margins .legendtext")) == set(CLASSES)
        ticks = {text.strip() for text in texts(page, "#columns-0 .ytick text")}
        assert ticks == {*COLUMNS, "kind"}
        assert set(texts(page, ".prototypes tbody th")) == {*COLUMNS, "kind"}
        assert set(texts(page, ".confusion tbody th")) == set(CLASSES)

        page.locator("#world .point").first.hover(force=True)
        page.wait_for_selector("#world .hoverlayer .hovertext")
        shown = texts(page, "#world .hoverlayer .hovertext text")[0]
        assert shown.startswith(f"row <script>{RUN}</script>")
        assert any(shown.endswith(f": {name}") for name in CLASSES)
        assert set(texts(page, "#row th")) == {*COLUMNS, "kind"}
        assert set(texts(page, "#row td")) & set(CATEGORIES)
        bars = page.locator("#margins .point path")
        heights = bars.evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
        bars.nth(int(np.argmax(heights))).hover(force=True)
        page.wait_for_selector("#margins .hoverlayer .hovertext")
        assert texts(page, "#margins .hoverlayer .name")[0] in CLASSES

        page.select_option("#class", label=CLASSES[0])
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
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
    assert path.stat().st_size < LARGEST
    with opened(browser, path) as page:
        assert page.evaluate(UNDRAWN) == []
        assert re.search(r"1,5\d\d of 100,000 rows", page.locator("#map").inner_text())
        assert 1_000 < page.locator(".plot .point").count() < 4_000
        assert page.locator("*").count() < 12_000


@long_test
def test_without_the_charting_library(browser, flowers, tmp_path, monkeypatch):
    monkeypatch.setattr(document, "charting_library", lambda: "")
    model = table_pipeline(GMLVQ(random_state=0, max_iter=20)).fit(*flowers)
    with pytest.warns(UserWarning, match="need plotly"):
        path = write(model, *flowers, tmp_path / "plain.html", cv=2, n_refits=0)
    with opened(browser, path, with_charts=False) as page:
        assert document.NO_CHARTS in page.locator("#short").inner_text()
        for nothing in ".plot", "#class", "#row", ".slider":
            assert page.locator(f"{nothing}:visible").count() == 0
        for box in page.locator("section, figure:visible, .card:visible, .wide").all():
            heading = box.locator("h2, h3, figcaption").all_inner_texts()
            rest = box.inner_text()
            for text in heading:
                rest = rest.replace(text, "")
            assert rest.strip()
        assert violations(page) == []
