"""New rows, single rows, missing values, arrays, chance, its seed and the key."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from fourfifths import Repairer
from fourfifths._arrays import FloatArray
from fourfifths._repair.columns.model import MIN_ROWS_FOR_THREADS
from fourfifths.errors import ColumnError, OptionError

A, B = [1.0, 2, 3, 4], [10.0, 20, 30, 40]
FULL = [5.5, 11, 16.5, 22]
HAND = pd.DataFrame({"x": A + B, "g": list("aaaabbbb")})
COLUMN: dict[str, Any] = {"scope": "column"}


def five_levels(rows: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return a column of 1 to 5 whose two groups lie far apart, and the groups."""
    random = np.random.default_rng(seed)
    group = np.arange(rows) % 2
    low, high = [0.5, 0.3, 0.1, 0.06, 0.04], [0.02, 0.08, 0.2, 0.3, 0.4]
    values = np.where(group, random.choice(5, rows, p=high), random.choice(5, rows, p=low)) + 1.0
    return values[:, None], group


# --- new rows ---


def test_new_rows_are_repaired_by_what_was_fitted() -> None:
    repairer = Repairer("g", columns=["x"], **COLUMN).fit(HAND)
    new = pd.DataFrame({"x": [0.0, 2.5, 99, 35, -5], "g": list("aaabb")})
    # Below all and above all: the first and the last level; between two: the level of the lower.
    assert repairer.transform(new)["x"].tolist() == [5.5, 11, 22, 16.5, 5.5]


def test_new_rows_change_nothing_that_was_fitted() -> None:
    repairer = Repairer("g", columns=["x"], **COLUMN).fit(HAND)
    before = repr(repairer.model_.columns), repairer.strata_
    far = pd.DataFrame({"x": np.arange(100) * 1e6, "g": ["a"] * 100})
    assert set(repairer.transform(far)["x"]) == {5.5, 22.0}
    assert (repr(repairer.model_.columns), repairer.strata_) == before
    assert repairer.transform(HAND)["x"].tolist() == FULL * 2


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    random = np.random.default_rng(0)
    values, group = random.normal(size=(100, 1)), np.arange(100) % 2
    repairer = Repairer(**COLUMN).fit(values, protected=group)
    together = repairer.transform(values, protected=group)
    alone = [repairer.transform(values[[row]], protected=group[[row]])[0] for row in range(100)]
    assert np.array_equal(together, alone)


@pytest.mark.slow
def test_rows_with_a_key_are_distributed_one_by_one_as_rows_together_without() -> None:
    values, group = five_levels(1_200)
    together = Repairer(levels=20, **COLUMN).fit_transform(values, protected=group)
    frame = pd.DataFrame({"x": values[:, 0], "id": np.arange(1_200)})
    keyed = Repairer(columns=["x"], levels=20, key="id", **COLUMN).fit(frame, protected=group)
    singly = [
        keyed.transform(frame[row : row + 1], protected=group[[row]])["x"].item()
        for row in range(600)
    ]
    for own in (0, 1):
        known, counts = np.unique(together[group == own], return_counts=True)
        found = [np.sum(np.array(singly)[group[:600] == own] == value) for value in known]
        assert sum(found) == 300  # nothing else is written
        assert stats.chisquare(found, 300 * counts / counts.sum()).pvalue > 0.001


@pytest.mark.parametrize("spread", [5, 2_000], ids=["few values", "many"])
def test_columns_of_equals_are_split_apart_from_each_other(spread: int) -> None:
    # Whoever has zeros only is spread over what the others have, in each column by its own draws.
    others = np.random.default_rng(0).integers(0, spread, (2_000, 3))
    values = np.concatenate([np.zeros((2_000, 3)), others])
    group = np.repeat([0, 1], 2_000)
    found = Repairer(method="geometric", **COLUMN).fit_transform(values, protected=group)[:2_000]
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        assert stats.spearmanr(found[:, one], found[:, other]).pvalue > 0.01
    assert np.ptp(found, axis=0) == pytest.approx((spread - 1) / 2, rel=0.01)


