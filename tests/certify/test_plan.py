"""What is to be certified: groups, reference, features and beta, and bad input refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

import fourfifths
from fourfifths._certify.plan import Beta, Plan, count_selections, make_plan
from fourfifths._tables.counts import count
from fourfifths._tables.groups import assign_roles, attributes
from fourfifths._tables.table import open_table
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError


@pytest.fixture(scope="module")
def table():
    """Return 400 rows with two features and an outcome: 60% of r and 30% of a selected."""
    rows = np.arange(400)
    group = np.where(rows % 2 == 1, "r", "a")
    return pd.DataFrame(
        {
            "x": np.random.default_rng(1).normal(size=400) + 0.5 * (group == "r"),
            "g": group,
            "kind": np.array(["u", "v", "w", "v"])[rows // 3 % 4],
            "hired": np.where(rows // 2 % 10 < np.where(group == "r", 6, 3), "yes", "no"),
        }
    )


def three_groups():
    return pd.DataFrame({"x": np.arange(90.0), "g": ["r", "b", "c"] * 30})


def plan_of(table, **options) -> Plan:
    defaults = {
        "protected": "g",
        "outcome": None,
        "favorable": None,
        "reference": None,
        "columns": None,
        "beta": None,
        "bands": None,
        "unknown": (),
        "folds": 3,
    }
    return make_plan(table, **defaults | options)


def certify(table, **options):
    defaults = {"protected": "g", "reference": "r", "beta": 0.5, "auditors": ["naive-bayes"]}
    return fourfifths.certify(table, **defaults | {"folds": 3} | options)


def by_outcome(table, **options):
    return certify(table, **{"beta": None, "outcome": "hired", "reference": None} | options)


def test_groups_and_selections_are_counted(table):
    plan = plan_of(table, outcome="hired")
    assert plan.groups == ((("a",),), (("r",),))
    assert plan.labels == ("a", "r")
    assert (plan.sizes, plan.rated, plan.selected) == ((200, 200), (200, 200), (60, 120))


def test_rows_without_an_outcome_are_not_rated(table):
    holes = table.copy()
    holes.loc[:99, "hired"] = None
    plan = plan_of(holes, outcome="hired")
    # 50 rows of each group are left out, five blocks of ten.
    assert (plan.sizes, plan.rated, plan.selected) == ((200, 200), (150, 150), (45, 90))


def test_the_group_with_the_highest_rate_is_the_reference(table):
    assert plan_of(table, outcome="hired").reference == 1
    assert plan_of(table, outcome="hired", favorable="no").reference == 0


def test_a_designated_reference_goes_first(table):
    assert plan_of(table, outcome="hired", reference="a").reference == 0


def test_without_an_outcome_the_larger_of_two_groups_is_the_reference(table):
    assert plan_of(table[["x", "g"]].iloc[:-1], beta=0.5).reference == 0
    assert plan_of(table[["x", "g"]].iloc[1:], beta=0.5).reference == 1


def test_features_are_all_columns_without_a_role(table):
    plan = plan_of(table, outcome="hired")
    assert (plan.features, plan.left_out) == (("x", "kind"), ("g", "hired"))


def test_named_columns_are_the_features_once_each(table):
    plan = plan_of(table, outcome="hired", columns=["kind", "x", "kind"])
    assert (plan.features, plan.left_out) == (("kind", "x"), ("g", "hired"))
    assert plan_of(table, outcome="hired", columns="x").features == ("x",)


def test_a_band_is_a_number_in_the_table_and_a_label_for_people():
    people = pd.DataFrame({"x": np.arange(40.0), "years": np.repeat([30, 50], 20)})
    plan = plan_of(people, protected="years", bands={"years": [40]}, beta=0.5)
    assert plan.labels == ("under 40", "40 and over")
    assert plan.groups == (((0,),), ((1,),))


def test_beta_is_a_rate_with_its_exact_interval(table):
    betas = plan_of(table, outcome="hired").betas([0], 1, 0.95)
    for side, selected in (("group", 60), ("reference", 120)):
        # A fifth of 5% on each side.
        exact = proportion_confint(selected, 200, alpha=0.02, method="beta")
        assert betas[side].rate == selected / 200
        assert betas[side].interval == pytest.approx(exact)


def test_beta_of_several_groups_is_that_of_all_their_rows():
    people = three_groups()
    # Of b 10 of 30, of c 20 of 30, of the reference all.
    limits = people["g"].map({"b": 10, "c": 20, "r": 30})
    people["hired"] = np.where(np.arange(90) // 3 < limits, "yes", "no")
    plan = plan_of(people, outcome="hired")
    assert plan.labels[plan.reference] == "r"
    members = [code for code, label in enumerate(plan.labels) if label != "r"]
    assert plan.betas(members, plan.reference, 0.9)["group"].counts == (30, 60)


@pytest.mark.parametrize(
    ("beta", "rate", "interval"), [(0.3, 0.3, (0.3, 0.3)), ([0.2, 0.4], 0.2, (0.2, 0.4))]
)
def test_a_stated_beta_is_that_of_both_sides(table, beta, rate, interval):
    betas = plan_of(table[["x", "g"]], beta=beta).betas([0], 1, 0.95)
    stated = Beta(rate=rate, interval=interval, counts=None)
    assert betas == {"group": stated, "reference": stated}


def test_the_lower_limit_of_beta_grows_with_the_rows():
    counted = Beta(rate=0.3, interval=(0.2, 0.4), counts=(30, 100))
    expected = proportion_confint(300, 1000, alpha=0.02, method="beta")[0]
    assert counted.lower_limit(10, 0.95) == pytest.approx(expected)


def test_the_cuts_get_what_beta_leaves_of_the_error_rate():
    assert Beta(rate=0.3, interval=(0.2, 0.4), counts=(30, 100)).cut_confidence(
        0.95
    ) == pytest.approx(0.96)
    assert Beta(rate=0.3, interval=(0.3, 0.3), counts=None).cut_confidence(0.95) == 0.95


def test_the_lower_limit_of_a_stated_beta_does_not_move():
    assert Beta(rate=0.3, interval=(0.2, 0.4), counts=None).lower_limit(10, 0.95) == 0.2


def test_settings_make_the_same_plan_again(table):
    first = plan_of(table, outcome="hired", unknown=("w",))
    settings = dict(first.settings)
    assert not any(settings.pop("reading").values())
    assert settings["reference"] == {"g": "r"}
    assert settings["favorable"] == "yes"
    again = plan_of(table, **settings)
    assert (again.settings, again.sizes) == (first.settings, first.sizes)
    assert again.features == first.features


def test_several_favorable_values_are_one_selection(table):
    one = plan_of(table, outcome="hired", favorable="yes")
    halves = table.assign(hired=table["hired"].mask(table.index % 2 == 0, table["hired"] + "!"))
    both = plan_of(halves, outcome="hired", favorable=["yes", "yes!"])
    assert (both.selected, both.rated) == (one.selected, one.rated)
    assert both.settings["favorable"] == ["yes", "yes!"]


def test_a_seed_too_large_for_scikit_learn_is_refused(table):
    with pytest.raises(
        OptionError, match=r"random_state=4294967296: expected a whole number from 0 to 2.."
    ):
        certify(table, random_state=2**32)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": []}, ColumnError, r"columns=\[\]: expected at least one column"),
        ({"columns": ["nope"]}, ColumnError, r"columns='nope': no such column"),
        ({"columns": ["x", "g"]}, ColumnError, "columns: 'g' is protected"),
        ({"columns": ["x", "hired"], "outcome": "hired"}, ColumnError, "'hired' is the outcome"),
        ({"protected": "hired", "outcome": "hired"}, ColumnError, "the same column cannot be both"),
        ({"beta": None}, ColumnError, "outcome: name the column"),
        ({"beta": None, "outcome": "kind"}, OutcomeError, "say which one is favorable"),
        ({"beta": 0}, OptionError, "beta=0: expected a selection rate above 0"),
        ({"beta": -0.1}, OptionError, "beta=-0.1: expected a selection rate above 0"),
        ({"beta": 1.01}, OptionError, "beta=1.01: expected .* up to 1"),
        ({"beta": float("nan")}, OptionError, "beta=nan: expected"),
        ({"beta": "half"}, OptionError, "beta='half': expected"),
        ({"beta": (0.2, 0.3, 0.4)}, OptionError, r"beta=\(0.2, 0.3, 0.4\): .*a range of two"),
        ({"beta": (0.0, 0.3)}, OptionError, r"beta=\(0.0, 0.3\): expected"),
        ({"beta": (0.4, 0.3)}, OptionError, "the lower end is above the upper"),
        ({"threshold": 0}, OptionError, "threshold=0: expected a number between 0 and 1"),
        ({"threshold": 1}, OptionError, "threshold=1: expected a number between 0 and 1"),
        ({"threshold": "80%"}, OptionError, "threshold='80%': expected a number"),
        ({"confidence": 1.0}, OptionError, "confidence=1.0: expected a number between 0 and 1"),
        ({"confidence": 95}, OptionError, "confidence=95: expected a number between 0 and 1"),
        ({"folds": 1}, OptionError, "folds=1: expected a whole number, 2 or more"),
        ({"folds": 2.5}, OptionError, "folds=2.5: expected a whole number"),
        ({"folds": 300}, GroupError, "folds=300: group .* fewer rows than that"),
        ({"max_rows": 10}, OptionError, "max_rows=10: expected a whole number, 20 or more"),
        ({"max_rows": 1e5}, OptionError, "max_rows=100000.0: expected a whole number"),
        ({"random_state": -1}, OptionError, "random_state=-1: expected a whole number from 0"),
        ({"random_state": None}, OptionError, "random_state=None: expected a whole number"),
        ({"reference": "q"}, GroupError, "'q'"),
        ({"protected": "none"}, ColumnError, "protected='none': no such column"),
    ],
)
def test_bad_input_is_refused(table, options, error, message):
    assert issubclass(error, fourfifths.FourfifthsError)
    with pytest.raises(error, match=message):
        certify(table, **options)


def test_a_table_of_protected_columns_only_is_refused(table):
    with pytest.raises(ColumnError, match="columns: the table has no columns besides 'g'"):
        certify(table[["g"]])


def test_a_constant_protected_attribute_is_refused(table):
    with pytest.raises(GroupError, match="'g'"):
        certify(table.assign(g="r"))


def test_a_group_smaller_than_the_folds_is_refused_by_name(table):
    few = table.copy()
    few.loc[:1, "g"] = "tiny"
    with pytest.raises(GroupError, match="folds=3: group 'tiny' has fewer rows than that"):
        certify(few)


def test_a_group_of_which_no_one_was_selected_is_refused(table):
    none = table.assign(hired=np.where(table["g"] == "a", "no", table["hired"]))
    with pytest.raises(GroupError, match="beta: no one of a was selected"):
        by_outcome(none)


def test_three_groups_without_outcome_or_reference_are_refused():
    with pytest.raises(
        GroupError, match=r"reference: without an outcome .*; name it, as in reference={'g': 'b'}"
    ):
        certify(three_groups(), reference=None)


def test_a_column_of_lists_is_refused():
    nested = pl.DataFrame({"g": ["a", "r"] * 10, "x": [[1], [2]] * 10})
    with pytest.raises(ColumnError, match="columns: 'x': expected plain values"):
        certify(nested)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [("hired", ((1, 2), (2, 2), "yes")), (None, ((0, 0), (0, 0), None))],
)
def test_selections_are_counted_among_rows_with_an_outcome(outcome, expected):
    people = {"g": list("aaabb"), "hired": ["yes", "no", None, "yes", "yes"]}
    opened = open_table(pd.DataFrame(people))
    roles = assign_roles(
        opened,
        protected="g",
        outcome=outcome,
        favorable=None,
        reference=None,
        bands=None,
        outcome_is="optional",
    )
    counts = count(opened, ["g", "hired"])
    (attribute,) = attributes(counts, ("g",))
    assert count_selections(attribute, counts, roles) == expected
