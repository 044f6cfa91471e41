"""Memory, files in chunks and Spark give the same numbers, to the bit.

The tables have ties, missing values, equal rows, many strata, odd names and empty partitions. What
is expected comes from memory, with the rows in the order of Spark's partitions.
"""

import itertools
import json
import shutil
import sys
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sql_rows import hostile_rows, hostile_texts, refused_columns, repaired_columns

from fourfifths import Repairer, certify, impact, report
from fourfifths._effect.effect import AuditRoles
from fourfifths._effect.files import StreamedFileRepair, repair_file
from fourfifths._repair.engines.cluster import fit_on_spark

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is missing"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
SCORE, TESTS, GROUP = "a.b *", "`tests` 'passed'", 'group "x"; --'
COLUMNS = [SCORE, TESTS, "school"]
SEEDS = [0, 1]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    environment = pytest.MonkeyPatch()
    environment.setenv("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "3")
        # It would join the few rows of these tables into one partition.
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    session.stop()
    environment.undo()


def make_table(seed):
    random = np.random.default_rng(seed)
    strata, row_count = [(3, 301), (12, 900)][seed]
    group = random.integers(0, strata, row_count)
    score = np.round(random.normal(size=row_count) * 2 + (group == 0)) / 2
    hired = score + random.normal(size=row_count) > 0.5
    return pa.table(
        {
            "id": np.arange(row_count) * 7,
            GROUP: np.array([f"group\\ '{code}'" for code in range(strata)])[group],
            SCORE: pa.array(score, mask=random.random(row_count) < 0.05),
            TESTS: random.integers(0, 4, row_count).astype(np.int16),
            "school": np.array(["north", "south", "Ost"])[random.integers(0, 3, row_count)],
            "hired": np.where(hired, "yes", "no"),
        }
    )


@pytest.fixture(scope="module", params=SEEDS)
def tables(request, spark, tmp_path_factory):
    """Return the same rows in memory, as a Parquet file and in Spark, with an empty partition."""
    table = make_table(request.param)
    folder = tmp_path_factory.mktemp("table")
    cuts = [0, len(table) // 3, len(table) // 3, len(table) // 2, len(table)]
    names = []
    for index, (start, end) in enumerate(itertools.pairwise(cuts)):
        names.append(str(folder / f"rows-{index}.parquet"))
        parquet.write_table(table.slice(start, end - start), names[-1])
    schema = spark.read.parquet(names[0]).schema
    frames = [spark.read.schema(schema).parquet(name) for name in names]
    frame = frames[0]
    for other_rows in frames[1:]:
        frame = frame.unionAll(other_rows)
    assert frame.toArrow().equals(table.cast(frame.toArrow().schema))
    parquet.write_table(table, folder / "table.parquet", row_group_size=100)
    return table, str(folder / "table.parquet"), frame


def test_impact(tables):
    options = {"protected": GROUP, "outcome": "hired", "favorable": "yes"}
    in_memory, in_file, on_spark = (
        json.loads(impact(table, **options).to_json()) for table in tables
    )
    assert on_spark == in_memory
    assert in_file | {"table": None} == in_memory | {"table": None}


def test_certificate(tables):
    options = {
        "protected": "school",  # twelve groups have 66 pairs, which takes long
        "columns": [SCORE, TESTS],
        "outcome": "hired",
        "favorable": "yes",
        "max_rows": 150,
        "auditors": ["logistic"],
    }
    in_memory, in_file, on_spark = (
        json.loads(certify(table, **options).to_json()) for table in tables
    )
    assert on_spark == in_memory
    named_after_the_table = {"table": None, "content_sha256": None}
    assert in_file | named_after_the_table == in_memory | named_after_the_table
    assert in_memory["data_sha256"] == in_file["data_sha256"] == on_spark["data_sha256"]


@pytest.mark.parametrize("key", ["id", None])
@pytest.mark.parametrize(
    "options",
    [
        {"blocks": 3, "keep": "hired", "favorable": "yes"},
        {"scope": "column"},
        {"scope": "column", "method": "combinatorial", "amount": 0.6},
    ],
    ids=["blocks", "column", "combinatorial"],
)
def test_repaired_table(tables, options, key, tmp_path):
    table, path, frame = tables
    fitted = Repairer(GROUP, columns=COLUMNS, key=key, **options).fit(table)
    expected = fitted.transform(table)
    assert not expected.equals(table)
    on_spark = fitted.transform(frame).toArrow().sort_by("id")
    assert on_spark.equals(expected.cast(on_spark.schema))
    settings = {name: value for name, value in options.items() if name not in ("keep", "favorable")}
    amount = settings.pop("amount", 1.0)
    in_chunks = repair_file(
        path,
        protected=[GROUP],
        columns=COLUMNS,
        amount=amount,
        roles=AuditRoles(outcome="hired", favorable="yes"),
        options={**settings, "key": key},
        memory=1,
        chunk_rows=70,
    )
    assert isinstance(in_chunks, StreamedFileRepair)
    in_chunks.write(tmp_path / "repaired.parquet")
    assert parquet.read_table(tmp_path / "repaired.parquet").equals(expected)


@pytest.mark.parametrize("options", [{}, {"levels": 7}, {"ties": "mid", "key": "id"}])
def test_columns_are_fitted_exactly_where_the_rows_are(tables, options, tmp_path):
    table, _, frame = tables
    in_memory, on_spark = (
        Repairer(GROUP, columns=COLUMNS, scope="column", **options) for _ in range(2)
    )
    in_memory.fit(table).save(tmp_path / "memory.json")
    fit_on_spark(on_spark, frame, None, None, max_rows=10)
    on_spark.save(tmp_path / "spark.json")
    assert (tmp_path / "spark.json").read_text() == (tmp_path / "memory.json").read_text()


def test_sql_in_spark(tables, spark):
    table, _, frame = tables
    fitted = Repairer(GROUP, columns=[SCORE, TESTS], scope="column", ties="mid").fit(table)
    frame.createOrReplaceTempView("data")
    written = spark.sql(fitted.to_sql("spark")).toArrow().sort_by("id")
    expected = fitted.transform(table)
    assert not expected.equals(table)
    assert written.equals(expected.cast(written.schema))


def test_sql_of_blocks_stops_in_spark(tables, spark):
    from pyspark.errors import PySparkException

    table, _, frame = tables
    fitted = Repairer(GROUP, columns=[SCORE], blocks=2, exact_values=True).fit(table)
    frame.createOrReplaceTempView("data")
    with pytest.raises(PySparkException, match="a row is at a cut"):
        spark.sql(fitted.to_sql("spark")).collect()


def bits(column):
    return [cell.hex() if isinstance(cell, float) else cell for cell in column.to_pylist()]


@pytest.mark.parametrize("options", [{}, {"method": "geometric", "amount": 0.3}])
@pytest.mark.parametrize("are_escaped", ["false", "true"])
def test_hostile_texts_and_all_types_are_repaired_by_sql_in_spark(spark, options, are_escaped):
    # Spark would put its own name and master here.
    strata = ["local", "${spark.app.name}", "pyspark-shell", *hostile_texts(3, 1)]
    grades = ["${spark.master}", "local[2]", *hostile_texts(6, 2)]
    table, new = (hostile_rows(seed, strata=strata, grades=grades) for seed in (0, 1))
    fitted = Repairer(
        "group",
        columns=repaired_columns(grades),
        scope="column",
        ties="mid",
        levels=5,
        unseen="keep",
        exact_values=True,
        **options,
    ).fit(table)
    spark.conf.set("spark.sql.parser.escapedStringLiterals", are_escaped)
    try:
        for rows in (table, new):
            spark.createDataFrame(rows).coalesce(1).createOrReplaceTempView("data")
            written = spark.sql(fitted.to_sql("spark", table=["data"])).toArrow()
            expected = fitted.transform(rows)
            assert options or not expected["grade"].equals(rows["grade"])
            for name in expected.column_names:
                assert bits(written[name]) == bits(expected[name]), name
                is_narrow = expected[name].type == pa.int8()
                assert written[name].type == (pa.int64() if is_narrow else expected[name].type)
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")


def test_hostile_names_in_spark(spark):
    random = np.random.default_rng(0)
    for seed in range(6):
        names = [text.replace("$", "") for text in hostile_texts(3, seed)]
        table = pa.table({name: random.normal(size=60) for name in names} | {" ": ["F", "M"] * 30})
        fitted = Repairer(" ", columns=names[:2], scope="column").fit(table)
        view = names[2].replace("`", "``")
        spark.createDataFrame(table).coalesce(1).createOrReplaceTempView(f"`{view}`")
        written = spark.sql(fitted.to_sql("spark", table=names[2])).toArrow()
        assert written.equals(fitted.transform(table))


def test_types_that_transform_writes_otherwise_stop_sql_in_spark(spark):
    from pyspark.errors import PySparkException

    group = pa.array(["F", "M"] * 60)
    for fitted, new, message in refused_columns(120).values():
        repairer = Repairer("group", columns=["a"], scope="column", ties="mid", levels=5)
        repairer.fit(pa.table({"group": group, "a": fitted}))
        frame = spark.createDataFrame(pa.table({"group": group, "a": new}))
        frame.createOrReplaceTempView("data")
        with pytest.raises(PySparkException, match=f"column 'a': {message}"):
            spark.sql(repairer.to_sql("spark")).collect()


def test_report(spark, tmp_path):
    table = make_table(0).slice(0, 200)
    frame = spark.createDataFrame(table)
    options = {
        "protected": GROUP,
        "outcome": "hired",
        "favorable": "yes",
        "columns": COLUMNS,
        "parts": ["repair"],
    }
    report(table, **options).save(tmp_path / "memory.json")
    report(frame, **options).save(tmp_path / "spark.json")
    assert (tmp_path / "spark.json").read_text() == (tmp_path / "memory.json").read_text()


def test_weights_and_keys_of_moments(spark):
    count = 60
    table = pa.table(
        {
            "group": ["a"] * 30 + ["b"] * 30,
            "hired": ["yes"] * 12 + ["no"] * 18 + ["yes"] * 15 + ["no"] * 15,
            "w": [0.1, 0.2, 0.3] * 20,
            "x": np.random.default_rng(0).integers(0, 9, count).astype(float),
            "moment": pa.array(np.arange(count) * 37 * 60_000_000, pa.timestamp("us", "UTC")),
        }
    )
    frame = spark.createDataFrame(table)
    for partitions in (1, 4, 7):
        audit = impact(
            frame.repartition(partitions),
            protected="group",
            outcome="hired",
            favorable="yes",
            weights="w",
        )
        # 2.4 of 6 against 3 of 6: exactly four fifths.
        assert audit["a"].impact_ratio == 0.8
        assert not audit["a"].below_line
    fitted = Repairer("group", columns=["x"], key="moment", scope="column").fit(table)
    expected = fitted.transform(table)["x"].to_pylist()
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        on_spark = fitted.transform(spark.createDataFrame(table)).toArrow()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert on_spark.sort_by("moment")["x"].to_pylist() == expected
