"""How a repair by blocks is planned and placed, and what it writes, with any kind of outcome."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_rows import row_draws
from sklearn.linear_model import LinearRegression

from fourfifths import Repairer
from fourfifths._repair.block_model import (
    DEFAULT_BETA,
    BlockModel,
    block_records,
    first_drawn,
    mean_equal_rows,
    own_beta,
    place_best,
    planning_rows,
)
from fourfifths._repair.guide import Outcome
from fourfifths._repair.proof import proven_limits, table_floors
from fourfifths._tables.types import ColumnType
from fourfifths.errors import ColumnError, OptionError, OutcomeError

NAN = float("nan")


class FirstColumn:
    """A guide: the first column is the score."""

    def predict(self, table: Any) -> Any:
        return np.asarray(table)[:, 0]


def people(row_count: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    group = random.integers(0, 2, row_count)
    score = random.normal(size=row_count) + group
    return pd.DataFrame(
        {
            "group": np.array(["a", "b"])[group],
            "score": score,
            "age": random.integers(18, 70, row_count),
            "town": random.choice(["Oslo", "Rome", "Bonn"], row_count),
            "hired": np.where(score + random.normal(size=row_count) > 0.5, "yes", "no"),
            "pay": np.round(1_000 * (score + random.normal(size=row_count))),
            "grade": random.choice(["A", "B", "C"], row_count),
            "id": np.arange(row_count),
        }
    )


PEOPLE = people(800)
FEATURES = ["score", "age", "town"]


def repaired(**options: Any) -> Repairer:
    return Repairer("group", **{"columns": FEATURES, "blocks": 4, **options}).fit(PEOPLE)


# --- planning rows ---


def test_the_same_share_of_each_stratum_is_planned_on() -> None:
    codes = np.repeat([0, 1, -1], [4_000, 1_003, 50]).astype(np.int16)
    is_planning = planning_rows(codes, row_draws(codes.size))
    assert is_planning[codes == 0].sum() == 1_200
    assert is_planning[codes == 1].sum() == 300  # .3 of 1,003, rounded down
    assert not is_planning[codes == -1].any()


@pytest.mark.parametrize(
    ("row_count", "share"), [(20, 0.5), (100, 0.4), (2_500, 0.4), (3_000, 1 / 3), (10_000, 0.3)]
)
def test_small_tables_plan_on_more_of_their_rows(row_count: int, share: float) -> None:
    codes = np.zeros(row_count, dtype=np.int16)
    assert planning_rows(codes, row_draws(row_count)).sum() == round(row_count * share)


def test_small_strata_of_small_tables_keep_their_rows_to_be_cut_by() -> None:
    # The mean is 500 rows: 374 are fewer than three quarters of it, 375 are not.
    codes = np.repeat([0, 1, 2], [374, 375, 751]).astype(np.int16)
    is_planning = planning_rows(codes, row_draws(codes.size))
    assert np.bincount(codes[is_planning]).tolist() == [112, 150, 300]


def test_which_rows_are_planned_on_does_not_depend_on_their_order() -> None:
    codes = np.random.default_rng(0).integers(0, 3, 500).astype(np.int16)
    draws = row_draws(500, is_keyed=True)
    order = np.random.default_rng(1).permutation(500)
    again = planning_rows(codes[order], draws.take(order))
    assert np.array_equal(again, planning_rows(codes, draws)[order])


# --- outcomes ---


@pytest.mark.parametrize(
    "keep", ["hired", "pay", "grade", ["hired", "pay"], ["grade", "hired"], None]
)
def test_any_outcome_makes_blocks_of_equal_shares(keep: Any) -> None:
    repairer = repaired(keep=keep)
    written = repairer.transform(PEOPLE)[FEATURES].drop_duplicates()
    assert 1 < len(written) <= 4
    model: Any = repairer.model_
    shares = model.table.counts / model.table.counts.sum(axis=1, keepdims=True)
    # On rows the guide has not seen to within a row; the planning rows add their noise.
    assert np.all(np.abs(shares - 0.25) < 0.1)
    assert repairer.proof_ is not None
    assert repairer.proof_.blocks == 4


def test_the_outcome_of_fit_is_the_outcome_that_is_kept() -> None:
    named = repaired(keep="hired").transform(PEOPLE)
    given = Repairer("group", columns=FEATURES, blocks=4).fit(PEOPLE, PEOPLE["hired"])
    assert given.transform(PEOPLE).equals(named)
    as_array = Repairer("group", columns=FEATURES, blocks=4).fit(
        PEOPLE, (PEOPLE["hired"] == "yes").to_numpy()
    )
    assert as_array.transform(PEOPLE).equals(named)


def test_what_is_kept_rises_from_block_to_block() -> None:
    repairer = repaired(keep="hired", blocks=4)
    model: Any = repairer.model_
    scores = model.blocks.records[:, 0, 0]
    assert np.all(np.diff(scores) > 0)


def test_errors_about_the_outcome() -> None:
    with pytest.raises(ColumnError, match="'score' is the outcome that is kept"):
        repaired(keep="score")
    with pytest.raises(ColumnError, match=r"keep: no column 'hire'.*hired"):
        repaired(keep="hire")
    with pytest.raises(OutcomeError, match="y: 3 values for 800 rows"):
        Repairer("group", columns=FEATURES).fit(PEOPLE, [0, 1, 0])
    with pytest.raises(OutcomeError, match="favorable='maybe'"):
        repaired(keep="hired", favorable="maybe")
    with pytest.raises(ColumnError, match="'copy' is the outcome 'hired' under another name"):
        Repairer("group", columns=["copy", "score"], keep="hired").fit(
            PEOPLE.assign(copy=PEOPLE["hired"].eq("yes"))
        )
    with pytest.raises(ColumnError, match="keep='hired': X is an array"):
        Repairer(keep="hired").fit(np.zeros((50, 2)), protected=np.arange(50) % 2)


# --- a given guide ---


def test_with_a_given_guide_every_row_is_placed() -> None:
    repairer = Repairer(guide=FirstColumn(), blocks=5)
    values = PEOPLE[["score", "age"]].to_numpy(dtype=float)
    out = repairer.fit(values, protected=PEOPLE["group"]).transform(
        values, protected=PEOPLE["group"]
    )
    assert repairer.proof_ is not None
    sizes = PEOPLE["group"].value_counts()
    for stratum in repairer.proof_.strata:
        assert stratum.rows == stratum.placing_rows == sizes[stratum.stratum]
    for name in ("a", "b"):
        _, counts = np.unique(out[PEOPLE["group"] == name, 0], return_counts=True)
        assert np.all(np.abs(counts - sizes[name] / 5) <= 1)


def test_a_fitted_estimator_of_scikit_learn_is_a_guide() -> None:
    columns = ["score", "age"]
    fitted = LinearRegression().fit(PEOPLE[columns], PEOPLE["pay"])
    repairer = Repairer("group", columns=columns, guide=fitted, blocks=4).fit(PEOPLE)
    out = repairer.transform(PEOPLE)
    assert len(out[columns].drop_duplicates()) == 4
    assert pickle.loads(pickle.dumps(repairer)).transform(PEOPLE).equals(out)


def test_a_given_guide_cannot_be_saved_as_json(tmp_path: Path) -> None:
    repairer = repaired(columns=["score", "age"], guide=FirstColumn())
    with pytest.raises(Exception, match="guide: a repair that was ordered by your own estimator"):
        repairer.save(tmp_path / "repair.json")


# --- writing ---


def test_what_is_written_has_the_types_that_came_in() -> None:
    out = repaired(keep="hired").transform(PEOPLE)
    assert out.dtypes.equals(PEOPLE.dtypes)
    untouched = [name for name in PEOPLE.columns if name not in FEATURES]
    pd.testing.assert_frame_equal(out[untouched], PEOPLE[untouched])


def test_whole_numbers_past_those_that_floats_hold_are_an_error() -> None:
    with pytest.raises(ColumnError, match=r"'age': holds whole numbers beyond 2\*\*53"):
        Repairer("group", columns=["age", "score"], keep="hired").fit(
            PEOPLE.assign(age=PEOPLE["age"] + 2**60)
        )


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_column_that_is_all_missing_stays_so_and_is_saved(missing: Any, tmp_path: Path) -> None:
    frame = PEOPLE.assign(empty=missing)
    repairer = Repairer("group", columns=["score", "empty"], keep="hired", blocks=3).fit(frame)
    out = repairer.transform(frame)
    assert out["empty"].isna().all()
    repairer.save(tmp_path / "repair.json")
    assert Repairer.load(tmp_path / "repair.json").transform(frame).equals(out)


def test_variety_makes_so_many_records_of_a_block() -> None:
    repairer = repaired(keep="hired", variety=6)
    out = repairer.transform(PEOPLE)
    assert 4 < len(out[FEATURES].drop_duplicates()) <= 24
    model: Any = repairer.model_
    assert model.blocks.records.shape == (4, 6, 3)
    with pytest.raises(OptionError, match="variety=2: the repair was fitted with 6"):
        repairer.set_params(variety=2).transform(PEOPLE)


def test_strata_count_alike_in_typical_records_but_coarse_ones_less() -> None:
    # Stratum 0 has 90 rows of 1.0, stratum 1 has 10 of 9.0 and 1 of 1.0.
    values = np.array([1.0] * 91 + [9.0] * 10)
    codes = np.repeat([0, 1], [90, 11])
    arguments: Any = {
        "block": np.zeros(101, dtype=np.int64),
        "codes": codes,
        "draws": row_draws(101),
        "shape": (1, 1),
    }
    types = [ColumnType(name="x", kind="number")]
    alike = block_records([values], types, cells=np.array([1, 1]), **arguments)
    # .5 + .5 / 11 of the weight is at 1.0.
    assert alike.tolist() == [[[1.0]]]
    second_finer = block_records([values], types, cells=np.array([1, 4]), **arguments)
    assert second_finer.tolist() == [[[9.0]]]


# --- how many blocks ---


def test_blocks_that_are_asked_for_are_given() -> None:
    for count in (2, 3, 7, 48):
        repairer = repaired(keep="hired", blocks=count)
        assert repairer.proof_ is not None
        assert repairer.proof_.blocks == count


def test_more_blocks_than_rows_are_an_error() -> None:
    with pytest.raises(OptionError, match=r"blocks=1000000: there are only \d+ placing rows"):
        repaired(keep="hired", blocks=1_000_000)


def test_blocks_by_themselves_are_those_that_are_proven() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(4_000, 1))
    group = random.integers(0, 2, 4_000)
    repairer = Repairer(guide=FirstColumn(), beta=0.2).fit(values, protected=group)
    proof = repairer.proof_
    assert proof is not None
    assert proof.verdict == "certified"
    assert proof.blocks >= 4
    # With more of them, this would not be so.
    more = Repairer(guide=FirstColumn(), beta=0.2, blocks=4 * proof.blocks)
    more_proof = more.fit(values, protected=group).proof_
    assert more_proof is not None
    assert more_proof.verdict == "inconclusive"


def test_where_nothing_is_proven_a_warning_says_how_many_rows_would_do() -> None:
    frame = people(300)
    with pytest.warns(UserWarning, match=r"blocks='certified'.*about [\d,]+ rows like these"):
        repairer = Repairer("group", columns=FEATURES, keep="hired").fit(frame)
    assert repairer.proof_ is not None
    assert repairer.proof_.verdict == "inconclusive"


def test_the_search_stops_at_the_first_plan_that_is_proven() -> None:
    scores = np.random.default_rng(0).normal(size=(6_000, 1))
    codes = (np.arange(6_000) % 2).astype(np.int16)
    placement = place_best(
        scores,
        codes,
        draws=row_draws(6_000, is_keyed=True),
        planning=(np.empty((0, 1)), np.empty(0, dtype=np.int16)),
        equal_rows=None,
        block_count="certified",
        beta=0.3,
        threshold=0.8,
        confidence=0.95,
    )
    tree = placement.tree
    assert placement.is_proven
    assert tree.block_count == placement.laws[0].spacings.size
    is_cut = (tree.score >= 0) & (tree.depth < placement.cuts.depth[:, None])
    assert np.array_equal(np.isfinite(placement.cuts.score), is_cut)


def test_how_many_rows_are_equal_on_average() -> None:
    # Three equal rows have two others each, one has none: 6 / 4.
    assert mean_equal_rows(np.array([5, 5, 5, 9], dtype=np.uint64)) == 1.5
    assert mean_equal_rows(np.arange(4, dtype=np.uint64)) == 0.0
    assert mean_equal_rows(np.array([], dtype=np.uint64)) == 0.0


# --- beta ---


def rates(*selected: tuple[int, int], missing: int = 0) -> tuple[list[Outcome], Any]:
    """Return an outcome with so many selected of so many rows in each stratum."""
    values, codes = [], []
    for stratum, (count, size) in enumerate(selected):
        values += [1.0] * count + [0.0] * (size - count) + [NAN] * missing
        codes += [stratum] * (size + missing)
    outcome = Outcome(name="y", kind="binary", values=np.array(values), classes=("no", "yes"))
    return [outcome], np.array(codes)


def test_beta_is_the_lowest_selection_rate_by_hand() -> None:
    assert own_beta(*rates((30, 100), (20, 50)), ["yes"]) == pytest.approx(0.3)
    # "no" is favorable: rates .7 and .6.
    assert own_beta(*rates((30, 100), (20, 50)), ["no"]) == pytest.approx(0.6)
    # Neither is named: the lower of .3 and .7, of .9 and .1.
    assert own_beta(*rates((30, 100), (45, 50)), None) == pytest.approx(0.1)


def test_some_rows_do_not_count_for_beta() -> None:
    # A group of few rows counts like any other: leaving it out would claim less.
    assert own_beta(*rates((30, 100), (1, 29)), ["yes"]) == pytest.approx(1 / 29)
    assert own_beta(*rates((30, 100), (0, 50)), ["yes"]) == pytest.approx(0.3)  # nobody
    assert own_beta(*rates((30, 100), (20, 50), missing=40), ["yes"]) == pytest.approx(0.3)
    outcomes, codes = rates((30, 100), (20, 50), (1, 60))
    assert own_beta(outcomes, np.where(codes == 2, -1, codes), ["yes"]) == pytest.approx(0.3)


def test_beta_is_a_tenth_where_no_outcome_has_two_values() -> None:
    outcomes, codes = rates((30, 100), (20, 50))
    number = Outcome(name="y", kind="number", values=outcomes[0].values)
    assert own_beta([number], codes, None) == DEFAULT_BETA == 0.1
    assert own_beta([], codes, None) == DEFAULT_BETA
    assert own_beta([*outcomes, *outcomes], codes, None) == DEFAULT_BETA
    assert own_beta(*rates((0, 100), (0, 50)), ["yes"]) == DEFAULT_BETA


def test_beta_of_several_favorable_classes_by_hand() -> None:
    # Of ten rows each: hired 2, declined the offer 1, rejected 7; hired 1, declined 3, rejected 6.
    values = np.repeat([1.0, 0.0, 2.0, 1.0, 0.0, 2.0], [2, 1, 7, 1, 3, 6])
    codes = np.repeat([0, 1], 10)
    outcome = Outcome(
        name="y", kind="classes", values=values, classes=("declined", "hired", "rejected")
    )
    assert own_beta([outcome], codes, ["hired", "declined"]) == pytest.approx(0.3)
    assert own_beta([outcome], codes, ["hired"]) == pytest.approx(0.1)
    assert own_beta([outcome], codes, None) == DEFAULT_BETA


def test_the_beta_of_a_table() -> None:
    frame = PEOPLE.assign(hired=np.where(np.arange(800) % 10 < 2, "yes", "no"))
    expected = frame["hired"].eq("yes").groupby(frame["group"]).mean().min()
    repairer = Repairer("group", columns=FEATURES, keep="hired", favorable="yes", blocks=2)
    assert repairer.fit(frame).proof_ is not None
    assert repairer.proof_.beta == pytest.approx(expected)
    assert repairer.set_params(beta=0.4).fit(frame).proof_.beta == 0.4


# --- options ---


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"scope": "joint"}, "scope='joint': expected one of"),
        ({"blocks": 1}, "blocks=1: expected 'certified', or a whole number, 2 or more"),
        ({"blocks": 2.0}, r"blocks=2\.0: expected 'certified'"),
        ({"blocks": True}, "blocks=True: expected"),
        ({"blocks": "many"}, "blocks='many': expected 'certified'"),
        ({"variety": 0}, "variety=0: expected a whole number, 1 or more"),
        ({"beta": 0.0}, r"beta=0\.0: expected a number between 0 and 1"),
        ({"beta": 1}, "beta=1: expected a number between 0 and 1"),
        ({"threshold": None}, "threshold=None: expected a number"),
        ({"confidence": 95}, "confidence=95: expected a number between 0 and 1"),
        ({"amount": 2}, "amount=2: expected a number from 0"),
        ({"method": "geometric"}, "method='geometric': the paper's methods repair columns"),
        ({"key": 3}, "key=3: expected the name of a column"),
        ({"random_state": -1}, "random_state=-1: expected a whole number"),
        ({"stratify_by": "town"}, "protected, stratify_by: give one of them"),
    ],
)
def test_options_that_are_not_understood(options: Any, match: str) -> None:
    with pytest.raises(OptionError, match=match):
        repaired(**options)


def test_blocks_that_the_search_takes_are_certified_by_the_proof() -> None:
    options = {"beta": 0.1, "confidence": 0.95}

    def limit(size: int, threshold: float) -> float:
        placement = place_best(
            np.random.default_rng(0).random((2 * size, 1)),
            np.repeat(np.array([0, 1], dtype=np.int16), size),
            draws=row_draws(2 * size, is_keyed=True),
            planning=(np.empty((0, 1)), np.empty(0, dtype=np.int16)),
            equal_rows=None,
            block_count="certified",
            threshold=threshold,
            **options,
        )
        return float(proven_limits(placement.laws, **options)[0].min())

    for size in range(3_000, 3_020, 5):
        # A line just above what these blocks prove: a search that simulates otherwise than the
        # proof would take some of them again.
        line = limit(size, 0.8) + 1e-6
        assert limit(size, line) >= line


# --- rows that a fit leaves aside ---


def test_rows_by_draw_are_so_many_of_each_stratum_in_the_order_of_the_table() -> None:
    codes = np.random.default_rng(0).integers(0, 3, 500).astype(np.int16)
    rows, draws = np.flatnonzero(codes < 2), row_draws(500)
    chosen = first_drawn(rows, codes, draws, most=np.array([10, 1_000]))
    assert np.bincount(codes[chosen]).tolist() == [10, int(np.sum(codes == 1))]
    assert np.all(np.diff(chosen) > 0)
    # Those with the lowest draws, by the definition.
    uniforms = draws.uniforms("plan")
    first = np.flatnonzero(codes == 0)
    lowest = first[np.argsort(uniforms[first])[:10]]
    assert np.array_equal(chosen[codes[chosen] == 0], np.sort(lowest))


def test_of_a_large_table_some_rows_are_placed_and_all_are_counted() -> None:
    random = np.random.default_rng(0)
    values, group = random.normal(size=(160_000, 1)), np.arange(160_000) % 2
    repairer = Repairer(beta=0.3).fit(values, protected=group)
    before = values.copy()
    values += 100  # the owner may change the table before anybody asks
    assert repairer.proof_ is not None
    for stratum in repairer.proof_.strata:
        assert stratum.rows == 80_000
        assert stratum.placing_rows == 50_000
    written = repairer.transform(before, protected=group)[:, 0]
    _, record = np.unique(written, return_inverse=True)
    counts = np.array([np.bincount(record[group == code]) for code in (0, 1)])
    assert repairer.proof_.table_floor == pytest.approx(table_floors(counts, 0.3).min())
    # What is proven of new rows is proven by the rows that were placed.
    expected = proven_limits(repairer.model_.blocks.laws, beta=0.3, confidence=0.95)[0].min()
    assert repairer.proof_.impact_floor == expected


def test_a_pickled_repair_has_counts_and_no_rows() -> None:
    repairer = repaired(keep="hired")
    size = len(pickle.dumps(repairer))
    assert repairer.proof_ is not None
    large = Repairer("group", columns=FEATURES, keep="hired", blocks=4).fit(people(8_000))
    assert len(pickle.dumps(large)) < 2 * size
    again = pickle.loads(pickle.dumps(large))
    assert again.proof_.to_dict() == large.proof_.to_dict()


def test_fit_transform_counts_what_it_writes() -> None:
    fit = Repairer("group", columns=FEATURES, keep="hired", blocks=4)
    written = fit.fit_transform(PEOPLE)
    alone = repaired(keep="hired")
    assert written.equals(alone.transform(PEOPLE))
    assert np.array_equal(fit.model_.table.counts, alone.model_.table.counts)
    assert fit.proof_.to_dict() == alone.proof_.to_dict()


# --- what is claimed ---


def test_new_rows_need_no_outcome() -> None:
    frame = people(2_000)
    repairer = Repairer("group", columns=FEATURES, keep="hired", blocks=4).fit(frame)
    whole = repairer.transform(frame)
    assert repairer.transform(frame.drop(columns="hired")).equals(whole.drop(columns="hired"))
    with pytest.raises(ValueError, match="Feature names"):
        repairer.transform(frame.drop(columns=["hired", FEATURES[0]]))


def test_the_floor_of_the_table_is_that_of_the_records_that_were_written() -> None:
    frame = people(3_000)
    options = {"columns": FEATURES, "keep": "hired", "blocks": 4, "variety": 5, "beta": 0.3}
    repairer = Repairer("group", **options).fit(frame)
    written = repairer.transform(frame)
    # Counted again from the table itself: what a rule sees is the record.
    record = written.groupby(FEATURES, dropna=False, observed=True).ngroup()
    groups = sorted(frame["group"].unique())
    counts = [np.bincount(record[frame["group"] == group], minlength=20) for group in groups]
    assert repairer.proof_ is not None
    assert repairer.proof_.table_floor == pytest.approx(table_floors(np.array(counts), 0.3).min())


def test_a_repair_in_part_proves_nothing() -> None:
    frame = people(3_000)
    repairer = Repairer("group", columns=FEATURES, keep="hired", blocks=2, amount=0.5).fit(frame)
    assert repairer.proof_ is not None
    assert repairer.proof_.verdict == "inconclusive"
    assert "only a share 0.5 of the rows is repaired" in repairer.proof_.because


def test_without_a_key_draws_that_divide_rows_cover_one_call() -> None:
    frame = people(3_000)
    options = {"columns": FEATURES, "keep": "hired", "blocks": 2, "beta": 0.3}
    one_call = "repaired together in one call"
    for variety, key, is_limited in ((1, None, False), (3, None, True), (3, "id", False)):
        repairer = Repairer("group", variety=variety, key=key, **options).fit(frame)
        assert repairer.proof_ is not None
        assert (one_call in repairer.proof_.because) is is_limited


def test_a_proof_names_what_else_it_rests_on() -> None:
    frame = people(3_000)
    options = {"columns": FEATURES, "blocks": 2, "unseen": "keep"}
    repairer = Repairer("group", guide=FirstColumn(), **options).fit(frame)
    assert repairer.proof_ is not None
    assumed = " ".join(repairer.proof_.assumptions)
    assert "the given guide has not seen the rows" in assumed
    assert "stay as they were, and nothing is proven of them" in assumed
    assert "(group)" in assumed


def test_a_guide_of_several_scores_cuts_by_more_than_the_first() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(3_000, 3))

    class Scores:
        def predict(self, table: Any) -> Any:
            return np.asarray(table)

    repairer = Repairer(guide=Scores(), blocks=8)
    repairer.fit(values, protected=random.integers(0, 2, 3_000))
    assert isinstance(repairer.model_, BlockModel)
    assert {*repairer.model_.blocks.tree.score.tolist()} == {-1, 0, 1, 2}
