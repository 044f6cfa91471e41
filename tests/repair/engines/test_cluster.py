"""The same numbers from Spark as from memory.

What is expected is computed in memory from the same rows, in the order of Spark's partitions.
"""

import re
import shutil
import sys
from datetime import UTC, date, datetime
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fourfifths import Repairer, certify, impact
from fourfifths._repair.draws import keyed_identity, uniform_of
from fourfifths._repair.engines.cluster import fit_on_spark, sampled_rows
from fourfifths._repair.engines.streamed import ScannedFit
from fourfifths._tables.engines.spark import spark_error
from fourfifths._tables.engines.spark_engine import SparkEngine, SparkTable
from fourfifths._tables.identity import key_words
from fourfifths._tables.load import rows_of
from fourfifths.errors import (
    ColumnError,
    GroupError,
    OutcomeError,
    TableError,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is missing"),
    # PySpark warns of new versions of pandas, and leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    environment = pytest.MonkeyPatch()
    environment.setenv("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master("local[2]")
        .appName("fourfifths tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "America/New_York")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    session.stop()
    environment.undo()


def applicants(row_count=400, seed=0):
    """Return a table with ties, missing values, odd names, and rows that are equal."""
    random = np.random.default_rng(seed)
    group = random.integers(0, 2, row_count)
    score = np.round(random.normal(size=row_count) * 2 + group) / 2
    hired = score + random.normal(size=row_count) > 0.5
    days = [date(2020 + int(year), 2, 28) for year in random.integers(0, 5, row_count)]
    return pa.table(
        {
            "id": np.arange(row_count) * 7,
            "sex": np.where(random.random(row_count) < 0.02, None, np.array(["F", "M"])[group]),
            "a.b": pa.array(score, mask=random.random(row_count) < 0.05),
            "`tests` passed": random.integers(0, 4, row_count).astype(np.int16),
            "school": np.array(["north", "south", "Ost"])[random.integers(0, 3, row_count)],
            "since": days,
            "hired": np.where(hired, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def table():
    return applicants()


@pytest.fixture(scope="module")
def frame(spark, table):
    """The table in four partitions, one of them empty."""
    parts = [table.slice(0, 150), table.slice(0, 0), table.slice(150, 90), table.slice(240)]
    context = spark.sparkContext
    records = [[tuple(row.values()) for row in part.to_pylist()] for part in parts]
    rows = context.union([context.parallelize(part, 1) for part in records])
    joined = spark.createDataFrame(rows, spark.createDataFrame(table).schema)
    assert joined.rdd.getNumPartitions() == 4
    joined.cache()
    assert joined.toArrow().equals(table)
    return joined


COLUMNS = ["a.b", "`tests` passed", "school"]


def repairer(**options):
    return Repairer(
        "sex",
        **{
            "columns": COLUMNS,
            "keep": "hired",
            "favorable": "yes",
            "blocks": 4,
            "unseen": "keep",
            **options,
        },
    )


def test_impact_is_that_of_the_rows_in_memory(frame, table):
    options = {"protected": "sex", "outcome": "hired", "favorable": "yes", "within": "school"}
    assert impact(frame, **options).to_json() == impact(table, **options).to_json()


def test_impact_of_an_odd_name(frame, table):
    options = {"protected": "`tests` passed", "outcome": "hired", "favorable": "yes"}
    assert impact(frame, **options).to_json() == impact(table, **options).to_json()


@pytest.mark.parametrize("max_rows", [150, 1000])
def test_certificate_is_of_the_same_rows(frame, table, max_rows):
    options = {
        "protected": "sex",
        "columns": [*COLUMNS, "since"],
        "outcome": "hired",
        "favorable": "yes",
        "max_rows": max_rows,
        "auditors": ["logistic"],
    }
    ours, expected = certify(frame, **options), certify(table, **options)
    assert ours.to_json() == expected.to_json()


def test_moments_are_read_in_utc_whatever_the_zone_of_the_session(spark):
    moments = [datetime(2024, 1, 1 + day, 3, 30, tzinfo=UTC) for day in range(20)]
    table = pa.table({"sex": ["F", "M"] * 10, "moment": moments})
    options = {"protected": "sex", "columns": ["moment"], "auditors": ["logistic"], "beta": 0.5}
    ours, expected = certify(spark.createDataFrame(table), **options), certify(table, **options)
    assert ours.to_json() == expected.to_json()


@pytest.mark.parametrize("key", ["id", None])
@pytest.mark.parametrize("variety", [1, 3])
def test_repair_is_the_same_to_the_bit(frame, table, key, variety):
    in_memory = repairer(key=key, variety=variety).fit(table)
    on_spark = repairer(key=key, variety=variety).fit(frame)
    assert on_spark.proof_.to_json() == in_memory.proof_.to_json()
    repaired = on_spark.transform(frame)
    assert type(repaired) is type(frame)
    expected = in_memory.transform(table)
    assert repaired.toArrow().sort_by("id").equals(expected)


@pytest.mark.parametrize("method", ["random", "combinatorial", "geometric"])
def test_repair_by_column_is_the_same_to_the_bit(frame, table, method):
    options = {
        "scope": "column",
        "method": method,
        "amount": 0.6,
        "key": None,
        "columns": ["a.b", "`tests` passed", "school"][: 2 if method == "geometric" else 3],
    }
    fitted = Repairer("sex", unseen="keep", **options).fit(table)
    expected = fitted.transform(table)
    assert fitted.transform(frame).toArrow().sort_by("id").equals(expected)


def test_repair_moves_between_engines(frame, table, tmp_path):
    repairer(key="id").fit(frame).save(tmp_path / "spark.json")
    repairer(key="id").fit(table).save(tmp_path / "memory.json")
    assert (tmp_path / "spark.json").read_text() == (tmp_path / "memory.json").read_text()
    loaded = Repairer.load(tmp_path / "spark.json")
    expected = loaded.transform(table)
    assert loaded.transform(frame).toArrow().equals(expected)
    assert loaded.transform(table.to_pandas())["a.b"].tolist() == pytest.approx(
        expected["a.b"].to_numpy(zero_copy_only=False), nan_ok=True, abs=0
    )


def test_partitions_do_not_matter(frame):
    fitted = repairer(key="id").fit(frame)
    whole, cut = (fitted.transform(frame.repartition(count)) for count in (1, 5))
    assert whole.toArrow().sort_by("id").equals(cut.toArrow().sort_by("id"))


def test_transform_computes_nothing_and_drops_what_is_asked(spark, frame):
    fitted = repairer(key="id", drop_protected=True).fit(frame)
    spark.sparkContext.setJobGroup("transform", "transform")
    repaired = fitted.transform(frame)
    assert not spark.sparkContext.statusTracker().getJobIdsForGroup("transform")
    assert repaired.columns == [name for name in frame.columns if name != "sex"]


def test_large_table_is_fitted_where_it_is(frame, table):
    in_memory, on_spark = repairer(key="id").fit(table), repairer(key="id")
    # No row may be loaded but the sample, which of 400 rows is all of them.
    fit_on_spark(on_spark, frame, None, None, max_rows=399)
    assert on_spark.column_types_ == in_memory.column_types_
    assert on_spark.strata_ == in_memory.strata_


def test_columns_of_a_large_table_are_found(frame, table):
    options = {"keep": "hired", "favorable": "yes", "blocks": 4, "unseen": "keep", "key": "id"}
    in_memory, on_spark = (Repairer("sex", **options) for _ in range(2))
    in_memory.fit(table)
    fit_on_spark(on_spark, frame, None, None, max_rows=399)
    assert on_spark.column_types_ == in_memory.column_types_


def test_sample_has_the_lowest_draws_of_each_stratum(frame, table):
    source, options = SparkTable(frame=frame), repairer(key="id")
    engine = SparkEngine(source=source)
    engine.scan(("sex", "hired"), COLUMNS)
    scanned = ScannedFit.of(options, engine, dict.fromkeys(COLUMNS))
    sample = sampled_rows(source, scanned, key="id", max_rows=100)
    uniforms = uniform_of(
        keyed_identity(key_words(rows_of(table), "id"), seed=scanned.seed), "sample"
    )
    sex = np.array(table["sex"].to_pylist())
    sizes = {group: int(np.sum(sex == group)) for group in ("F", "M")}
    expected = []
    for size, group in zip(sizes.values(), sizes, strict=True):
        # Half of 100 in proportion, and half evenly.
        quota = 100 * size // (2 * sum(sizes.values())) + 25
        rows = np.flatnonzero(sex == group)
        expected += rows[np.argsort(uniforms[rows])][:quota].tolist()
    assert sample.dataframe["id"].to_list() == [7 * row for row in sorted(expected)]


def test_counts_of_a_large_table_are_of_all_its_rows(frame, table):
    on_spark = repairer(key="id")
    fit_on_spark(on_spark, frame, None, None, max_rows=200)
    counts = on_spark.model_.table.counts
    assert counts.sum(axis=1).tolist() == [table["sex"].to_pylist().count(g) for g in ("F", "M")]


def test_repeated_header_is_no_stratum_on_spark(spark):
    rows = [*[("F", "a", "yes"), ("M", "b", "no")] * 20, *[("sex", "school", "hired")] * 4]
    numbered = [(number, *row) for number, row in enumerate(rows)]
    frame = spark.createDataFrame(numbered, ["id", "sex", "school", "hired"])
    with pytest.raises(TableError, match="'sex', 'hired': 4 rows have the names of the columns"):
        fit_on_spark(repairer(columns=["school"], key="id"), frame, None, None, max_rows=10)


def test_input_that_spark_cannot_repair(frame, spark):
    with pytest.raises(OutcomeError, match=r"y: .*name the column of the outcome, keep='...'"):
        repairer().fit(frame, [1])
    with pytest.raises(ColumnError, match=r"protected: .*name columns"):
        repairer().fit(frame, protected=[1])
    with pytest.raises(ColumnError, match=r"key: X has 400 rows.*key='...'"):
        fit_on_spark(repairer(), frame, None, None, max_rows=10)
    with pytest.raises(ColumnError, match=r"key='school': the key .* more than once"):
        fit_on_spark(repairer(key="school", columns=["a.b"]), frame, None, None, max_rows=10)
    keyed = frame.withColumn("sex2", frame["sex"])
    with pytest.raises(ColumnError, match=r"key='sex2': a row has no key"):
        fit_on_spark(repairer(key="sex2"), keyed, None, None, max_rows=10)
    taken = frame.withColumn("fourfifths_Place", frame["id"])
    with pytest.raises(ColumnError, match=r"X: a column is called 'fourfifths_Place'.*rename it"):
        repairer().fit(taken).transform(taken)
    nothing = frame.limit(0)
    with pytest.raises(TableError, match="there are no rows"):
        repairer().fit(nothing)
    with pytest.raises(ColumnError, match="no column 'gender'"):
        Repairer("gender", keep="hired").fit(frame)


BY_COLUMN = {"scope": "column", "keep": None, "favorable": None, "blocks": "certified"}


@pytest.mark.parametrize("options", [{}, BY_COLUMN])
def test_empty_table_without_a_key_is_repaired(frame, table, options):
    fitted = repairer(columns=["a.b"], **options).fit(table)
    for empty in (frame.filter("1 = 0"), frame.limit(0)):
        repaired = fitted.transform(empty).toArrow()
        assert repaired.num_rows == 0
        assert repaired.column_names == table.column_names


@pytest.mark.parametrize("scope", ["blocks", "column"])
@pytest.mark.parametrize("names", [("id", "ID"), ("ID", "id")])
def test_names_that_differ_in_case_only_are_told_apart_in_a_large_table(
    frame, table, tmp_path, names, scope
):
    """The first of the names is the key; the second has ties, and comes before it."""
    key, twin = names
    plain = frame.toDF(*"abcdefg")
    names = [twin, "SEX", key, *table.column_names[1:]]
    wide = plain.select("d", "e", *"abcdefg").toDF(*names)
    renamed = table.select([3, 4, *range(7)]).rename_columns(names)
    options = {"columns": ["a.b", twin], "scope": scope, "key": key}
    if scope == "column":
        options |= BY_COLUMN
    in_memory, on_spark = repairer(**options).fit(renamed), repairer(**options)
    fit_on_spark(on_spark, wide, None, None, max_rows=399)
    in_memory.save(tmp_path / "memory.json")
    on_spark.save(tmp_path / "spark.json")
    if scope == "column":
        assert (tmp_path / "spark.json").read_text() == (tmp_path / "memory.json").read_text()
    assert on_spark.strata_ == in_memory.strata_
    assert on_spark.column_types_ == in_memory.column_types_


def test_repeated_name_and_type_that_python_does_not_have_are_one_line(frame):
    from pyspark.sql import functions

    twice = frame.select("*", "school")
    roles = {"protected": "sex", "outcome": "hired", "favorable": "yes"}
    for work in (impact, certify):
        with pytest.raises(TableError, match="the table: a column name occurs twice: 'school'"):
            work(twice, **roles)
    with pytest.raises(TableError, match="X: a column name occurs twice: 'school'"):
        repairer().fit(twice)
    timed = frame.withColumn("for", functions.expr("interval '1' month"))
    assert impact(timed, **roles).rows == 400
    with pytest.raises(ColumnError, match=r"X: column 'for' holds interval month.*df.drop"):
        repairer().fit(timed)


def test_stratum_that_was_not_fitted_is_one_line(frame, table):
    fitted = Repairer("sex", columns=["a.b"], key="id", keep="hired", blocks=4)
    fitted.fit(table.filter(table["sex"].is_valid()))
    with pytest.raises(Exception, match="not one of the strata that were fitted") as caught:
        fitted.transform(frame).toArrow()
    error = spark_error(caught.value)
    assert isinstance(error, GroupError)
    assert "\n" not in str(error)
    assert str(error).endswith("(rows are numbered and counted within one part of the table)")


def test_broken_table_is_one_line(spark):
    broken = spark.sql("SELECT 'F' AS sex, raise_error('the file is gone') AS hired")
    with pytest.raises(TableError, match=r"^the table: Spark cannot compute it: .*$") as caught:
        impact(broken, protected="sex", outcome="hired")
    assert "the file is gone" in str(caught.value)


def test_table_that_fails_in_the_middle_is_not_written(frame, table, tmp_path):
    fitted = Repairer("sex", columns=["a.b"], key="id", keep="hired", blocks=4)
    fitted.fit(table.filter(table["sex"].is_valid()))
    with pytest.raises(Exception, match="not one of the strata that were fitted"):
        fitted.transform(frame).write.parquet(str(tmp_path / "repaired.parquet"))
    assert not [*(tmp_path / "repaired.parquet").glob("*.parquet")]
    assert not (tmp_path / "repaired.parquet" / "_SUCCESS").exists()


def test_files_of_different_types_are_one_line(spark, tmp_path):
    whole = pa.table({"sex": ["F", "M"], "hired": [0, 1]})
    parquet.write_table(whole, tmp_path / "first.parquet")
    texts = pa.table({"sex": ["F", "M"], "hired": ["no", "yes"]})
    parquet.write_table(texts, tmp_path / "second.parquet")
    mixed = spark.read.parquet(str(tmp_path))
    with pytest.raises(TableError, match=r"^the table: Spark cannot compute it: .*$") as caught:
        impact(mixed, protected="sex", outcome="hired")
    assert "\n" not in str(caught.value)
    with pytest.raises(TableError, match=r"^the table: Spark cannot compute it: .*$"):
        Repairer("sex", columns=["hired"], scope="column").fit(mixed)


def test_example_of_the_page_runs(spark, tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "on-a-cluster.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    # Java has a working folder of its own, so the paths of the page are made absolute.
    for name in ("repaired.parquet", "repair.json"):
        assert f'"{name}"' in code
        code = code.replace(f'"{name}"', repr(str(tmp_path / name)))
    names = {}
    exec(code, names)
    assert Repairer.load(tmp_path / "repair.json").seed_ == names["repairer"].seed_
    written = spark.read.parquet(str(tmp_path / "repaired.parquet"))
    assert written.count() == 48_842
    assert written.select("age", "`education-num`", "`hours-per-week`").distinct().count() <= 16
