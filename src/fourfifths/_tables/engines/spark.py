"""What Spark computes by itself: positions, draws and moments; and its errors in one line.

A table of Spark has the order of its partitions, which is that of `toArrow` and `toPandas`; a row's
position counts in this order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fourfifths import errors
from fourfifths.errors import FourfifthsError, TableError

# `monotonically_increasing_id` has the partition in the bits above these.
POSITION_BITS = 33
MAX_MESSAGE_LETTERS = 300
RAISED_IN_WORKER = re.compile(r"^fourfifths\.errors\.(?P<kind>\w+): (?P<message>.+)$", re.MULTILINE)
LACKING_MODULE = re.compile(
    r"^ModuleNotFoundError: No module named '(?P<module>[\w.]+)'", re.MULTILINE
)
ENDED_SESSION = (
    "SparkContext was shut down",
    "stopped SparkContext",
    "All masters are unresponsive",
    "SESSION_OR_CONTEXT_NOT_EXISTS",
    "StatusCode.UNAVAILABLE",  # of Connect
)
RAISED = re.compile(r"^(?:: )?(?:[\w.]+\.)?(?P<text>\w*(?:Error|Exception): .+)$", re.MULTILINE)


def is_spark(native: Any) -> bool:
    """Return whether this is a dataframe of Spark, classic or Connect.

    Examples
    --------
    >>> is_spark([1, 2])
    False
    """
    kind = type(native)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


def check_session(frame: Any) -> None:
    """Raise if the session of a Spark dataframe has ended."""
    session = frame.sparkSession
    context = getattr(session, "_sc", None)
    is_ended = (
        session.is_stopped  # of Connect
        if context is None
        else context._jsc is None or context._jsc.sc().isStopped()
    )
    if is_ended:
        raise ended_session()


def ended_session() -> TableError:
    """Return the error for a table whose session is gone."""
    return TableError(
        "the table: its Spark session has ended, or its master is not reachable; start a session "
        "and read the table again"
    )


def with_positions(frame: Any, name: str) -> Any:
    """Return a Spark dataframe with the position of each row, from 0, in a further column.

    Two passes over the rows: the first counts those of each partition.
    """
    from pyspark.sql import functions

    numbered = frame.withColumn(name, functions.monotonically_increasing_id())
    partition = functions.shiftright(functions.col(name), POSITION_BITS)
    with one_line_errors():
        counts = dict(numbered.groupBy(partition.alias("part")).count().collect())
    sizes = np.zeros(max(counts, default=0) + 1, dtype=np.int64)
    sizes[list(counts)] = list(counts.values())
    first = functions.lit((np.cumsum(sizes) - sizes).tolist())
    in_partition = functions.col(name).bitwiseAND(functions.lit(2**POSITION_BITS - 1))
    return numbered.withColumn(
        name, functions.get(first, partition.cast("int")).cast("bigint") + in_partition
    )


def places_by(frame: Any, word: str, position: str, place: str) -> Any:
    """Return a Spark dataframe with how many rows before each row have the same word."""
    from pyspark.sql import Window, functions

    equals = Window.partitionBy(word).orderBy(position)
    return frame.withColumn(place, functions.row_number().over(equals) - 1).drop(word)


def gathered_by(frame: Any, group: str, position: str) -> Any:
    """Return a Spark dataframe with the rows of each group together, in their order."""
    return frame.repartition(group).sortWithinPartitions(group, position)


@contextmanager
def collected_in_ranges(frame: Any, names: Sequence[str], piece_count: int) -> Iterator[Any]:
    """Give a Spark dataframe whose partitions are ranges of some columns, as long as it is needed.

    Rows that are equal in these columns are in the same partition. The rows are kept, in memory or
    on disk: computed again, they would be in other ranges.
    """
    with one_line_errors():
        least = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
        ranges = frame.repartitionByRange(max(piece_count, least), *names).persist()
    try:
        yield ranges
    finally:
        ranges.unpersist()


def with_draws(
    frame: Any,
    *,
    position: str,
    draw: str,
    offset: int,
    steps: Iterable[tuple[str, int]],
    limit: int,
) -> Any:
    """Return a Spark dataframe with a further column, the draw of each row by its position.

    Parameters
    ----------
    frame : Spark dataframe
    position, draw : str
    offset : int
        Is added to the positions.
    steps : iterable of ("xor" or "times", int)
    limit : int
        2**32: draws are below it.
    """
    from pyspark.sql import functions

    mask = functions.lit(limit - 1)
    number = (functions.col(position) + functions.lit(offset)).bitwiseAND(mask)
    for step, operand in steps:
        frame = frame.withColumn(draw, number)
        number = functions.col(draw)
        if step == "xor":
            number = number.bitwiseXOR(functions.shiftrightunsigned(number, operand))
        else:
            # In two halves: Spark has no unsigned numbers, and overflow is an error.
            high, low = functions.lit(operand >> 16), functions.lit(operand & 0xFFFF)
            upper = (number * high).bitwiseAND(functions.lit(0xFFFF)) * functions.lit(1 << 16)
            number = (upper + number * low).bitwiseAND(mask)
    return frame.withColumn(draw, number)


def lowest_candidates(frame: Any, draw: str, code: str, cuts: Sequence[int]) -> Any:
    """Load the rows whose draw is at most the cut of their group, as an Arrow table."""
    from pyspark.sql import functions

    limits = functions.get(functions.lit(list(cuts)), functions.col(code).cast("int"))
    return collected(frame.filter(functions.col(draw) <= limits))


def in_utc(frame: Any, names: Iterable[str]) -> Any:
    """Return a Spark dataframe with the moments of these columns as those of UTC."""
    from pyspark.sql import functions

    zoned = [name for name, kind in frame.dtypes if kind == "timestamp" and name in {*names}]
    zone = functions.current_timezone()
    moments = {
        name: functions.convert_timezone(
            zone, functions.lit("UTC"), functions.col(name).cast("timestamp_ntz")
        )
        for name in zoned
    }
    return frame.withColumns(moments) if moments else frame


def collected(frame: Any) -> Any:
    """Return all rows of a Spark dataframe as an Arrow table, in the order of its partitions."""
    with one_line_errors():
        return frame.toArrow()


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what Spark raises, with Java's stack and the worker's, into one line."""
    try:
        yield
    except FourfifthsError:
        raise
    except Exception as error:
        raise spark_error(error) from error


