"""What the paper conjectures of its repairs, by its definitions and in exact fractions.

`docs/open-questions.md` states what is tested here. The repairs of this file are a second
implementation: lists of fractions, from the definitions. Those of the package are held to the same
figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import floor, lcm
from statistics import median

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fourfifths
from fourfifths import Repairer
from fourfifths._stats.roc import hull_of_counts

Groups = Sequence[Sequence[Fraction]]
HALF = Fraction(1, 2)
PARTLY = [Fraction(step, 10) for step in range(1, 10)]


VALUES = st.integers(-6, 6).map(Fraction)
AMOUNTS = st.fractions(0, 1, max_denominator=20)
EIGHTHS = st.sampled_from([Fraction(step, 8) for step in range(9)])


@st.composite
def groups_of_one_size(draw: st.DrawFn) -> list[list[Fraction]]:
    size = draw(st.integers(1, 6))
    values = st.lists(VALUES, min_size=size, max_size=size)
    return draw(st.lists(values, min_size=2, max_size=4))


# --- the definitions ---


def best_ber(first: Sequence[Hashable], second: Sequence[Hashable]) -> Fraction:
    """Return the lowest BER of any predictor: half of the share that the groups have in common."""
    one, two = Counter(first), Counter(second)
    return sum((min(share(one, y), share(two, y)) for y in one), start=Fraction(0)) / 2


def share(counts: Counter[Hashable], value: Hashable) -> Fraction:
    return Fraction(counts[value], counts.total())


def lowest_ber(groups: Sequence[Sequence[Hashable]], reference: int | None = None) -> Fraction:
    """Return the lowest BER over all pairs of groups, or over those with the reference."""
    pairs = combinations(range(len(groups)), 2)
    return min(best_ber(groups[i], groups[j]) for i, j in pairs if reference in (None, i, j))


def kolmogorov(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Return the largest difference of the two distribution functions."""
    return max(abs(at_most(first, y) - at_most(second, y)) for y in {*first, *second})


def at_most(values: Sequence[Fraction], limit: Fraction) -> Fraction:
    return Fraction(sum(value <= limit for value in values), len(values))


def consensus(groups: Groups) -> list[Fraction]:
    """Return the median distribution of groups of one size, rank by rank."""
    return [median(values) for values in zip(*map(sorted, groups), strict=True)]


def geometric(groups: Groups, amount: Fraction) -> list[list[Fraction]]:
    """Return Definition 5.2: so far along the number line towards the median distribution."""
    target = consensus(groups)
    return [
        [(1 - amount) * y + amount * goal for y, goal in zip(sorted(values), target, strict=True)]
        for values in groups
    ]


def by_definition(groups: Groups, amount: Fraction) -> list[list[Fraction]]:
    """Return Definition 5.1: the value of U(r) whose rank is the floor of the rank on the way.

    Ranks in U(r) count from 0; the middle of k values has the rank (k - 1)/2.
    """
    ordered = [sorted(values) for values in groups]
    repaired = []
    for values in ordered:
        row = []
        for rank, y in enumerate(values):
            peers = sorted(others[rank] for others in ordered)
            on_the_way = (1 - amount) * peers.index(y) + amount * Fraction(len(peers) - 1, 2)
            row.append(peers[floor(on_the_way)])
        repaired.append(row)
    return repaired


def to_nearest_place(groups: Groups, amount: Fraction) -> list[list[Fraction]]:
    """Return the combinatorial repair of the experiments: along the distinct values, rounded."""
    places = sorted({y for values in groups for y in values})
    target = [
        min(range(len(places)), key=lambda place: (abs(places[place] - goal), place))
        for goal in consensus(groups)
    ]
    return [
        [
            places[floor((1 - amount) * places.index(y) + amount * goal + HALF)]
            for y, goal in zip(sorted(values), target, strict=True)
        ]
        for values in groups
    ]


