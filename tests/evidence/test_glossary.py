"""Words of the tables in plain English."""

from __future__ import annotations

import fourfifths
from fourfifths._evidence.glossary import TERMS, terms_of
from fourfifths._evidence.report import Part, anchor
from fourfifths._report.document import Section, Sheet
from fourfifths._report.impact import FURTHER_FIGURES, TEST_FIGURES


def test_every_head_of_the_audit_is_explained():
    heads = {head for term in TERMS for head in term.heads}
    audit = fourfifths.report("ricci", template="ugesp", audit_options={"within": "position"})
    shown = {head for part in audit.parts for sheet in part.sheets for head in sheet.headers}
    names = {"", "group", "selected", "p", "difference", "position", "of"}
    assert shown - names - heads == set()
    assert {*TEST_FIGURES, *FURTHER_FIGURES} <= heads


def test_a_head_means_one_term_and_anchors_differ():
    heads = [head for term in TERMS for head in term.heads]
    assert len(heads) == len(set(heads))
    assert len({anchor(term.name) for term in TERMS}) == len(TERMS)


def test_only_terms_that_are_used_are_explained():
    sheet = Sheet(title="t", headers=("group", "z"), rows=())
    terms = terms_of([Part(id="p", title="P", sections=(Section(sheets=(sheet,)),))])
    assert [term.name for term in terms] == [
        "adverse impact",
        "impact ratio",
        "selection rate",
        "z",
    ]
