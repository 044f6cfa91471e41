"""The report of a rerun: its order, its verdicts, and one page of HTML that asks nobody."""

from __future__ import annotations

import base64
import csv
import re
from pathlib import Path

import pytest
from parsed_html import ParsedPage

from fourfifths._paper import beyond
from fourfifths._paper.claims import Claim
from fourfifths._paper.experiments import Settings
from fourfifths._paper.report import (
    DEPARTURES,
    QUICK_CAUTION,
    PaperReport,
    report_markdown,
    report_page,
)
from fourfifths._paper.reproduce import PANELS

CLAIM = Claim(claim="a claim", measured="a < b", verdict="holds", why="a reason")
KEPT = Path(__file__).parents[2] / "docs" / "reproduction"
# The signature of a PNG, the head of its first chunk, and a width of 1,400 pixels.
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (1400).to_bytes(4)


def report(*names: str, is_quick: bool = False) -> PaperReport:
    settings = Settings(amounts=(0.0, 1.0), repeats=2, n_jobs=1, cells=Path(), is_quick=is_quick)
    claims = (CLAIM, CLAIM, Claim(claim="c", measured="m", verdict="does not hold", why="w"))
    return PaperReport(
        claims=claims, panels={name: PANELS[name] for name in names}, settings=settings
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("sat", "utility"):
        (tmp_path / f"{name}.png").write_bytes(PICTURE + name.encode())
    return tmp_path


def test_departures_come_first_then_claims_then_figures() -> None:
    text = report_markdown(report("sat", "utility"))
    lines = text.splitlines()
    departures = lines.index("## Where this differs from the paper")
    claim = lines.index("| a claim | a < b | **holds** | a reason |")
    figure = lines.index("![Impact ratio against utility](utility.png)")
    assert departures < claim < figure
    assert "amounts 0, 1; Adult's own split; 2 random splits" in text
    assert "Answers figure 3. The numbers along a line" in text
    assert "Points: [sat.csv](sat.csv).\n" in text
    assert QUICK_CAUTION not in text


def test_verdicts_are_counted_from_the_claims() -> None:
    assert report().summary == "Claims by verdict: holds: 2; does not hold: 1."


@pytest.mark.parametrize("is_quick", [False, True])
def test_a_quick_report_says_in_both_forms_that_it_is_too_small(
    folder: Path, *, is_quick: bool
) -> None:
    quick = report("sat", is_quick=is_quick)
    assert (QUICK_CAUTION in report_markdown(quick)) == is_quick
    assert (QUICK_CAUTION in report_page(quick, folder)) == is_quick


def test_the_page_has_what_the_markdown_has(folder: Path) -> None:
    content = report("sat", "utility")
    page = ParsedPage(report_page(content, folder))
    markdown = report_markdown(content)
    texts = [*DEPARTURES, content.summary, content.setup, "a claim", "a < b", "does not hold"]
    texts += [
        text for name in content.panels for text in (PANELS[name].title, PANELS[name].caption)
    ]
    for text in texts:
        assert text in markdown
        assert text in page.text


def test_the_figures_are_in_the_page_and_nothing_is_asked_of_anybody(folder: Path) -> None:
    page = report_page(report("sat", "utility"), folder)
    pictures = re.findall(r'<img src="data:image/png;base64,([^"]*)"', page)
    assert [base64.b64decode(code) for code in pictures] == [PICTURE + b"sat", PICTURE + b"utility"]
    assert page.count('width="672"') == 2  # 7 inches of 96 pixels
    assert "default-src 'none'; img-src data:; style-src" in page
    attributes = [pair for _, tag in ParsedPage(page).tags for pair in tag.items()]
    links = [value for key, value in attributes if key in ("src", "href", "srcset", "action")]
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)


def test_the_kept_report_says_what_the_code_says() -> None:
    markdown = (KEPT / "REPORT.md").read_text()
    lines = markdown.splitlines()
    for departure in DEPARTURES:
        assert f"- {departure}" in lines
    for name, panel in PANELS.items():
        assert f"## {panel.title}" in lines
        assert panel.caption in lines
        assert (KEPT / f"{name}.csv").exists()
    page = ParsedPage((KEPT / "REPORT.html").read_text())
    for claim in re.findall(r"^\| (.+?) \| .* \| \*\*", markdown, flags=re.MULTILINE):
        assert claim in page.text


def test_the_kept_claims_follow_from_the_kept_points() -> None:
    rows = []
    with (KEPT / "comparison.csv").open() as stream:
        for row in csv.DictReader(stream):
            figures = {name: float(row[name]) for name in ("amount", "parity", "accuracy")}
            rows.append({**row, **figures})
    lines = (KEPT / "REPORT.md").read_text().splitlines()
    claims = [
        beyond.same_decay(rows),
        *beyond.accuracy_at_parity(rows),
        beyond.naive_bayes_accuracy(rows),
        beyond.lowest_parity(rows),
        *(beyond.class_weights(name, rows) for name in ("adult", "german")),
    ]
    for claim in claims:
        assert f"| {claim.claim} | {claim.measured} | **{claim.verdict}** | {claim.why} |" in lines
