"""What the examples of the pages print is what the pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
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
