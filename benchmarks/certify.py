"""Time certify against scikit-learn's cross-validation, and a large table against a small one.

Usage::

    python benchmarks/certify.py [--rows 10000000] [--before FOLDER]

Prints one table. Everything is measured in one run, on one thread. FOLDER is a checkout of an older
version; then its certificate of Adult is timed too, in turns with this one's, and the best of two
runs counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import fourfifths
from fourfifths._certify.auditors import find_details, panel
from fourfifths._certify.certify import certify
from fourfifths._tables.sample import read_features
from fourfifths._tables.table import open_table

SMALL_ROWS = 200_000
ROUNDS = 2
ADULT = """
import time
from fourfifths import certify
certify("ricci", auditors=["logistic", "trees"], folds=2, progress=False)
start = time.perf_counter()
certify("adult", protected="sex", progress=False)
print(time.perf_counter() - start)
"""
NOT_FEATURES = ("sex", "race", "income", "split")


def timed(task: Callable[[], object]) -> float:
    """Return how long one run takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def cross_validate() -> None:
    """Score Adult by scikit-learn, with the same estimators and folds."""
    table = open_table("adult")
    names = [column for column in table.columns if column not in NOT_FEATURES]
    groups, sizes = [("Female",), ("Male",)], [16_192, 32_650]
    features = read_features(
        table,
        names,
        protected=["sex"],
        groups=groups,
        quotas=sizes,
        sizes=sizes,
        random_state=0,
    )
    values = np.hstack([features.values, find_details(features).codes])
    labels = features.groups == 1
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for auditor in panel(None, features.is_category, random_state=0).values():
        cross_val_predict(auditor, values, labels, cv=folds, method="decision_function")


def adult_time(folder: Path) -> float:
    """Return how long the certificate of Adult takes with the code of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    done = subprocess.run(
        [sys.executable, "-c", ADULT], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def make(path: Path, rows: int) -> None:
    """Write a table of the given size in which some columns depend on the group."""
    duckdb.connect().execute(
        f"""COPY (SELECT if(hash(i) % 2 = 0, 'A', 'B') AS grp,
                         (hash(i + 1) % 1000) / 1000.0 + (hash(i) % 2) * 0.1 AS score,
                         hash(i + 2) % 40 AS years, hash(i + 3) % 100000 AS income,
                         'area ' || (hash(i + 4) % 50 + (hash(i) % 2) * 5)::VARCHAR AS area,
                         if(hash(i + 5) % 10 < 3, 'yes', 'no') AS hired
                  FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet)"""
    )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    if options.before:
        folders = (options.before, Path(__file__).parent.parent)
        rounds = [[adult_time(folder.resolve()) for folder in folders] for _ in range(ROUNDS)]
        before, now = (min(times) for times in zip(*rounds, strict=True))
        print(f"Adult by sex: {before:.1f} s before, {now:.1f} s now, ratio {now / before:.2f}")
    certify("ricci", auditors=["logistic", "trees"])  # so that everything is imported
    bare, ours = timed(cross_validate), timed(lambda: certify("adult"))
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for rows in (SMALL_ROWS, options.rows):
            path = Path(folder) / f"{rows}.parquet"
            make(path, rows)
            roles = {"protected": "grp", "outcome": "hired", "favorable": "yes"}
            times.append(timed(lambda path=path, roles=roles: certify(path, **roles)))
    print(f"fourfifths {fourfifths.__version__}, numpy {np.__version__}")
    print("| work | against | certify | ratio |\n| --- | ---: | ---: | ---: |")
    name = "Adult, 48,842 rows, all columns, against cross_val_predict of the same auditors"
    print(f"| {name} | {bare:.1f} s | {ours:.1f} s | {ours / bare:.2f} |")
    name = f"{options.rows:,} rows of Parquet, against {SMALL_ROWS:,}"
    print(f"| {name} | {times[0]:.1f} s | {times[1]:.1f} s | {times[1] / times[0]:.2f} |")


if __name__ == "__main__":
    main()
