"""Time repairs by Spark against Spark passing the same rows through Python unchanged.

Usage::

    python benchmarks/spark.py [--rows 1e7] [--folder FOLDER] [--only local|cluster]
                               [--scope column|blocks]

`local` runs local[2]: each line is one job that reads a Parquet file and writes nothing, with the
CPU seconds of Java, of Python's workers and of the driver, and the seconds on the clock. The
reach is 1.5 times the identity; a repair by blocks has to compute the score, so it is also compared
with the identity and the score's own predict. `cluster`
starts a master and first one, then two workers on this machine, and times the same repair by blocks
of at least 8 partitions. A worker is bound to a core of its own (Linux), as on a machine with one
core: else the Java and the Python of a single worker would use both. Master and driver are not
bound. The reach is 1.6 times faster, by the clock, so nothing else may run on the machine. Needs
Java. The table is made once for each number of rows.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLUMNS = [f"x{index}" for index in range(8)]
FIT_ROWS = 200_000
PARTITION_BYTES = 48 << 20  # ten million rows are in 16 partitions
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def make_table(path: Path, row_count: int) -> None:
    """Write a table with a key, eight numbers, a protected column and an outcome."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    temporary, writer = path.with_suffix(".part"), None
    for start in range(0, row_count, 1 << 18):
        random = np.random.default_rng(start)
        rows = min(1 << 18, row_count - start)
        sex, ability = random.integers(0, 2, rows), random.normal(size=rows)
        columns = {name: random.normal(size=rows) + 0.5 * sex + 0.5 * ability for name in COLUMNS}
        hired = (ability + 0.3 * sex + random.normal(size=rows) > 1).astype(np.int64)
        names = pa.array(np.array(["F", "M"])[sex])
        key = np.arange(start, start + rows)
        table = pa.table({"id": key, **columns, "sex": names, "hired": hired})
        writer = writer or parquet.ParquetWriter(temporary, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    temporary.rename(path)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all that it started, ended or not."""
    parents, seconds = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1])
            seconds[int(entry.name)] = sum(map(int, fields[11:15])) / CLOCK_TICKS

    def is_ours(process: int) -> bool:
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process == os.getpid()

    return sum(seconds[process] for process in parents if is_ours(process))


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a job took."""

    cpu: float
    clock: float


def cost_of(frame: Any) -> Cost:
    """Compute all rows of a Spark DataFrame, and throw them away."""
    cpu, clock = cpu_seconds(), time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return Cost(cpu=cpu_seconds() - cpu, clock=time.perf_counter() - clock)


def started(master: str, **options: str) -> Any:
    """Return a session."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.sql.files.maxPartitionBytes": str(PARTITION_BYTES),
        **options,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def identity(batches: Iterator[Any]) -> Iterator[Any]:
    """Pass batches on."""
    yield from batches


def predicting(booster_text: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a map that only predicts, and passes batches on."""

    def predict(batches: Iterator[Any]) -> Iterator[Any]:
        import lightgbm
        import numpy as np

        booster = lightgbm.Booster(model_str=booster_text)
        for batch in batches:
            values = np.stack([batch.column(name).to_numpy() for name in COLUMNS], axis=1)
            booster.predict(values, raw_score=True, num_threads=1)
            yield batch

    return predict


def fitted(path: Path, scope: str, key: str | None) -> Any:
    """Return a repair that was fitted to some of the rows, in memory."""
    from pyarrow import parquet

    from fourfifths import Repairer

    table = parquet.ParquetFile(path).read_row_group(0).slice(0, FIT_ROWS)
    options: dict[str, Any] = {"keep": "hired", "blocks": 16} if scope == "blocks" else {}
    return Repairer("sex", columns=COLUMNS, scope=scope, key=key, **options).fit(table)


def print_line(work: str, cost: Cost, base: Cost, predict: Cost | None = None) -> None:
    """Print one line of the table; blocks are compared with the score's own predict, too."""
    against_predict = "" if predict is None else f"{cost.cpu / predict.cpu:.2f}"
    ratio = f"{cost.cpu / base.cpu:.2f}"
    print(
        f"| {work} | {cost.cpu:.1f} | {cost.clock:.1f} | {ratio} | {against_predict} |", flush=True
    )


def measure_local(path: Path, scopes: Sequence[str]) -> None:
    """Compare transforms with the identity, on two cores of this machine."""
    repairs = {(scope, key): fitted(path, scope, key) for scope in scopes for key in ("id", None)}
    spark = started("local[2]", **{"spark.driver.memory": "3g"})
    frame = spark.read.parquet(str(path))
    print(f"{frame.count():,} rows, {frame.rdd.getNumPartitions()} partitions, local[2]\n")
    print("| work | CPU s | clock s | times identity | times identity and predict |")
    print("| --- | --- | --- | --- | --- |")
    cost_of(frame.limit(100_000).mapInArrow(identity, frame.schema))  # starts what is started once
    base = cost_of(frame.mapInArrow(identity, frame.schema))
    print_line("identity", base, base)
    predict = None
    if "blocks" in scopes:
        text = repairs["blocks", "id"].model_.guide.models[0]
        predict = cost_of(frame.mapInArrow(predicting(text), frame.schema))
        print_line("identity and the score's own predict", predict, base)
    for (scope, key), repair in repairs.items():
        cost = cost_of(repair.transform(frame))
        work = f"{scope}, {'no key' if key is None else 'key'}"
        print_line(work, cost, base, predict if scope == "blocks" else None)
    spark.stop()


@contextlib.contextmanager
def cluster(worker_count: int, folder: Path) -> Iterator[str]:
    """Start a master, and workers that are bound to a core each; give the master's address."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = os.environ | {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(home),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, package = f"spark://127.0.0.1:{port}", "org.apache.spark.deploy"
    options = ["--host", "127.0.0.1", "--webui-port", "0"]
    log = (folder / "cluster.log").open("ab")
    processes = []

    def start(*arguments: str) -> None:
        command = [str(home / "bin" / "spark-class"), *arguments]
        processes.append(
            subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        )

    try:
        start(f"{package}.master.Master", *options, "--port", str(port))
        deadline = time.time() + 60
        while time.time() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        cores = os.sched_getaffinity(0)
        for core in sorted(cores)[:worker_count]:
            size = ["--cores", "1", "--memory", "1500m", "-d", str(folder)]
            os.sched_setaffinity(0, {core})  # the worker inherits it, and its Java and Python do
            start(f"{package}.worker.Worker", address, *options, *size)
        os.sched_setaffinity(0, cores)
        yield address
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()


def measure_cluster(path: Path) -> None:
    """Compare one worker with two: each in a process of its own, as a session has one master."""
    print("\n| workers | clock s of a repair by blocks | times faster | reach |")
    print("| --- | --- | --- | --- |")
    seconds = {}
    for worker_count in (1, 2):
        with cluster(worker_count, path.parent) as address:
            command = [sys.executable, __file__, "--worker-job", address, str(path)]
            result = subprocess.run(
                [*command, str(worker_count)], capture_output=True, text=True, check=True
            )
            seconds[worker_count] = float(result.stdout.splitlines()[-1])
        faster = "" if worker_count == 1 else f"{seconds[1] / seconds[2]:.2f}"
        reach = "" if worker_count == 1 else "1.6"
        print(f"| {worker_count} | {seconds[worker_count]:.1f} | {faster} | {reach} |", flush=True)


def run_job(address: str, path: Path, worker_count: int) -> None:
    """Repair by blocks on a cluster, and print its seconds once all workers have started."""
    repairer = fitted(path, "blocks", "id")
    spark = started(address, **{"spark.executor.memory": "1g"})
    frame = spark.read.parquet(str(path))
    deadline = time.time() + 60
    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus
    while executors().size() - 1 < worker_count and time.time() < deadline:
        time.sleep(0.2)
    assert frame.rdd.getNumPartitions() >= 8, "use more rows: at least 8 partitions are needed"
    # A few rows of every partition first: each worker then has Java and Python running.
    cost_of(repairer.transform(frame.sample(0.01, seed=0)))
    print(cost_of(repairer.transform(frame)).clock)
    spark.stop()


def main() -> None:
    """Make the table and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "scale")
    parser.add_argument("--only", choices=["local", "cluster"])
    parser.add_argument("--scope", choices=["column", "blocks"], help="of the repairs in `local`")
    parser.add_argument("--worker-job", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker_job:
        address, path, worker_count = options.worker_job
        run_job(address, Path(path), int(worker_count))
        return
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        parser.error("Spark needs Java 17 or 21, and there is none in PATH or JAVA_HOME")
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"spark-{int(options.rows)}.parquet"
    if not path.exists():
        make_table(path, int(options.rows))
    if options.only in (None, "local"):
        measure_local(path, [options.scope] if options.scope else ["column", "blocks"])
    if options.only in (None, "cluster"):
        measure_cluster(path)


if __name__ == "__main__":
    main()
