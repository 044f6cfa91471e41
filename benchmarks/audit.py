"""Time an audit against the same counts in plain SQL, as ratios in one run.

Usage::

    python benchmarks/audit.py [--rows 10000000]

Prints one table. A time is the best of several runs. Memory is how much one run raises the peak
resident size of a fresh process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl

import fourfifths
from fourfifths._impact.impact import impact

REPEATS = 7
QUERY = "SELECT sex, race, hired, count(*) FROM '{path}' GROUP BY ALL"
ROLES = {"protected": ["sex", "race"], "outcome": "hired", "favorable": "yes"}


def make(path: Path, rows: int) -> None:
    """Write the table to audit."""
    duckdb.connect().execute(
        f"""COPY (SELECT ['F', 'M'][(1 + hash(i) % 2)::INT] AS sex,
                         ['A', 'B', 'C', 'D', 'E', 'F'][(1 + hash(i + 1) % 6)::INT] AS race,
                         if(hash(i + 2) % 10 < 3, 'yes', 'no') AS hired, hash(i) % 1000 AS noise
                  FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet)"""
    )


def by_hand(path: str) -> object:
    """Count the cells with one SQL query."""
    return duckdb.connect().execute(QUERY.format(path=path)).fetchall()


def by_audit(path: str) -> object:
    """Audit the file."""
    return impact(path, **ROLES)


def best(task: Callable[[], object]) -> float:
    """Return the best time of several runs, after one run to warm up."""
    task()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def peak(name: str, path: Path) -> float:
    """Return by how many megabytes one run raises the peak of a fresh process."""
    run = [sys.executable, __file__, "--peak", name, str(path)]
    return float(subprocess.run(run, capture_output=True, check=True).stdout)


def report_peak(name: str, path: str) -> None:
    """Run twice to load everything and to settle the allocator, then measure a third run."""
    task = {"by hand": by_hand, "audit": by_audit}[name]
    task(path)
    task(path)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    task(path)
    print(resident("VmHWM") - before)


def resident(field: str) -> float:
    """Return a field of this process's memory status, in megabytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return float(status.split(f"{field}:")[1].split()[0]) / 1024


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--peak", nargs=2, default=None)
    options = parser.parse_args()
    if options.peak:
        report_peak(*options.peak)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hires.parquet"
        make(path, options.rows)
        hand, audit = best(lambda: by_hand(str(path))), best(lambda: by_audit(str(path)))
        memory = {name: peak(name, path) for name in ("by hand", "audit")}
        million = duckdb.connect().sql(f"FROM '{path}' LIMIT 1000000")
        pandas_frame, polars_frame = million.df(), million.pl()
    keys = ["sex", "race", "hired"]
    frames: list[tuple[str, pd.DataFrame | pl.DataFrame, Callable[[], object]]] = [
        ("pandas", pandas_frame, lambda: pandas_frame.groupby(keys).size()),
        ("polars", polars_frame, lambda: polars_frame.group_by(keys).len()),
    ]
    print(f"fourfifths {fourfifths.__version__}, duckdb {duckdb.__version__}")
    print("| work | by hand | audit | ratio |\n| --- | ---: | ---: | ---: |")
    name = f"{options.rows:,} rows of Parquet, two attributes and their joint"
    print(f"| {name} | {hand:.3f} s | {audit:.3f} s | {audit / hand:.2f} |")
    bare, ours = memory["by hand"], memory["audit"]
    print(f"| the same, peak memory | {bare:.0f} MB | {ours:.0f} MB | {ours / bare:.2f} |")
    for kind, frame, bare in frames:
        alone, measured = best(bare), best(lambda frame=frame: impact(frame, **ROLES))
        name = f"1,000,000 rows of {kind}, against its own group_by"
        print(f"| {name} | {alone:.3f} s | {measured:.3f} s | {measured / alone:.2f} |")


if __name__ == "__main__":
    main()
