"""A page as Markdown."""

from __future__ import annotations

import pytest

from fourfifths._report.document import Document, Section, Sentence, Sheet
from fourfifths._report.markdown import document_markdown, escape_markdown

PAGE = Document(
    headline="t.csv: 3 rows",
    sections=(
        Section(
            sheets=(
                Sheet(title="rates", headers=("group", "n"), rows=(("a|b", "1"), ("c", "2"))),
                Sheet(title="more", headers=("group", "z"), rows=(("c", "-"),), is_detail=True),
            ),
            sentences=(Sentence(text="c: not indicated.", is_marked=True),),
        ),
    ),
    notes=("two groups",),
    details=("Rule: of a paper.",),
    closing=("n: rows.",),
)


def test_a_page_with_everything():
    assert document_markdown(PAGE).splitlines() == [
        "# t.csv: 3 rows",
        "",
        "## rates",
        "",
        "| group | n |",
        "| --- | ---: |",
        r"| a\|b | 1 |",
        "| c | 2 |",
        "",
        "## more",
        "",
        "| group | z |",
        "| --- | ---: |",
        "| c | - |",
        "",
        "- c: not indicated.",
        "",
        "- Note: two groups.",
        "",
        "Rule: of a paper.",
        "",
        "n: rows.",
    ]


def test_a_page_of_a_headline_ends_in_one_line_end():
    assert document_markdown(Document(headline="a_b")) == "# a\\_b\n"


def test_a_head_is_escaped_as_well():
    sheet = Sheet(title="t", headers=("a|b", "c"), rows=())
    page = Document(headline="h", sections=(Section(sheets=(sheet,)),))
    assert r"| a\|b | c |" in document_markdown(page)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("<script>", "&lt;script&gt;"),
        ("**b**", r"\*\*b\*\*"),
        ("[a](b)", r"\[a\](b)"),
        ("a_b_", r"a\_b\_"),
        ("`x`", r"\`x\`"),
        ("a & b", "a &amp; b"),
        ("a\\|b", r"a\\\|b"),
    ],
)
def test_markdown_is_escaped(text, escaped):
    assert escape_markdown(text) == escaped
