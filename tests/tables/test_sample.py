"""How columns of any type become numbers, what their SHA-256 says, and how rows are sampled."""

from __future__ import annotations

import datetime
import hashlib
import subprocess
import sys
import tracemalloc

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from fourfifths._tables.sample import Features, _distinct_texts, days_of, read_features
from fourfifths._tables.table import open_table
from fourfifths.errors import TableError

GROUPS = [(("a",),), (("b",),)]
DAY = datetime.date(2020, 1, 1)
MOMENT = datetime.datetime(2020, 1, 1, 3, 4, 5)
COLUMNS = {
    "g": ["a", "b", "a", None, "b", "a", "b", "b"],
    "number": [1.5, 2.5, None, 3.0, 4.0, -1.0, 0.0, 7.25],
    "whole": [1, 2, 3, 4, 5, 6, 7, None],
    "text": ["u", "v", None, "w", "u", "u", "ü v", "v"],
}


def as_duckdb(columns):
    return duckdb.connect().from_arrow(pa.table(columns))


def as_csv(columns, folder):
    pl.DataFrame(columns).write_csv(folder / "t.csv")
    return folder / "t.csv"


def as_parquet(columns, folder):
    pl.DataFrame(columns).write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_json_lines(columns, folder):
    pl.DataFrame(columns).write_ndjson(folder / "t.jsonl")
    return folder / "t.jsonl"


FRAMES = {
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "pandas, nullable": lambda columns, _: pd.DataFrame(columns).convert_dtypes(),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "polars lazy": lambda columns, _: pl.LazyFrame(columns),
    "pyarrow": lambda columns, _: pa.table(columns),
    "duckdb": lambda columns, _: as_duckdb(columns),
    "parquet": as_parquet,
}
KINDS = FRAMES | {"csv": as_csv, "json lines": as_json_lines}


def read(table, names, quotas=None, sizes=None, random_state=0, groups=GROUPS) -> Features:
    protected = ["g"]
    sizes = sizes or [10**6] * len(groups)
    quotas = quotas or sizes
    return read_features(
        open_table(table),
        names,
        protected=protected,
        groups=groups,
        quotas=quotas,
        sizes=sizes,
        random_state=random_state,
    )


def column(values, kind="polars", folder=None):
    """Return one feature as it is read, and what kind it is."""
    table = KINDS[kind]({"g": (["a", "b"] * len(values))[: len(values)], "v": values}, folder)
    found = read(table, ["v"])
    return found.values[:, 0].tolist(), found.kinds[0]


def same(values):
    return pytest.approx(values, nan_ok=True, abs=0)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_stay_what_they_are_and_missing_is_nan(kind, tmp_path):
    values, what = column([1.5, None, -2.0, 4.0], kind, tmp_path)
    assert (values, what) == (same([1.5, np.nan, -2, 4]), "number")


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_are_numbers(kind, tmp_path):
    assert column([3, 1, None, 2], kind, tmp_path) == (same([3, 1, np.nan, 2]), "number")


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_numbered_by_frequency_and_missing_is_nan(kind, tmp_path):
    found = column(["x", "y", "y", None, "z", "y", "z"], kind, tmp_path)
    assert found == (same([2, 0, 0, np.nan, 1, 0, 1]), "category")


@pytest.mark.parametrize("kind", KINDS)
def test_text_that_is_all_numbers_is_a_number(kind, tmp_path):
    assert column(["1", " 2.5", None, "-3e2"], kind, tmp_path) == (
        same([1, 2.5, np.nan, -300]),
        "number",
    )


def test_text_with_one_word_is_a_category():
    assert column(["1", "2", "two"])[1] == "category"


@pytest.mark.parametrize("kind", FRAMES)
def test_booleans_are_zero_and_one(kind, tmp_path):
    assert column([True, False, True], kind, tmp_path) == ([1, 0, 1], "number")


@pytest.mark.parametrize("kind", FRAMES)
def test_moments_are_numbers_in_their_order(kind, tmp_path):
    moments = [MOMENT, MOMENT + datetime.timedelta(days=400), None, MOMENT]
    values, what = column(moments, kind, tmp_path)
    assert what == "number"
    assert values[1] > values[0] == values[3]
    assert np.isnan(values[2])


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "duckdb", "parquet"])
def test_dates_are_numbers_in_their_order(kind, tmp_path):
    values, what = column([DAY, DAY + datetime.timedelta(days=3), None], kind, tmp_path)
    assert what == "number"
    assert values[1] > values[0]
    assert np.isnan(values[2])


