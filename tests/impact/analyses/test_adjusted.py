"""The disparity beside controls."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from referencing import Registry, Resource

import fourfifths
from fourfifths.errors import ColumnError, GroupError, OptionError, TableError

SCHEMAS = Path(__file__).parents[3] / "docs" / "schema"
# Bickel, Hammel and O'Connell, Science 187 (1975): women and men admitted, of how many, by
# department.
BERKELEY = {
    "A": (89, 108, 512, 825),
    "B": (17, 25, 353, 560),
    "C": (202, 593, 120, 325),
    "D": (131, 375, 138, 417),
    "E": (94, 393, 53, 191),
    "F": (24, 341, 22, 373),
}


def berkeley():
    return pd.DataFrame(
        [
            (sex, admitted, department, people)
            for department, (x, n, x_men, n_men) in BERKELEY.items()
            for sex, admitted, people in (
                ("women", "yes", x),
                ("women", "no", n - x),
                ("men", "yes", x_men),
                ("men", "no", n_men - x_men),
            )
        ],
        columns=["sex", "admitted", "department", "people"],
    )


def hires(rows=400, seed=0):
    """Return random applicants with a number, a category and a code."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], rows),
            "years": rng.integers(0, 12, rows),
            "job": rng.choice(["clerk", "driver", "cook"], rows),
            "code": rng.choice([10, 20, 30], rows),
        }
    )
    log_odds = 0.2 * frame.years - 1 - 0.8 * (frame.sex == "F") + 0.5 * (frame.job == "cook")
    frame["hired"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
    return frame


def adjust(table=None, **options):
    roles = {"protected": "sex", "outcome": "hired", "controls": ["years", "job"]}
    return fourfifths.adjusted(hires() if table is None else table, **roles | options)


def test_berkeley_by_department():
    result = fourfifths.adjusted(
        berkeley(),
        protected="sex",
        outcome="admitted",
        controls="department",
        persons="people",
        reference="men",
    )
    women = result["women"]
    assert round(100 * women.selection_rate, 1) == 30.4
    assert round(100 * result["men"].selection_rate, 1) == 44.5
    assert women.unadjusted_ratio == pytest.approx((557 / 1835) / (1198 / 2691))
    # R's glm(admit ~ gender + dept, family = binomial) on UCBAdmissions: women 0.09987, standard
    # error 0.08085.
    assert np.log(women.odds_ratio) == pytest.approx(0.09987, abs=5e-6)
    low, high = np.log(women.odds_ratio_interval)
    assert (high - low) / (2 * 1.959964) == pytest.approx(0.08085, abs=5e-6)
    # By department the difference changes its sign.
    assert women.unadjusted_difference < 0 < women.difference
    assert women.ratio_interval[0] < 1 < women.ratio_interval[1]
    assert result.rows == result["sex"].rows == 4526


@pytest.mark.parametrize("kind", ["polars", "csv", "aggregated", "text"])
def test_every_kind_of_table_says_the_same(kind, tmp_path):
    table, options = hires(), {}
    if kind == "polars":
        table = pl.from_pandas(table)
    elif kind == "csv":
        table.to_csv(tmp_path / "h.csv", index=False)
        table = tmp_path / "h.csv"
    elif kind == "aggregated":
        table, options = table.value_counts().reset_index(name="n"), {"persons": "n"}
    else:
        table = table.assign(
            years=table.years.map("{:,.1f}".format), job=" " + table.job.str.title()
        )
    result, expected = adjust(table, **options)["F"], adjust()["F"]
    assert result.ratio_interval == pytest.approx(expected.ratio_interval)
    assert result.unadjusted_ratio == pytest.approx(expected.unadjusted_ratio)


def test_numbers_are_lines_and_categories_have_terms():
    result = adjust(controls=["years", "job"], categories="code")
    assert [(control.kind, control.values) for control in result.controls] == [
        ("number", 12),
        ("category", 3),
        ("category", 3),
    ]
    # The constant, one group, one line, two and two terms.
    assert result["sex"].parameters == 7
    assert any("'years': taken as numbers" in note for note in result.notes)
    assert adjust(controls=["years", "job", "code"])["sex"].parameters == 6


def test_rows_without_a_control_are_left_out_of_everything_and_counted():
    table = hires()
    table.loc[:9, "job"] = None
    table["years"] = table["years"].astype(float)
    table.loc[5:14, "years"] = np.nan
    table.loc[390:, "hired"] = None
    table.loc[380:383, "sex"] = None
    result = adjust(table)
    complete = adjust(table.dropna())
    assert (result.controls_missing, result.outcome_missing) == (15, 10)
    assert [control.missing for control in result.controls] == [10, 10]
    assert result["sex"].unknown == 4
    assert result["sex"].rows == 400 - 15 - 10 - 4
    assert result["F"] == complete["F"]
    assert any("15 rows have an outcome but no value of a control" in note for note in result.notes)
    assert any("10 rows have no hired" in note for note in result.notes)
    assert any("4 rows have no known sex" in note for note in result.notes)


def test_tokens_for_not_known_count_as_missing_in_controls():
    table = hires()
    table["years"] = table.years.astype(str)
    table.loc[:9, "years"], table.loc[20:24, "job"] = "-1", "?"
    result = adjust(table, unknown=["-1", "?"])
    assert [control.missing for control in result.controls] == [10, 5]


def test_the_warning_about_tainted_variables_is_always_there():
    assert "tainted variable" in adjust().notes[0]
    assert "look at" not in adjust().notes[0]
    rated = adjust(hires().rename(columns={"job": "manager_rating"}), controls=["manager_rating"])
    assert "look at 'manager_rating' first" in rated.notes[0]


def test_a_group_that_no_one_was_selected_of_is_left_out_with_a_reason():
    table = pd.concat(
        [hires(), hires(20, 1).assign(sex="X", hired="no")],
        ignore_index=True,
    )
    result = adjust(table, reference="M")
    assert result["X"].why.startswith("no one of the group was selected")
    assert np.isnan(result["X"].ratio)
    assert result["F"] == adjust(reference="M")["F"]
    assert any("X is not in the regression" in note for note in result.notes)
    with pytest.raises(GroupError, match=r"reference='X': no one of the reference.*name another"):
        adjust(table, reference="X")


def test_few_events_are_noted():
    result = adjust(hires(60))
    assert result["sex"].events_per_parameter < 10
    assert any("for each of 5 coefficients; below 10" in note for note in result.notes)
    assert not any("coefficients; below" in note for note in adjust().notes)


def test_several_columns_are_measured_alone_and_jointly():
    result = adjust(protected=["sex", "job"], controls="years")
    assert [attribute.name for attribute in result.attributes] == ["sex", "job", "sex & job"]
    assert result["sex", "job"].parameters == 7
    with pytest.raises(KeyError, match="no protected attribute 'F'"):
        result["F"]
    with pytest.raises(KeyError, match="no group 'Z'"):
        result["sex"]["Z"]


def test_the_reference_is_the_highest_rate_of_groups_that_are_not_tiny():
    tiny = pd.DataFrame(
        {"sex": "X", "years": [1, 2, 3], "job": "cook", "code": 10, "hired": ["yes", "yes", "no"]}
    )
    result = adjust(pd.concat([hires(), tiny], ignore_index=True))
    assert result["sex"].reference == "M"


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"controls": []}, OptionError, "controls: name at least one column to adjust for"),
        ({"categories": "job"}, OptionError, "controls='job': was named twice"),
        ({"controls": "jobb"}, ColumnError, "controls='jobb': no such column.*did you mean 'job'"),
        ({"controls": "sex"}, ColumnError, "controls='sex': has another role"),
        ({"confidence": 2}, OptionError, "confidence=2: expected a number"),
    ],
)
def test_errors_of_arguments(options, error, match):
    with pytest.raises(error, match=match):
        adjust(**options)