def by_package(groups: Groups, amount: Fraction, *, method: str) -> list[list[Fraction]]:
    """Return what the package writes: every value four times, as it wants four rows per stratum."""
    values = np.array([[float(y)] for values in groups for y in sorted(values) for _ in range(4)])
    strata = np.repeat(np.arange(len(groups)), [4 * len(values) for values in groups])
    repairer = Repairer(scope="column", method=method, amount=float(amount))
    written = repairer.fit_transform(values, protected=strata)[:, 0]
    return [
        [Fraction(float(y)) for y in written[strata == stratum]] for stratum in range(len(groups))
    ]


def fractions(*groups: Sequence[int]) -> list[list[Fraction]]:
    return [[Fraction(y) for y in values] for values in groups]


# --- the conjecture: fairness grows with the amount ---

SHIFTED = fractions([0, 1], [1, 2])
LUMPED = fractions([1, 5, 5, 5], [0, 1, 2, 3])
THREE = fractions([0, 2, 4], [1, 3, 4], [2, 3, 3])
WITH_DEFAULT = fractions([0, 0, 2], [1, 1, 3], [2, 3, 4])


@pytest.mark.parametrize("amount", PARTLY)
def test_a_partial_geometric_repair_tells_the_groups_apart(amount: Fraction) -> None:
    assert lowest_ber(SHIFTED) == lowest_ber(geometric(SHIFTED, Fraction(0))) == Fraction(1, 4)
    assert lowest_ber(geometric(SHIFTED, amount)) == 0
    assert lowest_ber(geometric(SHIFTED, Fraction(1))) == HALF


@pytest.mark.parametrize("amount", PARTLY)
def test_a_partial_repair_by_the_definition_tells_some_pair_apart(amount: Fraction) -> None:
    assert lowest_ber(THREE) == lowest_ber(by_definition(THREE, Fraction(0))) == Fraction(1, 6)
    assert lowest_ber(by_definition(THREE, amount)) == 0
    assert lowest_ber(by_definition(THREE, Fraction(1))) == HALF


@pytest.mark.parametrize("amount", PARTLY)
def test_so_it_does_if_each_group_is_compared_with_the_default_only(amount: Fraction) -> None:
    assert lowest_ber(WITH_DEFAULT, reference=2) == Fraction(1, 6)
    assert lowest_ber(by_definition(WITH_DEFAULT, amount), reference=2) == 0
    assert lowest_ber(by_definition(WITH_DEFAULT, Fraction(1)), reference=2) == HALF


def test_over_all_pairs_those_groups_are_told_apart_before_the_repair_already() -> None:
    assert lowest_ber(WITH_DEFAULT) == best_ber(*WITH_DEFAULT[:2]) == 0


def test_a_partial_repair_to_the_nearest_place_tells_the_groups_apart() -> None:
    curve = {step: lowest_ber(to_nearest_place(LUMPED, Fraction(step, 10))) for step in range(11)}
    assert curve[0] == Fraction(1, 8)
    assert [step for step, ber in curve.items() if ber == 0] == [3, 4, 5]
    assert curve[10] == HALF


def test_with_two_groups_the_definition_is_a_step() -> None:
    for first, second in combinations(product(range(4), repeat=2), 2):
        groups = fractions(first, second)
        lower = [min(pair) for pair in zip(*map(sorted, groups), strict=True)]
        assert by_definition(groups, Fraction(0)) == [sorted(values) for values in groups]
        for amount in (Fraction(1, 100), HALF, Fraction(1)):
            assert by_definition(groups, amount) == [lower, lower]


def test_the_definition_can_invert_ranks() -> None:
    # As the paper says it can. 6 and 7 are of one group; they become 5 and 3.
    groups = fractions([0, 2], [1, 3], [5, 8], [6, 7])
    assert by_definition(groups, HALF)[3] == [5, 3]