def spark_error(error: BaseException) -> FourfifthsError:
    """Return an error of Spark as one of the package, in one line."""
    text = str(error)
    raised = RAISED_IN_WORKER.search(text)
    if raised is not None and hasattr(errors, raised["kind"]):
        kind: type[FourfifthsError] = getattr(errors, raised["kind"])
        return kind(raised["message"])
    lacking = LACKING_MODULE.search(text)
    if lacking is not None:
        return TableError(
            f"the table: the Python of Spark's workers has no {lacking['module']}; install "
            "fourfifths there, or set the environment variable PYSPARK_PYTHON to a Python that has "
            "it before the session starts"
        )
    if "ExecutorLostFailure" in text or "executor lost" in text.lower():
        return TableError(
            "the table: Spark lost an executor more often than it tries again: "
            f"{_first_sentence(text, 'Reason: ')}; give executors more memory, or raise "
            "spark.task.maxFailures"
        )
    if any(phrase in text for phrase in ENDED_SESSION):
        return ended_session()
    cause = RAISED.findall(text.partition("JVM stacktrace:")[0])
    return TableError(
        f"the table: Spark cannot compute it: {cause[-1] if cause else _first_sentence(text)}"
    )


def _first_sentence(text: str, after: str = "") -> str:
    """Return the first line of a message from a word on, shortened if it is long."""
    rest = text.partition(after)[2] if after and after in text else text
    lines = [line.strip() for line in rest.splitlines() if line.strip()]
    return lines[0][:MAX_MESSAGE_LETTERS] if lines else "no reason is stated"