def test_moments_with_a_time_zone_are_numbers():
    moments = pd.date_range("2020-01-01", periods=3, freq="h", tz="Europe/Paris")
    found = read(pd.DataFrame({"g": ["a", "b", "a"], "v": moments}), ["v"])
    assert found.kinds == ("number",)
    assert np.all(np.diff(found.values[:, 0]) > 0)


def test_pandas_categories_are_categories():
    values = pd.Series(["lo", "hi", "hi", None], dtype="category")
    found = read(pd.DataFrame({"g": ["a", "b", "a", "b"], "v": values}), ["v"])
    assert (found.values[:, 0].tolist(), found.kinds) == (same([1, 0, 0, np.nan]), ("category",))


def test_polars_categories_are_categories():
    values = pl.Series(["lo", "hi", "hi", None], dtype=pl.Categorical)
    found = read(pl.DataFrame({"g": ["a", "b", "a", "b"], "v": values}), ["v"])
    assert (found.values[:, 0].tolist(), found.kinds) == (same([1, 0, 0, np.nan]), ("category",))


def test_a_column_without_any_value_is_missing_throughout():
    assert np.isnan(column([None, None, None])[0]).all()


def test_every_category_has_a_number_however_many_there_are():
    often = [f"often {place}" for place in range(254)] * 2
    values, what = column(often + [f"once {place}" for place in range(50)])
    assert what == "category"
    assert sorted(set(values)) == list(range(304))


def test_texts_of_categories_and_names_of_dates_are_kept():
    table = pl.DataFrame(
        {
            "g": ["a", "b", "a"],
            "town": ["x", "y", "y"],
            "day": [datetime.date(2024, 2, 29), None, datetime.date(1999, 12, 31)],
            "number": [1, 2, 3],
        }
    )
    found = read(table, ["town", "day", "number"])
    assert found.texts == {"town": ("y", "x")}
    assert found.dates == ("day",)
    days = days_of(found.values[:, 1])
    assert np.datetime_as_string(days).tolist() == ["2024-02-29", "NaT", "1999-12-31"]


def test_rows_of_unknown_membership_are_not_read():
    found = read(pl.DataFrame(COLUMNS), ["number"])
    assert found.groups.tolist() == [0, 1, 0, 1, 0, 1, 1]
    assert found.values[:, 0].tolist() == same([1.5, 2.5, np.nan, 4, -1, 0, 7.25])


def test_groups_of_two_columns_are_joint():
    table = pl.DataFrame({"s": ["f", "F", "m", None], "r": [1, 2, 1, 1], "v": [1, 2, 3, 4]})
    groups = [(("f", "F"), (1,)), (("f", "F"), (2,)), (("m",), (1,))]
    found = read_features(
        open_table(table),
        ["v"],
        protected=["s", "r"],
        groups=groups,
        quotas=[9] * 3,
        sizes=[1] * 3,
        random_state=0,
    )
    assert found.groups.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["number", "whole", "text"])
@pytest.mark.parametrize("kind", KINDS)
def test_sha256_is_the_same_for_the_same_data(kind, name, tmp_path):
    assert (
        read(KINDS[kind](COLUMNS, tmp_path), [name]).sha256
        == read(pl.DataFrame(COLUMNS), [name]).sha256
    )


def test_sha256_does_not_depend_on_the_order_of_columns():
    table = pl.DataFrame(COLUMNS)
    assert read(table, ["whole", "text"]).sha256 == read(table, ["text", "whole"]).sha256


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("number", 0, 1.5000001),
        ("number", 0, None),
        ("number", 2, 0.0),
        ("text", 0, "v"),
        ("text", 0, "new"),
        ("text", 2, "u"),
        ("g", 0, "b"),
        ("g", 0, None),
    ],
)
def test_sha256_changes_with_one_cell(name, place, value):
    changed = {key: list(values) for key, values in COLUMNS.items()}
    changed[name][place] = value
    names = ["number", "text"]
    before, after = read(pl.DataFrame(COLUMNS), names), read(pl.DataFrame(changed), names)
    assert before.sha256 != after.sha256


def test_sha256_changes_when_a_category_is_renamed():
    renamed = COLUMNS | {"text": [value and value.upper() for value in COLUMNS["text"]]}
    first, second = read(pl.DataFrame(COLUMNS), ["text"]), read(pl.DataFrame(renamed), ["text"])
    np.testing.assert_array_equal(first.values, second.values)
    assert first.sha256 != second.sha256


def test_sha256_changes_when_a_column_is_renamed():
    table = pl.DataFrame(COLUMNS)
    renamed = table.rename({"number": "amount"})
    assert read(table, ["number"]).sha256 != read(renamed, ["amount"]).sha256


SIZES = (3000, 1000)
ENGINES = ["pandas", "polars", "pyarrow", "duckdb"]


