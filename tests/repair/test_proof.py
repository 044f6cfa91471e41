"""What a proof says: against the law of shares, for many strata, for some rows, and in words."""

from __future__ import annotations

import json
import math
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fourfifths import Repairer
from fourfifths._repair.blocks import block_law, grow_tree
from fourfifths._repair.proof import (
    BLOCK_COUNTS,
    MAX_SHARE_NOT_CUT,
    MAX_STRATA,
    BlockPlan,
    Circumstances,
    approximate_floors,
    are_to_hide,
    expected_laws,
    full_depth,
    is_proven,
    likely_variations,
    most_placing_rows,
    planned_by_rows,
    prove,
    proven_limits,
    proven_plans,
    rated_plans,
    rows_to_prove,
    screened_floor,
    table_floors,
)
from fourfifths._stats.shares import BlockLaw, RuleCurve, total_variation
from fourfifths.errors import OptionError

OPTIONS = {"beta": 0.2, "threshold": 0.8, "confidence": 0.95}


def law(row_count: int, block_count: int, *, depth: int = 20, tied: int | None = None) -> BlockLaw:
    tree = grow_tree(np.empty((0, 1)), np.empty(0, dtype=np.int16), block_count)
    return block_law(tree, depth, row_count, tied=tied)


def proof(laws: list[BlockLaw], counts: Any = None, **options: Any) -> Any:
    block_count = int(laws[0].leaves.sum())
    each = np.full((len(laws), block_count), 10) if counts is None else np.array(counts)
    return prove(
        laws,
        each,
        **{
            "labels": [f"s{index}" for index in range(len(laws))],
            "columns": ["x", "y"],
            "amount": 1.0,
            "circumstances": Circumstances(),
            **OPTIONS,
            **options,
        },
    )


# --- limits ---


def test_the_limit_of_two_blocks_is_a_quantile_in_closed_form() -> None:
    """One stratum is never cut, so its shares are one half; the other's are beta distributed.

    The floor of a rule that takes beta <= 1/2 of the group from one block is beta / R(beta), with R
    = beta / share * 1/2 for the smaller share: twice the smaller share, or the other way round.
    """
    laws = [law(199, 2), law(10_000, 2, depth=0)]
    limits, _, _ = proven_limits(laws, beta=0.1, confidence=0.95)
    share = stats.beta(100, 100)
    # Group s0 is harmed by its smaller block: beta share / .5. Both sides hold together.
    forth, back = limits
    lowest = 2 * share.ppf(0.025)
    assert forth == pytest.approx(lowest, abs=0.02)
    # s1 is harmed by the larger block of s0: .5 / larger share.
    assert back == pytest.approx(0.5 / share.ppf(0.975), abs=0.02)


def test_limits_hold_for_shares_of_the_law() -> None:
    laws = [law(300, 6), law(900, 6), law(80, 6, depth=1)]
    limits, curve, variations = proven_limits(laws, beta=0.2, confidence=0.9, curve=[0.5])
    random = np.random.default_rng(1)
    shares = [own.draw_shares(4_000, random) for own in laws]
    pairs = list(permutations(range(3), 2))
    floors = np.array([RuleCurve.of(shares[g], shares[r]).floor(0.2) for g, r in pairs])
    failed = np.mean(np.any(floors < limits[:, None], axis=0))
    # 10%, less what the simulation may err, within 3 standard errors.
    assert 0.07 < failed < 0.1 + 3 * np.sqrt(0.09 / 4_000)
    distances = np.array([np.abs(shares[g] - shares[r]).sum(axis=1) / 2 for g, r in pairs])
    assert np.mean(np.any(distances > variations[:, None], axis=0)) < 0.115
    lowest = np.min([RuleCurve.of(shares[g], shares[r]).floor(0.5) for g, r in pairs], axis=0)
    assert 0.07 < np.mean(lowest < curve[0]) < 0.115


