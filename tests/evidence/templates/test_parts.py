"""The parts that templates share."""

from __future__ import annotations

from counted import measure, stratified

import fourfifths
from fourfifths._evidence.evidence import Evidence
from fourfifths._evidence.templates.parts import (
    attribute_parts,
    certificate_parts,
    note_part,
    repair_parts,
    result_part,
    significance_part,
    strata_parts,
)
from fourfifths._report.impact import attribute_section

TEAL = {"Black": (26, 48), "White": (206, 259)}


def test_every_table_of_the_audit_is_in_some_part():
    strata = {"a": TEAL, "b": {"Black": (10, 20), "White": (30, 40)}}
    table = stratified(strata)
    within = next(column for column in table.columns if column not in ("group", "hired"))
    impact = fourfifths.impact(
        table, protected="group", outcome="hired", within=within, pairs="all"
    )
    evidence = Evidence(impact=impact)
    parts = (*attribute_parts(evidence), significance_part(evidence), *strata_parts(evidence))
    shown = {sheet.title for part in parts for sheet in part.sheets}
    assert shown == {sheet.title for sheet in attribute_section(impact.attributes[0]).sheets}


def test_what_was_not_asked_for_is_not_there():
    evidence = Evidence(impact=measure(TEAL))
    assert result_part(evidence, "stages", None) == ()
    assert strata_parts(evidence) == ()
    assert certificate_parts(evidence) == ()
    assert repair_parts(evidence) == ()
    assert note_part(evidence) == ()


def test_what_failed_has_its_reason():
    evidence = Evidence(
        impact=measure(TEAL),
        problems={"certificate by group": "few rows", "repair": "no column"},
    )
    (certificate,) = certificate_parts(evidence)
    assert certificate.title == "What a rule on the other columns could do, by group"
    assert certificate.problem == "few rows"
    (repair,) = repair_parts(evidence)
    assert repair.problem == "no column"
