r"""Records as CSV, in which no text becomes a formula.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return,
and names come from other people's data. So such a text is written after an apostrophe, unless the
whole text is a number. A text that has apostrophes before such a sign gets one more. So nothing is
lost: take one apostrophe away wherever apostrophes stand before such a sign. Numbers stay as they
are, also negative ones.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

FORMULA_START = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def records_csv(records: Sequence[Mapping[str, Any]]) -> str:
    r"""Return one line per record below a line of names; an undefined figure is an empty field.

    Examples
    --------
    >>> records_csv([{"group": "a,b", "z": None}, {"group": "=c", "z": -0.5}])
    'group,z\n"a,b",\n\'=c,-0.5\n'
    """
    rows = [list(records[0]), *(list(record.values()) for record in records)] if records else []
    lines = []
    for row in rows:
        # The csv module quotes a value that holds a character of the line end. With both of them
        # in it, either one in a value is quoted; the lines still end as everywhere else in "\n".
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\r\n").writerow([as_data(value) for value in row])
        lines.append(stream.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


def as_data(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula; numbers as they are.

    Examples
    --------
    >>> as_data("=1+1"), as_data("-1"), as_data(-1), as_data("'=x"), as_data("it's")
    ("'=1+1", '-1', -1, "''=x", "it's")
    """
    if not isinstance(value, str) or not FORMULA_START.match(value) or NUMBER.fullmatch(value):
        return value
    return f"'{value}"
