"""What the examples of the pages print is what the pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "fourfifths"
ITEMS = (DOCS / "paper-items.md").read_text()
KINDS = (DOCS / "discrimination-kinds.md").read_text()
QUESTIONS = (DOCS / "open-questions.md").read_text()


def examples(page: str) -> list[tuple[str, str, str]]:
    """Return the heading, the code and the output of every example."""
    found = re.findall(
        r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```\n\n```text\n(.*?)^```$",
        page,
        flags=re.MULTILINE | re.DOTALL,
    )
    assert len(found) == page.count("```text")
    return found


@pytest.mark.parametrize(
    ("code", "printed"),
    [pytest.param(code, printed, id=name) for name, code, printed in examples(KINDS)],
)
def test_each_kind_of_discrimination_shows_as_stated(
    code: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_there_is_an_example_of_each_kind() -> None:
    linked = re.findall(r"^\| \[([^\]]+)\]", KINDS, flags=re.MULTILINE)
    assert [name.lower() for name, _, _ in examples(KINDS)] == linked
    assert len(linked) == 9


def test_interviewing_many_moves_the_threshold_and_not_the_bottom_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", QUESTIONS, flags=re.MULTILINE | re.DOTALL)
    exec(code, {})
    few, many = capsys.readouterr().out.splitlines()
    assert few == "0.1 0.4875 [1.0, 0.5, 0.5]"
    assert many == "0.01 0.49875 [10.0, 0.05, 0.5]"


def named_places() -> list[tuple[str, str]]:
    """Return every file that the table of the paper's items names, with the name in it."""
    rows = re.findall(r"^\| \d+ \|.*$", ITEMS, flags=re.MULTILINE)
    cells = [row.split(" | ")[3] for row in rows]
    places = [place for cell in cells for place in re.findall(r"`([^`]+)`", cell)]
    return [(path, name.strip()) for path, _, name in (place.partition(":") for place in places)]


def test_every_item_of_the_paper_has_a_place_that_exists() -> None:
    gone = []
    for path, name in named_places():
        file = ROOT / path if path.startswith(("docs/", "tests/")) else SOURCE / path
        if not file.exists() or name not in file.read_text():
            gone.append(f"{path}: {name}")
    assert gone == []


def test_the_items_are_numbered_and_say_how_they_are_treated() -> None:
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", ITEMS, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 100
    words = ("exact", "wider", "departure", "corrected", "open", "see the report")
    assert [row for row, cells in rows if not cells.split(" | ")[-1].startswith(words)] == []
