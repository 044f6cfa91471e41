"""What New York City asks to publish: the rule's own example, and audits.json."""

from __future__ import annotations

import pandas as pd
import pytest
from parsed_html import ParsedPage

import fourfifths
from fourfifths._evidence.formats.html import report_html
from fourfifths._evidence.templates.ll144 import audits_json
from fourfifths.errors import OptionError

# 6 RCNY 5-301, example of a score for "culture fit": applicants, scoring rate, impact ratio.
SEX = {"Male": (92, "54.3%", "1.00"), "Female": (76, "44.7%", "0.82")}
# The rule prints 64.2% for 18 of 28, which is 64.29%: cut off, not rounded. Two categories that
# are not listed here have the other 36 applicants.
RACE = {
    "Hispanic or Latino": (28, "64.3%", "1.00"),
    "White": (40, "37.5%", "0.58"),
    "Black or African American": (32, "50.0%", "0.78"),
    "Native Hawaiian or Pacific Islander": (8, "62.5%", "0.97"),
    "Asian": (24, "41.7%", "0.65"),
}
FIELDS = {
    "tool": "Culture fit 2",
    "audit_date": "2026-10-01",
    "distribution_date": "2025-01-01",
    "report_url": "https://example.com/audit.html",
    "job_url": "https://example.com/a https://example.com/b",
}


def scored(categories):
    """Return 168 applicants, half of them above the median score of 50."""
    above = {name: round(n * float(rate[:-1]) / 100) for name, (n, rate, _) in categories.items()}
    counts = {name: n for name, (n, _, _) in categories.items()}
    rest = 168 - sum(counts.values())
    if rest:
        counts["Others"] = rest
        above["Others"] = 84 - sum(above.values())
    rows = [
        (name, 60 if index < above[name] else 40)
        for name, n in counts.items()
        for index in range(n)
    ]
    return pd.DataFrame(rows, columns=["category", "score"])


@pytest.mark.parametrize("categories", [SEX, RACE], ids=["sex", "race"])
def test_the_example_of_the_rule_renders_to_its_numbers(categories):
    report = fourfifths.report(
        scored(categories), template="ll144", protected="category", score="score", fields=FIELDS
    )
    (rows,) = ParsedPage(report_html(report)).tables.values()
    assert rows[0] == [
        "Category",
        "Applicants",
        "Scored above median",
        "Scoring rate",
        "Impact ratio",
    ]
    shown = {row[0]: (int(row[1]), row[3], row[4]) for row in rows[1:]}
    assert {name: shown[name] for name in categories} == categories


def test_everything_that_the_rule_asks_for_is_there_and_nothing_else():
    table = scored(SEX)
    table.loc[len(table)] = [None, 40]
    report = fourfifths.report(
        table, template="ll144", protected="category", score="score", fields=FIELDS
    )
    cover = {field.key: field.text for field in report.cover}
    assert cover["applicants"] == "169"
    assert cover["unknown"] == "category: 1"
    assert cover["audit_date"] == "2026-10-01"
    assert cover["distribution_date"] == "2025-01-01"
    assert cover["data_source"] == "not stated"
    assert not report.terms
    assert not report.method
    assert not any(part.charts for part in report.parts)
    text = ParsedPage(report_html(report)).text
    assert not any(word in text for word in ("Fisher", "4/5", "adverse impact"))


def test_small_categories_are_excluded_with_the_reason():
    # 1 of 101 is 0.99%, under 2%.
    rows = [("A", "yes")] * 30 + [("A", "no")] * 20 + [("B", "yes")] * 15 + [("B", "no")] * 35
    report = fourfifths.report(
        pd.DataFrame([*rows, ("C", "no")], columns=["category", "hired"]),
        template="ll144",
        protected="category",
        outcome="hired",
        fields={"exclusion_reason": "one applicant."},
        audit_options={"small_groups": "exclude"},
    )
    page = ParsedPage(report_html(report))
    (table,) = page.tables.values()
    assert table[0][3] == "Selection rate"
    assert ["B", "50", "15", "30.0%", "0.50"] in table
    assert ["C", "1", "0", "0.0%", "excluded"] in table
    assert "C (0.9%). Why small categories are excluded: one applicant." in page.text


def test_audits_json_has_the_structure_of_the_draft():
    content = audits_json(FIELDS)
    (operation,) = content["operations"]
    assert operation["urls"] == ["https://example.com/a", "https://example.com/b"]
    assert len(operation["regs"]) == 1
    (name,) = operation["audits"]
    assert content["audits"] == {
        name: {
            "title": "Culture fit 2",
            "date": "2026-10-01",
            "urls": ["https://example.com/audit.html"],
        }
    }


def test_audits_json_names_what_is_missing():
    with pytest.raises(OptionError, match=r"needs 'job_url', 'report_url'"):
        audits_json({"tool": "A", "audit_date": "2026-10-01"})
