"""A cluster of one master and two workers on this machine, one of which is killed."""

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

DRIVER = r"""
import json, os, signal, sys, threading, time
import numpy as np, pyarrow as pa
from pyspark.sql import SparkSession
from fourfifths import Repairer

master, worker = sys.argv[1], int(sys.argv[2])
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


@pytest.fixture
def cluster(tmp_path):
    """Return the address of a master, and the process groups of two workers."""
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
    yield address, running[1:], environment
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_worker_that_is_killed_in_the_middle_does_not_change_the_table(cluster):
    address, workers, environment = cluster
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, address, str(workers[0].pid)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["same"]
    assert outcome["before"] == 2
    assert outcome["after"] == 1
    assert 2 <= outcome["killed"][0] < 24
