"""A file that is repaired in chunks gives the bytes that it gives in memory."""

from __future__ import annotations

import filecmp
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from fourfifths._effect.files import StreamedFileRepair, apply_repair, repair_file
from fourfifths._effect.roles import AuditRoles
from fourfifths._repair.block_model import MAX_FIT_ROWS
from fourfifths._repair.engines.streamed import SmallStrata
from fourfifths._tables.engines.digests import MAX_DISTINCT
from fourfifths.errors import (
    ColumnError,
    FourfifthsError,
    GroupError,
    OptionError,
    OutputError,
    TableError,
)

ROLES = AuditRoles(outcome="hired", favorable="yes")
CHUNK_ROWS = 300
COLUMN = {"scope": "column"}
OPTIONS: dict[str, dict[str, Any]] = {
    "blocks": {},
    "blocks, keyed": {"options": {"key": "id"}},
    "half of the rows": {"amount": 0.5},
    "varied": {"options": {"variety": 3, "blocks": 4}},
    "without the groups": {"options": {"drop_protected": True}},
    "column": {"options": COLUMN},
    "column, keyed": {"options": {**COLUMN, "key": "id"}},
    "geometric": {"options": {**COLUMN, "method": "geometric"}, "amount": 0.5},
    "combinatorial": {"options": {**COLUMN, "method": "combinatorial"}, "amount": 0.5},
    "column, half of the rows": {"options": COLUMN, "amount": 0.5},
    "nothing drawn": {"options": {**COLUMN, "ties": "mid"}, "columns": ["score", "age"]},
}


def make_table(row_count: int, *, seed: int = 1, strata: int = 3) -> pa.Table:
    """Return a table with ties, missing values, spellings, categories and an odd name."""
    random = np.random.default_rng(seed)
    group = random.integers(0, strata, row_count)
    spelled = random.random(row_count) < 0.05
    sex = [f"G{code} " if odd else f"g{code}" for code, odd in zip(group, spelled, strict=True)]
    score = random.normal(size=row_count) + (group == 0)
    jobs = random.choice(["a", "b", "c"], row_count)
    hired = np.where(score + random.normal(size=row_count) > 1, "yes", "no")
    return pa.table(
        {
            "id": np.arange(row_count) * 7,
            "sex": sex,
            "score": score.round(1),
            "age": pa.array(
                random.integers(20, 60, row_count), mask=random.random(row_count) < 0.1
            ),
            "job": pa.array(jobs, mask=random.random(row_count) < 0.05),
            "a.b *": pa.array(random.choice(["x", "y"], row_count)).dictionary_encode(),
            "flag": random.random(row_count) < 0.3,
            "hired": hired,
        }
    )


def write(table: pa.Table, path: Path) -> Path:
    """Write a Parquet file with empty row groups among others, or a CSV."""
    if path.suffix == ".csv":
        csv.write_csv(table, path)
        return path
    with parquet.ParquetWriter(path, table.schema) as writer:
        for start in range(0, table.num_rows, 170):
            writer.write_table(table.slice(start, 170))
            writer.write_table(table.slice(0, 0))
    return path


def repair_both(
    source: Path, tmp_path: Path, ending: str, *, chunk_rows: int = CHUNK_ROWS, **options: Any
) -> tuple[Any, StreamedFileRepair]:
    """Repair a file in memory and in chunks, and check that the same bytes come out."""
    common: dict[str, Any] = {"protected": ["sex"], "roles": ROLES, **options}
    in_memory = repair_file(str(source), **common)
    in_memory.write(tmp_path / f"memory{ending}")
    in_chunks = repair_file(str(source), memory=1, chunk_rows=chunk_rows, **common)
    assert isinstance(in_chunks, StreamedFileRepair)
    in_chunks.write(tmp_path / f"chunks{ending}")
    same = filecmp.cmp(tmp_path / f"memory{ending}", tmp_path / f"chunks{ending}", shallow=False)
    assert same, options
    assert in_chunks.notes == in_memory.notes
    assert str(in_chunks.proof()) == str(in_memory.proof())
    return in_memory, in_chunks


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_a_parquet_file_in_chunks_gives_the_bytes_of_memory(name: str, tmp_path: Path) -> None:
    source = write(make_table(1500), tmp_path / "table.parquet")
    repair_both(source, tmp_path, ".parquet", **OPTIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ["blocks", "column", "geometric"])