def test_the_definition_can_move_thresholds_apart_too() -> None:
    groups = fractions([0, 0], [0, 1], [2, 3], [3, 4])
    repaired = by_definition(groups, HALF)
    assert kolmogorov(groups[2], groups[3]) == HALF
    assert kolmogorov(repaired[2], repaired[3]) == 1


@pytest.mark.parametrize(
    ("groups", "method", "amount", "curve"),
    [
        *[
            (SHIFTED, "geometric", amount, [Fraction(1, 4), 0, HALF])
            for amount in (Fraction(1, 4), HALF, Fraction(3, 4))
        ],
        *[
            (LUMPED, "combinatorial", amount, [Fraction(1, 8), 0, HALF])
            for amount in (Fraction(3, 10), Fraction(4, 10), HALF)
        ],
        *[
            (THREE, "definition", amount, [Fraction(1, 6), 0, HALF])
            for amount in (Fraction(1, 10), HALF, Fraction(9, 10))
        ],
    ],
)
def test_what_the_package_writes_behaves_so_too(
    groups: Groups, method: str, amount: Fraction, curve: list[Fraction]
) -> None:
    amounts = (Fraction(0), amount, Fraction(1))
    assert [lowest_ber(by_package(groups, a, method=method)) for a in amounts] == curve


@given(groups_of_one_size(), EIGHTHS)
def test_the_package_follows_the_definition(groups: list[list[Fraction]], amount: Fraction) -> None:
    written = by_package(groups, amount, method="definition")
    for values, expected in zip(written, by_definition(groups, amount), strict=True):
        assert Counter(values) == Counter(y for y in expected for _ in range(4))


@given(groups_of_one_size(), EIGHTHS)
def test_the_package_interpolates(groups: list[list[Fraction]], amount: Fraction) -> None:
    # All values are small multiples of 1/16, so floating point is exact.
    written = by_package(groups, amount, method="geometric")
    for values, expected in zip(written, geometric(groups, amount), strict=True):
        assert Counter(values) == Counter(y for y in expected for _ in range(4))


@given(groups_of_one_size(), EIGHTHS)
def test_the_package_rounds_to_the_nearest_place(
    groups: list[list[Fraction]], amount: Fraction
) -> None:
    written = by_package(groups, amount, method="combinatorial")
    for values, expected in zip(written, to_nearest_place(groups, amount), strict=True):
        assert Counter(values) == Counter(y for y in expected for _ in range(4))


# --- two columns ---


def test_full_repair_of_two_columns_can_tell_the_groups_apart() -> None:
    first, second = [(0, 0), (1, 1)], [(0, 2), (1, 1)]
    assert best_ber(first, second) == Fraction(1, 4)
    # By hand: the first column is the same in both. The second has 0, 1 and 1, 2, which become
    # 1/2, 3/2 in both; but the second group has its larger value in the row with 0.
    assert best_ber([(0, 0.5), (1, 1.5)], [(0, 1.5), (1, 0.5)]) == 0
    rows = np.array((first * 2) + (second * 2), dtype=float)
    written = Repairer(scope="column", method="geometric").fit_transform(
        rows, protected=np.repeat([0, 1], 4)
    )
    as_rows = [tuple(map(float, row)) for row in written]
    assert set(as_rows[:4]) == {(0, 0.5), (1, 1.5)}
    assert set(as_rows[4:]) == {(0, 1.5), (1, 0.5)}


# --- strong preservation of rank ---


def test_ranks_are_kept_among_the_repaired_values_and_not_among_the_old_ones() -> None:
    groups = fractions([0, 1], [10, 11])
    for written in (
        geometric(groups, Fraction(1)),
        by_package(groups, Fraction(1), method="geometric"),
    ):
        assert [set(values) for values in written] == [{5, 6}, {5, 6}]
        for values, repaired in zip(groups, written, strict=True):
            old = [at_most(values, y) for y in values]
            assert old == [HALF, 1]
            assert [at_most(repaired, y) for y in sorted(set(repaired))] == old
            # By the letter of section 5, with the group's old distribution on both sides.
            assert [at_most(values, y) for y in sorted(set(repaired))] in ([1, 1], [0, 0])