@pytest.mark.slow
def test_single_rows_are_chosen_by_random_repair_in_the_share_of_the_amount() -> None:
    frame = HAND.assign(id=range(8))
    repairer = Repairer("g", columns=["x"], amount=0.3, key="id", **COLUMN).fit(frame)
    rows = [pd.DataFrame({"x": [1.0], "g": ["a"], "id": [key]}) for key in range(400)]
    found = [repairer.transform(row)["x"].item() for row in rows]
    assert set(found) == {1.0, 5.5}
    assert stats.binomtest(found.count(5.5), 400, 0.3).pvalue > 0.01


@pytest.mark.slow
def test_single_categories_move_in_the_share_of_the_distance() -> None:
    # a has u only, b half of each: the consensus is (3/4, 1/4), so a quarter of a moves.
    frame = pd.DataFrame({"c": ["u"] * 20 + ["u", "v"] * 10, "g": ["a"] * 20 + ["b"] * 20})
    repairer = Repairer("g", columns=["c"], key="id", **COLUMN).fit(frame.assign(id=range(40)))
    rows = [pl.DataFrame({"c": ["u"], "g": ["a"], "id": [key]}) for key in range(200)]
    found = [repairer.transform(row)["c"].item() for row in rows]
    assert stats.binomtest(found.count("v"), 200, 0.25).pvalue > 0.01


def test_no_rows_are_no_rows() -> None:
    repairer = Repairer("g", columns=["x"], **COLUMN).fit(HAND)
    out = repairer.transform(HAND.iloc[:0])
    pd.testing.assert_frame_equal(out, HAND.iloc[:0])


# --- missing values ---


def test_missing_stays_missing_and_the_rest_is_as_without() -> None:
    values = np.array([*A, np.nan, *B, np.nan, np.nan])[:, None]
    out = Repairer(**COLUMN).fit_transform(values, protected=list("aaaaabbbbbb")).ravel()
    assert np.isnan(out).tolist() == np.isnan(values).ravel().tolist()
    assert out[:4].tolist() == out[5:9].tolist() == FULL


def test_new_rows_may_be_missing_where_none_were_before() -> None:
    repairer = Repairer("g", columns=["x"], **COLUMN).fit(HAND)
    out = repairer.transform(pd.DataFrame({"x": [np.nan, 10], "g": ["a", "b"]}))
    assert math.isnan(out["x"][0])
    assert out["x"][1] == 5.5


# --- arrays ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint16, bool])
def test_an_array_keeps_its_type(dtype: Any) -> None:
    values, group = five_levels(40)
    values = (values > 2 if dtype is bool else values).astype(dtype)
    for method in ("combinatorial", "random"):
        out = Repairer(method=method, **COLUMN).fit_transform(values, protected=group)
        assert out.dtype == dtype
        assert sorted(out[group == 0, 0]) == sorted(out[group == 1, 0])


def test_geometric_repair_makes_whole_numbers_floats() -> None:
    values = np.array(A + B, dtype=int)[:, None]
    repairer = Repairer(method="geometric", **COLUMN).fit(values, protected=list("aaaabbbb"))
    assert repairer.transform(values, protected=list("aaaabbbb")).ravel().tolist() == FULL * 2
    still = repairer.set_params(amount=0).transform(values, protected=list("aaaabbbb"))
    assert still.dtype == values.dtype


