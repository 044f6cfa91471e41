"""What a repair did, in figures: by hand, with scipy as oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from certificates import auditor, certificate, pair
from scipy.stats import wasserstein_distance

import fourfifths
from fourfifths._effect.effect import (
    AuditRoles,
    check_audit_roles,
    earthmover_distance,
    effect,
    middle_rank,
    total_variation,
)
from fourfifths._effect.result import Audit, ColumnEffect, RepairEffect
from fourfifths._tables.load import rows_of
from fourfifths._tables.values import Reading
from fourfifths.errors import ColumnError, FourfifthsError, GroupError, OptionError

NAN = float("nan")
NOTHING = (NAN, NAN)
QUICK = partial(fourfifths.certify, auditors=["naive-bayes"], folds=2)
ROLES = ("outcome", "favorable", "reference", "beta")


def handed(*certificates: Any) -> Callable[..., Any]:
    """Return a `certify` that hands out certificates made by hand: first before, then after."""
    left = list(certificates) or [certificate(), certificate()]
    return lambda *_, **__: left.pop(0)


def by_column(columns: Sequence[str] = ("x",), **options: Any) -> fourfifths.Repairer:
    """Return the paper's repair of columns, by the groups in g."""
    return fourfifths.Repairer("g", columns=columns, scope="column", **options)


def effect_of(before: Any, after: Any, repairer: Any = None, **options: Any) -> RepairEffect:
    """Return the effect of changing one table into another, whatever the repair would do."""
    fitted = repairer or by_column()
    if not hasattr(fitted, "fitted_"):
        fitted.fit(before)
    name = options.pop("name", "the table")
    roles = {role: options.pop(role) for role in ROLES if role in options}
    tables = (replace(rows_of(table), name=name) for table in (before, after))
    options = {"certify": handed(), "unseen": fitted.unseen} | options
    return effect(fitted.fitted_, *tables, roles=AuditRoles(**roles), **options)


def column_of(before: Any, after: Any, repairer: Any = None) -> ColumnEffect:
    [column] = effect_of(before, after, repairer).columns
    return column


def table(**strata: list[Any]) -> pd.DataFrame:
    """Return a table of one column, x, stratum after stratum."""
    names = [name for name, own in strata.items() for _ in own]
    return pd.DataFrame({"g": names, "x": [value for own in strata.values() for value in own]})


# --- what changed ---


BEFORE = table(A=[1.0, 2, 3, 4], B=[10.0, 20, 30, 40])
AFTER = table(A=[1.0, 2, 3, 10], B=[10.0, 20, 30, 4])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_of_numbers_by_hand(library: str) -> None:
    convert = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.table}[
        library
    ]
    result = effect_of(convert(BEFORE), convert(AFTER), name="mine")
    assert (result.table, result.rows, result.cells) == ("mine", 8, 8)
    assert (result.rows_changed, result.cells_changed) == (2, 2)
    [column] = result.columns
    assert (column.column, column.kind, column.changed) == ("x", "number", 2)
    # 4 to 10 is one place of eight further, 40 to 4 is four; six rows stand still.
    assert column.rank_moved == pytest.approx((1 + 4) / 8 / 8)
    # 1, 2, 3, 4 are 9, 18, 27, 36 from 10, 20, 30, 40; then 1, 2, 3, 10 from 4, 10, 20, 30.
    assert column.distance == pytest.approx((9 + 18 + 27 + 36) / 4)
    assert column.distance_after == pytest.approx((3 + 8 + 17 + 20) / 4)


def test_nothing_changed() -> None:
    result = effect_of(BEFORE, BEFORE)
    assert (result.rows_changed, result.cells_changed) == (0, 0)
    [column] = result.columns
    assert (column.changed, column.rank_moved) == (0, 0)
    assert column.distance == column.distance_after
    assert not result.raised


def test_rows_count_once_and_cells_each() -> None:
    before = BEFORE.assign(y=range(8), z=list("uvuvuvuv"))
    after = before.assign(x=AFTER["x"], y=[9, *range(1, 8)], z=list("uvuvuvuu"))
    result = effect_of(before, after, by_column(["x", "y", "z"]))
    assert [each.changed for each in result.columns] == [2, 1, 1]
    assert (result.rows, result.cells) == (8, 24)
    assert result.cells_changed == 4
    assert result.rows_changed == 3  # the first, the fourth and the last, which has two