def numbered(kind):
    """Return 4,000 rows that know their own place: 3,000 of a, then 1,000 of b, then unknown."""
    columns = {"g": ["a"] * 3000 + ["b"] * 1000 + [None] * 10, "v": list(range(4010))}
    return KINDS[kind](columns, None)


@pytest.mark.parametrize("kind", ENGINES)
def test_sampling_keeps_the_quotas(kind):
    found = read(numbered(kind), ["v"], [400, 150], SIZES)
    assert np.bincount(found.groups).tolist() == [400, 150]


@pytest.mark.parametrize("kind", ENGINES)
def test_sampling_leaves_a_group_below_its_quota_whole(kind):
    found = read(numbered(kind), ["v"], [400, 1000], SIZES)
    assert np.bincount(found.groups).tolist() == [400, 1000]
    assert found.values[found.groups == 1, 0].tolist() == list(range(3000, 4000))


@pytest.mark.parametrize("kind", ENGINES)
def test_sampled_rows_are_of_their_group_and_in_the_order_of_the_table(kind):
    found = read(numbered(kind), ["v"], [400, 150], SIZES)
    places = found.values[:, 0]
    assert np.all(np.diff(places) > 0)
    np.testing.assert_array_equal(found.groups, places >= 3000)


@pytest.mark.parametrize("kind", ENGINES)
def test_the_same_seed_samples_the_same_rows(kind):
    first, second = (read(numbered(kind), ["v"], [400, 150], SIZES, 5) for _ in range(2))
    assert first.sha256 == second.sha256


@pytest.mark.parametrize("kind", ENGINES)
def test_another_seed_samples_other_rows(kind):
    first, second = (read(numbered(kind), ["v"], [400, 150], SIZES, seed) for seed in (5, 6))
    assert first.sha256 != second.sha256
    # Two samples of 400 in 3,000 share 53 rows on average; 100 would be 7 standard errors more.
    assert len(set(first.values[first.groups == 0, 0]) & set(second.values[:, 0])) < 100


@pytest.mark.parametrize("kind", ENGINES)
def test_sampled_rows_are_spread_evenly(kind):
    """Chi-square over 10 parts of the table, 6 seeds: each p-value is under .0005 by chance."""
    for seed in range(6):
        found = read(numbered(kind), ["v"], [600, 150], SIZES, seed)
        parts = np.histogram(found.values[found.groups == 0, 0], 10, (0, 3000))[0]
        assert chisquare(parts).pvalue > 0.0005


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_numbers_and_words_are_named(kind, tmp_path):
    columns = {
        "g": ["a", "b"] * 10,
        "mixed": ["1", "2", "low", "high"] * 5,
        "words": ["low", "high"] * 10,
        "numbers": ["1", "2"] * 10,
    }
    found = read(KINDS[kind](columns, tmp_path), ["numbers", "words", "mixed"])
    assert found.mixed == ("mixed",)
    assert found.kinds == ("number", "category", "category")


def test_declared_categories_are_not_named():
    table = pl.DataFrame({"g": ["a", "b"] * 2, "v": ["1", "2", "low", "high"]})
    assert read(table, ["v"]).mixed == ("v",)
    assert read(table.with_columns(pl.col("v").cast(pl.Categorical)), ["v"]).mixed == ()


def test_one_long_text_does_not_widen_all_others():
    array = np.array([f"word {index}" for index in range(2_000)] + ["x" * 50_000], dtype=object)
    tracemalloc.start()
    texts, codes = _distinct_texts(array)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # As numpy's texts of equal width they would take 400 MB.
    assert peak < 5_000_000
    assert texts.tolist() == sorted(array)
    assert texts[codes].tolist() == array.tolist()


def lowest_by_definition(positions, quota, seed):
    """Return the positions with the lowest draws, one row after the other."""
    offset = int(hashlib.sha256(str(seed).encode()).hexdigest()[:8], 16)

    def draw(position):
        x = (position + offset) % 2**32
        x ^= x >> 16
        x = x * 0x7FEB352D % 2**32
        x ^= x >> 15
        x = x * 0x846CA68B % 2**32
        return x ^ x >> 16

    return sorted(sorted(positions, key=draw)[:quota])


@pytest.mark.parametrize("kind", KINDS)
def test_the_sample_is_the_same_for_every_kind_of_table(kind, tmp_path):
    columns = {"g": ["a", None, "b", "a"] * 500, "v": list(range(2000))}
    found = read(KINDS[kind](columns, tmp_path), ["v"], [90, 60], [1000, 500], 7)
    known = [row for row in range(2000) if columns["g"][row]]
    places = {
        group: [place for place, row in enumerate(known) if columns["g"][row] == group]
        for group in "ab"
    }
    sampled = lowest_by_definition(places["a"], 90, 7) + lowest_by_definition(places["b"], 60, 7)
    assert found.values[:, 0].tolist() == [known[place] for place in sorted(sampled)]