def test_only_the_columns_that_are_named_change_and_the_input_does_not() -> None:
    values = np.column_stack([A + B, A + B, np.arange(8)])
    kept = values.copy()
    repairer = Repairer(columns=[1], **COLUMN)
    for given in (values, np.asfortranarray(values), values[::-1][::-1], values.tolist()):
        out = repairer.fit_transform(given, protected=list("aaaabbbb"))
        assert out[:, 1].tolist() == FULL * 2
        assert np.array_equal(out[:, [0, 2]], kept[:, [0, 2]])
    assert np.array_equal(values, kept)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_protected_values_come_in_any_shape(kind: Any) -> None:
    for values in ("aaaabbbb", [0, 0, 0, 0, 1, 1, 1, 1], [True] * 4 + [False] * 4):
        repairer = Repairer(columns=["x"], **COLUMN)
        out = repairer.fit_transform(HAND[["x"]], protected=kind(list(values)))
        assert out["x"].tolist() == FULL * 2


# --- chance ---


@pytest.mark.parametrize("method", ["combinatorial", "geometric", "random"])
def test_the_same_seed_gives_the_same_numbers_in_every_call(method: str) -> None:
    values, group = five_levels(300)

    def run(seed: int) -> list[FloatArray]:
        repairer = Repairer(method=method, amount=0.7, random_state=seed, **COLUMN)
        repairer.fit(values, protected=group)
        return [repairer.transform(values, protected=group) for _ in range(2)]

    first, second = run(1)
    assert np.array_equal(first, second)
    assert np.array_equal(first, run(1)[0])
    assert not np.array_equal(first, run(2)[0])


def test_no_seed_is_a_new_one_for_each_fit_that_is_kept() -> None:
    values, group = five_levels(300)
    repairers = [Repairer(random_state=None, **COLUMN).fit(values, protected=group) for _ in "ab"]
    found = [repairer.transform(values, protected=group) for repairer in repairers]
    assert not np.array_equal(*found)
    assert repairers[0].seed_ != repairers[1].seed_
    assert np.array_equal(repairers[0].transform(values, protected=group), found[0])


def test_the_largest_seed_is_one_too() -> None:
    values, group = five_levels(40)
    for seed in (2**64 - 1, np.int64(2**62)):
        repairer = Repairer(random_state=seed, **COLUMN).fit(values, protected=group)
        assert repairer.seed_ == seed


# --- a function of the rows ---


def people(row_count: int = 600) -> pd.DataFrame:
    """Return ties, categories, an order, fractions and missing values of two groups, and a key."""
    random = np.random.default_rng(5)
    group = random.choice(["a", "b"], row_count)
    is_b = group == "b"
    frame = pd.DataFrame(
        {
            "id": random.permutation(row_count) * 7 + 100,
            "g": group,
            "tied": random.poisson(np.where(is_b, 2, 5)),
            "zeros": np.where(random.random(row_count) < 0.8, 0.0, random.normal(size=row_count)),
            "fraction": random.normal(size=row_count) + is_b,
            "letter": np.where(
                is_b, *random.choice(list("uvw"), (2, row_count), p=[0.5, 0.3, 0.2])
            ),
            "order": pd.Categorical(random.choice(["lo", "hi"], row_count), ["lo", "hi"], True),
        }
    )
    frame.loc[random.random(row_count) < 0.1, "zeros"] = np.nan
    frame.loc[random.random(row_count) < 0.1, "letter"] = None
    return frame


REPAIRED = ["tied", "zeros", "fraction", "letter", "order"]
OPTIONS = pytest.mark.parametrize(
    "options",
    [
        {"method": "random", "amount": 1.0},
        {"method": "random", "amount": 0.5},
        {"method": "geometric", "amount": 0.6},
        {"method": "combinatorial", "amount": 0.6},
        {"method": "geometric", "amount": 0.6, "ties": "mid"},
    ],
    ids=lambda options: " ".join(map(str, options.values())),
)


