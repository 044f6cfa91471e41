"""Measure repairs and audits of large files against the same files read and written unchanged.

Usage::

    python benchmarks/scale.py [--rows 1e7] [--folder FOLDER] [--only NAME ...]

Prints one table. Each line is a command in a process of its own: its CPU seconds, on all
processors, and its peak of memory (Linux). CPU seconds are compared, because a machine may be
shared. The second ratio leaves out on both sides what does not grow with the rows: of a repair what
it takes to start and to import, of an audit what it takes for a thousand rows. The table has eight
columns of numbers, a protected column and an outcome; it is made once for each number of rows and
kept in FOLDER. What it takes on disk: about 0.7 GB for ten million rows as Parquet, 1.6 GB as CSV,
and as much again for what is written. Growth is seen by running it twice, with --rows 1e7 and
--rows 1e8. `--only sample` compares what is kept by blocks that were fitted on 500,000 rows and on
all of three million; it is not part of a plain run.
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
import lightgbm
import numpy as np
from pyarrow import parquet
import fourfifths
booster = lightgbm.Booster(model_str=fourfifths.Repairer.load(sys.argv[2]).model_.guide.models[0])
source = parquet.ParquetFile(sys.argv[1])
names = [f"x{index}" for index in range(8)]
for batch in source.iter_batches(batch_size=262_144, columns=names):
    booster.predict(np.stack([column.to_numpy() for column in batch.columns], axis=1),
                    raw_score=True)
"""
START = "import fourfifths._cli.main, fourfifths._effect.files"
START_OF = {  # what the other side imports
    "pyarrow": "import pyarrow.parquet",
    "duckdb": "import duckdb; duckdb.connect()",
}
SQL = """
import sys
import duckdb
print(duckdb.connect().sql(
    f"SELECT sex, count(*), sum(hired) FROM '{sys.argv[1]}' GROUP BY sex").fetchall())
"""
IMPACT = """
import sys
import time
import duckdb
import fourfifths

def connection():
    made = duckdb.connect()
    made.execute("SET enable_progress_bar = false")
    return made

def by_sql():
    connection().sql(
        f"SELECT sex, count(*), sum(hired) FROM '{sys.argv[1]}' GROUP BY sex").fetchall()

def by_cells():
    connection().sql(
        f"SELECT sex, hired, count(*) FROM '{sys.argv[1]}' GROUP BY sex, hired").fetchall()

def by_impact():
    fourfifths.impact(sys.argv[1], protected="sex", outcome="hired", favorable=1)

def cpu(work):
    start = time.process_time()
    work()
    return time.process_time() - start

works = by_sql, by_cells, by_impact
times = [[cpu(work) for work in works] for _ in range(int(sys.argv[2]))]  # the first one imports
print(*map(min, zip(*times, strict=True)))
"""
IMPACT_REPEATS = 5
SAMPLE = """
import sys
import numpy as np
import pyarrow as pa
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
import fourfifths
from fourfifths._repair import block_model

block_model.MAX_FIT_ROWS = int(sys.argv[1])
NAMES = [f"x{index}" for index in range(8)]

def make(rows, seed):
    random = np.random.default_rng(seed)
    sex, ability = random.integers(0, 2, rows), random.normal(size=rows)
    columns = {name: random.normal(size=rows) + 0.5 * sex + 0.5 * ability for name in NAMES}
    hired = (ability + 0.3 * sex + random.normal(size=rows) > 1).astype(np.int64)
    return pa.table({**columns, "sex": pa.array(np.array(["F", "M"])[sex]), "hired": hired})

def matrix(table):
    return np.stack([table[name].to_numpy() for name in NAMES], axis=1)

rows, new = make(3_000_000, 1), make(500_000, 2)
repairer = fourfifths.Repairer("sex", keep="hired", favorable=1, random_state=0).fit(rows)
train = rows.slice(0, 500_000)
model = LogisticRegression(max_iter=500)
model.fit(matrix(repairer.transform(train)), train["hired"].to_numpy())
scores = model.predict_proba(matrix(repairer.transform(new)))[:, 1]
placed = sum(stratum.placing_rows for stratum in repairer.proof_.strata)
auc = roc_auc_score(new["hired"].to_numpy(), scores)
print(f"fitted on at most {int(sys.argv[1]):,} rows: AUC {auc:.4f}, {placed:,} rows placed")
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


def make_csv(path: Path, source: Path) -> None:
    """Write a Parquet file as CSV."""
    import duckdb

    temporary = path.with_suffix(".part")
    duckdb.connect().read_parquet(str(source)).write_csv(str(temporary))
    temporary.rename(path)


def print_line(work: str, cost: Cost, *columns: str) -> None:
    """Print one line of the table."""
    cells = [work, f"{cost.cpu_seconds:.1f}", f"{cost.peak_bytes / 1e6:,.0f}", *columns]
    print(f"| {' | '.join([*cells, *[''] * (7 - len(cells))])} |", flush=True)


def print_ratio(
    work: str, cost: Cost, *, against: str, limit: Cost, starts: Sequence[Cost], reach: str
) -> None:
    """Print one line with its ratios to a limit, with and without what both take to start."""
    ratio = cost.cpu_seconds / limit.cpu_seconds
    start, start_of_limit = (start.cpu_seconds for start in starts)
    rest = (cost.cpu_seconds - start) / max(limit.cpu_seconds - start_of_limit, 1e-9)
    print_line(work, cost, against, f"{ratio:.2f}", f"{rest:.2f}", reach)


def measure_column(source: Path, folder: Path) -> None:
    """Repair a Parquet file by column."""
    out = folder / "out.parquet"
    rewrite = cost_of(REWRITE, [source, out])
    print_line("rewrite by pyarrow", rewrite)
    options = ["--memory", MEMORY, "--effect", "none", "--scope", "column"]
    column = cost_of(REPAIR, ["repair", source, out, *ROLES, *options])
    starts = [cost_of(START, []), cost_of(START_OF["pyarrow"], [])]
    print_ratio(
        "repair by column", column, against="rewrite", limit=rewrite, starts=starts, reach="2.3"
    )


def measure_blocks(source: Path, folder: Path) -> None:
    """Repair a Parquet file by blocks."""
    out, saved = folder / "out.parquet", folder / "saved.json"
    rewrite = cost_of(REWRITE, [source, out])
    print_line("rewrite by pyarrow", rewrite)
    options = ["--memory", MEMORY, "--effect", "none", "--save", saved]
    blocks = cost_of(REPAIR, ["repair", source, out, *ROLES, *options])
    predict = cost_of(PREDICT, [source, saved])
    print_line("the score's own predict", predict)
    limit = Cost(cpu_seconds=rewrite.cpu_seconds + 1.5 * predict.cpu_seconds, peak_bytes=0)
    starts = [cost_of(START, []), cost_of(START_OF["pyarrow"], [])]
    against = "rewrite + 1.5 predict"
    print_ratio("repair by blocks", blocks, against=against, limit=limit, starts=starts, reach="1")


def measure_csv(source: Path, folder: Path) -> None:
    """Repair a CSV by column, into a CSV."""
    csv, out = source.with_suffix(".csv"), folder / "out.csv"
    if not csv.exists():
        run_apart("csv")
    copy = cost_of(COPY, [csv, out])
    print_line("copy of a CSV by DuckDB", copy)
    options = ["--memory", MEMORY, "--effect", "none", "--scope", "column"]
    repair = cost_of(REPAIR, ["repair", csv, out, *ROLES, *options])
    starts = [cost_of(START, []), cost_of(START_OF["duckdb"], [])]
    print_ratio(
        "repair by column, CSV", repair, against="copy", limit=copy, starts=starts, reach="3"
    )


def measure_audit(source: Path, folder: Path) -> None:  # noqa: ARG001 - it writes nothing
    """Audit a Parquet file."""
    small = source.with_stem("table-1000")
    if not small.exists():
        run_apart("parquet", "--rows", "1000")
    sql = cost_of(SQL, [source])
    print_line("counts by SQL", sql)
    audit = cost_of(REPAIR, ["audit", source, *ROLES])
    starts = [cost_of(REPAIR, ["audit", small, *ROLES]), cost_of(SQL, [small])]
    work = "audit, the command"
    print_ratio(work, audit, against="SQL", limit=sql, starts=starts, reach="1.3")
    command = [sys.executable, "-c", IMPACT, str(source), str(IMPACT_REPEATS)]
    sums, cells, impact = map(float, subprocess.check_output(command).split())
    print(f"| in one process: counts by SQL, sum(hired) | {sums:.2f} | | | | | |")
    print(f"| in one process: counts by SQL, each value of hired | {cells:.2f} | | | | | |")
    print(
        f"| in one process: fourfifths.impact | {impact:.2f} | | SQL, sum / each value | | "
        f"{impact / sums:.2f} / {impact / cells:.2f} | 1.3 |"
    )


def measure_sample(source: Path, folder: Path) -> None:  # noqa: ARG001 - it writes nothing
    """Compare what blocks keep that were fitted on some of the rows, and on all."""
    for most in (500_000, 3_000_000):
        print(subprocess.check_output([sys.executable, "-c", SAMPLE, str(most)], text=True), end="")


WORKS = {
    "column": measure_column,
    "blocks": measure_blocks,
    "csv": measure_csv,
    "audit": measure_audit,
    "sample": measure_sample,
}


def run_apart(made: str, *options: str) -> None:
    """Make a file by another process: a peak begins with that of the process that started it."""
    command = [sys.executable, __file__, "--make", made, *sys.argv[1:], *options]
    subprocess.run(command, check=True)


def main() -> None:
    """Make the table and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "scale")
    parser.add_argument("--only", choices=[*WORKS], action="append")
    parser.add_argument("--make", choices=["parquet", "csv"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    row_count = int(options.rows)
    source = options.folder / f"table-{row_count}.parquet"
    if options.make == "parquet":
        make_table(source, row_count)
    elif options.make == "csv":
        make_csv(source.with_suffix(".csv"), source)
    else:
        names = options.only or [name for name in WORKS if name != "sample"]
        if not source.exists() and names != ["sample"]:
            run_apart("parquet")
        print(f"{row_count:,} rows\n")
        print("| work | CPU s | peak MB | against | ratio | without the start | reach |")
        print("| --- | ---: | ---: | --- | ---: | ---: | ---: |", flush=True)
        for name in names:
            WORKS[name](source, options.folder)


if __name__ == "__main__":
    main()
