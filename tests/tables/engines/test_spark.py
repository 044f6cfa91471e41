"""What Spark raises, in one line; no Spark is needed for it."""

import pytest

from fourfifths._tables.engines.spark import spark_error
from fourfifths.errors import ColumnError, TableError

WORKER = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "load.py", line 1, in column
{last}

JVM stacktrace:
java.lang.RuntimeException: other
"""


def test_error_of_a_worker_is_what_was_raised_there():
    error = spark_error(Exception(WORKER.format(last="fourfifths.errors.ColumnError: 'a': no")))
    assert isinstance(error, ColumnError)
    assert str(error) == "'a': no"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            WORKER.format(last="ModuleNotFoundError: No module named 'fourfifths'"),
            "the table: the Python of Spark's workers has no fourfifths; install fourfifths there, "
            "or set the environment variable PYSPARK_PYTHON to a Python that has it before the "
            "session starts",
        ),
        (
            "Job aborted due to stage failure: Task 1 in stage 4.0 failed 4 times, most recent "
            "failure: Lost task 1.3 in stage 4.0 (TID 9) (executor 3): ExecutorLostFailure "
            "(executor 3 exited) Reason: Container killed\nDriver stacktrace:\n at scala",
            "the table: Spark lost an executor more often than it tries again: Container killed; "
            "give executors more memory, or raise spark.task.maxFailures",
        ),
        (
            "An error occurred while calling o37.count.\n: java.lang.IllegalStateException: "
            "Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was",
            "the table: its Spark session has ended, or its master is not reachable; start a "
            "session and read the table again",
        ),
        (
            "<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n\t"
            'details = "failed to connect to all addresses"\n>',
            "the table: its Spark session has ended, or its master is not reachable; start a "
            "session and read the table again",
        ),
        (
            "An error occurred while calling o37.count.\n: java.io.IOException: No space left\n",
            "the table: Spark cannot compute it: IOException: No space left",
        ),
        (
            "[USER_RAISED] gone\n\nJVM stacktrace",
            "the table: Spark cannot compute it: [USER_RAISED] gone",
        ),
        ("", "the table: Spark cannot compute it: no reason is stated"),
    ],
)
def test_error_is_one_line(text, expected):
    error = spark_error(Exception(text))
    assert isinstance(error, TableError)
    assert str(error) == expected
