"""The charts of an audit."""

from __future__ import annotations

import pytest
from counted import measure

from fourfifths._report.charts import to_charts
from fourfifths._report.charts.impact import listed_briefly

# Connecticut v. Teal: 26 of 48 and 206 of 259 passed.
TEAL = {"Black": (26, 48), "White": (206, 259)}


def test_the_title_states_the_finding_and_the_alternative_the_numbers():
    (chart,) = to_charts(measure(TEAL))
    assert chart.title == "group: adverse impact is indicated for Black"
    # (26 / 48) / (206 / 259) = 0.681
    assert "Black: 26 of 48 selected, impact ratio 0.681" in chart.alt
    assert "White: 206 of 259 selected, the reference." in chart.alt


def test_marks_say_what_the_rule_found():
    (chart,) = to_charts(measure(TEAL | {"Other": (1, 2)}))
    assert {mark.label: mark.kind for mark in chart.marks} == {
        "Black": "indicated",
        "White": "reference",
        "Other": "not judged",
    }
    assert [kind for kind, _ in chart.meanings] == ["indicated", "not judged", "reference"]
    assert [line.label for line in chart.lines] == ["4/5", "1"]


def test_a_rule_without_a_line_draws_none():
    (chart,) = to_charts(measure(TEAL, rule="nyc-ll144"))
    assert [line.label for line in chart.lines] == ["1"]
    assert chart.title == "group: lowest impact ratio 0.681 (Black)"
    assert dict(chart.meanings)["judged"] == "no line is drawn"


def test_equal_rates_are_not_indicated():
    (chart,) = to_charts(measure({"A": (50, 100), "B": (50, 100)}))
    assert "adverse impact is not indicated" in chart.title


@pytest.mark.parametrize(
    ("names", "text"),
    [(["A"], "A"), (["A", "B"], "A and B"), (list("ABCD"), "A, B, C and 1 more")],
)
def test_long_lists_are_cut(names, text):
    assert listed_briefly(names) == text
