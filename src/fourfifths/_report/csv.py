"""Records as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def records_csv(records: Sequence[Mapping[str, Any]]) -> str:
    r"""Return one line per record below a line of names; an undefined figure is an empty field.

    Examples
    --------
    >>> records_csv([{"group": "a,b", "z": None}, {"group": "c", "z": 0.5}])
    'group,z\n"a,b",\nc,0.5\n'
    """
    rows = [list(records[0]), *(list(record.values()) for record in records)] if records else []
    lines = []
    for row in rows:
        # The csv module quotes a value that holds a character of the line end. With both of them
        # in it, either one in a value is quoted; the lines still end as everywhere else in "\n".
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\r\n").writerow(row)
        lines.append(stream.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)
