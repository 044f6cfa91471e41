"""What a repair did, in figures: by hand, with scipy as oracle; and what a model would do."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from certificates import auditor, certificate, pair
from scipy.stats import wasserstein_distance
from sklearn.base import BaseEstimator

import fourfifths
from fourfifths._effect.effect import repair_effect
from fourfifths._effect.model_impact import model_impact
from fourfifths._effect.result import Audit, ColumnEffect, ModelImpact, RepairEffect
from fourfifths.errors import GroupError, OutcomeError

NAN = float("nan")
NOTHING = (NAN, NAN)
QUICK: dict[str, Any] = {"auditors": ["naive-bayes"], "folds": 2}


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let `certify` return certificates made by hand, the one before and the one after."""

    def hand_over(*certificates: Any) -> None:
        left = list(certificates) or [certificate(), certificate()]
        monkeypatch.setattr("fourfifths._effect.effect.certify", lambda *_, **__: left.pop(0))

    hand_over()
    return hand_over


def effect_of(before: Any, after: Any, repairer: Any = None, **options: Any) -> RepairEffect:
    """Return the effect of changing one table into another, whatever the repair would do."""
    fitted = repairer or fourfifths.Repairer("g", scope="column")
    if not hasattr(fitted, "strata_"):
        fitted.fit(before)
    frames = (nw.from_native(table, eager_only=True) for table in (before, after))
    return repair_effect(fitted, *frames, **options)


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


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_of_numbers_by_hand(library: str) -> None:
    convert = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.table}[
        library
    ]
    effect = effect_of(convert(BEFORE), convert(AFTER), name="mine")
    assert (effect.table, effect.rows, effect.cells) == ("mine", 8, 8)
    assert (effect.rows_changed, effect.cells_changed) == (2, 2)
    [column] = effect.columns
    assert (column.column, column.kind, column.changed) == ("x", "number", 2)
    # 4 to 10 is one place of eight further, 40 to 4 is four; six rows stand still.
    assert column.rank_moved == pytest.approx((1 + 4) / 8 / 8)
    # 1, 2, 3, 4 are 9, 18, 27, 36 from 10, 20, 30, 40; then 1, 2, 3, 10 from 4, 10, 20, 30.
    assert column.distance == pytest.approx((9 + 18 + 27 + 36) / 4)
    assert column.distance_after == pytest.approx((3 + 8 + 17 + 20) / 4)


@pytest.mark.usefixtures("found")
def test_nothing_changed() -> None:
    effect = effect_of(BEFORE, BEFORE)
    assert (effect.rows_changed, effect.cells_changed) == (0, 0)
    [column] = effect.columns
    assert (column.changed, column.rank_moved) == (0, 0)
    assert column.distance == column.distance_after
    assert not effect.raised


@pytest.mark.usefixtures("found")
def test_rows_count_once_and_cells_each() -> None:
    before = BEFORE.assign(y=range(8), z=list("uvuvuvuv"))
    after = before.assign(x=AFTER["x"], y=[9, *range(1, 8)], z=list("uvuvuvuu"))
    effect = effect_of(before, after)
    assert [each.changed for each in effect.columns] == [2, 1, 1]
    assert (effect.rows, effect.cells) == (8, 24)
    assert effect.cells_changed == 4
    assert effect.rows_changed == 3  # the first, the fourth and the last, which has two


@pytest.mark.usefixtures("found")
def test_equal_values_share_the_middle_of_their_ranks() -> None:
    # Of 1, 1, 1, 1, 5, 5, 5, 5 the middle ranks are 2 and 6 of 8; 3, between them, is at 4.
    before = table(A=[1.0] * 4, B=[5.0] * 4)
    after = table(A=[3.0] * 4, B=[3.0] * 4)
    column = column_of(before, after)
    assert column.rank_moved == pytest.approx(2 / 8)
    assert (column.distance, column.distance_after) == (4, 0)


@pytest.mark.usefixtures("found")
def test_ranks_go_from_0_to_1() -> None:
    before = table(A=[1.0] * 4, B=[5.0] * 4)
    after = table(A=[9.0] * 4, B=[-9.0] * 4)
    # From 2 of 8 beyond the last, 8 of 8; from 6 of 8 before the first.
    assert column_of(before, after).rank_moved == pytest.approx(6 / 8)


