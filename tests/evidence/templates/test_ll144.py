"""What New York City asks to publish: the rule's own example, and audits.json."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pandas as pd
import pytest
from parsed_html import ParsedPage

import fourfifths
from fourfifths._evidence.formats.html import report_html
from fourfifths._evidence.templates.ll144 import audits_json
from fourfifths.errors import OptionError

# 6 RCNY 5-301, both examples, as they are published: the numbers of decimals differ there. Ours
# must be the published ones when they are rounded to as many decimals.
SELECTED_BY_SEX = {"Male": (1390, 667, "48%", "1.00"), "Female": (1181, 555, "47%", "0.979")}
SELECTED_BY_RACE = {
    "Hispanic or Latino": (408, 204, "50%", "0.97"),
    "White": (797, 412, "52%", "1.00"),
    "Black or African American": (390, 170, "44%", "0.84"),
    "Native Hawaiian or Pacific Islander": (119, 52, "44%", "0.85"),
    "Asian": (616, 302, "49%", "0.95"),
    "Native American or Alaska Native": (41, 18, "44%", "0.85"),
    "Two or More Races": (213, 96, "45%", "0.87"),
}
# Its Hispanic or Latino are 395 with 172 selected, where the table by race has 408 and 204.
SELECTED_BY_BOTH = {
    ("Male", "Hispanic or Latino"): (205, 90, "43.9%", "0.841"),
    ("Female", "Hispanic or Latino"): (190, 82, "43.2%", "0.827"),
    ("Male", "White"): (412, 215, "52.2%", "1.000"),
    ("Male", "Black or African American"): (226, 95, "42.0%", "0.806"),
    ("Male", "Native Hawaiian or Pacific Islander"): (87, 37, "42.5%", "0.815"),
    ("Male", "Asian"): (321, 167, "52.0%", "0.997"),
    ("Male", "Native American or Alaska Native"): (24, 11, "45.8%", "0.878"),
    ("Male", "Two or More Races"): (115, 52, "45.2%", "0.866"),
    ("Female", "White"): (385, 197, "51.2%", "0.981"),
    ("Female", "Black or African American"): (164, 75, "45.7%", "0.876"),
    ("Female", "Native Hawaiian or Pacific Islander"): (32, 15, "46.9%", "0.898"),
    ("Female", "Asian"): (295, 135, "45.8%", "0.877"),
    ("Female", "Native American or Alaska Native"): (17, 7, "41.2%", "0.789"),
    ("Female", "Two or More Races"): (98, 44, "44.9%", "0.860"),
}
# The example of a score: applicants, scored above the median, scoring rate, impact ratio.
SCORED_BY_SEX = {"Male": (92, 50, "54.3%", "1.00"), "Female": (76, 34, "44.7%", "0.82")}
# The rule prints 64.2% for 18 of 28, which is 64.29%. It is the only figure that is cut off: 10 of
# 24 (41.67%) is printed as 41.7%, and 82 of 190 (43.16%) as 43.2%.
SCORED_BY_RACE = {
    "Hispanic or Latino": (28, 18, "64.3%", "1.00"),
    "White": (40, 15, "37.5%", "0.58"),
    "Black or African American": (32, 16, "50.0%", "0.78"),
    "Native Hawaiian or Pacific Islander": (8, 5, "62.5%", "0.97"),
    "Asian": (24, 10, "41.7%", "0.65"),
    "Native American or Alaska Native": (16, 10, "62.5%", "0.97"),
    "Two or More Races": (20, 10, "50.0%", "0.78"),
}
SCORED_BY_BOTH = {
    ("Male", "Hispanic or Latino"): (16, 12, "75%", "1.00"),
    ("Female", "Hispanic or Latino"): (12, 6, "50%", "0.67"),
    ("Male", "White"): (20, 7, "35%", "0.47"),
    ("Male", "Black or African American"): (20, 10, "50%", "0.67"),
    ("Male", "Native Hawaiian or Pacific Islander"): (4, 3, "75%", "1.00"),
    ("Male", "Asian"): (12, 7, "58.3%", "0.78"),
    ("Male", "Native American or Alaska Native"): (8, 5, "62.5%", "0.83"),
    ("Male", "Two or More Races"): (12, 6, "50%", "0.67"),
    ("Female", "White"): (20, 8, "40%", "0.53"),
    ("Female", "Black or African American"): (12, 6, "50%", "0.67"),
    ("Female", "Native Hawaiian or Pacific Islander"): (4, 2, "50%", "0.67"),
    ("Female", "Asian"): (12, 3, "25%", "0.33"),
    ("Female", "Native American or Alaska Native"): (8, 5, "62.5%", "0.83"),
    ("Female", "Two or More Races"): (8, 4, "50%", "0.67"),
}
FIELDS = {
    "tool": "Culture fit 2",
    "audit_date": "2026-10-01",
    "distribution_date": "2025-01-01",
    "report_url": "https://example.com/audit.html",
    "job_url": "https://example.com/a https://example.com/b",
}


def scored(categories):
    """Return the applicants of a table; the median score of 50 is between the two scores."""
    rows = [
        (name, 60 if index < above else 40)
        for name, (n, above, *_) in categories.items()
        for index in range(n)
    ]
    return pd.DataFrame(rows, columns=["category", "score"])


def counted(categories):
    """Return a table with one row for each category: its numbers of applicants and selections."""
    names = [name if isinstance(name, tuple) else (name,) for name in categories]
    table = pd.DataFrame(names, columns=["sex", "race"] if len(names[0]) == 2 else ["category"])
    return table.assign(
        n=[counts[0] for counts in categories.values()],
        selected=[counts[1] for counts in categories.values()],
    )


def as_published(figure, published):
    """Return a figure with as many decimals as the published one has."""
    is_percent = published.endswith("%")
    places = Decimal(published.rstrip("%"))
    rounded = Decimal(figure.rstrip("%")).quantize(places, rounding=ROUND_HALF_UP)
    return f"{rounded}{'%' if is_percent else ''}"


def assert_published(rows, categories):
    """Compare the rows of a rendered table with what the rule prints."""
    shown = {row[0]: row[1:] for row in rows[1:]}
    assert len(shown) == len(categories)
    for name, (n, selected, rate, ratio) in categories.items():
        figures = shown[name if isinstance(name, str) else " & ".join(name)]
        assert figures[:2] == [f"{n:,}", f"{selected:,}"], name
        assert as_published(figures[2], rate) == rate, name
        assert as_published(figures[3], ratio) == ratio, name


@pytest.mark.parametrize("categories", [SELECTED_BY_SEX, SELECTED_BY_RACE], ids=["sex", "race"])
def test_the_example_of_selections_renders_to_its_numbers(categories):
    report = fourfifths.report(
        counted(categories),
        template="ll144",
        protected="category",
        audit_options={"counts": {"n": "n", "selected": "selected"}},
    )
    (rows,) = ParsedPage(report_html(report)).tables.values()
    assert rows[0] == ["Category", "Applicants", "Selected", "Selection rate", "Impact ratio"]
    assert_published(rows, categories)


def test_the_joint_example_renders_to_its_numbers_with_those_of_unknown_category():
    table = counted(SELECTED_BY_BOTH)
    table.loc[len(table)] = [None, None, 250, 100]
    report = fourfifths.report(
        table,
        template="ll144",
        protected=["sex", "race"],
        audit_options={"counts": {"n": "n", "selected": "selected"}},
    )
    tables = [*ParsedPage(report_html(report)).tables.values()]
    assert_published(tables[0], SELECTED_BY_SEX)
    assert_published(tables[2], SELECTED_BY_BOTH)
    cover = {field.key: field.text for field in report.cover}
    assert cover["unknown"] == "sex: 250; race: 250; sex & race: 250"
    assert cover["applicants"] == "2,821"


@pytest.mark.parametrize("categories", [SCORED_BY_SEX, SCORED_BY_RACE], ids=["sex", "race"])
def test_the_example_of_scores_renders_to_its_numbers(categories):
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
    assert_published(rows, categories)


def test_the_joint_example_of_scores_renders_to_its_numbers():
    table = scored(SCORED_BY_BOTH)
    table = table.assign(
        sex=[sex for sex, _ in table["category"]], race=[race for _, race in table["category"]]
    )
    report = fourfifths.report(
        table.drop(columns="category"),
        template="ll144",
        protected=["sex", "race"],
        score="score",
    )
    by_sex, by_race, by_both = ParsedPage(report_html(report)).tables.values()
    assert_published(by_sex, SCORED_BY_SEX)
    assert_published(by_race, SCORED_BY_RACE)
    assert_published(by_both, SCORED_BY_BOTH)


def test_everything_that_the_rule_asks_for_is_there_and_nothing_else():
    table = scored(SCORED_BY_SEX)
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
    # No category is excluded.
    assert "divided by the rate of the category with the highest rate. Applicants" in text


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
    assert ["B", "50", "15", "30.0%", "0.500"] in table
    assert ["C", "1", "0", "0.0%", "excluded"] in table
    assert "C (0.9%). Why small categories are excluded: one applicant." in page.text
    assert "the category with the highest rate of those that are not excluded." in page.text


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
