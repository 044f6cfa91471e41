"""Spark Connect, whose client has no Java: the same numbers as from memory."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(find_spec("grpc") is None, reason="Spark Connect needs grpcio"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is missing"),
]

# In a process of its own: a process has either a classic session or one of Connect.
CLIENT = r"""
import json, os, sys
import numpy as np, pyarrow as pa
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from fourfifths import Repairer, certify, impact

session = (
    SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2").config("spark.log.level", "OFF").getOrCreate()
)
random = np.random.default_rng(0)
group = random.integers(0, 2, 300)
score = random.normal(size=300).round(1) + group
table = pa.table({
    "id": np.arange(300), "group": np.array(["a", "b"])[group], "score": score,
    "hired": np.where(score + random.normal(size=300) > 0.5, "yes", "no"),
})
frame = session.createDataFrame(table)
roles = {"protected": "group", "outcome": "hired", "favorable": "yes"}
sample = {"columns": ["score"], "max_rows": 100, "auditors": ["logistic"]}
repair = {"columns": ["score"], "keep": "hired", "blocks": 4}
same = {
    "impact": impact(frame, **roles).to_json() == impact(table, **roles).to_json(),
    "certificate": certify(frame, **roles, **sample).to_json()
    == certify(table, **roles, **sample).to_json(),
}
for key in ("id", None):
    fitted = Repairer("group", key=key, **repair).fit(frame)
    repaired = fitted.transform(frame).toArrow().sort_by("id")
    same[f"repair, key {key}"] = repaired.equals(
        Repairer("group", key=key, **repair).fit(table).transform(table)
    )
print(json.dumps(same))
"""

# Port 1 refuses connections. By itself the client would try again for about twenty minutes.
UNREACHABLE = r"""
import json
from pyspark.sql import SparkSession
from pyspark.sql.connect.client.retries import DefaultPolicy
from fourfifths import Repairer, certify, impact
from fourfifths.errors import TableError

session = SparkSession.builder.remote("sc://127.0.0.1:1").getOrCreate()
session.client.set_retry_policies([DefaultPolicy(max_retries=1, initial_backoff=10)])
frame = session.read.parquet("people.parquet")
roles = {"protected": "group", "outcome": "hired"}
messages = []
for work in (
    lambda: impact(frame, **roles),
    lambda: certify(frame, **roles),
    lambda: Repairer("group", columns=["score"]).fit(frame),
):
    try:
        work()
    except TableError as error:
        messages.append(str(error))
print(json.dumps(messages))
"""


def test_numbers_are_those_of_the_rows_in_memory():
    done = subprocess.run(
        [sys.executable, "-c", CLIENT], capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "impact": True,
        "certificate": True,
        "repair, key id": True,
        "repair, key None": True,
    }


def test_a_server_that_cannot_be_reached_is_one_line():
    done = subprocess.run(
        [sys.executable, "-c", UNREACHABLE],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    expected = (
        "the table: its Spark session has ended, or its master is not reachable; start a session "
        "and read the table again"
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [expected] * 3
