"""Measure work that should cost little beside the work that was asked for, in processor seconds.

Usage::

    python benchmarks/waste.py [PART ...] [--rows 1000000] [--before FOLDER]

Prints one table. PART is one or more of `PARTS`; by default all are run, which takes some minutes.
FOLDER is a checkout of an older version; then the same lines are measured with its code, and shown
beside. Everything is processor time of the process that does the work, with all its threads, so
that other work on the machine matters less. The line of numba needs the extra `[fast]`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

from fourfifths import Repairer, certify
from fourfifths._certify import auditors
from fourfifths._effect.effect import middle_rank
from fourfifths._repair.columns.kernel_choice import NUMPY_KERNELS, compiled_kernels
from fourfifths._repair.columns.quantiles import make_grid
from fourfifths._tables.load import rows_of
from fourfifths._tables.strata import fit_strata

REPEATS = 3
COLUMNS = 8
SVM_ROWS, SVM_COLUMNS = 20_000, (6, 50)
ROWS_PER_GROUP, GROUP_COLUMNS, GROUP_COUNTS = 2_500, 6, (2, 5, 10)
CATEGORY_ROWS, CATEGORIES = 200_000, 800
LEVELS = 1_000


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the table: processor seconds of the work, and of what it is compared with."""

    work: str
    seconds: float
    against: float
    at_most: float

    @property
    def ratio(self) -> float:
        """How many times as long the work takes."""
        return self.seconds / self.against