@pytest.mark.usefixtures("found")
def test_missing_values_are_no_cells_that_changed() -> None:
    before = table(A=[1.0, NAN, 2, 3, 4], B=[10.0, 20, NAN, 30, 40])
    after = table(A=[1.0, NAN, 2, 3, 10], B=[10.0, 20, NAN, 30, 4])
    effect = effect_of(before, after)
    assert (effect.rows, effect.rows_changed, effect.cells_changed) == (10, 2, 2)
    [column] = effect.columns
    assert column.rank_moved == pytest.approx((1 + 4) / 8 / 8)
    assert column.distance == pytest.approx(22.5)


@pytest.mark.usefixtures("found")
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


@pytest.mark.usefixtures("found")
def test_ordered_categories_are_measured_by_their_places() -> None:
    before = table(A=["lo", "lo", "mid", "mid"], B=["mid", "mid", "hi", "hi"])
    after = table(A=["lo", "lo", "mid", "mid"], B=["lo", "mid", "mid", "mid"])
    order = fourfifths.Repairer("g", columns={"x": ["lo", "mid", "hi"]}, scope="column")
    column = column_of(before, after, order)
    assert (column.kind, column.changed) == ("ordered", 3)
    # Middle ranks of lo, mid, hi are 1, 4, 7 of 8: one row from mid to lo, two from hi to mid.
    assert column.rank_moved == pytest.approx((3 + 3 + 3) / 8 / 8)
    assert (column.distance, column.distance_after) == (1, 0.25)


@pytest.mark.usefixtures("found")
def test_the_distance_of_categories_is_total_variation() -> None:
    # Of u and v the largest stratum, B, has half each; A has u only, C v only: 1 apart, 1/2 from B.
    before = table(A=list("uuuu"), B=list("uuuvvv"), C=list("vvvv"))
    after = table(A=list("uuuv"), B=list("uuuvvv"), C=list("uvvv"))
    column = column_of(before, after)
    assert (column.kind, column.changed) == ("category", 2)
    assert np.isnan(column.rank_moved)
    assert column.distance == pytest.approx(1 / 2)
    assert column.distance_after == pytest.approx(1 / 4)


@pytest.mark.usefixtures("found")
def test_rows_that_are_kept_are_counted_and_not_measured() -> None:
    repairer = fourfifths.Repairer("g", scope="column", unseen="keep").fit(BEFORE)
    before = table(A=[1.0, 2, 3, 4], B=[10.0, 20, 30, 40], Z=[1e6, 2e6])
    after = before.assign(x=[*AFTER["x"], 1e6, 2e6])
    effect = effect_of(before, after, repairer)
    assert (effect.rows, effect.rows_changed) == (10, 2)
    [column] = effect.columns
    assert column.distance == pytest.approx(22.5)
    assert column.rank_moved == pytest.approx((1 + 4) / 8 / 8)
    assert effect.notes[0] == (
        "2 rows have a stratum that is missing or was not fitted; they were left as they are"
    )


@pytest.mark.usefixtures("found")
def test_one_stratum_alone_has_no_distance() -> None:
    repairer = fourfifths.Repairer("g", scope="column").fit(BEFORE)
    one = table(A=[1.0, 2])
    column = column_of(one, table(A=[5.5, 11]), repairer)
    assert (column.changed, column.distance, column.distance_after) == (2, 0, 0)


@pytest.mark.usefixtures("found")
def test_categories_of_one_stratum_alone_do_not_vary() -> None:
    repairer = fourfifths.Repairer("g", scope="column").fit(table(A=list("uvuv"), B=list("uvuu")))
    column = column_of(table(A=["u"]), table(A=["v"]), repairer)
    assert (column.changed, column.distance, column.distance_after) == (1, 0, 0)


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize("values", [[NAN], ["u"]], ids=["numbers", "categories"])
def test_a_column_without_values(values: list[Any]) -> None:
    fitted = BEFORE if values != ["u"] else table(A=list("uvuv"), B=list("uvuu"))
    repairer = fourfifths.Repairer("g", scope="column", unseen="keep").fit(fitted)
    column = column_of(table(Z=values), table(Z=values), repairer)
    assert column.changed == 0