def test_equal_values_share_the_middle_of_their_ranks() -> None:
    # Of 1, 1, 1, 1, 5, 5, 5, 5 the middle ranks are 2 and 6 of 8; 3, between them, is at 4.
    before = table(A=[1.0] * 4, B=[5.0] * 4)
    after = table(A=[3.0] * 4, B=[3.0] * 4)
    column = column_of(before, after)
    assert column.rank_moved == pytest.approx(2 / 8)
    assert (column.distance, column.distance_after) == (4, 0)


def test_ranks_go_from_0_to_1() -> None:
    before = table(A=[1.0] * 4, B=[5.0] * 4)
    after = table(A=[9.0] * 4, B=[-9.0] * 4)
    # From 2 of 8 beyond the last, 8 of 8; from 6 of 8 before the first.
    assert column_of(before, after).rank_moved == pytest.approx(6 / 8)


def test_missing_values_are_no_cells_that_changed() -> None:
    before = table(A=[1.0, NAN, 2, 3, 4], B=[10.0, 20, NAN, 30, 40])
    after = table(A=[1.0, NAN, 2, 3, 10], B=[10.0, 20, NAN, 30, 4])
    result = effect_of(before, after)
    assert (result.rows, result.rows_changed, result.cells_changed) == (10, 2, 2)
    [column] = result.columns
    assert column.rank_moved == pytest.approx((1 + 4) / 8 / 8)
    assert column.distance == pytest.approx(22.5)


def test_the_distance_is_scipys_to_the_largest_stratum_of_the_farthest() -> None:
    random = np.random.default_rng(0)
    strata = {name: random.normal(mean, 1, n) for name, mean, n in (("a", 0, 7), ("b", 1, 19))}
    strata |= {"c": random.normal(5, 2, 12), "d": random.normal(-1, 3, 5)}
    after = {name: own / 2 for name, own in strata.items()}
    column = column_of(
        table(**{name: list(own) for name, own in strata.items()}),
        table(**{name: list(own) for name, own in after.items()}),
    )
    for told, values in ((column.distance, strata), (column.distance_after, after)):
        expected = [wasserstein_distance(values[name], values["b"]) for name in "acd"]
        assert told == pytest.approx(max(expected))


def test_ordered_categories_are_measured_by_their_places() -> None:
    before = table(A=["lo", "lo", "mid", "mid"], B=["mid", "mid", "hi", "hi"])
    after = table(A=["lo", "lo", "mid", "mid"], B=["lo", "mid", "mid", "mid"])
    order = fourfifths.Repairer("g", columns={"x": ["lo", "mid", "hi"]}, scope="column")
    column = column_of(before, after, order)
    assert (column.kind, column.changed) == ("ordered", 3)
    # Middle ranks of lo, mid, hi are 1, 4, 7 of 8: one row from mid to lo, two from hi to mid.
    assert column.rank_moved == pytest.approx((3 + 3 + 3) / 8 / 8)
    assert (column.distance, column.distance_after) == (1, 0.25)


def test_the_distance_of_categories_is_total_variation() -> None:
    # Of u and v the largest stratum, B, has half each; A has u only, C v only: 1 apart, 1/2 from B.
    before = table(A=list("uuuu"), B=list("uuuvvv"), C=list("vvvv"))
    after = table(A=list("uuuv"), B=list("uuuvvv"), C=list("uvvv"))
    column = column_of(before, after)
    assert (column.kind, column.changed) == ("category", 2)
    assert np.isnan(column.rank_moved)
    assert column.distance == pytest.approx(1 / 2)
    assert column.distance_after == pytest.approx(1 / 4)


def test_rows_that_are_kept_are_counted_and_not_measured() -> None:
    repairer = by_column(unseen="keep").fit(BEFORE)
    before = table(A=[1.0, 2, 3, 4], B=[10.0, 20, 30, 40], Z=[1e6, 2e6])
    after = before.assign(x=[*AFTER["x"], 1e6, 2e6])
    result = effect_of(before, after, repairer)
    assert (result.rows, result.rows_changed) == (10, 2)
    [column] = result.columns
    assert column.distance == pytest.approx(22.5)
    assert column.rank_moved == pytest.approx((1 + 4) / 8 / 8)
    assert result.notes[0] == (
        "2 rows have a stratum that is missing or was not fitted; they were left as they are"
    )


def test_one_stratum_alone_has_no_distance() -> None:
    repairer = by_column().fit(BEFORE)
    one = table(A=[1.0, 2])
    column = column_of(one, table(A=[5.5, 11]), repairer)
    assert (column.changed, column.distance, column.distance_after) == (2, 0, 0)