def test_more_confidence_proves_less_and_too_much_proves_nothing() -> None:
    laws = [law(3_000, 4), law(3_000, 4)]
    found = [
        proven_limits(laws, beta=0.2, confidence=confidence)[0].min()
        for confidence in (0.5, 0.9, 0.99, 0.999)
    ]
    assert np.all(np.diff(found) < 0)
    floors, _, variations = proven_limits(laws, beta=0.2, confidence=1 - 1e-9)
    assert floors.tolist() == [0.0, 0.0]
    assert variations.tolist() == [1.0, 1.0]


def test_the_floor_of_a_table_is_counted() -> None:
    # Group 0 has 1/4, 3/4; group 1 one half each. Taking .1 of group 0 from the first block takes
    # .1 * 4 * .5 = .2 of group 1; taking .1 of group 1 from the second takes .15 of group 0.
    floors = table_floors(np.array([[10, 30], [20, 20]]), 0.1)
    assert floors == pytest.approx([0.5, 2 / 3])


# --- proofs ---


def test_a_proof_has_every_pair_once_and_the_lowest_first() -> None:
    found = proof([law(2_000, 4), law(2_000, 4), law(400, 4)])
    assert [{pair.group, pair.reference} for pair in found.pairs[1:]] != []
    names = {frozenset((pair.group, pair.reference)) for pair in found.pairs}
    assert len(names) == len(found.pairs) == 3
    lows = [min(pair.impact_floor, pair.reverse_floor) for pair in found.pairs]
    assert lows == sorted(lows)
    assert found.impact_floor == lows[0]
    for pair in found.pairs:
        assert pair.balanced_error_rate == pytest.approx((1 - pair.total_variation) / 2)
        assert pair.table_floor == pair.table_reverse_floor == 1.0
    assert found.kind == "proven"
    assert found.table_floor == 1.0
    assert [stratum.placing_rows for stratum in found.strata] == [2_000, 2_000, 400]
    assert [stratum.cells for stratum in found.strata] == [4, 4, 4]


def test_the_curve_rises_with_beta_and_passes_through_the_floor() -> None:
    found = proof([law(2_000, 8), law(1_000, 8)])
    floors = [point.impact_floor for point in found.curve]
    assert np.all(np.diff(floors) > -1e-12)
    at_beta = next(point.impact_floor for point in found.curve if point.beta == 0.2)
    # Of all pairs together the lowest is a little higher than the limits that hold together.
    assert at_beta == pytest.approx(found.impact_floor, abs=0.01)


def test_what_is_proven_is_said() -> None:
    found = proof([law(20_000, 4), law(20_000, 4)])
    assert found.verdict == "certified"
    assert found.rows_needed is None
    assert "proven for every rule: with 95% confidence" in found.because
    assert "selects at least 20% of each group" in found.because
    assert f"below {found.impact_floor:.3f} in the long run of new rows" in found.because


def test_what_is_not_proven_says_how_many_rows_would_do() -> None:
    few = [law(200, 8), law(300, 8)]
    # 1,000 rows, of which half were planned on.
    found = proof(few, counts=[[50] * 8, [75] * 8])
    assert found.verdict == "inconclusive"
    assert found.rows_needed is not None
    assert f"about {found.rows_needed:,} rows like these would prove 0.8" in found.because
    # With so many rows of the same shares it is about proven.
    grown = [law(round(rows * found.rows_needed / 1_000), 8) for rows in (200, 300)]
    assert 0.79 < proof(grown).impact_floor < 0.85


def test_no_number_of_rows_proves_what_ties_forbid() -> None:
    # Three tenths of the rows tie with a cut, whatever the number of rows.
    laws = [law(400, 4, tied=120), law(400, 4, tied=120)]
    found = proof(laws)
    assert found.rows_needed is None
    assert "no number of rows like these would prove more" in found.because
    assert rows_to_prove(laws, **OPTIONS) is None


