"""Reports from tables: what is in them, in every template."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from counted import frame
from jsonschema import Draft202012Validator
from parsed_html import ParsedPage

import fourfifths
from fourfifths._evidence.formats.html import report_html
from fourfifths._evidence.formats.markdown import report_markdown
from fourfifths.errors import OptionError

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "report.schema.json"
TEMPLATES = ("full", "ll144", "ugesp", "model-card")
HOSTILE = (
    "<script>alert(1)</script>",
    "'; DROP TABLE x; --",
    "=HYPERLINK(1)",
    "عربى",
    "🧪 lab",
    "x" * 10_000,
)


def adult(template="full", **options):
    return fourfifths.report(
        "adult", template=template, parts=(), protected=["sex", "race"], **options
    )


@pytest.fixture(scope="module")
def adult_report():
    return adult()


def test_the_numbers_of_the_page_are_those_of_json(adult_report):
    page = ParsedPage(report_html(adult_report))
    content = json.loads(json.dumps(adult_report.to_dict()))
    compared = 0
    for part in content["parts"]:
        attribute = part["result"]
        if attribute is None:
            continue
        caption = next(
            caption
            for caption in page.tables
            if caption.startswith(f"{' & '.join(attribute['protected'])}, compared with ")
        )
        rows = {row[0]: row for row in page.tables[caption][1:]}
        for group in attribute["groups"]:
            _, n, selected, rate, limits, ratio, _ = rows[group["group"]]
            assert int(n.replace(",", "")) == group["n"]
            assert int(selected.replace(",", "")) == group["selected"]
            assert float(rate) == pytest.approx(group["selection_rate"], abs=0.0005)
            low, high = map(float, limits.split(" to "))
            assert [low, high] == pytest.approx(group["selection_rate_interval"], abs=0.0005)
            assert float(ratio.split()[0]) == pytest.approx(group["impact_ratio"], abs=0.0005)
            compared += 1
    assert compared == 2 + 5 + 10


def test_the_page_of_adult_is_small_and_complete(adult_report):
    page = report_html(adult_report)
    assert len(page.encode()) < 400_000
    parsed = ParsedPage(page)
    ids = [attributes["id"] for _, attributes in parsed.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    targets = [
        attributes["href"][1:]
        for tag, attributes in parsed.tags
        if tag == "a" and attributes["href"].startswith("#")
    ]
    assert set(targets) <= set(ids)
    for heading in ("Finding", "By sex", "Tests and practical significance", "Limits", "Glossary"):
        assert heading in parsed.text
    landmarks = {tag for tag, _ in parsed.tags}
    assert {"header", "nav", "main", "footer"} <= landmarks


def test_the_json_is_as_described(adult_report):
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    assert list(validator.iter_errors(json.loads(json.dumps(adult_report.to_dict())))) == []


@pytest.mark.parametrize("template", TEMPLATES)
def test_hostile_names_stay_data(template):
    # Each group has 3 of 5 selected.
    table = pd.DataFrame(
        {
            "<b>group": [name for name in HOSTILE for _ in range(5)],
            "hired": ["yes", "yes", "yes", "no", "no"] * len(HOSTILE),
        }
    )
    report = fourfifths.report(
        table,
        template=template,
        parts=(),
        protected="<b>group",
        outcome="hired",
        fields={"tool": "</style><script>alert(2)</script>"},
    )
    page = ParsedPage(report_html(report))
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert "b" not in {tag for tag, _ in page.tags}
    rows = [row for table_rows in page.tables.values() for row in table_rows]
    assert set(HOSTILE) <= {row[0] for row in rows}
    markdown = report_markdown(report)
    assert "<script>" not in markdown
    assert "<b>" not in markdown


def test_a_missing_part_says_why_on_the_page():
    report = fourfifths.report(
        frame({"Black": (26, 48), "White": (206, 259)}), protected="group", outcome="hired"
    )
    assert [part.id for part in report.parts if part.problem] == ["certificate-by-group", "repair"]
    assert "This part could not be made:" in ParsedPage(report_html(report)).text
    assert "This part could not be made:" in report_markdown(report)


def test_cuts_and_strata_are_parts():
    report = fourfifths.report(
        "ricci", template="ugesp", score="combined", audit_options={"within": "position"}
    )
    assert {"cuts", "strata"} <= {part.id for part in report.parts}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"template": "memo"}, r"template='memo': no such template; expected one of 'full'"),
        ({"fields": {"auditr": "A"}}, r"fields='auditr': no such field"),
        ({"template": "ll144", "rule": "ugesp"}, r"rule='ugesp': the template 'll144' is what"),
    ],
)
def test_wrong_choices_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        fourfifths.report("ricci", **options)


@pytest.mark.parametrize("name", ["report", "report.doc"])
def test_an_unknown_format_is_refused_and_nothing_is_written(tmp_path, name):
    report = fourfifths.report("ricci", template="model-card")
    with pytest.raises(OptionError, match=r"expected a name ending in '.html', '.md', '.json'"):
        report.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_same_report_is_written_alike(tmp_path):
    for name in ("a", "b"):
        fourfifths.report("ricci", template="ugesp").save(tmp_path / f"{name}.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