# --- what is true instead: thresholds ---


@st.composite
def two_quantile_functions(draw: st.DrawFn) -> list[list[Fraction]]:
    """Two groups of any sizes, as quantile functions at the same ranks."""
    groups = [sorted(draw(st.lists(VALUES, min_size=1, max_size=6))) for _ in range(2)]
    size = lcm(*map(len, groups))
    return [[y for y in values for _ in range(size // len(values))] for values in groups]


@given(st.data(), AMOUNTS, AMOUNTS)
def test_going_towards_a_common_target_never_raises_the_kolmogorov_distance(
    data: st.DataObject, first: Fraction, second: Fraction
) -> None:
    groups = data.draw(two_quantile_functions())
    size = len(groups[0])
    target = sorted(data.draw(st.lists(VALUES, min_size=size, max_size=size)))
    distances = []
    for amount in sorted([Fraction(0), first, second, Fraction(1)]):
        moved = [
            [(1 - amount) * y + amount * goal for y, goal in zip(values, target, strict=True)]
            for values in groups
        ]
        distances.append(kolmogorov(*moved))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] == 0


@given(groups_of_one_size(), AMOUNTS)
def test_rounding_to_the_nearest_place_keeps_the_law(
    groups: list[list[Fraction]], amount: Fraction
) -> None:
    repaired = to_nearest_place(groups, amount)
    for i, j in combinations(range(len(groups)), 2):
        assert kolmogorov(repaired[i], repaired[j]) <= kolmogorov(groups[i], groups[j])


@given(groups_of_one_size(), st.sampled_from(["geometric", "combinatorial"]), st.data())
def test_the_package_keeps_the_law(
    groups: list[list[Fraction]], method: str, data: st.DataObject
) -> None:
    eighths = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True))
    amounts = [Fraction(step, 8) for step in (0, *sorted(eighths), 8)]
    curve = [by_package(groups, amount, method=method) for amount in amounts]
    for i, j in combinations(range(len(groups)), 2):
        distances = [kolmogorov(repaired[i], repaired[j]) for repaired in curve]
        assert max(distances) == distances[0] == kolmogorov(groups[i], groups[j])
        if method == "geometric":
            assert distances == sorted(distances, reverse=True)


# --- Theorem 4.1, from predictability to disparate impact ---


def test_a_predictable_table_need_not_admit_disparate_impact() -> None:
    group, reference, beta = Fraction(50, 100), Fraction(53, 100), Fraction(1, 10)
    ber = (1 + group - reference) / 2  # of the predictor "the bit is 1, so the reference"
    assert ber == Fraction(485, 1000)
    assert ber < HALF - beta / 8 == Fraction(4875, 10000)
    assert float(fourfifths.ber_threshold(0.1)) == pytest.approx(0.4875)
    # Every rule selects a share of those with a 1 and a share of those with a 0. Its rates are
    # linear in the two, so over rules with a rate of beta or more the lowest ratio is at a corner.
    steps = [Fraction(step, 20) for step in range(21)]
    ratios = []
    for ones, zeros in product(steps, repeat=2):
        selected = group * ones + (1 - group) * zeros
        if selected >= beta:
            ratios.append(selected / (reference * ones + (1 - reference) * zeros))
    assert min(ratios) == Fraction(50, 53)
    assert max(ratios) == Fraction(50, 47) < Fraction(5, 4)


def test_the_tight_test_certifies_it() -> None:
    # Rows with the bit 1 and with the bit 0, in the group and in the reference.
    curve = hull_of_counts(np.array([50.0, 50.0]), np.array([53.0, 47.0]))
    assert float(curve.floor(0.1)) == pytest.approx(50 / 53)
    assert float(fourfifths.impact_bound(0.485, 0.1)) == pytest.approx(0.1 / 0.13)  # the paper's