def test_a_repair_of_some_rows_is_not_proven() -> None:
    found = proof([law(20_000, 4), law(20_000, 4)], amount=0.5)
    assert found.verdict == "inconclusive"
    assert found.pairs == found.curve == ()
    assert np.isnan(found.impact_floor)
    assert found.rows_needed is None
    assert "only a share 0.5 of the rows is repaired, so nothing is proven" in found.because
    assert json.loads(found.to_json())["impact_floor"] is None


@pytest.mark.parametrize("stratum_count", [MAX_STRATA + 1, 100])
def test_of_too_many_strata_nothing_is_proven(stratum_count: int) -> None:
    found = proof([law(500, 2)] * stratum_count)
    assert found.verdict == "inconclusive"
    assert found.pairs == ()
    assert f"there are {stratum_count} strata, and pairs of more than 40" in found.because


def test_a_table_of_more_than_forty_strata_is_repaired_without_a_proof() -> None:
    random = np.random.default_rng(0)
    values, group = random.normal(size=(2_050, 1)), np.arange(2_050) % 41
    with pytest.warns(UserWarning, match="blocks='certified': there are 41 strata"):
        repairer = Repairer(guide=FirstColumn()).fit(values, protected=group)
    out = repairer.transform(values, protected=group)
    assert 1 < np.unique(out).size <= 16
    assert repairer.proof_ is not None
    assert np.isnan(repairer.proof_.impact_floor)


class FirstColumn:
    def predict(self, table: Any) -> Any:
        return np.asarray(table)[:, 0]


def test_strata_that_are_not_cut_have_exactly_the_shares_of_the_draw() -> None:
    found = proof([law(500, 2)] * 3 + [law(500, 2, depth=0)] * 3)
    assert len(found.pairs) == 15
    alike = [pair for pair in found.pairs if pair.group >= "s3" and pair.reference >= "s3"]
    assert [pair.impact_floor for pair in alike] == [1.0] * 3


def test_assumptions_name_the_columns_and_how_rows_are_drawn() -> None:
    keyed = proof([law(500, 4), law(500, 4)]).assumptions
    assert "a rule uses only the repaired columns: x, y" in keyed
    assert any("beta is taken as stated" in text for text in keyed)
    assert any("the key of a row is given without regard to its group" in text for text in keyed)
    tied = proof([law(500, 4, tied=3), law(500, 4, tied=0)]).assumptions
    assert any("their share was added" in text for text in tied)
    assert not any("a draw divides rows over blocks" in text for text in tied)
    divided = proof([law(500, 4, tied=3), law(50, 4, depth=1, tied=0)]).assumptions
    assert any("a draw divides rows over blocks" in text for text in divided)


def test_ties_lower_the_floor() -> None:
    clean, tied = ([law(2_000, 4, tied=count)] * 2 for count in (0, 60))
    keyed = proof([law(2_000, 4)] * 2)
    assert keyed.impact_floor > proof(clean).impact_floor > proof(tied).impact_floor
    assert [stratum.tied_rows for stratum in proof(tied).strata] == [60, 60]


def test_a_certificate_at_another_beta_needs_no_new_fit() -> None:
    random = np.random.default_rng(0)
    values, group = random.normal(size=(3_000, 1)), np.arange(3_000) % 2
    repairer = Repairer(guide=FirstColumn(), blocks=4, beta=0.3).fit(values, protected=group)
    assert repairer.proof_ is not None
    assert repairer.certificate().to_dict() == repairer.proof_.to_dict()
    other = repairer.certificate(beta=0.05, threshold=0.5, confidence=0.9)
    assert (other.beta, other.threshold, other.confidence) == (0.05, 0.5, 0.9)
    assert other.impact_floor < repairer.proof_.impact_floor
    with pytest.raises(OptionError, match="beta=2: expected a number between 0 and 1"):
        repairer.certificate(beta=2)
    partly = repairer.set_params(amount=0.5).certificate()
    assert "only a share 0.5" in partly.because
    column = Repairer(scope="column").fit(values, protected=group)
    assert column.proof_ is None
    with pytest.raises(OptionError, match="scope='column': columns that are repaired one by one"):
        column.certificate()