@OPTIONS
def test_a_call_gives_the_same_twice_and_in_a_pickled_or_saved_copy(
    options: dict[str, Any], tmp_path: Path
) -> None:
    frame = people()
    for key in (None, "id"):
        repairer = Repairer("g", columns=REPAIRED, key=key, **COLUMN, **options)
        first = repairer.fit_transform(frame)
        assert not first.equals(frame)
        repairer.save(tmp_path / "repair.json")
        for again in (
            repairer,
            pickle.loads(pickle.dumps(repairer)),
            Repairer.load(tmp_path / "repair.json"),
        ):
            pd.testing.assert_frame_equal(again.transform(frame), first, check_exact=True)


@pytest.mark.slow
@OPTIONS
def test_with_a_key_neither_batches_nor_the_order_of_rows_matter(options: dict[str, Any]) -> None:
    frame = people()
    repairer = Repairer("g", columns=REPAIRED, key="id", **COLUMN, **options)
    whole = repairer.fit_transform(frame)
    assert not whole.equals(frame)
    assert whole["id"].equals(frame["id"])
    shuffled = frame.sample(frac=1, random_state=1)
    for table in (frame, shuffled):
        batches = [repairer.transform(table[start : start + 60]) for start in range(0, 600, 60)]
        joined = pd.concat(batches).sort_index()
        pd.testing.assert_frame_equal(joined, whole, check_exact=True)
    single = repairer.transform(frame.iloc[[17]])
    pd.testing.assert_frame_equal(single, whole.iloc[[17]], check_exact=True)


def test_threads_do_not_matter() -> None:
    # So many rows are shared out over threads; each half of them is repaired by one.
    frame = people(MIN_ROWS_FOR_THREADS)
    repairer = Repairer("g", columns=REPAIRED, key="id", amount=0.6, **COLUMN).fit(frame)
    half = len(frame) // 2
    alone = pd.concat([repairer.transform(frame[:half]), repairer.transform(frame[half:])])
    pd.testing.assert_frame_equal(repairer.transform(frame), alone, check_exact=True)


def test_calls_from_many_threads_give_the_same() -> None:
    frame = people()
    repairer = Repairer("g", columns=["tied", "letter"], **COLUMN).fit(frame)
    expected = repairer.transform(frame)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(repairer.transform, [frame] * 8):
            pd.testing.assert_frame_equal(found, expected, check_exact=True)


