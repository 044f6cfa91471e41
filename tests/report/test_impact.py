"""An audit as a page, in text and Markdown, and as CSV; a rule as a page."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from counted import frame, measure, measure_aggregated, printed, stratified

import fourfifths
from fourfifths._impact.profiles import RULES
from fourfifths._report.csv import records_csv
from fourfifths._report.document import to_document
from fourfifths._report.impact import (
    arithmetic_text,
    attribute_section,
    checklist_sections,
    is_indicated,
    rates_sheet,
    rule_document,
    rule_line,
    rule_paragraphs,
    rules_document,
    within_cells,
)
from fourfifths._report.markdown import escape_markdown
from fourfifths._report.terminal import document_text

TEAL = {"Black": (26, 48), "White": (206, 259)}
FORBIDDEN = re.compile(r"\b(fair|compliant|illegal|unbiased)\b", re.IGNORECASE)
UNDEFINED = {"women": (0, 40), "men": (0, 80)}
STRATA = {
    "captain": {"Black": (3, 8), "White": (16, 25)},
    "lieutenant": {"Black": (6, 19), "White": (25, 43)},
}


def row_of(text, group):
    """Return the cells of the first line of a table that begins with the group."""
    line = next(line for line in text.splitlines() if line.split()[:1] == [group])
    return line.split()


def audit_unknown():
    table = frame({"A": (3, 8), "B": (16, 25), "?": (2, 5)})
    return fourfifths.impact(table, protected="group", outcome="hired", unknown=["?"])


def audit_strata():
    return fourfifths.impact(stratified(STRATA), protected="group", outcome="hired", within="job")


def audit_joint():
    return fourfifths.impact("adult", protected=["sex", "race"])


AUDITS = {
    "Teal": lambda: measure(TEAL),
    "no one selected": lambda: measure_aggregated(UNDEFINED),
    "one side selected": lambda: measure({"women": (5, 40), "men": (0, 80)}, reference="men"),
    "unknown": audit_unknown,
    "strata": audit_strata,
    "joint": audit_joint,
    "scores": lambda: fourfifths.impact("ricci", score="combined", rule="nyc-ll144"),
} | {rule: lambda rule=rule: fourfifths.impact("german", rule=rule) for rule in fourfifths.RULES}


@pytest.fixture(scope="module", params=AUDITS)
def result(request):
    """One audit of each sort."""
    return AUDITS[request.param]()


def test_a_result_prints_itself():
    assert row_of(str(measure(TEAL)), "Black")[:4] == ["Black", "48", "26", "0.542"]


def test_what_falls_below_the_line_is_marked_and_the_mark_is_explained():
    text = str(measure(TEAL))
    assert "0.681 <" in text
    assert "< marks a ratio below the line" in text


def test_what_is_exactly_on_the_line_of_ugesp_is_not_marked():
    text = str(measure({"group": (3, 5), "reference": (6, 8)}))
    assert "0.800" in text
    assert "<" not in text


def test_what_is_above_the_line_is_not_marked():
    assert "<" not in str(measure({"women": (45, 100), "men": (50, 100)}))


def test_undefined_is_a_dash_and_never_nan():
    text = str(measure_aggregated(UNDEFINED))
    assert "nan" not in text.lower()
    assert " - " in text


def test_an_interval_without_upper_limit_is_left_open():
    assert "to ..." in str(measure({"women": (5, 40), "men": (0, 80)}, reference="men"))


@pytest.mark.parametrize(
    ("confidence", "label"), [(0.9, "90%"), (0.975, "97.5%"), (0.999, "99.9%")]
)
def test_the_confidence_is_shown_as_it_is(confidence, label):
    header = next(
        line for line in str(measure(TEAL, confidence=confidence)).splitlines() if "rate" in line
    )
    assert header.split().count(label) == 2


def test_groups_of_which_the_same_is_said_share_a_sentence():
    text = str(measure({"A": (30, 100), "B": (30, 100), "C": (60, 100)}))
    assert "A, B: adverse impact is indicated under ugesp" in text


def test_text_keeps_to_its_width():
    lines = document_text(to_document(audit_joint()), width=100).splitlines()
    assert max(map(len, lines)) <= 100


def test_text_shows_the_strata():
    text = str(audit_strata())
    assert "within job" in text
    assert "5.348" in text
    # Whether one figure may stand for all comes before it.
    assert text.index("Tarone") < text.index("CMH")
    assert "One figure for all of them is sensible" in text


def test_text_says_where_one_figure_for_all_strata_is_doubtful():
    strata = {"a": {"x": (10, 40), "y": (30, 40)}, "b": {"x": (30, 40), "y": (10, 40)}}
    result = fourfifths.impact(
        stratified(strata), protected="group", outcome="hired", within="job", reference="y"
    )
    (attribute,) = result
    (sentence,) = [s for s in attribute_section(attribute).sentences if "Tarone" in s.text]
    assert sentence.is_marked
    assert "One figure for all of them is doubtful" in sentence.text
    sheet = next(s for s in attribute_section(attribute).sheets if s.title == "group: each job")
    assert sheet.rows[0] == ("x", "a", "10", "40", "30", "40", "0.333")


def test_text_says_where_the_strata_could_not_be_compared_with_each_other():
    result = fourfifths.impact(
        stratified({"a": {"x": (10, 40), "y": (30, 40)}}),
        protected="group",
        outcome="hired",
        within="job",
    )
    assert "could not be tested" in str(result)


def test_text_keeps_to_the_words(result):
    assert not FORBIDDEN.search(str(result))


def test_markdown_keeps_to_the_words_outside_of_citations(result):
    text = result.to_markdown()
    for cited in rule_paragraphs(result.rule):
        text = text.replace(escape_markdown(cited), "")
    assert not FORBIDDEN.search(text)


def test_csv_keeps_to_the_words(result):
    assert not FORBIDDEN.search(records_csv(result.to_records()))


def test_no_rendering_says_nan(result):
    for text in (
        str(result),
        result.to_markdown(),
        records_csv(result.to_records()),
        result.to_json(),
    ):
        assert not re.search(r"\b(nan|NaN|None|inf|Infinity)\b", text)


def test_markdown_tables_have_as_many_cells_in_each_row(result):
    tables = re.findall(r"(?:^\|.*\n)+", result.to_markdown(), flags=re.MULTILINE)
    assert tables
    for table in tables:
        cells = [len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()]
        assert len(set(cells)) == 1


def test_markdown_holds_the_figures_the_finding_and_the_source():
    text = measure(TEAL).to_markdown()
    assert "| Black | 48 | 26 | 0.542 |" in text
    assert "0.681" in text
    assert "- Black: adverse impact is indicated under ugesp" in text
    assert "29 CFR 1607.4(D)" in text


def test_csv_has_one_record_per_group_and_the_same_columns(result):
    records = list(csv.DictReader(io.StringIO(records_csv(result.to_records()))))
    assert len(records) == sum(len(attribute.groups) for attribute in result)
    assert all(None not in record and None not in record.values() for record in records)


def test_csv_holds_every_figure_in_full():
    result = measure(TEAL)
    record = next(csv.DictReader(io.StringIO(records_csv(result.to_records()))))
    black = result["Black"]
    for figure in ("impact_ratio", "z", "fisher_p", "phi", "h", "detectable_ratio"):
        assert float(record[figure]) == getattr(black, figure)
    low, high = black.impact_ratio_interval
    assert (
        float(record["impact_ratio_interval_low"]),
        float(record["impact_ratio_interval_high"]),
    ) == (low, high)
    assert float(record["shortfall_to_pooled"]) == printed("10.274")


def test_csv_leaves_undefined_figures_empty():
    record = next(
        csv.DictReader(io.StringIO(records_csv(measure_aggregated(UNDEFINED).to_records())))
    )
    assert record["z"] == ""
    assert "z: " in record["why"]


@pytest.mark.parametrize(
    ("kind", "type_"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_of_each_kind(kind, type_, result):
    found = result.to_frame(kind)
    assert isinstance(found, type_)
    assert len(found) == sum(len(attribute.groups) for attribute in result)


def test_another_kind_of_frame_is_an_error():
    with pytest.raises(fourfifths.FourfifthsError, match="kind='xlsx'"):
        measure(TEAL).to_frame("xlsx")


def test_the_power_of_the_test_is_explained():
    words = " ".join(str(measure(TEAL)).split())
    assert (
        "detectable: the smallest detectable effect: with this many rows, a ratio closer" in words
    )


def test_the_further_figures_and_the_rule_are_details():
    document = to_document(measure(TEAL))
    (section,) = document.sections
    assert [sheet.title for sheet in section.sheets if sheet.is_detail] == [
        "group: further figures"
    ]
    assert "29 CFR 1607.4(D)" in " ".join(document.details)
    assert "further figures" not in document_text(document)
    assert "1607" not in document_text(document)


def test_an_attribute_prints_its_own_tables_findings_and_legend():
    _, race, _ = audit_joint().attributes
    text = str(race)
    assert text.startswith("adult: income = >50K, race, rule ugesp, 48,842 rows\n")
    assert "race, compared with" in text
    assert "race: tests and sizes" in text
    assert "sex" not in text.partition("points: ")[0]
    assert "is indicated under ugesp" in text
    assert text.split()[-3:] == ["Not", "legal", "advice."]
    assert repr(race) == text


def test_an_attribute_shows_the_same_table_as_its_parent():
    result = audit_strata()
    (attribute,) = result.attributes
    assert to_document(attribute).sections == to_document(result).sections
    assert "| Black | 27 | 9 |" in attribute.to_markdown()


def test_the_rows_of_an_attribute_count_the_unknown_ones():
    assert str(audit_unknown().attributes[0]).startswith(
        "the table: hired = yes, group, rule ugesp, 38 rows\n"
    )


def test_a_group_prints_its_figures_and_its_finding():
    text = str(measure(TEAL)["Black"])
    assert text.startswith("Black: 26 of 48 selected\n")
    assert ["impact", "ratio", "0.681"] in [line.split()[:3] for line in text.splitlines()]
    assert "Black: adverse impact is indicated under ugesp" in text


def test_no_group_stands_out_that_is_not_indicated():
    (section,) = to_document(measure({"women": (45, 100), "men": (50, 100)})).sections
    assert all(sheet.marked == () for sheet in section.sheets)
    assert not any(sentence.is_marked for sentence in section.sentences)


def test_the_rows_that_stand_out_are_those_of_the_groups_indicated():
    (section,) = to_document(measure({"A": (50, 100), "B": (30, 100), "C": (60, 100)})).sections
    rates, tests = section.sheets[:2]
    assert [rates.rows[index][0] for index in rates.marked] == ["B"]
    assert [tests.rows[index][0] for index in tests.marked] == ["B"]


def test_the_rates_of_teal_by_hand():
    (attribute,) = measure(TEAL).attributes
    sheet = rates_sheet(attribute)
    assert sheet.title == "group, compared with White; < marks a ratio below the line"
    assert sheet.headers == ("group", "n", "selected", "rate", "95%", "ratio", "95%")
    black = sheet.rows[0]
    # 26 of 48 and 206 of 259, as in Connecticut v. Teal.
    assert black[:4] == ("Black", "48", "26", f"{26 / 48:.3f}")
    assert black[5] == f"{(26 / 48) / (206 / 259):.3f} <"
    assert sheet.marked == (0,)


def test_rows_of_unknown_membership_have_a_line_without_a_ratio():
    (attribute,) = audit_unknown().attributes
    assert rates_sheet(attribute).rows[-1] == ("(unknown)", "5", "2", "0.400", "-", "-", "-")


def test_a_reference_below_the_line_has_the_other_mark():
    (attribute,) = measure({"A": (8, 10), "B": (4, 10)}, reference="B", rule="feldman2015")
    sheet = rates_sheet(attribute)
    assert sheet.rows[0][5] == "2.000 >"
    assert sheet.title.endswith("compared with B; > marks where the reference is below the line")


def test_the_sheets_of_an_attribute_are_those_it_has_figures_for():
    (plain,), (unknown,), (strata,) = measure(TEAL), audit_unknown(), audit_strata()
    titles = [
        [sheet.title.partition(": ")[2] for sheet in attribute_section(attribute).sheets[1:]]
        for attribute in (plain, unknown, strata)
    ]
    assert titles == [
        ["tests and sizes", "further figures"],
        [
            "tests and sizes",
            "ratios that rows of unknown membership could make",
            "further figures",
        ],
        [
            "tests and sizes",
            "within job: is the odds ratio the same throughout?",
            "within job: ratio and difference of rates, odds ratio, tests",
            "each job",
            "further figures",
        ],
    ]


def test_the_comparison_with_the_largest_group_has_its_table():
    (attribute,) = measure({"A": (30, 50), "B": (14, 46), "D": (27, 30)})
    largest = attribute_section(attribute).sheets[2]
    assert largest.title == "group: compared with the largest group, A"
    assert [row[0] for row in largest.rows] == ["B", "D"]
    # Fisher's p of 14/46 against 30/50, from scipy.stats.fisher_exact.
    assert (largest.rows[0][1], largest.rows[0][4]) == (f"{(14 / 46) / 0.6:.3f}", "0.0044")


def test_every_pair_has_a_row_with_two_names():
    (attribute,) = measure({"A": (30, 50), "B": (14, 46), "D": (27, 30)}, pairs="all")
    pairs = next(sheet for sheet in attribute_section(attribute).sheets if "pair" in sheet.title)
    assert pairs.name_columns == 2
    assert [row[:2] for row in pairs.rows] == [("B", "A"), ("A", "D"), ("B", "D")]
    assert pairs.rows[0][-1] == "indicated"
    assert 0 in pairs.marked


def test_the_adjusted_p_has_a_column_where_the_reference_was_chosen():
    groups = {"A": (30, 50), "B": (14, 46), "D": (27, 30)}
    chosen, designated = str(measure(groups)), str(measure(groups, reference="D"))
    assert "choice p: p adjusted for choosing the reference by its rate" in " ".join(chosen.split())
    assert "choice p" not in designated


def test_the_legend_says_how_the_intervals_of_the_ratios_were_computed():
    exact = measure({"A": (30, 100), "B": (50, 100)})
    score = measure({"A": (30, 100), "B": (50, 101)})
    mixed = measure({"A": (30, 100), "B": (50, 100), "C": (20, 101)})
    assert exact["A"].interval_method == "exact"
    assert score["A"].interval_method == "score"
    assert "Intervals of the ratios: exact (Agresti and Min). A" in " ".join(str(exact).split())
    assert "Intervals of the ratios: by the score test (Koopman" in " ".join(str(score).split())
    words = " ".join(str(mixed).split())
    assert "exact (Agresti and Min) where the two groups have at most 200 rows" in words
    assert "by the score test (Koopman; Miettinen and Nurminen) elsewhere" in words


def test_an_excluded_group_is_in_no_table_of_tests():
    groups = {"few": (9, 10), "men": (300, 500), "women": (250, 490)}
    (attribute,) = measure(groups, rule="nyc-ll144", small_groups="exclude")
    rates, tests = attribute_section(attribute).sheets[:2]
    assert [row[0] for row in rates.rows] == ["few", "men", "women"]
    assert [row[0] for row in tests.rows] == ["women"]


def test_the_bounds_of_a_chosen_reference_are_shown():
    (attribute,) = audit_unknown()
    bounds = next(sheet for sheet in attribute_section(attribute).sheets if "could" in sheet.title)
    assert [row[0] for row in bounds.rows] == ["A", "B"]


@pytest.mark.parametrize("width", [80, 100])
def test_every_line_of_many_long_names_keeps_to_the_width(width):
    groups = {f"a very long name of group {place}": (20 + place, 60) for place in range(5)}
    text = document_text(to_document(measure(groups, pairs="all")), width=width)
    assert max(map(len, text.splitlines())) <= width


def test_figures_within_strata_are_those_of_the_ricci_exams():
    # Mantel-Haenszel by hand: (3 * 9 / 33 + 6 * 18 / 62) / (5 * 16 / 33 + 13 * 25 / 62).
    odds_ratio = (3 * 9 / 33 + 6 * 18 / 62) / (5 * 16 / 33 + 13 * 25 / 62)
    assert within_cells(audit_strata()["Black"])[4] == f"{odds_ratio:.3f}"
    risk_ratio = (3 * 25 / 33 + 6 * 43 / 62) / (16 * 8 / 33 + 25 * 19 / 62)
    assert within_cells(audit_strata()["Black"])[0] == f"{risk_ratio:.3f}"
    assert within_cells(measure(TEAL)["Black"]) == ("-",) * 9


@pytest.mark.parametrize(
    ("groups", "rule", "expected"),
    [
        ({"A": (30, 100), "B": (60, 100)}, "ugesp", True),
        ({"A": (60, 100), "B": (30, 100)}, "feldman2015", True),  # on the reference
        ({"A": (59, 100), "B": (60, 100)}, "ugesp", False),
    ],
)
def test_adverse_impact_on_either_side_is_indicated(groups, rule, expected):
    assert is_indicated(measure(groups, rule=rule, reference="B")["A"]) is expected


# A rule on a page.
def test_the_paragraphs_of_a_rule_are_its_source_its_status_and_its_duties():
    rule = RULES["ugesp"]
    source, status, duties = rule_paragraphs(rule)
    assert source == f"Rule ugesp: {rule.title}. {rule.status.source}."
    assert rule.status.standing in status
    assert "Checked on 2026-11-18 against the agenda entries" in status
    assert duties.startswith("Duties. Retain: records of the impact")
    assert ". Search for alternatives: as part of a validity study" in duties


def test_a_rule_without_duties_has_two_paragraphs():
    assert len(rule_paragraphs(RULES["feldman2015"])) == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ugesp", "line: below 4/5; test: p below 5%; a group under 2% of the rows is not judged"),
        ("ofccp", "trigger: below 4/5; test: 2 and 3 standard deviations; all other groups"),
        ("nyc-ll144", "compared with the highest rate; a group under 2% of the rows may be excl"),
        ("lending-air", "compared with a designated group; line: below 4/5 and below 9/10; test"),
        ("co-insurance", "compared with a designated group; gap: at least 5 points; test: p be"),
        ("fha", "decided by nothing: the law has no number; a checklist, never a finding."),
    ],
)
def test_the_arithmetic_is_said_in_words(name, words):
    assert words in arithmetic_text(RULES[name])


def test_only_a_law_without_a_number_has_a_checklist_on_the_page_of_an_audit():
    for rule in RULES.values():
        assert bool(checklist_sections(rule)) == rule.is_checklist
    (section,) = checklist_sections(RULES["il-ihra"])
    lines = [sentence.text for sentence in section.sentences]
    assert "and no finding" in lines[0]
    assert lines[-1].startswith("[ ] notify: employees, that artificial intelligence is used")


def test_a_rule_of_ones_own_is_not_said_to_be_listed():
    assert "'fourfifths rules ugesp' says more" in rule_line(RULES["ugesp"])
    assert "says more" not in rule_line(replace(RULES["ugesp"], name="house"))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_page_of_a_rule_fits_80_columns(rule):
    text = document_text(rule_document(rule), width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert rule.status.source in " ".join(text.split())


def test_the_list_of_rules_fits_80_columns_in_one_table():
    text = document_text(rules_document(RULES.values()), width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    rows = {
        line.split()[0]: line
        for line in text.splitlines()
        if line.startswith(" ") and line[1:2].isalpha()
    }
    assert RULES.keys() <= rows.keys()
    assert "historical, to 2025-01-21" in rows["ofccp"]
    assert "not yet in force: from 2027-01-01  2026-11-18" in rows["co-sb26-189"]


def test_an_attribute_prints_the_notes_of_its_audit():
    audit = measure({"A": (30, 100), "B": (50, 100), "C": (45, 100)})
    note = "2 comparisons were made; Holm's p is adjusted for all of them"
    assert note in " ".join(str(audit.attributes[0]).split())


def test_a_rule_shows_itself_as_the_shell_shows_it(shell):
    rule = fourfifths.RULES["ugesp"]
    assert str(rule).split() == shell("rules", "ugesp").out.split()
    assert repr(rule) == str(rule)
    assert rule.to_markdown().startswith("# ugesp: ")
    assert json.loads(rule.to_json())["name"] == "ugesp"
    assert rule.to_frame()["name"].tolist() == ["ugesp"]
    assert "ugesp" in rule._repr_html_()
