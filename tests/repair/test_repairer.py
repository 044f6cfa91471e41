"""What a repair writes: by hand, from the paper's figure and from the definitions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fourfifths import Repairer

A, B = [1.0, 2, 3, 4], [10.0, 20, 30, 40]
FULL = [5.5, 11, 16.5, 22]
CONTINUOUS = ["geometric", "random"]


def repaired(*strata: Any, shuffle: bool = False, **options: Any) -> list[list[float]]:
    """Return each stratum's values of one column after per-column repair."""
    values = np.concatenate([np.asarray(own) for own in strata])
    group = np.repeat(np.arange(len(strata)), [len(own) for own in strata])
    order = np.random.default_rng(1).permutation(values.size) if shuffle else np.arange(values.size)
    options = {"scope": "column", **options}
    out = Repairer(**options).fit_transform(values[order, None], protected=group[order])
    back = np.empty_like(out[:, 0])
    back[order] = out[:, 0]
    return [back[group == place].tolist() for place in range(len(strata))]


# --- by hand ---


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("method", CONTINUOUS)
def test_full_repair_writes_the_median_distribution(method: str, shuffle: bool) -> None:
    assert repaired(A, B, method=method, shuffle=shuffle) == [FULL, FULL]


@pytest.mark.parametrize("method", CONTINUOUS)
def test_doubled_rows_change_nothing(method: str) -> None:
    first, second = repaired(A, np.repeat(B, 2), method=method)
    assert first == FULL
    assert second == np.repeat(FULL, 2).tolist()


def test_geometric_repair_goes_part_of_the_way() -> None:
    halves = [[3.25, 6.5, 9.75, 13], [7.75, 15.5, 23.25, 31]]
    assert repaired(A, B, method="geometric", amount=0.5) == halves
    quarters = [[2.125, 4.25, 6.375, 8.5], [8.875, 17.75, 26.625, 35.5]]
    assert repaired(A, B, method="geometric", amount=0.25) == quarters


@pytest.mark.parametrize("method", CONTINUOUS)
def test_of_three_strata_the_middle_one_is_taken_level_by_level(method: str) -> None:
    third = [5.0, 5.5, 7, 100]  # medians of (1, 10, 5), (2, 20, 5.5), (3, 30, 7), (4, 40, 100)
    assert repaired(A, B, third, method=method) == [[5, 5.5, 7, 40]] * 3


# V = 1 2 3 4 10 20 30 40; nearest to 5.5, 11, 16.5, 22 are its places j = 3 4 5 5.
# At .5: A is at .5 i + .5 j = 1.5, 2.5, 3.5, 4, B at 3.5, 4.5, 5.5, 6; a half is rounded up.
# At .25: A .75, 1.75, 2.75, 3.5, B 3.75, 4.75, 5.75, 6.5.
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64])
@pytest.mark.parametrize(
    ("amount", "first", "second"),
    [
        (0, A, B),
        (0.25, [2, 3, 4, 10], [10, 20, 30, 40]),
        (0.5, [3, 4, 10, 10], [10, 20, 30, 30]),
        (1, [4, 10, 20, 20], [4, 10, 20, 20]),
    ],
)
def test_combinatorial_repair_walks_along_the_values(
    amount: float, first: list[float], second: list[float], dtype: Any
) -> None:
    strata = [np.array(A, dtype=dtype), np.array(B, dtype=dtype)]
    assert repaired(*strata, method="combinatorial", amount=amount) == [first, second]


@pytest.mark.parametrize("amount", [0, 0.05, 0.3, 0.34, 0.5, 0.9, 1])
def test_strata_that_are_alike_already_stay_as_they_are(amount: float) -> None:
    # (1 - .3) 3 + .3 3 is 3, also where floating-point numbers make it less.
    strata = [np.arange(20), np.arange(20)]
    for method in ("combinatorial", "random"):
        assert repaired(*strata, method=method, amount=amount) == [list(range(20))] * 2


def test_whole_numbers_stay_whole_under_random_repair() -> None:
    found = repaired(np.array(A, dtype=int), np.array(B, dtype=int), method="random")
    assert found == [[4, 10, 20, 20]] * 2  # the values nearest to the consensus


def test_equals_are_split_over_the_levels_that_they_share() -> None:
    # 0 0 0 4 against 0 8 8 8: the levels are 0, 4, 4, 6 whoever of the equals gets which.
    for seed in range(10):
        found = repaired([0.0, 0, 0, 4], [0.0, 8, 8, 8], random_state=seed)
        assert [sorted(own) for own in found] == [[0, 4, 4, 6]] * 2
        assert (found[0][3], found[1][0]) == (6, 0)


def test_equals_put_in_the_middle_are_repaired_alike_and_without_chance() -> None:
    # 1 stands at places 0 to 3, in the middle at 2; the levels are 1.5, 2.5, 3.5, 4.5.
    for seed in (0, 1):
        found = repaired([1.0] * 4, [2.0, 4, 6, 8], ties="mid", random_state=seed)
        assert found == [[3.5] * 4, [1.5, 2.5, 3.5, 4.5]]