def test_certify_certifies_it_where_the_papers_test_does_not() -> None:
    rows = 10_000
    bit = np.concatenate([np.arange(rows) < 0.50 * rows, np.arange(rows) < 0.53 * rows])
    table = pd.DataFrame({"x": np.repeat(["group", "reference"], rows), "bit": bit.astype(int)})
    certificate = fourfifths.certify(
        table,
        protected="x",
        reference="reference",
        beta=0.1,
        auditors=["logistic"],
        progress=False,
    )
    assert certificate.verdict == "certified"
    assert certificate.worst.paper_verdict == "inconclusive"
    assert certificate.worst.auditors[0].balanced_error_rate == pytest.approx(0.485)


def test_with_the_predictors_own_rate_as_beta_the_converse_holds() -> None:
    # Of a predictor that calls a share `group` of the group and `reference` of the reference "1".
    steps = [Fraction(step, 40) for step in range(1, 41)]
    for group, reference in product(steps, repeat=2):
        ber = (1 + group - reference) / 2
        assert (ber <= HALF - group / 8) == (group / reference <= Fraction(4, 5))


# --- the earthmover distance ---


@given(st.data())
def test_the_median_distribution_is_nearest_to_all_groups_together(data: st.DataObject) -> None:
    size = data.draw(st.integers(4, 8))
    values = st.lists(st.integers(-9, 9).map(float), min_size=size, max_size=size)
    groups = np.array(data.draw(st.lists(values, min_size=2, max_size=5)))
    strata = np.repeat(np.arange(len(groups)), size)
    written = Repairer(scope="column", method="geometric").fit_transform(
        groups.reshape(-1, 1), protected=strata
    )
    other = data.draw(st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=8))

    def sum_of_distances(target: Sequence[float]) -> float:
        return sum(stats.wasserstein_distance(group, target) for group in groups)

    assert sum_of_distances(written[strata == 0, 0]) <= sum_of_distances(other) + 1e-9


def test_half_a_combinatorial_repair_is_not_halfway() -> None:
    # Five groups, each with one value; the median is 2. Of the places 0, 1, 2, 3, 10, the one
    # halfway from 10 to 2 is 3: seven away from where it was and one from where it goes.
    values = np.repeat([0.0, 1, 2, 3, 10], 4)[:, None]
    strata = np.repeat(np.arange(5), 4)
    for method, halfway in (("combinatorial", 3), ("geometric", 6)):
        half = Repairer(scope="column", method=method, amount=0.5)
        assert set(half.fit_transform(values, protected=strata)[strata == 4, 0]) == {halfway}
    assert stats.wasserstein_distance([10], [3]) == 7
    assert stats.wasserstein_distance([3], [2]) == 1
    assert stats.wasserstein_distance([10], [6]) == stats.wasserstein_distance([6], [2]) == 4


def test_nor_is_half_a_repair_by_the_definition() -> None:
    # 5 has the rank 2 of 3; floor(2 / 2 + 1 / 2) is 1, which is the full repair already.
    groups = fractions([0], [1], [5])
    assert by_definition(groups, HALF) == [[0], [1], [1]]
    assert by_definition(groups, Fraction(1)) == [[1], [1], [1]]


# --- errata ---


def test_the_weights_of_the_svm_sum_to_the_number_of_rows() -> None:
    counts = [3, 7]
    total = sum(counts)
    assert sum(count * Fraction(total, 2 * count) for count in counts) == total


def test_two_standard_deviations_are_the_98th_percentile() -> None:
    assert stats.norm.cdf(500, 400, 50) == pytest.approx(0.97725, abs=1e-5)
    assert stats.norm.cdf(750, 550, 100) == pytest.approx(0.97725, abs=1e-5)
    assert stats.norm.cdf(625, 475, 75) == pytest.approx(0.97725, abs=1e-5)
    assert stats.norm.ppf(0.95, 400, 50) == pytest.approx(482.24, abs=0.01)
