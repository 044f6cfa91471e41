"""Measure repairs and audits of large files against the same files read and written unchanged.

Usage::

    python benchmarks/scale.py [--rows 1e7] [--folder FOLDER] [--only NAME]

Prints one table. Each line is a command in a process of its own: its CPU seconds, on all
processors, and its peak of memory (Linux). CPU seconds are compared, because a machine may be
shared. The table has eight columns of numbers, a protected column and an outcome; it is made once
for each number of rows and kept in FOLDER. What it takes on disk: about 1 GB for ten million rows
as Parquet, 2 GB as CSV, and as much again for what is written. Growth is seen by running it twice,
with --rows 1e7 and --rows 1e8.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COLUMNS = 8
ROWS_PER_GROUP = 1 << 20
MEMORY = "500MB"  # so that files of any size are repaired in chunks
REPAIR = "from fourfifths._cli.main import main; main()"
ROLES = ("--protected", "sex", "--outcome", "hired", "--favorable", "1")

REWRITE = """
import sys
from pyarrow import parquet
source = parquet.ParquetFile(sys.argv[1])
with parquet.ParquetWriter(sys.argv[2], source.schema_arrow) as writer:
    for group in range(source.num_row_groups):
        writer.write_table(source.read_row_group(group))
"""
COPY = """
import sys
import duckdb
duckdb.connect().read_csv(sys.argv[1], all_varchar=True).write_csv(sys.argv[2])
"""
PREDICT = """
import sys
import numpy as np
from pyarrow import parquet
import fourfifths
booster = fourfifths.Repairer.load(sys.argv[2]).model_.guide.boosters[0]
source = parquet.ParquetFile(sys.argv[1])
names = [f"x{index}" for index in range(8)]
for batch in source.iter_batches(batch_size=262_144, columns=names):
    booster.predict(np.stack([column.to_numpy() for column in batch.columns], axis=1),
                    raw_score=True)
"""
NOTHING = "import fourfifths; fourfifths.Repairer"
SQL = """
import sys
import duckdb
print(duckdb.connect().sql(
    f"SELECT sex, count(*), sum(hired) FROM '{sys.argv[1]}' GROUP BY sex").fetchall())
"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a process took."""

    cpu_seconds: float
    peak_bytes: int


def cost_of(code: str, arguments: Sequence[str | Path]) -> Cost:
    """Run Python code in a process, and return what it took."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(errors)
    return Cost(cpu_seconds=usage.ru_utime + usage.ru_stime, peak_bytes=usage.ru_maxrss * 1024)


def make_table(path: Path, row_count: int) -> None:
    """Write a table whose eight numbers depend on the group and on the outcome."""
    import duckdb
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    temporary = path.with_suffix(".part")
    writer = None
    for start in range(0, row_count, ROWS_PER_GROUP):
        random = np.random.default_rng(start)
        rows = min(ROWS_PER_GROUP, row_count - start)
        sex, ability = random.integers(0, 2, rows), random.normal(size=rows)
        columns = {
            f"x{index}": random.normal(size=rows) + 0.5 * sex + 0.5 * ability
            for index in range(COLUMNS)
        }
        hired = (ability + 0.3 * sex + random.normal(size=rows) > 1).astype(np.int64)
        names = pa.array(np.array(["F", "M"])[sex])
        table = pa.table({**columns, "sex": names, "hired": hired})
        writer = writer or parquet.ParquetWriter(temporary, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    temporary.rename(path)
    duckdb.connect().read_parquet(str(path)).write_csv(str(path.with_suffix(".csv")))


def print_line(work: str, cost: Cost, against: str = "", ratio: float = 0, reach: str = "") -> None:
    """Print one line of the table."""
    shown = f"{ratio:.2f}" if ratio else ""
    print(
        f"| {work} | {cost.cpu_seconds:.1f} | {cost.peak_bytes / 1e6:,.0f} | {against} | {shown} "
        f"| {reach} |",
        flush=True,
    )


def measure_parquet(source: Path, folder: Path) -> None:
    """Repair a Parquet file by column and by blocks."""
    out, saved = folder / "out.parquet", folder / "saved.json"
    rewrite = cost_of(REWRITE, [source, out])
    print_line("rewrite by pyarrow", rewrite)
    options = ["--memory", MEMORY, "--effect", "none"]
    column = cost_of(REPAIR, ["repair", source, out, *ROLES, *options, "--scope", "column"])
    ratio = column.cpu_seconds / rewrite.cpu_seconds
    print_line("repair by column", column, "rewrite", ratio, "2.3")
    blocks = cost_of(REPAIR, ["repair", source, out, *ROLES, *options, "--save", saved])
    predict = cost_of(PREDICT, [source, saved])
    print_line("the score's own predict", predict)
    limit = rewrite.cpu_seconds + 1.5 * predict.cpu_seconds
    print_line("repair by blocks", blocks, "rewrite + 1.5 predict", blocks.cpu_seconds / limit, "1")


def measure_csv(source: Path, folder: Path) -> None:
    """Repair a CSV by column, into a CSV."""
    csv, out = source.with_suffix(".csv"), folder / "out.csv"
    copy = cost_of(COPY, [csv, out])
    print_line("copy of a CSV by DuckDB", copy)
    options = ["--memory", MEMORY, "--effect", "none", "--scope", "column"]
    repair = cost_of(REPAIR, ["repair", csv, out, *ROLES, *options])
    print_line("repair by column, CSV", repair, "copy", repair.cpu_seconds / copy.cpu_seconds, "3")


def measure_audit(source: Path, folder: Path) -> None:  # noqa: ARG001 - it writes nothing
    """Audit a Parquet file."""
    sql = cost_of(SQL, [source])
    print_line("counts by SQL", sql)
    audit = cost_of(REPAIR, ["audit", source, *ROLES])
    print_line("audit", audit, "SQL", audit.cpu_seconds / sql.cpu_seconds, "1.3")


WORKS = {"parquet": measure_parquet, "csv": measure_csv, "audit": measure_audit}


def main() -> None:
    """Make the table and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "scale")
    parser.add_argument("--only", choices=[*WORKS])
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    row_count = int(options.rows)
    source = options.folder / f"table-{row_count}.parquet"
    if options.make:
        make_table(source, row_count)
        return
    if not source.with_suffix(".csv").exists():
        # By another process: the peak of a process begins with that of the one that started it.
        subprocess.run([sys.executable, __file__, "--make", *sys.argv[1:]], check=True)
    print(f"{row_count:,} rows; MB are the peak of memory\n")
    print_line("import of the package", cost_of(NOTHING, []))
    for name, measure in WORKS.items():
        if options.only in (None, name):
            measure(source, options.folder)


if __name__ == "__main__":
    main()