@pytest.mark.parametrize("method", CONTINUOUS)
def test_fewer_levels_are_wider(method: str) -> None:
    # Two levels: medians 1.5 and 3.5 in A, 15 and 35 in B.
    assert repaired(A, B, method=method, levels=2) == [[8.25, 8.25, 19.25, 19.25]] * 2


@pytest.mark.parametrize("low", [1.6e308, -1.6e308])
@pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")
def test_the_largest_numbers_have_a_midpoint(low: float) -> None:
    middle = pytest.approx(low / 2 + 1.7e308 / 2)
    assert repaired([low] * 4, [1.7e308] * 4) == [[middle] * 4] * 2


@pytest.mark.parametrize(
    "ends",
    [
        [1.7e308, 1.7e308],
        [-1.7e308, 1.7e308],
    ],
)
def test_the_largest_numbers_are_repaired_without_a_warning(ends: list[float]) -> None:
    strata = [ends * 4, ends * 4]
    assert [sorted(own) for own in repaired(*strata)] == [sorted(own) for own in strata]


# --- the paper's figure ---


@pytest.mark.parametrize("scope", ["column"])
@pytest.mark.parametrize("method", ["combinatorial", "geometric", "random"])
def test_the_sat_figure(method: str, scope: str) -> None:
    quantiles = (np.arange(10_000) + 0.5) / 10_000
    scores = [stats.norm(550, 100).ppf(quantiles), stats.norm(400, 50).ppf(quantiles)]
    group = np.repeat(["women", "men"], 10_000)
    repairer = Repairer(method=method, scope=scope)
    out = repairer.fit_transform(np.concatenate(scores)[:, None], protected=group)
    for own in ("women", "men"):
        assert out[group == own].mean() == pytest.approx(475, abs=0.5)
        assert out[group == own].std() == pytest.approx(75, abs=1)
    two_sd_up = repairer.transform(np.array([[750.0], [500.0]]), protected=["women", "men"])
    assert two_sd_up.ravel() == pytest.approx([625, 625], abs=1 if scope == "column" else 5)


# --- amounts ---


def test_random_repair_repairs_that_share_of_whole_rows() -> None:
    values = np.random.default_rng(0).normal(size=(1_000, 3))
    group = np.arange(1_000) % 2
    values[group == 1] += 10
    for amount in (0.1, 0.5, 0.9):
        out = Repairer(amount=amount, scope="column").fit_transform(values, protected=group)
        changed = out != values
        assert np.array_equal(changed.any(axis=1), changed.all(axis=1))
        for own in (0, 1):
            assert changed[group == own, 0].mean() == pytest.approx(amount)


@pytest.mark.parametrize("method", ["combinatorial", "geometric", "random"])
@pytest.mark.parametrize("scope", ["column"])
def test_the_amount_and_the_method_need_no_new_fit(method: str, scope: str) -> None:
    values = np.random.default_rng(0).normal(size=(200, 2))
    group = np.arange(200) % 2
    options: dict[str, Any] = {"method": method, "scope": scope, "amount": 0.3}
    late = Repairer(scope=scope).fit(values, protected=group).set_params(**options)
    early = Repairer(**options).fit(values, protected=group)
    again = late.transform(values, protected=group)
    assert np.array_equal(again, early.transform(values, protected=group))
    assert not np.array_equal(again, values)


# --- categories ---


def counts_after(frame: pd.DataFrame, **options: Any) -> tuple[dict[str, Counter[Any]], int]:
    """Return the counts of categories in each group after repair, and how many rows changed."""
    out = Repairer("g", **{"columns": ["c"], **options}, scope="column").fit_transform(frame)
    found = {group: Counter(own["c"]) for group, own in out.groupby("g")}
    return found, int((out["c"] != frame["c"]).sum())


def categories(**strata: dict[str, int]) -> pd.DataFrame:
    rows = [(g, c) for g, own in strata.items() for c, number in own.items() for _ in range(number)]
    return pd.DataFrame(rows, columns=["g", "c"])


@pytest.mark.parametrize(
    ("amount", "a", "b", "changed"),
    [
        (1, {"u": 40, "v": 40, "w": 20}, {"u": 40, "v": 40, "w": 20}, 40),
        (0.5, {"u": 50, "v": 40, "w": 10}, {"u": 30, "v": 40, "w": 30}, 20),
        (0, {"u": 60, "v": 40}, {"u": 20, "v": 40, "w": 40}, 0),
    ],
)
def test_categories_move_to_the_consensus_by_the_fewest_changes(
    amount: float, a: dict[str, int], b: dict[str, int], changed: int
) -> None:
    # The consensus is (.4, .4, .2), at a total variation distance of .2 from either.
    frame = categories(a={"u": 60, "v": 40}, b={"u": 20, "v": 40, "w": 40})
    for method in ("combinatorial", "geometric"):
        found = counts_after(frame, method=method, amount=amount)
        assert found == ({"a": Counter(a), "b": Counter(b)}, changed)