def test_categories_of_one_stratum_alone_do_not_vary() -> None:
    repairer = by_column().fit(table(A=list("uvuv"), B=list("uvuu")))
    column = column_of(table(A=["u"]), table(A=["v"]), repairer)
    assert (column.changed, column.distance, column.distance_after) == (1, 0, 0)


@pytest.mark.parametrize("values", [[NAN], ["u"]], ids=["numbers", "categories"])
def test_a_column_without_values(values: list[Any]) -> None:
    fitted = BEFORE if values != ["u"] else table(A=list("uvuv"), B=list("uvuu"))
    repairer = by_column(unseen="keep").fit(fitted)
    column = column_of(table(Z=values), table(Z=values), repairer)
    assert column.changed == 0


def test_columns_that_were_not_repaired_are_named_unless_they_are_left_alone() -> None:
    before = BEFORE.assign(y=1, z=2, split="train", hired="no")
    repairer = by_column()
    result = effect_of(before, before, repairer, not_features=["split"])
    assert result.not_repaired == ("y", "z", "hired")


def test_pooled_strata_are_a_note() -> None:
    before = table(A=[1.0, 2, 3, 4, 5], B=[1.0, 2, 3], C=[9.0, 9])
    repairer = by_column(small="pool")
    result = effect_of(before, before, repairer)
    assert result.notes[0] == "small strata (B, C) are one stratum, because each is small"


@pytest.mark.parametrize(("rows", "said"), [(29, True), (30, False)])
def test_a_stratum_of_few_rows_is_a_note(rows: int, said: bool) -> None:
    before = table(A=list(range(40)), B=list(range(rows)))
    result = effect_of(before, before, by_column())
    few = "B was fitted on 29 rows, the fewest: fully repaired numbers have no more different "
    unnamed = "no outcome was named, so no model of it was fitted"
    assert result.notes == (few + "values than that", unnamed)[0 if said else 1 :]


# --- what the auditors found ---


WIDE = table(A=list(range(10)), B=list(range(5, 15)))
WIDER = WIDE.assign(x=WIDE["x"] + 1)


def test_the_audit_is_of_the_pair_and_the_auditor_with_the_least_error() -> None:
    weak = pair(auditor(0.45, (0.4, 0.5), name="svm"), auditor(0.48, (0.4, 0.6), name="logistic"))
    strong = pair(
        auditor(0.44, (0.4, 0.48), name="svm"),
        auditor(0.31, (0.25, 0.37), name="trees", floor=0.7, floor_interval=(0.6, 0.8)),
    )
    found = handed(certificate(weak, strong, verdict="not certified"), certificate(weak, strong))
    result = effect_of(WIDE, WIDER, beta=0.5, certify=found)
    assert result.before == Audit(
        strongest="trees",
        balanced_error_rate=0.31,
        interval=(0.25, 0.37),
        impact_floor=0.7,
        impact_floor_interval=(0.6, 0.8),
        verdict="not certified",
        model=None,
    )
    assert result.after is not None
    assert result.after.verdict == "inconclusive"


def test_without_outcome_and_beta_nothing_is_claimed() -> None:
    audit = effect_of(WIDE, WIDER).before
    assert audit is not None
    assert (audit.strongest, audit.balanced_error_rate, audit.interval) == (
        "trees",
        0.4,
        (0.35, 0.45),
    )
    assert np.isnan(audit.impact_floor)
    assert np.isnan(audit.impact_floor_interval).all()
    assert audit.verdict is None
    assert audit.model is None


@pytest.mark.parametrize(
    ("after", "raised"),
    [
        ((0.10, 0.29), True),
        ((0.10, 0.30), False),  # the intervals touch
        ((0.10, 0.35), False),
        ((0.45, 0.55), False),
    ],
)
def test_raised_if_the_intervals_do_not_meet(after: tuple[float, float], raised: bool) -> None:
    one = certificate(pair(auditor(0.35, (0.30, 0.40))))
    found = handed(one, certificate(pair(auditor(sum(after) / 2, after))))
    result = effect_of(WIDE, WIDER, certify=found)
    assert result.raised is raised
    assert ("easier to tell apart" in str(result)) is raised


def test_what_is_asked_of_certify() -> None:
    asked = []

    def certify(native: Any, **options: Any) -> Any:
        asked.append((native, options))
        return certificate()

    before = WIDE.assign(age=[30, 39] * 5 + [40, 70] * 5)[["age", "x"]]
    repairer = fourfifths.Repairer("age", columns=["x"], bands={"age": [40]}, scope="column")
    roles = {"reference": "under 40", "random_state": 3}
    effect_of(before, before.assign(x=WIDER["x"]), repairer, **roles, certify=certify)
    for (native, options), x in zip(asked, (WIDE["x"], WIDER["x"]), strict=True):
        assert list(native["x"]) == list(x)
        assert list(native["age"]) == ["under 40"] * 10 + ["40 and over"] * 10
        assert options == {
            "protected": ["age"],
            "reference": {"age": "under 40"},
            "columns": ["x"],
            "outcome": None,
            "favorable": None,
            "unknown": (),
            "beta": 0.5,
            "leaks": False,
            "random_state": 3,
        }


