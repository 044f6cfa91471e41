"""The memo under the Uniform Guidelines."""

from __future__ import annotations

import pandas as pd
from parsed_html import ParsedPage

import fourfifths
from fourfifths._evidence.formats.html import report_html


def test_the_memo_answers_in_the_order_of_a_memo():
    report = fourfifths.report("ricci", template="ugesp", fields={"prepared_by": "Ann Lee"})
    assert report.finding_title == "Short answer"
    titles = [part.title for part in report.parts]
    order = ["Facts", "Total process and components", "By race"]
    order += ["Tests and practical significance", "Records kept"]
    assert [title for title in titles if title in order] == order
    cover = {field.key: field for field in report.cover}
    assert cover["prepared_by"].text == "Ann Lee"
    assert not cover["prepared_for"].is_stated
    assert cover["question"].text.startswith("Did the selection (passed) have an adverse impact")


def test_stages_are_a_part_with_a_funnel():
    # Connecticut v. Teal: 26 of 48 and 206 of 259 passed, 11 and 35 were promoted.
    cells = [
        ("Black", "yes", "yes", 11),
        ("Black", "yes", "no", 15),
        ("Black", "no", "no", 22),
        ("White", "yes", "yes", 35),
        ("White", "yes", "no", 171),
        ("White", "no", "no", 53),
    ]
    rows = [cell[:3] for cell in cells for _ in range(cell[3])]
    report = fourfifths.report(
        pd.DataFrame(rows, columns=["race", "passed", "promoted"]),
        template="ugesp",
        protected="race",
        outcome="promoted",
        stages=["passed", "promoted"],
    )
    (part,) = [part for part in report.parts if part.id == "stages"]
    assert part.charts[0].title == "race: 13.5% of White and 22.9% of Black reach the last stage"
    # The bottom line is the audit itself, whose chart is above.
    assert len(part.charts) == 1
    text = ParsedPage(report_html(report)).text
    assert "measured below, stage by stage" in text
    # The rule is said once, with the finding.
    assert text.count("29 CFR 1607.4(D)") == 1