@pytest.mark.usefixtures("found")
def test_columns_that_were_not_repaired_are_named_unless_they_are_left_alone() -> None:
    before = BEFORE.assign(y=1, z=2, split="train", hired="no")
    repairer = fourfifths.Repairer("g", columns=["x"], scope="column")
    effect = effect_of(before, before, repairer, left_alone=["split"])
    assert effect.not_repaired == ("y", "z", "hired")


def test_pooled_strata_are_a_note(found: Callable[..., None]) -> None:
    before = table(A=[1.0, 2, 3, 4, 5], B=[1.0, 2, 3], C=[9.0, 9])
    repairer = fourfifths.Repairer("g", scope="column", small="pool")
    effect = effect_of(before, before, repairer)
    assert effect.notes[0] == "small strata (B, C) are one stratum, because each is small"


@pytest.mark.parametrize(("rows", "said"), [(29, True), (30, False)])
def test_a_stratum_of_few_rows_is_a_note(rows: int, said: bool, found: Callable[..., None]) -> None:
    before = table(A=list(range(40)), B=list(range(rows)))
    effect = effect_of(before, before, fourfifths.Repairer("g", scope="column"))
    few = "B was fitted on 29 rows, the fewest: fully repaired numbers have no more different "
    unnamed = "no outcome is named (--outcome): what a model of it would do is not told"
    assert effect.notes == (few + "values than that", unnamed)[0 if said else 1 :]


# --- what the auditors found ---


WIDE = table(A=list(range(10)), B=list(range(5, 15)))
WIDER = WIDE.assign(x=WIDE["x"] + 1)


def test_the_audit_is_of_the_pair_and_the_auditor_with_the_least_error(
    found: Callable[..., None],
) -> None:
    weak = pair(auditor(0.45, (0.4, 0.5), name="svm"), auditor(0.48, (0.4, 0.6), name="logistic"))
    strong = pair(
        auditor(0.44, (0.4, 0.48), name="svm"),
        auditor(0.31, (0.25, 0.37), name="trees", floor=0.7, floor_interval=(0.6, 0.8)),
    )
    found(certificate(weak, strong, verdict="not certified"), certificate(weak, strong))
    effect = effect_of(WIDE, WIDER, beta=0.5)
    assert effect.before == Audit(
        strongest="trees",
        balanced_error_rate=0.31,
        interval=(0.25, 0.37),
        impact_floor=0.7,
        impact_floor_interval=(0.6, 0.8),
        verdict="not certified",
        model=None,
    )
    assert effect.after is not None
    assert effect.after.verdict == "inconclusive"


def test_without_outcome_and_beta_nothing_is_claimed(found: Callable[..., None]) -> None:
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
def test_raised_if_the_intervals_do_not_meet(
    found: Callable[..., None], after: tuple[float, float], raised: bool
) -> None:
    one = certificate(pair(auditor(0.35, (0.30, 0.40))))
    found(one, certificate(pair(auditor(sum(after) / 2, after))))
    effect = effect_of(WIDE, WIDER)
    assert effect.raised is raised
    assert ("easier to tell apart" in str(effect)) is raised


