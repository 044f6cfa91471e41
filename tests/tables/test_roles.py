"""Which column plays which part, and what is wrong with a choice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from counted import frame

import fourfifths
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError

CASE = {"women": (12, 40), "men": (48, 80)}


def audit(table=None, **options):
    table = frame(CASE) if table is None else table
    return fourfifths.impact(table, **{"protected": "group", "outcome": "hired"} | options)


@pytest.mark.parametrize(
    ("favorable", "other"),
    [
        ("1", "0"),
        (1, 0),
        (1.0, 0.0),
        (True, False),
        ("TRUE", "FALSE"),
        ("Yes", "No"),
        ("y", "n"),
        ("selected", "rejected"),
        ("pass", "fail"),
        ("Passed", "Failed"),
    ],
)
def test_the_favorable_value_of_a_plain_pair_needs_no_naming(favorable, other):
    table = frame(CASE)
    table["hired"] = table["hired"].map({"yes": favorable, "no": other})
    result = audit(table)
    assert result["women"].selected == 12
    assert result.favorable == str(favorable)


def test_the_favorable_value_may_be_the_one_that_looks_unfavorable():
    assert audit(favorable="no")["women"].selected == 28


WRONG = {
    "protected column": (
        {"protected": "gruop"},
        ColumnError,
        r"protected='gruop': no such column.*did you mean 'group'",
    ),
    "outcome column": (
        {"outcome": "Hired"},
        ColumnError,
        r"outcome='Hired': no such column.*did you mean 'hired'",
    ),
    "weights column": ({"weights": "wieght"}, ColumnError, r"weights='wieght': no such column"),
    "within column": ({"within": "jobb"}, ColumnError, r"within='jobb': no such column"),
    "no protected column": (
        {"protected": None},
        ColumnError,
        r"protected: name at least one column",
    ),
    "an empty list of columns": ({"protected": []}, ColumnError, r"protected: name at least one"),
    "no outcome": ({"outcome": None}, ColumnError, r"outcome: name the column that says"),
    "one column in two parts": (
        {"protected": "hired"},
        ColumnError,
        r"protected='hired' and outcome='hired': the same column cannot be both",
    ),
    "outcome as within": ({"within": "hired"}, ColumnError, r"outcome='hired' and within='hired'"),
    "favorable value": (
        {"favorable": "yess"},
        OutcomeError,
        r"favorable='yess': never occurs in outcome 'hired'; did you mean 'yes'",
    ),
    "reference": (
        {"reference": "man"},
        GroupError,
        r"reference='man': not among the groups of 'group'; did you mean 'men'",
    ),
    "reference of another column": (
        {"reference": {"sex": "men"}},
        ColumnError,
        r"'sex' is not a protected column",
    ),
    "bands of another column": (
        {"bands": {"hired": [1]}},
        ColumnError,
        r"bands: 'hired' is not a protected column",
    ),
    "rule": ({"rule": "ugsep"}, OptionError, r"rule='ugsep': no such rule.*did you mean 'ugesp'"),
    "confidence above 1": (
        {"confidence": 95},
        OptionError,
        r"confidence=95: expected a number from 0.5 to below 1",
    ),
    "confidence of 1": ({"confidence": 1.0}, OptionError, r"confidence=1.0"),
    "confidence not a number": ({"confidence": float("nan")}, OptionError, r"confidence=nan"),
}


@pytest.mark.parametrize(("options", "error", "match"), WRONG.values(), ids=WRONG)
def test_a_wrong(options, error, match):
    with pytest.raises(error, match=match):
        audit(**options)


def test_three_outcomes_need_a_favorable_one():
    table = frame({"A": (2, 4), "B": (1, 4)})
    table.loc[0, "hired"] = "perhaps"
    with pytest.raises(
        OutcomeError, match=r"outcome='hired': holds 3 values.*say which one is favorable"
    ):
        audit(table)


def test_three_outcomes_and_a_favorable_one_are_measured():
    table = frame({"A": (2, 4), "B": (1, 4)})
    table.loc[0, "hired"] = "perhaps"
    assert audit(table, favorable="yes")["A"].selected == 1


# Women: 3 hired, 2 declined the offer, 5 rejected; men: 4, 2 and 2.
OFFERS = pd.DataFrame(
    {
        "group": ["women"] * 10 + ["men"] * 8,
        "hired": [
            *["Hired"] * 3, *["Offer declined"] * 2, *["Rejected"] * 5,
            *["Hired"] * 4, *["Offer declined"] * 2, *["Rejected"] * 2,
        ],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    "favorable",
    [
        ["Hired", "Offer declined"],
        ("offer declined", "Hired"),
        np.array(["Hired", "Offer declined"]),
    ],
    ids=["list", "tuple, another order and spelling", "array"],
)
def test_several_favorable_values_all_count_as_selected(favorable):
    result = audit(OFFERS, favorable=favorable)
    # 5 of 10 against 6 of 8.
    assert (result["women"].selected, result["men"].selected) == (5, 6)
    assert result["women"].impact_ratio == pytest.approx(2 / 3)
    assert set(result.favorable) == {"Hired", "Offer declined"}
    assert sorted(result.to_dict()["favorable"]) == ["Hired", "Offer declined"]
    note = "of hired all count as selected, and 'Rejected' as not selected"
    assert any(text.endswith(note) for text in result.notes)
    assert "Hired or Offer declined" in str(result) or "Offer declined or Hired" in str(result)


def test_a_list_of_one_favorable_value_is_that_value():
    result = audit(OFFERS, favorable=["Hired"])
    assert result["women"].selected == 3
    assert result.favorable == "Hired"


WRONG_FAVORABLE = {
    "twice": (["Hired", "Hired"], r"'Hired' and 'Hired' are the same value of outcome 'hired'"),
    "in two spellings": (["Hired", "hired "], r"'Hired' and 'hired ' are the same value"),
    "never": (["Hired", "Ofer declined"], r"favorable='Ofer declined': never.*'Offer declined'"),
    "all": (["Hired", "Offer declined", "Rejected"], r"these are all values of outcome 'hired'"),
    "none": ([], r"favorable=\[\]: expected a value of outcome 'hired', or several in a list"),
    "a set": ({"Hired"}, r"expected a value of outcome 'hired', or several in a list"),
}


@pytest.mark.parametrize(("favorable", "match"), WRONG_FAVORABLE.values(), ids=WRONG_FAVORABLE)
def test_wrong_favorable_values(favorable, match):
    with pytest.raises(OutcomeError, match=match):
        audit(OFFERS, favorable=favorable)


def test_two_outcomes_that_are_no_plain_pair_need_a_favorable_one():
    table = frame(CASE).replace({"yes": "blue", "no": "green"})
    with pytest.raises(OutcomeError, match=r"holds 2 values, 'blue', 'green'; say which one"):
        audit(table)


def test_one_group_only_is_an_error():
    with pytest.raises(GroupError, match=r"holds only 'women'; expected at least two groups"):
        audit(frame({"women": (12, 40)}))


def test_nothing_but_missing_membership_is_an_error():
    with pytest.raises(GroupError, match=r"nothing but missing values"):
        audit(frame(CASE).assign(group=pd.Series([None] * 120, dtype="str")))


def test_nothing_but_missing_outcomes_is_an_error():
    with pytest.raises(
        fourfifths.FourfifthsError, match=r"outcome='hired': every value is missing"
    ):
        audit(frame(CASE).assign(hired=pd.Series([None] * 120, dtype="str")))


@pytest.mark.parametrize("convert", [int, float, str])
def test_a_numeric_protected_column_with_hundreds_of_values_says_how_to_band_it(convert):
    table = frame(CASE).assign(group=[convert(value) for value in range(120)])
    with pytest.raises(ColumnError, match=r"numeric column with 120 different values.*bands="):
        audit(table)


def test_more_than_a_hundred_thousand_groups_are_too_many():
    table = pd.DataFrame({"group": [f"id {n}" for n in range(100_001)], "hired": 1})
    with pytest.raises(ColumnError, match=r"column 'group' has 100,001 different values, too many"):
        audit(table)


def test_a_reference_for_several_columns_says_which_it_belongs_to():
    table = frame(CASE).assign(sex=["F", "M"] * 60)
    with pytest.raises(OptionError, match=r"with several protected columns, say which"):
        audit(table, protected=["group", "sex"], reference="men")


def test_a_column_named_twice_is_measured_once():
    assert [each.protected for each in audit(protected=["group", "group"])] == [("group",)]


def test_every_error_is_a_value_error_with_one_root():
    with pytest.raises(ValueError, match="no such column"):
        audit(protected="nothing")
    assert issubclass(ColumnError, fourfifths.FourfifthsError)
