"""SQL writes what `transform` writes, to the bit, or stops."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sql_rows import hostile_rows, hostile_texts, refused_columns, repaired_columns

from fourfifths import Repairer
from fourfifths._repair.engines.sql import steps_of
from fourfifths.errors import ColumnError, GroupError, OptionError

A, B, GRADE = 'a "quoted"; DROP TABLE data', "b.`tick`", "grade's"


def applicants(row_count=90, seed=0, *, digits=None, zeros=True):
    """Return rows with hostile names, missing values, both zeros, and NaN beside null."""
    random = np.random.default_rng(seed)
    group = random.integers(0, 3, row_count)
    a = random.normal(size=row_count) + group
    if zeros:
        a[::15] = -0.0
    a = a if digits is None else np.round(a, digits)
    return pa.table(
        {
            "sex": np.array(["F", "M", 'O\'Neil \\ "x"'])[group],
            A: pa.array(np.where(random.random(row_count) < 0.05, np.nan, a)),
            B: pa.array(random.integers(-5, 6, row_count), mask=random.random(row_count) < 0.1),
            GRADE: pa.array(
                np.array(["low", "mid", "it's high"])[random.integers(0, 3, row_count)],
                mask=random.random(row_count) < 0.1,
            ),
            "other": random.normal(size=row_count),
        }
    )


ORDER = {A: None, B: None, GRADE: ["low", "mid", "it's high"]}


def in_duckdb(repairer, data):
    return duckdb.sql(repairer.to_sql("duckdb")).to_arrow_table()


def bits(column):
    """Return the values, with the bits of floats: NaN equals itself and 0.0 is not -0.0."""
    values = column.to_pylist()
    return [value.hex() if isinstance(value, float) else value for value in values]


def assert_same(actual, expected):
    assert actual.column_names == expected.column_names
    for name in expected.column_names:
        assert bits(actual[name]) == bits(expected[name]), name


@pytest.mark.parametrize(
    ("method", "amount", "levels"),
    [
        ("random", 1, 16_384),
        ("random", 1, 5),
        ("random", 0, 5),
        pytest.param("combinatorial", 0.3, 16_384, marks=pytest.mark.slow),
        ("combinatorial", 0.7, 5),
        pytest.param("geometric", 0.3, 16_384, marks=pytest.mark.slow),
        ("geometric", 1, 5),
        ("definition", 0.3, 5),
    ],
)
def test_columns_are_repaired_to_the_bit(method, amount, levels):
    repairer = Repairer(
        "sex",
        columns=ORDER,
        scope="column",
        ties="mid",
        method=method,
        amount=amount,
        levels=levels,
    ).fit(applicants())
    for seed, digits in ((0, None), (1, None), (2, 1)):
        rows = applicants(seed=seed, digits=digits)
        expected = repairer.transform(rows)
        assert (amount == 0) == (bits(expected[A]) == bits(rows[A]))
        assert_same(in_duckdb(repairer, rows), expected)


def test_columns_without_ties_need_no_middle():
    rows = applicants().filter(pa.compute.not_equal(applicants()[A], 0.0))
    repairer = Repairer("sex", columns=[A], scope="column").fit(rows)
    assert_same(in_duckdb(repairer, applicants(seed=5)), repairer.transform(applicants(seed=5)))


def test_strata_of_several_columns_and_pooled_ones():
    rows = applicants(400).append_column("age", pa.array([1, 2] * 200))
    rows = rows.filter(
        pa.compute.or_(pa.compute.not_equal(rows["sex"], "F"), pa.compute.equal(rows["age"], 1))
    )
    few = applicants(5).append_column("age", pa.array([7, 8, 9, 7, 8]))
    rows = pa.concat_tables([rows, few])
    repairer = Repairer(["sex", "age"], columns=[B], scope="column", ties="mid", small="pool")
    assert_same(in_duckdb(repairer.fit(rows), rows), repairer.transform(rows))


def test_strata_of_large_numbers_and_of_truth_values():
    large = np.array([2**53, 2**53 + 1])  # the same as floating-point numbers
    rows = applicants(200).append_column("number", pa.array(np.tile(large, 100)))
    rows = rows.append_column("flag", pa.array(np.repeat([True, False], 100)))
    repairer = Repairer(["number", "flag"], columns=[B], scope="column", ties="mid").fit(rows)
    assert len(repairer.strata_.groups) == 4
    assert_same(in_duckdb(repairer, rows), repairer.transform(rows))


def test_protected_columns_are_dropped_if_asked_for():
    repairer = Repairer("sex", columns=[B], scope="column", ties="mid", drop_protected=True)
    repairer.fit(applicants())
    assert_same(in_duckdb(repairer, applicants()), repairer.transform(applicants()))


@pytest.mark.parametrize("columns", [[A], [A, "other"]])
def test_blocks_of_the_columns_themselves(columns):
    repairer = Repairer("sex", columns=columns, blocks=4)
    repairer.fit(applicants(600, zeros=False))
    rows = applicants(600, seed=3, zeros=False)
    assert_same(in_duckdb(repairer, rows), repairer.transform(rows))


def test_row_at_a_cut_stops_the_query():
    rows = applicants(600)
    repairer = Repairer("sex", columns=["other"], blocks=4).fit(rows)
    with pytest.raises(duckdb.Error, match="column 'other': a row is at a cut"):
        in_duckdb(repairer, rows)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sex", "unheard of", "sex: a row is in none of the strata that were fitted"),
        ("sex", None, "sex: a row is in none of the strata that were fitted"),
        ("sex", "f", "sex: a row is in none of the strata that were fitted"),
        (GRADE, "new", "has none of the categories that were fitted"),
        (A, float("inf"), "a value is infinite"),
        (A, float("-inf"), "a value is infinite"),
    ],
)
def test_rows_that_cannot_be_repaired_stop_the_query(name, value, message):
    repairer = Repairer("sex", columns=ORDER, scope="column", ties="mid").fit(applicants())
    rows = applicants(12)
    cells = [value, *rows[name].to_pylist()[1:]]
    rows = rows.set_column(rows.column_names.index(name), name, pa.array(cells))
    with pytest.raises(duckdb.Error, match=message):
        in_duckdb(repairer, rows)


def test_unseen_strata_are_kept_if_asked_for():
    repairer = Repairer(
        "sex", columns=ORDER, scope="column", ties="mid", unseen="keep", exact_values=True
    ).fit(applicants())
    rows = applicants(12)
    cells = ["unheard of", None, "f", *rows["sex"].to_pylist()[3:]]
    rows = rows.set_column(0, "sex", pa.array(cells))
    assert_same(in_duckdb(repairer, rows), repairer.transform(rows))


@pytest.mark.parametrize(
    ("options", "changed", "error", "message"),
    [
        ({}, {}, OptionError, r"'a .*equal values are split at random.*ties='mid'"),
        ({"columns": [GRADE]}, {}, ColumnError, r"categories have no order.*name the order"),
        ({"ties": "mid"}, {"amount": 0.5}, OptionError, r"amount=0.5: the rows .* are drawn"),
        ({"ties": "mid", "unknown": [3]}, {}, OptionError, r"unknown: .*NULL"),
        ({"ties": "mid", "unseen": "keep"}, {}, OptionError, r"exact_values=True"),
        ({"scope": "blocks", "blocks": 4, "keep": "hired"}, {}, OptionError, r"keep: .*score"),
        ({"scope": "blocks", "blocks": 4, "variety": 2}, {}, OptionError, r"variety=2: .*drawn"),
        ({"scope": "blocks", "blocks": 4}, {"amount": 0.5}, OptionError, r"amount=0.5: .*drawn"),
        (
            {"columns": ["sexes"], "protected": None, "stratify_by": B, "bands": {B: [0]}},
            {},
            OptionError,
            r"bands: .*add a column",
        ),
    ],
)
def test_what_cannot_be_said_is_an_error(options, changed, error, message):
    rows = applicants(400, digits=1)
    rows = rows.append_column("hired", pa.array([0, 1] * 200))
    rows = rows.append_column("sexes", pa.array(np.arange(400.0)))
    fitted = Repairer(**{"protected": "sex", "columns": [A], "scope": "column", **options})
    if "bands" in options:
        rows = rows.filter(rows[B].is_valid())
    fitted.fit(rows).set_params(**changed)
    with pytest.raises(error, match=message):
        fitted.to_sql("duckdb")


def test_column_with_the_name_that_the_statement_adds():
    rows = applicants(100).rename_columns(["sex", A, B, GRADE, "FOURFIFTHS_block"])
    repairer = Repairer("sex", columns=[B], scope="column", ties="mid").fit(rows)
    with pytest.raises(ColumnError, match=r"to_sql: a column is called 'fourfifths_block'"):
        repairer.to_sql("duckdb")


def test_too_many_levels_and_wrong_dialects():
    random = np.random.default_rng(0)
    rows = pa.table({"sex": ["F", "M"] * 9000, "a": random.normal(size=18_000)})
    repairer = Repairer("sex", columns=["a"], scope="column").fit(rows)
    with pytest.raises(OptionError, match=r"levels: column 'a' has .* steps.*fit with levels="):
        repairer.to_sql("duckdb")
    with pytest.raises(OptionError, match=r"dialect='oracle': expected one of"):
        repairer.to_sql("oracle")
    with pytest.raises(ColumnError, match=r"to_sql: .*array"):
        Repairer(scope="column").fit(random.normal(size=(40, 1)), protected=["a", "b"] * 20).to_sql(
            "duckdb"
        )


def test_steps_include_points_that_differ_from_both_sides():
    steps = steps_of(lambda values: np.where(values == 2, 7.0, values > 1), np.array([2.0, 1.0]))
    assert steps.edges == [(1.0, True), (2.0, False), (2.0, True)]
    assert steps.outputs == [0.0, 1.0, 7.0, 1.0]


def assert_same_types(actual, expected):
    """Compare types; whole numbers come back as the widest that SQL and `transform` have."""
    for field in expected.schema:
        actual_type = actual.schema.field(field.name).type
        are_whole = pa.types.is_integer(field.type) and actual_type == pa.int64()
        assert are_whole or actual_type == field.type, field.name


METHODS = [
    {},
    {"method": "geometric", "amount": 0.3},
    {"method": "combinatorial", "amount": 0.4},
    {"method": "definition", "amount": 1.0},
]


@pytest.mark.parametrize("options", METHODS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hostile_texts_and_all_types_are_repaired_to_the_bit(seed, options):
    strata, grades = hostile_texts(3, seed), hostile_texts(4, seed + 100)
    rows, new = (hostile_rows(index, strata=strata, grades=grades) for index in (seed, seed + 1))
    repairer = Repairer(
        "group",
        columns=repaired_columns(grades),
        scope="column",
        ties="mid",
        levels=5,
        exact_values=True,
        **options,
    ).fit(rows)
    for data in (rows, new):
        expected = repairer.transform(data)
        assert options or not expected["grade"].equals(data["grade"])
        actual = in_duckdb(repairer, data)
        assert_same(actual, expected)
        assert_same_types(actual, expected)


@pytest.mark.parametrize("seed", range(8))
def test_hostile_names(seed):
    random = np.random.default_rng(seed)
    names = [*hostile_texts(3, seed), " "]
    rows = pa.table(
        {name: random.normal(size=60) for name in names[:-1]} | {" ": ["F", "M", "x"] * 20}
    )
    repairer = Repairer(" ", columns=names[:2], scope="column", ties="mid", levels=4).fit(rows)
    people = duckdb.connect()
    people.register("rows", rows)
    people.execute('CREATE SCHEMA "s.t"; CREATE TABLE "s.t"."a ""b" AS SELECT * FROM rows')
    sql = repairer.to_sql("duckdb", table=["memory", "s.t", 'a "b'])
    assert_same(people.sql(sql).to_arrow_table(), repairer.transform(rows))


@pytest.mark.parametrize(
    "options", [{"scope": "column", "ties": "mid", "levels": 5}, {"blocks": 3}]
)
@pytest.mark.parametrize("kind", sorted(refused_columns(4)))
def test_types_that_transform_writes_otherwise_stop_the_query(kind, options):
    fitted, new, message = refused_columns(120)[kind]
    group = pa.array(["F", "M"] * 60)
    repairer = Repairer("group", columns=["a"], **options)
    repairer.fit(pa.table({"group": group, "a": fitted}))
    data = pa.table({"group": group, "a": new})
    with pytest.raises(duckdb.Error, match=f"column 'a': {message}"):
        in_duckdb(repairer, data)
    assert len(in_duckdb(repairer, data.slice(0, 0))) == 0


def test_whole_numbers_in_a_database_for_floats_at_the_fit():
    rows = pa.table({"group": ["F", "M"] * 60, "a": np.arange(120.0) ** 2})
    whole = rows.set_column(1, "a", rows["a"].cast(pa.int32()))
    repairer = Repairer("group", columns=["a"], scope="column").fit(rows)
    assert_same(in_duckdb(repairer, whole), repairer.transform(whole))
    blocks = Repairer("group", columns=["a"], blocks=3).fit(rows)
    # By blocks `transform` writes whole numbers if all records are whole.
    with pytest.raises(duckdb.Error, match="column 'a': expected the type DOUBLE, found INTEGER"):
        in_duckdb(blocks, whole)


@pytest.mark.parametrize(
    ("values", "new"),
    [
        (["1", "2"], [1, 2]),
        ([1, 2], ["1", "2"]),
        ([True, False], [1, 0]),
        ([2**60, 1], [2.0**60, 1]),
    ],
)
def test_strata_of_another_type_stop_the_query(values, new):
    rows = pa.table({"group": values * 30, "a": np.arange(60.0)})
    repairer = Repairer("group", columns=["a"], scope="column", exact_values=True).fit(rows)
    data = pa.table({"group": new * 30, "a": rows["a"]})
    with pytest.raises(duckdb.Error, match=r"column 'group': expected the type .*, found "):
        in_duckdb(repairer, data)


def test_missing_values_and_kept_strata_hide_nothing_that_transform_refuses():
    rows = applicants(60)
    options = {"columns": {GRADE: ORDER[GRADE]}, "scope": "column", "ties": "mid"}
    repairer = Repairer("sex", **options).fit(rows)
    new = pa.table({**{name: rows[name].slice(0, 1) for name in rows.column_names}, "sex": ["?"]})
    missing = new.set_column(new.column_names.index(GRADE), GRADE, pa.array([None], pa.string()))
    with pytest.raises(GroupError, match="is not one of the strata"):
        repairer.transform(missing)
    with pytest.raises(duckdb.Error, match="a row is in none of the strata"):
        in_duckdb(repairer, missing)
    keeping = Repairer("sex", unseen="keep", exact_values=True, **options).fit(rows)
    data = new.set_column(new.column_names.index(GRADE), GRADE, pa.array(["new"]))
    with pytest.raises(ColumnError, match="is not one of the categories"):
        keeping.transform(data)
    with pytest.raises(duckdb.Error, match="has none of the categories"):
        in_duckdb(keeping, data)


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT"])
def test_texts_are_compared_letter_by_letter_whatever_the_collation(collation):
    rows = pa.table(
        {
            "sex": ["F", "f", "E", "\u00c9"] * 20,
            "grade": ["lo", "LO", "Lo", "h\u00ef"] * 20,
            "a": np.arange(80.0) ** 2,
        }
    )
    fitted, unseen = rows.filter(pa.array([True, False, True, False] * 20)), [1, 3]
    repairer = Repairer(
        "sex",
        columns={"a": None, "grade": ["lo", "Lo", "LO", "h\u00ef"]},
        scope="column",
        ties="mid",
        levels=3,
        unseen="keep",
        exact_values=True,
    ).fit(fitted)
    database = duckdb.connect()
    database.register("rows", rows)
    text = f"VARCHAR COLLATE {collation}"
    database.execute(f"CREATE TABLE data (sex {text}, grade {text}, a DOUBLE)")
    database.execute("INSERT INTO data FROM rows")
    expected = repairer.transform(rows)
    assert expected.take(unseen).equals(rows.take(unseen))
    assert not expected["grade"].equals(rows["grade"])
    assert_same(database.sql(repairer.to_sql("duckdb")).to_arrow_table(), expected)


def test_columns_that_differ_in_case_only_are_refused():
    rows = pa.table({"sex": ["F", "M"] * 20, "a": np.arange(40.0), "A": np.arange(40.0)[::-1]})
    repairer = Repairer("sex", columns=["A"], scope="column").fit(rows)
    with pytest.raises(ColumnError, match=r"to_sql: the columns 'a' and 'A' differ in case only"):
        repairer.to_sql("duckdb")


@pytest.mark.parametrize(
    ("dialect", "name"),
    [("spark", "${x}"), ("databricks", "a${x}"), ("databricks", "{{x}}")],
)
def test_names_in_which_a_dialect_replaces_something_are_refused(dialect, name):
    rows = pa.table({"sex": ["F", "M"] * 20, "a": np.arange(40.0), name: np.arange(40.0)})
    repairer = Repairer("sex", columns=["a"], scope="column").fit(rows)
    with pytest.raises(ColumnError, match=r"to_sql: the name .* contains '.*rename it"):
        repairer.to_sql(dialect)
    repairer.fit(rows.drop_columns([name]))
    with pytest.raises(ColumnError, match=r"to_sql: the name .* contains '.*rename it"):
        repairer.to_sql(dialect, table=["schema", name])
    assert repairer.to_sql("duckdb", table=name)


@pytest.mark.parametrize("table", [None, 5, "", [], ["a", ""], ["a", 5], {"a": 1}])
def test_tables_without_a_name_are_refused(table):
    rows = pa.table({"sex": ["F", "M"] * 20, "a": np.arange(40.0)})
    repairer = Repairer("sex", columns=["a"], scope="column").fit(rows)
    with pytest.raises(OptionError, match=r"table=.*: expected the name of a table.*one by one"):
        repairer.to_sql("duckdb", table=table)


@pytest.mark.parametrize("dialect", ["duckdb", "spark", "databricks", "bigquery", "trino"])
def test_every_dialect_parses_what_is_written(dialect):
    strata, grades = hostile_texts(8, 0), hostile_texts(12, 1)
    rows = hostile_rows(0, strata=strata, grades=grades)
    repairer = Repairer(
        "group",
        columns={"grade": grades, "flag": None},
        scope="column",
        ties="mid",
        levels=5,
        exact_values=True,
    ).fit(rows)
    sql = repairer.to_sql(dialect, table=["schema", "table"])
    statement = sqlglot.parse_one(sql, read=dialect)
    assert statement.named_selects == rows.column_names
    if dialect in ("spark", "databricks"):  # nothing that they replace, and no escapes
        assert not {"$", "{", "\\"} & {*sql}
    else:
        texts = {text.this for text in statement.find_all(sqlglot.exp.Literal) if text.is_string}
        assert {*strata, *grades} <= texts