def test_the_consensus_of_three_strata_is_scaled_to_one() -> None:
    # Medians (.8, .2, .2), scaled (2/3, 1/6, 1/6): of 60 rows 40, 10, 10; changed 10 + 10 + 28.
    frame = categories(
        a={"u": 48, "v": 12}, b={"u": 48, "w": 12}, c={"u": 12, "v": 24, "w": 24}
    ).sample(frac=1, random_state=0)
    found, changed = counts_after(frame)
    assert found == {group: Counter(u=40, v=10, w=10) for group in "abc"}
    assert changed == 48


def test_strata_that_share_no_category_get_the_mean() -> None:
    found, changed = counts_after(categories(a={"u": 60}, b={"v": 60}, c={"w": 60}))
    assert found == {group: Counter(u=20, v=20, w=20) for group in "abc"}
    assert changed == 120


def test_ordered_categories_take_the_middle_in_their_order() -> None:
    # By place: 0 0 1 1, 1 1 2 2 and 1 1 1 2, of which the medians are 1 1 1 2.
    order = ["low", "mid", "high"]
    places = [0, 0, 1, 1, 1, 1, 2, 2, 1, 1, 1, 2]
    labels = [order[place] for place in places]
    declared = pd.Categorical(labels, categories=order, ordered=True)
    for column, columns in ((declared, ["c"]), (labels, {"c": order})):
        frame = pd.DataFrame({"c": column, "g": np.repeat(["a", "b", "c"], 4)})
        for method in ("combinatorial", "geometric", "random"):
            found, _ = counts_after(frame, method=method, columns=columns)
            assert found == {group: Counter(mid=3, high=1) for group in "abc"}


def test_ordered_categories_go_part_of_the_way() -> None:
    # Places 0 1 2 3 against 4 4 4 4: the consensus is 2, 2.5, 3, 3.5, its nearest (of two the
    # lower) 2 2 3 3. Combinatorial repair goes half of the way to the latter: 1, 1.5, 2.5, 3 and
    # 3, 3, 3.5, 3.5, a half rounded up. Geometric repair goes half of the way to the consensus:
    # 1, 1.75, 2.5, 3.25 and 3, 3.25, 3.5, 3.75, and writes the nearest, of two the lower.
    frame = pd.DataFrame({"c": list("abcdeeee"), "g": list("ppppqqqq")})
    options: dict[str, Any] = {"amount": 0.5, "columns": {"c": list("abcde")}}
    found, _ = counts_after(frame, method="combinatorial", **options)
    assert found == {"p": Counter(b=1, c=1, d=2), "q": Counter(d=2, e=2)}
    found, _ = counts_after(frame, method="geometric", **options)
    assert found == {"p": Counter(b=1, c=2, d=1), "q": Counter(d=3, e=1)}


# --- strata ---


def test_several_protected_columns_make_joint_strata() -> None:
    # Of four strata the median is the midpoint of the middle two.
    strata = [A, B, [100.0, 200, 300, 400], [0.0, 0.5, 1, 1.5]]
    frame = pd.DataFrame({"x": np.concatenate(strata)})
    frame["sex"], frame["race"] = ["F"] * 8 + ["M"] * 8, (["p"] * 4 + ["q"] * 4) * 2
    repairer = Repairer(["sex", "race"], columns=["x"], scope="column")
    assert repairer.fit_transform(frame)["x"].tolist() == FULL * 4
    assert repairer.strata_.labels == ("F & p", "F & q", "M & p", "M & q")
    alone = frame[["x"]]
    repairer = Repairer(columns=["x"], scope="column")
    values = repairer.fit_transform(alone, protected=frame[["sex", "race"]])
    assert values["x"].tolist() == FULL * 4


def test_any_column_may_make_the_strata() -> None:
    frame = pd.DataFrame({"school": ["s"] * 4 + ["t"] * 4, "x": A + B})
    out = Repairer(stratify_by="school", columns=["x"], scope="column").fit_transform(frame)
    assert out["x"].tolist() == FULL * 2


def test_small_strata_are_pooled_into_one_that_is_named() -> None:
    frame = pd.DataFrame({"x": [*A, *B, 100.0, 200, 300, 400], "g": list("aaaabbbbccdd")})
    repairer = Repairer("g", columns=["x"], scope="column", small="pool").fit(frame)
    assert repairer.strata_.labels == ("a", "b", "small strata (c, d)")
    assert repairer.strata_.pooled == (("c",), ("d",))
    assert repairer.strata_.rows == (4, 4, 4)
    assert repairer.transform(frame)["x"].tolist() == B * 3  # the middle of the three


def test_rows_of_no_fitted_stratum_are_kept_if_asked() -> None:
    frame = pd.DataFrame({"x": [*A, *B, 7.0, 9.0], "g": [*"aaaabbbb", None, None]})
    repairer = Repairer("g", columns=["x"], scope="column", unseen="keep").fit(frame)
    assert repairer.transform(frame)["x"].tolist() == [*FULL, *FULL, 7, 9]
    new = pd.DataFrame({"x": [1.0, 5.0, 10.0], "g": ["a", "z", "b"]})
    assert repairer.transform(new)["x"].tolist() == [5.5, 5, 5.5]