ZONES_PROGRAM = """
import sys
from fourfifths._tables.sample import read_features
from fourfifths._tables.table import open_table
from fourfifths.errors import TableError
groups = [(("a",),), (("b",),)]
options = dict(protected=["g"], groups=groups, quotas=[20, 20], sizes=[50, 50], random_state=0)
print(read_features(open_table(sys.argv[1]), ["v"], **options).sha256)
"""


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Paris"])
def test_moments_do_not_depend_on_the_kind_of_table_nor_on_the_zone_of_the_machine(zone, tmp_path):
    moments = pd.date_range("2020-02-27", periods=100, freq="7h", tz="UTC")
    columns = {"g": ["a", "b"] * 50, "v": moments.tz_convert(zone)}
    in_utc = pd.DataFrame(columns | {"v": moments.tz_localize(None)})
    expected = read(in_utc, ["v"], [20, 20], [50, 50]).sha256
    table = pd.DataFrame(columns)
    arrow = pa.Table.from_pandas(table)
    as_arrow = arrow.to_pandas(types_mapper=pd.ArrowDtype)
    for kind in (table, as_arrow, pl.from_arrow(arrow), arrow, duckdb.connect().from_arrow(arrow)):
        assert read(kind, ["v"], [20, 20], [50, 50]).sha256 == expected
    table.to_parquet(tmp_path / "t.parquet")
    found = [
        subprocess.run(
            [sys.executable, "-c", ZONES_PROGRAM, str(tmp_path / "t.parquet")],
            env={"TZ": machine_zone, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for machine_zone in ("UTC", "Asia/Tokyo")
    ]
    assert found == [expected, expected]


def test_a_scanned_file_gives_the_rows_of_its_table_whenever_it_is_computed(tmp_path):
    # Polars reads row groups in any order where it computes only literals of them, as the groups.
    generator = np.random.default_rng(0)
    table = pl.DataFrame({"g": generator.choice(["a", "b"], 3000), "place": np.arange(3000)})
    table.write_parquet(tmp_path / "t.parquet", row_group_size=170)
    quotas = [500, 300]
    sizes = [int((table["g"] == group).sum()) for group in "ab"]
    expected = [
        lowest_by_definition(np.flatnonzero(table["g"] == group).tolist(), quota, 0)
        for group, quota in zip("ab", quotas, strict=True)
    ]
    for _ in range(5):
        lazy = pl.scan_parquet(tmp_path / "t.parquet").with_columns(pl.col("place") * 1)
        features = read(lazy, ["place"], quotas, sizes)
        for code, places in enumerate(expected):
            assert features.values[features.groups == code, 0].tolist() == places


def test_a_lazy_frame_that_is_another_each_time_is_refused():
    generator = np.random.default_rng(0)
    table = pl.LazyFrame({"g": ["a", "b"] * 200, "place": np.arange(400)})

    def shuffled(frame):
        return frame.sample(fraction=1, shuffle=True, seed=int(generator.integers(2**31)))

    with pytest.raises(TableError, match="LazyFrame gives other rows, or gives them in another"):
        read(table.map_batches(shuffled), ["place"], [50, 50], [200, 200])


def test_dask_gives_the_rows_of_pandas_and_loads_one_partition_at_a_time():
    dask = pytest.importorskip("dask.dataframe")
    row_count = 700
    frame = pd.DataFrame({"g": ["a", "b"] * (row_count // 2), "v": np.arange(row_count) * 1.5})
    loaded_rows = []

    def load(rows):
        loaded_rows.append(len(rows))
        return rows

    lazy = dask.from_pandas(frame, npartitions=7).map_partitions(load, meta=frame.iloc[:0])
    options = {"quotas": [40, 25], "sizes": [350, 350]}
    expected, sampled = read(frame, ["v"], **options), read(lazy, ["v"], **options)
    assert sampled.values.ravel().tolist() == expected.values.ravel().tolist()
    assert len(sampled.values) == 65
    assert len(loaded_rows) >= 14  # the groups of all partitions, then one after the other


def test_codes_with_leading_zeros_are_categories_with_a_note():
    table = pl.DataFrame({"g": ["a", "b"] * 2, "zip": ["01034", "90210", "n/a", "90210"]})
    found = read(table, ["zip"])
    assert found.kinds == ("category",)
    assert found.texts["zip"] == ("90210", "01034", "n/a")
    assert found.notes == ("column 'zip' holds codes with leading zeros; they are categories",)