def test_without_a_reference_the_largest_stratum_is_it() -> None:
    asked = []

    def certify(native: Any, **options: Any) -> Any:
        asked.append(options["reference"])
        return certificate(reference=options["reference"])

    before = table(A=[1] * 6, B=[2] * 8, C=[3] * 7)
    effect_of(before, before, certify=certify)
    assert asked == [{"g": "B"}] * 2


def test_strata_too_small_to_be_audited_are_told() -> None:
    result = effect_of(BEFORE, AFTER, certify=fourfifths.certify)
    assert (result.before, result.after, result.raised) == (None, None, False)
    assert result.notes[-1] == "not audited: a stratum has 4 rows, and 5 are needed"
    text = str(result)
    assert "what an auditor finds" not in text
    assert "what was changed" in text
    assert json.loads(result.to_json())["before"] is None


def test_an_outcome_that_cannot_be_audited_stops_nothing_but_the_audit() -> None:
    before = table(A=list(range(20)), B=list(range(20)))
    before["hired"] = ["no"] * 20 + ["yes", "no"] * 10
    repairer = by_column()
    result = effect_of(before, before, repairer, outcome="hired", favorable="yes", certify=QUICK)
    assert result.before is None
    assert result.notes[-1].startswith("not audited: beta: no one of A was selected")
    with pytest.raises(fourfifths.errors.OutcomeError, match="favorable='YES!': never occurs"):
        effect_of(before, before, repairer, outcome="hired", favorable="YES!")


def test_pooled_strata_are_audited_or_not_but_no_error() -> None:
    before = table(A=list(range(9)), B=[1, 2, 3], C=[4, 5, 6], D=[1])
    repairer = by_column(small="pool")
    assert effect_of(before, before, repairer, certify=QUICK).rows == 16


@pytest.mark.slow
def test_rows_that_are_kept_do_not_stop_the_audit() -> None:
    repairer = by_column(unseen="keep").fit(WIDE)
    before = pd.concat([WIDE, table(Z=[1])])
    assert effect_of(before, before, repairer, certify=QUICK).before is not None


TWENTY = table(A=list(range(20)), B=list(range(5, 25)))
TWENTY["hired"] = np.where(TWENTY["x"] > 12, "yes", "no")


@pytest.mark.slow
def test_an_outcome_without_a_reference_is_audited() -> None:
    repairer = by_column()
    result = effect_of(TWENTY, TWENTY, repairer, outcome="hired", certify=QUICK)
    assert result.before is not None


@pytest.mark.slow
def test_three_strata_without_outcome_and_reference_are_audited() -> None:
    before = table(A=list(range(9)), B=list(range(9)), C=list(range(9)))
    assert effect_of(before, before, certify=QUICK).before is not None


def test_a_reference_that_is_no_group_is_an_error() -> None:
    with pytest.raises(GroupError, match="reference='Z': not among the groups of 'g'"):
        effect_of(TWENTY[["g", "x"]], TWENTY[["g", "x"]], reference="Z")


# --- what is checked before anything is audited ---


@pytest.mark.parametrize(
    ("roles", "error", "says"),
    [
        (
            {"outcome": "hierd"},
            ColumnError,
            "outcome: no column 'hierd' in the table; did you mean",
        ),
        ({"outcome": "x"}, ColumnError, "columns: 'x' is the outcome"),
        ({"outcome": "g"}, ColumnError, "columns: 'g' is the outcome"),
        (
            {"reference": {"x": 1}},
            ColumnError,
            "reference: 'x' is not a protected column; expected",
        ),
        ({"reference": "Z"}, GroupError, "reference='Z': not among the groups of 'g'"),
        ({"beta": 7.0}, OptionError, "beta=7.0: expected a selection rate"),
        ({"beta": (0.5, 0.2)}, OptionError, "the lower end is above the upper"),
    ],
)
def test_misspelt_roles_are_an_error_with_and_without_an_audit(
    roles: dict[str, Any], error: type[FourfifthsError], says: str
) -> None:
    repairer = by_column().fit(TWENTY)
    with pytest.raises(error, match=says):
        check_audit_roles(repairer.fitted_, rows_of(TWENTY), AuditRoles(**roles))
    with pytest.raises(error, match=says):
        effect_of(TWENTY, TWENTY, repairer, **roles, detail="quick")