KEYS: dict[str, Any] = {
    "pandas": lambda frame: frame,
    "pandas, key as text": lambda frame: frame.assign(id=frame["id"].astype(str)),
    "pandas, key as float": lambda frame: frame.assign(id=frame["id"].astype(float)),
    "pandas, key as category": lambda frame: frame.assign(
        id=frame["id"].astype(str).astype("category")
    ),
    "polars": pl.from_pandas,
    "polars, key as text": lambda frame: pl.from_pandas(frame).cast({"id": pl.String}),
    "polars, key as float": lambda frame: pl.from_pandas(frame).cast({"id": pl.Float64}),
    "pyarrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_the_same_in_any_type_and_any_table(kind: str) -> None:
    frame = people()[["id", "g", "tied", "letter"]]
    options: dict[str, Any] = {"columns": ["tied", "letter"], "amount": 0.7, **COLUMN}
    repairer = Repairer("g", key="id", **options).fit(frame)
    expected = repairer.transform(frame)
    table = KEYS[kind](frame)
    for fitted in (repairer, Repairer("g", key="id", **options).fit(table)):
        found = nw.from_native(fitted.transform(table))
        for name in ("tied", "letter"):
            texts = [None if cell is None or cell != cell else cell for cell in found[name]]
            assert texts == [None if cell != cell else cell for cell in expected[name].tolist()]


def test_another_key_is_another_draw_and_another_group_is_not_part_of_it() -> None:
    # Everyone is at 0, so only the draw says who gets which level.
    frame = pd.DataFrame({"x": [0.0] * 60 + [*range(40)], "g": ["a"] * 60 + ["b"] * 40})
    frame["id"] = range(100)
    repairer = Repairer("g", columns=["x"], key="id", method="geometric", **COLUMN).fit(frame)
    new = pd.DataFrame({"x": [0.0] * 50, "g": ["a"] * 50, "id": range(1_000, 1_050)})
    assert repairer.transform(new)["x"].nunique() > 20
    same = [repairer.transform(new[row : row + 1].assign(id=7))["x"].item() for row in range(5)]
    assert same == [repairer.transform(frame)["x"][7]] * 5


def test_without_a_key_equal_rows_share_their_draw_from_call_to_call() -> None:
    frame = people()
    repairer = Repairer("g", columns=["tied", "letter"], **COLUMN).fit(frame)
    first = frame[["tied", "letter", "g"]].iloc[[3]]
    twin = frame[(frame["tied"] == frame["tied"][3]) & (frame["letter"] == frame["letter"][3])]
    twin = twin[twin["g"] == frame["g"][3]].iloc[[-1]]
    assert twin.index[0] != 3
    repaired = [
        repairer.transform(row.assign(id=0))["tied"].item() for row in (frame.iloc[[3]], twin)
    ]
    assert repaired[0] == repaired[1]
    assert first["tied"].item() == frame["tied"][3]


# --- the key ---


@pytest.mark.parametrize("scope", [COLUMN, {"blocks": 2}])
def test_the_key_must_differ_in_every_row_of_a_call(scope: Any) -> None:
    frame = HAND.assign(id=[1, 2, 3, 4, 5, 6, 2, 8])
    expected = r"key='id': the key 2 occurs more than once \(rows that repeat a key: 1\)"
    repairer = Repairer("g", columns=["x"], key="id", **scope)
    with pytest.raises(ColumnError, match=expected):
        repairer.fit(frame)
    repairer.fit(HAND.assign(id=range(8)))
    with pytest.raises(ColumnError, match=expected):
        repairer.transform(frame)
    halves = [repairer.transform(half)["x"] for half in (frame[:6], frame[6:])]
    assert sum(map(len, halves)) == 8


@pytest.mark.parametrize("gap", [None, float("nan"), ""])
def test_a_row_without_a_key_is_an_error(gap: Any) -> None:
    frame = HAND.assign(id=[*map(str, range(8))])
    options: dict[str, Any] = {"columns": ["x"], "key": "id", **COLUMN}
    repairer = Repairer("g", **options).fit(frame)
    lacking = frame.assign(id=[*map(str, range(5)), gap, "6", "7"])
    for call in (repairer.transform, Repairer("g", **options).fit):
        with pytest.raises(ColumnError, match="key='id': row 5 has no key; expected one in each"):
            call(lacking)


def test_a_table_without_the_key_is_an_error() -> None:
    with pytest.raises(ColumnError, match="key: no column 'id' in the table"):
        Repairer("g", columns=["x"], key="id", **COLUMN).fit(HAND)
    with pytest.raises(ColumnError, match="key='id': X is an array, whose columns have no names"):
        Repairer(key="id", **COLUMN).fit(HAND[["x"]].to_numpy(), protected=HAND["g"])
    with pytest.raises(ColumnError, match="columns: 'id' is the key, which tells rows apart"):
        Repairer("g", key="id", columns=["x", "id"], **COLUMN).fit(HAND.assign(id=range(8)))
    with pytest.raises(OptionError, match="key=3: expected the name of a column, or None"):
        Repairer("g", columns=["x"], key=3, **COLUMN).fit(HAND)


@pytest.mark.parametrize(("option", "value"), [("key", "n"), ("random_state", 4)])
def test_the_key_and_the_seed_cannot_change_after_the_fit(option: str, value: Any) -> None:
    frame = HAND.assign(id=range(8), n=range(8))
    repairer = Repairer("g", columns=["x"], key="id", **COLUMN).fit(frame)
    repairer.set_params(**{option: value})
    with pytest.raises(OptionError, match=rf"{option}=.*: the repair was fitted with .*; fit it"):
        repairer.transform(frame)