def test_what_is_asked_of_certify(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def certify(native: Any, **options: Any) -> Any:
        asked.append((native, options))
        return certificate()

    monkeypatch.setattr("fourfifths._effect.effect.certify", certify)
    before = WIDE.assign(age=[30, 39] * 5 + [40, 70] * 5)[["age", "x"]]
    repairer = fourfifths.Repairer("age", bands={"age": [39]}, scope="column")
    effect_of(before, before.assign(x=WIDER["x"]), repairer, reference="age <= 39", random_state=3)
    for (native, options), x in zip(asked, (WIDE["x"], WIDER["x"]), strict=True):
        assert list(native["x"]) == list(x)
        assert list(native["age"]) == ["age <= 39"] * 10 + ["age > 39"] * 10
        assert options == {
            "protected": ["age"],
            "reference": {"age": "age <= 39"},
            "columns": ["x"],
            "outcome": None,
            "favorable": None,
            "beta": 0.5,
            "random_state": 3,
        }


def test_without_a_reference_the_largest_stratum_is_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def certify(native: Any, **options: Any) -> Any:
        asked.append(options["reference"])
        return certificate(reference=options["reference"])

    monkeypatch.setattr("fourfifths._effect.effect.certify", certify)
    before = table(A=[1] * 6, B=[2] * 8, C=[3] * 7)
    effect_of(before, before)
    assert asked == [{"g": "B"}] * 2


def test_strata_too_small_to_be_audited_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourfifths._effect.effect.certify", fourfifths.certify)
    effect = effect_of(BEFORE, AFTER)
    assert (effect.before, effect.after, effect.raised) == (None, None, False)
    assert effect.notes[-1] == "not audited: a stratum has 4 rows, and 5 are needed"
    text = str(effect)
    assert "what an auditor finds" not in text
    assert "what was changed" in text
    assert json.loads(effect.to_json())["before"] is None


def test_an_outcome_that_cannot_be_audited_stops_nothing_but_the_audit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fourfifths._effect.effect.certify", partial(fourfifths.certify, **QUICK))
    before = table(A=list(range(20)), B=list(range(20)))
    before["hired"] = ["no"] * 20 + ["yes", "no"] * 10
    repairer = fourfifths.Repairer("g", scope="column", columns=["x"])
    effect = effect_of(before, before, repairer, outcome="hired", favorable="yes")
    assert effect.before is None
    assert effect.notes[-1].startswith("not audited: beta: no one of A was selected")
    with pytest.raises(fourfifths.errors.OutcomeError, match="favorable='YES!': never occurs"):
        effect_of(before, before, repairer, outcome="hired", favorable="YES!")


def test_pooled_strata_are_audited_or_not_but_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourfifths._effect.effect.certify", partial(fourfifths.certify, **QUICK))
    before = table(A=list(range(9)), B=[1, 2, 3], C=[4, 5, 6], D=[1])
    repairer = fourfifths.Repairer("g", scope="column", small="pool")
    assert effect_of(before, before, repairer).rows == 16


def test_rows_that_are_kept_do_not_stop_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourfifths._effect.effect.certify", partial(fourfifths.certify, **QUICK))
    repairer = fourfifths.Repairer("g", scope="column", unseen="keep").fit(WIDE)
    before = pd.concat([WIDE, table(Z=[1])])
    assert effect_of(before, before, repairer).before is not None


TWENTY = table(A=list(range(20)), B=list(range(5, 25)))
TWENTY["hired"] = np.where(TWENTY["x"] > 12, "yes", "no")


def test_an_outcome_without_a_reference_is_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = partial(fourfifths.certify, **QUICK)
    monkeypatch.setattr("fourfifths._effect.effect.certify", quick)
    repairer = fourfifths.Repairer("g", columns=["x"], scope="column")
    effect = effect_of(TWENTY, TWENTY, repairer, outcome="hired")
    assert effect.before is not None


@pytest.mark.slow
def test_three_strata_without_outcome_and_reference_are_audited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick = partial(fourfifths.certify, **QUICK)
    monkeypatch.setattr("fourfifths._effect.effect.certify", quick)
    before = table(A=list(range(9)), B=list(range(9)), C=list(range(9)))
    assert effect_of(before, before).before is not None


def test_a_reference_that_is_no_group_is_an_error() -> None:
    with pytest.raises(GroupError, match="reference='Z': not among the groups of 'g'"):
        effect_of(TWENTY[["g", "x"]], TWENTY[["g", "x"]], reference="Z")


# --- as text and JSON ---


def model_of(group: str, ratio: float = 0.5) -> ModelImpact:
    return ModelImpact(
        group=group,
        reference="W",
        impact_ratio=ratio,
        impact_ratio_interval=(0.4, 0.6),
        utility=0.75,
    )


def made(before: ModelImpact | None, after: ModelImpact | None, **others: Any) -> RepairEffect:
    """Return an effect made by hand."""
    audits = [
        Audit(
            strongest="trees",
            balanced_error_rate=error,
            interval=(error - 0.1, error + 0.1),
            impact_floor=0.7,
            impact_floor_interval=(0.6, NAN),
            verdict="inconclusive",
            model=model,
        )
        for error, model in ((0.4, before), (0.5, after))
    ]
    column = ColumnEffect(
        column="x", kind="category", changed=1234, rank_moved=NAN, distance=0.25, distance_after=0.0
    )
    values: dict[str, Any] = {
        "table": "t.csv",
        "rows": 2000,
        "rows_changed": 1234,
        "cells": 2000,
        "cells_changed": 1234,
        "columns": (column,),
        "before": audits[0],
        "after": audits[1],
        "raised": False,
        "not_repaired": (),
        "notes": (),
    }
    return RepairEffect(**values | others)


def test_the_page_says_everything_once() -> None:
    text = str(made(model_of("B"), model_of("B", 0.9)))
    assert text.startswith("t.csv: 1,234 of 2,000 rows and 1,234 of 2,000 cells changed\n")
    words = " ".join(text.split())
    for line in (
        "BER of the strongest auditor 0.400 (0.300 to 0.500) 0.500 (0.400 to 0.600)",
        "strongest auditor trees trees",
        "impact floor of that auditor 0.700 (0.600 to ...) 0.700 (0.600 to ...)",
        "impact ratio of a model 0.500 (0.400 to 0.600) 0.900 (0.400 to 0.600)",
        "utility of that model 0.750 0.750",
        "verdict inconclusive inconclusive",
        "x category 1,234 - 0.250 0.000",
        "Note: the model's ratio is the least of a group: B over W.",
    ):
        assert words.count(line) == 1, line


def test_a_ratio_above_1_is_said_the_other_way_round_too() -> None:
    words = " ".join(str(made(model_of("B", 1.25), model_of("B", 0.9))).split())
    assert "the least of a group: B over W (W over B: 0.800), then B over W." in words


def test_a_model_that_selects_no_one_is_a_dash() -> None:
    words = " ".join(str(made(None, None)).split())
    assert "impact ratio of a model - - utility of that model - - verdict" in words


def test_of_many_columns_that_were_not_repaired_ten_are_named() -> None:
    names = tuple(f"col{at}" for at in range(12))
    words = " ".join(str(made(None, None, not_repaired=names)).split())
    assert "not audited here: col0, col1" in words
    assert "col9 and 2 more; a rule that uses them may still have disparate impact." in words
    assert "col10" not in words


def test_both_groups_are_named_where_the_worst_one_changes() -> None:
    words = " ".join(str(made(model_of("B"), model_of("H", 0.9))).split())
    assert "B over W" in words
    assert "H over W" in words


def test_markdown_is_escaped() -> None:
    column = ColumnEffect(
        column="a|b*", kind="number", changed=1, rank_moved=0.5, distance=1.0, distance_after=0.0
    )
    text = made(None, None, columns=(column,), table="<t>.csv").to_markdown()
    assert text.startswith("# &lt;t&gt;.csv: ")
    assert "| a\\|b\\* | number | 1 | 0.500 | 1.000 | 0.000 |" in text


def test_json_has_null_where_a_figure_is_undefined() -> None:
    document = json.loads(made(model_of("B"), None).to_json())
    assert document["schema"] == "fourfifths/repair-effect/1"
    assert document["columns"][0]["rank_moved"] is None
    assert document["before"]["impact_floor_interval"] == [0.6, None]
    assert document["before"]["model"] == {
        "group": "B",
        "reference": "W",
        "impact_ratio": 0.5,
        "impact_ratio_interval": [0.4, 0.6],
        "utility": 0.75,
    }
    assert document["after"]["model"] is None


# --- the impact of a model ---


GROUPS = np.repeat(["a", "b"], 20)
# 10 of 20 of a, 5 of 20 of b.
HIRED = np.concatenate([np.arange(20) < 10, np.arange(20) < 5])


class Echo(BaseEstimator):  # type: ignore[misc]
    """A model that says what it sees."""

    def fit(self, values: Any, truth: Any) -> Echo:
        return self

    def predict(self, values: Any) -> Any:
        return values[:, 0] > 0.5


@pytest.fixture
def _echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourfifths._effect.model_impact.panel", lambda *_: {"logistic": Echo()})


def model(values: Any, hired: Any = HIRED, groups: Any = GROUPS, **options: Any) -> Any:
    """Return the impact of a model that sees one column."""
    frame = options.pop("frame", None)
    if frame is None:
        frame = pd.DataFrame({"g": groups, "hired": hired})
    chosen: dict[str, Any] = {
        "protected": ["g"],
        "reference": "a",
        "outcome": "hired",
        "favorable": None,
        "random_state": 0,
    } | options
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    categories = chosen.pop("is_category", [False])
    return model_impact(column, categories, nw.from_native(frame, eager_only=True), **chosen)


@pytest.mark.parametrize(
    ("hired", "options"),
    [
        (np.where(HIRED, "yes", "no"), {}),
        (HIRED.astype(int), {"favorable": "1", "is_category": [True]}),
    ],
    ids=["text", "numbers"],
)
def test_a_column_that_is_the_outcome(hired: Any, options: dict[str, Any]) -> None:
    found = model(HIRED, hired, **options)
    assert (found.group, found.reference) == ("b", "a")
    assert found.impact_ratio == 0.5  # 5/20 over 10/20
    assert found.impact_ratio_interval[0] < 0.5 < found.impact_ratio_interval[1]
    assert found.utility == 1


@pytest.mark.usefixtures("_echo")
def test_the_other_way_round_the_ratio_is_above_1() -> None:
    found = model(HIRED, reference="b")
    assert (found.group, found.impact_ratio, found.utility) == ("a", 2.0, 1)


@pytest.mark.usefixtures("_echo")
def test_utility_is_1_minus_the_balanced_error() -> None:
    # The column says yes of 8 of 10 that were hired, and of 4 of 40 that were not.
    hired = np.repeat([True, False], [10, 40])
    says = np.concatenate([np.arange(10) < 8, np.arange(40) < 4])
    # Half of the 8 and of the 4 are of each group, so the ratio is 1.
    found = model(says, hired, np.tile(["a", "b"], 25))
    assert found.utility == pytest.approx(1 - (2 / 10 + 4 / 40) / 2)
    assert found.impact_ratio == 1


@pytest.mark.usefixtures("_echo")
def test_of_three_groups_the_least_ratio() -> None:
    # 8 of 10 of a, 4 of 10 of b, 6 of 10 of c.
    hired = np.concatenate([np.arange(10) < selected for selected in (8, 4, 6)])
    found = model(hired, hired, np.repeat(["a", "b", "c"], 10))
    assert (found.group, found.impact_ratio) == ("b", 0.5)


@pytest.mark.usefixtures("_echo")
def test_rows_without_an_outcome_are_left_out() -> None:
    hired = np.where(HIRED, "yes", "no").astype(object)
    hired[[0, 1, 39]] = None  # two of a that were hired, one of b that was not
    found = model(HIRED, hired)
    assert found.impact_ratio == pytest.approx((5 / 19) / (8 / 18))


def test_an_outcome_of_nan_is_missing() -> None:
    hired = HIRED.astype(float)
    hired[[0, 1, 39]] = NAN
    frame = pl.DataFrame({"g": GROUPS, "hired": hired})
    found = model(HIRED, frame=frame)
    assert found.impact_ratio == pytest.approx((5 / 19) / (8 / 18))


@pytest.mark.usefixtures("_echo")
def test_a_model_that_takes_all_or_none_has_no_ratio() -> None:
    assert model(np.zeros(40)) is None


@pytest.mark.parametrize("hired", [np.arange(40) < 4, np.arange(40) >= 4])
def test_an_outcome_too_rare_to_learn(hired: Any) -> None:
    with pytest.raises(OutcomeError, match="outcome='hired': fewer than 5 rows with, or without"):
        model(hired, hired)


def test_an_outcome_of_three_values_needs_the_favorable_one() -> None:
    with pytest.raises(OutcomeError, match="holds 3 values, 'x', 'y', 'z'; say which one is fav"):
        model(HIRED, np.resize(["x", "y", "z"], 40))


@pytest.mark.usefixtures("_echo")
def test_of_many_rows_a_sample_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def measured(native: Any, **options: Any) -> Any:
        seen.append(native)
        return fourfifths.impact(native, **options)

    monkeypatch.setattr("fourfifths._effect.model_impact.impact", measured)
    monkeypatch.setattr("fourfifths._effect.model_impact.MAX_ROWS", 30)
    assert model(HIRED).utility == 1
    [native] = seen
    assert len(native) == 30
