"""A browser that shows pages as users see them: Debian's chromium, without a window."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = "chromium", "chromium-browser", "google-chrome"

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name leads anywhere
]

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}


@contextmanager
def a_browser():
    """Start a browser, or skip the test where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser is installed, none of {', '.join(NAMES)}")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser, path, with_script=True, **options):
    """Open a file, and see at the end that it said nothing, broke nothing and asked for nothing."""
    context = browser.new_context(**{**DESKTOP, "reduced_motion": "reduce", **options})
    page = context.new_page()
    troubles = []

    def asked(request):
        if request.url != path.as_uri() and not request.url.startswith("data:"):
            troubles.append(f"asked for {request.url}")

    def spoke(dialog):
        troubles.append(f"opened a dialog: {dialog.message}")
        dialog.dismiss()

    page.on("request", asked)
    page.on("dialog", spoke)
    page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(f"broke: {error}"))
    try:
        page.goto(path.as_uri())
        if with_script:
            page.wait_for_selector("html[data-ready=yes]", state="attached")
        yield page
    finally:
        context.close()
    assert not troubles


def violations(page):
    """Give what axe finds against the rules for pages that all can use."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.evaluate(axe.axe_script)
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
    found = page.evaluate("tags => axe.run({runOnly: tags}).then((all) => all.violations)", tags)
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]
