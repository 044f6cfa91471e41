"""Published tables, recomputed."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import fourfifths
from fourfifths.errors import ColumnError, OptionError, TableError

SCHEMA = Path(__file__).parents[3] / "docs" / "schema" / "check.schema.json"
# The example of the rule itself, 6 RCNY 5-301(d): scoring rates by race and ethnicity.
NYC = pd.DataFrame(
    {
        "category": ["Hispanic", "White", "Black", "Pacific Islander", "Asian"],
        "n": [28, 40, 32, 8, 24],
        "rate": ["64.2%", "37.5%", "50.0%", "62.5%", "41.7%"],
        "ratio": ["1.00", "0.58", "0.78", "0.97", "0.65"],
    }
)
COLUMNS = {"group": "category", "n": "n", "rate": "rate", "ratio": "ratio"}


def test_the_example_of_the_rule_has_one_rate_that_is_cut_off():
    result = fourfifths.check(NYC, **COLUMNS)
    assert result.errors == 1
    assert result["Hispanic"].rate_verdict == "does not follow"
    assert "18 of 28 is 64.3% (cut off, not rounded)" in result["Hispanic"].remarks[0]
    assert [group.selected for group in result.groups] == [None, 15, 16, 5, 10]
    assert {group.ratio_verdict for group in result.groups} == {"follows"}


def test_with_counts_the_rate_is_compared_with_them():
    table = NYC.assign(selected=[18, 15, 16, 5, 10])
    assert fourfifths.check(table, selected="selected", **COLUMNS).errors == 1
    wrong = table.assign(selected=[18, 14, 16, 5, 10])
    white = fourfifths.check(wrong, selected="selected", **COLUMNS)["White"]
    assert white.remarks == (
        "rate: 37.5% is printed; 14 of 40 is 35.0%",
        "ratio: 0.58 is printed; the ratio to Hispanic is 0.54 (computed from the rounded rates)",
    )


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ("0.675", "follows"),
        ("0.68", "follows"),
        (".68", "follows"),
        ("68%", "follows"),
        ("0.67", "follows"),  # 0.675 may be rounded down
        ("67.5%", "follows"),
        ("0.69", "does not follow"),
    ],
)
def test_rounding(printed, verdict):
    # 27 of 40 is exactly 0.675, half way between 0.67 and 0.68.
    table = pd.DataFrame({"g": ["a"], "n": [40], "s": [27], "r": [printed]})
    checked = fourfifths.check(table, group="g", n="n", selected="s", rate="r")
    assert checked["a"].rate_verdict == verdict


@pytest.mark.parametrize(
    "rates", [["45.0", "0.5"], ["45.0%", "0.5%"], [0.45, 0.005], ["45", "0.5"], [".450", ".005"]]
)
def test_ways_to_write_a_rate(rates):
    table = pd.DataFrame({"g": ["a", "b"], "n": [1000, 1000], "s": [450, 5], "r": rates})
    assert fourfifths.check(table, group="g", n="n", selected="s", rate="r").errors == 0


def test_a_ratio_to_another_group_is_recognised():
    table = pd.DataFrame(
        {"g": ["a", "b", "c"], "n": [100] * 3, "s": [50, 40, 60], "q": ["1.00", "0.80", "1.20"]}
    )
    result = fourfifths.check(table, group="g", n="n", selected="s", ratio="q")
    assert (result.highest, result.ratio_reference) == ("c", "a")
    assert any("ratios to a, not to c" in text for text in result.statements)
    assert result["b"].remarks == (
        "ratio: 0.80 is printed; the ratio to c is 0.67 (it is the ratio to a)",
    )


def test_a_ratio_of_rounded_rates_is_recognised():
    # 1/7 and 3/7: the ratio is 0.3333; of 0.14 and 0.43 it is 0.3256.
    table = pd.DataFrame(
        {"g": ["a", "b"], "n": [7, 7], "s": [1, 3], "r": ["0.14", "0.43"], "q": ["0.326", "1.000"]}
    )
    remark = fourfifths.check(table, group="g", n="n", selected="s", rate="r", ratio="q")["a"]
    assert remark.remarks == (
        "ratio: 0.326 is printed; the ratio to b is 0.333 (computed from the rounded rates)",
    )


def test_a_group_left_out_of_the_ratios():
    table = pd.DataFrame(
        {"g": ["a", "b", "c"], "n": [500, 490, 10], "s": [250, 200, 5], "q": ["1.00", "", ""]}
    )
    text = " ".join(
        fourfifths.check(table, group="g", n="n", selected="s", ratio="q", total=1020,
                         unknown_count=15).statements
    )  # fmt: skip
    assert "without a printed ratio: b (49.0% of n), c (1.0% of n)" in text
    assert "without a printed ratio: 'b'; 6 RCNY 5-301(d)" in text
    assert "5 of the total of 1,020 people are in no row and not unknown" in text


@pytest.mark.parametrize("unknown_selected", [None, 2])
def test_the_bounds_are_those_of_all_ways_to_assign_the_unknown(unknown_selected):
    table = pd.DataFrame({"g": ["a", "b"], "n": [10, 12], "s": [3, 6]})
    unknown = 5
    ratios = []
    # Each is of group a or b or of another, and selected or not.
    for a, a_not, b, b_not, c in itertools.product(range(unknown + 1), repeat=5):
        known_selected = (unknown_selected is None) or a + b <= unknown_selected <= a + b + c
        known_not = (unknown_selected is None) or a_not + b_not <= unknown - unknown_selected
        if a + a_not + b + b_not + c == unknown and known_selected and known_not:
            ratios.append(((3 + a) / (10 + a + a_not)) / ((6 + b) / (12 + b + b_not)))
    result = fourfifths.check(
        table, group="g", n="n", selected="s", unknown_count=unknown,
        unknown_selected=unknown_selected,
    )  # fmt: skip
    assert result["a"].impact_ratio_bounds == pytest.approx((min(ratios), max(ratios)))


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({}, {"rate": None}, OptionError, r"name the column of the numbers selected"),
        ({}, {"n": "m"}, ColumnError, r"n='m': no such column"),
        ({}, {"total": -1}, OptionError, r"total=-1: expected a whole number"),
        ({}, {"unknown_selected": 3}, OptionError, r"unknown_selected=3: is more than"),
        ({"rate": ["x"] * 5}, {}, ColumnError, r"rate='rate': expected a number like 0.45"),
        ({"n": [1.5] * 5}, {}, ColumnError, r"n='n': expected a whole number of people"),
        ({"n": [0] * 5}, {}, TableError, r"'Hispanic' has n = 0"),
        ({"category": ["a"] * 5}, {}, ColumnError, r"group='category': expected a name for each"),
        ({"rate": [None] * 5}, {}, TableError, r"'Hispanic' has neither a number selected nor"),
        ({"rate": ["0%"] * 5}, {}, TableError, r"nobody is selected in any group"),
    ],
)
def test_bad_tables(change, options, error, message):
    with pytest.raises(error, match=message):
        fourfifths.check(NYC.assign(**change), **{**COLUMNS, **options})


def test_the_result_is_as_its_schema_says():
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    result = fourfifths.check(NYC, unknown_count=4, total=140, **COLUMNS)
    Draft202012Validator(schema).validate(json.loads(result.to_json()))
    assert set(schema["properties"]) - {"provenance"} == set(result.to_dict())
    assert len(result.to_records()) == 5
    assert "64.2% <" in str(result)
    assert result.plot().axes[0].get_xlabel() == "impact ratio to Hispanic"


def test_fifty_groups_take_less_than_a_second():
    table = pd.DataFrame(
        {
            "g": [f"group {index}" for index in range(50)],
            "n": [1000 + index for index in range(50)],
            "r": [f"{30 + index / 10:.1f}%" for index in range(50)],
            "q": [f"{0.6 + index / 200:.2f}" for index in range(50)],
        }
    )
    start = time.perf_counter()
    fourfifths.check(table, group="g", n="n", rate="r", ratio="q", unknown_count=100_000)
    assert time.perf_counter() - start < 1


def test_a_group_under_two_percent_that_was_left_out_is_not_what_ratios_are_to():
    # 6 RCNY 5-301(d): a category under 2% may be excluded from the calculations of impact ratios.
    table = pd.DataFrame(
        {"g": ["A", "B", "C"], "n": [100, 50, 1], "s": [40, 10, 1], "ratio": ["1.00", "0.50", None]}
    )
    columns = {"group": "g", "n": "n", "selected": "s", "ratio": "ratio"}
    result = fourfifths.check(table, **columns)
    assert (result.errors, result.highest) == (0, "A")
    assert any(sentence.startswith("the rate of 'C' is higher") for sentence in result.statements)
    # 4 of 154 is 2.6%: this one may not be left out, and the ratios are to it.
    large = fourfifths.check(table.assign(n=[100, 50, 4], s=[40, 10, 4]), **columns)
    assert (large.errors, large.highest) == (2, "C")
    assert not any("is higher" in sentence for sentence in large.statements)


def test_without_printed_ratios_every_group_is_compared():
    table = pd.DataFrame({"g": ["A", "B", "C"], "n": [100, 50, 1], "s": [40, 10, 1]})
    assert fourfifths.check(table, group="g", n="n", selected="s").highest == "C"
