"""Which column plays which part, joint groups, and the reference that others are compared with."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from counted import frame
from kinds_of_tables import EVERY_KIND

import fourfifths
from fourfifths._tables.bands import Bands
from fourfifths._tables.counts import count
from fourfifths._tables.groups import (
    Attribute,
    attributes,
    check_banded,
    check_choice,
    check_seed,
    check_share,
    check_whole,
    choose_reference,
    compatible,
    find_value,
    group_codes,
    is_share,
    label,
    read_bands,
    read_beta,
    tally,
)
from fourfifths._tables.table import open_table
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError

AGES = Bands(column="age", edges=(26.0, 40.0))
GROUPS = [("a",), ("b",), ("c",)]


def counts_of(keys, **columns):
    return count(open_table(pl.DataFrame(columns)), keys)


@pytest.mark.parametrize(
    "edges", [[], [2, 1], [1, 1], ["x"], None, 5, [None], [float("nan")], [float("-inf"), 1]]
)
def test_edges_that_do_not_rise_are_refused(edges):
    with pytest.raises(ColumnError, match=r"bands: the edges of 'n' are .*expected one or more"):
        read_bands({"n": edges})


def test_edges_may_be_texts_as_the_shell_has_them():
    assert read_bands({"n": ["25", "40"]})["n"].edges == (25.0, 40.0)


def test_no_bands_are_no_bands():
    assert read_bands(None) == {}
    with pytest.raises(ColumnError, match=r"bands=\[1\]: expected a mapping of column to edges"):
        read_bands([1])


def test_bands_of_a_column_that_makes_no_groups_are_refused():
    check_banded({"age": AGES}, ["sex", "age"])
    with pytest.raises(ColumnError, match="bands: 'age' is not a protected column; expected 'sex'"):
        check_banded({"age": AGES}, ["sex"])


def test_joint_groups_are_those_that_occur():
    counts = counts_of(["s", "r"], s=["f", "f", "m", "m", None], r=[1, 2, 1, 1, 2])
    first, second, joint = attributes(counts, ["s", "r"])
    assert (first.groups, second.groups) == ((("f",), ("m",)), ((1,), (2,)))
    assert joint.groups == (("f", 1), ("f", 2), ("m", 1))
    assert joint.protected == ("s", "r")
    assert (first.name, joint.name) == ("s", "s & r")
    assert joint.labels == ("f & 1", "f & 2", "m & 1")
    # Cells: (f 1), (f 2), (m 1) with 1, 1, 2 rows, and one row of unknown sex.
    rows = dict.fromkeys(range(-1, 3), 0.0)
    for code, size in zip(joint.codes, counts.rows, strict=True):
        rows[int(code)] += size
    assert rows == {-1: 1, 0: 1, 1: 1, 2: 2}


def test_of_three_columns_every_two_are_joint_and_all_three():
    counts = counts_of(
        ["s", "r", "o"],
        s=["f", "f", "m", "m", "f", "m"],
        r=[1, 1, 1, 2, 2, None],
        o=["x", "y", "x", "y", None, "x"],
    )
    names = [attribute.name for attribute in attributes(counts, ["s", "r", "o"])]
    assert names == ["s", "r", "o", "s & r", "s & o", "r & o", "s & r & o"]

    def sizes(attribute):
        known = attribute.codes >= 0
        rows = np.bincount(attribute.codes[known], weights=counts.rows[known])
        return dict(zip(attribute.groups, rows, strict=True))

    *_, sex_race, _, _, all_three = attributes(counts, ["s", "r", "o"])
    # The row of unknown o is in s & r, and the row of unknown r is not.
    assert sizes(sex_race) == {("f", 1): 2, ("f", 2): 1, ("m", 1): 1, ("m", 2): 1}
    assert sizes(all_three) == {("f", 1, "x"): 1, ("f", 1, "y"): 1, ("m", 1, "x"): 1} | {
        ("m", 2, "y"): 1
    }


def test_of_four_columns_every_two_are_joint_and_all_four():
    counts = counts_of(list("abcd"), **{key: [1, 2] for key in "abcd"})
    names = [attribute.name for attribute in attributes(counts, list("abcd"))]
    pairs = ["a & b", "a & c", "a & d", "b & c", "b & d", "c & d"]
    assert names == [*"abcd", *pairs, "a & b & c & d"]


def test_all_others_as_one_leave_the_unknown_out():
    attribute = Attribute(protected=("g",), groups=tuple(GROUPS), codes=np.array([0, 1, 2, -1, 1]))
    pooled = attribute.pool_others(("b",))
    assert pooled.groups == (("(all others)",), ("b",))
    assert pooled.codes.tolist() == [0, 1, 0, -1, 1]


def test_rows_of_unknown_membership_may_be_of_a_group_that_nothing_rules_out():
    counts = counts_of(["s", "r"], s=["f", "m", "f", "m", None, None], r=[1, 1, 2, 2, 1, None])
    joint = attributes(counts, ["s", "r"])[-1]
    for group, expected in ((("f", 1), 2), (("m", 2), 1)):
        possible = compatible(joint, counts, joint.groups.index(group))
        # Sex unknown and r = 1 could be f 1, but not m 2; both unknown could be either.
        assert counts.rows[possible].sum() == expected


def test_labels_differ_even_if_the_texts_do_not():
    attribute = Attribute(protected=("g",), groups=((1,), ("1",), ("a",)), codes=np.arange(3))
    assert attribute.labels == ("1", "'1'", "a")


def test_groups_that_are_left_out_become_unknown():
    attribute = Attribute(protected=("g",), groups=tuple(GROUPS), codes=np.array([0, 1, 2, -1, 1]))
    kept = attribute.keep(np.array([True, False, True]))
    assert kept.groups == (("a",), ("c",))
    assert kept.codes.tolist() == [0, -1, 1, -1, -1]


@pytest.mark.parametrize(
    ("values", "content"), [(["a", "a"], "only 'a'"), ([None, None], "nothing but missing values")]
)
def test_one_group_is_nothing_to_compare(values, content):
    counts = counts_of(["g"], g=values)
    with pytest.raises(GroupError, match=f"protected='g': the column holds {content}; expected"):
        attributes(counts, ["g"])


@pytest.mark.parametrize("make", [int, float, str])
def test_more_than_20_numbers_are_to_be_banded(make):
    attributes(counts_of(["g"], g=[make(n) for n in range(20)]), ["g"])
    with pytest.raises(ColumnError, match=r"a numeric column with 21 .* bands=\{'g': \[10\]\}"):
        attributes(counts_of(["g"], g=[make(n) for n in range(21)]), ["g"])


def test_more_than_20_words_are_groups():
    assert (
        len(attributes(counts_of(["g"], g=[f"job {n}" for n in range(30)]), ["g"])[0].groups) == 30
    )


def test_a_tally_sums_rows_and_weights_and_has_the_effective_size():
    table = pl.DataFrame({"g": ["a", "a", "b", None], "y": [1, 0, 1, 1], "w": [1.0, 3.0, 2.0, 9.0]})
    counts = count(open_table(table), ["g", "y"], weights="w")
    attribute = attributes(counts, ["g"])[0]
    sums = tally(attribute.codes, counts, counts.codes["y"] == 1, 2)
    assert sums.rows.tolist() == [2, 1]
    assert sums.rows_selected.tolist() == [1, 1]
    assert sums.weight.tolist() == [4, 2]
    assert sums.weight_selected.tolist() == [1, 2]
    # Group a, of rate 1/4: (1/4)(3/4)(1 + 3)^2 / ((3/4)^2 1 + (1/4)^2 9). In b all are selected.
    assert sums.effective.tolist() == [pytest.approx(3 / 1.125), pytest.approx(1)]


def test_a_group_is_named_by_its_values():
    assert label(("f", 1, True)) == "f & 1 & True"


# ---------------------------------------------------------------- values that a user names


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("a", ["a", "b"], "a"),
        (1, [1, 2], 1),
        ("1", [1, 2], 1),
        (1, ["1", "2"], "1"),
        ("1", [1.0, 2.0], 1.0),
        ("1.0", [1, 2], 1),
        ("1e0", [1, 2], 1),
        (1, ["1", 1], 1),
        ("1", ["1", 1], "1"),
        (True, [False, True], True),
        ("true", [False, True], True),
        ("TRUE", [False, True], True),
        (True, [1, True], True),
        (1, [True, 1], 1),
        (1, [False, True], True),
        ("yes", ["Yes", "yes"], "yes"),
        (np.int64(2), [1, 2], 2),
    ],
)
def test_a_value_is_named_by_itself_by_its_text_or_by_its_number(name, values, expected):
    value = find_value(name, values, message="none")
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("name", "values"),
    [("c", ["a", "b"]), ("yes", ["Yes", "YES"]), ("3", [1, 2]), (None, ["a"]), ("true", ["1"])],
)
def test_a_name_of_nothing_is_an_error(name, values):
    with pytest.raises(OutcomeError, match=r"^not there.*\(values: "):
        find_value(name, values, message="not there", error=OutcomeError)


def test_a_name_of_two_values_is_an_error():
    with pytest.raises(GroupError, match=r"ambiguous.*\(values: '1', '1.0'\)"):
        find_value("1.00", ["1", "1.0"], message="ambiguous")


# ---------------------------------------------------------------- the reference


@pytest.mark.parametrize(
    ("groups", "name", "index"),
    [
        (GROUPS, "b", 1),
        ([(1,), (2,)], 2, 1),
        ([(1,), (2,)], "2", 1),
        ([(1.0,), (2.0,)], "2", 1),
        ([("1",), ("2",)], 2, 1),
        ([(False,), (True,)], "true", 1),
    ],
)
def test_a_reference_is_designated_by_value_text_or_number(groups, name, index):
    assert choose_reference(["g"], groups, designated={"g": name}) == index


def test_a_joint_reference_names_every_column():
    groups = [("f", 1), ("f", 2), ("m", 1)]
    assert choose_reference(["s", "r"], groups, designated={"s": "m", "r": "1"}) == 2
    with pytest.raises(GroupError, match="reference: no rows are 'm & 2'"):
        choose_reference(["s", "r"], groups, designated={"s": "m", "r": 2})


def test_a_partly_designated_joint_reference_is_not_designated():
    groups = [("f", 1), ("f", 2), ("m", 1)]
    options = {"designated": {"s": "m"}, "rates": np.array([0.1, 0.9, 0.5])}
    assert choose_reference(["s", "r"], groups, otherwise="highest rate", **options) == 1
    with pytest.raises(GroupError, match=r"reference: why; name it, as in reference=\{'s': 'f'"):
        choose_reference(["s", "r"], groups, reason="why", **options)


def test_a_designated_reference_comes_before_any_rate():
    rates = np.array([0.9, 0.1, 0.5])
    designated = {"g": "b"}
    assert (
        choose_reference(
            ["g"], GROUPS, designated=designated, rates=rates, otherwise="highest rate"
        )
        == 1
    )


@pytest.mark.parametrize(
    ("rates", "index"),
    [([0.1, 0.9, 0.5], 1), ([np.nan, 0.0, np.nan], 1), ([0.5, 0.5, 0.1], 0), ([np.nan] * 3, 0)],
)
def test_the_highest_rate_is_never_nan_and_the_first_of_equals(rates, index):
    rates = np.array(rates)
    assert (
        choose_reference(["g"], GROUPS, designated={}, rates=rates, otherwise="highest rate")
        == index
    )


def test_the_largest_group_is_the_first_of_equals():
    sizes = np.array([3.0, 7.0, 7.0])
    assert choose_reference(["g"], GROUPS, designated={}, sizes=sizes, otherwise="largest") == 1


def test_a_reference_that_must_be_designated_is_asked_for_with_an_example():
    match = r"reference: two rules need it; name it, as in reference=\{'g': 'a'\} \(groups: 'a', "
    with pytest.raises(GroupError, match=match):
        choose_reference(["g"], GROUPS, designated={}, reason="two rules need it")


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("reference", [2, "2", 2.0, {"g": 2}])
def test_every_kind_of_table_takes_a_reference_as_value_or_text(reference, kind, tmp_path):
    columns = {"g": [1, 2, 3] * 8, "x": [1, 5, 2, 4] * 6, "hired": ["yes", "no", "no", "no"] * 6}
    table = EVERY_KIND[kind](columns, tmp_path)
    options = {"protected": "g", "outcome": "hired", "reference": reference}
    assert fourfifths.impact(table, **options).attributes[0].reference == "2"
    certificate = fourfifths.certify(
        table, auditors=["naive-bayes"], folds=2, leaks=False, progress=False, **options
    )
    # All pairs are compared; those with the reference have it in its place.
    with_reference = [pair for pair in certificate.pairs if "2" in (pair.group, pair.reference)]
    assert len(with_reference) >= 2
    assert {pair.reference for pair in with_reference} == {"2"}


def test_a_reference_among_bands_is_the_name_of_a_band():
    table = pd.DataFrame({"age": [20, 30, 50] * 4, "hired": ["yes", "no", "no", "yes"] * 3})
    result = fourfifths.impact(
        table, protected="age", outcome="hired", bands={"age": [25, 40]}, reference="40 and over"
    )
    assert result.attributes[0].reference == "40 and over"


# Which column plays which part, and what is wrong with a choice.
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


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    "value", [0.9, np.float32(0.9), np.float64(0.9), Fraction(9, 10)], ids=repr
)
def test_a_share_is_any_real_number_and_comes_back_as_a_float(value):
    share = check_share("confidence", value, "[0.5, 1)")
    assert type(share) is float
    assert share == pytest.approx(0.9, abs=1e-7)


@pytest.mark.parametrize(
    "value", [True, np.True_, "0.9", None, float("nan"), 10**400, 0.9j], ids=repr
)
@pytest.mark.parametrize("limits", ["(0, 1)", "(0, 1]", "[0, 1]", "[0.5, 1)", "[0.8, 1)"])
def test_what_is_no_number_is_no_share(value, limits):
    with pytest.raises(OptionError, match=r"^confidence=.*: expected a number "):
        check_share("confidence", value, limits)


@pytest.mark.parametrize(
    ("limits", "inside", "outside"),
    [
        ("(0, 1)", (0.001, 0.999), (0, 1)),
        ("(0, 1]", (0.001, 1), (0, 1.001)),
        ("[0, 1]", (0, 1), (-0.001, 1.001)),
        ("[0.5, 1)", (0.5, 0.999), (0.499, 1)),
        ("[0.8, 1)", (0.8, 0.999), (0.799, 1)),
        ("(0, inf)", (0.001, 1e300), (0, float("inf"))),
    ],
)
def test_the_ends_of_a_range_are_as_it_is_written(limits, inside, outside):
    assert [is_share(value, limits) for value in (*inside, *outside)] == [True, True, False, False]


def test_a_whole_number_is_pythons_or_numpys():
    assert type(check_whole("folds", np.int32(3), minimum=2, maximum=3)) is int
    with pytest.raises(OptionError, match="folds=4: expected a whole number from 2 to 3"):
        check_whole("folds", 4, minimum=2, maximum=3)
    for value in (True, 2.0, "2", None, 1):
        with pytest.raises(OptionError, match=r"folds=.*: expected a whole number, 2 or more"):
            check_whole("folds", value, minimum=2)


@pytest.mark.parametrize("bits", [32, 64])
def test_a_seed_has_so_many_bits(bits):
    assert check_seed(2**bits - 1, bits=bits) == 2**bits - 1
    assert check_seed(np.uint32(7), bits=bits) == 7
    for value in (-1, 2**bits, True, 1.0, None):
        with pytest.raises(
            OptionError, match=rf"expected a whole number from 0 to 2\*\*{bits} - 1"
        ):
            check_seed(value, bits=bits)


def test_a_choice_is_named_with_the_nearest():
    check_choice("pairs", None, ("reference", "all", None))
    with pytest.raises(
        OptionError, match=r"pairs='al': expected one of 'reference', 'all'; did you mean 'all'\?"
    ):
        check_choice("pairs", "al", ("reference", "all", None))
    with pytest.raises(OptionError, match=r"total_minority=1: expected one of 'True', 'False'"):
        check_choice("total_minority", 1, (True, False, None))


@pytest.mark.parametrize(
    ("beta", "expected"),
    [(None, None), (1, 1.0), (np.float32(0.25), 0.25), ([0.25, 0.5], (0.25, 0.5))],
)
def test_beta_is_a_rate_or_a_range_of_two(beta, expected):
    assert read_beta(beta) == expected


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_each_row_has_the_code_of_its_joint_group(kind, tmp_path):
    sexes, races = ["F", "M", "f", None, "M", "M"], ["A", "A", "B", "A", None, "C"]
    # Rows may come back in any order.
    columns = {"row": list(range(6)), "sex": sexes, "race": races}
    table = open_table(EVERY_KIND[kind](columns, tmp_path))
    groups = [(("F", "f"), ("A",)), (("M",), ("A",)), (("F", "f"), ("B",))]
    codes = group_codes(table, ["sex", "race"], groups).alias("code")
    rows = table.rows(table.frame.select(table.col("row").alias("row"), codes))
    assert sorted(rows) == [(0, 0), (1, 1), (2, 2), (3, -1), (4, -1), (5, -1)]


@pytest.mark.parametrize("kind", ["pandas", "polars", "duckdb", "csv"])
def test_values_named_as_their_columns_are_no_header_if_others_have_them_too(kind, tmp_path):
    columns = {
        "Black": ["Black", "Black", "White", "White"] * 6,
        "hired": ["hired", "rejected"] * 12,
    }
    table = EVERY_KIND[kind](columns, tmp_path)
    result = fourfifths.impact(table, protected="Black", outcome="hired", favorable="hired")
    groups = result.attributes[0].groups
    assert [(group.group, group.selected, group.n) for group in groups] == [
        ("Black", 6, 12),
        ("White", 6, 12),
    ]


def test_codes_with_leading_zeros_are_groups_however_many():
    table = pl.DataFrame(
        {"site": [f"{site:02d}" for site in range(30)] * 4, "hired": ["yes", "no", "no"] * 40}
    )
    result = fourfifths.impact(table, protected="site", outcome="hired", favorable="yes")
    assert [group.group for group in result.attributes[0].groups][:2] == ["00", "01"]
    with pytest.raises(ColumnError, match="a numeric column with 30 different values"):
        fourfifths.impact(
            table.with_columns(pl.col("site").cast(pl.Int64)),
            protected="site",
            outcome="hired",
            favorable="yes",
        )


@pytest.mark.parametrize("token", [2, "2", "2.00", 2.0, Decimal(2)], ids=repr)
@pytest.mark.parametrize("library", [pa.table, pl.DataFrame, pd.DataFrame])
def test_a_token_means_a_decimal_whatever_its_digits(library, token):
    grades = [Decimal(f"{index % 3}.00") for index in range(24)]
    table = library({"grade": grades, "hired": ["yes", "no"] * 12})
    result = fourfifths.impact(
        table, protected="grade", outcome="hired", favorable="yes", unknown=[token]
    )
    assert [group.n for group in result.attributes[0].groups] == [8, 8]
    assert result.attributes[0].unknown == 8
