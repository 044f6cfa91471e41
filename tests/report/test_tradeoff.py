"""A trade-off as a page."""

from __future__ import annotations

import csv
import io

from curves import curve, point, raw_point, repaired_point

from fourfifths._report.csv import records_csv
from fourfifths._report.document import to_document
from fourfifths._report.terminal import document_text
from fourfifths._report.tradeoff import choice_sentence, model_sheet


def cells(text: str, start: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.strip().startswith(start))


def test_the_headline_says_what_was_predicted_and_on_how_many_rows():
    assert str(curve()).splitlines()[0] == (
        "people: hired = yes, by group, 300 rows, 100 of them for testing"
    )


def test_there_is_a_table_for_each_model():
    points = [repaired_point("LR"), repaired_point("SVM"), repaired_point("LR", amount=0.5)]
    document = to_document(curve(points))
    (section,) = document.sections
    assert [sheet.title for sheet in section.sheets] == ["LR", "SVM"]
    assert [len(sheet.rows) for sheet in section.sheets] == [2, 1]


def test_a_row_holds_the_figures():
    row = " ".join(cells(str(curve()), "blocks, random"))
    assert row == "blocks, random 1 * 0.900 0.85 to 0.95 0.700 0.750 0.950 0.800 0.450 1.00"


def test_what_is_proven_has_a_column_and_a_note_and_none_where_nothing_is():
    text = str(curve([raw_point(), repaired_point(proven_floor=0.831)]))
    assert cells(text, "repair")[-1] == "floor"
    assert cells(text, "blocks, random")[-1] == "0.831"
    assert cells(text, "none")[-1] == "-"  # undefined, not 0
    assert "no rule on the repaired columns has a lower impact ratio" in " ".join(text.split())
    nothing = to_document(curve())
    assert nothing.sections[0].sheets[0].headers[-1] == "changed"
    assert not any(note.startswith("floor") for note in nothing.notes)


def test_the_column_of_what_is_proven_fits_into_100_columns():
    text = str(curve([raw_point(), repaired_point(proven_floor=0.831)]))
    assert text.count("blocks, random  ") == 1
    assert max(map(len, text.splitlines())) <= 100


def test_only_points_on_the_front_have_a_star():
    beaten = repaired_point(amount=0.5, impact_ratio=0.4, utility=0.6)
    text = str(curve([raw_point(), beaten, repaired_point()]))
    assert cells(text, "blocks, random")[:4] == ["blocks,", "random", "0.5", "0.400"]
    assert cells(text, "none")[:3] == ["none", "0", "*"]


def test_the_point_to_take_is_named():
    words = " ".join(str(curve()).split())
    assert (
        "The highest utility with an impact ratio clear of 0.8: LR, blocks, random repair, amount "
        "1: ratio 0.900 (0.850 to 0.950), utility 0.700."
    ) in words


def test_no_point_to_take_is_said_and_stands_out():
    document = to_document(curve([raw_point()]))
    (sentence,) = document.sections[0].sentences
    assert sentence.text.startswith("No point has an interval of the impact ratio that lies within")
    assert sentence.is_marked


def test_the_note_says_what_the_intervals_are():
    assert "figures: of 2 random splits together" in " ".join(str(curve()).split())
    words = " ".join(str(curve(intervals="bootstrap")).split())
    assert "intervals: bootstrap over the test rows" in words


def test_at_80_columns_no_line_is_longer_and_every_figure_is_there():
    text = document_text(to_document(curve()), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    # The names of the rows stand in both parts of the table.
    assert text.count("blocks, random  ") == 2
    assert "0.450     1.00" in text


def test_at_100_columns_the_table_is_in_one_part():
    assert str(curve()).count("blocks, random  ") == 1


def test_markdown_has_the_same_table():
    assert "| blocks, random | 1 \\* | 0.900 | 0.85 to 0.95 |" in curve().to_markdown()


def test_csv_has_one_row_per_point():
    rows = list(csv.DictReader(io.StringIO(records_csv(curve().to_records()))))
    assert [row["amount"] for row in rows] == ["0.0", "1.0"]
    assert (rows[1]["impact_ratio_low"], rows[1]["impact_ratio_high"]) == ("0.85", "0.95")
    assert rows[1]["auditors"] == "trees: 0.45"


def test_the_sheet_of_a_model_has_only_its_points():
    points = [repaired_point("LR"), repaired_point("SVM", amount=0.5)]
    sheet = model_sheet(curve(points, confidence=0.9), "SVM")
    assert sheet.title == "SVM"
    assert sheet.headers[:4] == ("repair", "amount", "ratio", "90%")
    (row,) = sheet.rows
    assert row[:4] == ("blocks, random", "0.5 *", "0.900", "0.85 to 0.95")


def test_no_repair_is_a_choice_too():
    sentence = choice_sentence(point(impact_ratio=0.9, impact_ratio_interval=(0.85, 0.95)))
    assert sentence.text == (
        "The highest utility with an impact ratio clear of 0.8: LR, no repair, amount 0: ratio "
        "0.900 (0.850 to 0.950), utility 0.700."
    )
    assert not sentence.is_marked