def test_columns_that_stay_as_they_were_are_named(tmp_path: Path) -> None:
    """A table with 1,500 area codes was proven, and nothing said that the codes stay in it."""
    random = np.random.default_rng(0)
    group = random.integers(0, 2, 6_000)
    table = pd.DataFrame(
        {
            "applicant_id": np.arange(6_000),
            "group": group,
            "score": random.normal(size=6_000) + group,
            "area": [f"area {code}" for code in random.integers(0, 750, 6_000) + 750 * group],
            "hired": random.random(6_000) < 0.3 + 0.2 * group,
        }
    )
    repairer = Repairer("group", keep="hired", favorable=True, key="applicant_id").fit(table)
    assert repairer.proof_ is not None
    assert repairer.proof_.columns == ("score",)
    sentence = "'area' is not repaired and stays as it was; nothing is proven of rules that use it"
    assert sentence in repairer.proof_.assumptions
    # The key, the group and the outcome are nobody's surprise.
    assert not any("hired" in text or "applicant" in text for text in repairer.proof_.assumptions)
    repairer.save(tmp_path / "repair.json")
    loaded = Repairer.load(tmp_path / "repair.json")
    assert loaded.proof_ is not None
    assert loaded.proof_.assumptions == repairer.proof_.assumptions
    named = Repairer("group", columns=["score"], keep="hired", favorable=True).fit(table)
    assert named.proof_ is not None
    assert any(
        text.startswith("'applicant_id', 'area' are not repaired and stay as they were")
        for text in named.proof_.assumptions
    )
    alone = Repairer("group", columns=["score"], keep="hired").fit(
        table[["group", "score", "hired"]]
    )
    assert alone.proof_ is not None
    assert not any("not repaired" in text for text in alone.proof_.assumptions)


