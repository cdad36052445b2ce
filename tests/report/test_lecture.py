"""The page of the lecture, in a browser: its steps are those of the library, and clicks count."""

import numpy as np
import pytest

from given_browser import PHONE, a_browser, opened, violations
from protolearn import LVQ1, AdaTron, PrototypeClassifier, Rosenblatt
from protolearn.losses import Sigmoid
from protolearn.report import write_lecture
from protolearn.solvers import SGD

STEPS = 3
RNG = np.random.RandomState(0)
Y = np.arange(12) % 2
X = RNG.uniform(-1.0, 1.0, (12, 2)) + 0.6 * (2 * Y[:, None] - 1)
W = np.array([[-0.3, 0.1], [0.2, 0.5], [0.4, -0.2], [0.1, 0.3]])  # grouped by class


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_lecture(tmp_path_factory.mktemp("lecture") / "lecture.html")


@pytest.fixture(scope="module")
def browser():
    with a_browser() as started:
        yield started


@pytest.fixture
def page(browser, path):
    with opened(browser, path, with_script=False) as found:
        yield found


def replay(page, name, settings, start=None):
    given = [name, X.tolist(), Y.tolist(), STEPS * len(X), settings, start]
    call = "([name, rows, labels, n, settings, start]) => "
    call += "lecture.replay(name, rows, labels, n, settings, start || undefined)"
    return page.evaluate(call, given)


@pytest.mark.parametrize("gamma", [1e6, 0.5])
def test_perceptrons_take_the_steps_of_the_library(page, gamma):
    watched = {"history": "step", "max_iter": STEPS}
    models = {
        "rosenblatt": Rosenblatt(order="cyclic", **watched),
        "adatron": AdaTron(
            updates="sequential", eta=0.1, gamma=gamma, fit_intercept="clamped", tol=1e-9, **watched
        ),
    }
    for name, model in models.items():
        with pytest.warns(match="."):  # three sweeps are not enough
            history = model.fit(X, Y).history_[0]
        states = replay(page, name, {"rate": 0.1, "gamma": gamma})
        weights = np.array([state["w"] for state in states])
        n = len(history["coef"])
        np.testing.assert_allclose(weights[:n, :2], history["coef"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(-weights[:n, 2], history["intercept"], rtol=1e-9, atol=1e-12)
        strengths = np.array([state["u"] for state in states])[:n]
        np.testing.assert_allclose(strengths, history["embedding_strengths"], rtol=1e-9, atol=1e-12)
        assert n == STEPS * len(X) + 1


@pytest.mark.parametrize("name", ["lvq1", "glvq"])
def test_prototypes_take_the_steps_of_the_library(page, name):
    given = {"init": W, "prototypes_per_class": 2, "max_iter": STEPS, "history": "step"}
    if name == "lvq1":
        given |= {"learning_rate": 0.1}
        model = LVQ1(schedule="constant", shuffle=False, raw_rates=True, **given)
    else:
        solver = SGD(0.1, "constant", shuffle=False, raw_rates=True, n_iter_no_change=None)
        model = PrototypeClassifier(loss=Sigmoid(4.0), solver=solver, **given)
    history = model.fit(X, Y).history_["prototypes"]
    start = {"W": W.tolist(), "classes": [0, 0, 1, 1]}
    states = replay(page, name, {"rate": 0.1, "beta": 4.0}, start)
    moved = np.array([state["W"] for state in states])
    np.testing.assert_allclose(moved, history, rtol=1e-9, atol=1e-12)


def test_steps_are_told_and_training_ends(page):
    page.click("#step")
    assert page.text_content("#where").startswith("Step 1, sweep 1")
    assert "E = 0.00 ≤ 0, a mistake" in page.text_content("#note")
    for _ in range(30):
        if page.is_enabled("#sweep"):
            page.click("#sweep")
    assert "A whole sweep without a mistake: training ends." in page.text_content("#note")
    assert "0 errors" in page.text_content("#where")
    assert page.is_disabled("#step")
    page.click("#reset")
    assert page.text_content("#where").startswith("Step 0")
    assert page.is_enabled("#step")


def test_clicks_add_and_erase_examples(page):
    page.select_option("#data", "empty")
    assert page.is_disabled("#step")
    plane = page.locator("#plane")
    box = plane.bounding_box()

    def click(x, y):
        place = {"x": (x + 2.0) / 4.0 * box["width"], "y": (2.0 - y) / 4.0 * box["height"]}
        plane.click(position=place)

    click(-1.0, -1.0)
    page.check('input[value="1"]')
    click(1.0, 1.0)
    click(1.0, -1.0)
    assert page.locator("circle.example").count() == 1
    assert page.locator("rect.example").count() == 2
    page.click("#sweep")
    assert page.text_content("#where").startswith("Step 3")
    page.check('input[value="erase"]')
    click(1.0, -1.0)
    assert page.locator("rect.example").count() == 1
    assert page.text_content("#where").startswith("Step 0")


def test_it_runs_by_itself_and_pauses(page):
    page.select_option("#algorithm", "glvq")
    page.fill("#speed", "30")
    page.click("#run")
    page.wait_for_function("document.getElementById('where').textContent.startsWith('Step 5')")
    page.click("#run")
    assert page.text_content("#run") == "Run"
    assert page.locator(".prototype").count() == 2
    assert page.locator(".trail").count() == 2


@pytest.mark.parametrize("name", ["rosenblatt", "adatron", "lvq1", "glvq"])
def test_a_telephone_shows_all_of_it(browser, path, name):
    with opened(browser, path, with_script=False, **PHONE) as page:
        page.select_option("#algorithm", name)
        page.tap("#step")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("#formula div").count() >= 2
        for one in ("#step", "#sweep", "#run", "#reset"):
            assert page.locator(one).bounding_box()["height"] >= 40.0


def test_everybody_can_use_it(page):
    assert not violations(page)