JOINT = pd.DataFrame({"g": list("AABB") * 5, "h": list("uvuv") * 5, "x": range(20)})
JOINT["hired"] = ["yes", "no"] * 10


def test_half_a_reference_of_joint_strata_names_none_of_them() -> None:
    asked = []

    def certify(native: Any, **options: Any) -> Any:
        asked.append(options["reference"])
        return certificate(reference=None)

    repairer = fourfifths.Repairer(["g", "h"], columns=["x"], scope="column")
    options: dict[str, Any] = {"certify": certify, "model_impact": lambda *_, **__: None}
    effect_of(JOINT, JOINT, repairer, outcome="hired", reference={"g": "B"}, **options)
    effect_of(JOINT, JOINT, repairer, reference={"g": "B", "h": "u"}, **options)
    assert asked == [None] * 2 + [{"g & h": "B & u"}] * 2
    with pytest.raises(GroupError, match="reference='Z': not among the groups of 'g'"):
        effect_of(JOINT, JOINT, repairer, outcome="hired", reference={"g": "Z"}, **options)


def test_a_column_that_auditors_refuse_is_a_note() -> None:
    def certify(native: Any, **_: Any) -> Any:
        raise ColumnError("column 'x': 96 of 100 values are numbers")

    result = effect_of(WIDE, WIDER, certify=certify)
    assert (result.before, result.after) == (None, None)
    assert result.notes[-1] == "not audited: column 'x': 96 of 100 values are numbers"


def test_quick_counts_and_measures_and_asks_no_auditor() -> None:
    def certify(native: Any, **_: Any) -> Any:
        raise AssertionError

    full = effect_of(BEFORE, AFTER)
    quick = effect_of(BEFORE, AFTER, detail="quick", certify=certify, model_impact=certify)
    assert quick.columns == full.columns
    assert (quick.rows_changed, quick.cells_changed) == (2, 2)
    assert (quick.before, quick.after, quick.raised) == (None, None, False)
    assert quick.notes[-1] == (
        "no auditor was run, so nothing is said about how well the stratum can still be predicted"
    )


def test_what_is_asked_of_the_model() -> None:
    asked = []

    def model_impact(values: Any, is_category: Any, frame: Any, **options: Any) -> Any:
        asked.append((values.ravel().tolist(), is_category, options))

    roles: dict[str, Any] = {"outcome": "hired", "favorable": "yes", "reference": "B"}
    after = TWENTY.assign(x=TWENTY["x"] + 1)
    repairer = by_column()
    found = handed(certificate(reference="B"), certificate(reference="B"))
    effect_of(TWENTY, after, repairer, **roles, certify=found, model_impact=model_impact)
    for (values, is_category, options), x in zip(asked, (TWENTY["x"], after["x"]), strict=True):
        assert values == x.tolist()
        assert is_category == [False]
        assert options == {
            "protected": ["g"],
            "reference": "B",
            "outcome": "hired",
            "favorable": "yes",
            "unknown": (),
            "reading": Reading(),
            "random_state": 0,
        }


# --- the measures ---


def test_the_middle_rank_of_equals_by_hand() -> None:
    # Among 1, 2, 2, 3: below 2 lies one of four, up to 2 lie three; 0 is before all, 9 after.
    ranks = middle_rank(np.array([1.0, 2, 2, 3]), np.array([2.0, 0, 9, 1]))
    assert ranks.tolist() == [(1 + 3) / 8, 0, 1, 1 / 8]


def test_the_distance_is_of_the_stratum_farthest_from_the_largest() -> None:
    # Stratum 0 is the largest. Stratum 1 lies 1 above it, stratum 2 lies 4 below.
    values = np.array([1.0, 1, 1, 2, 2, -3, -3])
    strata = np.array([0, 0, 0, 1, 1, 2, 2], dtype=np.int16)
    assert earthmover_distance(values, strata) == pytest.approx(4)


def test_total_variation_by_hand() -> None:
    # Shares 1/2, 1/2, 0 of the largest stratum, against 1/4, 1/4, 1/2: half of 1/4 + 1/4 + 1/2.
    values = np.array([0.0, 0, 0, 1, 1, 1, 0, 1, 2, 2])
    strata = np.array([0] * 6 + [1] * 4, dtype=np.int16)
    assert total_variation(values, strata, 3) == pytest.approx(1 / 2)