def cpu(task: Callable[[], object], *, repeats: int = REPEATS) -> float:
    """Return the least processor time of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def child_cpu(*command: str) -> float:
    """Return the processor time of another process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def numbers(
    rows: int, columns: int, *, groups: int = 2, shift: float = 0.4
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns and groups; with a shift, two of the columns depend on the group."""
    random = np.random.default_rng(0)
    group = random.permutation(np.arange(rows) % groups)
    values = random.normal(size=(rows, columns))
    values[:, 0] += shift * group
    values[:, 1] *= 1 + 0.75 * shift * (group == 1)
    return values, group


def frame(rows: int, columns: int = COLUMNS) -> pd.DataFrame:
    """Return the numbers with a group and an outcome, by name."""
    values, group = numbers(rows, columns)
    table = pd.DataFrame({f"c{index}": values[:, index] for index in range(columns)})
    table["group"] = np.array(["a", "b"])[group]
    chance = 1 / (1 + np.exp(-values[:, 0] - 0.5 * values[:, 2]))
    hired = np.random.default_rng(1).random(rows) < chance
    table["hired"] = np.where(hired, "yes", "no")
    return table


def rank_lines(rows: int) -> Iterator[Line]:
    """Yield the middle ranks of a repaired column, against binary searches in any order."""
    values = np.random.default_rng(0).normal(size=rows)
    ordered, queries = np.sort(values), values + 0.1

    def search() -> None:
        for side in ("left", "right"):
            np.searchsorted(ordered, queries, side=side)

    yield Line(
        work=f"ranks of {rows:,} values, against two binary searches of each in any order",
        seconds=cpu(lambda: middle_rank(ordered, queries)),
        against=cpu(search),
        at_most=0.5,
    )


def transform_lines(rows: int) -> Iterator[Line]:
    """Yield `transform` of dataframes, against the same numbers as an array."""
    values, group = numbers(rows, COLUMNS)
    columns = {f"c{index}": values[:, index].copy() for index in range(COLUMNS)}
    texts = np.array(["a", "b"])[group]
    tables = {
        "Arrow": pa.table(columns | {"group": texts}),
        "pandas": pd.DataFrame(columns | {"group": texts}),
        "polars": pl.DataFrame(columns | {"group": texts}),
    }
    options = {"scope": "column", "method": "geometric", "amount": 0.5}
    array = Repairer(**options).fit(values, protected=group)
    against = cpu(lambda: array.transform(values, protected=group))
    for name, table in tables.items():
        fitted = Repairer("group", columns=list(columns), **options).fit(table)
        yield Line(
            work=f"transform of {rows:,} x {COLUMNS} by column, {name} against numpy",
            seconds=cpu(lambda fitted=fitted, table=table: fitted.transform(table)),
            against=against,
            at_most=1.3,
        )


def lookup_lines(rows: int) -> Iterator[Line]:
    """Yield lookups in knots that crowd in few cells of the grid, numba against numpy."""
    random = np.random.default_rng(0)
    compiled = compiled_kernels()
    for name, values in {
        "log-normal (sigma 2)": random.lognormal(sigma=2, size=rows),
        "Pareto (0.7)": random.pareto(0.7, size=rows),
        "Cauchy": random.standard_cauchy(size=rows),
        "normal": random.normal(size=rows),
    }.items():
        knots = np.unique(np.quantile(values, np.linspace(0, 1, LEVELS)))
        grid = make_grid(knots)
        compiled.knots_up_to(values[:10], grid)
        yield Line(
            work=f"lookup of {rows:,} {name} values, numba against numpy",
            seconds=cpu(lambda grid=grid, values=values: compiled.knots_up_to(values, grid)),
            against=cpu(lambda grid=grid, values=values: NUMPY_KERNELS.knots_up_to(values, grid)),
            at_most=1.0,
        )


def svm_lines(_: int) -> Iterator[Line]:
    """Yield the svm's penalties, tried until they stop helping, against all 13."""
    for columns in SVM_COLUMNS:
        table = frame(SVM_ROWS, columns)

        def run(table: pd.DataFrame = table) -> None:
            certify(
                table,
                protected="group",
                outcome="hired",
                favorable="yes",
                auditors=["svm"],
                max_rows=SVM_ROWS,
                progress=False,
            )

        with mock.patch.object(auditors, "PATIENCE", len(auditors.SVM_PENALTIES)):
            every_penalty = cpu(run, repeats=1)
        yield Line(
            work=f"certify of {SVM_ROWS:,} x {columns} by svm, against all 13 penalties",
            seconds=cpu(run, repeats=1),
            against=every_penalty,
            at_most=1 / 3,
        )


def group_lines(_: int) -> Iterator[Line]:
    """Yield what a row of a certificate costs with more groups, against two groups."""
    per_row: dict[int, float] = {}
    for shift, groups in product((0.4, 0.0), GROUP_COUNTS):
        rows = groups * ROWS_PER_GROUP
        values, group = numbers(rows, GROUP_COLUMNS, groups=groups, shift=shift)
        table = pd.DataFrame(values, columns=[f"c{index}" for index in range(GROUP_COLUMNS)])
        table["group"] = [f"g{code}" for code in group]
        options = {"protected": "group", "beta": 0.3, "reference": "g0", "progress": False}
        per_row[groups] = cpu(lambda t=table, o=options: certify(t, **o), repeats=1) / rows
        if groups > 2:
            yield Line(
                work=f"certify of {groups} {'different' if shift else 'equal'} groups of "
                f"{ROWS_PER_GROUP:,} rows x {GROUP_COLUMNS}, per row, against 2 groups",
                seconds=per_row[groups] * rows,
                against=per_row[2] * rows,
                at_most=2.0,
            )


def category_lines(_: int) -> Iterator[Line]:
    """Yield the codes of strata, against pandas' own factorize."""
    codes = np.random.default_rng(0).integers(CATEGORIES, size=CATEGORY_ROWS)
    texts = np.array([f"school {code:04d}" for code in range(CATEGORIES)])[codes]
    column = pd.Series(texts, name="school")
    against = cpu(lambda: pd.factorize(column, sort=True))
    for name, table in {
        "Arrow": pa.table({"school": pa.array(texts.tolist())}),
        "pandas": pd.DataFrame({"school": column}),
        "polars": pl.DataFrame({"school": texts.tolist()}),
    }.items():
        rows = rows_of(table)
        rows.column("school")

        def fit(rows: object = rows) -> None:
            fit_strata(rows, ("school",), bands={}, unseen="error", small="error")

        yield Line(
            work=f"strata of {CATEGORY_ROWS:,} rows, {CATEGORIES} texts, {name}, against pandas' "
            "factorize",
            seconds=cpu(fit),
            against=against,
            at_most=3.0,
        )


def repair_lines(rows: int) -> Iterator[Line]:
    """Yield the commands `repair` and `repair --apply`, against the bare work."""
    with tempfile.TemporaryDirectory() as folder:
        source, out, saved = (str(Path(folder) / name) for name in ("in.parquet", "o.parquet", "r"))
        saved += ".json"
        frame(rows).to_parquet(source)
        table = ["-c", "import fourfifths._cli.main as m; m.main()"]
        columns = [part for index in range(COLUMNS) for part in ("--columns", f"c{index}")]
        options = ["--protected", "group", "--outcome", "hired", "--favorable", "yes"]
        for scope in ("column", "blocks"):
            fitting = ["--scope", scope, *columns, *options, "--save", saved]
            whole = child_cpu(*table, "repair", source, out, *fitting)
            applied = child_cpu(*table, "repair", source, out, "--apply", saved)

            def load_and_apply(scope: str = scope) -> None:
                arrow = parquet.read_table(source)
                names = [f"c{index}" for index in range(COLUMNS)]
                kept = {"keep": "hired", "favorable": "yes"} if scope == "blocks" else {}
                repairer = Repairer("group", columns=names, scope=scope, **kept)
                needed = arrow.select([*names, "group", *(["hired"] if kept else [])])
                parquet.write_table(repairer.fit(needed).transform(needed), out)

            bare = cpu(load_and_apply, repeats=1)
            name = f"{rows:,} x {COLUMNS} by {scope}"
            yield Line(
                work=f"repair of {name}, against load, fit, transform and write",
                seconds=whole,
                against=bare,
                at_most=float("nan"),
            )
            yield Line(
                work=f"repair --apply of {name}, against load, fit, transform and write",
                seconds=applied,
                against=bare,
                at_most=1.5,
            )


def import_lines(_: int) -> Iterator[Line]:
    """Yield a small audit, against Python with the packages that every audit needs."""
    audit = "import fourfifths; fourfifths.impact('ricci')"
    yield Line(
        work="audit of Ricci from Python, against import numpy, narwhals, duckdb, pyarrow",
        seconds=min(child_cpu("-c", audit) for _ in range(REPEATS)),
        against=min(
            child_cpu("-c", "import numpy, narwhals, duckdb, pyarrow") for _ in range(REPEATS)
        ),
        at_most=float("nan"),
    )


PARTS: dict[str, Callable[[int], Iterator[Line]]] = {
    "ranks": rank_lines,
    "transform": transform_lines,
    "lookup": lookup_lines,
    "svm": svm_lines,
    "groups": group_lines,
    "categories": category_lines,
    "repair": repair_lines,
    "imports": import_lines,
}


def lines_of(part: str, rows: int, folder: Path | None) -> list[Line]:
    """Return the lines of one part, measured in another process with the code of a checkout."""
    environment = dict(os.environ)
    if folder is not None:
        environment["PYTHONPATH"] = str(folder.resolve() / "src")
    command = [sys.executable, __file__, part, "--rows", str(rows), "--json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [Line(**line) for line in json.loads(done.stdout)]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    parts = options.parts or list(PARTS)
    if options.json:
        print(json.dumps([asdict(line) for part in parts for line in PARTS[part](options.rows)]))
        return
    print("| work | before | now | against | ratio | at most |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for part in parts:
        lines = lines_of(part, options.rows, None)
        older = lines_of(part, options.rows, options.before) if options.before else None
        for index, line in enumerate(lines):
            before = f"{older[index].seconds:.3f} s" if older else ""
            limit = "" if np.isnan(line.at_most) else f"{line.at_most:.2g}"
            print(
                f"| {line.work} | {before} | {line.seconds:.3f} s | {line.against:.3f} s | "
                f"{line.ratio:.2f} | {limit} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