@pytest.mark.parametrize("tied", [None, 3])
def test_where_nothing_is_proven_it_says_how_many_rows_would_do_for_two_blocks(
    tied: int | None,
) -> None:
    laws = [law(200, 12, tied=tied)] * 2
    counts = np.array([leaves.spacings for leaves in laws])
    proof = prove(
        laws,
        counts,
        labels="ab",
        columns=["x"],
        amount=1,
        circumstances=Circumstances(),
        **OPTIONS,
    )
    assert proof.verdict == "inconclusive"
    found = re.search(r"and two would prove 0.8 with about ([\d,]+) rows", proof.because)
    assert found is not None
    rows = int(found[1].replace(",", ""))
    assert proof.rows_needed is None or rows < proof.rows_needed
    # So many rows do, by the exact law, if one cut has a part in 11 of the ties of 11 cuts.
    share = 0 if tied is None else tied / 11 / 200
    half = rows // 2
    enough = [law(half, 2, tied=None if tied is None else round(share * half))] * 2
    assert is_proven(enough, **OPTIONS)
    # And they are not far too many.
    few = [law(half // 3, 2, tied=None if tied is None else round(share * half / 3))] * 2
    assert not is_proven(few, **OPTIONS)


# --- plans ---


@pytest.mark.parametrize(("block_count", "depth"), [(2, 1), (3, 2), (4, 2), (7, 3), (48, 6)])
def test_the_depth_of_so_many_blocks(block_count: int, depth: int) -> None:
    assert full_depth(block_count) == depth


def test_strata_with_few_rows_are_cut_coarser() -> None:
    # At least ten rows to a cell, but two cells where there are two rows.
    plan = planned_by_rows(np.array([1, 9, 20, 79, 80, 5_000]), 8)
    assert plan.cells.tolist() == [1, 2, 2, 4, 8, 8]
    assert planned_by_rows(np.array([60, 59]), 6).cells.tolist() == [6, 4]


def lost_by(plan: BlockPlan, rows: Any) -> float:
    """Return the mean over the rows of what cells of shares p lose, the sum of p^3, and the error
    of a model of so many blocks.
    """
    laws = expected_laws(plan, np.full(rows.size, 10_000), equal_rows=None)
    lost = [np.sum((law.leaves / plan.block_count) ** 3) for law in laws]
    return float(np.sum(rows / rows.sum() * lost) + plan.block_count / rows.sum())


@pytest.mark.parametrize(
    ("block_count", "ways", "depth", "cells", "lost"),
    [
        (6, (3, 2), 0, 1, 1),
        (6, (3, 2), 1, 3, 1 / 9),
        (6, (3, 2), 2, 6, 1 / 36),
        (9, (3, 3), 1, 3, 1 / 9),
        # In halves: 1 and 2 of 3 blocks; 1, 1, 1 and 2 of 5; 1, 2, 1 and 2 of 6.
        (3, (), 1, 2, (1 + 8) / 27),
        (5, (), 2, 4, (3 + 8) / 125),
        (6, (), 2, 4, (2 + 16) / 216),
        (8, (), 2, 4, 1 / 16),
    ],
)
def test_what_coarser_cells_lose_by_hand(
    block_count: int, ways: tuple[int, ...], depth: int, cells: int, lost: float
) -> None:
    plan = BlockPlan(block_count=block_count, depth=np.array([depth]), ways=ways)
    assert plan.cells.tolist() == [cells]
    assert plan.losses[0] == pytest.approx(lost)


def test_a_small_stratum_may_have_three_cells() -> None:
    # By hand: 9 blocks and 3 cells lose 140/620/9 + 480/620/81 + 9/620 = .049. In halves the best
    # that is proven are 4 blocks for both, which lose 1/16 + 4/620 = .069.
    rows, options = np.array([140, 480]), {**OPTIONS, "beta": 0.45}
    best = proven_plans(rows, equal_rows=None, **options)[0]
    assert (best.block_count, best.cells.tolist()) == (9, [3, 9])
    laws = expected_laws(best, rows, equal_rows=None)
    assert [law.spacings.size for law in laws] == [3, 9]
    assert [int(law.spacings.sum()) for law in laws] == [141, 481]
    assert is_proven(laws, **options)


def test_plans_that_are_likely_to_be_proven_go_from_fine_to_coarse() -> None:
    # So low a beta that the floor, not the distance of the shares, limits the blocks.
    rows, options = np.array([6_000, 5_000]), {**OPTIONS, "beta": 0.05}
    plans = proven_plans(rows, equal_rows=None, **options)
    lost = [lost_by(plan, rows) for plan in plans]
    assert lost == sorted(lost)
    assert all(
        math.prod(plan.ways) == plan.block_count if plan.ways else plan.block_count in BLOCK_COUNTS
        for plan in plans
    )
    assert len({(plan.block_count, *plan.depth, *plan.ways) for plan in plans}) == len(plans)
    exact = [
        proven_limits(
            [law(int(count), plan.block_count) for count in rows], beta=0.05, confidence=0.95
        )[0].min()
        for plan in plans
        if np.all(plan.cells == plan.block_count)
    ]
    # What they prove rises, and the threshold is among it.
    assert exact == sorted(exact)
    assert exact[0] < 0.8 < exact[-1]


def test_blocks_that_are_proven_are_no_more_than_hide_the_group() -> None:
    rows = np.array([7_000, 7_000])
    for plan in proven_plans(rows, equal_rows=None, **{**OPTIONS, "beta": 0.5}):
        # The total variation of two groups, by simulation of its law.
        shares = [
            law.draw_shares(4_000, np.random.default_rng(seed))
            for seed, law in enumerate(expected_laws(plan, rows, equal_rows=None))
        ]
        variations = total_variation(*shares)
        likely = variations.mean() + variations.std()
        assert likely < 0.0405
        assert likely_variations(plan.cells, rows)[0, 1] == pytest.approx(likely, rel=0.05)


def test_a_small_stratum_is_hidden_where_it_can_be_but_not_among_small_ones() -> None:
    # Two cells of 420 rows are .03 from the others with a standard deviation, by hand: sqrt((1/420
    # + 1/5,000) / (2 pi)) (1 + sqrt((pi/2 - 1) / 2)) = .0311. Four are .0351 (1.378) = .0483.
    assert are_to_hide(np.array([420, 5_000]))[0, 1]
    assert likely_variations(np.array([2, 2]), np.array([420, 5_000]))[0, 1] == pytest.approx(
        0.0311, abs=0.0001
    )
    plans = proven_plans(np.array([420, 5_000]), equal_rows=None, **{**OPTIONS, "beta": 0.5})
    assert plans[0].cells[0] == 2
    assert not are_to_hide(np.array([420, 420])).any()
    assert not are_to_hide(np.array([100, 5_000])).any()


def test_a_small_stratum_is_cut_coarser_so_that_others_keep_more() -> None:
    plans = proven_plans(np.array([20_000, 15_000, 300]), equal_rows=None, **OPTIONS)
    best = plans[0]
    assert best.block_count >= 16
    assert best.cells[2] < best.block_count
    assert best.cells[0] == best.block_count


def test_the_order_of_few_rows_at_most_is_given_up_for_a_proof() -> None:
    # Two strata of so few rows without keys would be proven only if one of them were not cut.
    options = {**OPTIONS, "beta": 0.4}
    assert proven_plans(np.array([290, 280]), equal_rows=np.zeros(2), **options) == []
    rows = np.array([4_000, 3_000, 60, 40, 30])
    plans = proven_plans(rows, equal_rows=None, **options)
    for plan in plans:
        assert rows[plan.cells == 1].sum() <= MAX_SHARE_NOT_CUT * rows.sum()
    assert plans[0].cells[2:].tolist() == [1, 1, 1]


def test_a_proof_names_the_strata_that_are_not_cut() -> None:
    laws = [law(9_000, 8), law(50, 8, depth=0)]
    proven = proof(laws)
    assert proven.verdict == "certified"
    assert proven.because.endswith(
        "; 's1' has too few rows to be cut, so a draw alone gives its rows their blocks"
    )
    assert "too few rows to be cut" not in proof([law(9_000, 8), law(50, 8)]).because


def test_rows_that_are_equal_make_plans_coarser() -> None:
    rows = np.array([5_000, 5_000])
    free = proven_plans(rows, equal_rows=np.zeros(2), **OPTIONS)
    tied = proven_plans(rows, equal_rows=np.array([10.0, 10.0]), **OPTIONS)
    assert tied[0].block_count < free[0].block_count
    assert proven_plans(rows, equal_rows=np.array([4_000.0, 4_000.0]), **OPTIONS) == []


@pytest.mark.parametrize("sizes", [(300, 300), (60, 280), (15_000, 7_000), (500,) * 5])
def test_few_draws_say_about_what_is_proven(sizes: tuple[int, ...]) -> None:
    for block_count in (2, 8, 32):
        laws = [law(size, block_count) for size in sizes]
        limit = float(proven_limits(laws, beta=0.3, confidence=0.95)[0].min())
        assert screened_floor(laws, beta=0.3, confidence=0.95) == pytest.approx(limit, abs=0.025)
        options = {"beta": 0.3, "confidence": 0.95}
        assert is_proven(laws, threshold=limit, **options)
        assert not is_proven(laws, threshold=min(limit + 0.01, 0.999), **options)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "beta"), [((200, 800), 0.3), ((64, 270), 0.576)])