def test_a_csv_in_chunks_gives_the_bytes_of_memory(name: str, ending: str, tmp_path: Path) -> None:
    source = write(make_table(1500), tmp_path / "table.csv")
    repair_both(source, tmp_path, ending, **OPTIONS[name])


@pytest.mark.parametrize("memory", [None, 1], ids=["memory", "chunks"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_repeated_header_is_no_stratum(ending: str, memory: int | None, tmp_path: Path) -> None:
    table = make_table(400).select(["sex", "job", "hired"])
    header = pa.table({name: [name] * 4 for name in table.column_names})
    source = write(pa.concat_tables([table, header]), tmp_path / f"table{ending}")
    message = "'sex', 'hired': 4 rows have the names of the columns as values"
    with pytest.raises(TableError, match=message):
        repair_file(
            str(source), protected=["sex"], roles=ROLES, memory=memory, chunk_rows=CHUNK_ROWS
        )


def test_values_named_as_their_columns_are_no_header_in_chunks_either(tmp_path: Path) -> None:
    rows = 900
    table = pa.table(
        {
            "Black": [("Black", "White")[row % 2] for row in range(rows)],
            "manager": ["clerk" if row % 3 else "manager" for row in range(rows)],
            "score": [float(row % 37) for row in range(rows)],
        }
    )
    source = write(table, tmp_path / "table.csv")
    columns = ["manager", "score"]
    repair_both(
        source,
        tmp_path,
        ".csv",
        protected=["Black"],
        roles=AuditRoles(),
        columns=columns,
        options=COLUMN,
    )


@pytest.mark.parametrize("memory", [None, 1], ids=["memory", "chunks"])
def test_a_repeated_header_is_seen_without_an_outcome(memory: int | None, tmp_path: Path) -> None:
    table = make_table(400).select(["sex", "job"])
    header = pa.table({name: [name] * 4 for name in table.column_names})
    source = write(pa.concat_tables([table, header]), tmp_path / "table.csv")
    message = "'sex', 'job': 4 rows have the names of the columns as values"
    with pytest.raises(TableError, match=message):
        repair_file(
            str(source),
            protected=["sex"],
            columns=["job"],
            options=COLUMN,
            memory=memory,
            chunk_rows=CHUNK_ROWS,
        )


@pytest.mark.slow
def test_messy_values_are_read_alike(tmp_path: Path) -> None:
    table = make_table(900)
    pay = [f"${number:,.2f}" if row % 5 else "n/a" for row, number in enumerate(range(1000, 1900))]
    codes = [f"0{number % 7}" for number in range(900)]
    table = table.append_column("pay", pa.array(pay)).append_column("zip", pa.array(codes))
    source = write(table, tmp_path / "table.csv")
    in_memory, _ = repair_both(source, tmp_path, ".csv", unknown=["c"])
    assert "pay" in str(in_memory.notes)
    assert "codes with leading zeros" in str(in_memory.notes)


def make_messy_table(row_count: int = 420) -> pa.Table:
    """Return texts whose first chunks are plain numbers, and whose later ones are not."""
    random = np.random.default_rng(7)
    whole = random.integers(10, 99, (row_count, 8)).tolist()
    late, later = row_count // 2, 3 * row_count // 4  # in other chunks

    def texts(column: int, *, first: str = "{}", then: str, last: str = "{}") -> list[str]:
        formats = [first] * late + [then] * (later - late) + [last] * (row_count - later)
        return [text.format(row[column]) for text, row in zip(formats, whole, strict=True)]

    return pa.table(
        {
            "sex": random.choice(["f", "m", " F"], row_count),
            "pay": texts(0, then="$1,{}0.50", last="${}"),
            "share": texts(1, first="{}%", then="{}.5%", last="{}%"),
            "comma": texts(2, then="{},5", last="1.0{},25"),
            "spaces": texts(3, then=" {} ", last="+{}"),
            "absent": texts(4, then="n/a", last=""),
            "rate": texts(5, first="{}.5", then="{}e-1", last="nan"),
            "large": texts(6, first="{}.5", then="12345678901234567{}"),
            "zip": texts(7, then="0{}"),
            "hired": random.choice(["yes", "no"], row_count),
        }
    )


MESSY_NUMBERS = {
    "pay": "number",
    "share": "number",
    "comma": "number",
    "spaces": "integer",
    "absent": "integer",
    "rate": "number",
    "large": "number",
}
FEW_ROWS = 35  # of which some chunks hold one format only


@pytest.mark.parametrize("ending", [".csv", pytest.param(".parquet", marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", [{}, COLUMN], ids=["blocks", "column"])
@pytest.mark.parametrize(
    "source_ending", [".csv", pytest.param(".parquet", marks=pytest.mark.slow)]
)
def test_numbers_that_are_written_otherwise_in_later_chunks(
    source_ending: str, options: dict[str, Any], ending: str, tmp_path: Path
) -> None:
    source = write(make_messy_table(), tmp_path / f"table{source_ending}")
    _, repair = repair_both(source, tmp_path, ending, chunk_rows=FEW_ROWS, options=options)
    kinds = {column.name: column.kind for column in repair.repairer.column_types_}
    assert kinds == {**MESSY_NUMBERS, "zip": "category"}
    if ending == ".parquet":
        types = parquet.read_schema(tmp_path / "chunks.parquet")
        for name, kind in MESSY_NUMBERS.items():
            assert types.field(name).type == (pa.int64() if kind == "integer" else pa.float64())
    if ending == ".parquet" and options == COLUMN:  # what is missing stays missing
        repaired = parquet.read_table(tmp_path / "chunks.parquet")
        nulls = {name: repaired[name].null_count for name in repaired.column_names}
        assert {name: count for name, count in nulls.items() if count} == {
            "absent": 210,
            "rate": 105,
        }


@pytest.mark.parametrize("options", [{}, COLUMN], ids=["blocks", "column"])
def test_tokens_for_unknown_values_are_read_alike(options: dict[str, Any], tmp_path: Path) -> None:
    table = make_messy_table().select(["sex", "spaces", "zip", "hired"])
    texts = [text if row % 90 else "-999" for row, text in enumerate(table["spaces"].to_pylist())]
    source = write(table.set_column(1, "spaces", pa.array(texts)), tmp_path / "table.csv")
    common: dict[str, Any] = {"unknown": [-999], "options": options, "chunk_rows": FEW_ROWS}
    repair_both(source, tmp_path, ".csv", **common)
    repair_both(source, tmp_path, ".parquet", **common)


@pytest.mark.parametrize("options", [{}, COLUMN], ids=["blocks", "column"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_row_groups_may_have_dictionaries_of_their_own(
    options: dict[str, Any], ending: str, tmp_path: Path
) -> None:
    table, source = make_table(600), tmp_path / "table.parquet"
    coded = pa.dictionary(pa.int32(), pa.string())
    names = ["sex", "job", "a.b *", "hired"]
    schema = pa.schema([(f.name, coded if f.name in names else f.type) for f in table.schema])
    with parquet.ParquetWriter(source, schema) as writer:
        for start in range(0, 600, 70):
            part = table.slice(start, 70)
            for index, name in enumerate(part.column_names):
                if name in names:
                    texts = pa.array(part[name].to_pylist(), pa.string())
                    part = part.set_column(index, name, texts.dictionary_encode())
            writer.write_table(part.cast(schema))
    repair_both(source, tmp_path, ending, chunk_rows=90, options=options)


@pytest.mark.slow
def test_many_strata_and_joint_ones_are_the_same(tmp_path: Path) -> None:
    source = write(make_table(900, strata=6), tmp_path / "table.parquet")
    repair_both(source, tmp_path, ".parquet", options={"blocks": 4})
    source = write(make_table(2000, strata=40), tmp_path / "table.parquet")
    repair_both(source, tmp_path, ".parquet", options=COLUMN, protected=["sex", "flag"])


@pytest.mark.slow
def test_a_table_larger_than_a_fit_takes_is_fitted_on_the_same_rows(tmp_path: Path) -> None:
    source = tmp_path / "table.parquet"
    parquet.write_table(make_table(MAX_FIT_ROWS + 60_000), source, row_group_size=100_000)
    in_memory, _ = repair_both(
        source, tmp_path, ".parquet", chunk_rows=262_144, options={"blocks": 4, "key": "id"}
    )
    placed = sum(stratum.placing_rows for stratum in in_memory.proof().strata)
    assert placed <= 0.7 * MAX_FIT_ROWS  # 30% of the fitted rows are planned on


@pytest.mark.slow
def test_equal_rows_far_apart_are_told_apart(tmp_path: Path) -> None:
    table = pa.concat_tables([make_table(400)] * 4)
    source = write(table.drop_columns(["id"]), tmp_path / "table.parquet")
    repair_both(source, tmp_path, ".parquet")
    repair_both(source, tmp_path, ".parquet", options=COLUMN)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["column", "combinatorial", "column, half of the rows", "blocks"])
def test_strata_of_many_rows_are_cut_at_the_same_stretches(name: str, tmp_path: Path) -> None:
    table = make_table(600_000)
    source = tmp_path / "table.parquet"
    parquet.write_table(table, source, row_group_size=100_000)
    repair_both(source, tmp_path, ".parquet", chunk_rows=262_144, **OPTIONS[name])


@pytest.mark.parametrize("options", [{}, COLUMN])
def test_a_saved_repair_is_applied_in_chunks(options: dict[str, Any], tmp_path: Path) -> None:
    source = write(make_table(1500), tmp_path / "table.parquet")
    fitted = repair_file(str(source), protected=["sex"], roles=ROLES, options=options)
    fitted.repairer.save(tmp_path / "saved.json")
    new = write(make_table(1000, seed=9), tmp_path / "new.parquet")
    apply_repair(str(new), tmp_path / "saved.json").write(tmp_path / "memory.parquet")
    applied = apply_repair(str(new), tmp_path / "saved.json", memory=1, chunk_rows=CHUNK_ROWS)
    applied.write(tmp_path / "chunks.parquet")
    assert filecmp.cmp(tmp_path / "memory.parquet", tmp_path / "chunks.parquet", shallow=False)


def test_the_effect_is_measured_on_rows_by_draw(tmp_path: Path) -> None:
    source = write(make_table(1500), tmp_path / "table.parquet")
    repair = repair_file(
        str(source), protected=["sex"], roles=ROLES, memory=1, chunk_rows=CHUNK_ROWS
    )
    assert isinstance(repair, StreamedFileRepair)
    limited = replace(repair, max_effect_rows=500)
    limited.write(source)  # over the source: the rows must have been taken before
    effect = limited.effect("quick")
    assert 500 <= effect.rows <= 503  # a share of each of three strata, rounded up
    assert "of the 1,500 rows, drawn at random" in str(effect.notes)
    assert effect.rows_changed > 400


def test_notes_of_a_saved_repair_are_about_the_whole_file_in_chunks_too(tmp_path: Path) -> None:
    def with_pay(row_count: int, pay: list[str]) -> pa.Table:
        return make_table(row_count).append_column("pay", pa.array(pay))

    dollars = [f"${number},000.50" for number in range(100, 1000)]
    source = write(with_pay(900, dollars), tmp_path / "table.csv")
    fitted = repair_file(str(source), protected=["sex"], roles=ROLES, columns=["pay", "age"])
    fitted.repairer.save(tmp_path / "saved.json")
    # In the first chunk nothing is assumed, and no chunk has all that is.
    pay = ["1000"] * 300 + ["$1,200", "n/a", "", "1300"] * 100 + ["$12,345.50", "n/a"] * 100
    new = write(with_pay(900, pay), tmp_path / "new.csv")
    expected = (
        "column 'pay': 'n/a' is taken for missing (200 rows)",
        "column 'pay': '$12,345.50' is read as 12345.5",
    )
    for options in ({}, {"memory": 1, "chunk_rows": CHUNK_ROWS}):
        applied = apply_repair(str(new), tmp_path / "saved.json", **options)
        assert isinstance(applied, StreamedFileRepair) == bool(options)
        assert applied.notes == expected


def test_rows_without_a_stratum_are_in_the_effect(tmp_path: Path) -> None:
    table = make_table(1200)
    is_without = np.arange(1200) % 4 == 0
    sex = pa.array(np.where(is_without, None, table["sex"].to_pylist()), pa.string())
    source = write(table.set_column(1, "sex", sex), tmp_path / "table.parquet")
    common: dict[str, Any] = {"protected": ["sex"], "roles": ROLES, "options": {"unseen": "keep"}}
    in_memory = repair_file(str(source), **common).effect("quick")
    repair = in_chunks(source, **common)
    assert in_memory.rows == 1200
    assert "300 rows have a stratum that is missing or was not fitted" in str(in_memory.notes)
    assert repair.effect("quick").to_json() == in_memory.to_json()
    # Of fewer rows, a quarter is without a stratum as well.
    effect = replace(repair, effect_rows=[], max_effect_rows=400).effect("quick")
    assert "100 rows have a stratum that is missing or was not fitted" in str(effect.notes)
    assert "of the 1,200 rows, drawn at random" in str(effect.notes)


@pytest.mark.parametrize("options", [COLUMN, {"blocks": 4}], ids=["column", "blocks"])
def test_dictionaries_are_the_same_in_memory_and_in_chunks(
    options: dict[str, Any], tmp_path: Path
) -> None:
    random = np.random.default_rng(3)
    table = make_table(900)
    grades = ["lo", "mid", "hi", "never"]
    grade = pa.DictionaryArray.from_arrays(pa.array(random.integers(0, 3, 900), pa.int8()), grades)
    # Row groups have dictionaries of their own: of the letters that they hold.
    late = np.where(np.arange(900) < 500, random.choice(["b", "a"], 900), "d")
    table = table.append_column("grade", grade)
    table = table.append_column("late", pa.array(late).dictionary_encode())
    source = write(table, tmp_path / "table.parquet")
    names = ["score", "grade", "late"]
    repair_both(source, tmp_path, ".parquet", options=options, columns=names)
    written = parquet.read_table(tmp_path / "chunks.parquet")
    # The categories in their order, and the one that no row has.
    assert written["grade"].chunk(0).dictionary.to_pylist() == ["hi", "lo", "mid", "never"]
    assert written["late"].chunk(0).dictionary.to_pylist() == ["a", "b", "d"]


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_chunk_with_a_row_that_is_kept_has_the_types_of_all_others(
    ending: str, tmp_path: Path
) -> None:
    source = write(make_table(900), tmp_path / "table.parquet")
    fitted = repair_file(
        str(source),
        protected=["sex"],
        roles=ROLES,
        columns=["score", "age", "a.b *"],
        options={"blocks": 4, "unseen": "keep"},
    )
    fitted.repairer.save(tmp_path / "saved.json")
    new = make_table(900, seed=9)
    sex = new["sex"].to_pylist()
    sex[650] = "another"
    write(new.set_column(1, "sex", pa.array(sex)), tmp_path / "new.parquet")
    outputs = []
    for options in ({}, {"memory": 1, "chunk_rows": CHUNK_ROWS}):
        output = tmp_path / f"{len(outputs)}{ending}"
        apply_repair(str(tmp_path / "new.parquet"), tmp_path / "saved.json", **options).write(
            output
        )
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1]
    if ending == ".parquet":
        assert pa.types.is_dictionary(parquet.read_schema(output).field("a.b *").type)


# --- what must not pass in silence ---


def in_chunks(source: Path, **options: Any) -> Any:
    common: dict[str, Any] = {"protected": ["sex"], "roles": ROLES, "memory": 1}
    return repair_file(str(source), chunk_rows=CHUNK_ROWS, **{**common, **options})


def check_that_both_fail(source: Path, *, match: str, **options: Any) -> None:
    """Check that a repair has the same error in memory and in chunks, and that it matches."""
    common: dict[str, Any] = {"protected": ["sex"], "roles": ROLES}
    messages = []
    for repair in (repair_file, in_chunks):
        with pytest.raises(FourfifthsError, match=match) as error:
            repair(str(source) if repair is repair_file else source, **{**common, **options})
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_nothing_left_to_repair_is_said_with_the_reasons(tmp_path: Path) -> None:
    source = write(make_table(900).select(["sex", "score", "hired"]), tmp_path / "table.parquet")
    message = "no column is left to repair: strata are made of 'sex', 'hired' is the outcome, 'sc"
    check_that_both_fail(source, match=message, options={"key": "score"})


SECONDS = pa.array([None, *range(1, 900)])
UNREPAIRABLE = {
    "list": (pa.array([[row % 3] for row in range(900)]), r"List\(Int64\), as in \[0\]"),
    "record": (pa.array([{"a": row} for row in range(900)]), r"Struct\(.*\), as in {'a': 0}"),
    "map": (pa.array([[("k", 7)]] * 900, pa.map_(pa.string(), pa.int64())), r"Unknown, as in \["),
    "time": (SECONDS.cast(pa.int32()).cast(pa.time32("s")), r"Time, as in datetime.time\(0, 0, 1"),
    "duration": (SECONDS.cast(pa.duration("s")), r"Duration\(.*\), as in datetime.timedelta\("),
    "binary": (pa.array([b"x"] * 900), "Binary, as in b'x'"),
    "decimal256": (pa.array([7] * 900, pa.decimal256(40, 0)), r"Unknown, as in Decimal\('7'\)"),
}


@pytest.mark.parametrize("kind", UNREPAIRABLE)
def test_columns_that_cannot_be_repaired_are_the_errors_of_memory(
    kind: str, tmp_path: Path
) -> None:
    values, example = UNREPAIRABLE[kind]
    source = write(make_table(900).append_column("odd", values), tmp_path / "table.parquet")
    message = f"columns: 'odd' holds {example}.*; expected numbers, booleans, text, categories"
    check_that_both_fail(source, match=message)
    check_that_both_fail(source, match=message, columns=["score", "odd"], unknown=["c"])
    if kind in ("list", "record", "map"):
        options = {"blocks": 4, "key": "odd"}
        message = (
            "key='odd': expected texts, numbers, dates or bytes, found .*; name another column"
        )
        check_that_both_fail(source, match=message, columns=["score"], options=options)


def test_a_column_of_lists_without_any_value_stays(tmp_path: Path) -> None:
    empty = pa.array([None] * 900, pa.list_(pa.int64()))
    source = write(make_table(900).append_column("odd", empty), tmp_path / "table.parquet")
    options: dict[str, Any] = {"columns": ["score", "odd"], "unknown": ["c"]}
    repair_both(source, tmp_path, ".parquet", **options)
    assert parquet.read_table(tmp_path / "chunks.parquet")["odd"].null_count == 900
    message = "column 'odd': fewer than 4 values that are not missing in a stratum"
    check_that_both_fail(source, match=message, options=COLUMN, **options)


ROWS = [f"{'FM'[row % 2]},{row % 37},{'yes' if row % 3 else 'no'}\n" for row in range(50_000)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*ROWS, "a,b\n"], "line 50002 has 2 fields, and the header has 3; correct that line"),
        ([*ROWS[:400], "a,1,no,4\n", *ROWS[:9]], "line 402 has 4 fields, and the header has 3"),
        ([*ROWS, 'F,1,"yes'], "a quote is not closed"),
        ([*ROWS[:400], 'F,1,"yes\n', *ROWS[:9]], "a quote is not closed"),
        ([], "there are no rows"),
    ],
    ids=["late", "early", "unclosed", "unclosed early", "no rows"],
)
def test_broken_lines_of_a_csv_are_the_errors_of_memory(
    rows: list[str], message: str, tmp_path: Path
) -> None:
    source = tmp_path / "table.csv"
    source.write_text("sex,score,hired\n" + "".join(rows))
    check_that_both_fail(source, match=rf"table\.csv: {message}")


def test_errors_are_those_of_memory(tmp_path: Path) -> None:
    table = make_table(900)
    source = write(table, tmp_path / "table.parquet")
    check_that_both_fail(source, match="no column 'agee'", columns=["agee"])
    check_that_both_fail(source, match="'zz'", unknown=["zz"])
    repeated = write(pa.concat_tables([table, table.slice(5, 3)]), tmp_path / "repeated.parquet")
    check_that_both_fail(repeated, match="rows that repeat a key: 3", options={"key": "id"})
    infinite = table.set_column(2, "score", pa.array([*[0.5] * 700, np.inf, *[0.1] * 199]))
    source = write(infinite, tmp_path / "infinite.parquet")
    check_that_both_fail(source, match="row 700 is infinite")


def test_more_codes_than_are_kept_are_the_error_of_memory(tmp_path: Path) -> None:
    table = make_table(2 * MAX_DISTINCT + 4_000)
    codes = [f"{row % (MAX_DISTINCT + 2_000):06d}" for row in range(table.num_rows)]
    source = write(table.append_column("code", pa.array(codes)), tmp_path / "table.csv")
    check_that_both_fail(
        source, match=r"'code' has 22,000 different texts, more than 1,000", columns=["code"]
    )


def test_rows_of_a_new_stratum_are_named_by_their_number_in_the_file(tmp_path: Path) -> None:
    source = write(make_table(900), tmp_path / "table.parquet")
    repair_file(str(source), protected=["sex"], roles=ROLES).repairer.save(tmp_path / "saved.json")
    table = make_table(900)
    sexes = table["sex"].to_pylist()
    sexes[650] = sexes[800] = "new"
    new = write(table.set_column(1, "sex", pa.array(sexes)), tmp_path / "new.parquet")
    with pytest.raises(GroupError, match=r"'new' in row 650 .* 2 rows are like that"):
        apply_repair(str(new), tmp_path / "saved.json", memory=1, chunk_rows=CHUNK_ROWS)


def test_the_least_certified_amount_is_not_searched_in_chunks(tmp_path: Path) -> None:
    source = write(make_table(900), tmp_path / "table.parquet")
    with pytest.raises(OptionError, match=r"amount='certified': .* in memory only"):
        in_chunks(source, amount="certified")


def test_too_many_rows_of_small_strata_are_an_error(tmp_path: Path) -> None:
    source = write(make_table(900), tmp_path / "table.parquet")
    repair = in_chunks(source, options=COLUMN)
    parts = (repair.repairer, repair.source, repair.identified)
    assert SmallStrata.of(*parts, max_rows=900) is not None
    with pytest.raises(GroupError, match=r"900 rows are in strata .* key='...'"):
        SmallStrata.of(*parts, max_rows=899)


def test_a_file_that_grows_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    source = write(make_table(900), tmp_path / "table.csv")
    repair = in_chunks(source)
    with source.open("a") as stream:
        stream.write(source.read_text().splitlines()[1] + "\n")
    with pytest.raises(TableError, match="was changed while it was read"):
        repair.write(tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_files_whose_columns_differ_are_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    table = make_table(900)
    write(table.slice(0, 450), folder / "a.parquet")
    ages = table["age"].cast(pa.float64())
    write(table.set_column(3, "age", ages).slice(450), folder / "b.parquet")
    with pytest.raises(TableError, match="'age' of type double, not 'age' of type int64"):
        in_chunks(folder)


@pytest.mark.slow
def test_parts_and_folders_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    table = make_table(900)
    write(table.slice(0, 400), folder / "a.parquet")
    write(table.slice(0, 0), folder / "b.parquet")
    write(table.slice(400), folder / "c.parquet")
    (folder / "_notes.parquet").write_bytes(b"not read")
    whole = write(table, tmp_path / "whole.parquet")
    repair_both(whole, tmp_path, ".csv")
    expected = (tmp_path / "memory.csv").read_bytes()
    for source in (folder, folder / "*.parquet"):
        repair_both(source, tmp_path, ".csv")
        assert (tmp_path / "chunks.csv").read_bytes() == expected


def test_what_pandas_notes_in_a_file_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "pandas.parquet"
    make_table(900).to_pandas().to_parquet(source)
    repair_both(source, tmp_path, ".parquet")
    assert b"pandas" in parquet.read_schema(tmp_path / "chunks.parquet").metadata


def test_no_room_for_temporary_files_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(make_table(900), tmp_path / "table.parquet")

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(OutputError, match=r"No space left on device; .* TMPDIR"):
        in_chunks(source)


@pytest.mark.slow
def test_identifiers_are_found_in_chunks_too(tmp_path: Path) -> None:
    table = make_table(900).append_column(
        "name", pa.array([f"person {number}" for number in range(900)])
    )
    source = write(table, tmp_path / "table.csv")
    _, repair = repair_both(source, tmp_path, ".csv")
    repaired = [column.name for column in repair.repairer.column_types_]
    assert repaired == ["score", "age", "job", "a.b *", "flag"]
    with pytest.raises(ColumnError, match="'name' has 900 different texts"):
        in_chunks(source, columns=["name"])


def has_begun_to_write(process: int, folder: Path) -> bool:
    """Whether a process holds rows in a file of a folder that has no name."""
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):  # closed in the meantime
            is_nameless = str(link.readlink()).startswith(f"{folder}/#")
            if is_nameless and link.stat().st_size > 1_000:
                return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells of open files")
def test_a_killed_repair_leaves_no_half_file(tmp_path: Path) -> None:
    source = tmp_path / "table.parquet"
    parquet.write_table(make_table(400_000), source)
    out, temporary = tmp_path / "out.parquet", tmp_path / "temporary"
    temporary.mkdir()
    out.write_bytes(b"the old file")
    command = [sys.executable, "-c", "from fourfifths._cli.main import main; main()", "repair"]
    command += [str(source), str(out), "--protected", "sex", "--outcome", "hired"]
    command += ["--favorable", "yes", "--memory", "1MB", "--effect", "none", "--scope", "column"]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)})
    while process.poll() is None and not has_begun_to_write(process.pid, tmp_path):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert out.read_bytes() == b"the old file"
    assert sorted(tmp_path.iterdir()) == [out, source, temporary]
    assert not list(temporary.iterdir())
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    assert parquet.read_metadata(out).num_rows == 400_000
    assert sorted(tmp_path.iterdir()) == [out, source, temporary]
