"""Pages of HTML: one file, closed to the outside, and names are data."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from counted import measure
from parsed_html import ParsedPage

from fourfifths._report.document import Document, Section, Sentence, Sheet
from fourfifths._report.html.page import HERE, document_fragment, document_page, running_title

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "</style><script>alert(1)</script>",
    "مرحبا",
    "👩‍⚖️",
    "x" * 10_000,
)


def document(name: str) -> Document:
    sheet = Sheet(title=name, headers=(name, "n"), rows=((name, "1"),), marked=(0,))
    return Document(
        headline=name,
        sections=(Section(sheets=(sheet,), sentences=(Sentence(text=name),)),),
        notes=(name,),
        details=(name,),
        closing=(name,),
    )


@pytest.mark.parametrize("render", [document_page, document_fragment])
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_stays_data(render, name):
    plain, page = (ParsedPage(render(document(text))) for text in ("name", name))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    # The joiner within an emoji is no printable letter; it is shown as its code.
    shown = name.replace("\u200d", r"\u200d")
    assert page.tables[shown] == [[shown, "n"], [shown, "1"]]
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)


def test_the_policy_has_the_hashes_of_the_style_and_the_script():
    page = document_page(document("a <b> title"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL).group(1)
        code = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{code}'" in policy
    assert policy.startswith("default-src 'none'")


def test_nothing_is_asked_of_anybody():
    page = document_page(document("name"))
    assert not re.search(r"https?://|url\(|@import|\bsrc=", page)


def test_the_script_is_small():
    assert (HERE / "script.js").stat().st_size <= 10 * 1024


def test_tables_have_captions_and_scopes():
    page = ParsedPage(measure({"A": (3, 5), "B": (6, 8)}).to_html())
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption") > 0
    assert {attributes.get("scope") for tag, attributes in page.tags if tag == "th"} == {
        "col",
        "row",
    }


def test_a_title_cannot_leave_the_style_sheet():
    style = running_title('"}</style><script>')
    assert "<" not in style
    assert style.count('"') == running_title("plain").count('"')
    assert len(running_title("x" * 1000)) < 500


def test_a_fragment_has_neither_script_nor_details():
    detail = Sheet(title="further", headers=("a",), rows=(("1",),), is_detail=True)
    fragment = document_fragment(
        Document(headline="h", sections=(Section(sheets=(detail,)),), details=("source",))
    )
    assert "further" not in fragment
    assert "source" not in fragment
    assert "<script" not in fragment
