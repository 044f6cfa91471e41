"""Reports in Chromium with the network blocked: no request, no error, readable by everyone.

Needs Debian's chromium and the extra `browser` (playwright, and axe-playwright-python for axe).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fourfifths

pytestmark = pytest.mark.slow
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install fourfifths[browser]"
    )
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = {
        "full": fourfifths.report(
            "adult",
            parts=(),
            protected=["sex", "race"],
            audit_options={"within": "workclass"},
        ),
        "ugesp": fourfifths.report("ricci", template="ugesp", score="combined"),
        "ll144": fourfifths.report("adult", template="ll144", protected=["sex", "race"]),
        "model-card": fourfifths.report("ricci", template="model-card"),
    }
    for name, report in made.items():
        report.save(folder / f"{name}.html")
    (folder / "result.html").write_text(fourfifths.impact("ricci").to_html(), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in (*made, "result")}


NAMES = pytest.mark.parametrize("name", ["full", "ugesp", "ll144", "model-card", "result"])


def opened(browser: Any, path: Path, **options: Any) -> tuple[Any, list[str]]:
    """Open a page without a network; return it, and what went wrong."""
    context = browser.new_context(offline=True, **options)
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on(
        "request",
        lambda request: (
            None if request.url == path.as_uri() else troubles.append(f"request: {request.url}")
        ),
    )
    page.goto(path.as_uri())
    return page, troubles


@NAMES
@pytest.mark.parametrize("width", WIDTHS)
def test_no_request_no_error_and_nothing_beyond_the_edge(browser, pages, name, width):
    page, troubles = opened(browser, pages[name], viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(page.screenshot(full_page=True)) > 10_000
    assert troubles == []


@NAMES
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_axe_finds_no_violation(browser, pages, name, color_scheme):
    axe = pytest.importorskip(
        "axe_playwright_python", reason="axe is not installed: pip install fourfifths[browser]"
    )
    script = next(Path(axe.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
    # axe is a script from outside, which the page's own policy would refuse.
    page, _ = opened(browser, pages[name], color_scheme=color_scheme, bypass_csp=True)
    page.evaluate(script)
    outcome = page.evaluate("axe.run()")
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in outcome["violations"]] == []
    assert len(outcome["passes"]) > 10


@NAMES
@pytest.mark.parametrize("size", ["Letter", "A4"])
def test_it_prints(browser, pages, name, size):
    page, troubles = opened(browser, pages[name])
    printed = page.pdf(format=size)
    assert printed.startswith(b"%PDF")
    # Print hides what is only for a screen.
    page.emulate_media(media="print")
    assert page.locator("nav:visible, .sort:visible").count() == 0
    assert troubles == []


def test_a_table_is_sorted_by_its_numbers(browser, pages):
    page, troubles = opened(browser, pages["full"])
    table = page.locator("table", has=page.locator("caption", has_text="race, compared with"))
    table = table.first
    column = [head.strip() for head in table.locator("thead th").all_inner_texts()]
    index = next(index for index, head in enumerate(column) if head.startswith("n"))
    button = table.locator("thead th").nth(index).locator("button")

    def counts() -> list[int]:
        cells = [row.locator("td").first.inner_text() for row in table.locator("tbody tr").all()]
        return [int(cell.replace(",", "")) for cell in cells]

    before = counts()
    button.click()
    assert counts() == sorted(before)
    button.click()
    assert counts() == sorted(before, reverse=True)
    assert table.locator("th[aria-sort=descending]").count() == 1
    assert troubles == []


def test_a_definition_opens_on_focus_and_closes_on_escape(browser, pages):
    page, troubles = opened(browser, pages["full"])
    term = page.locator("a.term", has_text="ratio").first
    term.focus()
    tip = page.locator("[role=tooltip]")
    assert "selection rate of a group divided by" in tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.count() == 0
    assert troubles == []


def test_without_script_everything_is_there(browser, pages):
    page, _ = opened(browser, pages["full"], java_script_enabled=False)
    assert page.locator("table").count() > 5
    assert page.locator("dl.glossary dt").count() > 10


def test_the_policy_stops_a_script_that_slipped_in(browser, pages, tmp_path):
    text = pages["full"].read_text(encoding="utf-8")
    path = tmp_path / "changed.html"
    path.write_text(text.replace("</main>", "<script>window.ran = 1</script></main>"))
    page, troubles = opened(browser, path)
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in trouble for trouble in troubles)