def test_no_plan_that_loses_much_less_is_proven(sizes: tuple[int, int], beta: float) -> None:
    rows, options = np.array(sizes), {"beta": beta, "confidence": 0.95}
    limits = {
        rated.loss: proven_limits(expected_laws(rated.plan, rows, equal_rows=None), **options)
        for rated in rated_plans(rows, equal_rows=None, **options)
    }
    least = min(loss for loss, (floors, _, _) in limits.items() if floors.min() >= 0.8)
    plans = proven_plans(rows, equal_rows=None, threshold=0.8, **options)
    chosen = next(
        plan
        for plan in plans
        if is_proven(expected_laws(plan, rows, equal_rows=None), threshold=0.8, **options)
    )
    assert lost_by(chosen, rows) < least + 0.02


def test_the_loss_of_a_plan_is_that_of_the_auc() -> None:
    """A row's chance rises in a line with its rank; a draw divides the cells of one stratum."""
    random, row_count, rows = np.random.default_rng(0), 400_000, np.array([200, 600])
    rated = next(
        rated
        for rated in rated_plans(rows, equal_rows=None, beta=0.5, confidence=0.95)
        if rated.plan.cells.tolist() == [2, 8]
    )
    rank, is_small = random.random(row_count), random.random(row_count) < 0.25
    outcome = random.random(row_count) < rank
    block = np.where(
        is_small, 4 * np.floor(2 * rank) + random.integers(0, 4, row_count), np.floor(8 * rank)
    )

    def excess(score: Any) -> float:
        positive, negative = score[outcome], score[~outcome]
        statistic = stats.mannwhitneyu(positive, negative).statistic
        return float(statistic / positive.size / negative.size - 0.5)

    # .25 / 2^2 + .75 / 8^2, and 8 / 800 for a model that learns from so many rows.
    assert rated.loss == pytest.approx(0.0742 + 0.01, abs=0.0001)
    assert 1 - excess(block) / excess(rank) == pytest.approx(0.0742, abs=0.01)


