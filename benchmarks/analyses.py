"""Time `stages` and `cuts` against the same counts in plain SQL, as ratios in one run.

Usage::

    python benchmarks/analyses.py [--rows 10000000]

Prints one table. A time is the best of several runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import fourfifths

REPEATS = 5
STAGES = ["interviewed", "offered", "hired"]


def make(path: Path, rows: int) -> None:
    """Write a table with three stages, a score of 101 points, and one with many digits."""
    duckdb.connect().execute(
        f"""COPY (SELECT ['F', 'M'][(1 + hash(i) % 2)::INT] AS sex,
                         ['A', 'B', 'C', 'D', 'E', 'F'][(1 + hash(i + 1) % 6)::INT] AS race,
                         if(hash(i + 2) % 10 < 5, 'yes', 'no') AS interviewed,
                         if(interviewed = 'yes', if(hash(i + 3) % 10 < 4, 'yes', 'no'), NULL)
                             AS offered,
                         if(offered = 'yes', if(hash(i + 4) % 10 < 7, 'yes', 'no'), NULL) AS hired,
                         (hash(i + 5) % 101)::INT AS points,
                         hash(i + 6)::DOUBLE / 1e19 AS probability
                  FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet)"""
    )


def best(task: Callable[[], object]) -> float:
    """Return the best time of several runs, after one run to warm up."""
    task()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        make(path, rows)

        def sql(keys: str) -> Callable[[], object]:
            query = f"SELECT {keys}, count(*) FROM '{path}' GROUP BY ALL"
            return lambda: duckdb.connect().execute(query).fetchall()

        # The rows of the result stay in DuckDB: there are nearly as many as in the table.
        many = (
            f"SELECT count(*) FROM (SELECT race, probability, count(*) FROM '{path}' GROUP BY ALL)"
        )
        both = ["sex", "race"]
        tasks: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "stages: three, two attributes and their joint": (
                sql(f"sex, race, {', '.join(STAGES)}"),
                lambda: fourfifths.stages(path, protected=both, stages=STAGES),
            ),
            "cuts: 101 points, one attribute": (
                sql("race, points"),
                lambda: fourfifths.cuts(path, protected="race", score="points"),
            ),
            "cuts: 101 points, two attributes and their joint": (
                sql("sex, race, points"),
                lambda: fourfifths.cuts(path, protected=both, score="points"),
            ),
            "cuts: a score with many digits, one attribute": (
                lambda: duckdb.connect().execute(many).fetchall(),
                lambda: fourfifths.cuts(path, protected="race", score="probability"),
            ),
        }
        print("| work | by hand | here | ratio |")
        print("| --- | ---: | ---: | ---: |")
        for name, (by_hand, here) in tasks.items():
            hand, own = best(by_hand), best(here)
            print(f"| {rows:,} rows, {name} | {hand:.3f} s | {own:.3f} s | {own / hand:.2f} |")


if __name__ == "__main__":
    main()
