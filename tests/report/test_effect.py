"""What a repair did, as a page."""

from __future__ import annotations

import pytest

from fourfifths._effect.result import Audit, ColumnEffect, ModelImpact, RepairEffect
from fourfifths._report.document import to_document
from fourfifths._report.effect import audit_sheet, effect_notes
from fourfifths._report.terminal import document_text

NAN = float("nan")
MODEL = ModelImpact(
    group="B",
    reference="W",
    impact_ratio=0.5,
    impact_ratio_interval=(0.4, 0.6),
    utility=0.75,
)


def audit(error: float, **fields) -> Audit:
    values = {
        "strongest": "naive-bayes",
        "balanced_error_rate": error,
        "interval": (error - 0.05, error + 0.05),
        "impact_floor": 0.7,
        "impact_floor_interval": (0.6, 0.8),
        "verdict": "inconclusive",
        "model": MODEL,
    }
    return Audit(**(values | fields))


def effect(before: Audit | None, after: Audit | None, **fields) -> RepairEffect:
    column = ColumnEffect(
        column="score",
        kind="number",
        changed=1200,
        rank_moved=NAN,
        distance=2.5,
        distance_after=0.1,
    )
    values = {
        "table": "t.csv",
        "rows": 2000,
        "rows_changed": 1200,
        "cells": 2000,
        "cells_changed": 1200,
        "columns": (column,),
        "before": before,
        "after": after,
        "raised": False,
        "not_repaired": (),
        "notes": (),
    }
    return RepairEffect(**(values | fields))


def test_before_and_after_stand_side_by_side_at_80_columns():
    text = document_text(to_document(effect(audit(0.3), audit(0.45))), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "0.300 (0.250 to 0.350)  0.450 (0.400 to 0.500)" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("strongest"))
    assert row.split() == ["strongest", "auditor", "naive-bayes", "naive-bayes"]


def test_without_an_audit_there_is_only_the_table_of_changes():
    (section,) = to_document(effect(None, None)).sections
    assert [sheet.title for sheet in section.sheets] == ["what was changed"]
    assert section.sheets[0].rows == (("score", "number", "1,200", "-", "2.500", "0.100"),)


def test_without_an_outcome_there_is_neither_floor_nor_model():
    blind = {"verdict": None, "model": None, "impact_floor": NAN}
    text = str(effect(audit(0.3, **blind), audit(0.4, **blind)))
    assert "BER of the strongest auditor" in text
    assert "impact floor" not in text.partition("floor:")[0]
    assert "verdict" not in text


def test_a_repair_that_made_it_worse_is_a_warning_that_stands_out():
    document = to_document(effect(audit(0.45), audit(0.3), raised=True))
    (section,) = document.sections
    (warning,) = section.sentences
    assert warning.is_marked
    assert "fell from 0.450 to 0.300 (naive-bayes)" in warning.text
    assert section.sheets[0].marked == (0,)


def test_no_warning_where_nothing_got_worse():
    assert "Warning" not in str(effect(audit(0.3), audit(0.45)))


def test_records_have_one_row_per_column():
    assert effect(None, None).to_records() == [
        {
            "column": "score",
            "kind": "number",
            "changed": 1200,
            "rank_moved": None,
            "distance": 2.5,
            "distance_after": 0.1,
        }
    ]


@pytest.mark.parametrize("count", [10, 11])
def test_ten_columns_that_were_not_repaired_are_named(count):
    names = tuple(f"c{index}" for index in range(count))
    note = to_document(effect(None, None, not_repaired=names)).notes[0]
    assert note.startswith("not repaired, and not audited here: c0, c1")
    assert ("and 1 more" in note) == (count == 11)


def test_every_figure_of_an_audit_has_a_row():
    after = audit(0.45, strongest="trees", verdict="certified", model=None)
    found = audit_sheet(audit(0.3), after, is_raised=False)
    floors = "0.700 (0.600 to 0.800)"
    assert found.rows == (
        ("BER of the strongest auditor", "0.300 (0.250 to 0.350)", "0.450 (0.400 to 0.500)"),
        ("strongest auditor", "naive-bayes", "trees"),
        ("impact floor of that auditor", floors, floors),
        ("impact ratio of a model", "0.500 (0.400 to 0.600)", "-"),
        ("utility of that model", "0.750", "-"),
        ("verdict", "inconclusive", "certified"),
    )
    assert found.marked == ()
    assert audit_sheet(audit(0.3), after, is_raised=True).marked == (0,)


def test_the_notes_name_the_groups_of_the_models_ratio_in_order():
    reversed_model = ModelImpact(
        group="H",
        reference="W",
        impact_ratio=1.25,
        impact_ratio_interval=(1.1, 1.4),
        utility=0.7,
    )
    done = effect(audit(0.3), audit(0.4, model=reversed_model), notes=("a note",))
    assert list(effect_notes(done)) == [
        "a note",
        "the model's ratio is the least of a group: B over W, then H over W (W over H: 0.800)",
    ]


def test_models_of_the_same_groups_are_named_once():
    assert list(effect_notes(effect(audit(0.3), audit(0.4)))) == [
        "the model's ratio is the least of a group: B over W"
    ]
    assert list(effect_notes(effect(None, None))) == []


def test_the_legend_explains_what_is_shown():
    quick = document_text(to_document(effect(None, None)))
    full = document_text(to_document(effect(audit(0.3), audit(0.45))))
    assert ("BER: balanced error rate" in full, "BER: balanced error rate" in quick) == (
        True,
        False,
    )
    assert "rank moved: mean change of rank" in quick