def test_ties_that_are_expected_are_part_of_the_law() -> None:
    plan = planned_by_rows(np.array([400, 500]), 4)
    laws = expected_laws(plan, np.array([400, 500]), equal_rows=np.array([2.0, 900.0]))
    # Three cuts with two others each; not more than there are rows.
    assert [law.tied for law in laws] == [6, 500]
    assert [law.spacings.sum() for law in laws] == [401, 501]
    keyed = expected_laws(plan, np.array([400, 500]), equal_rows=None)
    assert [law.tied for law in keyed] == [None, None]


def test_a_large_stratum_is_placed_only_as_far_as_it_is_cut_finer_by_it() -> None:
    few = np.array([40_000, 3_000])
    assert most_placing_rows(few, equal_rows=None, **OPTIONS) == 40_000
    many = np.array([700_000, 600_000])
    limit = most_placing_rows(many, equal_rows=None, **OPTIONS)
    assert limit < 200_000
    # With so many rows of each, the finest plan of all is proven, as with all of them.
    laws = [law(limit, BLOCK_COUNTS[-1])] * 2
    assert is_proven(laws, **OPTIONS)
    # A rule that selects one in a thousand needs all rows.
    strict = {**OPTIONS, "beta": 0.001, "threshold": 0.95}
    assert most_placing_rows(many, equal_rows=None, **strict) > limit


def test_the_approximate_floor_is_near_the_exact_one() -> None:
    rows = np.array([4_000, 6_000])
    for block_count in (4, 16, 64):
        about = approximate_floors(
            np.full(2, block_count), rows, moved=np.zeros(2), beta=0.2, confidence=0.95
        )
        exact, _, _ = proven_limits(
            [law(int(count), block_count) for count in rows], beta=0.2, confidence=0.95
        )
        assert about.min() == pytest.approx(exact.min(), abs=0.04)
        assert np.diag(about).tolist() == [1.0, 1.0]
