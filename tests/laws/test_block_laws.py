"""What must hold of a repair by blocks, whatever the rows, the strata and the options are."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_of_tables import cells
from scipy import stats

from fourfifths import Repairer
from fourfifths._repair.blocks import divide
from fourfifths._repair.draws import RowDraws

COLUMNS = ["score", "age", "town"]
NAN = float("nan")
SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=4)  # each fits a repair, with its proof


class FirstColumn:
    """A guide: the first column is the score."""

    def predict(self, table: Any) -> Any:
        return np.asarray(table)[:, 0].astype(float)


class Rounded:
    """A guide with many ties."""

    def predict(self, table: Any) -> Any:
        return np.round(np.asarray(table)[:, 0].astype(float))


@st.composite
def people(draw: Any) -> pd.DataFrame:
    """Rows of two or three groups, with ties, missing values and categories."""
    random = np.random.default_rng(draw(SEEDS))
    sizes = draw(st.lists(st.integers(4, 60), min_size=2, max_size=3))
    group = np.repeat(np.arange(len(sizes)), sizes)
    order = random.permutation(group.size)
    score = np.round(random.normal(size=group.size) + group, draw(st.sampled_from([0, 1, 8])))
    return pd.DataFrame(
        {
            "group": np.array(list("abcd"))[group],
            "score": score,
            "age": pd.array(
                np.where(random.random(group.size) < 0.2, None, random.integers(0, 9, group.size)),
                dtype="Int64",
            ),
            "town": np.where(
                random.random(group.size) < 0.3, None, random.choice(["x", "y", "z"], group.size)
            ),
            "id": [f"p{index}" for index in range(group.size)],
        }
    ).iloc[order]


OPTIONS = st.fixed_dictionaries(
    {
        "blocks": st.sampled_from([2, 3, 7]),
        "variety": st.sampled_from([1, 3]),
        "guide": st.sampled_from([FirstColumn(), Rounded(), None]),
        "key": st.sampled_from([None, "id"]),
        "random_state": st.integers(0, 5),
    }
)


def repairer(**options: Any) -> Repairer:
    return Repairer("group", **{"columns": COLUMNS, **options})


def repair(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return repairer(**options).fit_transform(frame)


def same(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    return all(cells(first, name) == cells(second, name) for name in first.columns)


# --- what is written ---


@FEW
@given(people(), OPTIONS)
def test_every_value_that_is_written_occurs_in_its_column(
    frame: pd.DataFrame, options: dict[str, Any]
) -> None:
    out = repair(frame, **options)
    for name in COLUMNS:
        assert set(cells(out, name)) - {None} <= set(cells(frame, name))
    records = {tuple(row) for row in zip(*(cells(out, name) for name in COLUMNS), strict=True)}
    assert len(records) <= options["blocks"] * options["variety"]


@FEW
@given(people(), OPTIONS)
def test_all_other_columns_and_the_index_stay(frame: pd.DataFrame, options: Any) -> None:
    out = repair(frame, **options)
    assert out.index.equals(frame.index)
    assert list(out.columns) == list(frame.columns)
    assert same(out[["group", "id"]], frame[["group", "id"]])


@FEW
@given(people(), OPTIONS)
def test_amount_0_is_identity(frame: pd.DataFrame, options: Any) -> None:
    out = repair(frame, amount=0, **options)
    pd.testing.assert_frame_equal(out, frame)


@FEW
@given(people(), st.sampled_from([2, 3, 7]))
def test_each_block_has_the_same_share_of_every_stratum(frame: pd.DataFrame, blocks: int) -> None:
    # With a given guide every row is placed; strata that are cut to the end have equal shares.
    fitted: Any = repairer(guide=Rounded(), blocks=blocks, key="id").fit(frame)
    for counts, law in zip(fitted.model_.table.counts, fitted.model_.blocks.laws, strict=True):
        by_cell = np.add.reduceat(counts, np.cumsum(law.leaves) - law.leaves)
        expected = counts.sum() * law.leaves / blocks
        assert np.all(np.abs(by_cell - expected) <= 1)


@FEW
@given(people(), OPTIONS)
def test_a_partial_repair_writes_some_rows_in_full_and_leaves_the_others(
    frame: pd.DataFrame, options: Any
) -> None:
    fitted = repairer(**options).fit(frame)
    full = fitted.transform(frame)
    half = fitted.set_params(amount=0.5).transform(frame)
    rows = [
        list(zip(*(cells(table, name) for name in COLUMNS), strict=True))
        for table in (frame, half, full)
    ]
    assert all(now in (before, after) for before, now, after in zip(*rows, strict=True))


# --- the group does not matter beyond the block ---


@FEW
@given(people(), st.sampled_from([1, 4]), SEEDS)
def test_what_is_written_depends_on_the_block_and_the_draw_alone(
    frame: pd.DataFrame, variety: int, seed: int
) -> None:
    fitted: Any = repairer(guide=FirstColumn(), blocks=3, variety=variety, key="id").fit(frame)
    blocks = fitted.model_.blocks
    random = np.random.default_rng(seed)
    block = random.integers(0, 3, 300)
    words = random.integers(0, 2**64, 300, dtype=np.uint64)
    draws = RowDraws(rows=words, content=words, is_keyed=True)
    index = blocks.record_index(block, draws)
    # Groups are no argument, so permuting them among the rows of a block changes nothing; rows of
    # one block and one draw are written alike.
    order = random.permutation(300)
    assert np.array_equal(blocks.record_index(block[order], draws.take(order)), index[order])
    assert np.array_equal(index // variety, block)


def test_groups_that_are_permuted_within_blocks_have_the_same_law_of_records() -> None:
    random = np.random.default_rng(0)
    group = random.integers(0, 2, 6_000)
    frame = pd.DataFrame(
        {
            "group": np.array(["a", "b"])[group],
            "score": random.normal(size=6_000) + 2 * group,
            "age": random.integers(0, 50, 6_000) + 10 * group,
            "town": random.choice(["x", "y"], 6_000),
            "id": np.arange(6_000),
        }
    )
    out = repair(frame, guide=FirstColumn(), blocks=4, variety=4, key="id")
    records = out[COLUMNS].apply(tuple, axis=1)
    codes, names = pd.factorize(records)
    table = np.array([np.bincount(codes[group == own], minlength=len(names)) for own in (0, 1)])
    # Independent of the group: at the level .001.
    assert stats.chi2_contingency(table).pvalue > 0.001


@given(SEEDS, st.integers(2, 9))
def test_a_draw_divides_rows_without_regard_to_their_group(seed: int, blocks: int) -> None:
    from fourfifths._repair.blocks import grow_tree

    tree = grow_tree(np.empty((0, 1)), np.empty(0, dtype=np.int16), blocks)
    words = np.random.default_rng(seed).integers(0, 2**64, 50, dtype=np.uint64)
    draws = RowDraws(rows=words, content=words, is_keyed=True)
    block = divide(tree, np.zeros(50, dtype=np.int64), draws)
    assert np.all((block >= 0) & (block < blocks))
    assert np.array_equal(block, (draws.uniforms("leaf") * blocks).astype(int))


# --- a function ---


@FEW
@given(people(), OPTIONS)
def test_the_same_call_gives_the_same_answer(frame: pd.DataFrame, options: Any) -> None:
    fitted = repairer(**options).fit(frame)
    first = fitted.transform(frame)
    assert same(fitted.transform(frame), first)
    assert same(repairer(**options).fit_transform(frame), first)
    assert same(pickle.loads(pickle.dumps(fitted)).transform(frame), first)


@pytest.mark.slow
@FEW
@given(people(), OPTIONS, st.randoms(use_true_random=False))
def test_with_a_key_batches_and_the_order_of_rows_do_not_matter(
    frame: pd.DataFrame, options: Any, random: Any
) -> None:
    options = {**options, "key": "id"}
    fitted = repairer(**options).fit(frame)
    whole = fitted.transform(frame)
    batches = [fitted.transform(frame[start : start + 9]) for start in range(0, len(frame), 9)]
    assert same(pd.concat(batches), whole)
    order = random.sample(range(len(frame)), len(frame))
    assert same(fitted.transform(frame.iloc[order]), whole.iloc[order])
    refitted = repairer(**options).fit(frame.iloc[order])
    assert same(refitted.transform(frame), whole)


@FEW
@given(people(), OPTIONS)
def test_explain_says_what_transform_writes(frame: pd.DataFrame, options: Any) -> None:
    fitted = repairer(**options).fit(frame)
    row = frame.iloc[[3]]
    written = fitted.transform(row)
    explained = fitted.explain(row)
    assert [cell.repaired for cell in explained.cells] == [
        cells(written, name)[0] for name in COLUMNS
    ]
    assert [cell.value for cell in explained.cells] == [cells(row, name)[0] for name in COLUMNS]
    assert explained.block is not None
    assert 1 <= explained.block <= options["blocks"]


@FEW
@given(people(), st.sampled_from([None, "id"]), st.sampled_from([1, 3]))
def test_a_saved_repair_gives_the_same(frame: pd.DataFrame, key: Any, variety: int) -> None:
    fitted = repairer(blocks=3, key=key, variety=variety).fit(frame)
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder) / "repair.json")
        loaded = Repairer.load(Path(folder) / "repair.json")
    assert same(loaded.transform(frame), fitted.transform(frame))
    assert loaded.proof_ is not None
    assert fitted.proof_ is not None
    assert loaded.proof_.to_dict() == fitted.proof_.to_dict()


@pytest.mark.slow
@FEW
@given(people(), st.sampled_from([None, "id"]))
def test_the_kind_of_dataframe_does_not_matter(frame: pd.DataFrame, key: Any) -> None:
    columns = {name: cells(frame, name) for name in frame.columns}
    tables: list[Any] = [frame, pl.DataFrame(columns), pa.table(columns)]
    found = [repairer(blocks=3, key=key).fit_transform(table) for table in tables]
    for name in COLUMNS:
        first, second, third = (cells(table, name) for table in found)
        assert first == second == third
    fitted = repairer(blocks=3, key=key).fit(frame)
    assert cells(fitted.transform(tables[2]), "score") == cells(found[0], "score")


# --- a learned score ---


@pytest.fixture(scope="module")
def learned() -> tuple[pd.DataFrame, Repairer]:
    random = np.random.default_rng(0)
    group = random.integers(0, 2, 900)
    frame = pd.DataFrame(
        {
            "group": np.array(["a", "b"])[group],
            "score": random.normal(size=900) + group,
            "age": pd.array(
                np.where(random.random(900) < 0.1, None, random.integers(18, 70, 900)),
                dtype="Int64",
            ),
            "town": random.choice(["x", "y", "z"], 900),
            "id": np.arange(900),
        }
    )
    frame["hired"] = frame["score"] + random.normal(size=900) > 0.5
    return frame, repairer(keep="hired", blocks=6, key="id", unseen="keep").fit(frame)


def test_a_learned_repair_is_a_function(learned: Any, tmp_path: Path) -> None:
    frame, fitted = learned
    whole = fitted.transform(frame)
    batches = [fitted.transform(frame[start : start + 90]) for start in range(0, 900, 90)]
    assert same(pd.concat(batches), whole)
    order = np.random.default_rng(1).permutation(900)
    assert same(fitted.transform(frame.iloc[order]), whole.iloc[order])
    assert same(pickle.loads(pickle.dumps(fitted)).transform(frame), whole)
    fitted.save(tmp_path / "repair.json")
    assert same(Repairer.load(tmp_path / "repair.json").transform(frame), whole)
    explained = fitted.explain(frame.iloc[[5]])
    assert [cell.repaired for cell in explained.cells] == [
        cells(whole.iloc[[5]], name)[0] for name in COLUMNS
    ]
    # A key is the same as text or as a number.
    assert same(fitted.transform(frame.assign(id=frame["id"].astype(str)))[COLUMNS], whole[COLUMNS])


def test_rows_of_unseen_strata_stay(learned: Any) -> None:
    frame, fitted = learned
    mixed = frame.assign(group=np.where(np.arange(900) % 3 == 0, "new", frame["group"]))
    out = fitted.transform(mixed)
    is_new = mixed["group"] == "new"
    assert same(out[is_new], mixed[is_new])
    assert same(out[~is_new], fitted.transform(frame)[~is_new])


def test_a_category_never_seen_passes_as_a_missing_one(learned: Any) -> None:
    frame, fitted = learned
    unseen = frame.assign(town=np.where(np.arange(900) % 5 == 0, "elsewhere", frame["town"]))
    missing = unseen.assign(town=unseen["town"].where(unseen["town"] != "elsewhere", None))
    assert same(fitted.transform(unseen)[COLUMNS], fitted.transform(missing)[COLUMNS])
    fitted.set_params(unseen="error")
    try:
        with pytest.raises(ValueError, match="'elsewhere' is not one of the categories"):
            fitted.transform(unseen)
    finally:
        fitted.set_params(unseen="keep")


def test_protected_columns_are_dropped_if_asked_for(learned: Any) -> None:
    frame, fitted = learned
    fitted.set_params(drop_protected=True)
    try:
        out = fitted.transform(frame)
        assert list(out.columns) == [name for name in frame.columns if name != "group"]
        assert list(fitted.get_feature_names_out()) == list(out.columns)
    finally:
        fitted.set_params(drop_protected=False)
    assert same(out, fitted.transform(frame).drop(columns="group"))
