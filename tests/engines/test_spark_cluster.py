"""A cluster of one master and two workers on this machine, parts of which are killed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is missing"),
]

SESSION = r"""
import json, os, signal, sys, threading, time
import numpy as np, pyarrow as pa
from pyspark.sql import SparkSession
from fourfifths import Repairer, impact
from fourfifths.errors import TableError

master = sys.argv[1]
random = np.random.default_rng(0)
group = random.integers(0, 2, 4000)
score = random.normal(size=4000).round(1) + group
table = pa.table({
    "id": np.arange(4000), "group": np.array(["a", "b"])[group], "score": score,
    "hired": score + random.normal(size=4000) > 0.5,
})
session = (
    SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.executor.memory", "512m").config("spark.log.level", "OFF").getOrCreate()
)
frame = session.createDataFrame(table).repartition(24, "id")
unfitted = Repairer("group", keep="hired", favorable=True, key="id", blocks=8)

def message(work):
    try:
        work()
    except TableError as error:
        return str(error)
"""

DRIVER = (
    SESSION
    + r"""
worker = int(sys.argv[2])
repairer = Repairer("group", keep="hired", favorable=True, key="id", blocks=8).fit(table)
executors = lambda: session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
deadline = time.time() + 120
while executors() < 2 and time.time() < deadline:
    time.sleep(0.2)
before = executors()
killed_after = []

def kill():
    tracker = session.sparkContext.statusTracker()
    while True:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        done = [s.numCompletedTasks for s in stages if s is not None and s.numTasks == 24]
        if done and done[0] >= 2:
            killed_after.append(done[0])
            os.killpg(worker, signal.SIGKILL)
            return
        time.sleep(0.01)

threading.Thread(target=kill, daemon=True).start()
repaired = repairer.transform(frame).toArrow().sort_by("id")
same = repaired.equals(repairer.transform(table))
while executors() > 1 and time.time() < deadline:
    time.sleep(0.2)
print(json.dumps({"same": same, "before": before, "after": executors(), "killed": killed_after}))
"""
)

# The rows with this key end the process of Java that runs the executor, as the system does when
# memory runs out. Spark starts another one, and tries four times.
LOST_EXECUTOR = (
    SESSION
    + r"""
def end_executor(batches):
    for batch in batches:
        if 3999 in batch.column("id").to_pylist():
            process = os.getpid()
            while "java" not in open(f"/proc/{process}/comm").read():
                process = int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])
            os.kill(process, signal.SIGKILL)
            time.sleep(60)
        yield batch

# Without a shuffle, whose files would be lost with the executor and made again.
whole = session.createDataFrame(table)
losing = whole.mapInArrow(end_executor, whole.schema)
repaired = unfitted.fit(table).transform(losing)
messages = [
    message(lambda: impact(losing, protected="group", outcome="hired")),
    message(lambda: unfitted.fit(losing)),
]
try:
    repaired.write.parquet(sys.argv[2])
    is_raised = False
except Exception:
    is_raised = True
print(json.dumps({"messages": messages, "is_raised": is_raised}))
"""
)


@pytest.fixture
def cluster(tmp_path):
    """Return the address of a master, its process, those of two workers, and their environment."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class")]
    environment = os.environ | {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    address, package = f"spark://127.0.0.1:{port}", "org.apache.spark.deploy"
    options = ["--host", "127.0.0.1", "--webui-port", "0"]

    def started(*arguments):
        with (tmp_path / "cluster.log").open("ab") as log:
            return subprocess.Popen(
                [*command, *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    running = [started(f"{package}.master.Master", *options, "--port", str(port))]
    deadline = time.time() + 120
    while time.time() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.2)
    for _ in range(2):
        size = ["--cores", "1", "--memory", "600m", "-d", str(tmp_path)]
        running.append(started(f"{package}.worker.Worker", address, *options, *size))
    yield address, running, environment
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def outcome_of(driver, *arguments, environment):
    """Return what a driver prints last, as JSON, when it runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", driver, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_worker_that_is_killed_in_the_middle_does_not_change_the_table(cluster):
    address, (_, worker, _), environment = cluster
    outcome = outcome_of(DRIVER, address, worker.pid, environment=environment)
    assert outcome["same"]
    assert outcome["before"] == 2
    assert outcome["after"] == 1
    assert 2 <= outcome["killed"][0] < 24


def test_an_executor_that_is_lost_again_and_again_is_one_line_and_nothing_is_written(
    cluster, tmp_path
):
    address, _, environment = cluster
    written = tmp_path / "repaired.parquet"
    outcome = outcome_of(LOST_EXECUTOR, address, written, environment=environment)
    for message in outcome["messages"]:
        assert message.startswith(
            "the table: Spark lost an executor more often than it tries again: "
        )
        assert message.endswith("; give executors more memory, or raise spark.task.maxFailures")
        assert "\n" not in message
    assert outcome["is_raised"]
    assert [path for path in written.rglob("*") if path.is_file()] == []


def test_without_java_no_session_starts_and_files_are_audited_all_the_same(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("sex,hired\n" + "F,yes\nF,no\nM,yes\nM,yes\n" * 5)
    for name in ("bash", "dirname", "env", "ls"):
        (tmp_path / name).symlink_to(shutil.which(name))
    environment = {k: v for k, v in os.environ.items() if k != "JAVA_HOME"}
    environment["PATH"] = str(tmp_path)
    driver = r"""
import sys
from fourfifths import impact
from pyspark.sql import SparkSession
audit = impact(sys.argv[1], protected="sex", outcome="hired", favorable="yes")
print(audit.rows)
SparkSession.builder.master("local[1]").getOrCreate()
"""
    done = subprocess.run(
        [sys.executable, "-c", driver, str(table)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == "20\n"
    assert "[JAVA_GATEWAY_EXITED]" in done.stderr.splitlines()[-1]