def column(**columns):
    return hires().assign(**columns)


@pytest.mark.parametrize(
    ("table", "controls", "match"),
    [
        (column(x=1), "x", "controls='x': holds one value only"),
        (column(x=hires().years * 2 + 1), ["years", "x"], "controls='x': 'x' follows from sex and"),
        (column(x=hires().sex.str.lower()), "x", "'x' .'f'. follows from sex .* collinear"),
        (column(x=hires().hired.eq("yes") * 1.0), "x", r"say for certain .*separation; 'x' moves"),
        (column(x=hires().hired), "x", "controls='x': no one with 'no' was selected .*unknown="),
        (column(x=pd.Timestamp("2024-01-01")), "x", "controls='x': expected numbers or categories"),
        (column(x=[f"v{i // 2}" for i in range(400)]), "x", "controls='x': (no |every)one with 'v"),
        (column(x=[np.inf, *range(399)]), "x", "controls='x': expected finite numbers, found inf"),
        (column(x=["many", *map(str, range(399))]), "x", "399 of 400 values are numbers"),
    ],
)
def test_errors_of_controls(table, controls, match):
    with pytest.raises(ColumnError, match=match):
        adjust(table, controls=controls)


def test_more_coefficients_than_events_are_an_error():
    table = pd.DataFrame(
        {
            "sex": list("FM") * 10,
            "job": list("aabbccddeeffgghhiijj"),
            "hired": ["yes", "no"] * 9 + ["no", "yes"],
        }
    )
    table.loc[[0, 1], "hired"] = ["no", "yes"]
    with pytest.raises(ColumnError, match=r"11 coefficients, but only 10 persons"):
        adjust(table, controls="job")


def test_no_row_with_all_controls_is_an_error():
    table = hires().assign(job=[None if i % 2 else "cook" for i in range(400)])
    table["years"] = [1.0 if i % 2 else None for i in range(400)]
    with pytest.raises(TableError, match="no row has an outcome and all of them"):
        adjust(table)


def test_fewer_than_two_groups_with_both_outcomes_are_an_error():
    table = hires()
    table.loc[table.sex == "F", "hired"] = "no"
    with pytest.raises(GroupError, match="fewer than two groups have both persons"):
        adjust(table)


def test_the_json_keeps_to_its_schema():
    impact_schema, schema = (
        json.loads((SCHEMAS / f"{name}.schema.json").read_text()) for name in ("impact", "adjusted")
    )
    registry = Registry().with_resources(
        [(impact_schema["$id"], Resource.from_contents(impact_schema))]
    )
    validator = jsonschema.Draft202012Validator(schema, registry=registry)
    with_none = pd.concat([hires(), hires(20, 1).assign(sex="X", hired="no")], ignore_index=True)
    for result in (adjust(), adjust(with_none), adjust(protected=["sex", "job"], controls="years")):
        validator.validate(json.loads(result.to_json()))
        assert len(result.to_frame()) == sum(len(part.groups) for part in result.attributes)
    assert {"ratio_low", "unadjusted_ratio_high"} <= set(adjust().to_frame().columns)


def test_codes_with_leading_zeros_are_a_category_with_a_note():
    codes = hires().code.map("000{}".format)
    result = fourfifths.adjusted(
        hires().assign(code=codes), controls="code", protected="sex", outcome="hired"
    )
    assert result.controls[0].kind == "category"
    assert "column 'code' holds codes with leading zeros; they are categories" in result.notes
